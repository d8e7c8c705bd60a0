"""K. Li, "GPU Accelerated Reconfigurable Detector and Precoder for Massive MIMO SDR Systems", thesis, Rice University."""
from __future__ import annotations

import math
import statistics

from . import printed
from . import sweep_iterations as sweep
from .data import Data, Need
from .estimates import Number
from .massive_tables import AS_PRINTED, DIRECTIONS, MODES, OURS, SIZES, Frames
from .records import faster_than_copies, machine_of, three
from .rows import Claim, Line, Panel, Row, beside, measured

CHANNELS = {name: Need("sweep", f"li_thesis_{name}", ("table3.1",)) for name in ("c2", "c2_downlink", "rayleigh", "b1")}
FILES = {name: Need("sweep", f"li_thesis_{name}", ("fig3.4", "fig3.5")) for name in ("file", "file_downlink")}
SINR = Need("sim", "li_thesis_sinr")
OPERATIONS = Need("model", "li_fig3_6", ("operations",))
CAPACITY = Need("model", "li_fig5_3", ("capacity",))
FRAMES = Need("bench", "li_thesis_h100", ("^(up|down)link_frame/", "--repetitions", "3", "--min-time", "0.01"), "cuda")
CORES = [Need("bench", f"li_thesis_{core}", ("^(up|down)link_frame/", "--threads", str(threads), "--repetitions", "5", "--min-time", "0.04"), "cpu" if core.startswith("xeon") else "elsewhere")
         for core, threads in (("xeon_1thread", 1), ("xeon_2threads", 2), ("epyc_zen4_1thread", 1), ("epyc_zen4_2threads", 2), ("h200_host_6threads", 6))]
STREAM = Need("stream", "stream_li_2gpu_h100", (), "cuda", gpus=2)
STREAM_SHALLOW = Need("stream", "stream_li_h100", (), "cuda", gpus=2)
STREAM_H200 = Need("stream", "stream_li_2gpu_h200", ("<(sed s/stages=false/stages=true/ curves/stream_li_2gpu_h100.toml)",), "elsewhere")
STREAM_FOUR = Need("stream", "stream_scaling_4gpu_h100", ("bench/scaling/li_thesis.toml", "--device", "cuda:0,cuda:1,cuda:2,cuda:3"), "elsewhere")
SHORT_US, LONG_US = 300, 5000  # what "several hundreds of microseconds" and "several milliseconds" are taken for
SIZE = "128x16"


# ---------------------------------------------------------------- error rates
def results_of(data: Data, need):
    """Its curves; None where there is no result. A quick run has too few drops for the thesis' block error rate."""
    return sweep.Curves(data.get(need), 0.1 if data.quick and data.runs(need) else sweep.RATE) if data.has(need) else None


def bler_panel(heading, curves, keys):
    """Points with their 95% intervals."""
    lines = [Line(sweep.label_of(*key), [p[:4] for p in curves.of(*key)], dashed=key[1] == "cg") for key in keys if curves.of(*key)]
    return Panel(heading, "SNR (dB)", "block error rate", lines)


def around(data, curves, size):
    """Cholesky, and CG with the least I, one less and one more, and with the thesis' I."""
    first, _ = sweep.minimum(curves, size)
    middle = first or printed.LI_ITERATIONS.get(size, size[1])
    return [(size, "cholesky")] + [(size, "cg", i) for i in range(1, size[1] + 1)
                                   if curves.of(size, "cg", i) and (data.quick or abs(i - middle) <= 1 or i == printed.LI_ITERATIONS.get(size))]


def convergence(curves, size, direction):
    """Losses against Cholesky by iterations in words, and of the fewest and the most iterations: as numbers, the fewest None where its
    curve ends above the block error rate."""
    reference = curves.of(size, "cholesky")
    lost = [(i, sweep.loss(curves.of(size, "cg", i), reference, curves.rate)) for i in range(1, size[1] + 1) if curves.of(size, "cg", i)]
    if not lost or sweep.crossing(reference, rate=curves.rate) is None:
        return None
    words = ", ".join(f"I = {i}: " + (f"{x[0]:.2f} ± {x[2] - x[0]:.2f} dB" if x else "> 1.5 dB") for i, x in lost)
    return f"{direction} {size[0]}x{size[1]} " + words, *(x and Number(*x) for _, x in (lost[0], lost[-1]))


def converges(pairs) -> bool | None:
    """Whether the most iterations lose less than the fewest, and less than 1 dB, by the intervals; None where that is open."""
    if any(last is None or last.among(len(pairs)).low > (first.among(len(pairs)).high if first else math.inf) or last.among(len(pairs)).low > 1 for first, last in pairs):
        return False
    return True if all(last.high < 1 and (first is None or last.minus(first).high < 0) for first, last in pairs) else None


def convergence_claim(says, sides, sizes, missing="", ours=False):
    found = [convergence(curves, size, direction) for direction, curves in sides for size in sizes if curves]
    found = [f for f in found if f]
    if not found:
        return Claim(says, "-", None, missing, ours=ours)
    holds = converges([pair for _, *pair in found])
    reason = "" if holds else "with most iterations the loss is " + ", ".join("> 1.5 dB" if last is None else f"{last} dB" for *_, last in found)
    return Claim(says, "; ".join(words for words, *_ in found), holds, reason, ours=ours, is_open=holds is None)


def users_figure(number, users):
    def make(data: Data):
        up, down = results_of(data, CHANNELS["c2"]), results_of(data, CHANNELS["c2_downlink"])
        sizes = [(b, users) for b in (128, 256, 512)]
        panels = [bler_panel(f"({part}) {direction}", curves, [key for size in sizes for key in around(data, curves, size)])
                  for part, direction, curves in (("a", "detection", up), ("b", "precoding", down)) if curves]
        claims = [convergence_claim(f"with more iterations CG {doing} comes nearer to Cholesky, U = {users}", [(doing, curves)], sizes)
                  for doing, curves in (("detection", up), ("precoding", down))]
        return panels, claims

    return Row("li", f"fig3.{number}", f"BLER at U = {users}, CDL tables of WINNER II C2", (CHANNELS["c2"], CHANNELS["c2_downlink"]), make)


