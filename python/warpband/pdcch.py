"""Control channels of 5G NR: from a CORESET's resource elements to downlink control information (DCI), and back."""
from __future__ import annotations

import dataclasses
import types
from typing import TYPE_CHECKING, Any, Mapping, NamedTuple, Sequence

import numpy as np

from . import _core
from ._arrays import Array, Executor, batch_of, fill, results, space_of
from ._convert import as_bits, as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, integer_fields, integer_of, listed, made, refused, whole, whole_for_each

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import NrDciFormatKeywords, PdcchDecoderKeywords, PdcchEncoderKeywords, PdcchSearchKeywords

__all__ = ["NrCoreset0", "NrDciFormat", "NrPdcchFound", "NrPdcchResult", "NrSiDci", "NrType0Occasion", "PdcchDecoder", "PdcchEncoder",
           "PdcchSearch", "nr_coreset0", "nr_coreset0_first_hz", "nr_pdcch_candidates", "nr_type0_occasion"]

COMPLEX64 = np.dtype(np.complex64)


class NrCoreset0(NamedTuple):
    """CORESET 0.

    >>> wb.nr_coreset0(ssb_spacing_khz=30, spacing_khz=30, index=10)
    NrCoreset0(blocks=48, symbols=1, offset=12, pattern=1)
    """

    blocks: int  #: resource blocks: 24, 48 or 96
    symbols: int  #: 1 to 3
    offset: int  #: resource blocks from its first one to the one with the SS/PBCH block's first subcarrier
    pattern: int = 1  #: multiplexing with SS/PBCH blocks: 1, at 60 and 120 kHz also 2 and 3


class NrType0Occasion(NamedTuple):
    """When CORESET 0 is monitored for an SS/PBCH block: in two slots from ``slot`` on, in frames of this parity.

    >>> wb.nr_type0_occasion(index=4, ssb_index=2, spacing_khz=30, coreset_symbols=1)
    NrType0Occasion(sfn_parity=0, slot=12, first_symbol=0)
    """

    sfn_parity: int  #: system frame number modulo 2
    slot: int  #: of the frame
    first_symbol: int  #: of the CORESET in the slot


def nr_coreset0(*, ssb_spacing_khz: int, spacing_khz: int, index: int, wide: bool = False,
                k_ssb: int | None = None) -> NrCoreset0 | None:
    """The CORESET of controlResourceSetZero, or None if the index is reserved (TS 38.213 tables 13-1 to 13-10).

    Args:
        ssb_spacing_khz: of the SS/PBCH block, 15, 30, 120 or 240.
        spacing_khz: of SIB1, 15 or 30; with blocks at 120 and 240 kHz 60 or 120.
        index: 0 to 15.
        wide: of bands whose least channel bandwidth is 40 MHz, with blocks at 30 kHz alone.
        k_ssb: of ``NrSsbContent``. It must be given where the offset depends on it, with patterns 2 and 3 at 60 and 120 kHz.

    Raises:
        ValueError: an argument that is not allowed, or ``k_ssb`` where it is needed.

    >>> wb.nr_coreset0(ssb_spacing_khz=15, spacing_khz=15, index=15)
    """
    if not isinstance(wide, (bool, np.bool_)):
        raise refused("wide", wide, "True or False")
    found = made(_core.nr_coreset0, ssb_spacing_khz=ssb_spacing_khz, spacing_khz=spacing_khz, index=index, wide=bool(wide),
                 k_ssb=k_ssb)
    return None if found is None else NrCoreset0(*found)


def nr_coreset0_first_hz(*, offset: int, ssb_spacing_khz: int, spacing_khz: int, k_ssb: int) -> float:
    """From the SS/PBCH block's subcarrier 120 to subcarrier 0 of CORESET 0, in Hz.

    Args:
        offset: of ``NrCoreset0``.
        ssb_spacing_khz: of the SS/PBCH block, 15, 30, 120 or 240.
        spacing_khz: of SIB1, 15 or 30; with blocks at 120 and 240 kHz 60 or 120.
        k_ssb: of ``NrSsbContent``, 0 to 23; with blocks at 120 and 240 kHz 0 to 11.

    >>> wb.nr_coreset0_first_hz(offset=12, ssb_spacing_khz=30, spacing_khz=30, k_ssb=6)
    -8010000.0
    """
    return made(_core.nr_coreset0_first_hz, offset=whole("offset", offset, -275, 275), ssb_spacing_khz=ssb_spacing_khz,
                spacing_khz=spacing_khz, k_ssb=k_ssb)


