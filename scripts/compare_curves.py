#!/usr/bin/env python3
"""Distance in dB between error-rate curves at one error rate.

usage: compare_curves.py RESULT.json[:LABEL] REFERENCE --at-fer 1e-2 [--min-db D] [--max-db D]
       compare_curves.py RESULT.json[:LABEL] REFERENCE --at-ber 1e-5 [--min-db D] [--max-db D]

REFERENCE is RESULT.json[:LABEL] again, or a CSV with the columns ebn0_db, ber, fer. Curves are straight lines
between their points, in the logarithm of the error rate. Prints by how many dB the result needs more Eb/N0 (with
--over snr_db: SNR) than the reference (positive: it is worse), and exits with 1 when that lies outside [D, D].
"""
import argparse
import csv
import json
import math
import sys


def fail(message):
    print(f"compare_curves.py: error: {message}", file=sys.stderr)
    sys.exit(1)


def points_of(source, rate, axis):
    path, label = source, None
    if ".json:" in source:
        path, label = source.split(".json:", 1)
        path += ".json"
    try:
        with open(path, encoding="utf-8") as file:
            if path.endswith(".csv"):
                rows = [(float(r[axis]), float(r[rate])) for r in csv.DictReader(file)]
            else:
                curves = json.load(file)["curves"]
                chosen = [c for c in curves if label is None or c["label"] == label]
                if len(chosen) != 1:
                    fail(f"{source}: name one of the curves: " + ", ".join(repr(c["label"]) for c in curves))
                rows = [(p[axis], p[rate]) for p in chosen[0]["points"]]
    except (OSError, ValueError, KeyError) as error:
        fail(f"{path}: {error}")
    return sorted((x, y) for x, y in rows if y > 0)


def crossing(points, target, source):
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if y0 >= target >= y1 and y0 > y1:
            t = (math.log(y0) - math.log(target)) / (math.log(y0) - math.log(y1))
            return x0 + t * (x1 - x0)
    fail(f"{source}: does not cross {target:g}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("reference")
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--at-fer", type=float)
    which.add_argument("--at-ber", type=float)
    parser.add_argument("--min-db", type=float, default=-math.inf)
    parser.add_argument("--max-db", type=float, default=math.inf)
    parser.add_argument("--over", choices=("ebn0_db", "snr_db"), default="ebn0_db")
    args = parser.parse_args()
    rate, target = ("fer", args.at_fer) if args.at_fer else ("ber", args.at_ber)
    ours = crossing(points_of(args.result, rate, args.over), target, args.result)
    theirs = crossing(points_of(args.reference, rate, args.over), target, args.reference)
    distance = ours - theirs
    print(f"{rate.upper()} {target:g}: {ours:.4f} dB against {theirs:.4f} dB: {distance:+.4f} dB")
    if not args.min_db <= distance <= args.max_db:
        fail(f"{distance:+.4f} dB is outside [{args.min_db:g}, {args.max_db:g}]")


if __name__ == "__main__":
    main()
