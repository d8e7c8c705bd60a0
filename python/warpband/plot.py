"""Error-rate curves with confidence bands and references; throughput and latencies of ``warpband bench --json``.

Needs matplotlib, which is imported when a figure is drawn.
"""
from __future__ import annotations

import csv
import json
import math
import os
from typing import Any, Iterator, Mapping, Sequence

from ._sweep import Curve, SweepResult

__all__ = ["error_rates", "latencies", "save", "throughput"]

AXES = {"ebn0_db": "Eb/N0 (dB)", "snr_db": "SNR of a receive antenna (dB)"}
NAMES = {"ber": "bit error rate", "fer": "frame error rate", "bler": "block error rate after each transmission"}
# Colours that stay apart for colour-blind readers (after Okabe and Ito), the darkest first.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8A8A00"]
STYLES = ["-", "--", "-.", ":"]  # of transmissions
BATCHES = {"codewords", "uses", "frames", "symbols", "matrices"}  # axes of benchmarks that say how many items there are


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


def _records(source: Any) -> list[dict[str, Any]]:
    """The benchmarks of a file, of what it holds, or of several of them."""
    if isinstance(source, (str, os.PathLike)):
        with open(source, encoding="utf-8") as file:
            source = json.load(file)
    if isinstance(source, Mapping):
        if not str(source.get("format", "")).startswith("warpband bench") or "benchmarks" not in source:
            raise ValueError("records = another file is not allowed: expected what warpband bench --json writes")
        return [dict(record) for record in source["benchmarks"]]
    return [record for one in source for record in _records(one)]


def _chosen(records: list[dict[str, Any]], op: str | None, figure: str | Sequence[str] | None,
            where: Mapping[str, Any] | None) -> Iterator[dict[str, Any]]:
    figures = (figure,) if isinstance(figure, str) else figure
    for record in records:
        if (op is None or record["op"] == op) and (figures is None or record["figure"] in figures):
            if all(record["axes"].get(axis) == value for axis, value in (where or {}).items()):
                yield record


def _panel(axes: Any) -> Any:
    if axes is not None:
        return axes
    from matplotlib.figure import Figure
    return Figure(figsize=(7.2, 5.4), layout="constrained").subplots()


def _named(entries: list[tuple[str, ...]]) -> list[str]:
    """A label for each, of the parts in which they differ."""
    common = set.intersection(*(set(parts) for parts in entries)) if len(entries) > 1 else set()
    return [", ".join(part for part in parts if part not in common) or ", ".join(parts) for parts in entries]


def _legend(panel: Any, axes: Any) -> None:
    """Below a panel of one's own, where labels may be long."""
    if axes is None:
        panel.figure.legend(loc="outside lower center", fontsize="small")
    else:
        panel.legend(fontsize="small")


def _few(lines: Sequence[Any]) -> None:
    if len(lines) > 16:
        raise ValueError(f"records = {len(lines)} settings is not allowed: expected at most 16 lines in a figure, chosen by op, figure "
                         "and where")


