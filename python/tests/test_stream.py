"""Frames through a pipeline of devices: the results of the direct call, in order, whatever happens on the way."""
import gc
import os
import subprocess
import sys
import threading
import time
import weakref

import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpband as wb


def complex_normal(rng, *shape):
    return ((rng.normal(size=shape) + 1j * rng.normal(size=shape)) / 2 ** 0.5).astype(np.complex64)


def halves(x):
    return np.stack([x.real, x.imag], -1).astype(np.float16)


MMSE = {"streams": 2, "rx_antennas": 3, "qam": 16}


def mmse_frame(rng, uses=5, *, n0=0.1, per_channel=1):
    return complex_normal(rng, uses // per_channel, 3, 2), complex_normal(rng, uses, 3), n0


class Slow:
    """Something that takes frames a while: long codewords, one after the other on one core."""

    detector = staticmethod(lambda: wb.MMSE(streams=1, rx_antennas=1, qam=4))
    items = 3 * (6144 + 4) // 2

    @classmethod
    def stream(cls, **settings):
        return wb.Stream(stage=cls.detector(), decoder=wb.TurboDecoder(k=6144, iterations=32, windows=1), most_items=cls.items,
                         **{"streams": 1, "queue": 1, **settings})

    @classmethod
    def frame(cls, rng):
        return complex_normal(rng, cls.items, 1, 1), complex_normal(rng, cls.items, 1), 0.5


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.0005)


class HeldUp:
    """A stream whose callback waits for a gate, so that its one lane waits to deliver: what is pushed from then on stays queued."""

    def __init__(self, rng, **settings):
        self.gate, self.got, self.frame, self.in_time = threading.Event(), [], mmse_frame(rng), False

        def on_frame(frame):
            self.gate.wait()
            self.got.append(frame.sequence)
        self.stream = wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, streams=1, on_frame=on_frame, **settings)
        # One in the callback, as many as there are slots wait for it, and the next one's delivery waits.
        self.tickets = []
        for _ in range(2 + self.stream.slots):
            self.push().frame(timeout=60)

    def push(self, **settings):
        self.tickets.append(self.stream.push(*self.frame, **settings))
        return self.tickets[-1]

    def release_after(self, ticket):
        """Opens the gate as soon as a frame is over, while this thread stops the stream."""
        def release():
            try:
                ticket.frame(timeout=60)
                self.in_time = True
            finally:
                self.gate.set()
        threading.Thread(target=release).start()

    def status(self):
        return [ticket.frame(timeout=60).status for ticket in self.tickets]


# ---------------------------------------------------------------- the results of the direct call

def stages(rng):
    """For each stage: settings of the stream, a frame, and the direct call's outputs."""
    def detector(made, outputs=("llr", "status")):
        frame = (complex_normal(rng, 20, 4, 3), complex_normal(rng, 20, 6, 4), 0.2)
        return {"stage": made, "items_per_channel": 6, "most_items": 120}, frame, outputs, made(*frame, outputs=outputs)
    yield "detector", detector(wb.NWay(streams=3, rx_antennas=4, qam=16, ways=2))
    yield "other sign", detector(wb.KBest(streams=3, rx_antennas=4, qam=16, llr_sign="p1/p0"))
    yield "one output", detector(wb.ZeroForcing(streams=3, rx_antennas=4, qam=4), "status")

    def massive(made, width, outputs):
        frame = (complex_normal(rng, 4, 24, 6), complex_normal(rng, 4, 7, width), 0.1)
        return {"stage": made, "items_per_channel": 7, "most_items": 28}, frame, outputs, made(*frame, outputs=outputs)
    yield "uplink", massive(wb.MassiveUplink(antennas=24, users=6, qam=64), 24, ("status", "llr"))
    yield "uplink cg", massive(wb.MassiveUplink(antennas=24, users=6, qam=4, solver="cg", iterations=3, llr_sign="p1/p0"), 24, "llr")
    steps = {"antennas": 24, "users": 6, "qam": 16, "llr_steps": 5.0}
    yield "uplink int8", massive(wb.MassiveUplink(**steps), 24, ("llr_int8", "status"))
    yield "uplink int8, other sign", massive(wb.MassiveUplink(**steps, llr_sign="p1/p0"), 24, "llr_int8")

    def narrow(made, outputs):
        frame = (halves(complex_normal(rng, 4, 24, 6)), halves(complex_normal(rng, 4, 7, 24)), 0.1)
        of_stream = {"stage": made, "items_per_channel": 7, "most_items": 28, "samples": "complex32"}
        return of_stream, frame, outputs, made(*frame, outputs=outputs)

    def narrow_sent(made):
        frame = (halves(complex_normal(rng, 4, 24, 6)), complex_normal(rng, 4, 7, 6), 0.1)
        of_stream = {"stage": made, "items_per_channel": 7, "most_items": 28, "samples": "complex32"}
        return of_stream, frame, "precoded", made(*frame)
    yield "uplink of halves", narrow(wb.MassiveUplink(antennas=24, users=6, qam=64, solver="jacobi-cg", iterations=2), ("llr", "status"))
    yield "uplink of halves, int8", narrow(wb.MassiveUplink(**steps, llr_sign="p1/p0"), ("status", "llr_int8"))
    yield "precode", massive(wb.MassiveDownlink(antennas=24, users=6), 6, ("precoded", "status"))
    yield "precode by halves", narrow_sent(wb.MassiveDownlink(antennas=24, users=6))
    parts = {"clusters": 3, "cluster_method": "local-mmse"}
    by_cg = {"antennas": 24, "users": 6, "clusters": 4, "cluster_method": "cg", "solver": "cg", "iterations": 2}
    yield "clusters", massive(wb.ClusteredUplink(**steps, clusters=4), 24, ("llr", "status"))
    yield "clusters cg, other sign", massive(wb.ClusteredUplink(qam=4, **by_cg, llr_sign="p1/p0"), 24, "llr")
    yield "clusters of halves, int8", narrow(wb.ClusteredUplink(**steps, **parts), ("llr_int8", "status"))
    yield "precode in clusters", massive(wb.ClusteredDownlink(antennas=24, users=6, **parts), 6, ("precoded", "status"))
    yield "precode in clusters by halves", narrow_sent(wb.ClusteredDownlink(**by_cg))

    for code in ("alamouti", "silver", "golden"):
        decoder = wb.StbcDecoder(type=code, qam=4, rx_antennas=2)
        frame = (complex_normal(rng, 9, 2, 2), complex_normal(rng, 9, 5, 2, 2), 0.3)
        yield code, ({"stage": decoder, "items_per_channel": 5, "most_items": 45}, frame, ("llr", "status"),
                     decoder(*frame, outputs=("llr", "status")))

    decoder = wb.StbcDecoder(type="fstd", qam=4, rx_antennas=2)
    frame = (complex_normal(rng, 9, 4, 2, 4), complex_normal(rng, 9, 5, 4, 2), 0.3)
    yield "fstd", ({"stage": decoder, "items_per_channel": 5, "most_items": 45}, frame, ("llr", "status"), decoder(*frame, outputs=("llr", "status")))

    conv = wb.conv_lte()
    ldpc = wb.wifi_ldpc(n=648, rate="1/2")
    for name, decoder, outputs in (
            ("turbo", wb.TurboDecoder(k=104, early_stop="sign-agreement"), ("bits", "iterations")),
            ("int16", wb.TurboDecoder(k=104, precision="int16", algorithm="max-log-map", llr_sign="p1/p0"), "bits"),
            ("ldpc", wb.LdpcDecoder(code=ldpc), ("iterations", "bits")),
            ("viterbi", wb.ViterbiDecoder(code=conv, k=100), "bits"), ("bcjr", wb.BcjrDecoder(code=conv, k=100), "bits"),
            ("ctc", wb.CtcDecoder(k=96), ("bits", "iterations"))):
        direct = wb.MMSE(**MMSE)
        frame = (complex_normal(rng, 200, 3, 2), complex_normal(rng, 200, 3), 0.05)
        llr = direct(*frame).ravel()
        blocks = llr.size // decoder.n
        llr = llr[:blocks * decoder.n].reshape(blocks, -1)
        wanted = decoder(-llr if decoder.llr_sign == "p1/p0" else llr, outputs=outputs)
        yield name, ({"stage": direct, "decoder": decoder, "most_items": 200}, frame, outputs, wanted)


