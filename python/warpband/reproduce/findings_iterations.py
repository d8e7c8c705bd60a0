"""Iterations of conjugate gradients predicted from the spectrum, a stop by residual, and Jacobi's preconditioner (docs/findings.md)."""
from __future__ import annotations

import math

from . import printed
from . import sweep_iterations as sweep
from .data import Data, Need
from .estimates import Number, behind, decided
from .findings_data import held, missing
from .rows import Claim, Line, Panel

JACOBI, RESIDUAL, SPECTRUM = (Need("finding", f"findings/{name}") for name in ("jacobi", "residual", "spectrum"))
MEASURED = {channel: Need("sweep", f"li_thesis_{channel}", ("table3.1",)) for channel in ("rayleigh", "c2", "b1")}
CHANNEL_NAMES = {"rayleigh": "Rayleigh", "c2": "C2", "b1": "B1"}
BLER = 1e-2
LOSSES = [10 ** (-k / 20) for k in range(0, 61)]  # what may be left of an error: candidates for the one parameter of a prediction


class Needed:
    """The least iterations for less than 1 dB against Cholesky in a channel. `low` and `high`: of the ends of the loss' interval, one
    of `count` that hold together with 95%."""

    def __init__(self, curves, size, count=1):
        losses = [(i, Number(*loss).among(count)) for i, loss in sweep.minimum(curves, size)[1] if loss]
        first = lambda end: next((i for i, loss in losses if loss[end] < 1), None)  # noqa: E731
        self.value, self.low, self.high = first(0), first(1), first(2)

    def has(self, count) -> bool:
        return self.low <= count and (self.high is None or count <= self.high)

    def __str__(self):
        return f"{self.value}" if self.low == self.high else f"{self.value} [{self.low}, {self.high or 'open'}]"


def needed_of(data: Data, count=1) -> dict:
    found = {}
    for channel, need in MEASURED.items():
        curves = sweep.Curves(data.get(need))
        for size in curves.sizes():
            n = Needed(curves, size, count)
            if n.value and n.low:
                found[channel, size] = n
    return found


# ---------------------------------------------------------------- predictions
def chebyshev(kappa, users, left) -> float:
    """Iterations after which Chebyshev's bound 2 ((sqrt k - 1) / (sqrt k + 1))^I is `left`; U are always enough."""
    root = math.sqrt(max(kappa, 1 + 1e-9))
    return min(users, math.ceil(math.log(2 / left) / math.log((root + 1) / (root - 1)) - 1e-9))


def random_kappa(entry) -> float:
    """Of independent entries, from U/B and N0 (Marchenko and Pastur)."""
    b, u = entry["antennas"], entry["users"]
    n0, ratio = u * 10 ** (-entry["snr_db"] / 10), math.sqrt(u / b)
    return (b * (1 + ratio) ** 2 + n0) / (b * (1 - ratio) ** 2 + n0)


def remaining(entry, quantile, left) -> float:
    """The first iteration whose error is `left` of what noise and interference leave, in a drop of this quantile."""
    return next((i for i, q in enumerate(entry["excess"], 1) if q[quantile] <= left), len(entry["excess"]) + 1)


PREDICTIONS = {
    "U/B alone": lambda e, left: chebyshev(random_kappa(e), e["users"], left),
    "the median condition number": lambda e, left: chebyshev(e["kappa"][0], e["users"], left),
    "the condition number of 99 % of the subcarriers": lambda e, left: chebyshev(e["kappa"][2], e["users"], left),
    "all eigenvalues, the median drop": lambda e, left: remaining(e, 0, left),
    "all eigenvalues, 99 % of the drops": lambda e, left: remaining(e, 2, left),
}


def misses(pairs, predict, left) -> float:
    return sum(math.log(predict(e, left) / n.value) ** 2 for e, n in pairs)


def fitted(pairs, predict) -> float:
    return min(LOSSES, key=lambda left: misses(pairs, predict, left))


def judged(pairs, predict):
    """The parameter, and of each pair the count that the others' parameter predicts."""
    return fitted(pairs, predict), [predict(e, fitted([p for p in pairs if p[0] is not e], predict)) for e, _ in pairs]


