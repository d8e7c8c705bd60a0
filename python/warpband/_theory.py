"""Closed forms and bounds of error rates, for figures: ``warpband plot --theory`` and ``warpband.plot.error_rates(theory=True)``.

It imports nothing of the package, so that the command runs it without the package. g is Es/N0 of one stream, not in dB.
"""
from __future__ import annotations

import functools
import math
from typing import Any, Callable, Iterator, Mapping, Sequence

POINTS = {"bpsk": 2, "qpsk": 4, "4qam": 4, "16qam": 16, "64qam": 64, "256qam": 256, "1024qam": 1024, "4096qam": 4096}
#: Channels of bits and their uncoded bit error rates: an erased bit is decided as 0.
BITS: dict[str, tuple[str, Callable[[float], float]]] = {
    "bsc": ("BSC", lambda p: min(p, 1 - p)), "bec": ("BEC", lambda p: p / 2), "z": ("Z-channel", lambda p: p / 2)}
Lines = Iterator[tuple[str, str, list[tuple[float, float]]]]


# ---------------------------------------------------------------- uncoded

@functools.lru_cache
def erfc_terms(points: int) -> list[tuple[float, float]]:
    """(w, a) with a bit error rate of sum w erfc(sqrt(a g)) in AWGN: Gray QAM (Cho and Yoon, IEEE Trans. Comm. 50(7), 2002), BPSK."""
    if points == 2:
        return [(0.5, 1.0)]
    levels = math.isqrt(points)
    bits = levels.bit_length() - 1
    terms: dict[int, float] = {}
    for k in range(1, bits + 1):
        for i in range((levels >> k) * ((1 << k) - 1)):
            part = i * 2 ** (k - 1) / levels
            sign = -1 if math.floor(part) % 2 else 1
            terms[i] = terms.get(i, 0.0) + sign * (2 ** (k - 1) - math.floor(part + 0.5)) / levels / bits
    return [(w, (2 * i + 1) ** 2 * 3 / (2 * (points - 1))) for i, w in terms.items()]


def awgn_ber(points: int, g: float) -> float:
    return sum(w * math.erfc(math.sqrt(a * g)) for w, a in erfc_terms(points))


def rayleigh_ber(points: int, g: float, branches: int = 1) -> float:
    """With maximum-ratio combining of independent branches of mean SNR g each (Proakis, Digital Communications, 4th ed., 14.4-15)."""
    total = 0.0
    for w, a in erfc_terms(points):
        mean = math.sqrt(a * g / (1 + a * g))
        sum_of_branches = sum(math.comb(branches - 1 + k, k) * ((1 + mean) / 2) ** k for k in range(branches))
        total += w * 2 * ((1 - mean) / 2) ** branches * sum_of_branches
    return total


def rician_ber(points: int, g: float, k: float, branches: int = 1) -> float:
    """The same in Rician fading of K-factor k: branches by moment generating functions (Simon and Alouini, chapter 9)."""
    total = 0.0
    for w, a in erfc_terms(points):
        snrs = [a * g / math.sin((i + 0.5) * math.pi / 400) ** 2 for i in range(200)]
        mean = sum(((1 + k) / (1 + k + s) * math.exp(-k * s / (1 + k + s))) ** branches for s in snrs) / len(snrs)
        total += w * mean
    return total


# ---------------------------------------------------------------- capacity of a constellation and the normal approximation

# Of a standard normal variable, by the trapezoid rule, whose error falls faster than any power of the step.
_NORMAL = [(i / 8, math.exp(-((i / 8) ** 2) / 2) / math.sqrt(2 * math.pi) / 8) for i in range(-72, 73)]


@functools.lru_cache(maxsize=4096)
def information(points: int, g: float) -> tuple[float, float]:
    """Mean and variance, in bits and bits^2, of the information density of a symbol with equally likely points in AWGN.

    The mean is the capacity of the constellation, the variance its dispersion. QAM is two PAM dimensions.
    """
    levels = 2 if points == 2 else math.isqrt(points)
    dimensions = 1 if points == 2 else 2
    scale = 1.0 if points == 2 else math.sqrt(3 / (2 * (points - 1)))  # half the distance of neighbours, Es = 1
    noise = math.sqrt(1 / (2 * g))
    values = [scale * (2 * i + 1 - levels) / noise for i in range(levels)]
    mean = square = 0.0
    for x in values:
        for z, weight in _NORMAL:
            exponents = [(z * z - (z + x - y) ** 2) / 2 for y in values]
            top = max(exponents)
            density = math.log2(levels) - (top + math.log(sum(math.exp(e - top) for e in exponents))) / math.log(2)
            mean += weight * density / levels
            square += weight * density * density / levels
    return dimensions * mean, dimensions * max(0.0, square - mean * mean)


