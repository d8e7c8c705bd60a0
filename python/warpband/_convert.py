"""Arrays in host memory of other types and layouts than the library takes: converted where a call refuses them."""
from __future__ import annotations

import functools
import inspect
import sys
from typing import Any, Callable, TypeVar

import numpy as np

from ._arrays import COMPLEX64, FLOAT32, NUMPY, UINT8, Array, DeviceSpace, named_space, space_of, unusable
from ._settings import refused, shown

Call = TypeVar("Call", bound=Callable[..., Any])
Rule = Callable[[str, Array, dict[str, Any]], Array]


def converting(**inputs: Rule) -> Callable[[Call], Call]:
    """Decorates a call that has ``strict``. Where it refuses its inputs they are converted by these rules, and it is called again."""

    def decorate(call: Call) -> Call:
        parameters = inspect.signature(call).parameters
        taken, passed = [], []
        for name, p in parameters.items():
            named = p.kind is p.KEYWORD_ONLY
            if named and "*" not in taken:
                taken.append("*")
            taken.append(name if p.default is p.empty else f"{name}=parameters[{name!r}].default")
            passed.append(f"{name}={name}" if named else name)
        needed = [name for name in inputs if name != "noise_var" and parameters[name].default is inspect.Parameter.empty
                  and "None" not in str(parameters[name].annotation)]
        scope = {"call": call, "parameters": parameters, "converted": functools.partial(_converted, inputs, needed)}
        # With *arguments and **settings instead, every call would take 0.1 us more.
        exec(f"""def called({', '.join(taken)}):
            try:
                return call({', '.join(passed)})
            except (TypeError, ValueError, RuntimeError):
                given = converted(dict({', '.join(f'{name}={name}' for name in parameters)}))
            return call(**given)""", scope)
        called: Any = scope["called"]
        return functools.wraps(call)(called)  # type: ignore[return-value]

    return decorate


def _converted(inputs: dict[str, Rule], needed: list[str], given: dict[str, Any]) -> dict[str, Any]:
    """Converted arguments for a second call. Raises the current exception again if there is nothing to convert. An error names
    an argument that is no array, or an array that no call takes."""
    strict = given["strict"]
    if not isinstance(strict, (bool, np.bool_)):
        raise refused("strict", strict, "True or False") from None
    original: Any = sys.exc_info()[1]
    for name in (*inputs, "out"):
        if problem := unusable(given.get(name)):
            raise ValueError(f"{name} = {problem}") from None
    for name in needed:
        listed = isinstance(given[name], (list, tuple))
        if not listed or strict:
            try:
                named_space(name, given[name])
            except (TypeError, ValueError, RuntimeError) as error:
                if str(error).endswith(str(original)) or isinstance(error, TypeError) and not listed:
                    raise error from None
    if isinstance(original, RuntimeError):
        raise
    changed = {} if strict else {name: rule(name, given[name], given) for name, rule in inputs.items()
                                          if given[name] is not None}
    for name in needed:
        if isinstance(given[name], (list, tuple)) and changed.get(name) is given[name]:
            raise TypeError(f"{name} is a {type(given[name]).__name__}: expected an array of numbers") from None
    if all(array is given[name] for name, array in changed.items()):
        raise
    return {**given, **changed}


def _on_host(array: Array) -> tuple[Any, np.ndarray] | None:
    """The space of an array in host memory, and its values there; of a list too. None: it is no such array."""
    try:
        space = NUMPY if isinstance(array, (list, tuple)) else space_of(array)
        return None if isinstance(space, DeviceSpace) else (space, np.asarray(space.take(array)))
    except Exception:
        return None


def _as(array: Array, kinds: str, dtype: np.dtype, kept: tuple[str, ...] = (), check: Any = None) -> Array:
    """The array as one of ``dtype`` in C order if its numbers are of these kinds. An array of a type that is ``kept`` keeps its
    type, in C order."""
    found = _on_host(array)
    if found is None:
        return array
    space, values = found
    keeps = values.dtype.name in kept
    if not keeps and values.dtype.kind not in kinds:
        return array
    if check is not None and not keeps:
        check(values)
    with np.errstate(over="ignore"):  # what becomes infinite is an erasure
        new = np.asarray(values, values.dtype.newbyteorder("=") if keeps else dtype, order="C")
    if new.ctypes.data % new.itemsize:
        new = new.copy()
    return array if new is values else space.give(new)


def as_complex(name: str, array: Array, given: dict[str, Any]) -> Array:
    return _as(array, "biufc", COMPLEX64)


def has_complex_numbers(array: Array) -> bool:
    dtype = getattr(array, "dtype", "")
    return "complex" in str(getattr(dtype, "name", dtype))


def as_numbers(name: str, array: Array, given: dict[str, Any]) -> Array:
    """Complex numbers stay complex, real ones real."""
    found = _on_host(array)
    return as_complex(name, array, given) if found is not None and found[1].dtype.kind == "c" else _as(array, "biuf", FLOAT32)


