"""PRACH of 5G NR: preambles of random access, their generation and detection (3GPP TS 38.211 sections 6.3.3 and 5.3.2)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, INT32, NUMPY, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, listed, made, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PrachDetectorKeywords, PrachGeneratorKeywords

__all__ = ["PrachDetector", "PrachGenerator", "prach_first_subcarrier"]


def prach_first_subcarrier(*, format: str = "0", spacing_khz: int = 15, uplink_khz: int = 15, resource_blocks: int = 25, first_block: int = 0) -> int:
    """Subcarrier of the first value of a preamble, counted from the middle of a carrier in subcarriers of the preamble.

    It is K k1 + kbar of TS 38.211 section 5.3.2, for ``first_subcarrier`` of :class:`PrachGenerator` and :class:`PrachDetector`.

    Args:
        format: preamble format.
        spacing_khz: subcarrier spacing of formats A1 to C2.
        uplink_khz: subcarrier spacing of PUSCH.
        resource_blocks: of the carrier, up to 275.
        first_block: the lowest resource block of the occasion.

    Raises:
        ValueError: for spacings that table 6.3.3.2-1 does not have, and for blocks outside of the carrier.

    >>> wb.prach_first_subcarrier(format="0", uplink_khz=15, resource_blocks=25, first_block=3)
    -1361
    """
    return int(made(_core.prach_first_subcarrier, format=format, spacing_khz=spacing_khz, uplink_khz=uplink_khz,
                    resource_blocks=resource_blocks, first_block=first_block))


class _Prach(Described):
    """What both classes tell of their configuration."""

    _work: Any

    @property
    def length(self) -> int:
        """L, values of a sequence: 839 or 139."""
        return self._work.length

    @property
    def repetitions(self) -> int:
        """Sequences of a preamble, 1 to 12."""
        return self._work.repetitions

    @property
    def samples(self) -> int:
        """Samples of a preamble: its prefix and its sequences."""
        return self._work.samples

    @property
    def sequence_samples(self) -> int:
        """Samples of a sequence."""
        return self._work.sequence_samples

    @property
    def prefix_samples(self) -> int:
        """Samples of the prefix."""
        return self._work.prefix_samples

    @property
    def n_cs(self) -> int:
        """N_CS, the step of cyclic shifts; 0: no shifts."""
        return self._work.n_cs

    @property
    def roots(self) -> list[int]:
        """The root u of each of the 64 preambles."""
        return list(self._work.roots)

    @property
    def shifts(self) -> list[int]:
        """The cyclic shift C_v of each of the 64 preambles."""
        return list(self._work.shifts)


@described
class PrachGenerator(_Prach):
    """Preambles of random access as resource elements and as samples (TS 38.211 sections 6.3.3.1 and 5.3.2, unrestricted set).

    Resource elements have amplitude 1 and transforms are unitary: white noise of variance N0 in each sample has N0 on each
    subcarrier.

    Args:
        {settings}
        executor: where samples are made; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> generator = wb.PrachGenerator(format="B4", spacing_khz=30, zero_correlation_zone=14)
    >>> generator([0, 17]).shape, generator.values(17).shape
    ((2, 3193), (139,))
    >>> generator.roots[17], generator.shifts[17]
    (136, 92)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PrachGeneratorKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PrachGenerator, settings=settings)
        self._table = {"samples": (COMPLEX64, (self._work.samples,))}

    def values(self, preamble: int) -> np.ndarray:
        """The resource elements y(k) / sqrt(L) of one sequence of a preamble 0 to 63: complex64 ``(L,)``."""
        return np.array(self._work.values(whole("preamble", preamble, 0, 63)), np.complex64)

    def __call__(self, preambles: int | Sequence[int], *, out: Any = None) -> Any:
        """Samples, complex64 ``(n, samples)``, of a list of preambles 0 to 63; ``(samples,)`` of one.

        Raises:
            ValueError: for a number that no preamble has.
            RuntimeError: this build has no FFT for CPUs (KISS FFT), or cuFFT is not there.
        """
        one = isinstance(preambles, (int, np.integer))
        numbers = [whole("preambles", p, 0, 63) for p in ([preambles] if one else listed("preambles", preambles))]
        try:
            space = NUMPY if out is None else space_of(out)
        except (TypeError, ValueError) as error:
            raise type(error)(f"out: {error}") from None
        arrays = fill(space, self._table, "samples", out, () if one else (len(numbers),))
        self._work.run(space.executor(self._executor), numbers, arrays["samples"])
        return results(space, arrays, "samples", out)


