#!/usr/bin/env python3
"""The C interface keeps its symbols and structures. Usage: c_abi.py BUILD_FOLDER [--write]

Compares scripts/checks/c_abi.txt with what the build exports and with what a C compiler makes of warpband/c/warpband.h: sizes of
structures, offsets of their fields, values of constants. The header must compile as C99 and as C++ without a warning. --write stores the
list: of a major version lines may be added, and a structure that begins with its size may grow; nothing else may change.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "warpband/c/warpband.h"
STORED = ROOT / "scripts/checks/c_abi.txt"
WARNINGS = ["-pedantic", "-Wall", "-Wextra", "-Werror"]


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{HEADER.relative_to(ROOT)}:1: {' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def layout_program(text):
    """A C program that prints a line for each structure, field and constant of the header."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    lines = []
    for name, fields in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, re.S):
        lines.append(f'printf("struct {name} %u\\n", (unsigned)sizeof({name}));')
        for field in re.findall(r"(\w+);", fields):
            lines.append(f'printf("field {name}.{field} %u %u\\n", (unsigned)offsetof({name}, {field}), (unsigned)sizeof((({name}*)0)->{field}));')
    for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, re.S):
        for constant in re.findall(r"(WB_\w+)", body):
            lines.append(f'printf("constant {constant} %u\\n", (unsigned){constant});')
    for constant in re.findall(r"^#define (WB_\w+) \(", text, re.M):
        lines.append(f'printf("constant {constant} %u\\n", (unsigned){constant});')
    lines.append('printf("constant WB_ABI_MAJOR %u\\n", (unsigned)WB_ABI_MAJOR);')
    return "#include <stdio.h>\n#include <warpband/c/warpband.h>\nint main(void) {\n  " + "\n  ".join(lines) + "\n  return 0;\n}\n"


def found(build):
    text = HEADER.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "layout.c"
        source.write_text(layout_program(text), encoding="utf-8")
        run([os.environ.get("CC", "cc"), "-std=c99", *WARNINGS, f"-I{ROOT}", source, "-o", source.with_suffix("")])
        alone = pathlib.Path(folder) / "alone.cpp"
        alone.write_text("#include <warpband/c/warpband.h>\nwb_ldpc_decode op = WB_LDPC_DECODE_INIT;\n", encoding="utf-8")
        run([os.environ.get("CXX", "c++"), "-std=c++11", *WARNINGS, f"-I{ROOT}", "-fsyntax-only", alone])
        layout = run([source.with_suffix("")]).splitlines()
    library = build / "libwarpband_c.so"
    symbols = [line.split()[-1].split("@")[0] for line in run([shutil.which("nm") or "nm", "-D", "--defined-only", library]).splitlines()
               if line.split()[-2] != "A"]
    declared = set(re.findall(r"^WB_API [^;(]*?\b(wb_\w+)\(", text, re.M))
    for name in sorted(declared ^ set(symbols)):
        print(f"{HEADER.relative_to(ROOT)}:1: {name} is {'declared, not exported' if name in declared else 'exported, not declared'}", file=sys.stderr)
    return layout + [f"function {name}" for name in sorted(symbols)], declared == set(symbols)


def main():
    words = [w for w in sys.argv[1:] if w != "--write"]
    if len(words) != 1:
        sys.exit(__doc__.split("\n\n")[0])
    lines, right = found(pathlib.Path(words[0]))
    if "--write" in sys.argv:
        STORED.write_text("\n".join(lines) + "\n", encoding="utf-8")
    stored = STORED.read_text(encoding="utf-8").splitlines()
    for line in stored:
        if line not in lines:
            print(f"{STORED.relative_to(ROOT)}:{stored.index(line) + 1}: no longer so: {line}", file=sys.stderr)
    for line in lines:
        if line not in stored:
            print(f"{STORED.relative_to(ROOT)}:1: not listed: {line} (c_abi.py {words[0]} --write)", file=sys.stderr)
    print(f"{len(lines)} symbols, structures, fields and constants looked at")
    return not right or sorted(stored) != sorted(lines)


if __name__ == "__main__":
    sys.exit(main())
