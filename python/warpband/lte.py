"""The turbo-coded transport channels of LTE (3GPP TS 36.212 sections 5.1.1 to 5.1.4), with HARQ, and their CRCs."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import (UINT8, Array, CudaInterfaceSpace, DeviceSpace, DlpackSpace, Executor, batch_of, fill, named_space, results,
                      space_of)
from ._codec import RateMatcher, TransportDecoder, TransportEncoder
from ._convert import as_bits, converting
from ._described import Described, described
from ._settings import checked_executor, made
from .turbo import crc_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import LteRateMatcherKeywords, LteTransportDecoderKeywords, LteTransportEncoderKeywords

__all__ = ["CrcAttacher", "LteRateMatcher", "LteSegmentation", "LteTransportDecoder", "LteTransportEncoder", "lte_segmentation"]


@described
class CrcAttacher(Described):
    """Cyclic redundancy checks (3GPP TS 36.212 section 5.1.1): parity behind the bits of each row.

    The register begins with zeros and is not inverted at the end. The first bit is the coefficient of the highest power, and parity
    follows with its highest power first.

    Args:
        n: bits of a row without parity, 1..2**24.
        crc: "crc24a", "crc24b", "crc16", "crc8" or (polynomial with its leading term, degree 1..24).
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> crc = wb.CrcAttacher(n=8, crc="crc8")
    >>> crc(np.array([1, 0, 0, 0, 0, 0, 0, 0]))
    array([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1], dtype=uint8)
    >>> crc.check(crc(np.ones((3, 8)))).tolist()
    [True, True, True]
    """

    def __init__(self, *, n: int, crc: str | tuple[int, int] = "crc24a", executor: Executor | None = None):
        self._executor = checked_executor(executor)
        words = crc_of(crc)
        self._work = made(_core.CrcAttacher, n=n, crc=words)
        self.n = n
        #: bits of parity
        self.degree: int = words[1]
        self._table = {"coded": (UINT8, (n + self.degree,))}

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Bits, uint8 or bool ``(..., n)``, with their parity: uint8 ``(..., n + degree)``, or ``out``, which is filled.

        Takes arrays of NumPy, torch and CuPy, and others in host memory; of others on a device :meth:`attach` does.
        """
        space, taken, executor = self._expected(bits, False)
        arrays = fill(space, self._table, "coded", out, batch_of("bits", bits, 1))
        arrays["coded"][..., :self.n] = taken
        self._work.attach(executor, arrays["coded"])
        return results(space, arrays, "coded", out)

    def attach(self, bits: Array) -> None:
        """Writes the parity of the first n bits of each row, uint8 ``(..., n + degree)``, behind them."""
        space = named_space("bits", bits)
        self._work.attach(space.executor(self._executor), space.target(bits))

    @converting(bits=as_bits)
    def check(self, bits: Array, *, strict: bool = False) -> Any:
        """Whether the last bits of each row, uint8 or bool ``(..., n + degree)``, are the parity of the others: bool ``(...)``.

        Takes arrays as calls do.
        """
        space, taken, executor = self._expected(bits, True)
        coded = space.empty(tuple(bits.shape), UINT8)
        coded[...] = taken
        self._work.attach(executor, coded)
        ok = (coded[..., self.n:] == taken[..., self.n:]).all(-1)
        return ok if isinstance(space, DeviceSpace) else space.give(np.asarray(ok))

    def _expected(self, bits: Array, with_parity: bool) -> tuple[Any, Any, Any]:
        """The space, the array in it and the executor, if these are bits that can be copied."""
        space = space_of(bits)
        if isinstance(space, (DlpackSpace, CudaInterfaceSpace)):
            raise ValueError("bits = an array on a device is not allowed: expected one of torch or CuPy, or attach() for one of "
                             "another library")
        taken, executor = space.take(bits), space.executor(self._executor)
        self._work.expect(executor, taken, with_parity)
        if isinstance(taken, memoryview):
            taken = np.asarray(taken)
        return space, taken, executor


class LteSegmentation(NamedTuple):
    """How a transport block is cut, as :func:`lte_segmentation` says.

    >>> wb.lte_segmentation(transport_bits=100).sizes
    [128]
    """

    #: bits of each code block, in order
    sizes: list[int]
    #: filler bits, at the front of the first one: zeros that are not sent
    fillers: int
    #: bits of the CRC that each code block has of its own: 24, or 0 where there is one block
    block_crc_bits: int