def spectrum_claims(data: Data):
    measured = needed_of(data)
    entries = [e for e in data.get(SPECTRUM)["entries"] if e["power_control"]]
    pairs = [(e, measured[key]) for e in entries if (key := (e["channel"], (e["antennas"], e["users"]))) in measured]
    claims, best = [], None
    for name, predict in PREDICTIONS.items():
        left, counts = judged(pairs, predict)
        inside = sum(n.has(count) for count, (_, n) in zip(counts, pairs))
        rms = math.sqrt(sum(math.log(count / n.value) ** 2 for count, (_, n) in zip(counts, pairs)) / len(pairs))
        worst = max(zip(counts, pairs), key=lambda x: abs(math.log(x[0] / x[1][1].value)))
        e = worst[1][0]
        claims.append(Claim(f"I for less than 1 dB follows from {name}, one parameter for all sizes and channels",
                            f"within the interval of the measured I in {inside} of {len(pairs)} (each predicted by a fit to the others), factor {math.exp(rms):.2f} in the mean, "
                            f"error left {left:.2g}; worst: {CHANNEL_NAMES[e['channel']]} {e['antennas']}x{e['users']}, {worst[0]:g} for {worst[1][1]}",
                            inside >= 0.9 * len(pairs), "" if inside >= 0.9 * len(pairs) else "outside of the intervals are " + ", ".join(
                                f"{sum(not n.has(count) for count, (e, n) in zip(counts, pairs) if e['channel'] == c)} in {CHANNEL_NAMES[c]}" for c in CHANNEL_NAMES), ours=True))
        if best is None or inside > best[0]:
            best = (inside, name, counts)
    sizes = sorted({(e["users"], e["antennas"]) for e, _ in pairs})
    lines = [Line(CHANNEL_NAMES[c], [(sizes.index((e["users"], e["antennas"])), count / n.value, count / (n.high or e["users"]), count / n.low)
                                     for count, (e, n) in zip(best[2], pairs) if e["channel"] == c], joined=False) for c in CHANNEL_NAMES]
    return claims, [Panel(f"predicted from {best[1]}", "antennas x users", "predicted I over measured I", lines, log_y=False, ticks=[f"{b}x{u}" for u, b in sizes], levels=[(1.0, "")])]


