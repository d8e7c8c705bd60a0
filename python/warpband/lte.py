"""The turbo-coded transport channels of LTE (3GPP TS 36.212 sections 5.1.1 to 5.1.4), with HARQ, and their CRCs."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import (INT32, UINT8, Array, CudaInterfaceSpace, DeviceSpace, DlpackSpace, Executor, batch_of, fill, results,
                      space_of)
from ._codec import Decoder, Encoder
from ._convert import as_bits, as_llrs, converting
from ._described import Described, described
from ._settings import checked_executor, made, refused, whole
from .turbo import crc_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import LteTransportDecoderKeywords, LteTransportEncoderKeywords

__all__ = ["CrcAttacher", "LteTransportDecoder", "LteTransportEncoder"]


@described
class CrcAttacher(Described):
    """Cyclic redundancy checks (3GPP TS 36.212 section 5.1.1): parity behind the bits of each row.

    The register begins with zeros and is not inverted at the end; the first bit is the coefficient of the highest power, and parity
    follows with its highest power first.

    Args:
        n: bits of a row without parity, 1..2**24.
        crc: "crc24a", "crc24b", "crc16", "crc8" or (polynomial with its leading term, degree 1..24).
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.
    """

    def __init__(self, *, n: int, crc: str | tuple[int, int] = "crc24a", executor: Executor | None = None):
        self._executor = checked_executor(executor)
        words = crc_of(crc)
        self._work = made(_core.CrcAttacher, n=n, crc=words)
        self.n = n
        #: bits of parity
        self.degree: int = words[1]
        self._table = {"coded": (UINT8, (n + self.degree,))}

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Bits, uint8 or bool ``(..., n)``, with their parity: uint8 ``(..., n + degree)``, or ``out``, which is filled.

        Takes arrays of NumPy, torch and CuPy, and others in host memory; of others on a device :meth:`attach` does.
        """
        space, taken, executor = self._expected(bits, False)
        arrays = fill(space, self._table, "coded", out, batch_of("bits", bits, 1))
        arrays["coded"][..., :self.n] = taken
        self._work.attach(executor, arrays["coded"])
        return results(space, arrays, "coded", out)

    def attach(self, bits: Array) -> None:
        """Writes the parity of the first n bits of each row, uint8 ``(..., n + degree)``, behind them."""
        space = space_of(bits)
        self._work.attach(space.executor(self._executor), space.target(bits))

    @converting(bits=as_bits)
    def check(self, bits: Array, *, strict: bool = False) -> Any:
        """Whether the last bits of each row, uint8 or bool ``(..., n + degree)``, are the parity of the others: bool ``(...)``.

        Takes arrays as calls do.
        """
        space, taken, executor = self._expected(bits, True)
        coded = space.empty(tuple(bits.shape), UINT8)
        coded[...] = taken
        self._work.attach(executor, coded)
        ok = (coded[..., self.n:] == taken[..., self.n:]).all(-1)
        return ok if isinstance(space, DeviceSpace) else space.give(np.asarray(ok))

    def _expected(self, bits: Array, with_parity: bool) -> tuple[Any, Any, Any]:
        """The space, the array in it and the executor, if these are bits that can be copied."""
        space = space_of(bits)
        if isinstance(space, (DlpackSpace, CudaInterfaceSpace)):
            raise ValueError("bits = an array on a device is not allowed: expected one of torch or CuPy, or attach() for one of "
                             "another library")
        taken, executor = space.take(bits), space.executor(self._executor)
        self._work.expect(executor, taken, with_parity)
        return space, taken, executor


@described
class LteTransportEncoder(Encoder):
    """Transport blocks to what is sent of them: CRCs, code blocks, turbo code, rate matching.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[LteTransportEncoderKeywords]):
        work = made(_core.LteTransportEncoder, settings=settings)
        super().__init__(work, {"coded": (UINT8, (work.settings["coded_bits"],))}, executor)
        #: code blocks of a transport block
        self.blocks: int = work.blocks

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, rv: int = 0, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., A)``, to redundancy version ``rv`` = 0..3, uint8 ``(..., G)``."""
        return self._encode(bits, out, whole("rv", rv))


@described
class LteTransportDecoder(Decoder):
    """LLRs of one transmission or more to transport blocks.

    ``decoder(llr, rv=0)`` decodes a first transmission; ``decoder(llr, rv=2, first=False)`` adds a further one of the same
    blocks to what was received before, and decodes again.

    Args:
        {settings}
        llr: "log_p0_p1" for ln P(0)/P(1), positive means 0; "log_p1_p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    A code block is ok if its CRC holds and enough of it was received: at least as many LLRs that are not 0 in the decoder's number
    format as it has bits, both without fillers. All-zero bits satisfy every CRC, so they need more. Of the LLRs that transmissions
    reached 7/8 must be above 1/4096 of the largest. From 16-QAM on the signs of symbols (the first two of ``modulation_order`` bits)
    must also be zeros more often than those of noise.

    Automatic windows and overlap follow from the code rate of the first transmission. One decoder serves one series of transmissions at a time.
    Sums of LLRs over transmissions are limited to +-1e30, and in the decoder to the limits of :class:`warpband.TurboDecoder`.
    """

    _outputs = ("bits", "ok", "block_ok", "iterations", "status")

    def __init__(self, *, llr: str = "log_p0_p1", executor: Executor | None = None,
                 **settings: Unpack[LteTransportDecoderKeywords]):
        work = made(_core.LteTransportDecoder, settings=settings)
        #: code blocks of a transport block
        self.blocks: int = work.blocks
        table = {"bits": (UINT8, (work.settings["transport_bits"],)), "ok": (UINT8, ()), "block_ok": (UINT8, (self.blocks,)),
                 "iterations": (INT32, (self.blocks,)), "status": (UINT8, ())}
        super().__init__(work, table, llr, executor)

    @converting(llr=as_llrs)
    def __call__(self, llr: Array, *, rv: int = 0, first: bool = True, outputs: str | Sequence[str] = ("bits", "ok"),
                 out: Any = None, strict: bool = False) -> Any:
        """Combines a transmission and decodes.

        Args:
            llr: float32 ``(..., G)``.
            rv: its redundancy version, 0..3.
            first: whether it is the first of its blocks; what was received before is forgotten then.
            outputs: "bits" (uint8 ``(..., A)``, right or not), "ok" (uint8 ``(...)``, 1 where all CRCs hold and enough was
                received), "block_ok" (uint8 ``(..., blocks)``), "iterations" (int32 ``(..., blocks)``), "status" (uint8
                ``(...)``, 1 if a NaN or infinite LLR erased part of a transmission, 5 = 1 + 4 if too little of a code block
                was received so far); or several names.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        if not isinstance(first, bool):
            raise refused("first", first, "True or False")
        return self._decode((llr,), outputs, out, whole("rv", rv), first)
