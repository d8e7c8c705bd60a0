"""Channels: noise, flat Rayleigh fading with one antenna or several, tapped and clustered delay lines on an OFDM grid.

Random numbers are counted, not drawn in turn: those of an item follow from ``seed``, ``point`` and the item's index alone.
They do not depend on the batch, the threads or the device.

* ``seed`` names the experiment. Two calls with the same three numbers get the same random numbers.
* ``first`` is the index of the first item of a call. A second batch goes on with ``first`` = the items of the first one; both
  together then have the numbers of one large batch.
* ``point`` names the point of a sweep. Points with one seed and different ``point`` have independent numbers.
"""
from __future__ import annotations

import math
import os
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, INT32, NUMPY, UINT8, Array, Executor, batch_of, fill, named_space, results, space_of
from ._convert import as_bits, as_complex, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, file_name, made, number, random_range, refused, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CdlChannelKeywords, ImpairmentsKeywords, KroneckerChannelKeywords, TdlChannelKeywords

__all__ = ["CdlChannel", "Csi", "Impairments", "KroneckerChannel", "TdlChannel", "awgn", "binary_channel", "capacity", "cdl_profiles", "exponential_correlation",
           "mimo_rayleigh", "rayleigh", "read_csi", "tdl_profiles"]


def _powers(space: Any, noise_var: Any) -> Any:
    """N0 as a number of Python, or as an array that the compiled part takes. In host memory it holds powers."""
    if isinstance(noise_var, (list, tuple)):
        raise TypeError(f"noise_var is a {type(noise_var).__name__}: expected a number or an array")
    if not getattr(noise_var, "shape", ()):
        return number("noise_var", noise_var)
    powers = space.take(noise_var)
    if isinstance(powers, np.ndarray) and powers.dtype.kind in "iuf":
        wrong = powers[~((powers >= 0) & np.isfinite(powers))]
        if wrong.size:
            raise ValueError(f"noise_var = an array with {wrong.flat[0].item()!r} is not allowed: expected finite powers of 0 or more, not in dB")
    return powers


@converting(sent=as_complex, noise_var=as_noise("sent", 0))
def awgn(sent: Array, *, noise_var: float | Array, seed: int, first: int = 0, point: int = 0, out: Any = None,
         executor: Executor | None = None, strict: bool = False) -> Any:
    """Adds circular Gaussian noise: ``sent + n`` with n ~ CN(0, noise_var), of variance noise_var / 2 in each part.

    The noise of an item depends on ``seed``, ``point`` and the item's index alone, whatever the batch and the device. A loop over
    batches counts ``first`` up, and a loop over SNRs counts ``point`` up; both keep ``seed``.

    Args:
        sent: complex64 of any shape; its numbers are the items.
        noise_var: N0, a number of 0 or more, or an array of them, float32, that NumPy broadcasts to the shape of ``sent``. On a GPU the
            array has that shape, and an item whose N0 is no such power gets no noise.
        seed: names the experiment, 0..2**64 - 1. The same seed gives the same noise on any device.
        first: index of the first item, 0..2**64 - 1. A second batch goes on with ``first`` = the items of the first one.
        point: 0..2**32 - 1: names the point of a sweep. Points of one seed have independent noise.
        out: where the result goes; it may be ``sent`` itself.
        executor: where arrays in host memory are processed; None for all cores.
        strict: arrays of other types and layouts are refused in place of converted.

    Returns:
        complex64 of the shape of ``sent``.

    >>> received = wb.awgn(np.ones(100_000, np.complex64), noise_var=0.5, seed=1)
    >>> round(float((abs(received - 1) ** 2).mean()), 2)
    0.5
    >>> later = wb.awgn(np.ones(99_990, np.complex64), noise_var=0.5, seed=1, first=10)
    >>> bool((later == received[10:]).all())
    True
    >>> n0 = 10 ** (-np.array([[0], [10], [20]]) / 10)  # three SNRs of unit symbols
    >>> (abs(wb.awgn(np.ones((3, 100_000)), noise_var=n0, seed=1) - 1) ** 2).mean(axis=1, dtype=float).round(2).tolist()
    [1.0, 0.1, 0.01]
    """
    space = space_of(sent)
    powers = _powers(space, noise_var)
    arrays = fill(space, {"out": (COMPLEX64, ())}, "out", out, tuple(sent.shape))
    _core.awgn(space.executor(checked_executor(executor)), space.take(sent), arrays["out"], powers,
               random_range(seed, first, point))
    return results(space, arrays, "out", out)


