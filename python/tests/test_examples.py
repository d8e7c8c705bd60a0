"""The scripts of examples/, run as a user does."""
import os
import pathlib
import re
import subprocess
import sys

import pytest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def run(script, *arguments, cwd):
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run([sys.executable, EXAMPLES / script, *map(str, arguments)], cwd=cwd, capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": path}, timeout=600, check=True).stdout


def test_torch_chain(tmp_path):
    pytest.importorskip("torch")
    out = run("torch_chain.py", "--frames", 40, "--ebn0-db", 3, 12, cwd=tmp_path)
    rates = [(float(ber), float(fer)) for ber, fer in re.findall(r"BER (\S+) +FER (\S+)", out)]
    assert len(rates) == 2 and rates[0][0] > 0.05 and rates[1] == (0, 0), out


def test_ldpc_curve(tmp_path):
    out = run("ldpc_curve.py", "--frame-errors", 5, "--output", "r.json", cwd=tmp_path)
    assert "sum-product" in out and (tmp_path / "r.json").exists()
    pytest.importorskip("matplotlib")
    run("ldpc_curve.py", "--frame-errors", 2, "--plot", "r.png", cwd=tmp_path)
    assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG"


def test_stream_receiver(tmp_path):
    out = run("stream_receiver.py", "--frames", 30, "--rate", 30, "--deadline-ms", 0, cwd=tmp_path)
    delivered, late, dropped, failed = map(int, re.findall(r"(\d+)", out.splitlines()[1]))
    # how many are dropped is up to the machine: one that others use too may receive no faster than it pushes
    assert delivered + dropped == 30 and delivered > 0 == late == failed and "0 frames with wrong bits" in out, out
    out = run("stream_receiver.py", "--frames", 2000, "--rate", 1e6, "--deadline-ms", 0.001, "--noise-var", 1, "--devices", "cpu",
              "cpu", cwd=tmp_path)
    delivered, late, dropped, failed = map(int, re.findall(r"(\d+)", out.splitlines()[1]))
    assert delivered + dropped == 2000 and late == delivered > 0 == failed, out
    assert int(re.search(r"(\d+) frames with wrong bits", out)[1]) > 0
    pytest.importorskip("matplotlib")
    run("stream_receiver.py", "--frames", 5, "--plot", "r.png", cwd=tmp_path)
    assert (tmp_path / "r.png").read_bytes()[:4] == b"\x89PNG"


def test_link_adaptation(tmp_path):
    out = run("link_adaptation.py", "--users", 6, "--slots", 6, "--snrs=2,12", "--table-blocks", 60, cwd=tmp_path)
    rows = [list(map(float, re.findall(r"-?\d+\.\d+", line))) for line in out.splitlines()[1:]]
    assert [row[0] for row in rows] == [2, 12] and all(len(row) == 7 for row in rows), out
    low, high = rows
    assert high[1] > low[1] > 0 and high[1] > high[3], out  # more than the most robust MCS where the channel is good
