"""LDPC codes of any sparse parity-check matrix: of a standard, from a file, a SciPy matrix or an array."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor, space_of
from ._codec import BlockEncoder, Decoder
from ._convert import as_bits, as_llrs, converting
from ._described import described
from ._settings import file_name, listed, made, refused

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import SparseLdpcDecoderKeywords

__all__ = ["ParityCheckMatrix", "SparseLdpcDecoder", "SparseLdpcEncoder"]


def _rows_of(matrix: Any) -> tuple[int, list[list[int]]]:
    """The number of columns, and the columns of the ones of each row."""
    if hasattr(matrix, "tocoo"):  # of scipy.sparse
        entries = matrix.tocoo()
        if len(entries.shape) != 2:
            raise refused("matrix", entries.shape, "a matrix of two axes")
        shape, row, column, values = entries.shape, np.asarray(entries.row), np.asarray(entries.col), np.asarray(entries.data)
    else:
        try:
            dense = np.asarray(matrix)
        except Exception:
            dense = np.empty(0)
        if dense.ndim != 2 or dense.dtype.kind not in "biuf":
            raise refused("matrix", matrix, "a path, a matrix of scipy.sparse, or an array of two axes with 0 and 1")
        shape, (row, column) = dense.shape, np.nonzero(dense)
        values = dense[row, column]
    if np.any((values != 0) & (values != 1)):
        raise refused("matrix", values[(values != 0) & (values != 1)][0].item(), "entries of 0 and 1")
    if 0 in shape:
        raise refused("matrix", tuple(shape), "at least one row and one column")
    row, column = row[values != 0], column[values != 0]
    _, first, count = np.unique(np.stack([row, column]), axis=1, return_index=True, return_counts=True)
    if (count > 1).any():
        twice = first[count > 1][0]
        raise refused("matrix", (int(row[twice]), int(column[twice])), "each entry once")
    order = np.argsort(row, kind="stable")
    ends = np.searchsorted(row[order], np.arange(1, shape[0]))
    return int(shape[1]), [part.tolist() for part in np.split(column[order], ends)]


class ParityCheckMatrix:
    """A sparse parity-check matrix H of any structure, and what elimination finds about it.

    The rank of H, and which columns carry the k information bits, follow by elimination. A column that is no pivot is an information bit.
    Pivots are taken from the last column down, so that the parity bits of a code that lists them last come last. Rows may depend on each
    other, and rows and columns may be empty.

    Args:
        matrix: the path of a file, alist (D. J. C. MacKay) or AFF3CT's QC format; a matrix of ``scipy.sparse``; or an array
            ``(checks, n)`` of 0 and 1. Or the name of a standard's matrix. CCSDS 131.0-B and 231.0-B: "ccsds/ar4ja-1024-1/2" (k 1024,
            4096, 16384; rates 1/2, 2/3, 4/5), "ccsds/c2-8176", "ccsds/c2-8160", "ccsds/tc-128" (256, 512). ETSI EN 302 307:
            "dvb-s2/normal-1/2" (normal, medium, short; all rates of DVB-S2 and DVB-S2X). A file of such a name is "./ccsds/tc-128".
        punctured: columns, from 0, that are not sent.
        shortened: columns that are not sent, as their bits are 0.

    Raises:
        ValueError: naming row and column of what is not allowed.
        RuntimeError: where a file cannot be read, with line and reason.

    >>> h = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
    >>> h.rank, h.k, h.information_columns.tolist()
    (3, 3, [0, 1, 3])
    >>> code = wb.ParityCheckMatrix(matrix="ccsds/ar4ja-1024-1/2")
    >>> code.n, code.sent, code.k
    (2560, 2048, 1024)
    """

    __slots__ = ("_code", "__weakref__")

    def __init__(self, *, matrix: Any, punctured: Sequence[int] = (), shortened: Sequence[int] = ()):
        unsent = {"punctured": listed("punctured", punctured), "shortened": listed("shortened", shortened)}
        if isinstance(matrix, (str, os.PathLike)):
            self._code = made(_core.ParityCheckMatrix.named, path=file_name("matrix", matrix), **unsent)
        else:
            n, rows = _rows_of(matrix)
            self._code = made(_core.ParityCheckMatrix.of_rows, n=n, rows=rows, encoder_rows=[], **unsent)

    @property
    def n(self) -> int:
        """Columns of H: bits of a codeword."""
        return self._code.n

    @property
    def checks(self) -> int:
        """Rows of H."""
        return self._code.checks

    @property
    def rank(self) -> int:
        """Rank of H without its shortened columns."""
        return self._code.rank

    @property
    def k(self) -> int:
        """Information bits: n less the shortened columns and the rank of H together with ``encoder_rows``."""
        return self._code.k

    @property
    def sent(self) -> int:
        """Bits that are sent: n without punctured and shortened columns."""
        return self._code.sent

    @property
    def rows(self) -> list[list[int]]:
        """The columns of the ones of each row."""
        return self._code.rows

    @property
    def encoder_rows(self) -> list[list[int]]:
        """Further rows that only the encoder obeys: CCSDS' C2 code has two, as its H leaves two parity bits open."""
        return self._code.encoder_rows

    @property
    def information_columns(self) -> np.ndarray:
        """The columns that carry the information bits, int32 ``(k,)``."""
        return np.array(self._code.information_columns, np.int32)

    @property
    def sent_columns(self) -> np.ndarray:
        """The columns that are sent, int32 ``(sent,)``."""
        return np.array(self._code.sent_columns, np.int32)

    @property
    def punctured(self) -> list[int]:
        """Punctured columns."""
        return self._code.punctured

    @property
    def shortened(self) -> list[int]:
        """Shortened columns."""
        return self._code.shortened

    def __repr__(self) -> str:
        return f"ParityCheckMatrix(n={self.n}, checks={self.checks}, k={self.k})"

    def __reduce__(self) -> Any:
        return _restored, (self.n, self.rows, self.punctured, self.shortened, self.encoder_rows)


