"""M. Wu, master's thesis, Rice University, 2010: soft MIMO detection and turbo decoding on a GPU."""
from __future__ import annotations

import math

from . import curves, printed
from .data import Data, Need
from .records import faster_than_copies, on_gpu, pick, seconds, three
from .rows import Claim, Line, Panel, Row, beside, measured

NAMES = {4: "QPSK", 16: "16-QAM", 64: "64-QAM"}
BITS = {4: 2, 16: 4, 64: 6}
DETECT = Need("bench", "detect_h100", ("^(detect|qr)/", "--min-time", "0.05"), "cuda")
KBEST = Need("bench", "kbest_h100", ("^detect/detector=kbest/", "--repetitions", "3", "--min-time", "0.02"), "cuda")
PROFILE = Need("profile", "ncu_detect_h100", ("--only", "^detect/", "--record", "bench/results/detect_h100.json"), "cuda")
TABLE_4_3 = Need("profile", "ncu_wu2010_table4_3_h100",
                 ("--only", "^detect/detector=mtt/antennas=2x2/.*uses=16800", "--record", "bench/results/detect_h100.json"), "cuda")
TURBO = Need("bench", "turbo_h100", ("^turbo",), "any")
TURBO_WINDOWS = Need("bench", "turbo_windows_h100", ("^turbo/.*precision=",), "any")
TURBO_K = Need("bench", "turbo_lengths_h100", ("^turbo/k=[0-9]+/map=[a-z_]+/window_steps=32/overlap=0/iterations=6",), "any")
# Uses of the channel a second: subcarriers times OFDM symbols a second.
CARRIERS = [("LTE 5 MHz", 300 * 14e3), ("10 MHz", 600 * 14e3), ("15 MHz", 900 * 14e3), ("20 MHz", 1200 * 14e3)]
C1060_CORES, FERMI_CORES = 240, 512  # NVIDIA's Fermi white paper, the thesis' [41]
LAYERS = (1, 2, 2, 2, 4)  # spatial layers of the downlink, by UE category: TS 36.306 table 4.1-1
CLOSE_DB = 0.5  # what counts as close
EQUAL_DB = 0.02  # what counting errors can tell


# ---------------------------------------------------------------- error rates
def error_panel(result, rate, labels, heading="", clips=False):
    """Curves of a result. `clips`: legends name the limit of LLRs. A curve within 1 % of an earlier one is dashed and says so."""
    axis = {"snr_db": "SNR of a receive antenna (dB)", "ebn0_db": "Eb/N0 (dB)"}[curves.axis_of(result)]
    lines = []
    for label in labels:
        clip = curves.curve(result, label)["config"].get("detector", {}).get("llr_clip", "none")
        points, name = curves.with_intervals(result, label, rate), label + (f" (clip {clip:g})" if clips and clip != "none" and "clip" not in label else "")
        hidden = [line for line in lines if len(line.points) == len(points) and all(abs(p[1] - q[1]) <= 0.01 * q[1] for p, q in zip(points, line.points))]
        lines.append(Line(name + (f", on {hidden[0].label}" if hidden else ""), points, dashed=bool(hidden)))
    return Panel(heading or {"ber": "bit error rate", "fer": "frame error rate"}[rate], axis, {"ber": "BER", "fer": "FER"}[rate], lines)


def labels_of(result):
    return [c["label"] for c in result["curves"]]


def ahead(data: Data, result, label, others, says, greatest_gap=0.0, because=lambda gaps: "", ours=False):
    """The claim that `label` needs at most `greatest_gap` dB more than each of the others, at each of the run's error rates. The distances'
    intervals decide. A gap of 0 also asks that it falls behind nowhere between or below them. `because` makes the reason of the
    distances by (other, rate, target)."""
    gaps = {other: curves.distances(data, result, label, other) for other in others}
    if not any(gaps.values()):
        return Claim(says, "-", None, "the curves do not reach the error rates", ours=ours)
    words = "; ".join(f"{other}: {curves.in_words(found)}" for other, found in gaps.items() if found)
    crossed = "; ".join(text for other in others if greatest_gap == 0 and (text := curves.crossed(result, label, other)))
    flat = {(other, *key): n for other, found in gaps.items() for key, n in found.items()}
    holds = False if crossed else curves.at_most(flat.values(), greatest_gap)
    reasons = [crossed, because(flat)] if holds is False else [curves.undecided(flat.values(), greatest_gap)] if holds is None else []
    return Claim(says, f"{label} behind {words}{curves.uncertainty(flat.values())}", holds, ". ".join(filter(None, reasons)), ours=ours, is_open=holds is None)


def of_ber(gaps, other):
    """[(BER, dB)] of the distances to one curve."""
    return [(target, n.value) for (name, rate, target), n in gaps.items() if (name, rate) == (other, "ber")]


