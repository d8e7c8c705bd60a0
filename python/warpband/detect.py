"""Soft MIMO detection: ``y = H s + n`` with ``n ~ CN(0, N0)`` in each entry and symbols of Gray QAM with unit energy.

Every detector is made once, for a number of streams, antennas and points, and then called with batches::

    detector = warpband.NWay(streams=4, rx_antennas=4, qam=64)
    llr = detector(channel, received, noise_var)

``received`` has the shape ``(..., rx_antennas)``: all axes but the last are the batch. ``channel`` has the shape
``(..., rx_antennas, streams)`` with the same batch axes, or with the first of them alone: then all uses behind share one H
(``channel`` of ``(frames, 4, 4)`` with ``received`` of ``(frames, symbols, 4)``). LLRs have the shape ``(..., streams *
log2(qam))``: the bits of the first stream's symbol in 3GPP order, then those of the next.

A use is erased, with LLRs and bits of 0 and status 1, where there is NaN or Inf in an input, N0 or the power of H is outside
1e-30..1e30, that of y is above 1e30 or above 1e10 times that of H, or H is singular. Its neighbours are untouched. Distances are
float32: what an LLR has below about ``1e-7 (|y|^2 + |H|^2) / N0`` is lost.
"""
from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._arrays import FLOAT32, NUMPY, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_complex, as_llrs, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, listed, made

__all__ = ["KBest", "MatchedFilter", "ML", "MMSE", "MultiPassTrellis", "NWay", "OnePassTrellis", "ZeroForcing"]


class Detector(Described):
    """What all detectors share; make one of its subclasses."""

    def __init__(self, type: str, *, streams: int, rx_antennas: int, qam: int, llr: str = "log_p0_p1",
                 executor: Executor | None = None, **settings: Any):
        self._reversed = checked_sign(llr)
        self._executor = checked_executor(executor)
        self._work = made(_core.Detector, type=type, streams=streams, rx_antennas=rx_antennas, qam=qam, **settings)
        self.type, self.streams, self.rx_antennas, self.qam, self.llr = type, streams, rx_antennas, qam, llr
        #: LLRs of a use: streams * log2(qam)
        self.bits_per_use: int = self._work.bits_per_use
        #: LLRs are limited to +-this; infinity for no limit
        self.llr_clip: float = self._work.llr_clip
        bits = (self.bits_per_use,)
        self._table = {"llr": (FLOAT32, bits), "bits": (UINT8, bits), "status": (UINT8, ())}
        self._negated = ("llr",) if self._reversed else ()

    @converting(channel=as_complex, received=as_complex, noise_var=as_noise("received", 1), prior=as_llrs)
    def __call__(self, channel: Array, received: Array, noise_var: float | Array, *, prior: Array | None = None,
                 outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Detects a batch of uses of the channel.

        Args:
            channel: H, complex64, ``(..., rx_antennas, streams)``; the batch axes may be the first of received's alone.
            received: y, complex64, ``(..., rx_antennas)``.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to the batch axes of ``received``.
            prior: a-priori LLRs, float32, ``(..., bits_per_use)``; those beyond +-1e6 count as +-1e6. Only for ML, KBest and
                NWay. In the sign of ``llr``.
            outputs: "llr", "bits" (uint8 hard decisions) or "status" (uint8, 1 where a use is erased); or several names.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            The output, or a tuple of them.

        Raises:
            ValueError: for shapes, types or strides that do not fit.
        """
        space = space_of(received)
        arrays = fill(space, self._table, outputs, out, batch_of("received", received, 1))
        if space is not NUMPY:  # which takes arrays as they are
            channel, received, noise_var = space.take(channel), space.take(received), space.take(noise_var)
        if prior is not None:
            prior = space.take(prior)
            if self._reversed:
                prior = space.negated(prior)
        get = arrays.get
        self._work.run(space.executor(self._executor), channel, received, noise_var, prior, get("llr"), get("bits"), get("status"))
        return results(space, arrays, outputs, out, self._negated)


@described
class ML(Detector):
    """Exhaustive max-log detection. Up to 2**24 hypotheses.

    Args:
        streams: 1..8.
        rx_antennas: streams..16.
        qam: points, 4, 16, 64 or 256.
        llr_clip: LLRs are limited to +-this, up to 1e6; None for no limit.
        extrinsic: take the prior off the output again.
        llr: "log_p0_p1" for ln P(0)/P(1), positive means 0; "log_p1_p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.ML(streams=4, rx_antennas=4, qam=4)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, llr_clip: float | None = None, extrinsic: bool = False,
                 llr: str = "log_p0_p1", executor: Executor | None = None):
        super().__init__("ml", streams=streams, rx_antennas=rx_antennas, qam=qam, llr_clip=llr_clip, extrinsic=extrinsic,
                         llr=llr, executor=executor)


