"""Tables 5.1 to 5.4 and figures 5.1 and 5.2 of K. Li's thesis (docs/li-thesis.md), measured again, for
scripts/performance_report.py. Its GPU is a GeForce GTX 980 Ti, its CPU a Core i7-3930K.
"""
from .printed import LI_DETECTORS, LI_LATENCY, LI_SINGLE, LI_STREAMS
from .records import by_key, key_of, table, three

SIZES = {"128x16": 3, "256x32": 4}  # iterations of CG
# Measured on an H100 beside this library: docs/li-thesis.md.
SIONNA = ("NVIDIA H100, Sionna 2.0.1 (PyTorch, eager), a new H for each vector", "MMSE and LLRs", "128x16", 206)
DIRECTIONS = {"uplink": "detector", "downlink": "precoder"}
MODES = {"cholesky": "Cholesky", "cg": "CG"}
SOLVERS = MODES | {"jacobi_cg": "Jacobi CG", "mf": "matched filter", "zf": "zero forcing"}
SUMS = {None: "float32", "split_f16": "split FP16"}
SPLIT = {"sums": "split_f16"}
SAMPLES = {None: "complex64", "half": "half"}
STREAMS_HERE = 3  # of the figure host_fed
OURS, AS_PRINTED = "warpband", "cublas"
VARIANTS = {"cublas": "as printed", "cublas_gemv": "gemv", "cublas_matinv": "gemv, matinv", "cusolver_potrf": "gemv, potrf, trsm"}


def is_frame(b):
    return b["op"] in ("uplink_frame", "downlink_frame")


def is_plain(b):
    """Whether all is float32: the sums, H and y."""
    return "sums" not in b["axes"] and "samples" not in b["axes"]


class Frames:
    """The benchmarks of frames on one machine, found by op, all axes and figure."""

    def __init__(self, bs):
        self.found = by_key(b for b in bs if is_frame(b))

    def one(self, direction, size, mode, symbols, estimate, by, figure, subcarriers=128, **more):
        """Without more axes: float32 sums of complex64 samples."""
        axes = {"antennas": size, "mode": mode, "subcarriers": subcarriers, "symbols": symbols, "estimate": estimate, "by": by, **more}
        if mode == "cg":
            axes["iterations"] = SIZES[size]
        return self.found.get(key_of(f"{direction}_frame", axes, figure))

    def rate(self, *key, **more):
        b = self.one(*key, **more)
        return b["mbps"] if b else None

    def micros(self, *key, **more):
        b = self.one(*key, **more)
        return 1e6 * b["seconds"]["median"] if b else None

    def symbols(self, direction, size, mode, by=None):
        return sorted({b["axes"]["symbols"] for b in self.found.values()
                       if b["op"] == f"{direction}_frame" and b["figure"] in ("kernel", "resident") and is_plain(b)
                       and (b["axes"]["antennas"], b["axes"]["mode"], b["axes"]["subcarriers"]) == (size, mode, 128)
                       and b["axes"]["symbols"] != 14 and b["axes"]["by"] in (by or b["axes"]["by"],)})


def cell(*values):
    return "-" if all(v is None for v in values) else " / ".join("-" if v is None else three(v) for v in values)


def times(ours, theirs):
    return "-" if ours is None or theirs is None else f"{three(ours / theirs)} x"


def gbps(x):
    return None if x is None else x * 1e-3


def sweep_tables(frames):
    """Table 5.1, and the same of the precoder."""
    out = []
    for direction, name in DIRECTIONS.items():
        for size in SIZES:
            for mode, title in MODES.items():
                rows = []
                for n in frames.symbols(direction, size, mode):
                    def rate(estimate, by, figure):
                        return frames.rate(direction, size, mode, n, estimate, by, figure)
                    shared, shared_copies, per_vector = rate("shared", OURS, "kernel"), rate("shared", OURS, "sync"), rate("each", OURS, "kernel")
                    theirs, theirs_copies = rate("each", AS_PRINTED, "kernel"), rate("each", AS_PRINTED, "sync")
                    paper = LI_SINGLE.get((size, mode), {}).get(n) if direction == "uplink" else None
                    rows.append([str(n), cell(gbps(shared), gbps(shared_copies)), cell(gbps(per_vector)), cell(gbps(theirs), gbps(theirs_copies)),
                                 f"{times(shared, theirs)}, {times(shared_copies, theirs_copies)}", times(per_vector, theirs),
                                 cell(*[gbps(x) for x in paper]) if paper else "-"])
                if rows:
                    iterations = f", {SIZES[size]} iterations" if mode == "cg" else ""
                    out += [f"The {name}, {size}, {title}{iterations}:", ""] + table(
                        ["symbols", "H shared", "H for each", "cuBLAS", "H shared over cuBLAS", "H for each over cuBLAS", "thesis"], rows)
    return [] if not out else [
        "Massive-MIMO frames of 128 subcarriers, 16-QAM (table 5.1 of the thesis of K. Li; docs/li-thesis.md), coded Gb/s, kernels / "
        "kernels and copies, one frame after the other. All designs take 128 estimates and the symbols, and give the same results. "
        "The thesis and its design built from cuBLAS on this GPU copy the estimates to all symbols and make a Gram matrix and a "
        "decomposition for each vector; so does `H for each`. `H shared` makes them once for a subcarrier.", ""] + out


