"""Convolutional codes of constraint lengths 3 to 9: encoder, Viterbi decoder, BCJR decoder."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Sequence

from . import _core
from ._arrays import FLOAT32, UINT8, Array, Executor
from ._codec import BlockEncoder, Decoder
from ._convert import as_llrs, converting
from ._described import Described, described
from ._settings import code_of, listed, made, refused

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import BcjrDecoderKeywords, ConvCodeKeywords, ConvEncoderKeywords, ViterbiDecoderKeywords

__all__ = ["BcjrDecoder", "ConvCode", "ConvEncoder", "ViterbiDecoder", "conv_80211", "conv_80216", "conv_lte"]


@described
class ConvCode(Described):
    """A binary convolutional code of rate 1/n, punctured if need be.

    Args:
        {settings}

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> wb.ConvCode(constraint_length=3, generators=(0o7, 0o5))
    ConvCode(constraint_length=3, generators=(0o7, 0o5), termination='zero-tail')
    """

    _always_shown = ("constraint_length", "generators", "termination")

    def __init__(self, **settings: Unpack[ConvCodeKeywords]):
        if settings.get("sent") is not None:
            n = len(listed("generators", settings.get("generators", (0, 0))))
            rows = [listed("sent", row) for row in listed("sent", settings["sent"])]
            if any(len(row) != n for row in rows):
                raise refused("sent", rows, f"rows of {n} numbers, one a generator")
            settings["sent"] = sum(rows, [])
        self._work = self._code = made(_core.ConvCode, settings=settings)

    @classmethod
    def _of(cls, code: Any) -> ConvCode:
        """One that the library names."""
        made = cls.__new__(cls)
        made._work = made._code = code
        made._given = {**code.settings, "sent": made.sent or None}
        return made

    @property
    def generators(self) -> list[int]:
        """The generators, of which the newest bit is the highest."""
        return list(self._code.settings["generators"])

    @property
    def sent(self) -> list[list[int]]:
        """Puncturing, a row for each step of its period; empty where all is sent."""
        flat, n = self._code.settings["sent"] or (), len(self.generators)
        return [list(flat[i:i + n]) for i in range(0, len(flat), n)]

    def _shown(self, name: str, value: Any) -> str:
        if name == "generators":
            return f"({', '.join(f'0o{g:o}' for g in value)}{',' if len(value) == 1 else ''})"
        return f"0o{value:o}" if name == "feedback" else super()._shown(name, value)


def conv_80211(*, rate: Literal["1/2", "2/3", "3/4", "5/6"] = "1/2") -> ConvCode:
    """IEEE 802.11: (133, 171), zero tail; rate "1/2", "2/3", "3/4" or "5/6".

    >>> wb.ConvEncoder(code=wb.conv_80211(rate="3/4"), k=90).n
    128
    """
    return ConvCode._of(made(_core.ConvCode.ieee80211, rate=rate))


def conv_80216(*, rate: Literal["1/2", "2/3", "3/4", "5/6"] = "1/2",
               termination: Literal["zero-tail", "tail-biting"] = "zero-tail") -> ConvCode:
    """IEEE 802.16: (171, 133), zero tail (OFDM) or tail-biting (OFDMA); rate "1/2", "2/3", "3/4" or "5/6".

    >>> wb.ConvEncoder(code=wb.conv_80216(termination="tail-biting"), k=96).n
    192
    """
    return ConvCode._of(made(_core.ConvCode.ieee80216, rate=rate, termination=termination))


def conv_lte() -> ConvCode:
    """3GPP TS 36.212 section 5.1.3.1: (133, 171, 165), tail-biting, in the order d0, d1, d2.

    >>> wb.ConvEncoder(code=wb.conv_lte(), k=40).n
    120
    """
    return ConvCode._of(_core.ConvCode.lte())


@described
class ConvEncoder(BlockEncoder):
    """Encodes blocks of k bits.

    Args:
        code: the code.
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> encode = wb.ConvEncoder(code=wb.conv_80211(rate="3/4"), k=60)
    >>> encode(np.ones((10, 60))).shape
    (10, 88)
    """

    def __init__(self, *, code: ConvCode, executor: Executor | None = None, **settings: Unpack[ConvEncoderKeywords]):
        work = made(_core.ConvEncoder, code=code_of(code, ConvCode), settings=settings)
        self.code = code
        #: bits of a codeword, tail included
        self.n: int = work.n
        super().__init__(work, {"coded": (UINT8, (self.n,))}, executor)


@described
class ViterbiDecoder(Decoder):
    """The most likely codeword; of a tail-biting code the most likely path around the circle.

    That path need not end in the state it began with, which costs short tail-biting blocks error rate. With constraint length 7,
    rate 1/2 and Es/N0 = -1.07 dB the frame error rate is 0.142 for k = 8 (maximum likelihood: 0.065), 0.086 for 16 (0.054), 0.049
    for 32 (0.037) and 0.038 for 40 (0.034). From about 10 (K - 1) bits on the loss is small: 0.045 for 64 (0.044).

    Args:
        code: the code.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> decode = wb.ViterbiDecoder(code=wb.conv_lte(), k=60)
    >>> coded = wb.ConvEncoder(code=wb.conv_lte(), k=60)(np.ones((10, 60)))
    >>> bool(decode(4 - 8.0 * coded).all())
    True
    """

    _outputs = ("bits", "metric", "status")

    def __init__(self, *, code: ConvCode, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[ViterbiDecoderKeywords]):
        work = made(_core.ViterbiDecoder, code=code_of(code, ConvCode), settings=settings)
        table: dict[str, Any] = {"bits": (UINT8, (work.settings["k"],)), "status": (UINT8, ())}
        if work.settings["precision"] == "float32":
            table.update(metric=(FLOAT32, ()))
        super().__init__(work, table, llr_sign, executor)
        self.code = code
        #: bits of a codeword
        self.n: int = work.n

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, outputs: str | Sequence[str] = "bits", packed: bool = False, out: Any = None,
                 strict: bool = False) -> Any:
        """Decodes ``llr``, float32 ``(..., n)``; with precision int16 also int8: integers stay as they are.

        With ``packed`` a byte of "bits" has eight bits, the first in the most significant place, as ``numpy.packbits`` gives.

        outputs: "bits" (uint8 ``(..., k)``), "metric" (not with int16: float32 ``(...)``), "status" (uint8 ``(...)``); or several
        names. The metric is the log-likelihood ratio of the codeword against that of zeros. With a tail-biting code it is that of
        the path that was traced back, with its steps before and behind the codeword. Status 1: erased because of a NaN or infinite
        LLR. Status 5 = 1 + 4: erased because fewer than k LLRs are not 0, in the decoder's number format.
        """
        return self._decode((llr,), outputs, out, packed)


@described
class BcjrDecoder(Decoder):
    """Soft-output decoding; log-MAP is exact but for tail-biting codes.

    For those, paths that do not end in the state they began with count too. Take constraint length 7, rate 1/2 and Es/N0 = -1.07
    dB, and the LLRs whose exact value is within +-15. Their rms error is 10.7 for k = 8, 6.9 for 16, 3.5 for 32, 2.0 for 40 and 0.5
    for 64. The bit error rate is 0.078 for k = 8 (exact: 0.037), 0.030 for 16 (0.020), 0.012 for 32 (0.012) and 40 (0.010).

    Args:
        code: the code.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    log-map has the error rate of double precision on the same LLRs, even if those are 20 times too small or far too large.
    LLRs and priors are limited to +-6.7e7. Codewords of which all LLRs and priors are within +-1.25 (+-2.5 with a rate above 1/2) have
    soft outputs within +-17 and take three times the time.
    Codewords of which more than a fourth of the LLRs and priors are beyond +-15, or one beyond +-30, take longer. Their soft
    outputs L are exact within 0.5 + 0.001 abs(L) (docs/algorithms/bcjr.md). Those of other codewords are limited to +-60.

    >>> decode = wb.BcjrDecoder(code=wb.conv_80211(), k=60, algorithm="max-log-map")
    >>> decode(np.full((10, decode.n), 0.5), outputs="soft").shape
    (10, 60)
    """

    _outputs = ("bits", "soft", "extrinsic", "status")

    def __init__(self, *, code: ConvCode, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[BcjrDecoderKeywords]):
        work = made(_core.BcjrDecoder, code=code_of(code, ConvCode), settings=settings)
        k = work.settings["k"]
        table: dict[str, Any] = {"bits": (UINT8, (k,)), "soft": (FLOAT32, (k,)), "status": (UINT8, ())}
        if work.settings["precision"] == "float32":
            table.update(extrinsic=(FLOAT32, (k,)))
        super().__init__(work, table, llr_sign, executor)
        self.code = code
        #: bits of a codeword
        self.n: int = work.n

    @converting(llr=as_llrs, prior=as_llrs)
    def __call__(self, llr: Array, *, prior: Array | None = None, outputs: str | Sequence[str] = "soft", packed: bool = False,
                 out: Any = None, strict: bool = False) -> Any:
        """Decodes ``llr``, float32 ``(..., n)``, with a-priori LLRs ``prior`` of the bits, float32 ``(..., k)``.

        With precision int16 ``llr`` may also be int8, integers that stay as they are, and there is no ``prior``. Soft outputs are in
        steps of 1 / ``llr_steps``; without it those of int8 are in units of ``llr``. With ``packed`` a byte of "bits" has eight bits,
        the first in the most significant place, as ``numpy.packbits`` gives.

        outputs: "bits" (uint8 ``(..., k)``), "soft" (float32 ``(..., k)``, a-posteriori LLRs), "extrinsic" (not with int16: the
        same without prior and systematic LLR), "status" (uint8 ``(...)``); or several names. Status 1: erased because of a NaN or
        infinite LLR. Status 5 = 1 + 4: erased because fewer than k LLRs, those of the prior included, are not 0.
        """
        return self._decode((llr, prior), outputs, out, packed)
