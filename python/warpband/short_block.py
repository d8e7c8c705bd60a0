"""Codes of 1 to 11 bits of uplink control information in 5G NR."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._arrays import FLOAT32, UINT8, Executor
from ._codec import BlockDecoder, BlockEncoder
from ._described import described
from ._settings import made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import ShortBlockDecoderKeywords, ShortBlockEncoderKeywords

__all__ = ["ShortBlockDecoder", "ShortBlockEncoder"]


@described
class ShortBlockEncoder(BlockEncoder):
    """Messages of 1 to 11 bits to coded bits, repeated to their number (3GPP TS 38.212 sections 5.3.3 and 5.4.3).

    With k = 1 or 2 and ``modulation_order`` above k some coded bits are placeholders. 2 stands for x, which is sent as 1. 3
    stands for y, which is sent as the scrambled bit before it (TS 38.211 section 6.3.1.1).

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> wb.ShortBlockEncoder(k=1, coded_bits=8, modulation_order=4)([1])
    array([1, 3, 2, 2, 1, 3, 2, 2], dtype=uint8)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[ShortBlockEncoderKeywords]):
        work = made(_core.ShortBlockEncoder, settings=settings)
        super().__init__(work, {"coded": (UINT8, (work.settings["coded_bits"],))}, executor)


@described
class ShortBlockDecoder(BlockDecoder):
    """Exact maximum-likelihood decoder of messages of 1 to 11 bits.

    LLRs are of bits before scrambling. At a placeholder y the sign of the scrambling is that of the place before. LLRs at a
    placeholder x are not read.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Outputs: "bits" (uint8 ``(..., k)``), "status" (uint8 ``(...)``), "margin" and "agreement" (float32 ``(...)``). "margin" is ln P of the
    message less that of the next likeliest, if LLRs are to scale. "agreement" is the share of the LLRs' magnitude that agrees with the
    message, less the share that does not. It does not depend on the scale: a threshold on it tells a message from silence. Status 0:
    decided. Status 1: erased because of a NaN or infinite LLR. Status 5 = 1 + 4: erased because two messages are equally likely.

    Source: Be'ery and Snyders, "Optimal soft decision block decoders based on fast Hadamard transform", IEEE Trans. Inf. Theory,
    1986; the codes of 3GPP TS 38.212 section 5.3.3.

    >>> code = {"k": 6, "coded_bits": 48}
    >>> llr = 4 - 8.0 * wb.ShortBlockEncoder(**code)(np.eye(6))
    >>> bits, agreement = wb.ShortBlockDecoder(**code)(llr, outputs=("bits", "agreement"))
    >>> bool((bits == np.eye(6)).all()), agreement.tolist()
    (True, [1.0, 1.0, 1.0, 1.0, 1.0, 1.0])
    """

    _outputs = ("bits", "status", "margin", "agreement")

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[ShortBlockDecoderKeywords]):
        work = made(_core.ShortBlockDecoder, settings=settings)
        table = {"bits": (UINT8, (work.settings["k"],)), "status": (UINT8, ()), "margin": (FLOAT32, ()), "agreement": (FLOAT32, ())}
        super().__init__(work, table, llr_sign, executor)