NAMES = ["detector", "other sign", "one output", "uplink", "uplink cg", "uplink int8", "uplink int8, other sign", "uplink of halves",
         "uplink of halves, int8", "precode", "precode by halves", "clusters", "clusters cg, other sign", "clusters of halves, int8",
         "precode in clusters", "precode in clusters by halves", "alamouti", "silver", "golden", "fstd", "turbo", "int16", "ldpc", "viterbi",
         "bcjr", "ctc"]


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_the_direct_call(name, rng):
    assert [n for n, _ in stages(np.random.default_rng(1))] == NAMES
    settings, frame, outputs, wanted = dict(stages(rng))[name]
    with wb.Stream(**settings, outputs=outputs, devices=["cpu", "cpu"]) as stream:
        results = [ticket.result() for ticket in [stream.push(*frame) for _ in range(7)]]
    for result in results:
        assert isinstance(result, tuple) == isinstance(wanted, tuple)
        for got, expected in zip(*((r if isinstance(r, tuple) else (r,)) for r in (result, wanted)), strict=True):
            assert got.dtype == expected.dtype and got.shape == expected.shape
            assert got.tobytes() == expected.tobytes()


def test_agrees_with_an_oracle(rng):
    """Not only with the package's own call: maximum likelihood by NumPy."""
    h, n0 = complex_normal(rng, 30, 2, 2), 0.1
    bits = rng.integers(0, 2, (30, 2, 4), dtype=np.uint8)
    y = (np.einsum("urs,us->ur", h, oracles.qam_symbols(bits, 16)) + n0 ** 0.5 * complex_normal(rng, 30, 2)).astype(np.complex64)
    with wb.Stream(stage=wb.ML(streams=2, rx_antennas=2, qam=16), most_items=30) as stream:
        llr = stream.push(h, y, n0).result()
    wanted = oracles.ml(h, y, np.full(30, n0), 16)
    np.testing.assert_allclose(llr, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_any_shape_layout_and_size(data):
    """Batch axes, strides, channels that serve several uses, of which the last ones may be fewer."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2 ** 32)))
    batch = tuple(data.draw(st.lists(st.integers(1, 5), max_size=3)))
    uses, per_channel = int(np.prod(batch)), data.draw(st.integers(1, 7))
    estimates = -(-uses // per_channel)
    detector = wb.MMSE(**MMSE)
    step = data.draw(st.integers(1, 3))
    y = complex_normal(rng, step * uses, 3)[::step].reshape(batch + (3,)) if step > 1 and len(batch) == 1 \
        else complex_normal(rng, *batch, 3)
    h = complex_normal(rng, estimates, 3, 2 * step)[..., :2] if data.draw(st.booleans()) and step == 1 \
        else complex_normal(rng, estimates, 3, 2)
    if data.draw(st.booleans()):
        y = np.asfortranarray(y) if y.ndim == 2 else y
    n0 = data.draw(st.sampled_from([0.1, 1, np.float32(0.2), np.array([0.3], np.float32), np.float64(0.5)]))
    n0_float = float(np.asarray(n0).ravel()[0])
    stream_settings = {"stage": detector, "most_items": uses, "items_per_channel": per_channel, "outputs": ("llr", "status")}
    with wb.Stream(**stream_settings, queue=1) as stream:
        if isinstance(n0, np.float64):
            n0 = float(n0)
        llr, status = stream.push(h, y, n0).result()
    of_use = np.arange(uses) // per_channel
    wanted = detector(np.ascontiguousarray(h)[of_use], np.ascontiguousarray(y).reshape(uses, 3), n0_float)
    assert llr.shape == batch + (8,) and status.shape == batch and not status.any()
    assert llr.tobytes() == wanted.tobytes()


@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_halves_of_any_shape_and_layout(data):
    """Pairs of halves in any axes and strides, in splits or not; LLRs as floats or in steps."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2 ** 32)))
    users = data.draw(st.integers(1, 5))
    antennas = users + data.draw(st.integers(0, 20))
    frames, splits, per_split = (data.draw(st.integers(1, n)) for n in (5, 3, 4))
    name = data.draw(st.sampled_from(["llr", "llr_int8"]))
    detector = wb.MassiveUplink(antennas=antennas, users=users, qam=data.draw(st.sampled_from([4, 16])),
                                llr_steps=data.draw(st.sampled_from([0.25, 3.0, 64.0])))
    step = data.draw(st.integers(1, 3))
    h = halves(complex_normal(rng, step * frames, antennas, users))[::step]
    if data.draw(st.booleans()):  # frames side by side in memory
        h = np.ascontiguousarray(h.transpose(1, 2, 0, 3)).transpose(2, 0, 1, 3)
    y = halves(complex_normal(rng, splits, frames, per_split, antennas + step - 1)[..., :antennas])
    stream_settings = {"stage": detector, "samples": "complex32", "items_per_channel": splits * per_split, "splits": splits,
                       "most_items": splits * frames * per_split, "outputs": (name, "status")}
    with wb.Stream(**stream_settings, devices=["cpu"] * data.draw(st.integers(1, 2))) as stream:
        llr, status = stream.push(h, y, 0.5).result()
    assert llr.shape == y.shape[:3] + (detector.bits_per_vector,) and llr.dtype == (np.int8 if "8" in name else np.float32)
    for split in range(splits):
        wanted, erased = detector(h, y[split], 0.5, outputs=(name, "status"))
        assert llr[split].tobytes() == wanted.tobytes() and np.array_equal(status[split], erased)


def test_halves_of_torch(rng):
    torch = pytest.importorskip("torch")
    h, y = halves(complex_normal(rng, 3, 24, 5)), halves(complex_normal(rng, 3, 4, 24))
    detector = wb.MassiveUplink(antennas=24, users=5, qam=16)
    wanted = detector(h, y, 0.5)
    narrow = [torch.view_as_complex(torch.from_numpy(x)) for x in (h, y)]
    assert narrow[0].dtype == torch.complex32
    settings_of = {"stage": detector, "items_per_channel": 4, "most_items": 12}
    with wb.Stream(**settings_of, samples="complex32") as stream:
        for arrays in (narrow, [torch.from_numpy(h), narrow[1]], [narrow[0].resolve_conj(), torch.from_numpy(y)]):
            llr = stream.push(*arrays, 0.5).result()
            assert isinstance(llr, torch.Tensor) and llr.numpy().tobytes() == wanted.tobytes()
    with wb.Stream(**settings_of) as stream, pytest.raises(ValueError, match="complex32 is not allowed"):
        stream.push(*narrow, 0.5)


def test_clusters_have_the_bits_of_halves_converted_first(rng):
    """And of a precoder only the channel is of halves."""
    h, y, s = (complex_normal(rng, *shape) for shape in ((3, 24, 4), (3, 5, 24), (3, 5, 4)))
    wide = [(a.astype(np.float32)[..., 0] + 1j * a.astype(np.float32)[..., 1]).astype(np.complex64) for a in (halves(h), halves(y))]
    settings_of = {"items_per_channel": 5, "most_items": 15, "samples": "complex32"}
    for method in ("exact", "local-mmse"):
        detector = wb.ClusteredUplink(antennas=24, users=4, qam=16, clusters=3, cluster_method=method)
        with wb.Stream(stage=detector, splits=1, **settings_of) as stream:
            assert stream.push(halves(h), halves(y), 0.5).result().tobytes() == detector(*wide, 0.5).tobytes()
        precoder = wb.ClusteredDownlink(antennas=24, users=4, clusters=3, cluster_method=method)
        with wb.Stream(stage=precoder, **settings_of) as stream:
            assert stream.push(halves(h), s, 0.5).result().tobytes() == precoder(wide[0], s, 0.5).tobytes()
            for arrays, message in (((halves(h), halves(s)), "sent = an array of float16.*expected one of complex64$"),
                                    ((h, s), "channel = an array of complex64.*float16")):
                with pytest.raises(ValueError, match=message):
                    stream.push(*arrays, 0.5)
    with wb.Stream(stage=precoder, **{**settings_of, "samples": "complex64"}) as stream:
        with pytest.raises(ValueError, match='channel = an array of float16.*samples = "complex32"'):
            stream.push(halves(h), s, 0.5)
        assert stream.push(h, s, 0).result().tobytes() == precoder(h, s, 0).tobytes()  # a precoder takes N0 = 0


def test_clusters_of_more_antennas_than_one_detector_takes(rng):
    h, y = complex_normal(rng, 2, 1024, 4), complex_normal(rng, 2, 1024)
    detector = wb.ClusteredUplink(antennas=1024, users=4, qam=4, clusters=2)
    with wb.Stream(stage=detector, most_items=2) as stream:
        assert stream.push(h, y, 0.5).result().tobytes() == detector(h, y, 0.5).tobytes()


def test_halves_that_are_refused(rng):
    h, y = complex_normal(rng, 3, 24, 5), complex_normal(rng, 3, 4, 24)
    detector = wb.MassiveUplink(antennas=24, users=5, qam=16)
    settings_of = {"stage": detector, "items_per_channel": 4, "most_items": 12}
    with wb.Stream(**settings_of, samples="complex32") as stream:
        turned = np.swapaxes(np.ascontiguousarray(np.swapaxes(halves(y), 2, 3)), 2, 3)
        for channel, received, message in ((h, halves(y), "channel = an array of complex64.*float16"),
                                           (halves(h), y, "received = an array of complex64.*float16"),
                                           (halves(h)[..., :1], halves(y), r"channel = shape.*\(\.\.\., 24, 5, 2\)"),
                                           (halves(h), halves(y)[..., 0], r"received = shape.*\(\.\.\., 24, 2\)"),
                                           (halves(h)[:2], halves(y), "channel = shape.*3 in all for received"),
                                           (halves(h), turned, "received.*side by side"),
                                           (halves(h), halves(y[:, :3]), "items = 9.*multiple of 4")):
            with pytest.raises(ValueError, match=f"(?s){message}"):
                stream.push(channel, received, 0.5, strict=True)
        assert stream.push(halves(h), halves(y), 0.5).result().tobytes() == detector(halves(h), halves(y), 0.5).tobytes()
    with wb.Stream(**settings_of) as stream:
        for arrays, name in (((halves(h), y), "channel"), ((h, halves(y)), "received")):
            with pytest.raises(ValueError, match=f'{name} = an array of float16.*complex64.*samples = "complex32"'):
                stream.push(*arrays, 0.5)
        assert stream.stats().pushed == 0
        assert np.array_equal(stream.push(h.astype(complex), np.asfortranarray(y), 0.5).result(), detector(h, y, 0.5))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_what_does_not_fit_is_said(data):
    """Types and shapes that are not those of the stage are a ValueError that names the argument, and the stream goes on."""
    stream = shared_stream()
    rng = np.random.default_rng(0)
    h, y, n0 = mmse_frame(rng)
    kind = data.draw(st.sampled_from(["channel type", "items type", "noise type", "channel shape", "items shape", "noise shape",
                                      "estimates", "items", "stride"]))
    if kind.endswith("type"):
        dtype = data.draw(st.sampled_from([np.float64, np.complex128, np.int32, np.float16, np.int64]))
        bad = {"channel": (h.real.astype(dtype), y, n0), "items": (h, y.real.astype(dtype), n0),
               "noise": (h, y, np.zeros((), dtype))}[kind.split()[0]]
        text = {"channel": "channel", "items": "received", "noise": "noise_var"}[kind.split()[0]] + f".*{np.dtype(dtype).name}"
    elif kind == "channel shape":
        shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(1, 5)).filter(lambda s: s[1:] != (3, 2)))
        bad, text = (complex_normal(rng, *shape), y, n0), r"channel.*expected shape \(\.\.\., 3, 2\)"
    elif kind == "items shape":
        n = data.draw(st.integers(1, 8).filter(lambda n: n != 3))
        bad, text = (h, complex_normal(rng, 5, n), n0), r"received.*expected shape \(\.\.\., 3\)"
    elif kind == "noise shape":
        bad, text = (h, y, np.full(data.draw(st.integers(2, 6)), n0, np.float32)), "noise_var.*one number for a frame"
    elif kind == "estimates":
        n = data.draw(st.integers(1, 9).filter(lambda n: n != 5))
        bad, text = (complex_normal(rng, n, 3, 2), y, n0), "channel.*5 in all for received"
    elif kind == "items":
        n = data.draw(st.integers(33, 60))
        bad, text = mmse_frame(rng, n), f"items = {n}.*expected 1 to 32"
    else:
        bad, text = (h, complex_normal(rng, 7, 3)[::-1][:5], n0), "received.*strides"
    before = stream.stats().pushed
    with pytest.raises(ValueError, match=f"(?s){text}"):
        stream.push(*bad, strict=True)
    assert stream.stats().pushed == before
    assert stream.push(h, y, n0).result(timeout=30).tobytes() == wb.MMSE(**MMSE)(h, y, n0).tobytes()


