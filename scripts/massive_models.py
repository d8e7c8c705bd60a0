#!/usr/bin/env python3
"""Draws li-thesis 3.6, 3.7 and 5.3 from what `warpband model` computes.

usage: massive_models.py [--folder FOLDER] [--symbols N] [OPTIONS OF warpband model capacity]
       for instance massive_models.py --cholesky-us 9 --cg-us 7

Writes li_fig3_6, li_fig3_7 and li_fig5_3 as CSV and PNG to FOLDER (default build/massive_models) and prints the tables.
--symbols: vectors that share a channel estimate in 3.6 and 3.7 (default 1, as in the thesis).
Needs a built command: build/cuda/warpband, build/release/warpband, or what WARPBAND_COMMAND names.
"""
import argparse
import csv
import json
import pathlib
import subprocess
import sys

from built_command import ROOT, command, fail

# Colours that stay apart for colour-blind readers (after Okabe and Ito).
BLUE, RED, GREEN = "#0072B2", "#D55E00", "#009E73"


def model(folder, name, options):
    path = folder / f"{name}.json"
    run = [command(), "model", name, "--json", str(path), *options]
    if (status := subprocess.run(run, check=False).returncode) != 0:
        sys.exit(status)
    return json.loads(path.read_text(encoding="utf-8"))


def write_csv(path, columns, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow(columns)
        out.writerows(rows)


def panels(plt, count):
    return plt.subplots(1, count, figsize=(4.2 * count, 3.6), constrained_layout=True)


def draw_capacity(plt, folder, result):
    rows = [[t["gbps"], *(p[k] for k in ("coherence_ms", "mf", "cholesky", "cg"))]
            for t in result["transports"] for p in t["points"]]
    write_csv(folder / "li_fig5_3.csv", ["transport_gbps", "coherence_ms", "mf", "cholesky", "cg"], rows)
    figure, axes = panels(plt, len(result["transports"]))
    for place, transport in zip(axes if len(result["transports"]) > 1 else [axes], result["transports"]):
        x = [p["coherence_ms"] for p in transport["points"]]
        for key, label, colour, style in (("mf", "MF", BLUE, "-"), ("cholesky", "Cholesky MMSE", RED, "-"),
                                          ("cg", "CG MMSE", GREEN, "--")):
            place.semilogx(x, [p[key] for p in transport["points"]], style, color=colour, label=label)
        at = transport["crossovers_ms"]["mf_cg"]
        if at is not None:
            place.axvline(at, color="#8A8A00", linewidth=0.8)
            place.annotate(f"{at:.2f} ms", (at, 2), xytext=(3, 0), textcoords="offset points", fontsize=8)
        place.set(title=f"{transport['gbps']:g} Gb/s", xlabel="coherence time (ms)", ylabel="effective capacity (bit/s/Hz)")
        place.set_ylim(0)
        place.grid(alpha=0.3)
        place.legend(fontsize=8)
    figure.suptitle(f"{result['antennas']}x{result['users']}, precoding {result['cholesky_us']:g} us (Cholesky), "
                    f"{result['cg_us']:g} us (CG)")
    figure.savefig(folder / "li_fig5_3.png", dpi=150)


def draw_operations(plt, folder, result):
    counts = {(c["antennas"], c["users"]): c for c in result["configurations"]}
    rows = []
    for (antennas, users), c in counts.items():
        rows.append([antennas, users, "cholesky", "", c["cholesky"]["operations"], c["cholesky"]["solver"]])
        rows += [[antennas, users, "cg", p["iterations"], p["operations"], p["solver"]] for p in c["cg"]]
    write_csv(folder / "li_fig3_6.csv", ["antennas", "users", "mode", "iterations", "operations", "solver"], rows)
    figure, axes = panels(plt, 3)
    for place, users in zip(axes, (16, 32, 64)):
        c = counts[128, users]
        place.plot([p["iterations"] for p in c["cg"]], [p["operations"] for p in c["cg"]], "o-", color=GREEN, label="CG", markersize=3)
        place.axhline(c["cholesky"]["operations"], color=RED, label="Cholesky")
        place.set_xticks(range(2, 17, 2))
        place.set(title=f"128x{users}", xlabel="CG iterations", ylabel="operations per frame")
        place.set_ylim(0)
        place.grid(alpha=0.3)
        place.legend(fontsize=8)
    shared = "a new H for each vector" if result["symbols"] == 1 else f"{result['symbols']} vectors share an H"
    figure.suptitle(f"{result['qam']}-QAM, {shared}")
    figure.savefig(folder / "li_fig3_6.png", dpi=150)

    write_csv(folder / "li_fig3_7.csv", ["antennas", "users", "iterations", "reduction", "solver_reduction"],
              [[*key, *(c["table_3_1"][k] for k in ("iterations", "reduction", "solver_reduction"))]
               for key, c in counts.items()])
    figure, axes = panels(plt, 2)
    for place, key, title in zip(axes, ("reduction", "solver_reduction"), ("the whole detector", "the solver alone")):
        for index, (antennas, colour) in enumerate(((128, BLUE), (256, RED), (512, GREEN))):
            users = [u for a, u in counts if a == antennas]
            place.bar([i + 0.27 * (index - 1) for i in range(len(users))],
                      [100 * counts[antennas, u]["table_3_1"][key] for u in users], 0.25, color=colour, label=f"{antennas} antennas")
            place.set_xticks(range(len(users)), users)
        place.axhline(0, color="black", linewidth=0.6)
        place.set(title=title, xlabel="users", ylabel="operations that CG saves (%)")
        place.grid(alpha=0.3, axis="y")
        place.legend(fontsize=8)
    figure.suptitle(f"{result['qam']}-QAM, {shared}, iterations of table 3.1")
    figure.savefig(folder / "li_fig3_7.png", dpi=150)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=pathlib.Path, default=ROOT / "build/massive_models")
    parser.add_argument("--symbols", default="1")
    args, rest = parser.parse_known_args()
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        fail("matplotlib is missing: run this with .venv/bin/python (scripts/setup.sh makes it)")
    args.folder.mkdir(parents=True, exist_ok=True)
    draw_capacity(plt, args.folder, model(args.folder, "capacity", rest))
    draw_operations(plt, args.folder, model(args.folder, "operations", ["--symbols", args.symbols]))


if __name__ == "__main__":
    main()
