#!/usr/bin/env python3
"""Table 3.1 and figures 3.1 to 3.5 and 3.8 of li-thesis (docs/li-thesis.md): how many CG iterations cost less than 1 dB
against Cholesky at a block error rate of 1e-2, for 128, 256 and 512 antennas and 8, 16, 32 and 64 users.

usage: li_thesis.py run {rayleigh,c2,b1} [--downlink] [--quick] [--configurations 128x8,256x8] [--folder curves]
                        [--program build/release/warpband] [--device cpu] [--threads N] [--frame-errors 100]
       li_thesis.py run file --csi FILE --configurations 68x4 [...]
       li_thesis.py table RESULT.json [RESULT.json ...]
       li_thesis.py figures RESULT.json [--downlink RESULT.json] [--out FOLDER]
       li_thesis.py file RESULT.json [--out FOLDER]
       li_thesis.py distance RESULT.json "LABEL" "LABEL"

`run` writes a scenario and runs it with `warpband sim`, again and again with more points, until the table is complete:
Cholesky's points halve the distance around 1e-2 down to 0.5 dB, then CG has points from 1 dB below that to 1.5 dB
above, for I around the paper's: the largest that loses more than 1 dB, the first that loses less, and one more. A run that was killed goes on where it was:
the result holds all its state. --quick: two small configurations and 30 drops in error at each point, for a look.
`run file` takes the channels from FILE, in which "{size}" stands for the configuration; `file` draws figures 3.4 (68x4) and
3.5 (84x3) of its result.
`table` prints the table, the paper's beside; `figures` writes CSV and, with matplotlib, PNG; `distance` the dB between two
curves at 1e-2.
"""
import argparse
import csv
import json
import math
import os
import subprocess
import sys

RATE = 1e-2
PAPER = {(128, 8): 3, (128, 16): 3, (128, 32): 5, (128, 64): 8, (256, 8): 3, (256, 16): 3, (256, 32): 4, (256, 64): 6,
         (512, 8): 3, (512, 16): 3, (512, 32): 4, (512, 64): 5}
QUICK = [(128, 8), (128, 16)]
CHANNELS = {
    "rayleigh": ("independent Rayleigh fading", 'type = "rayleigh"'),
    "c2": ("WINNER II C2, no line of sight", 'type = "cdl"\nprofile = "c2-nlos"'),
    "b1": ("WINNER II B1, line of sight", 'type = "cdl"\nprofile = "b1-los"'),
    "file": ("channel estimates of a file", 'type = "file"'),
}
STEP = 0.5  # dB, of the last points around the crossing
NAMES = {"cholesky": "Cholesky", "cg": "CG", "mf": "MF"}


def label_of(size, solver, iterations=0):
    return f"{size[0]}x{size[1]} {NAMES[solver]}" + (f" {iterations}" if iterations else "")


class Curves:
    """What a result holds: label -> sorted [(snr_db, bler, low, high, frames)]."""

    def __init__(self, path, new=False):
        self.points, self.asked = {}, {}
        if new and not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            self.result = json.load(file)
        # label -> SNRs that are begun or done
        for curve in self.result["curves"] + self.result.get("unfinished", []):
            self.asked.setdefault(curve["label"], set()).update(p["snr_db"] for p in curve["points"])
        for curve in self.result["curves"]:
            self.points[curve["label"]] = sorted(
                (p["snr_db"], p["codewords"]["bler"], *p["codewords"]["bler_interval"], p["frames"]) for p in curve["points"])

    def of(self, *key):
        return self.points.get(label_of(*key), [])

    def sizes(self):
        found = {label.split()[0] for label in self.asked}
        return sorted((tuple(map(int, name.split("x"))) for name in found), key=lambda size: (size[1], size[0]))


def crossing(points, column=1):
    """SNR at which the rate, or an end of its interval, falls through 1e-2, on a line in dB and log10; None outside."""
    for (x0, *_), (x1, *_), r0, r1 in zip(points, points[1:], *([p[column] for p in part] for part in (points, points[1:]))):
        if r0 >= RATE > r1:
            r1 = r1 or points[[p[0] for p in points].index(x1)][3]  # no error seen: the end of its interval
            return x0 + (x1 - x0) * math.log(r0 / RATE) / math.log(r0 / r1)
    return None


