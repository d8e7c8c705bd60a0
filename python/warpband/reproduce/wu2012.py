"""M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on GPU", 2012."""
from __future__ import annotations

from dataclasses import replace

from . import curves, printed
from .data import Data, Need
from .records import machine_of, on_gpu, pick, seconds, three
from .rows import Claim, Line, Panel, Row, beside, measured
from .wu2010 import DETECT, NAMES, error_panel, labels_of

LINALG = Need("bench", "linalg_h200", ("^(cholesky|qr)/", "--repetitions", "3", "--min-time", "0.02"), "cuda")
TWENTY = 20  # times the paper's GPU: what a GPU of today should have
USES = 8400  # a slot of LTE at 20 MHz
FIG_3 = {qam: (Need("sim", f"wu2012_fig3_{qam}qam"), Need("sim", f"wu2012_clip_{qam}qam")) for qam in (16, 64)}  # the figure's, and N = 4 with a clip and MMSE
CLOSE_DB = 0.25  # what counts as close
SIZES = [(2, 16), (4, 16), (2, 64), (4, 64)]


def fig_3(data: Data):
    results = {qam: {"curves": [c for need in needs for c in data.get(need)["curves"]]} for qam, needs in FIG_3.items()}
    claims = []

    def claim(says, label, reference, greatest, because=lambda gaps: "", ours=False, least=None):
        """Each distance, at all error rates and modulations, is at most `greatest`, by its interval, and at least `least` dB."""
        gaps = {q: curves.distances(data, result, label, reference(q), ("fer",)) for q, result in results.items()}
        if not all(gaps.values()):
            claims.append(Claim(says, "-", None, "the curves do not reach it", ours=ours))
            return
        flat = {(q, *key): n for q, g in gaps.items() for key, n in g.items()}
        verdict = curves.at_most(flat.values(), greatest)
        if verdict is not False and least is not None and (above := curves.at_most([n.negative() for n in flat.values()], -least)) is not True:
            verdict = above
        because = because(flat) if verdict is False else curves.undecided(flat.values(), greatest) if verdict is None else ""
        claims.append(Claim(says, "; ".join(f"{NAMES[q]} {curves.in_words(g)}" for q, g in gaps.items()) + curves.uncertainty(flat.values()), verdict, because, ours=ours, is_open=verdict is None))

    def to(name):
        return lambda q: name
    def large(q):
        return f"K-best, K = {64 if q == 16 else 256}"
    def words(gaps):
        return "; ".join(f"{NAMES[q]} " + curves.in_words({key[1:]: n for key, n in gaps.items() if key[0] == q}) for q in dict.fromkeys(key[0] for key in gaps))
    def again(label, reference, greatest, text):
        """A reason from other curves: their distances, where all are at most `greatest`."""
        def reason(gaps):
            found = {key: curves.distance(results[key[0]], label, reference, *key[1:]) for key in gaps}
            return text + words(found) if None not in found.values() and curves.at_most(found.values(), greatest) else ""
        return reason
    def growing(gaps):
        by_qam = [[n for (qam, *_), n in gaps.items() if qam == q] for q in results]
        return "the loss grows as the error rate falls, by " + " and ".join(f"{v[-1].value - v[0].value:.2f} dB ({NAMES[q]})" for q, v in zip(results, by_qam)) if all(v[-1].minus(v[0]).low > 0 for v in by_qam) else ""

    with_clip = again("4-way, clip 8", "3-way", 0.0, "N = 4 has no clip here. With one of 8, too, its distance is ")
    claim("N = 1 (SSFE) loses up to 2 dB against ML (0.5 to 2.1 dB)", "1-way", to("ML"), 2.1, least=0.5)
    claim("N = 2 has fewer frame errors than the trellis detector (no clip, as in wu2010)", "2-way", to("MTT"), 0.0)
    claim("the same with a clip of 8 for the trellis detector", "2-way", to("MTT, clip 8"), 0.0, ours=True)
    claim(f"N = 3 is like K-best, K = 64 and 256 (within {CLOSE_DB} dB)", "3-way", large, CLOSE_DB, least=-CLOSE_DB)
    claim(f"N = 4 without a clip is close to exhaustive search (within {CLOSE_DB} dB)", "4-way", to("ML"), CLOSE_DB,
          again("4-way, clip 8", "ML", CLOSE_DB, "a clip is missing. With one of 8 the loss is "))
    for few in (1, 2, 3):
        claim(f"a larger N is better, N = {few} to {few + 1}", f"{few + 1}-way", to(f"{few}-way"), 0.0, with_clip if few == 3 else lambda gaps: "")
    claim("N = 4 needs no clip (within 0.02 dB of one of 8)", "4-way", to("4-way, clip 8"), 0.02, growing)
    claim("N = 1 is better than linear MMSE detection, which the paper has not", "1-way", to("MMSE"), 0.0,
          again("2-way", "MMSE", 0.0, "one pass is too few; the distance of N = 2 is "), ours=True)
    return [error_panel(result, "fer", labels_of(result), f"4x4 {NAMES[qam]}", clips=True) for qam, result in results.items()], claims


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
    because = f"our QR alone writes Q and R to device memory matrix by matrix. For 2^20 matrices this takes {slow[0] / slow[1]:.1f} times as long as with the batch as the fastest axis" \
        if all(slow) and slow[0] > 1.25 * slow[1] else ""
    claims.append(measured("the QR kernel is not the bottleneck: it takes less than detection, 4x4 64-QAM", [*ours[4,], *whole],
                           lambda v: "QR alone / all in one kernel: " + ", ".join(f"N = {i + 1}: {1e3 * v[i]:.3g} / {1e3 * v[4 + i]:.3g} us" for i in range(4)),
                           lambda v: all(v[i] < v[4 + i] for i in range(4)), lambda v: because, "on a GPU"))
    claims.append(measured("N decompositions take N times as long (within 10 %)", ours[4,], lambda v: ", ".join(f"N = {i}: {x / v[0]:.2f}x" for i, x in enumerate(v, 1)),
                           lambda v: all(abs(x / v[0] / i - 1) <= 0.1 for i, x in enumerate(v, 1)), missing="on a GPU"))
    claims.append(twenty_times(data))
    return [series("QR decompositions of 8400 uses", ours, paper)], claims


