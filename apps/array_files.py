"""What the tests of commands on HDF5 files share: a folder for each test, files by h5py, runs of the command.

WARPBAND_COMMAND names the program, build/release/warpband unless given.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import h5py

ROOT = pathlib.Path(__file__).resolve().parent.parent
command = os.environ.get("WARPBAND_COMMAND", str(ROOT / "build" / "release" / "warpband"))


def info():
    return json.loads(subprocess.run([command, "info", "--json"], check=True, capture_output=True).stdout)


def backends():
    """Arguments and environment of every backend this machine has."""
    found = info()
    for isa in found["cpu"]["instruction_sets"]:
        yield isa, ["--device", "cpu"], {"WARPBAND_ISA": isa}
    for device in found["cuda_devices"]:
        yield device["device"], ["--device", device["device"]], {}


class ArrayFilesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, arrays, attributes=None, **options):
        with h5py.File(self.folder / name, "w") as file:
            for array, values in arrays.items():
                file.create_dataset(array, data=values, **options)
            for key, value in (attributes or {}).items():
                file.attrs[key] = value
        return name

    def read(self, name):
        with h5py.File(self.folder / name, "r") as file:
            return {array: file[array][()] for array in file}, dict(file.attrs)

    def run_command(self, *arguments, environment=None):
        return subprocess.run([command, *map(str, arguments)], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **(environment or {})}, check=False)

    def succeed(self, *arguments, environment=None):
        run = self.run_command(*arguments, environment=environment)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        return run.stdout

    def fail_clearly(self, code, part, *arguments):
        """Exit code, one line on stderr that holds `part`, nothing on stdout, no file more than before."""
        before = sorted((p.name, p.lstat().st_mtime_ns, p.lstat().st_size) for p in self.folder.iterdir())
        run = self.run_command(*arguments)
        self.assertEqual(run.returncode, code, run.stderr)
        self.assertEqual(run.stdout, "")
        self.assertTrue(run.stderr.startswith("warpband: error: "), run.stderr)
        self.assertEqual(run.stderr.count("\n"), 1, run.stderr)
        self.assertIn(part, run.stderr)
        after = sorted((p.name, p.lstat().st_mtime_ns, p.lstat().st_size) for p in self.folder.iterdir())
        self.assertEqual(before, after)

    def peak_memory(self, *arguments):
        """Runs the command in a process of its own: a child starts with the peak of the process that made it."""
        program = ("import resource, subprocess, sys\n"
                   "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
                   "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
        run = subprocess.run([sys.executable, "-c", program, command, *map(str, arguments)], cwd=self.folder, check=True,
                             capture_output=True, text=True)
        code, peak = map(int, run.stdout.split())
        self.assertEqual(code, 0, run.stderr)
        return peak
