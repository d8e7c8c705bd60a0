"""5G NR: LDPC codes (3GPP TS 38.212 section 5.3.2), transport block sizes (TS 38.214 section 5.1.3), DL-SCH and UL-SCH with HARQ."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Executor
from ._codec import RateMatcher, TransportDecoder, TransportEncoder
from ._described import described
from ._settings import made
from .ldpc import LdpcCode

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import NrRateMatcherKeywords, NrTransportDecoderKeywords, NrTransportEncoderKeywords

__all__ = ["NrMcs", "NrRateMatcher", "NrSegmentation", "NrTransportDecoder", "NrTransportEncoder", "nr_base_graph", "nr_lbrm_transport_block_size",
           "nr_ldpc", "nr_lifting_sizes", "nr_limited_buffer", "nr_mcs", "nr_resource_elements", "nr_scrambling_init", "nr_scrambling_sequence",
           "nr_segmentation", "nr_transport_block_size"]


def nr_ldpc(*, base_graph: int, lifting_size: int, rows: int = 0, systematic: int = 0) -> LdpcCode:
    """The code of a base graph, 1 or 2, and one of the 51 lifting sizes (3GPP TS 38.212 section 5.3.2).

    The first 2 Z bits of a codeword are never sent: their LLRs are 0.

    Args:
        base_graph: 1 (46 rows, 22 + 46 columns) or 2 (42 rows, 10 + 42 columns).
        lifting_size: Z, see :func:`nr_lifting_sizes`.
        rows: how many rows, and parity columns with them, are kept: 4 to all; 0 keeps all.
        systematic: how many systematic columns are kept, 3 to all; the bits of the others are zeros. 0 keeps all.

    >>> wb.nr_ldpc(base_graph=1, lifting_size=384)
    LdpcCode(k=8448, n=26112, z=384)
    """
    return LdpcCode._of(made(_core.nr_ldpc, base_graph=base_graph, lifting_size=lifting_size, rows=rows, systematic=systematic))


def nr_lifting_sizes() -> list[int]:
    """The 51 lifting sizes, rising from 2 to 384.

    >>> len(wb.nr_lifting_sizes())
    51
    """
    return list(_core.nr_lifting_sizes())


class NrMcs(NamedTuple):
    """A modulation and coding scheme, as :func:`nr_mcs` gives it.

    >>> wb.nr_mcs(table=1, index=13).modulation_order
    4
    """

    #: bits of a symbol, Q_m
    modulation_order: int
    #: target code rate times 1024; 0 for an index that is reserved for retransmissions
    rate_x1024: float


def nr_mcs(*, table: int, index: int) -> NrMcs:
    """Of tables 5.1.3.1-1 to -4 of TS 38.214: 1 up to 64-QAM, 2 up to 256-QAM, 3 of low spectral efficiency, 4 up to 1024-QAM.

    >>> wb.nr_mcs(table=1, index=13)
    NrMcs(modulation_order=4, rate_x1024=490.0)
    """
    return NrMcs(*made(_core.nr_mcs, table=table, index=index))


def nr_resource_elements(*, resource_blocks: int, symbols: int = 14, dmrs_per_block: int = 12, overhead_per_block: int = 0) -> int:
    """Resource elements that count for the transport block size (TS 38.214 section 5.1.3.2).

    Args:
        resource_blocks: 1..275.
        symbols: OFDM symbols of the slot, 1..14.
        dmrs_per_block: resource elements of DMRS in a resource block, CDM groups without data included.
        overhead_per_block: 0, 6, 12 or 18.

    >>> wb.nr_resource_elements(resource_blocks=25, dmrs_per_block=24)
    3600
    """
    return made(_core.nr_resource_elements, resource_blocks=resource_blocks, symbols=symbols, dmrs_per_block=dmrs_per_block,
                overhead_per_block=overhead_per_block)


def nr_transport_block_size(*, resource_elements: int, modulation_order: int, rate_x1024: float, layers: int = 1) -> int:
    """TBS of TS 38.214 section 5.1.3.2.

    >>> wb.nr_transport_block_size(resource_elements=3600, **wb.nr_mcs(table=1, index=13)._asdict())
    6912
    """
    return made(_core.nr_transport_block_size, resource_elements=resource_elements, modulation_order=modulation_order,
                rate_x1024=rate_x1024, layers=layers)


def nr_base_graph(*, transport_bits: int, code_rate: float) -> int:
    """Base graph 1 or 2 of a transport block (TS 38.212 sections 6.2.2 and 7.2.2).

    >>> wb.nr_base_graph(transport_bits=6912, code_rate=490 / 1024)
    1
    """
    return made(_core.nr_base_graph, transport_bits=transport_bits, code_rate=code_rate)


class NrSegmentation(NamedTuple):
    """How a transport block is cut, as :func:`nr_segmentation` says.

    >>> wb.nr_segmentation(transport_bits=30000, base_graph=1).blocks
    4
    """

    #: code blocks, C
    blocks: int
    #: bits of each with its CRC, K'
    k: int
    #: lifting size, Z
    lifting_size: int
    #: filler bits behind them, K - K'
    fillers: int
    #: bits of the CRC of the transport block: 16 or 24
    crc_bits: int
    #: bits of the CRC of a code block: 24, or 0 where there is one
    block_crc_bits: int


def nr_segmentation(*, transport_bits: int, base_graph: int) -> NrSegmentation:
    """Code blocks of a transport block of A = 1..2**21 bits (TS 38.212 section 5.2.2). C must divide A and its CRC, as for every size
    of TS 38.214.

    >>> wb.nr_segmentation(transport_bits=31752, base_graph=1)
    NrSegmentation(blocks=4, k=7968, lifting_size=384, fillers=480, crc_bits=24, block_crc_bits=24)
    """
    return NrSegmentation(*made(_core.nr_segmentation, transport_bits=transport_bits, base_graph=base_graph))


def nr_limited_buffer(*, lbrm_transport_bits: int, blocks: int) -> int:
    """N_ref of limited-buffer rate matching, floor(TBS_LBRM / (C 2/3)) (TS 38.212 section 5.4.2.1).

    >>> wb.nr_limited_buffer(lbrm_transport_bits=100000, blocks=4)
    37500
    """
    return made(_core.nr_limited_buffer, lbrm_transport_bits=lbrm_transport_bits, blocks=blocks)


def nr_lbrm_transport_block_size(*, resource_blocks: int, layers: int = 1, modulation_order: int = 6) -> int:
    """TBS_LBRM, from which :func:`nr_limited_buffer` gives N_ref (TS 38.212 section 5.4.2.1).

    Args:
        resource_blocks: of the carrier's largest bandwidth part, 1..275.
        layers: the most that a transport block may have, 1..4.
        modulation_order: the largest of the configured MCS tables, 6, 8 or 10.

    >>> wb.nr_lbrm_transport_block_size(resource_blocks=273, layers=4, modulation_order=8)
    1277992
    """
    return made(_core.nr_lbrm_transport_block_size, resource_blocks=resource_blocks, layers=layers,
                modulation_order=modulation_order)


def nr_scrambling_init(*, rnti: int, identity: int, codeword: int = 0) -> int:
    """c_init of a shared channel: rnti 2**15 + codeword 2**14 + identity (TS 38.211 sections 6.3.1.1 and 7.3.1.1).

    >>> wb.nr_scrambling_init(rnti=1, identity=1)
    32769
    """
    return made(_core.nr_scrambling_init, rnti=rnti, identity=identity, codeword=codeword)


def nr_scrambling_sequence(*, c_init: int, length: int) -> Any:
    """The pseudo-random sequence c(0..length - 1) of TS 38.211 section 5.2.1, uint8.

    >>> wb.nr_scrambling_sequence(c_init=1, length=10)
    array([0, 0, 0, 0, 0, 0, 1, 0, 1, 0], dtype=uint8)
    """
    return np.array(made(_core.nr_scrambling_sequence, c_init=c_init, length=length), dtype=np.uint8)


@described
class NrRateMatcher(RateMatcher):
    """Rate matching and bit interleaving of single code blocks (3GPP TS 38.212 section 5.4.2).

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Codewords are those of ``matcher.code``: the block's k bits, zeros up to ``matcher.code.k``, then parity.

    >>> matcher = wb.NrRateMatcher(base_graph=2, k=120, sent_bits=240)
    >>> sent = matcher(wb.LdpcEncoder(code=matcher.code)(np.ones((5, 120))))
    >>> sent.shape, matcher.combine(4 - 8 * sent.astype(np.float32)).shape
    ((5, 240), (5, 960))
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[NrRateMatcherKeywords]):
        work = made(_core.NrRateMatcher, settings=settings)
        #: the code of the codewords
        self.code = LdpcCode._of(work.code())
        super().__init__(work, self.code.n, llr_sign, executor)


