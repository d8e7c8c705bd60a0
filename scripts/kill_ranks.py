#!/usr/bin/env python3
"""Kills a rank of `mpirun warpband sim` at random moments and resumes the run: its counts must be those of one undisturbed process.

    python3 scripts/kill_ranks.py [--trials 20] [--ranks 3] [--seed N] [--command build/release/warpband]

A trial sends SIGKILL to one of the ranks, rank 0 included. The time is random, between the start of the ranks and the end of an
undisturbed run. What is left, a checkpoint or nothing, is resumed on a random number of ranks. The moment, the rank and that number
follow from the seed and the number of the trial; the seed is printed. A run that ends before its kill does not count as a trial.
Exit code 1: a result could not be resumed, or has other counts.
"""
import argparse
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
SCENARIO = """
[code]
type = "lte-turbo"
k = 1024
[sweep]
ebn0_db = [0.2, 0.5, 0.7]
[stop]
frame_errors = 337
max_frames = 3000
"""
OF_A_RUN = ("seconds", "frames_run", "mbps")  # what a point took


def counts(path):
    """All counts of a result."""
    return [[{k: v for k, v in p.items() if k not in OF_A_RUN} for p in c["points"]] for c in json.loads(path.read_text())["curves"]]


def mpirun(command, ranks, *arguments):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), str(command), "sim", *map(str, arguments),
            "--quiet", "--threads", "1"]


def children(pid):
    listed = subprocess.run(["ps", "--ppid", str(pid), "-o", "pid="], capture_output=True, text=True).stdout
    return [int(p) for p in listed.split()]


def start(arguments, ranks):
    """A run, and its ranks in order; none of them where it has ended."""
    run = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    while len(of_run := children(run.pid)) < ranks and run.poll() is None:
        time.sleep(0.005)
    return run, of_run


def complete(arguments):
    done = subprocess.run(arguments, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(arguments)}\nended with {done.returncode}: {done.stdout}{done.stderr}")


def killed(arguments, ranks, victim, moment):
    """Whether the run still went on when its rank was killed."""
    run, of_run = start(arguments, ranks)
    if len(of_run) == ranks:
        time.sleep(moment)
    alive = run.poll() is None and len(of_run) == ranks
    if alive:
        try:
            os.kill(of_run[victim], signal.SIGKILL)
        except ProcessLookupError:
            alive = False
    run.communicate()
    return alive and run.returncode != 0


def trial(options, number, duration, expected, folder):
    """True where a rank was killed and the resumed counts are right, None where the run had ended before."""
    rng = random.Random(f"{options.seed} {number}")
    moment, victim, then = rng.uniform(0, duration), rng.randrange(options.ranks), rng.randint(1, options.ranks)
    scenario, out = folder / "scenario.toml", folder / f"{number}.json"
    named = f"seed {options.seed}, trial {number}: rank {victim} of {options.ranks} killed after {moment:.3f} s"
    if not killed(mpirun(options.command, options.ranks, scenario, "-o", out, "--checkpoint", "0"), options.ranks, victim, moment):
        return None
    held = sum(p["frames"] for c in json.loads(out.read_text())["curves"] for p in c["points"]) if out.exists() else None
    complete(mpirun(options.command, then, *(["--resume", out] if out.exists() else [scenario, "-o", out])))
    right = counts(out) == expected
    left = "nothing" if held is None else f"{held} frames"
    print(f"{named}, {left} kept, resumed on {then}: counts are {'equal' if right else 'DIFFERENT'}", flush=True)
    return right


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**9))
    parser.add_argument("--command", type=pathlib.Path, default=ROOT / "build/release/warpband")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        scenario, one = folder / "scenario.toml", folder / "one.json"
        scenario.write_text(SCENARIO)
        complete([str(options.command), "sim", str(scenario), "-o", str(one), "--quiet"])
        expected = counts(one)
        begin = time.monotonic()
        complete(mpirun(options.command, options.ranks, scenario, "-o", folder / "all.json", "--checkpoint", "0"))
        duration = time.monotonic() - begin
        if counts(folder / "all.json") != expected:
            sys.exit(f"{options.ranks} ranks that nothing disturbed have other counts than one process")
        done = wrong = number = 0
        while done < options.trials and number < 10 * options.trials:
            right = trial(options, number, duration, expected, folder)
            number += 1
            if right is None:
                duration *= 0.8  # the machine is less busy than when it was measured
            done += right is not None
            wrong += right is False
    print(f"{done} ranks killed, {wrong} results with other counts; {number - done} runs ended before; seed {options.seed}")
    sys.exit(0 if wrong == 0 and done == options.trials else 1)


if __name__ == "__main__":
    main()
