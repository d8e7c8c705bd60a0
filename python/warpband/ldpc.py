"""Quasi-cyclic LDPC codes: those of IEEE 802.16e (WiMAX) and 802.11n (WiFi), and any base matrix of one's own."""
from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Literal, Sequence

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Executor
from ._codec import BlockDecoder, BlockEncoder
from ._described import described
from ._settings import code_of, file_name, listed, made, number_or_none

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import LdpcDecoderKeywords

__all__ = ["LdpcCode", "LdpcDecoder", "LdpcEncoder", "read_ldpc", "wifi_ldpc", "wimax_ldpc"]


class LdpcCode:
    """A code by its base matrix: block (i, j) of H is the z x z identity rotated right by ``matrix[i][j]``, or 0 for -1.

    A codeword has its k systematic bits first.

    Args:
        matrix: rows of shifts, -1..z - 1.
        z: the lifting size, 1..4096.

    Raises:
        ValueError: naming row and column (from 0) of what is not allowed.

    >>> code = wb.LdpcCode(matrix=[[0, 1, 0, -1], [1, 0, 0, 0]], z=4)
    >>> code.k, code.n
    (8, 16)
    """

    __slots__ = ("_code", "__weakref__")

    def __init__(self, *, matrix: Sequence[Sequence[int]], z: int):
        self._code = made(_core.LdpcCode.of_matrix, matrix=[listed("matrix", row) for row in listed("matrix", matrix)], z=z)

    @classmethod
    def _of(cls, code: Any) -> LdpcCode:
        made = cls.__new__(cls)
        made._code = code
        return made

    @property
    def k(self) -> int:
        """Information bits."""
        return self._code.k

    @property
    def n(self) -> int:
        """Bits of a codeword."""
        return self._code.n

    @property
    def z(self) -> int:
        """The lifting size."""
        return self._code.z

    @property
    def matrix(self) -> list[list[int]]:
        """The shifts, row by row."""
        return self._code.matrix

    def __repr__(self) -> str:
        return f"LdpcCode(k={self.k}, n={self.n}, z={self.z})"

    def __reduce__(self) -> Any:
        return _ldpc_code, (self.matrix, self.z)


def _ldpc_code(matrix: list[list[int]], z: int) -> LdpcCode:
    return LdpcCode(matrix=matrix, z=z)


def wimax_ldpc(*, n: int = 2304, rate: Literal["1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"] = "1/2") -> LdpcCode:
    """A code of IEEE 802.16e: n = 576, 672, ... 2304; rate "1/2", "2/3A", "2/3B", "3/4A", "3/4B" or "5/6".

    >>> code = wb.wimax_ldpc(n=576, rate="5/6")
    >>> code.n, code.k
    (576, 480)
    """
    return LdpcCode._of(made(_core.LdpcCode.wimax, n=n, rate=rate))


def wifi_ldpc(*, n: int = 1944, rate: Literal["1/2", "2/3", "3/4", "5/6"] = "1/2") -> LdpcCode:
    """A code of IEEE 802.11n: n = 648, 1296 or 1944; rate "1/2", "2/3", "3/4" or "5/6".

    >>> code = wb.wifi_ldpc(n=648, rate="3/4")
    >>> code.n, code.k
    (648, 486)
    """
    return LdpcCode._of(made(_core.LdpcCode.wifi, n=n, rate=rate))


def read_ldpc(path: str | os.PathLike[str], *, lifting_size: int | None = None) -> LdpcCode:
    """A quasi-cyclic code of a file: CSV with a row of shifts in each line, or alist.

    CSV has -1, - or nothing for a zero block; text behind # is a comment, in which "z = 27" gives the lifting size. Of an alist the
    lifting size is the largest above 1 with which its matrix is quasi-cyclic. Systematic columns come first.

    Args:
        path: the file.
        lifting_size: z, 1..4096; None: what the file says.

    Raises:
        RuntimeError: where the file cannot be read or is no base matrix, with the reason.

    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "own.csv")
    ...     _ = file.write_text("0,1,0,-1\\n1,0,0,0\\n")
    ...     wb.read_ldpc(file, lifting_size=4)
    LdpcCode(k=8, n=16, z=4)
    """
    return LdpcCode._of(made(_core.LdpcCode.read, path=file_name("path", path), lifting_size=number_or_none("lifting_size", lifting_size)))


@described
class LdpcEncoder(BlockEncoder):
    """Encodes blocks of k bits, in time linear in the edges.

    Args:
        code: one whose parity part is triangular but for a core of up to four block columns, as those of the standards.
        executor: where arrays in host memory are processed; None for all cores.

    >>> encode = wb.LdpcEncoder(code=wb.wifi_ldpc(n=648))
    >>> encode(np.ones((10, 324))).shape
    (10, 648)
    """

    def __init__(self, *, code: LdpcCode, executor: Executor | None = None):
        super().__init__(made(_core.LdpcEncoder, code=code_of(code, LdpcCode)), {"coded": (UINT8, (code.n,))}, executor)
        self.code = code


@described
class LdpcDecoder(BlockDecoder):
    """Belief propagation.

    Args:
        code: the code.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Outputs: "bits" (uint8 ``(..., k)``), "soft" and "extrinsic" (float32 ``(..., n)``), "iterations" (int32 ``(...)``), "status" (uint8
    ``(...)``). Bits are the systematic ones. Soft outputs are a-posteriori LLRs, extrinsics the same without the channel's. Status 1:
    erased because of a NaN or infinite LLR. Status 2: all checks hold. Status 5 = 1 + 4: erased because fewer than k LLRs are usable,
    that is, not 0 in the decoder's number format.

    sum-product has the error rate of double precision on the same LLRs, even if those are 20 times too small or far too large.
    Its messages from bits to checks are limited to +-30. If an LLR is beyond +-1000, or more than a fourth are beyond +-20, messages are
    computed on LLRs instead, with ln(1 + e^-d) within 0.013. LLRs and messages are limited to +-1e30, with float16 to +-1000, with int8 to
    +-127 and +-42 steps.

    The same bits come out on every processor, for any batch and number of threads.

    >>> decode = wb.LdpcDecoder(code=wb.wifi_ldpc(n=648), iterations=20)
    >>> bits, status = decode(np.full((10, 648), 3.0), outputs=("bits", "status"))
    >>> bits.shape, int(status[0])
    ((10, 324), 2)
    """

    _outputs = ("bits", "soft", "extrinsic", "iterations", "status")

    def __init__(self, *, code: LdpcCode, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[LdpcDecoderKeywords]):
        work = made(_core.LdpcDecoder, code=code_of(code, LdpcCode), settings=settings)
        table = {"bits": (UINT8, (code.k,)), "soft": (FLOAT32, (code.n,)), "extrinsic": (FLOAT32, (code.n,)),
                 "iterations": (INT32, ()), "status": (UINT8, ())}
        super().__init__(work, table, llr_sign, executor)
        self.code = code
        #: information bits and bits of a codeword
        self.k, self.n = code.k, code.n
