"""What encoders and decoders share: how a batch comes in and goes out."""
from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from . import _core
from ._arrays import FLOAT32, INT32, UINT8, Array, Executor, Table, batch_of, fill, results, space_of
from ._convert import as_bits, as_llrs, converting
from ._described import Described
from ._settings import checked_executor, checked_sign, made, number, refused, whole

_LEFT_OUT = object()  # in place of a scale that a caller may give


def is_integer(llr: Array) -> bool:
    """Whether LLRs are integers that a decoder scales."""
    return str(getattr(llr, "dtype", "")).rpartition(".")[2] in ("int8", "int16")


def signed_llrs(space: Any, llr: Array, reverse: bool, llr_scale: Any) -> tuple[Any, float]:
    """LLRs ln P(0)/P(1) as the compiled part takes them, and the scale of integers, which then has their sign."""
    scale, taken = llr_scale if type(llr_scale) is float else number("llr_scale", llr_scale), space.take(llr)
    if not reverse:
        return taken, scale
    return (taken, -scale) if is_integer(llr) else (space.negated(taken), scale)


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


class BlockEncoder(Encoder):
    """An encoder of a block code."""

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., k)``, to uint8 ``(..., n)``: what is sent of each block.

        n is ``coded_bits`` of encoders that have it, and of :class:`SparseLdpcEncoder` the columns that are sent.
        """
        return self._encode(bits, out)


class TransportEncoder(Encoder):
    """An encoder of transport blocks."""

    def __init__(self, work: Any, executor: Executor | None):
        super().__init__(work, {"coded": (UINT8, (work.settings["coded_bits"],))}, executor)

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, rv: int = 0, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., A)``, to redundancy version ``rv`` = 0..3 (in WiMAX the SPID), uint8 ``(..., G)``."""
        return self._encode(bits, out, whole("rv", rv))


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
        self._negated = tuple(name for name in ("soft", "extrinsic", "coded_extrinsic") if name in table) if self._reversed else ()

    def _decode(self, llrs: Sequence[Array], outputs: str | Sequence[str], out: Any, packed: Any, *more: Any, llr_scale: Any = _LEFT_OUT) -> Any:
        """Of the LLRs the first are those of codewords. ``llr_scale`` is for decoders that take integers with a scale."""
        space, batch = space_of(llrs[0]), batch_of("llr", llrs[0], 1)
        if packed is False:
            arrays = fill(space, self._table, outputs, out, batch)
        else:
            arrays = fill(space, self._packed(packed), outputs, out, batch)
        wide = arrays
        if packed and "bits" in arrays:
            wide = {**arrays, "bits": space.empty(batch + self._table["bits"][1], UINT8)}
        if llr_scale is not _LEFT_OUT:
            taken = signed_llrs(space, llrs[0], self._reversed, llr_scale)
        else:
            taken = [None if llr is None else space.take(llr) for llr in llrs]
            if self._reversed:
                taken = [None if llr is None else space.negated(llr) for llr in taken]
        executor = space.executor(self._executor)
        self._work.run(executor, *taken, *more, *map(wide.get, self._outputs))
        if wide is not arrays:
            _core.pack_bits(executor, wide["bits"], arrays["bits"])
        return results(space, arrays, outputs, out, self._negated)

    def _packed(self, packed: Any) -> Table:
        """What a call gives with packed bits."""
        if not isinstance(packed, (bool, np.bool_)):
            raise refused("packed", packed, "True or False")
        k = self._table["bits"][1][-1]
        return {**self._table, "bits": (UINT8, ((k + 7) // 8 if packed else k,))}


class BlockDecoder(Decoder):
    """A decoder of a block code that takes integers with a scale. The docstring of each class lists its outputs."""

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, llr_scale: float = 1.0, outputs: str | Sequence[str] = "bits", packed: bool = False, out: Any = None,
                 strict: bool = False) -> Any:
        """Decodes a batch of codewords.

        Args:
            llr: float32, int8 or int16 ``(..., n)``, in the order of what the encoder sends; 0 for punctured bits. With
                ``llr_sign="p1/p0"`` a negated copy of float32 is made.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            outputs: one or several names of the outputs that the class lists.
            packed: eight bits in a byte of "bits", the first in the most significant place, as ``numpy.packbits`` gives.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            The output, or a tuple of them.
        """
        return self._decode((llr,), outputs, out, packed, llr_scale=llr_scale)


class TransportDecoder(Decoder):
    """A decoder of transport blocks, with HARQ."""

    _outputs = ("bits", "ok", "block_ok", "iterations", "status")

    def __init__(self, work: Any, llr_sign: str, harq_type: str, harq_scale: float, executor: Executor | None):
        #: code blocks of a transport block
        self.blocks: int = work.blocks
        table = {"bits": (UINT8, (work.settings["transport_bits"],)), "ok": (UINT8, ()), "block_ok": (UINT8, (self.blocks,)),
                 "iterations": (INT32, (self.blocks,)), "status": (UINT8, ())}
        super().__init__(work, table, llr_sign, executor)
        #: number format of HARQ memory
        self.harq_type = harq_type
        #: what a value of 1 in HARQ memory is as an LLR
        self.harq_scale = harq_scale
        self._harq = made(_core.HarqFormat, harq_type=harq_type, harq_scale=harq_scale)
        #: bytes of HARQ memory of a transport block
        self.harq_bytes: int = work.harq_bytes(self._harq)

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, llr_scale: float = 1.0, rv: int = 0, first: bool = True, harq: Any = None,
                 outputs: str | Sequence[str] = ("bits", "ok"), packed: bool = False, out: Any = None, strict: bool = False) -> Any:
        """Combines a transmission and decodes.

        Args:
            llr: float32, int8 or int16 ``(..., G)``.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            rv: its redundancy version, 0..3; in WiMAX the SPID of a subpacket.
            first: whether it is the first of its blocks; what was received before is forgotten then.
            harq: HARQ memory of yours, uint8 ``(..., harq_bytes)``, which is read unless ``first``, and written. It holds all that
                was received, so each block has its own series of transmissions. None: the decoder keeps that of one series.
            outputs: "bits" (uint8 ``(..., A)``, right or not), "ok" (uint8 ``(...)``, 1 where all CRCs hold and enough was
                received), "block_ok" (uint8 ``(..., blocks)``), "iterations" (int32 ``(..., blocks)``), "status" (uint8
                ``(...)``, 1 if a NaN or infinite LLR erased part of a transmission, 5 = 1 + 4 if too little of a code block
                was received so far); or several names.
            packed: eight bits in a byte of "bits", the first in the most significant place, as ``numpy.packbits`` gives.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        if not isinstance(first, bool):
            raise refused("first", first, "True or False")
        memory = harq if harq is None else space_of(llr).target(harq)
        return self._decode((llr,), outputs, out, packed, whole("rv", rv), first, memory, self._harq, llr_scale=llr_scale)


class RateMatcher(Described):
    """Codewords of code blocks to what is sent of them, and LLRs back."""

    def __init__(self, work: Any, n: int, llr_sign: str, executor: Executor | None):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = work
        self.llr_sign = llr_sign
        self._table = {"sent": (UINT8, (work.settings["sent_bits"],)), "soft": (FLOAT32, (n,))}

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, rv: int = 0, out: Any = None, strict: bool = False) -> Any:
        """What is sent of codewords, uint8 or bool ``(..., n)``, in redundancy version ``rv`` = 0..3: uint8 ``(..., sent_bits)``."""
        space = space_of(bits)
        arrays = fill(space, self._table, "sent", out, batch_of("bits", bits, 1))
        self._work.run(space.executor(self._executor), space.take(bits), whole("rv", rv), arrays["sent"])
        return results(space, arrays, "sent", out)

    @converting(llr=as_llrs)
    def combine(self, llr: Array, *, llr_scale: float = 1.0, rv: int = 0, soft: Any = None, strict: bool = False) -> Any:
        """LLRs of a transmission to those of its codewords, float32 ``(..., n)``.

        Args:
            llr: float32, int8 or int16 ``(..., sent_bits)``. One with a NaN or infinite LLR adds nothing.
            llr_scale: an integer v is the LLR ``v * llr_scale``; 1 with float32.
            rv: its redundancy version, 0..3.
            soft: what a former call returned, to which this transmission is added; None begins anew, with 0 where nothing was
                received and +-1e30 at filler bits.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        space = space_of(llr)
        arrays = fill(space, self._table, "soft", soft, batch_of("llr", llr, 1))
        sums, taken = arrays["soft"], signed_llrs(space, llr, self._reversed, llr_scale)
        version, turned = whole("rv", rv), self._reversed and soft is not None
        if turned:
            sums = space.negate(sums)
        try:
            self._work.combine(space.executor(self._executor), *taken, version, soft is None, sums)
        except Exception:
            if turned:  # a second call, with converted LLRs, begins with what the caller gave
                space.negate(sums)
            raise
        return results(space, arrays, "soft", soft, ("soft",) if self._reversed else ())
