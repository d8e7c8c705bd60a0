#!/usr/bin/env python3
"""Runs the notebooks of examples/ and stores what they give in them. A notebook with a page in docs/tutorials/ is first made from that page.

    PYTHONPATH=build/release/python .venv/bin/python scripts/notebooks.py [NOTEBOOK...]
"""
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
EXAMPLES, TUTORIALS = ROOT / "examples", ROOT / "docs" / "tutorials"


def cells_of(page):
    """The cells of a tutorial, [(kind, text)]: its Python is code, all else is Markdown."""
    parts = re.split(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    cells = [("code" if i % 2 else "markdown", part.strip()) for i, part in enumerate(parts)]
    cells = [(kind, text) for kind, text in cells if text]
    first = next(i for i, (kind, _) in enumerate(cells) if kind == "code")
    cells[first] = ("code", "%matplotlib inline\n" + cells[first][1])
    return cells


def made_of(page):
    import nbformat
    new = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
    return nbformat.v4.new_notebook(cells=[new[kind](text, id=f"cell-{i}") for i, (kind, text) in enumerate(cells_of(page))])


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return
    import nbclient
    import nbformat
    everything = sorted({*EXAMPLES.glob("*.ipynb"), *(EXAMPLES / f"{page.stem}.ipynb" for page in TUTORIALS.glob("*.md"))})
    for path in map(pathlib.Path, sys.argv[1:] or everything):
        page = TUTORIALS / f"{path.stem}.md"
        notebook = made_of(page) if page.exists() else nbformat.read(path, as_version=4)
        start = time.perf_counter()
        nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False).execute()
        for cell in notebook.cells:  # when it ran, and on which Python, is no result
            cell.metadata.pop("execution", None)
        notebook.metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
                             "language_info": {"name": "python"}}
        nbformat.write(notebook, path)
        print(f"{path.name}: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
