"""Bits to symbols, symbols to LLRs: BPSK and Gray QAM of 3GPP TS 38.211 section 5.1, and points of your own. Mean energy is 1."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, UINT8, Array, Executor, fill, results, space_of
from ._convert import as_bits, as_complex, as_gain, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import ConstellationKeywords, DemapperKeywords, QamMapperKeywords

__all__ = ["Constellation", "Demapper", "QamMapper", "dvb_s2_ring_ratios"]


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
        return _mapped(self, self._work.run, bits, out)


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
        return _demapped(self, self._work.run, received, noise_var, channel, outputs, out)


@described
class Constellation(Described):
    """A constellation that is a list of points with labels, with its mapper and soft demapper over a flat channel.

    Each symbol visits all points, so that :class:`QamMapper` and :class:`Demapper` are faster for square QAM. Source: ETSI EN 302
    307-1 clause 5.4.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Raises ValueError where points, labels or ring ratios are not allowed.

    >>> star = wb.Constellation(points=[1, 1j, -1, -1j], labels=[0, 1, 3, 2])
    >>> star.map(np.array([1, 0]))
    array([0.-1.j], dtype=complex64)
    >>> star.demap(np.array([0.5j], np.complex64), 0.5)
    array([ 2., -2.], dtype=float32)
    >>> wb.Constellation(type="16apsk", ring_ratios=wb.dvb_s2_ring_ratios(type="16apsk", rate="3/4")).bits_per_symbol
    4
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[ConstellationKeywords]):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = made(_core.Constellation, settings=settings)
        #: the sign of LLRs
        self.llr_sign = llr_sign
        self.bits_per_symbol: int = self._work.bits_per_symbol

    @property
    def symbols(self) -> Any:
        """The points by label, scaled to a mean energy of 1: complex128 ``(2 ** bits_per_symbol,)``."""
        return np.array(self._work.symbols)

    @converting(bits=as_bits)
    def map(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Maps ``bits``, uint8 or bool ``(..., n * bits_per_symbol)``, first bit of a label first, to complex64 ``(..., n)``."""
        return _mapped(self, self._work.map, bits, out)

    @converting(received=as_complex, noise_var=as_noise("received", 0), channel=as_gain("received"))
    def demap(self, received: Array, noise_var: float | Array, *, channel: Array | None = None,
              outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Demaps symbols. Arguments, outputs and bad input are those of :class:`Demapper`.

        Args:
            received: y, complex64 ``(..., n)``.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to the shape of ``received``.
            channel: h, complex64 that NumPy broadcasts to the shape of ``received``; None is 1. On a GPU it has this shape.
            outputs: "llr" (float32 ``(..., n * bits_per_symbol)``, first bit of a label first) or "status" (uint8 of the shape of
                ``received``); or both.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        return _demapped(self, self._work.demap, received, noise_var, channel, outputs, out)


def dvb_s2_ring_ratios(*, type: str, rate: str) -> list[float] | None:
    """Ratios of ring radii that DVB-S2 has for a code rate, ETSI EN 302 307-1 tables 9 and 10.

    Args:
        type: "8psk", "16apsk" or "32apsk".
        rate: of the LDPC code, "3/4".

    Returns:
        ``ring_ratios`` of :class:`Constellation`: one number for 16APSK, two for 32APSK, None for 8PSK. Raises ValueError for a
        rate with which the standard does not use the constellation.

    >>> wb.dvb_s2_ring_ratios(type="32apsk", rate="3/4")
    [2.84, 5.27]
    """
    return made(_core.dvb_s2_ring_ratios, type=type, rate=rate) or None


def _mapped(modem: Any, run: Any, bits: Array, out: Any) -> Any:
    space = space_of(bits)
    shape = tuple(bits.shape)
    if not shape or shape[-1] % modem.bits_per_symbol:
        raise ValueError(f"bits = shape {shape} is not allowed: expected a last axis of a multiple of "
                         f"{modem.bits_per_symbol} bits")
    table = {"symbols": (COMPLEX64, (shape[-1] // modem.bits_per_symbol,))}
    arrays = fill(space, table, "symbols", out, shape[:-1])
    run(space.executor(modem._executor), space.take(bits), arrays["symbols"])
    return results(space, arrays, "symbols", out)


def _demapped(modem: Any, run: Any, received: Array, noise_var: Any, channel: Array | None, outputs: Any, out: Any) -> Any:
    space = space_of(received)
    shape = tuple(received.shape)
    if not shape:
        raise ValueError("received = shape () is not allowed: expected at least 1 axis")
    table = {"llr": (FLOAT32, (shape[-1] * modem.bits_per_symbol,)), "status": (UINT8, shape[-1:])}
    arrays = fill(space, table, outputs, out, shape[:-1])
    run(space.executor(modem._executor), space.take(received), space.take(noise_var),
        None if channel is None else space.take(channel), arrays.get("llr"), arrays.get("status"))
    return results(space, arrays, outputs, out, ("llr",) if modem._reversed else ())
