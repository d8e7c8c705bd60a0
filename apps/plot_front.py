#!/usr/bin/env python3
"""Draws the trade-off that `warpband choose` measured.

    plot_front.py CHOOSE.json OUT.pdf|OUT.png|OUT.svg

Rate of information bits over the loss against the most accurate setting: the Pareto front as a line, other settings whose
loss was measured as dots, a ring around the chosen one. Exit codes: 0 drawn, 1 failed, 2 used wrongly.
"""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # where PYTHONSAFEPATH leaves it out
from plot import draw_record, drawing

FRONT, OTHERS, CHOSEN = "#0072B2", "#8A8A8A", "#D55E00"
rates = drawing()


def read(record):
    settings = [(float(s["loss_db"]), float(s["information_gbps"]), s) for s in record["settings"] if s["loss_db"] is not None]
    settings.sort(key=lambda x: x[1])  # the fastest last
    chosen = record["settings"][record["chosen"]]
    target, axis = float(record["target"]["fer"]), record["axis"]
    known = all(math.isfinite(loss) and rate > 0 and isinstance(s["front"], bool) for loss, rate, s in settings)
    if not settings or not known or axis not in rates.AXES or not 0 < target < 1:
        return None
    return str(record.get("curve", "")), target, chosen, settings


def figure_of(curve, target, chosen, settings):
    from matplotlib.figure import Figure
    figure = Figure(figsize=(8.4, 5.4), layout="constrained")
    axes = figure.subplots()
    front = [(loss, rate, s) for loss, rate, s in settings if s["front"]]
    others = [(loss, rate) for loss, rate, s in settings if not s["front"]]
    if others:
        axes.plot(*zip(*others), color=OTHERS, marker=".", linestyle="none", label="other settings")
    axes.plot([x[0] for x in front], [x[1] for x in front], color=FRONT, marker="o", markersize=4, linewidth=1.5, label="Pareto front")
    axes.plot([chosen["loss_db"]], [chosen["information_gbps"]], color=CHOSEN, marker="o", markersize=12, markerfacecolor="none",
              markeredgewidth=1.8, linestyle="none", label="chosen")
    widest = max(x[0] for x in front)
    for loss, rate, s in front:
        far = loss > 0.6 * widest > 0  # its text goes to the left, where there is room
        axes.annotate(f"{s['detector']}; {s['decoder']}", (loss, rate), xytext=(-6 if far else 6, -6), textcoords="offset points",
                      fontsize=6, va="top", ha="right" if far else "left")
    axes.set_yscale("log")
    axes.margins(x=0.25, y=0.1)
    axes.set_xlim(left=-0.03 * max(1.0, front[-1][0]))
    axes.set_xlabel(f"loss (dB) at frame error rate {target:g}")
    axes.set_ylabel("information bits through detector and decoder (Gb/s)")
    axes.grid(True, which="major", linewidth=0.6, alpha=0.6)
    axes.grid(True, which="minor", linewidth=0.4, alpha=0.25)
    axes.legend(fontsize="small", loc="lower right")
    figure.suptitle(curve, fontsize="medium")
    return figure


if __name__ == "__main__":
    sys.exit(draw_record(rates, "choose", "front", read, figure_of))
