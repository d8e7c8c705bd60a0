"""Layers of torch with gradients, for a chain that is trained and then deployed.

The forward pass of :class:`Demapper`, :class:`MMSE`, :class:`LdpcDecoder` and :class:`Awgn` is the kernel of the same name in
:mod:`warpband`, so that results have the same bits. The backward pass of the first three is a kernel too, on a CPU and on a GPU.
:class:`QamMapper` looks its points up in torch. Trained points are for layers of torch: no kernel takes them.

Layers are custom operators of torch, which ``torch.compile`` and ``torch.func.vmap`` take. Those three have no gradients of gradients, and ``torch.func.grad`` is refused by torch.

Tensors are complex64 and float32. The gradient of a complex number x is ``dF/dRe x + 1j dF/dIm x``, as everywhere in torch.
A gradient from above that is not finite gives NaN for all inputs of its item, so that a loss of NaN is seen.
``import warpband`` does not import this module. It needs torch 2.5 and is tested with 2.11 (``pip install torch``).
"""
from __future__ import annotations

import functools
import json
import math
import os
import pathlib
import pickle
import threading
from typing import Any, Callable, Literal, Sequence

import numpy as np

if __name__ == "torch":  # of a program that has this folder on its path, and no torch
    raise ModuleNotFoundError("No module named 'torch'", name="torch")
try:
    import torch
except ImportError as error:
    raise ImportError("warpband.torch needs torch, which is not installed: `pip install torch`") from error
if not hasattr(torch.library, "register_vmap"):
    raise ImportError(f"warpband.torch needs torch 2.5 or later, this is {torch.__version__}: `pip install --upgrade torch`")

from . import _core
from ._arrays import space_of
from ._settings import checked_sign, made, number, refused, whole
from .channel import awgn
from .detect import MMSE as _MMSE
from .ldpc import LdpcCode
from .ldpc import LdpcDecoder as _LdpcDecoder
from .modem import Demapper as _Demapper
from .modem import QamMapper as _QamMapper
from .sparse_ldpc import ParityCheckMatrix, SparseLdpcDecoder

__all__ = ["Awgn", "Demapper", "LdpcDecoder", "MMSE", "QamMapper"]

Tensor = torch.Tensor
Algorithm = Literal["max-log", "exact"]


def _unfit(name: str, value: str, expected: str) -> ValueError:
    return ValueError(f"{name} = {value} is not allowed: expected {expected}")


def _checked(name: str, tensor: Any, dtype: torch.dtype) -> Tensor:
    if not isinstance(tensor, torch.Tensor):
        raise TypeError(f"{name} is a {type(tensor).__name__}: expected a tensor of {dtype}")
    if tensor.dtype != dtype:
        raise _unfit(name, f"a tensor of {tensor.dtype}", f"one of {dtype}")
    return tensor


def _noise(noise_var: Any, like: Tensor, batch: torch.Size, may_be_zero: bool = False) -> Tensor:
    """N0 as a tensor of the batch."""
    if not isinstance(noise_var, torch.Tensor):
        if noise_var is None or isinstance(noise_var, (bool, str, np.ndarray)):
            raise TypeError(f"noise_var is a {type(noise_var).__name__}: expected a number or a tensor of torch.float32")
        power = number("noise_var", noise_var)
        if not (power > 0 or may_be_zero and power == 0):
            raise refused("noise_var", noise_var, f"a power {'of 0 or more' if may_be_zero else 'above 0'}, not in dB: 10 ** (dB / 10)")
        noise_var = torch.tensor(power, dtype=torch.float32, device=like.device)
    return _shared("noise_var", _checked("noise_var", noise_var, torch.float32), batch)


def _shared(name: str, tensor: Tensor, shape: Any) -> Tensor:
    try:
        return tensor.expand(shape)
    except RuntimeError:
        raise _unfit(name, f"shape {tuple(tensor.shape)}", f"one that broadcasts to {tuple(shape)}") from None


def _plain(tensor: Tensor) -> Tensor:
    """The numbers of a tensor, side by side: what kernels take."""
    return tensor.detach().contiguous()


def _logits(llr: Tensor, negated: bool) -> Tensor:
    """LLRs of the sign that is asked for. An LLR of 0 is +0.0 for both, as in :mod:`warpband`."""
    return 0 - llr if negated else llr