def detector_figure(number, n, qam):
    need = Need("sim", f"wu2010_fig4_{number}")

    def make(data: Data):
        result = data.get(need)
        best = f"K-best, K = {qam}"
        narrow = [f"K-best, K = {n}"] if qam != n else []
        claims = []
        if n == 2:
            frames, bits = curves.differences(result, "MTT", "ML")
            claims.append(Claim("MTT is optimal for 2x2", f"frame errors are {'those' if frames == 0 else 'not those'} of ML at every point. Bit errors of frames in error "
                                f"differ by {1e4 * bits:.1g} in 10^4 at most, as sums are rounded in another order", frames == 0))
            claims.append(ahead(data, result, "MTT", [best, *narrow], "for 2x2 MTT is better than K-best with K = M (K = Q and K = antennas)",
                                EQUAL_DB))
            claims.append(ahead(data, result, "MTT", ["one-pass trellis"], "MTT is better than one pass"))
        else:
            clipped = curves.distances(data, result, "MTT", "MTT, clip 8", ("ber",))
            def by_clip(gaps):
                gained = [(target, n.value) for (_, target), n in clipped.items() if n.low > 0]
                return "a clip of 8 alone gains " + ", ".join(f"{db:.2f} dB at BER {curves.power(ber)}" for ber, db in gained) if gained else ""
            def by_paths(gaps):
                return f"both have a clip of 8, so the {max(n.value for n in gaps.values()):.2f} dB are paths: MTT keeps one for each of the Q points of a stage, K-best with K = Q the Q best"
            def growing(gaps):
                loss = of_ber(gaps, "MTT, clip 8")
                return f"the loss grows from {loss[0][1]:.2f} to {loss[-1][1]:.2f} dB as the BER falls from {curves.power(loss[0][0])} to {curves.power(loss[-1][0])}" if loss and loss[0][1] < loss[-1][1] else ""
            def kept(gaps):
                worst = max(n.value for n in curves.distances(data, result, "MTT, clip 8", "one-pass trellis").values())
                return f"One pass has a clip of 8 and MTT none. With one too, MTT stays at least {-worst:.2f} dB ahead" if worst < 0 else ""
            claims.append(ahead(data, result, "MTT", [best, *narrow],
                                f"for 4x4 MTT is close to K-best with K = M (within {CLOSE_DB} dB), as printed: no clip", CLOSE_DB, by_clip))
            claims.append(ahead(data, result, "MTT, clip 8", [best, *narrow], f"the same with a clip of 8 (within {CLOSE_DB} dB)", CLOSE_DB, by_paths, ours=True))
            claims.append(ahead(data, result, "MTT", ["MTT, clip 8"], "MTT needs no clip", 0.1, growing))
            claims.append(ahead(data, result, "MTT", ["one-pass trellis"], "MTT is better than one pass", 0.0, kept))
            claims.append(ahead(data, result, "MTT, clip 8", ["one-pass trellis"], "the same, both with a clip of 8", ours=True))
        return [error_panel(result, "ber", labels_of(result), clips=True), error_panel(result, "fer", labels_of(result), clips=True)], claims

    return Row("wu2010", f"fig4.{number}", f"BER of {n}x{n} {NAMES[qam] if qam > 4 else '4-QAM'}, WiMAX LDPC 2304 rate 1/2", (need,), make)


# ---------------------------------------------------------------- detector throughput
def mtt(bs, n, qam, figure):
    return pick(on_gpu(bs), [figure], detector="mtt", n=n, qam=qam, uses=printed.WU2010_USES[n])