class _Linear(Detector):
    _type = ""

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, llr_clip: float | None = None, llr: str = "log_p0_p1",
                 executor: Executor | None = None):
        super().__init__(self._type, streams=streams, rx_antennas=rx_antennas, qam=qam, llr_clip=llr_clip, llr=llr,
                         executor=executor)


@described
class MatchedFilter(_Linear):
    """Matched filter, ``x_k = h_k^H y / |h_k|^2``, and max-log demapping with the exact SINR. Arguments as of :class:`ML`.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.MatchedFilter(streams=4, rx_antennas=4, qam=4)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    _type = "mf"


@described
class ZeroForcing(_Linear):
    """Zero forcing, ``x = (H^H H)^-1 H^H y``, and max-log demapping with the exact SINR. Arguments as of :class:`ML`.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.ZeroForcing(streams=4, rx_antennas=4, qam=4)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    _type = "zf"


@described
class MMSE(_Linear):
    """Linear MMSE, ``x = (H^H H + N0 I)^-1 H^H y`` without its bias, and max-log demapping with the exact SINR.

    Arguments as of :class:`ML`.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.MMSE(streams=4, rx_antennas=4, qam=4)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    _type = "mmse"


@described
class OnePassTrellis(Detector):
    """One-pass trellis detection (M. Wu, 2010, ch. 3.2). Hypotheses can be missing: LLRs are clipped.

    Args:
        llr_clip: LLRs are limited to +-this, and a missing hypothesis gets it; None chooses 8.
        order: the order of the streams in the search, each of 0..streams - 1 once; the last one comes first.

    The other arguments are those of :class:`ML`.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.OnePassTrellis(streams=4, rx_antennas=4, qam=4)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, llr_clip: float | None = None,
                 order: Sequence[int] = (), llr: str = "log_p0_p1", executor: Executor | None = None):
        super().__init__("ot", streams=streams, rx_antennas=rx_antennas, qam=qam, llr_clip=llr_clip, order=listed("order", order),
                         llr=llr, executor=executor)


@described
class MultiPassTrellis(Detector):
    """Multi-pass trellis traversal (M. Wu, 2010, ch. 3.2): each stream's LLRs from a list with every point of it.

    2x2 is exhaustive. Arguments as of :class:`OnePassTrellis`; llr_clip None is no limit.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.MultiPassTrellis(streams=4, rx_antennas=4, qam=4)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, llr_clip: float | None = None,
                 order: Sequence[int] = (), llr: str = "log_p0_p1", executor: Executor | None = None):
        super().__init__("mtt", streams=streams, rx_antennas=rx_antennas, qam=qam, llr_clip=llr_clip, order=listed("order", order),
                         llr=llr, executor=executor)


@described
class KBest(Detector):
    """K-best detection: breadth first, the best K paths survive a level.

    Args:
        survivors: K, 1..4096.
        real_valued: a level for each real dimension instead of each stream.
        llr_clip: LLRs are limited to +-this, and a missing hypothesis gets it; None chooses 8.
        extrinsic: take the prior off the output again.
        order: the order of the streams in the search; the last one is the top of the tree.

    The other arguments are those of :class:`ML`.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.KBest(streams=4, rx_antennas=4, qam=4, survivors=8)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, survivors: int = 64, real_valued: bool = False,
                 llr_clip: float | None = None, extrinsic: bool = False, order: Sequence[int] = (),
                 llr: str = "log_p0_p1", executor: Executor | None = None):
        super().__init__("kbest", streams=streams, rx_antennas=rx_antennas, qam=qam, survivors=survivors,
                         real_valued=real_valued, llr_clip=llr_clip, extrinsic=extrinsic, order=listed("order", order), llr=llr,
                         executor=executor)


@described
class NWay(Detector):
    """N-way detection, parallel SSFE (M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on GPU", 2012).

    Args:
        ways: passes, each with another stream on top, 1..streams; 0 is streams, where no hypothesis is missing.
        llr_clip: None chooses no limit with ways = streams, else 8, which a missing hypothesis gets.
        extrinsic: take the prior off the output again.
        order: pass p has stream order[p] on top, below it order[p - 1], ...

    The other arguments are those of :class:`ML`.

    >>> h, y = np.eye(4)[None] * np.ones((10, 1, 1)), np.full((10, 4), 1 + 1j) / 2 ** 0.5
    >>> detect = wb.NWay(streams=4, rx_antennas=4, qam=4, ways=2)
    >>> llr, bits = detect(h, y, 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int(bits.max())
    ((10, 8), 0)
    """

    def __init__(self, *, streams: int, rx_antennas: int, qam: int, ways: int = 0, llr_clip: float | None = None,
                 extrinsic: bool = False, order: Sequence[int] = (), llr: str = "log_p0_p1",
                 executor: Executor | None = None):
        super().__init__("nway", streams=streams, rx_antennas=rx_antennas, qam=qam, ways=ways, llr_clip=llr_clip,
                         extrinsic=extrinsic, order=listed("order", order), llr=llr, executor=executor)
        #: passes, as chosen
        self.ways: int = self._work.ways