@converting(bits=as_bits)
def binary_channel(bits: Array, *, kind: Literal["bsc", "bec", "z"], probability: float, seed: int, first: int = 0, point: int = 0,
                   out: Any = None, executor: Executor | None = None, strict: bool = False) -> Any:
    """Sends bits through a channel of bits: ``(received, llr)``, both of the shape of ``bits``.

    * "bsc" flips a bit with ``probability`` p. The LLR of a received 0 is ln((1 - p) / p), that of a 1 its opposite.
    * "bec" erases a bit with p: ``received`` is 2 and the LLR 0. LLRs of the others are 100 and -100, which stand for certainty.
    * "z" makes a 1 a 0 with p. The LLR of a received 0 is ln(1 / p), that of a 1 is -100.

    LLRs are ln P(0) - ln P(1), within -100..100. ``wb.sweep`` has the channels as ``channel.type``, with ``sweep.probability``.

    Args:
        bits: uint8 of any shape, 0 or 1.
        kind: "bsc", "bec" or "z".
        probability: 0..1.
        seed, first, point: as of :func:`awgn`; the items are the bits.
        out: arrays for both results.
        executor: where arrays in host memory are processed; None for all cores.
        strict: arrays of other types and layouts are refused in place of converted.

    Returns:
        received, uint8, and llr, float32.

    >>> received, llr = wb.binary_channel(np.zeros(100_000, np.uint8), kind="bsc", probability=0.1, seed=1)
    >>> round(float(received.mean()), 2), [round(x, 3) for x in sorted(set(llr.tolist()))]
    (0.1, [-2.197, 2.197])
    """
    if kind not in ("bsc", "bec", "z"):
        raise refused("kind", kind, '"bsc", "bec" or "z"')
    probability = number("probability", probability)
    space = space_of(bits)
    wanted = ("received", "llr")
    arrays = fill(space, {"received": (UINT8, ()), "llr": (FLOAT32, ())}, wanted, out, tuple(bits.shape))
    _core.binary_channel(space.executor(checked_executor(executor)), space.take(bits), arrays["received"], arrays["llr"], kind,
                         probability, random_range(seed, first, point))
    return results(space, arrays, wanted, out)


def _k_factor(rician_k_db: Any) -> float | None:
    """In dB, or None for Rayleigh fading."""
    return None if rician_k_db is None else number("rician_k_db", rician_k_db)


@converting(sent=as_complex)
def rayleigh(sent: Array, *, seed: int, block: int = 1, first: int = 0, point: int = 0, rician_k_db: float | None = None, out: Any = None,
             executor: Executor | None = None, strict: bool = False) -> Any:
    """Flat Rayleigh or Rician fading: ``(h * sent, h)`` with mean ``|h|^2`` 1, both of the shape of ``sent``, complex64.

    ``block`` consecutive numbers share an h; the items are the blocks. The first of ``out`` may be ``sent`` itself. ``seed``, ``first`` and
    ``point`` are as of :func:`awgn`. ``rician_k_db``: the K-factor, -100 to 100 dB, of ``h = sqrt(K / (K + 1)) exp(i phi) + sqrt(1 / (K + 1)) g``;
    None for ``h = g ~ CN(0, 1)``. g is the same in both, phi uniform and new for each h.

    >>> received, h = wb.rayleigh(np.ones(1000, np.complex64), seed=1, block=10)
    >>> bool((h[:10] == h[0]).all()), bool((received == h).all())
    (True, True)
    """
    space = space_of(sent)
    wanted = ("out", "gain")
    arrays = fill(space, {"out": (COMPLEX64, ()), "gain": (COMPLEX64, ())}, wanted, out, tuple(sent.shape))
    block, rician_k_db = whole("block", block), _k_factor(rician_k_db)
    if math.prod(sent.shape) % block:
        raise ValueError(f"sent = shape {tuple(sent.shape)} is not allowed: expected a multiple of block = {block} numbers")
    _core.rayleigh(space.executor(checked_executor(executor)), space.take(sent), arrays["out"], arrays["gain"], block,
                   random_range(seed, first, point), rician_k_db)
    return results(space, arrays, wanted, out)


