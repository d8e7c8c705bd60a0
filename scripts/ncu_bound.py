#!/usr/bin/env python3
"""Holds the bounds of `warpband bench` against what Nsight Compute counts. Needs a GPU, ncu and the right to read counters.

usage: ncu_bound.py [--warpband PROGRAM] [--record RECORD.json ...] [--output COMPARISON.json] [--device cuda:0] [--only REGEX]

Without --record the benchmarks below are measured first. For each, ncu profiles two launches (`warpband bench --profile`) at the
clocks the device chooses. It counts executed fp32 operations (FADD, FMUL, FFMA, FMNMX) and bytes of device memory. `% of bound`
follows from these counts, the ceilings of the benchmark's record and the time by ncu and by the bench. The bench computes it in the
same way from what the kernels state. Exit code 1 if one differs by more than 10 %. Detectors and others are shown and not judged:
their threads repeat work that the kernels state once, or compute with integers. Instructions, registers and the shares of issue
slots and of memory go into the comparison too.
"""
import argparse
import csv
import io
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python/warpband"))
from _json_lines import json_lines  # noqa: E402

TURBO = "turbo/k=6144/map={}/window_steps={}/overlap=0/iterations=6/figure=kernel/device="
BENCHMARKS = [
    (TURBO.format("max_log_map", 32), "turbo_decode_op"),
    (TURBO.format("max_log_map", 128), "turbo_decode_op"),
    (TURBO.format("log_map", 32), "turbo_decode_op"),
    (TURBO.format("log_map", 128), "turbo_decode_op"),
    ("demap/points=16/algorithm=max_log/figure=kernel/device=", "demap_op"),
    ("demap/points=256/algorithm=max_log/figure=kernel/device=", "demap_op"),
    ("demap/points=256/algorithm=exact/figure=kernel/device=", "demap_op"),
    ("qam_map/points=64/figure=kernel/device=", "qam_map_op"),
    ("awgn/figure=kernel/device=", "awgn_op"),
]
WINDOWS = "turbo/k=6144/precision={}/map={}/iterations=6/figure=kernel/device="
STBC = "stbc/code={}/qam={}/output=hard/channel=own/figure=kernel/device="
# Shown, not judged: integers, or work that threads repeat.
OTHERS = [(WINDOWS.format("int16", "max_log_map"), "turbo_windows_op"), (WINDOWS.format("bfloat16", "max_log_map"), "turbo_windows_op"),
          (WINDOWS.format("bfloat16", "log_map"), "turbo_windows_op")]
OTHERS += [(STBC.format("silver", qam), "pair") for qam in (4, 16, 64)] + [(STBC.format("golden", 16), "golden")]
OTHERS += [(f"uplink/antennas=128x16/mode=cholesky/symbols={n}/qam=16/figure=kernel/device=", "uplink") for n in (1, 14)]
DETECT = "detect/detector={}/antennas={}/qam={}{}/figure=kernel/device="
DETECTORS = [(DETECT.format("nway", "4x4", qam, f"/ways={ways}"), "nway_op") for qam in (16, 64) for ways in (1, 2, 3, 4)]
DETECTORS += [(DETECT.format("mtt", antennas, qam, ""), "trellis_op") for antennas in ("2x2", "4x4") for qam in (4, 16, 64)]
DETECTORS += [(DETECT.format("mtt", "2x2", qam, "/uses=16800"), "trellis_op") for qam in (4, 16, 64)]
DETECTORS += [(DETECT.format("ml", "2x2", 64, ""), "ml_op"), (DETECT.format("ml", "4x4", 16, ""), "ml_op"),
              (DETECT.format("kbest", "4x4", 16, "/survivors=64"), "kbest"), (DETECT.format("kbest", "4x4", 64, "/survivors=256"), "kbest"),
              (DETECT.format("mmse", "4x4", 64, ""), "linear_op"), (DETECT.format("mmse", "8x8", 64, ""), "linear_op")]
OPCODES = ("FADD", "FMUL", "FFMA", "FMNMX")
SASS = "smsp__sass_thread_inst_executed_op_{}_pred_on.sum"
ESSENTIAL = ["gpu__time_duration.sum", "dram__bytes_read.sum", "dram__bytes_write.sum",
             SASS.format("fadd"), SASS.format("fmul"), SASS.format("ffma")]
