#!/usr/bin/env python3
"""Runs the notebooks of examples/ and stores what they give in them.

    PYTHONPATH=build/release/python .venv/bin/python scripts/notebooks.py [NOTEBOOK...]
"""
import pathlib
import sys
import time

if sys.argv[1:] in (["-h"], ["--help"]):
    print(__doc__)
    sys.exit()

import nbclient  # noqa: E402: --help needs neither
import nbformat  # noqa: E402

EXAMPLES = pathlib.Path(__file__).resolve().parents[1] / "examples"

for path in map(pathlib.Path, sys.argv[1:] or sorted(EXAMPLES.glob("*.ipynb"))):
    notebook = nbformat.read(path, as_version=4)
    start = time.perf_counter()
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
    for cell in notebook.cells:  # when it ran, and on which Python, is no result
        cell.metadata.pop("execution", None)
    notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
                         "language_info": {"name": "python"}}
    nbformat.write(notebook, path)
    print(f"{path.name}: {time.perf_counter() - start:.1f} s")