def carrier_figure(number, n):
    def make(data: Data):
        bs = data.benchmarks(DETECT)
        uses = printed.WU2010_USES[n]
        ours = {qam: uses / seconds(b) if (b := mtt(bs, n, qam, "host_fed")) else None for qam in NAMES}
        paper = {qam: uses / (1e-3 * ms[1]) for qam, ms in printed.WU2010_MTT[n].items()}
        five, twenty = CARRIERS[0][1], CARRIERS[-1][1]
        names = list(NAMES.values())
        lines = [Line("ours, copies overlapped", [(i, 1e-6 * ours[q]) for i, q in enumerate(NAMES) if ours[q]], joined=False),
                 Line("wu2010 (Tesla C1060), by its runtimes", [(i, 1e-6 * paper[q]) for i, q in enumerate(NAMES)], printed=True)]
        panel = Panel(f"MTT {n}x{n} fed from the host", "", "10^6 uses of the channel a second", lines, ticks=names,
                      levels=[(1e-6 * rate, name) for name, rate in CARRIERS])
        def factors(rate):
            return lambda values: ", ".join(f"{name} {v / rate:.0f}x" for name, v in zip(names, values))
        claims = [measured(f"MTT keeps up with 5 MHz LTE, {n}x{n}, at all three modulations", ours.values(), factors(five),
                           lambda values: all(v >= five for v in values), missing="fed from the host"),
                  Claim(f"the same by the asynchronous runtimes that the thesis prints (300 subcarriers, 14 symbols a millisecond), {n}x{n}",
                        ", ".join(f"{NAMES[q]} {rate / five:.2g}x" for q, rate in paper.items()), all(rate >= five for rate in paper.values()),
                        f"{NAMES[64]} takes {1e3 * uses / paper[64]:.1f} ms for {uses} uses, which 5 MHz has in {1e3 * uses / five:.1f} ms" if paper[64] < five else "")]
        fast = (4, 16) if n == 2 else (4,)
        claims.append(measured(f"{' and '.join(NAMES[q] for q in fast)}: more than four times what 5 MHz needs, enough for 20 MHz too", [ours[q] for q in fast],
                               factors(twenty), lambda values: all(v >= twenty for v in values), missing="fed from the host"))
        if n == 4:
            short = five / paper[64]
            claims.append(Claim("4x4 64-QAM needs 7 times the cores of a C1060", f"{short:.1f} times by the runtime of the thesis; here "
                                + ("-" if not ours[64] else f"{ours[64] / five:.0f} times as fast as needed"), 6.5 <= short <= 8.5))
            asked, two = short * C1060_CORES, 2 * 2 * FERMI_CORES
            claims.append(Claim("two cards of the generation after Fermi suffice for 4x4 64-QAM in 5 MHz, if cores double once more and the rate follows their number",
                                f"by the runtime of the thesis {short:.1f} C1060s would do, which have {asked:.0f} cores; two cards of twice Fermi's {FERMI_CORES} have {two}. "
                                + ("No such card is measured" + (f"; one GPU of this record is {ours[64] / paper[64]:.0f} times as fast as a C1060" if ours[64] else "")), two >= asked,
                                f"{two} cores are {two / asked:.2f} of those"))
            other = [f"category {i} has {layers}" for i, (layers, stated) in enumerate(zip(LAYERS, (2, 2, 2, 2, 4)), 1) if layers != stated]
            claims.append(Claim("LTE devices of categories 1 to 4 are 2x2, those of category 5 4x4 (TS 36.306 table 4.1-1: layers of the downlink)",
                                "categories 1 to 5 have " + ", ".join(map(str, LAYERS)) + " layers", not other, ", ".join(other)))
        return [panel], claims

    return Row("wu2010", f"fig4.{number}", f"throughput of MTT {n}x{n} and what LTE needs", (DETECT,), make)


def runtime_table(number, n):
    def make(data: Data):
        bs = data.benchmarks(DETECT)
        kinds = {"synchronous": "sync", "asynchronous": "host_fed", "kernel": "kernel"}
        ms = {(q, k): 1e3 * seconds(b) if (b := mtt(bs, n, q, figure)) else None for q in NAMES for k, figure in kinds.items()}
        lines = []
        for i, kind in enumerate(kinds):
            lines.append(Line(f"ours, {kind}", [(j, ms[q, kind]) for j, q in enumerate(NAMES) if ms[q, kind]], joined=False, setting=kind))
            lines.append(Line(f"wu2010, {kind}", [(j, printed.WU2010_MTT[n][q][i]) for j, q in enumerate(NAMES)], printed=True, setting=kind))
        panel = Panel(f"{printed.WU2010_USES[n]} uses", "", "ms", lines, ticks=list(NAMES.values()))
        claims = [beside(f"{NAMES[q]}: {' / '.join(f'{x:g}' for x in printed.WU2010_MTT[n][q])} ms synchronous / asynchronous / kernel (without QR)",
                           [ms[q, k] for k in kinds],
                           lambda v, q=q: f"{' / '.join(three(x) for x in v)} ms with the QR decomposition: "
                           + ", ".join(f"{three(p / x)}x" for p, x in zip(printed.WU2010_MTT[n][q], v)),
                           "on a GPU") for q in NAMES]
        claims.append(measured("overlapped copies bring the whole call near its kernel's time (within 25 %)",
                               [ms[q, k] for q in NAMES for k in ("asynchronous", "kernel")],
                               lambda v: ", ".join(f"{name} {v[2 * i] / v[2 * i + 1]:.3g}x" for i, name in enumerate(NAMES.values())),
                               lambda v: all(v[2 * i] <= 1.25 * v[2 * i + 1] for i in range(3)),
                               lambda v: faster_than_copies([printed.WU2010_MTT[n][q][::2] for q in NAMES], [(ms[q, "synchronous"], ms[q, "kernel"]) for q in NAMES])
                               if all(ms[q, "synchronous"] for q in NAMES) else "",
                               "on a GPU"))
        claims.append(measured("overlap is an effective way to hide the copies: faster than synchronous", [ms[q, k] for q in NAMES for k in ("synchronous", "asynchronous")],
                               lambda v: ", ".join(f"{name} {v[2 * i] / v[2 * i + 1]:.2f}x" for i, name in enumerate(NAMES.values())),
                               lambda v: all(v[2 * i] > v[2 * i + 1] for i in range(3)), missing="on a GPU"))
        return [panel], claims

    return Row("wu2010", f"table4.{number}", f"runtime of MTT {n}x{n}", (DETECT,), make)


