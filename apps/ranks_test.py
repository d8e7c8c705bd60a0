"""Tests of `warpband sim` on the ranks of mpirun: .venv/bin/python -m pytest apps/ranks_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given; skipped where it has no MPI or there is no mpirun.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
COMMAND = os.environ.get("WARPBAND_COMMAND", str(ROOT / "build" / "release" / "warpband"))
SCENARIO = """
[code]
type = "lte-turbo"
k = 256
[sweep]
ebn0_db = [0.6, 1.0, 1.4]
[stop]
frame_errors = 37
max_frames = 100000
"""
LONG = SCENARIO.replace("37", "0").replace("100000", "3000000")


def has_mpi():
    if shutil.which("mpirun") is None or not os.access(COMMAND, os.X_OK):
        return False
    return json.loads(subprocess.run([COMMAND, "info", "--json"], capture_output=True, check=True).stdout)["mpi"]


pytestmark = pytest.mark.skipif(not has_mpi(), reason="the command has no MPI (-DWARPBAND_MPI=ON), or there is no mpirun")


def command(ranks, *arguments):
    return ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), COMMAND, "sim", *map(str, arguments), "--quiet", "--threads", "1"]


def processes_of(run):
    """The processes of an mpirun's ranks, in order: the system's numbers may have begun again between two of them."""
    def rank(process):
        return int(re.search(rb"(?:^|\0)OMPI_COMM_WORLD_RANK=(\d+)\0", pathlib.Path(f"/proc/{process}/environ").read_bytes())[1])
    listed = subprocess.run(["ps", "--ppid", str(run.pid), "-o", "pid="], capture_output=True, text=True, check=True).stdout
    return sorted(map(int, listed.split()), key=rank)


def counts(path):
    """All counts of a result, without what the run took."""
    return [[{k: v for k, v in p.items() if k not in ("seconds", "frames_run", "mbps")} for p in c["points"]]
            for c in json.loads(path.read_text())["curves"]]


def expect_nothing_lost(out, tmp_path):
    """A run of LONG that has ended too early goes on to the counts of one process."""
    assert not json.loads(out.read_text())["complete"]
    resumed = subprocess.run(command(2, "--resume", out, "--max-frames", "20000"), capture_output=True, text=True)
    assert resumed.returncode == 0, resumed.stderr
    points = counts(out)[0]
    assert len(points) == 3
    for point in points:
        # A point that had more than the new limit keeps it: what one process counts in as many frames.
        assert point["frames"] >= 20000
        one_point = tmp_path / "point.toml"
        one_point.write_text(LONG.replace("[0.6, 1.0, 1.4]", f"[{point['ebn0_db']}]"))
        assert one_process(one_point, tmp_path / "one.json", "--force", "--max-frames", str(point["frames"])) == [[point]]


@pytest.fixture
def scenario(tmp_path):
    path = tmp_path / "scenario.toml"
    path.write_text(SCENARIO)
    return path


def one_process(scenario, out, *arguments):
    subprocess.run([COMMAND, "sim", scenario, "-o", out, "--quiet", *arguments], check=True, capture_output=True)
    return counts(out)


def test_counts_are_those_of_one_process(scenario, tmp_path):
    expected = one_process(scenario, tmp_path / "one.json")
    for ranks in (1, 2, 3, 4):
        out = tmp_path / f"{ranks}.json"
        done = subprocess.run(command(ranks, scenario, "-o", out), capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert counts(out) == expected
        assert done.stdout.count("fr. errors") == 1  # one table


def test_a_killed_rank_costs_a_checkpoint_and_the_run_goes_on_with_another_number(tmp_path):
    scenario, out = tmp_path / "long.toml", tmp_path / "r.json"
    scenario.write_text(LONG)
    run = subprocess.Popen(command(3, scenario, "-o", out, "--checkpoint", "0"), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    while not out.exists():
        assert run.poll() is None
        time.sleep(0.05)
    ranks = processes_of(run)
    os.kill(ranks[-1], signal.SIGKILL)
    assert run.wait(120) != 0
    expect_nothing_lost(out, tmp_path)


def test_ranks_that_are_killed_at_random_moments_cost_no_count():
    done = subprocess.run([sys.executable, ROOT / "scripts/kill_ranks.py", "--command", COMMAND, "--trials", "2", "--seed", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_rank_that_hangs_is_named(tmp_path):
    scenario, out = tmp_path / "long.toml", tmp_path / "r.json"
    scenario.write_text(LONG)
    run = subprocess.Popen(command(2, scenario, "-o", out, "--checkpoint", "0", "--rank-deadline", "30"), stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
    while not out.exists():
        assert run.poll() is None
        time.sleep(0.05)
    ranks = processes_of(run)
    os.kill(ranks[-1], signal.SIGSTOP)
    try:
        text, _ = run.communicate(timeout=120)
    finally:
        for rank in ranks:
            try:
                os.kill(rank, signal.SIGKILL)
            except ProcessLookupError:
                pass
    assert run.returncode != 0
    assert "no answer within 30 s" in text and text.count("rank 1 on") == 1
    expect_nothing_lost(out, tmp_path)


def test_what_is_wrong_is_told_once_and_ends_all_ranks(tmp_path):
    bad = tmp_path / "bad.toml"
    bad.write_text("[code]\ntype = \"no-such\"\n")
    done = subprocess.run(command(3, bad), capture_output=True, text=True, timeout=120)
    assert done.returncode != 0
    assert done.stderr.count("no-such") == 1


@pytest.mark.parametrize("suite, ranks", [("group_of_mpirun", 2), ("group_of_mpirun", 3), ("cluster_of_mpirun", 2), ("cluster_of_mpirun", 4)])
def test_groups_of_ranks_exchange_arrays(suite, ranks):
    """A test of warpband_tests on all ranks: they are members of one group."""
    tests = pathlib.Path(COMMAND).parent / "warpband_tests"
    if not os.access(tests, os.X_OK):
        pytest.skip("warpband_tests is not built")
    done = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", str(ranks), tests, f"--gtest_filter={suite}.*", "--gtest_color=no"],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "PASSED" in done.stdout and "SKIPPED" not in done.stdout, done.stdout
