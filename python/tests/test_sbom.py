"""The bill of materials of a wheel, and the record that CMake makes for it."""

import hashlib
import importlib.metadata
import importlib.util
import json
import pathlib
import re
import shutil
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SERIAL = r"urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
BOM = {"bomFormat", "specVersion", "serialNumber", "version", "metadata", "components", "dependencies"}
COMPONENT = {"type", "bom-ref", "name", "version", "scope", "hashes", "licenses", "purl", "externalReferences", "properties"}
SPDX = {"MIT", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "Apache-2.0", "Zlib"}
EXPRESSIONS = {"GPL-3.0-or-later WITH GCC-exception-3.1"}
WORD = r"(?:[A-Za-z0-9._~:-]|%[0-9A-F]{2})+"
PURL = re.compile(rf"pkg:(?P<type>[a-z][a-z0-9.+-]*)(?P<path>(?:/{WORD})+)@(?P<version>{WORD})(?:\?(?P<qualifiers>[a-z]+={WORD}(?:&[a-z]+={WORD})*))?"
                  rf"(?:#(?P<subpath>{WORD}(?:/{WORD})*))?")


def check_purl(purl):
    """The rules of the purl specification, and those of its types."""
    found = PURL.fullmatch(purl)
    assert found, purl
    path = found["path"].replace("%2B", "+")
    *namespace, name = path.split("/")[1:]
    keys = [q.split("=")[0] for q in (found["qualifiers"] or "").split("&")]
    assert keys == sorted(set(keys)), purl
    assert not {".", ".."} & set((found["subpath"] or "").split("/")), purl
    if found["type"] == "pypi":
        assert not namespace and name == name.lower().replace("_", "-"), purl
    elif found["type"] == "github":
        assert len(namespace) == 1 and path == path.lower(), purl
    elif found["type"] == "deb":
        assert len(namespace) == 1 and path == path.lower() and "arch" in keys, purl
    else:
        assert found["type"] == "generic", purl


def check_component(c):
    assert set(c) <= COMPONENT and c["name"] and c["type"] in ("library", "file", "application"), c
    assert re.fullmatch(r"\S+", c["bom-ref"]) and c.get("scope", "required") in ("required", "optional", "excluded"), c
    for h in c.get("hashes", []):
        assert set(h) == {"alg", "content"} and h["alg"] == "SHA-256" and re.fullmatch("[0-9a-f]{64}", h["content"]), c
    licences = c.get("licenses", [])
    assert len(licences) == 1 or not any("expression" in x for x in licences), c  # one expression, or licences
    for x in licences:
        assert (x.get("expression") in EXPRESSIONS and len(x) == 1) or (set(x) == {"license"} and len(x["license"]) == 1), c
        assert x.get("license", {}).get("id", "MIT") in SPDX and x.get("license", {}).get("name", "x"), c
    for reference in c.get("externalReferences", []):
        assert set(reference) == {"type", "url"} and reference["type"] == "website" and reference["url"].startswith("https://"), c
    for p in c.get("properties", []):
        assert set(p) == {"name", "value"} and all(isinstance(v, str) for v in p.values()), c
    assert c["version"] and isinstance(c["version"], str), c
    check_purl(c["purl"])


