"""Where arrays live: which library makes the outputs of a call, and on which executor it runs."""
from __future__ import annotations

import os
import sys
from collections import OrderedDict
from typing import Any, Iterable, Mapping, Protocol, Sequence, Tuple

import numpy as np

from . import _core
from ._settings import listed, made, number_or_none, refused, whole

#: An array of NumPy, torch, CuPy or another library with DLPack or ``__cuda_array_interface__``.
Array = Any

# made once: numpy.dtype(...) takes longer than a small array
FLOAT32, COMPLEX64, UINT8, INT8, INT32 = (np.dtype(name) for name in ("float32", "complex64", "uint8", "int8", "int32"))
_NAMES = {dtype.char: dtype.name for dtype in (FLOAT32, COMPLEX64, UINT8, INT8, INT32)}


class Executor(Protocol):
    """Where calls run: what :func:`cpu` and :func:`cuda` give.

    >>> one = wb.cpu(threads=1)
    >>> one.name
    'cpu'
    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4, executor=one)
    """

    def sync(self) -> None:
        """Waits for everything queued."""

    @property
    def name(self) -> str:
        """"cpu" or "cuda:0"."""

    @property
    def description(self) -> str:
        """The instruction set and threads, or the name of the GPU."""


def cpu(*, threads: int | None = None, isa: str | None = None) -> Executor:
    """Opens a CPU executor of its own.

    Args:
        threads: None for all cores.
        isa: an instruction set of :func:`warpband.isas`; None takes the widest, or what WARPBAND_ISA says.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4, executor=wb.cpu(threads=1))
    >>> wb.cpu(threads=2).description.endswith("2 threads")
    True
    """
    return made(_core.Executor, threads=number_or_none("threads", threads), isa=isa)


def reopened(threads: int, isa: str | None) -> Executor:
    """A pickled CPU executor."""
    return made(_core.Executor, threads=threads, isa=isa)


def cuda(*, device: int = 0, stream: int | None = None) -> Executor:
    """Opens an executor on a stream of a CUDA device.

    Args:
        device: its number.
        stream: a ``cudaStream_t`` of yours as an integer, which must outlive the executor; None opens a new one.

    Raises:
        RuntimeError: the device is not there, or this build has no CUDA.
        ValueError, TypeError: ``device`` or ``stream`` is no such number.

    >>> executor = wb.cuda() if wb.cuda_devices() else wb.cpu()
    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4, executor=executor)
    """
    return made(_core.Executor.cuda, device=whole("device", device, 0, 2 ** 31 - 1), stream=whole("stream", number_or_none("stream", stream)))


_default: Executor | None = None


def default_cpu() -> Executor:
    """The executor of all calls that name none: all cores, or WARPBAND_THREADS of them."""
    global _default
    if _default is None:
        text = os.environ.get("WARPBAND_THREADS", "0")
        if not text.isdigit():
            raise ValueError(f'WARPBAND_THREADS = "{text}" is not allowed: expected a number of threads, 0 for all cores')
        _default = made(_core.Executor, threads=int(text), isa=None)
    return _default


def _resolved(array: Array) -> Array:
    """A tensor to be filled, which must not be one that resolves into a copy."""
    if hasattr(array, "is_conj") and (array.is_conj() or array.is_neg()):
        raise ValueError("out = a tensor with a conjugation or sign that waits is not allowed: expected one without, as "
                         "torch.empty gives")
    return array


_GRADIENT = "a tensor that requires a gradient is not allowed: expected one without, as tensor.detach() gives"


def unusable(array: Any) -> str:
    """Why no call takes this array, and what to do instead; "" of any other object."""
    if any(base.__name__ == "Tracer" and base.__module__.partition(".")[0] in ("jax", "jaxlib") for base in type(array).__mro__):
        return "a tracer of JAX is not allowed: expected an array with values, so call it outside jax.jit or through jax.pure_callback"
    if getattr(array, "requires_grad", False) is True:
        return _GRADIENT
    if str(getattr(array, "dtype", "")).rpartition(".")[2] == "bfloat16":
        return "an array of bfloat16 is not allowed: expected one of float32, as tensor.float() or array.astype('float32') gives"
    return ""


