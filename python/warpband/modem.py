"""BPSK and Gray QAM of 3GPP TS 38.211 section 5.1 with unit mean energy: bits to symbols, symbols to LLRs."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import COMPLEX64, FLOAT32, UINT8, Array, Executor, fill, results, space_of
from ._convert import as_bits, as_complex, as_gain, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import DemapperKeywords, QamMapperKeywords

__all__ = ["Demapper", "QamMapper"]


@described
class QamMapper(Described):
    """Maps bits to symbols.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> wb.QamMapper(qam=4)(np.array([0, 0, 1, 1]))
    array([ 0.70710677+0.70710677j, -0.70710677-0.70710677j], dtype=complex64)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[QamMapperKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.QamMapper, settings=settings)
        self.bits_per_symbol: int = self._work.bits_per_symbol

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Maps ``bits``, uint8 or bool ``(..., n * bits_per_symbol)`` in 3GPP order, to complex64 ``(..., n)``."""
        space = space_of(bits)
        shape = tuple(bits.shape)
        if not shape or shape[-1] % self.bits_per_symbol:
            raise ValueError(f"bits = shape {shape} is not allowed: expected a last axis of a multiple of "
                             f"{self.bits_per_symbol} bits")
        table = {"symbols": (COMPLEX64, (shape[-1] // self.bits_per_symbol,))}
        arrays = fill(space, table, "symbols", out, shape[:-1])
        self._work.run(space.executor(self._executor), space.take(bits), arrays["symbols"])
        return results(space, arrays, "symbols", out)


@described
class Demapper(Described):
    """Soft demapping over a flat channel, ``y = h s + n`` with ``n ~ CN(0, N0)``.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> demap = wb.Demapper(qam=4)
    >>> demap(np.array([1 + 1j, -1 - 1j]) / 2 ** 0.5, 0.5).round(2)
    array([ 4.,  4., -4., -4.], dtype=float32)
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[DemapperKeywords]):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = made(_core.Demapper, settings=settings)
        #: the sign of LLRs
        self.llr_sign = llr_sign
        self.bits_per_symbol: int = self._work.bits_per_symbol

    @converting(received=as_complex, noise_var=as_noise("received", 0), channel=as_gain("received"))
    def __call__(self, received: Array, noise_var: float | Array, *, channel: Array | None = None,
                 outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Demaps symbols.

        Args:
            received: y, complex64 ``(..., n)``.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to the shape of ``received``.
            channel: h, complex64 that NumPy broadcasts to the shape of ``received``; None is 1. On a GPU it has this shape.
            outputs: "llr" (float32 ``(..., n * bits_per_symbol)``, in 3GPP order) or "status" (uint8 of the shape of
                ``received``, 1 where NaN, Inf or N0 <= 0 made the LLRs 0); or both. LLRs are limited to +-3e38; all finite y and h,
                and all N0 > 0, are taken, however small or large.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        space = space_of(received)
        shape = tuple(received.shape)
        if not shape:
            raise ValueError("received = shape () is not allowed: expected at least 1 axis")
        table = {"llr": (FLOAT32, (shape[-1] * self.bits_per_symbol,)), "status": (UINT8, shape[-1:])}
        arrays = fill(space, table, outputs, out, shape[:-1])
        self._work.run(space.executor(self._executor), space.take(received), space.take(noise_var),
                           None if channel is None else space.take(channel), arrays.get("llr"), arrays.get("status"))
        return results(space, arrays, outputs, out, ("llr",) if self._reversed else ())
