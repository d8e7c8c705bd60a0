"""Tests of plot.py: .venv/bin/python apps/plot_test.py"""
import contextlib
import csv
import importlib.util
import io
import json
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import unittest
from fractions import Fraction
from unittest import mock

PLOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plot.py")
SPEC = importlib.util.spec_from_file_location("plot_program", PLOT)
PROGRAM = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(PROGRAM)
CSV_HEADER = "esn0_db,ebn0_db,ber,fer,n_frames,bit_errors,frame_errors\n"


def made_up_point(ebn0_db, bit_errors, frame_errors, ber_interval=None):
    frames, bits = 1000, 6144000
    return {"ebn0_db": ebn0_db, "esn0_db": ebn0_db - 4.77, "frames": frames, "bits": bits, "bit_errors": bit_errors,
            "frame_errors": frame_errors, "ber": bit_errors / bits, "fer": frame_errors / frames,
            "ber_interval": ber_interval, "fer_interval": [frame_errors / frames * 0.8, frame_errors / frames * 1.2 + 0.003],
            "mbps": 12.5, "seconds": 1.0, "stopped_by": "frame_errors"}


def made_up_result():
    return {"warpband": {"version": "0.1.0", "commit": "0"}, "machine": {}, "curves": [
        {"label": "K=6144 max-log", "config": {}, "points": [
            made_up_point(0.0, 900000, 1000), made_up_point(0.4, 60000, 300, [0.009, 0.0105]), made_up_point(0.8, 0, 0)]},
        {"label": "K=6144 log-MAP", "config": {}, "points": [made_up_point(0.8, 0, 0), made_up_point(0.2, 800, 12)]}]}


class PlotTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, text=None):
        path = os.path.join(self.folder.name, name)
        if text is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        return path

    def plot(self, *arguments):
        """As a program, but in this process, which reads matplotlib once."""
        out, errors = io.StringIO(), io.StringIO()
        with mock.patch.object(sys, "argv", [PLOT, *arguments]), contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            try:
                status = PROGRAM.main()
            except SystemExit as end:
                status = end.code
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), errors.getvalue())

    def first_bytes(self, path, count):
        with open(path, "rb") as file:
            return file.read(count)

    def expect_one_line(self, told, *arguments):
        run = self.plot(*arguments)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(told, run.stderr)
        self.assertEqual(run.stdout, "")

    def test_draws_png(self):
        out = self.path("out.png")
        run = self.plot(self.path("r.json", json.dumps(made_up_result())), "--out", out, "--title", "made up")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.first_bytes(out, 8), b"\x89PNG\r\n\x1a\n")

    def test_labels_and_references_alone(self):
        result = self.path("r.json", json.dumps(made_up_result()))
        one = self.path("one.json", json.dumps({**made_up_result(), "curves": made_up_result()["curves"][:1]}))
        run = self.plot(f"{result}:ours", "--csv", "-")
        self.assertEqual(sorted({row["label"] for row in csv.DictReader(io.StringIO(run.stdout))}), ["ours: K=6144 log-MAP", "ours: K=6144 max-log"])
        run = self.plot(f"{one}:my label", "--csv", "-")
        self.assertEqual({row["label"] for row in csv.DictReader(io.StringIO(run.stdout))}, {"my label"})
        reference, out = self.path("measured.csv", CSV_HEADER + "-5,0,0.1,0.5,1,,\n-4,1,0.01,0.05,1,,\n"), self.path("alone.svg")
        run = self.plot(f"{reference}:as measured", "--out", out)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(out, encoding="utf-8") as file:
            drawn = file.read()
        self.assertIn("bit error rate", drawn)
        self.assertIn("frame error rate", drawn)
        self.assertEqual(self.plot(reference, "--out", out, "--metric", "fer").returncode, 0)
        self.expect_one_line("metric = 'bler' is not allowed: no reference has it", reference, "--out", out, "--metric", "bler")
        self.assertEqual(self.plot(self.path("snr.csv", "snr_db,bler\n1,0.5\n"), "--out", out).returncode, 0)

    def test_draws_theory(self):
        result = made_up_result()
        for curve in result["curves"]:
            curve["config"] = {"code": {"type": "lte-turbo", "rate": 1 / 3}, "modem": {"modulation": "bpsk"}, "channel": {"type": "awgn"}}
        path, plain, with_theory = self.path("r.json", json.dumps(result)), self.path("plain.svg"), self.path("theory.svg")
        self.assertEqual(self.plot(path, "--out", plain, "--metric", "fer").returncode, 0)
        run = self.plot(path, "--out", with_theory, "--metric", "fer", "--theory")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertGreater(os.path.getsize(with_theory), os.path.getsize(plain))

    def test_draws_svg_with_references_and_each_metric(self):
        result = self.path("r.json", json.dumps(made_up_result()))
        reference = self.path("ref.csv", CSV_HEADER + "-4.77,0.0,0.13,1.0,752,600,752\n-4.37,0.4,0.01,0.3,100,60,30\n")
        for metric in ("ber", "fer", "both"):
            out = self.path(f"{metric}.svg")
            run = self.plot(result, reference + ":a reference", reference, "--out", out, "--metric", metric)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(out, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("<svg", text)
            self.assertIn("a reference", text)
        # As a spreadsheet writes it, and as a person does.
        for name, text in (("marked.csv", "\ufeffebn0_db,ber,fer\r\n0,0.1,0.5\r\n"), ("spaced.csv", "ebn0_db, ber, fer\n0, 0.1, 0.5\n")):
            run = self.plot(result, self.path(name, text), "--out", self.path("out.svg"))
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_draws_a_curve_without_any_error(self):
        result = {"curves": [{"label": "clean", "points": [made_up_point(3.0, 0, 0)]}]}
        run = self.plot(self.path("r.json", json.dumps(result)), "--out", self.path("out.png"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_draws_over_the_snr_where_all_curves_are(self):
        result = made_up_result()
        for curve in result["curves"]:
            curve["config"] = {"sweep": {"snr_db": [0.0]}}
            for point in curve["points"]:
                point["snr_db"] = point["ebn0_db"] + 3
        reference = self.path("ref.csv", "snr_db,ber,bits\n3,0.13,1000\n3.4,0.01,1000\n")
        out = self.path("out.svg")
        for mimo, name in (({}, "$E_s/N_0$ (dB)"), ({"mimo": {"rx_antennas": 2}}, "SNR of a receive antenna (dB)"),
                           ({"mimo": {"streams": 2, "rx_antennas": 1}}, "SNR (dB)"),
                           ({"massive": {"direction": "uplink"}}, "SNR of a base-station antenna (dB)"),
                           ({"massive": {"direction": "downlink"}}, "SNR of a user (dB)")):
            for curve in result["curves"]:
                curve["config"] = {"sweep": {"snr_db": [0.0]}, **mimo}
            run = self.plot(self.path("r.json", json.dumps(result)), reference + ":a reference", "--out", out)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(out, encoding="utf-8") as file:
                self.assertIn(name, file.read())
        result["curves"][0]["config"] = {}
        self.expect_one_line("ref.csv:2: expected numbers in columns ebn0_db",
                             self.path("r.json", json.dumps(result)), reference, "--out", out)

    def test_draws_harq(self):
        result = made_up_result()
        for curve in result["curves"]:
            for point in curve["points"]:
                point["harq"] = {"block_errors": [900, point["frame_errors"] // 2], "undetected_errors": 0,
                                 "bler_intervals": [[0.88, 0.92], [0.0, 0.5]], "bits_per_resource_element": 1.2,
                                 "bits_per_resource_element_interval": [1.1, 1.3]}
        path, out = self.path("r.json", json.dumps(result)), self.path("out.svg")
        for metric, named in (("both", ("after each transmission", "throughput")), ("bler", ("after each",)),
                              ("throughput", ("throughput",)), ("fer", ("frame error rate",))):
            run = self.plot(path, "--out", out, "--metric", metric)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(out, encoding="utf-8") as file:
                text = file.read()
            for name in named:
                self.assertIn(name, text)
        del result["curves"][1]["points"][0]["harq"]  # one of two has it
        path = self.path("r.json", json.dumps(result))
        self.assertEqual(self.plot(path, "--out", out, "--metric", "harq").returncode, 0)
        self.assertEqual(self.plot(path, "--out", out).returncode, 0)
        result["curves"][0]["points"][0]["harq"]["bler_intervals"].pop()
        self.expect_one_line("incomplete", self.path("odd.json", json.dumps(result)), "--out", out)
        self.expect_one_line("no curve has it", self.path("r.json", json.dumps(made_up_result())), "--out", out, "--metric", "bler")

    def test_draws_mutual_information(self):
        result = made_up_result()
        for curve in result["curves"]:
            for point in curve["points"]:
                point.update(information_lost=0.25 * point["bits"], mutual_information=0.75)
        path, out = self.path("r.json", json.dumps(result)), self.path("out.svg")
        self.assertEqual(self.plot(path, "--out", out, "--metric", "mutual_information").returncode, 0)
        with open(out, encoding="utf-8") as file:
            self.assertIn("mutual information (bits per sent bit)", file.read())
        self.assertTrue(all(float(row["mutual_information"]) == 0.75 for row in self.table(path)))
        for seed, information in ((1, 0.75), (2, 0.5)):  # runs of 1000 frames each are added up
            for curve in result["curves"]:
                curve["config"] = {"seed": seed, "sweep": {"ebn0_db": [0.0]}, "code": {"k": len(curve["label"])}}
                for point in curve["points"]:
                    point["mutual_information"] = information
            self.path(f"{seed}.json", json.dumps(result))
        for row in self.table(self.path("1.json"), self.path("2.json")):
            self.assertEqual(float(row["mutual_information"]), 0.625)
        self.expect_one_line("modem.mutual_information = true has", self.path("r.json", json.dumps(made_up_result())), "--out", out,
                             "--metric", "mutual_information")

    def table(self, *inputs):
        run = self.plot(*inputs, "--csv", "-")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return list(csv.DictReader(run.stdout.splitlines()))

    def test_runs_of_the_same_settings_are_added_up(self):
        def result(label, seed, frame_errors, frames=1000, **config):
            point = {**made_up_point(0.4, 50 * frame_errors, frame_errors), "frames": frames, "bits": 6144 * frames}
            return {"curves": [{"label": label, "config": {"seed": seed, "code": {"k": 6144}, "sweep": {"ebn0_db": [0.4]}, **config},
                                "points": [point]}]}
        files = [self.path(f"{n}.json", json.dumps(content)) for n, content in enumerate((
            result("a", 1, 30), result("renamed", 2, 20, stop={"max_frames": 1}), result("a", 1, 45, 2000),
            result("a", 1, 7, decoder={"iterations": 2})))]
        both = self.table(files[0], files[1])
        self.assertEqual(len(both), 1)
        self.assertEqual((both[0]["label"], both[0]["frames"], both[0]["frame_errors"], both[0]["bit_errors"]), ("a", "2000", "50", "2500"))
        # Clopper and Pearson: with the ends as probability both tails of the binomial distribution hold 2.5%.
        def binomial(p, counts):
            return sum(math.comb(2000, k) * Fraction(p) ** k * (1 - Fraction(p)) ** (2000 - k) for k in counts)
        low, high = float(both[0]["fer_low"]), float(both[0]["fer_high"])
        self.assertAlmostEqual(float(1 - binomial(low, range(50))), 0.025, 9)
        self.assertAlmostEqual(float(binomial(high, range(51))), 0.025, 9)
        self.assertEqual(both[0]["ber_low"], "")
        # The same random numbers are not counted twice: the longest run has them all.
        self.assertEqual([row["frames"] for row in self.table(files[0], files[2])], ["2000"])
        self.assertEqual([row["frames"] for row in self.table(files[0], files[1], files[2])], ["3000"])
        # Other settings are another curve, which its file tells apart.
        self.assertEqual([row["label"] for row in self.table(files[0], files[3])], ["a (0)", "a (3)"])

    def test_merged_intervals_are_those_of_the_library(self):
        """Of two halves what the library computes for the whole: stored results have both counts and intervals."""
        folder = os.path.join(os.path.dirname(PLOT), "..", "curves")
        for name in ("lte_harq.json", "li_thesis_rayleigh.json", "uncoded_bpsk_awgn.json"):
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                self.skipTest("no stored results here")
            with open(path, encoding="utf-8") as file:
                stored = json.load(file)
            stored["curves"] = [{**curve, "points": curve["points"][::7]} for curve in stored["curves"][:2]]
            whole = self.table(self.path("whole.json", json.dumps(stored)))
            halves = []
            for half in range(2):
                part = json.loads(json.dumps(stored))
                for curve in part["curves"]:
                    curve["config"]["seed"] = half
                    for point in curve["points"]:
                        self.halve(point, half)
                halves.append(self.path(f"half{half}.json", json.dumps(part)))
            for one, two in zip(whole, self.table(*halves), strict=True):
                self.assertEqual(one.keys(), two.keys())
                for key in one:
                    if key == "label" or one[key] == "" or one[key] == two[key]:
                        self.assertEqual(one[key], two[key], key)
                    else:
                        self.assertAlmostEqual(float(one[key]) / float(two[key]), 1, 6, f"{name}: {key} of {one}")

    def halve(self, point, half):
        """A part of every count, such that both parts add up to the whole."""
        codewords = point.get("codewords", {}).get("codewords", 0) // point["frames"]
        per_frame = point["bits"] // point["frames"]
        for owner in (point, point.get("codewords", {}), point.get("harq", {})):
            for key, value in list(owner.items()):
                if isinstance(value, int) and not isinstance(value, bool):
                    owner[key] = (value + half) // 2
                elif key == "block_errors":
                    owner[key] = [(count + half) // 2 for count in value]
        point["bits"] = point["frames"] * per_frame
        if codewords:
            point["codewords"]["codewords"] = point["frames"] * codewords

    def test_a_point_without_an_error_is_explained(self):
        out = self.path("out.svg")
        self.assertEqual(self.plot(self.path("r.json", json.dumps(made_up_result())), "--out", out, "--metric", "fer").returncode, 0)
        with open(out, encoding="utf-8") as file:
            self.assertEqual(file.read().count("no error: upper end of 95%"), 1)

    def test_sizes_and_fonts(self):
        result = self.path("r.json", json.dumps(made_up_result()))
        for size, width in (("one-column", 3.5), ("two-column", 7.16)):
            out = self.path("out.pdf")
            run = self.plot(result, "--out", out, "--size", size)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(out, "rb") as file:
                content = file.read()
            box = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ", content)
            self.assertAlmostEqual(float(box[1]) / 72, width, 2)
            self.assertNotIn(b"/Type3", content)
            self.assertTrue(self.first_bytes(out, 5) == b"%PDF-")

    def test_colours_differ_in_grey_and_markers_are_one_a_curve(self):
        spec = importlib.util.spec_from_file_location("rates", os.path.join(os.path.dirname(PLOT), "..", "python", "warpband", "_error_rates.py"))
        rates = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(rates)

        def lightness(colour):  # CIE L*
            linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5))]
            y = sum(weight * c for weight, c in zip((0.2126, 0.7152, 0.0722), linear))
            return 116 * y ** (1 / 3) - 16 if y > 0.008856 else 903.3 * y
        grey = sorted(map(lightness, rates.COLOURS))
        self.assertGreater(min(b - a for a, b in zip(grey, grey[1:])), 7)
        self.assertEqual(len(set(rates.MARKERS)), len(rates.COLOURS))
        curves = [{"label": str(n), "config": {}, "points": [made_up_point(0.0, 900, 10)]} for n in range(8)]
        panel = rates.figure_of(curves, [], ["fer"]).axes[0]
        lines = [line for line in panel.get_lines() if not line.get_label().startswith("_")]
        self.assertEqual(len({line.get_marker() for line in lines}), 8)
        ticks = panel.get_xticks()
        self.assertTrue(all(abs(round(tick, 3) - tick) < 1e-9 for tick in ticks), ticks)
        self.assertEqual(panel.get_ylim()[0], 10 ** round(math.log10(panel.get_ylim()[0])))

    def test_draws_over_a_swept_setting(self):
        def result(values, **more):
            curves = [{"label": f"a, key = {value}", "points": [made_up_point(db, 900 // (n + 1), 30 // (n + 1)) for db in (0.0, 1.0)],
                       "config": {"decoder": {"key": value}, "sweep": {"ebn0_db": [0.0, 1.0], "family": "a", "parameters": {"decoder.key": value}}},
                       **more} for n, value in enumerate(values)]
            return self.path("r.json", json.dumps({"curves": curves}))
        out = self.path("out.svg")
        found = {"fer": 0.01, "outcome": "reached", "db": 1.5, "low_db": 1.45, "high_db": 1.55, "frames": 100}
        for values, more, options, expected in (
                ([1, 2, 64], {}, (), ("key of the decoder", "a, 0 dB", "a, 1 dB", "64")), (["min-sum", "bp"], {}, (), ("key of the decoder", "min-sum")),
                ([[1, 2], [2, 1]], {}, (), ("[1, 2]",)), ([1, 2], {}, ("--x", "ebn0_db"), ("$E_b/N_0$ (dB)", "a, key = 2")),
                ([1, 2], {"target": found}, (), ("$E_b/N_0$ (dB) for a frame error rate of 0.01", "key of the decoder")),
                ([1, 2], {"target": {**found, "outcome": "above", "db": None, "low_db": None, "high_db": None}}, ("--metric", "fer"), ("a, 1 dB",))):
            run = self.plot(result(values, **more), "--out", out, *options)
            self.assertEqual((run.returncode, run.stderr), (0, ""), values)
            with open(out, encoding="utf-8") as file:
                text = file.read()
            for words in expected:
                self.assertIn(words, text)
        self.assertEqual([row["decoder.key"] for row in self.table(result([1, 2]))], ["1", "1", "2", "2"])
        self.expect_one_line("x = 'decoder.other' is not allowed: expected 'ebn0_db', 'snr_db', 'esn0_db', 'probability', 'decoder.key'", result([1, 2]), "--out", out,
                             "--x", "decoder.other")
        self.expect_one_line("no curve has it, a scenario with sweep.target_fer has", result([1, 2]), "--out", out, "--metric", "required")

    def test_a_table_is_a_reference_with_several_curves(self):
        result, table, out = self.path("r.json", json.dumps(made_up_result())), self.path("t.csv"), self.path("out.svg")
        self.assertEqual(self.plot(result, "--csv", table).returncode, 0)
        self.assertEqual(self.plot(result, table + ":before", "--out", out).returncode, 0)
        with open(out, encoding="utf-8") as file:
            self.assertIn("before: K=6144 log-MAP", file.read())

    def test_a_file_appears_in_full_or_stays_as_it_was(self):
        good, out, table = self.path("good.json", json.dumps(made_up_result())), self.path("out.png", "old"), self.path("t.csv", "old")
        # What matplotlib imports and caches late is written now: cut at 64 bytes it would stay broken.
        self.assertEqual(self.plot(good, "--out", self.path("first.png")).returncode, 0)
        files = sorted(os.listdir(self.folder.name))
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        for option, name in (("--out", out), ("--csv", table)):
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, before[1]))  # a disk that is full after 64 bytes
            try:
                with mock.patch.object(sys, "dont_write_bytecode", True):
                    self.expect_one_line(f"cannot write {name}: File too large", good, option, name)
            finally:
                resource.setrlimit(resource.RLIMIT_FSIZE, before)
            self.assertEqual(self.first_bytes(name, 10), b"old")
        self.assertEqual(sorted(os.listdir(self.folder.name)), files)
        os.symlink(out, self.path("link.png"))
        os.chmod(out, 0o640)
        self.assertEqual(self.plot(good, "--out", self.path("link.png")).returncode, 0)
        self.assertTrue(os.path.islink(self.path("link.png")))
        self.assertEqual((self.first_bytes(out, 4), os.stat(out).st_mode & 0o777), (b"\x89PNG", 0o640))

    def test_bad_input_gives_one_line(self):
        out, good = self.path("out.png"), self.path("good.json", json.dumps(made_up_result()))
        self.expect_one_line("cannot read", self.path("absent.json"), "--out", out)
        self.expect_one_line("text.json:1: this is not JSON: Expecting value", self.path("text.json", "curves"), "--out", out)
        self.expect_one_line("is not a result", self.path("list.json", "[]"), "--out", out)
        self.expect_one_line("holds no curves", self.path("empty.json", '{"curves": []}'), "--out", out)
        self.expect_one_line("holds no point", self.path("none.json", '{"curves": [{"points": []}]}'), "--out", out)
        self.expect_one_line("incomplete", self.path("half.json", '{"curves": [{"points": [{"ebn0_db": 1}]}]}'), "--out", out)
        self.expect_one_line("incomplete", self.path("odd.json", '{"curves": [3]}'), "--out", out)
        wrong = made_up_result()
        wrong["curves"][0]["points"][1]["bit_errors"] = "many"
        self.expect_one_line("expected a number", self.path("wrong.json", json.dumps(wrong)), "--out", out)
        for key, value in (("ber_interval", 3), ("fer_interval", []), ("fer_interval", [0.1, "x"]), ("fer_interval", "ab")):
            odd = made_up_result()
            odd["curves"][0]["points"][1][key] = value
            self.expect_one_line("odd_interval.json", self.path("odd_interval.json", json.dumps(odd)), "--out", out)
        for key, value in (("frames", -1), ("frames", 1e300), ("bit_errors", -2), ("bit_errors", 2 ** 62), ("frame_errors", 2 ** 62), ("bits", 0)):
            odd = made_up_result()
            odd["curves"][0]["points"][1][key] = value
            self.expect_one_line("are no counts", self.path("odd_count.json", json.dumps(odd)), "--csv", "-")
        for key, value in (("sweep", 3), ("sweep", {"parameters": "x"}), ("massive", [1]), ("seed", [1])):
            odd = made_up_result()
            odd["curves"][0].setdefault("config", {})[key] = value
            self.expect_one_line("odd_config.json", self.path("odd_config.json", json.dumps(odd)), "--out", out)
        self.expect_one_line("nested too deep", self.path("deep.json", "[" * 100000), "--out", out)
        self.expect_one_line("cannot read", good, self.path("long.csv", CSV_HEADER + "x" * 200000), "--out", out)
        self.expect_one_line("is a formula: \\frac{", good, "--out", out, "--title", "$\\frac{$")
        self.expect_one_line("must end in .pdf, .png, .svg", good, "--out", self.path("out.gif"))
        self.expect_one_line("cannot write", good, "--out", self.path("absent/out.png"))
        self.expect_one_line("cannot write", good, "--csv", self.path("absent/out.csv"))
        self.expect_one_line("nothing to write", good)
        self.expect_one_line("theory: no curve of the figure has a closed form", good, "--theory", "--out", out)
        self.expect_one_line("cannot read", good, self.path("absent.csv"), "--out", out)
        self.expect_one_line("bad.csv:2", good, self.path("bad.csv", CSV_HEADER + "1,a,b,c\n"), "--out", out)
        self.expect_one_line("no result is given", self.path("only.csv", CSV_HEADER), "--csv", "-")
        self.expect_one_line("ebn0.csv:2: expected numbers in columns ebn0_db", self.path("ebn0.csv", CSV_HEADER + "1,x,0.1,0.1,,,\n"), "--out", out)
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
