"""Frames in, decisions out, under a deadline: several frames under way on each of several devices (docs/stream.md).

A frame is what a call of a detector, precoder or decoder gets: a channel, vectors and N0, all in host memory. :meth:`Stream.push`
copies them into a slot of the stream's own memory and returns at once with a :class:`Ticket`. Slots are page-locked if there is a
CUDA device. Results are those of the direct call, bit for bit, on whichever device a frame ran::

    detector = warpband.NWay(streams=4, rx_antennas=4, qam=64)
    with warpband.Stream(stage=detector, devices=["cuda:0", "cuda:1"], most_items=8400) as stream:
        tickets = [stream.push(channel, received, noise_var) for channel, received, noise_var in frames]
        llr = [ticket.result() for ticket in tickets]
"""
from __future__ import annotations

import atexit
import math
import os
import threading
import weakref
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, INT8, INT32, UINT8, Array, NumpySpace, as_halves, batch_of, space_of
from ._convert import as_samples, converting
from ._described import Described, described
from ._settings import integer_of, listed, made, number, refused, shown, whole
from .conv import BcjrDecoder, ViterbiDecoder
from .ctc import CtcDecoder
from .detect import Detector
from .ldpc import LdpcDecoder
from .massive import ClusteredDownlink, ClusteredUplink, MassiveDownlink, MassiveUplink
from .stbc import StbcDecoder
from .turbo import TurboDecoder
from .wimax import WimaxFrame

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import StreamKeywords

__all__ = ["FrameDropped", "Latencies", "Stream", "StreamFrame", "StreamStats", "Ticket"]

_UPLINKS = (MassiveUplink, ClusteredUplink)
_DOWNLINKS = (MassiveDownlink, ClusteredDownlink)


class FrameDropped(RuntimeError):
    """The frame was dropped: it waited longest when the queue was full, or when the stream was stopped.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    >>> h, y = np.ones((10, 1, 1)) * np.eye(2), np.ones((10, 2))
    >>> stream = wb.Stream(stage=detector, most_items=10)
    >>> stream.stop()  # what waits then is dropped: its ticket raises this
    >>> issubclass(wb.FrameDropped, RuntimeError)
    True
    """


class Latencies:
    """Times of delivered frames, kept as counts in cells of less than 1 %.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    >>> h, y = np.ones((10, 1, 1)) * np.eye(2), np.ones((10, 2))
    >>> with wb.Stream(stage=detector, most_items=10) as stream:
    ...     ticket = stream.push(h, y, 0.1)
    ...     stream.drain()
    ...     latency = stream.stats().latency
    >>> latency.count, latency.percentile_us(50) <= latency.percentile_us(99)
    (1, True)
    """

    __slots__ = ("_counted",)

    def __init__(self, counted: Any):
        self._counted = counted

    @property
    def count(self) -> int:
        """Frames."""
        return self._counted.count

    @property
    def mean_us(self) -> float:
        """Their mean, exact."""
        return self._counted.mean_us

    @property
    def max_us(self) -> float:
        """The longest, exact."""
        return self._counted.max_us

    def percentile_us(self, percent: float) -> float:
        """The time that ``percent`` (0..100) of the frames do not exceed, at most 1/128 above it; 0 without any frame."""
        percent = number("percent", percent)
        if not 0 <= percent <= 100:
            raise refused("percent", percent, "0 to 100")
        return self._counted.percentiles_us([percent])[0]

    def seconds(self, limit: int = 4096) -> np.ndarray:
        """The times in rising order, float64: one for each frame, or ``limit`` at equal steps of their percentiles."""
        n = min(self.count, whole("limit", limit, 0, 2 ** 31 - 1))
        return np.array(self._counted.percentiles_us([100 * (i + 1) / n for i in range(n)])) * 1e-6

    def __repr__(self) -> str:
        return (f"Latencies({self.count} frames: p50 {self.percentile_us(50):.1f} us, p99 {self.percentile_us(99):.1f} us, "
                f"p99.9 {self.percentile_us(99.9):.1f} us, longest {self.max_us:.1f} us)")


