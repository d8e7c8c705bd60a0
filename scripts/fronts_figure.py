#!/usr/bin/env python3
"""Draws what `warpband choose` measured for 4x4 links on an H100 and on two cores: the figure of docs/command.md and of the README.

    .venv/bin/python scripts/fronts_figure.py [FILE]     FILE: docs/figures/fronts.png unless given
"""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MACHINES = {"h100": ("NVIDIA H100", "#0072B2", "o"), "xeon_2threads": ("two cores of a Xeon", "#D55E00", "s")}


def front(qam, machine):
    """[(loss in dB, Gb/s, detector)] of the Pareto front, the most accurate first."""
    record = json.loads((ROOT / "bench" / "results" / f"choose_4x4_{qam}qam_{machine}.json").read_text(encoding="utf-8"))
    return sorted((s["loss_db"], s["information_gbps"], s["detector"]) for s in record["settings"] if s["front"])


def name_of(detector):
    short = {"mmse": "MMSE", "zf": "ZF"}.get(detector, detector)
    short = re.sub(r"^nway N = (\d+).*", r"N-way, N = \1", short)
    short = re.sub(r"^kbest K = (\d+).*", r"K-best, K = \1", short)
    return re.sub(r"^ep, ", "EP, ", short)


def draw(path):
    import matplotlib
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, panels = pyplot.subplots(1, 2, figsize=(9.6, 4.4), sharey=True, layout="constrained")
    for panel, qam in zip(panels, (16, 64)):
        for machine, (label, colour, marker) in MACHINES.items():
            points = front(qam, machine)
            panel.plot([p[0] for p in points], [1e3 * p[1] for p in points], color=colour, marker=marker, markersize=4, linewidth=1.4, label=label)
            for detector in dict.fromkeys(p[2] for p in points):
                selected = [p for p in points if p[2] == detector]
                loss, rate, _ = selected[len(selected) // 2]
                panel.annotate(name_of(detector), (loss, 1e3 * rate), xytext=(5, -9), textcoords="offset points", fontsize=7, color=colour)
        panel.set_title(f"4x4 {qam}-QAM", fontsize="medium")
        panel.set_yscale("log")
        panel.set_xlim(left=-0.1)
        panel.margins(x=0.12)
        panel.set_xlabel("loss against the most accurate (dB)")
        panel.grid(True, which="major", linewidth=0.6, alpha=0.6)
    panels[0].set_ylabel("information bits (Mb/s)")
    panels[0].legend(fontsize="small", loc="center right")
    figure.savefig(path, dpi=150)
    pyplot.close(figure)


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        draw(sys.argv[1] if sys.argv[1:] else ROOT / "docs" / "figures" / "fronts.png")
