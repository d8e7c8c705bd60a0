"""Where arrays live: which library makes the outputs of a call, and on which executor it runs."""
from __future__ import annotations

import os
import sys
from collections import OrderedDict
from typing import Any, Mapping, Protocol, Sequence, Tuple

import numpy as np

from . import _core

#: An array of NumPy, torch, CuPy or another library with DLPack or ``__cuda_array_interface__``.
Array = Any

LLR_SIGNS = ("log_p0_p1", "log_p1_p0")

# made once: numpy.dtype(...) takes longer than a small array
FLOAT32, COMPLEX64, UINT8, INT32 = (np.dtype(name) for name in ("float32", "complex64", "uint8", "int32"))


class Executor(Protocol):
    """Where calls run: what :func:`cpu` and :func:`cuda` give."""

    def sync(self) -> None:
        """Waits for everything queued."""

    @property
    def name(self) -> str:
        """"cpu" or "cuda:0"."""

    @property
    def description(self) -> str:
        """The instruction set and threads, or the name of the GPU."""


def cpu(*, threads: int = 0, isa: str | None = None) -> Executor:
    """Opens a CPU executor of its own.

    Args:
        threads: 0 for all cores.
        isa: an instruction set of :func:`warpband.isas`; None takes the widest, or what WARPBAND_ISA says.
    """
    return _core.Executor(threads=threads, isa=isa)


def cuda(*, device: int = 0, stream: int = 0) -> Executor:
    """Opens an executor on a stream of a CUDA device.

    Args:
        device: its number.
        stream: a ``cudaStream_t`` of yours as an integer, which must outlive the executor; 0 opens a new one.

    Raises:
        RuntimeError: the device is not there, or this build has no CUDA.
    """
    return _core.Executor.cuda(device=device, stream=stream)


_default: Executor | None = None


def default_cpu() -> Executor:
    """The executor of all calls that name none: all cores, or WARPBAND_THREADS of them."""
    global _default
    if _default is None:
        text = os.environ.get("WARPBAND_THREADS", "0")
        if not text.isdigit():
            raise ValueError(f'WARPBAND_THREADS = "{text}" is not allowed: expected a number of threads, 0 for all cores')
        _default = _core.Executor(threads=int(text), isa=None)
    return _default


def checked_sign(llr: str) -> bool:
    """Whether LLRs are those of the other sign."""
    if llr not in LLR_SIGNS:
        raise ValueError(f'llr = {llr!r} is not allowed: expected "log_p0_p1" or "log_p1_p0"')
    return llr == "log_p1_p0"


class NumpySpace:
    """NumPy in, NumPy out, on the CPU."""

    def executor(self, wanted: Executor | None) -> Any:
        return wanted or _default or default_cpu()

    def take(self, array: Array) -> Array:
        return array

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        return np.empty(shape, dtype)

    def give(self, array: Array) -> Array:
        return array

    def negated(self, array: Array) -> Array:
        array = np.asarray(array)
        if array.dtype == np.int8:
            return np.subtract(0, np.maximum(array, -127), dtype=np.int8)
        return np.subtract(array.dtype.type(0), array)

    def negate(self, array: Array) -> None:
        np.subtract(0, array, out=array)


class TorchHostSpace(NumpySpace):
    """Tensors of torch in host memory: the same memory, seen by NumPy."""

    def take(self, array: Array) -> Array:
        if type(array).__module__.partition(".")[0] != "torch":
            return array
        if array.device.type != "cpu":
            raise ValueError(f"an array on {array.device} is not allowed: expected all arrays of a call in host memory")
        return array.detach().resolve_conj().resolve_neg().numpy()

    def give(self, array: Array) -> Array:
        return sys.modules["torch"].from_numpy(array)


class DlpackHostSpace(NumpySpace):
    """Other arrays in host memory with DLPack."""

    def __init__(self, like: Array):
        self.namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else np

    def take(self, array: Array) -> Array:
        if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
            return array
        return np.from_dlpack(array)

    def give(self, array: Array) -> Array:
        return array if self.namespace is np else self.namespace.from_dlpack(array)


