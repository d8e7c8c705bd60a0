#!/usr/bin/env python3
"""Adds up test results. Usage: test_report.py FILE.xml ...   (JUnit XML as GoogleTest and CTest write it)

Prints the failed tests with their messages and the skipped ones by reason on stderr, and `PASSED FAILED SKIPPED` as
three numbers on stdout. A file that is missing or broken, as after a crash, counts as one failed test.
"""
import os
import re
import sys
import xml.etree.ElementTree as ElementTree

PLACE = re.compile(r".*\.(cpp|hpp|cu):\d+:?( Skipped)?$")
LINES_SHOWN = 12  # of one failure's message


def skip_reason(message):
    """GoogleTest's skip message without the place in the source and the word Skipped."""
    lines = [line.strip() for line in message.splitlines()]
    kept = [line for line in lines if line not in ("", "Skipped") and not PLACE.match(line)]
    return " ".join(kept) or "no reason given"


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, 0, 0
        self.skips = {}
        self.failures = []

    def add_file(self, path):
        try:
            root = ElementTree.parse(path).getroot()
        except (OSError, ElementTree.ParseError) as error:
            self.failed += 1
            self.failures.append((path, f"the test program left no result (crashed?): {error}"))
            return
        for case in root.iter("testcase"):
            self.add_case(case)

    def add_case(self, case):
        name, group = case.get("name"), case.get("classname")
        if group != name:  # CTest repeats the name
            name = f"{group}.{name}"
        failures = case.findall("failure") + case.findall("error")
        skip = case.find("skipped")
        if failures:
            self.failed += 1
            text = "\n".join((f.get("message") or f.text or "").strip() for f in failures)
            self.failures.append((name, text or "failed"))
        elif skip is not None or case.get("status") in ("notrun", "disabled"):
            self.skipped += 1
            reason = skip_reason((skip.get("message") or skip.text or "") if skip is not None else "disabled")
            self.skips.setdefault(reason, []).append(name)
        else:
            self.passed += 1

    def show(self, out):
        for name, text in self.failures:
            lines = text.splitlines()
            print(f"FAILED {name}", file=out)
            for line in lines[:LINES_SHOWN] + (["..."] if len(lines) > LINES_SHOWN else []):
                print(f"    {line}", file=out)
        for reason, names in self.skips.items():
            print(f"SKIPPED ({reason}):", file=out)
            for name in names:
                print(f"    {name}", file=out)


def main():
    tally = Tally()
    for path in sys.argv[1:]:
        tally.add_file(os.path.relpath(path))
    tally.show(sys.stderr)
    print(tally.passed, tally.failed, tally.skipped)


if __name__ == "__main__":
    main()
