"""Where a tree search pays on a GPU against MMSE and EP: a map over antennas, modulation, code rate, fading and correlation (docs/findings.md)."""
from __future__ import annotations

import math
import random

from .data import Data, Need
from .estimates import DRAWS
from .findings_data import NAMES, QAM, held, missing
from .records import on_gpu
from .rows import Claim, Line, Panel
from .wu2010 import DETECT as RECORD  # of antennas and modulations that `TIMES` lacks

TREE, CORRELATED, TIMES = (Need("finding", f"findings/{name}") for name in ("tree", "tree_correlated", "times"))
FRAME_BITS = 2304
LESS_TIME = 0.9  # times have no interval: a detector is faster if it takes at most this part of the other's time
TIME_SPREAD = 0.05  # standard deviation of a time's logarithm in draws
CLOSE_DB = 0.5  # a detector is accurate enough where it needs at most this more than the most accurate
KINDS = {"mmse": "MMSE", "ep 2": "EP", "ep 4": "EP", "mtt": "tree"}
SIZES = ("2x2", "4x4", "8x4", "8x8")
CODE_RATES = ("1/2", "5/6")


def kind_of(detector):
    return KINDS.get(detector, "tree")


def times_of(data: Data) -> tuple[dict, dict]:
    """us of a frame by antennas, points of the constellation and detector; and the machine by antennas and points."""
    found, machine = {}, {}
    for t in data.get(TIMES)["times"] if data.has(TIMES) else []:
        name = t["detector"] + (f" {t['ways']}" if t["detector"] == "nway" else f" {t['iterations']}" if t["detector"] == "ep" else "")
        found[t["antennas"], t["qam"], name] = t["us"]
        machine[t["antennas"], t["qam"]] = data.get(TIMES)["machine"]["device"].rpartition(", ")[2]
    for b in on_gpu(data.benchmarks(RECORD)):
        axes = b["axes"]
        if b["op"] != "detect" or b["figure"] != "kernel" or axes["detector"] not in ("mmse", "mtt", "nway", "ep") or set(axes) - {"detector", "antennas", "qam", "ways", "iterations"}:
            continue
        key = axes["antennas"], axes["qam"]
        name = " ".join(str(axes[k]) for k in ("detector", "ways", "iterations") if k in axes)
        if machine.setdefault(key, b["description"]) == b["description"]:  # times of one cell are of one machine
            found[(*key, name)] = FRAME_BITS / b["mbps"]
    return found, machine


class Cell:
    """An antenna configuration, modulation, code rate, fading and correlation: SNR at the error rate, and time, by detector."""

    def __init__(self, key, snr, times, machine=None):
        self.key = key  # (antennas, word, rate, fading, correlation)
        self.snr = snr
        self.machine = machine
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

    @property
    def is_timed(self) -> bool:
        """Whether MMSE and each tree search that reaches the error rate have a time."""
        return bool(self.us.get("mmse")) and all(self.us[d] for d in self.snr if kind_of(d) == "tree")

    def chosen(self, snr, us) -> str | None:
        """The fastest that is accurate enough."""
        return min((d for d in snr if us.get(d) and snr[d] <= min(snr.values()) + CLOSE_DB), key=lambda d: us[d], default=None)

    def choice(self):
        """The chosen detector, and the share of draws that choose one of its kind."""
        value = self.chosen({d: n.value for d, n in self.snr.items()}, self.us)
        if value is None:
            return None, 0.0
        source = random.Random(str(self.key))
        drawn = [self.chosen({d: n.drawn(source) for d, n in self.snr.items()}, {d: us and us * math.exp(source.gauss(0, TIME_SPREAD)) for d, us in self.us.items()}) for _ in range(DRAWS)]
        return value, sum(kind_of(d or "") == kind_of(value) for d in drawn) / DRAWS

    def is_faster(self, one, other) -> bool | None:
        """Whether `one` takes less time; None where an SNR or a time is missing."""
        if one not in self.snr or other not in self.snr or not self.us.get(one) or not self.us.get(other):
            return None
        return self.us[one] <= LESS_TIME * self.us[other]

    def beats(self, one, other, count=1) -> bool:
        """Whether `one` takes less time and needs less SNR, by an interval that holds together with `count` of them with 95%."""
        return bool(self.is_faster(one, other)) and self.snr[one].minus(self.snr[other]).among(count).high < 0