def as_numbers_like(like: str) -> Rule:
    """Complex numbers where another array has some."""

    def rule(name: str, array: Array, given: dict[str, Any]) -> Array:
        other = _on_host(given[like])
        return as_complex(name, array, given) if other is not None and other[1].dtype.kind == "c" else _as(array, "biuf", FLOAT32)

    return rule


def as_samples(name: str, array: Array, given: dict[str, Any]) -> Array:
    """Of float16 are pairs of real and imaginary parts."""
    return _as(array, "biufc", COMPLEX64, ("float16",))


def as_real(name: str, array: Array, given: dict[str, Any]) -> Array:
    return _as(array, "biuf", FLOAT32)


def as_llrs(name: str, array: Array, given: dict[str, Any]) -> Array:
    """Of uint8 and bool are hard bits, which are no LLRs, of int8 steps, and of int16 where a call scales integers."""
    return _as(array, "iuf", FLOAT32, ("int8", "uint8", "bool", *(("int16",) if "llr_scale" in given else ())))


def as_block_llrs(name: str, array: Array, given: dict[str, Any]) -> Array:
    """Of int8 and int16 are steps. As float32 other integers would have another scale."""
    found = _on_host(array)
    if found is not None and found[1].dtype.kind == "i" and found[1].dtype.name not in ("int8", "int16"):
        raise ValueError(f"{name} = an array of {found[1].dtype.name} is not allowed: expected int8, int16 or float32") from None
    return as_llrs(name, array, {**given, "llr_scale": 1.0})


def _as_bytes(name: str, array: Array, kept: tuple[str, ...]) -> Array:
    def check(values: np.ndarray) -> None:
        other = values[(values < 0) | (values > 255)]
        if other.size:
            raise ValueError(f"{name} = an array with {shown(other.flat[0].item())} is not allowed: expected 0 to 255") from None

    return _as(array, "iu", UINT8, kept, check)


def as_packed(name: str, array: Array, given: dict[str, Any]) -> Array:
    """Bytes of eight bits."""
    return _as_bytes(name, array, ("uint8",))


def as_status(name: str, array: Array, given: dict[str, Any]) -> Array:
    """Status bytes, or only whether something is erased."""
    return _as_bytes(name, array, ("uint8", "bool"))


def as_bits(name: str, array: Array, given: dict[str, Any]) -> Array:
    def check(values: np.ndarray) -> None:
        other = values[(values != 0) & (values != 1)]
        if other.size:
            raise ValueError(f"{name} = an array with {shown(other.flat[0].item())} is not allowed: expected 0 and 1") from None

    return _as(array, "iuf", UINT8, ("uint8", "bool"), check)


def _batch_axes(array: Any, trailing: int) -> tuple[int, ...]:
    """The extents of all axes but the last ones. In float16 the real and the imaginary part are one axis more."""
    shape = np.shape(array) if isinstance(array, (list, tuple)) else tuple(array.shape)
    dtype = getattr(array, "dtype", "")
    return shape[:max(0, len(shape) - trailing - str(getattr(dtype, "name", dtype)).endswith("float16"))]


def as_channel(like: str, trailing: int) -> Rule:
    """H, with two axes, for the batch axes of another array. With as many batch axes H is broadcast as NumPy does."""

    def rule(name: str, array: Array, given: dict[str, Any]) -> Array:
        found = _on_host(array)
        if found is not None and found[1].dtype.kind in "biufc" and _on_host(given[like]) is not None:
            space, values = found
            batch, ahead = _batch_axes(given[like], trailing), values.shape[:-2]
            if len(ahead) == len(batch) and ahead != batch and all(n in (1, m) for n, m in zip(ahead, batch)):
                array = space.give(np.array(np.broadcast_to(values, batch + values.shape[-2:])))
        return as_complex(name, array, given)

    return rule


def as_gain(like: str) -> Rule:
    """A complex number for each number of another array, broadcast as NumPy does."""

    def rule(name: str, array: Array, given: dict[str, Any]) -> Array:
        found = _on_host(array)
        if found is not None and found[1].dtype.kind in "biufc" and _on_host(given[like]) is not None:
            try:
                array = found[0].give(np.array(np.broadcast_to(found[1], _batch_axes(given[like], 0))))
            except ValueError:
                pass  # the call says which shape it expects
        return as_complex(name, array, given)

    return rule


def as_noise(like: str, trailing: int) -> Rule:
    """N0 for the batch axes of another array, broadcast as NumPy does."""

    def rule(name: str, array: Array, given: dict[str, Any]) -> Array:
        found = _on_host(array)
        if found is None or found[1].ndim == 0:
            return array
        space, values = found
        batch = _batch_axes(given[like], trailing)
        if values.shape != batch:
            try:
                values = np.array(np.broadcast_to(values, batch))
            except ValueError:
                pass  # the call says which shape it expects
        return _as(array if values is found[1] else space.give(values), "iuf", FLOAT32)

    return rule