def _nan_where_not_finite(llr_gradient: Tensor, gradients: tuple[Tensor, ...]) -> None:
    """NaN in each item (all but the last axis) whose gradient from above is not finite: kernels give 0."""
    bad = ~torch.isfinite(llr_gradient).all(-1)
    for gradient in gradients:
        mask = bad.reshape(bad.shape + (1,) * (gradient.dim() - bad.dim()))
        gradient.masked_fill_(mask, complex("nan+nanj") if gradient.is_complex() else float("nan"))


def _over_batch(operator: Any) -> Callable[..., Any]:
    """The rule of vmap for an operator whose tensors all have the batch in front."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        moved = [argument if not isinstance(argument, torch.Tensor)
                 else argument.unsqueeze(0).expand(info.batch_size, *argument.shape) if dim is None
                 else argument.movedim(dim, 0) for argument, dim in zip(arguments, in_dims)]
        result = operator(*moved)
        return result, tuple(0 for _ in result) if isinstance(result, tuple) else 0

    return rule


# ---- demapper

@functools.lru_cache(maxsize=64)
def _demapper(qam: int, algorithm: str) -> tuple[Any, Any]:
    settings: dict[str, Any] = {"qam": qam, "algorithm": algorithm}
    return _Demapper(**settings), made(_core.DemapperBackward, settings=settings)


@torch.library.custom_op("warpband::demap", mutates_args=())
def _demap(received: Tensor, noise_var: Tensor, channel: Tensor | None, qam: int, algorithm: str) -> Tensor:
    return _demapper(qam, algorithm)[0](_plain(received), _plain(noise_var), channel=None if channel is None else _plain(channel))


@_demap.register_fake
def _(received: Tensor, noise_var: Tensor, channel: Tensor | None, qam: int, algorithm: str) -> Tensor:
    bits = qam.bit_length() - 1
    return received.new_empty((*received.shape[:-1], received.shape[-1] * bits), dtype=torch.float32)


@torch.library.custom_op("warpband::demap_backward", mutates_args=())
def _demap_backward(received: Tensor, noise_var: Tensor, channel: Tensor | None, llr_gradient: Tensor, qam: int,
                    algorithm: str) -> tuple[Tensor, Tensor, Tensor]:
    space = space_of(received)
    arrays = [_plain(tensor) for tensor in (received, noise_var, llr_gradient)]
    results = received.new_empty(received.shape), received.new_empty(received.shape), noise_var.new_empty(noise_var.shape)
    y, n0, given = map(space.take, arrays)
    _demapper(qam, algorithm)[1].run(space.executor(None), y, n0, None if channel is None else space.take(_plain(channel)),
                                     given, *map(space.target, results))
    _nan_where_not_finite(llr_gradient.reshape(*received.shape, qam.bit_length() - 1), results)
    return results


@_demap_backward.register_fake
def _(received: Tensor, noise_var: Tensor, channel: Tensor | None, llr_gradient: Tensor, qam: int,
      algorithm: str) -> tuple[Tensor, Tensor, Tensor]:
    return received.new_empty(received.shape), received.new_empty(received.shape), noise_var.new_empty(noise_var.shape)


def _save_demap(ctx: Any, inputs: Any, output: Any) -> None:
    received, noise_var, channel, ctx.qam, ctx.algorithm = inputs
    ctx.save_for_backward(received, noise_var, channel)


def _backward_demap(ctx: Any, gradient: Tensor) -> Any:
    received, noise_var, channel = ctx.saved_tensors
    of_y, of_h, of_n0 = _demap_backward(received, noise_var, channel, gradient, ctx.qam, ctx.algorithm)
    return of_y, of_n0, None if channel is None else of_h, None, None


_demap.register_autograd(_backward_demap, setup_context=_save_demap)
_demap.register_vmap(_over_batch(_demap))
_demap_backward.register_vmap(_over_batch(_demap_backward))


class Demapper(torch.nn.Module):
    """:class:`warpband.Demapper` with gradients of received symbols, N0 and channel.

    Args:
        qam: points: 2, 4, 16, 64, 256, 1024 or 4096.
        algorithm: "max-log" or "exact". Gradients of max-log jump where two points are equally near.
        llr_sign: "p0/p1" for ln P(0)/P(1); "p1/p0" gives logits, which torch's losses take.

    Raises:
        ValueError: for settings, types or shapes that are not allowed.

    A symbol has gradients of 0 where an input is not finite, where ``|y|^2`` or ``|h|^2`` is above 1e30, or where N0 is outside
    1e-30..1e30. Except for BPSK the same holds where ``|h|^2`` is below 1e-30 (also h = 0) or above ``1e20 N0``, or ``|y|^2`` is
    above ``1e10 |h|^2``. LLRs may differ from 0 there. One of the gradients that overflows is 0.

    >>> import torch
    >>> import warpband.torch as wt
    >>> y = torch.tensor([0.5 + 0.1j], dtype=torch.complex64, requires_grad=True)
    >>> wt.Demapper(qam=4)(y, 0.5).sum().backward()
    >>> y.grad
    tensor([5.6569+5.6569j])
    """

    def __init__(self, *, qam: int, algorithm: Algorithm = "max-log", llr_sign: str = "p0/p1"):
        super().__init__()
        self._negated = checked_sign(llr_sign)
        forward = _Demapper(qam=qam, algorithm=algorithm)
        self.qam: int = forward.qam
        self.algorithm: str = forward.algorithm
        self.llr_sign = llr_sign
        self.bits_per_symbol: int = forward.bits_per_symbol

    def forward(self, received: Tensor, noise_var: float | Tensor, channel: Tensor | None = None) -> Tensor:
        """Demaps complex64 ``(..., n)`` to LLRs, float32 ``(..., n * bits_per_symbol)``.

        Args:
            received: y.
            noise_var: N0 per complex entry, a number or a float32 tensor that broadcasts to the shape of ``received``.
            channel: h, complex64 that broadcasts to it; None is 1.
        """
        _checked("received", received, torch.complex64)
        if received.dim() == 0:
            raise _unfit("received", "shape ()", "at least 1 axis")
        if channel is not None:
            channel = _shared("channel", _checked("channel", channel, torch.complex64), received.shape)
        llr = _demap(received, _noise(noise_var, received, received.shape), channel, self.qam, self.algorithm)
        return _logits(llr, self._negated)

    def extra_repr(self) -> str:
        return f"qam={self.qam}, algorithm={self.algorithm!r}, llr_sign={self.llr_sign!r}"


# ---- MMSE detector

@functools.lru_cache(maxsize=64)
def _detector(streams: int, rx_antennas: int, qam: int, llr_clip: float | None) -> tuple[Any, Any]:
    settings: dict[str, Any] = {"streams": streams, "rx_antennas": rx_antennas, "qam": qam}
    if llr_clip is not None:
        settings["llr_clip"] = llr_clip
    return _MMSE(**settings), made(_core.MmseBackward, settings=settings)


@torch.library.custom_op("warpband::mmse", mutates_args=())
def _mmse(channel: Tensor, received: Tensor, noise_var: Tensor, qam: int, llr_clip: float | None) -> Tensor:
    detect = _detector(channel.shape[-1], channel.shape[-2], qam, llr_clip)[0]
    return detect(_plain(channel), _plain(received), _plain(noise_var))


@_mmse.register_fake
def _(channel: Tensor, received: Tensor, noise_var: Tensor, qam: int, llr_clip: float | None) -> Tensor:
    bits = channel.shape[-1] * (qam.bit_length() - 1)
    return received.new_empty((*received.shape[:-1], bits), dtype=torch.float32)


@torch.library.custom_op("warpband::mmse_backward", mutates_args=())
def _mmse_backward(channel: Tensor, received: Tensor, noise_var: Tensor, llr_gradient: Tensor, qam: int,
                   llr_clip: float | None) -> tuple[Tensor, Tensor, Tensor]:
    space = space_of(received)
    arrays = [_plain(tensor) for tensor in (channel, received, noise_var, llr_gradient)]
    results = tuple(tensor.new_empty(tensor.shape) for tensor in arrays[:3])
    work = _detector(channel.shape[-1], channel.shape[-2], qam, llr_clip)[1]
    work.run(space.executor(None), *map(space.take, arrays), *map(space.target, results))
    _nan_where_not_finite(llr_gradient, results)
    return results[0], results[1], results[2]


@_mmse_backward.register_fake
def _(channel: Tensor, received: Tensor, noise_var: Tensor, llr_gradient: Tensor, qam: int,
      llr_clip: float | None) -> tuple[Tensor, Tensor, Tensor]:
    shapes = [tensor.new_empty(tensor.shape) for tensor in (channel, received, noise_var)]
    return shapes[0], shapes[1], shapes[2]


def _save_mmse(ctx: Any, inputs: Any, output: Any) -> None:
    channel, received, noise_var, ctx.qam, ctx.llr_clip = inputs
    ctx.save_for_backward(channel, received, noise_var)


def _backward_mmse(ctx: Any, gradient: Tensor) -> Any:
    return *_mmse_backward(*ctx.saved_tensors, gradient, ctx.qam, ctx.llr_clip), None, None


_mmse.register_autograd(_backward_mmse, setup_context=_save_mmse)
_mmse.register_vmap(_over_batch(_mmse))
_mmse_backward.register_vmap(_over_batch(_mmse_backward))


class MMSE(torch.nn.Module):
    """:class:`warpband.MMSE` with gradients of channel, received samples and N0.

    Args:
        streams: 1..8.
        rx_antennas: streams..16.
        qam: points: 4, 16, 64 or 256.
        llr_clip: LLRs are limited to this magnitude, and have no gradient beyond it; None is no limit.
        llr_sign: "p0/p1" for ln P(0)/P(1); "p1/p0" gives logits, which torch's losses take.

    Raises:
        ValueError: for settings, types or shapes that are not allowed.

    Uses that the detector erases have gradients of 0. One of the gradients that overflows is 0. A shared channel gets the sum of the gradients of its uses.

    >>> import torch
    >>> import warpband.torch as wt
    >>> h, y = torch.eye(2, dtype=torch.complex64), torch.tensor([0.5 + 0.1j, -0.2j], dtype=torch.complex64, requires_grad=True)
    >>> wt.MMSE(streams=2, rx_antennas=2, qam=4)(h, y, 0.5).sum().backward()
    >>> y.grad
    tensor([5.6569+5.6569j, 5.6569+5.6569j])
    """

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, llr_clip: float | None = None, llr_sign: str = "p0/p1"):
        super().__init__()
        self._negated = checked_sign(llr_sign)
        forward = _MMSE(streams=streams, rx_antennas=rx_antennas, qam=qam, llr_clip=llr_clip)
        self.streams: int = forward.streams
        self.rx_antennas: int = forward.rx_antennas
        self.qam: int = forward.qam
        self.llr_clip = None if llr_clip is None else float(llr_clip)
        self.llr_sign = llr_sign
        self.bits_per_use: int = forward.bits_per_use

    def forward(self, channel: Tensor, received: Tensor, noise_var: float | Tensor) -> Tensor:
        """Detects uses to LLRs, float32 ``(..., bits_per_use)``.

        Args:
            channel: H, complex64 ``(..., rx_antennas, streams)``; the batch axes may be the first of received's alone.
            received: y, complex64 ``(..., rx_antennas)``.
            noise_var: N0 per complex entry, a number or a float32 tensor without axes or with as many as the batch, of 1 or the
                batch's length.
        """
        _checked("channel", channel, torch.complex64)
        _checked("received", received, torch.complex64)
        if received.dim() == 0 or received.shape[-1] != self.rx_antennas:
            raise _unfit("received", f"shape {tuple(received.shape)}", f"(..., {self.rx_antennas})")
        item = (self.rx_antennas, self.streams)
        if tuple(channel.shape[-2:]) != item:
            raise _unfit("channel", f"shape {tuple(channel.shape)}", f"(..., {self.rx_antennas}, {self.streams})")
        batch = received.shape[:-1]
        if isinstance(noise_var, torch.Tensor) and noise_var.dim() not in (0, len(batch)):
            raise _unfit("noise_var", f"shape {tuple(noise_var.shape)}", f"no axes, or the {len(batch)} of the batch {tuple(batch)}")
        shared = (1,) * (len(batch) + 2 - channel.dim())
        whole_batch = _shared("channel", channel.reshape(*channel.shape[:-2], *shared, *item), (*batch, *item))
        llr = _mmse(whole_batch, received, _noise(noise_var, received, batch), self.qam, self.llr_clip)
        return _logits(llr, self._negated)

    def extra_repr(self) -> str:
        return (f"streams={self.streams}, rx_antennas={self.rx_antennas}, qam={self.qam}, llr_clip={self.llr_clip}, "
                f"llr_sign={self.llr_sign!r}")


# ---- LDPC decoder

# What an operator decodes with, by the number that it gets. Equal codes and settings have one entry, which stays.
_decoded: list[tuple[Any, str, int]] = []
_decoded_numbers: dict[tuple[bytes, str, int], int] = {}
_decoded_lock = threading.Lock()
_LISTS = {"normalised-min-sum": ("factors", 1.0), "offset-min-sum": ("offsets", 8.0)}


def _number_of(code: Any, algorithm: str, iterations: int) -> int:
    key = pickle.dumps(code), algorithm, iterations
    with _decoded_lock:
        if key not in _decoded_numbers:
            _decoded.append((code, algorithm, iterations))
            _decoded_numbers[key] = len(_decoded) - 1
        return _decoded_numbers[key]


@functools.lru_cache(maxsize=8)
def _ldpc(number_of_code: int, corrections: tuple[float, ...]) -> tuple[Any, Any]:
    code, algorithm, iterations = _decoded[number_of_code]
    settings: dict[str, Any] = {"algorithm": algorithm, "iterations": iterations, "early_stop": "none",
                                _LISTS[algorithm][0]: list(corrections)}
    if isinstance(code, LdpcCode):
        return _LdpcDecoder(code=code, **settings), made(_core.MinSumBackward.of_code, code=code._code, settings=settings)
    return SparseLdpcDecoder(matrix=code, **settings), made(_core.MinSumBackward.of_matrix, matrix=code._code, settings=settings)


def _columns(number_of_code: int) -> int:
    return _decoded[number_of_code][0].n


@torch.library.custom_op("warpband::min_sum", mutates_args=())
def _min_sum(llr: Tensor, corrections: Tensor, code: int) -> Tensor:
    return _ldpc(code, tuple(corrections.tolist()))[0](_plain(llr), outputs="soft")


@_min_sum.register_fake
def _(llr: Tensor, corrections: Tensor, code: int) -> Tensor:
    return llr.new_empty((*llr.shape[:-1], _columns(code)))


@torch.library.custom_op("warpband::min_sum_backward", mutates_args=())
def _min_sum_backward(llr: Tensor, corrections: Tensor, soft_gradient: Tensor, code: int) -> tuple[Tensor, Tensor]:
    space = space_of(llr)
    arrays = [_plain(llr), _plain(soft_gradient)]
    results = llr.new_empty(llr.shape), llr.new_empty((*llr.shape[:-1], corrections.shape[0]))
    work = _ldpc(code, tuple(corrections.tolist()))[1]
    work.run(space.executor(None), *map(space.take, arrays), *map(space.target, results))
    _nan_where_not_finite(soft_gradient, results)
    return results


@_min_sum_backward.register_fake
def _(llr: Tensor, corrections: Tensor, soft_gradient: Tensor, code: int) -> tuple[Tensor, Tensor]:
    return llr.new_empty(llr.shape), llr.new_empty((*llr.shape[:-1], corrections.shape[0]))


def _save_min_sum(ctx: Any, inputs: Any, output: Any) -> None:
    llr, corrections, ctx.code = inputs
    ctx.save_for_backward(llr, corrections)


def _backward_min_sum(ctx: Any, gradient: Tensor) -> Any:
    llr, corrections = ctx.saved_tensors
    of_llr, of_corrections = _min_sum_backward(llr, corrections, gradient, ctx.code)
    return of_llr, of_corrections.reshape(-1, of_corrections.shape[-1]).sum(0).to(corrections.device), None


def _over_codewords(operator: Any) -> Callable[..., Any]:
    """The rule of vmap: one call of a batch of codewords, or a call for each list of corrections."""

    def rule(info: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> Any:
        moved = [argument if not isinstance(argument, torch.Tensor) or dim is None and i == 1
                 else argument.unsqueeze(0).expand(info.batch_size, *argument.shape) if dim is None
                 else argument.movedim(dim, 0) for i, (argument, dim) in enumerate(zip(arguments, in_dims))]
        if in_dims[1] is None:
            result = operator(*moved)
            return result, (0, 0) if isinstance(result, tuple) else 0
        calls = [operator(*(x[i] if isinstance(x, torch.Tensor) else x for x in moved)) for i in range(info.batch_size)]
        if isinstance(calls[0], tuple):
            return tuple(torch.stack(results) for results in zip(*calls)), (0, 0)
        return torch.stack(calls), 0

    return rule


_min_sum.register_autograd(_backward_min_sum, setup_context=_save_min_sum)
_min_sum.register_vmap(_over_codewords(_min_sum))
_min_sum_backward.register_vmap(_over_codewords(_min_sum_backward))


class LdpcDecoder(torch.nn.Module):
    """Layered min-sum of :class:`warpband.LdpcDecoder` with gradients of LLRs, and of a factor or offset for each iteration.

    Args:
        code: an ``LdpcCode`` of the package, or a ``ParityCheckMatrix``, which :class:`warpband.SparseLdpcDecoder` decodes.
        algorithm: "normalised-min-sum" or "offset-min-sum".
        iterations: all are done, 1..1000.
        factors: of normalised min-sum, 0..1: one for each iteration, or one number for all. None is 0.75.
        offsets: of offset min-sum, 0..8, in the same way. None is 0.5.
        trainable: the factors or offsets are a parameter.
        llr_sign: "p0/p1" for ln P(0)/P(1); "p1/p0" gives and takes logits, which torch's losses take.

    Raises:
        ValueError: for settings, types or shapes that are not allowed.

    ``factors`` or ``offsets``, float32 ``(iterations,)``, are limited to what decoders take when they are used. Codewords that the
    decoder erases have gradients of 0. The least magnitude of a check has the derivative of the bit that it comes from; of two equal ones
    the first. An LLR that is limited to +-1e30 has none.

    Memory of a GPU or a CPU thread: about ``2 sqrt(iterations) (n + ones of H)`` values for each codeword under way.

    >>> import torch
    >>> import warpband as wb
    >>> import warpband.torch as wt
    >>> decode = wt.LdpcDecoder(code=wb.wifi_ldpc(n=648), iterations=4, trainable=True)
    >>> llr = torch.full((10, 648), 2.0)
    >>> decode(llr).mean().backward()
    >>> decode.factors.grad.shape, decode.settings()["factors"]
    (torch.Size([4]), [0.75, 0.75, 0.75, 0.75])
    """

    def __init__(self, *, code: LdpcCode | ParityCheckMatrix, algorithm: Literal["normalised-min-sum", "offset-min-sum"] = "normalised-min-sum",
                 iterations: int = 10, factors: float | Sequence[float] | None = None, offsets: float | Sequence[float] | None = None,
                 trainable: bool = False, llr_sign: str = "p0/p1"):
        super().__init__()
        self._negated = checked_sign(llr_sign)
        if not isinstance(code, (LdpcCode, ParityCheckMatrix)):
            raise TypeError(f"code is a {type(code).__name__}: expected a warpband.LdpcCode or warpband.ParityCheckMatrix")
        if algorithm not in _LISTS:
            raise refused("algorithm", algorithm, '"normalised-min-sum" or "offset-min-sum"')
        self.iterations = whole("iterations", iterations, 1, 1000)
        name, self._greatest = _LISTS[algorithm]
        other = "offsets" if name == "factors" else "factors"
        if {"factors": factors, "offsets": offsets}[other] is not None:
            raise refused(other, {"factors": factors, "offsets": offsets}[other], f"None with {algorithm}")
        given = factors if name == "factors" else offsets
        given = (0.75 if name == "factors" else 0.5) if given is None else given
        listed = [given] * self.iterations if isinstance(given, (int, float)) else [number(name, x) for x in given]
        if len(listed) != self.iterations or not all(0 <= x <= self._greatest for x in listed):
            raise refused(name, given, f"a number from 0 to {self._greatest:g}, or {self.iterations} of them, as iterations says")
        values = torch.tensor(listed, dtype=torch.float32)
        if trainable:
            self.register_parameter(name, torch.nn.Parameter(values))
        else:
            self.register_buffer(name, values)
        self.code, self.algorithm, self.llr_sign, self.trainable = code, algorithm, llr_sign, bool(trainable)
        #: LLRs that a codeword has on a channel, and columns of H
        self.sent, self.n = (code.n, code.n) if isinstance(code, LdpcCode) else (code.sent, code.n)
        self._list = name
        self._code_number = _number_of(code, algorithm, self.iterations)
        _ldpc(self._code_number, tuple(values.tolist()))  # settings that only the decoder knows to be wrong

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self._code_number = _number_of(self.code, self.algorithm, self.iterations)  # in this process

    def _corrections(self) -> Tensor:
        return getattr(self, self._list).float().clamp(0, self._greatest)

    def forward(self, llr: Tensor) -> Tensor:
        """Decodes float32 ``(..., sent)`` to a-posteriori LLRs, float32 ``(..., n)``, of all columns of H."""
        _checked("llr", llr, torch.float32)
        if llr.dim() == 0 or llr.shape[-1] != self.sent:
            raise _unfit("llr", f"shape {tuple(llr.shape)}", f"(..., {self.sent})")
        soft = _min_sum(_logits(llr, self._negated), self._corrections(), self._code_number)
        return _logits(soft, self._negated)

    def settings(self, *, step: float | None = None) -> dict[str, Any]:
        """Keywords of :class:`warpband.LdpcDecoder` that decode with these factors or offsets.

        Args:
            step: they become multiples of it; int8 takes factors in steps of 0.125.

        Raises:
            ValueError: for factors or offsets that are not finite, and for a step that is not above 0 or above the largest value.
        """
        values = [float(str(np.float32(x))) for x in self._corrections().detach().cpu().numpy()]
        if not all(map(math.isfinite, values)):
            raise refused(self._list, values, "finite numbers")
        if step is not None:
            step = number("step", step)
            if not 0 < step <= self._greatest:
                raise refused("step", step, f"above 0 and at most {self._greatest:g}")
            values = [min(round(x / step), math.floor(self._greatest / step)) * step for x in values]
        return {"algorithm": self.algorithm, "iterations": self.iterations, self._list: values}

    def save(self, path: str | os.PathLike[str], *, trained_for: str, step: float | None = None) -> None:
        """Writes the factors or offsets to a file, which decoders take as ``factors`` or ``offsets``.

        Args:
            path: the file.
            trained_for: what they were trained for, a text of 1 to 200 bytes.
            step: as in :meth:`settings`.
        """
        if not isinstance(trained_for, str) or not 1 <= len(trained_for.encode()) <= 200:
            raise refused("trained_for", trained_for, "a text of 1 to 200 bytes")
        content = {"format": "warpband-ldpc-factors", "version": 1, "trained_for": trained_for, "iterations": self.iterations,
                   self._list: self.settings(step=step)[self._list]}
        pathlib.Path(path).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")

    def extra_repr(self) -> str:
        return f"code={self.code!r}, algorithm={self.algorithm!r}, iterations={self.iterations}, llr_sign={self.llr_sign!r}"


# ---- noise

@torch.library.custom_op("warpband::awgn", mutates_args=())
def _awgn(sent: Tensor, noise_var: Tensor, seed: int, first: int, point: int) -> Tensor:
    return awgn(_plain(sent), noise_var=_plain(noise_var), seed=seed, first=first, point=point)


@_awgn.register_fake
def _(sent: Tensor, noise_var: Tensor, seed: int, first: int, point: int) -> Tensor:
    return sent.new_empty(sent.shape)


def _save_awgn(ctx: Any, inputs: Any, output: Any) -> None:
    _, noise_var, ctx.seed, ctx.first, ctx.point = inputs
    ctx.save_for_backward(noise_var)


def _backward_awgn(ctx: Any, gradient: Tensor) -> Any:
    of_n0 = None
    if ctx.needs_input_grad[1]:  # the noise n is made again; dn/dN0 = n / (2 N0)
        noise_var, = ctx.saved_tensors
        noise = _awgn(torch.zeros_like(gradient), noise_var, ctx.seed, ctx.first, ctx.point)
        positive = noise_var > 0
        of_n0 = torch.where(positive, (gradient.conj() * noise).real / (2 * torch.where(positive, noise_var, 1.)), 0.)
    return gradient, of_n0, None, None, None


_awgn.register_autograd(_backward_awgn, setup_context=_save_awgn)
_awgn.register_vmap(_over_batch(_awgn))


class Awgn(torch.nn.Module):
    """:func:`warpband.awgn` with gradients of symbols and N0.

    Args:
        seed: names the experiment, 0..2**63 - 1.

    The noise follows from ``seed``, ``point`` and the index of a symbol alone. Under ``vmap`` the symbols are those of one large batch.
    Every call without ``first`` has the same noise: a loop that trains on new noise counts its symbols in ``first``.
    Where N0 is 0 its gradient is 0. On a GPU a negative N0 of a tensor adds no noise, as in :func:`warpband.awgn`.

    >>> import torch
    >>> import warpband.torch as wt
    >>> n0 = torch.tensor(0.5, requires_grad=True)
    >>> y = wt.Awgn(seed=1)(torch.zeros(10_000, dtype=torch.complex64), n0)
    >>> y.abs().square().mean().backward()
    >>> round(float(n0.grad), 1)  # the mean power is N0
    1.0
    """

    def __init__(self, *, seed: int):
        super().__init__()
        self.seed = whole("seed", seed, 0, 2 ** 63 - 1)

    def forward(self, sent: Tensor, noise_var: float | Tensor, *, first: int = 0, point: int = 0) -> Tensor:
        """Adds noise to complex64 of any shape.

        Args:
            sent: symbols.
            noise_var: N0 of 0 or more, a number or a float32 tensor that broadcasts to the shape of ``sent``.
            first: index of the first symbol. A training step goes on with ``first`` = the symbols before it.
            point: names the point of a sweep, 0..2**32 - 1.
        """
        _checked("sent", sent, torch.complex64)
        return _awgn(sent, _noise(noise_var, sent, sent.shape, may_be_zero=True), self.seed, whole("first", first, 0, 2 ** 63 - 1),
                     whole("point", point, 0, 2 ** 32 - 1))

    def extra_repr(self) -> str:
        return f"seed={self.seed}"


# ---- mapper

class QamMapper(torch.nn.Module):
    """:class:`warpband.QamMapper`, whose points can be trained.

    Args:
        qam: points: 2, 4, 16, 64, 256, 1024 or 4096.
        trainable: ``points`` is a parameter. :class:`Demapper` and :class:`MMSE` expect the points of the standard, so write your
            own demapper for trained points.

    ``points``, complex64 ``(qam,)``, has the symbol of each label; bit 0 is the highest bit of a label.

    >>> import torch
    >>> import warpband.torch as wt
    >>> mapper = wt.QamMapper(qam=4, trainable=True)
    >>> mapper(torch.tensor([[0, 0, 1, 1]])).detach()
    tensor([[ 0.7071+0.7071j, -0.7071-0.7071j]])
    """

    points: Tensor

    def __init__(self, *, qam: int, trainable: bool = False):
        super().__init__()
        forward = _QamMapper(qam=qam)
        self.qam: int = forward.qam
        self.bits_per_symbol: int = forward.bits_per_symbol
        shifts = np.arange(self.bits_per_symbol)[::-1]
        points = torch.from_numpy(forward((np.arange(self.qam)[:, None] >> shifts & 1).astype(np.uint8).ravel()))
        if trainable:
            self.points = torch.nn.Parameter(points)
        else:
            self.register_buffer("points", points)
        self.register_buffer("_weights", torch.from_numpy(1 << shifts), persistent=False)

    def forward(self, bits: Tensor) -> Tensor:
        """Maps integer or bool bits ``(..., n * bits_per_symbol)`` to complex64 ``(..., n)``. The lowest bit of a number counts."""
        if not isinstance(bits, torch.Tensor):
            raise TypeError(f"bits is a {type(bits).__name__}: expected a tensor of integers")
        if bits.is_floating_point() or bits.is_complex():
            raise _unfit("bits", f"a tensor of {bits.dtype}", "one of integers or bool")
        if bits.dim() == 0 or bits.shape[-1] % self.bits_per_symbol:
            raise _unfit("bits", f"shape {tuple(bits.shape)}", f"a last axis of a multiple of {self.bits_per_symbol} bits")
        grouped = bits.reshape(*bits.shape[:-1], bits.shape[-1] // self.bits_per_symbol, self.bits_per_symbol)
        return self.points[((grouped.long() & 1) * self._weights).sum(-1)]

    @torch.no_grad()
    def normalize_(self) -> QamMapper:
        """Scales the points to unit mean energy, in place: call it after each step of an optimiser.

        Raises:
            ValueError: where the points are not trainable, all 0, or not finite.
        """
        if not isinstance(self.points, torch.nn.Parameter):
            raise _unfit("trainable", "False", "True: other points have unit mean energy already")
        energy = self.points.abs().square().mean()
        if not (torch.isfinite(energy) and energy > 0):
            raise _unfit("points", f"of mean energy {float(energy)}", "a finite energy above 0")
        self.points /= energy.sqrt()
        return self

    def extra_repr(self) -> str:
        return f"qam={self.qam}, trainable={isinstance(self.points, torch.nn.Parameter)}"
