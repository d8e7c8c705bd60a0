"""M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on GPU", 2012."""
from __future__ import annotations

from dataclasses import replace

from . import curves, printed
from .data import Data, Need
from .records import on_gpu, pick, seconds, three
from .rows import Line, Panel, Row, beside, measured
from .wu2010 import DETECT, NAMES, error_panel, labels_of

USES = 8400  # a slot of LTE at 20 MHz
FIG_3 = {16: Need("sim", "wu2012_fig3_16qam"), 64: Need("sim", "wu2012_fig3_64qam")}
SIZES = [(2, 16), (4, 16), (2, 64), (4, 64)]


def fig_3(data: Data):
    panels, claims, results = [], [], {qam: data.get(need) for qam, need in FIG_3.items()}
    for qam, result in results.items():
        panels.append(error_panel(result, "fer", labels_of(result), f"4x4 {NAMES[qam]}"))

    def claim(says, label, reference, holds, because=None, ours=False):
        def distance(qam, to):
            return curves.behind(results[qam], label, to(qam), "fer", data.fer)
        values = [distance(qam, reference) for qam in results]
        claims.append(measured(says, values, lambda v: ", ".join(f"{NAMES[q]} {x:+.2f} dB" for q, x in zip(results, v)) + f" at FER {data.fer:g}",
                               lambda v: all(holds(x) for x in v), because, "the curves do not reach it", ours=ours))

    def clipped(unclipped):
        three_ways = {q: curves.behind(results[q], "3-way", "ML", "fer", data.fer) for q in results}
        far = [(q, three_ways[q], db) for q, db in zip(results, unclipped) if db > 0.25]
        if any(db is None or db > missed for _, db, missed in far):
            return ""
        return "N = 4 has no clip here: N = 3 with a clip of 8 loses only " + " and ".join(f"{db:.2f} dB ({NAMES[q]})" for q, db, _ in far)

    claim("N = 1 (SSFE) loses up to 2 dB against ML", "1-way", lambda q: "ML", lambda db: 0.5 < db <= 2.1)
    claim("N = 2 has fewer frame errors than the trellis detector (no clip, as in wu2010)", "2-way", lambda q: "MTT", lambda db: db < 0)
    claim("the same with a clip of 8 for the trellis detector", "2-way", lambda q: "MTT, clip 8", lambda db: db < 0, ours=True)
    claim("N = 3 is like K-best, K = 64 and 256 (within 0.25 dB)", "3-way", lambda q: f"K-best, K = {64 if q == 16 else 256}", lambda db: abs(db) <= 0.25)
    claim("N = 4 without a clip is close to exhaustive search (within 0.25 dB)", "4-way", lambda q: "ML", lambda db: db <= 0.25,
          lambda v: clipped(v))
    claim("more passes are better, N = 1 to 2", "2-way", lambda q: "1-way", lambda db: db < 0)
    claim("more passes are better, N = 2 to 3", "3-way", lambda q: "2-way", lambda db: db < 0)
    return panels, claims


def qr(bs, n, ways):
    return pick(bs, ["kernel"], op="qr", entries="complex", rows=n, columns=n, method="gram_schmidt", layout="row_major", ways=ways, matrices=USES)


def nway(bs, n, qam, ways, figure):
    return pick(bs, [figure], detector="nway", n=n, qam=qam, ways=ways, uses=USES)


def ms_of(b):
    return None if b is None else 1e3 * seconds(b)


def series(panel_of, ours, paper):
    """Lines over N for each size: ours and the paper's."""
    lines = []
    for size, values in ours.items():
        name = f"{size[0]}x{size[0]}" + (f" {NAMES[size[1]]}" if len(size) > 1 else "")
        lines.append(Line(f"ours, {name}", [(n, x) for n, x in enumerate(values, 1) if x], setting=name))
        lines.append(Line(f"wu2012, {name}", list(enumerate(paper[size], 1)), printed=True, setting=name))
    return Panel(panel_of, "N", "ms", [replace(line, points=[(n - 1, *rest) for n, *rest in line.points]) for line in lines], ticks=["1", "2", "3", "4"])


