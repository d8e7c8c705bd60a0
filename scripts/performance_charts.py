"""Three charts and a table of the most important rates, which docs/performance.md begins with, for scripts/performance_report.py."""
import sys

from loglog import dots
from reproduce.records import table, three

FIGURES_AT = "figures"  # beside docs/performance.md
H100 = "NVIDIA H100 80GB HBM3"
CORE, CORES = "AMD EPYC, avx512, 1 thread", "AMD EPYC, avx512, 2 threads"
SPLIT, EIGEN = "split FP16 sums", "Eigen"


def detect(**axes):
    return "detect", {"antennas": "4x4", "qam": 16, **axes}


def turbo(**axes):
    return "turbo", {"k": 6144, "iterations": 6, **axes}


def ldpc(precision, algorithm="normalised_min_sum", iterations=15):
    return "ldpc", {"code": "wimax", "n": 2304, "rate": "1_2", "algorithm": algorithm, "precision": precision, "schedule": "layered",
                    "iterations": iterations, "early_stop": "no"}


def frame(direction, antennas, subcarriers, symbols, estimate, by="warpband"):
    return f"{direction}_frame", {"antennas": antennas, "mode": "cholesky", "subcarriers": subcarriers, "symbols": symbols,
                                  "estimate": estimate, "by": by}


def uplink(antennas, symbols, **more):
    return "uplink", {"antennas": antennas, "mode": "cholesky", "symbols": symbols, "qam": 16, **more}


def downlink(antennas, symbols):
    return "downlink", {"antennas": antennas, "mode": "cholesky", "symbols": symbols}


def massive(name, on_gpu, on_core=None):
    """A row: the benchmark on a GPU, there also with split sums, and where `on_core` names it on a core, there also of Eigen."""
    rows = {H100: on_gpu}
    if on_core:
        rows |= {CORE: frame(*on_core), EIGEN: frame(*on_core, by="eigen")}
    if on_gpu[0] == "uplink":
        rows[SPLIT] = (on_gpu[0], on_gpu[1] | {"sums": "split_f16"})
    return name, rows


