"""Slots of 5G NR (3GPP TS 38.211): where PUSCH and PDSCH put their symbols, and estimation of channel and noise from their DMRS.

A grid of slots is complex64 ``(..., ofdm_symbols, subcarriers, n)``, with n antenna ports, receive antennas, or whatever a resource
element has. What a slot's resource elements with data have is ``(..., data_elements, n)``, in the order of the mapping: frequency
first, then OFDM symbol after OFDM symbol.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, NUMPY, UINT8, Array, Executor, batch_of, fill, named_space, results, space_of
from ._convert import as_channel, as_complex, as_noise, as_packed, as_real, converting
from ._described import Described, described
from ._settings import checked_executor, made, number, refused, whole

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import ChannelEstimatorKeywords, NrSharedChannelKeywords, NrSrsKeywords, PuschUciKeywords, SrsEstimatorKeywords

__all__ = ["ChannelEstimator", "NoiseEstimator", "NrReferenceChannel", "NrSharedChannel", "NrSrs", "PuschUci", "SrsEstimator", "nr_interleaved_blocks",
           "nr_precoder", "nr_reference_channel", "whiten"]


def _complex(parts: Sequence[float], *shape: int) -> Any:
    return np.array(parts, np.float32).view(np.complex64).reshape(shape)


def nr_precoder(*, antenna_ports: int, layers: int, tpmi: int, transform_precoding: bool = False) -> Any:
    """W of the codebook of PUSCH, complex64 ``(antenna_ports, layers)`` (TS 38.211 section 6.3.1.5).

    With ``transform_precoding`` one layer to four ports has table 6.3.1.5-2 in place of -3.

    >>> wb.nr_precoder(antenna_ports=2, layers=1, tpmi=0)
    array([[0.70710677+0.j],
           [0.        +0.j]], dtype=complex64)
    """
    if not isinstance(transform_precoding, bool):
        raise refused("transform_precoding", transform_precoding, "True or False")
    parts = made(_core.nr_precoder, antenna_ports=antenna_ports, layers=layers, tpmi=tpmi, transform_precoding=transform_precoding)
    return _complex(parts, int(antenna_ports), int(layers))


def nr_interleaved_blocks(*, first_resource_block: int = 0, blocks: int, bundle: int = 2) -> list[int]:
    """Interleaved mapping of PDSCH: the physical resource block of each virtual one of a bandwidth part (TS 38.211 section 7.3.1.6).

    Args:
        first_resource_block: of the bandwidth part, in common resource blocks, 0 to 2199.
        blocks: of the bandwidth part, 1 to 275. Results are counted in it.
        bundle: resource blocks of a bundle, 2 or 4.

    >>> wb.nr_interleaved_blocks(blocks=8)
    [0, 1, 4, 5, 2, 3, 6, 7]
    """
    return list(made(_core.nr_interleaved_blocks, first_resource_block=first_resource_block, blocks=blocks, bundle=bundle))


@described
class NrSharedChannel(Described):
    """A slot of PUSCH or PDSCH: its resource elements, DMRS, PTRS, layers and precoder.

    With ``transform_precoding`` PUSCH is DFT-s-OFDM: :meth:`map` has the DFT in it, and :meth:`equalise` undoes it. PDSCH is mapped
    round what ``reserved`` names: the PDCCH that schedules it, SS/PBCH blocks, CORESETs (TS 38.214 section 5.1.4).

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> pusch = wb.NrSharedChannel(resource_blocks=4, layers=2, dmrs_additional_positions=1)
    >>> grid = pusch.map(np.ones((3, pusch.codeword_symbols)))
    >>> grid.shape, pusch.extract(grid).shape, pusch.dmrs_symbols
    ((3, 14, 48, 2), (3, 576, 2), [2, 11])
    >>> pusch.transport(mcs=16)["transport_bits"]
    2976
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[NrSharedChannelKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.NrSharedChannel, settings=settings)
        symbols, subcarriers, ports, data, first, second = self._work.sizes
        #: a grid's axes before its last
        self.grid_shape: tuple[int, int] = (symbols, subcarriers)
        #: resource elements of a slot with data
        self.data_elements: int = data
        #: symbols of the first codeword in a slot, and of the second, 0 where there is none
        self.codeword_symbols: int = first
        self.second_codeword_symbols: int = second
        self._table = {"grid": (COMPLEX64, (symbols, subcarriers, ports))}

    @property
    def dmrs_symbols(self) -> list[int]:
        """OFDM symbols of the slot with DMRS."""
        return list(self._work.dmrs_symbols)

    @property
    def data_places(self) -> Any:
        """The resource elements with data, int32 ``(data_elements, 2)``: OFDM symbol and subcarrier."""
        return np.stack(np.divmod(np.array(self._work.data_places, np.int32), np.int32(self.grid_shape[1])), axis=-1)

    def dmrs(self, layer: int = 0) -> Any:
        """DMRS of a layer before precoding, complex64 ``(ofdm_symbols, subcarriers)``, 0 where it has none."""
        return _complex(self._work.dmrs(whole("layer", layer, 0, 7)), *self.grid_shape)

    def ptrs(self) -> Any:
        """Phase-tracking reference signals (PTRS) of their layer before precoding, complex64 ``(ofdm_symbols, subcarriers)``, 0 elsewhere.

        TS 38.211 sections 6.4.1.2 and 7.4.1.2, with the setting ``ptrs_time_density``.

        >>> np.flatnonzero(wb.NrSharedChannel(resource_blocks=4, ptrs_time_density=4).ptrs().any(axis=1))
        array([ 0,  6, 10])
        """
        return _complex(self._work.ptrs(), *self.grid_shape)

    def transport(self, *, mcs: int, mcs_table: int = 1, codeword: int = 0) -> dict[str, Any]:
        """Keywords of :class:`NrTransportEncoder` and :class:`NrTransportDecoder` for an MCS (TS 38.214 section 5.1.3, and 6.1.4 with
        ``transform_precoding``)."""
        return dict(self._work.transport(whole("mcs_table", mcs_table, 1, 4), whole("mcs", mcs, 0, 31), whole("codeword", codeword, 0, 1)))

    @converting(symbols=as_complex, second=as_complex)
    def map(self, symbols: Array, second: Array | None = None, *, out: Any = None, strict: bool = False) -> Any:
        """Symbols of the codeword, complex64 ``(..., codeword_symbols)``, and of the second one of five to eight layers, to grids with DMRS,
        ``(..., ofdm_symbols, subcarriers, antenna_ports)``."""
        space = space_of(symbols)
        arrays = fill(space, self._table, "grid", out, batch_of("symbols", symbols, 1))
        more = None if second is None else space.take(second)
        self._work.map(space.executor(self._executor), space.take(symbols), more, arrays["grid"])
        return results(space, arrays, "grid", out)

    @converting(grid=as_complex)
    def extract(self, grid: Array, *, out: Any = None, strict: bool = False) -> Any:
        """What resource elements with data have: ``(..., ofdm_symbols, subcarriers, n)`` to ``(..., data_elements, n)``."""
        space = space_of(grid)
        batch = batch_of("grid", grid, 3)
        table = {"data": (COMPLEX64, (self.data_elements, int(grid.shape[-1])))}
        arrays = fill(space, table, "data", out, batch)
        self._work.extract(space.executor(self._executor), space.take(grid), arrays["data"])
        return results(space, arrays, "data", out)

    @converting(channel=as_channel("received", 1), received=as_complex, noise_var=as_noise("received", 1))
    def equalise(self, channel: Array, received: Array, noise_var: float | Array, *,
                 outputs: str | Sequence[str] = ("channel", "received", "noise_var"), out: Any = None, strict: bool = False) -> Any:
        """What a detector of one antenna takes, with ``transform_precoding``: an MMSE equaliser and the inverse DFT.

        Args:
            channel: H with the precoder, complex64 ``(..., data_elements, rx_antennas, 1)``.
            received: complex64 ``(..., data_elements, rx_antennas)``.
            noise_var: N0: a number, or an array that broadcasts to ``(..., data_elements)``.
            outputs: "channel" (complex64 ``(..., data_elements, 1, 1)``, 1), "received" (complex64 ``(..., data_elements, 1)``, unbiased
                symbols), "noise_var" (float32 ``(..., data_elements)``, N0 of these symbols); or several.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        A NaN makes all values of its OFDM symbol NaN. Detectors erase them.

        >>> pusch = wb.NrSharedChannel(resource_blocks=5, transform_precoding=True)
        >>> grid = pusch.map(np.ones(pusch.codeword_symbols))
        >>> h, y, n0 = pusch.equalise(2 * np.ones((780, 2, 1)), 2 * np.repeat(pusch.extract(grid), 2, axis=-1), 0.8)
        >>> h.shape, np.allclose(y, 1, atol=1e-5), round(float(n0[0]), 4)
        ((780, 1, 1), True, 0.1)
        """
        space = space_of(received)
        batch = batch_of("received", received, 1)
        _antennas_of(received)
        table = {"channel": (COMPLEX64, (1, 1)), "received": (COMPLEX64, (1,)), "noise_var": (FLOAT32, ())}
        arrays = fill(space, table, outputs, out, batch)
        every = {name: arrays[name] if name in arrays else space.empty(batch + item, dtype) for name, (dtype, item) in table.items()}
        self._work.equalise(space.executor(self._executor), space.take(channel), space.take(received), space.take(noise_var),
                            every["channel"], every["received"], every["noise_var"])
        return results(space, arrays, outputs, out)