def values_claims(ours, paper, scope):
    claims = []
    for size, values in ours.items():
        name = f"{size[0]}x{size[0]}" + (f" {NAMES[size[1]]}" if len(size) > 1 else "")
        claims.append(beside(f"{name}, N = 1 to {len(values)}: {', '.join(f'{x:g}' for x in paper[size])} ms ({scope})", values,
                             lambda v, p=paper[size]: ", ".join(f"{1e3 * x:.3g}" for x in v) + " us: " + ", ".join(f"{y / x:.0f}x" for x, y in zip(v, p))))
    return claims


def table_1(data: Data):
    bs = on_gpu(data.benchmarks(DETECT))
    paper = {(n,): times for n, times in printed.WU2012_QR.items()}
    ours = {(n,): [ms_of(qr(bs, n, i)) for i in range(1, len(times) + 1)] for (n,), times in paper.items()}
    claims = values_claims(ours, paper, "QR alone")
    whole = [ms_of(nway(bs, 4, 64, i, "kernel")) for i in range(1, 5)]
    def strided(layout):
        return seconds(pick(bs, ["kernel"], op="qr", entries="complex", rows=4, columns=4, method="gram_schmidt", layout=layout, ways=1))
    slow = [strided("row_major"), strided("batch_fastest")]
    because = ("our QR alone is a kernel launch for each N. It writes Q and R to device memory matrix by matrix"
               + (f" (for 2^20 matrices this takes {slow[0] / slow[1]:.1f} times as long as with the batch as the fastest axis)" if all(slow) else "") + ". The detection kernel keeps R in registers, and its time includes all N decompositions")
    claims.append(measured("the QR kernel is not the bottleneck: it takes less than detection, 4x4 64-QAM", [*ours[4,], *whole],
                           lambda v: "QR alone / all in one kernel: " + ", ".join(f"N = {i + 1}: {1e3 * v[i]:.3g} / {1e3 * v[4 + i]:.3g} us" for i in range(4)),
                           lambda v: all(v[i] < v[4 + i] for i in range(4)), lambda v: because, "on a GPU"))
    claims.append(measured("N decompositions take N times as long (within 10 %)", ours[4,], lambda v: ", ".join(f"N = {i}: {x / v[0]:.2f}x" for i, x in enumerate(v, 1)),
                           lambda v: all(abs(x / v[0] / i - 1) <= 0.1 for i, x in enumerate(v, 1)), missing="on a GPU"))
    return [series("QR decompositions of 8400 uses", ours, paper)], claims


