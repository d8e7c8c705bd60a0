"""The search for the fastest receiver of a link within a loss, measured on a device."""
from __future__ import annotations

import copy
import json
import os
from typing import Any, Callable, Mapping, NamedTuple

from . import _core
from ._error_rates import whole_file
from ._json_lines import json_lines
from ._settings import number, number_or_none, refused, shown, whole
from ._sweep import Scenario, executor_of, scenario_source

__all__ = ["Choice", "ChoiceProgress", "choose"]


class ChoiceProgress(NamedTuple):
    """What a progress function of :func:`choose` is told: the setting under way.

    >>> wb.ChoiceProgress(3, 1, "mmse", "none", 500).detector
    'mmse'
    """

    tried: int  #: settings tried before
    front: int  #: of them on the front
    detector: str
    decoder: str
    frames: int  #: that were sent to measure it so far


class Choice:
    """What :func:`choose` found. A setting is a dictionary, as in the file of ``warpband choose --json`` (docs/command.md).

    Args:
        content: what such a file holds.
        toml: the scenario of the chosen setting.

    >>> scenario = {"code": {"type": "none", "k": 100}, "modem": {"modulation": "16qam"}, "sweep": {"ebn0_db": [0.0]}}
    >>> choice = wb.choose(scenario, fer=0.3, width_db=1)
    >>> copy = wb.Choice(choice.to_dict(), choice.toml)
    >>> copy.chosen == choice.chosen, copy.toml == choice.toml
    (True, True)
    """

    __slots__ = ("_content", "_toml", "__weakref__")

    def __init__(self, content: Mapping[str, Any], toml: str):
        if not isinstance(content, Mapping) or content.get("command") != "choose" or not isinstance(content.get("settings"), list):
            raise ValueError(f"content = {shown(content)} is no choice: expected what warpband.choose or `warpband choose --json` writes")
        if not isinstance(toml, str):
            raise TypeError(f"toml is a {type(toml).__name__}: expected the text of a scenario")
        self._content, self._toml = copy.deepcopy(dict(content)), toml

    @property
    def chosen(self) -> dict[str, Any]:
        """The fastest setting that loses at most ``loss_db``."""
        return copy.deepcopy(self._content["settings"][self._content["chosen"]])

    @property
    def settings(self) -> list[dict[str, Any]]:
        """All settings that were tried, in that order."""
        return copy.deepcopy(self._content["settings"])

    @property
    def front(self) -> list[dict[str, Any]]:
        """Those that no other beats in both time and SNR, the fastest first."""
        return sorted((s for s in self.settings if s["front"]), key=lambda s: s["detect_us"] + s["decode_us"])

    @property
    def batching(self) -> dict[str, Any] | None:
        """With ``latency_us`` the pairs of symbols and streams, and the index of the chosen one; else None."""
        return copy.deepcopy(self._content.get("batching"))

    @property
    def toml(self) -> str:
        """The scenario of the chosen setting for :func:`sweep`: points around its SNR, and a stop rule for the target."""
        return self._toml

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the scenario of the chosen setting: ``wb.sweep(path)`` runs it."""
        with whole_file(path) as name, open(name, "w", encoding="utf-8") as file:
            file.write(self._toml)

    def to_dict(self) -> dict[str, Any]:
        """Everything but the scenario, as ``warpband choose --json`` writes it."""
        return json.loads(json.dumps(self._content))

    def to_json(self) -> str:
        """The same as text."""
        return json_lines(self._content)

    def __repr__(self) -> str:
        rows = [["loss dB", "dB", "information Gb/s", "detector; decoder"]]
        rows += [[f"{s['loss_db']:.2f}", f"{s['db']:.2f}", f"{s['information_gbps']:.4g}", f"{s['detector']}; {s['decoder']}"] for s in self.front]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        return "\n".join("  ".join([*(cell.rjust(width) for cell, width in zip(row, widths)), row[3]]) for row in rows)


def choose(scenario: Scenario, *, fer: float = 0.01, loss_db: float = 0.5, width_db: float = 0.25, curve: str | None = None,
           latency_us: float | None = None, seed: int | None = None, max_frames: int = 1_000_000, max_seconds: float | None = 100.0,
           device: str = "cpu", threads: int | None = None, progress: Callable[[ChoiceProgress], Any] | None = None) -> Choice:
    """Measures receivers of a link on this device and chooses the fastest within a loss, as ``warpband choose`` does.

    Detectors come first, with the decoder of the scenario: all that make sense, each with the limit of LLRs that saves
    frame errors. Then come decoders, then pairs of what is left. A setting that needs more than a faster one is given up
    early. The trade of accuracy for throughput is that of M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on
    GPU", 2012.

    Args:
        scenario: the path of a TOML file, or a dictionary, as :func:`sweep` takes it. Its points do not matter.
        fer: the target frame error rate, above 0 and below 1. Of transport blocks it is that after the last transmission,
            with massive MIMO that of drops with any wrong codeword.
        loss_db: the loss in dB against the most accurate setting that the choice may have, 0..100.
        width_db: the widest interval of each SNR in dB, 0.01..10. It holds the SNR with at least 95 %.
        curve: the label of a curve, where the scenario has several.
        latency_us: with massive MIMO, also choose the OFDM symbols of a frame and the frames under way at once, N_sym and
            N_stream, for the most throughput within this latency in microseconds, above 0 up to 1e9
            (K. Li, thesis, section 5.2). Symbols are powers of two up to ``massive.symbols``, streams 1 to 16.
        seed: in the place of the scenario's, 0..2**63 - 1.
        max_frames: frames of a setting, at most, 1..10**15.
        max_seconds: no further setting is begun after this time, above 0 up to 1e9; None: no such rule.
        device: "cpu" or "cuda:N".
        threads: of the CPU, 1..4096; None for all cores.
        progress: a function that gets a :class:`ChoiceProgress` ten times a second at most; what it raises ends the search,
            and so does False.

    Returns:
        The choice. Its times are those of this machine; its SNRs do not depend on it.

    Raises:
        ValueError: for settings that are not allowed, and for the downlink of massive MIMO, which has no choice.
        RuntimeError: no setting reaches the target, the search was ended, or the file of a scenario cannot be read.

    >>> scenario = {"code": {"type": "none", "k": 100}, "modem": {"modulation": "qpsk"}, "channel": {"type": "rayleigh"},
    ...             "mimo": {"streams": 2, "rx_antennas": 2}, "sweep": {"snr_db": [10.0]}}
    >>> choice = wb.choose(scenario, fer=0.3, width_db=1)
    >>> choice.chosen["fate"], choice.chosen["front"], choice.chosen["loss_db"] <= 0.5
    ('measured', True, True)
    """
    if not 0 < number("fer", fer) < 1:
        raise refused("fer", fer, "a rate above 0 and below 1")
    if not 0 <= number("loss_db", loss_db) <= 100:
        raise refused("loss_db", loss_db, "0 to 100 dB")
    if not 0.01 <= number("width_db", width_db) <= 10:
        raise refused("width_db", width_db, "0.01 to 10 dB")
    if curve is not None and not isinstance(curve, str):
        raise refused("curve", curve, "the label of a curve, or None")
    if latency_us is not None and not 0 < number("latency_us", latency_us) <= 1e9:
        raise refused("latency_us", latency_us, "microseconds above 0, up to 1e9, or None")
    if seed is not None:
        seed = whole("seed", seed, 0, 2 ** 63 - 1)
    max_frames = whole("max_frames", max_frames, 1, 10 ** 15)
    if max_seconds is not None and not 0 < number("max_seconds", max_seconds) <= 1e9:
        raise refused("max_seconds", max_seconds, "seconds above 0, up to 1e9, or None")
    if not (progress is None or callable(progress)):
        raise refused("progress", progress, "a function, or None")
    text, name = scenario_source(scenario)
    content, toml = _core.choose(
        executor_of(device, number_or_none("threads", threads)), device="cuda:0" if device == "cuda" else device, text=text, file=name, curve=curve, fer=float(fer), loss_db=float(loss_db),
        width_db=float(width_db), max_frames=max_frames, max_seconds=None if max_seconds is None else float(max_seconds), latency_us=None if latency_us is None else float(latency_us),
        seed=seed, progress=None if progress is None else lambda *values: progress(ChoiceProgress(*values)))
    return Choice(json.loads(content), toml)
