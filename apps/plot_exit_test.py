"""Tests of plot_exit.py: .venv/bin/python apps/plot_exit_test.py"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PLOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "plot_exit.py")


def made_up_record(charts=1):
    return {"command": "exit", "curve": "4x4 loop", "charts": [
        {"snr_db": 10.0 + n, "prior": [0, 0.5, 1], "detector": [0.4, 0.6, 0.9], "decoder": [0, 0.2, 1],
         "loop_detector": [0.4, 0.55], "loop_decoder": [0.15, 0.3]} for n in range(charts)]}


class PlotExitTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name, content=None):
        path = os.path.join(self.folder.name, name)
        if content is not None:
            with open(path, "w", encoding="utf-8") as file:
                file.write(content if isinstance(content, str) else json.dumps(content))
        return path

    def plot(self, *arguments):
        return subprocess.run([sys.executable, PLOT, *arguments], capture_output=True, text=True, check=False)

    def refuses(self, content, part):
        done = self.plot(self.path("bad.json", content), self.path("out.svg"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(part, done.stderr)

    def test_draws_a_panel_for_each_snr(self):
        for charts in (1, 4):
            record = self.path("exit.json", made_up_record(charts))
            for name in ("exit.pdf", "exit.png", "exit.svg"):
                done = self.plot(record, self.path(name))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(os.path.getsize(self.path(name)), 1000)
            with open(self.path("exit.svg"), encoding="utf-8") as file:
                picture = file.read()
            for n in range(4):
                self.assertEqual(f"SNR {10 + n} dB" in picture, n < charts)
            for text in ("4x4 loop", "detector", "decoder, axes exchanged", "real loop"):
                self.assertIn(text, picture)

    def test_refuses_what_it_cannot_draw(self):
        self.refuses("{", "is not JSON")
        self.refuses({}, "is incomplete")
        self.refuses({"charts": []}, "holds no charts")
        self.refuses(made_up_record(10), "holds no charts")
        for key, values in (("prior", [0, 1]), ("loop_decoder", []), ("detector", [0, 2, 0]), ("decoder", [0, float("nan"), 0])):
            record = made_up_record()
            record["charts"][0][key] = values
            self.refuses(record, "holds no charts")
        self.refuses({"charts": [{"snr_db": 1}]}, "is incomplete")
        done = self.plot(self.path("missing.json"), self.path("out.svg"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read", done.stderr)
        self.assertEqual(self.plot(self.path("exit.json", made_up_record()), self.path("out.gif")).returncode, 1)
        self.assertEqual(self.plot().returncode, 2)


if __name__ == "__main__":
    unittest.main()