def twenty_times(data: Data):
    """QR alone beside the paper's GPU, in the newest record, which has all methods."""
    bs = on_gpu(data.benchmarks(LINALG))
    def times(layout, n):
        """The paper's time of a matrix over ours in a batch that fills the GPU, N = 1."""
        b = pick(bs, ["kernel"], op="qr", entries="complex", rows=n, columns=n, method="gram_schmidt", layout=layout, ways=1)
        return b and 1e-3 * printed.WU2012_QR[n][0] / USES / (seconds(b) / b["items"])
    paper = [ms for n in printed.WU2012_QR for ms in printed.WU2012_QR[n]]
    ours = [ms_of(qr(bs, n, i)) for n, times_of_n in printed.WU2012_QR.items() for i in range(1, len(times_of_n) + 1)]
    filled = {layout: [times(layout, n) for n in printed.WU2012_QR] for layout in ("row_major", "batch_fastest")}
    def because(v):
        if None in filled["row_major"] + filled["batch_fastest"] or min(filled["row_major"]) < TWENTY:
            return ""
        return "8400 matrices do not fill this GPU: in a batch of 2^20 it is " + " and ".join(three(x) for x in filled["row_major"]) + " times as fast (2x2 and 4x4, N = 1), and with the batch as the fastest axis " \
            + " and ".join(three(x) for x in filled["batch_fastest"]) + " times"
    return measured(f"QR alone is {TWENTY} times as fast as on the paper's GPU at its 8400 matrices", ours,
                    lambda v: f"{machine_of(bs[0])}: " + "; ".join(f"{n}x{n} " + ", ".join(f"{p / x:.1f}x" for p, x in zip(printed.WU2012_QR[n], v[first:])) for n, first in ((2, 0), (4, len(printed.WU2012_QR[2])))),
                    lambda v: all(p / x >= TWENTY for p, x in zip(paper, v)), because, "all settings on a GPU", ours=True)


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
    return [Row("wu2012", "fig3", "FER of 4x4, WiMAX LDPC 2304 rate 1/2, 20 iterations", tuple(need for needs in FIG_3.values() for need in needs), fig_3),
            Row("wu2012", "table1", "QR decompositions of 8400 uses", (DETECT, LINALG), table_1),
            Row("wu2012", "table2", "detection of 8400 uses", (DETECT,), table_2),
            Row("wu2012", "table3", "whole calls of 8400 uses", (DETECT,), table_3)]
