"""The pinned packages that set-up, tests and wheels install with pip."""

import importlib.util
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILES = sorted((ROOT / "scripts").glob("requirements*.in"))
PINNED = r"([a-z0-9-]+)==([0-9a-z.]+)(?:; (python_version [<>=]{2} \"3\.1[0-3]\"(?: and python_version [<>=]{2} \"3\.1[0-3]\")?))?"


def pinned(file):
    """Name, version, marker and hashes of each package of a generated file."""
    text = file.read_text()
    head, *entries = re.split(r"\n(?=[a-z])", text.rstrip("\n"))
    assert head == f"# Made of {file.with_suffix('.in').name} by scripts/requirements.py. Do not edit."
    packages = []
    for entry in entries:
        first, *hashes = entry.split(" \\\n    ")
        found = re.fullmatch(PINNED, first)
        assert found and hashes and all(re.fullmatch("--hash=sha256:[0-9a-f]{64}", h) for h in hashes), entry
        packages.append((*found.groups(), hashes))
    return packages


def asked_for(file):
    """Name, version or None, and marker of each package of a file that a person edits."""
    for line in file.read_text().splitlines():
        if line and not line.startswith("#"):
            yield re.fullmatch(r"([A-Za-z0-9-]+)(?:==([0-9a-z.]+))?(?:; (.*))?", line).groups()


@pytest.mark.parametrize("file", FILES, ids=lambda f: f.name)
def test_every_package_has_hashes(file):
    packages = pinned(file.with_suffix(".txt"))
    for name, version, marker in asked_for(file):
        same = [p for p in packages if p[0] == name.lower()]
        assert same and (not version or version in [p[1] for p in same]), (name, version)
        assert marker is None or len(same) > 1, (name, marker)
    names = [p[0] for p in packages]
    assert all(p[2] or names.count(p[0]) == 1 for p in packages)  # versions of one package exclude each other


def test_a_package_has_one_version_for_each_python():
    packaging = pytest.importorskip("packaging.markers")
    for python in ("3.10", "3.11", "3.12", "3.13"):
        versions = {}
        for file in FILES:
            for name, version, marker, _ in pinned(file.with_suffix(".txt")):
                if marker is None or packaging.Marker(marker).evaluate({"python_version": python}):
                    assert versions.setdefault(name, version) == version, (python, name)


def test_wheels_are_built_with_versions_that_pyproject_allows():
    packaging = pytest.importorskip("packaging.requirements")
    versions = {name: version for name, version, *_ in pinned(ROOT / "scripts" / "requirements-wheel.txt")}
    ranges = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.M)[1]
    for text in re.findall(r'"([^"]+)"', ranges):
        requirement = packaging.Requirement(text)
        assert versions[requirement.name] in requirement.specifier, text


def test_scripts_install_nothing_without_a_hash():
    found = []
    for script in [*sorted((ROOT / "scripts").rglob("*.sh")), ROOT / ".ci" / "run"]:
        for command in re.sub(r"\\\n", "", script.read_text()).splitlines():
            if re.search(r"\bpip\"? .*\b(install|download|wheel)\b", command) and not re.search(r'^ *#|\bfail "CMake', command):
                found.append(script.name)
                assert re.search("--require-hashes|--no-index|--no-build-isolation", command), (script.name, command)
    assert {"setup.sh", "python_wheel.sh", "wheel_trial.sh"} <= set(found)


def test_markers():
    spec = importlib.util.spec_from_file_location("requirements", ROOT / "scripts" / "requirements.py")
    requirements = pytest.importorskip("tomllib") and importlib.util.module_from_spec(spec)
    spec.loader.exec_module(requirements)
    assert requirements.marker(["3.10", "3.11", "3.12", "3.13"]) == ""
    assert requirements.marker(["3.11"]) == '; python_version == "3.11"'
    assert requirements.marker(["3.11", "3.12"]) == '; python_version >= "3.11" and python_version <= "3.12"'
    with pytest.raises(ValueError, match="gap"):
        requirements.marker(["3.10", "3.12"])
