"""Statements of the documents that stand beside their figures and tables: a row of each document."""
from __future__ import annotations

import itertools
import math

from . import curves, printed
from . import sweep_iterations as sweep
from .bollapalli import NAMES, fragments
from .data import Data, Need
from .estimates import Number, decided
from .findings_iterations import JACOBI as PRECONDITIONED
from .findings_iterations import jacobi_gains
from .records import machine_of, on_gpu, pick, seconds, three
from .rows import Claim, Row, measured
from .stbc_tables import FRAMES_MS, SYMBOLS_MOBILE, TONES
from .wu2010 import DETECT, TURBO, TURBO_K, turbo_rate
from .wu2012 import FIG_3

MANY = FIG_3[16][0]

TITLE = "statements beside figures and tables"


# ---------------------------------------------------------------- wu2010
SORTING = Need("peer", "kbest_sort")
MAX_STAR = Need("bench", "turbo_map_h200", ("^turbo/k=6144/map=[a-z_]+/window_steps=(32|128|auto)/(overlap=0/)?iterations=6", "--repetitions", "3", "--min-time", "0.02"), "cuda")
F1, F2, K = 263, 480, 6144  # TS 36.212 table 5.1.3-3, the longest block
FIXED_POINT = Need("sim", "wu2010_fixed_point")
WORD_DETECTORS, WORD_LENGTHS, FRACTIONS = ("N-way", "MMSE"), (6, 7, 8, 10, 12, 16), (2, 3, 5, 6)  # its curves; 8 bits have 4 after the point
CAREFUL_DB = 0.5
SHARED_FLOATS = 16 * 1024 // 4  # of a C1060's multiprocessor


def step(state, bit):
    """The constituent code of TS 36.212 5.1.3.2: next state, parity. The newest bit of a state is its highest."""
    s1, s2, s3 = state >> 2 & 1, state >> 1 & 1, state & 1
    fed = bit ^ s2 ^ s3
    return fed << 2 | state >> 1, fed ^ s1 ^ s3


def trellis_claim(name, table, truth, states):
    """`truth`, `table`: by state and bit, (other state, parity)."""
    pairs = [(table[i][bit], truth[i, bit]) for i in range(8) for bit in (0, 1)]
    other, parity = (sum(a[k] != b[k] for a, b in pairs) for k in (0, 1))
    return Claim(f"table 5.{name}: operands of the trellis of 3GPP LTE (TS 36.212 5.1.3.2)", f"of 16 edges {other} ha{'s' if other == 1 else 've'} another {states}, {parity} another parity",
                 other == parity == 0, "; ".join(f"state {i}, u = {bit}: {states} {table[i][bit][0]} for {truth[i, bit][0]}" for i in range(8) for bit in (0, 1) if table[i][bit][0] != truth[i, bit][0])
                 or f"{parity} parities are not those of the code's polynomials")


