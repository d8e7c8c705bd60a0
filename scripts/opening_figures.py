#!/usr/bin/env python3
"""Draws the figures that the pages of algorithms begin with into docs/figures/openings/: error rates of stored results, and sketches.

    python3 scripts/opening_figures.py [FOLDER]

The same files give the same bytes; a test of the package compares them with those in the tree.
"""
import json
import pathlib
import sys

from loglog import COLOURS, WIDTH, begin, decades, text

ROOT = pathlib.Path(__file__).resolve().parents[1]
FADING = "4 x 4 antennas, 16-QAM, Rayleigh fading"
TURBO = f"{FADING}, LTE turbo code of rate 1/2"
LDPC = f"{FADING}, WiMAX LDPC code of rate 1/2"
MASSIVE = "128 antennas, 16 users, 16-QAM, convolutional code"

# of a page: result in curves/, title, error rate, and the curves: label there and in the figure
ERROR_RATES = {
    "ml": ("mimo_uncoded_4x4_16qam", f"{FADING}, no code", "ber", {"ML": "exhaustive", "MMSE": "MMSE", "ZF": "zero forcing"}),
    "linear": ("iterative_4x4_16qam", LDPC, "fer", {"ML": "exhaustive", "N-way, N = 4": "N-way, 4 ways", "MMSE": "MMSE"}),
    "trellis": ("wu2012_fig3_16qam", LDPC, "fer", {"ML": "exhaustive", "MTT, clip 8": "multi-pass, llr_clip 8", "MTT": "multi-pass, no clip"}),
    "kbest": ("mimo_turbo_4x4_16qam", TURBO, "fer",
              {"ML, rate 1/2": "exhaustive", "K-best, K = 64, rate 1/2": "K-best, K = 64", "4-way, rate 1/2": "N-way, 4 ways"}),
    "sphere": ("sphere_4x4_16qam", LDPC, "fer", {"ML": "exhaustive", "sphere": "sphere", "N-way, N = 4": "N-way, 4 ways",
                                                 "sphere, 200 nodes": "sphere, 200 nodes", "sphere, 50 nodes": "sphere, 50 nodes"}),
    "nway": ("mimo_turbo_4x4_16qam", TURBO, "fer",
             {"ML, rate 1/2": "exhaustive", **{f"{n}-way, rate 1/2": f"N-way, {n} way{'s' * (n > 1)}" for n in (4, 3, 2, 1)}}),
    "pic": ("iterative_4x4_16qam", LDPC, "fer", {"ML": "exhaustive, no loop", "MMSE": "MMSE, no loop", "MMSE-PIC, loop": "MMSE-PIC, loop"}),
    "ep": ("iterative_4x4_16qam", LDPC, "fer", {"ML": "exhaustive, no loop", "MMSE-PIC, loop": "MMSE-PIC, loop", "EP, loop": "EP, loop"}),
    "turbo": ("turbo_k6144_i6", "LTE turbo code, K = 6144, 6 iterations, BPSK in AWGN", "fer",
              {"log-MAP": "log-MAP", "max-log-MAP x 0.75": "max-log-MAP, extrinsics times 0.75"}),
    "ldpc": ("ldpc_wimax_awgn", "WiMAX LDPC code, n = 2304, rate 1/2, AWGN", "fer",
             {"sum-product": "sum-product", "normalised min-sum, 0.75": "normalised min-sum, 0.75", "min-sum": "min-sum"}),
    "conv_rates": ("conv_awgn", "Rate 1/2, 500 bits, Viterbi decoder, QPSK in AWGN", "ber",
                   {f"K = {k}, ({g})": f"K = {k}, generators {g}" for k, g in ((3, "7, 5"), (5, "23, 35"), (7, "133, 171"), (9, "561, 753"))}),
    "viterbi_rates": ("conv_awgn", "Code of 802.11, K = 7, 500 bits, QPSK in AWGN", "fer",
                      {"K = 7, (133, 171)": "rate 1/2", **{f"K = 7, rate {rate}": f"rate {rate}" for rate in ("2/3", "3/4", "5/6")}}),
    "polar_lists": ("polar_awgn", "5G NR, 64 bits in 128, CRC of 11 bits, QPSK in AWGN", "fer",
                    {f"{n} path{'s' * (n > 1)}": f"{n} path{'s' * (n > 1)}" for n in (1, 2, 4, 8, 32)}),
    "sparse_ldpc": ("sparse_ldpc_awgn", "Regular code, n = 504, rate 1/2, 50 iterations, QPSK in AWGN", "fer",
                    {name: name for name in ("sum-product", "normalised min-sum, 0.75", "min-sum")}),
    "uplink": ("li_thesis_rayleigh", MASSIVE, "ber",
               {"128x16 Cholesky": "Cholesky", **{f"128x16 CG {n}": f"conjugate gradients, {n} iterations" for n in (4, 3, 2)}}),
    "downlink": ("li_thesis_c2_downlink", f"{MASSIVE}, clustered delay lines", "ber",
                 {"128x16 Cholesky": "Cholesky", **{f"128x16 CG {n}": f"conjugate gradients, {n} iterations" for n in (4, 3, 2)}}),
    "stbc": ("stbc", "4 bits a use, 2 antennas on both sides, Rayleigh fading", "ber",
             {"uncoded, ML": "multiplexing, exhaustive", "Alamouti, 16-QAM": "Alamouti", "Silver": "Silver", "Golden": "Golden"}),
}
AXES = {"snr_db": "SNR in dB", "ebn0_db": "Eb/N0 in dB"}


