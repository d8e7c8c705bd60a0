"""Settings: what is not allowed is refused by a message that names the argument, its value and what is expected."""
from __future__ import annotations

import dataclasses
import math
import operator
import os
import re
from typing import Any, Sequence

import numpy as np

from . import _core

LLR_SIGNS = ("p0/p1", "p1/p0")

#: the values that settings can have at all, where they are not those of a 32-bit integer
_RANGES = {"seed": (0, 2 ** 64 - 1), "first": (0, 2 ** 64 - 1), "point": (0, 2 ** 32 - 1), "block": (1, 2 ** 24), "stream": (0, 2 ** 64 - 1),
           "rv": (0, 3)}


def shown(value: Any) -> str:
    """A value in a message: one line that is not long."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # of a class of the caller's, or nested too deep
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else text[:77] + "..."


def refused(name: str, value: Any, expected: str) -> ValueError:
    return ValueError(f"{name} = {shown(value)} is not allowed: expected {expected}")


def file_name(name: str, path: Any) -> str:
    """A path as the compiled part takes it: UTF-8, and whole where C ends a text at a NUL."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"{name} is a {type(path).__name__}: expected a path, as text or a pathlib.Path")
    try:
        text = os.fspath(path)
    except Exception:
        raise refused(name, path, "a path, as text or a pathlib.Path") from None
    if not isinstance(text, str) or "\0" in text or not encodable(text):
        raise refused(name, text, "a path of characters that UTF-8 has, without NUL")
    return text


def encodable(text: str) -> bool:
    """Whether UTF-8 can hold it: no halves of characters (surrogates)."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def checked_sign(llr_sign: str) -> bool:
    """Whether LLRs are those of the other sign."""
    if not isinstance(llr_sign, str) or llr_sign not in LLR_SIGNS:
        raise refused("llr_sign", llr_sign, '"p0/p1" or "p1/p0"')
    return llr_sign == "p1/p0"


def checked_executor(executor: Any) -> Any:
    if executor is not None and not isinstance(executor, _core.Executor):
        raise TypeError(f"executor is a {type(executor).__name__}: expected what warpband.cpu() or warpband.cuda() gives, "
                        "or None")
    return executor


def code_of(code: Any, kind: type) -> Any:
    """What the compiled part has of a code."""
    if not isinstance(code, kind):
        raise TypeError(f"code is a {type(code).__name__}: expected a warpband.{kind.__name__}")
    return code._code  # type: ignore[attr-defined]


def number_or_none(name: str, value: Any) -> Any:
    """A number as the compiled part takes it, for which 0 says that it is left out. In 0.2.0 callers may still give 0."""
    if value is None:
        return 0
    if integer_of(value) == 0 and not isinstance(value, bool):
        import warnings
        warnings.warn(f"{name} = 0 is now {name} = None", FutureWarning, stacklevel=3)
    return value


def listed(name: str, values: Any) -> list[Any]:
    try:
        return list(values)
    except Exception:
        raise refused(name, values, "a list") from None


def _in_range(name: str, value: Any) -> None:
    """Checks the value, or every entry of a list."""
    if isinstance(value, (list, tuple)):
        for item in value:
            _in_range(name, item)
        return
    low, high = _RANGES.get(name, (-2 ** 31, 2 ** 31 - 1))
    integer = integer_of(value)
    if integer is not None and not low <= integer <= high:
        raise refused(name, value, f"{low} to {high}")


def integer_of(value: Any) -> int | None:
    """The value as an integer, or None if it is not one."""
    try:
        return operator.index(value)
    except Exception:
        return None


def whole(name: str, value: Any, low: int | None = None, high: int | None = None) -> int:
    """The value as an integer from ``low`` to ``high``; None: of the range that ``name`` can have at all."""
    if low is None or high is None:
        low, high = _RANGES[name]
    integer = integer_of(value)
    if integer is None:
        raise refused(name, value, f"an integer from {low} to {high}")
    if not low <= integer <= high:
        raise refused(name, value, f"{low} to {high}")
    return integer


def whole_for_each(name: str, value: Any, batch: tuple[int, ...], low: int, high: int) -> list[int]:
    """An integer from ``low`` to ``high`` for each item of a batch, in order: from one for all, or an array of the batch's shape."""
    if (one := integer_of(value)) is not None:
        return [whole(name, one, low, high)] * math.prod(batch)
    try:
        given = np.asarray(value)
        integers = [integer_of(v) for v in given.ravel().tolist()]
    except Exception:
        given, integers = np.empty(0), [None]
    if given.shape != batch or None in integers:
        raise refused(name, value, f"an integer from {low} to {high}, or integers of shape {batch}")
    return [whole(name, i, low, high) for i in integers]


