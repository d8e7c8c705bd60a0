"""Belief propagation and ordered-statistics decoding (BP+OSD) of any sparse parity-check matrix."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._codec import Decoder, signed_llrs
from ._convert import as_bits, as_llrs, converting
from ._described import described
from ._settings import made, number, refused
from .sparse_ldpc import ParityCheckMatrix

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import BpOsdKeywords

__all__ = ["BpOsd"]


def _probabilities(error_rate: Any, error_channel: Any) -> list[float]:
    """Of an error in each bit, one for all, or none."""
    if error_channel is None:
        if error_rate is None:
            return []
        if not 0 < number("error_rate", error_rate) < 1:
            raise refused("error_rate", error_rate, "a probability above 0 and below 1")
        return [float(error_rate)]
    if error_rate is not None:
        raise refused("error_rate", error_rate, "None with an error_channel")
    try:
        values = np.asarray(error_channel, float)
    except Exception:
        values = np.empty(0)
    if values.ndim != 1 or values.size == 0:
        raise refused("error_channel", error_channel, "a list of n probabilities")
    return values.tolist()


@described
class BpOsd(Decoder):
    """Belief propagation, and ordered-statistics decoding (OSD) of what it leaves, for any parity-check matrix H.

    A call takes syndromes s and gives error patterns e with H e = s. :meth:`words` takes LLRs of codewords and gives codewords.
    The parameters have the names that those of ``BpOsdDecoder`` have in the package ``ldpc``.

    OSD orders columns by their a-posteriori LLR, likeliest errors first. The first independent columns are pivots, and elimination
    gives their bits from the syndrome. OSD-0 has no other errors. OSD-E and OSD-CS also try errors in the other columns, and take
    the pattern of least cost. Equal LLRs stay in order of columns; of equal costs the first wins.

    Args:
        pcm: H, a :class:`ParityCheckMatrix` or what that takes: an array, a matrix of ``scipy.sparse``, a path. No column is punctured
            or shortened, and H has at most 46340 rows.
        error_rate: probability of an error in each bit, above 0 and below 1.
        error_channel: such a probability for each of the n bits, instead. Without either each call needs ``llr``.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign.
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for an argument that is not allowed, by its name.

    The same bits come out on every processor, for any batch and number of threads.

    Source: M. P. C. Fossorier, S. Lin, "Soft-decision decoding of linear block codes based on ordered statistics", 1995;
    P. Panteleev, G. Kalachev, "Degenerate quantum LDPC codes with good finite length performance", 2021.

    >>> h = np.array([[1, 1, 0, 0, 1], [0, 1, 1, 0, 0], [0, 0, 1, 1, 1]])
    >>> decode = wb.BpOsd(pcm=h, error_rate=0.1, osd_method="osd-cs", osd_order=2)
    >>> error = decode(np.array([[1, 1, 0], [1, 0, 1]], np.uint8))
    >>> error.tolist(), (error @ h.T % 2).tolist()
    ([[0, 1, 0, 0, 0], [0, 0, 0, 0, 1]], [[1, 1, 0], [1, 0, 1]])
    >>> decode.words(np.array([4.0, 4.0, -1.0, 4.0, 4.0])).tolist()
    [0, 0, 0, 0, 0]
    """

    _outputs = ("bits", "soft", "iterations", "status")

    def __init__(self, *, pcm: Any, error_rate: float | None = None, error_channel: Sequence[float] | None = None,
                 llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[BpOsdKeywords]):
        probabilities = _probabilities(error_rate, error_channel)
        matrix = pcm if isinstance(pcm, ParityCheckMatrix) else _matrix(pcm)
        work = made(_core.BpOsd, pcm=matrix._code, error_channel=probabilities, settings=settings)
        table = {"bits": (UINT8, (matrix.n,)), "soft": (FLOAT32, (matrix.n,)), "iterations": (INT32, ()), "status": (UINT8, ())}
        super().__init__(work, table, llr_sign, executor)
        self.pcm = matrix
        self.error_rate, self.error_channel = error_rate, error_channel if error_channel is None else tuple(probabilities)
        #: columns and rows of H
        self.n, self.checks = matrix.n, matrix.checks

    @converting(syndrome=as_bits, llr=as_llrs)
    def __call__(self, syndrome: Array, *, llr: Array | None = None, llr_scale: float = 1.0, outputs: str | Sequence[str] = "bits",
                 out: Any = None, strict: bool = False) -> Any:
        """Error patterns of a batch of syndromes.

        Args:
            syndrome: uint8 or bool ``(..., checks)``.
            llr: ln((1 - p) / p) of an error in each bit, float32, int8 or int16 ``(..., n)``; None: those of the constructor.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            outputs: "bits" (uint8 ``(..., n)``, the error pattern), "soft" (float32 ``(..., n)``, a-posteriori LLRs of belief
                propagation), "iterations" (int32 ``(...)``), "status" (uint8 ``(...)``: 2 belief propagation found the pattern, 8 OSD
                found it, 0 neither with osd_method "off", 1 erased because of a NaN or infinite LLR, 5 because fewer than k LLRs are
                not 0, 17 because no pattern has the syndrome); or several names. The bits of what is erased are 0.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        if llr is None and self.error_rate is None and self.error_channel is None:
            raise refused("llr", llr, "LLRs, as the constructor got no error_rate and no error_channel")
        space, batch = space_of(syndrome), batch_of("syndrome", syndrome, 1)
        taken = (None, number("llr_scale", llr_scale)) if llr is None else signed_llrs(space, llr, self._reversed, llr_scale)
        return self._found(space, batch, *taken, space.take(syndrome), outputs, out)

    @converting(llr=as_llrs)
    def words(self, llr: Array, *, llr_scale: float = 1.0, outputs: str | Sequence[str] = "bits", out: Any = None,
              strict: bool = False) -> Any:
        """Codewords of a batch of LLRs.

        Args:
            llr: of the bits of a codeword, float32, int8 or int16 ``(..., n)``; 0 for erased bits.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            outputs: as of a call with syndromes; "bits" are those of the codeword.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        space, batch = space_of(llr), batch_of("llr", llr, 1)
        return self._found(space, batch, *signed_llrs(space, llr, self._reversed, llr_scale), None, outputs, out)

    def _found(self, space: Any, batch: Any, llr: Any, llr_scale: float, syndrome: Any, outputs: Any, out: Any) -> Any:
        arrays = fill(space, self._table, outputs, out, batch)
        self._work.run(space.executor(self._executor), llr, llr_scale, syndrome, *map(arrays.get, self._outputs))
        return results(space, arrays, outputs, out, self._negated)


def _matrix(pcm: Any) -> ParityCheckMatrix:
    """What ParityCheckMatrix takes, with errors that name `pcm`."""
    try:
        return ParityCheckMatrix(matrix=pcm)
    except ValueError as error:
        raise ValueError(str(error).replace("matrix = ", "pcm = ", 1)) from None