_shared = []


def shared_stream():
    if not _shared:
        _shared.append(wb.Stream(stage=wb.MMSE(**MMSE), most_items=32))
    return _shared[0]


def test_no_numbers_are_no_frame(rng):
    with pytest.raises(TypeError, match="noise_var is None"):
        shared_stream().push(*mmse_frame(rng)[:2], None)
    with pytest.raises(ValueError, match="items = 0"):
        shared_stream().push(np.zeros((0, 3, 2), np.complex64), np.zeros((0, 3), np.complex64), 0.1)


def test_a_bad_item_is_erased_alone(rng):
    h, y, n0 = mmse_frame(rng, 6)
    y[2, 1] = np.nan
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=6, outputs=("llr", "status")) as stream:
        llr, status = stream.push(h, y, n0).result()
    assert list(status) == [0, 0, 1, 0, 0, 0] and not llr[2].any() and llr[[0, 1, 3, 4, 5]].any(axis=1).all()


def test_the_arrays_may_be_written_to_at_once(rng):
    detector = wb.MMSE(**MMSE)
    h, y, n0 = mmse_frame(rng, 32)
    with wb.Stream(stage=detector, most_items=32) as stream:
        wanted, tickets = [], []
        for _ in range(40):
            y[:] = complex_normal(rng, 32, 3)
            wanted.append(detector(h, y, n0))
            tickets.append(stream.push(h, y, n0))
        assert all(t.result().tobytes() == w.tobytes() for t, w in zip(tickets, wanted))


