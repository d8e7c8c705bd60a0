#!/usr/bin/env python3
"""Every class of a public header says what several threads may do with it. Usage: thread_notes.py [ROOT]

The word "thread" stands in the comment above the class. Exceptions are values and need none; nor do headers that no installed one includes for
its users: bodies, ops, arguments of kernels, and those that INTERNAL names.
"""
import pathlib
import re
import sys

CLASS = re.compile(r"^class (\w+)(?: final)?(?: : public (?:std::)?(\w+))?[^;]*$")
INTERNAL = re.compile(r"_(body|op|args|kernels|calls)\.hpp$|link/result_object\.hpp$")


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    classes = failed = 0
    for path in sorted((root / "warpband").rglob("*.hpp")):
        name = path.relative_to(root).as_posix()
        if INTERNAL.search(name):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            found = CLASS.match(line)
            if not found or (found[2] or "").endswith(("error", "exception")) or found[1] == "error":
                continue
            classes += 1
            above = number - 1
            while lines[above].startswith(("///", "//", "template")):
                above -= 1
            if "thread" not in " ".join(lines[above + 1:number]).lower():
                print(f"{name}:{number + 1}: class {found[1]}: expected a line `/// Threads: ...` above it")
                failed = 1
    print(f"{classes} classes looked at")
    return failed


if __name__ == "__main__":
    sys.exit(main())
