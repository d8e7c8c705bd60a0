#!/usr/bin/env python3
"""What `--untrusted` costs: `warpband encode` of a file of 1 MiB with and without it, run in turn.

    python3 scripts/untrusted_cost.py [COMMAND [RUNS]]    default build/release/warpband, 41 runs of each

Prints the least and the median time of a run, and the CPU time that it took with its reading process. Needs h5py.
"""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import h5py
import numpy


def run(command):
    """Seconds and CPU seconds of one run."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - start, os.times()
    return seconds, after.children_user + after.children_system - before.children_user - before.children_system


def main(command="build/release/warpband", runs="41"):
    with tempfile.TemporaryDirectory() as folder:
        bits, out = pathlib.Path(folder, "bits.h5"), pathlib.Path(folder, "out.h5")
        with h5py.File(bits, "w") as file:
            file["bits"] = numpy.random.default_rng(1).integers(0, 2, (1024, 1024), dtype=numpy.uint8)
        encode = [command, "encode", bits, "-o", out, "--code", "conv", "--threads", "1", "--quiet", "--force"]
        times = {(): [], ("--untrusted",): []}
        for _ in range(int(runs)):
            for more, of_runs in times.items():
                of_runs.append(run([*encode, *more]))
    for more, of_runs in times.items():
        seconds, cpu = zip(*of_runs)
        print(f"{' '.join(more) or 'plain':12} least {min(seconds) * 1e3:6.1f} ms, median {statistics.median(seconds) * 1e3:6.1f} ms, "
              f"CPU {statistics.mean(cpu) * 1e3:6.1f} ms")


if __name__ == "__main__":
    main(*sys.argv[1:])
