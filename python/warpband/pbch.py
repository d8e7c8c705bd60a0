"""SS/PBCH blocks of 5G NR: from a block's resource elements to the master information block (MIB), and back."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _core
from ._arrays import Array, Executor, batch_of, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, integer_fields, made, whole_for_each

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PbchDecoderKeywords, PbchEncoderKeywords

__all__ = ["NrPbchBlock", "NrSsbContent", "PbchDecoder", "PbchEncoder"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class NrSsbContent:
    """What an SS/PBCH block says: the MIB of 3GPP TS 38.331, and timing (TS 38.212 section 7.1.1).

    >>> wb.NrSsbContent(sfn=513, k_ssb=6).cell_barred
    False
    """

    sfn: int = 0  #: system frame number, 0 to 1023
    half_frame: int = 0  #: 0 or 1
    ssb_index: int = 0  #: i_SSB, 0 to l_max - 1
    k_ssb: int = 0  #: subcarrier offset, 0 to 31; with l_max = 64 0 to 15
    common_spacing_khz: int = 15  #: of SIB1: 15 or 30; with l_max = 64 60 or 120
    dmrs_first_symbol: int = 2  #: of PDSCH and PUSCH with mapping type A: 2 or 3
    coreset0: int = 0  #: controlResourceSetZero, 0 to 15
    search_space0: int = 0  #: searchSpaceZero, 0 to 15
    cell_barred: bool = False
    intra_frequency: bool = True  #: intraFreqReselection is allowed


class NrPbchBlock(NamedTuple):
    """What became of a block.

    >>> wb.PbchDecoder()(np.zeros((4, 240)), cell_id=1)[0].erased
    True
    """

    ok: bool  #: the CRC holds, and the payload is a MIB that agrees with the DMRS
    erased: bool  #: a value is NaN, infinite or above 1e15, or all are 0
    content: NrSsbContent | None  #: if ok
    payload: np.ndarray  #: uint8 (32,): the MIB's 24 bits and 8 of timing; zeros if the CRC fails
    dmrs_index: int  #: 0 to 7: of the DMRS sequence
    snr_db: float  #: of a resource element: -40 to 60
    cfo_spacings: float  #: residual frequency offset in subcarrier spacings, -0.467 to 0.467
    delay_symbols: float  #: of the strongest path behind the FFT windows, in useful symbol durations


def block_of(ok: bool, erased: bool, c: Any, payload: bytes, *numbers: Any) -> NrPbchBlock:
    """A block as the compiled part gives it."""
    content = None if c is None else NrSsbContent(
        sfn=c[0], half_frame=c[1], ssb_index=c[2], k_ssb=c[3], common_spacing_khz=c[4], dmrs_first_symbol=c[5], coreset0=c[6],
        search_space0=c[7], cell_barred=bool(c[8]), intra_frequency=bool(c[9]))
    return NrPbchBlock(ok, erased, content, np.frombuffer(payload, np.uint8), *numbers)


def _fields(content: Any) -> list[int]:
    """The fields of a content as integers."""
    if not isinstance(content, NrSsbContent):
        raise TypeError(f"contents is a {type(content).__name__}: expected a warpband.NrSsbContent or a list of them")
    return integer_fields(content)


@described
class PbchEncoder(Described):
    """Makes SS/PBCH blocks: PSS, SSS, PBCH and its DMRS, of amplitude 1 (3GPP TS 38.211 section 7.4.3, TS 38.212 section 7.1).

    Args:
        {settings}
        executor: of the CPU; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> block = wb.PbchEncoder(l_max=8)(wb.NrSsbContent(sfn=513, ssb_index=3), cell_id=500)
    >>> block.shape, block.dtype
    ((4, 240), dtype('complex64'))
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PbchEncoderKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PbchEncoder, settings=settings)

    def __call__(self, contents: NrSsbContent | Sequence[NrSsbContent], *, cell_id: int | Sequence[int]) -> np.ndarray:
        """The grid of a content, complex64 ``(4, 240)``: symbol and subcarrier, the lowest frequency first. Of a list of n contents
        ``(n, 4, 240)``.

        Args:
            contents: what each block says.
            cell_id: 0 to 1007, one for all blocks or one for each.

        Raises:
            ValueError: a field or cell that is not allowed, by its name.
        """
        single = isinstance(contents, NrSsbContent)
        if not single and not isinstance(contents, (list, tuple)):
            raise TypeError(f"contents is a {type(contents).__name__}: expected a warpband.NrSsbContent or a list of them")
        fields = [_fields(c) for c in ([contents] if single else contents)]
        grids = np.empty((len(fields), 4, 240), np.complex64)
        cells = whole_for_each("cell_id", cell_id, () if single else (len(fields),), 0, 1007)
        if fields:
            self._work.run(space_of(grids).executor(self._executor), fields, cells, grids)
        return grids[0] if single else grids


@described
class PbchDecoder(Described):
    """Decodes SS/PBCH blocks: DMRS hypotheses, channel and noise estimate, LLRs, CRC-aided list decoding (docs/pbch.md).

    Noise gives ``ok`` with a probability of at most ``hypotheses * list_size * 2**-25`` for each block.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Source: 3GPP TS 38.211 sections 7.3.3 and 7.4.1.4, TS 38.212 section 7.1.

    >>> sent = wb.NrSsbContent(sfn=513, half_frame=1, ssb_index=3, coreset0=5)
    >>> rng = np.random.default_rng(1)
    >>> noise = rng.normal(size=(4, 240)) + 1j * rng.normal(size=(4, 240))  # 0 dB with the block's gain of sqrt 2
    >>> block, = wb.PbchDecoder()(2 ** 0.5 * wb.PbchEncoder()(sent, cell_id=500) + noise, cell_id=500)
    >>> block.content == sent
    True
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PbchDecoderKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PbchDecoder, settings=settings)

    @converting(grids=as_complex)
    def __call__(self, grids: Array, *, cell_id: int | Sequence[int], strict: bool = False) -> list[NrPbchBlock]:
        """Decodes complex64 ``(..., 4, 240)``: symbol and subcarrier, the lowest frequency first. Waits for the result, a list of
        all blocks with leading axes flattened.

        Values may have any scale up to 1e15 with a mean power above 1e-32. A block with a NaN, infinite or larger value is erased,
        as is silence.

        Args:
            cell_id: 0 to 1007, as ``CellSearch`` finds it: one for all blocks or one for each, of shape ``(...)``.
        """
        space = space_of(grids)
        cells = whole_for_each("cell_id", cell_id, batch_of("grids", grids, 2), 0, 1007)
        return [block_of(*found) for found in self._work.run(space.executor(self._executor), space.take(grids), cells)]
