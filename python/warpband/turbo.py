"""The turbo code of LTE (3GPP TS 36.212 section 5.1.3.2): encoder and iterative MAP decoder.

A codeword is ``3 * (k + 4)`` bits: the streams d0, d1, d2 one after the other, each with its four tail places.
"""
from __future__ import annotations

from typing import Any, Sequence

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._settings import checked_executor, checked_sign, listed, made, refused, whole

__all__ = ["TurboDecoder", "TurboEncoder"]

#: CRCs by name: polynomial with its leading term, degree (3GPP TS 36.212 section 5.1.1)
CRCS = {"crc24a": (0x1864CFB, 24), "crc24b": (0x1800063, 24), "crc16": (0x11021, 16), "crc8": (0x19B, 8)}


_CRC_WORDS = f"{', '.join(map(repr, CRCS))} or (polynomial, degree)"


def crc_of(crc: str | tuple[int, int] | None) -> tuple[int, int] | None:
    if crc is None or isinstance(crc, (tuple, list)) and len(crc) == 2:
        if any(hasattr(type(value), "__index__") and not 0 <= int(value) < 2 ** 31 for value in crc or ()):
            raise refused("crc", crc, _CRC_WORDS)
        return crc
    if not isinstance(crc, str) or crc not in CRCS:
        raise refused("crc", crc, _CRC_WORDS)
    return CRCS[crc]


def _permutation_of(k: int, permutation: Sequence[int] | None) -> list[int] | None:
    """The entries of an own interleaver. Raises ValueError unless there are k."""
    if permutation is None:
        return None
    entries = listed("permutation", permutation)
    integers = all(hasattr(type(entry), "__index__") for entry in entries)  # if not, the compiled module raises
    if integers and len(entries) != whole("k", k, 40, 65536):
        raise ValueError(f"permutation = {len(entries)} entries is not allowed: expected {k}, one for each of the k bits")
    return entries


