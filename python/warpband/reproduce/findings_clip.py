"""When detectors need a limit of LLRs, and a law of the best one (docs/findings.md)."""
from __future__ import annotations

import functools
import math
import random
from statistics import median

from .data import Data, Need
from .estimates import DRAWS, Number, number
from .findings_data import CODE_RATE, NAMES, QAM, held, left_out, missing
from .rows import Claim, Line, Panel

CLIP, CLIP_MTT = Need("finding", "findings/clip"), Need("finding", "findings/clip_mtt")
NO_CLIP, CLIP_8 = 1e6, 8.0

class ClipCell:
    """A detector, modulation, code rate and SNR: errors by limit of LLRs."""

    def __init__(self, kind, family, snr_db, step, points):
        self.kind, self.word, self.rate_name, self.snr_db, self.step = kind, *family.split(), snr_db, step
        self.points = dict(sorted(points.items()))
        self.bits, self.rate = int(math.log2(QAM[self.word])), CODE_RATE[self.rate_name]

    @property
    def finite(self):
        return [c for c in self.points if c < NO_CLIP]

    def fer(self, clip):
        return self.points[clip].rate

    @property
    def least(self):
        return min(self.points, key=self.fer)

    def is_usable(self) -> bool:
        """Whether the best limit has errors enough to be told, and not almost all frames wrong."""
        best = self.points[self.least]
        return best.errors >= 20 and best.rate < 0.3

    @functools.cached_property
    def draws(self):
        source = random.Random(f"{self.kind} {self.word} {self.rate_name} {self.snr_db}")
        return [{clip: p.drawn(source) for clip, p in self.points.items()} for _ in range(DRAWS)]

    def best(self, fers) -> float:
        """The limit with the least error rate, from a parabola through the logarithms of three neighbours; the ends of the grid are not passed."""
        clips = self.finite
        i = min(range(len(clips)), key=lambda k: fers[clips[k]])
        if i in (0, len(clips) - 1):
            return clips[i]
        (x0, x1, x2), (y0, y1, y2) = ([f(c) for c in clips[i - 1:i + 2]] for f in (math.log2, lambda c: math.log(fers[c])))
        slope0, slope1 = (y1 - y0) / (x1 - x0), (y2 - y1) / (x2 - x1)
        curvature = (slope1 - slope0) / (x2 - x0)
        return 2 ** min(x2, max(x0, (x0 + x1) / 2 - slope0 / (2 * curvature) if curvature > 0 else x1))

    def at(self, fers, clip) -> float:
        """The error rate at a limit between those of the grid."""
        clips = self.finite
        clip = min(max(clip, clips[0]), clips[-1])
        upper = next(k for k in range(1, len(clips)) if clip <= clips[k])
        a, b = clips[upper - 1], clips[upper]
        part = math.log(clip / a) / math.log(b / a)
        return math.exp((1 - part) * math.log(fers[a]) + part * math.log(fers[b]))

    def ratio(self, one, other) -> Number | None:
        """Frame errors with the limit `one` over those with `other`."""
        return number(self.fer(one) / self.fer(other), [d[one] / d[other] for d in self.draws])


def clip_cells(curves, kind_of) -> list[ClipCell]:
    found: dict = {}
    for c in curves:
        for p in c.points:
            found.setdefault((kind_of(c), c.family, p.x), {})[float(c.parameters["llr_clip"])] = p
    first = {}
    for kind, family, x in found:
        first[kind, family] = min(x, first.get((kind, family), x))
    limits = {clip for points in found.values() for clip in points}  # a curve ends once it is low enough: cells without some are left out
    return [ClipCell(kind, family, x, x - first[kind, family], points) for (kind, family, x), points in found.items() if points.keys() == limits]


LAW = ("constant", "bits of a symbol", "code rate", "N", "dB of SNR within a curve")


def features(cell: ClipCell) -> list[float]:
    return [1.0, cell.bits, cell.rate, cell.kind, cell.step]


def least_squares(rows, values):
    import numpy as np
    return list(np.linalg.lstsq(np.array(rows), np.array(values), rcond=None)[0])


def clip_law(cells):
    """Coefficients with intervals of log2 of the best limit, the rest in octaves, and the law as a function."""
    rows = [features(c) for c in cells]
    found = least_squares(rows, [math.log2(c.best({k: c.fer(k) for k in c.points})) for c in cells])
    draws = [least_squares(rows, values) for values in zip(*([math.log2(c.best(d)) for d in c.draws] for c in cells))]
    coefficients = [number(value, [d[i] for d in draws]) for i, value in enumerate(found)]
    law = lambda cell: 2 ** sum(k * x for k, x in zip(found, features(cell)))  # noqa: E731
    rest = math.sqrt(sum((math.log2(law(c)) - math.log2(c.best({k: c.fer(k) for k in c.points}))) ** 2 for c in cells) / max(1, len(cells) - len(found)))
    return coefficients, rest, law


