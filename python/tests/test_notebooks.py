"""The notebooks of examples/: their stored outputs, and that they still run."""
import os
import pathlib
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
NOTEBOOKS = sorted((pathlib.Path(__file__).resolve().parents[2] / "examples").glob("*.ipynb"))


def test_all_are_here():
    assert [path.stem for path in NOTEBOOKS] == ["detector_comparison", "iterative_receiver", "massive_mimo", "own_detector", "pusch_uplink", "turbo_windows"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored(path):
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any(output.output_type == "stream" for output in outputs)
    assert not [output for output in outputs if output.output_type == "error"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs(path, monkeypatch):
    nbclient, _, _ = (pytest.importorskip(name) for name in ("nbclient", "ipykernel", "matplotlib"))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    notebook = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600, kernel_name="python3").execute()  # raises what a cell raises
    told = [output["text"] for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
    assert not [text for text in told if "is now called" in text]