def nr_type0_occasion(*, index: int, ssb_index: int, spacing_khz: int, coreset_symbols: int) -> NrType0Occasion | None:
    """When CORESET 0 is monitored, or None if the index is reserved (TS 38.213 section 13, tables 13-11 and 13-12).

    At 60 and 120 kHz the CORESET must have pattern 1: those of patterns 2 and 3 are monitored at other times.

    Args:
        index: searchSpaceZero, 0 to 15; at 60 and 120 kHz 14 and 15 are reserved.
        ssb_index: i_SSB, 0 to 7; at 60 and 120 kHz 0 to 63.
        spacing_khz: of SIB1, 15, 30, 60 or 120.
        coreset_symbols: of ``NrCoreset0``, 1 to 3.

    >>> wb.nr_type0_occasion(index=1, ssb_index=3, spacing_khz=15, coreset_symbols=2).first_symbol
    2
    """
    found = made(_core.nr_type0_occasion, index=index, ssb_index=ssb_index, spacing_khz=spacing_khz, coreset_symbols=coreset_symbols)
    return None if found is None else NrType0Occasion(*found)


def nr_pdcch_candidates(*, cces: int, level: int, candidates: int, rnti: int | None = None, coreset: int = 0,
                        slot: int = 0, carrier: int = 0) -> list[int]:
    """The first control channel element (CCE) of each candidate of a search space (TS 38.213 section 10.1).

    Args:
        cces: of the CORESET, 1 to 135.
        level: 1, 2, 4, 8 or 16 CCEs of a candidate.
        candidates: 1 to 8.
        rnti: 1 to 65535, of a UE with its own search space; None: a common search space.
        coreset: identity of the CORESET, 0 to 15. Only a UE's own search space depends on it.
        slot: in its frame, 0 to 79. Only a UE's own search space depends on it.
        carrier: n_CI of the serving cell in cross-carrier scheduling, 0 to 7. Only a UE's own search space depends on it.

    >>> wb.nr_pdcch_candidates(cces=16, level=4, candidates=4)
    [0, 4, 8, 12]
    """
    return list(made(_core.nr_pdcch_candidates, cces=cces, level=level, candidates=candidates, rnti=rnti, coreset=coreset, slot=slot,
                     carrier=carrier))


@dataclasses.dataclass(frozen=True, kw_only=True)
class NrSiDci:
    """DCI format 1_0 with SI-RNTI, which schedules system information (TS 38.212 section 7.3.1.2.1).

    >>> dci = wb.NrSiDci(first_block=8, blocks=16, interleaved=True, mcs=4)
    >>> wb.NrSiDci.of_bits(dci.bits(coreset_blocks=48), coreset_blocks=48) == dci
    True
    """

    first_block: int = 0  #: virtual resource block, counted in CORESET 0
    blocks: int = 1  #: virtual resource blocks
    time_domain: int = 0  #: index of the table of OFDM symbols, 0 to 15
    interleaved: bool = False  #: mapping of virtual to physical resource blocks
    mcs: int = 0  #: of table 1, 0 to 31
    rv: int = 0  #: redundancy version, 0 to 3
    other_information: bool = False  #: False: SIB1

    def _fields(self) -> list[int]:
        return integer_fields(self)

    def bits(self, *, coreset_blocks: int) -> np.ndarray:
        """Its bits, uint8: 37, 39 or 41 with 24, 48 or 96 resource blocks of CORESET 0."""
        return np.array(made(_core.nr_si_dci_encode, dci=self._fields(), coreset_blocks=coreset_blocks), np.uint8)

    @staticmethod
    def of_bits(bits: Any, *, coreset_blocks: int) -> NrSiDci | None:
        """The DCI of these bits; None if they name resource blocks outside CORESET 0."""
        values = [whole("bits", b, 0, 1) for b in listed("bits", bits)]
        fields = made(_core.nr_si_dci_decode, bits=values, coreset_blocks=coreset_blocks)
        if fields is None:
            return None
        return NrSiDci(first_block=fields[0], blocks=fields[1], time_domain=fields[2], interleaved=bool(fields[3]), mcs=fields[4],
                       rv=fields[5], other_information=bool(fields[6]))

    def physical_blocks(self, *, coreset_blocks: int) -> list[int]:
        """Its physical resource blocks, from CORESET 0's first one on, in the order of the virtual ones."""
        return list(made(_core.nr_si_blocks, dci=self._fields(), coreset_blocks=coreset_blocks))