def lte_segmentation(*, transport_bits: int) -> LteSegmentation:
    """Code blocks of a transport block of A = 1..2**20 bits without its CRC-24A (3GPP TS 36.212 section 5.1.2).

    >>> wb.lte_segmentation(transport_bits=6200)
    LteSegmentation(sizes=[3136, 3136], fillers=0, block_crc_bits=24)
    """
    return LteSegmentation(*made(_core.lte_segmentation, transport_bits=transport_bits))


@described
class LteRateMatcher(RateMatcher):
    """Rate matching of single code blocks of the turbo code (3GPP TS 36.212 section 5.1.4.1).

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> matcher = wb.LteRateMatcher(k=40, sent_bits=100)
    >>> sent = matcher(wb.TurboEncoder(k=40)(np.ones((5, 40))))
    >>> sent.shape, matcher.combine(4 - 8 * sent.astype(np.float32)).shape
    ((5, 100), (5, 132))
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[LteRateMatcherKeywords]):
        work = made(_core.LteRateMatcher, settings=settings)
        #: bits of a codeword, 3 (k + 4)
        self.n: int = 3 * (work.settings["k"] + 4)
        super().__init__(work, self.n, llr_sign, executor)


@described
class LteTransportEncoder(TransportEncoder):
    """Transport blocks to what is sent of them: CRCs, code blocks, turbo code, rate matching.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> encode = wb.LteTransportEncoder(transport_bits=6200, coded_bits=12000)
    >>> encode(np.ones((3, 6200)), rv=2).shape, encode.blocks
    ((3, 12000), 2)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[LteTransportEncoderKeywords]):
        work = made(_core.LteTransportEncoder, settings=settings)
        super().__init__(work, executor)
        #: code blocks of a transport block
        self.blocks: int = work.blocks


@described
class LteTransportDecoder(TransportDecoder):
    """LLRs of one transmission or more to transport blocks.

    ``decoder(llr, rv=0)`` decodes a first transmission; ``decoder(llr, rv=2, first=False)`` adds a further one of the same
    blocks to what was received before, and decodes again.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        harq_type: number format of ``harq``, "int8" or "float16". Values saturate at +-127 and +-65504.
        harq_scale: a value v in ``harq`` is the LLR ``v * harq_scale``; float16 has 11 bits of precision.
        executor: where arrays in host memory are processed; None for all cores.

    A code block is ok if its CRC holds and enough of it was received: at least as many LLRs that are not 0 in the decoder's number
    format as it has bits, both without fillers. All-zero bits satisfy every CRC, so they need more. Of the LLRs that transmissions
    reached 7/8 must be above 1/4096 of the largest. Signs must also be zeros more often than those of noise. From 16-QAM on these are
    the signs of symbols (the first two of ``modulation_order`` bits), else those of all LLRs.

    Automatic windows and overlap follow from the code rate of the first transmission. One decoder serves one series of transmissions at a time.
    Sums of LLRs over transmissions are limited to +-1e30, and in the decoder to the limits of :class:`warpband.TurboDecoder`.

    >>> settings = {"transport_bits": 100, "coded_bits": 160}
    >>> encode, decode = wb.LteTransportEncoder(**settings), wb.LteTransportDecoder(**settings)
    >>> sent = [1 - 2.0 * encode(np.ones((1, 100)), rv=rv) for rv in (0, 2)]
    >>> noise = 0.8 * np.random.default_rng(1).normal(size=(2, 1, 160))
    >>> llr = [2 / 0.8 ** 2 * (sent[i] + noise[i]) for i in range(2)]
    >>> int(decode(llr[0], outputs="ok")[0]), int(decode(llr[1], rv=2, first=False, outputs="ok")[0])
    (0, 1)
    """

    def __init__(self, *, llr_sign: str = "p0/p1", harq_type: str = "int8", harq_scale: float = 0.25, executor: Executor | None = None,
                 **settings: Unpack[LteTransportDecoderKeywords]):
        super().__init__(made(_core.LteTransportDecoder, settings=settings), llr_sign, harq_type, harq_scale, executor)
