"""K. Bollapalli, Y. Wu, K. Gulati, S. Khatri, A. R. Calderbank, "Highly parallel decoding of space-time codes on graphics processing
units", 2009."""
from __future__ import annotations

import math

from . import printed
from .data import Data, Need
from .records import duration, on_gpu, seconds, three
from .rows import Line, Panel, Row, beside, measured
from .stbc_tables import FRAMES_MS, SYMBOLS_MOBILE, TONES, frame_of, one

NAMES = {4: "QPSK", 16: "16-QAM", 64: "64-QAM"}
GPU = Need("bench", "stbc_h100", ("(stbc_(fragment|wimax)|wimax_frame)",), "cuda")
# Scalar code on one core, as the paper's serial program.
# At 64-QAM up to 2^19 symbols: a call of 2^23 would take a core nearly five minutes.
SERIAL_FRAGMENTS = "^stbc_fragment/code=silver/(qam=4/|qam=16/|qam=64/output=hard/fragment=([0-9]{1,5}|131072|262144|524288)/)"
SERIAL = Need("bench", "stbc_scalar_h100_host", (SERIAL_FRAGMENTS, "--threads", "1", "--repetitions", "5", "--min-time", "0.001"), "cpu", "scalar")
EVERY = range(3, 25)


def fragments(bs, figure, qam, stage="all"):
    """Seconds by the binary logarithm of a fragment's symbols."""
    found = {n: one(bs, "stbc_fragment", [figure], qam=qam, fragment=1 << n, stage=stage) for n in EVERY}
    return {n: seconds(b) for n, b in found.items() if b}


def points(times):
    return [(1 << n, 1e3 * t) for n, t in times.items()]


def grows(times, first, last):
    """Time of the longer over the shorter, over how many times more symbols it has; None where one is missing."""
    return times[last] / times[first] / 2 ** (last - first) if first in times and last in times else None


def fixed_cost(times):
    """Why the time of 2^20 symbols is not yet linear: what a call of 8 symbols takes, as a share of it."""
    shares = {name: t[3] / t[20] for name, t in times.items() if 3 in t and 20 in t}
    return "the fixed cost of a call, that of 2^3 symbols, is " + ", ".join(f"{100 * x:.0f} % ({name})" for name, x in shares.items()) + " of the time of 2^20" \
        if shares and max(shares.values()) > 0.05 else ""


def fig_5(data: Data):
    bs = on_gpu(data.benchmarks(GPU))
    lines, ratios, short, alone_times = [], {}, {}, {}
    for qam, name in NAMES.items():
        alone, fed = fragments(bs, "sync", qam), fragments(bs, "host_fed", qam)
        paper = {n: cpu / c1060 for n, (cpu, _, c1060) in printed.BOLLAPALLI_FRAGMENTS[qam].items() if c1060}
        lines += [Line(f"ours, {name}, one after the other", points(alone), setting=name), Line(f"ours, {name}, copies overlapped", points(fed), dashed=True, setting=name),
                  Line(f"paper (Tesla C1060), {name}", points(paper), printed=True, setting=name)]
        alone_times[name] = alone
        ratios[name], short[name] = grows(alone, 20, 23), grows(alone, 3, 10)
    claims = [measured("the time is linear in the symbols of long fragments (2^20 to 2^23, within 10 %)", ratios.values(),
                       lambda v: "time per symbol of 2^23 over that of 2^20: " + ", ".join(f"{x:.2f} ({name})" for name, x in zip(ratios, v)), lambda v: all(abs(x - 1) <= 0.1 for x in v),
                       lambda v: fixed_cost(alone_times), "on a GPU"),
              measured("a fixed cost dominates short fragments, which are not linear (2^3 to 2^10: less than half of linear)", short.values(),
                       lambda v: "time per symbol of 2^10 over that of 2^3: " + ", ".join(f"{x:.3f} ({name})" for name, x in zip(short, v)), lambda v: max(v) < 0.5, missing="on a GPU")]
    for qam, name in NAMES.items():
        pair = [fragments(bs, "sync", qam).get(23), fragments(bs, "host_fed", qam).get(23)]
        claims.append(measured(f"overlapping copies and decoding raises the throughput where copies are not small, {name}, 2^23 symbols", pair, lambda v: f"{v[0] / v[1]:.2f}x",
                               lambda v: v[0] > 1.05 * v[1], missing="on a GPU"))
    return [Panel("time of a fragment with its copies", "symbols", "ms", lines, log_x=True)], claims