def file_figure(number, size):
    def make(data: Data):
        sides = [(direction, results_of(data, FILES[name])) for direction, name in (("detection", "file"), ("precoding", "file_downlink"))]
        channels = "channels of --csi" if data.csi else "simulated channels"
        panels = [bler_panel(f"({part}) {direction}, {channels}", curves, [(size, "cholesky")] + [(size, "cg", i) for i in range(1, size[1] + 1)])
                  for part, (direction, curves) in zip("ab", sides) if curves]
        claims = [Claim("CG converges to Cholesky over channels measured with Argos", "-", None, "no measurement of the array is part of this project; --csi takes one")]
        claims += [convergence_claim(f"the same over {channels} in the file layout of RENEW, {side[0]}", [side], [size], missing="needs a run of this row", ours=not data.csi) for side in sides]
        return panels, claims

    return Row("li", f"fig3.{number}", f"BLER of {size[0]}x{size[1]} over channel estimates of a file", tuple(FILES.values()), make)


def fig_3_8(data: Data):
    down = results_of(data, CHANNELS["c2_downlink"])
    sizes = [(b, 8) for b in (128, 256, 512)]
    panels = [bler_panel(f"{b}x8", down, [key for key in around(data, down, (b, 8))] + [((b, 8), "mf")]) for b, _ in sizes]
    def at(size, *key):
        return sweep.crossing(down.of(size, *key), rate=down.rate)
    least = {size: sweep.minimum(down, size)[0] for size in sizes}
    def best(points):
        return min((p[1] for p in points), default=None)
    words, holds = [], []
    for size in sizes:
        exact, approximate, filtered = at(size, "cholesky"), at(size, "cg", least[size] or printed.LI_ITERATIONS[size]), at(size, "mf")
        floor = best(down.of(size, "mf"))
        if exact is None or floor is None:
            continue
        mf = f"MF {filtered:.1f} dB" if filtered is not None else f"MF not below {floor:.2g} up to {max(p[0] for p in down.of(size, 'mf')):g} dB"
        words.append(f"{size[0]}x8: Cholesky {exact:.1f} dB, CG {'-' if approximate is None else f'{approximate:.1f} dB'}, {mf}")
        holds.append(None if approximate is None else filtered is None or filtered > max(exact, approximate))
    claims = [Claim("MMSE precoding, exact and approximate, has fewer block errors than the matched filter", "; ".join(words) or "-",
                    None if not holds or None in holds else all(holds), "a curve does not reach the block error rate" if None in holds else "" if all(holds) else "the matched filter needs less SNR at a size")]
    claims.append(measured("all of them gain from more antennas for each user", [at(size, "cholesky") for size in sizes] + [best(down.of(size, "mf")) for size in sizes],
                           lambda v: f"Cholesky at {', '.join(f'{x:.1f}' for x in v[:3])} dB; least BLER of MF {', '.join(f'{x:.2g}' for x in v[3:])} (128, 256, 512 antennas)",
                           lambda v: v[0] > v[1] > v[2] and v[3] >= v[4] >= v[5]))
    return panels, claims


def table_3_1(data: Data):
    found = {name: results_of(data, need) for name, need in CHANNELS.items()}
    titles = {"rayleigh": "Rayleigh", "c2": "C2", "b1": "B1", "c2_downlink": "C2, precoding"}
    sizes = sorted(printed.LI_ITERATIONS, key=lambda size: (size[1], size[0]))
    if data.quick:
        sizes = [size for size in sizes if size in sweep.QUICK]
    least = {name: {size: sweep.minimum(c, size)[0] for size in sizes} for name, c in found.items() if c}
    ticks = [f"{b}x{u}" for b, u in sizes]
    lines = [Line("table 3.1", [(i, printed.LI_ITERATIONS[s]) for i, s in enumerate(sizes)], printed=True)]
    lines += [Line(titles[name], [(i, least[name][s]) for i, s in enumerate(sizes) if least[name][s]], joined=False) for name in titles if name in least]
    inside = [s for s in sizes if all(least.get(n, {}).get(s) for n in ("rayleigh", "b1")) and least["rayleigh"][s] <= printed.LI_ITERATIONS[s] <= least["b1"][s]]
    both = [s for s in sizes if all(least.get(n, {}).get(s) for n in ("rayleigh", "b1"))]
    claims = []
    for name, iterations in least.items():
        known = {s: i for s, i in iterations.items() if i}
        near = [s for s, i in known.items() if abs(i - printed.LI_ITERATIONS[s]) <= 1]
        far = [f"{b}x{u} {known[b, u]} for {printed.LI_ITERATIONS[b, u]}" for b, u in known if (b, u) not in near]
        losses = {(s, i): x for s in known for i, x in sweep.minimum(found[name], s)[1] if x}
        undecided = [f"{b}x{u}" for b, u in known if any(x[1] < 1 < x[2] for (s, i), x in losses.items() if s == (b, u) and abs(i - known[b, u]) <= 1)]
        claims.append(Claim(f"the least I that loses less than 1 dB, within one iteration, {titles[name]}", f"{len(near)} of {len(known)}" + (f"; not {', '.join(far)}" if far else "")
                            + f". 95 % intervals of a loss, median ±{statistics.median(x[2] - x[0] for x in losses.values()):.2f} dB, leave I open by one at " + (", ".join(undecided) or "no size"),
                            not far if known else None,
                            f"the thesis does not say which of WINNER's scenarios it has. {len(inside)} of {len(both)} of its numbers lie between ours of independent fading "
                            "and of a line of sight" if inside and len(inside) == len(both) else ""))
    claims.append(Claim("every number of table 3.1 lies between independent fading and a line of sight (ours)", f"{len(inside)} of {len(both)}", len(inside) == len(both) if both else None, ours=True))
    if data.has(SINR) and not data.quick:
        held = sweep.Curves(data.get(SINR))
        pairs = [(label, label.replace("exact", "approximate")) for label in held.points if "exact" in label]
        lost = [(a.split()[0], sweep.loss(held.points[b], held.points[a])) for a, b in pairs]
        claims.append(measured("LLRs from the Gram matrix's diagonal (eqs 3.3, 3.4) need no inverse (loss of at most 0.1 dB)", [x for _, x in lost],
                               lambda v: ", ".join(f"{name} {x[0]:.2f} dB" for (name, x) in lost) + " on the same bits, channels and noise (95 %, if both were independent: at most "
                               f"±{max(x[2] - x[0] for x in v):.2f} dB)", lambda v: all(x[0] <= 0.1 for x in v)))
    return [Panel("least I that loses less than 1 dB at BLER 1e-2", "antennas x users", "CG iterations", lines, ticks=ticks)], claims


