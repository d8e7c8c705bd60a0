#!/usr/bin/env python3
"""Law 6: what translation units take to compile. Usage: compile_cost.py BUILD_FOLDER

Reads what timed_compile.py noted there, and prints the five costliest. More than 30 s of CPU or 2 GB fails. A CUDA unit may take the
time once for each architecture. What came from the compiler cache shows no cost.
"""
import json
import os
import sys

SECONDS, MEGABYTES = 30.0, 2048.0


def read_costs(build):
    """The newest line of each object that still exists."""
    costs = {}
    with open(os.path.join(build, "compile_cost.jsonl"), encoding="utf-8") as log:
        for line in log:
            cost = json.loads(line)
            if os.path.exists(os.path.join(build, cost["object"])):
                costs[cost["object"]] = cost
    return list(costs.values())


def seconds_allowed(cost):
    return SECONDS * max(1, cost["architectures"])


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: compile_cost.py BUILD_FOLDER")
    build = sys.argv[1]
    try:
        costs = read_costs(build)
    except OSError as error:
        sys.exit(f"{error.filename}:1: {error.strerror}; configure with -DWARPBAND_COMPILE_COST=ON and build")
    if not costs:
        sys.exit(f"{build}/compile_cost.jsonl:1: no compilation noted for an object that exists")

    costs.sort(key=lambda cost: cost["cpu_s"] / seconds_allowed(cost), reverse=True)
    print(f"{len(costs)} translation units; the costliest:")
    for cost in costs[:5]:
        print(f"  {cost['cpu_s']:6.1f} s of {seconds_allowed(cost):3.0f}  {cost['max_rss_mb']:6.0f} MB  {cost['object']}")
    failed = False
    for cost in costs:
        if cost["cpu_s"] > seconds_allowed(cost):
            failed = True
            print(f"{cost['source']}:1: takes {cost['cpu_s']:.1f} s to compile, more than {seconds_allowed(cost):.0f} s "
                  f"({cost['object']})", file=sys.stderr)
        if cost["max_rss_mb"] > MEGABYTES:
            failed = True
            print(f"{cost['source']}:1: takes {cost['max_rss_mb']:.0f} MB to compile, more than {MEGABYTES:.0f} MB "
                  f"({cost['object']})", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
