"""Channels: noise, flat Rayleigh fading with one antenna or several, tapped delay lines on an OFDM grid.

Random numbers follow from ``seed``, ``point`` and the number of an item alone, of which ``first`` is that of the first: not from
the batch, the threads or the device. A second batch goes on with ``first`` = the items of the first one.
"""
from __future__ import annotations

import math
from typing import Any, Sequence

from . import _core
from ._arrays import COMPLEX64, NUMPY, Array, Executor, batch_of, fill, results, space_of
from ._settings import checked_executor, listed, made, number, random_range, whole

__all__ = ["TdlChannel", "awgn", "mimo_rayleigh", "rayleigh", "tdl_profiles"]


def awgn(sent: Array, *, noise_var: float, seed: int, first: int = 0, point: int = 0, out: Any = None,
         executor: Executor | None = None) -> Any:
    """Adds noise CN(0, noise_var) to complex64 of any shape. The items are the numbers; ``out`` may be ``sent`` itself."""
    space = space_of(sent)
    arrays = fill(space, {"out": (COMPLEX64, ())}, "out", out, tuple(sent.shape))
    _core.awgn(space.executor(checked_executor(executor)), space.take(sent), arrays["out"], number("noise_var", noise_var),
               random_range(seed, first, point))
    return results(space, arrays, "out", out)


def rayleigh(sent: Array, *, seed: int, block: int = 1, first: int = 0, point: int = 0, out: Any = None,
             executor: Executor | None = None) -> Any:
    """Flat Rayleigh fading: ``(h * sent, h)`` with ``h ~ CN(0, 1)``, both of the shape of ``sent``, complex64.

    ``block`` consecutive numbers share an h; the items are the blocks.
    """
    space = space_of(sent)
    wanted = ("out", "gain")
    arrays = fill(space, {"out": (COMPLEX64, ()), "gain": (COMPLEX64, ())}, wanted, out, tuple(sent.shape))
    block = whole("block", block)
    if math.prod(sent.shape) % block:
        raise ValueError(f"sent = shape {tuple(sent.shape)} is not allowed: expected a multiple of block = {block} numbers")
    _core.rayleigh(space.executor(checked_executor(executor)), space.take(sent), arrays["out"], arrays["gain"], block,
                   random_range(seed, first, point))
    return results(space, arrays, wanted, out)


def mimo_rayleigh(sent: Array, *, rx_antennas: int, seed: int, uses_per_channel: int = 1, first: int = 0, point: int = 0,
                  executor: Executor | None = None) -> Any:
    """Flat Rayleigh fading between several antennas: ``(received, channel)``.

    Args:
        sent: complex64 ``(..., streams)``; streams 1..64 (detectors take 8, massive MIMO 64).
        rx_antennas: 1..512 (detectors take 16, massive MIMO 512).
        uses_per_channel: 1, or the extent of the last batch axis, all uses of which then share an H.
        seed, first, point: which random numbers; the items are the H.

    Returns:
        received, complex64 ``(..., rx_antennas)``, and channel, complex64 ``(..., rx_antennas, streams)``, without the last
        batch axis where its uses share an H. Detectors take both as they are.
    """
    space = space_of(sent)
    batch, streams = batch_of("sent", sent, 1), sent.shape[-1]
    if not 1 <= streams <= 64:
        raise ValueError(f"sent = shape {tuple(sent.shape)} is not allowed: expected a last axis of 1 to 64 streams")
    rx_antennas = whole("rx_antennas", rx_antennas, 1, 512)
    uses_per_channel = whole("uses_per_channel", uses_per_channel, 1, 2 ** 24)
    channels = batch
    if uses_per_channel != 1:
        if not batch or batch[-1] != uses_per_channel:
            raise ValueError(f"uses_per_channel = {uses_per_channel} is not allowed: expected 1, or the extent of the last batch "
                             f"axis of {tuple(sent.shape)}")
        channels = batch[:-1]
    received = space.empty(batch + (rx_antennas,), COMPLEX64)
    channel = space.empty(channels + (rx_antennas, streams), COMPLEX64)
    _core.mimo_rayleigh(space.executor(checked_executor(executor)), space.take(sent), received, channel, uses_per_channel,
                        random_range(seed, first, point))
    return space.give(received), space.give(channel)


