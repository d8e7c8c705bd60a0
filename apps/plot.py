#!/usr/bin/env python3
"""Draws the error rates that `warpband sim` wrote.

    plot.py RESULT.json OUT.png|OUT.svg [--reference FILE.csv[:LABEL] ...] [--metric NAME] [--title TEXT]

Bit and frame error rates over Eb/N0, each with its 95% interval. A point without a single error has no rate: a triangle
marks the upper end of its interval. Of curves with HARQ also the block error rate after each transmission (--metric bler)
and the throughput in bits per resource element (throughput); both of them (harq) is the default where all have it. References (CSV with columns ebn0_db, ber and fer, or one of the two) are dashed.
Where every curve is a sweep over snr_db, that is the axis, and the references' column.
Exit codes: 0 drawn, 1 failed, 2 used wrongly.
"""
import argparse
import csv
import json
import math
import os
import sys

AXES = {"ebn0_db": "Eb/N0 (dB)", "snr_db": "SNR of a receive antenna (dB)"}
NAMES = {"ber": "bit error rate", "fer": "frame error rate", "bler": "block error rate after each transmission",
         "throughput": "throughput (bits per resource element)"}
METRICS = {"both": ("ber", "fer"), "harq": ("bler", "throughput")}
STYLES = ["-", "--", "-.", ":"]  # of transmissions
# Colours that stay apart for colour-blind readers (after Okabe and Ito), the darkest first.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A00"]


class PlotError(Exception):
    """What went wrong, in one line."""


def number(value, what):
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise PlotError(f"{what}: expected a number, got {value!r}")
    return float(value)


def read_result(path):
    """(axis, [(label, points)]): the axis is a key of AXES; a point holds its place on it as db and, for each metric,
    (rate, low, high) with rate 0 for no error. With HARQ bler is a list of them, one for each transmission, and
    throughput (value, low, high)."""
    try:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
    except OSError as error:
        raise PlotError(f"cannot read {path}: {error.strerror}") from None
    except ValueError as error:
        raise PlotError(f"{path} is not JSON: {error}") from None
    curves = result.get("curves") if isinstance(result, dict) else None
    if not isinstance(curves, list) or not curves:
        raise PlotError(f"{path} holds no curves: expected what `warpband sim` writes")
    axis = "snr_db" if all(is_over_snr(curve) for curve in curves) else "ebn0_db"
    return axis, [read_curve(path, index, curve, axis) for index, curve in enumerate(curves)]


def is_over_snr(curve):
    try:
        return "snr_db" in curve["config"]["sweep"]
    except (KeyError, TypeError):
        return False


def read_curve(path, index, curve, axis):
    try:
        label = str(curve.get("label") or f"curve {index + 1}")
        points = [read_point(f"{path}: {label}, point {n + 1}", p, axis) for n, p in enumerate(curve["points"])]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise PlotError(f"{path}: curve {index + 1} is incomplete: {error}") from None
    if not any(point["frames"] for point in points):
        raise PlotError(f"{path}: {label} holds no point with frames")
    return label, sorted((point for point in points if point["frames"]), key=lambda point: point["db"])


def read_point(where, point, axis):
    read = {key: number(point[key], f"{where}: {key}") for key in (axis, "frames", "bits")}
    read["db"] = read[axis]
    for metric, trials, errors in (("ber", "bits", "bit_errors"), ("fer", "frames", "frame_errors")):
        rate = number(point[errors], f"{where}: {errors}") / max(1.0, read[trials])
        interval = point.get(f"{metric}_interval")
        if interval is not None:
            low, high = (number(end, f"{where}: {metric}_interval") for end in interval)
        elif rate > 0:
            low, high = rate, rate  # bit errors come in bursts: no interval was computed
        else:
            low, high = 0.0, 3.0 / max(1.0, read[trials])  # the rule of three
        read[metric] = (rate, low, high)
    if "codewords" in point:
        codewords = point["codewords"]
        low, high = (number(end, f"{where}: codewords.bler_interval") for end in codewords["bler_interval"])
        read["bler"] = [(number(codewords["errors"], f"{where}: codewords.errors") / number(codewords["codewords"], where), low, high)]
    if "harq" in point:
        read.update(read_harq(f"{where}: harq", point["harq"], read["frames"]))
    return read


def read_harq(where, harq, frames):
    counts, intervals = harq["block_errors"], harq["bler_intervals"]
    bler = []
    for count, (low, high) in zip(counts, intervals, strict=True):
        bler.append((number(count, f"{where}.block_errors") / max(1.0, frames),
                     number(low, f"{where}.bler_intervals"), number(high, f"{where}.bler_intervals")))
    value, (low, high) = harq["bits_per_resource_element"], harq["bits_per_resource_element_interval"]
    return {"bler": bler, "throughput": tuple(number(x, f"{where}.bits_per_resource_element") for x in (value, low, high))}


def read_reference(argument, axis):
    """FILE.csv or FILE.csv:LABEL as (label, {metric: [(db, rate)]})."""
    path, label = argument, ""
    if not os.path.exists(path) and ".csv:" in argument:
        path, label = argument.split(".csv:", 1)
        path += ".csv"
    label = label or os.path.basename(path).removesuffix(".csv")
    rates = {"ber": [], "fer": []}
    try:
        with open(path, encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file)
            for line, row in enumerate(rows, 2):
                for metric, points in rates.items():
                    if metric not in rows.fieldnames:
                        continue
                    try:
                        db, rate = float(row[axis]), float(row[metric] or "nan")
                    except (KeyError, TypeError, ValueError):
                        raise PlotError(f"{path}:{line}: expected numbers in columns {axis}, ber and fer") from None
                    if rate > 0:
                        points.append((db, rate))
    except (OSError, UnicodeDecodeError) as error:
        raise PlotError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if not any(rates.values()):
        raise PlotError(f"{path} holds no error rates")
    return label, {metric: sorted(points) for metric, points in rates.items()}