def loss(points, reference):
    """(dB, least, most) of the crossing behind the reference's; None where it does not cross. The ends are those of both
    intervals on the same side of the points; they are further apart than 95% asks for."""
    here, there = crossing(points), crossing(reference)
    if here is None or there is None:
        return None
    ends = [crossing(p, c) for p in (points, reference) for c in (2, 3)]
    spread = sum((b - a) / 2 if a is not None and b is not None else STEP for a, b in (ends[:2], ends[2:]))
    return here - there, here - there - spread, here - there + spread


def first_guess(size, downlink):
    """SNR in dB at which independent entries of H leave about 12 dB behind the equaliser."""
    antennas, users = size
    return round(12 + 10 * math.log10(users / (antennas - users)))


def wanted(curves, held_sizes, size, downlink):
    """[(size, solver, iterations, points)] of all that is held and of what `size` lacks, in order; and whether anything is new."""
    todo, new = [], False

    def add(size, solver, iterations, points):
        nonlocal new
        held = curves.of(size, solver, iterations)
        new = new or any(all(abs(x - p[0]) > 1e-6 for p in held) for x in points
                         if not any(p[0] < x and p[1] < RATE / 2 for p in held))
        begun = curves.asked.get(label_of(size, solver, iterations), set())
        todo.append((size, solver, iterations, sorted({round(x, 6) for x in points} | begun)))
        return held

    def plan():
        held = curves.of(size, "cholesky")
        points = [p[0] for p in held] or [first_guess(size, downlink)]
        above = [p[0] for p in held if p[1] >= RATE]
        below = [p[0] for p in held if p[1] < RATE]
        if held and not below:
            points.append(max(points) + 1)
        elif held and not above:
            points.append(min(points) - 1)
        elif held and min(below) - max(above) > STEP + 1e-6:
            points.append(round((min(below) + max(above)) / 2 / STEP) * STEP)
        add(size, "cholesky", 0, points)
        if not above or not below or min(below) - max(above) > STEP + 1e-6:
            return
        first = max(above)
        window = [first + STEP * i for i in range(-2, 5)]
        add(size, "cholesky", 0, window[:2])
        todo.pop(-2)
        # From one below the paper's on: down while that is enough, up while it is not, and one more.
        start, kept = max(1, PAPER.get(size, 3) - 1), {}

        def is_enough(i):
            if i not in kept:
                kept[i] = add(size, "cg", i, window)
            lost = loss(kept[i], curves.of(size, "cholesky"))
            return lost is not None and lost[0] < 1

        i = start
        while is_enough(i) and i > 1:
            i -= 1
        i = start
        while not is_enough(i) and kept[i] and i < size[1]:
            i += 1
        if is_enough(i) and i < size[1]:
            is_enough(i + 1)
        if downlink and size[1] == 8:
            add(size, "mf", 0, window)

    plan()
    planned = {label_of(other, solver, iterations) for other, solver, iterations, _ in todo}
    for label, points in curves.asked.items():  # nothing that a result holds may be left out
        name, solver, *iterations = label.split()
        other = tuple(map(int, name.split("x")))
        if label not in planned and (other == size or other in held_sizes):
            todo.append((other, next(key for key, word in NAMES.items() if word == solver),
                         int(iterations[0]) if iterations else 0, sorted(points)))
    return todo, new


def scenario(channel, downlink, frame_errors, path, result, todo, csi=None):
    name, settings = CHANNELS[channel]
    lines = [f"# warpband sim {path} -o {result}",
             f"# Written by scripts/li_thesis.py run {channel}{' --downlink' if downlink else ''}",
             f'title = "li-thesis, {"precoding" if downlink else "detection"}: {name}, 128 subcarriers, 16-QAM, rate 5/6"',
             "seed = 1", "", "[code]", 'type = "conv"', 'rate = "5/6"', "k = 420 # 512 coded bits with the tail", "", "[modem]",
             'modulation = "16qam"', "", "[channel]", settings, ""]
    if downlink:
        lines += ["[massive]", 'direction = "downlink"', ""]
    lines += ["[stop]", f"frame_errors = {frame_errors}", "max_frames = 3000", f"below_bler = {RATE / 2:g}"]
    for size, solver, iterations, points in todo:
        lines += ["", "[[curve]]", f'label = "{label_of(size, solver, iterations)}"',
                  f"massive.antennas = {size[0]}", f"massive.users = {size[1]}", f'massive.solver = "{solver}"']
        if iterations:
            lines.append(f"massive.iterations = {iterations}")
        if csi:
            name = csi.replace("{size}", f"{size[0]}x{size[1]}")
            lines += ["massive.subcarriers = 128", f"channel.file = {json.dumps(os.path.relpath(name, os.path.dirname(path) or '.'))}"]
        lines.append(f"sweep.snr_db = [{', '.join(f'{x:g}' for x in points)}]")
    return "\n".join(lines) + "\n"


