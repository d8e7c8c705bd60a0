"""Soft MIMO detection: ``y = H s + n`` with ``n ~ CN(0, N0)`` in each entry and symbols of Gray QAM with unit energy.

Every detector is made once, for a number of streams, antennas and points, and then called with batches::

    detector = warpband.NWay(streams=4, rx_antennas=4, qam=64)
    llr = detector(channel, received, noise_var)

``received`` has the shape ``(..., rx_antennas)``: all axes but the last are the batch. ``channel`` has the shape
``(..., rx_antennas, streams)`` with the same batch axes, or with the first of them alone: then all uses behind share one H
(``channel`` of ``(frames, 4, 4)`` with ``received`` of ``(frames, symbols, 4)``). LLRs have the shape ``(..., streams *
log2(qam))``: the bits of the first stream's symbol in 3GPP order, then those of the next.

A use is erased, with LLRs and bits of 0 and status 1, if an input has NaN or Inf or H is singular. It is also erased if N0 or
the power of H is outside 1e-30..1e30. The same holds if the power of y is above 1e30 or above 1e10 times that of H. Its
neighbours are untouched. Distances are float32: what an LLR has below about ``1e-7 (|y|^2 + |H|^2) / N0`` is lost.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import FLOAT32, INT32, NUMPY, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_channel, as_complex, as_llrs, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import (EPKeywords, KBestKeywords, MatchedFilterKeywords, MLKeywords, MMSEKeywords, MultiPassTrellisKeywords,
                            NWayKeywords, OnePassTrellisKeywords, PICKeywords, SphereKeywords, ZeroForcingKeywords)

__all__ = ["EP", "KBest", "MatchedFilter", "ML", "MMSE", "MultiPassTrellis", "NWay", "OnePassTrellis", "PIC", "Sphere", "ZeroForcing"]


class Detector(Described):
    """What all detectors share; make one of its subclasses."""

    #: as `warpband detect --type` names it
    type: str

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Any):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = made(_core.Detector, type=self.type, settings=settings)
        #: the sign of LLRs
        self.llr_sign = llr_sign
        #: LLRs of a use: streams * log2(qam)
        self.bits_per_use: int = self._work.bits_per_use
        bits = (self.bits_per_use,)
        self._table = {"llr": (FLOAT32, bits), "bits": (UINT8, bits), "status": (UINT8, ())}
        self._negated = ("llr",) if self._reversed else ()

    @property
    def llr_clip(self) -> float:
        """LLRs are limited to +-this, as chosen; infinity for no limit."""
        return float(str(self._work.settings["llr_clip"]).replace("none", "inf"))

    @converting(channel=as_channel("received", 1), received=as_complex, noise_var=as_noise("received", 1), prior=as_llrs)
    def __call__(self, channel: Array, received: Array, noise_var: float | Array, *, prior: Array | None = None,
                 outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Detects a batch of uses of the channel.

        Args:
            channel: H, complex64, ``(..., rx_antennas, streams)``; the batch axes may be the first of received's alone. An axis of
                extent 1 is shared as NumPy broadcasts it: one H for all uses is ``(rx_antennas, streams)``, or has a 1 for each axis.
            received: y, complex64, ``(..., rx_antennas)``.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to the batch axes of ``received``.
            prior: a-priori LLRs, float32, ``(..., bits_per_use)``; those beyond +-1e6 count as +-1e6. In the sign of
                ``llr``. For detectors with the setting ``extrinsic``.
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
        self._work.run(space.executor(self._executor), channel, received, noise_var, prior, get("llr"), get("bits"), get("status"), get("visited"))
        return results(space, arrays, outputs, out, self._negated)


@described
class ML(Detector):
    """Exhaustive max-log detection. Up to 2**24 hypotheses.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.ML(streams=4, rx_antennas=4, qam=4)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 0)
    """

    type = "ml"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[MLKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class MatchedFilter(Detector):
    """Matched filter, ``x_k = h_k^H y / |h_k|^2``, and max-log demapping with the exact SINR.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.MatchedFilter(streams=4, rx_antennas=4, qam=4)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 7)
    """

    type = "mf"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[MatchedFilterKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class ZeroForcing(Detector):
    """Zero forcing, ``x = (H^H H)^-1 H^H y``, and max-log demapping with the exact SINR.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.ZeroForcing(streams=4, rx_antennas=4, qam=4)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 1)
    """

    type = "zf"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[ZeroForcingKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class MMSE(Detector):
    """Linear MMSE, ``x = (H^H H + N0 I)^-1 H^H y`` without its bias, and max-log demapping with the exact SINR.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.MMSE(streams=4, rx_antennas=4, qam=4)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 1)
    """

    type = "mmse"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[MMSEKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class OnePassTrellis(Detector):
    """One-pass trellis detection (M. Wu, 2010, ch. 3.2). Hypotheses can be missing: LLRs are clipped.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.OnePassTrellis(streams=4, rx_antennas=4, qam=4)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 0)
    """

    type = "ot"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[OnePassTrellisKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class MultiPassTrellis(Detector):
    """Multi-pass trellis traversal (M. Wu, 2010, ch. 3.2): each stream's LLRs from a list with every point of it.

    2x2 is exhaustive.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.MultiPassTrellis(streams=4, rx_antennas=4, qam=4)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 0)
    """

    type = "mtt"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[MultiPassTrellisKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class KBest(Detector):
    """K-best detection: breadth first, the best K paths survive a level.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.KBest(streams=4, rx_antennas=4, qam=4, survivors=8)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 0)
    """

    type = "kbest"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[KBestKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class NWay(Detector):
    """N-way detection, parallel SSFE (M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on GPU", 2012).

    ``spread`` keeps more points below the top of the tree (M. Li et al., "Selective spanning with fast enumeration", IEEE ICC, 2008).
    ``sort="fsd"`` needs fewer candidates: one way of 4x4 16-QAM with it has fewer wrong decisions than two ways without.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.NWay(streams=4, rx_antennas=4, qam=4, ways=2)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 0)
    """

    type = "nway"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[NWayKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class Sphere(Detector):
    """Sphere detection, depth first: the LLRs of exhaustive search from fewer nodes.

    C. Studer, A. Burg, H. Boelcskei, "Soft-output sphere decoding: algorithms and VLSI implementation", IEEE JSAC 26(2), 2008,
    section III. A single tree search keeps the best candidate, and for each bit the best one with the other value. Without
    ``hard_output``, ``radius`` and ``node_limit`` LLRs equal those of ``ML``. ``llr_clip`` ends branches earlier, and LLRs are those of
    ``ML`` with that clip. ``sort="sqrd"`` halves the nodes.

    A further output is "visited": nodes of the search, int32, one for each use. A node is a path down to some stream. All points
    of the last stream below a path are one node.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.Sphere(streams=4, rx_antennas=4, qam=4, llr_clip=8, sort="sqrd")
    >>> llr, visited = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "visited"))
    >>> llr.shape, int(((llr < 0) != bits).sum()), bool((visited >= 4).all())
    ((10, 8), 0, True)
    """

    type = "sphere"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[SphereKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)
        self._table["visited"] = (INT32, ())


@described
class PIC(Detector):
    """MMSE detection with parallel interference cancellation (C. Studer, S. Fateh, D. Seethaler, IEEE JSSC 46(7), 2011).

    With a-priori LLRs, what they say of the other streams is taken off before a filter for what is left of those. Without, it is
    MMSE detection. ``PIC`` is the detector of an iterative receiver: ``prior`` is the decoder's extrinsic output, and with
    ``extrinsic=True`` the LLRs go back to the decoder. Up to 16 streams.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> h, y = np.ones((10, 1, 1)) * (np.eye(4) + 0.5), np.full((10, 4), 3 + 3j) / 2 ** 0.5
    >>> detect = wb.PIC(streams=4, rx_antennas=4, qam=4, extrinsic=True)
    >>> first = detect(h, y, 0.1)
    >>> again = detect(h, y, 0.1, prior=first)
    >>> again.shape, bool((again > first).all())
    ((10, 8), True)
    """

    type = "pic"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[PICKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)


@described
class EP(Detector):
    """Expectation propagation (J. Cespedes, P. M. Olmos, M. Sanchez-Fernandez, F. Perez-Cruz, IEEE Trans. Commun. 62(8), 2014).

    Each symbol has a Gaussian in place of its points. An iteration estimates every symbol from y and the Gaussians of the others.
    The symbol then gets the Gaussian with the mean and variance of its points under that estimate. Takes a-priori LLRs; up to 16
    streams.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.random.default_rng(1).integers(0, 2, (10, 8))
    >>> y, h = wb.mimo_rayleigh(wb.QamMapper(qam=4)(bits).reshape(10, 4), rx_antennas=4, seed=1)
    >>> detect = wb.EP(streams=4, rx_antennas=4, qam=4, iterations=5)
    >>> llr, decided = detect(h, wb.awgn(y, noise_var=0.1, seed=1), 0.1, outputs=("llr", "bits"))
    >>> llr.shape, int((decided != bits).sum())
    ((10, 8), 0)
    """

    type = "ep"

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[EPKeywords]):
        super().__init__(llr_sign=llr_sign, executor=executor, **settings)
