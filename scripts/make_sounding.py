#!/usr/bin/env python3
"""Writes a file as RENEW's sounder does (docs/files.md), of channels that are made here: it stands in for a measured one,
so that figures 3.4 and 3.5 of li-thesis (docs/li-thesis.md) can be drawn without a campaign's traces.

usage: make_sounding.py FILE ANTENNAS USERS [--frames 400] [--seed 1]

An array of half a wavelength in rows of 4, as RENEW's stacks are. In every frame users are in new directions, uniform within +- 60
degrees. Each has a path in line of sight with half of the power, and 12 scatterers within +- 30 degrees of it, up to 500 ns late.
256-point OFDM at 20 MHz, the 128 subcarriers in its middle, two repetitions of a BPSK pilot, noise 30 dB below each pilot, 16-bit
samples. Needs h5py and NumPy.
"""
import argparse

import h5py
import numpy

FFT, PREFIX, BEFORE, AFTER, REPETITIONS, RATE, SUBCARRIERS, SCATTERERS = 256, 32, 80, 48, 2, 20e6, 128, 12
SLOT = BEFORE + REPETITIONS * (FFT + PREFIX) + AFTER


def channels(random, antennas, users):
    """[users, antennas, subcarriers]."""
    column, row = numpy.divmod(numpy.arange(antennas), 4)
    paths = SCATTERERS + 1
    azimuth = random.uniform(-60, 60, (users, 1)) + numpy.hstack([numpy.zeros((users, 1)), random.uniform(-30, 30, (users, SCATTERERS))])
    elevation = numpy.hstack([random.uniform(-5, 5, (users, 1)), random.uniform(-15, 15, (users, SCATTERERS))])
    azimuth, elevation = numpy.radians(azimuth), numpy.radians(elevation)
    delay = numpy.hstack([numpy.zeros((users, 1)), random.uniform(0, 500e-9, (users, SCATTERERS))])
    power = numpy.hstack([numpy.full((users, 1), 0.5), random.exponential(0.5 / SCATTERERS, (users, SCATTERERS))])
    weight = numpy.sqrt(power) * numpy.exp(2j * numpy.pi * random.uniform(size=(users, paths)))
    steps = column * (numpy.sin(azimuth) * numpy.cos(elevation))[..., None] + row * numpy.sin(elevation)[..., None]
    frequency = (numpy.arange(SUBCARRIERS) - SUBCARRIERS // 2) * RATE / FFT
    turns = numpy.exp(-2j * numpy.pi * delay[..., None] * frequency)
    return numpy.einsum("up,upb,upk->ubk", weight, numpy.exp(1j * numpy.pi * steps), turns)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("antennas", type=int)
    parser.add_argument("users", type=int)
    parser.add_argument("--frames", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    random = numpy.random.default_rng(options.seed)
    pilot = numpy.zeros(FFT)
    used = slice(FFT // 2 - SUBCARRIERS // 2, FFT // 2 + SUBCARRIERS // 2)  # from the lowest frequency on
    pilot[used] = random.choice([-1.0, 1.0], SUBCARRIERS)
    amplitude = 6000 / numpy.sqrt(SUBCARRIERS)  # a sample's root mean square of 32768
    with h5py.File(options.file, "w") as file:
        group = file.create_group("Data")
        samples = group.create_dataset("Pilot_Samples", (options.frames, 1, options.users, options.antennas, 2 * SLOT), ">i2",
                                       chunks=(1, 1, 1, 1, 2 * SLOT), maxshape=(None, 1, options.users, options.antennas, 2 * SLOT))
        for frame in range(options.frames):
            spectrum = numpy.zeros((options.users, options.antennas, FFT), complex)
            spectrum[..., used] = channels(random, options.antennas, options.users) * pilot[used]
            symbol = numpy.fft.ifft(numpy.fft.ifftshift(spectrum, axes=-1)) * FFT * amplitude
            slot = numpy.zeros((options.users, options.antennas, SLOT), complex)
            for start in (BEFORE + i * (FFT + PREFIX) for i in range(REPETITIONS)):
                slot[..., start:start + FFT + PREFIX] = numpy.concatenate([symbol[..., -PREFIX:], symbol], axis=-1)
            # Noise of a sample is spread over all FFT frequencies, the signal over those with a pilot.
            deviation = amplitude * numpy.sqrt(FFT * 1e-3 / 2)
            slot += deviation * (random.standard_normal(slot.shape) + 1j * random.standard_normal(slot.shape))
            parts = numpy.stack([slot.real, slot.imag], axis=-1).reshape(*slot.shape[:-1], 2 * SLOT)
            samples[frame, 0] = numpy.clip(numpy.rint(parts), -32768, 32767)
        attributes = {"SLOT_SAMP_LEN": SLOT, "FFT_SIZE": FFT, "CP_LEN": PREFIX, "PREFIX_LEN": BEFORE, "POSTFIX_LEN": AFTER,
                      "RECIPROCAL_CALIB": 0, "FREQ": 3.6e9, "RATE": RATE, "OFDM_PILOT_F": numpy.stack([pilot, 0 * pilot], -1).ravel()}
        for name, value in attributes.items():
            group.attrs[name] = numpy.atleast_1d(value)


if __name__ == "__main__":
    main()
