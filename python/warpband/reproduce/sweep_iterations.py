"""Which CG iterations cost less than 1 dB against Cholesky at a block error rate of 1e-2 (table 3.1 of K. Li's thesis), found by
`warpband sim` on scenarios with more and more points.

Cholesky's points halve the distance around 1e-2 down to 0.5 dB. Then CG has points from 1 dB below that to 1.5 dB above, for I around
the thesis': the largest that loses more than 1 dB, the first that loses less, and one more. A run that was killed goes on where it
was: the result holds all its state.
"""
import hashlib
import json
import math
import os
import subprocess
import sys

from .data import ReproduceError, command, own_tree, read, root, run_command
from .printed import LI_ITERATIONS

RATE = 1e-2
FILE_SIZES = [(68, 4), (84, 3)]  # figures 3.4 and 3.5
QUICK = [(128, 8), (256, 8), (512, 8), (128, 16), (128, 32), (128, 64)]
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
    """What a result (its JSON, or None) holds: label -> sorted [(snr_db, bler, low, high, frames)]. `rate`: the block error rate at which
    its curves are compared."""

    def __init__(self, result, rate=RATE):
        self.rate = rate
        self.points, self.asked = {}, {}
        self.result = result or {"curves": []}
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


def crossing(points, column=1, rate=RATE):
    """SNR at which the block error rate, or an end of its interval, falls through `rate`, on a line in dB and log10; None outside."""
    for (x0, *_), (x1, *_), r0, r1 in zip(points, points[1:], *([p[column] for p in part] for part in (points, points[1:]))):
        if r0 >= rate > r1:
            r1 = r1 or points[[p[0] for p in points].index(x1)][3]  # no error seen: the end of its interval
            return x0 + (x1 - x0) * math.log(r0 / rate) / math.log(r0 / r1)
    return None


def loss(points, reference, rate=RATE):
    """(dB, least, most) of the crossing behind the reference's; None where it does not cross. The ends are those of 95 % if the
    drops of both were independent. They share seeds, so that the loss is known better."""
    here, reference_db = crossing(points, rate=rate), crossing(reference, rate=rate)
    if here is None or reference_db is None:
        return None
    ends = [crossing(p, c, rate) for p in (points, reference) for c in (2, 3)]
    spread = math.hypot(*((b - a) / 2 if a is not None and b is not None else STEP for a, b in (ends[:2], ends[2:])))
    return here - reference_db, here - reference_db - spread, here - reference_db + spread


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
        start, kept = max(1, LI_ITERATIONS.get(size, 3) - 1), {}

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
            add(size, "mf", 0, window + [first + x for x in (5, 8, 11, 14)])  # to its floor

    plan()
    planned = {label_of(other, solver, iterations) for other, solver, iterations, _ in todo}
    for label, points in curves.asked.items():  # nothing that a result holds may be left out
        name, solver, *iterations = label.split()
        other = tuple(map(int, name.split("x")))
        if label not in planned and (other == size or other in held_sizes):
            todo.append((other, next(key for key, word in NAMES.items() if word == solver),
                         int(iterations[0]) if iterations else 0, sorted(points)))
    return todo, new


def csi_file(name, size):
    """The file of channel estimates for `size`."""
    return name.replace("{size}", f"{size[0]}x{size[1]}")


def digest(files):
    """Twelve hexadecimal digits of what files hold."""
    whole = hashlib.sha256()
    for name in files:
        with open(name, "rb") as file:
            for part in iter(lambda: file.read(1 << 20), b""):
                whole.update(part)
        whole.update(b"\0")
    return whole.hexdigest()[:12]