def check_bill(told):
    """The rules of CycloneDX 1.5 for what is in these bills, and a version and a purl for each component."""
    assert set(told) <= BOM and told["bomFormat"] == "CycloneDX" and told["specVersion"] == "1.5" and told["version"] == 1
    assert re.fullmatch(SERIAL, told.get("serialNumber", "urn:uuid:" + "-".join("0" * n for n in (8, 4, 4, 4, 12))))
    assert set(told["metadata"]) <= {"timestamp", "component"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00", told["metadata"].get("timestamp", "2026-01-01T00:00:00+00:00"))
    everything = [told["metadata"]["component"], *told["components"]]
    for c in everything:
        check_component(c)
    refs = [c["bom-ref"] for c in everything]
    assert len(refs) == len(set(refs)), refs
    assert [d["ref"] for d in told["dependencies"]] == refs[:1]
    assert sorted(told["dependencies"][0]["dependsOn"]) == sorted(refs[1:])


@pytest.fixture(scope="module")
def sbom():
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "scripts" / "sbom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def configured(folder, *options):
    """The record of a build with these options, as CMake writes it when it configures."""
    if not shutil.which("cmake") or not shutil.which("ninja") or not importlib.util.find_spec("nanobind"):
        pytest.skip("needs cmake, ninja and nanobind")
    done = subprocess.run(["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DWARPBAND_TESTS=OFF", "-DWARPBAND_BENCH=OFF", "-DWARPBAND_ISAS=scalar",
                           f"-DPython_EXECUTABLE={sys.executable}", *options], text=True, capture_output=True)
    assert done.returncode == 0, done.stderr
    return json.loads((folder / "warpband.cdx.json").read_text())


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    """The record of a wheel for older systems, with the command and HDF5."""
    return configured(tmp_path_factory.mktemp("record"), "-DSKBUILD=ON", "-DWARPBAND_PYTHON=ON", "-DSKBUILD_METADATA_DIR=info", "-DSKBUILD_SCRIPTS_DIR=bin",
                      "-DSKBUILD_DATA_DIR=data", "-DCMAKE_SHARED_LINKER_FLAGS=-static-libstdc++")


def library(record, name):
    return next(c for c in record["components"] if c["name"] == name)


def bill(sbom, folder, record, files, auditwheel=None):
    wheel = folder / "warpband-0.1.0-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("warpband-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: warpband\nVersion: 0.1.0\n")
        if record:
            z.writestr("warpband-0.1.0.dist-info/sboms/warpband.cdx.json", json.dumps(record))
        if auditwheel:
            z.writestr("warpband-0.1.0.dist-info/sboms/auditwheel.cdx.json", json.dumps(auditwheel))
        z.writestr("warpband/__init__.py", b"")
        for name, content in files.items():
            z.writestr(name, content)
    return sbom.bill_of(wheel)


def test_the_record_names_what_a_wheel_is_made_of(record):
    check_bill(record)
    assert {c["name"] for c in record["components"]} - {"zlib", "libaec"} == {
        "JSON for Modern C++", "toml++", "Boost.Math", "CLI11", "fmt", "KISS FFT", "HDF5", "GNU C++ library", "nanobind", "robin-map, in nanobind"}
    nanobind = library(record, "nanobind")
    assert nanobind["version"] == importlib.metadata.version("nanobind") and nanobind["purl"] == f"pkg:pypi/nanobind@{nanobind['version']}"
    for c in record["components"]:
        assert re.match(r"\d+(\.\d+)*$", c["version"]), c
        if c["purl"].startswith("pkg:deb/"):  # the package has the version that its header names
            package, version = re.match(r"pkg:deb/[a-z]+/([^@]+)@([^?]+)", c["purl"].replace("%2B", "+")).groups()
            installed = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", package], text=True, capture_output=True, check=True)
            assert version in installed.stdout.split() and version.split(":")[-1].startswith(c["version"]), c


def test_what_cmake_installs_has_no_python_module(tmp_path):
    installed = configured(tmp_path, "-DWARPBAND_HDF5=OFF")
    check_bill(installed)
    assert {c["name"] for c in installed["components"]} == {"JSON for Modern C++", "toml++", "Boost.Math", "CLI11", "fmt", "KISS FFT"}
    assert {"name": "warpband:use", "value": "shared library"} in library(installed, "KISS FFT")["properties"]
    assert "share/warpband" in (tmp_path / "cmake_install.cmake").read_text() and "warpband.cdx.json" in (tmp_path / "cmake_install.cmake").read_text()


def test_the_bill_of_a_wheel(sbom, tmp_path, record):
    module = b"\x7fELF module"
    told = bill(sbom, tmp_path, record, {"warpband/_core.abi3.so": module, "warpband-0.1.0.data/scripts/warpband": b"\x7fELF command",
                                         "warpband.libs/libkissfft-float-0123abcd.so.131": b"\x7fELF"})
    check_bill(told)
    assert told["metadata"]["component"]["purl"] == "pkg:pypi/warpband@0.1.0"
    files = {c["name"]: c for c in told["components"] if c["type"] == "file"}
    assert set(files) == {"warpband/_core.abi3.so", "warpband-0.1.0.data/scripts/warpband", "warpband.libs/libkissfft-float-0123abcd.so.131"}
    assert files["warpband/_core.abi3.so"]["hashes"][0]["content"] == hashlib.sha256(module).hexdigest()
    assert files["warpband/_core.abi3.so"]["purl"] == "pkg:pypi/warpband@0.1.0#warpband/_core.abi3.so"
    kissfft = library(record, "KISS FFT")
    soname = next(p["value"] for p in kissfft["properties"] if p["name"] == "warpband:library")
    if soname == "libkissfft-float.so.131":
        assert files["warpband.libs/libkissfft-float-0123abcd.so.131"]["purl"] == kissfft["purl"]


def test_libraries_that_auditwheel_adds_are_named(sbom, tmp_path, record):
    package = {"type": "library", "bom-ref": "pkg:deb/debian/libaec0@1.0.6#0", "name": "libaec0", "version": "1.0.6", "purl": "pkg:deb/debian/libaec0@1.0.6?arch=amd64"}
    wheel = {"type": "library", "name": "warpband", "version": "0.1.0", "purl": "pkg:pypi/warpband@0.1.0?file_name=warpband.whl"}
    told = bill(sbom, tmp_path, record, {"warpband/_core.abi3.so": b"\x7fELF"},
                {"components": [wheel, package, {**package, "bom-ref": "pkg:deb/debian/libaec0@1.0.6#1"}]})
    check_bill(told)
    assert [c["purl"] for c in told["components"]].count(package["purl"]) == 1
    assert not [c for c in told["components"] if c["name"] == "warpband"]


def test_a_wheel_without_a_record_is_an_error(sbom, tmp_path):
    with pytest.raises(ValueError, match="it has no .*warpband.cdx.json"):
        bill(sbom, tmp_path, None, {"warpband/_core.abi3.so": b"\x7fELF"})


def test_every_component_has_its_licence_in_the_wheel(record):
    text = (ROOT / "licenses" / "THIRD_PARTY.txt").read_text()
    names = re.findall(r"^=+\n([^\n(]+) \((?:https?://[^)\s]+)\)[^\n:]*: [^\n]+$", text, re.MULTILINE)
    assert len(names) == len(re.findall(r"^={20,}$", text, re.MULTILINE))
    assert {c["name"] for c in record["components"]} | {"CUDA runtime", "zlib", "libaec"} == set(names)
    assert all(c["licenses"] for c in record["components"])
