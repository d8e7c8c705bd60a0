"""Tables of the space-time codes for scripts/performance_report.py: tables III and IV and figures 5 and 6 of Bollapalli, Wu, Gulati,
Khatri, Calderbank, "Highly parallel decoding of space-time codes on graphics processing units" (2009), measured again.
"""
from .printed import BOLLAPALLI_FRAGMENTS, BOLLAPALLI_FRAMES
from .records import duration, pick, seconds as median, table, three

QAM = {4: "QPSK", 16: "16-QAM", 64: "64-QAM"}
TONES = {"mobile_128": 72, "fixed_256": 192, "mobile_512": 360, "mobile_1024": 720, "mobile_2048": 1440}
MIXED = {"hard": "uncoded", "wimax_ldpc": "with WiMAX LDPC codes", "conv": "with convolutional codes"}  # frames of all modulations
FRAMES_MS = (4, 5, 10, 20)
SYMBOLS_MOBILE, SYMBOLS_FIXED = (38, 48, 97, 194), (55, 69, 138, 277)
# Silver, hard decisions, data in place: coded Gb/s that the project asks of an H100.
TARGETS_H100 = {4: 200, 16: 40, 64: 4}


def one(bs, op, figures, output="hard", **axes):
    """The benchmark of the Silver code with these axes and no others, of the first of the figures that there is."""
    return pick(bs, figures, op=op, code="silver", output=output, **axes)


def targets(bs):
    rows = []
    for qam, target in TARGETS_H100.items():
        found = one(bs, "stbc", ["kernel"], qam=qam, channel="shared")
        if found:
            rate = found["mbps"] * 1e-3
            rows.append([QAM[qam], three(rate), f"{target}{', met' if rate >= target else ''}"])
    return ["Silver, hard decisions, data in place, Gb/s beside the targets of the project:", ""] + table(
        ["", "Gb/s", "target"], rows) if rows else []


def frame_of(bs, figure, profile, qam, symbols, output="hard"):
    """From a grid to bits; in a record without it the decoder alone, its codewords side by side."""
    axes = {"profile": profile, "qam": qam, "symbols": symbols, "output": output}
    return one(bs, "wimax_frame", [figure], **axes) or one(bs, "stbc_wimax", [figure], **axes)


def frames(bs, figure):
    """Table IV."""
    counted = [(name, SYMBOLS_MOBILE, name.replace("_", " ")) for name in BOLLAPALLI_FRAMES if name != "fixed_256"]
    counted.insert(1, ("fixed_256", SYMBOLS_MOBILE, "fixed 256, symbols as table IV counts them"))
    counted.insert(2, ("fixed_256", SYMBOLS_FIXED, "fixed 256, symbols of 72 us"))
    rows = []
    for profile, symbols, title in counted:
        for qam, name in QAM.items():
            measured = [frame_of(bs, figure, profile, qam, n) for n in symbols]
            if not any(measured):
                continue
            theirs = BOLLAPALLI_FRAMES[profile][qam] if symbols is SYMBOLS_MOBILE else (None,) * 4
            cells = []
            for b, ms, paper in zip(measured, FRAMES_MS, theirs):
                if b is None:
                    cells.append("-")
                    continue
                factor = 1e-3 * ms / median(b)
                text = f"{three(1e3 * median(b))} ms, x {three(factor)}"
                if factor < 1:
                    text += f" ({int(TONES[profile] * factor)} tones)"
                cells.append(text + (f" / {paper}" if paper else ""))
            rows.append([title, name] + cells)
    if not rows:
        return []
    found = [(name, frame_of(bs, figure, "mobile_2048", "mixed", 48, output)) for output, name in MIXED.items()]
    mixed = "; ".join(f"{name} {three(1e3 * median(b))} ms, x {three(5e-3 / median(b))}" for name, b in found if b)
    mixed = [] if not mixed else [
        "A frame of mobile 2048 of 5 ms, 32 symbols downlink with a third of the tones in each modulation, 16 uplink with QPSK and 16-QAM, "
        f"a burst each: {mixed}.", ""]
    how = "fed from the host, copies overlapped" if figure == "host_fed" else "data in place"
    how += ", from the grid" if any(b["op"] == "wimax_frame" for b in bs) else ", the decoder alone"
    return [f"WiMAX frames, Silver, hard decisions of all data tones, {how}: time of a frame, and how many sectors at once that is, "
            "frame length over time (below 1: the tones that are decoded in time); behind the stroke table IV of Bollapalli et al. "
            "(Tesla C1060; ms, or in brackets the tones):", ""] + table(
                ["profile", "", *(f"{ms} ms" for ms in FRAMES_MS)], rows) + mixed


