"""Error-rate curves of a result of `warpband sim`: crossings and distances in dB."""
import math


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
    """[(dB, rate, low, high)], sorted: 95 % intervals. Bits of a frame fail together, so a BER may have none: both ends are
    then the rate. Without an error the upper end follows the rule of three."""
    trials = {"ber": "bits", "fer": "frames"}[rate]
    axis = axis_of(result)
    return sorted((p[axis], p[rate], *(p[f"{rate}_interval"] or ((p[rate],) * 2 if p[rate] else (0.0, min(1.0, 3 / max(1, p[trials]))))))
                  for p in curve(result, label)["points"])


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


def differences(result, a, b):
    """The largest difference of two curves' frame errors at a point that both have, and the largest of bit errors, as a share of
    them."""
    def counts(label):
        return {p[axis_of(result)]: p for p in curve(result, label)["points"]}
    one, other = counts(a), counts(b)
    pairs = [(one[x], other[x]) for x in one.keys() & other.keys()]
    frames = max(abs(p["frame_errors"] / p["frames"] - q["frame_errors"] / q["frames"]) for p, q in pairs)
    return frames, max(abs(p["bit_errors"] - q["bit_errors"]) / max(1, p["bit_errors"]) for p, q in pairs)
