"""Massive MIMO: uplink detection and downlink precoding for up to 512 antennas and 64 users (docs/li-thesis.md)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, INT8, UINT8, Array, Executor, as_halves, batch_of, fill, results, space_of
from ._convert import as_complex, as_llrs, as_noise, as_samples, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import (ClusteredDownlinkKeywords, ClusteredUplinkKeywords, MassiveDownlinkKeywords, MassiveSoftUplinkKeywords,
                            MassiveUplinkKeywords)

__all__ = ["ClusteredDownlink", "ClusteredUplink", "MassiveDownlink", "MassiveSoftUplink", "MassiveUplink", "effective_capacity"]


class _Uplink(Described):
    """What detectors have in common."""

    def _begin(self, kind: Any, llr_sign: str, executor: Executor | None, settings: Any) -> None:
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = made(kind, settings=settings)
        #: the sign of LLRs
        self.llr_sign = llr_sign
        #: LLRs of a vector: users * log2(qam)
        self.bits_per_vector: int = self._work.bits_per_vector
        users = (self.users,)
        self._table = {"llr": (FLOAT32, (self.bits_per_vector,)), "equalized": (COMPLEX64, users), "sinr": (FLOAT32, users),
                       "status": (UINT8, ()), "llr_int8": (INT8, (self.bits_per_vector,))}

    @converting(channel=as_samples, received=as_samples, noise_var=as_noise("channel", 2))
    def __call__(self, channel: Array, received: Array, noise_var: float | Array, *,
                 outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Detects the vectors of frames.

        H and y may both be pairs of halves instead, half the bytes: float16 ``(..., antennas, users, 2)`` and
        ``(..., antennas, 2)``, real and imaginary part side by side, as ``numpy.stack([y.real, y.imag], -1).astype("float16")``
        gives, or tensors of torch.complex32. All is computed in float32. Entries must be in the range of a half; if necessary scale
        H and y by a common factor, and N0 by its square.

        Args:
            channel: H, complex64 ``(..., antennas, users)``; its batch axes are the frames.
            received: y, complex64 ``(..., antennas)``; its batch axes begin with the frames, further ones are the vectors that
                share an H: ``(frames, symbols, antennas)``.
            noise_var: N0 per complex entry, 1e-30..1e12: a number, or an array that broadcasts to the axes of the frames. Frames with another
                N0, with NaN or Inf or with a sum of ``|H|^2`` outside 1e-12..1e12 are erased: zeros, and status 1. Scale CSI in
                physical units, and N0 by the square of its factor.
                Distances are float32: what an LLR has below about ``1e-7 SINR (|x|^2 + 1)``, x the estimate, is lost. A
                part of x beyond 2^19 counts as 2^19. A vector with ``|H^H y|^2`` above 1e24 or above ``1e10 |H|^4`` is erased too.
            outputs: "llr" (float32 ``(..., users * log2(qam))``, user after user), "equalized" (complex64 ``(..., users)``,
                without bias), "sinr" (float32 ``(..., users)``, linear), "status" (uint8 ``(...)``, 1 erased), "llr_int8"
                (int8, LLRs in steps of 1 / ``llr_steps``, the nearest of -127..127); or several.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        channel, _ = as_halves(channel)
        received, half = as_halves(received)
        space = space_of(received)
        arrays = fill(space, self._table, outputs, out, batch_of("received", received, 2 if half else 1))
        self._work.run(space.executor(self._executor), space.take(channel), space.take(received), space.take(noise_var),
                           arrays.get("llr"), arrays.get("equalized"), arrays.get("sinr"), arrays.get("status"),
                           arrays.get("llr_int8"))
        return results(space, arrays, outputs, out, ("llr", "llr_int8") if self._reversed else ())


@described
class MassiveSoftUplink(_Uplink):
    """MMSE with parallel interference cancellation: the uplink ``y = H x + n`` with a-priori LLRs of the users' bits.

    The a-priori LLRs give each user's symbol a mean and a variance. The mean interference of the others is subtracted, and its
    uncertainty is noise of the MMSE filter. One inverse of users x users serves all users of a vector. Without a-priori LLRs it is
    :class:`MassiveUplink` with ``solver="cholesky"``, up to rounding.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: naming the setting, its value and what is allowed.

    Source: C. Studer, S. Fateh, D. Seethaler, "ASIC implementation of soft-input soft-output MIMO detection using MMSE parallel
    interference cancellation", 2011, here with the Gram matrix.

    >>> h, bits = wb.mimo_rayleigh(np.ones((10, 4)), rx_antennas=8, seed=1)[1], np.ones((10, 8))
    >>> received = (h @ wb.QamMapper(qam=4)(bits)[..., None])[..., 0]
    >>> detect = wb.MassiveSoftUplink(antennas=8, users=4, qam=4, extrinsic=True)
    >>> known = np.where(np.arange(8) < 6, -20, 0)  # of three of the four users, whose bits are surely 1
    >>> np.array_equal(detect(h, received, 0.1, prior=np.tile(known, (10, 1))) < 0, bits)
    True
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[MassiveSoftUplinkKeywords]):
        self._begin(_core.MassiveSoftUplink, llr_sign, executor, settings)
        bits = (self.bits_per_vector,)
        self._table = {"llr": (FLOAT32, bits), "bits": (UINT8, bits), "status": (UINT8, ())}

    @converting(channel=as_complex, received=as_complex, noise_var=as_noise("channel", 2), prior=as_llrs)
    def __call__(self, channel: Array, received: Array, noise_var: float | Array, *, prior: Array | None = None,
                 outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Detects the vectors of frames.

        Args:
            channel: H, complex64 ``(..., antennas, users)``; its batch axes are the frames.
            received: y, complex64 ``(..., antennas)``; its batch axes begin with the frames, further ones are the vectors that
                share an H: ``(frames, symbols, antennas)``.
            noise_var: N0 per complex entry, 1e-30..1e12: a number, or an array that broadcasts to the axes of the frames.
            prior: a-priori LLRs, float32 ``(..., users * log2(qam))``, in the sign of ``llr``; those beyond +-1e6 count as +-1e6. A vector with
                one that is NaN or infinite is erased. None: nothing is known.
            outputs: "llr" (float32 ``(..., users * log2(qam))``, user after user; without the prior where ``extrinsic``), "bits" (uint8, 1
                where the LLR says so), "status" (uint8 ``(...)``, 1 erased, zeros: as :class:`MassiveUplink` says, and where the
                filter's matrix is singular); or several names.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            The output, or a tuple of them.

        Raises:
            ValueError: for shapes, types or strides that do not fit.
        """
        space = space_of(received)
        arrays = fill(space, self._table, outputs, out, batch_of("received", received, 1))
        if prior is not None:
            prior = space.take(prior)
            if self._reversed:
                prior = space.negated(prior)
        self._work.run(space.executor(self._executor), space.take(channel), space.take(received), space.take(noise_var), prior,
                       arrays.get("llr"), arrays.get("bits"), arrays.get("status"))
        return results(space, arrays, outputs, out, ("llr",) if self._reversed else ())


class _Downlink(Described):
    """What precoders have in common."""

    def _begin(self, kind: Any, executor: Executor | None, settings: Any) -> None:
        self._executor = checked_executor(executor)
        self._work = made(kind, settings=settings)
        self._table = {"precoded": (COMPLEX64, (self.antennas,)), "status": (UINT8, ())}

    @converting(channel=as_samples, sent=as_complex, noise_var=as_noise("channel", 2))
    def __call__(self, channel: Array, sent: Array, noise_var: float | Array, *,
                 outputs: str | Sequence[str] = "precoded", out: Any = None, strict: bool = False) -> Any:
        """Precodes symbols ``sent``, complex64 ``(..., users)``; ``channel``, also of halves, as of the uplink. ``noise_var`` is N0
        at each user's antenna, 0..1e12: ``y = H^H x + n``.

        outputs: "precoded" (complex64 ``(..., antennas)``), "status" (uint8 ``(...)``, 1 erased); or both.
        """
        channel, _ = as_halves(channel)
        space = space_of(sent)
        batch = batch_of("sent", sent, 1)
        arrays = fill(space, self._table, outputs, out, batch)
        precoded = arrays.get("precoded")
        if precoded is None:  # the library computes it always
            precoded = space.empty(batch + (self.antennas,), COMPLEX64)
        self._work.run(space.executor(self._executor), space.take(channel), space.take(sent), space.take(noise_var),
                           precoded, arrays.get("status"))
        return results(space, arrays, outputs, out)


@described
class MassiveUplink(_Uplink):
    """MMSE detection: ``y = H x + n``, LLRs of every user. ``sinr`` that is left out is "approximate" with
    solvers that take ``iterations``.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> h, bits = wb.mimo_rayleigh(np.ones((10, 4)), rx_antennas=32, seed=1)[1], np.ones((10, 8))
    >>> received = (h @ wb.QamMapper(qam=4)(bits)[..., None])[..., 0]
    >>> detect = wb.MassiveUplink(antennas=32, users=4, qam=4)
    >>> np.array_equal(detect(h, received, 0.1) < 0, bits)
    True
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[MassiveUplinkKeywords]):
        self._begin(_core.MassiveUplink, llr_sign, executor, settings)


@described
class MassiveDownlink(_Downlink):
    """Precoding by the same linear system: ``H A^-1 s``, ``A = H^H H + (N0 / Es) I``, normalised; zf leaves N0 out, mf sends ``H s``.

    The users receive ``y = H^H x + n`` with the H of the uplink. ``noise_var`` is the N0 of ``n``, and Es the energy that is sent for
    one user. A vector x has energy 1, so that Es is ``1 / users`` if ``symbol_energy`` is left out: ``A = H^H H + users N0 I``, which
    is best for this energy. :func:`sweep` has the same convention, with ``snr_db = 10 log10(1 / N0)``. If you send ``sqrt(P) x``
    instead, set ``symbol_energy`` to ``P / users``. A calibrated array has ``H^T``: then pass ``conj(H)``.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> h = wb.mimo_rayleigh(np.ones((10, 4)), rx_antennas=32, seed=1)[1]
    >>> precode = wb.MassiveDownlink(antennas=32, users=4)
    >>> precode(h, np.ones((10, 4)), 0.1).shape
    (10, 32)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[MassiveDownlinkKeywords]):
        self._begin(_core.MassiveDownlink, executor, settings)


@described
class ClusteredUplink(_Uplink):
    """:class:`MassiveUplink` with the antennas of the base station in clusters of neighbours, as many in each
    (massive/cluster/cluster.hpp).

    "exact" adds up what each cluster sums over its antennas: up to rounding the central detector. "local-mmse" adds the
    estimates of a detector in each cluster, weighted with their SINRs (Jeon, Li, Cavallaro, Studer, IEEE Trans. Signal
    Processing 67(17), 2019); it needs ``antennas / clusters >= users``. "cg" exchanges ``users`` values in each iteration of
    conjugate gradients (Li et al., IEEE JETCAS 7(4), 2017); it needs ``solver="cg"``. Arrays are those of :class:`MassiveUplink`.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> h, bits = wb.mimo_rayleigh(np.ones((10, 4)), rx_antennas=32, seed=1)[1], np.ones((10, 8))
    >>> received = (h @ wb.QamMapper(qam=4)(bits)[..., None])[..., 0]
    >>> detect = wb.ClusteredUplink(antennas=32, users=4, qam=4, clusters=4, cluster_method="local-mmse")
    >>> np.array_equal(detect(h, received, 0.1) < 0, bits)
    True
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[ClusteredUplinkKeywords]):
        self._begin(_core.ClusteredUplink, llr_sign, executor, settings)


