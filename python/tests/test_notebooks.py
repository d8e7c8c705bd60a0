"""The notebooks of examples/: their stored outputs, and that they still run."""
import os
import pathlib
import sys

import pytest

import warpband as wb

nbformat = pytest.importorskip("nbformat")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
from notebooks import cells_of  # noqa: E402

NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


def test_all_are_here():
    assert [path.stem for path in NOTEBOOKS] == ["deadline_receiver", "detector_comparison", "first_link", "iterative_receiver", "massive_mimo",
                                                 "own_detector", "pusch_uplink", "replay_recording", "turbo_windows", "uplink_standard"]
    assert [page.stem for page in TUTORIALS] == ["deadline_receiver", "first_link", "own_detector", "replay_recording", "uplink_standard"]


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_notebook_of_a_tutorial_is_made_from_its_page(page):
    notebook = nbformat.read(ROOT / "examples" / f"{page.stem}.ipynb", as_version=4)
    assert [(cell.cell_type, cell.source) for cell in notebook.cells] == cells_of(page), "run scripts/notebooks.py"


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_outputs_are_stored(path):
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.get("outputs", [])]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    assert any(output.output_type == "stream" for output in outputs)
    assert not [output for output in outputs if output.output_type == "error"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_runs_without_a_warning(path, monkeypatch):
    nbclient, _, _ = (pytest.importorskip(name) for name in ("nbclient", "ipykernel", "matplotlib"))
    if path.stem == "replay_recording" and not wb.has_hdf5:
        pytest.skip("needs HDF5")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in sys.path if p))
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell("import warnings\nwarnings.simplefilter('error')"))
    nbclient.NotebookClient(notebook, timeout=600, startup_timeout=600, kernel_name="python3").execute()  # raises what a cell raises
    assert not [output["text"] for cell in notebook.cells for output in cell.get("outputs", []) if output.get("name") == "stderr"]
