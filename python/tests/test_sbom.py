"""The bill of materials of a wheel."""

import hashlib
import importlib.util
import pathlib
import zipfile

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="module")
def sbom():
    spec = importlib.util.spec_from_file_location("sbom", ROOT / "scripts" / "sbom.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def bill(sbom, folder, files):
    wheel = folder / "warpband-0.1.0-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("warpband-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: warpband\nVersion: 0.1.0\n")
        z.write(ROOT / "licenses" / "THIRD_PARTY.txt", "warpband-0.1.0.dist-info/licenses/THIRD_PARTY.txt")
        z.writestr("warpband/__init__.py", b"")
        for name, content in files.items():
            z.writestr(name, content)
    return sbom.bill_of(wheel)


MODULE = b"\x7fELF libstdc++.so.6"


def test_a_wheel_is_told_with_all_that_it_holds(sbom, tmp_path):
    told = bill(sbom, tmp_path, {"warpband/_core.abi3.so": MODULE, "warpband.libs/libkissfft-float.so.131": b"\x7fELF"})
    assert told["bomFormat"] == "CycloneDX"
    assert told["metadata"]["component"]["version"] == "0.1.0"
    names = [c["name"] for c in told["components"]]
    for expected in ("nanobind", "JSON for Modern C++", "KISS FFT", "warpband/_core.abi3.so", "warpband.libs/libkissfft-float.so.131"):
        assert any(n.startswith(expected) for n in names), (expected, names)
    for other in ("warpband/__init__.py", "CLI11", "fmt", "GNU C++ library", "CUDA runtime"):
        assert other not in names
    assert told["components"][-1]["hashes"][0]["content"] == hashlib.sha256(MODULE).hexdigest()
    assert all(c["licenses"] for c in told["components"] if c["type"] == "library")


@pytest.mark.parametrize("files, expected", [
    ({"warpband.scripts/warpband": MODULE}, {"CLI11", "fmt", "warpband.scripts/warpband"}),
    ({"warpband-0.1.0.data/scripts/warpband": MODULE}, {"CLI11", "fmt", "warpband-0.1.0.data/scripts/warpband"}),
    ({"warpband/_core.abi3.so": b"\x7fELF"}, {"GNU C++ library", "warpband/_core.abi3.so"}),
    ({"warpband/_core.abi3.so": MODULE + b".nv_fatbin"}, {"CUDA runtime", "warpband/_core.abi3.so"}),
])
def test_what_only_some_wheels_hold(sbom, tmp_path, files, expected):
    always = {c["name"] for c in bill(sbom, tmp_path, {"warpband/x.so": MODULE})["components"]} - {"warpband/x.so"}
    assert {c["name"] for c in bill(sbom, tmp_path, files)["components"]} - always == expected


def test_a_library_without_its_licence_is_an_error(sbom):
    with pytest.raises(ValueError, match="has no line"):
        sbom.notices("=" * 80 + "\nSome library without anything\n")
