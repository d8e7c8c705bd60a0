#!/usr/bin/env python3
"""Reproduces the coded MIMO figures: wu2010 4.2 to 4.7 (BER) and wu2012 3 (FER), LDPC-coded.

usage: mimo_figures.py [--folder FOLDER] [--only NAME ...] [--report] [OPTIONS OF warpband sim]
       for instance mimo_figures.py --device cuda:0

For each figure, in FOLDER (default build/mimo_figures): the result in JSON, a CSV with a row for each point and the 95%
interval of its FER (of its BER too where bits fail independently, without a code), and the plot as PNG. Then prints, as tables in Markdown, the SNR at which each detector reaches a FER of 1e-2
and how far it is from the first curve of its figure. With --report it runs nothing, and reads the results in curves/.
Needs a built command: build/cuda/warpband, build/release/warpband, or what WARPBAND_COMMAND names.
"""
import argparse
import csv
import json
import math
import pathlib
import subprocess
import sys

from built_command import ROOT, command, fail

FIGURES = {f"wu2010_fig4_{i}": "ber" for i in range(2, 8)} | {"wu2012_fig3_16qam": "fer", "wu2012_fig3_64qam": "fer"}
COLUMNS = ["label", "snr_db", "ebn0_db", "frames", "bit_errors", "frame_errors", "ber", "ber_low", "ber_high", "fer",
           "fer_low", "fer_high"]


def write_csv(result, path):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(COLUMNS)
        for curve in result["curves"]:
            for p in curve["points"]:
                intervals = [x for name in ("ber", "fer") for x in
                             (p[name], *(p[f"{name}_interval"] or ("", "")))]
                out.writerow([curve["label"], p["snr_db"], p["ebn0_db"], p["frames"], p["bit_errors"],
                              p["frame_errors"], *intervals])


def crossing(points, target):
    """Where log FER, a straight line between points, meets the target; None where it does not."""
    rows = [(p["snr_db"], p["fer"]) for p in points if p["fer"] > 0]
    for (x0, y0), (x1, y1) in zip(rows, rows[1:]):
        if y0 >= target >= y1 and y0 > y1:
            return x0 + (x1 - x0) * math.log(y0 / target) / math.log(y0 / y1)
    return None


def report(name, result, target=1e-2):
    print(f"\n{result['scenario']['title'] if isinstance(result['scenario'], dict) else name}\n")
    print(f"| detector | SNR at FER {target:g} | behind the first | least FER | its frame errors |\n|---|---|---|---|---|")
    first = None
    for curve in result["curves"]:
        at = crossing(curve["points"], target)
        least = min((p for p in curve["points"] if p["frame_errors"] > 0), key=lambda p: p["fer"], default=None)
        first = at if first is None else first
        snr = "not reached" if at is None else f"{at:.2f} dB"
        behind = "" if at is None or first is None else f"{at - first:+.2f} dB"
        last = "- | -" if least is None else f"{least['fer']:.1e} at {least['snr_db']:g} dB | {least['frame_errors']}"
        print(f"| {curve['label']} | {snr} | {behind} | {last} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/mimo_figures")
    parser.add_argument("--only", nargs="+", choices=FIGURES, default=list(FIGURES))
    parser.add_argument("--report", action="store_true")
    args, rest = parser.parse_known_args()
    if args.report and rest:
        parser.error(f"--report runs nothing: {rest[0]}")
    for name in args.only:
        path = ROOT / f"curves/{name}.json"
        if not args.report:
            args.folder.mkdir(parents=True, exist_ok=True)
            path = args.folder / f"{name}.json"
            run = [command(), "sim", str(ROOT / f"curves/{name}.toml"), "-o", str(path), "--plot",
                   str(path.with_suffix(".png")), "--metric", FIGURES[name], *rest]
            if (status := subprocess.run(run, check=False).returncode) != 0:
                sys.exit(status)
        try:
            result = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            fail(f"{path}: {error}")
        if not args.report:
            write_csv(result, path.with_suffix(".csv"))
        report(name, result)


if __name__ == "__main__":
    main()
