#!/usr/bin/env python3
"""Rates of `warpband sim` and `warpband stream` against the number of devices or of MPI ranks.

    python3 scripts/scaling.py sim bench/scaling/turbo.toml --ranks 1 2 --at-least 1.9       two cores against one
    python3 scripts/scaling.py sim bench/scaling/massive.toml --devices 1 2 4 8 --out DIR
    python3 scripts/scaling.py stream bench/scaling/li_thesis.toml --devices 1 2 4 8 --out DIR

A number of --devices stands for that many GPUs, cuda:0 onwards; other lists go as they are, for example `cpu cuda:0`. Each rank of --ranks has
one core. The cases take turns in --repetitions rounds, and a rate is the median. Ratios are against the first case. A stream's copies
are those of as many frames without any kernel, of the same run (stream.stages). --out keeps each case's last record. Exit code 1: counts
of a case differ from the first one's, frames of a stream differ or failed. Also if a ratio of the whole scenario is below --at-least.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
OF_A_RUN = ("seconds", "frames_run", "mbps")  # what a point took


def run(arguments):
    done = subprocess.run(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\nended with {done.returncode}: {done.stderr}")


def points_of(result):
    return [(f"{c['label']}, Eb/N0 {p['ebn0_db']:.2f} dB", p) for c in result["curves"] for p in c["points"]]


class Simulation:
    """Information bits a second, by the counts of a result."""

    def __init__(self, options):
        self.options, self.first = options, None
        self.cases = options.ranks or options.devices
        self.names = [f"{c} rank{'s' * (c > 1)}" for c in options.ranks] if options.ranks else list(map(name_of, options.devices))

    def arguments(self, case, out):
        arguments = [str(self.options.command), "sim", str(self.options.scenario), "-o", str(out), "--quiet", "--force"]
        if not self.options.ranks:
            return [*arguments, "--device", devices_of(case)]
        return ["mpirun", "--allow-run-as-root", "--bind-to", "core", "-n", str(case), *arguments, "--threads", "1"]

    def rates(self, result):
        """{what: Mb/s}, and of all together."""
        points = points_of(result)
        counts = [{k: v for k, v in p.items() if k not in OF_A_RUN} for _, p in points]
        self.first = self.first or counts
        if counts != self.first:
            sys.exit(f"counts differ from those of {self.names[0]}")
        found = {point: p["bits"] / p["seconds"] * 1e-6 for point, p in points}
        seconds = sum(p["seconds"] for _, p in points)
        return {**found, "all": sum(p["bits"] for _, p in points) / seconds * 1e-6}


class Stream:
    """Megabits a second of frames, and of their copies alone."""

    def __init__(self, options):
        self.options, self.cases = options, options.devices
        self.names = list(map(name_of, options.devices))

    def arguments(self, case, out):
        seconds = ["--seconds", str(self.options.seconds)] if self.options.seconds else []
        return [str(self.options.command), "stream", str(self.options.scenario), "--device", devices_of(case), "--json", str(out), "--quiet", *seconds]

    def rates(self, record):
        found = {}
        for r in record["runs"]:
            found[r["label"]] = r["bits_per_frame"] / r.get("median_frame_us", r["frame_us"])
            if copies := r.get("alone", {}).get("copies_us"):
                found[r["label"] + ", copies"] = r["bits_per_frame"] / copies
        return found


def devices_of(case):
    return ",".join(f"cuda:{i}" for i in range(int(case))) if case.isdigit() else case


def name_of(case):
    return f"{case} GPU{'s' * (int(case) > 1)}" if case.isdigit() else case


def table(names, rates):
    rows = [["", *names, *(f"ratio, {n}" for n in names[1:])]]
    for point, first in rates[0].items():
        rows.append([point, *(f"{r[point]:.4g}" for r in rates), *(f"{r[point] / first:.2f}" for r in rates[1:])])
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    rows.insert(1, ["-" * w for w in widths])
    return "\n".join("| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths)) + " |" for row in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", choices=["sim", "stream"])
    parser.add_argument("scenario", type=pathlib.Path)
    parser.add_argument("--devices", nargs="+")
    parser.add_argument("--ranks", nargs="+", type=int, help="of sim")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--seconds", type=float, help="of stream, in place of stream.seconds")
    parser.add_argument("--at-least", type=float, help="of sim: the least ratio of the last case to the first, over all points")
    parser.add_argument("--out", type=pathlib.Path)
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build/release/warpband")
    options = parser.parse_args()
    if (options.ranks is None) == (options.devices is None) or (options.ranks and options.program == "stream"):
        parser.error("expected either --devices or, of sim, --ranks")
    cases = Simulation(options) if options.program == "sim" else Stream(options)
    found = [[] for _ in cases.cases]
    with tempfile.TemporaryDirectory() as folder:
        out = options.out or pathlib.Path(folder)
        out.mkdir(parents=True, exist_ok=True)
        for _ in range(options.repetitions):
            for i, case in enumerate(cases.cases):
                path = out / f"{options.scenario.stem}_{cases.names[i].split()[0].replace(',', '_').replace(':', '')}.json"
                run(cases.arguments(case, path))
                found[i].append(cases.rates(json.loads(path.read_text())))
    rates = [{point: statistics.median(r[point] for r in rounds) for point in rounds[0]} for rounds in found]
    print(f"Mb/s, median of {options.repetitions}\n\n{table(cases.names, rates)}")
    if options.at_least and (ratio := rates[-1]["all"] / rates[0]["all"]) < options.at_least:
        sys.exit(f"{cases.names[-1]} are {ratio:.3f} times as fast as {cases.names[0]}: expected {options.at_least}")


if __name__ == "__main__":
    main()
