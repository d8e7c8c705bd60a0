"""Tables of the detectors for scripts/performance_report.py: the tables of wu2010 and wu2012 measured again, targets, and
which carriers a rate sustains. Figures of the papers are in milliseconds or Mb/s as printed there.
"""
from .printed import WU2010_INSTRUCTIONS, WU2010_MTT, WU2010_OTHERS, WU2010_USES, WU2012_ALL, WU2012_DETECTION, WU2012_QR
from .records import pick, table, three

# 4x4, coded Gb/s: what issue, ALU, shared memory and device memory of an H100 allow by an estimate, and the target.
TARGETS_H100 = {("nway", 16): {1: (214, 100), 2: (131, 65), 3: (89, 45), 4: (68, 34)},
                ("nway", 64): {1: (88, 44), 2: (45, 22), 3: (30, 15), 4: (22.5, 11)},
                ("mtt", 4): {None: (None, 100)}, ("mtt", 16): {None: (75, 35)}, ("mtt", 64): {None: (15, 7.5)}}
# 4x4, coded Gb/s of one AVX-512 core.
TARGETS_CORE = {("ml", 16): {None: 0.0005}, ("nway", 16): {1: 0.120, 4: 0.030}, ("mtt", 16): {None: 0.015}}
# Uses a second: subcarriers x OFDM symbols a second.
CARRIERS = [("LTE 5 MHz", 300 * 14e3), ("LTE 10 MHz", 600 * 14e3), ("LTE 15 MHz", 900 * 14e3), ("LTE 20 MHz", 1200 * 14e3),
            ("NR 100 MHz", 3276 * 28e3)]


def beside(b, theirs):
    """Ours / theirs in ms, and how many times faster."""
    if b is None:
        return "-"
    ms = 1e3 * b["seconds"]["median"]
    return f"{ms:.3g} / {theirs:.4g}: {three(theirs / ms)} x"


def megabits(uses, bits, ms):
    return three(uses * bits / ms * 1e-3)


def wu2012(bs):
    out = []
    for title, times, figure, note in (
            ("II", WU2012_DETECTION, "kernel", "the kernel; ours takes H and includes the N QR decompositions, the paper's does not"),
            ("III", WU2012_ALL, "sync", "copies in, all kernels, copies out and a wait")):
        rows = []
        for (n, qam), theirs in times.items():
            measured = [pick(bs, [figure], detector="nway", n=n, qam=qam, ways=i + 1, uses=8400) for i in range(len(theirs))]
            if not any(measured):
                continue
            bits = {16: 4, 64: 6}[qam] * n
            cells = [beside(b, ms) + (f", {three(b['mbps'])} / {megabits(8400, bits, ms)} Mb/s" if b else "")
                     for b, ms in zip(measured, theirs)]
            rows.append([f"{n}x{n} {qam}-QAM"] + cells + ["-"] * (4 - len(cells)))
        if rows:
            out += [f"N-way, 8400 uses, ms and Mb/s, ours / wu2012 table {title} ({note}):", ""]
            out += table(["", "N = 1", "N = 2", "N = 3", "N = 4"], rows)
    rows = []
    for n, theirs in WU2012_QR.items():
        measured = [pick(bs, ["kernel"], op="qr", entries="complex", rows=n, columns=n, method="gram_schmidt", layout="row_major",
                         ways=i + 1, matrices=8400) for i in range(len(theirs))]
        if any(measured):
            cells = [beside(b, ms) for b, ms in zip(measured, theirs)]
            rows.append([f"{n}x{n}"] + cells + ["-"] * (4 - len(cells)))
    if rows:
        out += ["QR decompositions of 8400 uses, ms, ours / wu2012 table I:", ""] + table(
            ["", "N = 1", "N = 2", "N = 3", "N = 4"], rows)
    return out


