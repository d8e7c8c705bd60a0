#!/usr/bin/env python3
"""Writes nway_4x4_16qam.csv: 20 uses of a 4x4 channel, and the N-way detector's LLRs of them.

A line: 16 entries of H row after row (real and imaginary part of each), 4 of y, N0, 16 LLRs; as decimals that give back every float32.
"""
import pathlib

import numpy as np

import warpband as wb

USES = 20
bits = np.random.default_rng(1).integers(0, 2, (USES, 16), dtype=np.uint8)
received, channel = wb.mimo_rayleigh(wb.QamMapper(qam=16)(bits), rx_antennas=4, seed=1)
noise_var = np.linspace(0.02, 0.4, USES, dtype=np.float32)
received = np.stack([wb.awgn(y, noise_var=float(n0), seed=i) for i, (y, n0) in enumerate(zip(received, noise_var))])
llr = wb.NWay(streams=4, rx_antennas=4, qam=16, ways=4)(channel, received, noise_var)
parts = [np.ascontiguousarray(a).reshape(USES, -1).view(np.float32) for a in (channel, received, noise_var[:, None], llr)]
lines = [",".join(f"{value:.9g}" for value in row) for row in np.concatenate(parts, axis=1)]
text = "# H real and imaginary (32), y (8), N0, LLRs (16); by make.py\n" + "\n".join(lines) + "\n"
(pathlib.Path(__file__).parent / "nway_4x4_16qam.csv").write_text(text)
