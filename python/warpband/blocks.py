"""Single code blocks of 5G NR and LTE, as accelerators take them: integer LLRs, packed bits, HARQ memory of the caller.

They are meant for 1 to 64 blocks a call. :class:`warpband.NrTransportDecoder` and :class:`warpband.LteTransportDecoder` are for large batches.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import INT8, INT32, UINT8, Array, DeviceSpace, Executor, batch_of, fill, named_space, results
from ._codec import Decoder, Encoder
from ._convert import as_block_llrs, as_packed, converting
from ._described import described
from ._settings import made, refused, whole
from .turbo import crc_of

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import (LdpcBlockDecoderKeywords, LdpcBlockEncoderKeywords, TurboBlockDecoderKeywords,
                            TurboBlockEncoderKeywords)

__all__ = ["LdpcBlockDecoder", "LdpcBlockEncoder", "TurboBlockDecoder", "TurboBlockEncoder"]


def _host_space(name: str, array: Array) -> Any:
    space = named_space(name, array)
    if isinstance(space, DeviceSpace):
        raise ValueError(f"{name} = an array on a device is not allowed: expected one in host memory")
    return space


class _BlockEncoder(Encoder):
    """Packed bits to packed bits."""

    def __init__(self, work: Any, executor: Executor | None):
        super().__init__(work, {"coded": (UINT8, (work.out_bytes,))}, executor)

    def _encode_blocks(self, bits: Array, rv: Any, out: Any) -> Any:
        space = _host_space("bits", bits)
        arrays = fill(space, self._table, "coded", out, batch_of("bits", bits, 1))
        host = space.executor(None)
        self._work.run(host, self._executor or host, space.take(bits), whole("rv", rv), arrays["coded"])
        return results(space, arrays, "coded", out)


class _BlockDecoder(Decoder):
    """LLRs to packed bits."""

    def _decode_blocks(self, llr: Array, outputs: str | Sequence[str], out: Any, *more: Any) -> Any:
        space = _host_space("llr", llr)
        arrays = fill(space, self._table, outputs, out, batch_of("llr", llr, 1))
        host = space.executor(None)
        self._work.run(host, self._executor or host, space.take(llr), self._reversed, *more, *map(arrays.get, self._outputs))
        return results(space, arrays, outputs, out)


@described
class LdpcBlockEncoder(_BlockEncoder):
    """Code blocks of 5G NR to what is sent of them: CRC, LDPC code, rate matching (3GPP TS 38.212 sections 5.2.2, 5.3.2, 5.4.2).

    Args:
        crc: "crc24a", "crc24b", "crc16", "crc8" or (polynomial with its leading term, degree), which is attached; None: none.
        {settings}
        executor: where blocks are encoded; None for all cores. A CUDA executor copies from host memory and back.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> encode = wb.LdpcBlockEncoder(base_graph=2, lifting_size=32, sent_bits=600, crc="crc16")
    >>> encode(np.zeros((3, encode.bytes), np.uint8)).shape, encode.k
    ((3, 75), 320)
    """

    def __init__(self, *, crc: str | tuple[int, int] | None = None, executor: Executor | None = None,
                 **settings: Unpack[LdpcBlockEncoderKeywords]):
        work = made(_core.LdpcBlockEncoder, crc=crc_of(crc), settings=settings)
        super().__init__(work, executor)
        #: bits of a block with its CRC, without fillers
        self.k: int = work.k
        #: bytes of a block's bits, without CRC
        self.bytes: int = work.in_bytes

    @converting(bits=as_packed)
    def __call__(self, bits: Array, *, rv: int = 0, out: Any = None, strict: bool = False) -> Any:
        """Encodes packed bits, uint8 ``(..., bytes)``, to redundancy version ``rv`` = 0..3: uint8 ``(..., ceil(sent_bits / 8))``.

        The first bit is in the most significant place of the first byte, as ``numpy.packbits`` gives.
        """
        return self._encode_blocks(bits, rv, out)


@described
class LdpcBlockDecoder(_BlockDecoder):
    """LLRs of code blocks of 5G NR to packed bits: rate recovery, HARQ combining, LDPC decoding.

    Args:
        crc: what a block ends with, as of :class:`LdpcBlockEncoder`; None: none.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where blocks are decoded; None for all cores. A CUDA executor copies from host memory and back.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Sums of repetitions and of HARQ memory are limited to +-127 steps, with ``harq_type="float16"`` to +-65504. A float32 LLR that is no
    number is 0. There are no erasures: a block of few LLRs is decoded like any other, and "status" says whether the result fits.

    The same bits come out on every processor, for any batch. One call at a time: calls from other threads wait.

    Source: 3GPP TS 38.212 sections 5.3.2 and 5.4.2.

    >>> code = {"base_graph": 2, "lifting_size": 32, "sent_bits": 600, "crc": "crc16"}
    >>> encode, decode = wb.LdpcBlockEncoder(**code), wb.LdpcBlockDecoder(**code, drop_crc=True)
    >>> sent = np.unpackbits(encode(np.full((3, 38), 0x5a, np.uint8)), axis=-1)
    >>> bits, ok = decode((20 - 40 * sent.astype(np.int8)), outputs=("bits", "ok"))
    >>> bits.shape, hex(bits[0, 0]), ok.tolist()
    ((3, 38), '0x5a', [1, 1, 1])
    """

    _outputs = ("bits", "ok", "iterations", "status")

    def __init__(self, *, crc: str | tuple[int, int] | None = None, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[LdpcBlockDecoderKeywords]):
        work = made(_core.LdpcBlockDecoder, crc=crc_of(crc), settings=settings)
        super().__init__(work, {"bits": (UINT8, (work.out_bytes,)), "ok": (UINT8, ()), "iterations": (INT32, ()), "status": (UINT8, ())},
                         llr_sign, executor)
        #: bits of a block with its CRC, without fillers
        self.k: int = work.k
        #: bytes of HARQ memory of a block
        self.harq_bytes: int = work.harq_bytes

    @converting(llr=as_block_llrs)
    def __call__(self, llr: Array, *, rv: int = 0, first: bool = True, harq: Any = None, outputs: str | Sequence[str] = "bits",
                 out: Any = None, strict: bool = False) -> Any:
        """Decodes one transmission of each block.

        Args:
            llr: int8, int16 or float32 ``(..., sent_bits)``; an integer v is the LLR ``v / 2**decimals``.
            rv: its redundancy version, 0..3.
            first: whether it is the first of its blocks. False: what ``harq`` holds is added.
            harq: memory of yours, uint8 ``(..., harq_bytes)``, which is read unless ``first``, and written: the LLRs of the circular
                buffer without fillers. None: nothing is kept.
            outputs: "bits" (uint8, packed as ``numpy.packbits`` gives, k bits or with ``drop_crc`` those without CRC), "ok" (uint8
                ``(...)``, 1 where status is 0), "iterations" (int32 ``(...)``), "status" (uint8 ``(...)``: 2 where parity checks fail
                after the last iteration, plus 4 where the CRC fails); or several names.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        if not isinstance(first, bool):
            raise refused("first", first, "True or False")
        memory = harq if harq is None else _host_space("harq", harq).target(harq)
        return self._decode_blocks(llr, outputs, out, whole("rv", rv), first, memory)