# ---------------------------------------------------------------- operations
def thesis_operations(antennas, users, iterations=None):
    """Of the thesis' own design, a new H for each vector, an fma as one. Without iterations: cgemm of all of H^H H and of H^H y, and A^-1
    with its product. A^-1 comes from LU (4/3 U^3) and a forward and a backward substitution for every column of the unit matrix
    (4 U^3). Otherwise CG with so many iterations."""
    shared = 4 * antennas * users**2 + 4 * antennas * users
    if iterations is None:
        return shared + 16 / 3 * users**3 + 4 * users**2
    return shared + iterations * (4 * users**2 + 10 * users)


def fig_3_6(data: Data):
    model = data.get(OPERATIONS)
    counts = {(c["antennas"], c["users"]): c for c in model["configurations"]}
    panels = []
    for part, users in zip("abc", (16, 32, 64)):
        c = counts[128, users]
        iterations = [p["iterations"] for p in c["cg"]]
        panels.append(Panel(f"({part}) 128x{users}", "CG iterations", "fp32 operations of a vector", [
            Line("ours, CG", [(p["iterations"], p["operations"]) for p in c["cg"]]),
            Line("ours, Cholesky", [(i, c["cholesky"]["operations"]) for i in iterations]),
            Line("the thesis' design, CG", [(i, thesis_operations(128, users, i)) for i in iterations], dashed=True),
            Line("the thesis' design, explicit inverse", [(i, thesis_operations(128, users)) for i in iterations], dashed=True)], log_y=False))
    def saved(users, i):
        c = counts[128, users]
        return 1 - c["cg"][i - 1]["operations"] / c["cholesky"]["operations"], 1 - thesis_operations(128, users, i) / thesis_operations(128, users)
    table = {u: saved(u, 3) for u in (16, 32, 64)}
    words = ", ".join(f"U = {u}: {100 * a:.0f} / {100 * b:.0f} %" for u, (a, b) in table.items())
    rises = all(table[16][k] < table[32][k] < table[64][k] for k in (0, 1))
    cheaper = [(next((p["iterations"] for p in counts[128, u]["cg"] if p["operations"] > counts[128, u]["cholesky"]["operations"]), None)) for u in (16, 32, 64)]
    return panels, [Claim("the more users, the more CG saves at few iterations (I = 3)", f"saved, our design / the thesis': {words}", rises),
                    Claim("few iterations are cheaper than Cholesky", "ours, a new H for each vector: CG costs more from I = "
                          + ", ".join(f"{i or 'above 16'} (U = {u})" for i, u in zip(cheaper, (16, 32, 64))) + " on", all(i is None or i > 3 for i in cheaper))]


def fig_3_7(data: Data):
    counts = {(c["antennas"], c["users"]): c["table_3_1"] for c in data.get(OPERATIONS)["configurations"]}
    users = [8, 16, 32, 64]
    def panel(heading, value):
        return Panel(heading, "users", "operations that CG saves (%)", [Line(f"{b} antennas", [(i, 100 * value(b, u)) for i, u in enumerate(users)], joined=False) for b in (128, 256, 512)],
                     log_y=False, ticks=[str(u) for u in users])
    whole = {(c["antennas"], c["users"]): c for c in data.get(OPERATIONS)["configurations"]}
    def ours_of(b, u, iterations=None):
        """Operations of ours over those of the thesis' design."""
        c = whole[b, u]
        return (c["cholesky"] if iterations is None else c["cg"][iterations - 1])["operations"] / thesis_operations(b, u, iterations)
    def design(b, u):
        return 1 - thesis_operations(b, u, printed.LI_ITERATIONS[b, u]) / thesis_operations(b, u)
    panels = [panel("ours, whole detector", lambda b, u: counts[b, u]["reduction"]), panel("the thesis' design, whole detector", design),
              panel("ours, the solver alone", lambda b, u: counts[b, u]["solver_reduction"])]
    return panels, [Claim("128x64: CG saves around 40 % (within 5 %), counted for the thesis' design", f"{100 * design(128, 64):.0f} %", abs(design(128, 64) - 0.4) <= 0.05),
                    Claim("the same, counted for our design", f"{100 * counts[128, 64]['reduction']:.0f} % of the detector, {100 * counts[128, 64]['solver_reduction']:.0f} % of the solver",
                          abs(counts[128, 64]["reduction"] - 0.4) <= 0.05,
                          f"our detector with Cholesky has {ours_of(128, 64):.2f} of the operations of the thesis' design with its inverse, and with CG {ours_of(128, 64, printed.LI_ITERATIONS[128, 64]):.2f}: there is less to save"
                          if ours_of(128, 64) < ours_of(128, 64, printed.LI_ITERATIONS[128, 64]) else "", ours=True)]


# ---------------------------------------------------------------- frames
def frames_of(data: Data):
    bs = [b for b in data.benchmarks(FRAMES) if b["device"].startswith("cuda")]
    return Frames(bs)


def gpu(data: Data):
    bs = [b for b in data.benchmarks(FRAMES) if b["device"].startswith("cuda")]
    return machine_of(bs[0]) if bs else "GPU"


