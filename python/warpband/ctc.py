"""Convolutional turbo codes (CTC) over couples (pairs of bits): IEEE 802.16 section 8.4.9.2.3 and DVB-RCS, ETSI EN 301 790.

The k bits are ``N = k / 2`` couples: A of couple i is bit ``2 * i``, B is bit ``2 * i + 1``.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor
from ._codec import Decoder, Encoder
from ._convert import as_bits, as_llrs, converting
from ._described import described
from ._settings import made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CtcDecoderKeywords, CtcEncoderKeywords

__all__ = ["CtcDecoder", "CtcEncoder"]


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

    _outputs = ("bits", "soft", "iterations", "status")

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[CtcDecoderKeywords]):
        work = made(_core.CtcDecoder, settings=settings)
        k = work.settings["k"]
        #: bits that are sent
        self.n: int = work.n
        super().__init__(work, {"bits": (UINT8, (k,)), "soft": (FLOAT32, (k,)), "iterations": (INT32, ()), "status": (UINT8, ())},
                         llr_sign, executor)

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, outputs: str | Sequence[str] = "bits", packed: bool = False, out: Any = None,
                 strict: bool = False) -> Any:
        """Decodes ``llr``, float32 ``(..., n)``, in the order of what the encoder sends.

        With ``packed`` a byte of "bits" has eight bits, the first in the most significant place, as ``numpy.packbits`` gives.

        outputs: "bits" (uint8 ``(..., k)``), "soft" (float32 ``(..., k)``, a-posteriori LLRs), "iterations" (int32 ``(...)``),
        "status" (uint8 ``(...)``); or several names. Status 1: erased because of a NaN or infinite LLR. Status 2: stopped early.
        Status 5 = 1 + 4: erased because fewer than k LLRs are not 0. Bits and iterations of an erased word are 0.
        """
        return self._decode((llr,), outputs, out, packed)
