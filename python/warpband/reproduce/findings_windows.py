"""What windows cost the turbo decoder at an error rate, and which is the fastest for a loss (docs/findings.md)."""
from __future__ import annotations

from . import curves
from .data import Data, Need
from .estimates import behind, bit_crossing_of, curve_of
from .findings_data import held, left_out, missing
from .records import on_gpu, pick
from .rows import Claim, Line, Panel
from .wu2010 import ONE_WINDOW, OVERLAP

WINDOWS = Need("finding", "findings/windows")
RATES = (Need("bench", "turbo_h100", ("^turbo",), "any"), Need("bench", "turbo_windows_h100", ("^turbo/.*precision=",), "any"))
FERS = (1e-1, 1e-2, 1e-3)
BERS = (1e-3, 1e-4, 1e-5)
LOSSES = (0.03, 0.05, 0.1, 0.2)
FAMILIES = ("log-MAP float32", "max-log-MAP float32", "log-MAP bfloat16", "max-log-MAP int16")


def reference_of(family):
    """Of the same algorithm, in float32 with long windows and overlaps."""
    return f"{family.split()[0]} float32 reference"


def gbps(data: Data, family, windows, overlap):
    """Of an H100, for all that is in a benchmark."""
    algorithm, precision = family.split()
    axes = {"k": 6144, "map": "max_log_map" if algorithm == "max-log-MAP" else "log_map", "window_steps": 6144 // windows, "overlap": overlap, "iterations": 6}
    if precision != "float32":
        axes["precision"] = precision
    b = pick(on_gpu(data.benchmarks(*RATES)), ["resident"], op="turbo", **axes)
    return None if b is None else 1e-3 * b["mbps"]


def windows_row(data: Data):
    if not data.has(WINDOWS):
        return [], [missing(WINDOWS)]
    found = held(data, WINDOWS)
    references = {c.family: c for c in found if c.family.endswith("reference")}
    decoders = {(c.family, c.parameters["windows"], c.parameters["overlap"]): c for c in found if "windows" in c.parameters}
    best = references.get("log-MAP float32 reference")
    lost = {(key, fer): behind(c, references[reference_of(key[0])], fer) for key, c in decoders.items() if reference_of(key[0]) in references for fer in FERS}
    claims = []

    def series(family, windows, overlap):
        return [(fer, lost.get(((family, windows, overlap), fer))) for fer in FERS]

    def words(values):
        return ", ".join(f"{n} dB at FER {fer:g}" for fer, n in values if n)

    printed_setting = ("log-MAP float32", 96, 0)
    if printed_setting in decoders and best:
        # The study of docs/wu2010.md has three times the wrong frames of this one at a point, and the same seed.
        study, one = curve_of(data.get(OVERLAP), "overlap 0"), curve_of(data.get(ONE_WINDOW), "log-MAP, one window")
        by_bits = [(ber, behind(study, one, ber, bit_crossing_of)) for ber in BERS]
        by_bits = [(ber, n) for ber, n in by_bits if n]
        frames = [(fer, n) for fer, n in series(*printed_setting) if n]
        if by_bits:
            claims.append(Claim("wu2010, 5.2: parallelism of 96 is \"within 0.1dB of the performance of the optimal case\"",
                                ", ".join(f"{n.text(3)} dB at BER {ber:g}" for ber, n in by_bits) + "; " + ", ".join(f"{n.text(3)} dB at FER {fer:g}" for fer, n in frames),
                                (verdict := curves.at_most([n for _, n in by_bits], 0.1)),
                                "; ".join(f"{word} at BER {', '.join(held)}" for word, held in (
                                    ("it is more", [f"{ber:g}" for ber, n in by_bits if n.among(len(by_bits)).low > 0.1]), ("the interval includes 0.1 dB", [f"{ber:g}" for ber, n in by_bits if n.among(len(by_bits)).low <= 0.1 < n.high]),
                                    ("it is less", [f"{ber:g}" for ber, n in by_bits if n.high <= 0.1])) if held) if not verdict else "", is_open=verdict is None))
    for family in FAMILIES[:2]:
        for windows in (96, 192):
            values = [n for _, n in series(family, windows, 0) if n]
            if len(values) >= 2:
                rise = values[-1].minus(values[0])
                claims.append(Claim(f"{family}: the loss of {windows} windows without overlap grows as the error rate falls", f"{words(series(family, windows, 0))}; growth {rise} dB",
                                    True if rise.low > 0 else False if rise.high < 0 else None, "the interval of the growth has 0" if rise.low <= 0 else "", ours=True, is_open=rise.low <= 0 <= rise.high))
    for family in FAMILIES[:2]:
        for windows in (96, 192):
            left = [(overlap, lost.get(((family, windows, overlap), 1e-3))) for overlap in (0, 1, 4, 16)]
            left = [(overlap, n) for overlap, n in left if n]
            if len(left) >= 2:
                claims.append(Claim(f"overlapping steps restore {family} with {windows} windows, at FER 1e-3 (to 0.03 dB)", ", ".join(f"overlap {o}: {n} dB" for o, n in left),
                                    curves.at_most([left[-1][1]], 0.03) if left[-1][0] == 16 else None,
                                    "overlap 16 has no frames enough at this error rate" if left[-1][0] != 16 else "the last interval ends above 0.03 dB" if left[-1][1].high > 0.03 else "", ours=True,
                                    is_open=left[-1][0] == 16 and curves.at_most([left[-1][1]], 0.03) is None))
    for family in FAMILIES[2:]:
        values = [n for _, n in series(family, 128, 16) if n]
        if values and reference_of(family) in references:
            verdict = curves.at_most(values, 0.03)
            claims.append(Claim(f"{family} with 128 windows and 16 overlapping steps loses at most 0.03 dB to float32 with long windows", words(series(family, 128, 16)), verdict,
                                "" if verdict else "an interval, widened for all error rates, ends above 0.03 dB", ours=True, is_open=verdict is None))
    if best and reference_of(FAMILIES[1]) in references:
        values = [n for fer in FERS if (n := behind(references[reference_of(FAMILIES[1])], best, fer))]
        if len(values) == len(FERS):
            claims.append(Claim("max-log-MAP with a scale of 0.75 loses at most 0.2 dB to log-MAP, both with long windows in float32", ", ".join(f"{n} dB at FER {fer:g}" for fer, n in zip(FERS, values)),
                                curves.at_most(values, 0.2), "" if curves.at_most(values, 0.2) else "an interval, widened for all error rates, ends above 0.2 dB", ours=True, is_open=curves.at_most(values, 0.2) is None))
    for fer in FERS:
        known = [(rate, key, n) for key, c in decoders.items() if best and (n := behind(c, best, fer)) and (rate := gbps(data, *key))]
        rule: dict = {}  # the losses for which a decoder is the fastest
        for limit in LOSSES:
            if fits := [x for x in known if x[2].among(len(known)).high <= limit]:  # one of many is chosen
                rule.setdefault(max(fits), []).append(f"{limit:g}")
        without = max((x for x in known if x[2].among(len(known)).high <= LOSSES[-1] and x[1][2] == 0), default=None)
        if rule:
            algorithms = ", ".join(dict.fromkeys(family for _, (family, _, _), _ in known))
            words = "; ".join(f"{', '.join(limits)} dB: {family}, {windows} windows, overlap {overlap} ({n} dB, {rate:.3g} Gb/s)" for (rate, (family, windows, overlap), n), limits in rule.items())
            if without:
                words += f"; without overlap, for {LOSSES[-1]:g} dB: {without[1][0]}, {without[1][1]} windows ({without[2]} dB, {without[0]:.3g} Gb/s)"
            claims.append(Claim(f"overlap pays at FER {fer:g}: the fastest on an H100 that loses less than {', '.join(f'{x:g}' for x in LOSSES)} dB has overlapping windows (of {algorithms}). Intervals are widened for all settings",
                                f"{words}; {len(known)} settings with error rates and speed", all(key[2] > 0 for _, key, _ in rule),
                                "settings without overlap are faster at some losses" if any(key[2] == 0 for _, key, _ in rule) else "", ours=True))
    claims += left_out(data, WINDOWS)
    panels = [Panel(family, "FER", "dB behind long windows of the algorithm", [
        Line(f"{windows} windows, overlap {overlap}", [(index, *n) for index, fer in enumerate(FERS) if (n := lost.get(((family, windows, overlap), fer)))])
        for windows, overlap in ((w, o) for f, w, o in decoders if f == family)], log_y=False, ticks=[f"{fer:g}" for fer in FERS]) for family in FAMILIES]
    for p in panels:
        p.lines = [x for x in p.lines if x.points]
    return [p for p in panels if p.lines], claims