def wu2010(bs):
    out = []
    for n, times in WU2010_MTT.items():
        rows = []
        for qam, theirs in times.items():
            measured = [pick(bs, [figure], detector="mtt", n=n, qam=qam, uses=WU2010_USES[n]) for figure in ("sync", "host_fed", "kernel")]
            if any(measured):
                bits = {4: 2, 16: 4, 64: 6}[qam] * n
                rows.append([str(qam)] + [
                    beside(b, ms) + (f", {three(b['mbps'])} / {megabits(WU2010_USES[n], bits, ms)} Mb/s" if b else "")
                    for b, ms in zip(measured, theirs)])
        if rows:
            out += [f"MTT {n}x{n}, {WU2010_USES[n]} uses, ms and Mb/s, ours / wu2010 table {'4.1' if n == 2 else '4.2'} (ours takes H "
                    "and includes the QR decomposition, which the thesis does on the host):", ""]
            out += table(["Q", "synchronous", "asynchronous", "kernel"], rows)
    return out


def others(bs):
    """Table 4.5."""
    ours = []
    for name, setting in (("MTT", {"detector": "mtt"}), ("OT", {"detector": "ot"}), ("N-way, N = 2", {"detector": "nway", "ways": 2}),
                          ("N-way, N = 4", {"detector": "nway", "ways": 4}),
                          ("K-best, K = 16", {"detector": "kbest", "survivors": 16}),
                          ("K-best, K = 64", {"detector": "kbest", "survivors": 64}), ("exhaustive", {"detector": "ml"})):
        for figures, how in ((["kernel", "resident"], "data in place"), (["host_fed"], "fed from the host")):
            found = [pick(bs, figures, n=4, qam=qam, uses=WU2010_USES[4] if figures == ["host_fed"] and name == "MTT" else None,
                          **setting) for qam in (4, 16, 64)]
            if any(found):
                ours.append([f"Warpband, {name}, {how}"] + [three(b["mbps"]) if b else "-" for b in found])
    if not ours:
        return []
    theirs = [[name] + [f"{rates[qam]:g}" if qam in rates else "-" for qam in (4, 16, 64)] for name, rates in WU2010_OTHERS.items()]
    return ["4x4 detectors, coded Mb/s (wu2010 table 4.5 for all but ours):", ""] + table(
        ["", "QPSK", "16-QAM", "64-QAM"], ours + theirs)


def over_snr(bs):
    """Detectors whose time depends on the SNR: a column for each SNR."""
    rates: dict = {}
    for b in bs:
        if b["op"] == "detect" and b["figure"] in ("kernel", "resident") and "snr_db" in b["axes"]:
            a = b["axes"]
            name = f"{a['detector']} {a['antennas']} {a['qam']}-QAM, {a['output']} output"
            rates.setdefault(name, {})[a["snr_db"]] = b["mbps"] / 1e3
    if not rates:
        return []
    snrs = sorted({snr for by_snr in rates.values() for snr in by_snr})
    return ["Detectors whose time depends on the SNR (at a receive antenna), data in place, coded Gb/s:", ""] + table(
        ["", *(f"{snr:g} dB" for snr in snrs)], [[name, *(three(r[snr]) if snr in r else "-" for snr in snrs)] for name, r in rates.items()])


def targets(bs):
    rows = []
    on_gpu = any(b["device"].startswith("cuda") for b in bs)
    threads = bs[0]["record"]["machine"]["threads"]
    for (detector, qam), by_ways in (TARGETS_H100 if on_gpu else TARGETS_CORE).items():
        for ways, goal in by_ways.items():
            b = pick(bs, ["kernel", "resident"], detector=detector, n=4, qam=qam, ways=ways)
            if b is None:
                continue
            bound, target = goal if on_gpu else (None, goal * threads)
            rows.append([f"{detector} {qam}-QAM" + (f" N = {ways}" if ways else ""), three(b["mbps"] * 1e-3),
                         f"{b['percent_of_bound']:.3g} % ({b['bound_by']})" if "percent_of_bound" in b else "-",
                         three(target) + (", met" if b["mbps"] * 1e-3 >= target else "")]
                        + ([three(bound) if bound else "-"] if on_gpu else []))
    if not rows:
        return []
    return ["4x4 detectors, H in and LLRs out, coded Gb/s beside the targets of the project"
            + (" (bound: an estimate of instructions and bytes)" if on_gpu else f" ({threads} x that of a core)") + ":", ""] + table(
                ["", "Gb/s", "of bound, counted", "target"] + (["bound, estimate"] if on_gpu else []), rows)