def profiled(data: Data, need):
    """Counters by (antennas, QAM) of MTT: (uses, metrics, flops)."""
    if not data.has(need):
        return {}
    found = {}
    for b in data.get(need)["benchmarks"]:
        axes = dict(part.split("=") for part in b["name"].split("/")[1:])
        if axes.get("detector") == "mtt" and ("uses" in axes) == (need is TABLE_4_3):
            found[int(axes["antennas"].split("x")[1]), int(axes["qam"])] = (b["stated"]["items"], b["metrics"], b["stated"]["flops"])
    return found


C1060_MULTIPROCESSORS = 30
ISSUED, EXECUTED, TIME = "sm__inst_issued.avg.pct_of_peak_sustained_active", "smsp__inst_executed.sum", "gpu__time_duration.sum"
MEMORY = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"


def table_4_3(data: Data):
    small, large = profiled(data, TABLE_4_3), profiled(data, PROFILE)
    names = list(NAMES.values())
    def share(found, q):
        return found[2, q][1].get(ISSUED) if (2, q) in found else None
    lines = [Line("wu2010, R", [(i, 100 * printed.WU2010_RATIO[q][2]) for i, q in enumerate(NAMES)], printed=True),
             Line("ours, a batch that fills the GPU", [(i, share(large, q)) for i, q in enumerate(NAMES) if share(large, q)], joined=False),
             Line("ours, 16800 uses", [(i, share(small, q)) for i, q in enumerate(NAMES) if share(small, q)], joined=False)]
    panel = Panel("issue slots in use, MTT 2x2", "", "% of the peak instruction rate", lines, log_y=False, ticks=names)
    def not_filled(q):
        more, less = share(large, q), share(small, q)
        return f"16800 uses do not fill this GPU: 2^20 uses have R = {more / 100:.3f}" if more and more > less + 10 else ""
    many = data.get(TABLE_4_3)["machine"]["gpus"][0]["multiprocessors"] if small else 0
    claims = [measured(f"{NAMES[q]}: I = {i} of one of {C1060_MULTIPROCESSORS} multiprocessors, T = {t:g} ms, R = {r:g}", [small.get((2, q))],
                       lambda v, i=i: f"I = {v[0][1][EXECUTED] / many:.0f} of one of {many} multiprocessors, T = {1e3 * v[0][1][TIME]:.3g} ms, R = {v[0][1][ISSUED] / 100:.3f}; "
                       f"all multiprocessors together execute {C1060_MULTIPROCESSORS * i / v[0][1][EXECUTED]:.2g} times fewer",
                       lambda v, r=r: abs(v[0][1][ISSUED] / 100 - r) <= 0.1, lambda v, q=q: not_filled(q), "16800 uses by the profiler") for q, (i, t, r) in printed.WU2010_RATIO.items()]
    by_formula = [4 * i / (1.3e6 * t) for i, t, _ in printed.WU2010_RATIO.values()]
    claims.append(Claim("R = 4 I / (1.3 GHz T), eq. 4.4 (within 5 %)", ", ".join(f"{x:.3f}" for x in by_formula) + " of the printed I and T, which are rounded",
                        all(abs(x / r - 1) <= 0.05 for x, (*_, r) in zip(by_formula, printed.WU2010_RATIO.values()))))
    def not_memory():
        memory = [large[2, q][1].get(MEMORY) for q in (16, 64)]
        return f"{100 - share(large, 16):.0f} and {100 - share(large, 64):.0f} % of the issue slots are empty. Device memory is at {memory[0]:.0f} and {memory[1]:.0f} % of its rate, " \
            "so it is no limit. What leaves the slots empty is not measured: the record has no counters of stalls" if None not in memory and max(memory) < 50 else ""
    claims.append(measured("R is lowest for 4-QAM, which computes least for each memory access", [share(large, q) for q in NAMES],
                           lambda v: ", ".join(f"{name} {x:.0f} %" for name, x in zip(names, v)), lambda v: v[0] == min(v), missing="by the profiler"))
    claims.append(measured("R is near 1 for 16- and 64-QAM (above 0.9)", [share(large, q) for q in (16, 64)], lambda v: ", ".join(f"{x:.0f} %" for x in v),
                           lambda v: min(v) > 90, lambda v: not_memory(), "by the profiler"))
    return [panel], claims


