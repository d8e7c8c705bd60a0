"""Where a tree search pays on a GPU against MMSE and EP: a map over antennas, modulation, code rate, fading and correlation (docs/findings.md)."""
from __future__ import annotations

import random

from .data import Data, Need
from .estimates import DRAWS
from .findings_data import NAMES, QAM, held, missing
from .rows import Claim, Line, Panel

TREE, CORRELATED, TIMES = (Need("finding", f"findings/{name}") for name in ("tree", "tree_correlated", "times"))
CLOSE_DB = 0.5  # a detector is accurate enough where it needs at most this more than the most accurate
KINDS = {"mmse": "MMSE", "ep 2": "EP", "ep 4": "EP", "mtt": "tree"}
SIZES = ("2x2", "4x4", "8x4", "8x8")
CODE_RATES = ("1/2", "5/6")


def kind_of(detector):
    return KINDS.get(detector, "tree")


def times_of(data: Data) -> dict:
    """us of a frame by antennas, points of the constellation and detector."""
    found = {}
    for t in data.get(TIMES)["times"] if data.has(TIMES) else []:
        name = t["detector"] + (f" {t['ways']}" if t["detector"] == "nway" else f" {t['iterations']}" if t["detector"] == "ep" else "")
        found[t["antennas"], t["qam"], name] = t["us"]
    return found


class Cell:
    """An antenna configuration, modulation, code rate, fading and correlation: SNR at the error rate, and time, by detector."""

    def __init__(self, key, snr, times):
        self.key = key  # (antennas, word, rate, fading, correlation)
        self.snr = snr
        self.us = {d: times.get((key[0], QAM[key[1]], d)) for d in snr}

    @property
    def name(self):
        return f"{NAMES[self.key[1]]} {self.key[2]}"

    def least(self, kind):
        """The detector of a kind that needs the least SNR."""
        return min((d for d in self.snr if kind_of(d) == kind), key=lambda d: self.snr[d].value, default=None)

    def gain(self, kind):
        """By how many dB the best of a kind needs less than MMSE."""
        best = self.least(kind)
        return None if best is None or "mmse" not in self.snr else self.snr["mmse"].minus(self.snr[best])

    def chosen(self, snr) -> str | None:
        """The fastest that is accurate enough."""
        known = [d for d in snr if self.us.get(d)]
        return min((d for d in known if snr[d] <= min(snr.values()) + CLOSE_DB), key=lambda d: self.us[d], default=None)

    def choice(self):
        """The chosen detector, and whether 95% of draws choose one of its kind."""
        value = self.chosen({d: n.value for d, n in self.snr.items()})
        if value is None:
            return None, False
        source = random.Random(str(self.key))
        same = sum(kind_of(self.chosen({d: n.drawn(source) for d, n in self.snr.items()}) or "") == kind_of(value) for _ in range(DRAWS))
        return value, same >= 0.95 * DRAWS

    def beats(self, one, other) -> bool | None:
        """Whether `one` needs less SNR, with 95%, and less time."""
        if one not in self.snr or other not in self.snr or not self.us.get(one) or not self.us.get(other):
            return None
        return self.snr[one].minus(self.snr[other]).high < 0 and self.us[one] < self.us[other]


def cells_of(data: Data) -> list[Cell]:
    times, found = times_of(data), {}
    for need, correlation in ((TREE, 0.0), (CORRELATED, 0.7)):
        for c in held(data, need):
            size, detector = c.family.split(" ", 1)
            p = c.parameters
            cell = found.setdefault((size, p["modulation"], p["rate"], p["fading"], correlation), {})
            if c.target:
                cell[detector] = c.target
    order = list(NAMES)
    return [Cell(key, snr, times) for key, snr in sorted(found.items(), key=lambda x: (x[0][4], x[0][3] == "block", x[0][0], order.index(x[0][1]), x[0][2])) if snr]


def settings(words_and_rates) -> str:
    """Modulations and code rates, those of one rate together."""
    held = list(words_and_rates)
    if len(held) == len(NAMES) * len(CODE_RATES):
        return "all"
    by_rate = {r: [NAMES[w] for w, rate in held if rate == r] for r in CODE_RATES}
    return ", ".join(f"R = {r}" if len(names) == len(NAMES) else f"{' and '.join(names)} R = {r}" for r, names in by_rate.items() if names)


