"""Records of `warpband bench`: which benchmark is which, and how numbers are written."""
import sys


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return out + ["| " + " | ".join(row) + " |" for row in rows] + [""]


def machine_of(b):
    machine = b["record"]["machine"]
    if b["device"].startswith("cuda"):
        return machine["gpus"][int(b["device"].split(":")[1])]["name"]
    return f"{machine['cpu']}, {b['description']}"


def key_of(op, axes, figure):
    """What tells benchmarks of one machine apart: all axes count."""
    return op, frozenset(axes.items()), figure


def by_key(bs):
    """Benchmarks of one machine by `key_of`; two with one key are an error."""
    found = {}
    for b in bs:
        key = key_of(b["op"], b["axes"], b["figure"])
        if key in found:
            sys.exit(f"{b['file']}: two benchmarks of {b['op']} {b['axes']}, figure {b['figure']}")
        found[key] = b
    return found


def three(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def duration(seconds):
    if seconds < 1e-3:
        return f"{three(1e6 * seconds)} us"
    return f"{three(1e3 * seconds)} ms" if seconds < 1 else f"{three(seconds)} s"


def faster_than_copies(old, new):
    """A reason from (call, kernel) in ms of an earlier GPU and of ours: kernels gained more than what surrounds them. Empty where not."""
    kernels = [a[1] / b[1] for a, b in zip(old, new)]
    rest = [(a[0] - a[1]) / (b[0] - b[1]) for a, b in zip(old, new) if b[0] > b[1]]
    if len(rest) < len(kernels) or any(k <= r for k, r in zip(kernels, rest)):
        return ""
    return (f"against the printed times, kernels are {three(min(kernels))} to {three(max(kernels))} times as fast, "
            f"and the rest of a call, mostly copies, {three(min(rest))} to {three(max(rest))} times")


def axes_of(detector, n, qam, ways=None, survivors=None, uses=None):
    axes = {"detector": detector, "antennas": f"{n}x{n}", "qam": qam, "ways": ways, "survivors": survivors, "uses": uses}
    return {axis: value for axis, value in axes.items() if value is not None}


def pick(bs, figures, op="detect", **axes):
    """The benchmark of these axes and no others, of the first of the figures that there is."""
    wanted = axes if op != "detect" else axes_of(**axes)
    found = {b["figure"]: b for b in bs if b["op"] == op and b["axes"] == wanted}
    return next((found[f] for f in figures if f in found), None)


def seconds(b):
    return None if b is None else b["seconds"]["median"]


def on_gpu(bs):
    return [b for b in bs if b["device"].startswith("cuda")]
