"""Tests of plot_exit.py, plot_front.py and plot_receive.py: .venv/bin/python apps/plot_records_test.py"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

FOLDER = os.path.dirname(os.path.abspath(__file__))


def exit_record(charts=1):
    return {"command": "exit", "curve": "4x4 loop", "charts": [
        {"snr_db": 10.0 + n, "prior": [0, 0.5, 1], "detector": [0.4, 0.6, 0.9], "decoder": [0, 0.2, 1],
         "loop_detector": [0.4, 0.55], "loop_decoder": [0.15, 0.3]} for n in range(charts)]}


def front_record():
    settings = [("mmse", 3.0, 0.9, True), ("nway N = 1, clip 8", 1.2, 0.5, True), ("nway N = 4", 0.0, 0.1, True),
                ("kbest K = 64, clip 8", 0.1, 0.05, False), ("mf", None, 1.0, False)]
    return {"command": "choose", "axis": "snr_db", "curve": "2x2", "chosen": 1, "target": {"fer": 0.1}, "settings": [
        {"detector": name, "decoder": "none", "loss_db": loss, "information_gbps": rate, "front": front}
        for name, loss, rate, front in settings]}


def receive_record(block=True):
    lists = {"constellation_i": [0.7, -0.7], "constellation_q": [0.7, 0.7], "pss_us": [-1, 0, 1], "pss": [0.1, 0.9, 0.1],
             "channel_khz": [-15, 0], "channel_db": [-3, 0]}
    return {"command": "receive", "file": "cell.sigmf-meta", "plot": {
        "spectrum_mhz": [-1, 0, 1], "spectrum_db": [-20, 3, -20],
        "block": {"cell_id": 77, "snr_db": 9.5, "cfo_hz": 120, **lists} if block else None}}


class Drawing(unittest.TestCase):
    PROGRAM = ""

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
        return subprocess.run([sys.executable, os.path.join(FOLDER, self.PROGRAM), *arguments], capture_output=True, text=True, check=False)

    def refuses(self, content, part):
        done = self.plot(self.path("bad.json", content), self.path("out.svg"))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(part, done.stderr)

    def check_refusals(self, record):
        self.refuses("{", "is not JSON")
        self.refuses([], "is not a result")
        self.refuses({}, "is incomplete")
        done = self.plot(self.path("missing.json"), self.path("out.svg"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("cannot read", done.stderr)
        self.assertEqual(self.plot(self.path("record.json", record), self.path("out.gif")).returncode, 1)
        self.assertEqual(self.plot().returncode, 2)


class PlotExitTest(Drawing):
    PROGRAM = "plot_exit.py"

    def test_draws_a_panel_for_each_snr(self):
        for charts in (1, 4):
            record = self.path("exit.json", exit_record(charts))
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
        self.check_refusals(exit_record())
        self.refuses({"charts": []}, "holds no charts")
        self.refuses(exit_record(10), "holds no charts")
        for key, values in (("prior", [0, 1]), ("loop_decoder", []), ("detector", [0, 2, 0]), ("decoder", [0, float("nan"), 0])):
            record = exit_record()
            record["charts"][0][key] = values
            self.refuses(record, "holds no charts")
        self.refuses({"charts": [{"snr_db": 1}]}, "is incomplete")


class PlotFrontTest(Drawing):
    PROGRAM = "plot_front.py"

    def test_draws(self):
        record = self.path("front.json", front_record())
        for name in ("front.pdf", "front.png", "front.svg"):
            done = self.plot(record, self.path(name))
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertGreater(os.path.getsize(self.path(name)), 1000)
        with open(self.path("front.svg"), encoding="utf-8") as file:
            picture = file.read()
        self.assertIn("nway N = 1, clip 8; none", picture)  # comments of the texts
        self.assertNotIn("kbest", picture)  # only the front is named

    def test_a_figure_appears_in_full_or_the_old_one_stays(self):
        for title, part in (("$\\none$", "between $ and $ it is a formula"), ("2x2", "")):
            record = self.path("front.json", dict(front_record(), curve=title))
            done = self.plot(record, self.path("front.svg", "old"))
            self.assertEqual(done.returncode, 1 if part else 0, done.stderr)
            self.assertIn(part, done.stderr)
            with open(self.path("front.svg"), encoding="utf-8") as file:
                self.assertEqual(file.read() == "old", bool(part))
            self.assertEqual(sorted(os.listdir(self.folder.name)), ["front.json", "front.svg"])

    def test_refuses_what_it_cannot_draw(self):
        self.check_refusals(front_record())
        empty = front_record()
        empty["settings"] = []
        self.refuses(empty, "is incomplete")
        none = front_record()
        none["settings"] = [dict(s, loss_db=None) for s in none["settings"]]
        self.refuses(none, "holds no front")


class PlotReceiveTest(Drawing):
    PROGRAM = "plot_receive.py"

    def test_draws_a_block_or_the_spectrum_alone(self):
        for block in (True, False):
            record = self.path("receive.json", receive_record(block))
            for name in ("receive.pdf", "receive.png", "receive.svg"):
                done = self.plot(record, self.path(name))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(os.path.getsize(self.path(name)), 1000)
            with open(self.path("receive.svg"), encoding="utf-8") as file:
                picture = file.read()
            self.assertIn("spectrum", picture)
            for text in ("cell 77, SNR 9.5 dB, CFO 120 Hz", "PSS correlation", "PBCH over the channel"):
                self.assertEqual(text in picture, block, text)
            self.assertEqual("no block was decoded" in picture, not block)

    def test_refuses_what_it_cannot_draw(self):
        self.refuses("{", "is not JSON")
        self.refuses([], "is not a result")
        self.refuses({}, "holds no picture")
        for change, part in (({"block": {}}, "is incomplete"), ({"spectrum_db": [1]}, "holds no picture"),
                             ({"spectrum_db": [1, 2, float("inf")]}, "is incomplete")):
            record = receive_record()
            record["plot"].update(change)
            self.refuses(record, part)
        record = receive_record()
        record["plot"]["block"]["pss"] = []
        self.refuses(record, "holds no picture")


if __name__ == "__main__":
    unittest.main()