@converting(sent=as_complex)
def mimo_rayleigh(sent: Array, *, rx_antennas: int, seed: int, uses_per_channel: int = 1, first: int = 0, point: int = 0,
                  rician_k_db: float | None = None, executor: Executor | None = None, strict: bool = False) -> Any:
    """Flat Rayleigh or Rician fading between several antennas: ``(received, channel)``.

    Args:
        sent: complex64 ``(..., streams)``; streams 1..64 (detectors take 8, massive MIMO 64).
        rx_antennas: 1..512 (detectors take 16, massive MIMO 512).
        uses_per_channel: 1, or the extent of the last batch axis, all uses of which then share an H.
        seed, first, point: as of :func:`awgn`; the items are the H.
        rician_k_db: the K-factor as of :func:`rayleigh`, of each entry of H, with a phase for each; None for Rayleigh fading.

    Returns:
        received, complex64 ``(..., rx_antennas)``, and channel, complex64 ``(..., rx_antennas, streams)``, without the last
        batch axis where its uses share an H. Detectors take both as they are.

    >>> received, channel = wb.mimo_rayleigh(np.ones((50, 12, 2), np.complex64), rx_antennas=4, uses_per_channel=12, seed=1)
    >>> received.shape, channel.shape
    ((50, 12, 4), (50, 4, 2))
    """
    space = space_of(sent)
    batch, streams = batch_of("sent", sent, 1), sent.shape[-1]
    if not 1 <= streams <= 64:
        raise ValueError(f"sent = shape {tuple(sent.shape)} is not allowed: expected a last axis of 1 to 64 streams")
    rx_antennas = whole("rx_antennas", rx_antennas, 1, 512)
    uses_per_channel, rician_k_db = whole("uses_per_channel", uses_per_channel, 1, 2 ** 24), _k_factor(rician_k_db)
    channels = batch
    if uses_per_channel != 1:
        if not batch or batch[-1] != uses_per_channel:
            raise ValueError(f"uses_per_channel = {uses_per_channel} is not allowed: expected 1, or the extent of the last batch "
                             f"axis of {tuple(sent.shape)}")
        channels = batch[:-1]
    received = space.empty(batch + (rx_antennas,), COMPLEX64)
    channel = space.empty(channels + (rx_antennas, streams), COMPLEX64)
    _core.mimo_rayleigh(space.executor(checked_executor(executor)), space.take(sent), received, channel, uses_per_channel,
                        random_range(seed, first, point), rician_k_db)
    return space.give(received), space.give(channel)


def _numbers(name: str, value: Any, kind: type, limit: float) -> np.ndarray:
    """An array of finite numbers of at most this magnitude."""
    try:
        numbers = np.array(value, kind)
    except Exception:  # objects may raise anything
        raise TypeError(f"{name} is a {type(value).__name__}: expected numbers") from None
    if not (np.abs(numbers) <= limit).all():
        raise ValueError(f"{name} = NaN or numbers beyond {limit:g} is not allowed: expected numbers from {-limit:g} to {limit:g}")
    return numbers