def forecast(cells, limits, regressors=features):
    """log2 of each cell's limit by a fit to the cells of other modulations and code rates."""
    found = {}
    for group in {(c.word, c.rate_name) for c in cells}:
        others = [i for i, c in enumerate(cells) if (c.word, c.rate_name) != group]
        fit = least_squares([regressors(cells[i]) for i in others], [limits[i] for i in others])
        found |= {c: sum(k * x for k, x in zip(fit, regressors(c))) for c in cells if (c.word, c.rate_name) == group}
    return [found[c] for c in cells]


def rest_of(cells, limits, regressors=features) -> float:
    """Root mean square, in octaves, of what a forecast misses."""
    return math.sqrt(sum((a - b) ** 2 for a, b in zip(forecast(cells, limits, regressors), limits)) / len(cells))


def law_against_constant(cells) -> tuple[float, float, Number]:
    """What the law and a constant miss, in octaves, and the ratio of both."""
    constant = lambda cell: [1.0]  # noqa: E731
    limits = [math.log2(c.best({k: c.fer(k) for k in c.points})) for c in cells]
    law, one = rest_of(cells, limits), rest_of(cells, limits, constant)
    drawn = [list(values) for values in zip(*([math.log2(c.best(d)) for d in c.draws[:100]] for c in cells))]
    return law, one, number(law / one, [rest_of(cells, v) / rest_of(cells, v, constant) for v in drawn])


def cost_of(cells, choice) -> tuple[float, float]:
    """Median and largest ratio of frame errors with a choice of limits to the least of the grid."""
    ratios = [c.at({k: c.fer(k) for k in c.points}, choice(c)) / c.fer(c.least) for c in cells]
    return median(ratios), max(ratios)


def name_of(cell) -> str:
    return f"{NAMES[cell.word]}, R = {cell.rate_name}, {cell.snr_db:g} dB"


def no_clip_claim(says, cells, missing_text):
    compared = [(c, c.ratio(NO_CLIP, CLIP_8)) for c in cells if c.points[CLIP_8].errors + c.points[NO_CLIP].errors >= 40 and c.fer(CLIP_8) < 0.3]
    compared = [(c, r) for c, r in compared if r]
    if not compared:
        return Claim(says, "-", None, missing_text)
    worse, better = [x for x in compared if x[1].low > 1], [x for x in compared if x[1].high < 1]
    refuting, confirming = [x for x in compared if x[1].among(len(compared)).low > 1], [x for x in compared if x[1].among(len(compared)).high < 1]
    holds = False if refuting else True if len(better) == len(compared) else None
    worst = max(compared, key=lambda x: x[1].value)
    few, many = ([r.value for c, r in compared if c.fer(CLIP_8) < 0.01], [r.value for c, r in compared if c.fer(CLIP_8) >= 0.1])
    by_rate = "; ".join(f"median {median(values):.2f} times {where}" for values, where in ((many, "at FER 0.1 and more"), (few, "below 0.01")) if values)
    cell, ratio = worst
    result = (f"without a limit more frame errors than with 8 in {len(worse)} of {len(compared)} settings (95 %), fewer in {len(better)}"
              + (" (" + "; ".join(f"{name_of(c)}: {r} times" for c, r in better) + ")" if better else "") + f". With all intervals together at 95 % more in {len(refuting)}, fewer in {len(confirming)}. The ratio: {by_rate}. Most: {ratio} times, {name_of(cell)}")
    because = f"a limit saves {1 - 1 / ratio.value:.0%} of the wrong frames there" + ("; it matters at low error rates" if few and many and median(few) > median(many) else "")
    return Claim(says, result, holds, because if refuting else f"{len(compared) - len(better)} of {len(compared)} intervals reach above 1; after widening none is wholly above 1" if holds is None else "", is_open=holds is None)