def table_4_4(data: Data):
    found = profiled(data, PROFILE)
    sizes = list(printed.WU2010_INSTRUCTIONS)
    def executed(key):
        return 32 * found[key][1][EXECUTED] / found[key][0] if key in found else None
    def model(key):
        return found[key][2] / found[key][0] if key in found else None
    ticks = [f"{n}x{n} {NAMES[q]}" for n, q in sizes]
    lines = [Line("ours, executed", [(i, executed(k)) for i, k in enumerate(sizes) if executed(k)], joined=False, setting="executed"),
             Line("ours, operations that flops() states", [(i, model(k)) for i, k in enumerate(sizes) if model(k)], joined=False, setting="model"),
             Line("wu2010, profiler, times Q threads", [(i, k[1] * printed.WU2010_INSTRUCTIONS[k][1]) for i, k in enumerate(sizes)], printed=True, setting="executed"),
             Line("wu2010, model, times Q threads", [(i, k[1] * printed.WU2010_INSTRUCTIONS[k][0]) for i, k in enumerate(sizes)], printed=True, setting="model")]
    claims = [beside(f"{n}x{n} {NAMES[q]}: {m * q} by the model, {p * q} by the profiler (times Q threads)", [executed((n, q)), model((n, q))],
                       lambda v, p=p, q=q: f"{three(v[0])} executed, {p * q / v[0]:.1f} times fewer than in the thesis; {three(v[1])} fp32 operations by our model",
                       "by the profiler") for (n, q), (m, p) in printed.WU2010_INSTRUCTIONS.items()]
    for q, share in printed.WU2010_LOOP_SHARE.items():
        # Whatever does not grow with Q is at most all that QPSK executes.
        loops = printed.WU2010_PAIRS[2] * q / printed.WU2010_INSTRUCTIONS[2, q][0]
        claims.append(measured(f"2x2 {NAMES[q]}: {100 * share:.0f} % of the instructions are in loops over points (within 5 %)", [executed((2, 4)), executed((2, q))],
                               lambda v, loops=loops: f"{100 * loops:.0f} % by eq. 4.5. Our loops are unrolled. At least {100 * (1 - v[0] / v[1]):.0f} % of our instructions grow with Q: QPSK executes that many fewer",
                               lambda v, share=share, loops=loops: abs(loops - share) <= 0.05, missing="by the profiler"))
    theirs = {key: m / p for key, (m, p) in printed.WU2010_INSTRUCTIONS.items()}
    far = {key: ratio for key, ratio in theirs.items() if abs(ratio - 1) > 0.1}
    claims.append(Claim("the model agrees with the profiler (within 10 %)", "model / profiler of the thesis: " + ", ".join(f"{n}x{n} {NAMES[q]} {x:.2f}" for (n, q), x in theirs.items()), not far,
                        "the model has " + " and ".join(f"{x:.2f} of the instructions counted at {n}x{n} {NAMES[q]}" for (n, q), x in far.items())))
    claims.append(measured("the same of our model, which states fp32 operations", [x for k in sizes for x in (model(k), executed(k))],
                           lambda v: "model / executed: " + ", ".join(f"{n}x{n} {NAMES[q]} {v[2 * i] / v[2 * i + 1]:.2f}" for i, (n, q) in enumerate(sizes)),
                           lambda v: all(abs(v[i] / v[i + 1] - 1) <= 0.1 for i in range(0, len(v), 2)),
                           lambda v: f"at least {100 * min(1 - v[i] / v[i + 1] for i in range(0, len(v), 2)):.0f} % of what is executed are no such operations", "by the profiler", ours=True))
    profiler = {n: [printed.WU2010_INSTRUCTIONS[n, q][1] for q in (16, 64)] for n in printed.WU2010_PAIRS}
    slopes = {n: (many - few) / (64 - 16) for n, (few, many) in profiler.items()}
    beyond = {n: x / printed.WU2010_PAIRS[n] for n, x in slopes.items() if abs(x / printed.WU2010_PAIRS[n] - 1) > 0.25}
    claims.append(Claim("8 instructions an iteration of path extension and reduction, so " + " and ".join(f"{x} Q at {n}x{n}" for n, x in printed.WU2010_PAIRS.items())
                        + " in all (eqs 4.5, 4.6; within 25 %)", "by the thesis' own profiler, from 16- to 64-QAM: " + " and ".join(f"{x:.0f} Q ({n}x{n})" for n, x in slopes.items()), not beyond,
                        "the profiler has " + " and ".join(f"{x:.2f} times as many at {n}x{n}" for n, x in beyond.items())))
    def growth(few, many):
        return math.log(many / few, 4)
    claims.append(measured("ours tries Q points for each of Q paths too, so a use's instructions grow as Q^2 (from 16- to 64-QAM)", [executed((n, q)) for n in printed.WU2010_PAIRS for q in (16, 64)],
                           lambda v: "they grow as " + " and ".join(f"Q^{growth(*v[i:i + 2]):.2f} ({n}x{n})" for n, i in ((2, 0), (4, 2))), lambda v: all(growth(*v[i:i + 2]) > 1.9 for i in (0, 2)),
                           lambda v: " and ".join(f"64-QAM executes {v[i + 1] / v[i]:.1f} times what 16-QAM does ({n}x{n})" for n, i in ((2, 0), (4, 2))) + ", not 16 times", "by the profiler", ours=True))
    return [Panel("instructions of a use, MTT", "", "instructions of all threads", lines, ticks=ticks)], claims