def capacity(channel: Any, snr_db: Any, *, water_filling: bool = False) -> np.ndarray:
    """Capacity of MIMO channels with Gaussian inputs, in bits a use: log2 det(I + SNR / S H H^H) (Telatar, "Capacity of multi-antenna
    Gaussian channels", 1999). The mean over many H is the ergodic capacity, and a percentile is the capacity at an outage.

    Args:
        channel: H, complex ``(..., rx_antennas, streams)``; one, or any number.
        snr_db: mean SNR of a receive antenna in dB if the entries of H have unit variance: 10 log10(streams Es/N0). A number, or an
            array that NumPy broadcasts to the leading axes of ``channel``.
        water_filling: the transmitter knows H and shares its power over the singular values; else all streams have the same power.

    Returns:
        float64, of the leading axes.

    Raises:
        ValueError: for an H of fewer than two axes, entries beyond 1e15, SNRs beyond 200 dB, NaN, and shapes that do not go together.
        TypeError: for what is no numbers.

    >>> float(wb.capacity(np.eye(2), 10.0).round(3))
    5.17
    >>> wb.capacity(np.array([[[2, 0], [0, 0.1]]]), [0.0, 20.0], water_filling=True).round(2).tolist()
    [2.32, 8.65]
    """
    if not isinstance(water_filling, (bool, np.bool_)):
        raise refused("water_filling", water_filling, "True or False")
    h, snr = _numbers("channel", channel, complex, 1e15), _numbers("snr_db", snr_db, float, 200.0)
    if h.ndim < 2 or 0 in h.shape[-2:]:
        raise ValueError(f"channel = shape {h.shape} is not allowed: expected (..., rx_antennas, streams)")
    gains = np.linalg.svd(h, compute_uv=False) ** 2  # the largest first
    streams = h.shape[-1]
    try:
        gains, snr = np.broadcast_arrays(gains, 10 ** (snr / 10)[..., None])
    except (ValueError, RuntimeError):  # the latter for more axes than NumPy has
        raise ValueError(f"snr_db = shape {snr.shape} is not allowed: expected one that goes with {h.shape[:-2]}") from None
    if not water_filling:
        return np.log2(1 + snr / streams * gains).sum(-1)
    inverse = 1 / np.maximum(gains, 1e-300)
    used = np.arange(1, gains.shape[-1] + 1)
    levels = (snr + np.cumsum(inverse, -1)) / used  # of the water over the n strongest
    count = np.maximum((levels > inverse).sum(-1, keepdims=True), 1)
    level = np.take_along_axis(levels, count - 1, -1)
    return np.where(used <= count, np.log2(np.maximum(level * gains, 1)), 0).sum(-1)


