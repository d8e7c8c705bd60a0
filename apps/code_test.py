"""Tests of `warpband encode` and `warpband decode` on files that h5py writes: .venv/bin/python -m pytest apps/code_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given.

Open vectors are read from WARPBAND_REFDATA, ../shared/refdata unless set; tests that need them are skipped without.
"""
import json
import os
import pathlib
import signal
import unittest

import h5py
import numpy

import array_files

REFDATA = pathlib.Path(os.environ.get("WARPBAND_REFDATA", array_files.ROOT.parent / "shared" / "refdata"))


def bits_of(text):
    return numpy.frombuffer(text.encode(), dtype=numpy.uint8) - ord("0")


def vectors(name):
    path = REFDATA / "vectors" / name
    if not path.exists():
        raise unittest.SkipTest(f"{name} is not there (WARPBAND_REFDATA)")
    return json.loads(path.read_text())["vectors"]


class CodeTest(array_files.ArrayFilesTest):
    # ------------------------------------------------------------------ what it computes

    def test_open_encoder_vectors(self):
        for vector in vectors("lte_turbo_enc.json"):
            self.write("in.h5", {"bits": bits_of(vector["input"])[None, :]})
            expected = numpy.concatenate([bits_of(vector[d]) for d in ("d0", "d1", "d2")])
            for name, arguments, environment in array_files.backends():
                with self.subTest(K=vector["K"], backend=name):
                    self.succeed("encode", "in.h5", "-o", "out.h5", "--code", "lte-turbo", *arguments, environment=environment)
                    arrays, attributes = self.read("out.h5")
                    self.assertEqual(arrays["bits"].dtype, numpy.uint8)
                    numpy.testing.assert_array_equal(arrays["bits"], expected[None, :])
                    self.assertEqual((attributes["code"], attributes["k"], attributes["n"]),
                                     ("lte-turbo", vector["K"], len(expected)))

    def test_open_decoder_vectors(self):
        by_k = {}
        for vector in vectors("lte_turbo_dec_sionna_ref.json"):
            by_k.setdefault(vector["K"], []).append(vector)
        for k, group in by_k.items():
            # y = 1 - 2 b + noise of variance 1.5, stored as d0[0], d1[0], d2[0], d0[1], ...
            llr = numpy.array([v["y"] for v in group]) * 2 / 1.5
            streams = llr.reshape(len(group), -1, 3).transpose(0, 2, 1).reshape(len(group), -1)
            self.write("in.h5", {"llr": streams.astype(numpy.float32)})
            expected = numpy.array([bits_of(v["decoded_ref"]) for v in group])
            for name, arguments, environment in array_files.backends():
                with self.subTest(K=k, backend=name):
                    self.succeed("decode", "in.h5", "-o", "out.h5", "--code", "lte-turbo", "--k", k, "--algorithm", "log-map",
                                 "--iterations", 10, "--windows", 1, *arguments, environment=environment)
                    numpy.testing.assert_array_equal(self.read("out.h5")[0]["bits"], expected)

    def encode_on_all_backends(self, bits, expected, *options):
        self.write("in.h5", {"bits": bits})
        for name, arguments, environment in array_files.backends():
            with self.subTest(options=options, backend=name):
                self.succeed("encode", "in.h5", "-o", "out.h5", *options, *arguments, environment=environment)
                arrays, attributes = self.read("out.h5")
                numpy.testing.assert_array_equal(arrays["bits"], expected)
                self.assertEqual((attributes["code"], attributes["k"], attributes["n"]),
                                 (options[1], bits.shape[1], expected.shape[1]))
        return attributes

    def decode_on_all_backends(self, coded, bits, attributes, *options):
        """From LLRs with some noise, and nothing said about the code but by the file's attributes."""
        noise = numpy.random.default_rng(9).normal(0, 1, coded.shape)
        self.write("in.h5", {"llr": (4 - 8.0 * coded + noise).astype(numpy.float32)}, attributes)
        for name, arguments, environment in array_files.backends():
            with self.subTest(options=options, backend=name):
                self.succeed("decode", "in.h5", "-o", "out.h5", *options, *arguments, environment=environment)
                numpy.testing.assert_array_equal(self.read("out.h5")[0]["bits"], bits)

    def test_open_wimax_vectors(self):
        for vector in vectors("wimax_ldpc_enc.json"):
            bits, coded = bits_of(vector["input"])[None, :], bits_of(vector["codeword"])[None, :]
            attributes = self.encode_on_all_backends(bits, coded, "--code", "wimax-ldpc", "--n", vector["n"], "--rate",
                                                     vector["rate"].replace("_", "/"))
            self.assertEqual(attributes["rate"], vector["rate"].replace("_", "/"))
            self.decode_on_all_backends(coded, bits, attributes)

    def test_open_punctured_vectors(self):
        for vector in vectors("conv_punctured.json"):
            bits, coded = bits_of(vector["input"])[None, :], bits_of(vector["output"])[None, :]
            attributes = self.encode_on_all_backends(bits, coded, "--code", "conv", "--rate", vector["rate"], "--standard",
                                                     vector["standard"], "--termination", "zero")
            self.assertEqual((attributes["rate"], attributes["standard"], attributes["termination"]),
                             (vector["rate"], vector["standard"], "zero-tail"))
            for algorithm in ("viterbi", "max-log-map", "log-map"):
                self.decode_on_all_backends(coded, bits, attributes, "--algorithm", algorithm)

    def test_open_tail_biting_vectors(self):
        for vector in vectors("lte_tbcc.json"):
            bits = bits_of(vector["input"])[None, :]
            streams = [bits_of(vector[d]) for d in ("d0", "d1", "d2")]
            code = ("--code", "conv", "--generators", "133,171,165", "--termination", "tail-biting")
            self.encode_on_all_backends(bits, numpy.stack(streams, axis=1).reshape(1, -1), *code)
            coded = numpy.concatenate(streams)[None, :]
            attributes = self.encode_on_all_backends(bits, coded, *code, "--order", "streams")
            self.assertEqual((attributes["generators"], attributes["order"], attributes["rate"]),
                             ("133,171,165", "streams", "1/3"))
            for algorithm in ("viterbi", "max-log-map", "log-map"):
                self.decode_on_all_backends(coded, bits, attributes, "--algorithm", algorithm)

    def test_open_polar_vectors(self):
        kinds = {"uplink": "uci", "downlink": "dci"}
        path = REFDATA / "nr" / "vectors" / "nr_polar.json"
        if not path.exists():
            raise unittest.SkipTest(f"{path.name} is not there (WARPBAND_REFDATA)")
        for vector in json.loads(path.read_text())["vectors"][::4]:
            if vector["direction"] not in kinds or vector["crc"] not in ("CRC6", "CRC11"):
                continue
            bits, coded = bits_of(vector["info"])[None, :], bits_of(vector["out"])[None, :]
            attributes = self.encode_on_all_backends(bits, coded, "--code", "polar", "--coded-bits", vector["E"])
            self.assertEqual((attributes["kind"], attributes["coded_bits"]), ("uci", vector["E"]))
            self.decode_on_all_backends(coded, bits, attributes)
            self.decode_on_all_backends(coded, bits, {"k": vector["A"]}, "--code", "polar", "--list-size", 32)

    def test_polar_codes(self):
        bits = numpy.random.default_rng(12).integers(0, 2, (9, 40), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        code = ("--code", "polar", "--kind", "dci", "--coded-bits", 108, "--rnti", 4660)
        self.succeed("encode", "bits.h5", "-o", "coded.h5", *code)
        arrays, attributes = self.read("coded.h5")
        self.assertEqual([attributes[name] for name in ("code", "k", "n", "kind", "coded_bits", "rnti")],
                         ["polar", 40, 108, "dci", 108, 4660])
        llr = (2 - 4.0 * arrays["bits"]).astype(numpy.float32)
        llr[4, 3] = numpy.inf
        self.write("llr.h5", {"llr": llr}, {name: attributes[name] for name in ("code", "k", "kind", "coded_bits", "rnti")})
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--list-size", 4, "--algorithm", "sum-product")
        arrays, attributes = self.read("out.h5")
        self.assertEqual((attributes["list_size"], attributes["algorithm"]), (4, "sum-product"))
        self.assertEqual(arrays["status"].tolist(), [2, 2, 2, 2, 1, 2, 2, 2, 2])
        self.assertEqual(arrays["iterations"].tolist(), [1, 1, 1, 1, 0, 1, 1, 1, 1])
        bits[4] = 0
        numpy.testing.assert_array_equal(arrays["bits"], bits)
        self.succeed("decode", "llr.h5", "-o", "pieces.h5", "--list-size", 4, "--algorithm", "sum-product", "--memory", "40M")
        numpy.testing.assert_array_equal(self.read("pieces.h5")[0]["bits"], bits)
        # Another terminal's RNTI: the CRC holds for none.
        self.write("llr.h5", {"llr": llr[:3]})
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--k", 40, *code[:-1], 4661)
        self.assertEqual(self.read("out.h5")[0]["status"].tolist(), [0, 0, 0])
        decode = ("decode", "llr.h5", "-o", "out.h5", "--code", "polar")
        self.fail_clearly(2, "--k is missing: E bits may be those of any k", *decode)
        self.fail_clearly(2, "--list-size", *decode, "--k", 40, "--list-size", 3)
        self.fail_clearly(2, "--rnti has no meaning with --kind uci", *decode, "--k", 40, "--rnti", 5)
        self.fail_clearly(2, "--soft: the decoder of polar codes has no soft output", *decode, "--k", 40, "--soft")
        self.fail_clearly(1, "expected [batch, 200] for k = 40, coded_bits = 200", *decode, "--k", 40, "--coded-bits", 200)
        self.fail_clearly(2, "--coded-bits is missing", "encode", "bits.h5", "-o", "out.h5", "--code", "polar")

    def test_transport_blocks(self):
        bits = numpy.random.default_rng(13).integers(0, 2, (5, 3848), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        for code, options in (("nr-ulsch", ("--modulation-order", 4, "--scrambling", 65543, "--base-graph", 2)), ("nr-dlsch", ("--layers", 2)),
                              ("lte-transport", ())):
            with self.subTest(code=code):
                self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", code, "--coded-bits", 4400, "--transmissions", 2, *options)
                arrays, attributes = self.read("coded.h5")
                self.assertEqual(arrays["bits"].shape, (5, 8800))
                self.assertEqual([attributes[name] for name in ("k", "n", "coded_bits", "transmissions")], [3848, 8800, 4400, 2])
                llr = (2 - 4.0 * arrays["bits"]).astype(numpy.float32)
                llr[:, ::9] *= -0.25
                llr[2, 4401] = numpy.nan
                told = {name: value for name, value in attributes.items() if not name.startswith("warpband")}
                self.write("llr.h5", {"llr": llr}, told)
                self.succeed("decode", "llr.h5", "-o", "out.h5")
                arrays, _ = self.read("out.h5")
                self.assertEqual([status & 2 for status in arrays["status"]], [2, 2, 0, 2, 2])
                self.assertTrue(arrays["status"][2] & 1)
                numpy.testing.assert_array_equal(arrays["bits"][[0, 1, 3, 4]], bits[[0, 1, 3, 4]])
                self.write("llr.h5", {"llr": llr})
                self.succeed("decode", "llr.h5", "-o", "out.h5", "--code", code, "--transport-block-size", 3848, "--coded-bits", 4400, *options)
                numpy.testing.assert_array_equal(self.read("out.h5")[0]["bits"], arrays["bits"])
        decode = ("decode", "llr.h5", "-o", "out.h5", "--code", "nr-dlsch")
        self.fail_clearly(2, "--transport-block-size is missing", *decode)
        self.fail_clearly(1, "expected [batch, 4401 or a multiple], 4401 bits for each of 1 to 8 transmissions", *decode,
                          "--transport-block-size", 3848, "--coded-bits", 4401)
        self.fail_clearly(2, "--soft: the decoder of transport blocks has no soft output", *decode, "--transport-block-size", 3848, "--soft")
        self.fail_clearly(2, "--coded-bits is missing", "encode", "bits.h5", "-o", "out.h5", "--code", "nr-dlsch")
        self.fail_clearly(2, "--k has no meaning with --code nr-dlsch", *decode, "--k", 3848)

    def test_base_matrices_of_files(self):
        (self.folder / "own.csv").write_text("# z = 16\n3,1,7,2,1,0,-1,-1\n5,-1,9,4,-1,0,0,-1\n-1,6,2,11,0,-1,0,0\n8,3,-1,14,1,-1,-1,0\n")
        bits = numpy.random.default_rng(14).integers(0, 2, (7, 64), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", "own.csv")
        arrays, attributes = self.read("coded.h5")
        self.assertEqual((attributes["code"], attributes["base_matrix"], attributes["lifting_size"]), ("qc-ldpc", "own.csv", 16))
        numpy.testing.assert_array_equal(arrays["bits"][:, :64], bits)
        self.write("llr.h5", {"llr": (2 - 4.0 * arrays["bits"]).astype(numpy.float32)}, {"code": "qc-ldpc", "base_matrix": "own.csv"})
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--precision", "int8")
        numpy.testing.assert_array_equal(self.read("out.h5")[0]["bits"], bits)
        self.fail_clearly(1, "own.csv: no base matrix: it says z = 16, but lifting size 8 is asked for", "encode", "bits.h5", "-o", "out.h5",
                          "--code", "own.csv", "--lifting-size", 8)
        self.fail_clearly(1, "nowhere.csv: cannot read", "encode", "bits.h5", "-o", "out.h5", "--code", "nowhere.csv")
        self.fail_clearly(2, "--base-matrix has no meaning with --code own.csv", "encode", "bits.h5", "-o", "out.h5", "--code", "own.csv",
                          "--base-matrix", "own.csv")

    def test_other_codes_round_trip(self):
        random = numpy.random.default_rng(10)
        for code, k, n, options, decoders in (
                ("wimax-ldpc", 384, 576, ("--rate", "2/3A"), (("--algorithm", "min-sum"), ("--precision", "int8", "--llr-steps", "4"))),
                ("wifi-ldpc", 324, 648, (), (("--algorithm", "offset-min-sum", "--offset", "0.25"), ("--schedule", "flooding"))),
                ("wifi-ldpc", 1620, 1944, ("--rate", "5/6", "--n", "1944"), (("--algorithm", "sum-product"), ("--early-stop", "none"))),
                ("conv", 60, 90, ("--rate", "2/3", "--termination", "tail-biting"),
                 (("--algorithm", "log-map", "--overlap", "30"), ("--precision", "int16", "--llr-steps", "4", "--overlap", "30"))),
                ("conv", 60, 124, ("--generators", "07,5", "--feedback", "7"), (("--algorithm", "max-log-map"),)),
                ("lte-turbo", 104, 220, ("--rate", "1/2"),
                 (("--iterations", "8"), ("--precision", "int16", "--algorithm", "max-log-map", "--extrinsic-scale", "0.75"),
                  ("--precision", "bfloat16", "--algorithm", "log-map")))):
            bits = random.integers(0, 2, (9, k), dtype=numpy.uint8)
            self.write("bits.h5", {"bits": bits})
            self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", code, *options)
            arrays, attributes = self.read("coded.h5")
            self.assertEqual(arrays["bits"].shape, (9, n))
            llr = (6 - 12.0 * arrays["bits"] + random.normal(0, 1, (9, n))).astype(numpy.float32)
            llr[4, n // 2] = numpy.nan
            erased = bits.copy()
            erased[4] = 0
            for held, given in (({}, ("--code", code, *options)), (attributes, ())):
                self.write("llr.h5", {"llr": llr}, held)
                for decoder in ((), *decoders):
                    with self.subTest(code=code, options=options, decoder=decoder):
                        soft = () if code == "conv" and not decoder or {"bfloat16", "int16"} & set(decoder) else ("--soft",)
                        self.succeed("decode", "llr.h5", "-o", "out.h5", *given, *decoder, *soft)
                        arrays, written = self.read("out.h5")
                        numpy.testing.assert_array_equal(arrays["bits"], erased)
                        self.assertEqual((arrays["status"] & 1).tolist(), [0] * 4 + [1] + [0] * 4)
                        self.assertEqual((arrays["iterations"] == 0).tolist(), [i == 4 for i in range(9)])
                        if soft:
                            numpy.testing.assert_array_equal(arrays["soft"] < 0, erased == 1)
                        for option, value in zip(decoder[::2], decoder[1::2]):
                            self.assertEqual(str(written[option[2:].replace("-", "_")]).removesuffix(".0"), value)
            # An encoder takes what a decoder wrote.
            self.succeed("encode", "out.h5", "-o", "again.h5")
            again = self.read("again.h5")[0]["bits"]
            self.assertEqual(again.shape, (9, n))
            self.assertFalse(again[4].any())

    def test_round_trip_in_every_form(self):
        random = numpy.random.default_rng(1)
        bits = random.integers(0, 2, (37, 104), dtype=numpy.uint8)
        for form in ({}, {"chunks": (5, 104)}, {"chunks": (7, 50), "compression": "gzip", "shuffle": True},
                     {"chunks": (37, 104), "compression": "gzip"}, {"maxshape": (None, 104)}):
            with self.subTest(form=form):
                self.write("bits.h5", {"bits": bits}, **form)
                self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", "lte-turbo")
                coded = self.read("coded.h5")[0]["bits"]
                noisy = (1 - 2.0 * coded) * 4 + random.normal(0, 2, coded.shape)
                for dtype in ("<f4", ">f4"):
                    self.write("llr.h5", {"llr": noisy.astype(dtype)}, {"code": "lte-turbo", "k": 104}, **{
                        **form, **({"chunks": (form["chunks"][0], 80)} if "chunks" in form else {}),
                        **({"maxshape": (None, 324)} if "maxshape" in form else {})})
                    self.succeed("decode", "llr.h5", "-o", "decoded.h5", "--soft", "--json", "summary.json")
                    arrays, attributes = self.read("decoded.h5")
                    numpy.testing.assert_array_equal(arrays["bits"], bits)
                    numpy.testing.assert_array_equal(arrays["soft"] < 0, bits == 1)
                    self.assertEqual([arrays[a].dtype for a in ("bits", "iterations", "status", "soft")],
                                     [numpy.uint8, numpy.int32, numpy.uint8, numpy.float32])
                    self.assertEqual(arrays["iterations"].tolist(), [6] * 37)
                    self.assertEqual(arrays["status"].tolist(), [0] * 37)
                    self.assertEqual((attributes["algorithm"], attributes["iterations"], attributes["windows"]),
                                     ("log-map", 6, 3))
                    summary = json.loads((self.folder / "summary.json").read_text())
                    self.assertEqual((summary["items"], summary["erased"], summary["k"]), (37, 0, 104))

    def test_bad_items_are_erased_and_counted(self):
        bits = numpy.random.default_rng(2).integers(0, 2, (5, 40), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", "lte-turbo")
        llr = (8 - 16.0 * self.read("coded.h5")[0]["bits"]).astype(numpy.float32)
        llr[1, 7], llr[3, 131] = numpy.nan, numpy.inf
        self.write("llr.h5", {"llr": llr})
        out = json.loads(self.succeed("decode", "llr.h5", "-o", "out.h5", "--code", "lte-turbo", "--early-stop", "sign-agreement",
                                      "--json", "-"))
        self.assertEqual((out["erased"], out["stopped"]), (2, 3))
        arrays, _ = self.read("out.h5")
        self.assertEqual(arrays["status"].tolist(), [2, 1, 2, 1, 2])
        self.assertEqual((arrays["iterations"] == 0).tolist(), [False, True, False, True, False])
        bits[[1, 3]] = 0
        numpy.testing.assert_array_equal(arrays["bits"], bits)

    def test_other_sign_and_no_blocks(self):
        bits = numpy.random.default_rng(3).integers(0, 2, (3, 40), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", "lte-turbo")
        llr = (16.0 * self.read("coded.h5")[0]["bits"] - 8).astype(numpy.float32)
        self.write("llr.h5", {"llr": llr})
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--code", "lte-turbo", "--llr-sign", "p1/p0", "--soft")
        arrays, _ = self.read("out.h5")
        numpy.testing.assert_array_equal(arrays["bits"], bits)
        numpy.testing.assert_array_equal(arrays["soft"] > 0, bits == 1)
        self.write("none.h5", {"llr": llr[:0]})
        self.succeed("decode", "none.h5", "-o", "out.h5", "--code", "lte-turbo")
        self.assertEqual(self.read("out.h5")[0]["bits"].shape, (0, 40))

    # ------------------------------------------------------------------ memory

    def test_file_four_times_larger_than_memory(self):
        k, n, megabytes = 6144, 18444, 64
        words = 4 * megabytes * 2**20 // (4 * n) + 1
        random = numpy.random.default_rng(4)
        bits = random.integers(0, 2, (4, k), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", "lte-turbo")
        llr = (6 - 12.0 * self.read("coded.h5")[0]["bits"]).astype(numpy.float32)
        for form in ({}, {"chunks": (16, n)}, {"chunks": (64, 1024)}, {"chunks": (64, n), "compression": "gzip"}):
            with h5py.File(self.folder / "llr.h5", "w") as file:
                array = file.create_dataset("llr", (words, n), numpy.float32, **form)
                block = numpy.tile(llr, (64, 1))
                for first in range(0, words, 256):
                    array[first:first + 256] = block[:min(256, words - first)]
            self.assertTrue("compression" in form or (self.folder / "llr.h5").stat().st_size > 4 * megabytes * 2**20)
            self.assertLess(self.peak_memory("decode", "llr.h5", "-o", "out.h5", "--code", "lte-turbo", "--iterations", 1,
                                             "--algorithm", "max-log-map", "--memory", f"{megabytes}M", "--threads", 2),
                            megabytes * 2**20, form)
            with h5py.File(self.folder / "out.h5", "r") as file:
                for first in range(0, words, 256):
                    rows = file["bits"][first:first + 256]
                    numpy.testing.assert_array_equal(rows, numpy.tile(bits, (64, 1))[:len(rows)])

    def test_pieces_change_nothing(self):
        random = numpy.random.default_rng(5)
        self.write("llr.h5", {"llr": random.normal(0, 3, (3000, 3 * 44)).astype(numpy.float32)})
        self.succeed("decode", "llr.h5", "-o", "whole.h5", "--code", "lte-turbo", "--soft")
        whole, _ = self.read("whole.h5")
        for memory in ("34M", "35M"):
            self.succeed("decode", "llr.h5", "-o", "pieces.h5", "--code", "lte-turbo", "--soft", "--memory", memory, "--threads", 1)
            for name, values in self.read("pieces.h5")[0].items():
                numpy.testing.assert_array_equal(values, whole[name])

    # ------------------------------------------------------------------ what goes wrong

    def test_bad_files(self):
        llr = numpy.ones((3, 132), numpy.float32)
        decode = ("decode", "in.h5", "-o", "out.h5", "--code", "lte-turbo")
        encode = ("encode", "in.h5", "-o", "out.h5", "--code", "lte-turbo")
        self.fail_clearly(1, "in.h5: cannot", *decode)
        (self.folder / "in.h5").write_bytes(b"")
        self.fail_clearly(1, "in.h5: ", *decode)
        (self.folder / "in.h5").write_text("ebn0_db,ber\n" * 100)
        self.fail_clearly(1, "in.h5: it is not an HDF5 file", *decode)
        self.write("in.h5", {"llr": llr})
        whole = (self.folder / "in.h5").read_bytes()
        for size in (100, len(whole) // 2, len(whole) - 1):
            (self.folder / "in.h5").write_bytes(whole[:size])
            self.fail_clearly(1, "in.h5: ", *decode)
        for wrong, part in (({"bits": llr}, "there is no array \"llr\": it holds bits"),
                            ({"llr": llr.astype(numpy.float64)}, "llr is float64 [3, 132]: expected float32"),
                            ({"llr": llr.astype(numpy.int32)}, "llr is int32 [3, 132]: expected float32"),
                            ({"llr": llr.astype(numpy.complex64)}, "llr is complex64 [3, 132]: expected float32"),
                            ({"llr": llr[0]}, "llr is float32 [132]: expected float32"),
                            ({"llr": llr[None]}, "llr is float32 [1, 3, 132]: expected float32"),
                            ({"llr": llr[:, :131]}, "[3, 131]: expected [batch, n] with n = 3 (k + 4)"),
                            ({"llr": numpy.ones((3, 135), numpy.float32)}, "k = 41 is not allowed")):
            self.write("in.h5", wrong)
            self.fail_clearly(1, part, *decode)
        self.write("in.h5", {"llr": llr})
        self.fail_clearly(1, "expected [batch, 324] for k = 104", *decode, "--k", 104)
        self.fail_clearly(2, "windows = 6 is not allowed: expected 1 to k/8 = 5", *decode, "--windows", 6)
        self.fail_clearly(1, "at least", *decode, "--memory", "1M")
        self.fail_clearly(1, "cannot write", *decode[:3], "missing/out.h5", *decode[4:])
        self.fail_clearly(1, "is read by this run", *decode[:3], "in.h5", *decode[4:])
        self.fail_clearly(1, "\"cpu\" is always there", *decode, "--device", "cuda:99")
        self.write("in.h5", {"llr": llr}, {"code": "wimax-ldpc"})
        self.fail_clearly(1, "is of code wimax-ldpc, not lte-turbo", *decode)
        self.write("in.h5", {"llr": llr}, {"k": 48})
        self.fail_clearly(1, "says that it holds k = 48", *decode)
        self.write("in.h5", {"bits": numpy.ones((3, 40), bool)})
        self.fail_clearly(1, "bits is bool [3, 40]: expected uint8", *encode)
        self.write("in.h5", {"bits": numpy.ones((3, 41), numpy.uint8)})
        self.fail_clearly(1, "k = 41 is not allowed", *encode)
        bits = numpy.ones((3, 40), numpy.uint8)
        bits[2, 5] = 2
        self.write("in.h5", {"bits": bits})
        self.fail_clearly(1, "bits[2, 5] is 2: expected 0 or 1", *encode)

    def test_files_of_matlab(self):
        random = numpy.random.default_rng(5)
        bits = random.integers(0, 2, (30, 40)).astype(numpy.uint8)
        self.write("in.h5", {"bits": bits})
        self.succeed("encode", "in.h5", "-o", "coded.h5", "--code", "lte-turbo")
        coded = self.read("coded.h5")[0]["bits"]
        llr = 4. - 8. * coded + random.normal(size=coded.shape)
        self.write("llr.h5", {"llr": llr.astype(numpy.float32)})
        self.succeed("decode", "llr.h5", "-o", "bits.h5", "--code", "lte-turbo", "--soft")
        decoded = self.read("bits.h5")[0]
        for kind, addition in (("uint8", ""), ("float64", ", float64 converted")):
            self.write_matlab("in.h5", {"bits": bits.astype(kind)})
            run = self.run_command("encode", "in.h5", "-o", "out.h5", "--code", "lte-turbo")
            self.assertEqual((run.returncode, run.stderr),
                             (0, f"warpband: note: in.h5: read as MATLAB wrote it: axes reversed{addition}\n"))
            numpy.testing.assert_array_equal(self.read("out.h5")[0]["bits"], coded)
        for compressed in (False, True):
            self.write_matlab("in.h5", {"llr": llr}, compressed)
            run = self.run_command("decode", "in.h5", "-o", "out.h5", "--code", "lte-turbo", "--soft")
            self.assertEqual(run.returncode, 0, run.stderr)
            arrays = self.read("out.h5")[0]
            for array in ("bits", "soft", "status"):
                numpy.testing.assert_array_equal(arrays[array], decoded[array])

    def test_damaged_texts_of_attributes(self):
        self.write("good.h5", {"llr": numpy.ones((5, 132), numpy.float32)}, {"code": "lte-turbo"})
        self.succeed("decode", "good.h5", "-o", "out.h5")
        good = (self.folder / "good.h5").read_bytes()
        heap = good.index(b"GCOL")
        for offset, value in ((8, 2 ** 40), (24, 2 ** 63), (56, 0), (56, 208)):  # bytes of the heap, of the text, of the free rest
            bad = bytearray(good)
            bad[heap + offset:heap + offset + 8] = value.to_bytes(8, "little")
            (self.folder / "bad.h5").write_bytes(bad)
            self.fail_clearly(1, "attribute code cannot be read, it is truncated or damaged", "decode", "bad.h5", "-o", "none.h5")

    def test_the_interleaver_of_a_file(self):
        bits = numpy.random.default_rng(7).integers(0, 2, (4, 40), dtype=numpy.uint8)
        self.write("bits.h5", {"bits": bits})
        self.succeed("encode", "bits.h5", "-o", "coded.h5", "--code", "lte-turbo", "--interleaver", "7,10")
        arrays, attributes = self.read("coded.h5")
        self.assertEqual((attributes["interleaver_f1"], attributes["interleaver_f2"]), (7, 10))
        # Noise that only the right interleaver removes.
        llr = (3 - 6.0 * arrays["bits"] + numpy.random.default_rng(8).normal(0, 3, arrays["bits"].shape)).astype(numpy.float32)
        self.write("llr.h5", {"llr": llr}, attributes)
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--soft")
        taken = self.read("out.h5")[0]["soft"]
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--soft", "--interleaver", "7,10")
        numpy.testing.assert_array_equal(self.read("out.h5")[0]["soft"], taken)
        self.fail_clearly(1, "is of interleaver 7,10, not 3,10", "decode", "llr.h5", "-o", "out.h5", "--interleaver", "3,10")
        self.write("llr.h5", {"llr": llr})
        self.succeed("decode", "llr.h5", "-o", "out.h5", "--soft", "--code", "lte-turbo")
        self.assertTrue((self.read("out.h5")[0]["soft"] != taken).any())

    def test_outputs_keep_apart(self):
        self.write("bits.h5", {"bits": numpy.ones((2, 40), numpy.uint8)})
        encode = ("encode", "bits.h5", "--code", "lte-turbo", "-o")
        os.symlink("target.h5", self.folder / "link.h5")
        self.fail_clearly(2, "the same file", *encode, "out.h5", "--json", "./out.h5")
        self.fail_clearly(2, "the same file", *encode, "link.h5", "--json", "target.h5")
        self.fail_clearly(2, "is empty", *encode, "")
        self.succeed(*encode, "link.h5")
        self.assertTrue((self.folder / "link.h5").is_symlink())
        self.assertEqual(self.read("target.h5")[0]["bits"].shape, (2, 132))

    def test_used_wrongly(self):
        self.write("in.h5", {"llr": numpy.ones((3, 132), numpy.float32)})
        decode = ("decode", "in.h5", "-o", "out.h5")
        self.fail_clearly(2, "a code is missing", *decode)
        self.fail_clearly(2, "--code", *decode, "--code", "turbo")
        self.fail_clearly(2, "--output", "decode", "in.h5")
        self.fail_clearly(2, "--memory", *decode, "--code", "lte-turbo", "--memory", "much")
        self.fail_clearly(2, "at least 1M", *decode, "--code", "lte-turbo", "--memory", "1")
        self.fail_clearly(2, "--windows", *decode, "--code", "lte-turbo", "--windows", "-1")
        self.fail_clearly(2, "--interleaver", *decode, "--code", "lte-turbo", "--interleaver", "3")
        self.fail_clearly(2, "the same file", *decode, "--code", "lte-turbo", "--json", "out.h5")
        self.fail_clearly(2, "- is not allowed: expected the name of an HDF5 file", "decode", "-", "-o", "out.h5", "--code", "lte-turbo")
        self.fail_clearly(2, "- is not allowed: expected the name of an HDF5 file", "decode", "in.h5", "-o", "-", "--code", "lte-turbo")
        self.fail_clearly(2, "did you mean --iterations?", *decode, "--code", "lte-turbo", "--iteration", "3")

    def test_options_of_another_code(self):
        self.write("in.h5", {"llr": numpy.ones((3, 576), numpy.float32)})
        wimax = ("decode", "in.h5", "-o", "out.h5", "--code", "wimax-ldpc")
        conv = (*wimax[:-1], "conv")
        for part, arguments in (
                ("--windows has no meaning with --code wimax-ldpc", (*wimax, "--windows", 4)),
                ("--interleaver has no meaning with --code wimax-ldpc", (*wimax, "--interleaver", "3,10")),
                ("--termination has no meaning with --code wimax-ldpc", (*wimax, "--termination", "zero")),
                ("--algorithm log-map has no meaning with --code wimax-ldpc: expected \"normalised-min-sum\", ",
                 (*wimax, "--algorithm", "log-map")),
                ("--scale has no meaning with --algorithm min-sum", (*wimax, "--algorithm", "min-sum", "--scale", 0.5)),
                ("--offset has no meaning with --algorithm normalised-min-sum", (*wimax, "--offset", 0.5)),
                ("--llr-steps has no meaning with --precision float32", (*wimax, "--llr-steps", 4)),
                ("--early-stop = crc is not allowed: expected --crc crc24a or --crc crc24b with it", (*wimax, "--early-stop", "crc")),
                ("--rate 3/4 has no meaning with --code wimax-ldpc: expected \"1/2\", \"2/3A", (*wimax, "--rate", "3/4")),
                ("--iterations has no meaning with --code conv", (*conv, "--iterations", 4)),
                ("--n has no meaning with --code conv", (*conv, "--n", 576)),
                ("--overlap has no meaning with --termination zero-tail", (*conv, "--overlap", 4)),
                ("--soft: the Viterbi algorithm has no soft output", (*conv, "--soft")),
                ("--generators", (*conv, "--generators", "133,181")),
                ("--feedback", (*conv, "--feedback", "x")),
                ("--constraint-length", (*conv, "--constraint-length", 10)),
                ("--rate", (*conv, "--rate", "7/8")),
                ("--scale has no meaning with --code lte-turbo", (*wimax[:-1], "lte-turbo", "--scale", 0.5))):
            with self.subTest(part=part):
                self.fail_clearly(2, part, *arguments)

    def test_options_by_old_names(self):
        self.write("in.h5", {"llr": numpy.ones((3, 576), numpy.float32)})
        decode = ("decode", "in.h5", "-o", "out.h5", "--code", "wimax-ldpc", "--precision", "int8", "--int8-steps=4")
        ran = self.run_command(*decode)
        self.assertEqual((ran.returncode, ran.stderr), (0, "hint: --int8-steps is now --llr-steps\n"))
        self.assertEqual(self.read("out.h5")[1]["llr_steps"], 4)
        self.fail_clearly(2, "--int8-steps and --llr-steps say the same: expected one of them", *decode, "--force", "--llr-steps", 3)

    def test_files_of_other_codes(self):
        decode = ("decode", "in.h5", "-o", "out.h5", "--code")
        llr = numpy.ones((3, 577), numpy.float32)
        self.write("in.h5", {"llr": llr})
        self.fail_clearly(1, "llr is float32 [3, 577]: expected [batch, n] with n = 576, 672, ... 2304", *decode, "wimax-ldpc")
        self.fail_clearly(1, "expected [batch, n] with n = 648, 1296 or 1944", *decode, "wifi-ldpc")
        self.fail_clearly(1, "expected [batch, 576] for n = 576, rate 1/2", *decode, "wimax-ldpc", "--n", 576)
        self.fail_clearly(1, "n = 600 is not allowed: expected 576 to 2304", *decode, "wimax-ldpc", "--n", 600)
        self.fail_clearly(1, "expected [batch, n] with the n of the code for a k from 1 to 65536", *decode, "conv")
        self.fail_clearly(1, "expected [batch, 212] for k = 100", *decode, "conv", "--k", 100)
        self.write("in.h5", {"llr": llr[:, :576]})
        self.fail_clearly(2, "k = 300 is not allowed: expected 288, as n = 576 and rate 1/2 give", *decode, "wimax-ldpc", "--k", 300)
        self.fail_clearly(2, "precision = \"int8\" is not allowed: expected \"float32\"", *decode, "wimax-ldpc", "--algorithm", "sum-product",
                          "--precision", "int8")
        self.fail_clearly(1, "termination = \"tail-biting\" is not allowed", *decode, "conv", "--generators", "7,5", "--feedback", 7,
                          "--termination", "tail-biting")
        held = {"code": "wimax-ldpc", "n": 576, "k": 288, "rate": "1/2"}
        for attributes, part, options in (
                (held, "is of rate 1/2, not 5/6", ("--rate", "5/6")),
                (held, "is of n 576, not 672", ("--n", 672)),
                (held, "is of code wimax-ldpc, not conv", ("--code", "conv")),
                ({**held, "k": 300}, "says that it holds k = 300", ()),
                ({**held, "rate": "7/8"}, "its attribute rate is \"7/8\": expected \"1/2\", \"2/3A", ()),
                ({**held, "n": "many"}, "its attribute n is \"many\": expected an integer", ()),
                ({"code": "fountain"}, "is of code \"fountain\": expected \"lte-turbo\", \"lte-transport\"", ()),
                ({"code": "conv", "termination": "tail-biting"}, "is of termination tail-biting, not zero-tail",
                 ("--termination", "zero")),
                ({"code": "conv", "generators": "133,171"}, "is of generators 133,171, not 7,5", ("--generators", "7,5")),
                ({"code": "conv", "generators": "13x"}, "its attribute generators is \"13x\"", ()),
                ({"code": "conv", "feedback": "7"}, "is of feedback 7, not 5", ("--feedback", "5"))):
            with self.subTest(part=part):
                self.write("in.h5", {"llr": llr[:, :576]}, attributes)
                self.fail_clearly(1, part, *decode[:-1], *options)
        self.write("in.h5", {"llr": llr[:, :132]}, {"code": "lte-turbo", "k": 40, "n": 131})
        self.fail_clearly(1, "says that n = 131, but llr has 132 values a row, for which n = 132", *decode[:-1])
        self.write("in.h5", {"bits": numpy.ones((3, 100), numpy.uint8)})
        self.fail_clearly(1, "expected [batch, k] with the k of a code of rate 3/4A, n = 576, 672, ... 2304", "encode", *decode[1:],
                          "wimax-ldpc", "--rate", "3/4A")
        self.fail_clearly(1, "expected [batch, 972] for n = 1944, rate 1/2", "encode", *decode[1:], "wifi-ldpc", "--n", 1944)

    def test_other_codes_in_little_memory(self):
        random = numpy.random.default_rng(11)
        for code, n, options in (("wimax-ldpc", 2304, ()), ("conv", 4108, ()), ("conv", 4108, ("--algorithm", "log-map", "--soft"))):
            self.write("llr.h5", {"llr": random.normal(0, 3, (4096, n)).astype(numpy.float32)})
            decode = ("decode", "llr.h5", "--code", code, *options, "-o")
            self.succeed(*decode, "whole.h5")
            self.assertLess(self.peak_memory(*decode, "out.h5", "--memory", "40M", "--threads", 2), 40 * 2**20)
            whole, _ = self.read("whole.h5")
            for name, values in self.read("out.h5")[0].items():
                numpy.testing.assert_array_equal(values, whole[name])

    def test_interrupted_or_killed_leaves_the_old_file(self):
        random = numpy.random.default_rng(6)
        self.write("llr.h5", {"llr": random.normal(0, 3, (20000, 3 * (2048 + 4))).astype(numpy.float32)})
        for sent, code in ((signal.SIGINT, 1), (signal.SIGTERM, 1), (signal.SIGKILL, -9)):
            (self.folder / "out.h5").write_text("old")
            ended, err = self.send_while_writing(sent, "decode", "llr.h5", "-o", "out.h5", "--code", "lte-turbo", "--iterations", 64,
                                                 "--threads", 1, "--force")
            self.assertEqual(ended, code)
            self.assertEqual((self.folder / "out.h5").read_text(), "old")
            if code == 1:
                self.assertEqual(err, "warpband: error: interrupted: out.h5 was not written\n")
                self.assertEqual(sorted(p.name for p in self.folder.iterdir()), ["llr.h5", "out.h5"])
