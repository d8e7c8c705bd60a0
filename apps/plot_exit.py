#!/usr/bin/env python3
"""Draws the EXIT charts that `warpband exit` measured.

    plot_exit.py EXIT.json OUT.pdf|OUT.png|OUT.svg

A panel for each SNR: the detector's transfer curve, the decoder's with its axes exchanged, and the trajectory of the loop. Exit codes:
0 drawn, 1 failed, 2 used wrongly.
"""
import math
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # where PYTHONSAFEPATH leaves it out
from plot import draw_record, drawing

rates = drawing()
CURVES, LOOP = ("prior", "detector", "decoder"), ("loop_detector", "loop_decoder")
MOST_PANELS = 9  # as the command has it


def read(record):
    charts = [(float(chart["snr_db"]), [list(map(float, chart[key])) for key in (*CURVES, *LOOP)]) for chart in record["charts"]]
    lengths = [(*map(len, lists),) for _, lists in charts]
    whole = all(len(set(of_chart[:3])) == 1 and len(set(of_chart[3:])) == 1 and min(of_chart) > 0 for of_chart in lengths)
    if not 0 < len(charts) <= MOST_PANELS or not whole or not all(0 <= x <= 1 for _, lists in charts for one in lists for x in one):
        return None
    return record, charts


def figure_of(record, charts):
    from matplotlib.figure import Figure
    columns = min(3, len(charts))
    rows = math.ceil(len(charts) / columns)
    figure = Figure(figsize=(4.2 * columns + (1.2 if columns == 1 else 0), 4.0 * rows), layout="constrained")
    panels = list(figure.subplots(rows, columns, squeeze=False).flat)
    for panel in panels[len(charts):]:
        panel.remove()
    for panel, (snr_db, lists) in zip(panels, charts):
        rates.draw_exit_chart(panel, *lists)
        panel.set_title(f"SNR {snr_db:.4g} dB", fontsize="medium")
    panels[0].legend(fontsize="small", loc="lower right")
    figure.suptitle(rates.text_drawn(str(record.get("curve", ""))), fontsize="medium")
    return figure


if __name__ == "__main__":
    sys.exit(draw_record(rates, "exit", "charts", read, figure_of))
