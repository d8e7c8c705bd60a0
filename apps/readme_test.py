"""The lines of shell in README.md run: .venv/bin/python -m pytest apps/readme_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given.
"""
import re
import shlex
import sys

import numpy

import array_files

QUICK = {"sim": ["--max-frames", "2", "--quiet"], "bench": ["--list"]}  # what makes a line end soon


class ReadmeTest(array_files.ArrayFilesTest):
    def test_its_five_lines_of_shell_run(self):
        block = re.search(r"## Five lines of shell\n\n```sh\n(.*?)```", (array_files.ROOT / "README.md").read_text(encoding="utf-8"), re.S)[1]
        lines = [shlex.split(line, comments=True) for line in block.splitlines()]
        self.assertEqual([line[:2] for line in lines], [["warpband", name] for name in ("sim", "sim", "detect", "decode", "bench")])
        (self.folder / "examples").symlink_to(array_files.ROOT / "examples")
        random = numpy.random.default_rng(1)
        h, y = (random.normal(size=(50, 4, n)) + 1j * random.normal(size=(50, 4, n)) for n in (4, 1))
        self.write("received.h5", {"h": h.astype(numpy.complex64), "y": y[:, :, 0].astype(numpy.complex64), "noise_var": numpy.float32([0.1])})
        self.write("coded.h5", {"llr": random.normal(size=(2, 3 * (64 + 4))).astype(numpy.float32)})
        for line in lines:
            with self.subTest(line=line):
                if line[1] == "bench" and self.run_command("bench", "--help").returncode != 0:
                    self.skipTest("this build has no warpband bench")
                self.succeed(*line[1:], *QUICK.get(line[1], []), environment={"WARPBAND_PYTHON": sys.executable})
        for name in ("result.json", "result.png", "llrs.h5", "bits.h5"):
            self.assertTrue((self.folder / name).stat().st_size > 0, name)
