"""Convolutional turbo codes (CTC) over couples (pairs of bits): IEEE 802.16 section 8.4.9.2.3 and DVB-RCS, ETSI EN 301 790.

The k bits are ``N = k / 2`` couples: A of couple i is bit ``2 * i``, B is bit ``2 * i + 1``.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor
from ._codec import Decoder, Encoder, TransportDecoder
from ._convert import as_bits, as_llrs, converting
from ._described import described
from ._settings import made, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CtcDecoderKeywords, CtcEncoderKeywords, CtcTransportDecoderKeywords, CtcTransportEncoderKeywords

__all__ = ["CtcDecoder", "CtcEncoder", "CtcTransportDecoder", "CtcTransportEncoder"]


@described
class CtcEncoder(Encoder):
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

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., k)``, to uint8 ``(..., n)``."""
        return self._encode(bits, out)


@described
class CtcDecoder(Decoder):
    """Iterative MAP decoding over symbols of two bits.

    Two decoders of the circular 8-state trellis exchange extrinsic weights of the four values of a couple.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

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

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, llr_scale: float = 1.0, outputs: str | Sequence[str] = "bits", packed: bool = False,
                 out: Any = None, strict: bool = False) -> Any:
        """Decodes ``llr``, float32, int8 or int16 ``(..., n)``, in the order of what the encoder sends.

        An integer v is the LLR ``v * llr_scale``; with float32 ``llr_scale`` is 1.
        With ``packed`` a byte of "bits" has eight bits, the first in the most significant place, as ``numpy.packbits`` gives.

        outputs: one or several names. "bits": uint8 ``(..., k)``. "soft": float32 ``(..., k)``, a-posteriori LLRs. "coded_extrinsic":
        float32 ``(..., n)``, what is known of each bit that was sent without its own LLR. "iterations": int32 ``(...)``. "status":
        uint8 ``(...)``. Status 1: erased because of a NaN or infinite LLR. Status 2: stopped early.
        Status 5 = 1 + 4: erased because fewer than k LLRs are not 0. Bits and iterations of an erased word are 0.
        """
        return self._decode((llr,), outputs, out, packed, llr_scale=llr_scale)


@described
class CtcTransportEncoder(Encoder):
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
        work = made(_core.CtcTransportEncoder, settings=settings)
        super().__init__(work, {"coded": (UINT8, (work.settings["coded_bits"],))}, executor)

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, rv: int = 0, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., A)``, to the subpacket of SPID ``rv`` = 0..3, uint8 ``(..., G)``."""
        return self._encode(bits, out, whole("rv", rv))


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

    A block is ok if its CRC holds and k LLRs that are not 0 were received of it. An all-zero block needs more, as of
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

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, llr_scale: float = 1.0, rv: int = 0, first: bool = True, harq: Any = None,
                 outputs: str | Sequence[str] = ("bits", "ok"), packed: bool = False, out: Any = None, strict: bool = False) -> Any:
        """Combines a subpacket and decodes.

        Args:
            llr: float32, int8 or int16 ``(..., G)``.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            rv: its SPID, 0..3.
            first: whether it is the first of its blocks; what was received before is forgotten then.
            harq: HARQ memory of yours, uint8 ``(..., harq_bytes)``, which is read unless ``first``, and written. None: the decoder keeps
                that of one series.
            outputs: "bits" (uint8 ``(..., A)``, right or not), "ok" (uint8 ``(...)``), "block_ok" (uint8 ``(..., 1)``, the same),
                "iterations" (int32 ``(..., 1)``), "status" (uint8 ``(...)``, 1 if a NaN or infinite LLR erased a subpacket, 5 = 1 + 4 if
                too little was received so far); or several names.
            packed: eight bits in a byte of "bits", the first in the most significant place, as ``numpy.packbits`` gives.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        return self._combine(llr, rv, first, llr_scale, harq, packed, outputs, out)
