"""The runs behind docs/findings.md, and the short results that are stored of them.

``PYTHONPATH=python/warpband python3 -m reproduce.campaign --device cuda:0 --seconds 380`` runs all of them by priority until its time is
over. A result that is there is resumed. ``warpband reproduce findings`` runs one after the other instead, without a limit.

A run of ``warpband sim`` over a thousand curves has a megabyte of settings. What is stored has a line for each curve: what was swept, and
counts. The scenario in ``curves/findings/`` has the rest.
"""
from __future__ import annotations

import argparse
import json
import pathlib
import signal
import subprocess
import sys
import tarfile
import time

from .data import ReproduceError, command, read, root, run_command

# By priority: name, seconds on an H200 at most. Times of detectors are measured with nothing beside them.
SIMULATED = [("clip", 90), ("jacobi", 60), ("residual", 40), ("tree", 150), ("windows", 150), ("stbc", 90), ("tree_correlated", 150),
             ("clip_mtt", 40)]
SIZES = [(2, 2), (4, 4), (8, 4), (8, 8)]  # receive antennas, streams
POINTS = {4: "qpsk", 16: "16qam", 64: "64qam"}
AXES = ("snr_db", "ebn0_db")
TOGETHER = 3  # runs side by side on a device: one waits for its host while another counts


def scenario_of(name: str) -> pathlib.Path:
    return root() / f"curves/findings/{name}.toml"


# ---------------------------------------------------------------- what is stored
def counts_of(axis: str, point: dict) -> list:
    """Axis, frames and errors of a point. With massive MIMO: codewords and errors of frames, from which the interval follows."""
    if "codewords" in point:
        words = point["codewords"]
        return [round(point[axis], 6), point["frames"], words["codewords"], words["errors"], words["errors_squared"]]
    return [round(point[axis], 6), point["frames"], point["frame_errors"], point["bits"], point["bit_errors"]]


def short(result: dict, name: str) -> dict:
    """What is stored of a result of `warpband sim`. Points at which almost all frames fail are left out before the last of them."""
    curves = []
    for c in result["curves"]:
        sweep = c["config"]["sweep"]
        axis = next(a for a in AXES if a in sweep)
        swept = {key.rpartition(".")[2]: value for key, value in sweep.get("parameters", {}).items()}
        kept = {"family": sweep.get("family", c["label"]), "parameters": swept, "axis": axis}
        if "target" in c:
            target = c["target"]
            kept["target"] = [target["fer"], *(None if target[end] is None else round(target[end], 4) for end in ("db", "low_db", "high_db")), target["frames"]]
        else:
            points = [counts_of(axis, p) for p in c["points"]]
            full = [p for p in points if p[2] > 0.9 * p[1]] if "codewords" not in c["points"][0] else []
            kept |= {"codewords": True} if "codewords" in c["points"][0] else {}
            kept["points"] = [p for p in points if p not in full[:-1]]
        curves.append(kept)
    return {"warpband": result["warpband"], "machine": result["machine"], "scenario": f"curves/findings/{name}.toml",
            "complete": result["complete"], "curves": curves}


