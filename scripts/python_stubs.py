#!/usr/bin/env python3
"""Writes the keywords of the Python classes as type checkers and editors read them, from the settings that the library lists.

    PYTHONPATH=FOLDER_OF_CORE python scripts/python_stubs.py _keywords.pyi
"""
import pathlib
import sys
import textwrap

import _core


def main():
    lines = ['"""Made by scripts/python_stubs.py: keywords of classes, from the lists of settings in the library."""',
             "from typing import Literal, Sequence", "", "from typing_extensions import Required, TypedDict"]
    for kind, keywords in _core.keywords.items():
        lines += ["", f"class {kind}Keywords(TypedDict, total=False):"]
        for name, annotation, default, allowed, text in keywords:
            lines.append(f"    {name}: {f'Required[{annotation}]' if default is ... else annotation}")
            lines += textwrap.wrap(f'"""{allowed}. {text}"""'.replace("\\", "\\\\"), 116, initial_indent="    ", subsequent_indent="    ")
    pathlib.Path(sys.argv[1]).write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