def table_5_1(data: Data):
    frames = frames_of(data)
    panels, claims = [], []
    for size, more in ((SIZE, (8, 16, 32, 64)), ("256x32", (2, 4, 8, 16))):
        lines = []
        for mode, title in MODES.items():
            for estimate, sharing in (("each", "H for each"), ("shared", "H shared")):
                lines.append(Line(f"ours, {title}, {sharing}", [(n, r) for n in more if (r := frames.rate("uplink", size, mode, n, estimate, OURS, "kernel"))], dashed=estimate == "each", setting=f"{title}, {sharing}"))
            lines.append(Line(f"its design, cuBLAS, {title}", [(n, r) for n in more if (r := frames.rate("uplink", size, mode, n, "each", AS_PRINTED, "kernel"))], dashed=True))
            lines.append(Line(f"thesis (GTX 980 Ti), {title}", [(n, k) for n, (k, _) in printed.LI_SINGLE[size, mode].items()], printed=True, setting=f"{title}, H for each"))
        panels.append(Panel(f"{size}, kernels, float32", "OFDM symbols of a frame", "coded Mb/s", lines, log_x=True))
        for mode, title in MODES.items():
            pairs = {n: (frames.rate("uplink", size, mode, n, "each", OURS, "kernel"), frames.rate("uplink", size, mode, n, "shared", OURS, "sync")) for n in more}
            claims.append(beside(f"{size} {title}, N_sym {', '.join(map(str, more))}: {', '.join(f'{k:g}/{m:g}' for k, m in printed.LI_SINGLE[size, mode].values())} Mb/s, kernel / with copies",
                                 [x for p in pairs.values() for x in p], lambda v: "float32: " + ", ".join(f"{three(v[i])}/{three(v[i + 1])}" for i in range(0, len(v), 2)) + " Mb/s, H for each / H shared with copies",
                                 "this size"))
    def each(size, mode, n, figure="kernel", estimate="each"):
        return frames.rate("uplink", size, mode, n, estimate, OURS, figure)
    rising = [each(SIZE, mode, n) for mode in MODES for n in (8, 16, 32, 64)]
    claims.append(measured("longer frames have a higher rate, 128x16 (H for each)", rising, lambda v: f"Cholesky {', '.join(three(x) for x in v[:4])}; CG {', '.join(three(x) for x in v[4:])} Mb/s",
                           lambda v: all(b > a for part in (v[:4], v[4:]) for a, b in zip(part, part[1:])), missing="128x16"))
    every = [(size, n) for size in SIZES for n in frames.symbols("uplink", size, "cg", by=OURS)]
    faster = [(size, n, each(size, "cg", n), each(size, "cholesky", n)) for size, n in every]
    claims.append(measured("CG is faster than Cholesky at every length (H for each, float32)", [x for *_, a, b in faster for x in (a, b)],
                           lambda v: "CG over Cholesky " + ", ".join(f"{size}: {min(a / b for s, _, a, b in faster if s == size):.2f} to {max(a / b for s, _, a, b in faster if s == size):.2f}" for size in SIZES),
                           lambda v: all(a > b for *_, a, b in faster), missing="some lengths"))
    shared = [(n, each(SIZE, "cg", n, estimate="shared"), each(SIZE, "cholesky", n, estimate="shared")) for n in (8, 16, 32, 64, 128)]
    claims.append(measured("the same where symbols share H", [x for _, a, b in shared for x in (a, b)], lambda v: ", ".join(f"N_sym {n}: {a / b:.2f}" for n, a, b in shared),
                           lambda v: all(a > b for _, a, b in shared), lambda v: slow_frames(shared), "some lengths", ours=True))
    for size, n, says, low, high in ((SIZE, (8, 16, 32, 64), "copies cost 20 to 30 % of the rate, 128x16", 0.15, 0.35), ("256x32", (2, 4, 8, 16), "and more, 256x32", 0.25, 1)):
        for mode, title in MODES.items():
            cost = [(frames.rate("uplink", size, mode, k, "each", AS_PRINTED, "kernel"), frames.rate("uplink", size, mode, k, "each", AS_PRINTED, "sync")) for k in n]
            claims.append(measured(f"{says} (its design with cuBLAS on this GPU, {title}, N_sym {', '.join(map(str, n))})", [x for p in cost for x in p], lambda v, cost=cost: ", ".join(f"{100 * (1 - b / a):.0f} %" for a, b in cost),
                                   lambda v, cost=cost, low=low, high=high: all(low <= 1 - b / a <= high for a, b in cost),
                                   lambda v, size=size, mode=mode, cost=cost: faster_than_copies([(1e3 / b, 1e3 / a) for a, b in printed.LI_SINGLE[size, mode].values()], [(1e3 / b, 1e3 / a) for a, b in cost]), "with copies"))
    return panels, claims


def runs_of(data: Data, need, gpus=None):
    """Runs of a stream by (chain, solver, GPUs, shape). `gpus`: of a record whose labels do not say how many."""
    if not data.has(need):
        return {}
    found = {}
    for run in data.get(need)["runs"]:
        words = run["label"].replace(",", "").replace("GPUs", "GPU").split()
        if words[0] in ("uplink", "precode") and words[1] in ("cholesky", "cg"):
            shape = next(w for w in words if w in ("8x8", "4x16"))
            found[words[0], words[1], gpus or int(words[words.index("GPU") - 1]), shape] = run
    return found


def waiting(times):
    """Why a stream is above the shortest coherence time, from (latency, whole call) in us by solver; empty where calls are above it too."""
    if any(None in pair for pair in times) or any(call >= SHORT_US for _, call in times) or any(late >= LONG_US for late, _ in times):
        return ""
    return f"frames wait in the queue of 12: a synchronous call takes {three(min(call for _, call in times))} to {three(max(call for _, call in times))} us. It is below {LONG_US / 1e3:g} ms"


def full_queue(deep, short):
    """Why a frame waits: the latency over that with a shorter queue."""
    times = [deep[key]["latency_us"]["p50"] / short[key]["latency_us"]["p50"] for key in deep if short.get(key)]
    return f"the stream's queue is kept full: with a queue of 12 the median is {min(times):.1f} to {max(times):.1f} times shorter" if times and min(times) > 1.2 else ""


def copies_of_two(here, other):
    """Why two GPUs have less than twice the rate, from pairs of runs of one and two GPUs: of this host, and of another one, which stands in
    for copies that the first has not. Empty unless copies limit one GPU and those of two GPUs are less than 1.8 times as fast."""
    def known(pairs):
        return all(run and run.get("alone") for pair in pairs for run in pair)
    if not all(one and one.get("alone") for one, _ in here) or not known(here) and not known(other):
        return ""
    share = [one["alone"]["copies_us"] / one["frame_us"] for one, _ in here]
    gains = [one["alone"]["copies_us"] / two["alone"]["copies_us"] for one, two in (here if known(here) else other)]
    if min(share) < 0.8 or max(gains) >= 1.8:
        return ""
    return f"copies of a frame alone take {100 * min(share):.0f} to {100 * max(share):.0f} % of its time on one GPU. " \
        + ("Those of two GPUs are " if known(here) else "This record lacks those of two GPUs; on two H200s they are ") + f"{min(gains):.1f} to {max(gains):.1f} times as fast as those of one"


