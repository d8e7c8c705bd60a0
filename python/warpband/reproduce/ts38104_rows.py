"""What rows of TS 38.104 have in common: rates beside requirements, margins, intervals."""
from __future__ import annotations

import math
from dataclasses import dataclass

from .data import ReproduceError


def interval(errors: float, trials: int) -> tuple[float, float]:
    """The 95 % interval of a rate (Clopper and Pearson)."""
    try:
        from .._error_rates import clopper_pearson
    except ImportError:  # the command starts this folder, whose parent is no package then
        from _error_rates import clopper_pearson
    return clopper_pearson(errors, trials)


@dataclass(frozen=True)
class Margin:
    """How much lower the SNR may be, in dB, and the ends of its 95 % interval. Infinities are beyond what was measured."""
    db: float
    low: float
    high: float
    first: float = 0.0
    last: float = math.inf

    @staticmethod
    def of_steps(steps: tuple[float, ...], rates: list[float], ends: list[tuple[float, float]], allowed: float) -> Margin | None:
        """The last of `steps`, in dB, up to which each error rate is allowed; its ends, by the ends of each rate's interval.

        None: not even the first rate is allowed. An end is infinite where no step is allowed, or each of `steps`.
        """
        if rates[0] > allowed:
            return None

        def last(values):
            met = [value <= allowed for value in values]
            if False in met:
                return steps[met.index(False) - 1] if met[0] else -math.inf
            return math.inf if len(met) == len(steps) else steps[len(met) - 1]
        return Margin(last(rates), last([high for _, high in ends]), last([low for low, _ in ends]), steps[0], steps[-1])

    def text(self, db: float) -> str:
        return f"{db:.1f}" if math.isfinite(db) else f"below {self.first:.1f}" if db < 0 else f"at least {self.last:.1f}"

    def __str__(self) -> str:
        if self.low == math.inf:
            return f"{self.text(self.db)} dB"
        return f"{self.text(self.db)} dB ({self.text(self.low)} to {self.text(self.high)})"


@dataclass(frozen=True)
class Measured:
    """A rate at the required SNR with its 95 % interval, and its limit: an upper one for errors, `at_least` for a throughput."""
    rate: float
    low: float
    high: float
    limit: float
    at_least: bool = False
    margin: Margin | None = None
    alarms: Measured | None = None  # false alarms, which are part of the requirement

    @property
    def verdict(self) -> str:
        """`open`: the limit is inside the interval. Too many false alarms fail as errors do; all rows together show that they are few."""
        if self.alarms is not None and self.alarms.verdict == "fails":
            return "fails"
        if self.low < self.limit < self.high:
            return "open"
        return "passes" if (self.rate >= self.limit) == self.at_least or self.rate == self.limit else "fails"

    def __str__(self) -> str:
        digits = 1 if self.at_least else 3
        return f"{100 * self.rate:.{digits}f} ({100 * self.low:.{digits}f} to {100 * self.high:.{digits}f})"


def executor_of(device: str):
    """The executor of `--device`."""
    import warpband as wb
    if device == "cpu":
        return wb.cpu()
    name, _, number = device.partition(":")
    if name != "cuda" or not (number or "0").isdigit():
        raise ReproduceError(f"--device = {device} is not allowed: expected cpu or cuda:N")
    return wb.cuda(device=int(number or 0))