# Name of a file, what it shows, series, rows: each with its op and axes, for all series or by series.
CHARTS = [
    ("performance_detectors", "Soft detectors, 4 streams to 4 antennas, 16-QAM: coded bits a second", [H100, CORES],
     [("MMSE", detect(detector="mmse")), ("N-way, 1 way", detect(detector="nway", ways=1)),
      ("N-way, 4 ways", detect(detector="nway", ways=4)), ("multi-pass trellis", detect(detector="mtt")),
      ("exhaustive (ML)", detect(detector="ml")), ("K-best, K = 16", detect(detector="kbest", survivors=16)),
      ("K-best, K = 64", detect(detector="kbest", survivors=64))]),
    ("performance_decoders", "Decoders: information bits a second", [H100, CORE],
     [("turbo 6144, max-log-MAP, int16", turbo(map="max_log_map", precision="int16")),
      ("turbo 6144, max-log-MAP, bfloat16", turbo(map="max_log_map", precision="bfloat16")),
      ("turbo 6144, log-MAP, bfloat16", turbo(map="log_map", precision="bfloat16")),
      ("turbo 6144, log-MAP, float32", turbo(map="log_map", window_steps="auto")),
      ("LDPC 2304, min-sum, float16", {H100: ldpc("float16")}),
      ("LDPC 2304, min-sum, int8", ldpc("int8")), ("LDPC 2304, min-sum, float32", ldpc("float32")),
      ("LDPC 2304, sum-product, float32", ldpc("float32", "sum_product", 20)),
      ("Viterbi, K = 7, rate 1/2, int16", {H100: ("viterbi", {"K": 7, "code": "802.11 r1/2", "k": 1024, "precision": "int16", "input": "int8"})}),
      ("Viterbi, K = 7, rate 1/2, float32", ("viterbi", {"K": 7, "code": "802.11 r1/2", "k": 1024})),
      ("BCJR, K = 7, max-log-MAP, int16", {H100: ("bcjr", {"K": 7, "code": "133,171", "k": 1024, "map": "max_log_map", "precision": "int16", "input": "int8"})}),
      ("BCJR, K = 7, log-MAP", ("bcjr", {"K": 7, "code": "133,171", "k": 1024, "map": "log_map"}))]),
    ("performance_massive", "Massive MIMO, Cholesky, 16-QAM: coded bits a second", [H100, SPLIT, CORE, EIGEN],
     [massive("detector 128x16, new H", uplink("128x16", 1), ("uplink", "128x16", 128, 8, "each")),
      massive("detector 128x16, H shared", uplink("128x16", 14), ("uplink", "128x16", 128, 16, "shared")),
      massive("detector 256x32, new H", uplink("256x32", 1), ("uplink", "256x32", 128, 8, "each")),
      massive("detector 256x32, H shared", uplink("256x32", 14), ("uplink", "256x32", 128, 16, "shared")),
      massive("precoder 128x16, new H", downlink("128x16", 1), ("downlink", "128x16", 128, 8, "each")),
      massive("precoder 128x16, H shared", downlink("128x16", 14), ("downlink", "128x16", 128, 16, "shared")),
      massive("precoder 256x32, new H", downlink("256x32", 1)),
      massive("precoder 256x32, H shared", downlink("256x32", 14))]),
]
NOTES = {
    "performance_detectors": "The CPU has two threads here.",
    "performance_decoders": "Turbo: 6 iterations, automatic windows. LDPC: the WiMAX code of rate 1/2, 15 layered iterations, 20 with sum-product. float16 is "
                            "for GPUs. Convolutional codes: 1024 bits, in int16 from 8-bit LLRs.",
    "performance_massive": "GPU: large batches, 14 vectors share an H. Core: 128 subcarriers, 16 vectors share an H. *Split FP16 sums* "
                           "use tensor cores and give up equal bits. *Eigen*: its Gram matrix and Cholesky decomposition, on the same core in the same run.",
}
MACHINE = {SPLIT: H100, EIGEN: CORE}
SHORT = {H100: "NVIDIA H100", CORE: "one core, AMD EPYC (Zen 4)", CORES: "two cores, AMD EPYC (Zen 4)", SPLIT: "NVIDIA H100, split FP16 sums",
         EIGEN: "Eigen, one core"}


def find(results, machine_of, machine, op, axes):
    """The benchmark of exactly these axes, data in place."""
    figures = {b["figure"]: b for b in results if machine_of(b) == machine and b["op"] == op and b["axes"] == axes}
    if not {"kernel", "resident"} & set(figures):
        sys.exit(f"bench/results: no benchmark of {op} {axes} on {machine}, data in place")
    return figures.get("kernel", figures.get("resident"))


def rate_text(mbps):
    return f"{three(mbps * 1e-3)} Gb/s" if mbps >= 1000 else f"{three(mbps)} Mb/s"


def charts(results, machine_of):
    """Lines of the page, {path of a figure below docs/: SVG}."""
    lines, drawn, rows, used = [], {}, [], set()
    for name, title, series, entries in CHARTS:
        points = []
        for label, which in entries:
            wanted = which if isinstance(which, dict) else dict.fromkeys(series, which)
            found = {s: find(results, machine_of, MACHINE.get(s, s), *wanted[s]) for s in series if s in wanted}
            used |= {b["file"] for b in found.values()}
            points.append((label, [1e6 * found[s]["mbps"] if s in found else None for s in series]))
            sides = found.get(H100), found.get(CORE) or found.get(CORES)
            rows.append([label] + [x for b in sides for x in ((rate_text(b["mbps"]), f"{b['percent_of_bound']:.0f} %") if b else ("-", "-"))])
        drawn[f"{FIGURES_AT}/{name}.svg"] = dots(title, [SHORT[s] for s in series], points, lambda y: rate_text(y * 1e-6))
        lines += [f"![{title}]({FIGURES_AT}/{name}.svg)", "", NOTES[name], ""]
    lines += ["The same rates, and how much of the bound they are:", ""]
    lines += table(["", SHORT[H100], "of bound", "AMD EPYC, one core (MMSE to K-best: two)", "of bound"], rows)
    return lines + ["Records: " + ", ".join(f"`bench/results/{f}`" for f in sorted(used)) + ".", ""], drawn
