"""OFDM with cyclic prefix: values on subcarriers to samples, and back.

The samples of a symbol with values X_k, with b(k) the bin of subcarrier k in an FFT of N, are ``x_n = 1 / sqrt(N) sum over k of
X_k exp(2 pi i n b(k) / N)`` for n = -prefix .. N - 1, and the demodulator is its inverse. Both are unitary: noise of variance N0 in
each sample has variance N0 on each subcarrier.
"""
from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from . import _core
from ._arrays import COMPLEX64, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, made

__all__ = ["OfdmDemodulator", "OfdmModulator", "OfdmNumerology", "lte_numerology"]


@dataclass(frozen=True, kw_only=True)
class OfdmNumerology:
    """The samples of OFDM. The initial values are those of LTE's 5 MHz with the normal cyclic prefix.

    Args:
        spacing_hz: of subcarriers, 1..1e7.
        fft_size: N, samples of a symbol without its prefix: even, a product of 2, 3 and 5, 8..4096.
        subcarriers: that are used, around the carrier: 1..fft_size, less one with a free carrier. The lowest frequency is first.
        free_carrier: nothing is sent on the carrier itself (LTE downlink, 3GPP TS 36.211 section 6.12).
        cyclic_prefix: samples, 0..fft_size.
        first_cyclic_prefix: the same of the first symbol of a slot.
        symbols_per_slot: 1..64.

    >>> wb.OfdmNumerology().sample_rate_hz
    7680000.0
    """

    spacing_hz: float = 15000.0
    fft_size: int = 512
    subcarriers: int = 300
    free_carrier: bool = True
    cyclic_prefix: int = 36
    first_cyclic_prefix: int = 40
    symbols_per_slot: int = 7

    @property
    def sample_rate_hz(self) -> float:
        return self.spacing_hz * self.fft_size

    @property
    def samples_per_slot(self) -> int:
        """Samples of a slot, those of its prefixes among them."""
        return self.symbols_per_slot * (self.fft_size + self.cyclic_prefix) + self.first_cyclic_prefix - self.cyclic_prefix


def lte_numerology(*, bandwidth_mhz: float = 5, prefix: str = "normal") -> OfdmNumerology:
    """That of the downlink of LTE at 1.4, 3, 5, 10, 15 or 20 MHz with the "normal" or "extended" prefix (3GPP TS 36.211 section 6.12)."""
    values = made(_core.lte_numerology, bandwidth_mhz=bandwidth_mhz, prefix=prefix)
    return OfdmNumerology(**dict(zip(OfdmNumerology.__dataclass_fields__, values)))


def _fields(numerology: OfdmNumerology) -> dict[str, Any]:
    if not isinstance(numerology, OfdmNumerology):
        raise TypeError(f"numerology is a {type(numerology).__name__}: expected an OfdmNumerology")
    return asdict(numerology)


@described
class OfdmModulator(Described):
    """Values on subcarriers to samples.

    Args:
        numerology: what a slot is made of.
        executor: where arrays in host memory are processed; None for all cores.

    >>> modulate = wb.OfdmModulator()
    >>> modulate(np.ones((7, 300))).shape
    (3840,)
    """

    def __init__(self, *, numerology: OfdmNumerology = OfdmNumerology(), executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._work = made(_core.OfdmModulator, **_fields(numerology))
        self.numerology = numerology
        self._table = {"samples": (COMPLEX64, (numerology.samples_per_slot,))}

    @converting(values=as_complex)
    def __call__(self, values: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Modulates complex64 ``(..., symbols_per_slot, subcarriers)`` to complex64 ``(..., samples_per_slot)``.

        Raises:
            RuntimeError: this build has no FFT for CPUs (KISS FFT), or cuFFT is not there.
        """
        space = space_of(values)
        arrays = fill(space, self._table, "samples", out, batch_of("values", values, 2))
        self._work.run(space.executor(self._executor), space.take(values), arrays["samples"])
        return results(space, arrays, "samples", out)


@described
class OfdmDemodulator(Described):
    """Samples to values on subcarriers; cyclic prefixes are not read. Arguments as of :class:`OfdmModulator`.

    >>> values = np.ones((7, 300))
    >>> np.allclose(wb.OfdmDemodulator()(wb.OfdmModulator()(values)), values, atol=1e-5)
    True
    """

    def __init__(self, *, numerology: OfdmNumerology = OfdmNumerology(), executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._work = made(_core.OfdmDemodulator, **_fields(numerology))
        self.numerology = numerology
        self._table = {"values": (COMPLEX64, (numerology.symbols_per_slot, numerology.subcarriers))}

    @converting(samples=as_complex)
    def __call__(self, samples: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Demodulates complex64 ``(..., samples_per_slot)`` to complex64 ``(..., symbols_per_slot, subcarriers)``.

        Raises:
            RuntimeError: as of the modulator.
        """
        space = space_of(samples)
        arrays = fill(space, self._table, "values", out, batch_of("samples", samples, 1))
        self._work.run(space.executor(self._executor), space.take(samples), arrays["values"])
        return results(space, arrays, "values", out)
