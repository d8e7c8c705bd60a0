"""What the tests of commands on HDF5 files share: a folder for each test, files by h5py, runs of the command.

WARPBAND_COMMAND names the program, build/release/warpband unless given.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import h5py
import numpy

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

    def write_matlab(self, name, arrays, compressed=False):
        """As MATLAB saves arrays (version 7.3): a user block, axes reversed, complex numbers of "real" and "imag", a class."""
        options = {"chunks": True, "compression": "gzip", "compression_opts": 3} if compressed else {}
        with h5py.File(self.folder / name, "w", userblock_size=512) as file:
            for array, values in arrays.items():
                values = numpy.asarray(values)
                values = values.reshape(values.shape + (1,) * (2 - values.ndim))
                kind = {"float32": "single", "complex64": "single", "uint8": "logical"}.get(values.dtype.name, "double")
                if numpy.iscomplexobj(values):
                    part = values.real.dtype
                    both = numpy.zeros(values.shape, [("real", part), ("imag", part)])
                    both["real"], both["imag"] = values.real, values.imag
                    values = both
                stored = file.create_dataset(array, data=values.T, **options)
                stored.attrs["MATLAB_class"] = numpy.bytes_(kind)
        return name

    def read(self, name):
        with h5py.File(self.folder / name, "r") as file:
            return {array: file[array][()] for array in file}, dict(file.attrs)

    def run_command(self, *arguments, environment=None):
        force = ["--force"] if arguments[:1] and arguments[0] in ("encode", "decode", "detect") else []  # files are written again
        return subprocess.run([command, *map(str, arguments), *force], cwd=self.folder, capture_output=True, text=True,
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

    def send_while_writing(self, sent, *arguments, environment=None):
        """Sends a signal to the command as soon as it has begun its new file: its exit code and stderr."""
        with subprocess.Popen([command, *map(str, arguments), "--quiet"], cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, preexec_fn=takes_interrupts,
                              env={**os.environ, **(environment or {})}) as process:
            end = time.monotonic() + 300
            while process.poll() is None and not any(".tmp" in p.name for p in self.folder.iterdir()):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            process.send_signal(sent)
            _, err = process.communicate(timeout=600)
        return process.returncode, err

    def peak_memory(self, *arguments):
        """Runs the command in a process of its own: a child starts with the peak of the process that made it."""
        program = ("import resource, subprocess, sys\n"
                   "code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
                   "print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)")
        run = subprocess.run([sys.executable, "-c", program, command, *map(str, arguments), "--force"], cwd=self.folder, check=True,
                             capture_output=True, text=True)
        code, peak = map(int, run.stdout.split())
        self.assertEqual(code, 0, run.stderr)
        return peak


def takes_interrupts():
    """For a child that is interrupted: what a shell starts in the background has SIGINT ignored, and so have its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
