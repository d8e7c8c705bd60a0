"""Fits beta of the effective SINR to links over fading drops: ``python -m warpband.calibrate --mcs-table 1 --mcs 4 --size 500``.

A drop is one realisation of a tapped (TDL) or clustered (CDL) delay line that stays fixed for all its blocks, with a known channel. For each
drop the Es/N0 of a block error rate of 0.1 is simulated. A block is one LDPC code block of 5G NR without CRC, rate
matched to ceil(size / rate / Qm) Qm bits. Symbol s is on frequency s mod F, and the demapper is exact. The same decoder in white noise gives the SINR that should
come out. beta minimises the sum of squares of the differences in dB; drops that the fit did not see judge it.
"""
from __future__ import annotations

import argparse
import json
import math
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from ._settings import refused, whole
from .channel import CdlChannel, TdlChannel, cdl_profiles, tdl_profiles
from .effective import effective_sinr
from .ldpc import LdpcDecoder, LdpcEncoder
from .modem import Demapper, QamMapper
from .nr import NrRateMatcher, nr_base_graph, nr_mcs

__all__ = ["Link", "drops", "fit", "main"]

METHODS = ("eesm", "miesm", "rbir")


class Link:
    """One code block of an MCS over elements of fixed gains.

    Args:
        mcs_table, mcs: as of :func:`warpband.nr_mcs`.
        size: information bits of the block.
        decoder: settings of :class:`warpband.LdpcDecoder`; None: sum-product, flooding, 20 iterations.

    >>> from warpband.calibrate import Link
    >>> link = Link(1, 4, 500)
    >>> link.qam, link.sent_bits
    (4, 1664)
    >>> link.errors([1.0], 3.0, 100, seed=1), link.errors([1.0], -6.0, 100, seed=1)
    (0, 100)
    """

    def __init__(self, mcs_table: int, mcs: int, size: int, decoder: Mapping[str, Any] | None = None):
        scheme = nr_mcs(table=mcs_table, index=mcs)
        rate, order = scheme.rate_x1024 / 1024, scheme.modulation_order
        self.mcs_table, self.mcs, self.size = mcs_table, mcs, whole("size", size, 24, 8448)
        self.qam, self.rate = 2 ** order, rate
        self.base_graph = nr_base_graph(transport_bits=size, code_rate=rate)
        self.sent_bits = math.ceil(size / rate / order) * order
        self.decoder = {"algorithm": "sum-product", "schedule": "flooding", "iterations": 20} if decoder is None else dict(decoder)
        self._match = NrRateMatcher(base_graph=self.base_graph, k=size, sent_bits=self.sent_bits, modulation_order=order)
        self._encode, self._decode = LdpcEncoder(code=self._match.code), LdpcDecoder(code=self._match.code, **self.decoder)
        self._map, self._demap = QamMapper(qam=self.qam), Demapper(qam=self.qam, algorithm="exact")

    def wrong(self, gains: Any, snr_db: float, blocks: int, *, seed: int) -> np.ndarray:
        """Whether each of so many blocks has a wrong bit at Es/N0 = snr_db, bool ``(blocks,)``.

        ``gains``: ``|h|**2`` of the frequencies, ``(frequencies,)`` or ``(blocks, frequencies)``.
        """
        rng = np.random.default_rng(seed)
        bits = np.zeros((blocks, self._match.code.k), np.uint8)  # behind the block filler bits of 0
        bits[:, :self.size] = rng.integers(0, 2, (blocks, self.size), dtype=np.uint8)
        sent = self._map(self._match(self._encode(bits)))
        rows = np.atleast_2d(np.asarray(gains, float))
        if rows.ndim != 2 or len(rows) not in (1, blocks):
            raise ValueError(f"gains = shape {np.shape(gains)} is not allowed: expected (frequencies,) or ({blocks}, frequencies)")
        symbols = np.arange(sent.shape[-1]) % rows.shape[-1]
        h = np.broadcast_to(np.sqrt(rows[:, symbols]).astype(np.complex64), sent.shape)
        n0 = 10 ** (-snr_db / 10)
        noise = rng.normal(0, math.sqrt(n0 / 2), (*sent.shape, 2)).astype(np.float32).view(np.complex64)[..., 0]
        llr = self._demap(h * sent + noise, n0, channel=h)
        decided = self._decode(self._match.combine(llr))
        return (decided[:, :self.size] != bits[:, :self.size]).any(-1)

    def errors(self, gains: Any, snr_db: float, blocks: int, *, seed: int) -> int:
        """How many of these blocks are wrong."""
        return int(self.wrong(gains, snr_db, blocks, seed=seed).sum())

    def snr_db(self, gains: Any, *, start: float, target: float = 0.1, blocks: int = 400, seed: int = 1, width: float = 0.25) -> float:
        """Es/N0 in dB of a block error rate, by steps of 0.5 dB from ``start`` to a bracket, halved down to ``width`` dB.

        Between its ends log odds are linear in dB. With 400 blocks an end deviates by about 0.02 dB.
        """
        if not 0.5 < target * (blocks + 1) < blocks + 0.5:
            raise refused("blocks", blocks, f"enough to count an error rate of {target}")
        points: dict[float, float] = {}

        def odds(snr: float) -> float:
            if not -60 <= snr <= 100:
                raise RuntimeError(f"gains: no block error rate of {target} between -60 and 100 dB")
            if snr not in points:
                p = (self.errors(gains, snr, blocks, seed=seed + len(points)) + 0.5) / (blocks + 1)
                points[snr] = math.log(p / (1 - p))
            return points[snr]

        wanted, low = math.log(target / (1 - target)), round(2 * start) / 2
        while odds(low) < wanted:
            low -= 0.5
        high = low + 0.5
        while odds(high) >= wanted:
            low, high = high, high + 0.5
        while high - low > width:
            middle = (low + high) / 2
            low, high = (low, middle) if odds(middle) < wanted else (middle, high)
        return low + (high - low) * (points[low] - wanted) / (points[low] - points[high])