@described
class NrDciFormat(Described):
    """The fields of a DCI of format 0_0, 0_1, 1_0 or 1_1, by the settings of RRC that decide their widths (TS 38.212 section 7.3.1).

    Fields are those of release 15 without shared spectrum. "identifier", "reserved" and "padding" have fixed values, as do fields that
    TC-RNTI reserves.

    Args:
        {settings}

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> fmt = wb.NrDciFormat(format="1_1", downlink_blocks=51, time_rows=4)
    >>> fmt.dci_bits
    41
    >>> bits = fmt.encode(frequency_domain=55, mcs=9, harq_process=3)
    >>> fmt.decode(bits)["mcs"], fmt.blocks(55)
    (9, [4, 5])
    """

    def __init__(self, **settings: Unpack[NrDciFormatKeywords]):
        self._work = made(_core.NrDciFormat, settings=settings)
        #: bits of each field, in their order
        self.fields: Mapping[str, int] = types.MappingProxyType({name: bits for name, bits, _ in self._work.fields})
        #: bits of the DCI: the sum of those of its fields
        self.dci_bits: int = sum(self.fields.values())
        self._names = [name for name, _, is_fixed in self._work.fields if not is_fixed]

    def encode(self, **values: int) -> np.ndarray:
        """The bits of a DCI, uint8. Fields that are left out are 0.

        Args:
            values: of fields, by their names.

        Raises:
            ValueError: a field that the format lacks, or a value that has too many bits or marks an order.

        >>> wb.NrDciFormat(use="p-rnti").encode(short_messages_indicator=1, frequency_domain=24)[:12]
        array([0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], dtype=uint8)
        """
        for name in values:
            if name not in self._names:
                raise refused("values", name, "names of " + ", ".join(self._names))
        numbers = [whole(name, values.get(name, 0), 0, 2 ** self.fields[name] - 1) for name in self._names]
        return np.array(self._work.encode(numbers), np.uint8)

    def decode(self, bits: Any) -> dict[str, int] | None:
        """The values of a DCI's fields by their names. None: the identifier or the mark of an order is that of another format.

        Args:
            bits: ``dci_bits`` of them.
        """
        found = self._work.decode([whole("bits", b, 0, 1) for b in listed("bits", bits)])
        return None if found is None else dict(zip(self._names, found))

    def blocks(self, frequency_domain: int, *, hopping_bits: int = 0) -> list[int] | None:
        """Virtual resource blocks of the bandwidth part that a value of "frequency_domain" allocates; None if it has no meaning.

        Args:
            frequency_domain: of the DCI.
            hopping_bits: where "frequency_hopping" is 1, bits of the second hop's offset before the allocation: 1 with two offsets,
                2 with four. Blocks are those of the first hop.

        >>> wb.NrDciFormat(format="0_0").blocks(256 + 27, hopping_bits=1)
        [3, 4]
        """
        found = self._work.blocks(whole("frequency_domain", frequency_domain, 0, 2 ** 20 - 1), whole("hopping_bits", hopping_bits, 0, 2))
        return None if found is None else list(found)


class NrPdcchFound(NamedTuple):
    """A DCI that a search found.

    >>> wb.PdcchSearch()(np.zeros((1, 576)), slot=0)
    []
    """

    grid: int  #: of the grids, leading axes flattened
    level: int  #: control channel elements (CCEs) of the candidate
    first_cce: int  #: the first of them
    bits: np.ndarray  #: uint8: the DCI
    metric: float  #: log-likelihood of the DMRS less that of noise
    snr_db: float  #: of a resource element: -40 to 60