def test_same_kind_out(rng):
    torch = pytest.importorskip("torch")
    h, y, n0 = mmse_frame(rng)
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5) as stream:
        llr = stream.push(torch.from_numpy(h), torch.from_numpy(y), torch.tensor(n0)).result()
    assert isinstance(llr, torch.Tensor) and np.array_equal(llr.numpy(), wb.MMSE(**MMSE)(h, y, n0))


# ---------------------------------------------------------------- tickets, order, callbacks

def test_tickets_tags_and_numbers(rng):
    frame = mmse_frame(rng)
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, deadline_us=1e9) as stream:
        tickets = [stream.push(*frame, tag=("tag", i)) for i in range(30)]
        frames = [t.frame() for t in tickets]
        assert [f.sequence for f in frames] == [t.sequence for t in tickets] == list(range(30))
        assert [f.tag for f in frames] == [("tag", i) for i in range(30)]
        assert all(t.done() and t.exception() is None for t in tickets)
        f = frames[7]
        assert (f.status, f.error, f.device, f.attempts, f.missed) == ("delivered", "", "cpu", 0, False)
        assert 0 <= f.queued_us <= f.latency_us and 0 < f.device_us <= f.latency_us < 1e9
        assert tickets[7].frame() is f and tickets[7].result() is f.result


def test_a_result_that_nobody_waits_for(rng):
    frame = mmse_frame(rng)
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5) as stream:
        for _ in range(100):
            stream.push(*frame)
        stream.drain()
        assert stream.stats().delivered == 100


def test_map_is_in_order_and_bounded(rng):
    detector = wb.MMSE(**MMSE)
    frames = [mmse_frame(rng, int(rng.integers(1, 33))) for _ in range(50)]
    taken = []

    def source():
        for frame in frames:
            taken.append(1)
            yield frame
    with wb.Stream(stage=detector, most_items=32, devices=["cpu", "cpu"], queue=2) as stream:
        for i, frame in enumerate(stream.map(source())):
            assert frame.sequence == i and frame.result.tobytes() == detector(*frames[i]).tobytes()
            assert len(taken) <= i + 1 + stream.slots
    assert len(taken) == 50


def test_callback_in_order_by_one_thread(rng):
    detector, frames, got, threads = wb.MMSE(**MMSE), [mmse_frame(rng, 1 + i % 32) for i in range(200)], [], set()

    def on_frame(frame):
        threads.add(threading.get_ident())
        got.append(frame)
    with wb.Stream(stage=detector, most_items=32, devices=["cpu"] * 3, on_frame=on_frame) as stream:
        for frame in frames:
            stream.push(*frame)
        stream.drain()
        assert len(got) == 200
    assert [f.sequence for f in got] == list(range(200)) and len(threads) == 1 and threading.get_ident() not in threads
    assert all(f.result.tobytes() == detector(*frame).tobytes() for f, frame in zip(got, frames))