def latencies(bs):
    rows = []
    for profile in BOLLAPALLI_FRAMES:
        cells = []
        for qam in QAM:
            small, sync = (one(bs, "stbc_wimax", [f], profile=profile, qam=qam, symbols=2) for f in ("small", "sync"))
            text = "-"
            if small is not None:
                text = f"{1e6 * median(small):.3g}" + (f" (99 %: {1e6 * small['seconds']['p99']:.3g})" if "p99" in small["seconds"] else "")
                text += f", {1e6 * median(sync):.3g}" if sync is not None else ""
            cells.append(text)
        if any(cell != "-" for cell in cells):
            rows.append([profile.replace("_", " "), *cells])
    return ["Two OFDM symbols, one codeword of each data tone, alone: latency of a call and its wait in us, then with copies in and out:",
            ""] + table(["profile", *QAM.values()], rows) if rows else []


def stages(bs):
    """Figure 6."""
    rows = []
    for exponent in range(3, 25):
        found = [one(bs, "stbc_fragment", figures, qam=16, fragment=1 << exponent, stage=stage) for stage, figures in (
            ("copy_in", ["sync"]), ("all", ["kernel"]), ("copy_out", ["sync"]), ("all", ["sync"]))]
        if all(found):
            *parts, whole = [median(b) for b in found]
            rows.append([str(1 << exponent)] + [f"{1e6 * t:.4g} ({100 * t / sum(parts):.0f} %)" for t in parts] + [f"{1e6 * whole:.4g}"])
    return ["Stages of decoding 16-QAM fragments (figure 6 of Bollapalli et al.; the kernel reduces as it decodes), each alone, the copies "
            "with their wait: us, and the share of their sum; beside all of them in one call and its wait:", ""] + table(
                ["symbols", "copy in", "decode and reduction", "copy out", "call"], rows) if rows else []


def fed(bs):
    """Decoding fed from the host beside its copies alone and its kernel alone."""
    rows = []
    for exponent in range(17, 24):
        cells = []
        for qam in QAM:
            whole, copies, kernel = found = [one(bs, "stbc_fragment", [figure], qam=qam, fragment=1 << exponent, stage=stage)
                                             for figure, stage in (("host_fed", "all"), ("host_fed", "copies"), ("kernel", "all"))]
            if all(found):
                slower, name = max((median(copies), "copies"), (median(kernel), "kernel"))
                cells.append(f"{100 * slower / median(whole):.0f} % ({name})")
        if len(cells) == len(QAM):
            rows.append([str(1 << exponent), *cells])
    return ["Fragments fed from the host, copies of others overlapped: the rate as a share of what the copies alone, both ways at once, or the "
            "kernel alone reach, whichever is less:", ""] + table(["symbols", *QAM.values()], rows) if rows else []


def stbc_tables(bs, machine):
    """The tables of one machine; and what is left for the general ones."""
    on_gpu = any(b["device"].startswith("cuda") for b in bs)
    lines = targets(bs) if on_gpu else []
    lines += frames(bs, "host_fed" if on_gpu else "resident") + latencies(bs) + fed(bs) + stages(bs)
    return lines, [b for b in bs if b["op"] not in ("stbc_wimax", "wimax_frame", "stbc_fragment")]


def fragment_tables(results, machine_of):
    """Table III, over all machines."""
    selected = [b for b in results if b["op"] == "stbc_fragment" and b["axes"]["stage"] == "all"]
    machines = sorted({machine_of(b) for b in selected}, key=lambda m: (m.startswith("NVIDIA"), "scalar" not in m, m))
    if not selected:
        return []
    out = ["## Fragments of space-time codewords", "",
           "Silver, hard decisions, powers of two of symbols from 2^3 on, four to a codeword (table III of Bollapalli et al.), on a GPU fed from the host: "
           "the time for each fragment, there with the copies of others overlapped. Behind it, where a scalar core was measured, how many "
           "times faster than that; before it, on a GPU, the kernel's time alone. The last column is the paper's: time on a core of a Pentium 4 "
           "with the paper's search, and the larger of its two GPUs' speed-ups. Every core here runs this library's search.", ""]
    for qam, name in QAM.items():
        rows = []
        for exponent in range(3, 25):
            found = [one([b for b in selected if machine_of(b) == m], "stbc_fragment", ["host_fed", "resident"], qam=qam,
                         fragment=1 << exponent, stage="all") for m in machines]
            if not any(found):
                continue
            scalar = next((b for b, m in zip(found, machines) if b and "scalar, 1 thread" in m), None)
            cells = []
            for b, m in zip(found, machines):
                text = duration(median(b)) if b else "-"
                kernel = one([k for k in selected if machine_of(k) == m], "stbc_fragment", ["kernel"], qam=qam, fragment=1 << exponent,
                             stage="all")
                if b and kernel:
                    text = f"{duration(median(kernel))} / {text}"
                if b and scalar and b is not scalar:
                    text += f", {three(median(scalar) / median(b))} x"
                cells.append(text)
            theirs = BOLLAPALLI_FRAGMENTS[qam].get(exponent)
            paper = "-" if theirs is None else f"{theirs[0]:g} s, {max(x for x in theirs[1:] if x):g} x"
            rows.append([str(1 << exponent), *cells, paper])
        if rows:
            out += [f"{name}:", ""] + table(["symbols", *machines, "paper"], rows)
    return out
