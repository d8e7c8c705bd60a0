"""Functions of a sweep: channels, detectors and decoders that are written in Python."""
from __future__ import annotations

import inspect
import math
import re
from typing import Any, Callable, Mapping, NamedTuple

import numpy as np

from . import _core
from ._settings import refused, shown

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")
_RESERVED = ("none", "built-in")


class Frames(NamedTuple):
    """The frames for which a channel function draws H.

    >>> def rayleigh(frames: wb.Frames):
    ...     rng = np.random.default_rng(frames.seed)
    ...     h = rng.standard_normal((*frames.shape, 2)) @ (0.5 ** 0.5 * np.array([1, 1j]))
    ...     return h.astype(np.complex64)
    >>> rayleigh(wb.Frames(count=3, first=6, seed=7, matrices=1, rx=4, tx=2)).shape
    (3, 1, 4, 2)
    """

    count: int  #: frames
    first: int  #: index of the first of them
    seed: int  #: 0..2**64 - 1, another one for each call: of the scenario's seed, the point, the transmission and ``first``
    matrices: int  #: H of a frame: 1 with ``channel.fading = "block"``; "fast" asks for one for each use
    rx: int  #: receive antennas; of massive MIMO those of the base station, in both directions
    tx: int  #: streams, antenna ports or users

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Of H: (count, matrices, rx, tx)."""
        return self.count, self.matrices, self.rx, self.tx


class FunctionOfSweep:
    """A function and what is around it: makes its arrays, and checks what it gives."""

    def __init__(self, argument: str, name: str, function: Callable[..., Any], executor: Any):
        self.argument, self.name, self.function, self.executor = argument, name, function, executor
        self.shown = f'{argument}["{name}"]'
        self.torch, self.where = None, {}  # where: arguments of functions that make arrays
        self.takes_prior = self.has_fourth_parameter()
        if executor.device >= 0:
            try:
                import torch
            except ImportError:
                raise RuntimeError(f'device = "{executor.name}" is not allowed with functions: expected "cpu", or torch installed, '
                                   "whose tensors they get on a GPU") from None
            self.torch, self.where = torch, {"device": f"cuda:{executor.device}"}

    # ---- arrays that the function gets

    def empty(self, shape: tuple[int, ...], dtype: str) -> Any:
        """An array for the compiled part to fill."""
        return np.empty(shape, dtype) if self.torch is None else _core.DeviceArray(self.executor, list(shape), dtype)

    def given(self, array: Any) -> Any:
        """As the function gets it."""
        return array if self.torch is None else self.torch.from_dlpack(array)

    # ---- what it gives

    def checked(self, array: Any, shape: tuple[int, ...], dtype: str, part: str = "") -> Any:
        """A result of the function, with rows side by side on the executor's device."""
        got = f"{self.shown} returned{part and ' ' + part + ' as'}"
        if type(array).__module__.partition(".")[0] == "torch" and hasattr(array, "detach"):
            array = array.detach().resolve_conj().resolve_neg()
            if self.torch is None:
                array = array.cpu().numpy()
            elif not array.is_cuda:
                array = array.to(**self.where)
        if isinstance(array, np.ndarray):
            kind = array.dtype.name
        elif self.torch is not None and hasattr(array, "__dlpack__"):
            array = self.torch.from_dlpack(array)
            kind = str(array.dtype).rpartition(".")[2]
        else:
            raise TypeError(f"{got} {shown(array)}, a {type(array).__name__}: expected an array of {dtype}")
        if tuple(array.shape) != shape:
            raise ValueError(f"{got} an array of shape {tuple(array.shape)}: expected {shape}")
        if kind != dtype:
            raise TypeError(f"{got} an array of {kind}: expected {dtype}")
        if isinstance(array, np.ndarray):
            array = np.ascontiguousarray(array, dtype=dtype)
            return array if self.torch is None else self.torch.from_numpy(array).to(**self.where)
        return array.contiguous()

    def draw(self, count: int, first: int, seed: int, point: int, matrices: int, rx: int, tx: int) -> Any:
        mixed = int(np.random.SeedSequence([seed, point, first]).generate_state(1, np.uint64)[0])
        frames = Frames(count, first, mixed, matrices, rx, tx)
        drawn = self.checked(self.function(frames), frames.shape, "complex64")
        self.finish()
        return drawn

    def has_fourth_parameter(self) -> bool:
        """Whether a detector has one without a default: it takes a-priori LLRs."""
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # of a compiled function that does not say
            return False
        return sum(p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty for p in parameters) > 3

    def finish(self) -> None:
        """Waits for the function's work: torch queues it on a stream of its own."""
        if self.torch is not None:
            self.torch.cuda.current_stream(self.where["device"]).synchronize()

    def detect(self, h: Any, y: Any, n0: Any, prior: Any, bits: int, clip: float, extrinsic: bool) -> tuple[Any, Any, Any]:
        """LLRs, decisions and status of each use. ``prior`` may be None."""
        xp = np if self.torch is None else self.torch
        uses, groups = y.shape[0], h.shape[0]
        lost = ~xp.isfinite(y).all(1)
        lost |= (~xp.isfinite(h.reshape(groups, -1)).all(1))[xp.arange(uses, **self.where) // (uses // groups)]
        if not self.takes_prior:
            result = self.function(h, y, n0)
        else:
            if prior is None:
                prior = xp.zeros((uses, bits), dtype=xp.float32, **self.where)
            lost |= ~xp.isfinite(prior).all(1)
            result = self.function(h, y, n0, prior)
        llr = self.checked(result, (uses, bits), "float32")
        if extrinsic and prior is not None:
            llr = llr - prior
        lost |= ~xp.isfinite(llr).all(1)
        llr = xp.where(lost[:, None], xp.zeros_like(llr), llr)
        if math.isfinite(clip):
            llr = llr.clip(-clip, clip)
        results = llr, self.bytes(llr < 0), self.bytes(lost)
        self.finish()
        return results

    def bytes(self, flags: Any) -> Any:
        """Of True and False."""
        return flags.astype(np.uint8) if self.torch is None else flags.to(self.torch.uint8)

    def decode(self, llr: Any, k: int) -> tuple[Any, Any, Any]:
        result, frames = self.function(llr), llr.shape[0]
        bits, iterations = result if isinstance(result, tuple) and len(result) == 2 else (result, None)
        if str(getattr(bits, "dtype", "")).rpartition(".")[2] == "bool":
            bits = self.bytes(bits)
        bits = self.checked(bits, (frames, k), "uint8", "bits")
        if bool((bits > 1).any()):
            raise ValueError(f"{self.shown} returned bits with the value {int(bits.max())}: expected 0 and 1")
        if iterations is None:
            iterations = np.ones(frames, np.int32)
        iterations = self.checked(iterations, (frames,), "int32", "iterations")
        if bool((iterations < 0).any()) or bool((iterations > 65535).any()):
            raise ValueError(f"{self.shown} returned iterations from {int(iterations.min())} to {int(iterations.max())}: expected "
                             "0 to 65535")
        results = bits, iterations, self.checked(np.zeros(frames, np.uint8), (frames,), "uint8")
        self.finish()
        return results


def functions_of(argument: str, functions: Mapping[str, Callable[..., Any]] | None, executor: Any) -> list[FunctionOfSweep]:
    """The functions of an argument of sweep, checked."""
    if functions is None:
        return []
    if not isinstance(functions, Mapping):
        raise TypeError(f"{argument} is a {type(functions).__name__}: expected a dictionary of names and functions")
    for name, function in functions.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or name.lower() in _RESERVED:
            raise refused(argument, name, "names of letters, digits, - and _ that begin with a letter, at most 64")
        if not callable(function):
            raise TypeError(f'{argument}["{name}"] is a {type(function).__name__}: expected a function')
    return [FunctionOfSweep(argument, name, function, executor) for name, function in functions.items()]
