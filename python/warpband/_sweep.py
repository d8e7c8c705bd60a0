"""The simulator: error rates of a link over Eb/N0, SNR or Es/N0."""
from __future__ import annotations

import copy
import json
import os
import re
import sys
import tempfile
from typing import Any, Callable, Iterator, Mapping, NamedTuple, Sequence, Union

from . import _core
from ._error_rates import axis_of, printable, whole_file
from ._functions import Frames, functions_of
from ._json_lines import json_lines
from ._settings import encodable, file_name, made, number, number_or_none, refused, shown, whole

__all__ = ["Curve", "Frames", "Progress", "SweepResult", "scenario_help", "sweep"]


class Progress(NamedTuple):
    """What a progress callback is told: the point under way.

    >>> scenario = {"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0, 3.0]}, "stop": {"max_frames": 10}}
    >>> def tell(now: wb.Progress):
    ...     if now.finished:
    ...         print(now.db, now.frames)
    >>> result = wb.sweep(scenario, progress=tell)
    0.0 10
    3.0 10
    """

    label: str  #: of the curve
    db: float  #: the point, Eb/N0, SNR, Es/N0 or probability as the scenario sweeps; NaN in a search for ``sweep.target_fer``
    number: int  #: of the point among all, from 0
    points: int  #: of all curves
    frames: int
    frame_errors: int
    bit_errors: int
    seconds: float
    finished: bool  #: a stop rule holds
    unit: str = " dB"  #: of the point, with the blank before it; "" of a probability


class Curve(NamedTuple):
    """A curve of a result.

    >>> scenario = {"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0, 3.0]}, "stop": {"max_frames": 10}}
    >>> wb.sweep(scenario).curves[0].column("frames")
    [10, 10]
    """

    label: str
    config: dict[str, Any]  #: all settings, with what was left open chosen
    points: list[dict[str, Any]]  #: as docs/result.md has them
    target: dict[str, Any] | None = None  #: with ``sweep.target_fer`` what the search found

    def column(self, name: str) -> list[Any]:
        """One number of every point: ``curve.column("fer")``."""
        return [point.get(name) for point in self.points]