class DeviceSpace:
    """Arrays of torch or CuPy on a CUDA device: outputs of the same library, work on its current stream, no waiting."""

    _executors: OrderedDict[tuple[int, int], tuple[Executor, Any]] = OrderedDict()

    def __init__(self, like: Array):
        if not _core.has_cuda():
            raise RuntimeError("the array is on a CUDA device, and this build of warpband has no CUDA: move it to the host, "
                               "or build with -C cmake.define.WARPBAND_CUDA=ON")
        self.package = type(like).__module__.partition(".")[0]
        if self.package == "torch":
            import torch
            self.device = like.device.index
            self.stream_object = torch.cuda.current_stream(like.device)
            self.stream = self.stream_object.cuda_stream
            self.make = lambda shape, dtype: torch.empty(shape, dtype=getattr(torch, dtype), device=like.device)
        elif self.package == "cupy":
            import cupy
            self.device = like.device.id
            self.stream_object = cupy.cuda.get_current_stream(self.device)
            self.stream = self.stream_object.ptr

            def make(shape, dtype):
                with like.device:
                    return cupy.empty(shape, dtype)
            self.make = make
        else:
            raise ValueError(f"an array of {self.package} on a CUDA device is not allowed: expected one of torch or cupy, "
                             "which make the outputs")

    def executor(self, wanted: Executor | None) -> Any:
        # An executor of the caller's is for arrays in host memory: another stream would not wait for what made these.
        key = (self.device, self.stream)
        if key in self._executors:
            self._executors.move_to_end(key)
        else:
            while len(self._executors) >= 16:  # each keeps a workspace
                self._executors.popitem(last=False)
            # 0 is the default stream that all others wait for; its handle is 1. The stream must live as long.
            self._executors[key] = (_core.Executor.cuda(device=self.device, stream=self.stream or 1), self.stream_object)
        return self._executors[key][0]

    def take(self, array: Array) -> Array:
        if isinstance(array, (int, float)):  # N0
            filled = self.make((), "float32")
            filled[...] = array
            return filled
        place = getattr(array, "device", None)
        if place is not None and getattr(place, "index" if self.package == "torch" else "id", None) != self.device:
            raise ValueError(f"an array on {place} is not allowed: expected all arrays of a call on CUDA device {self.device}")
        if self.package == "torch" and hasattr(array, "detach"):
            return array.detach().resolve_conj().resolve_neg()
        return array

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        return self.make(shape, dtype.name)

    def give(self, array: Array) -> Array:
        return array

    def negated(self, array: Array) -> Array:
        return 0 - (array.clip(-127, 127) if str(array.dtype).endswith("int8") else array)

    def negate(self, array: Array) -> None:
        array *= -1
        array += 0  # no -0


NUMPY = NumpySpace()
TORCH_HOST = TorchHostSpace()


def space_of(array: Array) -> Any:
    """The space of a call's main input."""
    if type(array) is np.ndarray:
        return NUMPY
    library = type(array).__module__.partition(".")[0]
    if library == "torch":
        return DeviceSpace(array) if array.is_cuda else TORCH_HOST
    if library == "cupy":
        return DeviceSpace(array)
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError("a masked array is not allowed: expected one without a mask")
    try:
        memoryview(array)
        return NUMPY
    except TypeError:
        pass
    if hasattr(array, "__cuda_array_interface__"):
        return DeviceSpace(array)
    if hasattr(array, "__dlpack__"):
        kind, _ = array.__dlpack_device__()
        return DlpackHostSpace(array) if kind == 1 else DeviceSpace(array)
    raise TypeError(f"expected an array, got {type(array).__name__}: lists become one by numpy.array(..., dtype)")


def batch_of(name: str, array: Array, trailing: int) -> tuple[int, ...]:
    """The shape of all axes but the last ones."""
    shape = tuple(array.shape)
    if len(shape) < trailing:
        raise ValueError(f"{name} = shape {shape} is not allowed: expected at least {trailing} axes")
    return shape[:len(shape) - trailing]


#: What a call can give: the type and the axes behind those of the batch, by name.
Table = Mapping[str, Tuple[Any, Tuple[int, ...]]]


def fill(space: Any, table: Table, wanted: str | Sequence[str], out: Any, batch: tuple[int, ...]) -> dict[str, Any]:
    """The arrays that a call is to fill, by name: new ones, or those given as ``out``."""
    if out is None and type(wanted) is str and wanted in table:
        dtype, item = table[wanted]
        return {wanted: space.empty(batch + item, dtype)}
    names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    for name in names:
        if name not in table:
            raise ValueError(f"outputs = {name!r} is not allowed: expected {' or '.join(map(repr, table))}")
    if len(set(names)) != len(names):
        raise ValueError(f"outputs = {names} is not allowed: expected each name once")
    if out is None:
        return {name: space.empty(batch + table[name][1], table[name][0]) for name in names}
    given = (out,) if isinstance(wanted, str) else tuple(out)
    if len(given) != len(names):
        raise ValueError(f"out = {len(given)} arrays is not allowed: expected {len(names)}, for {names}")
    for name, array in zip(names, given):
        shape = batch + table[name][1]
        if tuple(array.shape) != shape:
            raise ValueError(f"out = shape {tuple(array.shape)} is not allowed: expected {shape} for {name!r}")
    return {name: space.take(array) for name, array in zip(names, given)}


def results(space: Any, arrays: dict[str, Any], wanted: str | Sequence[str], out: Any,
            negate: Sequence[str] = ()) -> Any:
    """What a call returns, with the LLRs named in ``negate`` in the other sign."""
    for name in negate:
        if name in arrays:
            space.negate(arrays[name])
    if out is not None:
        return out
    if type(wanted) is str:
        return space.give(arrays[wanted])
    return tuple(space.give(arrays[name]) for name in wanted)