def table_4_5(data: Data):
    bs = on_gpu(data.benchmarks(DETECT, KBEST))
    settings = [("MTT", {"detector": "mtt"}), ("OT", {"detector": "ot"}), ("N-way, N = 4", {"detector": "nway", "ways": 4}),
                ("K-best, K = 16", {"detector": "kbest", "survivors": 16}), ("exhaustive", {"detector": "ml"})]
    ours = {name: {q: b["mbps"] if (b := pick(bs, ["kernel"], n=4, qam=q, **setting)) else None for q in NAMES} for name, setting in settings}
    lines = [Line(f"ours, {name}", [(i, rates[q]) for i, q in enumerate(NAMES) if rates[q]], joined=False) for name, rates in ours.items()]
    lines += [Line(name, [(i, rates[q]) for i, q in enumerate(NAMES) if q in rates], printed=True) for name, rates in printed.WU2010_OTHERS.items()]
    theirs = {q: max(rates[q] for name, rates in printed.WU2010_OTHERS.items() if q in rates and "trellis" not in name) if q != 4 else 19.2 for q in NAMES}
    c1060 = next(rates for name, rates in printed.WU2010_OTHERS.items() if name.startswith("wu2010"))
    claims = [measured("a GPU with MTT is as fast as FPGA, ASIP and ASIC of [33], [3], [34], [6], or faster", ours["MTT"].values(),
                       lambda v: ", ".join(f"{name} {three(x / theirs[q])}x" for (q, name), x in zip(NAMES.items(), v)),
                       lambda v: all(x >= theirs[q] for q, x in zip(NAMES, v)), missing="on a GPU"),
              measured("the ASIC with trellis detection [26], of 2009, is faster than the GPU (300 and 600 Mb/s)", [ours["MTT"][4], ours["MTT"][16]],
                       lambda v: f"{three(v[0] / 300)} and {three(v[1] / 600)} times as fast as that ASIC", lambda v: v[0] < 300 and v[1] < 600,
                       lambda v: "this GPU has " + " and ".join(f"{three(x / c1060[q])}" for x, q in zip(v, (4, 16))) + " times the rate of the thesis' C1060 with MTT", "on a GPU")]
    return [Panel("4x4 detectors", "", "coded Mb/s", lines, ticks=list(NAMES.values()))], claims


# ---------------------------------------------------------------- turbo
FIG_5_2, FIG_5_3 = Need("sim", "wu2010_fig5_2"), Need("sim", "wu2010_fig5_3")
OVERLAP, ONE_WINDOW = Need("sim", "wu2010_overlap"), Need("sim", "turbo_k6144_i6")
WINDOWS = (1, 32, 64, 96, 128)


