#!/usr/bin/env python3
"""Writes what a wheel holds as a bill of materials (CycloneDX 1.5, JSON): python3 scripts/sbom.py WHEEL [OUT.json]

The wheel's own record, .dist-info/sboms/warpband.cdx.json, names the libraries that are compiled into it, with licences, versions and purls: CMake
wrote it (cmake/components.cmake). This adds each program and shared library of the wheel with its SHA-256, and the libraries that
auditwheel put into it. It also adds the wheel's own name and SHA-256. Without OUT.json the bill goes to standard output.
"""

import datetime
import hashlib
import json
import pathlib
import re
import sys
import uuid
import zipfile
from email.parser import Parser
from urllib.parse import quote

RECORD = ".dist-info/sboms/warpband.cdx.json"
AUDITWHEEL = ".dist-info/sboms/auditwheel.cdx.json"


def sha256(content: bytes) -> list[dict]:
    return [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]


def library_of(name: str, components: list[dict]) -> dict | None:
    """The component whose shared library this file is; auditwheel puts a hash into names, as in libkissfft-float-1a2b3c4d.so.131."""
    soname = re.sub(r"-[0-9a-f]{8}(?=\.so)", "", name.rsplit("/", 1)[-1])
    for c in components:
        if {"name": "warpband:library", "value": soname} in c.get("properties", []):
            return c
    return None


def bill_of(wheel: pathlib.Path) -> dict:
    """The bill of a wheel."""
    with zipfile.ZipFile(wheel) as z:
        names = z.namelist()
        about = Parser().parsestr(z.read(next(n for n in names if n.endswith(".dist-info/METADATA"))).decode())
        records = {suffix: json.loads(z.read(n)) for n in names for suffix in (RECORD, AUDITWHEEL) if n.endswith(suffix)}
        if RECORD not in records:
            raise ValueError(f"{wheel}: it has no *{RECORD}, which the build of a wheel makes")
        files = {n: content for n in sorted(names) if (content := z.read(n)).startswith(b"\x7fELF")}
    purl = f"pkg:pypi/{quote(about['Name'].lower())}@{quote(about['Version'])}"
    components = records[RECORD]["components"]
    known = {c["purl"] for c in components}
    for c in records.get(AUDITWHEEL, {}).get("components", []):  # the first is the wheel
        if c["purl"] not in known and not c["purl"].startswith(purl):
            known.add(c["purl"])
            components.append({"type": "library", "bom-ref": c["purl"], "name": c["name"], "version": c["version"], "purl": c["purl"]})
    libraries = list(components)
    for name, content in files.items():
        file = {"type": "file", "bom-ref": name, "name": name, "hashes": sha256(content)}
        if library := library_of(name, libraries):
            file |= {key: library[key] for key in ("version", "purl") if key in library}
        elif not name.split("/")[0].endswith(".libs"):  # Warpband's
            file |= {"version": about["Version"], "purl": f"{purl}#{quote(name)}"}
        components.append(file)
    digest = sha256(wheel.read_bytes())
    root = {"type": "library", "bom-ref": purl, "name": about["Name"], "version": about["Version"], "purl": purl,
            "licenses": [{"license": {"id": "Apache-2.0"}}], "hashes": digest}
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, digest[0]['content'])}",
            "metadata": {"timestamp": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "component": root},
            "components": components, "dependencies": [{"ref": purl, "dependsOn": [c["bom-ref"] for c in components]}]}


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