@dataclass(frozen=True)
class StreamStats:
    """What a stream has counted. pushed = delivered + dropped + failed once it is drained or stopped.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    >>> h, y = np.ones((10, 1, 1)) * np.eye(2), np.ones((10, 2))
    >>> with wb.Stream(stage=detector, most_items=10) as stream:
    ...     ticket = stream.push(h, y, 0.1)
    ...     stream.drain()
    ...     stats = stream.stats()
    >>> stats.pushed, stats.delivered, stats.missed
    (1, 1, 0)
    """

    pushed: int
    delivered: int
    dropped: int
    failed: int
    #: delivered later than the deadline, since the last :meth:`Stream.reset_times`
    missed: int
    #: runs that were repeated since a device failed
    rerun: int
    devices_failed: int
    #: exceptions that the callback raised
    callback_errors: int
    #: frames in the queue now, at most, and on average when a frame was pushed
    waiting: int
    most_waiting: int
    mean_waiting: float
    #: from the push to the delivery, its callback not included, since the last :meth:`Stream.reset_times`
    latency: Latencies
    #: from the push to the start on a device
    queued: Latencies
    #: from there until the result is seen
    device: Latencies


@dataclass(frozen=True)
class StreamFrame:
    """A frame as it was delivered.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    >>> h, y = np.ones((10, 1, 1)) * np.eye(2), np.ones((10, 2))
    >>> with wb.Stream(stage=detector, most_items=10) as stream:
    ...     frame = stream.push(h, y, 0.1, tag="first").frame()
    >>> frame.status, frame.tag, frame.result.shape
    ('delivered', 'first', (10, 4))
    """

    #: 0, 1, 2, ... in the order of pushes
    sequence: int
    #: "delivered", "dropped" or "failed"
    status: str
    #: what the direct call returns; None of a frame that is not delivered
    result: Any
    #: of a failed one
    error: str
    #: what :meth:`Stream.push` was given
    tag: Any
    #: on which it ran last, "cuda:0"; "" of dropped ones
    device: str
    #: runs that a device failed under
    attempts: int
    #: as of :class:`StreamStats`; 0 of dropped ones
    latency_us: float
    queued_us: float
    device_us: float
    #: whether it was delivered later than the deadline
    missed: bool

    def unwrap(self) -> Any:
        """The result.

        Raises:
            FrameDropped: the frame was dropped.
            RuntimeError: it failed, with the text of :attr:`error`.
        """
        if self.status == "dropped":
            raise FrameDropped(f"frame {self.sequence} was dropped")
        if self.status == "failed":
            raise RuntimeError(self.error)
        return self.result


class _Payload:
    """What a frame keeps until it is delivered."""

    __slots__ = ("arrays", "space", "tag", "about")

    def __init__(self, arrays: list[np.ndarray], space: Any, tag: Any, about: "_About"):
        self.arrays, self.space, self.tag, self.about = arrays, space, tag, about


@dataclass(frozen=True)
class _About:
    """What the frames of a stream have in common."""

    devices: tuple[str, ...]
    deadline_us: float | None
    several: bool  # outputs


def _seconds(timeout: float | None) -> float | None:
    """A time to wait; NaN would be for ever."""
    if timeout is None:
        return None
    seconds = number("timeout", timeout)
    if seconds != seconds:
        raise refused("timeout", timeout, "a number of seconds, or None to wait for ever")
    return seconds


def _frame_of(ticket: Any) -> StreamFrame:
    """The frame of a ticket that is done."""
    payload = ticket.payload
    status, error, device, attempts, latency, queued, on_device = ticket.about()
    about, result, delivered = payload.about, None, status == "delivered"
    if delivered:
        given = tuple(map(payload.space.give, payload.arrays))
        result = given if about.several else given[0]
    return StreamFrame(ticket.sequence, status, result, error, payload.tag, "" if status == "dropped" else about.devices[device],
                       attempts, 1e6 * latency, 1e6 * queued, 1e6 * on_device,
                       delivered and about.deadline_us is not None and about.deadline_us < 1e6 * latency)