def test_what_a_callback_raises_is_not_lost(rng):
    frame, seen = mmse_frame(rng), []

    def on_frame(f):
        seen.append(f.sequence)
        if f.sequence in (2, 5):
            raise KeyError(f"frame {f.sequence}")
    stream = wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=on_frame)
    for _ in range(8):
        stream.push(*frame)
    with pytest.raises(KeyError, match="frame 2") as raised:
        stream.drain()
    assert "on_frame" in [entry.name for entry in raised.traceback]
    if sys.version_info >= (3, 11):
        assert raised.value.__notes__ == ["on_frame raised 1 more exceptions, the last of them KeyError('frame 5')"]
    assert seen == list(range(8)) and stream.stats().callback_errors == 2 and stream.stats().delivered == 8
    stream.drain()  # told once
    stream.stop()

    def always(f):
        raise ZeroDivisionError(f.sequence)
    with pytest.raises(ZeroDivisionError):
        with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=always) as stream:
            stream.push(*frame)
    with pytest.raises(OSError, match="own"):  # the block's own comes first; the callback's goes to sys.unraisablehook
        with unraisable() as reported:
            with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=always) as stream:
                stream.push(*frame).result()
                raise OSError("own")
    assert [type(r.exc_value) for r in reported] == [ZeroDivisionError]


class unraisable:
    """What goes to sys.unraisablehook."""

    def __enter__(self):
        gc.collect()  # streams that earlier tests left in cycles report their errors now
        self.old, reported = sys.unraisablehook, []
        sys.unraisablehook = reported.append
        return reported

    def __exit__(self, *_):
        sys.unraisablehook = self.old


def test_errors_of_a_stream_that_is_let_go_are_reported(rng):
    def on_frame(frame):
        raise LookupError("nobody asked")
    with unraisable() as reported:
        stream = wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=on_frame)
        stream.push(*mmse_frame(rng)).frame()
        del stream
        gc.collect()
    assert [str(r.exc_value) for r in reported] == ["nobody asked"]


def test_an_error_of_a_callback_does_not_keep_the_stream(rng):
    """Else a thread that happens to collect garbage, as another stream's does in its callback, would stop it much later."""
    def on_frame(frame):
        raise LookupError("asked for")
    gc.collect()
    gc.disable()
    try:
        for end in ("drain", "stop", "with"):
            stream = wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=on_frame)
            gone = weakref.ref(stream)
            try:
                stream.push(*mmse_frame(rng)).result()
                if end == "with":
                    with stream:
                        pass
                else:
                    getattr(stream, end)()
            except LookupError as error:
                assert str(error) == "asked for"
            else:
                pytest.fail("nothing was raised")
            del stream
            assert gone() is None, end
    finally:
        gc.enable()


def test_a_thread_with_the_number_of_an_ended_callbacks_may_stop_it_again(rng):
    """Systems give numbers of threads that ended to new ones."""
    stream = wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=lambda frame: None)
    stream.push(*mmse_frame(rng))
    stream.stop()
    stream._caller.thread.join()
    number, go, threads, told = stream._caller.thread.ident, threading.Event(), [], []

    def again():
        try:
            stream.stop()
        except RuntimeError as error:
            told.append(error)
        go.wait()  # keeps its own number
    try:
        while len(threads) < 20 and number not in [t.ident for t in threads]:
            threads.append(threading.Thread(target=again))
            threads[-1].start()
    finally:
        go.set()
        for t in threads:
            t.join()
    assert not told
    if number not in [t.ident for t in threads]:
        pytest.skip("no thread was given the number again")


def test_the_interpreter_reports_what_nobody_is_raised():
    """By its own hook, which takes nothing but what the interpreter made."""
    out = script(BEGIN + """
def stream(name):
    def on_frame(frame):
        raise LookupError(name)
    return wb.Stream(stage=wb.MMSE(streams=1, rx_antennas=1, qam=4), most_items=n, on_frame=on_frame)
try:
    with stream("left by an exception") as s:
        s.push(h, y, 0.5).result()
        raise OSError("own")
except OSError as error:
    print(error)
s = stream("let go")
s.push(h, y, 0.5).result()
del s
print("went on")
at_exit = [stream(f"open {i}") for i in range(2)]
for s in at_exit:
    s.push(h, y, 0.5).result()
""")
    assert out.stdout == "own\nwent on\n" and out.returncode == 0, out.stderr
    for name in ("left by an exception", "let go", "open 0", "open 1"):
        assert out.stderr.count(f"LookupError: {name}\n") == 1, out.stderr
    assert out.stderr.count("Exception ignored in: <function stream.<locals>.on_frame") == 4, out.stderr
    assert "TypeError" not in out.stderr


class Request:
    """Something that knows its frame's ticket, and is its tag."""


@pytest.mark.parametrize("how", ["waited for", "called back", "neither"])
def test_a_ticket_in_its_own_tag_is_collected(rng, how):
    frame, called = mmse_frame(rng), threading.Event()
    on_frame = (lambda frame: called.set()) if how == "called back" else None
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, on_frame=on_frame) as stream:
        request = Request()
        request.ticket = stream.push(*frame, tag=request)
        gc.collect()
        if how == "waited for":
            assert request.ticket.frame(timeout=60).tag is request
        stream.drain(timeout=60)
        assert called.is_set() == (how == "called back")
        gone = weakref.ref(request)
        gc.collect()
        assert gone() is request and request.ticket.frame().tag is request  # not while somebody has it
        if how != "waited for":  # as if the frame had never been made
            request.ticket = wb.Ticket(request.ticket._ticket)
        del request
        until(lambda: gc.collect() is not None and gone() is None)