def stages_of(bs, qam):
    parts = {"copy in": fragments(bs, "sync", qam, "copy_in"), "decoding and reduction": fragments(bs, "kernel", qam), "copy out": fragments(bs, "sync", qam, "copy_out")}
    return parts


def fig_6(data: Data):
    bs = on_gpu(data.benchmarks(GPU))
    parts = stages_of(bs, 16)
    lines = [Line(name, points(times)) for name, times in parts.items() if times] + [Line("all in one call and its wait", points(fragments(bs, "sync", 16)), dashed=True)]
    short = [grows(times, 3, 10) for times in parts.values()]
    long = [times.get(23) for times in parts.values()]
    claims = [measured("short fragments: no stage is linear (2^3 to 2^10 symbols: less than half of linear)", short,
                       lambda v: "time per symbol of 2^10 over that of 2^3: " + ", ".join(f"{x:.3f} ({name})" for name, x in zip(parts, v)), lambda v: max(v) < 0.5, missing="on a GPU"),
              measured("16-QAM: decoding dominates the time (more than half, 2^23 symbols)", long, lambda v: ", ".join(f"{name} {100 * x / sum(v):.0f} %" for name, x in zip(parts, v)),
                       lambda v: v[list(parts).index("decoding and reduction")] > 0.5 * sum(v),
                       lambda v: f"copies take {(v[0] + v[2]) / v[1]:.1f} times as long as decoding on this GPU", "on a GPU")]
    qpsk = stages_of(bs, 4)
    claims.append(measured("QPSK: copies dominate (on PF1, whose bus is PCIe 1.0a)", [times.get(23) for times in qpsk.values()],
                           lambda v: ", ".join(f"{name} {100 * x / sum(v):.0f} %" for name, x in zip(qpsk, v)),
                           lambda v: v[list(qpsk).index("decoding and reduction")] < 0.5 * sum(v), missing="copies of QPSK one by one"))
    return [Panel("stages at 16-QAM", "symbols", "ms", lines, log_x=True)], claims


def spread(core, device, ns):
    """By how much the time of a symbol varies on the core and on the GPU over the lengths `ns`."""
    ratios = [max(t[n] / 2**n for n in ns) / min(t[n] / 2**n for n in ns) - 1 for t in (core, device)]
    return f"the time of a symbol varies by {100 * ratios[0]:.0f} % on the core and by {100 * ratios[1]:.0f} % on the GPU"


def small_calls(device, core):
    """Why short fragments gain less, from seconds by the binary logarithm of their symbols: a call costs as much for eight symbols as for many."""
    flat = [n for n in device if n > 3 and device[n] < 2 * device[3]]
    return f"a fragment of 2^{max(flat)} symbols takes {device[max(flat)] / device[3]:.1f} times as long as one of 2^3 on the GPU and {core[max(flat)] / core[3]:.0f} times on the core" \
        if flat and 3 in core and max(flat) in core else ""


