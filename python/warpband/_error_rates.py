"""Figures and tables of error rates: reads results and references, merges runs, draws. EXIT charts too.

``warpband.plot`` and the programs that ``warpband plot`` and ``warpband exit`` start share this file. It needs matplotlib alone, and
only to draw a figure. It imports nothing of the package, so that the command runs it without the package.
"""
from __future__ import annotations

import contextlib
import csv
import io
import itertools
import json
import math
import os
import shutil
from typing import Any, Callable, Iterable, Iterator, Mapping, Sequence

METRICS = {"ber": "bit error rate", "fer": "frame error rate", "bler": "block error rate", "throughput": "throughput (bits per resource element)",
           "required": "for a frame error rate of", "mutual_information": "mutual information (bits per sent bit)"}
NEEDS = {"bler": "HARQ or massive MIMO", "throughput": "HARQ", "required": "a scenario with sweep.target_fer",
         "mutual_information": "a scenario with modem.mutual_information = true"}
AXES = ("ebn0_db", "snr_db", "esn0_db", "probability")
TITLES = {"ebn0_db": "$E_b/N_0$ (dB)", "esn0_db": "$E_s/N_0$ (dB)", "probability": "probability of the channel"}
SEVERAL = {"both": ("ber", "fer"), "harq": ("bler", "throughput")}
# Colours that differ for colour-blind readers, after Okabe and Ito, changed to differ in grey too: their lightness L* is 40, 52,
# 0, 71, 28, 62, 15 and 80.
COLOURS = ["#00639B", "#CC5A00", "#000000", "#E7A000", "#004E37", "#CF7CAA", "#231374", "#83CBFF"]
MARKERS = ["o", "s", "^", "D", "P", "X", "*", "h"]  # "v" is a point without an error
STYLES = ["-", "--", "-.", ":"]  # of transmissions, or outer iterations
THEORY = {"closed": (0, (1, 1.5)), "bound": (0, (4, 1.5, 1, 1.5)), "limit": (0, (8, 2))}
#: Width and height of a panel in inches, and the size of text in points. Columns are those of IEEE's two-column pages.
SIZES = {"screen": (6.4, 4.8, 10.0), "one-column": (3.5, 2.6, 8.0), "two-column": (7.16, 3.2, 9.0)}
FORMATS = (".pdf", ".png", ".svg")
MOST_CHARACTERS = 256 << 20  # of a file
MOST_MISSING = 100_000  # cells of a reference
_numbers = itertools.count()  # of new files


def printable(text: object) -> str:
    """A text in one line that cannot control a terminal: characters that are not printable become \\x1b or \\u202e. The command
    has wb::printable for the same."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


def text_drawn(text: str) -> str:
    """A text in a figure: fonts have no control characters, of which matplotlib warns with the characters themselves."""
    return "\n".join(map(printable, text.split("\n")))


class PlotError(ValueError):
    """A one-line message. It may contain text from files."""

    def __init__(self, message: object):
        super().__init__(printable(message))


def begin_elsewhere() -> None:
    """Imports matplotlib, if installed, with the user's settings but without a matplotlibrc of the working folder, which may hold
    files of others."""
    here = os.open(".", os.O_PATH)
    try:
        os.chdir("/")
        with contextlib.suppress(ImportError):
            import matplotlib  # noqa: F401
    finally:
        os.fchdir(here)
        os.close(here)


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[str]:
    """The name of a new file that replaces ``path`` at the end, so that ``path`` appears in full or stays as it was. In a folder that
    takes no new files it is ``path`` itself."""
    target = os.path.realpath(path)  # a link stays one
    special = os.path.exists(path) and not os.path.isfile(path)  # a device or a pipe
    if special or (os.path.exists(path) and not os.access(os.path.dirname(target), os.W_OK)):
        yield os.fspath(path)
        return
    name = f"{target}.tmp{os.getpid()}-{next(_numbers)}"
    try:
        yield name
        if os.path.exists(target):
            shutil.copymode(target, name)
        os.replace(name, target)
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(name)


# ---------------------------------------------------------------- statistics

def _beta_fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function, by Lentz's method."""
    tiny = 1e-300
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    h = d
    for m in range(1, 100_000):
        for term in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + term * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + term / c
            c = c if abs(c) > tiny else tiny
            h *= c * d
        if abs(c * d - 1) < 1e-13:
            break
    return h


def _beta_cdf(a: float, b: float, x: float) -> float:
    if x <= 0 or x >= 1:
        return float(x >= 1)
    front = math.exp(math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x))
    if x < (a + 1) / (a + b + 2):
        return front * _beta_fraction(a, b, x) / a
    return 1 - front * _beta_fraction(b, a, 1 - x) / b


def _beta_quantile(a: float, b: float, p: float) -> float:
    """The x with I_x(a, b) = p, by bisection of its logarithm from around the mean."""
    low = high = math.log(a / (a + b))
    step = 3 / math.sqrt(a)
    while low > -700 and _beta_cdf(a, b, math.exp(low)) > p:
        low, step = low - step, 2 * step
    while high < 0 and _beta_cdf(a, b, math.exp(high)) < p:
        high, step = min(0.0, high + step), 2 * step
    for _ in range(45):
        middle = (low + high) / 2
        low, high = (low, middle) if _beta_cdf(a, b, math.exp(middle)) > p else (middle, high)
    return math.exp((low + high) / 2)