@described
class ClusteredDownlink(_Downlink):
    """:class:`MassiveDownlink` with the antennas of the base station in clusters, as :class:`ClusteredUplink` has them.

    With "local-mmse" each cluster precodes for itself, with the Es of all, and sends ``1 / clusters`` of the power.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> h = wb.mimo_rayleigh(np.ones((10, 4)), rx_antennas=32, seed=1)[1]
    >>> precode = wb.ClusteredDownlink(antennas=32, users=4, clusters=4)
    >>> precode(h, np.ones((10, 4)), 0.1).shape
    (10, 32)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[ClusteredDownlinkKeywords]):
        self._begin(_core.ClusteredDownlink, executor, settings)


def effective_capacity(coherence_s: Any, *, bits_per_hz: float, central: bool = True, precoding_s: float = 0.0, antennas: int = 128,
                       users: int = 16, subcarriers: int = 128, coherence_bandwidth_hz: float = 313e3, transport_bps: float = 40e9,
                       hop_s: float = 1e-6, bits_per_csi: float = 64.0, precoding_per_subcarrier: bool = False) -> np.ndarray:
    """What is left of a downlink's spectral efficiency after the time for channel estimates and the precoder.

    In bit/s/Hz of all users together; the model of K. Li, "GPU Accelerated Reconfigurable Detector and Precoder for Massive MIMO SDR Systems",
    section 5.5, eqs 5.1 and 5.2 (docs/li-thesis.md). ``warpband model capacity`` prints where its figure 5.3 has crossings, and ``warpband reproduce li fig5.3`` draws it.

    It is ``users * bits_per_hz * (coherence_s - overhead) / coherence_s``. The overhead has a pilot of every user. A precoder that
    is computed in one place also waits for its computation and for two transports: of channel estimates and of precoded vectors.

    Args:
        coherence_s: for how long a channel stays as it was estimated, above 0 and up to 1e6 s: a number, or an array of them.
        bits_per_hz: spectral efficiency of a user in bit/s/Hz, 0..1000. Table 5.5 has 6.12 for the matched filter, 8.40 for
            Cholesky and 8.32 for three iterations of conjugate gradients.
        central: False for a precoder that is applied where the antennas are, as a matched filter is. It pays for the pilots alone.
        precoding_s: time to compute the precoder of all subcarriers in s, 0..1000; of a central one.
        antennas: B, 1..65536.
        users: U, 1 to antennas.
        subcarriers: 1..65536.
        coherence_bandwidth_hz: 1..1e12. A pilot lasts 1 / coherence_bandwidth_hz.
        transport_bps: bit/s between antennas and precoder, 1..1e18.
        hop_s: latency of a transport in s, 0..1.
        bits_per_csi: bits for one entry of H, 1..1024.
        precoding_per_subcarrier: count ``precoding_s`` once for each subcarrier, as eq. 5.2 is printed.

    Returns:
        float64, of the shape of ``coherence_s``; 0 where the overhead takes all the time.

    Raises:
        ValueError: for what is out of range.
        TypeError: if ``coherence_s`` is not numeric.

    >>> coherence_s = [1e-3, 10e-3]
    >>> wb.effective_capacity(coherence_s, bits_per_hz=6.12, central=False).round(1).tolist()  # matched filter
    [92.9, 97.4]
    >>> wb.effective_capacity(coherence_s, bits_per_hz=8.40, precoding_s=242e-6).round(1).tolist()  # Cholesky
    [0.0, 119.2]
    """
    try:
        times = np.array(coherence_s, float)
    except Exception:  # objects may raise anything
        raise TypeError(f"coherence_s is a {type(coherence_s).__name__}: expected numbers") from None
    values = made(_core.effective_capacity, coherence_s=times.ravel().tolist(), bits_per_hz=bits_per_hz, central=central,
                  precoding_s=precoding_s, antennas=antennas, users=users, subcarriers=subcarriers,
                  coherence_bandwidth_hz=coherence_bandwidth_hz, transport_bps=transport_bps, hop_s=hop_s, bits_per_csi=bits_per_csi,
                  precoding_per_subcarrier=precoding_per_subcarrier)
    return np.array(values).reshape(times.shape)