def drops(profile: str, count: int, *, seed: int, delay_spread_ns: float = 100.0, frequencies: int = 96, spacing_hz: float = 180e3) -> np.ndarray:
    """``|h|**2`` of drops of a TDL or CDL profile, ``(count, frequencies)``; its mean over drops is 1.

    >>> from warpband.calibrate import drops
    >>> drops("tdl-c", 5, seed=1).shape, drops("cdl-a", 2, seed=1).shape
    ((5, 96), (2, 96))
    """
    spread = {} if profile in ("epa", "eva", "etu") else {"delay_spread_ns": delay_spread_ns}
    if profile in tdl_profiles():
        # A wide grid with a cyclic prefix of one subcarrier's time: its step is 1/12 of `spacing_hz`, every 12th subcarrier is kept.
        channel = TdlChannel(profile=profile, subcarriers=12 * frequencies, symbols=1, spacing_hz=spacing_hz / 12,
                             cyclic_prefix_us=12e6 / spacing_hz, **spread)
        h = channel.response(blocks=count, seed=seed)[:, 0, ::12, 0, 0]
    elif profile in cdl_profiles():
        channel = CdlChannel(antennas=1, users=1, profile=profile, subcarriers=frequencies, spacing_hz=spacing_hz, **spread)
        h = channel.response(drops=count, seed=seed)[:, 0, :, 0, 0]
    else:
        raise refused("profile", profile, f"one of {tdl_profiles() + cdl_profiles()}")
    return np.abs(h.astype(complex)) ** 2


def _differences(method: str, qam: int, sinrs: np.ndarray, wanted: float, beta: float) -> np.ndarray:
    return 10 * np.log10(effective_sinr(sinrs, method=method, qam=qam, beta=beta).astype(float)) - wanted


def _rms(x: np.ndarray) -> float:
    return float(np.sqrt(np.mean(x ** 2)))


def fit(method: str, qam: int, sinrs: Any, wanted_db: float) -> tuple[float, float]:
    """(beta, RMSE in dB) with the least squares of effective SINR minus ``wanted_db``; ``sinrs``: ``(drops, frequencies)``, linear.

    >>> from warpband.calibrate import fit
    >>> beta, rmse = fit("eesm", 4, [[1.0, 1.0], [0.5, 2.8]], 0.0)
    >>> 0.1 < beta < 10, rmse < 0.05
    (True, True)
    """
    rows = np.asarray(sinrs, float)
    cost: Callable[[float], float] = lambda u: _rms(_differences(method, qam, rows, wanted_db, 10 ** u))
    grid = np.linspace(-2, 3, 101)
    best = int(np.argmin([cost(u) for u in grid]))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, 100)]
    for _ in range(25):  # thirds of the interval
        a, b = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, b) if cost(a) < cost(b) else (a, high)
    beta = float(10 ** ((low + high) / 2))
    return beta, cost(math.log10(beta))