def cells_of(data: Data) -> list[Cell]:
    (times, machine), found = times_of(data), {}
    for need, correlation in ((TREE, 0.0), (CORRELATED, 0.7)):
        for c in held(data, need):
            size, detector = c.family.split(" ", 1)
            p = c.parameters
            cell = found.setdefault((size, p["modulation"], p["rate"], p["fading"], correlation), {})
            if c.target:
                cell[detector] = c.target
    order = list(NAMES)
    return [Cell(key, snr, times, machine.get((key[0], QAM[key[1]]))) for key, snr in sorted(found.items(), key=lambda x: (x[0][4], x[0][3] == "block", x[0][0], order.index(x[0][1]), x[0][2])) if snr]


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


def beaten(cells, says, loser, winner=lambda c: "mmse", name="MMSE", ours=False):
    judged = [c for c in cells if c.is_faster(winner(c), loser(c)) is not None]
    if not judged:
        return Claim(says, "-", None, "SNRs or times are not stored", ours=ours)
    lost, sure = ([c for c in judged if c.beats(winner(c), loser(c), count)] for count in (1, len(judged)))
    unsure = [c for c in judged if c.is_faster(winner(c), loser(c)) and c not in lost and c.snr[winner(c)].minus(c.snr[loser(c)]).low <= 0]
    gains = sorted((c.snr[loser(c)].minus(c.snr[winner(c)]) for c in lost), key=lambda n: n.value)
    result = f"{name} needs less SNR (95 %) and at least {1 - LESS_TIME:.0%} less time in {len(lost)} of {len(judged)} settings with times, in {len(sure)} with all intervals together at 95 %"
    if lost:
        result += f", up to {gains[-1]} dB less: {where(lost)}"
    shares = sorted(c.us[winner(c)] / c.us[loser(c)] for c in sure)
    times = list(dict.fromkeys(f"{share:.2f}" for share in (shares[0], shares[-1]))) if sure else []
    reason = f"{name} takes {' to '.join(times)} of its time in {'both' if len(sure) == 2 else f'those {len(sure)}'}" if sure \
        else f"{name} takes less time in {len(lost) + len(unsure)} settings; there the SNR difference is not significant" if lost or unsure else ""
    return Claim(says, result, False if sure else None if lost or unsure else True, reason, ours=ours, is_open=not sure and bool(lost or unsure))


