#!/usr/bin/env python3
"""Results of scripts/test.sh.

test_report.py FOLDER STATUS SECONDS   one step: reads the JUnit XML (of CTest or pytest) in its folder, prints what failed and what was
                                       skipped, and keeps the counts there. Without XML, STATUS decides whether it passed.
test_report.py FOLDER                  the folder of all steps: their counts, and as the last line their sum. Fails if one failed.
"""
import json
import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

LINES_SHOWN = 40  # of one failure's message, or of the log of a step that failed
NOISE = re.compile(r"(Running main|Note: |\[[-= ]+\]|\[ RUN  |\[  (SKIPPED|FAILED|PASSED) |.*\.(cpp|hpp|cu):\d+: Skipped$|\s*$)")


def message(case, element):
    """What a test said: pytest has it in the element, CTest in all that the test printed."""
    printed = case.findtext("system-out")
    text = printed if printed is not None and not element.text else f"{element.get('message', '')}\n{element.text or ''}"
    return [line for line in text.splitlines() if not NOISE.match(line)] or ["no reason given"]


def read_step(folder, status):
    counts, skips = {"passed": 0, "failed": 0, "skipped": 0}, {}
    for path in sorted(folder.glob("*.xml")):
        try:
            cases = ElementTree.parse(path).getroot().iter("testcase")
        except ElementTree.ParseError:  # the test program crashed while it wrote
            status = status or 1
            continue
        for case in cases:
            name, group = case.get("name"), case.get("classname")
            name = name if group in (name, None) else f"{group}.{name}"  # CTest repeats the name
            failures, skip = case.findall("failure") + case.findall("error"), case.find("skipped")
            if failures:
                counts["failed"] += 1
                lines = message(case, failures[0])
                print(f"FAILED {name}", *lines[:LINES_SHOWN], sep="\n    ")
            elif skip is not None:
                counts["skipped"] += 1
                skips.setdefault(message(case, skip)[0], []).append(name)
            else:
                counts["passed"] += 1
    for reason, names in skips.items():
        print(f"SKIPPED ({reason}):", *names, sep="\n    ")
    if status != 0 and counts["failed"] == 0:
        counts["failed"] = 1
        print(f"FAILED {folder.name}; its log ends:", *(folder / "log").read_text(errors="replace").splitlines()[-LINES_SHOWN:], sep="\n    ")
    elif sum(counts.values()) == 0:
        counts["passed"] = 1
    return counts


def line(name, counts, seconds=""):
    return f"{name:20} {seconds:>6} s {counts['passed']:7} passed {counts['failed']:5} failed {counts['skipped']:5} skipped"


def main():
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) == 4:
        counts = read_step(folder, int(sys.argv[2]))
        print(line(folder.name, counts, sys.argv[3]))
        (folder / "counts.json").write_text(json.dumps([counts, sys.argv[3]]))
        return
    total = {"passed": 0, "failed": 0, "skipped": 0}
    print()
    for path in sorted(folder.glob("*/log"), key=lambda log: log.stat().st_mtime):
        try:
            counts, seconds = json.loads((path.parent / "counts.json").read_text())
        except OSError:  # it did not end
            counts, seconds = {"passed": 0, "failed": 1, "skipped": 0}, "?"
        print(line(path.parent.name, counts, seconds))
        for key in total:
            total[key] += counts[key]
    print("\n{passed} passed, {failed} failed, {skipped} skipped".format(**total))
    sys.exit(total["failed"] != 0)


if __name__ == "__main__":
    main()
