"""Numbers with 95% intervals from counts. An error rate is drawn from its posterior (Jeffreys' prior), and what follows from rates is computed
from each draw. Curves of one seed share bits and noise: draws treat them as independent, so that intervals of differences are too wide."""
from __future__ import annotations

import functools
import math
import random
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import NamedTuple

DRAWS = 400
Z = 1.96


class Number(NamedTuple):
    value: float
    low: float
    high: float

    def __str__(self):
        return self.text()

    def text(self, digits=2):
        value, low, high = (f"{x:.{digits}f}" for x in self)
        return f"{value} [{low}, {high}]"

    def among(self, count: int) -> Number:
        """Wider, so that all of `count` such intervals hold their values with 95% (Bonferroni)."""
        scale = NormalDist().inv_cdf(1 - 0.025 / max(1, count)) / Z
        return Number(self.value, self.value - scale * (self.value - self.low), self.value + scale * (self.high - self.value))

    def negative(self) -> Number:
        return Number(-self.value, -self.high, -self.low)

    def minus(self, other: Number) -> Number:
        """Of independent numbers."""
        difference = self.value - other.value
        return Number(difference, difference - math.hypot(self.value - self.low, other.high - other.value),
                      difference + math.hypot(self.high - self.value, other.value - other.low))

    def drawn(self, source: random.Random) -> float:
        """A normal distribution on each side."""
        z = source.gauss(0, 1)
        return self.value + z * ((self.high - self.value) if z > 0 else (self.value - self.low)) / Z


def number(value, draws) -> Number | None:
    """The value, and the middle 95% of draws. None where more than 5% of the draws have none."""
    held = sorted(d for d in draws if d is not None)
    if value is None or not held or len(held) < 0.95 * len(draws):
        return None
    return Number(value, min(value, held[int(0.025 * len(held))]), max(value, held[min(len(held) - 1, int(0.975 * len(held)))]))


def decided(numbers) -> tuple[list[Number], list[Number]]:
    """Numbers below and above 0, by intervals that hold together with 95 %."""
    numbers = list(numbers)
    return [n for n in numbers if n.among(len(numbers)).high < 0], [n for n in numbers if n.among(len(numbers)).low > 0]


@dataclass(frozen=True)
class Point:
    """Errors among independent trials. Of codewords that fail together: as many trials as have the variance between frames."""
    x: float
    errors: float
    trials: float
    bits: float = 0
    bit_errors: float = 0

    @property
    def rate(self) -> float:
        return (self.errors or 0.5) / max(self.trials, 1)

    def drawn(self, source: random.Random) -> float:
        return max(source.betavariate(self.errors + 0.5, self.trials - self.errors + 0.5), 1e-12)

    def interval(self) -> tuple[float, float]:
        source = random.Random(f"{self.x} {self.errors} {self.trials}")
        drawn = sorted(self.drawn(source) for _ in range(DRAWS))
        return drawn[int(0.025 * DRAWS)], drawn[int(0.975 * DRAWS)]


def point_of(counts: list, massive: bool) -> Point:
    if not massive:
        return Point(*counts[:1], counts[2], counts[1], *counts[3:])
    x, frames, codewords, errors, squares = counts
    rate, size = errors / codewords, codewords / frames
    variance = max(0.0, squares - frames * (errors / frames) ** 2) / max(1, frames - 1) / (frames * size * size)
    worth = min(codewords, rate * (1 - rate) / variance) if variance > 0 else frames
    return Point(x, rate * worth, worth)


@dataclass(frozen=True)
class Curve:
    family: str
    parameters: dict
    points: list[Point] = field(default_factory=list)
    target: Number | None = None  # SNR of the error rate that was searched for

    @functools.cached_property
    def draws(self) -> list[list[tuple[float, float]]]:
        source = random.Random(f"{self.family} {sorted(self.parameters.items())}")
        return [[(p.x, p.drawn(source)) for p in self.points] for _ in range(DRAWS)]

    @functools.cached_property
    def bit_draws(self) -> list[list[tuple[float, float]]]:
        """Of bit error rates: the bits of a wrong frame are taken as exponentially distributed."""
        source = random.Random(f"bits {self.family} {sorted(self.parameters.items())}")
        held = [p for p in self.points if p.bit_errors]
        return [[(p.x, p.bit_errors / p.bits * source.gammavariate(max(p.errors, 1) / 2, 2 / max(p.errors, 1))) for p in held] for _ in range(DRAWS)]


def curves_of(result: dict) -> list[Curve]:
    """Of what `campaign.short` stores. Searches that did not reach their error rate have no target."""
    found = []
    for c in result["curves"]:
        if "target" in c:
            _, db, low, high, _ = c["target"]
            known = None not in (db, low, high)
            found.append(Curve(c["family"], c["parameters"], target=Number(db, min(low, db), max(high, db)) if known else None))
        else:
            massive = c.get("codewords", False)
            found.append(Curve(c["family"], c["parameters"], [point_of(p, massive) for p in c["points"]]))
    return found


def curve_of(result: dict, label: str) -> Curve:
    """A curve of a whole result of `warpband sim`."""
    axis = "snr_db" if all("snr_db" in c["config"]["sweep"] for c in result["curves"]) else "ebn0_db"
    points = next(c["points"] for c in result["curves"] if c["label"] == label)
    return Curve(label, {}, sorted((Point(p[axis], p["frame_errors"], p["frames"], p["bits"], p["bit_errors"]) for p in points), key=lambda p: p.x))


def crossing(points, target):
    """Where straight lines in the logarithm of the rate first fall through the target."""
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if y0 >= target > y1:
            return x0 + (x1 - x0) * math.log(y0 / target) / math.log(y0 / y1)
    return None


def crossing_of(curve: Curve, target: float) -> Number | None:
    return number(crossing([(p.x, p.rate) for p in curve.points], target), [crossing(d, target) for d in curve.draws])


def bit_crossing_of(curve: Curve, target: float) -> Number | None:
    held = [(p.x, p.bit_errors / p.bits) for p in curve.points if p.bit_errors]
    return number(crossing(held, target), [crossing(d, target) for d in curve.bit_draws])


def behind(curve: Curve, reference: Curve, target: float, crossing_at=crossing_of) -> Number | None:
    """By how many dB a curve needs more than the reference."""
    here, other = crossing_at(curve, target), crossing_at(reference, target)
    return None if here is None or other is None else here.minus(other)
