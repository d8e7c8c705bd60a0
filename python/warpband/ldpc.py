"""Quasi-cyclic LDPC codes: those of IEEE 802.16e (WiMAX) and 802.11n (WiFi), and any base matrix of one's own."""
from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._settings import checked_executor, checked_sign, code_of, listed, made

__all__ = ["LdpcCode", "LdpcDecoder", "LdpcEncoder", "wifi_ldpc", "wimax_ldpc"]


class LdpcCode:
    """A code by its base matrix: block (i, j) of H is the z x z identity rotated right by ``matrix[i][j]``, or 0 for -1.

    A codeword has its k systematic bits first.

    Args:
        matrix: rows of shifts, -1..z - 1.
        z: the lifting size, 1..4096.

    Raises:
        ValueError: naming row and column (from 0) of what is not allowed.
    """

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


def wimax_ldpc(*, n: int = 2304, rate: str = "1/2") -> LdpcCode:
    """A code of IEEE 802.16e: n = 576, 672, ... 2304; rate "1/2", "2/3A", "2/3B", "3/4A", "3/4B" or "5/6"."""
    return LdpcCode._of(made(_core.LdpcCode.wimax, n=n, rate=rate))


def wifi_ldpc(*, n: int = 1944, rate: str = "1/2") -> LdpcCode:
    """A code of IEEE 802.11n: n = 648, 1296 or 1944; rate "1/2", "2/3", "3/4" or "5/6"."""
    return LdpcCode._of(made(_core.LdpcCode.wifi, n=n, rate=rate))


class LdpcEncoder:
    """Encodes blocks of k bits, in time linear in the edges.

    Args:
        code: one whose parity part is triangular but for a core of up to four block columns, as those of the standards.
        executor: where arrays in host memory are processed; None for all cores.
    """

    def __init__(self, *, code: LdpcCode, executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._encoder = made(_core.LdpcEncoder, code=code_of(code, LdpcCode))
        self.code = code
        self._table = {"coded": (UINT8, (code.n,))}

    def __call__(self, bits: Array, *, out: Any = None) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., k)`` of which the lowest bit counts, to uint8 ``(..., n)``."""
        space = space_of(bits)
        arrays = fill(space, self._table, "coded", out, batch_of("bits", bits, 1))
        self._encoder.run(space.executor(self._executor), space.take(bits), arrays["coded"])
        return results(space, arrays, "coded", out)


class LdpcDecoder:
    """Belief propagation.

    Args:
        code: the code.
        algorithm: "normalised-min-sum", "min-sum", "offset-min-sum" or "sum-product" (exact).
        scale: factor of normalised-min-sum, (0, 1]; with int8 a multiple of 1/8.
        offset: of offset-min-sum, in units of LLRs, 0..8.
        iterations: 1..1000, the most with early_stop.
        schedule: "layered" or "flooding".
        precision: of the messages: "float32"; "int8", on a CPU the fastest; "float16", which is for GPUs.
        early_stop: a codeword leaves once all its checks hold.
        int8_steps: steps of int8 messages in an LLR of 1, 0.25..64.
        llr: "log_p0_p1" for ln P(0)/P(1), positive means 0; "log_p1_p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    sum-product has the error rate of double precision on the same LLRs, even if those are 20 times too small or 100 times
    too large. LLRs and messages are limited to +-10000, with float16 to +-1000, with int8 to +-127 and +-42 steps.

    The same bits come out on every processor, for any batch and number of threads.
    """

    def __init__(self, *, code: LdpcCode, algorithm: str = "normalised-min-sum", scale: float = 0.75, offset: float = 0.5,
                 iterations: int = 15, schedule: str = "layered", precision: str = "float32", early_stop: bool = True,
                 int8_steps: float = 3.0, llr: str = "log_p0_p1", executor: Executor | None = None):
        self._reversed = checked_sign(llr)
        self._executor = checked_executor(executor)
        self._decoder = made(_core.LdpcDecoder, code=code_of(code, LdpcCode), algorithm=algorithm, scale=scale, offset=offset,
                             iterations=iterations, schedule=schedule, precision=precision,
                             early_stop=early_stop, int8_steps=int8_steps)
        self.code, self.llr = code, llr
        #: information bits and bits of a codeword
        self.k, self.n = code.k, code.n
        self._table = {"bits": (UINT8, (code.k,)), "soft": (FLOAT32, (code.n,)), "extrinsic": (FLOAT32, (code.n,)),
                       "iterations": (INT32, ()), "status": (UINT8, ())}

    def __call__(self, llr: Array, *, outputs: str | Sequence[str] = "bits", out: Any = None) -> Any:
        """Decodes a batch of codewords.

        Args:
            llr: float32 ``(..., n)``; 0 for punctured bits. With ``llr="log_p1_p0"`` a negated copy of it is made.
            outputs: "bits" (uint8 ``(..., k)``, the systematic ones), "soft" and "extrinsic" (float32 ``(..., n)``,
                a-posteriori LLRs and the same without the channel's), "iterations" (int32 ``(...)``), "status" (uint8
                ``(...)``: 1 erased because of a NaN or infinite LLR, 2 all checks hold, 5 = 1 + 4 erased because fewer than k
                LLRs are usable, that is, not 0 in the decoder's number format); or several names.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
        """
        space = space_of(llr)
        arrays = fill(space, self._table, outputs, out, batch_of("llr", llr, 1))
        taken = space.take(llr)
        self._decoder.run(space.executor(self._executor), space.negated(taken) if self._reversed else taken,
                          arrays.get("bits"), arrays.get("soft"), arrays.get("extrinsic"), arrays.get("iterations"),
                          arrays.get("status"))
        return results(space, arrays, outputs, out, ("soft", "extrinsic") if self._reversed else ())
