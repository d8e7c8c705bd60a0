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
                          env={**os.environ, "PYTHONPATH": path}, timeout=120, check=True).stdout


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