def clip_row(data: Data):
    if not data.has(CLIP):
        return [], [missing(CLIP)]
    nway = clip_cells(held(data, CLIP), lambda c: int(c.parameters["ways"]))
    mtt = clip_cells(held(data, CLIP_MTT), lambda c: "MTT")
    usable = [c for c in nway if c.is_usable()]
    claims = [no_clip_claim("wu2012, section V: \"N = 4 where LLR clipping was not required\"", [c for c in nway if c.kind == 4], "too few frame errors"),
              no_clip_claim("wu2010, 4.2.1: clipping is for lists that miss a hypothesis, which MTT's do not", mtt, "too few frame errors")]
    panels = []
    if len(usable) >= 12:
        coefficients, rest, law = clip_law(usable)
        words = ", ".join(f"{name} {value}" for name, value in zip(LAW, coefficients))
        costs = {name: cost_of(usable, choice) for name, choice in (("the law", law), ("8", lambda c: CLIP_8), ("16", lambda c: 16.0), ("4", lambda c: 4.0))}
        missed, constant, share = law_against_constant(usable)
        spread = [math.log2(c.best({k: c.fer(k) for k in c.points})) for c in usable]
        claims.append(Claim("the best limit of N-way follows a law in N, modulation, code rate and SNR: log2 L = sum of coefficient times quantity",
                            f"{words}; {len(usable)} settings, best limits {2 ** min(spread):.1f} to {2 ** max(spread):.1f}, rest of the fit {rest:.2f} octaves. "
                            f"For a modulation and code rate that the fit has not seen it misses {missed:.2f} octaves, a constant limit {constant:.2f}: {share} times", share.high < 1,
                            "the interval of that ratio reaches 1: the law is no better than one limit for all" if share.high >= 1 else "", ours=True))
        against = [(c, r) for c in usable if c.least != CLIP_8 and (r := c.ratio(CLIP_8, c.least))]
        worse = [(c, r) for c, r in against if r.among(len(usable)).low > 1.25]
        unsure = sum(r.high > 1.25 for _, r in against)
        claims.append(Claim("a limit of 8 has at most 1.25 times the fewest frame errors in all settings",
                            f"more in {len(worse)} of {len(usable)} settings (all intervals together 95 %), open in {unsure - len(worse)}"
                            + "".join(f"; {r} times, N = {c.kind}, {name_of(c)}" for c, r in worse)
                            + ". Frame errors over the fewest: " + "; ".join(f"L = {name}: median {middle:.2f}, at most {highest:.2f} times" for name, (middle, highest) in costs.items()),
                            False if worse else None if unsure else True,
                            f"the law, fitted to these settings, has at most {costs['the law'][1]:.2f} times" if worse else f"{unsure} of {len(usable)} intervals end above 1.25" if unsure else "", ours=True, is_open=not worse and bool(unsure)))
        panels.append(Panel("best limit of N-way", "", "LLR limit", [
            x for n in (1, 3, 4) for r in ("1/2", "5/6")
            if (x := Line(f"N = {n}, R = {r}", [(i, *best_over(cells)) for i, word in enumerate(NAMES)
                                                if (cells := [c for c in usable if (c.kind, c.rate_name, c.word) == (n, r, word)])], joined=False)).points],
            ticks=list(NAMES.values())))
    shown = {n: min((c for c in nway if c.kind == n and c.word == "16qam" and c.rate_name == "1/2" and c.is_usable()), default=None,
                    key=lambda c: abs(math.log(c.fer(c.least) / 0.02))) for n in (1, 2, 3, 4)}
    limits = sorted({clip for c in nway for clip in c.points})
    lines = [Line(f"N = {n}, {c.snr_db:g} dB", [(limits.index(clip), p.errors / p.trials, *p.interval()) for clip, p in c.points.items()]) for n, c in shown.items() if c]
    panels.insert(0, Panel("16-QAM, R = 1/2", "LLR limit", "FER", lines, ticks=["none" if clip >= NO_CLIP else f"{clip:g}" for clip in limits]))
    ratios = [Line(f"{name}, {NAMES[word]}", sorted((-math.log10(c.fer(CLIP_8)), *r) for c in cells if c.word == word and c.points[CLIP_8].errors >= 20
                                                    and c.fer(CLIP_8) < 0.5 and (r := c.ratio(NO_CLIP, CLIP_8))), joined=False)
              for name, cells in (("N = 4", [c for c in nway if c.kind == 4]), ("MTT", mtt)) for word in NAMES]
    claims += left_out(data, CLIP) + left_out(data, CLIP_MTT)
    panels.append(Panel("without a limit, over a limit of 8", "-log10 of the FER with a limit of 8", "ratio of frame errors", [x for x in ratios if x.points]))
    return panels, claims


def best_over(cells) -> Number:
    """The mean of the best limits' logarithms, as a limit."""
    draws = [2 ** (sum(values) / len(values)) for values in zip(*([math.log2(c.best(d)) for d in c.draws] for c in cells))]
    value = 2 ** (sum(math.log2(c.best({k: c.fer(k) for k in c.points})) for c in cells) / len(cells))
    return number(value, draws)