def slow_copies(times):
    """Why streams stay behind kernels: (kernel, whole call) in us by solver."""
    if any(None in pair for pair in times) or any(call < 2 * kernel for kernel, call in times):
        return ""
    return "copies bound a stream: the kernel of a frame takes " + " and ".join(f"{three(kernel)} of {three(call)} us" for kernel, call in times) + " of a synchronous call"


GROUP, LEAST_OF_LAST_GROUP = 14, 6  # warpband/massive/uplink/mapping.hpp


def slow_frames(rates):
    """Which frames have the generic kernel of CG, from (symbols, CG, Cholesky); empty where that does not tell slow frames from fast ones."""
    generic = {n: a / b for n, a, b in rates if (n - 1) % GROUP + 1 < LEAST_OF_LAST_GROUP}
    own_kernel = {n: a / b for n, a, b in rates if n not in generic}
    if not generic or not own_kernel or max(generic.values()) >= min(own_kernel.values()):
        return ""
    behind = {n: x for n, x in own_kernel.items() if x < 1}
    return f"the last group of {GROUP} symbols is short at N_sym {', '.join(map(str, generic))}, and CG then has the generic kernel" \
        + (f". CG with its own kernel is {', '.join(f'{100 * (1 - x):.0f} % slower than Cholesky at N_sym {n}' for n, x in behind.items())}" if behind else "")


def same_time(micros):
    """Why a frame of two symbols has a lower rate than one of one, from us by symbols; empty where longer frames take longer."""
    first, *more = micros.values()
    if not more or max(more) > 1.3 * min(more) or min(more) < 1.3 * first:
        return ""
    return f"CG takes {three(first)} us for one symbol and {three(min(more))} to {three(max(more))} us for {min(list(micros)[1:])} to {max(micros)}: frames with several vectors have another kernel, whose time is not that of its vectors"


def stream_table(number, direction):
    chain = {"uplink": "uplink", "downlink": "precode"}[direction]

    def make(data: Data):
        frames, runs, shallow, other = frames_of(data), runs_of(data, STREAM), runs_of(data, STREAM_SHALLOW), runs_of(data, STREAM_H200) if direction == "downlink" else {}
        shapes = [(1, "8x8"), (2, "4x16")]  # as the thesis has them
        panels = []
        for heading, unit, value, place in (("throughput", "coded Mb/s", lambda run: run["throughput_mbps"], 0), ("latency of a frame", "ms", lambda run: 1e-3 * run["latency_us"]["p50"], 1)):
            ticks = [f"{g} GPU{'s' if g > 1 else ''} {MODES[m]}" for g, _ in shapes for m in MODES]
            ours = [(i, value(r)) for i, (g, m, shape) in enumerate((g, m, s) for g, s in shapes for m in MODES) if (r := runs.get((chain, m, g, shape)))]
            short = [(i, value(r)) for i, (g, m, shape) in enumerate((g, m, s) for g, s in shapes for m in MODES) if (r := shallow.get((chain, m, g, shape)))]
            paper = [(i, printed.LI_STREAMS[direction, m][g - 1][place]) for i, (g, m) in enumerate((g, m) for g, _ in shapes for m in MODES)]
            panels.append(Panel(heading, "", unit, [Line("ours, H shared, groups of frames, queue of 32", ours, joined=False), Line("ours, H shared, queue of 12", short, joined=False),
                                                    Line("thesis (GTX 980 Ti)", paper, printed=True)], ticks=ticks))
        claims = []
        for g, shape in shapes:
            claims.append(beside(f"{g} GPU{'s' if g > 1 else ''}: " + ", ".join(f"{MODES[m]} {printed.LI_STREAMS[direction, m][g - 1][0]:g} Mb/s in {printed.LI_STREAMS[direction, m][g - 1][1]:g} ms" for m in MODES),
                                 [runs.get((chain, m, g, shape)) for m in MODES],
                                 lambda v, g=g: f"{g} H100{'s' if g > 1 else ''}, float32, H shared: " + ", ".join(f"{MODES[m]} {three(r['throughput_mbps'])} Mb/s in {1e-3 * r['latency_us']['p50']:.2f} ms" for m, r in zip(MODES, v)),
                                 "this number of GPUs"))
        twice = [(runs.get((chain, m, 1, s)), runs.get((chain, m, 2, s))) for m in MODES for s in ("8x8", "4x16")]
        claims.append(measured("two GPUs have about twice the rate of one (at least 1.8 times)", [x for p in twice for x in p],
                               lambda v: ", ".join(f"{MODES[m]} {s}: {b['throughput_mbps'] / a['throughput_mbps']:.2f}" for (m, s), (a, b) in zip(((m, s) for m in MODES for s in ("8x8", "4x16")), twice)),
                               lambda v: all(b["throughput_mbps"] >= 1.8 * a["throughput_mbps"] for a, b in twice),
                               lambda v: copies_of_two(twice, [(other.get((chain, m, 1, s)), other.get((chain, m, 2, s))) for m in MODES for s in ("8x8", "4x16")]), "one of them"))
        for name, held in (("groups of frames, queue of 32", runs), ("frame by frame, queue of 12", shallow)):
            lat = {(m, g): held.get((chain, m, g, s)) for m in MODES for g, s in shapes}
            claims.append(measured(f"a frame takes less than 4 ms ({name}; median, and 99 %)", lat.values(),
                                   lambda v, lat=lat: ", ".join(f"{g} GPU{'s' if g > 1 else ''} {MODES[m]} {1e-3 * r['latency_us']['p50']:.2f}, {1e-3 * r['latency_us']['p99']:.2f} ms" for (m, g), r in lat.items()),
                                   lambda v: all(r["latency_us"]["p99"] < 4000 for r in v),
                                   lambda v, lat=lat: full_queue(lat, {(m, g): shallow.get((chain, m, g, s)) for m in MODES for g, s in shapes}), "this stream"))
        alone = [(frames.rate(direction, SIZE, m, 8, "shared", OURS, "kernel"), runs.get((chain, m, 1, "8x8"))) for m in MODES]
        claims.append(measured("several streams bring the rate near the kernels' (at least 80 %, N_sym 8)", [x for p in alone for x in p],
                               lambda v: ", ".join(f"{MODES[m]} {100 * r['throughput_mbps'] / k:.0f} %" for m, (k, r) in zip(MODES, alone)), lambda v: all(r["throughput_mbps"] >= 0.8 * k for k, r in alone),
                               lambda v: slow_copies([(frames.micros(direction, SIZE, m, 8, "shared", OURS, "kernel"), frames.micros(direction, SIZE, m, 8, "shared", OURS, "sync")) for m in MODES]), "this size"))
        claims.append(measured(f"two GPUs {'detect' if direction == 'uplink' else 'precode'} more than 250 Mb/s in less than 4 ms (frame by frame)", [shallow.get((chain, m, 2, "4x16")) for m in MODES],
                               lambda v: ", ".join(f"{MODES[m]} {three(r['throughput_mbps'])} Mb/s, {1e-3 * r['latency_us']['p50']:.2f} ms" for m, r in zip(MODES, v)),
                               lambda v: all(r["throughput_mbps"] > 250 and r["latency_us"]["p50"] < 4000 for r in v), missing="two GPUs"))
        four = runs_of(data, STREAM_FOUR, gpus=4)
        claims.append(measured("four GPUs have more than 0.5 Gb/s", [four.get((chain, m, 4, "4x16")) for m in MODES], lambda v: ", ".join(f"{MODES[m]} {three(r['throughput_mbps'])} Mb/s" for m, r in zip(MODES, v)),
                               lambda v: all(r["throughput_mbps"] > 500 for r in v), missing="four GPUs"))
        late = [shallow.get((chain, m, 2, "4x16")) for m in MODES]
        claims.append(measured(f"5.3: the latency is below the coherence time, several hundreds of microseconds to several milliseconds ({SHORT_US / 1e3:g} to {LONG_US / 1e3:g} ms; frame by frame, two GPUs, 99 %)", late,
                               lambda v: ", ".join(f"{MODES[m]} {1e-3 * r['latency_us']['p99']:.2f} ms" for m, r in zip(MODES, v)), lambda v: all(r["latency_us"]["p99"] < SHORT_US for r in v),
                               lambda v: waiting([(r["latency_us"]["p99"], frames.micros(direction, SIZE, m, 16, "shared", OURS, "sync")) for m, r in zip(MODES, v)]), "this stream"))
        return panels, claims

    return Row("li", f"table5.{number}", f"streams of frames on one and two GPUs, {DIRECTIONS[direction]}", (STREAM, STREAM_SHALLOW, *([STREAM_H200] if direction == "downlink" else []), STREAM_FOUR, FRAMES), make)


