"""The turbo code of LTE (3GPP TS 36.212 section 5.1.3.2) and of UMTS: encoder and iterative MAP decoder.

A codeword is ``3 * (k + 4)`` bits: the streams d0, d1, d2 one after the other, each with its four tail places.
Bit ``3 * i + j`` of the UMTS sequence (3GPP TS 25.212 section 4.2.3.2) is element i of stream d_j. This includes the tail bits.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Sequence

import numpy as np

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor
from ._codec import BlockEncoder, Decoder
from ._convert import as_llrs, converting
from ._described import described
from ._settings import integer_of, listed, made, refused, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import TurboDecoderKeywords

__all__ = ["TurboDecoder", "TurboEncoder", "umts_permutation"]

#: CRCs by name: polynomial with its leading term, degree (3GPP TS 36.212 section 5.1.1)
CRCS = {"crc24a": (0x1864CFB, 24), "crc24b": (0x1800063, 24), "crc16": (0x11021, 16), "crc8": (0x19B, 8)}


_CRC_WORDS = f"{', '.join(map(repr, CRCS))} or (polynomial, degree)"


def crc_of(crc: str | tuple[int, int] | None) -> tuple[int, int] | None:
    if crc is None or isinstance(crc, (tuple, list)) and len(crc) == 2:
        if any(not 0 <= integer < 2 ** 31 for integer in map(integer_of, crc or ()) if integer is not None):
            raise refused("crc", crc, _CRC_WORDS)
        return crc
    if not isinstance(crc, str) or crc not in CRCS:
        raise refused("crc", crc, _CRC_WORDS)
    return CRCS[crc]


def umts_permutation(k: int) -> np.ndarray:
    """The interleaver of the UMTS turbo code (3GPP TS 25.212 section 4.2.3.2.3).

    Args:
        k: bits of a block, 40..5114.

    Returns:
        int32 ``(k,)``: bit i into the second encoder is bit ``umts_permutation(k)[i]`` of the block.

    Raises:
        ValueError: for another k.

    >>> wb.umts_permutation(40)[:5].tolist()
    [39, 25, 17, 9, 1]
    """
    return np.array(_core.umts_permutation(whole("k", k, 40, 5114)), np.int32)


def permutation_of(k: int, permutation: Sequence[int] | str | None) -> list[int] | None:
    """The entries of an interleaver, by name or an own one. Raises ValueError unless there are k."""
    if permutation is None:
        return None
    if isinstance(permutation, str):
        if permutation != "umts":
            raise refused("permutation", permutation, "'umts' or a permutation of the k bits")
        return _core.umts_permutation(whole("k", k, 40, 5114))
    entries = listed("permutation", permutation)
    integers = all(hasattr(type(entry), "__index__") for entry in entries)  # if not, the compiled module raises
    if integers and len(entries) != whole("k", k, 40, 65536):
        raise ValueError(f"permutation = {len(entries)} entries is not allowed: expected {k}, one for each of the k bits")
    return entries


@described
class TurboEncoder(BlockEncoder):
    """Encodes blocks of k bits.

    Args:
        k: one of the 188 sizes of table 5.1.3-3, 40..6144; of UMTS 40..5114; with an own permutation 40..65536.
        permutation: "umts" for the interleaver of :func:`umts_permutation`. Or an own one: bit permutation[i] of a block is bit i
            into the second encoder.
        executor: where arrays in host memory are processed; None for all cores.

    >>> encode = wb.TurboEncoder(k=40)
    >>> encode(np.ones((10, 40))).shape
    (10, 132)
    """

    def __init__(self, *, k: int, permutation: Sequence[int] | Literal["umts"] | None = None, executor: Executor | None = None):
        work = made(_core.TurboEncoder, k=k, permutation=permutation_of(k, permutation))
        self.k: int = work.k
        #: bits of a codeword
        self.n: int = 3 * (self.k + 4)
        super().__init__(work, {"coded": (UINT8, (self.n,))}, executor)


@described
class TurboDecoder(Decoder):
    """Decodes codewords of the turbo code.

    Args:
        k: information bits, as of :class:`TurboEncoder`.
        crc: "crc24a", "crc24b", "crc16", "crc8" or (polynomial with its leading term, degree); read with
            ``early_stop="crc"`` alone.
        permutation: "umts" or an own interleaver, as of :class:`TurboEncoder`. bfloat16 and int16 have one window then, unless an own
            one allows more.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    log-map has the error rate of double precision on the same LLRs, even if those are 5 times too small or far too large. With LLRs
    20 times too small it loses bits whose systematic LLR was punctured: their outputs are below 2e-7. LLRs are limited to
    +-6.7e7, with int16 to +-127 steps. Codewords of which more than a fourth of the LLRs are beyond +-11, or one beyond +-1000, take
    longer (docs/algorithms/turbo.md); outputs of others are limited to +-60.

    The same bits come out on every processor, for any batch and number of threads.

    >>> decode = wb.TurboDecoder(k=40, iterations=8)
    >>> coded = wb.TurboEncoder(k=40)(np.ones((10, 40)))
    >>> bool(decode(4 - 8.0 * coded).all())
    True
    """

    _outputs = ("bits", "soft", "extrinsic", "iterations", "status")

    def __init__(self, *, k: int, crc: str | tuple[int, int] | None = None, permutation: Sequence[int] | Literal["umts"] | None = None,
                 llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[TurboDecoderKeywords]):
        work = made(_core.TurboDecoder, k=k, crc=crc_of(crc), permutation=permutation_of(k, permutation), settings=settings)
        table: dict[str, Any] = {"bits": (UINT8, (k,)), "iterations": (INT32, ()), "status": (UINT8, ())}
        if work.settings["precision"] == "float32":
            table.update(soft=(FLOAT32, (k,)), extrinsic=(FLOAT32, (k,)))
        super().__init__(work, table, llr_sign, executor)
        #: information bits and bits of a codeword
        self.k, self.n = k, 3 * (k + 4)

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, outputs: str | Sequence[str] = "bits", packed: bool = False, out: Any = None,
                 strict: bool = False) -> Any:
        """Decodes a batch of codewords.

        Args:
            llr: float32 ``(..., 3 * (k + 4))``; with precision bfloat16 or int16 also int8: integers, which int16
                takes as they are. With ``llr_sign="p1/p0"`` a negated copy of it is made.
            outputs: "bits" (uint8 ``(..., k)``), "soft" and "extrinsic" (float32 ``(..., k)``, a-posteriori LLRs and the
                same without the channel's), "iterations" (int32 ``(...)``), "status" (uint8 ``(...)``); or several names.
                Status is 1 for a word erased because of a NaN or infinite LLR, 2 for one that stopped early, 5 = 1 + 4 for one
                erased because fewer than k LLRs are usable, that is, not 0 in the decoder's number format. With
                ``early_stop="crc"`` it is 5 also for an all-zero word of which fewer than 7/8 of the systematic LLRs are
                usable. Bits and iterations of an erased word are 0.
            packed: eight bits in a byte of "bits", the first in the most significant place, as ``numpy.packbits`` gives.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            The output, or a tuple of them.
        """
        return self._decode((llr,), outputs, out, packed)