class NrPdcchResult(NamedTuple):
    """What became of a candidate.

    >>> wb.PdcchDecoder()(np.zeros((1, 576)), slot=0, first_cce=[4])[0].erased
    True
    """

    grid: int  #: of the grids, leading axes flattened
    first_cce: int  #: of the candidate
    ok: bool  #: the CRC holds for the RNTI
    erased: bool  #: a value is NaN, infinite or above 1e15, or all are 0
    bits: np.ndarray  #: uint8 (dci_bits,); zeros if the CRC fails
    metric: float  #: log-likelihood of the DMRS less that of noise
    snr_db: float  #: of a resource element: -40 to 60
    cfo_spacings: float  #: residual frequency offset in subcarrier spacings, -0.467 to 0.467; 0 with one symbol
    delay_symbols: float  #: mean delay behind the FFT windows, in useful symbol durations, -1/8 to 1/8


@described
class PdcchEncoder(Described):
    """Makes PDCCH with its DMRS, of amplitude 1 (3GPP TS 38.211 section 7.3.2, TS 38.212 section 7.3).

    For CORESET 0, ``shift``, ``dmrs_id`` and ``scrambling_id`` are the cell.

    Args:
        {settings}
        executor: of the CPU; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> encode = wb.PdcchEncoder(blocks=48, symbols=2, level=4, shift=500, dmrs_id=500, scrambling_id=500)
    >>> encode(wb.NrSiDci(blocks=20).bits(coreset_blocks=48), slot=3, first_cce=4).shape
    (2, 576)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PdcchEncoderKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PdcchEncoder, settings=settings)

    def reserved(self, *, first_cce: int) -> list[int]:
        """What a PDSCH is mapped round because of the PDCCH that schedules it: the candidate's resource elements (TS 38.214 section 5.1.4).

        The result is for ``reserved`` of :class:`NrSharedChannel`, if that carrier begins with the CORESET's first resource block.
        In a CORESET of one symbol without interleaving, candidates of 8 and 16 CCEs may begin with the same CCE. A DCI in that of 8
        then leaves out the elements of 16: use ``level=16``.

        Args:
            first_cce: of the candidate, a multiple of ``level``.

        >>> pdcch = wb.PdcchEncoder(blocks=48, level=1, interleaved=False)
        >>> pdcch.reserved(first_cce=2)[:8]
        [12, 1, 0, 1, 13, 1, 0, 1]
        """
        return list(made(self._work.reserved, first_cce=first_cce))

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, slot: int | Sequence[int], first_cce: int | Sequence[int], strict: bool = False) -> Array:
        """Grids, complex64 ``(..., symbols, 12 blocks)``, of DCIs, uint8 ``(..., dci_bits)``. Each DCI has a grid of its own. Elements
        outside its candidate are 0, so that grids of a slot may be added.

        Args:
            slot: in its frame, 0 to 79: one for all DCIs or one for each, of shape ``(...)``.
            first_cce: a multiple of ``level``: one for all DCIs or one for each, of shape ``(...)``.

        Raises:
            ValueError: a slot or control channel element that is not allowed.
        """
        space = space_of(bits)
        batch = batch_of("bits", bits, 1)
        slots, cces = whole_for_each("slot", slot, batch, 0, 79), whole_for_each("first_cce", first_cce, batch, 0, 2 ** 31 - 1)
        arrays = fill(space, {"grids": (COMPLEX64, tuple(self._work.grid_shape))}, "grids", None, batch)
        self._work.run(space.executor(self._executor), space.take(bits), slots, cces, arrays["grids"])
        return results(space, arrays, "grids", None)


@described
class PdcchDecoder(Described):
    """Decodes candidates of PDCCH: channel and noise by the DMRS, LLRs, CRC-aided list decoding (docs/pdcch.md).

    Noise gives ``ok`` with a probability of at most ``list_size * 2**-24`` for each candidate.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Source: 3GPP TS 38.211 sections 7.3.2 and 7.4.1.3, TS 38.212 section 7.3.

    >>> coreset0 = {"blocks": 48, "symbols": 2, "shift": 500, "dmrs_id": 500, "scrambling_id": 500, "level": 4, "dci_bits": 39}
    >>> sent = wb.NrSiDci(blocks=20, mcs=5)
    >>> rng = np.random.default_rng(1)
    >>> noise = 0.5 * (rng.normal(size=(2, 576)) + 1j * rng.normal(size=(2, 576)))  # 3 dB
    >>> grid = wb.PdcchEncoder(**coreset0)(sent.bits(coreset_blocks=48), slot=3, first_cce=4) + noise
    >>> for found in wb.PdcchDecoder(**coreset0)(grid, slot=3, first_cce=[0, 4, 8, 12]):
    ...     if found.ok:
    ...         print(found.first_cce, wb.NrSiDci.of_bits(found.bits, coreset_blocks=48) == sent)
    4 True
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PdcchDecoderKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PdcchDecoder, settings=settings)

    @converting(grids=as_complex)
    def __call__(self, grids: Array, *, slot: int | Sequence[int], first_cce: int | Sequence[int], strict: bool = False) -> list[NrPdcchResult]:
        """Decodes candidates of complex64 ``(..., symbols, 12 blocks)``: symbol and subcarrier of the CORESET, the lowest frequency
        first. Waits for the result, a list of the candidates of the first grid, then of the second, ...

        Values may have any scale up to 1e15 with a mean power above 1e-32. A candidate with a NaN, infinite or larger value is
        erased, as is silence.

        Args:
            slot: in its frame, 0 to 79: one for all grids or one for each, of shape ``(...)``.
            first_cce: first control channel element of the candidates of each grid, a multiple of ``level``: one or several.
        """
        space = space_of(grids)
        slots = whole_for_each("slot", slot, batch_of("grids", grids, 2), 0, 79)
        cces = [whole("first_cce", c, 0, 2 ** 31 - 1) for c in ([first_cce] if integer_of(first_cce) is not None else listed("first_cce", first_cce))]
        candidates = [[g, slots[g], c] for g in range(len(slots)) for c in cces]
        found = self._work.run(space.executor(self._executor), space.take(grids), candidates)
        return [NrPdcchResult(grid, cce, ok, erased, np.frombuffer(bits, np.uint8), *numbers)
                for grid, cce, ok, erased, bits, *numbers in found]


