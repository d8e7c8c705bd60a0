"""The lines of shell in README.md run: .venv/bin/python -m pytest apps/readme_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given.
"""
import re
import shlex
import sys

import array_files

QUICK = {"sim": ["--max-frames", "2", "--quiet"], "bench": ["--list"]}  # what makes a line end soon


class ReadmeTest(array_files.ArrayFilesTest):
    def test_its_five_lines_of_shell_run(self):
        block = re.search(r"## Five lines of shell\n[^`]*`[^`]*`[^`]*\n```sh\n(.*?)```", (array_files.ROOT / "README.md").read_text(encoding="utf-8"), re.S)[1]
        path, *lines = [shlex.split(line, comments=True) for line in block.splitlines()]
        self.assertEqual(path, ["export", "PATH=$PWD/build/release:$PATH"])
        self.assertEqual([line[:2] for line in lines], [["warpband", name] for name in ("sim", "sim", "stream", "bench")])
        (self.folder / "examples").symlink_to(array_files.ROOT / "examples")
        for line in lines:
            with self.subTest(line=line):
                if line[1] == "bench" and self.run_command("bench", "--help").returncode != 0:
                    self.skipTest("this build has no warpband bench")
                self.succeed(*line[1:], *QUICK.get(line[1], []), environment={"WARPBAND_PYTHON": sys.executable})
        for name in ("result.json", "result.png"):
            self.assertTrue((self.folder / name).stat().st_size > 0, name)