def _restored(n: int, rows: list[list[int]], punctured: list[int], shortened: list[int],
              encoder_rows: Sequence[list[int]] = ()) -> ParityCheckMatrix:
    matrix = ParityCheckMatrix.__new__(ParityCheckMatrix)
    matrix._code = made(_core.ParityCheckMatrix.of_rows, n=n, rows=rows, punctured=punctured, shortened=shortened,
                        encoder_rows=list(encoder_rows))
    return matrix


def _matrix_of(matrix: Any) -> Any:
    if not isinstance(matrix, ParityCheckMatrix):
        raise TypeError(f"matrix is a {type(matrix).__name__}: expected a warpband.ParityCheckMatrix")
    return matrix._code


@described
class SparseLdpcEncoder(BlockEncoder):
    """Encodes blocks of k bits for any parity-check matrix.

    A parity bit that elimination finds as the only one of its check is the sum of that check's other bits. The p others are sums of all
    information bits: p * k / 8 bytes of memory, and p * k / 32 operations a codeword. DVB-S2 has p = 0.

    Args:
        matrix: the parity-check matrix; p * k is at most 2^31.
        executor: where arrays in host memory are processed; None for all cores.

    >>> h = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
    >>> wb.SparseLdpcEncoder(matrix=h)([[1, 0, 0], [1, 1, 1]]).tolist()
    [[1, 0, 1, 0, 1, 0], [1, 1, 0, 1, 0, 0]]
    """

    def __init__(self, *, matrix: ParityCheckMatrix, executor: Executor | None = None):
        super().__init__(made(_core.SparseLdpcEncoder, matrix=_matrix_of(matrix)), {"coded": (UINT8, (matrix.sent,))}, executor)
        self.matrix = matrix


@described
class SparseLdpcDecoder(Decoder):
    """Belief propagation for any parity-check matrix, on LLRs or from syndromes.

    Layered: each row of H, in order, joins the first layer in which no row shares a bit with it. An iteration takes the layers one after
    the other. Messages are float32. LLRs are limited to +-1e30.

    Args:
        matrix: the parity-check matrix.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign.
        executor: where arrays in host memory are processed; None for all cores.

    A posterior LLR of 0 decides 0, but its bit counts as undecided: a check with such a bit does not hold.

    The same bits come out on every processor, for any batch and number of threads.

    Source: R. G. Gallager, "Low-density parity-check codes", 1962.

    >>> h = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
    >>> decode = wb.SparseLdpcDecoder(matrix=h, algorithm="sum-product")
    >>> decode([3.0, 3.0, 3.0, -1.0, 3.0, 3.0]).tolist()
    [0, 0, 0]
    >>> decode(np.full(6, 2.2), syndrome=[0, 1, 1, 0], outputs="word").tolist()
    [0, 0, 0, 1, 0, 0]
    """

    _outputs = ("bits", "word", "soft", "extrinsic", "iterations", "status")

    def __init__(self, *, matrix: ParityCheckMatrix, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[SparseLdpcDecoderKeywords]):
        work = made(_core.SparseLdpcDecoder, matrix=_matrix_of(matrix), settings=settings)
        table = {"bits": (UINT8, (matrix.k,)), "word": (UINT8, (matrix.n,)), "soft": (FLOAT32, (matrix.n,)),
                 "extrinsic": (FLOAT32, (matrix.sent,)), "iterations": (INT32, ()), "status": (UINT8, ())}
        super().__init__(work, table, llr_sign, executor)
        self.matrix = matrix
        #: information bits, and LLRs of a codeword
        self.k, self.n = matrix.k, matrix.sent

    @converting(llr=as_llrs, syndrome=as_bits)
    def __call__(self, llr: Array, *, syndrome: Array | None = None, llr_scale: float = 1.0, outputs: str | Sequence[str] = "bits",
                 packed: bool = False, out: Any = None, strict: bool = False) -> Any:
        """Decodes a batch of codewords.

        Args:
            llr: float32, int8 or int16 ``(..., sent)``; 0 for erased bits. With ``syndrome`` the priors of errors, ln((1 - p) / p).
            syndrome: what the bits of each check sum to, uint8 or bool ``(..., checks)``; None: 0.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            outputs: "bits" (uint8 ``(..., k)``, the information bits), "word" (uint8 ``(..., n)``, all columns of H; not together with
                "bits"), "soft" (float32 ``(..., n)``, a-posteriori LLRs of all columns), "extrinsic" (float32 ``(..., sent)``, the same
                without the channel's), "iterations" (int32 ``(...)``), "status" (uint8 ``(...)``: 1 erased because of a NaN or infinite
                LLR, 2 all checks hold, 5 = 1 + 4 erased because fewer than k LLRs are not 0); or several names.
            packed: eight bits in a byte of "bits", the first in the most significant place, as ``numpy.packbits`` gives.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        sums = None if syndrome is None else space_of(llr).take(syndrome)
        return self._decode((llr,), outputs, out, packed, sums, llr_scale=llr_scale)