@described
class Impairments(Described):
    """Impairments of a receiver's front end, on captures of complex baseband samples (docs/impairments.md).

    In this order: timing and sample clock offset by a windowed sinc of 32 samples, carrier frequency offset and phase noise, white
    noise, IQ imbalance, DC offset, converter. A setting of 0 leaves its step out; without any the samples keep their values.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Source: A. Demir, A. Mehrotra, J. Roychowdhury, "Phase noise in oscillators", IEEE Trans. Circuits Syst. I 47, 2000;
    T. Laakso et al., "Splitting the unit delay", IEEE Signal Process. Mag. 13, 1996.

    >>> receiver = wb.Impairments(sample_rate_hz=1e6, cfo_hz=250e3, dc_i=0.5)
    >>> receiver(np.ones(4)).round(3).tolist()
    [(1.5+0j), (0.5+1j), (-0.5+0j), (0.5-1j)]
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[ImpairmentsKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.Impairments, settings=settings)

    @converting(samples=as_complex)
    def __call__(self, samples: Array, *, seed: int = 0, first: int = 0, point: int = 0, outputs: str | Sequence[str] = "received",
                 out: Any = None, strict: bool = False) -> Any:
        """What the converter gives of captures, complex64 ``(..., n)`` with n up to 2**31.

        seed, first, point: as of :func:`awgn`; the items are the captures, whose numbers are below 2**32.

        outputs: "received" (complex64 ``(..., n)``), "erased" (int32 ``(...)``: samples that were NaN, infinite or above 1e15 and were
        taken as 0); or both names, "received" among them. ``out`` has arrays for them and shares no memory with ``samples``.
        """
        space = space_of(samples)
        shape = tuple(samples.shape)
        arrays = fill(space, {"received": (COMPLEX64, shape[-1:]), "erased": (INT32, ())}, outputs, out, shape[:-1])
        if "received" not in arrays:
            raise refused("outputs", outputs, '"received" or ("received", "erased")')
        self._work.run(space.executor(self._executor), space.take(samples), arrays["received"], arrays.get("erased"),
                       random_range(seed, first, point))
        return results(space, arrays, outputs, out)


def tdl_profiles() -> list[str]:
    """The names of the profiles of :class:`TdlChannel`.

    >>> "tdl-a" in wb.tdl_profiles()
    True
    """
    return _core.tdl_profiles()


def _given(settings: Any) -> dict[str, Any]:
    """Without what is None, which stands for leaving it out."""
    return {name: value for name, value in settings.items() if value is not None}


@described
class TdlChannel(Described):
    """A tapped delay line on blocks of OFDM resource elements (docs/tdl.md).

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name, and for one that another leaves without a meaning.

    >>> channel = wb.TdlChannel(profile="epa", subcarriers=12)
    >>> received, h = channel(np.ones((5, 14, 12, 1)), seed=1)
    >>> received.shape, h.shape
    ((5, 14, 12, 1), (5, 14, 12, 1, 1))
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[TdlChannelKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.TdlChannel, settings=_given(settings))

    @property
    def delays_ns(self) -> list[float]:
        """Delays of the taps."""
        return self._work.delays_ns

    @property
    def powers(self) -> list[float]:
        """Powers of the taps, as fractions of their sum."""
        return self._work.powers

    def response(self, *, blocks: int, seed: int, first: int = 0, point: int = 0) -> Any:
        """H of blocks, a NumPy array of complex64 ``(blocks, symbols, subcarriers, rx_antennas, streams)``."""
        blocks = whole("blocks", blocks, 0, 2 ** 31 - 1)
        channel = NUMPY.empty((blocks, self.symbols, self.subcarriers, self.rx_antennas, self.streams), COMPLEX64)
        self._work.response(NUMPY.executor(self._executor), channel, random_range(seed, first, point))
        return channel

    @converting(sent=as_complex)
    def __call__(self, sent: Array, *, seed: int, first: int = 0, point: int = 0, strict: bool = False) -> Any:
        """Sends complex64 ``(..., symbols, subcarriers, streams)``: ``(received, channel)``.

        They are complex64 ``(..., symbols, subcarriers, rx_antennas)`` and, behind the same axes, ``rx_antennas, streams``.
        """
        space = space_of(sent)
        shape = tuple(sent.shape)
        if shape[-3:] != (self.symbols, self.subcarriers, self.streams):
            raise ValueError(f"sent = shape {shape} is not allowed: expected (..., {self.symbols}, {self.subcarriers}, "
                             f"{self.streams})")
        received = space.empty(shape[:-1] + (self.rx_antennas,), COMPLEX64)
        channel = space.empty(shape[:-1] + (self.rx_antennas, self.streams), COMPLEX64)
        self._work.apply(space.executor(self._executor), space.take(sent), received, channel,
                            random_range(seed, first, point))
        return space.give(received), space.give(channel)


def cdl_profiles() -> list[str]:
    """The names of the profiles of :class:`CdlChannel`.

    >>> "cdl-a" in wb.cdl_profiles()
    True
    """
    return _core.cdl_profiles()


def _responses(channel: Any, count: int, numbers: Any, out: Any) -> Any:
    """So many H of a channel that has a table of its outputs, in `out` or a new array of NumPy."""
    space = NUMPY if out is None else named_space("out", out)
    arrays = fill(space, channel._table, "channel", out, (count,))
    channel._work.response(space.executor(channel._executor), arrays["channel"], numbers)
    return results(space, arrays, "channel", out)