SIONNA = ("Sionna 2.0.1 on an H100, MMSE", 206)


def table_5_4(data: Data):
    frames, name, streams = frames_of(data), gpu(data), runs_of(data, STREAM)
    alone = {f"{name}, {title}, {sharing}": frames.rate("uplink", SIZE, mode, 64, estimate, OURS, "kernel") for mode, title in MODES.items() for estimate, sharing in (("each", "H for each"), ("shared", "H shared"))}
    both = {f"two H100s, {title}, H shared, with copies": r and r["throughput_mbps"] for mode, title in MODES.items() for r in [streams.get(("uplink", mode, 2, "4x16"))]}
    theirs = [(f"{hardware}, {kind}, {antennas}", mbps) for hardware, kind, antennas, mbps in printed.LI_DETECTORS]
    ticks = [n for n, _ in theirs] + [SIONNA[0]] + [*both, *alone]
    place = {n: i for i, n in enumerate(ticks)}
    panel = Panel("detectors; the thesis' own rates and ours of two GPUs include copies", "", "coded Mb/s",
                  [Line("table 5.4", [(place[n], x) for n, x in theirs], printed=True), Line("since then", [(place[SIONNA[0]], SIONNA[1])], joined=False),
                   Line("ours, float32, streams of frames", [(place[n], x) for n, x in both.items() if x], joined=False), Line("ours, float32, data in place, one GPU", [(place[n], x) for n, x in alone.items() if x], joined=False)], ticks=ticks)
    gpus = max(x for n, x in theirs if "FPGA" not in n and "thesis" not in n)
    fpgas, printed_rates = ([x for n, x in theirs if word in n] for word in ("FPGA", "thesis"))
    return [panel], [measured("a design for two GPUs and 128x16 is faster than earlier GPU detectors of few antennas (with copies)", both.values(), lambda v: f"H shared, float32: {', '.join(f'{title} {three(x)} Mb/s' for title, x in zip(MODES.values(), v))}; earlier: {gpus:g} Mb/s at most",
                              lambda v: min(v) > gpus, missing="two GPUs"),
                     measured(f"its rate is comparable to that of FPGAs ({' and '.join(f'{x:g}' for x in fpgas)} Mb/s at 128x8; at least the faster one's)", both.values(),
                              lambda v: f"{min(v) / max(fpgas):.1f} times the faster one's, at twice the users; the thesis' own design has {' and '.join(f'{x / max(fpgas):.2f}' for x in printed_rates)} of it", lambda v: min(v) >= max(fpgas), missing="two GPUs")]