def throughput(records: Any, *, op: str | None = None, figure: str | Sequence[str] | None = ("resident", "small"),
               where: Mapping[str, Any] | None = None, unit: str | None = None, title: str | None = None, axes: Any = None) -> Any:
    """Draws throughput over the batch, with the range of the repetitions as a band. A line for each setting and device.

    Args:
        records: what ``warpband bench --json`` wrote: a path, the file's content, or several of either.
        op: benchmarks of this name alone, such as "turbo".
        figure: the kinds of measurement, such as "kernel", "resident" or "small" (which are "resident" with small batches).
        where: the axes that benchmarks must have: ``{"detector": "nway", "qam": 64}``.
        unit: "mbps" or "items_per_second"; None takes Mb/s where all have it.
        title: of the figure.
        axes: matplotlib axes to draw into; None makes a figure.

    Returns:
        The ``matplotlib.figure.Figure``.
    """
    chosen = list(_chosen(_records(records), op, figure, where))
    if not chosen:
        raise ValueError("records = no benchmark that is asked for is not allowed: expected at least one")
    if unit is None:
        unit = "mbps" if all("mbps" in record for record in chosen) else "items_per_second"
    if unit not in ("mbps", "items_per_second") or not all(unit in record for record in chosen):
        raise ValueError(f"unit = {unit!r} is not allowed: expected 'items_per_second', or 'mbps' where all benchmarks have it")
    lines: dict[tuple[str, ...], list[tuple[float, float, float, float]]] = {}
    for record in chosen:
        items, seconds = record["items"], record["seconds"]
        # An axis that says how many items there are is the batch itself.
        settings = (f"{axis}={value}" for axis, value in record["axes"].items() if axis not in BATCHES or value != items)
        line = (record["op"], *settings, {"small": "resident"}.get(record["figure"], record["figure"]), record["device"])
        rate = record[unit]
        lines.setdefault(line, []).append((items, rate, rate * seconds["median"] / seconds["high"],
                                           rate * seconds["median"] / seconds["low"]))
    _few(list(lines))
    panel = _panel(axes)
    for index, (label, points) in enumerate(zip(_named(list(lines)), lines.values())):
        items, rate, low, high = zip(*sorted(points))
        colour, style = COLOURS[index % len(COLOURS)], STYLES[index // len(COLOURS) % len(STYLES)]
        panel.plot(items, rate, color=colour, linestyle=style, linewidth=1.5, marker="o", markersize=4, label=label)
        panel.fill_between(items, low, high, color=colour, alpha=0.18, linewidth=0)
    panel.set_xscale("log", base=2)
    panel.set_yscale("log")
    panel.set_xlabel("batch (items)")
    panel.set_ylabel("Mb/s" if unit == "mbps" else "items a second")
    panel.grid(True, which="major", linewidth=0.6, alpha=0.6)
    _legend(panel, axes)
    if title:
        panel.set_title(title)
    return panel.figure


def latencies(times: Any, *, op: str | None = None, figure: str | Sequence[str] | None = None,
              where: Mapping[str, Any] | None = None, percentiles: Sequence[float] = (50, 99), bins: int = 60,
              title: str | None = None, axes: Any = None) -> Any:
    """Draws histograms of times on a logarithmic axis, with their percentiles as lines.

    Args:
        times: by label seconds, ``{"decoder": [...]}``, or latencies of a stream, ``{"decoder": stream.stats().latency}``; or
            what ``warpband bench --json`` wrote, of which the times of each benchmark's repetitions are taken.
        op, figure, where: of benchmarks, as of :func:`throughput`; figure None is all.
        percentiles: 0..100.
        bins: cells between the shortest and the longest of all times.
        title, axes: as of :func:`throughput`.

    Returns:
        The ``matplotlib.figure.Figure``.
    """
    import numpy as np
    from .stream import Latencies
    frames: dict[str, int] = {}  # that the times of a label stand for
    if isinstance(times, Mapping) and "benchmarks" not in times:
        seconds = {}
        for label, values in times.items():
            if isinstance(values, Latencies):
                frames[label], values = values.count, values.seconds()
            seconds[label] = np.asarray(values, float).ravel()
    else:
        chosen = list(_chosen(_records(times), op, figure, where))
        names = _named([(r["op"], *(f"{a}={v}" for a, v in r["axes"].items()), r["figure"], r["device"]) for r in chosen])
        _few(names)
        seconds = {name: np.asarray(record["seconds"]["samples"]) for name, record in zip(names, chosen)}
    if not seconds or any(values.size == 0 or not (values > 0).all() for values in seconds.values()):
        raise ValueError("times = none, or some that are not positive, is not allowed: expected seconds for each label")
    wrong = [p for p in percentiles if not 0 <= p <= 100]
    if wrong:
        raise ValueError(f"percentiles = {wrong[0]} is not allowed: expected 0 to 100")
    shortest = min(values.min() for values in seconds.values())
    longest = max(values.max() for values in seconds.values())
    scale, unit = next((f, u) for f, u in ((1e9, "ns"), (1e6, "us"), (1e3, "ms"), (1, "s")) if longest * f < 1e4 or f == 1)
    edges = scale * np.geomspace(0.99 * shortest, 1.01 * longest, bins + 1)
    panel = _panel(axes)
    for index, (label, values) in enumerate(seconds.items()):
        colour = COLOURS[index % len(COLOURS)]
        each = frames.get(label, values.size) / values.size
        panel.hist(scale * values, edges, weights=np.full(values.size, each), color=colour, alpha=0.45, label=label)
        for style, percentile in zip(STYLES * len(percentiles), percentiles):
            at = float(np.percentile(scale * values, percentile))
            panel.axvline(at, color=colour, linestyle=style, linewidth=1.2, label=f"{percentile:g}%: {at:.3g} {unit}")
    panel.set_xscale("log")
    panel.set_xlabel(f"time ({unit})")
    panel.set_ylabel("count")
    _legend(panel, axes)
    if title:
        panel.set_title(title)
    return panel.figure


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Writes a figure to a file, .png, .svg or .pdf."""
    figure.savefig(path, dpi=150)