def in_fixed_point(data: Data):
    """What words lose against float32 at a frame error rate of 1e-2, by their length and by the place of the binary point."""
    says = f"4.2.5: floating point never loses, and fixed point must be designed carefully (4x4 16-QAM: some format of 8 bits loses more than {CAREFUL_DB} dB, 16 bits less)"
    if not data.has(FIXED_POINT):
        return Claim(says, "-", None, f"{FIXED_POINT.stored} is missing")
    result = data.get(FIXED_POINT)
    lost = {label: curves.distance(result, label, label.partition(",")[0], "fer", 1e-2) for c in result["curves"] if "," in (label := c["label"])}
    def of(*labels):
        return ", ".join(f"{n.value:+.2f}" if (n := lost[label]) else f"unreached at {max(x for x, _ in curves.points(result, label, 'fer')):g} dB" for label in labels)
    eight = {name: [label for label in lost if label.startswith(f"{name}, 8 bits")] for name in WORD_DETECTORS}
    lengths = "; ".join(f"{name} " + of(*(f"{name}, {w} bits" for w in WORD_LENGTHS)) for name in WORD_DETECTORS)
    places = "; ".join(f"{name} " + of(*labels[1:]) for name, labels in eight.items())
    known = [n for n in lost.values() if n]
    text = (f"dB at FER 1e-2 behind float32 with {', '.join(map(str, WORD_LENGTHS))} bits: {lengths}; with 8 bits, {', '.join(map(str, FRACTIONS))} of them after the binary point: {places}"
            + curves.uncertainty(known))
    ahead = [str(n) for n in known if n.among(len(known)).high < 0]
    wide = [lost[f"{name}, {max(WORD_LENGTHS)} bits"] for name in WORD_DETECTORS]
    coarse = any(n is None or n.among(len(wide)).low > CAREFUL_DB for n in wide)
    harmless = any(all(lost[label] and lost[label].among(len(labels)).high < CAREFUL_DB for label in labels) for labels in eight.values())
    careful = all(n and n.high < CAREFUL_DB for n in wide) and all(any(lost[label] is None or lost[label].low > CAREFUL_DB for label in labels) for labels in eight.values())
    refuted = f"fixed point is ahead by {' and '.join(ahead)} dB" if ahead else "16 bits lose more" if coarse else "every format of 8 bits loses less" if harmless else ""
    return Claim(says, text, False if refuted else True if careful else None, refuted, is_open=not refuted and not careful)