def tdl_profiles() -> list[str]:
    """The names of the profiles of :class:`TdlChannel`."""
    return _core.tdl_profiles()


class TdlChannel:
    """A tapped delay line on blocks of OFDM resource elements (docs/tdl.md).

    Args:
        profile: a name of :func:`tdl_profiles`: "epa", "eva", "etu", "tdl-a" to "tdl-e", "tdla30", ...; None is "epa".
        delay_spread_ns: of "tdl-a" to "tdl-e", which take 100 for None.
        delays_ns, powers_db: one's own taps, instead of ``profile`` and ``delay_spread_ns``.
        rician_k_db: of one's own first tap; None is Rayleigh.
        doppler_hz: the largest Doppler shift.
        subcarriers, symbols: the grid of a block.
        spacing_hz, cyclic_prefix_us, symbol_period_us: of OFDM; a period of 0 is 1 / spacing and the prefix.
        sinusoids: that a tap is made of, 8..256.
        streams, rx_antennas: 1..8, 1..16.
        executor: where arrays in host memory are processed; None for all cores.
    """

    def __init__(self, *, profile: str | None = None, delay_spread_ns: float | None = None, delays_ns: Sequence[float] = (),
                 powers_db: Sequence[float] = (), rician_k_db: float | None = None, doppler_hz: float = 0.0,
                 subcarriers: int = 300, symbols: int = 14, spacing_hz: float = 15000.0, cyclic_prefix_us: float = 4.6875,
                 symbol_period_us: float = 0.0, sinusoids: int = 32, streams: int = 1, rx_antennas: int = 1,
                 executor: Executor | None = None):
        self._executor = checked_executor(executor)
        self._channel = made(
            _core.TdlChannel, profile=profile, delay_spread_ns=delay_spread_ns, delays_ns=listed("delays_ns", delays_ns),
            powers_db=listed("powers_db", powers_db),
            rician_k_db=rician_k_db, subcarriers=subcarriers, symbols=symbols, spacing_hz=spacing_hz,
            cyclic_prefix_us=cyclic_prefix_us, symbol_period_us=symbol_period_us, doppler_hz=doppler_hz,
            sinusoids=sinusoids, streams=streams, rx_antennas=rx_antennas)
        self.subcarriers, self.symbols, self.streams, self.rx_antennas = subcarriers, symbols, streams, rx_antennas
        #: taps: delays, and powers as fractions of their sum
        self.delays_ns: list[float] = self._channel.delays_ns
        self.powers: list[float] = self._channel.powers

    def response(self, *, blocks: int, seed: int, first: int = 0, point: int = 0) -> Any:
        """H of blocks, a NumPy array of complex64 ``(blocks, symbols, subcarriers, rx_antennas, streams)``."""
        blocks = whole("blocks", blocks, 0, 2 ** 31 - 1)
        channel = NUMPY.empty((blocks, self.symbols, self.subcarriers, self.rx_antennas, self.streams), COMPLEX64)
        self._channel.response(NUMPY.executor(self._executor), channel, random_range(seed, first, point))
        return channel

    def __call__(self, sent: Array, *, seed: int, first: int = 0, point: int = 0) -> Any:
        """Sends complex64 ``(..., symbols, subcarriers, streams)``: ``(received, channel)``.

        They are complex64 ``(..., symbols, subcarriers, rx_antennas)`` and, behind the same axes, ``rx_antennas, streams``.
        """
        space = space_of(sent)
        shape = tuple(sent.shape)
        if shape[-3:] != (self.symbols, self.subcarriers, self.streams):
            raise ValueError(f"sent = shape {shape} is not allowed: expected (..., {self.symbols}, {self.subcarriers}, "
                             f"{self.streams})")
        received = space.empty(shape[:-1] + (self.rx_antennas,), COMPLEX64)
        channel = space.empty(shape[:-1] + (self.rx_antennas, self.streams), COMPLEX64)
        self._channel.apply(space.executor(self._executor), space.take(sent), received, channel,
                            random_range(seed, first, point))
        return space.give(received), space.give(channel)