@described
class NrTransportEncoder(TransportEncoder):
    """Transport blocks to what is sent of them (DL-SCH, UL-SCH): CRCs, code blocks, LDPC code, rate matching, scrambling.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> encode = wb.NrTransportEncoder(transport_bits=31752, coded_bits=34560, modulation_order=6, layers=2)
    >>> encode(np.ones((3, 31752)), rv=2).shape, encode.blocks
    ((3, 34560), 4)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[NrTransportEncoderKeywords]):
        work = made(_core.NrTransportEncoder, settings=settings)
        super().__init__(work, executor)
        #: code blocks of a transport block
        self.blocks: int = work.blocks


@described
class NrTransportDecoder(TransportDecoder):
    """LLRs of one transmission or more to transport blocks.

    ``decoder(llr, rv=0)`` decodes a first transmission; ``decoder(llr, rv=2, first=False)`` adds a further one of the same
    blocks to what was received before, and decodes again.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        harq_type: number format of ``harq``, "int8" or "float16". Values saturate at +-127 and +-65504.
        harq_scale: a value v in ``harq`` is the LLR ``v * harq_scale``; float16 has 11 bits of precision.
        executor: where arrays in host memory are processed; None for all cores.

    A code block is ok if its CRC holds and enough of it was received, as for :class:`warpband.LteTransportDecoder`. The LDPC decoder
    takes the rows of the base graph that the transmissions so far need. One decoder serves one series of transmissions at a time.

    >>> settings = {"transport_bits": 104, "coded_bits": 160}
    >>> encode, decode = wb.NrTransportEncoder(**settings), wb.NrTransportDecoder(**settings)
    >>> bits = np.random.default_rng(1).integers(0, 2, (1, 104))
    >>> llr = 8 - 16.0 * encode(bits, rv=0)
    >>> int(decode(0 * llr, outputs="ok")[0]), int(decode(llr, rv=0, first=False, outputs="ok")[0])
    (0, 1)
    """

    def __init__(self, *, llr_sign: str = "p0/p1", harq_type: str = "int8", harq_scale: float = 0.25, executor: Executor | None = None,
                 **settings: Unpack[NrTransportDecoderKeywords]):
        super().__init__(made(_core.NrTransportDecoder, settings=settings), llr_sign, harq_type, harq_scale, executor)
