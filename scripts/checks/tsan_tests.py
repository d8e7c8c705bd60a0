#!/usr/bin/env python3
"""The preset `tsan` compiles every file that has a test labelled `threads`. Usage: tsan_tests.py [ROOT]

The label is a matter of names (tests/labels.txt), what is compiled one of files (WARPBAND_TEST_FILES in CMakePresets.json).
"""
import json
import pathlib
import re
import sys

CASE = re.compile(r"^(?:TYPED_)?TEST(_[FP])?\((\w+),\s*(\w+)\)", re.M)


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2])
    lines = (line.split(None, 1) for line in (root / "tests/labels.txt").read_text(encoding="utf-8").splitlines())
    threads = [re.compile(words[1]) for words in lines if words and words[0] == "threads"]
    presets = json.loads((root / "CMakePresets.json").read_text(encoding="utf-8"))["configurePresets"]
    compiled = re.compile(next(p for p in presets if p["name"] == "tsan")["cacheVariables"]["WARPBAND_TEST_FILES"])
    files = failed = 0
    for path in sorted(path for room in ("warpband", "tests", "apps") for path in (root / room).rglob("*_test.cpp")):
        name = path.relative_to(root).as_posix()
        files += 1
        cases = [(p, f"{suite}.{test}") for p, suite, test in CASE.findall(path.read_text(encoding="utf-8"))]
        names = [prefix + case for p, case in cases for prefix in (("backends/", "all/") if p == "_P" else ("",))]
        of_threads = next((n for n in names if any(label.search(n) for label in threads)), None)
        if of_threads and not compiled.search(name):
            print(f"{name}:1: {of_threads} is labelled `threads`: the preset tsan must compile this file")
            failed = 1
    print(f"{files} files looked at")
    return failed


if __name__ == "__main__":
    sys.exit(main())