def scenario(channel, downlink, frame_errors, todo, csi, folder):
    name, settings = CHANNELS[channel]
    stem = f"li_thesis_{channel}{'_downlink' if downlink else ''}"
    lines = [f"# warpband sim curves/{stem}.toml -o curves/{stem}.json", "# Written by warpband reproduce li",
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
            lines += ["massive.subcarriers = 128", f"channel.file = {json.dumps(os.path.relpath(csi_file(csi, size), folder))}"]
        lines.append(f"sweep.snr_db = [{', '.join(f'{x:g}' for x in points)}]")
    return "\n".join(lines) + "\n"


def channel_of(name):
    """li_thesis_c2_downlink: ("c2", True)."""
    words = name.removeprefix("li_thesis_").split("_")
    return words[0], words[-1] == "downlink"


def simulate(scenario_file, result, options):
    run = [command(), "sim", *(["--resume", str(result), str(scenario_file)] if result.exists() else [str(scenario_file), "-o", str(result)]), *options]
    run_command(run)


def soundings(sizes, folder):
    """Files of channel estimates in RENEW's layout that stand in for measured ones, by name with {size}."""
    tree = own_tree()
    if tree is None:
        raise ReproduceError("channel estimates are made by a script of the source tree, and this is installed: give --csi FILE, or start the "
                             "command of the tree's build folder")
    folder.mkdir(parents=True, exist_ok=True)
    for seed, (antennas, users) in enumerate(sizes, 1):
        file = folder / f"{antennas}x{users}.hdf5"
        if not file.exists():
            subprocess.run([sys.executable, "-I", str(tree / "scripts/make_sounding.py"), str(file), str(antennas), str(users), "--seed", str(seed)], check=True)
    return str(folder / "{size}.hdf5")


def run_channel(name, device, folder, csi=None):
    """Runs all of a channel, or what a killed run left; the result's path."""
    channel, downlink = channel_of(name)
    sizes, errors = (FILE_SIZES, 50) if channel == "file" else (sorted(LI_ITERATIONS, key=lambda size: size[0] * size[1]), 100)
    if channel == "file":
        if csi:  # results of other channels are not resumed, nor of a file that has changed
            folder = folder / f"csi-{digest(csi_file(csi, size) for size in FILE_SIZES)}"
            folder.mkdir(parents=True, exist_ok=True)
        csi = csi or soundings(sizes, root() / "build/soundings")
    scenario_file, result = folder / f"{name}.toml", folder / f"{name}.json"
    for size in sizes:
        while True:
            curves = Curves(read(result) if result.exists() else None)
            todo, new = wanted(curves, [other for other in curves.sizes() if other != size], size, downlink)
            if not new:
                break
            scenario_file.write_text(scenario(channel, downlink, errors, todo, csi, folder), encoding="utf-8")
            simulate(scenario_file, result, ["--device", device])
    return result


def run_quick(name, device, folder):
    """A few drops of small sizes: enough to draw and to compare, not to decide."""
    channel, downlink = channel_of(name)
    todo = []
    for size in QUICK:
        start = first_guess(size, downlink)
        points = [start - 2, start, start + 2, start + 5]
        keys = [("cholesky", 0)] + [("cg", i) for i in (LI_ITERATIONS[size] - 1, LI_ITERATIONS[size], LI_ITERATIONS[size] + 2)]
        todo += [(size, solver, i, points) for solver, i in keys + ([("mf", 0)] if downlink and size[1] == 8 else [])]
    scenario_file, result = folder / f"{name}.toml", folder / f"{name}.json"
    scenario_file.write_text(scenario(channel, downlink, 3, todo, None, folder), encoding="utf-8")
    result.unlink(missing_ok=True)
    simulate(scenario_file, result, ["--device", device, "--max-frames", "4"])
    return result


def minimum(curves, size):
    """The first I that loses less than 1 dB, and [(I, loss)] of all; I is None where none was found."""
    rows, first = [], None
    for iterations in range(1, size[1] + 1):
        points = curves.of(size, "cg", iterations)
        if not points:
            continue
        rows.append((iterations, loss(points, curves.of(size, "cholesky"), curves.rate)))
        if first is None and rows[-1][1] is not None and rows[-1][1][0] < 1:
            first = iterations
    return first, rows