@described
class CdlChannel(Described):
    """Clustered delay lines between a linear or planar array and users of one antenna each, on a grid of OFDM resource elements.

    WINNER II (D1.1.2 clause 6.8) and the CDL models of 3GPP TR 38.901 clause 7.7.1 (docs/cdl.md): a cluster is 20 rays around
    a delay and a direction. A drop puts each user in a direction of its own; mean ``|h|**2`` is 1 for each user over drops.
    Antennas are isotropic, of one polarisation; there is no path loss. An array of ``antenna_rows`` is an upright panel (TR 38.901
    clause 7.3) whose antennas are numbered row by row.

    Args:
        {settings}
        executor: where arrays in host memory are filled; None for all cores.

    With ``antenna_spacing_m`` above 0 ``antenna_spacing_wavelengths`` is left out.

    Raises:
        ValueError: for a setting that is not allowed, by its name, and for one that another leaves without a meaning.

    >>> channel = wb.CdlChannel(antennas=16, users=4, profile="cdl-a", subcarriers=12)
    >>> channel.response(drops=3, seed=1).shape
    (3, 1, 12, 16, 4)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[CdlChannelKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.CdlChannel, settings=_given(settings))
        self._table = {"channel": (COMPLEX64, (self.symbols, self.subcarriers, self.antennas, self.users))}

    @property
    def delays_ns(self) -> list[float]:
        """Delays of the paths: clusters, groups of split ones and, first of all, the line of sight."""
        return self._work.delays_ns

    @property
    def powers(self) -> list[float]:
        """Powers of the paths, as fractions of their sum."""
        return self._work.powers

    def response(self, *, drops: int, seed: int, first: int = 0, point: int = 0, out: Any = None) -> Any:
        """H of drops, complex64 ``(drops, symbols, subcarriers, antennas, users)``, as :class:`warpband.MassiveUplink` takes it.

        Args:
            drops: how many.
            seed, first, point: as of :func:`awgn`; the items are the drops.
            out: an array to fill, on a GPU for instance, instead of a new one of NumPy.
        """
        return _responses(self, whole("drops", drops, 0, 2 ** 31 - 1), random_range(seed, first, point), out)


def exponential_correlation(*, antennas: int, correlation: complex) -> np.ndarray:
    """The correlation matrix ``r**|i - j|`` of neighbours along a line, complex128 ``(antennas, antennas)``.

    Args:
        antennas: 1..512.
        correlation: r of two neighbours, the first times the conjugate of the second; ``|r| <= 1``. Below the diagonal is its
            conjugate.

    >>> wb.exponential_correlation(antennas=3, correlation=0.5).real.tolist()
    [[1.0, 0.5, 0.25], [0.5, 1.0, 0.5], [0.25, 0.5, 1.0]]
    """
    matrix = made(_core.exponential_correlation, antennas=antennas, correlation=correlation)
    side = math.isqrt(len(matrix))
    return np.array(matrix, np.complex128).reshape(side, side)


def _correlation(name: str, matrix: Any, antennas: int) -> list[complex]:
    """A square matrix of settings, row after row; nothing for the identity."""
    if matrix is None:
        return []
    try:
        values = np.asarray(matrix, np.complex128)
    except (TypeError, ValueError, OverflowError):
        raise refused(name, matrix, f"a matrix of {antennas} x {antennas} numbers, or None for antennas that are not "
                      "correlated") from None
    if values.shape != (antennas, antennas):
        raise ValueError(f"{name} = shape {values.shape} is not allowed: expected ({antennas}, {antennas}), or None for antennas "
                         "that are not correlated")
    return values.ravel().tolist()


@described
class KroneckerChannel(Described):
    """Flat Rayleigh fading between antennas that are correlated on either side (Kronecker's model, docs/cdl.md).

    ``H = A G B^H`` with ``A A^H = R_rx``, ``B B^H = R_tx`` and the entries of G independent and CN(0, 1):
    ``E H H^H = streams R_rx``, ``E H^H H = rx_antennas R_tx``. G is the H of :func:`mimo_rayleigh`, bit by bit.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> near = wb.exponential_correlation(antennas=4, correlation=0.9)
    >>> channel = wb.KroneckerChannel(streams=2, rx_antennas=4, rx_correlation=near)
    >>> received, h = channel(np.ones((10, 2)), seed=1)
    >>> received.shape, h.shape
    ((10, 4), (10, 4, 2))
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[KroneckerChannelKeywords]):
        self._executor = checked_executor(executor)
        antennas = made(_core.KroneckerChannel, settings={name: settings[name] for name in ("streams", "rx_antennas")}).settings
        self._work = made(_core.KroneckerChannel, settings={
            **settings, "rx_correlation": _correlation("rx_correlation", settings.get("rx_correlation"), antennas["rx_antennas"]),
            "tx_correlation": _correlation("tx_correlation", settings.get("tx_correlation"), antennas["streams"])})
        self._table = {"channel": (COMPLEX64, (self.rx_antennas, self.streams))}

    def response(self, *, channels: int, seed: int, first: int = 0, point: int = 0, out: Any = None) -> Any:
        """H alone, complex64 ``(channels, rx_antennas, streams)``.

        Args:
            channels: how many.
            seed, first, point: as of :func:`awgn`; the items are the H.
            out: an array to fill, on a GPU for instance, instead of a new one of NumPy.
        """
        return _responses(self, whole("channels", channels, 0, 2 ** 31 - 1), random_range(seed, first, point), out)

    @converting(sent=as_complex)
    def __call__(self, sent: Array, *, seed: int, uses_per_channel: int = 1, first: int = 0, point: int = 0,
                 strict: bool = False) -> Any:
        """Sends complex64 ``(..., streams)``: ``(received, channel)``.

        Args:
            sent: what is sent.
            uses_per_channel: 1, or the extent of the last batch axis, up to 2**24, all uses of which then share an H.
            seed, first, point: as of :func:`awgn`; the items are the H.

        Returns:
            received, complex64 ``(..., rx_antennas)``, and channel, complex64 ``(..., rx_antennas, streams)``, without the last
            batch axis where its uses share an H.
        """
        space = space_of(sent)
        batch = batch_of("sent", sent, 1)
        if sent.shape[-1] != self.streams:
            raise ValueError(f"sent = shape {tuple(sent.shape)} is not allowed: expected (..., {self.streams})")
        uses_per_channel = whole("uses_per_channel", uses_per_channel, 1, 2 ** 24)
        if uses_per_channel != 1 and (not batch or batch[-1] != uses_per_channel):
            raise ValueError(f"uses_per_channel = {uses_per_channel} is not allowed: expected 1, or the extent of the last batch "
                             f"axis of {tuple(sent.shape)}")
        channels = batch if uses_per_channel == 1 else batch[:-1]
        received = space.empty(batch + (self.rx_antennas,), COMPLEX64)
        channel = space.empty(channels + (self.rx_antennas, self.streams), COMPLEX64)
        self._work.apply(space.executor(self._executor), space.take(sent), received, channel, uses_per_channel,
                            random_range(seed, first, point))
        return space.give(received), space.give(channel)