def windows_figure(number, need, algorithm):
    def make(data: Data):
        result = data.get(need)
        strict = data.bers[1]
        more_windows = [curves.distance(result, f"P = {few}", f"P = {many}", "ber", strict) for few, many in zip(WINDOWS, WINDOWS[1:])]
        claims = [measured("the more windows the worse", more_windows, lambda v: f"more Eb/N0 at BER {curves.power(strict)} from P = 1 to 32 to 64 to 96 to 128: "
                           + ", ".join(f"{-n.value:.3f}" for n in v) + f" dB (95 %: at most ±{max(n.high - n.low for n in v) / 2:.3f} dB)",
                           lambda v: curves.at_most(v, 0.0), lambda v: curves.undecided(v, 0.0), missing="the curves do not reach it")]
        studied = [(data.get(OVERLAP), "log-MAP, one window", data.get(ONE_WINDOW), "overlap 0", "overlap 1")] if number == 2 and not data.quick else []
        lost, overlapped = {}, {}  # the study of overlaps has more points, the figure lower rates
        for ber in data.bers:
            found = [(curves.distance(fine, label, reference, "ber", ber, one), curves.distance(fine, other, reference, "ber", ber, one))
                     for fine, reference, one, label, other in (*studied, (result, "P = 1", result, "P = 96", "P = 96, overlap 16"))]
            lost[ber] = next((a for a, _ in found if a is not None), None)
            overlapped[ber] = found[0][1] if studied else None
        def growing():
            known = [(ber, n) for ber, n in lost.items() if n is not None]
            return "the loss grows as the error rate falls: " + ", ".join(f"{n.value:.3f} dB at BER {curves.power(ber)}" for ber, n in known) \
                if len(known) > 1 and all(b.minus(a).low > 0 for (_, a), (_, b) in zip(known, known[1:])) else ""
        for ber in data.bers:
            extra = f", {overlapped[ber].text(3)} with an overlap of one step, which the thesis has not" if overlapped[ber] is not None else ""
            claims.append(measured(f"96 windows lose less than 0.1 dB, at BER {curves.power(ber)}", [lost[ber]], lambda v, extra=extra: f"{v[0].text(3)} dB{extra}", lambda v: curves.at_most(v, 0.1),
                                   lambda v: growing() if v[0].low > 0.1 else f"0.1 dB is inside {v[0].text(3)} dB", "the curves do not reach it"))
        panels = [error_panel(result, "ber", [f"P = {p}" for p in WINDOWS], "no overlap"),
                  error_panel(result, "ber", ["P = 1"] + [f"P = {p}, overlap 16" for p in WINDOWS[1:]], "overlap of 16 steps (not in the thesis)")]
        if number == 2:
            other = data.get(FIG_5_3)
            claims.append(measured("log-MAP is significantly better than max-log-MAP (P = 1; above 0.1 dB)", [curves.distance(result, "P = 1", "P = 1", "ber", strict, other)],
                                   lambda v: f"{-v[0].value:.2f} dB at BER {curves.power(strict)}{curves.uncertainty(v)}", lambda v: curves.at_most(v, -0.1), missing="the curves do not reach it"))
        return panels, claims

    more = (FIG_5_3, OVERLAP, ONE_WINDOW) if number == 2 else ()
    return Row("wu2010", f"fig5.{number}", f"BER of the windowed turbo decoder, {algorithm}, K = 6144, 6 iterations", (need, *more), make)


def turbo_rate(bs, algorithm, steps, iterations, k=6144, overlap=0):
    b = pick(bs, ["resident"], op="turbo", k=k, map=algorithm, window_steps=steps, overlap=overlap, iterations=iterations)
    return b and b["mbps"]


def table_5_3(data: Data):
    bs = data.benchmarks(TURBO, TURBO_K)
    bs = on_gpu(bs) or bs
    steps = (32, 64, 96, 128)
    panels, claims = [], []
    for algorithm, name in (("max_log_map", "max-log-MAP"), ("log_map", "log-MAP")):
        ours = {w: [turbo_rate(bs, algorithm, w, i) for i in range(1, 7)] for w in steps}
        paper = printed.WU2010_TURBO[algorithm]
        lines = [Line(f"ours, W = {w}", [(i, r) for i, r in enumerate(ours[w], 1) if r], setting=f"W = {w}") for w in steps]
        lines += [Line(f"wu2010, W = {w}", list(enumerate(paper[w], 1)), printed=True, setting=f"W = {w}") for w in steps]
        panels.append(Panel(f"{name}, K = 6144", "iterations", "Mb/s", lines))
        for w in steps:
            claims.append(beside(f"{name}, W = {w}: {' / '.join(f'{x:g}' for x in paper[w])} Mb/s after 1 to 6 iterations", ours[w],
                                   lambda v, p=paper[w]: " / ".join(three(x) for x in v) + f" Mb/s: {three(v[0] / p[0])} to {three(v[-1] / p[-1])}x", "this setting"))
        six = [r for w in steps for r in (ours[w][0], ours[w][5])]
        def factors(v):
            return [6 * b / a for a, b in zip(v[::2], v[1::2])]
        def once(v):  # of a line through the times of one and six iterations: what is done once, in iterations
            return [(6 / a - 1 / b) / (1 / b - 1 / a) for a, b in zip(v[::2], v[1::2])]
        claims.append(measured(f"{name}: m iterations run at T0 / m (within 10 %; m = 6)", six,
                               lambda v: "6 T / T0 = " + ", ".join(f"{x:.2f}" for x in factors(v)) + "; the fixed part of a call takes as long as "
                               + ", ".join(f"{x:.1f}" for x in once(v)) + " iterations (W = 32, 64, 96, 128)",
                               lambda v: max(abs(x - 1) for x in factors(v)) <= 0.1,
                               lambda v: f"the fixed part of a call takes as long as {min(once(v)):.1f} to {max(once(v)):.1f} iterations" if min(once(v)) > 0.1 else "", "all settings"))
        claims.append(measured(f"{name}: shorter windows are faster", [ours[w][5] for w in steps], lambda v: "6 iterations, W = 32, 64, 96, 128: " + ", ".join(three(x) for x in v) + " Mb/s",
                               lambda v: list(v) == sorted(v, reverse=True),
                               lambda v: "all windows fill this GPU: the rates differ by less than 10 %" if max(v) < 1.1 * min(v) else "", "all settings"))
        claims.append(measured(f"{name}: the rate depends on W alone (within 10 %), at W = 32, K = 512 to 6144",
                               [turbo_rate(bs, algorithm, 32, 6, k) for k in (512, 1024, 2048, 6144)], lambda v: ", ".join(three(x) for x in v) + " Mb/s",
                               lambda v: max(v) <= 1.1 * min(v),
                               lambda v: "a thread decodes a window, and a block a codeword: 512 bits fill half a warp. From 2048 bits on the rates differ by "
                               f"{100 * (max(v[2:]) / min(v[2:]) - 1):.0f} %" if max(v[2:]) <= 1.1 * min(v[2:]) else "",
                               "fixed W over K; with automatic windows the rate rises with K"))
    pairs = [(turbo_rate(bs, "max_log_map", w, 6), turbo_rate(bs, "log_map", w, 6)) for w in steps]
    claims.append(measured("log-MAP is slower than max-log-MAP, by little (at most a half)", [x for p in pairs for x in p],
                           lambda v: "by " + ", ".join(f"{100 * (v[i] / v[i + 1] - 1):.0f} %" for i in range(0, 8, 2)) + " at W = 32, 64, 96, 128",
                           lambda v: all(1 <= v[i] / v[i + 1] <= 1.5 for i in range(0, 8, 2)), missing="all settings"))
    return panels, claims