def test_a_callback_may_push_and_wait_but_not_drain_or_stop(rng):
    frame, messages, got = mmse_frame(rng), [], []

    def on_frame(f):
        got.append(f.tag)
        if isinstance(f.tag, int) and f.tag < 40:
            stream.push(*frame, tag=f.tag + 1)
            if f.tag == 20:
                got.append(stream.push(*frame, tag="waited for").result(timeout=60).shape)
        for call in (stream.drain, stream.stop) if f.tag == 3 else ():
            try:
                call()
            except RuntimeError as error:
                messages.append(str(error))
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, streams=1, queue=1, on_frame=on_frame) as stream:
        stream.push(*frame, tag=0)
        until(lambda: 40 in got)
    assert [t for t in got if isinstance(t, int)] == list(range(41)) and (5, 8) in got and "waited for" in got
    assert messages == [f"a callback cannot {action} its stream: it would wait for itself" for action in ("drain", "stop")]


def test_a_slow_callback_holds_frames_up(rng):
    """What waits for it is bounded by the slots; nothing is lost."""
    frame, gate, got = mmse_frame(rng), threading.Event(), []

    def on_frame(f):
        gate.wait()
        got.append(f.sequence)
    stream = wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, streams=1, queue=2, on_frame=on_frame)
    pushed = 0
    with pytest.raises(TimeoutError, match="no slot was free in 0.3 s"):
        while pushed < 1000:
            stream.push(*frame, timeout=0.3)
            pushed += 1
    # one in the callback, as many that wait for it as there are slots and one more, and those in the slots
    assert stream.slots == 3 and pushed <= 1 + 2 * stream.slots + 1
    gate.set()
    stream.drain()
    stream.stop()
    assert got == list(range(pushed))


# ---------------------------------------------------------------- policies, statistics, threads

def test_drop_oldest(rng):
    held = HeldUp(rng, queue=2, overflow="drop-oldest")
    with held.stream as stream:
        assert stream.slots == 3 and len(held.tickets) == 5
        for _ in range(7):  # five of them have to go, of which nobody is told before the gate is open
            held.push()
        held.gate.set()
        assert held.status() == ["delivered"] * 5 + ["dropped"] * 5 + ["delivered"] * 2
        delivered = [0, 1, 2, 3, 4, 10, 11]
        frame = held.tickets[5].frame()
        assert frame.result is None and frame.device == "" and frame.sequence == 5
        with pytest.raises(wb.FrameDropped, match="frame 5 was dropped"):
            held.tickets[5].result()
        assert isinstance(held.tickets[5].exception(), RuntimeError)
        wanted = wb.MMSE(**MMSE)(*held.frame).tobytes()
        assert all(held.tickets[i].result().tobytes() == wanted for i in delivered)
        stream.drain()
        stats = stream.stats()
        assert (stats.pushed, stats.dropped, stats.delivered) == (12, 5, 7) and held.got == delivered


def test_waiting_pushes_wait(rng):
    held = HeldUp(rng, queue=1)
    with held.stream as stream:
        assert stream.slots == 2 and len(held.tickets) == 4
        held.push()  # one slot is free, that of the frame whose delivery waits is not
        with pytest.raises(TimeoutError, match="no slot was free in 0.001 s"):
            held.push(timeout=0.001)
        with pytest.raises(TimeoutError, match="was not delivered in 0 s"):
            held.tickets[-1].result(timeout=0)
        with pytest.raises(TimeoutError, match="still under way"):
            stream.drain(timeout=0)
        held.gate.set()
        held.push()
        stream.drain()
        stats = stream.stats()
        assert stats.dropped == 0 and stats.delivered == stats.pushed == len(held.tickets) == 6


def test_statistics(rng):
    frame = mmse_frame(rng)
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5, deadline_us=0.001) as stream:
        frames = [stream.push(*frame).frame() for _ in range(300)]
        stream.drain()
        stats = stream.stats()
        assert stats.pushed == stats.delivered == stats.missed == stats.latency.count == 300 and all(f.missed for f in frames)
        assert (stats.dropped, stats.failed, stats.rerun, stats.devices_failed, stats.callback_errors, stats.waiting) == (0,) * 6
        latencies = np.sort([f.latency_us for f in frames])  # taken a little later
        for percent in (50, 90):
            value = stats.latency.percentile_us(percent)
            assert 0 < value <= 1.02 * np.percentile(latencies, percent, method="higher") + 1
        assert stats.latency.percentile_us(100) == stats.latency.max_us <= latencies[-1] + 1e-3
        assert stats.queued.mean_us + stats.device.mean_us <= stats.latency.mean_us
        times = stats.latency.seconds()
        assert times.shape == (300,) and (np.diff(times) >= 0).all() and times[-1] == pytest.approx(1e-6 * stats.latency.max_us)
        assert stats.latency.seconds(10).shape == (10,) and "p99" in repr(stats.latency)
        with pytest.raises(ValueError, match="percent = 101"):
            stats.latency.percentile_us(101)
        stream.reset_times()
        stats = stream.stats()
        assert stats.latency.count == stats.missed == 0 and stats.pushed == 300
        assert stats.latency.percentile_us(50) == 0 and stats.latency.seconds().size == 0


def test_latencies_are_plotted(rng, tmp_path):
    pytest.importorskip("matplotlib")
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5) as stream:
        for _ in range(50):
            stream.push(*mmse_frame(rng))
        stream.drain()
        stats = stream.stats()
    figure = wb.plot.latencies({"all": stats.latency, "on the device": stats.device}, percentiles=(50, 99.9))
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == pytest.approx(100)
    labels = [text.get_text() for text in (figure.axes[0].get_legend() or figure.legends[0]).get_texts()]
    assert {"all", "on the device"} < set(labels) and sum(label.startswith("99.9%") for label in labels) == 2
    wb.plot.save(figure, tmp_path / "l.png")


