#!/usr/bin/env python3
"""Writes what a wheel holds as a bill of materials (CycloneDX 1.5, JSON): python3 scripts/sbom.py WHEEL [OUT.json]

Components are Warpband itself, the libraries whose code is compiled into it (with their licences, from licenses/THIRD_PARTY.txt), and each
program and shared library that the wheel brings along, with its SHA-256. Without OUT.json it goes to standard output.
"""

import hashlib
import json
import pathlib
import re
import sys
import zipfile
from email.parser import Parser

NOTICE = re.compile(r"^=+\n(?P<name>[^\n(]+) \((?P<url>https?://[^)\s]+)\)[^\n:]*: (?P<licence>[^\n]+)$", re.MULTILINE)


def notices(text: str) -> list[dict]:
    """A component for each library of the text of THIRD_PARTY.txt."""
    found = [{"type": "library", "name": n["name"].strip(), "scope": "required", "licenses": [{"license": {"name": n["licence"].strip()}}],
              "externalReferences": [{"type": "website", "url": n["url"]}]} for n in NOTICE.finditer(text)]
    if len(found) != len(re.findall(r"^={20,}$", text, re.MULTILINE)):
        raise ValueError("a library of THIRD_PARTY.txt has no line NAME (URL): LICENCE")
    return found


def is_in(name: str, files: dict[str, bytes]) -> bool:
    """Whether the code of a library is in a wheel of these programs and shared libraries."""
    if name in ("fmt", "CLI11"):
        return any(n.endswith("/warpband") for n in files)  # the command
    if name == "GNU C++ library":
        return any(b"libstdc++.so.6" not in content for n, content in files.items() if re.search("/_core|/warpband$", n))
    if name == "CUDA runtime":
        return any(b".nv_fatbin" in content for content in files.values())
    return True


def bill_of(wheel: pathlib.Path) -> dict:
    """The bill of a wheel."""
    with zipfile.ZipFile(wheel) as z:
        names = z.namelist()
        about = Parser().parsestr(z.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode())
        texts = [z.read(n).decode() for n in names if n.endswith("THIRD_PARTY.txt")]
        if not texts:
            raise ValueError(f"{wheel}: it has no THIRD_PARTY.txt")
        files = {n: content for n in sorted(names) if (content := z.read(n)).startswith(b"\x7fELF")}
    brought = [{"type": "file", "name": n, "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]}
               for n, content in files.items()]
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "library", "name": about["Name"], "version": about["Version"],
                                       "purl": f"pkg:pypi/{about['Name']}@{about['Version']}",
                                       "licenses": [{"license": {"id": "Apache-2.0"}}],
                                       "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read_bytes()).hexdigest()}]}},
            "components": [c for c in notices(texts[0]) if is_in(c["name"], files)] + brought}


def main(arguments: list[str]) -> int:
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    text = json.dumps(bill_of(pathlib.Path(arguments[0])), indent=2) + "\n"
    if len(arguments) == 2:
        pathlib.Path(arguments[1]).write_text(text)
    else:
        sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