def map_claims(cells):
    """Which kind is chosen where, and what has no time."""
    claims, timed = [], [c for c in cells if c.is_timed]
    chosen = [(c, d, share >= 0.95, share == 1) for c in timed for d, share in [c.choice()]]
    if chosen:
        others = []
        for kind in ("MMSE", "EP"):
            here = [(c, sure) for c, d, sure, _ in chosen if kind_of(d) == kind]
            others.append(f"{kind} in {len(here)} ({sum(sure for _, sure in here)} with 95 %)" + (f": {where([c for c, _ in here])}" if here else ""))
        tree = [sure for _, d, sure, _ in chosen if kind_of(d) == "tree"]
        others_always = sum(always for _, d, _, always in chosen if kind_of(d) != "tree")
        names = {"MTT": sum(d == "mtt" for _, d, *_ in chosen), "N-way, one pass": sum(d == "nway 1" for _, d, *_ in chosen)}
        names["N-way, all passes"] = len(tree) - sum(names.values())
        machines = {m: sorted({f"{c.key[0]} {NAMES[c.key[1]]}" for c in timed if c.machine == m}) for m in dict.fromkeys(c.machine for c in timed)}
        no_ep = sorted({f"{c.key[0]} {NAMES[c.key[1]]}" for c in timed if not c.us.get("ep 2")})
        claims.append(Claim(f"the fastest detector within {CLOSE_DB} dB of the most accurate is a tree search (MMSE, EP with 2 and 4 iterations, N-way with one and all passes, MTT)",
                            f"a tree search in {len(tree)} of {len(chosen)} settings ({sum(tree)} with 95 %: " + ", ".join(f"{n} {name}" for name, n in names.items() if n) + "); "
                            + "; ".join(others) + ". Times: " + "; ".join(f"{m}: {', '.join(held)}" for m, held in machines.items()) + (f". EP has no times at {', '.join(no_ep)}" if no_ep else ""),
                            False if others_always else True if sum(tree) == len(chosen) else None,
                            f"all {DRAWS} draws choose another in {others_always} settings" if others_always else f"another detector is chosen in {len(chosen) - len(tree)} settings. In none do all {DRAWS} draws choose it, as {len(chosen)} simultaneous tests require"
                            if sum(tree) < len(chosen) else "", ours=True, is_open=not others_always and sum(tree) < len(chosen)))
    if len(timed) < len(cells):
        missing_times = sorted({f"{c.key[0]} {NAMES[c.key[1]]}" for c in cells if not c.is_timed})
        claims.append(Claim("the same at the other antennas and modulations", f"SNRs alone, in {len(cells) - len(timed)} of {len(cells)} settings: {', '.join(missing_times)}", None,
                            "neither the campaign nor a stored record has times of MMSE and all tree searches there", ours=True))
    return claims


def detectors_row(data: Data):
    if not data.has(TREE):
        return [], [missing(TREE)]
    cells = cells_of(data)
    ways = lambda c: f"nway {c.key[0].split('x')[1]}"  # noqa: E731
    claims = [beaten(cells, "wu2010, chapter 6: multi-pass trellis traversal \"is well-suited to the GPU\" (it holds where MMSE is not better in both)", lambda c: "mtt"),
              beaten(cells, "wu2012: N = 1, selective spanning, is a choice where throughput counts (the same)", lambda c: "nway 1"),
              beaten(cells, "wu2012: N-way with all passes is a choice where error rate counts (the same)", ways),
              beaten(cells, "MTT pays beside N-way with all passes", lambda c: "mtt", ways, "N-way", ours=True), *map_claims(cells)]
    for fading in ("fast", "block"):
        gains = [(c, g) for c in cells if c.key[3] == fading and (g := c.gain("tree"))]
        if gains:
            largest, least = max(gains, key=lambda x: x[1].value), min(gains, key=lambda x: x[1].value)
            worse = [c for c, g in gains if g.among(len(gains)).high < 0]
            unsure = [c for c, g in gains if g.low <= 0 and c not in worse]
            claims.append(Claim(f"in {fading} fading the best tree search needs less SNR than MMSE in all settings",
                                f"{sum(g.low > 0 for _, g in gains)} of {len(gains)} settings (95 %); {least[1]} dB ({where([least[0]])}) to {largest[1]} dB ({where([largest[0]])})",
                                False if worse else None if unsure else True, f"it needs more in {where(worse)}" if worse else f"in {where(unsure)} the interval includes 0" if unsure else "",
                                ours=True, is_open=not worse and bool(unsure)))
    panels = []
    for fading in ("fast", "block"):
        group = [c for c in cells if c.key[3] == fading and c.key[0] in SIZES]
        names = list(dict.fromkeys(f"{c.key[0]} {c.name}" for c in group))
        lines = [Line(f"{kind}, correlation {correlation:g}", [(names.index(f"{c.key[0]} {c.name}"), *g) for c in group if c.key[4] == correlation and (g := c.gain(kind))],
                      joined=False) for kind in ("tree", "EP") for correlation in (0.0, 0.7)]
        panels.append(Panel(f"{fading} fading", "", "dB less than MMSE at FER 1e-2", [x for x in lines if x.points], log_y=False, ticks=names))
    return [p for p in panels if p.lines], claims
