#!/usr/bin/env python3
"""Writes docs/performance.md and the figures in docs/figures/ that it shows, from the records of `warpband bench --json` in
bench/results/*.json. The documentation site also has the tables of all records.

usage: performance_report.py                  writes the page and its figures
       performance_report.py --check          fails if they are not what would be written
       performance_report.py --tables FILE    writes the tables of all records
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python/warpband"))  # tables are shared with `warpband reproduce`; the compiled module is not needed
from code_tables import code_tables  # noqa: E402
from performance_charts import charts  # noqa: E402
from reproduce.detector_tables import detector_tables, over_snr  # noqa: E402
from reproduce.massive_tables import massive_tables, speedups  # noqa: E402
from reproduce.records import key_of, machine_of, table  # noqa: E402
from reproduce.stbc_tables import fragment_tables, stbc_tables  # noqa: E402
from reproduce.turbo_tables import endurance_lines, turbo_tables  # noqa: E402

FORMAT = "warpband bench 1"
NCU_FORMAT = "warpband ncu comparison 1"  # of scripts/ncu_bound.py
STREAM_FORMAT = "warpband stream 1"
PYTHON_FORMAT = "warpband python overhead 1"
ENDURANCE_FORMAT = "warpband endurance 1"  # of warpband bench --duration
FIGURES = {
    "kernel": "Kernel: data in the device's memory, the device's clock, launches queued ahead",
    "resident": "Resident: data in the device's memory, the host's clock, many calls and one wait",
    "host_fed": "Host-fed: page-locked host memory, copies overlapped with the kernels on three streams",
    "sync": "Synchronous: copies in, the call, copies out and a wait, one after the other",
    "small": "Small: one call and its wait; the time is the latency",
}
WRITTEN = "<!-- Written by `scripts/performance_report.py` from the records of `warpband bench --json` in `bench/results/`; do not edit. -->"
INTRODUCTION = """\
Rates with data in place, at the settings named. The *performance tables* have all other measurements: other settings, fed from the host, single
calls, latencies, the papers' tables. They are a page of the documentation site, and `python3 scripts/performance_report.py --tables FILE` writes
them. `docs/stream.md` has frames under a deadline, `docs/python.md` what a call from Python costs."""
COLUMNS = """\
Mb/s are 10^6 information bits a second (codes, link, crc_attach) or coded bits (demap, qam_map, detect, stbc, uplink, downlink). `spread` is where
the median of another run may fall. `of bound` is the least possible time of the call over the time it took. The least time follows from the call's counted
fp32 operations, bytes and copies at the ceilings measured in the same run. `warpband bench --help` explains figures and columns."""


# ---------------------------------------------------------------- records
def load():
    """All benchmarks that did not fail, of two with one name on one machine the later; the comparisons with ncu; endurance runs."""
    found, compared, endurance = {}, [], []
    for path in sorted((ROOT / "bench" / "results").glob("*.json")):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        if record.get("format") == NCU_FORMAT:
            compared += [{**b, "file": path.name, "record": record} for b in record["benchmarks"]]
            continue
        if record.get("format") == ENDURANCE_FORMAT:
            endurance.append((path.name, record))
            continue
        if record.get("format") in (STREAM_FORMAT, PYTHON_FORMAT) or record.get("command") == "choose":  # other pages have their figures
            continue
        if record.get("format") != FORMAT:
            sys.exit(f"{path}:1: not a record of warpband bench")
        for b in record["benchmarks"]:
            if "error" in b:
                continue
            b["file"], b["record"] = path.name, record
            key = (machine_of(b), *key_of(b["op"], b["axes"], b["figure"]))
            if key in found and found[key]["record"] is record:
                sys.exit(f"{path}:1: two benchmarks {name_of(b)}, figure {b['figure']}")
            if key not in found or found[key]["record"]["date"] <= record["date"]:
                found[key] = b
    return list(found.values()), compared, endurance


def name_of(b):
    return " ".join([b["op"]] + [f"{axis}={value}" for axis, value in b["axes"].items()])


# ---------------------------------------------------------------- tables
def number(x):
    return "-" if x is None else f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def spread(b):
    s = b["seconds"]
    return f"{100 * (s['low'] / s['median'] - 1):+.1f} .. {100 * (s['high'] / s['median'] - 1):+.1f} %"


def microseconds(seconds):
    return f"{1e6 * seconds:.0f}" if seconds >= 1e-3 else f"{1e6 * seconds:.4g}"


def share(b):
    return f"{b['percent_of_bound']:.3g} % ({b['bound_by']})" if "percent_of_bound" in b else "-"


def source_of(bs):
    seen = sorted({(b["file"], b["record"]["commit"], b["record"]["date"][:10]) for b in bs})
    return "\n".join(f"- `bench/results/{f}`, commit {c}, {d}" for f, c, d in seen)


def ceilings(bs):
    """A column for each record: each benchmark is held against those of its own run."""
    columns = {}
    for b in bs:
        if b["device"] in b["record"].get("ceilings", {}):
            columns[b["file"]] = b["record"]["ceilings"][b["device"]]
    if not columns:
        return []
    rows = [["fp32, 10^9 operations/s"] + [number(c["fp32"] * 1e-9) for c in columns.values()]]
    for name, pick in (("largest", -1), ("smallest", 0)):
        footprints = [c["memory"][pick]["footprint_bytes"] for c in columns.values()]
        rows.append([f"memory copy, {name} footprint, GB/s"] + [
            f"{number(c['memory'][pick]['copy'] * 1e-9)} ({f / 2**20:.3g} MiB)" for c, f in zip(columns.values(), footprints)])
    for key, text in (("host_to_device", "host to device"), ("device_to_host", "device to host"), ("both_ways", "both at once")):
        if any(key in c for c in columns.values()):
            rows.append([f"{text}, GB/s"] + [number(c[key] * 1e-9 if key in c else None) for c in columns.values()])
    rows.append(["smallest call queued, and waited for, us"] + [
        f"{microseconds(c['launch_seconds'])}, {microseconds(c['round_trip_seconds'])}" for c in columns.values()])
    if any("clock_mhz" in c for c in columns.values()):
        rows.append(["multiprocessor clock at fp32 work, MHz"] + [number(c.get("clock_mhz")) for c in columns.values()])
    return ["Ceilings, measured in the same runs:", ""] + table(["", *(f"`{f}`" for f in columns)], rows)


def table_5_3(bs):
    """The windows and iterations of wu2010 table 5.3; and what is left."""
    selected = [b for b in bs if b["op"] == "turbo" and b["figure"] == "resident" and "precision" not in b["axes"]
                and isinstance(b["axes"]["window_steps"], int)]
    out = []
    for overlap in sorted({b["axes"]["overlap"] for b in selected}):
        rows = []
        for iterations in sorted({b["axes"]["iterations"] for b in selected if b["axes"]["overlap"] == overlap}):
            row = [str(iterations)]
            for steps in (32, 64, 96, 128):
                pair = [b for name in ("max_log_map", "log_map") for b in selected if b["axes"] == {
                    "k": 6144, "map": name, "window_steps": steps, "overlap": overlap, "iterations": iterations}]
                row.append(" / ".join(number(b["mbps"]) for b in pair) or "-")
            rows.append(row)
        out += [f"Turbo, K = 6144, resident, overlap {overlap}: max-log-MAP / log-MAP, Mb/s, by window length W (wu2010 table "
                "5.3):", ""]
        out += table(["iterations", "W = 32", "W = 64", "W = 96", "W = 128"], rows)
    return out, [b for b in bs if b not in selected]


def figure_tables(bs):
    out = []
    for figure, title in FIGURES.items():
        selected = [b for b in bs if b["figure"] == figure]
        if not selected:
            continue
        small = figure == "small"
        rows = [[f"`{name_of(b)}`", number(b.get("mbps")), microseconds(b["seconds"]["median"])]
                + ([microseconds(b["seconds"]["p99"]) if "p99" in b["seconds"] else "-"] if small else [])
                + [spread(b), share(b)] for b in selected]
        out += [title + ":", ""]
        out += table(["benchmark", "Mb/s", "us a call", *(["us, 99 %"] if small else []), "spread", "of bound"], rows)
    return out


PIPES = (("issue slots", "sm__inst_issued.avg.pct_of_peak_sustained_active"), ("ALU", "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active"),
         ("FMA", "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active"),
         ("shared memory", "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed"),
         ("device memory", "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"),
         ("warps", "sm__warps_active.avg.pct_of_peak_sustained_active"))


def pipes_table(profiled):
    """What of a multiprocessor a kernel keeps busy."""
    rows = [[f"`{b['name'].split('/figure=')[0].replace('/', ' ')}`", number(b["metrics"].get("launch__registers_per_thread"))]
            + [number(b["metrics"].get(key)) for _, key in PIPES] for b in profiled if PIPES[1][1] in b["metrics"]]
    return ["What kernels keep busy, per cent of the most there is, by Nsight Compute; registers of a thread:", ""] + table(
        ["benchmark", "registers"] + [name for name, _ in PIPES], rows) if rows else []


def ncu_table(profiled):
    """What the kernels state beside what the profiler counts."""
    selected = [b for b in profiled if PIPES[1][1] not in b["metrics"]]
    if not selected:
        return []
    rows = [[f"`{b['name'].split('/figure=')[0].replace('/', ' ')}`", f"{b['ratio']['flops']:.3f}", f"{b['ratio']['bytes']:.3f}",
             f"{b['ratio']['seconds']:.3f}", f"{b['stated']['percent_of_bound']:.3g} %", f"{b['counted']['percent_of_bound']:.3g} %",
             f"{b['ratio']['percent_of_bound']:.3f}"] for b in selected]
    return ["`of bound` held against Nsight Compute (`scripts/ncu_bound.py`): what the bench states over what the profiler counts "
            f"and times, figure kernel, from {', '.join(sorted({'`bench/results/' + b['file'] + '`' for b in selected}))}:", ""] + table(
                ["benchmark", "operations", "bytes", "time", "of bound, bench", "of bound, ncu", "ratio"], rows)


def all_tables(results, compared, endurance):
    """The page of the performance tables."""
    lines = ["# Performance tables", "", WRITTEN, "", COLUMNS, ""]
    for machine in sorted({machine_of(b) for b in results}, key=lambda m: (not m.startswith("NVIDIA"), m)):
        selected = [b for b in results if machine_of(b) == machine]
        lines += [f"## {machine}", "", "Records:", "", source_of(selected), ""] + ceilings(selected)
        tables, rest = table_5_3(selected)
        space_time, rest = stbc_tables(rest, machine)
        massive, rest = massive_tables(rest, machine)
        profiled = [b for b in compared if b["record"]["machine"]["gpus"][0]["name"] == machine]
        lines += tables + turbo_tables(rest, machine) + space_time + massive + detector_tables(rest, profiled) + code_tables(rest) + figure_tables(rest) + pipes_table(profiled) + ncu_table(profiled)
    lines += fragment_tables(results, machine_of) + speedups(results, machine_of) + endurance_lines(endurance)
    return "\n".join(lines).rstrip() + "\n"


def report(results):
    """Texts by path below docs/: the page with the charts, and its figures."""
    first, figures = charts(results, machine_of)
    first = ["# Performance", "", WRITTEN, "", INTRODUCTION, "", *first]
    for machine in sorted({machine_of(b) for b in results if "snr_db" in b["axes"]}):
        selected = [b for b in results if machine_of(b) == machine and "snr_db" in b["axes"]]
        files = ", ".join(sorted({f"`bench/results/{b['file']}`" for b in selected}))
        first += [f"{machine} ({files}). {line}" if i == 0 else line for i, line in enumerate(over_snr(selected))]
    first.append(COLUMNS)
    return {"performance.md": "\n".join(first) + "\n"} | figures


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    if sys.argv[1:2] == ["--tables"] and len(sys.argv) == 3:
        pathlib.Path(sys.argv[2]).write_text(all_tables(*load()), encoding="utf-8")
        return
    if sys.argv[1:] not in ([], ["--check"]):
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    wrong = False
    for name, text in report(load()[0]).items():
        path = ROOT / "docs" / name
        if not sys.argv[1:]:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"docs/{name}:1: not what scripts/performance_report.py writes", file=sys.stderr)
            wrong = True
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