def where(cells) -> str:
    """Cells in words, those of one size, fading and correlation together."""
    groups: dict = {}
    for c in cells:
        groups.setdefault((c.key[0], c.key[3], c.key[4]), []).append(c.key[1:3])
    return "; ".join(f"{size} {fading}{', correlated' if correlation else ''}: {settings(held)}" for (size, fading, correlation), held in groups.items())


def beaten(cells, says, tree):
    judged = [(c, c.beats("mmse", tree(c))) for c in cells]
    judged = [(c, b) for c, b in judged if b is not None]
    if not judged:
        return Claim(says, "-", None, "SNRs or times are not stored")
    lost = [c for c, b in judged if b]
    gains = sorted((c.snr[tree(c)].minus(c.snr["mmse"]) for c in lost), key=lambda n: n.value)
    result = f"MMSE needs less SNR (95 %) and less time in {len(lost)} of {len(judged)} settings"
    if lost:
        result += f", up to {gains[-1]} dB less: {where(lost)}"
    shares = sorted(c.us["mmse"] / c.us[tree(c)] for c in lost)
    return Claim(says, result, not lost, f"MMSE takes {shares[0]:.2f} to {shares[-1]:.2f} of its time there" if lost else "")


def detectors_row(data: Data):
    if not data.has(TREE):
        return [], [missing(TREE)]
    cells = cells_of(data)
    ways = lambda c: f"nway {c.key[0].split('x')[1]}"  # noqa: E731
    claims = [beaten(cells, "wu2010, chapter 6: multi-pass trellis traversal \"is well-suited to the GPU\"", lambda c: "mtt"),
              beaten(cells, "wu2012: N = 1, selective spanning, is a choice where throughput counts", lambda c: "nway 1"),
              beaten(cells, "wu2012: N-way with all passes is a choice where error rate counts", ways)]
    chosen = [(c, *c.choice()) for c in cells]
    chosen = [(c, d, sure) for c, d, sure in chosen if d]
    if chosen:
        for kind in ("MMSE", "EP", "tree"):
            here = [c for c, d, _ in chosen if kind_of(d) == kind]
            sure = sum(s for _, d, s in chosen if kind_of(d) == kind)
            claims.append(Claim(f"{kind} is the fastest detector within {CLOSE_DB} dB of the most accurate, of MMSE, EP with 2 and 4 iterations, N-way with one and with all passes, and MTT",
                                f"{len(here)} of {len(chosen)} settings ({sure} of them with 95 %): {where(here) or '-'}", True, ours=True))
        faded = {f: [c for c, *_ in chosen if c.key[3] == f] for f in ("fast", "block")}
        for fading, group in faded.items():
            gains = [(c, c.gain("tree")) for c in group]
            gains = [(c, g) for c, g in gains if g]
            if gains:
                most, least = max(gains, key=lambda x: x[1].value), min(gains, key=lambda x: x[1].value)
                claims.append(Claim(f"in {fading} fading the best tree search needs less SNR than MMSE in all settings",
                                    f"{sum(g.low > 0 for _, g in gains)} of {len(gains)} settings (95 %); {least[1]} dB ({where([least[0]])}) to {most[1]} dB ({where([most[0]])})",
                                    all(g.low > 0 for _, g in gains), f"not so in {where([c for c, g in gains if g.low <= 0])}" if any(g.low <= 0 for _, g in gains) else "", ours=True))
    panels = []
    for fading in ("fast", "block"):
        group = [c for c in cells if c.key[3] == fading and c.key[0] in SIZES]
        names = list(dict.fromkeys(f"{c.key[0]} {c.name}" for c in group))
        lines = [Line(f"{kind}, correlation {correlation:g}", [(names.index(f"{c.key[0]} {c.name}"), *g) for c in group if c.key[4] == correlation and (g := c.gain(kind))],
                      joined=False) for kind in ("tree", "EP") for correlation in (0.0, 0.7)]
        panels.append(Panel(f"{fading} fading", "", "dB less than MMSE at FER 1e-2", [x for x in lines if x.points], log_y=False, ticks=names))
    return [p for p in panels if p.lines], claims
