"""Tables of the turbo decoders with windows side by side, and wu2010 table 5.4 beside today's decoders, for
scripts/performance_report.py."""
from .printed import DECODERS_SINCE, WU2010_DECODERS
from .records import pick, table, three

KINDS = [("int16", "max_log_map"), ("bfloat16", "max_log_map"), ("bfloat16", "log_map")]
NAMES = {"max_log_map": "max-log-MAP", "log_map": "log-MAP"}


def rate(bs, precision, algorithm, steps, overlap):
    """Mb/s with windows side by side, K = 6144, 6 iterations, data in place; None where it was not measured."""
    b = pick(bs, ["resident"], op="turbo", k=6144, map=algorithm, precision=precision, window_steps=steps, overlap=overlap, iterations=6)
    return b and b["mbps"]


def windows_table(bs):
    """Mb/s by windows and overlap, data in place."""
    lines = []
    for steps in (192, 96, 48):
        for overlap in (0, 8, 16):
            row = [rate(bs, precision, algorithm, steps, overlap) for precision, algorithm in KINDS]
            if any(row):
                lines.append([f"{6144 // steps}, overlap {overlap}"] + ["-" if x is None else three(x) for x in row])
    head = ["windows"] + [f"{precision}, {NAMES[algorithm]}" for precision, algorithm in KINDS]
    return ["Turbo, K = 6144, 6 iterations, windows side by side, 8-bit LLRs, data in place, Mb/s (losses: docs/wu2010.md):",
            ""] + table(head, lines) if lines else []


def table_5_4(bs, machine):
    """The fastest setting that loses less than 0.1 dB, beside what others reached."""
    ours = [(f"{machine}, {precision}, 128 windows, overlap 8", NAMES[algorithm], 6, r) for precision, algorithm in KINDS
            if (r := rate(bs, precision, algorithm, 48, 8))]
    if not ours:
        return []
    rows = [[name, algorithm, str(iterations), f"{rate:.4g}"] for name, algorithm, iterations, rate in
            [(f"{name} (table 5.4)" if "wu2010" not in name else name, *rest) for name, *rest in WU2010_DECODERS] + DECODERS_SINCE + ours]
    return ["Programmable turbo decoders, continuing wu2010 table 5.4:", ""] + table(
        ["decoder", "algorithm", "iterations", "Mb/s"], rows)


def turbo_tables(bs, machine):
    return windows_table(bs) + (table_5_4(bs, machine) if machine.startswith("NVIDIA") else [])


def endurance_lines(records):
    """What `warpband bench --duration` saw; records: (file name, record)."""
    rows = []
    for file, r in records:
        memory = [f"{r[key]['first'] / 2**20:.0f}, {r[key]['last'] / 2**20:.0f}, {r[key]['most'] / 2**20:.0f}"
                  for key in ("host_memory_bytes", "device_memory_bytes")]
        different = "none" if r["compared_bytes"] and not r["different_results"] else (
            str(r["different_results"]) if r["compared_bytes"] else "not compared")
        rows.append([f"`{r['name'].replace('/', ' ')}`", f"{r['seconds']:.0f}",
                     f"{three(r['mean'])} ({three(r['lowest'])} .. {three(r['highest'])}) {r['unit']}", *memory, different,
                     f"`bench/results/{file}`, commit {r['commit']}"])
    return ["## Without a pause", "", "`warpband bench --duration`; memory in MiB: at first, at last, at most.", ""] + table(
        ["benchmark", "seconds", "mean rate (lowest .. highest)", "process", "device", "other results", "from"], rows) if rows else []
