#!/usr/bin/env python3
"""What the program that reads HDF5 files costs: `warpband encode` of a file of 1 MiB with it and with `--trusted`, run in turn.

    python3 scripts/hdf5_cost.py [COMMAND [RUNS]]    default build/release/warpband, 201 runs of each

Prints the least and the median of the wall time and of the CPU time of a run, its reading process included. Also prints what the
program adds to the medians. Needs h5py.
"""
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import h5py
import numpy


def run(command):
    """Seconds and CPU seconds of one run."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    seconds, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return seconds, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(command="build/release/warpband", runs="201"):
    with tempfile.TemporaryDirectory() as folder:
        bits, out = pathlib.Path(folder, "bits.h5"), pathlib.Path(folder, "out.h5")
        with h5py.File(bits, "w") as file:
            file["bits"] = numpy.random.default_rng(1).integers(0, 2, (1024, 1024), dtype=numpy.uint8)
        encode = [command, "encode", bits, "-o", out, "--code", "conv", "--threads", "1", "--quiet", "--force"]
        times = {("--trusted",): [], (): []}
        for _ in range(int(runs)):
            for more, of_runs in times.items():
                of_runs.append(run([*encode, *more]))
    medians = []
    for more, of_runs in times.items():
        wall, cpu = ([1e3 * x for x in column] for column in zip(*of_runs))
        medians.append((statistics.median(wall), statistics.median(cpu)))
        print(f"{' '.join(more) or 'default':12} wall: least {min(wall):6.1f} ms, median {medians[-1][0]:6.1f} ms; "
              f"CPU: least {min(cpu):6.1f} ms, median {medians[-1][1]:6.1f} ms")
    (wall, cpu), (more_wall, more_cpu) = medians
    print(f"the program adds {more_wall - wall:.1f} ms wall, {more_cpu - cpu:.1f} ms CPU")


if __name__ == "__main__":
    main(*sys.argv[1:])