class SweepResult:
    """What a sweep counted, as a small table: a row for each point, with the names of docs/result.md.

    Iterating gives the rows as dictionaries, ``result["fer"]`` a column of all of them.

    >>> scenario = {"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0, 3.0]}, "stop": {"max_frames": 10}}
    >>> result = wb.sweep(scenario)
    >>> result["frames"], result.complete
    ([10, 10], True)
    """

    __slots__ = ("_content", "__weakref__")

    def __init__(self, content: Mapping[str, Any]):
        if not isinstance(content, Mapping) or not isinstance(content.get("curves"), list):
            raise ValueError(f"content = {shown(content)} is no result: expected what warpband.sweep or `warpband sim -o` writes")
        self._content = copy.deepcopy(dict(content))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SweepResult:
        """Reads a result file of ``sweep(output=...)`` or ``warpband sim -o``. Checks everything that ``resume`` checks, but
        recordings of its channels may be missing.

        Raises:
            RuntimeError: for a file that cannot be read, is no result or contradicts itself, with what is wrong.
        """
        return cls(json.loads(_core.read_result(file_name("path", path))))

    @property
    def complete(self) -> bool:
        """Whether every point has what the stop rules ask for."""
        return bool(self._content.get("complete"))

    @property
    def title(self) -> str:
        return self._content.get("scenario", {}).get("title", "")

    @property
    def curves(self) -> list[Curve]:
        """Copies of the curves: changing them does not change the result."""
        return copy.deepcopy(self._curves())

    def _curves(self) -> list[Curve]:
        return [Curve(c.get("label", ""), c.get("config", {}), c.get("points", []), c.get("target")) for c in self._content["curves"]]

    @property
    def axis(self) -> str:
        """What the sweep is over: "snr_db", "esn0_db" or "probability" where all curves are, else "ebn0_db"."""
        curves = self._curves()
        return axis_of([{"config": curve.config} for curve in curves]) if curves else "ebn0_db"

    def rows(self) -> list[dict[str, Any]]:
        """The points of all curves, each with its label and swept settings; of intervals the ends, ``fer_low`` and ``fer_high``."""
        return [{"label": curve.label, **curve.config.get("sweep", {}).get("parameters", {}), **_flat(point)} for curve in self._curves() for point in copy.deepcopy(curve.points)]

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys(name for row in self.rows() for name in row))

    def to_dict(self) -> dict[str, Any]:
        """Everything, as docs/result.md has it."""
        return json.loads(json.dumps(self._content))

    def to_json(self) -> str:
        """The text of a result file, JSON as docs/result.md has it: what :meth:`save` writes."""
        return json_lines(self._content)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file that ``warpband sim --resume`` and ``sweep(resume=...)`` go on from."""
        with whole_file(path) as name, open(name, "w", encoding="utf-8") as file:
            file.write(self.to_json())

    def to_pandas(self) -> Any:
        """The rows as a ``pandas.DataFrame``. Needs pandas."""
        import pandas
        return pandas.DataFrame(self.rows(), columns=self.columns)

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(self.rows())

    def __len__(self) -> int:
        return sum(len(curve.points) for curve in self._curves())

    def __getitem__(self, column: str) -> list[Any]:
        if column not in self.columns:
            raise KeyError(f"{column}: the columns are {', '.join(self.columns)}")
        return [row.get(column) for row in self.rows()]

    def __repr__(self) -> str:
        shown = ["label", self.axis, "frames", "bit_errors", "frame_errors", "ber", "fer", "mutual_information", "stopped_by"]
        if "mutual_information" not in self.columns:
            shown.remove("mutual_information")
        table = [shown] + [[_text(row.get(name)) for name in shown] for row in self.rows()]
        widths = [max(len(row[i]) for row in table) for i in range(len(shown))]
        lines = ["  ".join(cell.rjust(width) if i else cell.ljust(width)
                           for i, (cell, width) in enumerate(zip(row, widths))).rstrip() for row in table]
        return "\n".join(lines + ([] if self.complete else ["(not complete)"]))


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else printable(value)


def _flat(point: Mapping[str, Any]) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, value in point.items():
        if isinstance(value, dict):
            row.update(_flat(value))
        elif name.endswith("_interval"):
            row[name[:-9] + "_low"], row[name[:-9] + "_high"] = value if value is not None else (None, None)
        elif name == "bler_intervals":
            for i, (low, high) in enumerate(value, 1):
                row[f"bler_{i}_low"], row[f"bler_{i}_high"] = low, high
        elif isinstance(value, list):
            row.update({f"{name}_{i}": v for i, v in enumerate(value, 1)})
        else:
            row[name] = value
    return row


def scenario_help() -> str:
    """Every key of a scenario, in Markdown (docs/scenario.md).

    >>> "ebn0_db" in wb.scenario_help()
    True
    """
    return _core.scenario_help()


def _toml_key(key: Any) -> str:
    if not isinstance(key, str) or not re.fullmatch(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*", key):
        raise ValueError(f"scenario = key {key!r} is not allowed: expected a name as in docs/scenario.md")
    return key


def _toml_value(value: Any) -> str:
    if hasattr(value, "tolist"):  # NumPy
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not -2 ** 63 <= value < 2 ** 63:
        raise ValueError(f"scenario = the integer {shown(value)} is not allowed: expected -2**63 to 2**63 - 1")
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        if not encodable(value):
            raise refused("scenario", value, "text of characters that UTF-8 has")
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple, range)):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    raise ValueError(f"scenario = a {type(value).__name__} is not allowed: expected text, numbers, lists and dictionaries")


def scenario_text(scenario: Mapping[str, Any]) -> str:
    """A scenario as a dictionary, in TOML: what stands in tables there is a dictionary here, ``[[curve]]`` a list of them."""
    lines, later = [], []
    for key, value in scenario.items():
        name = _toml_key(key)
        if isinstance(value, Mapping):
            later += ["", f"[{name}]"] + [f"{_toml_key(k)} = {_toml_value(v)}" for k, v in value.items()]
        elif isinstance(value, (list, tuple)) and value and all(isinstance(v, Mapping) for v in value):
            for table in value:
                later += ["", f"[[{name}]]"] + [f"{_toml_key(k)} = {_toml_value(v)}" for k, v in table.items()]
        else:
            lines.append(f"{name} = {_toml_value(value)}")
    return "\n".join(lines + later) + "\n"


class _Bar:
    """One line on a terminal, a line for each finished point elsewhere."""

    def __init__(self) -> None:
        self.terminal = sys.stderr.isatty()
        self.width = 0  # of what is shown

    def columns(self) -> int:
        """Of the terminal but one: a full line would move the cursor into the next."""
        try:
            return max(1, os.get_terminal_size(sys.stderr.fileno()).columns - 1)
        except (OSError, ValueError):  # no terminal's own descriptor
            return 79

    def __call__(self, p: Progress) -> None:
        text = f"[{p.number + 1}/{p.points}] {p.label}{'' if p.db != p.db else f', {p.db:g}{p.unit}'}: {p.frames} frames, {p.frame_errors} frame errors"
        if self.terminal:
            filled, columns = 20 * (p.number + int(p.finished)) // max(1, p.points), self.columns()
            if columns >= 79:
                text = f"[{'#' * filled}{'.' * (20 - filled)}] {text}"
            text = printable(text)[:columns]
            sys.stderr.write("\r" + text.ljust(min(self.width, columns)))
            self.width = len(text)
        elif p.finished:
            sys.stderr.write(printable(text) + "\n")
        sys.stderr.flush()

    def close(self) -> None:
        if self.terminal and self.width:
            sys.stderr.write("\r" + " " * min(self.width, self.columns()) + "\r")
            sys.stderr.flush()


Scenario = Union[Mapping[str, Any], str, "os.PathLike[str]"]


def scenario_source(scenario: Scenario) -> tuple[str, str | None]:
    """The TOML of a scenario, and the name of its file; None of a dictionary."""
    if isinstance(scenario, Mapping):
        try:
            return scenario_text(scenario), None
        except RecursionError:
            raise ValueError("scenario = a dictionary that holds itself or is nested too deep is not allowed: expected the tables of docs/scenario.md") from None
    if not isinstance(scenario, (str, os.PathLike)):
        raise TypeError(f"scenario is a {type(scenario).__name__}: expected a path or a dictionary")
    name = file_name("scenario", scenario)
    with open(name, encoding="utf-8") as file:
        return file.read(), name


def _is_device(name: Any) -> bool:
    return isinstance(name, str) and re.fullmatch(r"cpu|cuda(:\d+)?", name) is not None


def executor_of(device: str, threads: int) -> Any:
    """An executor on "cpu" or "cuda:N"; threads 0: all cores."""
    if not _is_device(device):
        raise refused("device", device, '"cpu" or "cuda:N"')
    if device == "cpu":
        return made(_core.Executor, threads=threads, isa=None)
    return made(_core.Executor.cuda, device=int(device.partition(":")[2] or 0), stream=0)


def sweep(scenario: Scenario | None = None, *, output: str | os.PathLike[str] | None = None,
          resume: SweepResult | str | os.PathLike[str] | None = None, seed: int | None = None,
          frame_errors: int | None = None, max_frames: int | None = None, max_seconds: float | None = None,
          device: str | Sequence[str] = "cpu", threads: int | None = None, checkpoint: float = 10.0,
          progress: bool | Callable[[Progress], Any] = False,
          detectors: Mapping[str, Callable[..., Any]] | None = None, decoders: Mapping[str, Callable[..., Any]] | None = None,
          channels: Mapping[str, Callable[[Frames], Any]] | None = None, batch: int = 1024, version: str | None = None) -> SweepResult:
    """Runs a link over the points of a scenario and counts errors, as ``warpband sim`` does.

    Args:
        scenario: the path of a TOML file, or the same as a dictionary (docs/scenario.md has every key)::

            {"code": {"k": 1024}, "modem": {"modulation": "qpsk"}, "sweep": {"ebn0_db": [0, 0.5, 1]},
             "stop": {"frame_errors": 100}, "curve": [{"label": "a"}, {"label": "b", "decoder.algorithm": "max-log-map"}]}

        output: a result file that is kept up to date: every ``checkpoint`` seconds, after the first batch and at the end.
        resume: a result, or its file, to go on from: to more frame errors or frames, or with a scenario that differs from the
            first in its stop rules, points and curves alone. The counts are those of a run in one go.
        seed: in the place of the scenario's, 0..2**63 - 1.
        frame_errors: in the place of ``stop.frame_errors``, 0..10**15. A point ends after so many wrong frames; 0: no such rule.
        max_frames: in the place of ``stop.max_frames``, 1..10**15. A point ends after so many frames.
        max_seconds: in the place of ``stop.max_seconds``, 0..1e9. A point ends after this time; 0: no such rule.
        device: "cpu" or "cuda:N", or several that run frames side by side, as ``["cuda:0", "cuda:1"]`` (docs/scale.md).
        threads: of the CPU, 1..4096; None for all cores.
        checkpoint: seconds between two writings of ``output``, 0..30; 0 writes after every batch.
        progress: True for a bar on stderr, or a function that gets a :class:`Progress` ten times a second at most and after
            each point; what it raises ends the sweep, False stops it.
        detectors: functions by name, for ``detector.type = "mine"``: ``llr = f(h, y, n0)``. h: complex64
            ``(groups, rx, streams)``; uses / groups neighbouring uses share an H. y: complex64 ``(uses, rx)``. n0: float32 ``(uses,)``. llr: float32
            ``(uses, streams * log2 M)``, ln P(0)/P(1), stream after stream, bits of a symbol in 3GPP order. A function with a fourth
            parameter also gets a-priori LLRs of the shape of llr, zeros where there are none, and gives a-posteriori ones; then it
            serves ``[receiver]``. NaN or infinity in a row of llr erases the use.
        decoders: functions by name, for ``decoder.type = "mine"`` beside a code of the library: ``bits = f(llr)``, or
            ``bits, iterations = f(llr)``. llr: float32 ``(frames, n)``, ln P(0)/P(1). bits: uint8 ``(frames, k)``. iterations: int32
            ``(frames,)``. With massive MIMO each codeword counts as a frame.
        channels: functions by name, for ``channel.type = "mine"``: ``h = f(frames)`` gets a :class:`Frames`. h: complex64
            ``(count, matrices, rx, tx)``, random by ``frames.seed`` alone. The library sends the symbols through H and adds noise.
        batch: frames of each call of these functions, 1..2**20. A whole batch is run even where a stop rule needs less of it.
        version: of the functions, text of at most 200 characters, as you count. Another one refuses to resume.

    Functions get arrays of NumPy, on a GPU tensors of torch. They run on one device, and may call the rest of this package.
    What they raise ends the sweep. The finished points are in ``output`` then.

    Returns:
        The result. Its counts do not depend on device, threads or batch, but under a rule of time, or with functions.

    Raises:
        ValueError: for settings that are not allowed, those of a dictionary by their key; a function gave another shape.
        TypeError: a function gave another type.
        RuntimeError: for the file of a scenario or result that cannot be read or means nothing, with file, line and key.

    >>> def signs(llr):  # of a code that sends k bits first
    ...     return (llr[:, :324] < 0).astype(np.uint8)
    >>> scenario = {"code": {"type": "wifi-ldpc", "n": 648}, "decoder": {"type": "signs"}, "sweep": {"ebn0_db": [12.0]},
    ...             "stop": {"max_frames": 100}}
    >>> result = wb.sweep(scenario, decoders={"signs": signs}, batch=100, version="1")
    >>> result["frames"], result["frame_errors"], result.to_dict()["functions"]
    ([100], [0], {'decoders': ['signs'], 'batch': 100, 'version': '1'})
    """
    if scenario is None and resume is None:
        raise ValueError("scenario = None is not allowed: expected a scenario, or a result to resume")
    if seed is not None:
        seed = whole("seed", seed, 0, 2 ** 63 - 1)
    if frame_errors is not None:
        frame_errors = whole("frame_errors", frame_errors, 0, 10 ** 15)
    if max_frames is not None:
        max_frames = whole("max_frames", max_frames, 1, 10 ** 15)
    if max_seconds is not None and not 0 <= number("max_seconds", max_seconds) <= 1e9:
        raise refused("max_seconds", max_seconds, "0 to 1e9")
    if not 0 <= number("checkpoint", checkpoint) <= 30:
        raise refused("checkpoint", checkpoint, "0 to 30 seconds")
    if not (progress is None or isinstance(progress, bool) or callable(progress)):
        raise refused("progress", progress, "True, False or a function")
    batch = whole("batch", batch, 1, 2 ** 20)
    if version is not None and not (isinstance(version, str) and encodable(version) and len(version) <= 200):
        raise refused("version", version, "text of at most 200 characters, or None")
    text, name = (None, None) if scenario is None else scenario_source(scenario)
    devices = [device] if isinstance(device, str) else device
    if not (isinstance(devices, (list, tuple)) and devices and all(_is_device(d) for d in devices)):
        raise refused("device", device, '"cpu" or "cuda:N", or a list of these')
    threads = number_or_none("threads", threads)
    executor = executor_of(devices[0], threads)
    given = {"channels": channels, "detectors": detectors, "decoders": decoders}
    functions = {name: functions_of(name, some, executor) for name, some in given.items()}
    if len(devices) > 1 and any(functions.values()):
        raise refused("device", device, "one device with functions")
    bar = _Bar() if progress is True else None
    told = bar or (progress if callable(progress) else None)
    temporary = None
    try:
        if isinstance(resume, SweepResult):
            handle, temporary = tempfile.mkstemp(suffix=".json")
            os.close(handle)
            resume.save(temporary)
        source = temporary if temporary else None if resume is None else file_name("resume", resume)
        result = _core.sweep(
            executor, more=list(devices[1:]), threads=threads, text=text, file=name, resume=source, out="" if output is None else file_name("output", output), seed=seed,
            frame_errors=frame_errors, max_frames=max_frames, max_seconds=max_seconds, checkpoint=checkpoint,
            progress=(lambda *point: told(Progress(*point))) if told else None, **functions, batch=batch, version=version)
    finally:
        if bar:
            bar.close()
        if temporary:
            os.unlink(temporary)
    return SweepResult(json.loads(result))
