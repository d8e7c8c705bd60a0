"""OFDM with cyclic prefix: values on subcarriers to samples, and back.

X_k are the values of a symbol and b(k) is the bin of subcarrier k in an FFT of N. The samples are ``x_n = 1 / sqrt(N) sum over k of
X_k exp(2 pi i n b(k) / N)`` for n = -prefix .. N - 1, and the demodulator is its inverse. Both are unitary: noise of variance N0 in
each sample has variance N0 on each subcarrier. An item is a slot, or a run of symbols from any symbol of a subframe on.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._arrays import COMPLEX64, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, made, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import OfdmNumerologyKeywords

__all__ = ["OfdmDemodulator", "OfdmModulator", "OfdmNumerology", "lte_numerology", "nr_numerology"]


@described
class OfdmNumerology(Described):
    """The samples of OFDM. The initial values are those of LTE's 5 MHz with the normal cyclic prefix.

    Args:
        {settings}

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> wb.OfdmNumerology().sample_rate_hz
    7680000.0
    """

    def __init__(self, **settings: Unpack[OfdmNumerologyKeywords]):
        self._work = made(_core.OfdmNumerology, settings=settings)

    def __eq__(self, other: Any) -> Any:
        return self._work.settings == other._work.settings if isinstance(other, OfdmNumerology) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self._work.settings.values()))

    @property
    def sample_rate_hz(self) -> float:
        """Samples a second."""
        return self._work.sample_rate_hz

    @property
    def samples_per_slot(self) -> int:
        """Samples of a slot, those of its prefixes among them."""
        return self._work.samples_per_slot


def lte_numerology(*, bandwidth_mhz: float = 5, prefix: Literal["normal", "extended"] = "normal") -> OfdmNumerology:
    """That of the downlink of LTE at 1.4, 3, 5, 10, 15 or 20 MHz with the "normal" or "extended" prefix (3GPP TS 36.211 section 6.12).

    >>> numerology = wb.lte_numerology(bandwidth_mhz=20)
    >>> numerology.fft_size, numerology.subcarriers
    (2048, 1200)
    """
    return OfdmNumerology(**made(_core.lte_numerology, bandwidth_mhz=bandwidth_mhz, prefix=prefix))


def nr_numerology(*, spacing_khz: int = 30, resource_blocks: int = 25, fft_size: int | None = None, extended_prefix: bool = False) -> OfdmNumerology:
    """The numerology of a 5G NR carrier (3GPP TS 38.211 section 5.3.1).

    Its ``slot`` is half a subframe, since the longer cyclic prefix comes once in this time.

    Args:
        spacing_khz: subcarrier spacing: 15, 30, 60 or 120 kHz.
        resource_blocks: of 12 subcarriers, 1 to 275.
        fft_size: a multiple of 128 from 12 resource_blocks to 65536; None: the least power of two. Modulators
            take products of 2, 3 and 5 up to 4096.
        extended_prefix: at 60 kHz alone.

    >>> numerology = wb.nr_numerology(spacing_khz=30, resource_blocks=51)
    >>> numerology.fft_size, numerology.sample_rate_hz, numerology.symbols_per_slot
    (1024, 30720000.0, 14)
    """
    size = 0 if fft_size is None else whole("fft_size", fft_size, 128, 65536)
    return OfdmNumerology(**made(_core.nr_numerology, spacing_khz=spacing_khz, resource_blocks=resource_blocks, fft_size=size,
                                 extended_prefix=extended_prefix))


def _work_of(numerology: OfdmNumerology) -> Any:
    if not isinstance(numerology, OfdmNumerology):
        raise TypeError(f"numerology is a {type(numerology).__name__}: expected an OfdmNumerology")
    return numerology._work


def _or_slot(symbols: int | None) -> int:
    return 0 if symbols is None else whole("symbols", symbols, 1, 65536)


@described
class OfdmModulator(Described):
    """Values on subcarriers to samples.

    Args:
        numerology: what a slot is made of.
        first_symbol: of an item, counted in its subframe. A subframe is two slots of the numerology, 1 ms of LTE and 5G NR.
        symbols: OFDM symbols of an item, 1 to 65536; None: those of a slot.
        carrier_hz: f0 to which the phase of each symbol is referred (TS 38.211 section 5.4), up to 1e12; 0: no phase.
        executor: where arrays in host memory are processed; None for all cores.

    >>> modulate = wb.OfdmModulator()
    >>> modulate(np.ones((7, 300))).shape
    (3840,)
    >>> half_frame = wb.OfdmModulator(numerology=wb.nr_numerology(resource_blocks=20), symbols=140, carrier_hz=3.5e9)
    >>> half_frame(np.ones((140, 240))).shape
    (38400,)
    """

    def __init__(self, *, numerology: OfdmNumerology = OfdmNumerology(), first_symbol: int = 0, symbols: int | None = None,
                 carrier_hz: float = 0, executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._work = made(_core.OfdmModulator, numerology=_work_of(numerology), first_symbol=first_symbol, symbols=_or_slot(symbols),
                          carrier_hz=carrier_hz)
        self.numerology = numerology
        self.first_symbol, self.symbols, self.carrier_hz = int(first_symbol), self._work.symbols, float(carrier_hz)
        self._table = {"samples": (COMPLEX64, (self._work.samples,))}

    @converting(values=as_complex)
    def __call__(self, values: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Modulates complex64 ``(..., symbols, subcarriers)`` to complex64 ``(..., samples)``.

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

    def __init__(self, *, numerology: OfdmNumerology = OfdmNumerology(), first_symbol: int = 0, symbols: int | None = None,
                 carrier_hz: float = 0, executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._work = made(_core.OfdmDemodulator, numerology=_work_of(numerology), first_symbol=first_symbol, symbols=_or_slot(symbols),
                          carrier_hz=carrier_hz)
        self.numerology = numerology
        self.first_symbol, self.symbols, self.carrier_hz = int(first_symbol), self._work.symbols, float(carrier_hz)
        self._table = {"values": (COMPLEX64, (self.symbols, numerology.subcarriers))}

    @converting(samples=as_complex)
    def __call__(self, samples: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Demodulates complex64 ``(..., samples)`` to complex64 ``(..., symbols, subcarriers)``.

        Raises:
            RuntimeError: as of the modulator.
        """
        space = space_of(samples)
        arrays = fill(space, self._table, "values", out, batch_of("samples", samples, 1))
        self._work.run(space.executor(self._executor), space.take(samples), arrays["values"])
        return results(space, arrays, "values", out)
