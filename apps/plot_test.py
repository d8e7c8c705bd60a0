"""Tests of plot.py: .venv/bin/python apps/plot_test.py"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PLOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plot.py")
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
        return subprocess.run([sys.executable, PLOT, *arguments], capture_output=True, text=True, check=False)

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
        run = self.plot(self.path("r.json", json.dumps(made_up_result())), out, "--title", "made up")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertEqual(self.first_bytes(out, 8), b"\x89PNG\r\n\x1a\n")

    def test_draws_svg_with_references_and_each_metric(self):
        result = self.path("r.json", json.dumps(made_up_result()))
        reference = self.path("ref.csv", CSV_HEADER + "-4.77,0.0,0.13,1.0,752,600,752\n-4.37,0.4,0.01,0.3,100,60,30\n")
        for metric in ("ber", "fer", "both"):
            out = self.path(f"{metric}.svg")
            run = self.plot(result, out, "--metric", metric, "--reference", reference + ":a reference",
                            "--reference", reference)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(out, encoding="utf-8") as file:
                text = file.read()
            self.assertIn("<svg", text)
            self.assertIn("a reference", text)

    def test_draws_a_curve_without_any_error(self):
        result = {"curves": [{"label": "clean", "points": [made_up_point(3.0, 0, 0)]}]}
        run = self.plot(self.path("r.json", json.dumps(result)), self.path("out.png"))
        self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_draws_over_the_snr_where_all_curves_are(self):
        result = made_up_result()
        for curve in result["curves"]:
            curve["config"] = {"sweep": {"snr_db": [0.0]}}
            for point in curve["points"]:
                point["snr_db"] = point["ebn0_db"] + 3
        reference = self.path("ref.csv", "snr_db,ber,bits\n3,0.13,1000\n3.4,0.01,1000\n")
        out = self.path("out.svg")
        run = self.plot(self.path("r.json", json.dumps(result)), out, "--reference", reference + ":a reference")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        with open(out, encoding="utf-8") as file:
            self.assertIn("SNR of a receive antenna", file.read())
        result["curves"][0]["config"] = {}
        self.expect_one_line("ref.csv:2: expected numbers in columns ebn0_db",
                             self.path("r.json", json.dumps(result)), out, "--reference", reference)

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
            run = self.plot(path, out, "--metric", metric)
            self.assertEqual((run.returncode, run.stderr), (0, ""))
            with open(out, encoding="utf-8") as file:
                text = file.read()
            for name in named:
                self.assertIn(name, text)
        del result["curves"][1]["points"][0]["harq"]  # one of two has it
        path = self.path("r.json", json.dumps(result))
        self.assertEqual(self.plot(path, out, "--metric", "harq").returncode, 0)
        self.assertEqual(self.plot(path, out).returncode, 0)
        result["curves"][0]["points"][0]["harq"]["bler_intervals"].pop()
        self.expect_one_line("incomplete", self.path("odd.json", json.dumps(result)), out)
        self.expect_one_line("no curve with HARQ", self.path("r.json", json.dumps(made_up_result())), out, "--metric", "bler")

    def test_bad_input_gives_one_line(self):
        out, good = self.path("out.png"), self.path("good.json", json.dumps(made_up_result()))
        self.expect_one_line("cannot read", self.path("absent.json"), out)
        self.expect_one_line("is not JSON", self.path("text.json", "curves"), out)
        self.expect_one_line("holds no curves", self.path("list.json", "[]"), out)
        self.expect_one_line("holds no curves", self.path("empty.json", '{"curves": []}'), out)
        self.expect_one_line("holds no point", self.path("none.json", '{"curves": [{"points": []}]}'), out)
        self.expect_one_line("incomplete", self.path("half.json", '{"curves": [{"points": [{"ebn0_db": 1}]}]}'), out)
        self.expect_one_line("incomplete", self.path("odd.json", '{"curves": [3]}'), out)
        wrong = made_up_result()
        wrong["curves"][0]["points"][1]["bit_errors"] = "many"
        self.expect_one_line("expected a number", self.path("wrong.json", json.dumps(wrong)), out)
        self.expect_one_line("must end in .png or .svg", good, self.path("out.pdf"))
        self.expect_one_line("cannot write", good, self.path("absent/out.png"))
        self.expect_one_line("cannot read", good, out, "--reference", self.path("absent.csv"))
        self.expect_one_line("bad.csv:2", good, out, "--reference", self.path("bad.csv", CSV_HEADER + "1,a,b,c\n"))
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
