"""Where the Silver and the Golden code beat multiplexing behind a channel code (docs/findings.md)."""
from __future__ import annotations

from statistics import median

from .data import Data, Need
from .estimates import decided
from .findings_data import NAMES, held, left_out, missing
from .rows import Claim, Line, Panel

CODES = Need("finding", "findings/stbc")
FERS = ("1e-1", "1e-2", "1e-3")
SCHEMES = {"silver": "Silver", "golden": "Golden"}
FADING = {"fast": "H new for each codeword of two uses", "block": "one H for a frame"}


def gains_of(data: Data) -> dict:
    """By (scheme, fading, code, rate, modulation, correlation): [(FER, dB less than multiplexing)]."""
    snr = {}
    for c in held(data, CODES):
        code, scheme, fer = c.family.split()
        p = c.parameters
        snr[scheme, fer, p["fading"], code, p.get("rate", "1/2"), p["modulation"], p["tx_coefficient"]] = c.target
    found: dict = {}
    for (scheme, fer, *setting), n in snr.items():
        other = snr.get(("multiplexing", fer, *setting))
        if scheme in SCHEMES and n and other:
            found.setdefault((scheme, *setting), []).append((fer, other.minus(n)))
    return found


def name_of(setting) -> str:
    code, rate, word, correlation = setting
    return f"{code} {rate} {NAMES[word]}" + (", correlated" if correlation else "")


def middle(gains, scheme, fading, fer, settings):
    values = [n.value for key, found in gains.items() if key[:2] == (scheme, fading) and key[2:] in settings for f, n in found if f == fer]
    return median(values) if values else None


def reason(gains, scheme, fading, fer) -> str:
    """The median gain beside that with the other fading, over settings that have both."""
    other = "block" if fading == "fast" else "fast"
    settings = set.intersection(*({key[2:] for key, found in gains.items() if key[:2] == (scheme, f) and fer in dict(found)} for f in (fading, other)))
    here, elsewhere = middle(gains, scheme, fading, fer, settings), middle(gains, scheme, other, fer, settings)
    if here is None or elsewhere is None:
        return ""
    return f"the median gain is {here:+.2f} dB; with {FADING[other]} it is {elsewhere:+.2f} dB"


def codes_row(data: Data):
    if not data.has(CODES):
        return [], [missing(CODES)]
    gains, claims, panels = gains_of(data), [], []
    for fading, words in FADING.items():
        for scheme, name in SCHEMES.items():
            for fer in FERS:
                found = [(key[2:], n) for key, values in gains.items() if key[:2] == (scheme, fading) for f, n in values if f == fer]
                if not found:
                    continue
                better, worse = [x for x in found if x[1].low > 0], [x for x in found if x[1].high < 0]
                refuting, confirming = decided([n for _, n in found])
                largest, least = max(found, key=lambda x: x[1].value), min(found, key=lambda x: x[1].value)
                few, kind = min((better, "better"), (worse, "worse"), key=lambda x: len(x[0]))
                listed = f"; {kind}: " + ", ".join(name_of(s) for s, _ in few) if few else ""
                unsure = len(found) - len(better) - len(worse)
                holds = False if refuting else True if len(better) == len(found) else None
                claims.append(Claim(f"bollapalli, section I: correlation of signals across antennas \"improves the reliability\"; {name} behind a code at FER {fer}, {words}",
                                    f"less Eb/N0 than multiplexing in {len(better)}, more in {len(worse)} of {len(found)} settings (95 %), open in {unsure}; gain from {least[1]} dB "
                                    f"({name_of(least[0])}) to {largest[1]} dB ({name_of(largest[0])}){listed}. With all intervals together at 95 % less in {len(confirming)}, more in {len(refuting)}", holds,
                                    "; ".join(filter(None, [f"{len(refuting)} of {len(found)} settings need more", reason(gains, scheme, fading, fer)])) if holds is False
                                    else f"{len(found) - len(confirming) - len(refuting)} of {len(found)} widened intervals include 0, and none is below 0" if holds is None else "", is_open=holds is None))
        keys = [key for key in gains if key[1] == fading and key[3:5] in (("1/2", "qpsk"), ("5/6", "qpsk"), ("1/2", "16qam")) and key[5] == 0]
        lines = [Line(f"{SCHEMES[key[0]]}, {name_of(key[2:])}", sorted((FERS.index(f), *n) for f, n in gains[key]), joined=False) for key in keys]
        panels.append(Panel(words, "FER", "dB less than multiplexing", lines, log_y=False, ticks=list(FERS), levels=[(0.0, "")]))
    claims += left_out(data, CODES)
    return [p for p in panels if p.lines], claims