@described
class PrachDetector(_Prach):
    """Detects the 64 preambles of PRACH occasions, with their delay and SNR.

    Correlations with the roots are summed in power over antennas and groups of repetitions. The metric of a preamble is their
    largest value in its window, over the mean energy. In white Gaussian noise of any level its law is known, and the threshold
    bounds the false alarms of all 64 windows by ``false_alarm``. Peaks that a stronger preamble explains are not preambles: its
    sidelobes, its images under a frequency offset up to ``max_cfo_hz``, its correlation with other roots (docs/prach.md).

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Source: Chu, "Polyphase codes with good periodic correlation properties", IEEE Trans. Inf. Theory 18, 1972; the preambles of
    3GPP TS 38.211 section 6.3.3.

    >>> occasion = {"format": "0", "root_sequence": 22, "zero_correlation_zone": 1}
    >>> detector = wb.PrachDetector(**occasion, antennas=2)
    >>> rng = np.random.default_rng(1)
    >>> samples = (rng.normal(size=(2, detector.samples)) + 1j * rng.normal(size=(2, detector.samples))) * 0.5 ** 0.5
    >>> samples += 0.3 * np.roll(wb.PrachGenerator(**occasion)(32), 10)
    >>> detected, delay_us = detector(detector.demodulate(samples), outputs=("detected", "delay_us"))
    >>> np.flatnonzero(detected).tolist(), bool(abs(delay_us[32] - 10 / 1.92) < 0.5)
    ([32], True)
    """

    _outputs = ("detected", "delay_us", "timing_advance", "snr_db", "metric", "status")

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PrachDetectorKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PrachDetector, settings=settings)
        antennas = self._work.settings["antennas"]
        self._values = {"values": (COMPLEX64, (antennas, self._work.repetitions, self._work.length))}
        self._table = {"detected": (UINT8, (64,)), "delay_us": (FLOAT32, (64,)), "timing_advance": (INT32, (64,)),
                       "snr_db": (FLOAT32, (64,)), "metric": (FLOAT32, (64,)), "status": (UINT8, ())}

    @property
    def threshold(self) -> float:
        """The threshold of the metric."""
        return self._work.threshold

    @property
    def coherent_repetitions(self) -> int:
        """Repetitions that are added before detection."""
        return self._work.coherent_repetitions

    @converting(samples=as_complex)
    def demodulate(self, samples: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Samples to resource elements: complex64 ``(..., antennas, samples)`` to ``(..., antennas, repetitions, L)``.

        The first sample is the nominal start of the prefix.

        Raises:
            RuntimeError: this build has no FFT for CPUs (KISS FFT), or cuFFT is not there.
        """
        space = space_of(samples)
        arrays = fill(space, self._values, "values", out, batch_of("samples", samples, 2))
        self._work.demodulate(space.executor(self._executor), space.take(samples), arrays["values"])
        return results(space, arrays, "values", out)

    @converting(values=as_complex)
    def __call__(self, values: Array, *, outputs: str | Sequence[str] = "detected", out: Any = None, strict: bool = False) -> Any:
        """Detects in resource elements, complex64 ``(..., antennas, repetitions, L)``.

        outputs: "detected" (uint8), "delay_us", "timing_advance" (int32), "snr_db" and "metric", each ``(..., 64)``; "status" (uint8
        ``(...)``); or several names. The delay counts from the nominal start. "timing_advance" has it in units of 16 64 T_c, divided
        by ``ta_spacing_khz`` / 15. "snr_db" is that of a resource element on an antenna, of the strongest path, if antennas
        are equal; other preambles count as noise. All three are 0 where nothing is detected. Status 1: an occasion with a value that
        is NaN, infinite or above 1e15 in magnitude, which is erased: all its outputs are 0.

        Raises:
            RuntimeError: this build has no FFT for CPUs (KISS FFT), or cuFFT is not there.
        """
        space = space_of(values)
        arrays = fill(space, self._table, outputs, out, batch_of("values", values, 3))
        self._work.run(space.executor(self._executor), space.take(values), *map(arrays.get, self._outputs))
        return results(space, arrays, outputs, out)
