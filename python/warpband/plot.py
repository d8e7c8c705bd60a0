"""Error-rate curves with confidence intervals and references; EXIT charts; throughput and latencies of ``warpband bench --json``.

Needs matplotlib, which is imported when a figure is drawn.
"""
from __future__ import annotations

import os
from typing import Any, Iterator, Literal, Mapping, Sequence

from . import _error_rates, _theory
from ._error_rates import COLOURS, STYLES
from ._sweep import SweepResult

__all__ = ["error_rates", "exit_chart", "latencies", "save", "throughput"]

BATCHES = {"codewords", "uses", "frames", "symbols", "matrices"}  # axes of benchmarks that say how many items there are


def _results(results: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """(name, content) of one result or several, each a SweepResult or the path of a file."""
    if isinstance(results, (SweepResult, str, os.PathLike)):
        results = [results]
    found: list[tuple[str, Mapping[str, Any]]] = []
    for index, result in enumerate(results):
        if isinstance(result, SweepResult):
            found.append((f"result {index + 1}", result.to_dict()))
        elif isinstance(result, (str, os.PathLike)):
            found.append((os.fspath(result), SweepResult.load(result).to_dict()))
        else:
            raise TypeError(f"results has a {type(result).__name__}: expected results of warpband.sweep, or paths of result files")
    return found


def error_rates(results: SweepResult | str | os.PathLike[str] | Sequence[SweepResult | str | os.PathLike[str]], *,
                metric: str | Sequence[str] | None = None, references: Mapping[str, Any] | None = None, title: str | None = None,
                size: Literal["screen", "one-column", "two-column"] = "screen", x: str | None = None, axes: Any = None,
                theory: bool = False) -> Any:
    """Draws error rates over Eb/N0, SNR or Es/N0 with their 95% confidence intervals. ``warpband plot`` draws the same.

    Curves of several results that have the same settings become one: runs with different seeds are added up; of runs with the
    same seed, which saw the same random numbers, the longest counts. A point without an error has no rate: a triangle marks the
    upper end of its interval, and the legend says so. Bits of a coded frame fail together and have no interval.

    Args:
        results: what :func:`warpband.sweep` gave, or the path of a result file; or a list of them.
        metric: "ber", "fer", "bler" (with HARQ a line for each transmission; with massive MIMO that of codewords), "throughput",
            "required" (of ``sweep.target_fer``, over a swept setting), "mutual_information" (of ``modem.mutual_information``), or
            several, one panel each. None draws BER and FER, with HARQ BLER and throughput, with massive MIMO BER and BLER, of
            searches "required".
        references: curves to draw dashed, by label: a CSV file with the columns ``ebn0_db`` (or ``snr_db``, ``esn0_db``, ``probability``) and ``ber`` or
            ``fer``, or a mapping of such columns.
        title: None takes the scenario's, of a single result.
        size: "screen"; "one-column" (3.5 in wide, panels below each other) or "two-column" (7.16 in wide), with fonts that go
            with LaTeX.
        x: "ebn0_db", "snr_db", "esn0_db", "probability" or a swept setting such as "decoder.iterations"; None takes the setting where there is one.
        axes: matplotlib axes to draw into, as many as there are metrics; None makes a figure.
        theory: also draw what is known in closed form: bit error rates of uncoded BPSK, QPSK and QAM in AWGN, in Rayleigh fading and
            with Alamouti's code. For codes of one antenna in AWGN, the frame error rate of the best code of their length by the normal
            approximation (Polyanskiy, Poor, Verdú, IEEE Trans. IT 56(5), 2010), and the capacity of the constellation.

    Returns:
        The ``matplotlib.figure.Figure``.

    Raises:
        ValueError: for a result without points, an unknown metric or size, a metric that no curve has, and ``theory`` where nothing is known.
        RuntimeError: for a file that is no result, or contradicts itself.

    >>> scenario = {"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0, 3.0]}, "stop": {"max_frames": 10}}
    >>> first, second = wb.sweep(scenario, seed=1), wb.sweep(scenario, seed=2)
    >>> figure = wb.plot.error_rates([first, second], size="one-column")
    >>> [panel.get_ylabel() for panel in figure.axes]
    ['bit error rate', 'frame error rate']
    """
    named = _results(results)
    if not any(curve.get("points") for _, content in named for curve in content.get("curves") or []):
        raise ValueError("results = no points is not allowed: expected a result with at least one finished point")
    named = [(name, {**content, "curves": [c for c in content["curves"] if c.get("points")]}) for name, content in named]
    curves = _error_rates.merged((name, content) for name, content in named if content["curves"])
    metrics = _error_rates.metrics_for(curves, metric)
    drawn: list[tuple[str, Mapping[str, Any]]] = []
    for label, reference in (references or {}).items():
        if isinstance(reference, Mapping):
            drawn.append((label, {key: list(values) for key, values in reference.items()}))
        else:
            drawn += _error_rates.references_of(reference, label)
    panels = None
    if axes is not None:
        panels = list(axes) if isinstance(axes, Sequence) or hasattr(axes, "__len__") else [axes]
        if len(panels) != len(metrics):
            raise ValueError(f"axes = {len(panels)} is not allowed: expected {len(metrics)}, one for each metric")
    if title is None:
        title = str(named[0][1].get("scenario", {}).get("title", "")) if len(named) == 1 else ""
    return _error_rates.figure_of(curves, drawn, metrics, title, size, panels, x, _theory.lines_for if theory else None)


def exit_chart(chart: Any, *, title: str | None = None, axes: Any = None) -> Any:
    """Draws an EXIT chart: the detector's curve, the decoder's with its axes exchanged, and the trajectory of the real loop.
    ``warpband exit`` draws the same of a scenario.

    The loop goes on while the detector's curve lies above the decoder's. Where they cross it stops.

    Args:
        chart: what :func:`warpband.exit_chart` measured.
        title: of the figure.
        axes: matplotlib axes to draw into; None makes a figure.

    Returns:
        The ``matplotlib.figure.Figure``.

    >>> chart = wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), snr_db=3, bits=2000, outer=2,
    ...                       prior_information=[0, 0.5, 1], decoder=wb.LdpcDecoder(code=wb.wifi_ldpc(n=648)))
    >>> [line.get_label() for line in wb.plot.exit_chart(chart).axes[0].get_lines()]
    ['detector', 'decoder, axes exchanged', 'real loop']
    """
    from .receive import ExitChart
    if not isinstance(chart, ExitChart):
        raise TypeError(f"chart is a {type(chart).__name__}: expected what warpband.exit_chart measures")
    panel = _panel(axes)
    _error_rates.draw_exit_chart(panel, *chart)
    _legend(panel, axes)
    if title:
        panel.set_title(title)
    return panel.figure


def _records(source: Any) -> list[dict[str, Any]]:
    """The benchmarks of a file, of what it holds, or of several of them."""
    if isinstance(source, (str, os.PathLike)):
        source = _error_rates.load(os.fspath(source))
    if isinstance(source, Mapping):
        if not str(source.get("format", "")).startswith("warpband bench") or "benchmarks" not in source:
            raise ValueError("records = another file is not allowed: expected what warpband bench --json writes")
        for number, record in enumerate(source["benchmarks"], 1):
            for key in ("op", "axes", "figure", "device", "items", "seconds"):
                if not isinstance(record, Mapping) or key not in record:
                    raise ValueError(f"records: benchmark {number} has no {key}: expected what warpband bench --json writes")
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
               where: Mapping[str, Any] | None = None, unit: Literal["mbps", "items_per_second"] | None = None, title: str | None = None,
               axes: Any = None) -> Any:
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

    >>> run = {"op": "turbo", "figure": "kernel", "axes": {"k": 40}, "device": "cuda:0", "items": 64, "items_per_second": 1e6, "mbps": 40.0,
    ...        "seconds": {"median": 6.4e-5, "low": 6.3e-5, "high": 6.5e-5, "samples": [6.4e-5]}}
    >>> figure = wb.plot.throughput({"format": "warpband bench 1", "benchmarks": [run]}, figure="kernel")
    >>> figure.axes[0].get_ylabel()
    'Mb/s'
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

    >>> figure = wb.plot.latencies({"decoder": [1.0e-4, 1.1e-4, 1.6e-4]})
    >>> figure.axes[0].get_xlabel()
    'time (us)'
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
        frames_per_time = frames.get(label, values.size) / values.size
        panel.hist(scale * values, edges, weights=np.full(values.size, frames_per_time), color=colour, alpha=0.45, label=label)
        for style, percentile in zip(STYLES * len(percentiles), percentiles):
            time = float(np.percentile(scale * values, percentile))
            panel.axvline(time, color=colour, linestyle=style, linewidth=1.2, label=f"{percentile:g}%: {time:.3g} {unit}")
    panel.set_xscale("log")
    panel.set_xlabel(f"time ({unit})")
    panel.set_ylabel("count")
    _legend(panel, axes)
    if title:
        panel.set_title(title)
    return panel.figure


def save(figure: Any, path: str | os.PathLike[str]) -> None:
    """Writes a figure to a file: .pdf, with its fonts embedded as TrueType, .png or .svg.

    >>> import os, tempfile
    >>> from matplotlib.figure import Figure
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     wb.plot.save(Figure(), os.path.join(folder, "empty.png"))
    ...     os.listdir(folder)
    ['empty.png']
    """
    _error_rates.save(figure, path)
