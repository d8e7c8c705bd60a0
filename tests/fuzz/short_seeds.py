#!/usr/bin/env python3
"""Writes what the corpora of the fuzzers begin with: short scenarios, results and records of those in the tree (what one execution of a fuzzer takes
grows with its input), and the stored corpora, corpus/TARGET.tar.xz.

Usage: short_seeds.py FOLDER   makes FOLDER/TARGET for each target
"""
import json
import pathlib
import re
import struct
import sys
import tarfile

MOST_BYTES = 4096
ROOT = pathlib.Path(__file__).resolve().parents[2]


def without_comments(text):
    return "".join(line for line in text.splitlines(keepends=True) if line.strip() and not line.lstrip().startswith("#"))


def tables(text, name):
    """A scenario with one [[name]] table, for each of its tables."""
    head, *rest = re.split(rf"^(?=\[\[{name}\]\])", without_comments(text), flags=re.M)
    return [head + table for table in rest] or [head]


def short_result(result):
    """The first curve of a result, with two points."""
    text = tables(result["scenario"]["text"], "curve")[0]
    first = result["curves"][0]
    first["points"] = first["points"][:2]
    return {**result, "scenario": {**result["scenario"], "text": text}, "complete": False, "curves": [first]}


def short_record(record):
    record["benchmarks"] = record["benchmarks"][:2]
    return record


def write(folder, name, text):
    if len(text.encode()) <= MOST_BYTES:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def npy(version, kind, numbers):
    """Two snapshots of three gains, as numpy.save writes them."""
    header = f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': (2, 1, 3, 1), }}".ljust(117) + "\n"
    length = len(header).to_bytes(2 if version == 1 else 4, "little")
    return b"\x93NUMPY" + bytes([version, 0]) + length + header.encode() + struct.pack(f"<12{numbers}", *range(12))


def main():
    out = pathlib.Path(sys.argv[1])
    (out / "csi").mkdir(parents=True, exist_ok=True)
    (out / "csi" / "c8.npy").write_bytes(npy(1, "c8", "f"))
    (out / "csi" / "c16.npy").write_bytes(npy(2, "c16", "d"))
    for path in sorted([*ROOT.glob("examples/**/*.toml"), *ROOT.glob("curves/*.toml")]):
        text = path.read_text()
        target, name = ("stream", "run") if re.search(r"^\[?stream\b", text, re.M) else ("scenario", "curve")
        for i, short in enumerate(tables(text, name)[:4]):
            write(out / target, f"{path.stem}_{i}.toml", short)
    for path in sorted([*ROOT.glob("curves/*.json"), *ROOT.glob("bench/results/*.json")]):
        content = json.loads(path.read_text())
        if content.get("format") == "warpband bench 1":
            write(out / "bench", path.name, json.dumps(short_record(content)))
        elif content.get("format") == "warpband stream 1":
            write(out / "stream", f"{path.stem}.toml", tables(content["scenario"], "run")[0])
        elif "scenario" in content and content.get("curves"):
            write(out / "result", path.name, json.dumps(short_result(content), separators=(",", ":")))
    for path in sorted((ROOT / "tests/fuzz/corpus").glob("*.tar.xz")):
        folder = out / path.name.split(".")[0]
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path) as stored:
            for member in stored:
                (folder / pathlib.PurePath(member.name).name).write_bytes(stored.extractfile(member).read())


main()