def draw_metric(axes, metric, colour, label, points):
    if metric == "bler":
        for n in range(len(points[0]["bler"])):
            after = [(point["db"], point["bler"][n]) for point in points if n < len(point["bler"])]
            draw_curve(axes, colour, label if n == 0 else None, after, STYLES[n % len(STYLES)])
    elif metric == "throughput":
        x, values = [point["db"] for point in points], [point["throughput"] for point in points]
        below, above = [max(0.0, v - low) for v, low, _ in values], [max(0.0, high - v) for v, _, high in values]
        axes.errorbar(x, [v for v, _, _ in values], yerr=[below, above], color=colour, label=label, marker="o",
                      markersize=4, linewidth=1.5, elinewidth=1, capsize=2.5)
    else:
        draw_curve(axes, colour, label, [(point["db"], point[metric]) for point in points])


def draw_curve(axes, colour, label, points, style="-"):
    """Points are (db, (rate, low, high))."""
    seen = [(db, *rates) for db, rates in points if rates[0] > 0]
    unseen = [(db, rates[2]) for db, rates in points if rates[0] == 0]
    if seen:
        x, rate, low, high = zip(*seen)
        below = [max(0.0, r - end) for r, end in zip(rate, low)]
        above = [max(0.0, end - r) for r, end in zip(rate, high)]
        axes.errorbar(x, rate, yerr=[below, above], color=colour, label=label, marker="o", markersize=4,
                      linewidth=1.5, linestyle=style, elinewidth=1, capsize=2.5)
    if unseen:
        x, high = zip(*unseen)
        axes.plot(x, high, color=colour, marker="v", markersize=6, markerfacecolor="none", linestyle="none",
                  label=None if seen or label is None else f"{label} (no errors)")


def draw(out, axis, curves, references, metrics, title):
    try:
        import matplotlib
    except ImportError:
        raise PlotError("matplotlib is missing: run scripts/setup.sh and use .venv/bin/python") from None
    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, panels = pyplot.subplots(1, len(metrics), figsize=(6.4 * len(metrics), 4.8), squeeze=False,
                                     layout="constrained")
    for axes, metric in zip(panels[0], metrics):
        for index, (label, points) in enumerate(curves):
            if all(metric in point for point in points):
                draw_metric(axes, metric, COLOURS[index % len(COLOURS)], label, points)
        transmissions = max(len(point.get("bler", [])) for _, points in curves for point in points)
        if metric == "bler" and transmissions > 1:
            for n in range(transmissions):
                axes.plot([], [], color="#606060", linestyle=STYLES[n % len(STYLES)], label=f"after {n + 1}")
        for index, (label, rates) in enumerate(references):
            if rates.get(metric):
                axes.plot(*zip(*rates[metric]), color=COLOURS[(len(curves) + index) % len(COLOURS)], label=label,
                          linestyle="--", linewidth=1.2, marker="x", markersize=4)
        if metric == "throughput":
            axes.set_ylim(bottom=0)
        else:
            axes.set_yscale("log")
        axes.set_xlabel(AXES[axis])
        axes.set_ylabel("block error rate" if metric == "bler" and transmissions == 1 else NAMES[metric])
        axes.grid(True, which="major", linewidth=0.6, alpha=0.6)
        axes.grid(True, which="minor", linewidth=0.4, alpha=0.25)
        axes.legend(fontsize="small")
    if title:
        figure.suptitle(title)
    try:
        figure.savefig(out, dpi=150)
    except OSError as error:
        raise PlotError(f"cannot write {out}: {error.strerror}") from None
    pyplot.close(figure)


def main():
    parser = argparse.ArgumentParser(prog="plot.py", description="Draws the error rates that `warpband sim` wrote.")
    parser.add_argument("result", help="what `warpband sim -o` wrote (JSON)")
    parser.add_argument("out", help="picture to write: .png or .svg")
    parser.add_argument("--reference", action="append", default=[], metavar="FILE.csv[:LABEL]",
                        help="a curve to draw beside, dashed; may be given several times")
    parser.add_argument("--metric", choices=("ber", "fer", "both", "bler", "throughput", "harq"), default="both")
    parser.add_argument("--title", default="")
    options = parser.parse_args()
    try:
        if not options.out.lower().endswith((".png", ".svg")):
            raise PlotError(f"cannot write {options.out}: its name must end in .png or .svg")
        axis, curves = read_result(options.result)
        having = {key: [all(key in point for point in points) for _, points in curves] for key in METRICS["harq"]}
        metric = "harq" if options.metric == "both" and all(having["throughput"]) else options.metric
        metrics = METRICS.get(metric, (metric,))
        if options.metric == "both" and metric == "both" and all(having["bler"]):
            metrics = ("ber", "bler")  # massive MIMO, whose frames are drops of many codewords
        if any(not any(having[key]) for key in having if key in metrics):
            raise PlotError(f"{options.result} holds no curve with HARQ: --metric {metric} is for those")
        draw(options.out, axis, curves, [read_reference(r, axis) for r in options.reference], metrics, options.title)
    except PlotError as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
