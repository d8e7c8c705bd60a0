#!/usr/bin/env python3
"""Runs the tests of a CTest preset, many tests of the test program in one process.

    scripts/run_tests.py PRESET RESULTS [--jobs N] [-- WRAPPER...]

CTest starts a process for each test. One of the test program takes longer to start than most tests take to run, above all with a
sanitizer or under emulation. CTest still chooses the tests, by the labels of the preset. Those of one suite share a process, at most BATCH
of them; those labelled `alone` do not. Tests whose process crashed or took too long run again, each in its own. RESULTS is JUnit XML, as
CTest writes it. Fails if a test fails.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[1]
BATCH = 20
SECONDS = 600  # for a test of the test program; a batch has 60 more for each test after the first
FILTER = "--gtest_filter="


def environment_of(preset):
    """What a test preset and those that it inherits from set: CTest gives it to tests that it starts itself alone."""
    presets = {p["name"]: p for p in json.loads((ROOT / "CMakePresets.json").read_text())["testPresets"]}
    values = {}
    while preset:
        values = {**presets[preset].get("environment", {}), **values}
        preset = presets[preset].get("inherits")
    return values


def value_of(test, name, otherwise=None):
    """Of a property."""
    return next((p["value"] for p in test["properties"] if p["name"] == name), otherwise)


def batches_of(tests):
    """[(folder, command, names)], the command without a filter; in place of names the test, where it is a program of its own."""
    batches, last = [], None
    for test in tests:
        command, folder = test["command"], value_of(test, "WORKING_DIRECTORY")
        place = next((i for i, part in enumerate(command) if part.startswith(FILTER)), None)
        if place is None:
            batches.append((folder, command, test))
            last = None
            continue
        suite = None if "alone" in value_of(test, "LABELS", []) else test["name"].partition(".")[0]
        if not suite or suite != last or len(batches[-1][2]) == BATCH:
            batches.append((folder, command[:place] + command[place + 1:], []))
        batches[-1][2].append(command[place][len(FILTER):])
        last = suite
    return batches


def run_process(folder, command, seconds):
    """(exit code, what it printed); None for one that took too long."""
    try:
        done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=seconds, text=True, errors="replace")
        return done.returncode, done.stdout
    except subprocess.TimeoutExpired as e:
        return None, (e.stdout or b"").decode(errors="replace") + f"\nended after {seconds} s"


def case_of(name, printed, failure=None, skipped=False):
    case = ElementTree.Element("testcase", name=name, classname=name)
    if skipped:
        ElementTree.SubElement(case, "skipped")
    if failure:
        ElementTree.SubElement(case, "failure", message=failure)
    ElementTree.SubElement(case, "system-out").text = "".join(c for c in printed if c.isprintable() or c in "\n\t")
    return case


def run_program(wrapper, folder, command, test):
    code, printed = run_process(folder, [*wrapper, *command], value_of(test, "TIMEOUT", SECONDS))
    if code == value_of(test, "SKIP_RETURN_CODE", "none"):
        return [case_of(test["name"], printed, skipped=True)]
    return [case_of(test["name"], printed, None if code == 0 else f"exit code {code}")]


def run_batch(wrapper, folder, command, names):
    """The tests' results as elements of JUnit XML."""
    if isinstance(names, dict):
        return run_program(wrapper, folder, command, names)
    with tempfile.TemporaryDirectory() as scratch:
        file = pathlib.Path(scratch) / "results.xml"
        code, printed = run_process(folder, [*wrapper, *command, FILTER + ":".join(names), f"--gtest_output=xml:{file}"], SECONDS + 60 * (len(names) - 1))
        cases = {}
        if file.exists():
            for case in ElementTree.parse(file).getroot().iter("testcase"):
                name = f"{case.get('classname')}.{case.get('name')}"
                case.set("name", name)
                case.set("classname", name)
                for skipped in case.findall("skipped"):  # its message begins with file and line
                    skipped.set("message", skipped.get("message", "").partition("\n")[2])
                    skipped.text = None
                cases[name] = case
        failed = any(case.find("failure") is not None for case in cases.values())
        if cases.keys() == set(names) and (code == 0 or failed):
            if failed:
                print(printed)
            return list(cases.values())
    if len(names) > 1:
        return [case for name in names for case in run_batch(wrapper, folder, command, [name])]
    print(printed)
    return [case_of(names[0], printed, f"exit code {code}" if code != 0 else "it did not run")]


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("preset")
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    end = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    options, wrapper = parser.parse_args(sys.argv[1:end]), sys.argv[end + 1:]
    os.environ.update(environment_of(options.preset))
    listed = subprocess.run(["ctest", "--preset", options.preset, "--show-only=json-v1"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    tests = json.loads(listed.stdout[listed.stdout.index(b"{"):])["tests"]
    tests = [test for test in tests if not value_of(test, "DISABLED")]
    batches = batches_of(tests)
    suites = ElementTree.Element("testsuite", name=options.preset)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for cases in pool.map(lambda batch: run_batch(wrapper, *batch), batches):
            suites.extend(cases)
    failures = sum(case.find("failure") is not None for case in suites)
    ElementTree.ElementTree(suites).write(options.results, encoding="utf-8", xml_declaration=True)
    print(f"{len(suites)} tests in {len(batches)} processes, {failures} failed")
    if len(suites) != len(tests):
        sys.exit(f"{len(tests)} tests were chosen, and {len(suites)} have a result")
    sys.exit(failures != 0)


if __name__ == "__main__":
    main()