def run(options):
    if (options.channel == "file") != bool(options.csi) or options.csi and not options.configurations:
        sys.exit("li_thesis.py: error: file goes with --csi FILE and --configurations")
    sizes = QUICK if options.quick else sorted(PAPER, key=lambda size: size[0] * size[1])
    if options.configurations:
        sizes = [tuple(map(int, text.split("x"))) for text in options.configurations.split(",")]
    name = f"li_thesis_{options.channel}{'_downlink' if options.downlink else ''}{'_quick' if options.quick else ''}"
    path, result = (os.path.join(options.folder, name + end) for end in (".toml", ".json"))
    errors = options.frame_errors or (30 if options.quick else 100)
    for size in sizes:
        while step(options, size, path, result, errors):
            pass
        print_table([result], size)


def step(options, size, path, result, errors):
    """Runs what a configuration lacks now; whether there was something."""
    curves = Curves(result, new=True)
    held = [other for other in curves.sizes() if other != size]
    todo, new = wanted(curves, held, size, options.downlink)
    if not new:
        return False
    with open(path, "w", encoding="utf-8") as file:
        file.write(scenario(options.channel, options.downlink, errors, path, result, todo, options.csi))
    command = [options.program, "sim", *(["--resume", result, path] if os.path.exists(result) else [path, "-o", result])]
    if options.device:
        command += ["--device", options.device]
    if options.threads:
        command += ["--threads", str(options.threads)]
    code = subprocess.run(command + ["--quiet"], stdout=subprocess.DEVNULL, check=False).returncode
    if code != 0:
        sys.exit(f"li_thesis.py: error: {' '.join(command)} ended with {code}")
    return True


def minimum(curves, size):
    """The first I that loses less than 1 dB, and [(I, loss)] of all; I is None where none was found."""
    rows, first = [], None
    for iterations in range(1, size[1] + 1):
        points = curves.of(size, "cg", iterations)
        if not points:
            continue
        rows.append((iterations, loss(points, curves.of(size, "cholesky"))))
        if first is None and rows[-1][1] is not None and rows[-1][1][0] < 1:
            first = iterations
    return first, rows


def print_table(paths, only=None):
    for path in paths:
        curves = Curves(path)
        if only is None:
            print(f"\n{path}: {curves.result['scenario']['title']}\n")
            print("| antennas x users | paper | I | Cholesky at 1e-2, SNR dB | loss in dB by I |\n|---|---|---|---|---|")
        for size in curves.sizes():
            if only not in (None, size):
                continue
            at = crossing(curves.of(size, "cholesky"))
            first, rows = minimum(curves, size)
            def words(i, lost):
                if lost is not None:
                    return f"{lost[0]:.2f} ({lost[1]:.2f} .. {lost[2]:.2f})"
                reached = at is not None and curves.of(size, "cg", i)[-1][0] >= at + 1.5 - 1e-9
                return "above 1.5" if reached else "unfinished"

            losses = ", ".join(f"{i}: {words(i, lost)}" for i, lost in rows)
            print(f"| {size[0]}x{size[1]} | {PAPER.get(size, '-')} | {first or '-'} | {'-' if at is None else f'{at:.2f}'} | {losses} |", flush=True)


