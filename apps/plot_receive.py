#!/usr/bin/env python3
"""Draws what `warpband receive` saw in samples.

    plot_receive.py RECEIVE.json OUT.pdf|OUT.png|OUT.svg

The spectrum of the first piece, and of the best block that was decoded: PBCH symbols over the channel, squared correlation with the PSS, and
the channel over its subcarriers. Exit codes: 0 drawn, 1 failed, 2 used wrongly.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # where PYTHONSAFEPATH leaves it out
from plot import draw_record, drawing

rates = drawing()
LISTS = ("constellation_i", "constellation_q", "pss_us", "pss", "channel_khz", "channel_db")
MOST_VALUES = 1 << 16


def numbers(values):
    """A list of finite numbers."""
    found = [float(value) for value in values]
    if len(found) > MOST_VALUES or not all(abs(value) < 1e300 for value in found):
        raise ValueError("numbers beyond what is drawn")
    return found


def read(record):
    if "plot" not in record:
        return None
    plot = record["plot"]
    spectrum = numbers(plot["spectrum_mhz"]), numbers(plot["spectrum_db"])
    if len(spectrum[0]) != len(spectrum[1]):
        return None
    if plot["block"] is None:
        return str(record["file"]), spectrum, None
    block = plot["block"]
    lists = {name: numbers(block[name]) for name in LISTS}
    pairs = zip(LISTS[::2], LISTS[1::2])
    if not all(lists[x] and len(lists[x]) == len(lists[y]) for x, y in pairs):
        return None
    title = f"cell {int(block['cell_id'])}, SNR {float(block['snr_db']):.1f} dB, CFO {float(block['cfo_hz']):.0f} Hz"
    return str(record["file"]), spectrum, (title, lists)


def figure_of(name, spectrum, block):
    from matplotlib.figure import Figure
    figure = Figure(figsize=(9.0, 7.0) if block else (6.0, 4.0), layout="constrained")
    panels = list(figure.subplots(2, 2).flat) if block else [figure.subplots()]
    panels[0].plot(*spectrum, color=rates.COLOURS[0], linewidth=0.8)
    panels[0].set(title="spectrum", xlabel="frequency (MHz)", ylabel="power of a bin (dB)")
    if block:
        lists = block[1]
        panels[1].plot(lists["constellation_i"], lists["constellation_q"], ".", color=rates.COLOURS[0], markersize=3)
        panels[1].set(title="PBCH over the channel", xlabel="I", ylabel="Q", xlim=(-2, 2), ylim=(-2, 2), aspect="equal")
        panels[2].plot(lists["pss_us"], lists["pss"], color=rates.COLOURS[0], linewidth=0.8)
        panels[2].set(title="PSS correlation", xlabel="time from the block (us)", ylabel="squared correlation", ylim=(0, 1))
        panels[3].plot(lists["channel_khz"], lists["channel_db"], color=rates.COLOURS[0], linewidth=1.2)
        panels[3].set(title="channel", xlabel="frequency from the block's centre (kHz)", ylabel="gain (dB)")
    for panel in panels:
        panel.grid(True, linewidth=0.6, alpha=0.6)
        panel.title.set_fontsize("medium")
    figure.suptitle(rates.text_drawn(f"{name}: {block[0] if block else 'no block was decoded'}"), fontsize="medium")
    return figure


if __name__ == "__main__":
    sys.exit(draw_record(rates, "receive --plot FILE", "picture", read, figure_of))
