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


def test_a_wheel_is_told_with_all_that_it_holds(sbom, tmp_path):
    wheel = tmp_path / "warpband-0.1.0-cp312-abi3-linux_x86_64.whl"
    with zipfile.ZipFile(wheel, "w") as z:
        z.writestr("warpband-0.1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: warpband\nVersion: 0.1.0\n")
        z.write(ROOT / "licenses" / "THIRD_PARTY.txt", "warpband-0.1.0.dist-info/licenses/THIRD_PARTY.txt")
        z.writestr("warpband/_core.abi3.so", b"module")
        z.writestr("warpband.libs/libkissfft-float.so.131", b"library")
        z.writestr("warpband/__init__.py", b"")
    bill = sbom.bill_of(wheel)
    assert bill["bomFormat"] == "CycloneDX"
    assert bill["metadata"]["component"]["version"] == "0.1.0"
    names = [c["name"] for c in bill["components"]]
    for expected in ("nanobind", "JSON for Modern C++", "KISS FFT", "warpband/_core.abi3.so", "warpband.libs/libkissfft-float.so.131"):
        assert any(n.startswith(expected) for n in names), (expected, names)
    assert "warpband/__init__.py" not in names
    assert bill["components"][-1]["hashes"][0]["content"] == hashlib.sha256(b"module").hexdigest()
    assert all(c["licenses"] for c in bill["components"] if c["type"] == "library")


def test_a_library_without_its_licence_is_an_error(sbom):
    with pytest.raises(ValueError, match="has no line"):
        sbom.notices("=" * 80 + "\nSome library without anything\n")
