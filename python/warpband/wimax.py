"""Frames of WiMAX (IEEE 802.16, time division duplex) with space-time codes: bits of bursts to grids, and received grids to bits.

A grid is complex64 ``(..., symbols, tones, n)``: the OFDM symbols of one direction, its data subcarriers, and n = 2 antennas that send, or
``rx_antennas`` that receive (docs/wimax_frames.md).
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from . import _core
from ._arrays import COMPLEX64, FLOAT32, INT32, UINT8, Array, Executor, batch_of, fill, named_space, results, space_of
from ._convert import as_bits, as_complex, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, made, refused

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import WimaxFrameKeywords

__all__ = ["WimaxBurst", "WimaxFrame"]


class WimaxBurst(NamedTuple):
    """A burst: its place in the grid, and how many bits a frame has of it.

    >>> wb.WimaxFrame(modulations=["qpsk", "16qam"], shares=[1, 2]).bursts[1].tones
    240
    """

    #: "qpsk", "16qam" or "64qam"
    modulation: str
    #: it has ``tones`` tones of ``symbols`` OFDM symbols, from these on
    first_tone: int
    tones: int
    first_symbol: int
    symbols: int
    #: of the space-time code
    codewords: int
    bits_per_codeword: int
    #: blocks of the code: k bits of information in n bits that are sent. Without a code a block is a codeword, and k = n
    blocks: int
    k: int
    n: int


def _table(name: str, value: Any) -> dict[str, Any] | None:
    """A table of settings, as scenarios have them."""
    if value is not None and not isinstance(value, dict):
        raise refused(name, value, "a dict of settings, or None")
    return value


@described
class WimaxFrame(Described):
    """Generates and receives WiMAX frames: preamble, frame control header (FCH), DL-MAP and bursts, each with its modulation. Two antennas
    send by a space-time code.

    The receiver estimates the channel from the preamble of each frame, reads FCH and DL-MAP, and decodes the bursts from where the DL-MAP
    says. A burst has modulation and size by its settings. If the DL-MAP has others, the burst is erased. If a check of FCH or DL-MAP
    fails, all bursts of the frame are erased. What is erased has bits and LLRs of 0.

    Args:
        code: the code of every burst, as ``[code]`` of a scenario: ``{"type": "wimax-ldpc", "n": 576}``. None: uncoded.
        decoder: settings of its decoder, as ``[decoder]`` of a scenario: ``{"iterations": 10}``.
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    Buffers are kept on each executor for as many frames as in the last call. Source: V. Bollapalli et al., "Highly parallel decoding of
    space-time codes on graphics processing units", 2009, section V.

    Raises:
        ValueError: naming the setting that is not allowed.

    >>> frame = wb.WimaxFrame(modulations=["qpsk", "16qam"], shares=[1, 2], code={"type": "wimax-ldpc", "n": 576})
    >>> rng = np.random.default_rng(1)
    >>> bits = [rng.integers(0, 2, (3, burst.blocks, burst.k), dtype=np.uint8) for burst in frame.bursts]
    >>> sent = frame.transmit(bits)
    >>> sent.shape
    (3, 29, 360, 2)
    >>> received = wb.awgn(sent @ np.array([[1, 0.5j], [-0.5, 1]]), noise_var=0.01, seed=1)
    >>> decided = frame.receive(received, 0.01)
    >>> [np.array_equal(a, b) for a, b in zip(decided, bits)]
    [True, True]
    """

    def __init__(self, *, code: dict[str, Any] | None = None, decoder: dict[str, Any] | None = None, llr_sign: str = "p0/p1",
                 executor: Executor | None = None, **settings: Unpack[WimaxFrameKeywords]):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = made(_core.WimaxFrame, code=_table("code", code), decoder=_table("decoder", decoder), settings=settings)
        #: the sign of LLRs
        self.llr_sign = llr_sign
        symbols, tones, first = self._work.sizes
        #: a grid's axes before its last: OFDM symbols of the direction, and tones
        self.grid_shape: tuple[int, int] = (symbols, tones)
        #: OFDM symbols of preamble, FCH and DL-MAP
        self.control_symbols: int = first
        self.bursts: tuple[WimaxBurst, ...] = tuple(WimaxBurst(*sizes) for sizes in self._work.bursts)
        self._sent = {"sent": (COMPLEX64, (symbols, tones, 2))}
        self._table: dict[str, tuple[Any, tuple[int, ...]]] = {}
        for i, burst in enumerate(self.bursts, 1):
            self._table[f"bits_{i}"] = (UINT8, (burst.blocks, burst.k))
            self._table[f"llr_{i}"] = (FLOAT32, (burst.codewords, burst.bits_per_codeword))
            self._table[f"codeword_status_{i}"] = (UINT8, (burst.codewords,))
            if code is not None and self.code["type"] != "none":
                self._table[f"iterations_{i}"] = (INT32, (burst.blocks,))
                self._table[f"status_{i}"] = (UINT8, (burst.blocks,))
        if self._work.has_maps:
            self._table["map_status"] = (UINT8, ())
        if self.csi == "preamble":
            self._table["channel"] = (COMPLEX64, (tones, self.rx_antennas, 2))
            self._table["noise_var"] = (FLOAT32, (tones,))
        self._bits = tuple(f"bits_{i}" for i in range(1, len(self.bursts) + 1))
        self._negated = tuple(name for name in self._table if name.startswith("llr_")) if self._reversed else ()

    @property
    def code(self) -> dict[str, Any]:
        """The settings of the code in force, "type" first."""
        return dict(self._work.code)

    @property
    def decoder(self) -> dict[str, Any]:
        """The settings of its decoder in force; empty without a code."""
        return dict(self._work.decoder)

    def transmit(self, bits: Sequence[Array], *, out: Any = None, strict: bool = False) -> Any:
        """Bits of bursts to grids.

        Args:
            bits: a list of an array for each burst, uint8 or bool ``(..., blocks, k)`` of :attr:`bursts`; their batch axes are the frames
                and agree.
            out: the grid to fill instead of a new one.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            complex64 ``(..., symbols, tones, 2)``; zeros where nothing is sent. An antenna sends unit mean energy in each symbol.

        Raises:
            ValueError: for shapes, types or strides that do not fit.
        """
        if not isinstance(strict, bool):
            raise refused("strict", strict, "True or False")
        if not isinstance(bits, (list, tuple)) or len(bits) != len(self.bursts):
            raise refused("bits", bits, f"a list of {len(self.bursts)} arrays, one for each burst")
        try:
            return self._transmit(bits, out)
        except (TypeError, ValueError):
            converted = bits if strict else [as_bits(f"bits[{i}]", array, {}) for i, array in enumerate(bits)]
            if all(new is array for new, array in zip(converted, bits)):
                raise
        return self._transmit(converted, out)

    def _transmit(self, bits: Sequence[Array], out: Any) -> Any:
        space = named_space("bits[0]", bits[0])
        arrays = fill(space, self._sent, "sent", out, batch_of("bits[0]", bits[0], 2))
        self._work.transmit(space.executor(self._executor), [space.take(array) for array in bits], arrays["sent"])
        return results(space, arrays, "sent", out)

    @converting(received=as_complex, noise_var=as_noise("received", 3), channel=as_complex)
    def receive(self, received: Array, noise_var: float | Array, *, channel: Array | None = None, outputs: str | Sequence[str] | None = None,
                out: Any = None, strict: bool = False) -> Any:
        """Received grids to the bits of bursts.

        Args:
            received: complex64 ``(..., symbols, tones, rx_antennas)``; the batch axes are the frames.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to the batch axes of ``received``.
            channel: with ``csi="perfect"`` H of each tone, complex64 ``(..., tones, rx_antennas, 2)``, the same during a frame; else None.
            outputs: None for the bits of all bursts, or one or several names. Names of burst i, from 1 on, are "bits_i" (uint8 ``(...,
                blocks, k)``), "llr_i" (float32 ``(..., codewords, bits_per_codeword)``), "codeword_status_i" (uint8 ``(..., codewords)``,
                1 erased); with a code also "iterations_i" (int32 ``(..., blocks)``) and "status_i" (uint8 ``(..., blocks)``, of the decoder:
                1 erased, 2 its checks hold). With maps "map_status" (uint8 ``(...)``, 1 where FCH, DL-MAP or the entry of a burst is
                wrong). With ``csi="preamble"`` the estimates "channel" (complex64 ``(..., tones, rx_antennas, 2)``) and "noise_var"
                (float32 ``(..., tones)``, N0 and the error variances of H). With "llr_i" the bits of an uncoded burst are the signs
                of its LLRs.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            A tuple of arrays; one array if ``outputs`` is one name.

        Raises:
            ValueError: for shapes, types or strides that do not fit.
        """
        if (channel is None) == (self.csi == "perfect"):
            expected = 'H of each tone with csi = "perfect"' if channel is None else 'None with csi = "preamble"'
            raise refused("channel", channel, expected)
        wanted = self._bits if outputs is None else outputs
        space = space_of(received)
        arrays = fill(space, self._table, wanted, out, batch_of("received", received, 3))
        self._work.receive(space.executor(self._executor), None if channel is None else space.take(channel), space.take(received),
                           space.take(noise_var), arrays)
        return results(space, arrays, wanted, out, self._negated)
