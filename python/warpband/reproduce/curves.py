"""Error-rate curves of a result of `warpband sim`: crossings and distances in dB."""
import math

from .estimates import Number


def curve(result, label):
    found = [c for c in result["curves"] if c["label"] == label]
    if len(found) != 1:
        raise KeyError(f"no one curve {label!r}")
    return found[0]


def axis_of(result):
    over_snr = all("snr_db" in c["config"].get("sweep", {}) for c in result["curves"])
    return "snr_db" if over_snr else "ebn0_db"


def points(result, label, rate):
    """[(dB, rate)], sorted. For distances a point without an error has half an error; figures mark it."""
    trials = {"ber": "bits", "fer": "frames"}[rate]
    axis = axis_of(result)
    return sorted((p[axis], p[rate] or 0.5 / max(1, p[trials])) for p in curve(result, label)["points"])


def with_intervals(result, label, rate):
    """[(dB, rate, low, high)], sorted: 95 % intervals. Bits of a frame fail together, so a BER may have none: its ends are then in the
    same proportion to it as those of the frame error rate. Without an error the upper end follows the rule of three."""
    trials = {"ber": "bits", "fer": "frames"}[rate]
    axis = axis_of(result)

    def ends(p):
        if p[f"{rate}_interval"]:
            return p[f"{rate}_interval"]
        return [p[rate] * end / p["fer"] for end in p["fer_interval"]] if p[rate] else (0.0, min(1.0, 3 / max(1, p[trials])))
    return sorted((p[axis], p[rate], *ends(p)) for p in curve(result, label)["points"])


def crossing(ps, target):
    """Where the curve, straight lines between points in the logarithm of the rate, meets the target; None where it does not."""
    for (x0, y0), (x1, y1) in zip(ps, ps[1:]):
        if y0 >= target >= y1 and y0 > y1:
            return x0 + (x1 - x0) * math.log(y0 / target) / math.log(y0 / y1)
    return None


def behind(result, label, reference, rate, target, reference_result=None):
    """By how many dB `label` needs more than `reference`; None where one of them does not reach the target."""
    here = crossing(points(result, label, rate), target)
    reference_db = crossing(points(reference_result or result, reference, rate), target)
    return None if here is None or reference_db is None else here - reference_db


def continued(ps, target):
    """`crossing` of a curve whose last line goes on straight."""
    found = crossing(ps, target)
    if found is not None or len(ps) < 2:
        return found
    (x0, y0), (x1, y1) = ps[-2:]
    return x1 + (x1 - x0) * math.log(y1 / target) / math.log(y0 / y1) if y0 > y1 > target else None


def crossing_with_ends(result, label, rate, target) -> Number | None:
    """Where a curve meets the target, and where its 95 % ends do. An upper end above it goes on straight. Any other end that does not
    reach it is infinitely far away."""
    ps = with_intervals(result, label, rate)
    value = crossing(points(result, label, rate), target)
    if value is None:
        return None
    low, high = (continued([(p[0], p[i]) for p in ps if p[i] > 0], target) for i in (2, 3))
    return Number(value, -math.inf if low is None else min(low, value), math.inf if high is None else max(high, value))


def distance(result, label, reference, rate, target, reference_result=None) -> Number | None:
    """`behind` with its 95 % interval. Frames of both curves count as independent. They share seeds, so the distance is known better
    than this."""
    here, other = crossing_with_ends(result, label, rate, target), crossing_with_ends(reference_result or result, reference, rate, target)
    return None if here is None or other is None else here.minus(other)


def falls_behind(result, label, other, rate):
    """The rate at which `label` crosses `other` and is worse from there on, after it was better; None where it is not. On either side
    of the crossing a point's intervals must be apart."""
    one, two = ({p[0]: p for p in with_intervals(result, name, rate)} for name in (label, other))
    shared = [(one[x], two[x]) for x in sorted(one.keys() & two.keys()) if one[x][1] and two[x][1]]
    last = max((i for i, (a, b) in enumerate(shared) if a[1] <= b[1]), default=-1)
    if not any(a[3] < b[2] for a, b in shared[:last + 1]) or not any(a[2] > b[3] for a, b in shared[last + 1:]):
        return None
    (a0, b0), (a1, b1) = shared[last:last + 2]
    before, after = math.log(b0[1] / a0[1]), math.log(a1[1] / b1[1])
    return math.exp(math.log(a0[1]) + math.log(a1[1] / a0[1]) * before / (before + after))


def distances(data, result, label, reference, rates=("ber", "fer"), reference_result=None) -> dict[tuple, Number]:
    """By (rate, target): `distance` at all of the run's targets that both curves reach."""
    targets = [(rate, target) for rate in rates for target in {"ber": data.bers, "fer": data.fers}[rate]]
    found = {key: distance(result, label, reference, *key, reference_result) for key in targets}
    return {key: n for key, n in found.items() if n is not None}


def at_most(numbers, limit) -> bool | None:
    """Whether all numbers are at most the limit, by their intervals; None where that is open. One of many refutes it only by an interval
    that is widened by their number."""
    numbers = list(numbers)
    if any(n.among(len(numbers)).low > limit for n in numbers):
        return False
    return True if all(n.high <= limit for n in numbers) else None


def undecided(numbers, limit) -> str:
    """Which intervals include the limit, in words, widened as `at_most` has them."""
    numbers = list(numbers)
    held = [str(n.among(len(numbers))) for n in numbers if n.high > limit]
    widened = f", widened for {len(numbers)} distances" if len(numbers) > 1 else ""
    return f"the limit of {limit:g} dB lies inside the interval{'s' if len(held) > 1 else ''} {', '.join(held)} dB{widened}"


def in_words(gaps):
    """+0.74, +1.42 dB at BER 1e-4, 1e-5."""
    return " and ".join(", ".join(f"{n.value:+.2f}" for (kind, _), n in gaps.items() if kind == rate) + f" dB at {rate.upper()} "
                        + ", ".join(power(target) for kind, target in gaps if kind == rate) for rate in dict.fromkeys(kind for kind, _ in gaps))


def uncertainty(numbers):
    """The widest of the intervals that have both ends, in words."""
    known = [(n.high - n.low) / 2 for n in numbers if math.isfinite(n.high - n.low)]
    return f" (95 %: at most ±{max(0.01, max(known)):.2f} dB)" if known else ""


def crossed(result, label, other):
    """Where `label` falls behind `other` for good, in words; empty where it does not."""
    found = [(rate, x) for rate in ("ber", "fer") if (x := falls_behind(result, label, other, rate))]
    return f"{label} falls behind {other} below " + " and ".join(f"{rate.upper()} {power(x)}" for rate, x in found) if found else ""


def power(x):
    """An error rate in words: 1e-4."""
    return f"{x:.0e}".replace("e-0", "e-")


def differences(result, a, b):
    """The largest difference of two curves' frame errors at a point that both have, and the largest of bit errors, as a share of
    them."""
    def counts(label):
        return {p[axis_of(result)]: p for p in curve(result, label)["points"]}
    one, other = counts(a), counts(b)
    pairs = [(one[x], other[x]) for x in one.keys() & other.keys()]
    frames = max(abs(p["frame_errors"] / p["frames"] - q["frame_errors"] / q["frames"]) for p, q in pairs)
    return frames, max(abs(p["bit_errors"] - q["bit_errors"]) / max(1, p["bit_errors"]) for p, q in pairs)