def span(ratios):
    """Least to most."""
    ratios = [x for x in ratios if x]
    low, high = (three(f(ratios)) for f in (min, max)) if ratios else ("-", "-")
    return low if low == high else f"{low} to {high}"


def summary_table(frames):
    """Tables above in one: the rate of this library over that of the thesis' design, over all frame lengths."""
    rows = []
    for direction, name in DIRECTIONS.items():
        for title, figure, estimate, more in (("kernels", "kernel", "shared", {}), ("kernels, sums in split FP16", "kernel", "shared", SPLIT),
                                              ("kernels, the same work", "kernel", "each", {}),
                                              ("kernels, the same work, sums in split FP16", "kernel", "each", SPLIT),
                                              ("kernels and copies", "sync", "shared", {})):
            cells = []
            for size in SIZES:
                for mode in MODES:
                    pairs = [(frames.rate(direction, size, mode, n, estimate, OURS, figure, **more),
                              frames.rate(direction, size, mode, n, "each", AS_PRINTED, figure)) for n in frames.symbols(direction, size, mode)]
                    cells.append(span([a / b for a, b in pairs if a and b]))
            if any(c != "-" for c in cells):
                rows.append([f"{name}, {title}", *cells])
    return ["Rate of Warpband over that of the thesis' design on this GPU, least and most over the frame lengths above; `the same work`: both make "
            "a Gram matrix and a decomposition for each vector:", ""] + table(
                ["", *(f"{size} {title}" for size in SIZES for title in MODES.values())], rows) if rows else []


def variants_table(frames):
    rows = []
    for direction, name in DIRECTIONS.items():
        for size in SIZES:
            for mode, title in MODES.items():
                for symbols, subcarriers, estimate in ((16 if size == "256x32" else 64, 128, "each"), (16 if size == "256x32" else 64, 128, "shared"),
                                                       (14, 128, "shared"), (14, 1200, "shared")):
                    found = {by: frames.rate(direction, size, mode, symbols, estimate, by, "kernel", subcarriers=subcarriers)
                             for by in [OURS, *VARIANTS]}
                    theirs = [x for by, x in found.items() if by != OURS and x]
                    if found[OURS] and theirs:
                        rows.append([f"{name} {size} {title}", f"{symbols} x {subcarriers}", estimate, cell(gbps(found[OURS])),
                                     *(cell(gbps(found[by])) for by in VARIANTS), times(found[OURS], max(theirs))])
    return ["What newer calls than the thesis had gain its design: kernels, coded Gb/s; the last column is Warpband over the best of them:",
            ""] + table(["", "symbols x subcarriers", "H", "Warpband", *VARIANTS.values(), "over the best"], rows) if rows else []


def stream_tables(frames):
    """Tables 5.2 and 5.3."""
    rows = []
    for direction, name in DIRECTIONS.items():
        for mode, title in MODES.items():
            for n in (8, 16, 64):
                ours = frames.one(direction, "128x16", mode, n, "shared", OURS, "host_fed")
                theirs = frames.rate(direction, "128x16", mode, n, "each", AS_PRINTED, "host_fed")
                if not ours:
                    continue
                alone = frames.micros(direction, "128x16", mode, n, "shared", OURS, "sync")
                paper = {8: LI_STREAMS[direction, mode][0], 16: LI_STREAMS[direction, mode][1]}.get(n)
                rows.append([f"{name} {title}", str(n), cell(gbps(ours["mbps"])), cell(1e3 * STREAMS_HERE * ours["seconds"]["median"]),
                             cell(None if alone is None else 1e-3 * alone), cell(gbps(theirs)), times(ours["mbps"], theirs),
                             f"{three(gbps(paper[0]))}, {three(paper[1])}" + (" (two GPUs)" if n == 16 else "") if paper else "-"])
    return [f"Frames fed from the host, copies overlapped on {STREAMS_HERE} streams of one GPU, 128x16 (tables 5.2 and 5.3): coded Gb/s; latency of "
            f"a frame with {STREAMS_HERE} under way, and of one alone with its copies and wait, ms:", ""] + table(
                ["", "symbols", "Gb/s", "ms, under way", "ms, alone", "cuBLAS, Gb/s", "over cuBLAS", "thesis: Gb/s, ms"], rows) if rows else []


