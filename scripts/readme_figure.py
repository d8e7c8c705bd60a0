#!/usr/bin/env python3
"""Draws the figure of README.md, three detectors of a stored result, with the package's own plot.

    PYTHONPATH=build/release/python .venv/bin/python scripts/readme_figure.py [FILE]     FILE: docs/figures/readme.png unless given
"""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
LABELS = {"ML, rate 1/2": "exhaustive search (ML)", "4-way, rate 1/2": "N-way, 4 ways", "1-way, rate 1/2": "N-way, 1 way"}


def draw(path):
    import warpband as wb
    content = wb.SweepResult.load(ROOT / "curves" / "mimo_turbo_4x4_16qam.json").to_dict()
    content["curves"] = [{**curve, "label": LABELS[curve["label"]]} for curve in content["curves"] if curve["label"] in LABELS]
    figure = wb.plot.error_rates(wb.SweepResult(content), metric="fer", title="4 x 4 antennas, 16-QAM, LTE turbo code of rate 1/2")
    figure.set_size_inches(6.4, 4.2)
    figure.axes[0].set_ylim(1e-4, 1.3)
    wb.plot.save(figure, path)
    return figure


if __name__ == "__main__":
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
    else:
        draw(sys.argv[1] if sys.argv[1:] else ROOT / "docs" / "figures" / "readme.png")
