"""Where rows take their numbers from: results that are stored in curves/ and bench/results/, or fresh runs of the command."""
from __future__ import annotations

import functools
import json
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass

from .records import key_of, machine_of


def printable(text: object) -> str:
    """A text in one line that a terminal shows and does not obey, as warpband._error_rates has it, which is not always beside."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in str(text))


class ReproduceError(Exception):
    """What went wrong, in one line. What files hold may be in it."""

    def __init__(self, message: object):
        super().__init__(printable(message))


class UsageError(ReproduceError):
    """Used wrongly: exit code 2, as the command has it."""


def _tree_around(place: pathlib.Path) -> pathlib.Path | None:
    return next((folder for folder in place.parents if (folder / "curves").is_dir() and (folder / "bench/results").is_dir()), None)


def own_tree() -> pathlib.Path | None:
    """The source tree around this file, if it is in one. Programs are taken from there alone: the working folder may be a stranger's."""
    return _tree_around(pathlib.Path(__file__).resolve())


def root() -> pathlib.Path:
    """The source tree, which has scenarios and stored results: around this file, or around the current folder."""
    found = own_tree() or _tree_around(pathlib.Path.cwd() / "x")
    if found is None:
        raise ReproduceError("no curves/ and bench/results/ here: start this in Warpband's source tree")
    return found


def command() -> str:
    """The path of `warpband`: WARPBAND_COMMAND, or what one of the presets built."""
    tree = own_tree()
    for place in (os.environ.get("WARPBAND_COMMAND"), *([tree / "build/cuda/warpband", tree / "build/release/warpband"] if tree else [])):
        if place and os.access(place, os.X_OK):
            return str(place)
    raise ReproduceError("no warpband command: build it (scripts/quickstart.sh), or set WARPBAND_COMMAND")


def run_command(words: list[str], environment=None) -> None:
    """Runs a program that shows its progress on stderr."""
    code = subprocess.run(words, check=False, stdout=subprocess.DEVNULL, env=environment).returncode
    if code != 0:
        raise ReproduceError(f"{' '.join(words)}: ended with {code}")