def write_lines(path: pathlib.Path, content: dict, list_name: str) -> None:
    """JSON with an entry of the list in each line, replaced in one step."""
    head = {key: value for key, value in content.items() if key != list_name}
    lines = ",\n".join(json.dumps(entry, separators=(",", ":")) for entry in content[list_name])
    text = json.dumps(head)[:-1] + f', "{list_name}": [\n{lines}\n]}}\n'
    new = path.with_name(f"{path.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


# ---------------------------------------------------------------- runs
def sim_words(name: str, device: str, full: pathlib.Path, options=()) -> list[str]:
    given = ["--resume", str(full), str(scenario_of(name))] if full.exists() else [str(scenario_of(name)), "-o", str(full)]
    return [command(), "sim", *given, "--device", device, "--quiet", *options]


def store(name: str, full: pathlib.Path, folder: pathlib.Path) -> pathlib.Path | None:
    """Writes what is stored of a result that has a curve."""
    if not full.exists():
        return None
    result = read(full)
    if not result["curves"]:
        return None
    write_lines(folder / f"{name}.json", short(result, name), "curves")
    return folder / f"{name}.json"


def detector_times(device: str, folder: pathlib.Path, seconds=8.0, frames=400) -> pathlib.Path:
    """Times of all detectors, by `warpband choose` on a cell for each number of antennas and modulation. Its error rates are not used."""
    entries, info = [], {}
    for rx, streams in SIZES:
        for qam, word in POINTS.items():
            cell, found = folder / f"times_{rx}x{streams}_{word}.toml", folder / f"times_{rx}x{streams}_{word}.json"
            cell.write_text(f'[code]\ntype = "wimax-ldpc"\nn = 2304\n[modem]\nmodulation = "{word}"\n[channel]\ntype = "rayleigh"\n'
                            f'[mimo]\nstreams = {streams}\nrx_antennas = {rx}\n[detector]\ntype = "mmse"\n[sweep]\nsnr_db = [10, 20]\n', encoding="utf-8")
            if not found.exists():
                try:
                    run_command([command(), "choose", str(cell), "--fer", "0.5", "--width", "8", "--max-frames", str(frames), "--max-seconds",
                                 f"{seconds:g}", "--json", str(found), "--device", device, "--quiet"])
                except ReproduceError as error:  # none reached the error rate in time: the cell has no times
                    print(error, file=sys.stderr)
                    continue
            result = read(found)
            info = {"warpband": result["warpband"], "machine": result["machine"]}
            for s in result["settings"]:
                detector = s["settings"]["detector"]
                if s.get("detect_us") and detector["type"] in ("mmse", "ep", "nway", "mtt", "ml"):
                    entries.append({"antennas": f"{rx}x{streams}", "qam": qam, "detector": detector["type"], "ways": detector.get("ways"),
                                    "iterations": detector.get("iterations"), "us": s["detect_us"]})
    best: dict = {}  # of detectors that are listed with several decoders or clips: the least time
    for e in entries:
        key = tuple(v for k, v in e.items() if k != "us")
        best[key] = min(best.get(key, e), e, key=lambda one: one["us"])
    content = {**info, "unit": "us of a frame of 2304 coded bits, in large batches", "times": list(best.values())}
    write_lines(folder / "times.json", content, "times")
    return folder / "times.json"


def make(name: str, device: str, folder: pathlib.Path) -> pathlib.Path:
    """One of the results, in full: what `warpband reproduce findings` runs."""
    folder.mkdir(parents=True, exist_ok=True)
    if name == "times":
        return detector_times(device, folder, 60.0, 4000)
    if name == "spectrum":
        from . import spectrum
        return spectrum.make(folder)
    full = folder / f"{name}.full.json"
    run_command(sim_words(name, device, full))
    path = store(name, full, folder)
    assert path is not None
    return path


class Run:
    """A simulation under way."""

    def __init__(self, name: str, device: str, folder: pathlib.Path, seconds: float, options):
        self.name, self.full, self.end, self.begin = name, folder / f"{name}.full.json", time.monotonic() + seconds, time.monotonic()
        self.process = subprocess.Popen(sim_words(name, device, self.full, options), stdout=subprocess.DEVNULL)

    def stop(self) -> None:
        """The result is written, and holds what is needed to go on."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)


def campaign(device: str, folder: pathlib.Path, seconds: float, names: list[str], together: int, options, times: bool) -> None:
    """All runs by priority until the time is over, each no longer than its share."""
    end = time.monotonic() + seconds
    folder.mkdir(parents=True, exist_ok=True)
    begun = time.monotonic()

    def say(text):
        print(f"{time.monotonic() - begun:6.1f} s  {text}", flush=True)

    if times:
        detector_times(device, folder, 4.0, 400)
        say("times of detectors")
    spectra = None
    if "spectrum" in names and not (folder / "spectrum.json").exists():  # by cores of the host, beside the device
        spectra = subprocess.Popen([sys.executable, "-c", f"import pathlib; from reproduce import spectrum; spectrum.make(pathlib.Path({str(folder)!r}))"])
    waiting, under_way = [(n, s) for n, s in SIMULATED if n in names], []
    while waiting or under_way:
        moment = time.monotonic()
        while waiting and len(under_way) < together and moment < end:
            name, share = waiting.pop(0)
            under_way.append(Run(name, device, folder, min(share, end - moment), options))
            say(f"{name} begins")
        if moment >= end:
            waiting = []
        for run in list(under_way):
            if moment >= run.end:
                run.stop()
            if run.process.poll() is not None:
                under_way.remove(run)
                path = store(run.name, run.full, folder)
                held = read(run.full) if run.full.exists() else {"curves": [], "complete": False}
                say(f"{run.name} ends with {run.process.returncode} after {moment - run.begin:.1f} s: {len(held['curves'])} curves, "
                    f"{'complete' if held['complete'] else 'not complete'}, {path.stat().st_size if path else 0} bytes")
        time.sleep(0.05)
    if spectra is not None:
        try:
            say(f"spectrum ends with {spectra.wait(max(0.0, end - time.monotonic()))}")
        except subprocess.TimeoutExpired:  # what is done is stored, and the next run begins anew
            spectra.terminate()
            say("spectrum is not complete")


def archive(folder: pathlib.Path, to: pathlib.Path) -> None:
    """Two files: what is stored, and the results that a run goes on from."""
    to.mkdir(parents=True, exist_ok=True)
    for name, kept in (("stored", lambda file: ".full" not in file.name), ("full", lambda file: ".full" in file.name)):
        with tarfile.open(to / f"findings_{name}.tar.gz", "w:gz") as files:
            for file in sorted(folder.glob("*.json")):
                if kept(file):
                    files.add(file, file.name)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python3 -m reproduce.campaign", description=__doc__.split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="of curves/findings/; default: all")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--seconds", type=float, default=380.0, help="of all runs together")
    parser.add_argument("--together", type=int, default=TOGETHER, help="simulations side by side")
    parser.add_argument("--out", type=pathlib.Path, default=None, help="folder of results; default build/findings")
    parser.add_argument("--frame-errors", type=int, help="in place of the scenarios'")
    parser.add_argument("--max-frames", type=int, help="in place of the scenarios'")
    parser.add_argument("--no-times", action="store_true", help="without times of detectors")
    parser.add_argument("--archive", type=pathlib.Path, help="folder for two archives of the results")
    given = parser.parse_args()
    options = [word for name, value in (("--frame-errors", given.frame_errors), ("--max-frames", given.max_frames)) if value is not None
               for word in (name, str(value))]
    known = [*(name for name, _ in SIMULATED), "spectrum"]
    names = given.names or known
    if unknown := set(names) - set(known):
        parser.error(f"{', '.join(sorted(unknown))}: expected names among {', '.join(known)}")
    try:
        folder = given.out or root() / "build/findings"
        campaign(given.device, folder, given.seconds, names, given.together, options, not given.no_times)
        if given.archive:
            archive(folder, given.archive)
    except ReproduceError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