def table_3(data: Data):
    bs = on_gpu(data.benchmarks(GPU))
    serial = [b for b in data.benchmarks(SERIAL) if b["device"] == "cpu"]
    repetitions = min((len(b["seconds"]["samples"]) for b in serial), default=0)
    lines, claims, speedups = [], [], {}
    for qam, name in NAMES.items():
        device_fragments, core = fragments(bs, "host_fed", qam), fragments(serial, "resident", qam)
        speedups[qam] = {n: core[n] / device_fragments[n] for n in device_fragments if n in core}
        lines.append(Line(f"ours, {name}", [(1 << n, x) for n, x in speedups[qam].items()], setting=name))
        for i, machine in ((1, "GTX 280"), (2, "Tesla C1060")):
            lines.append(Line(f"paper, {machine}, {name}", [(1 << n, row[i]) for n, row in printed.BOLLAPALLI_FRAGMENTS[qam].items() if row[i]], printed=True, setting=name))
        longest = max(core, default=None)
        claims.append(beside(f"{name}, 2^23 symbols: {printed.BOLLAPALLI_FRAGMENTS[qam][23][0]:g} s on a core of a Pentium 4, {printed.BOLLAPALLI_FRAGMENTS[qam][23][0] / max(printed.BOLLAPALLI_FRAGMENTS[qam][23][1:]):.3g} s on the faster GPU",
                             [device_fragments.get(23), longest], lambda v, core=core, longest=longest: f"{duration(v[0])} on the GPU; one scalar core {duration(core[longest])} for 2^{longest}, median of {repetitions}", "on a GPU"))
    def longest_of(qam):
        return speedups[qam][max(speedups[qam])] if speedups[qam] else None
    for qams, says, least in (((16, 64), "16- and 64-QAM: asymptotically more than 700 times as fast as the serial program", 700), ((4,), "QPSK: asymptotically more than 510 times", 510)):
        claims.append(measured(says, [longest_of(q) for q in qams], lambda v, qams=qams: ", ".join(f"{NAMES[q]} {three(x)}x at 2^{max(speedups[q])} symbols" for q, x in zip(qams, v)) + " over a scalar core with our search",
                               lambda v, least=least: min(v) > least, missing="on a GPU and on a scalar core"))
    behind = {name: [n for n, row in sorted(printed.BOLLAPALLI_FRAGMENTS[qam].items()) if speedups[qam].get(n, math.inf) < max(x for x in row[1:] if x)] for qam, name in NAMES.items()}
    slower = {name: [n for n, x in sorted(speedups[qam].items()) if x < 1] for qam, name in NAMES.items()}
    def lists(found):
        return "; ".join(f"{name} " + ", ".join(f"2^{n}" for n in ns) for name, ns in found.items() if ns) or "at no length"
    claims.append(measured("our speed-up is at least the paper's at every length", [longest_of(q) for q in NAMES], lambda v: f"it is less at: {lists(behind)}. The GPU is slower than our core at: {lists(slower)}", lambda v: not any(behind.values()),
                           lambda v: "; ".join(f"{name}: {text}" for q, name in NAMES.items() if behind[name] and (text := small_calls(fragments(bs, "host_fed", q), fragments(serial, "resident", q)))), "on a GPU and on a scalar core", ours=True))
    for qam, name in NAMES.items():
        ns = sorted(speedups[qam])[-3:]
        complete = bool(ns) and ns[-1] >= 19
        claims.append(measured(f"{name}: the speed-up saturates for long fragments (the last two doublings change it by less than 10 %)", [speedups[qam][n] if complete else None for n in ns],
                               lambda v, ns=ns: ", ".join(f"2^{n}: {three(x)}x" for n, x in zip(ns, v)), lambda v: max(v) <= 1.1 * min(v),
                               lambda v, qam=qam, ns=ns: spread(fragments(serial, "resident", qam), fragments(bs, "host_fed", qam), ns), f"a scalar core up to 2^19 (so far to 2^{ns[-1]})" if ns else "on a scalar core"))
    return [Panel("speed-up over one serial core", "symbols", "times", lines, log_x=True)], claims