@described
class PdcchSearch(Described):
    """Searches a search space for DCIs of an RNTI: candidates of all levels and sizes (TS 38.213 section 10.1).

    ``sizes`` are those of the formats that are looked for: their ``dci_bits``. With ``coreset_id`` the search space is
    that of the UE whose C-RNTI is ``rnti``. Noise gives a DCI with a probability of at most ``list_size * 2**-24`` for each candidate
    and size.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> fmt = wb.NrDciFormat(format="0_0", uplink_blocks=51, downlink_blocks=51, common_search_space=False)
    >>> size = fmt.dci_bits
    >>> coreset = {"blocks": 48, "interleaved": False, "dmrs_id": 3, "scrambling_id": 3, "rnti": 4660, "scrambling_rnti": 4660}
    >>> first, = wb.nr_pdcch_candidates(cces=8, level=2, candidates=1, rnti=4660, coreset=1, slot=7)
    >>> encode = wb.PdcchEncoder(level=2, dci_bits=size, **coreset)
    >>> grid = encode(fmt.encode(mcs=5, frequency_domain=51), slot=7, first_cce=first)
    >>> found, = wb.PdcchSearch(sizes=[size], candidates=[0, 1, 0, 0, 0], coreset_id=1, **coreset)(grid, slot=7)
    >>> found.level, fmt.decode(found.bits)["mcs"]
    (2, 5)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PdcchSearchKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PdcchSearch, settings=settings)

    @converting(grids=as_complex)
    def __call__(self, grids: Array, *, slot: int | Sequence[int], strict: bool = False) -> list[NrPdcchFound]:
        """Searches complex64 ``(..., symbols, 12 blocks)`` as :class:`PdcchDecoder` takes them. Waits for the result, in the order of
        grids, sizes and levels.

        Args:
            slot: in its frame, 0 to 79: one for all grids or one for each, of shape ``(...)``.
        """
        space = space_of(grids)
        slots = whole_for_each("slot", slot, batch_of("grids", grids, 2), 0, 79)
        found = self._work.run(space.executor(self._executor), space.take(grids), slots)
        return [NrPdcchFound(grid, level, cce, np.frombuffer(bits, np.uint8), *numbers) for grid, level, cce, bits, *numbers in found]