def slot_table(frames):
    rows = []
    for direction, name in DIRECTIONS.items():
        for mode, title in MODES.items():
            for subcarriers in (128, 1200):
                def micros(by, figure):
                    return frames.micros(direction, "128x16", "cholesky" if by == "eigen" else mode, 14, "shared", by, figure, subcarriers=subcarriers)
                if micros(OURS, "small") is None:
                    continue
                p99 = frames.one(direction, "128x16", mode, 14, "shared", OURS, "small", subcarriers=subcarriers)["seconds"].get("p99")
                peers = [by for by in (AS_PRINTED, "eigen") if micros(by, "small")]
                rows.append([f"{name} {title}", f"14 x {subcarriers}", cell(micros(OURS, "small")), cell(None if p99 is None else 1e6 * p99),
                             cell(micros(OURS, "sync")), cell(micros(peers[0], "small"), micros(peers[0], "sync")) if peers else "-"])
    return ["Latency of one frame of 128x16, 14 symbols that share H, us: a call and its wait, the slowest but 1 %, and with copies in and out "
            "(the peer: cuBLAS, or Eigen's Cholesky decomposition, with H shared too):", ""] + table(
                ["", "symbols x subcarriers", "us", "us, 99 %", "us, with copies", "peer, us / with copies"], rows) if rows else []


def formats_table(frames):
    """Other sums and samples beside float32."""
    rows = []
    for b in frames.found.values():
        if is_plain(b):
            continue
        axes = {axis: value for axis, value in b["axes"].items() if axis not in ("sums", "samples")}
        plain = frames.found.get(key_of(b["op"], axes, b["figure"]))
        direction, mode = b["op"].removesuffix("_frame"), MODES[axes["mode"]]
        rows.append(((direction, axes["antennas"], axes["mode"], axes["estimate"], axes["subcarriers"], axes["symbols"]), [
            f"{DIRECTIONS[direction]} {axes['antennas']} {mode}", f"{axes['symbols']} x {axes['subcarriers']}", axes["estimate"], b["figure"],
            SUMS[b["axes"].get("sums")], SAMPLES[b["axes"].get("samples")], cell(gbps(b["mbps"])), cell(1e6 * b["seconds"]["median"]),
            times(b["mbps"], plain and plain["mbps"])]))
    rows = [row for _, row in sorted(rows, key=lambda r: (r[0][0] != "uplink", *r[0], r[1]))]
    return ["Frames with sums in split FP16 or samples in half precision, beside the same frame in float32 (rate over rate):", ""] + table(
        ["", "symbols x subcarriers", "H", "figure", "sums", "samples", "Gb/s", "us", "over float32"], rows) if rows else []


def peers_table(frames, machine):
    """Table 5.4, continued."""
    ours = []
    for mode, title in MODES.items():
        for estimate, sharing in (("each", "a new H for each vector"), ("shared", "H shared by 64 symbols")):
            rate = frames.rate("uplink", "128x16", mode, 64, estimate, OURS, "kernel")
            if rate:
                ours.append((f"{machine}, {sharing}", f"MMSE ({title})", "128x16", rate))
    if not ours:
        return []
    return ["Table 5.4 of the thesis, continued (data in place), coded Mb/s:", ""] + table(
        ["hardware", "detector", "antennas", "Mb/s"], [[*row[:3], f"{row[3]:g}" if row[3] < 1000 else f"{row[3]:.0f}"]
                                                        for row in LI_DETECTORS + [SIONNA] * ("H100" in machine) + ours])


def cpu_tables(frames):
    rows = []
    for direction, name in DIRECTIONS.items():
        for size in SIZES:
            for mode, title in MODES.items():
                for n in frames.symbols(direction, size, mode):
                    def rate(estimate, by, solver=mode):
                        return frames.rate(direction, size, solver, n, estimate, by, "resident")
                    peer = {e: rate(e, "eigen", "cholesky") for e in ("shared", "each")}
                    rows.append([f"{name} {size} {title}", str(n)] + [text for e in ("shared", "each") for text in (
                        cell(rate(e, OURS)), cell(peer[e]), times(rate(e, OURS), peer[e]))])
    return ["Massive-MIMO frames of 128 subcarriers, 16-QAM, coded Mb/s: symbols that share H and those that have one each, beside Eigen's Gram "
            "matrix and Cholesky decomposition in the same run:", ""] + table(
                ["", "symbols", "H shared", "Eigen", "over Eigen", "H for each", "Eigen", "over Eigen"], rows) if rows else []