def table_2(data: Data):
    bs = on_gpu(data.benchmarks(DETECT))
    paper = printed.WU2012_DETECTION
    ours = {size: [ms_of(nway(bs, *size, i, "kernel")) for i in range(1, len(times) + 1)] for size, times in paper.items()}
    large = {size: [seconds(b) / b["items"] if (b := pick(bs, ["kernel"], detector="nway", n=size[0], qam=size[1], ways=i)) else None for i in range(1, len(times) + 1)]
             for size, times in paper.items()}
    claims = values_claims(ours, paper, "detection without QR, which ours includes")
    def not_filled(few):
        many = large[4, 64]
        if None in many or few[-1] / few[0] >= many[-1] / many[0]:
            return ""
        return f"8400 uses do not fill this GPU: in a batch that does, N = 4 takes {many[-1] / many[0]:.2f} times as long as N = 1"
    claims.append(measured("the rate is proportional to 1 / N (within 10 %), 4x4 64-QAM, 8400 uses", ours[4, 64], lambda v: "time over that of N = 1: " + ", ".join(f"{x / v[0]:.2f}" for x in v),
                           lambda v: all(abs(x / v[0] / i - 1) <= 0.1 for i, x in enumerate(v, 1)),
                           lambda v: not_filled(v), "on a GPU"))
    claims.append(measured("the same in a batch that fills the GPU", large[4, 64], lambda v: "time over that of N = 1: " + ", ".join(f"{x / v[0]:.2f}" for x in v),
                           lambda v: all(abs(x / v[0] / i - 1) <= 0.1 for i, x in enumerate(v, 1)), missing="on a GPU", ours=True))
    claims.append(measured("2x2 64-QAM takes more than half of 4x4 64-QAM: the number of hypotheses depends on M, not on the antennas (a batch that fills the GPU)",
                           [large[2, 64][0], large[2, 64][1], large[4, 64][0], large[4, 64][1]], lambda v: f"N = 1: {v[0] / v[2]:.2f}, N = 2: {v[1] / v[3]:.2f} of 4x4's time",
                           lambda v: v[0] / v[2] > 0.5 and v[1] / v[3] > 0.5,
                           lambda v: "ours keeps a hypothesis and a counter-hypothesis for each bit during the search, and 2x2 has half the bits of 4x4" if max(v[0] / v[2], v[1] / v[3]) <= 0.5 else "", "on a GPU"))
    trellis = [pick(bs, ["kernel"], detector="mtt", n=n, qam=64) for n in (2, 4)]
    claims.append(measured("64-QAM, N = 2: faster than the trellis detector, whose work grows with M", [*(seconds(b) / b["items"] if b else None for b in trellis), large[2, 64][1], large[4, 64][1]],
                           lambda v: f"2x2 {v[0] / v[2]:.1f}x, 4x4 {v[1] / v[3]:.1f}x", lambda v: v[0] > v[2] and v[1] > v[3], missing="on a GPU"))
    return [series("detection of 8400 uses", ours, paper)], claims


def table_3(data: Data):
    bs = on_gpu(data.benchmarks(DETECT))
    paper = printed.WU2012_ALL
    ours = {size: [ms_of(nway(bs, *size, i, "sync")) for i in range(1, len(times) + 1)] for size, times in paper.items()}
    kernel = {size: [ms_of(nway(bs, *size, i, "kernel")) for i in range(1, len(times) + 1)] for size, times in paper.items()}
    claims = values_claims(ours, paper, "whole call with copies")
    claims.append(measured("transport is the largest overhead of the whole call (more than half of it)", [x for size in SIZES for x in (ours[size][-1], kernel[size][-1])],
                           lambda v: "outside the kernel: " + ", ".join(f"{n}x{n} {NAMES[q]} {100 * (1 - v[2 * i + 1] / v[2 * i]):.0f} %" for i, (n, q) in enumerate(SIZES)) + " with all passes",
                           lambda v: all(v[2 * i + 1] < 0.5 * v[2 * i] for i in range(4)), missing="on a GPU"))
    trellis = [ms_of(pick(bs, ["sync"], detector="mtt", n=n, qam=64, uses=USES)) for n in (2, 4)]
    claims.append(measured("with all overheads N = 2 stays faster than the trellis detector (64-QAM)", [ours[2, 64][1], ours[4, 64][1], *trellis],
                           lambda v: f"2x2 {1e3 * v[0]:.0f} / {1e3 * v[2]:.0f} us, 4x4 {1e3 * v[1]:.0f} / {1e3 * v[3]:.0f} us (N = 2 / MTT)", lambda v: v[0] < v[2] and v[1] < v[3],
                           lambda v: f"by kernels N = 2 takes {kernel[2, 64][1] / v[0]:.2f} and {kernel[4, 64][1] / v[1]:.2f} of its call: both calls wait for the same copies" if kernel[2, 64][1] and kernel[4, 64][1] else "", "MTT's whole call of 8400 uses; by kernels N = 2 is faster (table 2)"))
    return [series("whole calls of 8400 uses", ours, paper)], claims


def rows():
    return [Row("wu2012", "fig3", "FER of 4x4, WiMAX LDPC 2304 rate 1/2, 20 iterations", tuple(FIG_3.values()), fig_3),
            Row("wu2012", "table1", "QR decompositions of 8400 uses", (DETECT,), table_1),
            Row("wu2012", "table2", "detection of 8400 uses", (DETECT,), table_2),
            Row("wu2012", "table3", "whole calls of 8400 uses", (DETECT,), table_3)]