# fp32 also counts comparisons and selections: only used where the counts of single instructions are not to be had.
WANTED = ESSENTIAL + [SASS.format("fp32"), "smsp__cycles_elapsed.avg.per_second", "inst_executed", "thread_inst_executed",
                      "thread_inst_executed_true"]
MIX = WANTED + ["smsp__inst_executed.sum", "launch__registers_per_thread", "sm__inst_issued.avg.pct_of_peak_sustained_active",
                "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"]
PIPES = MIX + ["sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
               "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active",
               "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_elapsed",
               "sm__warps_active.avg.pct_of_peak_sustained_active"]
UNITS = {"nsecond": 1e-9, "ns": 1e-9, "usecond": 1e-6, "us": 1e-6, "msecond": 1e-3, "ms": 1e-3, "second": 1, "s": 1,
         "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "hz": 1, "Hz": 1, "Khz": 1e3, "Mhz": 1e6, "MHz": 1e6,
         "Ghz": 1e9, "GHz": 1e9, "cycle/second": 1, "cycle/nsecond": 1e9, "cycle/usecond": 1e6}


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def number(text):
    return float(text.replace(",", ""))


def rows_of(text):
    """The CSV part of ncu's output."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    return list(csv.reader(io.StringIO("\n".join(lines))))


def raw_metrics(report):
    """The mean over the profiled launches of each metric, in seconds, bytes, Hz and counts."""
    code, out, err = run(["ncu", "--import", str(report), "--page", "raw", "--csv", "--print-units", "base"])
    rows = rows_of(out)
    if code != 0 or len(rows) < 3:
        raise RuntimeError(f"ncu --import gave nothing: {(err or out).strip()[-300:]}")
    head, units, launches = rows[0], rows[1], rows[2:]
    values = {}
    for column, name in enumerate(head):
        if name in PIPES and all(launch[column] for launch in launches):
            try:
                mean = sum(number(launch[column].split("(")[0]) for launch in launches) / len(launches)
            except ValueError:
                continue
            values[name] = mean * UNITS.get(units[column], 1)
    return values, len(launches)


def opcode_counts(report):
    """Executed thread instructions by opcode, from the counts of each instruction; None where ncu has none."""
    code, out, _ = run(["ncu", "--import", str(report), "--page", "source", "--csv", "--print-source", "sass"])
    counts, tables, column, source = dict.fromkeys(OPCODES, 0.0), 0, None, None
    for row in rows_of(out) if code == 0 else []:
        if "Source" in row:  # a head; one for each launch
            tables, source = tables + 1, row.index("Source")
            names = [n.lower() for n in row]
            known = [n for n in names if n in ("predicated-on thread instructions executed", "thread_inst_executed_true",
                                               "# predicated-on thread instructions executed")]
            column = names.index(known[0]) if known else None
        elif column is not None and len(row) > column:
            opcode = re.sub(r"^@!?U?P\w+\s+", "", row[source].strip()).split(" ")[0].split(".")[0]
            if opcode in counts and row[column]:
                counts[opcode] += number(row[column])
    return {opcode: n / tables for opcode, n in counts.items()} if sum(counts.values()) > 0 else None


def profile(program, name, kernel, folder):
    report = pathlib.Path(folder) / "report.ncu-rep"
    error = ""
    for metrics in (PIPES, MIX, WANTED, ESSENTIAL + [SASS.format("fp32")], ESSENTIAL):  # one unknown name spoils a list
        report.unlink(missing_ok=True)
        code, out, err = run(["ncu", "--force-overwrite", "-o", str(report), "--clock-control", "none", "--cache-control", "none",
                              "--kernel-name-base", "demangled", "-k", "regex:.*" + kernel + ".*", "--launch-skip", "3",
                              "--launch-count", "2", "--metrics", ",".join(metrics), program, "bench",
                              "^" + re.escape(name) + "$", "--device", name.split("device=")[1], "--profile", "6"])
        if code == 0 and report.exists():
            return report
        error = error or (err + out).strip()[-500:]
    raise RuntimeError(f"ncu failed: {error}")


def memory_ceiling(ceilings, size):
    """As bench/ceilings.cpp: the fastest from the footprint just below on."""
    memory = ceilings["memory"]
    return max(max(m["copy"], m["read"]) for i, m in enumerate(memory)
               if i + 1 == len(memory) or memory[i + 1]["footprint_bytes"] > size)


def percent(ceilings, operations, size, seconds):
    return 100 * max(operations / ceilings["fp32"], size / memory_ceiling(ceilings, size)) / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warpband", default=str(ROOT / "build" / "cuda" / "warpband"))
    parser.add_argument("--record", nargs="+", default=[])
    parser.add_argument("--output")
    parser.add_argument("--device", default="cuda:0")
    parser.add_argument("--only", default="", help="a regular expression, found anywhere in a name")
    options = parser.parse_args()
    names = [(name + options.device, kernel) for name, kernel in BENCHMARKS + OTHERS + DETECTORS if re.search(options.only, name)]
    judged = {name + options.device for name, _ in BENCHMARKS}
    with tempfile.TemporaryDirectory() as folder:
        paths = options.record
        if not paths:
            paths = [str(pathlib.Path(folder) / "record.json")]
            wanted = "^(" + "|".join(re.escape(name) for name, _ in names) + ")$"
            code, out, err = run([options.warpband, "bench", wanted, "--device", options.device, "--json", paths[0], "--quiet"])
            if code != 0:
                sys.exit(f"warpband bench failed: {err.strip()}")
            print(out)
        records = [json.loads(pathlib.Path(path).read_text(encoding="utf-8")) for path in paths]
        found = {b["name"]: (b, record["ceilings"][options.device]) for record in records for b in record["benchmarks"]}
        results, worst = [], 0.0
        print(f"{'benchmark':<72} {'operations':>10} {'bytes':>7} {'time':>6}   {'% of bound: bench':>17} {'ncu':>6} {'ratio':>6}")
        for name, kernel in names:
            b, ceilings = found.get(name, ({"error": "missing"}, None))
            if "error" in b:
                print(f"{name:<72} not in the record")
                worst = float("inf")
                continue
            try:
                report = profile(options.warpband, name, kernel, folder)
                metrics, launches = raw_metrics(report)
                counts = opcode_counts(report)
            except (RuntimeError, OSError) as error:
                print(f"{name:<72} {error}")
                worst = float("inf")
                continue
            arithmetic = sum(metrics[SASS.format(op)] for op in ("fadd", "fmul", "ffma"))
            how = "each instruction"
            operations = sum(counts.values()) if counts else metrics.get(SASS.format("fp32"), arithmetic)
            if not counts:
                how = "fp32 instructions, comparisons and selections among them" \
                    if SASS.format("fp32") in metrics else "without FMNMX"
            size = metrics["dram__bytes_read.sum"] + metrics["dram__bytes_write.sum"]
            seconds = metrics["gpu__time_duration.sum"]
            ours, theirs = b["percent_of_bound"], percent(ceilings, operations, size, seconds)
            ratio = ours / theirs
            worst = max(worst, abs(ratio - 1) if name in judged else 0.0)
            results.append({"name": name, "launches": launches, "operations_from": how, "opcodes": counts, "metrics": metrics,
                            "ceilings": {"fp32": ceilings["fp32"], "memory": memory_ceiling(ceilings, size)},
                            "stated": {"items": b["items"], "flops": b["flops"], "bytes": b["bytes"], "seconds": b["seconds"]["median"],
                                       "percent_of_bound": ours},
                            "counted": {"flops": operations, "bytes": size, "seconds": seconds, "percent_of_bound": theirs},
                            "ratio": {"flops": b["flops"] / operations if operations else None,
                                      "bytes": b["bytes"] / size if size else None,
                                      "seconds": b["seconds"]["median"] / seconds, "percent_of_bound": ratio}})
            print(f"{name:<72} {b['flops'] / operations if operations else 0:>10.3f} {b['bytes'] / size if size else 0:>7.3f} "
                  f"{b['seconds']['median'] / seconds:>6.3f}   {ours:>17.2f} {theirs:>6.2f} {ratio:>6.3f}"
                  + ("" if counts else f"   ({how})"))
            sys.stdout.flush()
        print("Ratios are bench over ncu.")
        if options.output:
            comparison = {"format": "warpband ncu comparison 1", "machine": records[0]["machine"],
                          "records": [{key: record[key] for key in ("version", "commit", "date")} for record in records],
                          "benchmarks": results}
            pathlib.Path(options.output).write_text(json_lines(comparison), encoding="utf-8")
        sys.exit(worst > 0.1)


if __name__ == "__main__":
    main()