def latency_table(frames):
    """The labels of figure 5.1: how long a frame takes."""
    rows = []
    for direction, name in DIRECTIONS.items():
        for mode, title in MODES.items():
            for n, paper in LI_LATENCY[direction, mode].items():
                ours = [frames.micros(direction, "128x16", mode, n, e, OURS, "kernel") for e in ("shared", "each")]
                theirs = frames.micros(direction, "128x16", mode, n, "each", AS_PRINTED, "kernel")
                if ours[0]:
                    rows.append([f"{name} {title}", str(n), *(cell(None if x is None else 1e-3 * x) for x in [*ours, theirs]), f"{paper:g}"])
    return ["Time of such a frame in ms, which figure 5.1 writes beside its points:", ""] + table(
        ["", "symbols", "H shared", "H for each", "cuBLAS", "thesis"], rows) if rows else []


def uplink_table(bs):
    """Large batches by `warpband bench uplink`."""
    found = by_key(b for b in bs if b["op"] == "uplink")
    sizes = {(b["axes"]["antennas"], b["axes"]["mode"], b["axes"].get("iterations")): None for b in found.values()}
    rows = []
    for size, mode, iterations in sorted(sizes, key=lambda k: ([int(x) for x in k[0].split("x")][::-1], k[1])):
        axes = {"antennas": size, "mode": mode, "qam": 16} | ({"iterations": iterations} if iterations else {})
        four = [found.get(key_of("uplink", axes | {"symbols": n} | more, "kernel")) for n in (1, 14) for more in ({}, SPLIT)]
        if any(four):
            rows.append([f"{size} {SOLVERS.get(mode, mode)}" + (f", {iterations} iterations" if iterations else ""),
                         *("-" if b is None else three(gbps(b["mbps"])) for b in four)])
    return ["Massive-MIMO detection in large batches, 16-QAM, data in place, coded Gb/s, with sums in float32 and in split FP16:", ""] + table(
        ["", "new H for each vector", "split FP16", "14 vectors share H", "split FP16"], rows) if rows else []


def massive_tables(bs, machine):
    """The tables of one machine; and what is left for the general ones."""
    frames = Frames(bs)
    if any(b["device"].startswith("cuda") for b in bs):
        lines = uplink_table(bs)
        for part in (sweep_tables, summary_table, latency_table, variants_table, stream_tables, slot_table, formats_table):
            lines += part(frames)
        lines += peers_table(frames, machine)
    else:
        lines = cpu_tables(frames) + slot_table(frames) + formats_table(frames)
    return lines, [b for b in bs if not is_frame(b)]


def speedups(results, machine_of):
    """Figure 5.2, over all machines."""
    machines = sorted({machine_of(b) for b in results if is_frame(b)}, key=lambda m: (m.startswith("NVIDIA"), m))
    frames = {m: Frames([b for b in results if machine_of(b) == m]) for m in machines}
    lines = []
    for gpu in (m for m in machines if m.startswith("NVIDIA")):
        counts, rows = frames[gpu].symbols("uplink", "128x16", "cg", by=OURS), []
        for core in (m for m in machines if not m.startswith("NVIDIA")):
            for figure, how in (("kernel", "kernel"), ("sync", "kernel and copies")):
                pairs = [(frames[gpu].rate("uplink", "128x16", "cg", n, "shared", OURS, figure),
                          frames[core].rate("uplink", "128x16", "cg", n, "shared", OURS, "resident")) for n in counts]
                if any(a and b for a, b in pairs):
                    rows.append([core, how] + [f"{three(a / b)} x" if a and b else "-" for a, b in pairs])
        if rows:
            lines += ["## Massive MIMO: GPU over CPU", "",
                      "The detector, 128x16, CG with 3 iterations, frames of 128 subcarriers whose symbols share H: how many times faster a GPU is than cores "
                      "that run the same library (figure 5.2 of the thesis, whose values are not printed there; six cores of a Core i7-3930K):", ""] + table(
                          [gpu + " over", "", *(f"N_sym {n}" for n in counts)], rows)
    return lines