def ratios_of(needed, channel) -> dict:
    """{B/U: [(size, least iterations)]}, of ratios with several sizes."""
    ratios: dict = {}
    for (c, (b, u)), n in needed.items():
        if c == channel:
            ratios.setdefault(b // u, []).append(((b, u), n))
    return {ratio: group for ratio, group in sorted(ratios.items(), reverse=True) if len(group) > 1}


def grows(pairs) -> tuple[int, int]:
    """In how many pairs the larger array needs more, and in how many no more."""
    return sum(few.high is not None and many.low > few.high for (_, few), (_, many) in pairs), sum(many.high is not None and many.high <= few.low for (_, few), (_, many) in pairs)


def table_claims(data: Data):
    """That of table 3.1, channel by channel: whether more users need more iterations at the same ratio."""
    claims, needed = [], needed_of(data)
    for channel, name in CHANNEL_NAMES.items():
        ratios = ratios_of(needed, channel)
        count = sum(map(len, ratios.values()))
        more, same = grows([pair for group in ratios.values() for pair in zip(group, group[1:])])
        wide = [pair for group in ratios_of(needed_of(data, count), channel).values() for pair in zip(group, group[1:])]
        sure = grows(wide)[1]
        words = "; ".join(f"U/B = 1/{ratio}: " + ", ".join(f"{b}x{u} {n} (thesis {printed.LI_ITERATIONS[b, u]})" for (b, u), n in group) for ratio, group in ratios.items())
        holds = False if sure else True if wide and more == len(wide) else None
        claims.append(Claim(f"li, table 3.1: I grows with U at the same U/B (128x16: 3, 256x32: 4, 512x64: 5); {name}",
                            f"{words}. With twice the users and antennas I is more in {more}, no more in {same} of {len(wide)} (95 %), with all intervals together at 95 % no more in {sure}", holds,
                            "" if holds else f"in {sure} of {len(wide)} steps twice the users and antennas need no more iterations" if sure else f"intervals leave {len(wide) - more} of {len(wide)} steps open", is_open=holds is None and bool(wide)))
    return claims


# ---------------------------------------------------------------- stop by residual
def by_family(curves):
    found: dict = {}
    for c in curves:
        found.setdefault(c.family, []).append(c)
    return found


def residual_claims(data: Data):
    stops, fixed = by_family(held(data, RESIDUAL)), by_family(held(data, JACOBI))
    mean = {(e["channel"], f"{e['antennas']}x{e['users']}"): e["stop"] for e in data.get(SPECTRUM)["entries"] if e["power_control"]} if data.has(SPECTRUM) else {}
    losses: dict = {}
    for family, curves in stops.items():
        reference = fixed.get(f"{family} cholesky")
        for c in curves:
            loss = behind(c, reference[0], BLER) if reference else None
            count = mean.get(tuple(family.split()), {}).get(str(c.parameters["residual"]))
            losses.setdefault(c.parameters["residual"], []).append((family, loss, count))
    by_iterations = {family: {c.parameters["iterations"]: behind(c, fixed[f"{family} cholesky"][0], BLER) for c in curves if c.parameters.get("solver") == "cg"}
                     for family, curves in fixed.items() if f"{family} cholesky" in fixed}
    claims = []
    for residual, found in sorted(losses.items(), reverse=True):
        known = [(f, n, k) for f, n, k in found if n and k]
        if not known:
            continue
        unknown = [f for f, n, k in found if not (n and k)]
        above, below = [x for x in known if x[1].among(len(known)).low > 0.25], [x for x in known if x[1].high < 0.25]
        by_channel = {name: [f"{f.split()[1]} {n} dB, {k[0]:.2f} ± {k[1]:.2f} iterations" for f, n, k in known if f.split()[0] == channel] for channel, name in CHANNEL_NAMES.items()}
        words = ". ".join(f"{name}: {'; '.join(values)}" for name, values in by_channel.items() if values)
        claims.append(Claim(f"a stop at the residual {residual:g} loses less than 0.25 dB in every channel and size", words + (f". No crossing of the BLER: {', '.join(unknown)}" if unknown else ""),
                            False if above or unknown else True if len(below) == len(known) else None,
                            f"it loses more in {len(above) + len(unknown)} of {len(found)} channels and sizes" if above or unknown else "an interval includes 0.25 dB"
                            if len(below) < len(known) else "", ours=True, is_open=not above and not unknown and len(below) < len(known)))
    panels = []
    for channel, name in CHANNEL_NAMES.items():
        families = [f for f in stops if f.split()[0] == channel]
        lines = [Line(f"{f.split()[1]}, stop by residual", sorted((k[0], *n) for r, found in losses.items() for g, n, k in found if g == f and n and k)) for f in families]
        lines += [Line(f"{f.split()[1]}, fixed I", sorted((i, *n) for i, n in by_iterations.get(f, {}).items() if n), dashed=True, setting=f"{f.split()[1]}, stop by residual") for f in families]
        panels.append(Panel(f"{name}: loss at BLER 1e-2", "mean iterations of a vector", "dB behind Cholesky", [x for x in lines if x.points], log_y=False))
    return claims, panels


# ---------------------------------------------------------------- Jacobi
def jacobi_gains(data: Data, controlled: bool) -> list[tuple[str, int, Number]]:
    """(family, I, dB more than plain conjugate gradients after as many iterations), users of equal mean power or not."""
    found = []
    for family, curves in by_family(held(data, JACOBI)).items():
        if family.endswith("cholesky") or family.endswith("uncontrolled") is controlled:
            continue
        sides = {(c.parameters["solver"], c.parameters["iterations"]): c for c in curves}
        for i in sorted({i for _, i in sides}):
            if ("cg", i) in sides and ("jacobi-cg", i) in sides and (n := behind(sides["jacobi-cg", i], sides["cg", i], BLER)):
                found.append((family, i, n))
    return found


def jacobi_claims(data: Data):
    claims, gains, needed = [], [], needed_of(data)
    for controlled in (True, False):
        found = jacobi_gains(data, controlled)
        gains += found
        if not found:
            continue
        faster, slower = decided([n for *_, n in found])
        alone = [n for *_, n in found if n.high < 0 or n.low > 0]

        def least(family):
            channel, size = family.split()[:2]
            n = needed.get((channel, tuple(map(int, size.split("x")))))
            return f" (CG with equal powers needs {n})" if n else ""
        words = "; ".join(f"{f.removesuffix(' uncontrolled')}, I = {i}{least(f)}: {n} dB" for f, i, n in found if n in alone) or "-"
        rest = [n.value for *_, n in found if n not in alone]
        says = "li, chapter 6: \"other iterative methods besides conjugate gradient may converge faster by using specific preconditions\". Here: conjugate gradients with Jacobi's, " + \
            ("users of equal mean power" if controlled else "users whose mean powers differ from drop to drop")
        claims.append(Claim(says, f"Jacobi's SNR over CG's at BLER 1e-2: less in {sum(n.high < 0 for *_, n in found)}, more in {sum(n.low > 0 for *_, n in found)} of {len(found)} (95 %), with all intervals together at 95 % "
                            f"less in {len(faster)}, more in {len(slower)}: {words}; the other {len(rest)} from {min(rest, default=0):.2f} to {max(rest, default=0):.2f} dB, with intervals that include 0",
                            True if faster else False if slower else None,
                            "" if faster else f"{len(slower)} of {len(found)} need more SNR" if slower else "all intervals together include 0 dB", is_open=not faster and not slower))
    names = list(dict.fromkeys(f for f, *_ in gains))
    channels = list(dict.fromkeys((f.split()[0], f.endswith("uncontrolled")) for f in names))
    ticks = [f"{f.split()[1]}, {i}" for f, i, _ in gains]
    lines = [Line(CHANNEL_NAMES[c] + (", powers differ" if u else ""), [(k, *n) for k, (f, _, n) in enumerate(gains) if (f.split()[0], f.endswith("uncontrolled")) == (c, u)], joined=False)
             for c, u in channels]
    return claims, [Panel("Jacobi against CG", "antennas x users, I", "dB more than CG at BLER 1e-2", lines, log_y=False, ticks=ticks, levels=[(0.0, "")])]


def iterations_row(data: Data):
    panels, claims = [], table_claims(data)
    for need, make in ((SPECTRUM, spectrum_claims), (RESIDUAL, residual_claims), (JACOBI, jacobi_claims)):
        if not data.has(need):
            claims.append(missing(need))
            continue
        found, made = make(data)
        claims += found
        panels += [p for p in made if any(line.points for line in p.lines)]
    return panels, claims
