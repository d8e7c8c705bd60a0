#!/usr/bin/env python3
"""Kernels of one build that another compiles in another way. Usage: same_kernels.py BUILD_FOLDER OTHER_FOLDER

Prints the objects of OTHER_FOLDER, one a line, whose compiler command is not that of BUILD_FOLDER, and those it alone has. The others
need not be compiled to know what they are. Neither folder needs to be built.
"""
import json
import os
import re
import shlex
import sys


def kernel_commands(build):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        entries = json.load(file)
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        compiler = re.search(r"^CMAKE_CXX_COMPILER:[A-Z]+=(.*)$", file.read(), re.M).group(1)
    commands = {}
    for entry in entries:
        words = shlex.split(entry["command"])
        target = words[words.index("-o") + 1]
        if "/wb_kernels_" in target and not entry["file"].endswith(".cu"):
            words = words[words.index(compiler):]  # no launcher
            commands[target] = [word.replace(os.path.realpath(build), "BUILD") for word in words]
    return commands


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: same_kernels.py BUILD_FOLDER OTHER_FOLDER")
    known, other = kernel_commands(sys.argv[1]), kernel_commands(sys.argv[2])
    if not known or not other:
        sys.exit(f"{sys.argv[2 if known else 1]}/compile_commands.json:1: no kernel is compiled there")
    differ = [target for target in other if known.get(target) != other[target]]
    print(f"{len(other) - len(differ)} of {len(other)} kernel objects by the same commands", file=sys.stderr)
    print("\n".join(differ))


if __name__ == "__main__":
    main()
