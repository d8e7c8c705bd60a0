"""The layout of JSON files: one point, benchmark or run a line. ``warpband/io/json_lines.hpp`` describes it."""
from __future__ import annotations

import json
from typing import Any


def json_lines(value: Any) -> str:
    """The text of ``value``, with a line end behind it."""
    return _text(value, 0) + "\n"


def _contains_array_of_objects(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_contains_array_of_objects, value.values()))
    return isinstance(value, list) and any(isinstance(entry, dict) or _contains_array_of_objects(entry) for entry in value)


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _text(value: Any, depth: int) -> str:
    if not value or not isinstance(value, (dict, list)) or (depth and not _contains_array_of_objects(value)):
        return _one_line(value)
    if isinstance(value, dict):
        entries, ends = [f"{_one_line(key)}: {_text(entry, depth + 1)}" for key, entry in value.items()], "{}"
    else:
        entries, ends = [_text(entry, depth + 1) for entry in value], "[]"
    indent = "\n" + " " * depth
    return ends[0] + ",".join(f"{indent} {entry}" for entry in entries) + indent + ends[1]
