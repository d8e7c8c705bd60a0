#!/usr/bin/env python3
"""Diversity orders of the curves of a result: by how many decades the frame error rate falls in 10 dB.

usage: diversity.py RESULT.json [--from 1e-2] [--to 1e-4]

For each curve it prints the slope between the points next to the two rates, with twice its standard error. Points have at least 30
frame errors. The slope approaches the order from below as the error rate falls.
"""
import argparse
import json
import math
import sys

LEAST_ERRORS = 30


def slope(points, first, last):
    """(order, twice its standard error, SNR and rate of both points); None where there are no two points."""
    usable = sorted((p["snr_db"], p["fer"], p["frame_errors"]) for p in points if p["frame_errors"] >= LEAST_ERRORS)
    if not usable:
        return None
    near = [min(usable, key=lambda p: abs(math.log(p[1] / rate))) for rate in (first, last)]
    (x0, y0, n0), (x1, y1, n1) = near
    if x1 <= x0:
        return None
    decades = (x1 - x0) / 10
    return math.log10(y0 / y1) / decades, 2 * math.sqrt(1 / n0 + 1 / n1) / math.log(10) / decades, (x0, y0), (x1, y1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result")
    parser.add_argument("--from", dest="first", type=float, default=1e-2)
    parser.add_argument("--to", dest="last", type=float, default=1e-4)
    arguments = parser.parse_args()
    try:
        with open(arguments.result, encoding="utf-8") as file:
            curves = [(c["label"], slope(c["points"], arguments.first, arguments.last)) for c in json.load(file)["curves"]]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"diversity.py: error: {arguments.result}: {error}")
    for label, found in curves:
        if found is None:
            print(f"{label}: no two points with {LEAST_ERRORS} frame errors")
        else:
            order, error, (x0, y0), (x1, y1) = found
            print(f"{label}: {order:.2f} +- {error:.2f}, {x0:g} dB ({y0:.3g}) to {x1:g} dB ({y1:.3g})")


if __name__ == "__main__":
    main()