class NumpySpace:
    """NumPy in, NumPy out, on the CPU."""

    def executor(self, wanted: Executor | None) -> Any:
        return wanted or _default or default_cpu()

    def take(self, array: Array) -> Array:
        return array

    def target(self, array: Array) -> Array:
        """An array that is to be filled."""
        return self.take(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        return np.empty(shape, dtype)

    def give(self, array: Array) -> Array:
        return array

    def negated(self, array: Array) -> Array:
        array = np.asarray(array)
        if array.dtype == np.int8:
            return np.subtract(0, np.maximum(array, -127), dtype=np.int8)
        return np.subtract(array.dtype.type(0), array)

    def negate(self, array: Array) -> Array:
        return np.subtract(0, array, out=array)


class TorchHostSpace(NumpySpace):
    """Tensors of torch in host memory: the same memory, seen by NumPy."""

    def take(self, array: Array) -> Array:
        if type(array).__module__.partition(".")[0] != "torch":
            return array
        if array.device.type != "cpu":
            raise ValueError(f"an array on {array.device} is not allowed: expected all arrays of a call in host memory")
        if getattr(array, "requires_grad", False):
            raise ValueError(_GRADIENT)
        try:
            return array.resolve_conj().resolve_neg().numpy()
        except TypeError:  # bfloat16, complex32
            raise ValueError(unusable(array) or f"an array of {str(array.dtype).rpartition('.')[2]} is not allowed: expected one of "
                             "a type that NumPy has") from None

    def target(self, array: Array) -> Array:
        return self.take(_resolved(array))

    def give(self, array: Array) -> Array:
        return sys.modules["torch"].from_numpy(array)


class DlpackHostSpace(NumpySpace):
    """Other arrays in host memory with DLPack."""

    def __init__(self, like: Array):
        self.namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else np

    def take(self, array: Array) -> Array:
        if isinstance(array, np.ndarray) or not hasattr(array, "__dlpack__"):
            return array
        try:
            return np.from_dlpack(array)
        except BufferError as error:
            raise ValueError(unusable(array) or f"an array that NumPy cannot read is not allowed: {error}") from None

    def give(self, array: Array) -> Array:
        return array if self.namespace is np else self.namespace.from_dlpack(array)


def _needs_cuda() -> None:
    if not _core.has_cuda():
        raise RuntimeError("the array is on a CUDA device, and this build of warpband has no CUDA: move it to the host, "
                           "or build with -C cmake.define.WARPBAND_CUDA=ON")


class DeviceSpace:
    """Arrays on a CUDA device: outputs of the same library, work on a stream, no waiting."""

    _executors: OrderedDict[tuple[int, int], tuple[Executor, Any]] = OrderedDict()
    device: int
    stream: int  # 0: one of this package's own
    stream_object: Any = None  # which must live as long as an executor on it

    def executor(self, wanted: Executor | None) -> Any:
        # An executor of the caller's is for arrays in host memory: another stream would not wait for what made these.
        key = (self.device, self.stream)
        found = self._executors.get(key)
        if found is not None:
            if len(self._executors) > 8:  # some may have to go soon
                self._executors.move_to_end(key)
            return found[0]
        while len(self._executors) >= 16:  # each keeps a workspace
            self._executors.popitem(last=False)
        # The stream must live as long.
        self._executors[key] = (_core.Executor.cuda(device=self.device, stream=self.stream), self.stream_object)
        return self._executors[key][0]

    def target(self, array: Array) -> Array:
        return self.take(array)

    def give(self, array: Array) -> Array:
        return array

    def negated(self, array: Array) -> Array:
        return 0 - (array.clip(-127, 127) if str(array.dtype).endswith("int8") else array)

    def negate(self, array: Array) -> Array:
        array *= -1
        array += 0  # no -0
        return array


def _number(array: Array) -> Array:
    """A scalar of NumPy, which has a buffer, as a number."""
    return array.item() if isinstance(array, np.generic) else array


class StreamSpace(DeviceSpace):
    """Arrays of a library with a current stream, on which the work is queued. Made once for a device and a stream."""

    _known: dict[tuple[int, int], Any]

    def __init__(self, key: tuple[int, int]):
        _needs_cuda()
        self.key = key
        self.device, self.stream = key

    @classmethod
    def on(cls, key: tuple[int, int]) -> Any:
        """That of a device and a stream."""
        if len(cls._known) >= 64:
            cls._known.clear()
        return cls._known.setdefault(key, cls(key))

    def executor(self, wanted: Executor | None) -> Any:
        if len(self._executors) <= 8:
            found = self._executors.get(self.key)
            if found is not None:
                return found[0]
        return super().executor(wanted)


class TorchSpace(StreamSpace):
    """Tensors of torch: the work is queued on torch's current stream."""

    _known: dict[tuple[int, int], TorchSpace] = {}

    def __init__(self, key: tuple[int, int]):
        super().__init__(key)
        self.torch = sys.modules["torch"]
        self.kind, self.empty_of = self.torch.Tensor, self.torch.empty
        self.place = self.torch.device("cuda", self.device)
        self.types = {char: getattr(self.torch, name) for char, name in _NAMES.items()}

    @property
    def stream_object(self) -> Any:
        return self.torch.cuda.current_stream(self.device)

    def target(self, array: Array) -> Array:
        return array

    def take(self, array: Array) -> Array:
        kind = type(array)
        if kind is float:
            return array
        if getattr(array, "requires_grad", False):
            raise ValueError(_GRADIENT)
        return array if kind is self.kind else _number(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        # Numbers one by one take torch half the time of a tuple.
        kind = self.types[dtype.char]
        return self.empty_of(*shape, dtype=kind, device=self.place) if shape else self.empty_of((), dtype=kind, device=self.place)

    def negate(self, array: Array) -> Array:
        with self.torch.no_grad():
            return super().negate(array)


def _torch_space(array: Array) -> Any:
    key = _core.work_stream(array)
    if key is None:  # in host memory, or torch before 2.10, or a subclass of its tensors
        if not array.is_cuda:
            return TORCH_HOST
        device = array.get_device()
        # 0 is the default stream that all others wait for; its handle is 1.
        key = device, sys.modules["torch"]._C._cuda_getCurrentRawStream(device) or 1
    return TorchSpace._known.get(key) or TorchSpace.on(key)


class CupySpace(StreamSpace):
    """Arrays of CuPy: the work is queued on CuPy's current stream of the arrays' device."""

    _known: dict[tuple[int, int], CupySpace] = {}

    def __init__(self, key: tuple[int, int]):
        super().__init__(key)
        self.cupy = sys.modules["cupy"]

    @property
    def place(self) -> Any:
        return self.cupy.cuda.Device(self.device)

    @property
    def stream_object(self) -> Any:
        return self.cupy.cuda.get_current_stream(self.device)

    def take(self, array: Array) -> Array:
        return _number(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        with self.place:
            return self.cupy.empty(shape, dtype)

    def negated(self, array: Array) -> Array:
        with self.place:
            return super().negated(array)

    def negate(self, array: Array) -> Array:
        with self.place:
            return super().negate(array)


def _cupy_space(array: Array) -> Any:
    device = array.device.id
    key = device, sys.modules["cupy"].cuda.get_current_stream(device).ptr or 1
    return CupySpace._known.get(key) or CupySpace.on(key)


class DlpackSpace(DeviceSpace):
    """Arrays of other libraries with DLPack: the work is queued on a stream of this package. That stream waits for the stream of
    the arrays, and the consumer of the outputs waits for it. Neither makes the host wait."""

    stream = 0

    def __init__(self, like: Array):
        _needs_cuda()
        kind, self.device = like.__dlpack_device__()
        if kind not in (2, 13):  # kDLCUDA, kDLCUDAManaged
            raise ValueError(f"an array on a device of DLPack type {kind} is not allowed: expected host memory (1) or CUDA (2)")
        self.namespace = like.__array_namespace__() if hasattr(like, "__array_namespace__") else None

    def take(self, array: Array) -> Array:
        if not hasattr(array, "__dlpack__") or isinstance(array, (np.ndarray, np.generic)):
            return _number(array)
        device = tuple(map(int, array.__dlpack_device__()))
        if device[0] not in (2, 13) or device[1] != self.device:
            raise ValueError(f"an array on DLPack device {device} is not allowed: expected all arrays of a call on CUDA device "
                             f"{self.device}")
        stream = self.executor(None).stream
        try:
            capsule = array.__dlpack__(stream=stream, max_version=(1, 0))
        except TypeError:  # older than DLPack 1
            capsule = array.__dlpack__(stream=stream)
        return _core.DeviceArray.from_dlpack(capsule, array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        return _core.DeviceArray(self.executor(None), list(shape), _NAMES[dtype.char])

    def give(self, array: Array) -> Array:
        if array.source is not None:
            return array.source
        return array if self.namespace is None else self.namespace.from_dlpack(array)

    def negated(self, array: Array) -> Array:
        return self.take(super().negated(array.source))

    def negate(self, array: Array) -> Array:
        if array.source is not None:  # it was given to be filled
            raise ValueError('out = an array is not allowed: expected None, as the LLRs of llr_sign = "p1/p0" are made by this '
                             "array's library")
        if self.namespace is None:
            raise ValueError('llr_sign = "p1/p0" is not allowed: expected arrays of a library with __array_namespace__, which '
                             "changes the sign")
        return self.take(0 - self.give(array))


class CudaInterfaceSpace(DeviceSpace):
    """Arrays with ``__cuda_array_interface__`` alone: on the stream that it names, or on the default stream."""

    def __init__(self, like: Array):
        _needs_cuda()
        about = like.__cuda_array_interface__
        self.device = max(0, _core.cuda_device_of(about["data"][0]))
        self.stream = about.get("stream") or 1
        self.stream_object = getattr(like, "stream", None)  # must live as long as the executor on it
        self.numba = type(like).__module__.partition(".")[0] == "numba"

    def take(self, array: Array) -> Array:
        return _number(array)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype) -> Array:
        return _core.DeviceArray(self.executor(None), list(shape), _NAMES[dtype.char])

    def give(self, array: Array) -> Array:
        if self.numba:
            from numba import cuda
            return cuda.as_cuda_array(array, sync=False)
        return array

    def negated(self, array: Array) -> Array:
        raise ValueError('llr_sign = "p1/p0" is not allowed: expected arrays of torch, CuPy or a library with DLPack, which changes '
                         "the sign")

    negate = negated


NUMPY = NumpySpace()
TORCH_HOST = TorchHostSpace()


_LIBRARIES: dict[type, str] = {}


def _library_of(kind: type) -> str:
    library = kind.__module__.partition(".")[0]
    if library in ("torch", "cupy") and len(_LIBRARIES) < 64:
        _LIBRARIES[kind] = library
    return library


def space_of(array: Array) -> Any:
    """The space of a call's main input."""
    if type(array) is np.ndarray:
        return NUMPY
    library = _LIBRARIES.get(type(array)) or _library_of(type(array))
    if library == "torch":
        return _torch_space(array)
    if library == "cupy":
        return _cupy_space(array)
    if isinstance(array, np.ma.MaskedArray):
        raise ValueError("a masked array is not allowed: expected one without a mask")
    if isinstance(array, (np.ndarray, np.generic)):
        return NUMPY
    if hasattr(array, "__dlpack__") and not isinstance(array, type):
        return DlpackHostSpace(array) if array.__dlpack_device__()[0] == 1 else DlpackSpace(array)
    if hasattr(array, "__cuda_array_interface__"):
        return CudaInterfaceSpace(array)
    try:
        memoryview(array)
        array.shape  # bytes and arrays of the standard library have none
    except (AttributeError, TypeError):
        raise TypeError(f"expected an array, got {type(array).__name__}: lists become one by numpy.array(..., dtype)") from None
    return NUMPY


def named_space(name: str, array: Array) -> Any:
    """The space of an argument, which errors name."""
    try:
        return space_of(array)
    except ValueError as error:
        raise ValueError(f"{name} = {error}") from None
    except (TypeError, RuntimeError) as error:
        raise type(error)(f"{name}: {error}") from None


def as_halves(array: Array) -> tuple[Array, bool]:
    """An array of complex values, and whether they are pairs of float16; one of torch.complex32 as such pairs, without a copy."""
    if type(array) is np.ndarray:
        return array, array.dtype.char == "e"
    name = str(getattr(array, "dtype", "")).rpartition(".")[2]
    if name == "complex32":
        return sys.modules["torch"].view_as_real(array.resolve_conj() if array.is_conj() else array), True
    return array, name == "float16"


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
    if type(wanted) is str and wanted in table:
        dtype, item = table[wanted]
        shape = batch + item
        if out is None:
            return {wanted: np.empty(shape, dtype) if space is NUMPY else space.empty(shape, dtype)}
        if getattr(out, "shape", None) == shape:  # else see below
            return {wanted: space.target(out)}
    try:
        names = (wanted,) if isinstance(wanted, str) else tuple(wanted)
    except Exception:
        raise refused("outputs", wanted, " or ".join(map(repr, table))) from None
    for name in names:
        if not isinstance(name, str) or name not in table:
            raise refused("outputs", name, " or ".join(map(repr, table)))
    if len(set(names)) != len(names):
        raise ValueError(f"outputs = {names} is not allowed: expected each name once")
    if out is None:
        return {name: space.empty(batch + table[name][1], table[name][0]) for name in names}
    given = (out,) if isinstance(wanted, str) or hasattr(out, "shape") or not isinstance(out, Iterable) else tuple(listed("out", out))
    if len(given) != len(names):
        raise ValueError(f"out = {len(given)} arrays is not allowed: expected {len(names)}, for {names}")
    for name, array in zip(names, given):
        shape = batch + table[name][1]
        try:
            has = tuple(array.shape)
        except Exception:
            raise TypeError(f"out is a {type(array).__name__}: expected an array of shape {shape} for {name!r}") from None
        if has != shape:
            raise ValueError(f"out = shape {has} is not allowed: expected {shape} for {name!r}")
    return {name: space.target(array) for name, array in zip(names, given)}


def results(space: Any, arrays: dict[str, Any], wanted: str | Sequence[str], out: Any,
            negate: Sequence[str] = ()) -> Any:
    """What a call returns, with the LLRs named in ``negate`` in the other sign."""
    for name in negate:
        if name in arrays:
            arrays[name] = space.negate(arrays[name])
    if out is not None:
        return out
    if type(wanted) is str:
        return arrays[wanted] if space is NUMPY else space.give(arrays[wanted])
    return tuple(space.give(arrays[name]) for name in wanted)