def clopper_pearson(errors: float, trials: float, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a probability, as ``warpband/link/interval.hpp`` has it."""
    tail = (1 - confidence) / 2
    low = 0.0 if errors <= 0 else _beta_quantile(errors, trials - errors + 1, tail)
    high = 1.0 if errors >= trials else _beta_quantile(errors + 1, trials - errors, 1 - tail)
    return low, high


def _t_quantile(freedom: float) -> float:
    """Of Student's distribution, two-sided 95%."""
    if freedom > 1e5:
        return 1.959963984540054 * (1 + (1.959963984540054 ** 2 + 1) / (4 * freedom))
    x = _beta_quantile(freedom / 2, 0.5, 0.05)
    return math.sqrt(freedom * (1 - x) / x)


def clustered_interval(errors: float, squares: float, clusters: int, size: int) -> tuple[float, float]:
    """95% where errors come in clusters (Korn and Graubard), as ``warpband/link/interval.hpp`` has it."""
    trials = clusters * size
    if errors == 0:
        return 0.0, clopper_pearson(0, clusters)[1]
    if errors == trials:
        return clopper_pearson(clusters, clusters)[0], 1.0
    if clusters < 2:
        return 0.0, 1.0
    rate, mean = errors / trials, errors / clusters
    variance = max(0.0, squares - clusters * mean * mean) / (clusters - 1) / (clusters * size * size)
    worth = min(trials, rate * (1 - rate) / variance) if variance > 0 else trials
    worth *= (_t_quantile(trials - 1) / _t_quantile(clusters - 1)) ** 2
    return clopper_pearson(rate * worth, worth)


# ---------------------------------------------------------------- results

def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not math.isfinite(value):
        raise PlotError(f"{name}: expected a number, got {value!r}")
    return value


def _text_of(path: str) -> str:
    """A whole file, of at most as much as the command takes of a result."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # with or without the mark that some programs begin with
            text = file.read(MOST_CHARACTERS + 1)
    except (OSError, UnicodeDecodeError) as error:
        raise PlotError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
    if len(text) > MOST_CHARACTERS:
        raise PlotError(f"cannot read {path}: it is larger than 256 MiB")
    return text


def load(path: str, writer: str = "`warpband sim`") -> dict[str, Any]:
    """The content of a result file, which the command `writer` wrote."""
    try:
        result = json.loads(_text_of(path))
    except PlotError:
        raise
    except json.JSONDecodeError as error:
        raise PlotError(f"{path}:{error.lineno}: this is not JSON: {error.msg}") from None
    except ValueError as error:  # an integer of too many digits
        raise PlotError(f"{path} is not JSON: {error}") from None
    except RecursionError:
        raise PlotError(f"{path} is not a result: it is nested too deep") from None
    if not isinstance(result, dict):
        raise PlotError(f"{path} is not a result: expected what {writer} writes")
    return result


def axis_of(curves: Sequence[Mapping[str, Any]]) -> str:
    """"snr_db", "esn0_db" or "probability" where all curves are sweeps over it, else "ebn0_db"."""
    for axis in AXES[1:]:
        if all(axis in (curve["config"].get("sweep") or {}) for curve in curves):
            return axis
    return "ebn0_db"


def _rounded(x: float, axis: str) -> float:
    """The same for points that are meant to be the same."""
    return float(f"{x:.9g}") if axis == "probability" else round(x, 9)


def _check_point(point: Mapping[str, Any], name: str) -> None:
    """Refuses counts that nobody counted, and intervals without two ends."""
    frames, bits, wrong_bits, wrong_frames = (_number(point[key], f"{name}: {key}") for key in ("frames", "bits", "bit_errors", "frame_errors"))
    if not (0 < frames < 2 ** 63 and 0 <= wrong_frames <= frames and 0 < bits < 2 ** 63 and 0 <= wrong_bits <= bits):
        raise PlotError(f"{name}: {wrong_bits:g} wrong of {bits:g} bits and {wrong_frames:g} wrong of {frames:g} frames are no counts")
    if "harq" in point:
        counts, intervals = point["harq"]["block_errors"], point["harq"]["bler_intervals"]
        if len(counts) != len(intervals):
            raise ValueError(f"block_errors has {len(counts)} entries, bler_intervals {len(intervals)}")
    if "outer" in point:
        lengths = {key: len(point["outer"][key]) for key in ("bit_errors", "frame_errors", "fer_intervals")}
        if len(set(lengths.values())) != 1:
            raise ValueError(f"outer has lists of different lengths: {lengths}")
    for metric in METRICS:
        for value, low, high in values_of(point, metric) if metric != "required" else ():
            for number in (value, low, high):
                _number(number, f"{name}: {metric} and its interval")


def _checked_config(config: Any) -> dict[str, Any]:
    """A curve's configuration, whose tables are tables."""
    sweep = config.get("sweep") or {}
    for key, table in {"sweep": sweep, "parameters": sweep.get("parameters"), **{key: config.get(key) for key in ("mimo", "massive", "code")}}.items():
        if table is not None and not isinstance(table, dict):
            raise ValueError(f"{key} is a {type(table).__name__}: expected a table")
    if isinstance(config.get("seed"), (dict, list)):
        raise ValueError("seed is no number")
    return config


def curves_of(content: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    """Label, configuration and points of a result's curves, as they are in it; curves without a point are left out."""
    curves = content.get("curves")
    if not isinstance(curves, list) or not curves:
        raise PlotError(f"{name} holds no curves: expected what `warpband sim` writes")
    found = []
    for index, curve in enumerate(curves):
        try:
            label = str(curve.get("label") or f"curve {index + 1}")
            points = [point for point in curve["points"] if _number(point["frames"], f"{name}: {label}: frames")]
            config = _checked_config(curve.get("config") or {})
            for n, point in enumerate(points):
                _check_point(point, f"{name}: {label}, point {n + 1}")
        except PlotError:
            raise
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise PlotError(f"{name}: curve {index + 1} is incomplete: {error}") from None
        if not points:
            raise PlotError(f"{name}: {label} holds no point with frames")
        found.append({"label": label, "config": config, "points": points})
        if isinstance(curve.get("target"), dict):
            found[-1]["target"] = curve["target"]
    return found


def _settings(config: Mapping[str, Any]) -> str:
    """What makes two curves the same: all but seed, points and stop rules."""
    kept = {key: value for key, value in config.items() if key not in ("seed", "sweep", "stop")}
    kept["parameters"] = (config.get("sweep") or {}).get("parameters")
    return json.dumps(kept, sort_keys=True)


def _merged_point(config: Mapping[str, Any], points: list[dict[str, Any]]) -> dict[str, Any]:
    """The sum of what several runs of a link with different random numbers counted at a point."""
    total = dict(points[0])
    for key in ("frames", "bits", "bit_errors", "frame_errors", "erased_frames", "erased_uses", "iterations_sum", "frames_run", "seconds"):
        if key in total:
            total[key] = sum(point.get(key, 0) for point in points)
    frames, bits = total["frames"], total["bits"]
    if all("mutual_information" in point for point in points):  # of frames of one length
        total["information_lost"] = sum(point["information_lost"] for point in points)
        total["mutual_information"] = sum(point["mutual_information"] * point["frames"] for point in points) / frames
    total["ber"], total["fer"] = total["bit_errors"] / bits, total["frame_errors"] / frames
    total["fer_interval"] = clopper_pearson(total["frame_errors"], frames)
    if all("codewords" in point for point in points):
        per_frame = points[0]["codewords"]["codewords"] // points[0]["frames"]
        sums = {key: sum(point["codewords"][key] for point in points) for key in ("errors", "codewords", "errors_squared", "bit_errors_squared")}
        total["codewords"] = {**sums, "bler": sums["errors"] / sums["codewords"],
                              "bler_interval": clustered_interval(sums["errors"], sums["errors_squared"], frames, per_frame)}
        total["ber_interval"] = clustered_interval(total["bit_errors"], sums["bit_errors_squared"], frames, bits // frames)
    elif total.get("ber_interval") is not None:
        total["ber_interval"] = clopper_pearson(total["bit_errors"], bits)
    if all("outer" in point for point in points):
        total["outer"] = _merged_outer(total, [point["outer"] for point in points])
    if all("harq" in point for point in points):
        total["harq"] = _merged_harq(config, total, [point["harq"] for point in points])
    return total


def _merged_outer(total: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    def summed(key: str) -> list[int]:
        return [sum(counts) for counts in zip(*(part[key] for part in parts))]

    bits, frames = summed("bit_errors"), summed("frame_errors")
    merged = {"bit_errors": bits, "frame_errors": frames, "ber": [count / total["bits"] for count in bits],
              "fer": [count / total["frames"] for count in frames],
              "fer_intervals": [clopper_pearson(count, total["frames"]) for count in frames]}
    if all("codeword_errors" in part for part in parts):  # of massive MIMO
        codewords = summed("codeword_errors")
        merged.update(codeword_errors=codewords, bler=[count / total["codewords"]["codewords"] for count in codewords])
    return merged


def _merged_harq(config: Mapping[str, Any], total: Mapping[str, Any], parts: list[Mapping[str, Any]]) -> dict[str, Any]:
    frames, frame_errors = total["frames"], total["frame_errors"]
    errors = [sum(counts) for counts in zip(*(part["block_errors"] for part in parts))]
    sent = frames + sum(errors[:-1])
    full = total["bits"] / frames / config["code"]["resource_elements"]  # where every block needs one transmission
    confidence = 1 - 0.05 / len(errors)
    again = [clopper_pearson(count, frames, confidence) for count in errors[:-1]]
    lost = clopper_pearson(frame_errors, frames, confidence)
    relative = (frames - frame_errors) / sent
    return {"block_errors": errors, "undetected_errors": sum(part["undetected_errors"] for part in parts),
            "bler": [count / frames for count in errors], "bler_intervals": [clopper_pearson(count, frames) for count in errors],
            "transmissions_sum": sent, "mean_transmissions": sent / frames, "relative_throughput": relative,
            "bits_per_resource_element": full * relative,
            "bits_per_resource_element_interval": (full * (1 - lost[1]) / (1 + sum(high for _, high in again)),
                                                   full * (1 - lost[0]) / (1 + sum(low for low, _ in again)))}


def merged(results: Iterable[tuple[str, Mapping[str, Any]]]) -> list[dict[str, Any]]:
    """The curves of several results, by (name, content). Curves of the same settings become one.

    At a point that several of them have, runs with different seeds are added up. Runs with the same seed saw the same random
    numbers: the longest one counts.
    """
    order: list[dict[str, Any]] = []
    known: dict[str, dict[str, Any]] = {}
    for name, content in results:
        of_this_file: set[str] = set()
        for curve in curves_of(content, name):
            settings = _settings(curve["config"])
            if settings in of_this_file:  # the file itself tells them apart
                settings += "\n" + curve["label"]
            of_this_file.add(settings)
            if not curve["config"]:
                settings = f"{name}\n{curve['label']}\n{len(order)}"
            if settings not in known:
                known[settings] = {**curve, "points": [], "name": name, "runs": {}}
                order.append(known[settings])
            runs = known[settings]["runs"]
            axis = axis_of([curve])
            for point in curve["points"]:
                place = _rounded(_number(point.get(axis), f"{name}: {curve['label']}: {axis}"), axis)
                same = runs.setdefault((axis, place), {})
                seed = curve["config"].get("seed")
                if seed not in same or same[seed]["frames"] < point["frames"]:
                    same[seed] = point
    labels: dict[str, int] = {}
    for curve in order:
        labels[curve["label"]] = labels.get(curve["label"], 0) + 1
    for curve in order:
        for same in curve.pop("runs").values():
            points = list(same.values())
            try:
                curve["points"].append(points[0] if len(points) == 1 else _merged_point(curve["config"], points))
            except (KeyError, TypeError, ValueError, ZeroDivisionError) as error:
                raise PlotError(f"{curve['name']}: {curve['label']}: its runs cannot be added up: {error}") from None
        name = curve.pop("name")
        if labels[curve["label"]] > 1:
            curve["label"] += f" ({os.path.basename(name).removesuffix('.json')})"
    return order


# ---------------------------------------------------------------- references

def path_and_label(name: str, ending: str) -> tuple[str, str]:
    """Of ``FILE.csv:LABEL`` with the ending ".csv"; the label of a file that is there by the whole name is empty."""
    if not os.path.exists(name) and f"{ending}:" in name:
        path, _, label = name.partition(f"{ending}:")
        return path + ending, label
    return name, ""


def relabelled(content: Mapping[str, Any], label: str) -> Mapping[str, Any]:
    """A result under another label; several curves keep theirs behind it."""
    curves = content.get("curves")
    if not label or not isinstance(curves, list):
        return content
    several = len(curves) > 1
    return {**content, "curves": [{**curve, "label": f"{label}: {curve.get('label')}" if several else label} if isinstance(curve, dict) else curve
                                  for curve in curves]}


def references_of(source: Any, label: str = "") -> list[tuple[str, dict[str, list[Any]]]]:
    """(label, columns) of a CSV file, ``FILE.csv`` or ``FILE.csv:LABEL``; several where the file has a column "label"."""
    path, of_name = path_and_label(os.fspath(source), ".csv")
    label = of_name or label or os.path.basename(path).removesuffix(".csv")
    groups: dict[str, dict[str, list[Any]]] = {}
    try:
        reader = csv.reader(io.StringIO(_text_of(path), newline=""), skipinitialspace=True)
        names = next((row for row in reader if row), [])
        line, missing = 1, MOST_MISSING  # so much room do short rows take for nothing, beside what all others take
        for row in filter(None, reader):
            line += 1
            missing += 2 * len(row) - len(names)
            if missing < 0:
                raise PlotError(f"{path}:{line}: {len(row)} cells: expected {len(names)}, as the first row has; too many rows are short")
            found = dict(itertools.zip_longest(names, row[:len(names)]))
            row_label = found.get("label")
            columns = groups.setdefault(f"{label}: {row_label}" if row_label else label, {key: [] for key in [*names, "line"]})
            for key in names:
                columns[key].append(found[key])
            columns["line"].append(f"{path}:{line}")
    except csv.Error as error:
        raise PlotError(f"cannot read {path}: {error}") from None
    if not any(metric in columns for columns in groups.values() for metric in METRICS):
        raise PlotError(f"{path} holds no error rates")
    return list(groups.items())


def _reference_points(label: str, columns: Mapping[str, Any], axis: str, metric: str) -> list[tuple[float, float]]:
    if axis not in columns:
        where = list(columns.get("line", [f"reference {label}"]))[0]
        raise PlotError(f"{where}: expected numbers in columns {axis}, and ber, fer or bler: there are {', '.join(k for k in columns if k != 'line')}")
    values = list(columns.get(metric, []))
    lines = list(columns.get("line", [f"reference {label}"] * len(values)))
    points = []
    for line, x, y in zip(lines, columns[axis], values):
        try:
            place, rate = float(x), float("nan" if y in ("", None) else y)
        except (TypeError, ValueError):
            raise PlotError(f"{line}: expected numbers in columns {axis}, and ber, fer or bler") from None
        if rate > 0 and math.isfinite(rate):
            points.append((place, rate))
    return sorted(points)


# ---------------------------------------------------------------- lines of a figure

def values_of(point: Mapping[str, Any], metric: str) -> list[tuple[float, float, float]]:
    """(value, low, high) of a point. HARQ's block error rates have one for each transmission, a receiver in a loop one for each
    outer iteration. Empty if the point has none."""
    if metric == "fer" and "outer" in point:
        frames = max(1, point["frames"])
        return [(count / frames, low, high) for count, (low, high) in zip(point["outer"]["frame_errors"], point["outer"]["fer_intervals"])]
    if metric == "ber" and "outer" in point:
        bits = max(1, point["bits"])
        return [(count / bits, *((count / bits,) * 2 if count else (0.0, min(1.0, 3 / bits)))) for count in point["outer"]["bit_errors"]]
    if metric == "bler" and "harq" in point:
        frames = max(1, point["frames"])
        return [(count / frames, low, high) for count, (low, high) in zip(point["harq"]["block_errors"], point["harq"]["bler_intervals"])]
    if metric == "bler":
        if "codewords" not in point:
            return []
        codewords = point["codewords"]
        return [(codewords["errors"] / max(1, codewords["codewords"]), *codewords["bler_interval"])]
    if metric == "throughput":
        if "harq" not in point:
            return []
        return [(point["harq"]["bits_per_resource_element"], *point["harq"]["bits_per_resource_element_interval"])]
    if metric == "mutual_information":
        return [(point["mutual_information"],) * 3] if "mutual_information" in point else []
    if metric == "required":
        return [point["required"]] if "required" in point else []
    trials = max(1, point["bits" if metric == "ber" else "frames"])
    rate = point["bit_errors" if metric == "ber" else "frame_errors"] / trials
    interval = point.get(f"{metric}_interval")
    if interval is None:  # bits of a frame fail together: no interval was computed; the rule of three where there is no error
        interval = (rate, rate) if rate > 0 else (0.0, min(1.0, 3 / trials))
    return [(rate, *interval)]


def metrics_for(curves: Sequence[Mapping[str, Any]], metric: str | Sequence[str] | None,
                references: Sequence[tuple[str, Mapping[str, Any]]] = ()) -> list[str]:
    """The metrics of a figure: of None what all curves have, without a curve what the references have."""
    if not curves:
        known = [name for name in ("ber", "fer", "bler") if any(name in columns for _, columns in references)]
        asked = known if metric in (None, "both") else SEVERAL.get(metric, (metric,)) if isinstance(metric, str) else list(metric or ())
        for name in asked:
            if name not in known:
                raise PlotError(f"metric = {name!r} is not allowed: no reference has it, expected {' or '.join(map(repr, known))}")
        return list(asked)

    def having(name: str) -> list[bool]:
        if name == "required":
            return ["target" in curve for curve in curves]
        return [all(values_of(point, name) for point in curve["points"]) for curve in curves]
    if metric is None or metric == "both":
        if all(having("required")):
            return ["required"] if parameters_of(curves) else ["fer"]
        if all(having("throughput")):
            return list(SEVERAL["harq"])
        return ["ber", "bler"] if all(having("bler")) else list(SEVERAL["both"])
    names = list(SEVERAL.get(metric, (metric,))) if isinstance(metric, str) else list(metric)
    for name in names:
        if name not in METRICS:
            raise PlotError(f"metric = {name!r} is not allowed: expected {', '.join(map(repr, METRICS))}")
        if not any(having(name)):
            raise PlotError(f"metric = {name!r} is not allowed: no curve has it, {NEEDS[name]} has")
    return names


def _snr_name(config: Mapping[str, Any]) -> str:
    massive = config.get("massive")
    if massive:
        return "SNR of a user (dB)" if massive.get("direction") == "downlink" else "SNR of a base-station antenna (dB)"
    mimo = config.get("mimo")
    if not mimo:
        return "$E_s/N_0$ (dB)"
    return "SNR of a receive antenna (dB)" if mimo.get("rx_antennas", 1) > 1 else "SNR (dB)"


def axis_name(curves: Sequence[Mapping[str, Any]], axis: str) -> str:
    """The name of the horizontal axis, by the kind of link."""
    if axis in TITLES:
        return TITLES[axis]
    if axis == "snr_db":
        names = {_snr_name(curve["config"]) for curve in curves}
        return names.pop() if len(names) == 1 else "SNR (dB)"
    group, _, name = axis.rpartition(".")
    return f"{name.replace('_', ' ')} of the {group}" if group else name.replace("_", " ")


def metric_name(curves: Sequence[Mapping[str, Any]], metric: str) -> str:
    if metric == "required":
        rates = sorted({curve["target"]["fer"] for curve in curves if "target" in curve})
        return f"{axis_name(curves, axis_of(curves))} {METRICS[metric]} {', '.join(f'{rate:g}' for rate in rates)}"
    if metric in ("ber", "fer"):
        loops = any(len(values_of(point, metric)) > 1 for curve in curves for point in curve["points"])
        return METRICS[metric] + (" after each outer iteration" if loops else "")
    if metric != "bler":
        return METRICS[metric]
    several = any("harq" in point and len(point["harq"]["block_errors"]) > 1 for curve in curves for point in curve["points"])
    return METRICS[metric] + (" after each transmission" if several else "")


def parameters_of(curves: Sequence[Mapping[str, Any]]) -> list[str]:
    """The swept settings that all curves have, in order."""
    swept = [list((curve["config"].get("sweep") or {}).get("parameters") or {}) for curve in curves]
    return [key for key in (swept[0] if swept else []) if all(key in keys for keys in swept)]


def x_axis(curves: Sequence[Mapping[str, Any]], asked: str | None) -> str:
    """What a figure is drawn over: of a sweep over a setting that setting, else Eb/N0, SNR, Es/N0 or a probability."""
    parameters = parameters_of(curves)
    if not asked:
        return parameters[0] if parameters else axis_of(curves) if curves else "ebn0_db"
    if asked not in (*AXES, *parameters):
        raise PlotError(f"x = {asked!r} is not allowed: expected {', '.join(map(repr, (*AXES, *parameters)))}")
    return asked


def _line_label(curve: Mapping[str, Any], axis: str) -> str:
    sweep = curve["config"].get("sweep") or {}
    if axis not in (sweep.get("parameters") or {}):
        return curve["label"]
    return ", ".join([sweep["family"], *(f"{key.rpartition('.')[2]} = {value}" for key, value in sweep["parameters"].items() if key != axis)])


def lines_of(curves: Sequence[Mapping[str, Any]], axis: str, metric: str = "fer") -> list[tuple[str, list[tuple[Any, Mapping[str, Any]]]]]:
    """(label, [(x, point)]) of each line, x rising. Over a swept setting there is a line for each point of the sweep."""
    db = axis_of(curves)
    if axis in AXES:
        return [(curve["label"], sorted(((_number(point.get(axis), f"{curve['label']}: {axis}"), point) for point in curve["points"]),
                                        key=lambda pair: pair[0])) for curve in curves]
    lines: dict[tuple[str, Any], list[tuple[Any, Mapping[str, Any]]]] = {}
    for curve in curves:
        value = curve["config"]["sweep"]["parameters"][axis]
        if metric == "required":
            target = curve.get("target") or {}
            if target.get("db") is not None:
                point = {"required": (target["db"], target["low_db"], target["high_db"])}
                lines.setdefault((_line_label(curve, axis), None), []).append((value, point))
            continue
        for point in curve["points"]:
            lines.setdefault((_line_label(curve, axis), _rounded(_number(point.get(db), f"{curve['label']}: {db}"), db)), []).append((value, point))
    several = len({point_db for _, point_db in lines}) > 1
    unit = "" if db == "probability" else " dB"
    return [(f"{label}, {point_db:g}{unit}" if several else label, points) for (label, point_db), points in lines.items()]


def _place_key(value: Any) -> Any:
    return str(value) if isinstance(value, (str, bool, list)) else value


def _places(values: Iterable[Any]) -> dict[Any, float]:
    """Where the values of a setting stand: numbers at themselves, words beside each other."""
    distinct = list(dict.fromkeys(map(_place_key, values)))
    if all(isinstance(value, (int, float)) for value in distinct):
        return {value: float(value) for value in sorted(distinct)}
    return {value: float(n) for n, value in enumerate(distinct)}


# ---------------------------------------------------------------- drawing

def style_of(size: str) -> dict[str, Any]:
    """matplotlib's settings for a size: fonts that go with LaTeX in a column, embedded as TrueType in PDF."""
    if size not in SIZES:
        raise PlotError(f"size = {size!r} is not allowed: expected {', '.join(map(repr, SIZES))}")
    points = SIZES[size][2]
    style: dict[str, Any] = {"font.size": points, "axes.labelsize": points, "axes.titlesize": points, "figure.titlesize": points + 1,
                             "xtick.labelsize": points - 1, "ytick.labelsize": points - 1, "legend.fontsize": points - 1.5,
                             "pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "warpband", "axes.axisbelow": True}
    if size != "screen":
        style |= {"font.family": ["STIXGeneral"], "mathtext.fontset": "stix", "axes.linewidth": 0.6, "lines.linewidth": 1.0}
    return style


def _draw_line(panel: Any, look: dict[str, Any], label: str | None, points: Sequence[tuple[float, tuple[float, float, float]]], small: bool) -> bool:
    """Draws a line with its intervals; True if a point had no error, and a triangle stands in its place."""
    linear = panel.get_yscale() == "linear"
    seen = [(x, *value) for x, value in points if value[0] > 0 or linear]
    unseen = [(x, value[2]) for x, value in points if value[0] == 0 and not linear]
    wide = 1.0 if small else 1.5
    if seen:
        x, rate, low, high = zip(*seen)
        bars = [[max(0.0, r - end) for r, end in zip(rate, low)], [max(0.0, end - r) for r, end in zip(rate, high)]]
        panel.errorbar(x, rate, yerr=bars, fmt="none", ecolor=look["color"], elinewidth=0.7 * wide, capsize=1.5 if small else 2.5)
        panel.plot(x, rate, label=label and text_drawn(label), markersize=3 if small else 4.5, linewidth=wide, **look)
    if unseen:
        x, high = zip(*unseen)
        panel.plot(x, high, color=look["color"], marker="v", markersize=4 if small else 6, markerfacecolor="none", linestyle="none",
                   label=None if seen or label is None else text_drawn(label))
    return bool(unseen)


def _round_ticks(panel: Any, values: Sequence[float], nbins: int, new_figure: bool) -> None:
    from matplotlib import ticker
    numbers = sorted(set(values))
    if not panel.get_xaxis().get_label().get_gid():  # the values of a setting have ticks of their own
        panel.xaxis.set_major_locator(ticker.MaxNLocator(nbins=nbins, steps=[1, 2, 5, 10]))
    if panel.get_yscale() != "log":
        panel.yaxis.set_major_locator(ticker.MaxNLocator(nbins=nbins, steps=[1, 2, 5, 10]))
        return
    panel.yaxis.set_major_locator(ticker.LogLocator(base=10, numticks=12))
    panel.yaxis.set_minor_locator(ticker.LogLocator(base=10, subs=range(2, 10), numticks=100))
    panel.yaxis.set_minor_formatter(ticker.NullFormatter())
    drawn = [value for value in numbers if value > 0]
    if new_figure and drawn:
        bottom, top = math.floor(math.log10(drawn[0]) + 1e-9), math.ceil(math.log10(drawn[-1]) - 1e-9)
        panel.set_ylim(10.0 ** bottom, 10.0 ** max(top, bottom + 1) * (1.3 if top >= 0 else 1.0))


def _value_ticks(panel: Any, places: Mapping[Any, float]) -> None:
    """Ticks at the values of a swept setting; numbers over four octaves or more on a logarithmic axis."""
    from matplotlib import ticker
    numbers = sorted(places.values())
    words = any(isinstance(value, str) for value in places)
    if not words and numbers and numbers[0] > 0 and numbers[-1] >= 16 * numbers[0]:
        panel.set_xscale("log", base=2)
        panel.xaxis.set_minor_locator(ticker.NullLocator())
    if words or len(numbers) <= 12:
        panel.set_xticks(list(places.values()), [value if isinstance(value, str) else f"{value:g}" for value in places])
        panel.get_xaxis().get_label().set_gid("values")


def draw_panel(panel: Any, curves: Sequence[Mapping[str, Any]], references: Sequence[tuple[str, Mapping[str, Any]]], metric: str,
               axis: str, size: str, new_figure: bool = True, theory: Iterable[tuple[str, str, Any]] = ()) -> None:
    """One panel of a figure: lines, references, theory, axes, legend."""
    small = size != "screen"
    panel.set_yscale("linear" if metric in ("throughput", "required", "mutual_information") else "log")
    drawn: list[float] = []
    gap, transmissions = False, 0
    lines = lines_of(curves, axis, metric)
    if axis not in AXES:
        places = _places(x for _, points in lines for x, _ in points)
        lines = [(label, sorted(((places[_place_key(x)], point) for x, point in points), key=lambda pair: pair[0])) for label, points in lines]
        _value_ticks(panel, places)
    for index, (label, points) in enumerate(lines):
        found = [(x, values) for x, values in ((x, values_of(point, metric)) for x, point in points) if values]
        for n in range(max((len(values) for _, values in found), default=0)):
            transmissions = max(transmissions, n + 1)
            again = index // len(COLOURS)  # colours and markers come again: hollow, and in other dashes
            look = {"color": COLOURS[index % len(COLOURS)], "marker": MARKERS[index % len(MARKERS)],
                    "linestyle": STYLES[(n + again) % len(STYLES)], "markerfacecolor": "none" if again else COLOURS[index % len(COLOURS)]}
            line = [(x, values[n]) for x, values in found if n < len(values)]
            drawn += [value[0] if value[0] > 0 else value[2] for _, value in line]
            if transmissions > 1:  # one triangle a line: there are many of them
                rare = [pair for pair in line if pair[1][0] == 0]
                line = [pair for pair in line if pair[1][0] > 0] + rare[:1]
            gap |= _draw_line(panel, look, label if n == 0 else None, line, small)
    for index, (label, columns) in enumerate(references):
        rates = _reference_points(label, columns, axis, metric)
        if rates:
            drawn += [rate for _, rate in rates]
            panel.plot(*zip(*rates), color=COLOURS[(len(lines) + index) % len(COLOURS)], label=text_drawn(label), linestyle=(0, (4, 2)), linewidth=0.9,
                       marker=["x", "+", "1", "2"][index % 4], markersize=3.5 if small else 5)
    for label, kind, points in theory:  # does not change the range of the axis
        panel.plot(*zip(*points), color="#606060", label=text_drawn(label), linewidth=0.9 if small else 1.2, linestyle=THEORY[kind])
    if transmissions > 1:
        for n in range(transmissions):
            panel.plot([], [], color="#606060", linestyle=STYLES[n % len(STYLES)], label=f"after {n + 1}")
    if gap:
        panel.plot([], [], color="#606060", marker="v", markerfacecolor="none", linestyle="none", markersize=4 if small else 6,
                   label="no error: upper end of 95%")
    if metric == "throughput" and new_figure:
        panel.set_ylim(bottom=0)
    _round_ticks(panel, drawn, 6 if size == "one-column" else 9, new_figure)
    if axis == "probability" and all(x > 0 for _, points in lines for x, _ in points):
        panel.set_xscale("log")
    panel.set_xlabel(axis_name(curves, axis))
    panel.set_ylabel(metric_name(curves, metric))
    panel.grid(True, which="major", linewidth=0.6, alpha=0.6)
    panel.grid(True, which="minor", linewidth=0.4, alpha=0.25)


def _add_legends(figure: Any, panels: Sequence[Any], size: str, new_figure: bool) -> None:
    """In each panel; one for all below them where it would cover the lines."""
    entries: dict[str, Any] = {}
    for panel in panels:
        handles, labels = panel.get_legend_handles_labels()
        entries.update(zip(labels, handles))
    if not new_figure or len(entries) <= (6 if size == "one-column" else 9):
        for panel in panels:
            panel.legend()
        return
    width, height = figure.get_size_inches()
    letter = 0.6 * SIZES[size][2] / 72  # the width of one
    columns = max(1, min(4, int(width / (letter * (max(map(len, entries)) + 5)))))
    figure.set_size_inches(width, height + 0.022 * SIZES[size][2] * -(-len(entries) // columns))
    figure.legend(list(entries.values()), list(entries), loc="outside lower center", ncols=columns)


def figure_of(curves: Sequence[Mapping[str, Any]], references: Sequence[tuple[str, Mapping[str, Any]]], metrics: Sequence[str],
              title: str = "", size: str = "screen", axes: Sequence[Any] | None = None, x: str | None = None,
              theory: Callable[..., Iterable[tuple[str, str, Any]]] | None = None) -> Any:
    """Draws a panel for each metric: beside each other, in one column below each other. ``theory``: _theory.lines_for."""
    style = style_of(size)
    axis = x_axis(curves, x)
    known = {metric: list(theory(curves, axis, metric)) if theory and axis in AXES else [] for metric in metrics}
    if theory and not any(known.values()):
        raise PlotError("theory: no curve of the figure has a closed form or a bound: expected uncoded curves of one antenna, of bits or of Alamouti's code, "
                        "or frame error rates of codes in AWGN, over Eb/N0, SNR or Es/N0")
    import matplotlib
    from matplotlib.figure import Figure  # has no window and leaves pyplot's state alone
    with matplotlib.rc_context(style):
        if axes is None:
            width, height, _ = SIZES[size]
            below = size == "one-column"
            whole = {"screen": (width * len(metrics), height), "one-column": (width, height * len(metrics)), "two-column": (width, height)}[size]
            figure = Figure(figsize=whole, layout="constrained")
            panels = list(figure.subplots(len(metrics) if below else 1, 1 if below else len(metrics), squeeze=False).flat)
            if title:
                figure.suptitle(text_drawn(title))
        else:
            panels = list(axes)
            figure = panels[0].figure
        for panel, metric in zip(panels, metrics):
            draw_panel(panel, curves, references, metric, axis, size, axes is None, known[metric])
        _add_legends(figure, panels, size, axes is None)
    return figure


def draw_exit_chart(panel: Any, prior: Sequence[float], detector: Sequence[float], decoder: Sequence[float], loop_detector: Sequence[float],
                    loop_decoder: Sequence[float]) -> None:
    """The detector's transfer curve, the decoder's with its axes exchanged, and the trajectory of the loop as steps."""
    panel.plot(prior, detector, color=COLOURS[0], linewidth=1.5, label="detector")
    panel.plot(decoder, prior, color=COLOURS[1], linewidth=1.5, linestyle="--", label="decoder, axes exchanged")
    x, y = [0.0], [0.0]
    for of_detector, of_decoder in zip(loop_detector, loop_decoder):
        x += [x[-1], of_decoder]
        y += [of_detector, of_detector]
    panel.plot(x, y, color=COLOURS[2], linewidth=0.9, label="real loop")
    panel.set(xlabel="information to the detector (bits)", ylabel="information from the detector (bits)", xlim=(0, 1), ylim=(0, 1))
    panel.grid(True, linewidth=0.6, alpha=0.6)


def save(figure: Any, path: Any) -> None:
    """Writes a figure: .pdf with fonts embedded as TrueType, .png or .svg; the same figure gives the same file."""
    import matplotlib
    end = os.path.splitext(os.fspath(path))[1].lower()
    about = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}}.get(end)
    with matplotlib.rc_context({"pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "warpband"}):
        if end not in FORMATS:  # matplotlib knows more, or says that it does not
            figure.savefig(path, dpi=200, metadata=about)
            return
        with whole_file(path) as name:
            try:
                figure.savefig(name, dpi=200, metadata=about, format=end[1:])
            except ValueError as error:
                reason = " ".join(str(error).split())
                raise PlotError(f"a title or label cannot be drawn, between $ and $ it is a formula: {reason}") from None


# ---------------------------------------------------------------- tables

def table_of(curves: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """A row for each point: what ``--csv`` writes. It is itself a reference."""
    rows = []
    for curve in curves:
        for point in curve["points"]:
            row: dict[str, Any] = {"label": printable(curve["label"])}
            row.update(((curve["config"].get("sweep") or {}).get("parameters") or {}))
            axes = AXES[3:] if AXES[3] in point else AXES[:3]
            for key in (*axes, "frames", "bits", "bit_errors", "frame_errors"):
                row[key] = point.get(key)
            for metric in METRICS:
                values = values_of(point, metric)
                for n, (value, low, high) in enumerate(values):
                    name = f"{metric}_{n + 1}" if metric == "bler" and "harq" in point else metric
                    if len(values) > 1 and metric in ("ber", "fer"):
                        name = f"{metric}_outer_{n + 1}"
                        if n + 1 == len(values):
                            row[metric] = value
                    if metric == "mutual_information":  # without an interval
                        row[metric] = value
                        continue
                    known = metric not in ("ber", "fer") or point.get(f"{metric}_interval") is not None
                    row[name], row[f"{name}_low"], row[f"{name}_high"] = value, low if known else None, high if known else None
            rows.append(row)
    return rows


def write_table(curves: Sequence[Mapping[str, Any]], file: Any) -> None:
    rows = table_of(curves)
    writer = csv.DictWriter(file, list(dict.fromkeys(key for row in rows for key in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
