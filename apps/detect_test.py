"""Tests of `warpband detect` on files that h5py writes: .venv/bin/python -m pytest apps/detect_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given.
"""
import itertools
import json
import signal

import h5py
import numpy

import array_files


def constellation(qam):
    """Points of 3GPP TS 38.211 section 5.1 by the number that their bits make, b0 first, and those bits."""
    m = qam.bit_length() - 1
    bits = numpy.array(list(itertools.product((0, 1), repeat=m)), numpy.uint8)
    sign = 1 - 2.0 * bits

    def axis(s):
        inner = numpy.ones(len(s))
        for i in range(m // 2 - 1, 0, -1):
            inner = 2 ** (m // 2 - i) - s[:, i] * inner
        return s[:, 0] * inner
    points = axis(sign[:, 0::2]) + 1j * axis(sign[:, 1::2])
    return points / numpy.sqrt(numpy.mean(abs(points) ** 2)), bits


def signal_of(seed, uses, rx, tx, qam, noise_var, groups=None):
    """h, y and the bits that were sent."""
    random = numpy.random.default_rng(seed)
    points, point_bits = constellation(qam)

    def gaussian(*shape):
        return (random.normal(size=shape) + 1j * random.normal(size=shape)) / numpy.sqrt(2)
    groups = groups or uses
    h = gaussian(groups, rx, tx).astype(numpy.complex64)
    sent = random.integers(0, qam, (uses, tx))
    of_use = h[numpy.arange(uses) // -(-uses // groups)]
    y = numpy.einsum("urt,ut->ur", of_use, points[sent]) + numpy.sqrt(noise_var) * gaussian(uses, rx)
    return h, y.astype(numpy.complex64), point_bits[sent].reshape(uses, -1)


def exhaustive(h, y, noise_var, qam, prior=None):
    """Max-log LLRs over all candidates, in double precision."""
    points, point_bits = constellation(qam)
    tx = h.shape[2]
    numbers = numpy.array(list(itertools.product(range(qam), repeat=tx)))
    bits = point_bits[numbers].reshape(len(numbers), -1)
    apart = y[:, :, None].astype(complex) - h.astype(complex) @ points[numbers].T
    metric = numpy.sum(abs(apart) ** 2, axis=1) / numpy.reshape(noise_var, (-1, 1))
    if prior is not None:
        metric = metric + prior.astype(float) @ bits.T
    return numpy.stack([metric[:, b == 1].min(axis=1) - metric[:, b == 0].min(axis=1) for b in bits.T], axis=1)


def tolerance(h, y, noise_var):
    return (4e-6 * (numpy.sum(abs(y) ** 2, axis=1) + numpy.sum(abs(h) ** 2, axis=(1, 2))) / noise_var + 1e-5)[:, None]


class DetectTest(array_files.ArrayFilesTest):
    def write_signal(self, name, h, y, noise_var, attributes=None, **more):
        return self.write(name, {"h": h, "y": y, "noise_var": numpy.asarray(noise_var, numpy.float32), **more}, attributes)

    def detect(self, *arguments, detector="mmse", qam=16, environment=None):
        """Arrays and attributes of out.h5 after detecting in.h5."""
        self.succeed("detect", "in.h5", "-o", "out.h5", "--detector", detector, "--qam", qam, *arguments,
                     environment=environment)
        return self.read("out.h5")

    # ------------------------------------------------------------------ what it computes

    def test_exhaustive_detector_of_numpy(self):
        h, y, sent = signal_of(1, 200, 2, 2, 16, 0.02)
        expected = exhaustive(h, y, 0.02, 16)
        self.write_signal("in.h5", h, y, 0.02)
        for backend, arguments, environment in array_files.backends():
            for detector in ("ml", "nway"):
                with self.subTest(backend=backend, detector=detector):
                    arrays, attributes = self.detect("--llr", "--hard", *arguments, detector=detector, environment=environment)
                    self.assertEqual([(a, arrays[a].dtype) for a in sorted(arrays)],
                                     [("bits", numpy.uint8), ("llr", numpy.float32), ("status", numpy.uint8)])
                    self.assertTrue((abs(arrays["llr"] - expected) <= tolerance(h, y, 0.02)).all())
                    numpy.testing.assert_array_equal(arrays["bits"], arrays["llr"] < 0)
                    self.assertEqual(arrays["status"].tolist(), [0] * 200)
                    self.assertEqual([attributes[a] for a in ("detector", "qam", "streams", "rx_antennas", "uses_per_channel",
                                                              "llr_clip", "llr_sign", "prior", "extrinsic")],
                                     [detector, 16, 2, 2, 1, numpy.inf, "p0/p1", 0, 0])
        self.assertLess(numpy.mean((expected < 0) != sent), 0.1)

    def test_every_detector_and_its_attributes(self):
        h, y, sent = signal_of(2, 300, 6, 4, 4, 1e-3)
        self.write_signal("in.h5", h, y, 1e-3)
        for detector, more, expected in (("ml", (), {}), ("mf", (), None), ("zf", (), {}), ("mmse", (), {}), ("ot", (), {}), ("mtt", (), {}),
                                         ("kbest", (), {"survivors": 64, "real_valued": 0}),
                                         ("kbest", ("--survivors", 8, "--real-valued"), {"survivors": 8, "real_valued": 1}),
                                         ("nway", (), {"ways": 4}), ("nway", ("--ways", 2, "--llr-clip", 5), {"ways": 2, "llr_clip": 5}),
                                         ("nway", ("--ways", 1, "--spread", "1,1,2,4", "--sort", "fsd"), {"spread": "1,1,2,4", "sort": "fsd"})):
            with self.subTest(detector=detector, more=more):
                arrays, attributes = self.detect("--hard", *more, detector=detector, qam=4)
                self.assertEqual(sorted(arrays), ["bits", "status"])
                if expected is not None:  # the matched filter does not separate streams
                    numpy.testing.assert_array_equal(arrays["bits"], sent)
                    self.assertEqual({a: attributes[a] for a in expected}, expected)
                self.assertEqual("ways" in attributes, detector == "nway")
                self.assertEqual("survivors" in attributes, detector == "kbest")
                self.assertEqual(attributes["detector"], detector)

    def test_massive_mimo_of_numpy(self):
        """MMSE of QPSK: an LLR is 2 sqrt(2) SINR times a part of the estimate."""
        h, y, _ = signal_of(31, 120, 12, 4, 4, 0.2, groups=40)
        noise = numpy.linspace(0.1, 0.4, 40).astype(numpy.float32)
        self.write_signal("in.h5", h, y, noise)
        wide = h.astype(complex)
        adjoint = wide.conj().swapaxes(1, 2)
        inverse = numpy.linalg.inv(adjoint @ wide + noise[:, None, None] * numpy.eye(4))
        bias = numpy.real(numpy.diagonal(inverse @ adjoint @ wide, axis1=1, axis2=2))
        sinr = numpy.repeat(bias / (1 - bias), 3, axis=0)
        estimate = numpy.einsum("gut,gst->gsu", inverse @ adjoint, y.reshape(40, 3, 12)).reshape(120, 4) / numpy.repeat(bias, 3, axis=0)
        llr = (8 ** 0.5 * sinr * [estimate.real, estimate.imag]).transpose(1, 2, 0).reshape(120, 8)
        arrays, attributes = self.detect("--llr", "--hard", "--symbols", detector="uplink", qam=4)
        self.assertEqual(sorted(arrays), ["bits", "equalized", "llr", "sinr", "status"])
        numpy.testing.assert_allclose(arrays["llr"], llr, rtol=1e-3, atol=1e-3)
        numpy.testing.assert_allclose(arrays["equalized"], estimate, rtol=1e-3, atol=1e-4)
        numpy.testing.assert_allclose(arrays["sinr"], sinr, rtol=1e-3)
        numpy.testing.assert_array_equal(arrays["bits"], arrays["llr"] < 0)
        self.assertEqual([attributes[a] for a in ("detector", "antennas", "users", "solver", "sinr", "uses_per_channel", "llr_clip")],
                         ["uplink", 12, 4, "cholesky", "exact", 3, numpy.inf])
        prior = numpy.zeros((120, 8), numpy.float32)
        self.write_signal("in.h5", h, y, noise, prior=prior)
        self.detect(detector="soft-uplink", qam=4)
        numpy.testing.assert_allclose(self.read("out.h5")[0]["llr"], llr, rtol=1e-3, atol=1e-3)
        start = ("detect", "in.h5", "-o", "no.h5", "--detector", "uplink", "--qam", 4)
        self.fail_clearly(1, "holds a-priori LLRs, which uplink does not take", *start)
        self.write_signal("in.h5", h, y, noise[:39])
        self.fail_clearly(1, "noise_var is float32 [39]: expected [] or [1] for all vectors, or [40], one for each row of h", *start)

    def test_space_time_code_of_numpy(self):
        """Alamouti's code over all candidates, with and without a prior."""
        random = numpy.random.default_rng(32)
        points, point_bits = constellation(16)
        pairs = numpy.array(list(itertools.product(range(16), repeat=2)))
        bits = point_bits[pairs].reshape(256, 8)
        x1, x2 = points[pairs].T
        codewords = numpy.array([[x1, x2], [-x2.conj(), x1.conj()]])  # slot, antenna
        h = (random.normal(size=(20, 3, 2)) + 1j * random.normal(size=(20, 3, 2))).astype(numpy.complex64)
        sent = random.integers(0, 256, 100)
        of_word = numpy.repeat(h, 5, axis=0)
        y = numpy.einsum("wra,saw->wsr", of_word, codewords[:, :, sent])
        y = (y + 0.3 * (random.normal(size=y.shape) + 1j * random.normal(size=y.shape))).astype(numpy.complex64)
        prior = random.normal(0, 2, (100, 8)).astype(numpy.float32)
        self.write_signal("in.h5", h, y, 0.18, prior=prior)
        apart = y[..., None] - numpy.einsum("wra,sac->wsrc", of_word, codewords)
        for known, arguments in ((0, ("--no-prior",)), (1, ())):
            metric = numpy.sum(abs(apart) ** 2, axis=(1, 2)) / 0.18 + known * prior @ bits.T
            llr = numpy.stack([metric[:, b == 1].min(axis=1) - metric[:, b == 0].min(axis=1) for b in bits.T], axis=1)
            arrays, attributes = self.detect("--llr", "--hard", *arguments, detector="alamouti")
            numpy.testing.assert_allclose(arrays["llr"], llr, rtol=1e-3, atol=5e-3)
            numpy.testing.assert_array_equal(arrays["bits"], arrays["llr"] < 0)
            self.assertEqual([attributes[a] for a in ("detector", "rx_antennas", "prior", "uses_per_channel")], ["alamouti", 3, known, 5])
        start = ("detect", "in.h5", "-o", "no.h5", "--qam", 16, "--detector")
        self.fail_clearly(1, "prior is float32 [100, 8]: expected [100, 16]: codewords of 16 bits", *start, "golden")
        self.write_signal("in.h5", h, y[:, :, :2], 0.18)
        self.fail_clearly(1, "y is complex64 [100, 2, 2]: expected [batch, 2, 3], slots and the antennas of h", *start, "alamouti")
        self.write_signal("in.h5", h[:, :, :1], y, 0.18)
        self.fail_clearly(1, "h is complex64 [20, 3, 1]: expected [groups, rx, 2]", *start, "alamouti")

    def test_codes_over_subcarriers_of_numpy(self):
        """SFBC and FSTD of TS 36.211 6.3.4.3 over all pairs of symbols, with one H for the subcarriers of a codeword."""
        random = numpy.random.default_rng(33)
        points, point_bits = constellation(16)
        pairs = numpy.array(list(itertools.product(range(16), repeat=2)))
        bits = point_bits[pairs].reshape(256, 8)
        x1, x2 = points[pairs].T
        pair = numpy.array([[x1, -x2.conj()], [x2, x1.conj()]])  # subcarrier, antenna of the pair
        for code, antennas in (("sfbc", ((0, 1),)), ("fstd", ((0, 2), (1, 3)))):
            n = 2 * len(antennas)
            h = (random.normal(size=(20, 3, n)) + 1j * random.normal(size=(20, 3, n))).astype(numpy.complex64)
            of_word, parts, llr = numpy.repeat(h, 5, axis=0), [], []
            for of_pair in antennas:
                clean = len(antennas) ** 0.5 * numpy.einsum("wra,saw->wsr", of_word[:, :, of_pair], pair[:, :, random.integers(0, 256, 100)])
                noisy = clean + 0.3 * (random.normal(size=clean.shape) + 1j * random.normal(size=clean.shape))
                parts.append(noisy.astype(numpy.complex64))
                apart = parts[-1][..., None] - len(antennas) ** 0.5 * numpy.einsum("wra,sac->wsrc", of_word[:, :, of_pair], pair)
                metric = numpy.sum(abs(apart) ** 2, axis=(1, 2)) / 0.18
                llr += [metric[:, b == 1].min(axis=1) - metric[:, b == 0].min(axis=1) for b in bits.T]
            self.write_signal("in.h5", numpy.repeat(h[:, None], n, axis=1), numpy.concatenate(parts, axis=1), 0.18)
            arrays, attributes = self.detect("--llr", "--hard", detector=code)
            numpy.testing.assert_allclose(arrays["llr"], numpy.stack(llr, axis=1), rtol=1e-3, atol=5e-3)
            numpy.testing.assert_array_equal(arrays["bits"], arrays["llr"] < 0)
            self.assertEqual([attributes[a] for a in ("detector", "rx_antennas", "uses_per_channel")], [code, 3, 5])
        start = ("detect", "in.h5", "-o", "no.h5", "--qam", 16, "--detector")
        self.fail_clearly(1, "h is complex64 [20, 4, 3, 4]: expected [groups, 2, rx, 2], subcarriers of a codeword", *start, "sfbc")
        self.write_signal("in.h5", h, numpy.zeros((100, 4, 3), numpy.complex64), 0.18)
        self.fail_clearly(1, "h is complex64 [20, 3, 4]: expected complex64 of 4 axes", *start, "fstd")
        self.write_signal("in.h5", numpy.repeat(h[:, None], 4, axis=1), numpy.zeros((100, 2, 3), numpy.complex64), 0.18)
        self.fail_clearly(1, "y is complex64 [100, 2, 3]: expected [batch, 4, 3], subcarriers and the antennas of h", *start, "fstd")

    def test_antennas_in_clusters_of_numpy(self):
        """Fully decentralised MMSE: each cluster's estimates, freed of their bias and weighted by their SINRs."""
        h, y, _ = signal_of(34, 120, 12, 4, 4, 0.2, groups=40)
        self.write_signal("in.h5", h, y, 0.2)
        wide, sums, weights = h.astype(complex), 0, 0
        for part in numpy.split(numpy.arange(12), 2):
            adjoint = wide[:, part].conj().swapaxes(1, 2)
            inverse = numpy.linalg.inv(adjoint @ wide[:, part] + 0.2 * numpy.eye(4))
            bias = numpy.real(numpy.diagonal(inverse @ adjoint @ wide[:, part], axis1=1, axis2=2))
            estimate = numpy.einsum("gut,gst->gsu", inverse @ adjoint, y.reshape(40, 3, 12)[:, :, part])
            weights = weights + (bias / (1 - bias))[:, None]
            sums = sums + estimate / (1 - bias)[:, None]
        arrays, attributes = self.detect("--symbols", "--clusters", 2, "--cluster-method", "local-mmse", detector="uplink", qam=4)
        numpy.testing.assert_allclose(arrays["equalized"], (sums / weights).reshape(120, 4), rtol=1e-3, atol=1e-4)
        numpy.testing.assert_allclose(arrays["sinr"], numpy.repeat(weights[:, 0], 3, axis=0), rtol=1e-3)
        self.assertEqual([attributes[a] for a in ("detector", "clusters", "cluster_method")], ["uplink", 2, "local-mmse"])
        central = self.detect(detector="uplink", qam=4)
        self.assertEqual([central[1][a] for a in ("clusters", "cluster_method")], [1, "exact"])
        parted = self.detect("--clusters", 4, detector="uplink", qam=4)[0]
        numpy.testing.assert_allclose(parted["llr"], central[0]["llr"], rtol=1e-3, atol=1e-3)
        start = ("detect", "in.h5", "-o", "no.h5", "--qam", 4, "--detector")
        self.fail_clearly(2, "clusters = 5 is not allowed", *start, "uplink", "--clusters", 5)
        self.fail_clearly(2, "--clusters has no meaning with --detector soft-uplink", *start, "soft-uplink", "--clusters", 2)

    def test_files_of_matlab(self):
        h, y, _ = signal_of(21, 300, 4, 2, 16, 0.02)
        self.write_signal("in.h5", h, y, 0.02)
        expected, _ = self.detect()
        note = "warpband: note: in.h5: read as MATLAB wrote it: axes reversed"
        for kind, message in (("complex128", note + ", float64 converted"), ("complex64", note)):
            for noise in (0.02, numpy.full(300, 0.02)):
                for compressed in (False, True):
                    with self.subTest(kind=kind, noise=numpy.ndim(noise), compressed=compressed):
                        noise = numpy.asarray(noise, "f8" if kind == "complex128" else "f4")
                        self.write_matlab("in.h5", {"h": h.astype(kind), "y": y.astype(kind), "noise_var": noise}, compressed)
                        for memory in ((), ("--memory", "64M")):
                            run = self.run_command("detect", "in.h5", "-o", "out.h5", "--detector", "mmse", "--qam", 16, *memory)
                            self.assertEqual((run.returncode, run.stderr), (0, message + "\n"))
                            numpy.testing.assert_array_equal(self.read("out.h5")[0]["llr"], expected["llr"])
        self.write_matlab("in.h5", {"h": h.astype("complex128"), "y": 1e300 * y.astype("complex128"), "noise_var": 0.1})
        self.fail_clearly_after(beginning=note, part="expected a value of float32")

    def fail_clearly_after(self, beginning, part):
        run = self.run_command("detect", "in.h5", "-o", "bad.h5", "--detector", "mmse", "--qam", 16)
        first, second = run.stderr.splitlines()
        self.assertEqual(run.returncode, 1)
        self.assertTrue(first.startswith(beginning), first)
        self.assertIn(part, second)
        self.assertFalse((self.folder / "bad.h5").exists())

    def test_order_of_the_streams(self):
        h, y, _ = signal_of(15, 50, 4, 4, 16, 0.1)
        order = [2, 0, 3, 1]
        for detector, more in (("ot", ()), ("mtt", ()), ("kbest", ("--survivors", 3)), ("nway", ("--ways", 2))):
            with self.subTest(detector=detector):
                self.write_signal("in.h5", h[:, :, order], y, 0.1)
                expected, attributes = self.detect(*more, detector=detector)
                self.assertEqual(attributes["order"], "0,1,2,3")
                self.write_signal("in.h5", h, y, 0.1)
                usual = self.detect(*more, detector=detector)[0]
                arrays, attributes = self.detect("--order", "2,0,3,1", *more, detector=detector)
                self.assertEqual(attributes["order"], "2,0,3,1")
                numpy.testing.assert_array_equal(arrays["llr"].reshape(50, 4, 4)[:, order], expected["llr"].reshape(50, 4, 4))
                self.assertTrue((arrays["llr"] != usual["llr"]).any())
        out = json.loads(self.succeed("detect", "in.h5", "-o", "out.h5", "--detector", "nway", "--qam", 16, "--order", "2,0,3,1",
                                      "--json", "-"))
        self.assertEqual(out["order"], order)
        self.assertNotIn("order", self.detect()[1])

    def test_files_in_every_form(self):
        h, y, _ = signal_of(3, 37, 4, 3, 16, 0.05)
        noise = numpy.full(37, 0.05, numpy.float32)
        self.write_signal("in.h5", h, y, noise)
        expected = self.detect(detector="nway")[0]["llr"]
        for shape in ((), (1,)):
            self.write_signal("in.h5", h, y, numpy.full(shape, 0.05))
            numpy.testing.assert_array_equal(self.detect(detector="nway")[0]["llr"], expected)
        big = numpy.dtype([("r", ">f4"), ("i", ">f4")])
        for form in ({"chunks": True}, {"chunks": True, "compression": "gzip", "shuffle": True}, {}):
            with h5py.File(self.folder / "in.h5", "w") as file:
                for name, values in (("h", h), ("y", y)):
                    swapped = numpy.empty(values.shape, big)
                    swapped["r"], swapped["i"] = values.real, values.imag
                    chunks = {**form, "chunks": (5,) + (2,) * (values.ndim - 1)} if form else {}
                    file.create_dataset(name, data=values if form else swapped, **chunks)
                file.create_dataset("noise_var", data=noise, **form)
            numpy.testing.assert_array_equal(self.detect(detector="nway")[0]["llr"], expected, str(form))

    def test_one_use_and_none(self):
        h, y, _ = signal_of(4, 1, 2, 2, 4, 0.1)
        for noise in (0.1, [0.1]):
            self.write_signal("in.h5", h, y, noise)
            self.assertEqual(self.detect(qam=4)[0]["llr"].shape, (1, 4))
        for noise in (0.1, [0.1], []):
            self.write_signal("in.h5", h[:0], y[:0], noise)
            self.assertEqual(self.detect("--hard", qam=4)[0]["bits"].shape, (0, 4))

    def test_other_sign(self):
        h, y, _ = signal_of(5, 50, 2, 2, 16, 0.1)
        prior = numpy.random.default_rng(5).normal(0, 2, (50, 8)).astype(numpy.float32)
        self.write_signal("in.h5", h, y, 0.1, prior=prior)
        usual = self.detect("--llr", "--hard", detector="ml")[0]
        self.write_signal("in.h5", h, y, 0.1, prior=-prior)
        other, attributes = self.detect("--llr", "--hard", "--llr-sign", "p1/p0", detector="ml")
        numpy.testing.assert_array_equal(other["llr"], -usual["llr"])
        numpy.testing.assert_array_equal(other["bits"], usual["bits"])
        self.assertEqual(attributes["llr_sign"], "p1/p0")

    def test_prior(self):
        h, y, _ = signal_of(6, 100, 2, 2, 16, 0.3)
        prior = numpy.random.default_rng(6).normal(0, 4, (100, 8)).astype(numpy.float32)
        self.write_signal("in.h5", h, y, 0.3, prior=prior)
        near = tolerance(h, y, 0.3) + 1e-5 * abs(prior).sum(axis=1, keepdims=True)
        expected = exhaustive(h, y, 0.3, 16, prior)
        arrays, attributes = self.detect(detector="ml")
        self.assertTrue((abs(arrays["llr"] - expected) <= near).all())
        self.assertEqual((attributes["prior"], attributes["extrinsic"]), (1, 0))
        arrays, attributes = self.detect("--extrinsic", detector="ml")
        self.assertTrue((abs(arrays["llr"] - (expected - prior)) <= near).all())
        self.assertEqual((attributes["prior"], attributes["extrinsic"]), (1, 1))
        arrays, attributes = self.detect("--no-prior", detector="ml")
        self.assertTrue((abs(arrays["llr"] - exhaustive(h, y, 0.3, 16)) <= near).all())
        self.assertEqual(attributes["prior"], 0)
        self.fail_clearly(1, "in.h5: holds a-priori LLRs, which mmse does not take", "detect", "in.h5", "-o", "no.h5", "--detector",
                          "mmse", "--qam", 16)
        self.detect("--no-prior", detector="mmse")
        self.write_signal("in.h5", h, y, 0.3, prior=prior[:, :7])
        self.fail_clearly(1, "prior is float32 [100, 7]: expected [100, 8]", "detect", "in.h5", "-o", "no.h5", "--detector", "ml",
                          "--qam", 16)

    def test_shared_channels(self):
        h, y, _ = signal_of(7, 60, 3, 2, 16, 0.1, groups=12)
        self.write_signal("in.h5", h, y, 0.1)
        shared, attributes = self.detect(detector="nway")
        self.assertEqual(attributes["uses_per_channel"], 5)
        self.write_signal("in.h5", numpy.repeat(h, 5, axis=0), y, 0.1)
        repeated = self.detect(detector="nway")[0]
        numpy.testing.assert_array_equal(shared["llr"], repeated["llr"])
        # A last channel with fewer uses: said by an option or an attribute.
        self.write_signal("in.h5", h, y[:58], 0.1)
        start = ("detect", "in.h5", "-o", "no.h5", "--detector", "nway", "--qam", 16)
        self.fail_clearly(1, "h is complex64 [12, 3, 2]: expected a number of channels that divides the 58 uses, or "
                          "--uses-per-channel N", *start)
        numpy.testing.assert_array_equal(self.detect("--uses-per-channel", 5, detector="nway")[0]["llr"], shared["llr"][:58])
        self.fail_clearly(1, "expected [10, rx, tx] for 58 uses, 6 with each channel", *start, "--uses-per-channel", 6)
        self.write_signal("in.h5", h, y[:58], 0.1, {"uses_per_channel": 5, "qam": 16})
        self.succeed("detect", "in.h5", "-o", "out.h5", "--detector", "nway")
        numpy.testing.assert_array_equal(self.read("out.h5")[0]["llr"], shared["llr"][:58])
        self.fail_clearly(1, "says uses_per_channel = 5, not 6", *start, "--uses-per-channel", 6)
        self.fail_clearly(1, "says qam = 16, not 64", *start[:-1], 64)
        self.write_signal("in.h5", h, y[:11], 0.1)
        self.fail_clearly(1, "h is complex64 [12, 3, 2]: expected 1 to 11 channels for 11 uses", *start)

    def test_bad_items_are_erased_and_counted(self):
        h, y, _ = signal_of(8, 20, 2, 2, 16, 0.1)
        noise = numpy.full(20, 0.1, numpy.float32)
        self.write_signal("in.h5", h, y, noise)
        good = self.detect("--llr", "--hard", detector="nway")[0]
        y[3, 1], h[5, 0, 1], noise[7], noise[9], h[11] = numpy.nan, numpy.inf, 0, numpy.nan, 0
        bad = [3, 5, 7, 9, 11]
        self.write_signal("in.h5", h, y, noise)
        out = json.loads(self.succeed("detect", "in.h5", "-o", "out.h5", "--detector", "nway", "--qam", 16, "--llr", "--hard",
                                      "--json", "-"))
        self.assertEqual([out[key] for key in ("command", "detector", "qam", "streams", "rx_antennas", "ways", "llr_clip", "items",
                                               "erased")], ["detect", "nway", 16, 2, 2, 2, None, 20, 5])
        arrays, _ = self.read("out.h5")
        self.assertEqual(numpy.flatnonzero(arrays["status"]).tolist(), bad)
        for name in ("llr", "bits"):
            self.assertFalse(arrays[name][bad].any())
            rest = numpy.delete(numpy.arange(20), bad)
            numpy.testing.assert_array_equal(arrays[name][rest], good[name][rest])
        self.write_signal("in.h5", h, numpy.full_like(y, numpy.nan), 0.1)
        self.assertIn("20 uses of 2x2 16-QAM, 20 erased, detected by mmse in ",
                      self.succeed("detect", "in.h5", "-o", "out.h5", "--detector", "mmse", "--qam", 16))
        self.assertFalse(self.read("out.h5")[0]["llr"].any())

    # ------------------------------------------------------------------ memory

    def test_pieces_change_nothing(self):
        uses = 60000
        for groups in (uses, uses // 7 + 1, 3, 1):
            h, y, _ = signal_of(9, uses, 2, 2, 4, 0.1, groups=groups)
            # Each use has its own N0 in one form, all the same in the other.
            noise = numpy.linspace(0.1, 0.2, uses) if groups == 3 else 0.1
            self.write_signal("in.h5", h, y, noise, {"uses_per_channel": -(-uses // groups)})
            whole = self.detect("--llr", "--hard", "--memory", "4G", detector="mmse", qam=4)[0]
            for memory in ("32.8M", "34M"):
                pieces = self.detect("--llr", "--hard", "--memory", memory, "--threads", 1, detector="mmse", qam=4)[0]
                for name, values in whole.items():
                    numpy.testing.assert_array_equal(pieces[name], values, f"{groups} {memory} {name}")

    def test_file_four_times_larger_than_memory(self):
        megabytes, rx, tx = 64, 4, 4
        h, y, sent = signal_of(10, 4096, rx, tx, 16, 1e-4)
        uses = 4 * megabytes * 2**20 // (8 * (rx * tx + rx)) // 4096 * 4096 + 4096
        for form in ({}, {"chunks": True}, {"chunks": True, "compression": "gzip", "compression_opts": 1}):
            with h5py.File(self.folder / "in.h5", "w") as file:
                for name, values in (("h", h), ("y", y)):
                    options = {**form, "chunks": (512, *values.shape[1:])} if form else {}
                    array = file.create_dataset(name, (uses, *values.shape[1:]), numpy.complex64, **options)
                    for first in range(0, uses, 4096):
                        array[first:first + 4096] = values
                file["noise_var"] = numpy.float32(1e-4)
            self.assertTrue("compression" in form or (self.folder / "in.h5").stat().st_size > 4 * megabytes * 2**20)
            for detector in ("zf", "kbest"):
                self.assertLess(self.peak_memory("detect", "in.h5", "-o", "out.h5", "--detector", detector, "--qam", 16, "--memory",
                                                 f"{megabytes}M", "--threads", 2,
                                                 *(("--survivors", 4) if detector == "kbest" else ())),
                                megabytes * 2**20, (form, detector))
            with h5py.File(self.folder / "out.h5", "r") as file:
                first = file["llr"][:4096]
                for begin in range(0, uses, 4096):
                    numpy.testing.assert_array_equal(file["llr"][begin:begin + 4096], first)
                self.assertLess(numpy.mean((first < 0) != sent), 0.1)

    # ------------------------------------------------------------------ what goes wrong

    def test_bad_files(self):
        h, y, _ = signal_of(11, 6, 3, 2, 16, 0.1)
        noise = numpy.float32(0.1)
        detect = ("detect", "in.h5", "-o", "out.h5", "--detector", "mmse", "--qam", 16)
        self.fail_clearly(1, "in.h5: cannot", *detect)
        (self.folder / "in.h5").write_text("ebn0_db,ber\n" * 100)
        self.fail_clearly(1, "in.h5: it is not an HDF5 file", *detect)
        self.write_signal("in.h5", h, y, noise)
        whole = (self.folder / "in.h5").read_bytes()
        for size in (0, 100, len(whole) // 2, len(whole) - 1):
            (self.folder / "in.h5").write_bytes(whole[:size])
            self.fail_clearly(1, "in.h5: ", *detect)
        good = {"h": h, "y": y, "noise_var": noise}
        for wrong, part in (({"h": None}, "there is no array \"h\": it holds noise_var, y"),
                            ({"y": None}, "there is no array \"y\""),
                            ({"noise_var": None}, "there is no array \"noise_var\""),
                            ({"h": h.astype(complex)}, "h is complex128 [6, 3, 2]: expected complex64 of 3 axes"),
                            ({"y": y.astype(complex)}, "y is complex128 [6, 3]: expected complex64 of 2 axes"),
                            ({"h": h.real}, "h is float32 [6, 3, 2]: expected complex64"),
                            ({"noise_var": 0.1}, "noise_var is float64 []: expected float32"),
                            ({"noise_var": numpy.full(6, 0.1)}, "noise_var is float64 [6]: expected float32"),
                            ({"h": h[0]}, "h is complex64 [3, 2]: expected complex64 of 3 axes"),
                            ({"y": y[:, :, None]}, "y is complex64 [6, 3, 1]: expected complex64 of 2 axes"),
                            ({"y": y[:, :2]}, "y is complex64 [6, 2]: expected [batch, 3], the antennas of h"),
                            ({"noise_var": numpy.full(5, noise)}, "noise_var is float32 [5]: expected [] or [1] for all uses, or [6]"),
                            ({"noise_var": numpy.full((6, 1), noise)}, "noise_var is float32 [6, 1]: expected float32 of 1 axis"),
                            ({"h": h[:0]}, "h is complex64 [0, 3, 2]: expected"),
                            ({"h": h[:, :1], "y": y[:, :1]}, "rx_antennas = 1 is not allowed: expected 2 to 16"),
                            ({"h": numpy.ones((6, 17, 9), numpy.complex64), "y": numpy.ones((6, 17), numpy.complex64)},
                             "streams = 9 is not allowed: expected 1 to 8"),
                            ({"h": h[:, :, :0]}, "streams = 0 is not allowed: expected 1 to 8")):
            with self.subTest(part):
                self.write("in.h5", {name: values for name, values in {**good, **wrong}.items() if values is not None})
                self.fail_clearly(1, part, *detect)
        for attributes, part in (({"qam": 8}, "says qam = 8"), ({"uses_per_channel": 0}, "says uses_per_channel = 0: expected 1 or more"),
                                 ({"uses_per_channel": 1.5}, "says uses_per_channel = 1.5")):
            self.write_signal("in.h5", h, y, noise, attributes)
            self.fail_clearly(1, part, *detect)
        self.write_signal("in.h5", h, y, noise, {"qam": 8})
        self.fail_clearly(1, "says qam = 8: expected 4, 16, 64 or 256", *detect[:-2])
        self.write_signal("in.h5", h, y, noise)
        self.fail_clearly(1, "at least", *detect, "--memory", "1M")
        self.fail_clearly(1, "cannot write", *detect[:3], "missing/out.h5", *detect[4:])
        self.fail_clearly(1, "is read by this run", *detect[:3], "in.h5", *detect[4:])
        self.fail_clearly(1, "\"cpu\" is always there", *detect, "--device", "cuda:99")

    def test_what_a_detector_does_not_allow(self):
        h, y, _ = signal_of(12, 6, 4, 4, 16, 0.1)
        self.write_signal("in.h5", h, y, 0.1)

        def detect(detector, *more, qam=16):
            return ("detect", "in.h5", "-o", "out.h5", "--detector", detector, "--qam", qam, *more)
        self.fail_clearly(2, "ways = 5 is not allowed: expected 1 to 4", *detect("nway", "--ways", 5))
        self.fail_clearly(2, "spread = 1,2 is not allowed: expected a number for each of 4 streams", *detect("nway", "--spread", "1,2"))
        self.fail_clearly(2, "spread = 1,1,1,17 is not allowed: expected 1 to 16 at each level", *detect("nway", "--spread", "1,1,1,17"))
        self.fail_clearly(2, "sort = fsd is not allowed: expected none, norm, norm-ascending or sqrd", *detect("kbest", "--sort", "fsd"))
        self.fail_clearly(2, "--spread has no meaning with --detector kbest", *detect("kbest", "--spread", "1,1,1,16"))
        self.fail_clearly(2, "--ways has no meaning with --detector ot", *detect("ot", "--ways", 2))
        self.fail_clearly(2, "--survivors has no meaning with --detector mmse", *detect("mmse", "--survivors", 8))
        self.fail_clearly(2, "--real-valued has no meaning with --detector ml", *detect("ml", "--real-valued"))
        self.fail_clearly(2, "--extrinsic has no meaning with --detector mmse", *detect("mmse", "--extrinsic"))
        self.fail_clearly(2, "order = 1,0,1,2 is not allowed: expected each of 0 to 3 once", *detect("kbest", "--order", "1,0,1,2"))
        self.fail_clearly(2, "order = 1,0 is not allowed: expected each of 0 to 3 once", *detect("nway", "--order", "1,0"))
        self.fail_clearly(2, "--order has no meaning with --detector ml", *detect("ml", "--order", "3,2,1,0"))
        self.fail_clearly(2, "qam = 256 is not allowed: expected 64 or less with 4 streams (at most 2^24", *detect("ml", qam=256))
        self.fail_clearly(2, "llr-clip = none is not allowed: expected above 0 and at most 1e6:", *detect("kbest", "--llr-clip", "none"))
        self.fail_clearly(2, "llr-clip", *detect("kbest", "--llr-clip", "-1"))
        self.fail_clearly(2, "llr-clip", *detect("kbest", "--llr-clip", "nan"))
        self.fail_clearly(2, "expected a number from 1e-6 to 1e6, or \"none\"", *detect("ml", "--llr-clip", "2e6"))

    def test_words_in_any_case(self):
        h, y, _ = signal_of(12, 6, 4, 4, 16, 0.1)
        self.write_signal("in.h5", h, y, 0.1)
        self.succeed("detect", "in.h5", "-o", "out.h5", "--detector", "K-Best", "--qam", 16, "--llr-clip", 4, "--real-valued")
        attributes = self.read("out.h5")[1]
        self.assertEqual(attributes["detector"], "kbest")
        self.assertEqual((attributes["survivors"], attributes["real_valued"], attributes["llr_clip"]), (64, 1, 4.0))

    def test_used_wrongly(self):
        h, y, _ = signal_of(13, 6, 2, 2, 16, 0.1)
        self.write_signal("in.h5", h, y, 0.1)
        detect = ("detect", "in.h5", "-o", "out.h5")
        self.fail_clearly(2, "--detector is required", *detect, "--qam", 16)
        self.fail_clearly(2, "a constellation is missing: --qam 4, 16, 64 or 256", *detect, "--detector", "ml")
        self.fail_clearly(2, "\"nwya\" is not known: did you mean nway?", *detect, "--detector", "nwya", "--qam", 16)
        self.fail_clearly(2, "expected ml, mf, zf", *detect, "--detector", "transformer", "--qam", 16)
        for option, value in (("--qam", 2), ("--qam", 32), ("--ways", 9), ("--ways", "many"), ("--survivors", 0), ("--llr-clip", "off"),
                              ("--order", "1,"), ("--order", "1,x"), ("--order", "1 0"), ("--order", "1,-1"),
                              ("--llr-sign", "positive"), ("--uses-per-channel", 0), ("--memory", "much")):
            self.fail_clearly(2, option, *detect, "--detector", "nway", *(("--qam", 16) if option != "--qam" else ()), option, value)
        self.fail_clearly(2, "the same file", *detect, "--detector", "ml", "--qam", 16, "--json", "out.h5")
        self.fail_clearly(2, "did you mean --survivors?", *detect, "--detector", "ml", "--qam", 16, "--survivor", 3)

    def test_interrupted_leaves_the_old_file(self):
        h, y, _ = signal_of(14, 30000, 4, 4, 16, 0.1)
        self.write_signal("in.h5", h, y, 0.1)
        (self.folder / "out.h5").write_text("old")
        ended = self.send_while_writing(signal.SIGINT, "detect", "in.h5", "-o", "out.h5", "--detector", "ml", "--qam", 16,
                                        "--threads", 1, "--memory", "34M", "--force", environment={"WARPBAND_ISA": "scalar"})
        self.assertEqual(ended, (1, "warpband: error: interrupted: out.h5 was not written\n"))
        self.assertEqual((self.folder / "out.h5").read_text(), "old")
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["in.h5", "out.h5"])