class NrReferenceChannel(NamedTuple):
    """A fixed reference channel, as :func:`nr_reference_channel` gives it.

    >>> wb.nr_reference_channel(name="G-FR1-A4-14").mcs
    16
    """

    #: its slot
    channel: NrSharedChannel
    #: index of MCS table 1
    mcs: int


def nr_reference_channel(*, name: str) -> NrReferenceChannel:
    """A fixed reference channel of TS 38.104 annexes A.1 to A.5 and A.7, for instance "G-FR1-A4-14".

    >>> wb.nr_reference_channel(name="G-FR1-A3-8").channel.grid_shape
    (14, 300)
    """
    settings, mcs = made(_core.nr_reference_channel, name=name)
    return NrReferenceChannel(NrSharedChannel(**{k: v for k, v in settings.items() if v is not None}), mcs)


def _slot_of(channel: NrSharedChannel) -> Any:
    if not isinstance(channel, NrSharedChannel):
        raise TypeError(f"channel is a {type(channel).__name__}: expected an NrSharedChannel")
    return channel._work


_PARTS = ("data", "ack", "csi1", "csi2")


@described
class PuschUci(Described):
    """Uplink control information on PUSCH: HARQ-ACK and CSI parts 1 and 2 beside data or without (TS 38.212 sections 6.3.2.4, 6.2.7).

    HARQ-ACK begins behind the first DMRS, CSI in the first symbol without DMRS. 1 and 2 bits of HARQ-ACK puncture reserved resource
    elements, and more bits are rate matched. Parts are encoded by :class:`NrTransportEncoder` (data), :class:`ShortBlockEncoder` (up to
    11 bits) and :class:`PolarEncoder` with ``kind="uci"``. There are no frequency hopping and no CG-UCI. Without data UCI must fill the
    codeword.

    Args:
        channel: a slot of PUSCH.
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> uci = wb.PuschUci(channel=wb.NrSharedChannel(resource_blocks=20), ack_bits=2, csi1_bits=4, beta_ack=8, mcs=4)
    >>> uci.coded_bits
    {'data': 6226, 'ack': 48, 'csi1': 14, 'csi2': 0}
    """

    def __init__(self, *, channel: NrSharedChannel, executor: Executor | None = None, **settings: Unpack[PuschUciKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PuschUci, channel=_slot_of(channel), settings=settings)
        self.channel = channel
        #: bits of a codeword
        self.codeword_bits: int = self._work.codeword_bits

    @property
    def coded_bits(self) -> dict[str, int]:
        """Coded bits of each part in a slot: "data", "ack", "csi1" and "csi2"."""
        return dict(zip(_PARTS, self._work.coded_bits))

    def places(self, part: str) -> Any:
        """Where the coded bits of a part are in the codeword, int32; -1 where HARQ-ACK punctures them."""
        if not (isinstance(part, str) and part in _PARTS):
            raise refused("part", part, '"data", "ack", "csi1" or "csi2"')
        return np.array(self._work.places(_PARTS.index(part)), np.int32)

    def transport(self) -> dict[str, Any]:
        """Keywords of :class:`NrTransportEncoder` and :class:`NrTransportDecoder` for the data. :meth:`multiplex` has the scrambling."""
        return dict(self._work.transport())

    @converting(data=as_packed, ack=as_packed, csi1=as_packed, csi2=as_packed)
    def multiplex(self, data: Array | None = None, ack: Array | None = None, csi1: Array | None = None, csi2: Array | None = None, *,
                  out: Any = None, strict: bool = False) -> Any:
        """Coded bits of the parts, uint8 ``(..., coded_bits[part])`` with the placeholders 2 and 3 of short blocks, to scrambled codewords,
        uint8 ``(..., codeword_bits)``. Parts without bits are left out."""
        given = [(name, a) for name, a in zip(_PARTS, (data, ack, csi1, csi2)) if a is not None]
        if not given:
            raise refused("data", None, "an array, or one of another part")
        space = named_space(*given[0])
        arrays = fill(space, {"codeword": (UINT8, (self.codeword_bits,))}, "codeword", out, batch_of(given[0][0], given[0][1], 1))
        parts = [None if a is None else space.take(a) for a in (data, ack, csi1, csi2)]
        self._work.multiplex(space.executor(self._executor), *parts, arrays["codeword"])
        return results(space, arrays, "codeword", out)

    @converting(llr=as_real)
    def demultiplex(self, llr: Array, *, outputs: str | Sequence[str] = _PARTS, out: Any = None, strict: bool = False) -> Any:
        """LLRs of codewords, float32 ``(..., codeword_bits)``, to those of the parts before scrambling.

        Args:
            llr: LLRs ln P(0)/P(1) of a codeword's bits.
            outputs: "data", "ack", "csi1", "csi2" (float32 ``(..., coded_bits[part])``), or several. Punctured bits have LLRs of 0.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        space = space_of(llr)
        table = {name: (FLOAT32, (n,)) for name, n in self.coded_bits.items()}
        arrays = fill(space, table, outputs, out, batch_of("llr", llr, 1))
        self._work.demultiplex(space.executor(self._executor), space.take(llr), *(arrays.get(name) for name in _PARTS))
        return results(space, arrays, outputs, out)


def _antennas_of(received: Array) -> int:
    """Receive antennas of slots, or of uses."""
    antennas = int(received.shape[-1])
    if not 1 <= antennas <= 64:
        raise ValueError(f"received = shape {tuple(received.shape)} is not allowed: expected a last axis of 1 to 64 antennas")
    return antennas


@described
class ChannelEstimator(Described):
    """The channel of slots, estimated from their DMRS.

    The spacing of subcarriers and the period of OFDM symbols are those of ``channel``.

    Args:
        channel: what the slots carry.
        data_only: estimate resource elements with data alone, ``(..., data_elements, ...)``; else all, ``(..., ofdm_symbols,
            subcarriers, ...)``.
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    >>> pusch = wb.NrSharedChannel(resource_blocks=4)
    >>> estimate = wb.ChannelEstimator(channel=pusch)
    >>> received = 2j * pusch.map(np.ones((5, pusch.codeword_symbols)))
    >>> channel, noise_var = estimate(received, 0.1)
    >>> channel.shape, np.allclose(channel, 2j), round(float(noise_var[0, 0]), 3)
    ((5, 624, 1, 1), True, 0.125)
    """

    def __init__(self, *, channel: NrSharedChannel, data_only: bool = True, executor: Executor | None = None,
                 **settings: Unpack[ChannelEstimatorKeywords]):
        if not isinstance(data_only, bool):
            raise refused("data_only", data_only, "True or False")
        self._slot = _slot_of(channel)
        self._executor = checked_executor(executor)
        self._work = made(_core.ChannelEstimator, channel=self._slot, data_only=data_only, settings=settings)
        self.channel = channel
        self.data_only = data_only
        self._places = (channel.data_elements,) if data_only else channel.grid_shape
        self._layers: int = self._slot.settings["layers"]

    def error_variance(self, noise_var: float, *, layer: int = 0) -> float:
        """Mean error variance of a layer's channel at some N0.

        lmmse: in the channel that its filters are made for. ls: the noise's part alone. The interpolation error is
        measured in each slot and included in the output "noise_var".
        """
        return float(self._work.error_variance(whole("layer", layer, 0, self._layers - 1), number("noise_var", noise_var)))

    @converting(received=as_complex, noise_var=as_noise("received", 3))
    def __call__(self, received: Array, noise_var: float | Array, *, outputs: str | Sequence[str] = ("channel", "noise_var"),
                 out: Any = None, strict: bool = False) -> Any:
        """Estimates H.

        Args:
            received: complex64 ``(..., ofdm_symbols, subcarriers, rx_antennas)``, 1..64 antennas.
            noise_var: N0: a number, or an array that broadcasts to the batch axes of ``received``, one for each slot.
            outputs: "channel" (complex64 ``(..., rx_antennas, layers)`` of every resource element), "noise_var" (float32, N0 and the
                error variances of all layers, interpolation included: what a detector should take for N0); or both.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        space = space_of(received)
        batch = batch_of("received", received, 3)
        table = {"channel": (COMPLEX64, self._places + (_antennas_of(received), self._layers)), "noise_var": (FLOAT32, self._places)}
        arrays = fill(space, table, outputs, out, batch)
        self._work.run(space.executor(self._executor), self._slot, space.take(received), space.take(noise_var), arrays.get("channel"),
                       arrays.get("noise_var"))
        return results(space, arrays, outputs, out)


@described
class NrSrs(Described):
    """Sounding reference signals (SRS) of a terminal in a slot of 5G NR (3GPP TS 38.211 section 6.4.1.4).

    A base station estimates the channels of the terminal's ports from them: :class:`SrsEstimator`.

    Args:
        {settings}
        executor: where grids in host memory are filled; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name, and for a band outside of the carrier.

    >>> srs = wb.NrSrs(resource_blocks=24, ports=2, comb=4, bandwidth_config=7, bandwidth=1, frequency_position=3)
    >>> srs.map(slots=3).shape, srs.length, srs.first_subcarrier()
    ((3, 14, 288, 2), 36, 144)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[NrSrsKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.NrSrs, settings=settings)
        #: a grid's axes before its last
        self.grid_shape: tuple[int, int] = tuple(self._work.grid_shape)
        self._table = {"grid": (COMPLEX64, (*self.grid_shape, self._work.settings["ports"]))}

    @property
    def length(self) -> int:
        """Values of an OFDM symbol and port."""
        return self._work.length

    @property
    def bands(self) -> int:
        """Sounded bands of the slot, one after the other: ``symbols / repetition`` with frequency hopping, else 1."""
        return self._work.bands

    @property
    def band_subcarriers(self) -> int:
        """Subcarriers of a band, sounded or between sounded ones."""
        return self._work.band_subcarriers

    def band_symbols(self, band: int = 0) -> list[int]:
        """OFDM symbols of a band."""
        return list(self._work.band_symbols(whole("band", band, 0, self.bands - 1)))

    def first_subcarrier(self, band: int = 0) -> int:
        """The lowest subcarrier of a band, in the carrier."""
        return self._work.first_subcarrier(whole("band", band, 0, self.bands - 1))

    def map(self, *, slots: int, out: Any = None) -> Any:
        """Grids of slots with this SRS alone: complex64 ``(slots, ofdm_symbols, subcarriers, ports)``. Ports have amplitude
        ``1 / sqrt(ports)``."""
        space = NUMPY if out is None else named_space("out", out)
        arrays = fill(space, self._table, "grid", out, (whole("slots", slots, 0, 2 ** 31 - 1),))
        self._work.map(space.executor(self._executor), arrays["grid"])
        return results(space, arrays, "grid", out)


@described
class SrsEstimator(ChannelEstimator):
    """The channels of a terminal's ports, estimated from its SRS at each subcarrier of a band, in the band's first OFDM symbol.

    Calls are those of :class:`ChannelEstimator`; "channel" is complex64 ``(..., band_subcarriers, rx_antennas, ports)``, as
    :class:`MassiveDownlink` takes it.

    Args:
        srs: what the terminal sends.
        band: of ``srs.bands``.
        shifts: equally spaced cyclic shifts that share the comb, of ports and other terminals: 1, 2 or 4. 0: those of the ports. One
            estimate is the mean over this many neighbours of the comb, and the channel must be equal for them (docs/srs.md).
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> srs = wb.NrSrs(resource_blocks=24, ports=4, bandwidth_config=6)
    >>> h = np.arange(8).reshape(2, 4) + 1j  # two antennas, four ports
    >>> found = wb.SrsEstimator(srs=srs)(srs.map(slots=1) @ h.T, 0.01, outputs="channel")
    >>> found.shape, np.allclose(found, h, atol=1e-4)
    ((1, 288, 2, 4), True)
    """

    def __init__(self, *, srs: NrSrs, band: int = 0, shifts: int = 0, executor: Executor | None = None, **settings: Unpack[SrsEstimatorKeywords]):
        if not isinstance(srs, NrSrs):
            raise TypeError(f"srs is a {type(srs).__name__}: expected an NrSrs")
        self._slot = srs._work
        self._executor = checked_executor(executor)
        self._work = made(_core.ChannelEstimator, srs=self._slot, band=whole("band", band, 0, srs.bands - 1),
                          shifts=whole("shifts", shifts, 0, 4), settings=settings)
        self.srs = srs
        self.band = band
        self.shifts = shifts
        self._places = (srs.band_subcarriers,)
        self._layers = self._slot.settings["ports"]


@described
class NoiseEstimator(Described):
    """Noise and interference of slots: measured in resource elements of DMRS without a layer. If there are none, filters on neighbouring
    pilots reject a channel with delays from -0.15 to 1.5 cyclic prefixes, and the residual is measured. With few resource blocks a part
    of the channel counts as noise too: see :attr:`leak`.

    Args:
        channel: what the slots carry.
        executor: where arrays in host memory are processed; None for all cores.

    >>> pusch = wb.NrSharedChannel(resource_blocks=25)
    >>> received = wb.awgn(pusch.map(np.ones((100, pusch.codeword_symbols))), noise_var=0.5, seed=1)
    >>> noise_var = wb.NoiseEstimator(channel=pusch)(received, outputs="noise_var")
    >>> abs(float(noise_var.mean()) - 0.5) < 0.02
    True
    """

    def __init__(self, *, channel: NrSharedChannel, executor: Executor | None = None):
        self._slot = _slot_of(channel)
        self._executor = checked_executor(executor)
        self._work = made(_core.NoiseEstimator, channel=self._slot)
        self.channel = channel

    @property
    def leak(self) -> float:
        """Mean share of the channel's power, at delays up to 1.5 cyclic prefixes, that counts as noise. At an SNR above 1 / leak
        the estimate is too high. It is 0 if a DMRS element is empty. Else it is below 1e-6 from 4 resource blocks on with DMRS of type 1,
        and from 9 on with type 2. The worst value is 0.09.
        """
        return float(self._work.leak)

    @converting(received=as_complex)
    def __call__(self, received: Array, *, outputs: str | Sequence[str] = ("covariance", "noise_var"), out: Any = None,
                 strict: bool = False) -> Any:
        """Estimates of ``received``, complex64 ``(..., ofdm_symbols, subcarriers, rx_antennas)``: "covariance" (complex64 ``(...,
        rx_antennas, rx_antennas)``) and "noise_var", the mean of its diagonal (float32 ``(...)``)."""
        space = space_of(received)
        batch, rx = batch_of("received", received, 3), _antennas_of(received)
        arrays = fill(space, {"covariance": (COMPLEX64, (rx, rx)), "noise_var": (FLOAT32, ())}, outputs, out, batch)
        self._work.run(space.executor(self._executor), self._slot, space.take(received), arrays.get("covariance"),
                       arrays.get("noise_var"))
        return results(space, arrays, outputs, out)


def _complex_numbers(name: str, values: Any) -> Any:
    """The values as complex64 in C order."""
    try:
        array = np.asarray(values)
    except Exception:
        raise refused(name, values, "an array of numbers") from None
    if array.dtype.kind not in "biufc":
        raise refused(name, values, "an array of numbers")
    with np.errstate(over="ignore"):  # what becomes infinite is an erasure
        return np.ascontiguousarray(array, np.complex64)


_whitener: Any = None


def whiten(covariance: Array, channel: Array, received: Array, *, added: float = 0.0, outputs: str | Sequence[str] = ("channel", "received"),
           executor: Executor | None = None) -> Any:
    """Makes the noise of covariance R = L L^H white: L^-1 y and L^-1 H, behind which N0 is 1 for any detector (MMSE-IRC with MMSE).

    Args:
        covariance: complex64 ``(..., rx_antennas, rx_antennas)``, one for each slot.
        channel: complex64 ``(..., uses, rx_antennas, streams)``.
        received: complex64 ``(..., uses, rx_antennas)``.
        added: is added to the diagonal of R: error variances of H.
        outputs: "channel" (complex64, L^-1 H), "received" (complex64, L^-1 y), "status" (uint8 ``(..., uses)``, 1 where a use is erased);
            or several names.
        executor: where arrays in host memory are processed; None for all cores.

    A use is erased, with zeros for y and H, if the R of its slot is not positive definite. It is also erased if a result is not
    finite. Detectors erase such a use too. R does not count as positive definite if it has NaN or Inf in its lower triangle. The
    same holds if a squared pivot of L is at most ``rx_antennas * 2**-23`` of its diagonal entry: float32 does not tell such a pivot
    from 0. A covariance of fewer samples than antennas is singular; ``added`` regularises it.

    >>> h, y = wb.whiten(4 * np.eye(2), np.ones((5, 2, 1)), np.ones((5, 2)))
    >>> y[0], h[0, :, 0]
    (array([0.5+0.j, 0.5+0.j], dtype=complex64), array([0.5+0.j, 0.5+0.j], dtype=complex64))
    >>> wb.whiten(np.ones((2, 2)), np.ones((5, 2, 1)), np.ones((5, 2)), outputs="status")
    array([1, 1, 1, 1, 1], dtype=uint8)
    """
    global _whitener
    if _whitener is None:
        _whitener = _core.Whitener()
    space = NUMPY if isinstance(received, (list, tuple)) else named_space("received", received)
    if space is NUMPY:
        covariance, received = _complex_numbers("covariance", covariance), _complex_numbers("received", received)
        channel = _complex_numbers("channel", channel)
    batch = batch_of("received", received, 1)
    batch_of("channel", channel, 2)
    table = {"received": (COMPLEX64, (_antennas_of(received),)), "channel": (COMPLEX64, tuple(channel.shape[-2:])), "status": (UINT8, ())}
    arrays = fill(space, table, outputs, None, batch)
    both = {name: arrays[name] if name in arrays else space.empty(batch + item, dtype) for name, (dtype, item) in table.items()}
    _whitener.run(space.executor(checked_executor(executor)), space.take(covariance), number("added", added), space.take(channel),
                  space.take(received), both["channel"], both["received"], both["status"])
    return results(space, arrays, outputs, None)