def wu2010(data: Data):
    claims = [measured("3.1: sorting takes up to 70 % of the run time of K-best (of the thesis' first implementation; here K and Q from 4 and 16 to 256 and 64)",
                       data.get(SORTING)["settings"] if data.has(SORTING) else [],
                       lambda v: "a textbook program on one core: " + " and ".join(f"{100 * min(s):.0f} to {100 * max(s):.0f} % by std::{choice}" for choice in ("sort", "nth_element") for s in [[x["sorting"] for x in v if x["choice"] == choice]])
                       + "; our kernels select the K smallest without sorting", lambda v: max(x["sorting"] for x in v) <= 0.7,
                       lambda v: f"sorting takes more, at least {100 * min(x['sorting'] for x in v):.0f} %, on a core" if min(x["sorting"] for x in v) > 0.7 else "", "bench/peers/kbest_sort.cpp"),
              in_fixed_point(data)]
    blocks = {w: SHARED_FLOATS // (10 * w + 196) for w in printed.WU2010_TURBO["max_log_map"]}
    bs = data.benchmarks(TURBO, TURBO_K)
    ours = [turbo_rate(on_gpu(bs) or bs, "max_log_map", w, 6) for w in blocks]
    claims.append(measured("5.1.1: with 10 N/P + 196 floats a block, small P leaves few blocks of a multiprocessor, and so is slow", ours,
                           lambda v: "N/P = " + ", ".join(map(str, blocks)) + ": " + ", ".join(map(str, blocks.values())) + " blocks in 16 KB; max-log-MAP has "
                           + ", ".join(f"{printed.WU2010_TURBO['max_log_map'][w][5]:g}" for w in blocks) + " Mb/s there, and here, without such a limit, " + ", ".join(three(x) for x in v),
                           lambda v: all(a > b for a, b in zip(blocks.values(), list(blocks.values())[1:])) and v == sorted(v, reverse=True), missing="all windows"))
    parts = 8 + 128  # beta; 8 stages of two metrics for each of 8 states
    claims.append(Claim("5.1.1: the parts named need 10 N/P + 196 floats", f"8 N/P + N/P + N/P + 8 + 128 = 10 N/P + {parts}", parts == 196, f"{196 - parts} floats are not named"))
    square = (K - 1) ** 2
    claims.append(Claim("5.1.4: 6143² cannot be represented as a 32-bit integer", f"6143² = {square}, and 2^31 = {2**31}", square >= 2**31,
                        f"it is f2 x² that does not fit: {F2} x {square} = {F2 * square:.2g}, above 2^32" if F2 * square >= 2**32 else ""))
    forward = {(state, bit): step(state, bit) for state in range(8) for bit in (0, 1)}
    backward = {(after, bit): (state, parity) for (state, bit), (after, parity) in forward.items()}
    claims += [trellis_claim(1, printed.WU2010_ALPHA, backward, "predecessor"), trellis_claim(2, printed.WU2010_BETA, forward, "successor"),
               by_table(data)]
    return [], claims


def by_table(data: Data):
    """Log-MAP with the correction of max* from a table beside exact log-MAP, both in float32."""
    bs, windows = on_gpu(data.benchmarks(MAX_STAR)), (32, 128)
    return measured("5.1.5: a look-up table for max* is even less efficient than the functions of the GPU, as threads read different entries", [turbo_rate(bs, algorithm, w, 6) for w in windows for algorithm in ("log_map", "log_map_table")],
                    lambda v: "exact / by a table of 8 values: " + ", ".join(f"N/P = {w}: {three(v[2 * i])} / {three(v[2 * i + 1])} Mb/s, {v[2 * i] / v[2 * i + 1]:.1f}x" for i, w in enumerate(windows))
                    + f" ({machine_of(bs[0])}). Exact log-MAP is on probabilities here, without logarithms in its loops", lambda v: v[0] > v[1] and v[2] > v[3],
                    lambda v: "the table is faster at a window length" if v[0] <= v[1] or v[2] <= v[3] else "", "a decoder with such a table on a GPU")


# ---------------------------------------------------------------- wu2012
SPHERE = Need("bench", "sphere_h200", ("^detect/detector=sphere/", "--repetitions", "3", "--min-time", "0.02"), "cuda")
FIG_4_6 = Need("sim", "wu2010_fig4_6")


def name_of(axes):
    """A sphere detector's setting in words."""
    words = {"sort": {"sqrd": "sorted QR"}.get(axes.get("sort"), f"order {axes.get('sort')}"), "output": {"hard": "decisions", "soft": "LLRs"}.get(axes.get("output"), "")}
    return f"{axes['antennas']} {axes['qam']}-QAM" + "".join(f", {words.get(axis, f'{axis} {value}')}" for axis, value in axes.items() if axis not in ("detector", "antennas", "qam", "snr_db"))


def over_snr(bs):
    """{name of a sphere detector's setting: {SNR in dB: Mb/s}} of benchmarks with an axis of SNR."""
    found: dict = {}
    for b in bs:
        if b["op"] == "detect" and b["axes"].get("detector") == "sphere" and "snr_db" in b["axes"]:
            found.setdefault(name_of(b["axes"]), {})[float(b["axes"]["snr_db"])] = b["mbps"]
    return {name: dict(sorted(rates.items())) for name, rates in found.items()}


def wu2012(data: Data):
    rates = over_snr(on_gpu(data.benchmarks(SPHERE)))
    claims = [measured("I: depth-first search visits more nodes at a low SNR, so its throughput varies with the SNR", rates.values(),
                       lambda v: "; ".join(f"{name}: " + ", ".join(three(x) for x in r.values()) + " Mb/s at " + ", ".join(f"{snr:g}" for snr in r) + " dB" for name, r in rates.items()),
                       lambda v: all(list(r.values())[-1] > 1.1 * list(r.values())[0] for r in v), missing="rates of a sphere detector over the SNR")]
    few, many = data.get(FIG_4_6), data.get(MANY)
    lost = {k: curves.distance(result, f"K-best, K = {k}", "ML", "fer", data.fers[0]) for k, result in ((4, few), (16, few), (64, many))}
    passes = {k: curves.curve(result, f"K-best, K = {k}")["config"]["decoder"]["iterations"] for k, result in ((4, few), (16, few), (64, many))}
    def both(near, far):
        return False if False in (near, far) else near and far
    claims.append(measured("I: to come near exhaustive search, K-best needs a large K (4x4 16-QAM, within 0.1 dB)", lost.values(),
                           lambda v: "behind ML at FER " + curves.power(data.fers[0]) + ": " + ", ".join(f"K = {k} {n.value:+.2f} dB ({passes[k]} iterations of the LDPC decoder)" for k, n in zip(lost, v))
                           + curves.uncertainty(v), lambda v: both(curves.at_most(v[-1:], 0.1), curves.at_most([n.negative() for n in v[:-1]], -0.1)),
                           lambda v: f"the limit of 0.1 dB is inside an interval of {', '.join(map(str, v))} dB" if all(n.low <= 0.1 or k < 64 for k, n in zip(lost, v)) else "", "the curves do not reach it"))
    return [], claims


# ---------------------------------------------------------------- K. Li
C2, JACOBI, LOOP = Need("sweep", "li_thesis_c2", ("table3.1",)), Need("sim", "li_thesis_jacobi"), Need("sim", "iterative_massive")


def li(data: Data):
    return [], [preconditioned(data), in_a_loop(data)]


def preconditioned(data: Data):
    says = "6: other iterative methods than conjugate gradients may converge faster with specific preconditions of lower complexity (here: conjugate gradients with Jacobi's, C2, BLER 1e-2)"
    plain, scaled = sweep.Curves(data.get(C2)), sweep.Curves(data.get(JACOBI))
    words = []
    for label, points in scaled.points.items():
        size, _, iterations = label.split()
        if gap := sweep.loss(points, plain.points.get(f"{size} CG {iterations}", [])):
            words.append(f"{size} I = {iterations} {Number(*gap)} dB")
    found = [(family, i, n) for family, i, n in jacobi_gains(data, controlled=True) if family.split()[0] == "c2"]
    faster, slower = decided([n for *_, n in found])
    return measured(says, [n for *_, n in found], lambda v: f"Jacobi's behind plain ones after as many iterations: {', '.join(words)}. In the run of docs/findings.md less SNR in {len(faster)}, more in {len(slower)} of "
                    f"{len(v)}, with all intervals together at 95 %: " + ", ".join(f"{family.split()[1]} I = {i} {n} dB" for family, i, n in found if n in faster + slower),
                    lambda v: False if slower else True if faster else None, lambda v: f"{len(slower)} of {len(v)} need more SNR" if slower else "all intervals together include 0 dB",
                    "curves of jacobi-cg that reach it")


def in_a_loop(data: Data):
    says = "6: detection and decoding in a loop can improve the error rate of massive MIMO (BLER 1e-2)"
    held = sweep.Curves(data.get(LOOP))
    gains = {size: sweep.loss(held.points[f"{size} open"], held.points[f"{size} loop"]) for size in sorted({label.split()[0] for label in held.points})}
    return measured(says, gains.values(), lambda v: "three outer iterations of four, beside twelve iterations of an open loop, gain "
                    + ", ".join(f"{size} {x[0]:.2f} dB (95 %: {x[1]:.2f} to {x[2]:.2f})" for size, x in zip(gains, v)), lambda v: True if any(Number(*x).among(len(v)).low > 0 for x in v) else False if all(x[2] < 0 for x in v) else None,
                    lambda v: "all sizes lose" if all(x[2] < 0 for x in v) else "the intervals include 0 dB", "the curves do not reach it")


# ---------------------------------------------------------------- Bollapalli et al.
SLICING, CODES, RICIAN = Need("sim", "stbc_slicing"), Need("sim", "stbc"), Need("sim", "stbc_rician")
FADING = ("Rayleigh", "K = 0 dB", "K = 6 dB", "K = 12 dB", "K = 20 dB")
LONG = Need("bench", "stbc_long_h200", ("^stbc_fragment/code=silver/.*fragment=(8388608|16777216)/stage=all",), "cuda")


def least_determinant(levels):
    """The least |det S|^2 of a difference of two Silver codewords (eq. 6), its four entries in -levels..levels + i (-levels..levels)."""
    import numpy as np
    steps = np.arange(-levels, levels + 1)
    gaussian = (steps[:, None] + 1j * steps).ravel()
    x1, x2 = (x.ravel() for x in np.meshgrid(gaussian, gaussian))
    v = np.array([[1 - 1j, 1 - 2j], [1 + 2j, -1 - 1j]]) / math.sqrt(7)
    least = math.inf
    for x3, x4 in itertools.product(gaussian, repeat=2):
        rotated = v @ np.array([[x3, -x4.conjugate()], [x4, x3.conjugate()]])
        squares = abs((x1 + rotated[0, 0]) * (x1.conj() + rotated[1, 1]) - (rotated[0, 1] - x2.conj()) * (rotated[1, 0] + x2)) ** 2
        least = min(least, squares[(x1 != 0) | (x2 != 0) | (x3 != 0) | (x4 != 0)].min())
    return float(least)


def slope(result, label, first, last) -> Number | None:
    """Decades of the frame error rate in 10 dB between two rates."""
    ends = [curves.crossing_with_ends(result, label, "fer", rate) for rate in (first, last)]
    if None in ends:
        return None
    width, decades = ends[1].minus(ends[0]), 10 * math.log10(first / last)
    return Number(decades / width.value, decades / width.high, decades / width.low if width.low > 0 else math.inf)


def bollapalli(data: Data):
    result = data.get(SLICING)
    lost = {q: curves.distance(result, f"{name}, slicing", f"{name}, exact", "fer", 1e-3) for q, name in NAMES.items()}
    claims = [measured("II: the Golden code by conditional optimisation cannot be told from ML (within 0.05 dB at a codeword error rate of 1e-3)", lost.values(),
                       lambda v: ", ".join(f"{name} {n.value:+.3f} dB" for name, n in zip(NAMES.values(), v)) + " behind the exact search of the same codewords and noise (95 %, if both were independent: at most "
                       f"±{max(n.high - n.low for n in v) / 2:.2f} dB)", lambda v: max(n.value for n in v) <= 0.05, missing="the curves do not reach it")]
    least = least_determinant(3)  # 16-QAM has four levels in each dimension
    claims.append(Claim("III: the Silver code's minimum determinant is 1/7 (|det|², an antenna's energy that of a symbol)",
                        f"{least / 4:.4f} over all differences at QPSK and 16-QAM; eq. 6 as printed, with twice the energy, has {least:.4f}", abs(7 * least / 4 - 1) < 1e-9))
    codes = data.get(CODES)
    slopes = {label: [slope(codes, label, 10.0**-n, 10.0 ** -(n + 1)) for n in (2, 3, 4)] for label in ("Silver", "uncoded, ML")}
    claims.append(measured("III: the Silver code has full diversity, 4 (slopes rise beyond 3; multiplexing has 2)", [x for s in slopes.values() for x in s],
                           lambda v: "decades of the codeword error rate in 10 dB, from 1e-2, 1e-3, 1e-4 on: " + "; ".join(f"{name} " + ", ".join(map(str, s)) for name, s in slopes.items()),
                           lambda v: True if v[2].minus(v[0]).low > 0 and v[2].low > 3 and max(n.high for n in v[3:]) < 2.5 else False if v[2].high < 3 or v[2].minus(v[0]).high < 0 else None,
                           lambda v: f"the last slope is {v[2]}", "the curves do not reach it"))
    claims.append(to_line_of_sight(data))
    long = on_gpu(data.benchmarks(LONG))
    twice = {name: fragments(long, "host_fed", q) for q, name in NAMES.items()}
    claims.append(measured("VI: 2^24 symbols take twice as long as 2^23 (within 5 %)", [t.get(n) for t in twice.values() for n in (24, 23)],
                           lambda v: ", ".join(f"{name} {v[2 * i] / v[2 * i + 1]:.2f}x" for i, name in enumerate(twice)), lambda v: all(abs(v[i] / v[i + 1] - 2) <= 0.1 for i in (0, 2, 4)),
                           missing="fragments of 2^24 symbols on a GPU"))
    return [], [*claims, feasible(data, on_gpu(data.benchmarks(DETECT)))]


def to_line_of_sight(data: Data):
    """Whether conditional optimisation stays maximum-likelihood decoding. Both searches see the same codewords and noise."""
    result = data.get(RICIAN)
    lost = [curves.distance(result, f"{fading}, conditional", f"{fading}, exhaustive", "fer", 1e-3) for fading in FADING]
    needed = [curves.crossing_with_ends(result, f"{fading}, conditional", "fer", 1e-3) for fading in FADING]
    return measured("I: one decoder from rich scattering to line of sight (Silver code, QPSK: within 0.05 dB of all codewords' search at a codeword error rate of 1e-3)", [*lost, *needed],
                    lambda v: "behind the exhaustive search: " + ", ".join(f"{fading} {n.value:+.3f} dB" for fading, n in zip(FADING, v)) + "; SNR at 1e-3: "
                    + ", ".join(f"{n} dB" for n in v[len(FADING):]), lambda v: max(n.value for n in v[:len(FADING)]) <= 0.05, missing="the curves do not reach it")


def feasible(data: Data, bs):
    """Whether a GPU searches the codewords of the largest WiMAX profile exhaustively. A search of 4x4 has the same M^4 hypotheses."""
    codewords = TONES["mobile_2048"] * SYMBOLS_MOBILE[1] / 2 / (1e-3 * FRAMES_MS[1])  # a second
    searches = {q: b["items"] / seconds(b) if (b := pick(bs, ["kernel"], detector="ml", n=4, qam=q)) else None for q in (4, 16)}
    def fast(v):
        return [NAMES[q] for q, rate in zip(searches, v) if rate >= codewords]
    return measured("II: without conditional optimisation ML decoding for WiMAX is not feasible (mobile 2048)", searches.values(),
                    lambda v: f"Mobile 2048 needs {codewords / 1e6:.1f} million codewords a second. Exhaustive searches with as many hypotheses reach "
                    + ", ".join(f"{three(rate / 1e6)} million ({NAMES[q]})" for q, rate in zip(searches, v)) + " on this GPU, with LLRs. "
                    + f"At 64-QAM a search has {4**4} times the hypotheses of 16-QAM, so {v[1] / 4**4 / 1e6:.2g} million. They need at least "
                    + ", ".join(f"{three(2 * HYPOTHESIS * codewords * q**4 / 1e12)}{' TFLOP/s' * (q == 4)} ({name})" for q, name in NAMES.items())
                    + f". A Tesla C1060 has {C1060_TFLOPS}", lambda v: not fast(v), lambda v: f"this GPU could search exhaustively at {' and '.join(fast(v))}", "exhaustive searches on a GPU")


HYPOTHESIS = 14  # fp32 operations of a pair and QPSK, decisions: docs/bollapalli.md
C1060_TFLOPS = 0.62  # 240 lanes at 1.296 GHz, an fma as two


def rows():
    return [Row("wu2010", "text", TITLE, (SORTING, TURBO, TURBO_K, MAX_STAR, FIXED_POINT), wu2010), Row("wu2012", "text", TITLE, (SPHERE, FIG_4_6, MANY), wu2012),
            Row("li", "text", TITLE, (C2, JACOBI, PRECONDITIONED, LOOP), li), Row("bollapalli", "text", TITLE, (SLICING, CODES, RICIAN, LONG, DETECT), bollapalli)]
