"""Polar codes: encoders of control channels of 5G NR and of general codes of up to 32768 bits, list decoder."""
from __future__ import annotations

from typing import TYPE_CHECKING

from . import _core
from ._arrays import UINT8, Executor
from ._codec import BlockDecoder, BlockEncoder
from ._described import described
from ._settings import made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PolarDecoderKeywords, PolarEncoderKeywords

__all__ = ["PolarDecoder", "PolarEncoder"]


@described
class PolarEncoder(BlockEncoder):
    """Messages to coded bits as they are sent: CRC, polar code, rate matching (3GPP TS 38.212 sections 5.3.1 and 5.4.1).

    With ``kind`` "general" it is any polar code of up to 32768 bits. Its information set comes from a Gaussian approximation, the
    sequence of 5G NR, or ``reliability``.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.
        RuntimeError: for a ``reliability_file`` that is missing or has no indices.

    >>> encode = wb.PolarEncoder(kind="dci", k=40, coded_bits=108, rnti=0x1234)
    >>> encode(np.ones((10, 40))).shape
    (10, 108)
    >>> wb.PolarEncoder(kind="general", k=1723, coded_bits=2048, crc_bits=0)(np.ones((2, 1723))).shape
    (2, 2048)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PolarEncoderKeywords]):
        work = made(_core.PolarEncoder, settings=settings)
        super().__init__(work, {"coded": (UINT8, (work.settings["coded_bits"],))}, executor)


@described
class PolarDecoder(BlockDecoder):
    """Successive cancellation of a list of paths, of which the CRC picks one.

    With ``list_size`` 1 it is successive cancellation. The likeliest path whose CRC holds is the result; where none does, the
    likeliest of all, and the status says so.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Outputs: "bits" (uint8 ``(..., k)``), "status" (uint8 ``(...)``). Status 2: the CRC holds. Status 0: it does not. Status 1: erased
    because of a NaN or infinite LLR. Status 5 = 1 + 4: erased because fewer than k coded bits have an LLR that is not 0, or because
    nothing distinguishes an all-zero message from silence.

    Source: Tal and Vardy, "List decoding of polar codes", IEEE Trans. Inf. Theory, 2015; Balatsoukas-Stimming, Bastani Parizi and
    Burg, "LLR-based successive cancellation list decoding of polar codes", IEEE Trans. Signal Process., 2015.

    >>> code = {"kind": "uci", "k": 20, "coded_bits": 60}
    >>> encode, decode = wb.PolarEncoder(**code), wb.PolarDecoder(**code, list_size=8)
    >>> bits, status = decode(4 - 8.0 * encode(np.ones((3, 20))), outputs=("bits", "status"))
    >>> bool(bits.all()), status.tolist()
    (True, [2, 2, 2])
    """

    _outputs = ("bits", "status")

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[PolarDecoderKeywords]):
        work = made(_core.PolarDecoder, settings=settings)
        super().__init__(work, {"bits": (UINT8, (work.settings["k"],)), "status": (UINT8, ())}, llr_sign, executor)