class Csi(NamedTuple):
    """Channel estimates of a file, as :func:`read_csi` gives them.

    >>> csi = wb.Csi(np.ones((2, 12, 4, 1), np.complex64), np.zeros((2, 12), np.uint8), "plain", 0.0, 0.0)
    >>> csi.channel[csi.status == 0].shape
    (24, 4, 1)
    """

    #: H, complex64 ``(snapshots, subcarriers, rx, tx)``: of a trace rx are antennas of the base station, tx its users
    channel: np.ndarray
    #: uint8 ``(snapshots, subcarriers)``: 1 where H is erased, and zeros
    status: np.ndarray
    #: "plain", "renew", "argos" or "csi"
    layout: str
    #: the carrier, and the spacing of subcarriers; 0 where the file does not say
    carrier_hz: float
    spacing_hz: float


def read_csi(path: str | os.PathLike[str], *, first: int = 0, snapshots: int | None = None,
             scale: Literal["none", "snapshot", "file"] = "none", cell: int = 0,
             first_sample: int | None = None, shifted_pilot: bool | None = None, trusted: bool = False,
             untrusted: bool = False) -> Csi:
    """Reads channel estimates, measured or computed elsewhere, from an HDF5 or .npy file (docs/files.md).

    The layout is told from what the file holds: "plain" is an array ``h`` of complex64 ``(snapshots, subcarriers, rx, tx)``, or an
    array that ``numpy.save`` wrote, complex64 or complex128. Without axis of subcarriers, ``(snapshots, rx, tx)``, such an array
    has one subcarrier. "renew" is pilots as RENEW's sounder and Agora write them. "argos" is those of ArgosV2 traces before RENEW.
    "csi" is estimates made of the latter. Pilots become least-squares estimates on the subcarriers that have one, the lowest
    frequency first.

    A file that MATLAB (version 7.3), Octave (``save -hdf5``) or Julia (JLD2, JLD) saved is read with the program's order of axes,
    and float64 as float32. A ``UserWarning`` says so. Other files keep their order of axes. docs/files.md says how each kind is
    recognised.

    Args:
        path: of the file.
        first: the first snapshot that is read, from 0.
        snapshots: how many; None for all from ``first`` on.
        scale: "none"; "snapshot": mean ``|h|**2`` is 1 for every transmitter in each snapshot; "file": in the mean over all
            snapshots of the file that are not erased.
        cell: of a "renew" file, from 0.
        first_sample: of "renew" and "argos", the sample of a slot at which the first cyclic prefix begins (argos: the first
            window); None for what the file says (argos: 47).
        shifted_pilot: of "renew", whether the pilot is stored from the lowest frequency on; None tells from its zeros.
        trusted: read the file in this process, without limits: only for files that you wrote. By default the confined program
            ``warpband-hdf5`` reads it. Its bounds on memory and time grow with the file. If the file makes the HDF5 library
            crash, loop or fill the memory, that is a ``RuntimeError``.
        untrusted: changes nothing: files are not trusted by default.

    Raises:
        RuntimeError: there is no such file, it is none of these layouts or damaged; ``warpband-hdf5`` is missing or another
            program; or this build has no HDF5, which wheels made by ``pip install .`` have not (``-C cmake.define.WARPBAND_HDF5=ON``).
        ValueError: for a setting that is not allowed, or snapshots that are not there.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "h.npy")
    ...     np.save(path, np.ones((5, 4, 2), np.complex64))
    ...     csi = wb.read_csi(path) if wb.has_hdf5 else wb.Csi(np.ones((5, 1, 4, 2)), np.zeros((5, 1)))
    >>> csi.channel.shape[0]
    5
    """
    if not _core.has_hdf5():
        raise RuntimeError("this build of warpband has no HDF5, which read_csi needs: build with "
                           "-C cmake.define.WARPBAND_HDF5=ON")
    if not isinstance(untrusted, bool):
        raise refused("untrusted", untrusted, "True or False")
    first = whole("first", first)
    if snapshots is not None:
        snapshots = whole("snapshots", snapshots, 0, 2 ** 31 - 1)
    file = made(_core.CsiFile, path=file_name("path", path), scale=scale, cell=cell, first_sample=first_sample,
                shifted_pilot=shifted_pilot, trusted=trusted)
    if file.remark:
        warnings.warn(f"{os.fspath(path)}: {file.remark}", stacklevel=2)
    stored, *item = file.shape
    count = max(0, stored - first) if snapshots is None else snapshots
    if first + count > stored:
        raise ValueError(f"snapshots = {first} + {count} is not allowed: expected at most {stored} in all")
    channel, status = NUMPY.empty((count, *item), COMPLEX64), NUMPY.empty((count, item[0]), UINT8)
    file.read(NUMPY.executor(None), first, channel, status)
    return Csi(channel, status, file.layout, file.carrier_hz, file.spacing_hz)