def fig_5_1(data: Data):
    frames = frames_of(data)
    panels, claims = [], []
    for part, (direction, name) in zip("ab", DIRECTIONS.items()):
        lines = []
        for mode, title in MODES.items():
            for by, estimate, dashed, label in ((OURS, "shared", False, "H shared"), (OURS, "each", True, "H for each"), (AS_PRINTED, "each", True, "its design, cuBLAS")):
                lines.append(Line(f"{title}, {label}", [(n, r) for n in frames.symbols(direction, SIZE, mode) if (r := frames.rate(direction, SIZE, mode, n, estimate, by, "kernel"))], dashed=dashed, setting=f"{title}, {label}"))
            lines.append(Line(f"{title}, thesis (GTX 980 Ti)", [(n, 128 * n * 64e-3 / ms) for n, ms in printed.LI_LATENCY[direction, mode].items()], printed=True, setting=f"{title}, H for each"))
        panels.append(Panel(f"({part}) {name}, {SIZE}, float32", "OFDM symbols of a frame", "coded Mb/s", [line for line in lines if line.points], log_x=True))
        for mode, title in MODES.items():
            paper = printed.LI_LATENCY[direction, mode]
            claims.append(beside(f"{name}, {title}: {', '.join(f'{ms:g}' for ms in paper.values())} ms for frames of {', '.join(map(str, paper))} symbols",
                                 [frames.micros(direction, SIZE, mode, n, "each", OURS, "kernel") for n in paper], lambda v: "same work (H for each): " + ", ".join(f"{1e-3 * x:.3g}" for x in v) + " ms", "some lengths"))
        curve = [frames.rate(direction, SIZE, mode, n, "each", OURS, "kernel") for mode in MODES for n in (1, 8, 64, 128)]
        claims.append(measured(f"{name}: the rate rises with the frame and saturates (H for each; 64 to 128 symbols less than 5 %)", curve,
                               lambda v: "1, 8, 64, 128 symbols: " + "; ".join(", ".join(three(x) for x in v[i:i + 4]) for i in (0, 4)) + " Mb/s",
                               lambda v: all(v[i] < v[i + 1] < v[i + 2] * 1.02 and abs(v[i + 3] / v[i + 2] - 1) < 0.05 for i in (0, 4)),
                               lambda v: f"64 symbols do not fill this GPU: 128 symbols have {100 * (v[3] / v[2] - 1):.0f} and {100 * (v[7] / v[6] - 1):.0f} % more" if min(v[3] / v[2], v[7] / v[6]) > 1.02 else "", "some lengths"))
        late = [frames.micros(direction, SIZE, mode, n, "each", OURS, "kernel") for mode in MODES for n in (1, 8, 64, 128)]
        claims.append(measured(f"{name}: and the latency rises with it", late, lambda v: "; ".join(", ".join(three(x) for x in v[i:i + 4]) for i in (0, 4)) + " us",
                               lambda v: all(v[i] < v[i + 1] < v[i + 2] < v[i + 3] for i in (0, 4)), missing="some lengths"))
        held = {mode: {n: (frames.rate(direction, SIZE, mode, n, "shared", OURS, "kernel"), frames.rate(direction, SIZE, mode, n, "each", OURS, "kernel"))
                       for n in frames.symbols(direction, SIZE, mode)} for mode in MODES}
        known = {mode: {n: pair for n, pair in pairs.items() if None not in pair} for mode, pairs in held.items()}
        slower = {mode: [n for n, (a, b) in pairs.items() if a < b] for mode, pairs in known.items()}
        claims.append(measured(f"{name}: the rate rises with the frame where symbols share H", [x for pairs in known.values() for pair in pairs.values() for x in pair],
                               lambda v, known=known: "; ".join(f"{MODES[mode]} " + ", ".join(f"{n}: {three(a)}" for n, (a, _) in pairs.items()) + " Mb/s" for mode, pairs in known.items())
                               + "".join(f"; {MODES[mode]} is slower than with H for each at {', '.join(map(str, ns))}" for mode, ns in slower.items() if ns),
                               lambda v, known=known: all(b >= a for pairs in known.values() for (a, _), (b, _) in zip(list(pairs.values()), list(pairs.values())[1:])),
                               lambda v, known=known: slow_frames([(n, known["cg"][n][0], known["cholesky"][n][0]) for n in known["cg"] if n >= 8]) or same_time({n: 128e6 * n * 64e-6 / rate for n, (rate, _) in known["cg"].items() if n <= 8}),
                               "some lengths", ours=True))
    return panels, claims


def ratio(one: Number, other: Number) -> Number:
    """Of independent numbers above 0."""
    value = one.value / other.value
    return Number(value, value * (1 - math.hypot(1 - one.low / one.value, other.high / other.value - 1)),
                  value * (1 + math.hypot(one.high / one.value - 1, 1 - other.low / other.value)))


def speed_up(fast, slow) -> Number:
    """How many times the rate of the other benchmark; between the ends of where the medians of other runs may fall."""
    return ratio(*(Number(*(b["seconds"][key] / b["items"] for key in ("median", "low", "high"))) for b in (slow, fast)))


def grows(points) -> tuple[bool | None, str]:
    """Whether speed-ups by symbols of a frame grow, and where they fall by more than 3 %. None where the medians' spread could make all of that."""
    falls = [(x0, x1, y0, y1) for (x0, y0), (x1, y1) in zip(points, points[1:]) if y1.value < y0.value * 0.97]
    words = "it falls " + ", ".join(f"by {100 * (1 - y1.value / y0.value):.0f} % from {x0} to {x1} symbols" for x0, x1, y0, y1 in falls) if falls else ""
    if not falls or any(y1.minus(y0).high < 0 for *_, y0, y1 in falls):
        return not falls, words
    return None, f"{words}, which the spread of the records' medians includes"


def fig_5_2(data: Data):
    frames = frames_of(data)
    lines, claims = [], []
    for need in CORES:
        cores = [b for b in data.benchmarks(need) if b["device"] == "cpu"]
        if not cores:
            continue
        name, held = machine_of(cores[0]), Frames(cores)
        name = name.replace("Intel(R) Xeon(R) Processor @ 2.80GHz", "Xeon").replace("Intel(R) Xeon(R) Processor,", "Xeon of an H200's host,").replace("AMD EPYC", "EPYC (Zen 4)")
        found = {}
        for direction in DIRECTIONS:
            for estimate, figure, how in (("each", "kernel", "H for each, kernel"), ("each", "sync", "H for each, with copies"), ("shared", "sync", "H shared, with copies")):
                points = [(n, speed_up(a, b)) for n in frames.symbols(direction, SIZE, "cg", by=OURS)
                          if (a := frames.one(direction, SIZE, "cg", n, estimate, OURS, figure)) and (b := held.one(direction, SIZE, "cg", n, estimate, OURS, "resident"))]
                if points:
                    found[direction, how] = points
        for how, points in ((how, points) for (direction, how), points in found.items() if direction == "uplink"):
            lines.append(Line(f"{name}, {how}", [(n, y.value) for n, y in points], dashed="copies" in how))
            growing, because = grows(points)
            claims.append(Claim(f"the speed-up grows with the frame ({name}, {how})", ", ".join(f"N_sym {n}: {three(y.value)}x" for n, y in points if n in (1, 8, 64, 128)), growing, because, is_open=growing is None))
        if cores[0]["record"]["machine"]["threads"] == 6:  # as many as the thesis compares with
            claims += six_cores(name, found)
    if not claims:
        claims = [Claim("the speed-up grows with the frame", "-", None, "GPU or cores")]
    if not any("6 threads" in line.label for line in lines):
        claims.append(Claim("the comparison of the thesis: six cores of a Core i7-3930K", "-", None, "ours have one core and two, which run this library's kernels too"))
    return [Panel(f"{gpu(data)} over CPU cores, {SIZE}, CG with 3 iterations", "OFDM symbols of a frame", "speed-up", lines, log_x=True)], claims