def test_several_threads_push(rng):
    detector = wb.MMSE(**MMSE)
    frames = [mmse_frame(rng, 1 + i) for i in range(32)]
    wanted = [detector(*frame).tobytes() for frame in frames]
    wrong, sequences = [], []

    def produce(first):
        for i in range(first, 300, 3):
            ticket = stream.push(*frames[i % 32])
            sequences.append(ticket.sequence)
            if ticket.result(timeout=60).tobytes() != wanted[i % 32]:
                wrong.append(i)
    with wb.Stream(stage=detector, most_items=32, devices=["cpu", "cpu"], queue=2) as stream:
        threads = [threading.Thread(target=produce, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stream.stats().delivered == 300
    assert not wrong and sorted(sequences) == list(range(300))


def test_the_gil_is_free_while_waiting(rng):
    """Another thread of Python's runs while this one is in a single wait for a frame, which ends only if that thread does."""
    held, waits = HeldUp(rng), threading.Event()

    def work():
        waits.wait()
        for _ in range(20):
            time.sleep(0.002)
        held.gate.set()
    thread = threading.Thread(target=work)
    with held.stream:
        ticket = held.push()
        thread.start()
        waits.set()
        try:
            ticket.result(timeout=60)
        finally:
            held.gate.set()
            thread.join()


# ---------------------------------------------------------------- stop, failures, processes

def test_stop_with_frames_under_way(rng):
    held = HeldUp(rng, queue=6)
    for _ in range(6):
        held.push()
    held.release_after(held.tickets[-1])
    held.stream.stop()  # without a wait for the gate
    assert held.in_time and held.status() == ["delivered"] * 9 + ["dropped"] * 6 and held.got == list(range(9))
    with pytest.raises(RuntimeError, match="was stopped"):
        held.push()
    stats = held.stream.stats()
    assert (stats.pushed, stats.delivered, stats.dropped) == (15, 9, 6)
    held.stream.stop()


def test_a_block_drains_but_not_when_an_exception_leaves_it(rng):
    frame = Slow.frame(rng)
    with Slow.stream(queue=6) as stream:
        tickets = [stream.push(*frame) for _ in range(4)]
    assert [t.frame().status for t in tickets] == ["delivered"] * 4
    held = HeldUp(rng, queue=6)
    with pytest.raises(OSError):
        with held.stream:
            held.push()
            held.release_after(held.tickets[-1])
            raise OSError
    assert held.in_time and held.status() == ["delivered"] * 9 + ["dropped"]


def test_stop_while_others_push(rng):
    frame, messages = Slow.frame(rng), []
    stream = Slow.stream()

    def produce():
        try:
            while True:
                stream.push(*frame)
        except RuntimeError as error:
            messages.append(str(error))
    threads = [threading.Thread(target=produce) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: stream.stats().pushed >= stream.slots)
    stream.stop()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert messages == ["the pipeline was stopped: it takes no frames any more"] * 3
    stats = stream.stats()
    assert stats.pushed == stats.delivered + stats.dropped


def test_tickets_outlive_their_stream(rng):
    detector, frame = wb.MMSE(**MMSE), mmse_frame(rng)
    stream = wb.Stream(stage=detector, most_items=5)
    ticket = stream.push(*frame)
    ticket.frame()
    late = stream.push(*frame)
    del stream
    gc.collect()
    assert ticket.result().tobytes() == detector(*frame).tobytes()
    assert late.frame(timeout=60).status in ("delivered", "dropped")


def test_a_frame_that_fails_and_a_device_that_fails(rng):
    detector, frame = wb.MMSE(**MMSE), mmse_frame(rng)
    with wb.Stream(stage=detector, most_items=5, _faults=[(3, "frame")]) as stream:
        tickets = [stream.push(*frame) for _ in range(6)]
        assert [t.frame().status for t in tickets] == ["delivered"] * 3 + ["failed"] + ["delivered"] * 2
        assert tickets[3].frame().result is None
        with pytest.raises(RuntimeError, match="a fault that a test asked for"):
            tickets[3].result()
        assert stream.stats().failed == 1
    with wb.Stream(stage=detector, most_items=5, devices=["cpu", "cpu"], streams=1, _faults=[(3, "device")]) as stream:
        tickets = [stream.push(*frame) for _ in range(20)]
        frames = [t.frame() for t in tickets]
        assert all(f.result.tobytes() == detector(*frame).tobytes() for f in frames)
        assert [f.attempts for f in frames] == [0] * 3 + [1] + [0] * 16
        stats = stream.stats()
        assert (stats.rerun, stats.devices_failed, stats.delivered) == (1, 1, 20)
    got = []
    stream = wb.Stream(stage=detector, most_items=5, streams=1, _faults=[(2, "device")], on_frame=got.append)
    with pytest.raises(RuntimeError, match="no device is left: a fault that a test asked for"):
        for _ in range(20):
            stream.push(*frame)
    stream.drain()
    assert {f.status for f in got[2:]} == {"failed"} and len(got) == stream.stats().pushed
    stream.stop()


def test_settings(rng):
    def stream(**changed):
        return wb.Stream(**{"stage": wb.MMSE(**MMSE), "most_items": 5, **changed})
    for changed, text in (
            ({"most_items": 0}, "most_items = 0"), ({"most_items": 2 ** 40}, "most_items = 1099511627776"),
            ({"streams": 0}, "streams = 0 .*1 to 64"), ({"streams": 10 ** 12}, "streams = 1000000000000 .*1 to 64"),
            ({"queue": 0}, "queue = 0"), ({"queue": 65537}, "queue = 65537 .*1 to 65536"), ({"parts": 65}, "parts = 65"),
            ({"retries": -1}, "retries = -1"), ({"devices": []}, r"devices = \[\] .*a list of"), ({"threads": -1}, "threads = -1"),
            ({"devices": ["cpu", "tpu"]}, 'devices = "tpu" .*"cpu" or "cuda:N"'), ({"overflow": "drop"}, 'overflow = "drop" .*"wait" or "drop-oldest"'),
            ({"waiting": "nap"}, 'waiting = "nap" .*"block" or "spin"'), ({"deadline_us": -1.0}, "deadline_us = -1"),
            ({"deadline_us": float("nan")}, "deadline_us = "), ({"items_per_channel": 0}, "items_per_channel = 0"),
            ({"splits": 2}, "splits = 2 .*MassiveUplink"), ({"samples": "complex32"}, "samples = .*complex64.*but with massive MIMO"),
            ({"stage": wb.ClusteredDownlink(antennas=8, users=2, clusters=2), "splits": 2}, "splits = 2 .*ClusteredUplink"),
            ({"stage": wb.ClusteredUplink(antennas=8, users=2, qam=4, clusters=2, executor=wb.cpu(threads=1))},
             "stage = one with an executor"),
            ({"stage": wb.MassiveUplink(antennas=8, users=2, qam=4), "samples": "half"}, 'samples = "half" .*complex64.*complex32'),
            ({"stage": wb.MassiveUplink(antennas=8, users=2, qam=4), "outputs": ("llr", "llr_int8")}, "one of 'llr' and 'llr_int8'"),
            ({"stage": wb.MassiveDownlink(antennas=8, users=2), "outputs": "llr_int8"}, "outputs = 'llr_int8'"),
            ({"outputs": "bits"}, "outputs = 'bits' .*'llr' or 'status'"),
            ({"outputs": ()}, r"outputs = \(\)"), ({"outputs": ("llr", "llr")}, "each name once"),
            ({"stage": wb.MMSE(**MMSE, executor=wb.cpu(threads=1))}, "stage = one with an executor"),
            ({"stage": wb.MassiveUplink(antennas=8, users=2, qam=4), "decoder": wb.TurboDecoder(k=40)},
             "decoder = TurboDecoder .*None behind MassiveUplink"),
            ({"stage": wb.MassiveUplink(antennas=8, users=2, qam=4), "items_per_channel": 14}, "most_items = 5 .*multiple of 14"),
            ({"stage": wb.MassiveUplink(antennas=8, users=2, qam=4), "items_per_channel": 14, "splits": 3, "most_items": 14},
             "splits = 3"),
            ({"decoder": wb.TurboDecoder(k=40)}, "most_items = 5 .*17")):
        with pytest.raises(ValueError, match=f"(?s){text}"):
            stream(**changed)
    for changed, text in (({"stage": None}, "stage is a NoneType"), ({"stage": wb.QamMapper(qam=4)}, "stage is a QamMapper"),
                          ({"decoder": wb.QamMapper(qam=4)}, "decoder is a QamMapper")):
        with pytest.raises(TypeError, match=text):
            stream(**changed)
    with pytest.raises(RuntimeError):
        stream(devices="cuda:63")
    with stream(waiting="spin", threads=2, devices="cpu", graphs=True) as s:
        assert s.slots == 10 and s.descriptions[0].endswith("2 threads")
        assert s.push(*mmse_frame(rng)).result().shape == (5, 8)


def script(code, **env):
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path, **env}, capture_output=True, text=True,
                          timeout=600)