def integer_fields(content: Any) -> list[int]:
    """The fields of a dataclass of integers and flags, in order."""
    fields = []
    for field in dataclasses.fields(content):
        value = getattr(content, field.name)
        if field.type == "bool":
            if not isinstance(value, (bool, np.bool_)):
                raise refused(field.name, value, "True or False")
            value = int(value)
        integer = integer_of(value)
        if integer is None or abs(integer) >= 2 ** 31:
            raise refused(field.name, value, "an integer")
        fields.append(integer)
    return fields


def number(name: str, value: Any) -> float:
    if not _fits("float", value):
        raise refused(name, value, "a number")
    return float(value)


_WORDS = {"int": ("an integer", "integers"), "float": ("a number", "numbers"), "complex": ("a complex number", "complex numbers"),
          "bool": ("True or False", "True or False"), "str": ("text", "texts")}


def _parts(kind: str) -> tuple[str, list[str]]:
    """"tuple", ["int", "int"] of "tuple[int, int]"."""
    outer, _, inner = kind.partition("[")
    return outer.rpartition(".")[2], re.findall(r"(?:[^,\[\]]|\[.*\])+", inner[:-1].replace(", ", ","))


def _fits(kind: str, value: Any) -> bool:
    """Whether the compiled part takes a value for an argument that its signature says is of this kind."""
    if kind.endswith(" | None"):
        return value is None or _fits(kind[:-7], value)
    outer, inner = _parts(kind)
    try:
        if outer == "int":
            operator.index(value)
        elif outer == "float":
            float("text" if isinstance(value, (str, bytes, bytearray)) else value)
        elif outer == "complex":
            complex("text" if isinstance(value, (str, bytes, bytearray)) else value)
    except Exception:
        return False
    if outer == "bool":
        return isinstance(value, bool)
    if outer == "str":
        return isinstance(value, str) and encodable(value)
    if outer == "Sequence":
        return isinstance(value, (list, tuple)) and all(_fits(inner[0], v) for v in value)
    if outer == "tuple":
        return isinstance(value, (list, tuple)) and len(value) == len(inner) and all(map(_fits, inner, value))
    return True


def _in_words(kind: str, several: bool = False) -> str:
    if kind.endswith(" | None"):
        return _in_words(kind[:-7], several) + " or None"
    outer, inner = _parts(kind)
    if outer == "Sequence":
        return f"{'lists' if several else 'a list'} of {_in_words(inner[0], True)}"
    if outer == "tuple":
        return f"{'pairs' if several else 'a pair'} ({', '.join(map(_in_words, inner))})"
    return _WORDS.get(outer, (outer, outer))[several]


def _check_kinds(call: Any, settings: dict[str, Any]) -> None:
    """Refuses the first setting whose type is not that of the compiled part's signature."""
    signature = getattr(call.__init__ if isinstance(call, type) else call, "__nb_signature__", (("",),))[0][0]
    for name, kind in re.findall(r"(\w+): ((?:[^,\[\]()=]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])+)", signature):
        if name in settings and not _fits(kind.strip(), settings[name]):
            raise refused(name, settings[name], _in_words(kind.strip()))


def made(factory: Any, **settings: Any) -> Any:
    """``factory(**settings)``, with a setting of another type, or an integer that no C++ type holds, as a ``ValueError`` like any
    other that is not allowed."""
    try:
        return factory(**settings)
    except TypeError:
        _check_kinds(factory, settings)
        for name, value in settings.items():
            try:
                _in_range(name, value)
            except ValueError as error:
                if isinstance(value, (list, tuple)):
                    raise
                # The library knows the range better than the type does.
                nearest = max(-2 ** 31, min(int(value), 2 ** 31 - 1))
                if nearest == value:  # a range of its own, such as that of a seed
                    raise
                try:
                    made(factory, **{**settings, name: nearest})
                except ValueError as better:
                    if str(better).startswith(f"{name} = {nearest} "):
                        raise ValueError(str(better).replace(str(nearest), str(value), 1)) from None
                raise error from None
        raise


def random_range(seed: int, first: int, point: int) -> Any:
    """Which random numbers a call of a channel draws."""
    return made(_core.RandomRange, seed=seed, first=first, point=point)
