"""Error-rate curves with confidence bands and references. Needs matplotlib, which is imported when a figure is drawn."""
from __future__ import annotations

import csv
import math
import os
from typing import Any, Mapping, Sequence

from ._sweep import Curve, SweepResult

__all__ = ["error_rates", "save"]

AXES = {"ebn0_db": "Eb/N0 (dB)", "snr_db": "SNR of a receive antenna (dB)"}
NAMES = {"ber": "bit error rate", "fer": "frame error rate", "bler": "block error rate after each transmission"}
# Colours that stay apart for colour-blind readers (after Okabe and Ito), the darkest first.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A00"]
STYLES = ["-", "--", "-.", ":"]  # of transmissions


def _series(curve: Curve, metric: str) -> list[list[tuple[float, float, float]]]:
    """For each line of the curve (rate, low, high) of every point; low = high = rate where there is no interval."""
    lines: list[list[tuple[float, float, float]]] = []
    for point in curve.points:
        if metric == "bler":
            harq = point["harq"]
            found = [(rate, low, high) for rate, (low, high) in zip(harq["bler"], harq["bler_intervals"])]
        else:
            interval = point.get(f"{metric}_interval")
            trials = max(1, point["bits" if metric == "ber" else "frames"])
            rate = point[metric]
            if interval is None:  # bit errors of a frame come in bursts: no interval was computed
                interval = (rate, rate) if rate > 0 else (0.0, 3 / trials)
            found = [(rate, *interval)]
        for i, value in enumerate(found):
            if i == len(lines):
                lines.append([])
            lines[i].append(value)
    return lines


def _reference(reference: Any, axis: str, metric: str) -> tuple[list[float], list[float]]:
    """Points of a CSV file, or of a mapping of columns, with the axis and the metric; empty where it has no such metric."""
    if isinstance(reference, Mapping):
        columns = {key: list(values) for key, values in reference.items()}
    else:
        with open(reference, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        columns = {key: [row[key] for row in rows] for key in (rows[0] if rows else {})}
    if axis not in columns:
        raise ValueError(f"reference = columns {', '.join(columns)} is not allowed: expected {axis} and ber, fer or bler")
    points = [(float(x), float(y)) for x, y in zip(columns[axis], columns.get(metric, [])) if y not in ("", None)]
    points = sorted((x, y) for x, y in points if y > 0 and math.isfinite(y))
    return [x for x, _ in points], [y for _, y in points]


def error_rates(result: SweepResult, *, metric: str | Sequence[str] | None = None,
                references: Mapping[str, Any] | None = None, title: str | None = None, axes: Any = None) -> Any:
    """Draws error rates over Eb/N0 or SNR with their 95% confidence bands.

    A point without an error has no rate: a triangle marks the upper end of its interval. Bits of a coded frame fail together
    and have no band.

    Args:
        result: what :func:`warpband.sweep` gave, or ``warpband.SweepResult.load(path)``.
        metric: "ber", "fer" or "bler" (with HARQ, a line for each transmission), or several, one panel each; None draws BER
            and FER, with HARQ BLER.
        references: curves to draw dashed, by label: a CSV file with the columns ``ebn0_db`` (or ``snr_db``) and ``ber`` or
            ``fer``, or a mapping of such columns.
        title: None takes the scenario's.
        axes: matplotlib axes to draw into, as many as there are metrics; None makes a figure.

    Returns:
        The ``matplotlib.figure.Figure``.
    """
    curves = [curve for curve in result.curves if curve.points]
    if not curves:
        raise ValueError("result = no points is not allowed: expected a result with at least one finished point")
    harq = ["harq" in point for curve in curves for point in curve.points]
    if metric is None:
        metric = ["bler"] if all(harq) else ["ber", "fer"]
    metrics = [metric] if isinstance(metric, str) else list(metric)
    for name in metrics:
        if name not in NAMES:
            raise ValueError(f"metric = {name!r} is not allowed: expected {', '.join(map(repr, NAMES))}")
    if "bler" in metrics and not all(harq):
        raise ValueError("metric = 'bler' is not allowed: expected curves with HARQ alone for it")

    if axes is None:
        from matplotlib.figure import Figure  # has no window and leaves pyplot's state alone
        figure = Figure(figsize=(6.4 * len(metrics), 4.8), layout="constrained")
        panels = list(figure.subplots(1, len(metrics), squeeze=False)[0])
    else:
        panels = list(axes) if isinstance(axes, Sequence) or hasattr(axes, "__len__") else [axes]
        if len(panels) != len(metrics):
            raise ValueError(f"axes = {len(panels)} is not allowed: expected {len(metrics)}, one for each metric")
        figure = panels[0].figure
    for panel, name in zip(panels, metrics):
        for index, curve in enumerate(curves):
            x = curve.column(result.axis)
            for line, values in enumerate(_series(curve, name)):
                label = curve.label if name != "bler" else f"{curve.label}, after {line + 1}"
                _draw(panel, COLOURS[index % len(COLOURS)], STYLES[line % len(STYLES)], label, x, values)
        for index, (label, reference) in enumerate((references or {}).items()):
            x, y = _reference(reference, result.axis, name)
            if x:
                panel.plot(x, y, color=COLOURS[(len(curves) + index) % len(COLOURS)], linestyle="--", linewidth=1.2, marker="x",
                           markersize=4, label=label)
        panel.set_yscale("log")
        panel.set_xlabel(AXES[result.axis])
        panel.set_ylabel(NAMES[name])
        panel.grid(True, which="major", linewidth=0.6, alpha=0.6)
        panel.grid(True, which="minor", linewidth=0.4, alpha=0.25)
        panel.legend(fontsize="small")
    if title is None:
        title = result.title
    if title and axes is None:
        figure.suptitle(title)
    return figure


def _draw(panel: Any, colour: str, style: str, label: str, x: list[float], values: list[tuple[float, float, float]]) -> None:
    points = sorted(zip(x, values))
    seen = [(db, *value) for db, value in points if value[0] > 0]
    unseen = [(db, value[2]) for db, value in points if value[0] == 0]
    if seen:
        db, rate, low, high = zip(*seen)
        panel.plot(db, rate, color=colour, linestyle=style, linewidth=1.5, marker="o", markersize=4, label=label)
        floor = min(rate) / 1e3  # a lower end of 0 has no place on a logarithmic axis
        panel.fill_between(db, [max(end, floor) for end in low], high, color=colour, alpha=0.18, linewidth=0)
    if unseen:
        db, high = zip(*unseen)
        panel.plot(db, high, color=colour, marker="v", markersize=6, markerfacecolor="none", linestyle="none",
                   label=None if seen else f"{label} (no errors)")


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Writes a figure to a file, .png, .svg or .pdf."""
    figure.savefig(path, dpi=150)