def normal_approximation(points: int, uses: float, bits: float, g: float) -> float:
    """Frame error rate of the best code of `bits` bits in `uses` symbols (Polyanskiy, Poor, Verdu, IEEE Trans. IT 56(5), 2010, eq. 296)."""
    mean, variance = information(points, g)
    if variance <= 0:
        return 0.0 if uses * mean > bits else 1.0
    return 0.5 * math.erfc((uses * mean - bits + 0.5 * math.log2(uses)) / math.sqrt(2 * uses * variance))


def shannon_limit(points: int, rate: float) -> float | None:
    """Es/N0 in dB at which a constellation's capacity is `rate` bits a symbol; None where it never is."""
    if not 0 < rate < math.log2(points):
        return None
    low, high = -40.0, 60.0
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (low, middle) if information(points, 10 ** (middle / 10))[0] > rate else (middle, high)
    return (low + high) / 2


# ---------------------------------------------------------------- of curves

def _grid(curve: Mapping[str, Any], axis: str) -> list[tuple[float, float]]:
    """(x, g) of 8 values a dB over the curve's points."""
    points = curve["points"]
    shift = points[0]["esn0_db"] - points[0][axis]
    low, high = min(p[axis] for p in points), max(p[axis] for p in points)
    count = max(2, math.ceil((high - low) * 8))
    return [(x, 10 ** ((x + shift) / 10)) for x in (low + (high - low) * i / count for i in range(count + 1))]


def lines_for(curves: Sequence[Mapping[str, Any]], axis: str, metric: str) -> Lines:
    """(label, kind, points) of what is known of the curves: kind "closed" or "bound", each once."""
    seen = set()
    for curve in curves:
        for label, kind, line in _lines_of(curve, axis, metric):
            if label not in seen and line:
                seen.add(label)
                yield label, kind, line


def _lines_of(curve: Mapping[str, Any], axis: str, metric: str) -> Lines:
    config = curve["config"]
    name = str((config.get("modem") or {}).get("modulation", "")).lower()
    points, channel, code = POINTS.get(name), config.get("channel") or {}, config.get("code") or {}
    if axis == "probability":
        if metric == "ber" and code.get("type") == "none" and channel.get("type") in BITS:
            title, ber = BITS[channel["type"]]
            ends = [point[axis] for point in curve["points"]]
            places = sorted({*ends, *(min(ends) + (max(ends) - min(ends)) * i / 100 for i in range(101))})
            yield f"uncoded, {title}, exact", "closed", [(p, ber(p)) for p in places]
        return
    stbc, mimo = (config.get("stbc") or {}).get("type"), config.get("mimo") or {}
    if points is None or config.get("massive") or config.get("nr") or "esn0_db" not in curve["points"][0]:
        return
    shown = name.upper().replace("QAM", "-QAM") if name != "4qam" else "QPSK"
    one = not mimo and not stbc
    if code.get("type") == "none":
        if metric != "ber":
            return
        if one and channel.get("type") == "awgn":
            yield f"{shown} in AWGN, exact", "closed", [(x, awgn_ber(points, g)) for x, g in _grid(curve, axis)]
        elif one and channel.get("type") == "rayleigh":
            yield f"{shown} in Rayleigh fading, exact", "closed", [(x, rayleigh_ber(points, g)) for x, g in _grid(curve, axis)]
        elif one and channel.get("type") == "rician":
            k = 10 ** (channel["rician_k_db"] / 10)
            yield (f"{shown} in Rician fading, K = {channel['rician_k_db']:g} dB, exact", "closed",
                   [(x, rician_ber(points, g, k)) for x, g in _grid(curve, axis)])
        elif stbc == "alamouti" and channel.get("type") == "rayleigh":
            antennas = int(mimo.get("rx_antennas", 1))
            yield (f"Alamouti, {shown}, 2x{antennas}, exact", "closed",
                   [(x, rayleigh_ber(points, g, 2 * antennas)) for x, g in _grid(curve, axis)])
        elif stbc == "alamouti" and channel.get("type") == "rician":
            antennas, k = int(mimo.get("rx_antennas", 1)), 10 ** (channel["rician_k_db"] / 10)
            yield (f"Alamouti, {shown}, 2x{antennas}, K = {channel['rician_k_db']:g} dB, exact", "closed",
                   [(x, rician_ber(points, g, k, 2 * antennas)) for x, g in _grid(curve, axis)])
        return
    if one and channel.get("type") == "awgn" and metric == "fer" and "harq" not in curve["points"][0] and code.get("rate"):
        bits = curve["points"][0]["bits"] / curve["points"][0]["frames"]
        uses = bits / code["rate"] / math.log2(points)
        yield (f"normal approximation, {bits:g} bits in {uses:g} {shown} symbols", "bound",
               [(x, rate) for x, g in _grid(curve, axis) if (rate := normal_approximation(points, uses, bits, g)) > 1e-12])
        limit = shannon_limit(points, bits / uses)
        if limit is not None:
            x = limit - (curve["points"][0]["esn0_db"] - curve["points"][0][axis])
            yield f"capacity of {shown} at {bits / uses:.3g} bit/symbol", "limit", [(x, 0.0), (x, 1.0)]
