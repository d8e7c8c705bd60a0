#!/usr/bin/env python3
"""Draws the EXIT charts of docs/iterative.md into docs/figures/exit_4x4_16qam.svg.

    PYTHONPATH=build/release/python .venv/bin/python scripts/exit_figure.py [OUTPUT]

4x4, 16-QAM, a new channel matrix in each use, 802.16e LDPC 2304 of rate 1/2 with five iterations of sum-product. They begin anew in
each outer iteration and never stop early: then the curves are measured for what the loop does.
"""
import pathlib
import sys

if sys.argv[1:] in (["-h"], ["--help"]):
    print(__doc__)
    sys.exit()

import matplotlib  # noqa: E402: --help needs neither
import numpy as np  # noqa: E402

import warpband as wb  # noqa: E402

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

FIGURE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "figures" / "exit_4x4_16qam.svg"


def draw(panel, name, detector, snr_db):
    decoder = wb.LdpcDecoder(code=wb.wimax_ldpc(n=2304), algorithm="sum-product", iterations=5, early_stop="none")
    chart = wb.exit_chart(detector=detector, decoder=decoder, snr_db=snr_db, outer=8, interleaver="random", decoder_state="reset",
                          prior_information=np.linspace(0, 1, 41), bits=400000)
    wb.plot.exit_chart(chart, title=f"{name}, {snr_db} dB", axes=panel)
    panel.set(ylim=(0.4, 1), ylabel="")
    panel.get_legend().remove()
    print(f"{name}, {snr_db} dB: detector", " ".join(f"{x:.3f}" for x in chart.loop_detector), " fed back",
          " ".join(f"{x:.3f}" for x in chart.loop_decoder))


settings = {"streams": 4, "rx_antennas": 4, "qam": 16, "demapper": "exact"}
matplotlib.rcParams.update({"svg.hashsalt": FIGURE.name, "svg.fonttype": "none"})
figure, panels = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True)
draw(panels[0], "MMSE-PIC", wb.PIC(**settings), 10.5)
draw(panels[1], "MMSE-PIC", wb.PIC(**settings), 11.5)
draw(panels[2], "EP, 2 iterations", wb.EP(iterations=2, **settings), 10.5)
panels[0].set_ylabel("information from the detector (bits)")
panels[0].legend(loc="lower right", fontsize="small")
figure.tight_layout()
figure.savefig(sys.argv[1] if len(sys.argv) > 1 else FIGURE, metadata={"Date": None})
