"""Convolutional turbo codes (CTC) over couples (pairs of bits): IEEE 802.16 section 8.4.9.2.3 and DVB-RCS, ETSI EN 301 790.

The k bits are ``N = k / 2`` couples: A of couple i is bit ``2 * i``, B is bit ``2 * i + 1``.
"""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Executor
from ._codec import BlockDecoder, BlockEncoder, TransportDecoder, TransportEncoder
from ._described import described
from ._settings import made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CtcDecoderKeywords, CtcEncoderKeywords, CtcTransportDecoderKeywords, CtcTransportEncoderKeywords

__all__ = ["CtcDecoder", "CtcEncoder", "CtcTransportDecoder", "CtcTransportEncoder"]


@described
class CtcEncoder(BlockEncoder):
    """Blocks of k bits to the bits that are sent, punctured to the code rate.

    With ``standard="wimax"`` their order is that of IEEE 802.16 section 8.4.9.2.3.4: subblock interleavers, then A, B, Y1 and Y2,
    W1 and W2. With ``"dvb-rcs"`` it is the natural order of EN 301 790: A and B, Y1 and Y2, W1 and W2.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> encode = wb.CtcEncoder(k=96, rate="1/2")
    >>> encode(np.ones((10, 96))).shape
    (10, 192)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[CtcEncoderKeywords]):
        work = made(_core.CtcEncoder, settings=settings)
        #: bits that are sent
        self.n: int = work.n
        super().__init__(work, {"coded": (UINT8, (self.n,))}, executor)


@described
class CtcDecoder(BlockDecoder):
    """Iterative MAP decoding over symbols of two bits.

    Two decoders of the circular 8-state trellis exchange extrinsic weights of the four values of a couple.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Outputs: "bits" (uint8 ``(..., k)``), "soft" (float32 ``(..., k)``), "coded_extrinsic" (float32 ``(..., n)``), "iterations" (int32
    ``(...)``), "status" (uint8 ``(...)``). Soft outputs are a-posteriori LLRs. Coded extrinsics are what is known of each bit that was sent
    without its own LLR. Status 1: erased because of a NaN or infinite LLR. Status 2: stopped early. Status 5 = 1 + 4: erased because fewer
    than k LLRs are not 0. Bits and iterations of an erased word are 0.

    The same bits come out on every CPU and GPU, for any batch and number of threads. LLRs are limited to +-30 with log-map and to
    +-6.7e7 with the others. If more than a fourth of a codeword's LLRs are beyond +-11, or one is beyond +-1000, log-map works on LLRs,
    with ln(1 + exp(-d)) within 0.013.

    Source: Berrou, Douillard and Jezequel, "Multiple parallel concatenation of circular recursive systematic convolutional (CRSC)
    codes", Annals of Telecommunications, 1999.

    >>> code = {"standard": "dvb-rcs", "k": 96, "rate": "2/3"}
    >>> encode, decode = wb.CtcEncoder(**code), wb.CtcDecoder(**code, iterations=6)
    >>> bool(decode(4 - 8.0 * encode(np.ones((3, 96)))).all())
    True
    """

    _outputs = ("bits", "soft", "coded_extrinsic", "iterations", "status")

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[CtcDecoderKeywords]):
        work = made(_core.CtcDecoder, settings=settings)
        k = work.settings["k"]
        #: bits that are sent
        self.n: int = work.n
        super().__init__(work, {"bits": (UINT8, (k,)), "soft": (FLOAT32, (k,)), "coded_extrinsic": (FLOAT32, (self.n,)),
                                "iterations": (INT32, ()), "status": (UINT8, ())}, llr_sign, executor)


@described
class CtcTransportEncoder(TransportEncoder):
    """Blocks to subpackets of hybrid ARQ (IEEE 802.16 section 8.4.9.2.3.4): CRC-16, turbo code of rate 1/3, circular buffer.

    The 3 k coded bits, k = A + 16, are a circle. Subpacket ``rv``, the standard's SPID, has G of them from place ``rv * G`` on.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> encode = wb.CtcTransportEncoder(transport_bits=80, coded_bits=144)
    >>> encode(np.ones((3, 80)), rv=1).shape
    (3, 144)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[CtcTransportEncoderKeywords]):
        super().__init__(made(_core.CtcTransportEncoder, settings=settings), executor)


@described
class CtcTransportDecoder(TransportDecoder):
    """LLRs of one subpacket or more to blocks.

    ``decoder(llr, rv=0)`` decodes a first subpacket; ``decoder(llr, rv=1, first=False)`` adds a further one of the same blocks to what
    was received before, and decodes again. Chase combining repeats ``rv=0``.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        harq_type: number format of ``harq``, "int8" or "float16". Values saturate at +-127 and +-65504.
        harq_scale: a value v in ``harq`` is the LLR ``v * harq_scale``; float16 has 11 bits of precision.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    A block is one code block. It is ok if its CRC holds and k LLRs that are not 0 were received of it. An all-zero block needs more, as of
    :class:`LteTransportDecoder`. The CRC register starts at 0 and is not inverted.

    Source: IEEE 802.16 section 8.4.9.2.3.4.

    >>> settings = {"transport_bits": 80, "coded_bits": 120}
    >>> encode, decode = wb.CtcTransportEncoder(**settings), wb.CtcTransportDecoder(**settings)
    >>> noise = np.random.default_rng(2).normal(size=(2, 1, 120))
    >>> llr = [2 * (1 - 2.0 * encode(np.ones((1, 80)), rv=rv) + noise[rv]) for rv in (0, 1)]
    >>> int(decode(llr[0], outputs="ok")[0]), int(decode(llr[1], rv=1, first=False, outputs="ok")[0])
    (0, 1)
    """

    def __init__(self, *, llr_sign: str = "p0/p1", harq_type: str = "int8", harq_scale: float = 0.25, executor: Executor | None = None,
                 **settings: Unpack[CtcTransportDecoderKeywords]):
        super().__init__(made(_core.CtcTransportDecoder, settings=settings), llr_sign, harq_type, harq_scale, executor)