@described
class TurboBlockEncoder(_BlockEncoder):
    """Code blocks of LTE to what is sent of them: CRC, turbo code, rate matching (3GPP TS 36.212 sections 5.1.1, 5.1.3.2, 5.1.4.1).

    Args:
        crc: as of :class:`LdpcBlockEncoder`.
        {settings}
        executor: where blocks are encoded; None for all cores. A CUDA executor copies from host memory and back.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> encode = wb.TurboBlockEncoder(k=104, sent_bits=300, crc="crc24b")
    >>> encode(np.zeros((3, encode.bytes), np.uint8), rv=2).shape, encode.bytes
    ((3, 38), 10)
    """

    def __init__(self, *, crc: str | tuple[int, int] | None = None, executor: Executor | None = None,
                 **settings: Unpack[TurboBlockEncoderKeywords]):
        work = made(_core.TurboBlockEncoder, crc=crc_of(crc), settings=settings)
        super().__init__(work, executor)
        #: bytes of a block's bits, without CRC
        self.bytes: int = work.in_bytes

    @converting(bits=as_packed)
    def __call__(self, bits: Array, *, rv: int = 0, out: Any = None, strict: bool = False) -> Any:
        """Encodes packed bits, uint8 ``(..., bytes)``, to redundancy version ``rv`` = 0..3: packed uint8 ``(..., sent bytes)``.

        Without ``sent_bits`` there is no redundancy version: the output has the 3 k + 12 bits of d0, d1 and d2.
        """
        return self._encode_blocks(bits, rv, out)