class Ticket:
    """A frame that was pushed, and its result once it is there. Holds no slot: any number may be kept.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    >>> h, y = np.ones((10, 1, 1)) * np.eye(2), np.ones((10, 2))
    >>> with wb.Stream(stage=detector, most_items=10) as stream:
    ...     ticket = stream.push(h, y, 0.1)
    ...     llr = ticket.result(timeout=60)
    >>> ticket
    Ticket(0, done)
    """

    __slots__ = ("_ticket", "_frame")

    def __init__(self, ticket: Any):
        self._ticket, self._frame = ticket, None

    @property
    def sequence(self) -> int:
        """The frame's number: 0, 1, 2, ... in the order of pushes."""
        return self._ticket.sequence

    def done(self) -> bool:
        """Whether the frame is delivered, dropped or failed."""
        return self._ticket.done()

    def frame(self, timeout: float | None = None) -> StreamFrame:
        """Waits, without the GIL, for the frame, whatever becomes of it.

        Args:
            timeout: seconds; None waits for ever.

        Raises:
            TimeoutError: it is not there in time.
        """
        if self._frame is None:
            if not self._ticket.wait(_seconds(timeout)):
                raise TimeoutError(f"frame {self.sequence} was not delivered in {timeout} s")
            self._frame = _frame_of(self._ticket)
        return self._frame

    def result(self, timeout: float | None = None) -> Any:
        """Waits as :meth:`frame` does and returns what the direct call returns.

        Raises:
            FrameDropped: the frame was dropped.
            RuntimeError: it failed.
            TimeoutError: it is not there in time.
        """
        return self.frame(timeout).unwrap()

    def exception(self, timeout: float | None = None) -> Exception | None:
        """Waits as :meth:`frame` does and returns what :meth:`result` raises; None of a delivered frame."""
        try:
            self.frame(timeout).unwrap()
        except RuntimeError as error:
            return error
        return None

    def __reduce__(self) -> Any:
        raise TypeError("a Ticket is one of its stream and is neither copied nor pickled: its result and frame are")

    __copy__ = __reduce__

    def __deepcopy__(self, known: Any) -> Any:
        return self.__reduce__()

    def __repr__(self) -> str:
        return f"Ticket({self.sequence}, {'done' if self.done() else 'under way'})"


class _Caller:
    """The thread that calls back. It holds the stream's frames and what it calls, not the stream."""

    def __init__(self, frames: Any, on_frame: Callable[[StreamFrame], Any]):
        self.errors: deque[BaseException] = deque(maxlen=100)  # not raised yet
        self.count = 0
        self._frames, self.on_frame = frames, on_frame
        # Not Thread.join: one that Ctrl-C interrupts takes the thread for ended (CPython 3.11), and the interpreter must not
        # end while the thread waits in the compiled part.
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self._run, name="warpband.Stream", daemon=True)
        self.thread.start()

    def _run(self) -> None:
        try:
            ticket = self._frames.next(False)
            while ticket is not None:
                try:
                    self.on_frame(_frame_of(ticket))
                except BaseException as error:  # a thread of its own: nobody else would see it
                    self.count += 1
                    self.errors.append(error)
                ticket = None
                ticket = self._frames.next(True)
        finally:
            self.ended.set()

    def take_errors(self) -> list[BaseException]:
        errors = []
        while self.errors:
            errors.append(self.errors.popleft())
        return errors


_open: "weakref.WeakSet[Stream]" = weakref.WeakSet()


@atexit.register
def _stop_all() -> None:
    for stream in list(_open):
        if stream._pid != os.getpid():
            continue
        try:
            stream._end()
        except BaseException as error:  # Ctrl-C while it is told: the others are stopped all the same
            _core.report_unraisable(error, None)