@functools.cache
def info_of(program: str) -> dict:
    """What a command reports about itself and its machine."""
    done = subprocess.run([program, "info", "--json"], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise ReproduceError(f"{program} info --json: ended with {done.returncode}")
    return json.loads(done.stdout)


@functools.cache
def has_bench(program: str) -> bool:
    """Whether a command was built with its benchmarks. Without them `bench --help` works, and all else fails."""
    return subprocess.run([program, "bench", "--list", "--device", "cpu"], check=False, capture_output=True).returncode == 0


def read(path: pathlib.Path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ReproduceError(f"{path}: {error}") from None


@dataclass(frozen=True)
class Need:
    """A result that a row needs, and the run that makes it."""
    kind: str  # sim, model, bench, stream, profile, sweep, peer or finding
    name: str  # of curves/NAME.json (sim, model, sweep, finding), bench/peers/NAME.json (peer) or bench/results/NAME.json
    options: tuple[str, ...] = ()
    device: str = "any"  # "cuda": only a GPU can make it; "cpu": cores, whatever the device; "elsewhere": of another machine, as stored
    isa: str = ""  # WARPBAND_ISA of the run
    gpus: int = 1  # that a run with device "cuda" takes

    @property
    def takes_csi(self) -> bool:
        """Whether its channels come from a file of channel estimates."""
        return self.kind == "sweep" and "_file" in self.name

    @property
    def stored(self) -> str:
        folder = {"peer": "bench/peers"}.get(self.kind, "curves" if self.kind in ("sim", "model", "sweep", "finding") else "bench/results")
        return f"{folder}/{self.name}.json"

    def line(self, device="cuda:0") -> str:
        """The command that makes the stored result."""
        device = "cpu" if self.device in ("cpu", "elsewhere") else device
        words = [re.sub(r"(.*[|^()* ].*)", r"'\1'", word) for word in self.options]
        if self.kind == "sim":
            return f"warpband sim curves/{self.name}.toml --device {device} -o {self.stored} --force"
        if self.kind == "bench":
            return " ".join([*([f"WARPBAND_ISA={self.isa}"] if self.isa else []), "warpband bench", *words, "--device", device, "--json", self.stored])
        if self.kind == "stream":
            return f"warpband stream {' '.join(self.options) or f'curves/{self.name}.toml'} --json {self.stored}"
        if self.kind == "model":
            return " ".join(["warpband model", *words, "--json", self.stored])
        if self.kind == "sweep":
            return " ".join(["warpband reproduce li", *words, "--device", device])
        if self.kind == "peer":
            return f"g++ -std=c++20 -O3 -march=native bench/peers/{self.name}.cpp -o {self.name} && ./{self.name} \"$(git rev-parse --short=12 HEAD)\" > {self.stored}"
        if self.kind == "finding":
            return f"warpband reproduce findings --device {device}"
        return " ".join(["python3 scripts/ncu_bound.py", *words, "--output", self.stored])


class Data:
    """Results by name. `quick`: few frames, and only what runs in seconds on two cores; the rest is taken as stored."""

    def __init__(self, stored=False, quick=False, device="cpu", out: pathlib.Path | None = None, note=lambda line: None, csi=None):
        self.stored, self.quick, self.device, self.out, self.note, self.csi = stored, quick, device, out, note, csi
        self._held: dict[str, object] = {}

    # Error rates at which curves are compared. A quick run has too few frames for the documents' own: its distances are shown, not judged.
    @property
    def fers(self) -> tuple[float, ...]:
        return (0.1,) if self.quick else (1e-2, 1e-3)

    @property
    def bers(self) -> tuple[float, ...]:
        return (2e-2, 5e-3) if self.quick else (1e-4, 1e-5, 1e-6)

    def has(self, need: Need) -> bool:
        return self.runs(need) or (root() / need.stored).exists()

    def runs(self, need: Need) -> bool:
        """Whether `need` is run, not taken as stored."""
        return self._wants(need) and not self.obstacle(need)

    def obstacle(self, need: Need) -> str:
        """Why the command cannot make `need`, which this run would otherwise make; empty if nothing is in the way."""
        if not self._wants(need):
            return ""
        if need.kind == "bench" and not has_bench(command()):
            return "this command has no `warpband bench`: build it with -DWARPBAND_BENCH=ON"
        if need.isa and need.isa not in info_of(command())["cpu"]["instruction_sets"]:
            return f"this command has no kernels for the instruction set {need.isa}: build it with -DWARPBAND_ISAS=\"{need.isa};...\""
        if need.gpus > 1 and need.gpus > len(info_of(command())["cuda_devices"]):
            return f"it takes {need.gpus} GPUs, and this machine has {len(info_of(command())['cuda_devices'])}"
        return ""

    def _wants(self, need: Need) -> bool:
        if self.stored or need.device == "elsewhere" or need.kind in ("profile", "peer"):  # a profiler (scripts/ncu_bound.py), a program of its own
            return False
        if self.quick:
            return need.kind in ("sim", "model") or (need.kind == "sweep" and not need.takes_csi)
        return need.device != "cuda" or (self.device.startswith("cuda"))

    def get(self, need: Need):
        """The result as JSON, run or stored. A run that failed is not started again."""
        if need.name not in self._held:
            try:
                self._held[need.name] = read(self._run(need) if self.runs(need) else root() / need.stored)
            except ReproduceError as error:
                self._held[need.name] = error
        held = self._held[need.name]
        if isinstance(held, ReproduceError):
            raise held
        return held

    def benchmarks(self, *needs: Need) -> list[dict]:
        """Benchmarks of the needs' records; of two with the same axes on the same machine the later."""
        found: dict = {}
        for need in needs:
            if not self.has(need):
                continue
            record = self.get(need)
            for b in record["benchmarks"]:
                if "error" in b:
                    continue
                b = {**b, "file": f"{need.name}.json", "record": record}
                key = (machine_of(b), *key_of(b["op"], b["axes"], b["figure"]))
                if key not in found or found[key]["record"]["date"] <= record["date"]:
                    found[key] = b
        return list(found.values())

    def source(self, need: Need) -> str:
        """Machine, date and commit of a record; empty where there is none."""
        if not self.has(need):
            return ""
        record = self.get(need)
        machine, made = record["machine"], record.get("records", [record])[-1]
        gpus = list(dict.fromkeys(gpu["name"] for gpu in machine.get("gpus", ())))
        here = self.runs(need)
        by_cores = need.device == "cpu" or (need.device, need.kind) == ("elsewhere", "bench") or (here and need.device == "any" and self.device == "cpu")
        number = int(self.device.partition(":")[2] or 0) if here and self.device.startswith("cuda") else 0
        name = machine["cpu"] if by_cores or not (gpus or machine.get("device")) else gpus[min(number, len(gpus) - 1)] if gpus else machine["device"].split(", ", 1)[-1]
        date = made.get("date", "")[:10] or "no date"
        return f"{need.name}: {name}, {date}, commit {made['commit'][:8]}" + (", run here" if here else ", stored")

    def _run(self, need: Need) -> pathlib.Path:
        assert self.out is not None
        self.out.mkdir(parents=True, exist_ok=True)
        result = self.out / f"{need.name}.json"
        if need.kind == "sweep":
            from .sweep_iterations import run_channel, run_quick
            self.note(need.line(self.device))
            return run_quick(need.name, self.device, self.out) if self.quick else run_channel(need.name, self.device, self.out, self.csi)
        if need.kind == "finding":
            from .campaign import make
            self.note(need.line(self.device))
            return make(need.name.removeprefix("findings/"), self.device, self.out / "findings")
        run = [command(), need.kind]
        if need.kind == "sim":
            scenario = root() / f"curves/{need.name}.toml"
            run += [str(self._coarse(scenario) if self.quick else scenario), "--device", self.device, "-o", str(result), "--force"]
            if self.quick:
                run += ["--frame-errors", "8", "--max-frames", "24"]
        elif need.kind == "bench":
            run += [*need.options, "--device", "cpu" if need.device == "cpu" else self.device, "--json", str(result)]
        elif need.kind == "stream":
            run += [str(root() / f"curves/{need.name}.toml"), "--json", str(result)]
        else:
            run += [*need.options, "--json", str(result)]
        self.note(" ".join(run))
        run_command(run, os.environ | ({"WARPBAND_ISA": need.isa} if need.isa else {}))
        return result

    def _coarse(self, scenario: pathlib.Path) -> pathlib.Path:
        """The scenario with a third of its points."""
        text = re.sub(r"step = ([0-9.]+)", lambda step: f"step = {3 * float(step[1]):g}", scenario.read_text(encoding="utf-8"))
        path = self.out / scenario.name
        path.write_text(text, encoding="utf-8")
        return path