def table_4(data: Data):
    bs = on_gpu(data.benchmarks(GPU))
    ticks = [p.replace("_", " ") for p in TONES]
    place = {p: i for i, p in enumerate(TONES)}
    def ours(profile, qam, symbols):
        b = frame_of(bs, "host_fed", profile, qam, symbols)
        return b and seconds(b)
    times = {(p, q, n): ours(p, q, n) for p in TONES for q in NAMES for n in SYMBOLS_MOBILE}
    def shown(profile, qam, length):
        """Frames of the paper that are decoded in the time of one: of tones in brackets their share."""
        text = printed.BOLLAPALLI_FRAMES[profile][qam][length]
        return float(text.strip("()")) / TONES[profile] if text.startswith("(") else FRAMES_MS[length] / float(text)
    panels, claims = [], []
    for i, (n, ms) in enumerate(zip(SYMBOLS_MOBILE, FRAMES_MS)):
        lines = []
        for qam, name in NAMES.items():
            lines.append(Line(f"ours, {name}", [(place[p], 1e-3 * ms / t) for p in TONES if (t := times[p, qam, n])], joined=False, setting=name))
            lines.append(Line(f"paper (Tesla C1060), {name}", [(place[p], shown(p, qam, i)) for p in TONES], printed=True, setting=name))
        panels.append(Panel(f"frames of {ms} ms: how many are decoded in the time of one", "", "frames", lines, ticks=ticks, levels=[(1.0, "real time")]))
    for qam, name in NAMES.items():
        claims.append(beside(f"{name}, frames of 4, 5, 10, 20 ms by profile: {'; '.join(', '.join(printed.BOLLAPALLI_FRAMES[p][qam]) for p in TONES)} ms; in brackets: tones", [times[p, qam, n] for p in TONES for n in SYMBOLS_MOBILE],
                             lambda v: "; ".join(", ".join(three(1e3 * t) for t in v[i:i + 4]) for i in range(0, len(v), 4)) + " ms", "on a GPU"))
    def ratio(p, q):
        """The share of a frame's tones that is decoded in its time, over the rest, for each length: uplink to downlink."""
        return [min(1.0, 1e-3 * ms / t) if (t := times[p, q, n]) else None for n, ms in zip(SYMBOLS_MOBILE, FRAMES_MS)]
    for qam, says, paper in ((4, "QPSK: every profile and length is decoded within its frame, with any ratio of uplink to downlink", None),
                             (16, "16-QAM: any ratio up to 512 points, 565 tones of 720 and of 1440 beyond", None), (64, "64-QAM: 38 tones: 1:1 at 72 tones, and 38 to 1402 at 1440", None)):
        shares = {p: ratio(p, qam) for p in TONES}
        claims.append(measured(says, [x for v in shares.values() for x in v],
                               lambda v, qam=qam: "any ratio at every profile and length; the longest frame takes " + f"{100 * max(times[p, qam, n] / (1e-3 * ms) for p in TONES for n, ms in zip(SYMBOLS_MOBILE, FRAMES_MS)):.1f} % of its time"
                               if min(v) == 1 else "least share of tones " + f"{min(v):.2f}", lambda v: min(v) == 1, missing="on a GPU"))
    worst = [t / (1e-3 * ms) for p in TONES for q in NAMES for n, ms in zip(SYMBOLS_MOBILE, FRAMES_MS) for t in [times[p, q, n]] if t]
    claims.append(measured("the data of a frame are decoded before the next frame arrives", worst or [None], lambda v: f"all 60 combinations; at least {1 / max(v):.1f} sectors at once" if len(v) == 60 else f"{len(v)} combinations",
                           lambda v: max(v) < 1 and len(v) == 60, missing="on a GPU"))
    return panels, claims


def rows():
    return [Row("bollapalli", "fig5", "time of a fragment over its symbols", (GPU,), fig_5), Row("bollapalli", "fig6", "stages of decoding", (GPU,), fig_6),
            Row("bollapalli", "table3", "speed-up over a serial program", (GPU, SERIAL), table_3), Row("bollapalli", "table4", "WiMAX frames", (GPU,), table_4)]