@described
class Stream(Described):
    """Runs a stage on frames, in order, on several devices at a time. Made of what does the work, and then fed with frames.

    Args:
        stage: what is done with a frame: a soft MIMO detector, :class:`MassiveUplink`, :class:`MassiveDownlink`,
            :class:`ClusteredUplink`, :class:`ClusteredDownlink`, :class:`StbcDecoder` or :class:`WimaxFrame`, of at most 7 bursts. Its
            ``executor`` is to be None. Clusters share the device that has the frame.
        decoder: behind a detector, :class:`TurboDecoder`, :class:`CtcDecoder`, :class:`LdpcDecoder`, :class:`ViterbiDecoder` or
            :class:`BcjrDecoder`: the LLRs of a frame, use after use, are cut into codewords; what is left behind the last
            whole one is not decoded.
        {settings}
        items_per_channel: items that share an H, which is sent once for them, 1..2^20. The last H of a frame may serve fewer, but
            for massive MIMO.
        splits: of the uplinks: the vectors of a frame come in so many splits, each with ``items_per_channel / splits`` vectors of
            every H, as OFDM symbols come from a radio; ``parts`` are then splits.
        outputs: which outputs a frame's result has, one or several names: "llr" and "status"; with a decoder "bits" and, but for
            convolutional codes, "iterations"; of precoders "precoded" and "status"; of the uplinks "llr_int8" too, instead
            of "llr": in steps of 1 / ``llr_steps``, a quarter of the bytes; of WiMAX frames "bits_1", "bits_2", ... and, with maps,
            "map_status". None takes the first, or the bits of all bursts.
        on_frame: called with a :class:`StreamFrame` for each frame that is delivered or has failed, in order, by a thread of the
            stream's own. It may push. While it runs frames go on until as many wait for it as there are slots; then they wait
            too. What it raises is raised again by the next :meth:`drain` or :meth:`stop`, or at the end of the with block. The
            thread holds it until the stream ends: a stream that it refers to, as a method of the stream's owner or a function
            that uses the stream does, never goes by itself and has to be stopped.

    The constructor opens the devices, allocates all memory they need and runs a frame on each stream. A stream may be used by
    several threads at a time. Leaving its with block drains and stops it; by an exception, it is only stopped. One that is let go
    is stopped too, and so are all when the program ends.

    Raises:
        ValueError: for settings.
        RuntimeError: for devices that are not there, and memory that is not.

    >>> detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    >>> h, y = np.ones((10, 1, 1)) * np.eye(2), np.ones((10, 2))
    >>> with wb.Stream(stage=detector, most_items=10) as stream:
    ...     tickets = [stream.push(h, y, 0.1) for _ in range(3)]
    ...     llr = [ticket.result() for ticket in tickets]
    >>> np.array_equal(llr[2], detector(h, y, 0.1))
    True
    """

    def __init__(self, *,
                 stage: Detector | MassiveUplink | MassiveDownlink | ClusteredUplink | ClusteredDownlink | StbcDecoder | WimaxFrame,
                 decoder: TurboDecoder | CtcDecoder | LdpcDecoder | ViterbiDecoder | BcjrDecoder | None = None, items_per_channel: int = 1,
                 splits: int = 1, outputs: str | Sequence[str] | None = None, on_frame: Callable[[StreamFrame], Any] | None = None,
                 _faults: Sequence[tuple[int, str]] = (), **settings: Unpack[StreamKeywords]):
        work, channel, item, per_item = _arrays_of(stage)
        wimax = isinstance(stage, WimaxFrame)
        if on_frame is not None and not callable(on_frame):
            raise refused("on_frame", on_frame, "a function or None")
        if decoder is not None:
            if not isinstance(stage, Detector):
                raise ValueError(f"decoder = {type(decoder).__name__} is not allowed: expected None behind "
                                 f"{type(stage).__name__}")
            if not isinstance(decoder, (TurboDecoder, CtcDecoder, LdpcDecoder, ViterbiDecoder, BcjrDecoder)):
                raise TypeError(f"decoder is a {type(decoder).__name__}: expected one of the package's decoders")
        if integer_of(splits) != 1 and not isinstance(stage, _UPLINKS):
            raise refused("splits", splits, "1 but with MassiveUplink and ClusteredUplink")
        if wimax and integer_of(items_per_channel) != 1:
            raise refused("items_per_channel", items_per_channel, "1 with WimaxFrame")
        for name, part in (("stage", stage), ("decoder", decoder)):
            if getattr(part, "_executor", None) is not None:
                raise ValueError(f"{name} = one with an executor is not allowed: expected executor=None, as a stream has its own")
        #: bits of a codeword, and LLRs that each item brings; 0 without a decoder
        self._n, self._bits = (decoder.n, stage.bits_per_use) if decoder is not None else (0, 0)
        if decoder is not None:
            table: dict[str, tuple[Any, tuple[int, ...]]] = {"bits": (UINT8, (decoder.k,))}
            if isinstance(decoder, (TurboDecoder, CtcDecoder, LdpcDecoder)):
                table["iterations"] = (INT32, ())
        elif wimax:
            table = {name: stage._table[name] for name in (*stage._bits, "map_status") if name in stage._table}
        else:
            table = {per_item[0]: (per_item[1], per_item[2]), "status": (UINT8, ())}
        ports = list(table)
        if isinstance(stage, _UPLINKS):
            table["llr_int8"] = (INT8, per_item[2])
        if outputs is None and wimax:
            outputs = stage._bits
        names = [next(iter(table))] if outputs is None else [outputs] if isinstance(outputs, str) else listed("outputs", outputs)
        for name in names:
            if not isinstance(name, str) or name not in table:
                raise ValueError(f"outputs = {shown(name)} is not allowed: expected {' or '.join(map(repr, table))}")
        if len(set(names)) != len(names) or not names:
            raise ValueError(f"outputs = {tuple(names)} is not allowed: expected each name once, and at least one")
        if "llr" in names and "llr_int8" in names:
            raise ValueError(f"outputs = {tuple(names)} is not allowed: expected one of 'llr' and 'llr_int8'")
        reversed_llr = decoder is None and getattr(stage, "llr_sign", "") == "p1/p0"
        # the LLRs of either type are the same port
        self._made = [(table[name], ports.index("llr" if name == "llr_int8" else name), reversed_llr and name.startswith("llr"))
                      for name in names]
        self._items_name = "sent" if isinstance(stage, _DOWNLINKS) else "received"
        #: WiMAX frames with a preamble come without a channel
        self._estimates = wimax and stage.csi == "preamble"
        if isinstance(settings.get("devices"), str):
            settings["devices"] = (settings["devices"],)
        samples = settings.get("samples", "complex64")
        if isinstance(samples, str) and samples != "complex64" and not isinstance(stage, _UPLINKS + _DOWNLINKS):
            raise refused("samples", samples, '"complex64" but with massive MIMO')
        self._work = self._stream = made(
            _core.Stream, stage=work, decoder=None if decoder is None else decoder._work, items_per_channel=items_per_channel,
            splits=splits, llr_int8="llr_int8" in names, channel_shape=channel, item_shape=item,
            calls_back=on_frame is not None, settings=settings, faults=list(_faults))
        self._pid = os.getpid()
        self._half_channel = self.samples == "complex32"
        self._half_items = self._half_channel and isinstance(stage, _UPLINKS)
        self._trailing = len(item) + self._half_items
        self._about = _About(self.devices, self.deadline_us, not (outputs is None or isinstance(outputs, str)))
        self._caller = None if on_frame is None else _Caller(self._stream.frames, on_frame)
        _open.add(self)

    @property
    def slots(self) -> int:
        """Frames that fit: the queue and those under way."""
        return self._stream.slots

    @property
    def descriptions(self) -> list[str]:
        """What the devices are: "NVIDIA H100 80GB HBM3", "avx512, 1 thread"."""
        return self._stream.descriptions

    @converting(channel=as_samples, items=as_samples)
    def push(self, channel: Array | None, items: Array, noise_var: float | Array, *, tag: Any = None,
             timeout: float | None = None, strict: bool = False) -> Ticket:
        """Copies a frame's arrays into a slot and queues it. Waits, without the GIL, if no slot is free. With
        ``overflow="drop-oldest"`` it waits only if no waiting frame can be dropped: all are under way or ended behind a slow
        ``on_frame``.

        Args:
            channel: H, complex64, ``(..., rx_antennas, streams)``, ``(..., antennas, users)`` or ``(..., rx_antennas, 2)`` as of the
                stage; its batch axes hold one for each ``items_per_channel`` items. Of WiMAX frames ``(..., tones, rx_antennas, 2)``,
                or None if the receiver estimates it.
            items: what the stage takes: received vectors ``(..., antennas)``, of the space-time codes ``(..., 2, rx_antennas)``, WiMAX
                frames ``(..., symbols, tones, rx_antennas)``, or the symbols of a precoder ``(..., users)``; complex64. Its batch axes
                are those of the result; behind
                a decoder that has one, of codewords. With ``samples="complex32"`` ``channel`` and received vectors are of halves:
                float16 with a last axis of 2, real and imaginary part, or tensors of torch.complex32. Symbols that are sent stay
                complex64.
            noise_var: N0, one number for the frame.
            tag: anything; the frame has it. One that refers to the stream keeps it until the frame is delivered and the stream
                is used again or stopped.
            timeout: seconds to wait for a slot; None waits for ever.
            strict: refuse arrays of another type or layout instead of converting them.

        Returns:
            Its ticket. One that is thrown away costs nothing: the results are then not even copied, without a callback.

        Raises:
            ValueError: for shapes, types or strides that do not fit.
            RuntimeError: no device is left, or the stream was stopped.
            TimeoutError: no slot was free in time.
        """
        try:
            return self._pushed(channel, items, noise_var, tag, timeout)
        except (TypeError, ValueError) as error:
            if not str(error).startswith(self._items_name):
                raise
            raise type(error)(f"items: {error}") from None

    def _pushed(self, channel: Array | None, items: Array, noise_var: float | Array, tag: Any, timeout: float | None) -> Ticket:
        if (channel is None) != self._estimates:
            raise refused("channel", channel, "None, as the receiver estimates it" if self._estimates else "an array")
        if self._half_channel:
            channel = as_halves(channel)[0]
        if self._half_items:
            items = as_halves(items)[0]
        for name, array in (("channel", channel), (self._items_name, items)):
            if not isinstance(array, np.ndarray) and str(getattr(array, "dtype", "")) == "torch.complex32":
                raise ValueError(f"{name} = an array of complex32 is not allowed: expected complex64"
                                 + ("" if self._half_channel else ', or samples = "complex32" for the stream'))
        space = space_of(items)
        if not isinstance(space, NumpySpace):
            raise ValueError(f"{self._items_name} = an array on a device is not allowed: expected one in host memory, from which "
                             "a stream copies")
        batch = batch_of(self._items_name, items, self._trailing)
        if self._n:
            batch = (math.prod(batch) * self._bits // self._n,)
        arrays, targets = [], []
        for (dtype, shape), port, negated in self._made:
            array = np.empty(batch + shape, dtype)
            arrays.append(array)
            targets.append((port, negated, array))
        ticket = self._stream.push(None if channel is None else space.take(channel), space.take(items), space.take(noise_var),
                                   _Payload(arrays, space, tag, self._about), targets, _seconds(timeout))
        if ticket is None:
            raise TimeoutError(f"no slot was free in {timeout} s")
        return Ticket(ticket)

    def map(self, frames: Iterable[Sequence[Any]]) -> Iterator[StreamFrame]:
        """Pushes frames, ``(channel, items, noise_var)`` each, and yields them in the same order as they are delivered.

        As many frames are taken from ``frames`` in advance as there are slots.
        """
        under_way: deque[Ticket] = deque()
        for frame in frames:
            if len(under_way) >= self.slots:
                yield under_way.popleft().frame()
            under_way.append(self.push(*frame))
            while under_way and under_way[0].done():
                yield under_way.popleft().frame()
        while under_way:
            yield under_way.popleft().frame()

    def drain(self, timeout: float | None = None) -> None:
        """Waits, without the GIL, until all frames pushed before are delivered, and ``on_frame`` has returned from them.

        Raises:
            TimeoutError: not in time.
            BaseException: what ``on_frame`` raised first, if it has raised since the last time.
        """
        if not self._stream.drain(_seconds(timeout)):
            raise TimeoutError(f"frames were still under way after {timeout} s")
        self._raise()

    def stop(self) -> None:
        """Drops the frames that wait, lets those under way finish, waits for ``on_frame`` to return from what was delivered,
        and ends. Safe to call twice, and while others push. Ctrl-C ends the wait for ``on_frame``, not the one for frames under
        way; then call it again.

        Raises:
            BaseException: what ``on_frame`` raised first, if it has raised since the last time.
        """
        self._stream.stop()
        if self._caller is not None:
            self._caller.ended.wait()
        _open.discard(self)
        self._raise()

    def _raise(self) -> None:
        errors = self._caller.take_errors() if self._caller is not None else []
        if not errors:
            return
        if len(errors) > 1 and hasattr(errors[0], "add_note"):
            errors[0].add_note(f"on_frame raised {len(errors) - 1} more exceptions, the last of them {errors[-1]!r}")
        try:
            raise errors[0]
        finally:
            del errors  # its traceback has this frame: a cycle, in which the stream would outlive its last user

    def _end(self) -> None:
        """Stops without raising: what was not asked for goes where Python reports such."""
        try:
            self.stop()
        except BaseException as error:
            _core.report_unraisable(error, None if self._caller is None else self._caller.on_frame)

    def stats(self) -> StreamStats:
        """What was counted until now."""
        latency, queued, device = map(Latencies, self._stream.times())
        return StreamStats(**self._stream.counters(), callback_errors=self._caller.count if self._caller is not None else 0,
                           latency=latency, queued=queued, device=device)

    def reset_times(self) -> None:
        """Takes what is counted off the next latencies, misses and the most that waited."""
        self._stream.reset_times()

    def __reduce__(self) -> Any:
        raise TypeError("a Stream has devices and threads of its own and is neither copied nor pickled: make another one")

    __copy__ = __reduce__

    def __deepcopy__(self, known: Any) -> Any:
        return self.__reduce__()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is not None:
            self._end()
            return
        try:
            self.drain()
        except BaseException:
            self._end()
            raise
        self.stop()

    def __del__(self) -> None:
        if getattr(self, "_stream", None) is not None and self._pid == os.getpid():
            if self._caller is not None and threading.current_thread() is self._caller.thread:
                return  # its callback let go of it last: the compiled part ends by itself
            self._end()


def _arrays_of(stage: Any) -> tuple[Any, list[int], list[int], tuple[str, Any, tuple[int, ...]]]:
    """The compiled part of a stage, the axes of its H and of an item, and its first output."""
    if isinstance(stage, Detector):
        return (stage._work, [stage.rx_antennas, stage.streams], [stage.rx_antennas], ("llr", FLOAT32, (stage.bits_per_use,)))
    if isinstance(stage, _UPLINKS):
        return (stage._work, [stage.antennas, stage.users], [stage.antennas], ("llr", FLOAT32, (stage.bits_per_vector,)))
    if isinstance(stage, _DOWNLINKS):
        return (stage._work, [stage.antennas, stage.users], [stage.users], ("precoded", COMPLEX64, (stage.antennas,)))
    if isinstance(stage, StbcDecoder):
        axes = [stage.uses] if stage._work.channels > 1 else []
        return (stage._work, [*axes, stage.rx_antennas, stage.streams], [stage.uses, stage.rx_antennas], ("llr", FLOAT32, (stage.bits_per_codeword,)))
    if isinstance(stage, WimaxFrame):
        tones = stage.grid_shape[1]
        return (stage._work, [tones, stage.rx_antennas, 2], [*stage.grid_shape, stage.rx_antennas], ("bits_1", *stage._table["bits_1"]))
    raise TypeError(f"stage is a {type(stage).__name__}: expected a detector, MassiveUplink, MassiveDownlink, ClusteredUplink, "
                    "ClusteredDownlink, StbcDecoder or WimaxFrame")