class TurboEncoder:
    """Encodes blocks of k bits.

    Args:
        k: one of the 188 sizes of table 5.1.3-3, 40..6144; with an own permutation 40..65536.
        permutation: an own interleaver: bit permutation[i] of a block is bit i into the second encoder.
        executor: where arrays in host memory are processed; None for all cores.
    """

    def __init__(self, *, k: int, permutation: Sequence[int] | None = None, executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._encoder = made(_core.TurboEncoder, k=k, permutation=_permutation_of(k, permutation))
        self.k: int = self._encoder.k
        #: bits of a codeword
        self.n: int = 3 * (self.k + 4)
        self._table = {"coded": (UINT8, (self.n,))}

    def __call__(self, bits: Array, *, out: Any = None) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., k)`` of which the lowest bit counts, to uint8 ``(..., n)``."""
        space = space_of(bits)
        arrays = fill(space, self._table, "coded", out, batch_of("bits", bits, 1))
        self._encoder.run(space.executor(self._executor), space.take(bits), arrays["coded"])
        return results(space, arrays, "coded", out)


class TurboDecoder:
    """Decodes codewords of the turbo code.

    Args:
        k: information bits, as of :class:`TurboEncoder`.
        algorithm: "log-map" (exact) or "max-log-map".
        iterations: full iterations, 1..64.
        windows: parallel windows of a codeword, 1..k/8; 0 chooses.
        overlap: steps by which a window's recursions start early; -1 chooses. One window has none.
        code_rate: information bits over received LLRs, those that are not 0; above 0, up to 1. Only the automatic choice of
            windows and overlap uses it; with the right rate that choice loses at most 0.05 dB against one window.
        extrinsic_scale: factor on extrinsic LLRs, (0, 1]; 0.75 is usual for max-log-map, log-map takes 1 only.
        early_stop: "none", "crc" (needs ``crc``) or "sign-agreement".
        crc: "crc24a", "crc24b", "crc16", "crc8" or (polynomial with its leading term, degree); read with
            ``early_stop="crc"`` alone.
        precision: "float32"; "bfloat16" or "int16", which are several times faster and give "bits", "iterations" and
            "status" alone. int16 is max-log-map.
        llr_steps: with int16: steps of the channel LLRs in an LLR of 1, 0.25..64.
        permutation: an own interleaver, as of :class:`TurboEncoder`.
        llr: "log_p0_p1" for ln P(0)/P(1), positive means 0; "log_p1_p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    log-map has the error rate of double precision on the same LLRs, even if those are 20 times too small or 100 times too
    large. LLRs are limited to +-10000, with int16 to +-127 steps. Codewords of which more than a fourth of the LLRs are beyond
    +-11 take 1.4 times the time, with bfloat16 three times.

    The same bits come out on every processor, for any batch and number of threads.
    """

    def __init__(self, *, k: int, algorithm: str = "log-map", iterations: int = 6, windows: int = 0, overlap: int = -1,
                 extrinsic_scale: float = 1.0, early_stop: str = "none", crc: str | tuple[int, int] | None = None,
                 precision: str = "float32", llr_steps: float = 8.0, code_rate: float = 1 / 3, permutation: Sequence[int] | None = None,
                 llr: str = "log_p0_p1", executor: Executor | None = None):
        self._reversed = checked_sign(llr)
        self._executor = checked_executor(executor)
        if crc is None and early_stop == "crc":
            raise refused("crc", crc, f'{_CRC_WORDS} with early_stop = "crc"')
        self._decoder = made(
            _core.TurboDecoder, k=k, algorithm=algorithm, iterations=iterations, windows=windows, overlap=overlap,
            extrinsic_scale=extrinsic_scale, early_stop=early_stop, crc=crc_of(crc), precision=precision,
            llr_steps=llr_steps, code_rate=code_rate, permutation=_permutation_of(k, permutation))
        self.k, self.n, self.llr = k, 3 * (k + 4), llr
        #: as chosen
        self.windows: int = self._decoder.windows
        self.overlap: int = self._decoder.overlap
        self._table: dict[str, Any] = {"bits": (UINT8, (k,)), "iterations": (INT32, ()), "status": (UINT8, ())}
        if precision == "float32":
            self._table.update(soft=(FLOAT32, (k,)), extrinsic=(FLOAT32, (k,)))

    def __call__(self, llr: Array, *, outputs: str | Sequence[str] = "bits", out: Any = None) -> Any:
        """Decodes a batch of codewords.

        Args:
            llr: float32 ``(..., 3 * (k + 4))``; with precision bfloat16 or int16 also int8, in steps. With
                ``llr="log_p1_p0"`` a negated copy of it is made.
            outputs: "bits" (uint8 ``(..., k)``), "soft" and "extrinsic" (float32 ``(..., k)``, a-posteriori LLRs and the
                same without the channel's), "iterations" (int32 ``(...)``), "status" (uint8 ``(...)``); or several names.
                Status is 1 for a word erased because of a NaN or infinite LLR, 2 for one that stopped early, 5 = 1 + 4 for one
                erased because fewer than k LLRs are usable, that is, not 0 in the decoder's number format. With
                ``early_stop="crc"`` it is 5 also for an all-zero word of which fewer than 7/8 of the systematic LLRs are
                usable. Bits and iterations of an erased word are 0.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.

        Returns:
            The output, or a tuple of them.
        """
        space = space_of(llr)
        arrays = fill(space, self._table, outputs, out, batch_of("llr", llr, 1))
        taken = space.take(llr)
        self._decoder.run(space.executor(self._executor), space.negated(taken) if self._reversed else taken,
                          arrays.get("bits"), arrays.get("soft"), arrays.get("extrinsic"), arrays.get("iterations"),
                          arrays.get("status"))
        return results(space, arrays, outputs, out, ("soft", "extrinsic") if self._reversed else ())