def sustained(rate):
    if not rate:
        return "-"
    name, asks = max((c for c in CARRIERS if rate >= c[1]), key=lambda c: c[1], default=CARRIERS[0])
    return f"{three(rate * 1e-6)}: {name} x {f'{rate / asks:.0f}' if rate >= 10 * asks else f'{rate / asks:.2g}'}"


def budget(bs):
    """The widest carrier that each detector sustains, as `warpband bench` prints it."""
    rates = {}
    for b in bs:
        if b["op"] != "detect" or b["figure"] in ("sync", "small") or {"layout", "snr_db"} & set(b["axes"]):
            continue
        a = b["axes"]
        key = (a["antennas"], a["detector"], a.get("ways") or a.get("survivors"), a["qam"])
        place = rates.setdefault(key[:3], {}).setdefault(key[3], {})
        where = "fed" if b["figure"] == "host_fed" else "in place"
        place[where] = max(place.get(where, 0), b["items_per_second"])
    out = []
    for where, title in (("in place", "data in place"), ("fed", "fed from the host")):
        rows = []
        for (antennas, detector, parameter), by_qam in sorted(rates.items(), key=lambda r: (r[0][0], r[0][1], r[0][2] or 0)):
            cells = [sustained(by_qam.get(qam, {}).get(where)) for qam in (4, 16, 64)]
            if any(cell != "-" for cell in cells):
                letter = {"nway": " N = ", "kbest": " K = "}.get(detector)
                rows.append([f"{antennas} {detector}" + (f"{letter}{parameter}" if letter else "")] + cells)
        if rows:
            out += [f"Real-time budget (wu2010 figures 4.8 and 4.9), {title}: 10^6 uses a second, and the widest carrier that this "
                    "sustains with the factor to spare (below 1: not sustained):", ""]
            out += table(["", "QPSK", "16-QAM", "64-QAM"], rows)
    return out


def instructions(compared):
    """Of the profiler's counts (scripts/ncu_bound.py)."""
    rows = []
    for b in compared:
        metrics, items = b["metrics"], b["stated"].get("items")
        executed = metrics.get("smsp__inst_executed.sum", metrics.get("inst_executed"))
        if not b["name"].startswith("detect/") or not items or not executed:
            continue
        axes = dict(part.split("=") for part in b["name"].split("/")[1:])
        n, qam = int(axes["antennas"].split("x")[1]), int(axes["qam"])
        theirs = WU2010_INSTRUCTIONS.get((n, qam)) if axes["detector"] == "mtt" else None
        percent = [metrics.get(name) for name in ("sm__inst_issued.avg.pct_of_peak_sustained_active",
                                                  "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")]
        rows.append([f"`{b['name'].split('/figure=')[0].replace('/', ' ')}`", three(32 * executed / items),
                     three(b["stated"]["flops"] / items),
                     " / ".join(three(qam * x) for x in theirs) if theirs else "-",
                     f"{metrics['launch__registers_per_thread']:.0f}" if "launch__registers_per_thread" in metrics else "-"]
                    + [f"{x:.3g}" if x is not None else "-" for x in percent])
    if not rows:
        return []
    return ["Instructions of a use (wu2010 tables 4.3 and 4.4): executed by threads, 32 for each of a warp; beside what flops() counts, a "
            "model in n and Q; and wu2010's model / profiler, times the Q threads that a use has there. Issue slots and device memory in "
            "per cent of their peak:", ""] + table(
                ["benchmark", "instructions", "operations, model", "wu2010", "registers", "issue, %", "memory, %"], rows)


def detector_tables(bs, compared):
    selected = [b for b in bs if b["op"] in ("detect", "qr")]
    if not selected:
        return instructions(compared)
    return targets(selected) + budget(selected) + wu2010(selected) + others(selected) + over_snr(selected) + wu2012(selected) + instructions(compared)
