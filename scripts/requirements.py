#!/usr/bin/env python3
"""Writes scripts/requirements*.txt from scripts/requirements*.in: every package, also those that others need, in one version and with the
SHA-256 of its wheels.

    python3 scripts/requirements.py

A person edits the .in files. The .txt files are for CPython 3.10 to 3.13 on x86-64 and 64-bit Arm Linux with glibc. Where Python versions
need different versions of a package, its line has a marker. A package without a wheel for one of these machines is an error.
Needs Python 3.11, the network, and uv: install it with pip into a virtual environment outside of .venv and put it on PATH.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent
PYTHONS = ["3.10", "3.11", "3.12", "3.13"]
MACHINES = ["x86_64", "aarch64"]
HEADER = "# Made of {} by scripts/requirements.py. Do not edit.\n"


def resolved(files: list[pathlib.Path], python: str, machine: str, *options: str) -> list[dict]:
    """The packages for one version of Python and one machine, with their wheels for it: tables of a lock file (PEP 751)."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "pylock.toml"
        subprocess.run(["uv", "pip", "compile", "--quiet", "--no-build", "--generate-hashes", "--format", "pylock.toml", "--python-version", python,
                        "--python-platform", f"{machine}-manylinux_2_28", *options, "-o", out, *files], check=True)
        return tomllib.loads(out.read_text())["packages"]


def marker(pythons: list[str]) -> str:
    """The marker of consecutive versions of Python."""
    first, last = PYTHONS.index(pythons[0]), PYTHONS.index(pythons[-1])
    if pythons != PYTHONS[first:last + 1]:
        raise ValueError(f"versions of Python with a gap: {pythons}")
    if first == last:
        return f'; python_version == "{pythons[0]}"'
    bounds = [f'python_version >= "{pythons[0]}"'] * (first > 0) + [f'python_version <= "{pythons[-1]}"'] * (last < len(PYTHONS) - 1)
    return "; " + " and ".join(bounds) if bounds else ""


def locked(file: pathlib.Path, constraints: dict[str, pathlib.Path]) -> str:
    """The text of the .txt file of one .in file."""
    found: dict[tuple[str, str], tuple[list[str], set[str]]] = {}  # of name and version: versions of Python, hashes
    for python, machine in itertools.product(PYTHONS, MACHINES):
        for package in resolved([file], python, machine, "--constraints", str(constraints[python])):
            pythons, hashes = found.setdefault((package["name"], package["version"]), ([], set()))
            if python not in pythons:
                pythons.append(python)
            hashes.update(wheel["hashes"]["sha256"] for wheel in package["wheels"])
    return HEADER.format(file.name) + "".join(
        f"{name}=={version}{marker(pythons)}" + "".join(f" \\\n    --hash=sha256:{h}" for h in sorted(hashes)) + "\n"
        for (name, version), (pythons, hashes) in sorted(found.items()))


def main() -> int:
    if sys.argv[1:]:
        print(__doc__)
        return 0 if sys.argv[1:] in (["-h"], ["--help"]) else 2
    files = sorted(FOLDER.glob("requirements*.in"))
    with tempfile.TemporaryDirectory() as folder:
        constraints = {}
        for python in PYTHONS:  # a package has the same version in all files
            constraints[python] = pathlib.Path(folder) / python
            constraints[python].write_text("".join(f"{p['name']}=={p['version']}\n" for p in resolved(files, python, MACHINES[0])))
        texts = {file.with_suffix(".txt"): locked(file, constraints) for file in files}
    for path, text in texts.items():
        path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
