#!/usr/bin/env python3
"""What a base station loses where its antennas are in clusters that detect for themselves, in dB against the central detector:
draws docs/figures/cluster_loss.svg from the results of two scenarios, and prints the table of docs/scale.md.

    warpband sim curves/clusters_rayleigh.toml -o curves/clusters_rayleigh.json
    warpband sim curves/clusters_c2.toml -o curves/clusters_c2.json
    python3 scripts/cluster_loss.py [--bler 0.1]
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/warpband"))
from reproduce.curves import crossing  # noqa: E402
from reproduce.output import COLOURS, MARKS  # noqa: E402

CHANNELS = {"clusters_rayleigh": "Rayleigh", "clusters_c2": "WINNER II C2"}
CLUSTERS = (2, 4, 8)


def losses(result, bler):
    """{(size, method, number): dB}: local-mmse by clusters, cg by iterations; None where a curve does not reach the rate."""
    met = {}
    for curve in result["curves"]:
        points = sorted((p["snr_db"], p["codewords"]["bler"] or 0.5 / p["codewords"]["codewords"]) for p in curve["points"])
        met[curve["label"]] = crossing(points, bler)
    found = {}
    for label, db in met.items():
        size, method, *number = label.split()
        if number:
            reference = met[f"{size} exact"]
            found[size, method, int(number[0])] = None if db is None or reference is None else db - reference
    return found


def text(db):
    return "-" if db is None else f"{round(db, 2) + 0:.2f}"


def table(channels):
    rows = [["channel", "antennas x users", *(f"local-mmse, C = {c}" for c in CLUSTERS), "cg, any C"], ["---"] * 6]
    for name, found in channels.items():
        for size in dict.fromkeys(key[0] for key in found):
            by_cg = ", ".join(f"I = {n}: {text(db)}" for (s, method, n), db in found.items() if s == size and method == "cg")
            rows.append([name, size, *(text(found.get((size, "local-mmse", c))) for c in CLUSTERS), by_cg])
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


def draw(channels, bler, path):
    import matplotlib
    from matplotlib.figure import Figure
    matplotlib.rcParams.update({"svg.hashsalt": "cluster_loss", "svg.fonttype": "none"})
    figure = Figure(figsize=(9, 4), layout="constrained")
    for axes, (name, found) in zip(figure.subplots(1, len(channels), sharey=True, squeeze=False)[0], channels.items()):
        for i, size in enumerate(dict.fromkeys(key[0] for key in found)):
            points = [(1, 0.0)] + [(c, found.get((size, "local-mmse", c))) for c in CLUSTERS]
            points = [p for p in points if p[1] is not None]
            axes.plot(*zip(*points), color=COLOURS[i], marker=MARKS[i], label=f"{size}, local MMSE")
            iterations = [(n, db) for (s, method, n), db in found.items() if s == size and method == "cg" and db is not None]
            for j, (n, db) in enumerate(iterations):
                axes.axhline(db, color=COLOURS[i], linewidth=0.9, linestyle=[":", "--", "-."][j % 3], label=f"{size}, CG, I = {n}")
        axes.set_xscale("log", base=2)
        axes.set_xticks([1, *CLUSTERS], [str(c) for c in (1, *CLUSTERS)])
        axes.set_title(name, fontsize=10)
        axes.set_xlabel("clusters of antennas")
        axes.grid(True, alpha=0.35)
        axes.legend(fontsize=7)
    figure.axes[0].set_ylabel(f"loss in dB at a block error rate of {bler:g}")
    figure.savefig(path, metadata={"Date": None})


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--bler", type=float, default=0.1)
    options.add_argument("--results", type=pathlib.Path, default=ROOT / "curves", help="where the two results are")
    options.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/figures/cluster_loss.svg")
    given = options.parse_args()
    channels = {title: losses(json.loads((given.results / f"{name}.json").read_text()), given.bler) for name, title in CHANNELS.items()}
    print(table(channels))
    draw(channels, given.bler, given.output)


if __name__ == "__main__":
    main()
