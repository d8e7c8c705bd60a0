"""Iterative receivers: detector and decoder exchange extrinsic LLRs of the coded bits.

::

    receiver = warpband.IterativeReceiver(detector=warpband.NWay(streams=4, rx_antennas=4, qam=16, ways=1),
                                          decoder=warpband.LdpcDecoder(code=warpband.wimax_ldpc(), iterations=5), outer=3)
    bits = receiver(channel, received, noise_var)

A frame is one codeword, or one for each user, in ``uses_per_frame`` uses of the channel. Its coded bits, in the order of the interleaver, are the bits of
the streams' symbols: those of the first stream in the first use, of the second stream, ..., of the second use, ...
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Sequence

import numpy as np

from . import _core
from ._arrays import FLOAT32, INT32, NUMPY, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_bits, as_channel, as_complex, as_llrs, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, listed, made, number, refused, whole
from .conv import BcjrDecoder
from .ctc import CtcDecoder
from .detect import Detector
from .ldpc import LdpcDecoder
from .massive import MassiveSoftUplink, MassiveUplink
from .stbc import StbcDecoder
from .turbo import TurboDecoder, crc_of, permutation_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import IterativeReceiverKeywords

__all__ = ["ExitChart", "IterativeReceiver", "exit_chart"]


def _noise_of_uses(name: str, array: Array, given: dict[str, Any]) -> Array:
    return as_noise("received", given["self"]._use_axes)(name, array, given)


def _channel_of_uses(name: str, array: Array, given: dict[str, Any]) -> Array:
    return as_channel("received", given["self"]._use_axes)(name, array, given)


@described
class IterativeReceiver(Described):
    """A detector and a decoder in a loop: iterative detection and decoding.

    Args:
        detector: one that takes a-priori LLRs, or a :class:`StbcDecoder` with its exact search; with ``outer=1`` any. Or a massive-MIMO
            uplink, :class:`MassiveSoftUplink`, or :class:`MassiveUplink` for the first outer iteration and the former for the others:
            users are the streams, and uses that share an H must be of one frame. Its ``llr`` and ``executor`` do not matter.
            What a receiver calls a use is a whole codeword of a space-time code.
        decoder: an :class:`LdpcDecoder`, a :class:`TurboDecoder` in float32, a :class:`BcjrDecoder` or a :class:`CtcDecoder`. Its ``llr`` and
            ``executor`` do not matter.
        crc: "crc24a", "crc24b", "crc16", "crc8" or (polynomial with its leading term, degree): the last of the k bits are this
            CRC of the others, and a frame is finished only where it holds. None for that of a turbo decoder, if it has one.
        permutation: an interleaver of one's own: bit i of a frame is coded bit permutation[i]. Of ``codewords="user"`` bit i of what
            a user sends.
        codewords: "frame": a frame is one codeword, whose bits go to the streams in turn; "user": every stream or user sends a codeword
            of its own, of bits that fill whole symbols. Its axis ``users`` then stands before ``k`` and ``n`` in all shapes, and a
            frame is finished where all its codewords are.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    A frame whose checks hold after an outer iteration is finished: its results stay as they are, and once a fourth are it costs nothing. LLRs
    that are fed back are limited to +-100, so that a loop that diverges stays finite.

    Raises:
        ValueError: naming what is not allowed: an interleaver that is no permutation, a detector that takes no a-priori LLRs, a
            decoder without extrinsic LLRs of its coded bits.

    Source: B. M. Hochwald, S. ten Brink, "Achieving near-capacity on a multiple-antenna channel", 2003.

    >>> code = wb.wifi_ldpc(n=648)
    >>> receiver = wb.IterativeReceiver(detector=wb.ML(streams=2, rx_antennas=2, qam=4),
    ...                                 decoder=wb.LdpcDecoder(code=code, iterations=5), outer=3, interleaver="random")
    >>> coded = wb.LdpcEncoder(code=code)(np.ones((10, 324)))
    >>> s = wb.QamMapper(qam=4)(receiver.interleave(coded)).reshape(10, receiver.uses_per_frame, 2)
    >>> y, h = wb.mimo_rayleigh(s, rx_antennas=2, seed=1)
    >>> bool(receiver(h, y, 0.01).all())
    True
    """

    _outputs = ("bits", "iterations", "status", "detected", "extrinsic", "use_status")

    def __init__(self, *, detector: Detector | StbcDecoder | MassiveUplink | MassiveSoftUplink,
                 decoder: LdpcDecoder | TurboDecoder | BcjrDecoder | CtcDecoder, crc: str | tuple[int, int] | None = None,
                 permutation: Sequence[int] | None = None, codewords: Literal["frame", "user"] = "frame", llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[IterativeReceiverKeywords]):
        if not isinstance(detector, (Detector, StbcDecoder, MassiveUplink, MassiveSoftUplink)):
            raise TypeError(f"detector is a {type(detector).__name__}: expected one of warpband's")
        if not hasattr(decoder, "_work"):
            raise TypeError(f"decoder is a {type(decoder).__name__}: expected one of warpband's")
        if not isinstance(codewords, str) or codewords not in ("frame", "user"):
            raise refused("codewords", codewords, '"frame" or "user"')
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        turbo_order = getattr(decoder, "_given", {}).get("permutation")  # of a turbo code
        self._work = made(_core.IterativeReceiver, detector=detector._work, decoder=decoder._work, crc=crc_of(crc),
                          decoder_permutation=None if turbo_order is None else permutation_of(decoder.k, turbo_order),
                          permutation=None if permutation is None else listed("permutation", permutation),
                          per_user=codewords == "user", settings=settings)
        self.detector, self.decoder, self.codewords = detector, decoder, codewords
        #: the sign of LLRs
        self.llr_sign = llr_sign
        #: bits of a codeword that are decided, and coded bits
        self.k: int = self._work.k
        self.n: int = self._work.n
        #: uses of the channel that a frame takes
        self.uses_per_frame: int = self._work.uses_per_frame
        space_time = isinstance(detector, StbcDecoder)
        massive = isinstance(detector, (MassiveUplink, MassiveSoftUplink))
        self._bits_per_use = detector.bits_per_codeword if space_time else detector.bits_per_vector if massive else detector.bits_per_use
        self._use_axes = 2 if space_time else 1  # of what is received in a use
        self._of_frame = (self._work.users,) if self._work.users else ()  # axes of codewords
        order = self._work.permutation
        #: bit i of a frame is coded bit permutation[i], of all codewords one behind the other
        self.permutation = np.array(order, np.int32) if len(order) else np.arange(self.n, dtype=np.int32)
        self.permutation.setflags(write=False)
        self._negated = ("detected", "extrinsic") if self._reversed else ()

    def interleave(self, coded: Array) -> np.ndarray:
        """The bits that a transmitter sends: uint8 ``(..., uses_per_frame * bits_per_use)`` of ``coded``, ``(..., n)``, or ``(..., users,
        n)``, in host memory; zeros behind the coded bits."""
        try:
            coded = as_bits("coded", np.asarray(coded), {})
        except Exception as error:
            raise (error if str(error).startswith("coded") else refused("coded", coded, "an array of 0 and 1")) from None
        if coded.dtype != np.uint8 and coded.dtype != np.bool_:
            raise refused("coded", coded, "an array of 0 and 1")
        shape = (*self._of_frame, self.n)
        if coded.shape[-len(shape):] != shape:
            raise ValueError(f"coded = shape {coded.shape} is not allowed: expected (..., {', '.join(map(str, shape))})")
        lead, bits = coded.shape[:coded.ndim - len(shape)], len(self.permutation)
        frame = np.zeros(lead + (self.uses_per_frame * self._bits_per_use,), np.uint8)
        frame[..., :bits] = coded.reshape(lead + (bits,))[..., self.permutation]
        return frame

    @converting(channel=_channel_of_uses, received=as_complex, noise_var=_noise_of_uses, prior=as_llrs)
    def __call__(self, channel: Array, received: Array, noise_var: float | Array, *, prior: Array | None = None,
                 outputs: str | Sequence[str] = "bits", each_outer: bool = False, out: Any = None, strict: bool = False) -> Any:
        """Receives a batch of frames.

        Args:
            channel: H, complex64, ``(..., uses_per_frame, rx_antennas, streams)``; the batch axes may be the first of received's
                alone, as in ``(..., rx_antennas, streams)`` for one H a frame, or 1 where NumPy broadcasts them.
            received: y, complex64, ``(..., uses_per_frame, rx_antennas)``. With a space-time code ``uses_per_frame`` counts
                codewords: ``(..., uses_per_frame, slots, rx_antennas)``, or subcarriers in place of slots. ``channel`` then also
                has an axis of subcarriers.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to ``(..., uses_per_frame)``.
            prior: a-priori LLRs of the coded bits for the first outer iteration, float32, ``(..., n)``. In the sign of ``llr``.
            outputs: "bits" (uint8 ``(..., k)``), "iterations" (int32 ``(...)``, of the decoder up to here), "status" (uint8
                ``(...)``, of the decoder: 1 erased, 2 its checks hold), "detected" and "extrinsic" (float32 ``(..., n)``, what
                the decoder got and what it gave), "use_status" (uint8 ``(..., uses_per_frame)``, 1 where the detector erased a use
                in the first outer iteration); or several names.
            each_outer: whether all outputs but "use_status" have a first axis for the results after each outer iteration.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            The output, or a tuple of them.

        Raises:
            ValueError: for shapes, types or strides that do not fit.
        """
        if not isinstance(each_outer, bool):
            raise refused("each_outer", each_outer, "True or False")
        space = space_of(received)
        batch = batch_of("received", received, 1 + self._use_axes)
        lead = (self.outer, *batch) if each_outer else batch
        of_frame = (*lead, *self._of_frame)
        table = {"bits": (UINT8, (*of_frame, self.k)), "iterations": (INT32, lead), "status": (UINT8, lead),
                 "detected": (FLOAT32, (*of_frame, self.n)), "extrinsic": (FLOAT32, (*of_frame, self.n)),
                 "use_status": (UINT8, (*batch, self.uses_per_frame))}
        arrays = fill(space, table, outputs, out, ())
        if space is not NUMPY:  # which takes arrays as they are
            channel, received, noise_var = space.take(channel), space.take(received), space.take(noise_var)
        if prior is not None:
            prior = space.take(prior)
            if self._reversed:
                prior = space.negated(prior)
        self._work.run(space.executor(self._executor), channel, received, noise_var, prior, *map(arrays.get, self._outputs))
        return results(space, arrays, outputs, out, self._negated)


class ExitChart(NamedTuple):
    """What :func:`exit_chart` measures: mutual information of a bit and its LLR, 0..1 bits.

    >>> chart = wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), snr_db=3, bits=2000, outer=2,
    ...                       prior_information=[0, 0.5, 1], decoder=wb.LdpcDecoder(code=wb.wifi_ldpc(n=648)))
    >>> chart.prior.tolist(), len(chart.detector), len(chart.loop_detector)
    ([0.0, 0.5, 1.0], 3, 2)
    """

    #: of the a-priori LLRs of both curves
    prior: np.ndarray
    #: of the detector's extrinsic LLRs, over ``prior``
    detector: np.ndarray
    #: of the decoder's extrinsic LLRs, over ``prior``
    decoder: np.ndarray
    #: of the real loop after each outer iteration: of the detector's output ...
    loop_detector: np.ndarray
    #: ... and of what the decoder feeds back
    loop_decoder: np.ndarray


def exit_chart(*, detector: Detector, decoder: LdpcDecoder | TurboDecoder | BcjrDecoder | CtcDecoder, snr_db: float,
               prior_information: Sequence[float] | None = None, bits: int = 200000, seed: int = 1, executor: Executor | None = None, **settings: Any) -> ExitChart:
    """The EXIT chart of a loop: transfer curves of detector and decoder with Gaussian a-priori LLRs, and the trajectory of the real
    loop (S. ten Brink, "Convergence behavior of iteratively decoded parallel concatenated codes", 2001).

    Information is 1 - E h(p). p is the measured share of wrong signs among LLRs of a magnitude, and h is the binary entropy. This holds
    for any algorithm and any scale of its LLRs. The decoder's curve is that of all its iterations: one that stops early would use fewer
    if a-priori LLRs are good. The trajectory is that of the decoder as it is.

    The channel has a new matrix of independent CN(0, 1) entries in each use. The loop converges where the curve of the detector lies
    above the inverse of the decoder's.

    Args:
        detector: one that takes a-priori LLRs.
        decoder: an :class:`LdpcDecoder`, a :class:`TurboDecoder` in float32, a :class:`BcjrDecoder` or a :class:`CtcDecoder`.
        snr_db: mean received SNR at an antenna, -100..100: N0 = streams * 10 ** (-snr_db / 10).
        prior_information: where the curves are measured, 0..1 bits; None for 0, 0.1, ... 1.
        bits: coded bits of a point, 1..10 ** 9.
        seed: of all random numbers; the result does not depend on threads or processor.
        executor: where it runs; None for all cores.
        **settings: of the loop, as of :class:`IterativeReceiver`: ``outer``, ``inner``, ``interleaver``, ...

    Raises:
        ValueError: naming what is not allowed.

    >>> chart = wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), snr_db=3, bits=20000, outer=3,
    ...                       decoder=wb.LdpcDecoder(code=wb.wifi_ldpc(n=648), iterations=5, early_stop="none"),
    ...                       interleaver="random")
    >>> bool((np.diff(chart.detector) > 0).all()), bool((np.diff(chart.decoder) > -0.02).all()), len(chart.loop_decoder)
    (True, True, 3)
    """
    receiver = IterativeReceiver(detector=detector, decoder=decoder, **settings)
    if prior_information is None:
        prior = np.linspace(0, 1, 11)
    else:
        prior = np.array([number("prior_information", value) for value in listed("prior_information", prior_information)])

    def chart(loop: IterativeReceiver) -> Any:
        return made(loop._work.exit_chart, executor=NUMPY.executor(checked_executor(executor)), snr_db=number("snr_db", snr_db),
                    prior_information=prior.tolist(), bits=whole("bits", bits, 1, 10 ** 9), seed=whole("seed", seed))
    measured = chart(receiver)
    if getattr(decoder, "early_stop", "none") != "none":
        whole_run = type(decoder)(**{**decoder._given, "early_stop": "none"})
        curves = IterativeReceiver(detector=detector, decoder=whole_run, **{**settings, "outer": 1})
        measured = (measured[0], chart(curves)[1], *measured[2:])
    return ExitChart(prior, *map(np.array, measured))