def error_rates(result, title, metric, labels):
    content = json.loads((ROOT / "curves" / f"{result}.json").read_text(encoding="utf-8"))
    found = {curve["label"]: curve for curve in content["curves"]}
    axis = next(axis for axis in AXES if axis in found[next(iter(labels))]["config"]["sweep"])
    curves = [(shown, [(point[axis], point[metric]) for point in found[label]["points"]]) for label, shown in labels.items()]
    return decades(title, AXES[axis], {"fer": "frame error rate", "ber": "bit error rate"}[metric], curves)


def line(x0, y0, x1, y1, more='stroke="#999"'):
    return f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" fill="none" {more}/>'


def dot(x, y, radius=5, fill="#333"):
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{fill}"/>'


def branch(state, bit):
    """Next state and the two coded bits of the code with the generators 7 and 5 (octal)."""
    first, second = state >> 1, state & 1
    return (bit << 1) | first, (bit ^ first ^ second, bit ^ second)


def trellis(title, bits=(1, 0, 1, 1, 0, 0), both_ways=False):
    """The trellis of the four-state code (7, 5), with the path of `bits`; with `both_ways` also where alpha and beta meet."""
    left, top, across, down, height = 90, 60, 100, 55, 310
    out = begin(WIDTH, height, title)

    def place(step, state):
        return left + across * step, top + down * state

    reached = {0}
    for step in range(len(bits)):
        following = set()
        ends = len(bits) - step - 1  # two zero bits end the path in state 0
        for state in sorted(reached):
            for bit in (0, 1) if ends >= 2 else (0,):
                after, _ = branch(state, bit)
                following.add(after)
                out.append(line(*place(step, state), *place(step + 1, after), 'stroke="#bbb"' + (' stroke-dasharray="5 4"' if bit else "")))
        reached = following
    state = 0
    for step, bit in enumerate(bits):
        after, coded = branch(state, bit)
        (x0, y0), (x1, y1) = place(step, state), place(step + 1, after)
        out.append(line(x0, y0, x1, y1, f'stroke="{COLOURS[1]}" stroke-width="3"' + (' stroke-dasharray="7 4"' if bit else "")))
        out.append(text((x0 + x1) / 2, top - 18, "middle", f"{coded[0]}{coded[1]}", f' fill="{COLOURS[1]}"'))
        state = after
    for state in range(4):
        out.append(text(left - 20, top + down * state + 4, "end", f"{state:02b}"))
        out += [dot(*place(step, state), 4) for step in range(len(bits) + 1)]
    y = top + 3 * down + 34
    if both_ways:
        middle = left + across * 3
        out.append(line(left, y, middle - 6, y, f'stroke="{COLOURS[0]}" stroke-width="3"') + text((left + middle) / 2, y - 6, "middle", "alpha: the past"))
        out.append(line(middle + across + 6, y, left + across * len(bits), y, f'stroke="{COLOURS[2]}" stroke-width="3"')
                   + text((middle + across + left + across * len(bits)) / 2, y - 6, "middle", "beta: the future"))
        out.append(text(middle + across / 2, y + 4, "middle", "gamma"))
    out.append(text(left, height - 14, "start", "Solid branches: bit 0. Dashed: bit 1. Above: the two coded bits of the path of " + "".join(map(str, bits)) + "."))
    return "\n".join(out + ["</svg>"]) + "\n"


