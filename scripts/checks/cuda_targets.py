#!/usr/bin/env python3
"""All CUDA sources compile for each target of the preset `cuda`. Usage: cuda_targets.py BUILD_FOLDER [JOBS]

BUILD_FOLDER may be configured for some of the targets only (CMAKE_CUDA_ARCHITECTURES). For each other one those sources are compiled
here in which targets can differ: all that read a header with `__CUDA_ARCH__` (which bodies may not have), and one of each room for the headers
of core and exec. Device code alone, at nvcc's fastest level: it shows that front end and assembler take the source, with the warnings
that are errors. How good the code is that they give with all optimisations is seen for the targets of the build.
"""
import concurrent.futures
import functools
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile

NEEDED = ["80-real", "90-real", "90-virtual"]


def device_command(command, target, output):
    """The compilation of device code for one target, from one of host and device code."""
    number, kind = target.split("-")
    changed, words = [], iter(shlex.split(command))
    for word in words:
        if word == "-o" or word in ("-MT", "-MF"):
            next(words)
        elif not word.startswith(("--generate-code", "-gencode")) and word not in ("-c", "-MD"):
            changed.append(word)
    changed = changed[next(i for i, word in enumerate(changed) if os.path.basename(word) == "nvcc"):]  # no launcher
    if kind == "real":
        return changed + ["-cubin", f"-arch=sm_{number}", "-Ofc", "max", "-o", output]
    return changed + ["-ptx", f"-arch=compute_{number}", "-Ofc", "max", "-o", output]


def object_of(unit):
    words = shlex.split(unit["command"])
    return words[words.index("-o") + 1]


@functools.cache
def asks_for_target(path):
    with open(path, encoding="utf-8") as file:
        return "__CUDA_ARCH__" in file.read()


def units_that_differ(build, root, units):
    """What asks for its target, and the first unit of each room."""
    told, dependencies = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, stdout=subprocess.PIPE, text=True).stdout, {}
    for block in told.split("\n\n"):
        name, *paths = block.splitlines() or [""]
        dependencies[name.partition(":")[0]] = [path.strip() for path in paths if path.strip().startswith(f"{root}/warpband/")]
    chosen, rooms = [], set()
    for unit in units:
        room = tuple(os.path.relpath(unit["file"], os.path.join(build, "cuda")).split("/")[:2])
        if room not in rooms or any(map(asks_for_target, dependencies[object_of(unit)])):
            rooms.add(room)
            chosen.append(unit)
    return chosen


def main():
    if not 2 <= len(sys.argv) <= 3:
        sys.exit("usage: cuda_targets.py BUILD_FOLDER [JOBS]")
    build, jobs = os.path.realpath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) == 3 else os.cpu_count()
    root = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
    with open(os.path.join(root, "cmake", "kernels.cmake"), encoding="utf-8") as file:
        preset = re.search(r"set\(CMAKE_CUDA_ARCHITECTURES ([^)]*) CACHE", file.read()).group(1).split()
    for target in NEEDED:
        if target not in preset:
            sys.exit(f"cmake/kernels.cmake:1: the preset cuda compiles no code for {target}")
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        given = re.search(r"^CMAKE_CUDA_ARCHITECTURES:[A-Z]+=(.*)$", file.read(), re.M)
    built = given.group(1).split(";") if given else preset
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        units = [entry for entry in json.load(file) if entry["file"].endswith(".cu")]
    if not units:
        sys.exit(f"{build}/compile_commands.json:1: no CUDA source; the build has no CUDA")

    missing = [target for target in preset if target not in built]
    chosen = units_that_differ(build, root, units) if missing else []
    tasks = [(unit, target) for target in missing for unit in chosen]
    failed = 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        def compile_one(numbered):
            number, (unit, target) = numbered
            command = device_command(unit["command"], target, os.path.join(folder, f"{number}.o"))
            return subprocess.run(command, cwd=unit["directory"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)

        for (unit, target), result in zip(tasks, pool.map(compile_one, enumerate(tasks))):
            if result.returncode != 0:
                failed += 1
                print(f"{os.path.relpath(unit['file'], root)}:1: does not compile for {target}:\n{result.stdout}", file=sys.stderr)
    print(f"{len(units)} CUDA sources for {' '.join(built)} by the build; {len(chosen)} of them for {' '.join(missing) or 'no other target'} here")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
