#!/usr/bin/env python3
"""CMakeLists.txt, CITATION.cff, plugins/gnuradio/pyproject.toml and CHANGELOG.md name one version, which is printed. Usage: version.py [--dated]

The first section of CHANGELOG.md is called `VERSION (YYYY-MM-DD)`, and CITATION.cff has that date too. Before a release it may be called
`NEXT (unreleased)`, not with --dated.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def found(pattern, name):
    match = re.search(pattern, (ROOT / name).read_text(encoding="utf-8"), re.M)
    return match[1] if match else None


def main():
    if sys.argv[1:] not in ([], ["--dated"]):
        sys.exit(__doc__)
    version = found(r"^project\(warpband VERSION ([0-9.]+) ", "CMakeLists.txt")
    section = found(r"^## (.*)$", "CHANGELOG.md")
    dated = re.fullmatch(r"([0-9]+\.[0-9]+\.[0-9]+) \(([0-9]{4}-[0-9]{2}-[0-9]{2})\)", section)
    faults = []
    if found(r"^version: (.*)$", "CITATION.cff") != version:
        faults.append(f"CITATION.cff: version is not {version}, as in CMakeLists.txt")
    if found(r'^version = "(.*)"$', "plugins/gnuradio/pyproject.toml") != version:
        faults.append(f"plugins/gnuradio/pyproject.toml: version is not {version}, as in CMakeLists.txt")
    if dated and dated[1] != version:
        faults.append(f"CHANGELOG.md: the first section has a date and is not of {version}, the version of CMakeLists.txt")
    if dated and found(r"^date-released: (.*)$", "CITATION.cff") != dated[2]:
        faults.append(f"CITATION.cff: date-released is not {dated[2]}, as in CHANGELOG.md")
    if not dated and ("--dated" in sys.argv or not re.fullmatch(r"[0-9]+\.[0-9]+\.[0-9]+ \(unreleased\)", section)):
        faults.append(f"CHANGELOG.md: the first section is called `{section}`, not `{version} (YYYY-MM-DD)`")
    if faults:
        sys.exit("\n".join(faults))
    print(version)


if __name__ == "__main__":
    main()