def _simulated(link: Link, gains: np.ndarray, flat_db: float, blocks: int, seed: int) -> np.ndarray:
    """SINRs of drops at an error rate of 0.1, linear."""
    rows = []
    for n, g in enumerate(gains):
        shape = effective_sinr(g, qam=link.qam)  # at 0 dB: where to begin
        start = flat_db - 10 * math.log10(max(float(shape), 1e-3))
        rows.append(g * 10 ** (link.snr_db(g, start=start, blocks=blocks, seed=seed + 1000 * n) / 10))
    return np.array(rows)


def calibrate(link: Link, seen: np.ndarray, held_out: np.ndarray, *, blocks: int = 400, seed: int = 1) -> dict[str, Any]:
    """beta of each method from the gains of drops, and the errors on these and on drops that were held out."""
    flat = link.snr_db([1.0], start=10 * math.log10(2 ** (link.rate * math.log2(link.qam)) - 1) + 1, blocks=4 * blocks, seed=seed, width=0.125)
    fitted, judged = (_simulated(link, g, flat, blocks, seed + n) for n, g in ((1, seen), (500, held_out)))
    row: dict[str, Any] = {"mcs_table": link.mcs_table, "mcs": link.mcs, "size": link.size, "flat_snr_db": flat, "methods": {}}
    for method in METHODS:
        beta, rmse = fit(method, link.qam, fitted, flat)
        row["methods"][method] = {"beta": beta, "fit_rmse_db": rmse,
                                  "held_out_rmse_db": _rms(_differences(method, link.qam, judged, flat, beta))}
        if method != "eesm":
            row["methods"][method]["held_out_rmse_db_beta_1"] = _rms(_differences(method, link.qam, judged, flat, 1.0))
    return row


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m warpband.calibrate", description=__doc__.partition("\n")[0])
    parser.add_argument("--mcs-table", type=int, default=1, help="1 to 4, of TS 38.214 (default 1)")
    parser.add_argument("--mcs", default="4", help="indices, with commas (default 4)")
    parser.add_argument("--size", type=int, default=500, help="information bits of a block, 24 to 8448 (default 500)")
    parser.add_argument("--profiles", default="tdl-a:100,tdl-c:300,cdl-c:100", help="profiles with delay spreads in ns (default %(default)s)")
    parser.add_argument("--drops", type=int, default=8, help="drops of each profile for the fit (default 8)")
    parser.add_argument("--held-out", type=int, default=4, help="further drops of each profile, which judge it (default 4)")
    parser.add_argument("--blocks", type=int, default=400, help="blocks at each SNR (default 400)")
    parser.add_argument("--seed", type=int, default=1, help="of drops and noise (default 1)")
    parser.add_argument("--algorithm", default="sum-product", help="of the LDPC decoder (default sum-product)")
    parser.add_argument("--schedule", default="flooding", help="layered or flooding (default flooding)")
    parser.add_argument("--iterations", type=int, default=20, help="of the LDPC decoder (default 20)")
    parser.add_argument("-o", "--output", help="a JSON file for the betas and errors")
    options = parser.parse_args(arguments)
    if options.drops < 1 or options.held_out < 1:
        parser.error("--drops and --held-out: expected 1 or more")
    parts = []
    for entry in options.profiles.split(","):
        profile, _, spread = entry.partition(":")
        parts.append(drops(profile, options.drops + options.held_out, seed=options.seed, delay_spread_ns=float(spread or 100)))
    seen = np.concatenate([p[:options.drops] for p in parts])
    held_out = np.concatenate([p[options.drops:] for p in parts])
    decoder = {"algorithm": options.algorithm, "schedule": options.schedule, "iterations": options.iterations}
    rows = []
    print("table mcs  size  flat dB  method   beta     fit RMSE  held-out RMSE (beta 1)")
    for mcs in options.mcs.split(","):
        row = calibrate(Link(options.mcs_table, int(mcs), options.size, decoder), seen, held_out, blocks=options.blocks, seed=options.seed)
        rows.append(row)
        for method, found in row["methods"].items():
            plain = found.get("held_out_rmse_db_beta_1")
            print(f"{row['mcs_table']:5} {row['mcs']:3} {row['size']:5}  {row['flat_snr_db']:7.2f}  {method:6}  {found['beta']:8.3f}  "
                  f"{found['fit_rmse_db']:5.3f} dB  {found['held_out_rmse_db']:5.3f} dB" + (f" ({plain:.3f} dB)" if plain is not None else ""),
                  flush=True)
    if options.output:
        with open(options.output, "w", encoding="utf-8") as f:
            json.dump({"target_bler": 0.1, "decoder": decoder, "profiles": options.profiles, "drops": len(seen), "held_out": len(held_out),
                       "rows": rows}, f, indent=1)


if __name__ == "__main__":
    main()
