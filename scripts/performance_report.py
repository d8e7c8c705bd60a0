#!/usr/bin/env python3
"""Writes docs/performance.md from what the benchmarks recorded in bench/results/*.json.

usage: performance_report.py [--check]     --check: fail if docs/performance.md is not what would be written
"""
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Lane operations a second, measured: fp32 fma and add on an H100 (117 of 128 lanes a clock on 132 SMs at 1.98 GHz,
# counted one operation each, as kernels count them).
ISSUE_CEILING = {"NVIDIA H100 80GB HBM3": 27.5e12}


def load():
    results = []
    for path in sorted((ROOT / "bench" / "results").glob("*.json")):
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        for b in record["benchmarks"]:
            if "error" not in b:
                b["file"], b["record"] = path.name, record
                results.append(b)
    return results


def machine_of(b):
    m = b["record"]["machine"]
    if b["device"].startswith("cuda"):
        return m["gpus"][int(b["device"].split(":")[1])]["name"]
    return f"{m['cpu']}, {b['description']}"


def source_of(bs):
    seen = sorted({(b["file"], b["record"]["commit"], b["record"]["date"][:10]) for b in bs})
    return "; ".join(f"`bench/results/{f}`, commit {c}, {d}" for f, c, d in seen)


def table(head, rows):
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return out + ["| " + " | ".join(row) + " |" for row in rows]


def spread(b):
    return 100 * b["seconds"]["interquartile_range"] / b["seconds"]["median"]


def issue_share(b):
    ceiling = ISSUE_CEILING.get(machine_of(b))
    return f"{100 * b['counters']['GFLOP/s'] * 1e9 / ceiling:.0f}%" if ceiling else "-"


def mbps(b):
    rate = b["counters"]["Mb/s"]
    return f"{rate:.0f}" if rate >= 100 else f"{rate:.3g}"


def report():
    results = load()
    lines = ["# Performance", "",
             "Written by `scripts/performance_report.py` from `bench/results/`; do not edit. Information bits per second "
             "(10^6), medians of at least five repetitions. `spread` is the interquartile range over the median. `issue` is "
             "the share of the device's measured fp32 issue rate that the decoder's counted operations take.", ""]
    for machine in sorted({machine_of(b) for b in results}, key=lambda m: (not m.startswith("NVIDIA"), m)):
        mine = [b for b in results if machine_of(b) == machine]
        lines += [f"## {machine}", "", f"From {source_of(mine)}.", ""]
        turbo = [b for b in mine if b["op"] == "turbo" and isinstance(b["axes"]["window_steps"], int)]
        for overlap in sorted({b["axes"]["overlap"] for b in turbo}):
            rows = []
            for it in sorted({b["axes"]["iterations"] for b in turbo if b["axes"]["overlap"] == overlap}):
                row = [str(it)]
                for steps in (32, 64, 96, 128):
                    pair = [b for name in ("max_log_map", "log_map") for b in turbo if b["axes"] == {
                        "k": 6144, "map": name, "window_steps": steps, "overlap": overlap, "iterations": it}]
                    row.append(" / ".join(mbps(b) for b in pair))
                rows.append(row)
            if rows:
                lines += [f"Turbo, K = 6144, data in the device's memory, overlap {overlap}: max-log-MAP / log-MAP, Mb/s, by "
                          "window length W (wu2010 table 5.3):", ""]
                lines += table(["iterations", "W = 32", "W = 64", "W = 96", "W = 128"], rows) + [""]
        rest = [b for b in mine if b["op"].startswith("turbo") and b not in turbo]
        if rest:
            lines += ["Turbo at the automatic windows, 6 iterations:", ""]
            where = {"turbo": "resident", "turbo_small": "resident, small batch", "turbo_host_fed": "host-fed, not overlapped"}
            lines += table(["data", "K", "codewords a call", "MAP", "Mb/s", "us a call", "spread", "issue"], [
                [where[b["op"]], str(b["axes"]["k"]), f"{b['items']:.0f}", b["axes"]["map"], mbps(b),
                 f"{1e6 * b['seconds']['median']:.0f}", f"{spread(b):.1f}%", issue_share(b)] for b in rest]) + [""]
        modem = [b for b in mine if b["op"] in ("demap", "qam_map")]
        if modem:
            lines += ["Mapper and demapper, data in the device's memory:", ""]
            lines += table(["op", "points", "algorithm", "coded Mb/s", "GB/s", "spread"], [
                [b["op"], str(b["axes"].get("points")), str(b["axes"].get("algorithm", "-")), mbps(b),
                 f"{b['counters'].get('GB/s', 0):.4g}", f"{spread(b):.1f}%"] for b in modem]) + [""]
    return "\n".join(lines).rstrip() + "\n"


def main():
    path = ROOT / "docs" / "performance.md"
    text = report()
    if sys.argv[1:] == ["--check"]:
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            print("docs/performance.md:1: not what scripts/performance_report.py writes", file=sys.stderr)
            sys.exit(1)
    elif sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    else:
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
