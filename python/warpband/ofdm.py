"""OFDM with cyclic prefix: values on subcarriers to samples, and back.

X_k are the values of a symbol and b(k) is the bin of subcarrier k in an FFT of N. The samples are ``x_n = 1 / sqrt(N) sum over k of
X_k exp(2 pi i n b(k) / N)`` for n = -prefix .. N - 1, and the demodulator is its inverse. Both are unitary: noise of variance N0 in
each sample has variance N0 on each subcarrier.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from . import _core
from ._arrays import COMPLEX64, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import OfdmNumerologyKeywords

__all__ = ["OfdmDemodulator", "OfdmModulator", "OfdmNumerology", "lte_numerology"]


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


def _work_of(numerology: OfdmNumerology) -> Any:
    if not isinstance(numerology, OfdmNumerology):
        raise TypeError(f"numerology is a {type(numerology).__name__}: expected an OfdmNumerology")
    return numerology._work


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
        self._work = made(_core.OfdmModulator, numerology=_work_of(numerology))
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
        self._work = made(_core.OfdmDemodulator, numerology=_work_of(numerology))
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