BEGIN = """
import os, signal, sys, threading, time
import numpy as np, warpband as wb
signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background it would be ignored
def interrupted(call):
    try:
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        call()
    except KeyboardInterrupt:
        return True
n = 3 * 6148 // 2
rng = np.random.default_rng(1)
h, y = ((rng.normal(size=(n,) + s) + 1j).astype(np.complex64) for s in ((1, 1), (1,)))
def slow(**settings):
    return wb.Stream(stage=wb.MMSE(streams=1, rx_antennas=1, qam=4), decoder=wb.TurboDecoder(k=6144, iterations=64, windows=1),
                     most_items=n, streams=1, **settings)
"""


@pytest.mark.parametrize("timeout", [float("nan"), "1", 1j, [1]])
def test_timeouts_are_numbers(timeout, rng):
    with wb.Stream(stage=wb.MMSE(**MMSE), most_items=5) as stream:
        ticket = stream.push(*mmse_frame(rng))
        stream.drain()
        for wait in (lambda: stream.push(*mmse_frame(rng), timeout=timeout), lambda: ticket.result(timeout=timeout),
                     lambda: stream.drain(timeout=timeout)):
            with pytest.raises(ValueError, match="^timeout = .* is not allowed: expected a number"):
                wait()
        assert ticket.result(timeout=np.float32(60)).shape == ticket.result(timeout=-1).shape


def test_control_c_ends_a_wait():
    out = script(BEGIN + """
gate = threading.Event()
def stream():
    return wb.Stream(stage=wb.MMSE(streams=1, rx_antennas=1, qam=4), most_items=n, streams=1, queue=8,
                     on_frame=lambda f: gate.wait())
waits, pushes = stream(), stream()
# One in the callback, as many as there are slots wait for it, and the next one's delivery waits.
tickets = [waits.push(h, y, 0.5) for _ in range(3 + waits.slots)]
print(interrupted(tickets[-1].result), tickets[-1].done())
def push():
    while True:
        pushes.push(h, y, 0.5)
print(interrupted(push))
gate.set()
for s in (waits, pushes):
    s.stop()
""")
    assert out.stdout == "True False\nTrue\n" and out.returncode == 0, out.stderr


@pytest.mark.parametrize("waiting", ["block", "spin"])
def test_waits_behind_a_callback_that_does_not_return_end(waiting):
    """Frames of two devices end in all slots: nothing is left to be dropped. Neither a push nor stop may be deaf then."""
    out = script(BEGIN + f"""
gate = threading.Event()
stream = wb.Stream(stage=wb.MMSE(streams=1, rx_antennas=1, qam=4), most_items=n, devices=["cpu", "cpu"], streams=1, queue=1,
                   overflow="drop-oldest", waiting="{waiting}", on_frame=lambda frame: gate.wait())
""" + """
try:
    while True:
        stream.push(h, y, 0.5, timeout=0.3)
except TimeoutError as error:
    print(error)
def push():  # more than once where a frame took longer than that
    while True:
        stream.push(h, y, 0.5)
print(interrupted(push), interrupted(stream.stop))
gate.set()
stream.stop()
stats = stream.stats()
print(stats.pushed == stats.delivered + stats.dropped)
""")
    assert out.stdout == "no slot was free in 0.3 s\nTrue True\nTrue\n" and out.returncode == 0, out.stderr


def test_a_program_may_end_with_an_open_stream():
    for how in ("", "sys.exit(3)", "raise ValueError"):
        out = script(BEGIN + f"""
streams = [slow(on_frame=print) for _ in range(2)]
tickets = [s.push(h, y, 0.5) for s in streams for _ in range(4)]
{how}
""")
        assert out.returncode == {"": 0, "sys.exit(3)": 3}.get(how, 1), (how, out.returncode, out.stderr)
        assert "unraisable" not in out.stderr and "Fatal" not in out.stderr, out.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_the_child_of_a_fork_makes_its_own():
    out = script(BEGIN + """
stream = slow(on_frame=lambda f: None)
ticket = stream.push(h, y, 0.5)
child = os.fork()
if child == 0:
    for call in (lambda: stream.push(h, y, 0.5), ticket.done, ticket.result, stream.drain, stream.stop, stream.stats,
                 stream.reset_times):
        try:
            call()
            os._exit(1)
        except RuntimeError as error:
            if "in the child of a fork: make one there" not in str(error):
                os._exit(2)
    with slow() as own:
        own.push(h, y, 0.5).result()
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(ticket.result().shape)
stream.stop()
""")
    assert out.stdout.strip() == "(1, 6144)" and out.returncode == 0, out.stderr
    assert "ignored" not in out.stderr and "Error" not in out.stderr, out.stderr
