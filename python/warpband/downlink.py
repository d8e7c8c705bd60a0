"""5G NR from samples to system information: SS/PBCH blocks, DCIs in CORESET 0, and the transport blocks that they schedule."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _core
from ._arrays import Array, Executor, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, listed, made, refused, whole
from .cell_search import NrFoundBlock
from .pbch import NrPbchBlock, block_of
from .pdcch import NrSiDci

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import NrDownlinkKeywords

__all__ = ["NrDownlink", "NrDownlinkResult", "NrMessage", "nr_si_decode"]


class NrMessage(NamedTuple):
    """A DCI with SI-RNTI, and the transport block that it schedules.

    >>> wb.NrDownlink(sample_rate_hz=7.68e6)(np.zeros(20000)).messages
    []
    """

    cell_id: int  #: 0 to 1007
    ssb_index: int  #: i_SSB of the block whose occasion it is
    sfn: int  #: system frame number
    slot: int  #: of the frame
    first_sample: float  #: where the slot's first cyclic prefix begins
    coreset_blocks: int  #: resource blocks of CORESET 0
    level: int  #: control channel elements of the candidate: 4, 8 or 16
    first_cce: int  #: the first of them
    snr_db: float  #: of a resource element of the PDCCH
    metric: float  #: log-likelihood of the PDCCH's DMRS less that of noise
    dci_bits: np.ndarray  #: uint8
    ok: bool  #: as of NrTransportDecoder: all CRCs hold, and enough was received
    bits: np.ndarray  #: uint8: the transport block; zeros if not ok

    @property
    def dci(self) -> NrSiDci:
        """The fields of the DCI."""
        found = NrSiDci.of_bits(self.dci_bits, coreset_blocks=self.coreset_blocks)
        assert found is not None
        return found


class NrDownlinkResult(NamedTuple):
    """What was found in samples.

    >>> wb.NrDownlink(sample_rate_hz=7.68e6)(np.zeros(20000)).blocks
    []
    """

    blocks: list[tuple[NrFoundBlock, NrPbchBlock]]  #: SS/PBCH blocks in order of time
    messages: list[NrMessage]  #: in order of time


@described
class NrDownlink(Described):
    """Receives a cell's MIB and system information: cell search, PBCH, PDCCH in CORESET 0, PDSCH (docs/pdcch.md).

    Blocks give timing and carrier frequency offset of the occasions in which CORESET 0 is monitored.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> wb.NrDownlink(sample_rate_hz=7.68e6, spacing_khz=30)(np.zeros(20000)).messages
    []
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[NrDownlinkKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.NrDownlink, settings=settings)

    @converting(samples=as_complex)
    def __call__(self, samples: Array, *, strict: bool = False) -> NrDownlinkResult:
        """Receives complex64 ``(n,)``, searched in pieces of 20 ms. Waits for the result.

        Samples may have any scale from 1e-12 to 1e15. Samples that are NaN, infinite or above 1e15 are taken as 0.

        Raises:
            RuntimeError: this build has no FFT for CPUs (KISS FFT), or cuFFT is not there.
        """
        space = space_of(samples)
        if len(samples.shape) != 1:
            raise refused("samples", tuple(samples.shape), "an array of one axis")
        if isinstance(samples, np.ndarray):
            samples = np.ascontiguousarray(samples)
        blocks, messages = self._work.run(space.executor(self._executor), space.take(samples))
        return NrDownlinkResult(
            [(NrFoundBlock(*found), block_of(*pbch)) for found, pbch in blocks],
            [NrMessage(*numbers, np.frombuffer(dci, np.uint8), ok, np.frombuffer(bits, np.uint8)) for *numbers, dci, ok, bits in messages])


def nr_si_decode(grid: Any, *, dci: NrSiDci, cell_id: int, slot: int, coreset_blocks: int, spacing_khz: int = 30,
                 dmrs_first_symbol: int = 2, noise_var: float | None = None, reserved: Sequence[int] = (),
                 dmrs_delay: int = 0) -> np.ndarray | None:
    """The transport block that a DCI with SI-RNTI schedules, uint8, or None if it is not ok. On a CPU.

    Args:
        grid: complex ``(14, 12 coreset_blocks)``: symbol and subcarrier of CORESET 0's resource blocks in the slot.
        dci: what schedules it; its MCS is at most 28.
        cell_id: 0 to 1007.
        slot: in its frame.
        coreset_blocks: 24, 48 or 96.
        spacing_khz: of SIB1, 15 or 30.
        dmrs_first_symbol: of the MIB, 2 or 3.
        noise_var: N0 of an element. One resource block of two symbols needs it; other DMRS give N0 themselves.
        reserved: what the PDSCH is mapped round, as ``reserved`` of :class:`NrSharedChannel`: its PDCCH (:meth:`PdcchEncoder.reserved`).
        dmrs_delay: symbols by which DMRS are later as a CORESET has the PDSCH's first ones, 0 to 3 with mapping type B.

    >>> grid = np.random.default_rng(1).normal(size=(14, 288))
    >>> wb.nr_si_decode(grid, dci=wb.NrSiDci(blocks=4), cell_id=1, slot=0, coreset_blocks=24)
    """
    if not isinstance(dci, NrSiDci):
        raise TypeError(f"dci is a {type(dci).__name__}: expected a warpband.NrSiDci")
    try:
        values = np.ascontiguousarray(grid, np.complex64)
    except Exception:
        raise refused("grid", grid, "complex numbers") from None
    space = space_of(values)
    found = made(_core.nr_si_decode, executor=space.executor(None), grid=values, dci=dci._fields(), cell_id=cell_id, slot=slot,
                 coreset_blocks=coreset_blocks, spacing_khz=spacing_khz, dmrs_first_symbol=dmrs_first_symbol, noise_var=noise_var,
                 reserved=[whole("reserved", n, 0, 275) for n in listed("reserved", reserved)], dmrs_delay=whole("dmrs_delay", dmrs_delay, 0, 3))
    return None if found is None else np.frombuffer(found, np.uint8)
