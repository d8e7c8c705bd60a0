"""Cell search of 5G NR: SS/PBCH blocks in samples, and their sequences (3GPP TS 38.211 section 7.4, TS 38.213 section 4.1)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from . import _core
from ._arrays import Array, Executor, space_of
from ._convert import as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, made, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import CellSearchKeywords

__all__ = ["CellSearch", "CellSearchResult", "NrFoundBlock", "nr_pss", "nr_ssb_first_symbols", "nr_sss"]


class NrFoundBlock(NamedTuple):
    """An SS/PBCH block that a search found.

    >>> block = wb.NrFoundBlock(row=0, cell_id=500, first_sample=1000.2, cfo_hz=-30.0, snr_db=4.1, metric=90.0)
    >>> block.cell_id % 3
    2
    """

    row: int  #: of the samples, leading axes flattened
    cell_id: int  #: 0 to 1007
    first_sample: float  #: where the cyclic prefix of its first symbol begins
    cfo_hz: float  #: carrier frequency offset: received minus nominal carrier frequency
    snr_db: float  #: of a resource element with PSS or SSS
    metric: float  #: of the detection, above the threshold


class CellSearchResult(NamedTuple):
    """What a search found, row by row and the greatest metric first.

    >>> wb.CellSearch(sample_rate_hz=1.92e6)(np.zeros(1000, np.complex64)).cells
    []
    """

    blocks: list[NrFoundBlock]  #: a cell sends several
    erased: np.ndarray  #: int64, of each row: samples that were not finite or above 1e15, taken as 0

    @property
    def cells(self) -> list[int]:
        """The identities of the blocks, in ascending order."""
        return sorted({b.cell_id for b in self.blocks})


def nr_pss(*, n_id2: int) -> np.ndarray:
    """Primary synchronization signal of N_ID2 = 0, 1 or 2: 127 values, 1 or -1, float32 (TS 38.211 section 7.4.2.2).

    >>> wb.nr_pss(n_id2=1)[:5]
    array([ 1.,  1.,  1., -1., -1.], dtype=float32)
    """
    return np.array(made(_core.nr_pss, n_id2=n_id2), np.float32)


def nr_sss(*, cell_id: int) -> np.ndarray:
    """Secondary synchronization signal of a cell 0 to 1007: 127 values, 1 or -1, float32 (TS 38.211 section 7.4.2.3).

    >>> wb.nr_sss(cell_id=500).shape
    (127,)
    """
    return np.array(made(_core.nr_sss, cell_id=cell_id), np.float32)


def nr_ssb_first_symbols(*, pattern: Literal["A", "B", "C", "D", "E"], l_max: int) -> list[int]:
    """First OFDM symbols of the candidate SS/PBCH blocks of a half frame, by i_SSB (TS 38.213 section 4.1).

    Args:
        pattern: case A (15 kHz), B, C (30 kHz), D (120 kHz) or E (240 kHz).
        l_max: number of candidates: 4 or 8 with the cases A, B and C, 64 with D and E.

    >>> wb.nr_ssb_first_symbols(pattern="C", l_max=4)
    [2, 8, 16, 22]
    """
    return list(made(_core.nr_ssb_first_symbols, pattern=pattern, l_max=l_max))


@described
class CellSearch(Described):
    """Finds SS/PBCH blocks by PSS and SSS: all 1008 cells, all timings, a range of carrier frequency offsets.

    The detection metric is ``-126 ln((1 - rho_p^2)(1 - rho_s^2))`` of the normalised correlations with PSS and SSS. In white Gaussian
    noise of any level P(metric > x) = (1 + x) exp(-x) for each trial, from which the threshold follows (docs/cell_search.md).

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> search = wb.CellSearch(sample_rate_hz=1.92e6)
    >>> block = np.zeros((4, 240))
    >>> block[0, 56:183], block[2, 56:183] = wb.nr_pss(n_id2=2), wb.nr_sss(cell_id=500)
    >>> rng = np.random.default_rng(1)
    >>> samples = 0.5 * (rng.normal(size=3000) + 1j * rng.normal(size=3000))
    >>> time = np.arange(137) - 9
    >>> for symbol in range(4):
    ...     for k in range(56, 183):
    ...         samples[1000 + 137 * symbol:][:137] += block[symbol, k] * np.exp(2j * np.pi * (k - 120) * time / 128) / 128 ** 0.5
    >>> found = search(samples)
    >>> found.cells, round(found.blocks[0].first_sample)
    ([500], 1000)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[CellSearchKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.CellSearch, settings=settings)

    @property
    def block_samples(self) -> int:
        """Samples from the prefix of a block's PSS to the end of its SSS. Let rows of a stream overlap by this number."""
        return self._work.block_samples

    def threshold(self, samples: int) -> float:
        """The detection threshold of the metric for rows of ``samples`` samples."""
        return self._work.threshold(whole("samples", samples, 0, 2 ** 28))

    @converting(samples=as_complex)
    def __call__(self, samples: Array, *, strict: bool = False) -> CellSearchResult:
        """Searches complex64 ``(..., n)``; several antennas are rows. Waits for the result.

        Samples may have any scale from 1e-12 to 1e15. Samples that are NaN, infinite or above 1e15 are taken as 0 and counted. A row
        without a block, silence or one shorter than ``block_samples`` gives none.
        """
        space = space_of(samples)
        blocks, erased = self._work.run(space.executor(self._executor), space.take(samples))
        return CellSearchResult([NrFoundBlock(*b) for b in blocks], np.array(erased, np.int64))
