#!/usr/bin/env python3
"""Each option builds with the others at their defaults. Usage: options.py [NAME...]

Configures the combinations below and parses (-fsyntax-only) the units that differ from those of a combination before: in their sources, in
the macros that their files mention, or in the libraries' headers that they find. GCC's units with default options are taken as compiled, as
scripts/test.sh has just done. Members of a unity unit are parsed together, those of tests alone. Not covered: the linker, and options of the
compiler alone (WARPBAND_HARDEN, WARPBAND_SANITIZE).
"""
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
COMMON = ["-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON", "-DWARPBAND_ISAS=native", "-DWARPBAND_CCACHE=OFF", "-DWARPBAND_COMPILE_COST=OFF"]
COMBINATIONS = {  # the first is what the others are compared with
    "default": [],
    "hdf5-off": ["-DWARPBAND_HDF5=OFF"],
    "unity-hdf5-off": ["-DWARPBAND_HDF5=OFF", "-DWARPBAND_UNITY=ON", "-DWARPBAND_TESTS=OFF"],
    "kissfft-off": ["-DWARPBAND_KISSFFT=OFF"],
    "app-off": ["-DWARPBAND_APP=OFF"],
    "bench-off": ["-DWARPBAND_BENCH=OFF"],
    "tests-off": ["-DWARPBAND_TESTS=OFF"],
    "shared": ["-DBUILD_SHARED_LIBS=ON"],
    "no-werror": ["-DWARPBAND_WERROR=OFF"],
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
COMMENT = re.compile(r"//.*")
MACRO = re.compile(r"\b(?:WARPBAND|WB)_[A-Z0-9_]+\b")


@functools.cache
def read(path):
    """Macros that a file mentions, and what it includes."""
    text = COMMENT.sub("", pathlib.Path(path).read_text(encoding="utf-8"))
    return frozenset(MACRO.findall(text)), INCLUDE.findall(text)


@functools.cache
def reached(source):
    """Macros that a source and its headers mention, and the headers of others."""
    macros, others, seen, todo = set(), set(), set(), [source]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        mentioned, included = read(path)
        macros |= mentioned
        for name in included:
            inside = [p for p in (ROOT / name, pathlib.Path(path).parent / name) if p.is_file()]
            if inside:
                todo.append(os.path.normpath(inside[0]))
            else:
                others.add(name)
    return macros, others


class Unit:
    def __init__(self, entry):
        words = shlex.split(entry["command"])
        self.folder, self.file = entry["directory"], entry["file"]
        end = words.index("-o")
        self.target = words[end + 1].split("/")[1].removesuffix(".dir")
        self.command = words[:end] + ["-fsyntax-only", self.file]
        self.definitions = {w for w in self.command if w.startswith("-D") and str(ROOT / "build/options") not in w}
        folders = [w for i, w in enumerate(words) if words[i - 1] == "-isystem"]
        self.folders = [f for f in folders if not f.startswith("/usr/lib/gcc")]
        unity = "/Unity/" in self.file
        self.members = [name for name in read(self.file)[1]] if unity else [self.file]

    def keys(self):
        """What decides how each member is parsed. Warnings aside, so do no other flags."""
        for member in self.members:
            macros, others = reached(member)
            definitions = frozenset(d for d in self.definitions if d[2:].split("=")[0] in macros)
            found = frozenset((name, folder) for name in others for folder in self.folders if os.path.exists(f"{folder}/{name}"))
            yield member.removeprefix(self.folder), definitions, found  # parts of kernels lie in the build folder


def units_of(name, options):
    build = ROOT / "build/options" / name
    shutil.rmtree(build, ignore_errors=True)
    run = subprocess.run(["cmake", "--preset", "release", "-B", str(build), *COMMON, *options], cwd=ROOT, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"CMakeLists.txt:1: {name} ({' '.join(options)}) cannot be configured\n{run.stdout[-2000:]}{run.stderr}")
    entries = json.loads((build / "compile_commands.json").read_text(encoding="utf-8"))
    return [Unit(entry) for entry in entries if not entry["file"].endswith("/cmake_pch.hxx.cxx")]


def parse(command, folder):
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return run.returncode, run.stderr


def check(name, options, seen):
    """Parses what is new in a combination, and adds it to `seen`. Returns how many units failed."""
    start, jobs = time.monotonic(), []
    for unit in units_of(name, options):
        new = [key for key in unit.keys() if key not in seen]
        seen.update(new)
        if unit.target == "warpband_tests":
            jobs += [([w if w != unit.file else key[0] for w in unit.command], unit.folder) for key in new]
        elif new or (len(unit.members) > 1 and "unity" in name):
            jobs.append((unit.command, unit.folder))
    if name == "default":
        return 0
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for status, text in pool.map(lambda job: parse(*job), jobs):
            if status != 0:
                failed += 1
                print(text.replace(f"{ROOT}/", ""), file=sys.stderr)
    print(f"{name}: {len(jobs)} units parsed, {failed} failed, {time.monotonic() - start:.0f} s", flush=True)
    return failed


def main():
    named = sys.argv[1:]
    unknown = [name for name in named if name not in COMBINATIONS]
    if unknown:
        sys.exit(f"options.py: {unknown[0]}: expected {', '.join(COMBINATIONS)}")
    failed, seen = 0, set()
    for name, options in COMBINATIONS.items():
        if name == "default" or not named or name in named:
            failed += check(name, options, seen)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