def six_cores(name, found):
    """The statements of the thesis about six cores, which run a C program there and this library's kernels here."""
    up = {how: points for (direction, how), points in found.items() if direction == "uplink"}
    pairs = [(how, n, ratio(y, z)) for (direction, how), points in found.items() if direction == "downlink" for n, y in points for m, z in up.get(how, ()) if m == n]
    def ends(values):
        return f"{three(min(x.value for x in values))} to {three(max(x.value for x in values))}"
    def unsure():
        return [f"{how}, N_sym {n}" for how, points in up.items() for n, y in points if y.low <= 1 <= y.high]
    def similar(x):
        return True if 1 / 1.5 <= x.low and x.high <= 1.5 else False if x.low > 1.5 or x.high < 1 / 1.5 else None
    def other(verdict):
        return ", ".join(f"{how}, N_sym {n}: {x}" for how, n, x in pairs if similar(x) is verdict)
    return [measured(f"evident speed-up over six cores ({name}, which run this library's kernels, not a C program)", [y for points in up.values() for _, y in points],
                     lambda v: "; ".join(f"{how}: {ends([y for _, y in points])} times" for how, points in up.items()),
                     lambda v: True if all(y.low > 1 for y in v) else False if any(y.high < 1 for y in v) else None,
                     lambda v: f"the spread of the records' medians includes 1 at {', '.join(unsure())}" if unsure() else "the cores are faster at a length"),
            measured(f"the precoder has a similar speed-up (within a factor of 1.5; {name})", [x for *_, x in pairs],
                     lambda v: "of the detector's " + "; ".join(f"{ends([x for h, _, x in pairs if h == how])} times ({how})" for how in dict.fromkeys(h for h, *_ in pairs)),
                     lambda v: False if False in map(similar, v) else None if None in map(similar, v) else True,
                     lambda v: other(False) if other(False) else f"the spread of the records' medians reaches beyond a factor of 1.5 in {sum(similar(x) is None for *_, x in pairs)} of {len(pairs)} pairs")]


def fig_5_3(data: Data):
    model = data.get(CAPACITY)
    panels, claims = [], []
    for part, transport in zip("abc", model["transports"]):
        lines = [Line(label, [(p["coherence_ms"], p[key]) for p in transport["points"]], dashed=key == "cg") for key, label in (("mf", "MF"), ("cholesky", "Cholesky MMSE"), ("cg", "CG MMSE"))]
        crossovers, gbps = transport["crossovers_ms"], transport["gbps"]
        crossed = printed.LI_CROSSOVERS.get(gbps)
        if crossed:
            top = max(p["cholesky"] for p in transport["points"])
            lines.append(Line(f"the thesis' crossover, {crossed} ms", [(crossed, 0), (crossed, top)], dashed=True))
        panels.append(Panel(f"({part}) {gbps:g} Gb/s", "coherence time (ms)", "effective capacity (bit/s/Hz)", lines, log_x=True, log_y=False))
        claims.append(Claim(f"{gbps:g} Gb/s: MF has more capacity below {crossed} ms", f"MF = Cholesky at {crossovers['mf_cholesky']:.2f} ms, MF = CG at {crossovers['mf_cg']:.2f} ms",
                            crossed is not None and round(crossovers["mf_cholesky"]) == crossed and round(crossovers["mf_cg"]) == crossed))
        claims.append(Claim(f"{gbps:g} Gb/s: CG has more than Cholesky up to around 5 ms (within 1.5 ms)", f"up to {crossovers['cg_cholesky']:.2f} ms", abs(crossovers["cg_cholesky"] - 5) <= 1.5))
    values = [t["crossovers_ms"]["mf_cholesky"] for t in model["transports"]]
    claims.append(Claim("a faster transport moves the crossover to shorter coherence times", ", ".join(f"{v:.2f}" for v in values) + " ms", values == sorted(values, reverse=True)))
    return panels, claims


def rows():
    up_down = (CHANNELS["c2"], CHANNELS["c2_downlink"])
    return [users_figure(1, 16), users_figure(2, 32), users_figure(3, 64), file_figure(4, (68, 4)), file_figure(5, (84, 3)),
            Row("li", "fig3.6", "operations of detection, CG beside Cholesky", (OPERATIONS,), fig_3_6),
            Row("li", "fig3.7", "what CG saves at the iterations of table 3.1", (OPERATIONS,), fig_3_7),
            Row("li", "fig3.8", "BLER of precoding, MMSE and matched filter, U = 8", up_down[1:], fig_3_8),
            Row("li", "table3.1", "CG iterations that lose less than 1 dB", (*CHANNELS.values(), SINR), table_3_1),
            Row("li", "table5.1", "throughput of the detector, one stream", (FRAMES,), table_5_1), stream_table(2, "uplink"), stream_table(3, "downlink"),
            Row("li", "table5.4", "detectors on other platforms", (FRAMES, STREAM), table_5_4),
            Row("li", "fig5.1", "throughput and latency over the length of a frame", (FRAMES,), fig_5_1),
            Row("li", "fig5.2", "GPU over CPU cores", (FRAMES, *CORES), fig_5_2),
            Row("li", "fig5.3", "effective capacity of precoders, 128x16", (CAPACITY,), fig_5_3)]