@described
class TurboBlockDecoder(_BlockDecoder):
    """LLRs of code blocks of LTE, received transmissions already added up, to packed bits.

    Args:
        crc: what a block ends with, as of :class:`LdpcBlockEncoder`; None: none.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has. Of soft outputs too.
        executor: where blocks are decoded; None for all cores. A CUDA executor copies from host memory and back.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    A block with fewer than k LLRs that are not 0 is not decoded: its outputs are 0, and its status is 4, without a CRC 2.

    The same bits come out on every processor, for any batch. One call at a time: calls from other threads wait.

    Source: 3GPP TS 36.212 sections 5.1.3.2 and 5.1.4.1.

    >>> decode = wb.TurboBlockDecoder(k=40, order="streams")
    >>> coded = wb.TurboEncoder(k=40)(np.ones((3, 40))).astype(np.int8).reshape(3, 3, 44)
    >>> llr = np.zeros((3, 3, 64), np.int8)  # 64 places of a stream, the last 20 empty
    >>> llr[..., :44] = 10 - 20 * coded
    >>> decode(llr.reshape(3, -1)).tolist()[0]
    [255, 255, 255, 255, 255]
    """

    _outputs = ("bits", "ok", "iterations", "status", "soft")

    def __init__(self, *, crc: str | tuple[int, int] | None = None, llr_sign: str = "p0/p1", executor: Executor | None = None,
                 **settings: Unpack[TurboBlockDecoderKeywords]):
        work = made(_core.TurboBlockDecoder, crc=crc_of(crc), settings=settings)
        super().__init__(work, {"bits": (UINT8, (work.out_bytes,)), "ok": (UINT8, ()), "iterations": (INT32, ()), "status": (UINT8, ()),
                                "soft": (INT8, (3 * (work.settings["k"] + 4),))}, llr_sign, executor)
        #: LLRs of a block: 3 streams of ``32 * ceil((k + 4) / 32)`` places, NULLs included
        self.llrs: int = work.llrs

    @converting(llr=as_block_llrs)
    def __call__(self, llr: Array, *, outputs: str | Sequence[str] = "bits", out: Any = None, strict: bool = False) -> Any:
        """Decodes blocks.

        Args:
            llr: int8, int16 or float32 ``(..., llrs)``; an integer v is the LLR ``v / 2**decimals``. NULLs are not read.
            outputs: "bits" (uint8, packed as ``numpy.packbits`` gives, k bits or with ``drop_crc`` those without CRC), "ok" (uint8
                ``(...)``, 1 where status is 0), "iterations" (int32 ``(...)``), "status" (uint8 ``(...)``: 2 where decoders do not
                agree, 4 where the CRC fails), "soft" (int8 ``(..., 3 * (k + 4))``, a-posteriori LLRs of d0, d1 and d2 of each step
                in steps of ``2**-decimals``; takes the decoder in float32); or several names.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        return self._decode_blocks(llr, outputs, out)
