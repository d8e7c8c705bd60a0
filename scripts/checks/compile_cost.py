#!/usr/bin/env python3
"""Law 6: what translation units take to compile. Usage: compile_cost.py BUILD_FOLDER

Reads what timed_compile.py noted there, and prints the five costliest. More than 1.2 GB fails: the same source takes the same memory
everywhere. More than 30 s of CPU is pointed out only, as seconds depend on the machine and its load. A CUDA unit may take them once for
each architecture. What came from the compiler cache shows no cost.
"""
import json
import os
import sys

SECONDS, MEGABYTES = 30.0, 1200.0


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
            print(f"{cost['source']}:1: took {cost['cpu_s']:.1f} s to compile, more than {seconds_allowed(cost):.0f} s "
                  f"({cost['object']})")
        if cost["max_rss_mb"] > MEGABYTES:
            failed = True
            print(f"{cost['source']}:1: takes {cost['max_rss_mb']:.0f} MB to compile, more than {MEGABYTES:.0f} MB "
                  f"({cost['object']})", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    main()