def encoder(title):
    """The shift register of the code (7, 5)."""
    out = begin(WIDTH, 230, title)
    y, xs = 120, (230, 340, 450)
    out.append(line(110, y, 520, y) + text(100, y + 4, "end", "bits u"))
    for i, x in enumerate(xs[:2]):
        out.append(f'<rect x="{x + 30}" y="{y - 20}" width="50" height="40" fill="white" stroke="#333"/>' + text(x + 55, y + 4, "middle", "D"))
    for name, row, taps, colour in (("7 = 111", 60, (0, 1, 2), COLOURS[0]), ("5 = 101", 190, (0, 2), COLOURS[1])):
        out.append(line(xs[taps[0]] - 20, row, 560, row, f'stroke="{colour}" stroke-width="2"') + text(570, row + 4, "start", f"output {name}", f' fill="{colour}"'))
        for tap in taps:
            x = xs[tap] - 20 if tap < 2 else xs[tap] + 10
            out.append(line(x, y, x, row, f'stroke="{colour}" stroke-width="2"') + dot(x, y, 3))
            if tap:
                out.append(f'<circle cx="{x}" cy="{row}" r="9" fill="white" stroke="{colour}" stroke-width="2"/>' + text(x, row + 4, "middle", "+"))
    return "\n".join(out + ["</svg>"]) + "\n"


def butterfly(title, stages=3, information=(3, 5, 6, 7)):
    """The polar transform of 2^stages bits; information bits in colour."""
    left, top, across, down = 150, 60, 150, 34
    count = 2**stages
    out = begin(WIDTH, top + down * count + 40, title)
    for row in range(count):
        y = top + down * row
        shown = row in information
        out.append(line(left, y, left + across * stages, y) + text(left - 14, y + 4, "end", f"u{row} {'information' if shown else 'frozen: 0'}",
                                                                  f' fill="{COLOURS[0] if shown else "#777"}"'))
        out.append(text(left + across * stages + 14, y + 4, "start", f"d{row}"))
    for stage in range(stages):
        distance = 2**stage
        for row in range(count):
            if row & distance:
                continue
            x = left + across * (stage + 0.3 + 0.4 * (row % distance) / distance)
            upper, lower = top + down * row, top + down * (row + distance)
            out.append(line(x, upper, x, lower, 'stroke="#333"') + dot(x, lower, 3)
                       + f'<circle cx="{x:.1f}" cy="{upper}" r="8" fill="white" stroke="#333"/>' + text(x, upper + 4, "middle", "+"))
    return "\n".join(out + ["</svg>"]) + "\n"


SKETCHES = {
    "conv": lambda: encoder("The encoder of the code (7, 5): two delays, four states"),
    "viterbi": lambda: trellis("Trellis of the code (7, 5): the decoder finds the likeliest path"),
    "bcjr": lambda: trellis("Trellis of the code (7, 5): each branch is weighed by past, received bits and future", both_ways=True),
    "polar": lambda: butterfly("Polar transform of N = 8 bits with K = 4 information bits"),
}


def figures():
    """(name, SVG) of each figure."""
    for name, arguments in ERROR_RATES.items():
        yield name, error_rates(*arguments)
    for name, sketch in SKETCHES.items():
        yield name, sketch()


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    folder = pathlib.Path(sys.argv[1]) if sys.argv[1:] else ROOT / "docs" / "figures" / "openings"
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in figures():
        (folder / f"{name}.svg").write_text(content, encoding="utf-8")


if __name__ == "__main__":
    main()