def figure(out, name, title, panels):
    """panels: [(heading, [(label, points)])]. CSV, and PNG where there is matplotlib."""
    with open(os.path.join(out, name + ".csv"), "w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(["panel", "curve", "snr_db", "bler", "bler_low", "bler_high", "frames"])
        for heading, curves in panels:
            for label, points in curves:
                rows.writerows([heading, label, *p] for p in points)
    try:
        import matplotlib
    except ImportError:
        print("no matplotlib: no PNG", file=sys.stderr)
        return
    matplotlib.use("Agg")
    from matplotlib import pyplot
    picture, all_axes = pyplot.subplots(1, len(panels), figsize=(7.2 * len(panels), 4.8), squeeze=False, layout="constrained")
    for axes, (heading, curves) in zip(all_axes[0], panels):
        for label, points in curves:
            seen = [p for p in points if p[1] > 0]
            if seen:
                x, rate, low, high = (list(column) for column in list(zip(*seen))[:4])
                axes.errorbar(x, rate, yerr=[[r - e for r, e in zip(rate, low)], [e - r for r, e in zip(rate, high)]],
                              marker="o", markersize=3, linewidth=1.2, capsize=2, label=label,
                              linestyle="-" if "Cholesky" in label else "--")
        axes.axhline(RATE, color="#808080", linewidth=0.6)
        axes.set(yscale="log", xlabel="SNR (dB)", ylabel="block error rate", title=heading)
        axes.grid(True, which="both", alpha=0.3)
        if curves:
            axes.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    picture.suptitle(title)
    picture.savefig(os.path.join(out, name + ".png"), dpi=90)
    pyplot.close(picture)


def figures(options):
    os.makedirs(options.out, exist_ok=True)
    up = Curves(options.result)
    down = Curves(options.downlink) if options.downlink else None

    def curves_of(curves, users, antennas=(128, 256, 512), solvers=("cholesky",)):
        """Of each size the solvers, and CG with the least I, one less and one more."""
        found = []
        for size in ((b, users) for b in antennas):
            first, _ = minimum(curves, size)
            keys = [(size, solver) for solver in solvers]
            keys += [(size, "cg", i) for i in ((first - 1, first, first + 1) if first else ()) if i > 0]
            found += [(label_of(*key), curves.of(*key)) for key in keys if curves.of(*key)]
        return found

    for name, users in (("fig3_1", 16), ("fig3_2", 32), ("fig3_3", 64)):
        panels = [("(a) detection", curves_of(up, users))]
        if down:
            panels.append(("(b) precoding", curves_of(down, users)))
        figure(options.out, name, f"U = {users}", panels)
    if down:
        figure(options.out, "fig3_8", "Precoding, MMSE and matched filter",
               [(f"{antennas}x8", curves_of(down, 8, (antennas,), ("cholesky", "mf"))) for antennas in (128, 256, 512)])


def file_figures(options):
    os.makedirs(options.out, exist_ok=True)
    curves = Curves(options.result)
    for name, size in (("fig3_4", (68, 4)), ("fig3_5", (84, 3))):
        keys = [(size, "cholesky")] + [(size, "cg", i) for i in range(1, size[1] + 1)]
        held = [(label_of(*key), curves.of(*key)) for key in keys if curves.of(*key)]
        figure(options.out, name, f"{size[0]}x{size[1]}, channel estimates of a file in RENEW's layout that was made, not measured",
               [("detection", held)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    a = commands.add_parser("run")
    a.add_argument("channel", choices=sorted(CHANNELS))
    a.add_argument("--downlink", action="store_true")
    a.add_argument("--quick", action="store_true")
    a.add_argument("--configurations")
    a.add_argument("--csi", metavar="FILE")
    a.add_argument("--folder", default="curves")
    a.add_argument("--program", default="build/release/warpband")
    a.add_argument("--device")
    a.add_argument("--threads", type=int)
    a.add_argument("--frame-errors", type=int)
    a = commands.add_parser("table")
    a.add_argument("results", nargs="+")
    a = commands.add_parser("figures")
    a.add_argument("result")
    a.add_argument("--downlink")
    a.add_argument("--out", default="build/li_thesis")
    a = commands.add_parser("file")
    a.add_argument("result")
    a.add_argument("--out", default="build/li_thesis")
    a = commands.add_parser("distance")
    a.add_argument("result")
    a.add_argument("curve")
    a.add_argument("reference")
    options = parser.parse_args()
    try:
        if options.command == "run":
            run(options)
        elif options.command == "table":
            print_table(options.results)
        elif options.command == "figures":
            figures(options)
        elif options.command == "file":
            file_figures(options)
        else:
            points = Curves(options.result).points
            lost = loss(points[options.curve], points[options.reference])
            print("no crossing" if lost is None else f"{lost[0]:.3f} dB ({lost[1]:.3f} .. {lost[2]:.3f})")
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"li_thesis.py: error: {error}")


if __name__ == "__main__":
    main()
