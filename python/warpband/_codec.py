"""What encoders and decoders share: how a batch comes in and goes out."""
from __future__ import annotations

from typing import Any, Sequence

from ._arrays import Array, Executor, Table, batch_of, fill, results, space_of
from ._described import Described
from ._settings import checked_executor, checked_sign


class Encoder(Described):
    """Bits to what is sent."""

    def __init__(self, work: Any, table: Table, executor: Executor | None):
        self._executor = checked_executor(executor)
        self._work, self._table = work, table

    def _encode(self, bits: Array, out: Any, *more: Any) -> Any:
        space = space_of(bits)
        arrays = fill(space, self._table, "coded", out, batch_of("bits", bits, 1))
        self._work.run(space.executor(self._executor), space.take(bits), *more, arrays["coded"])
        return results(space, arrays, "coded", out)


class Decoder(Described):
    """LLRs of either sign to bits."""

    #: all outputs, in the order in which the compiled part takes them
    _outputs: tuple[str, ...]

    def __init__(self, work: Any, table: Table, llr_sign: str, executor: Executor | None):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work, self._table = work, table
        #: the sign of LLRs
        self.llr_sign = llr_sign
        self._negated = tuple(name for name in ("soft", "extrinsic") if name in table) if self._reversed else ()

    def _decode(self, llrs: Sequence[Array], outputs: str | Sequence[str], out: Any, *more: Any) -> Any:
        """Of the LLRs the first are those of codewords."""
        space = space_of(llrs[0])
        arrays = fill(space, self._table, outputs, out, batch_of("llr", llrs[0], 1))
        taken = [None if llr is None else space.take(llr) for llr in llrs]
        if self._reversed:
            taken = [None if llr is None else space.negated(llr) for llr in taken]
        self._work.run(space.executor(self._executor), *taken, *more, *map(arrays.get, self._outputs))
        return results(space, arrays, outputs, out, self._negated)