def table_5_4(data: Data):
    bs = data.benchmarks(TURBO, TURBO_WINDOWS)
    def rate(**axes):
        b = pick(bs, ["resident"], op="turbo", k=6144, iterations=6, **axes)
        return b and b["mbps"]
    ours = {f"ours, {p}, 128 windows, overlap 8": rate(map=m, precision=p, window_steps=48, overlap=8) for p, m in (("int16", "max_log_map"), ("bfloat16", "log_map"))}
    ours |= {f"ours, float32, automatic windows, {n}": rate(map=m, window_steps="auto") for m, n in (("max_log_map", "max-log-MAP"), ("log_map", "log-MAP"))}
    theirs = [(f"{name}, {algorithm}", mbps) for name, algorithm, _, mbps in printed.WU2010_DECODERS]
    since = [(name, mbps) for name, _, _, mbps in printed.DECODERS_SINCE]
    ticks = [name for name, _ in theirs] + [name for name, _ in since] + list(ours)
    place = {name: i for i, name in enumerate(ticks)}
    lines = [Line("table 5.4", [(place[n], r) for n, r in theirs], printed=True), Line("since then", [(place[n], r) for n, r in since], joined=False),
             Line("ours", [(place[n], r) for n, r in ours.items() if r], joined=False)]
    best = max(r for name, r in theirs if "C1060" not in name)
    claims = [measured(f"a GPU decodes faster than other programmable decoders (table 5.4's fastest: {best:g} Mb/s; the thesis 6.77 and 5.2)", ours.values(),
                       lambda v: ", ".join(f"{name.removeprefix('ours, ')}: {three(x)} Mb/s" for name, x in zip(ours, v)), lambda v: min(v) > best, missing="all settings"),
              measured("and with the exact algorithm too, where most others have max-log-MAP", [list(ours.values())[3]], lambda v: f"float32 log-MAP {three(v[0])} Mb/s", lambda v: v[0] > best, missing="log-MAP")]
    return [Panel("programmable turbo decoders", "", "Mb/s", lines, ticks=ticks)], claims


def rows():
    sizes = {2: (2, 4), 3: (2, 16), 4: (2, 64), 5: (4, 4), 6: (4, 16), 7: (4, 64)}
    return [*(detector_figure(i, *size) for i, size in sizes.items()), carrier_figure(8, 2), carrier_figure(9, 4), runtime_table(1, 2), runtime_table(2, 4),
            Row("wu2010", "table4.3", "share of the peak instruction rate, MTT 2x2", (TABLE_4_3, PROFILE), table_4_3),
            Row("wu2010", "table4.4", "instructions of a use, and their model", (PROFILE,), table_4_4),
            Row("wu2010", "table4.5", "4x4 detectors on other platforms", (DETECT, KBEST), table_4_5),
            windows_figure(2, FIG_5_2, "log-MAP"), windows_figure(3, FIG_5_3, "max-log-MAP"),
            Row("wu2010", "table5.3", "throughput of the turbo decoder over window length and iterations", (TURBO, TURBO_K), table_5_3),
            Row("wu2010", "table5.4", "programmable turbo decoders", (TURBO, TURBO_WINDOWS), table_5_4)]
