"""OFDM against numpy.fft."""
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpband as wb


def complexes(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def bins(n):
    """The bin of each subcarrier, from the definition: frequencies in order around the carrier."""
    below = n.subcarriers // 2
    above = n.subcarriers - below
    frequencies = list(range(-below, 0)) + [f + 1 if n.free_carrier else f for f in range(above)]
    return np.array(frequencies) % n.fft_size


def modulated(values, n):
    spectrum = np.zeros(values.shape[:-1] + (n.fft_size,), complex)
    spectrum[..., bins(n)] = values
    symbols = np.fft.ifft(spectrum, norm="ortho")
    parts = []
    for s in range(n.symbols_per_slot):
        prefix = n.first_cyclic_prefix if s == 0 else n.cyclic_prefix
        parts += [symbols[..., s, n.fft_size - prefix:], symbols[..., s, :]]
    return np.concatenate(parts, -1)


def demodulated(samples, n):
    begin, parts = 0, []
    for s in range(n.symbols_per_slot):
        begin += n.first_cyclic_prefix if s == 0 else n.cyclic_prefix
        parts.append(np.fft.fft(samples[..., begin:begin + n.fft_size], norm="ortho")[..., bins(n)])
        begin += n.fft_size
    return np.stack(parts, -2)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(size=st.sampled_from([8, 12, 64, 120, 128, 360, 512, 1536]), used=st.floats(0, 1), free=st.booleans(),
       prefix=st.floats(0, 1), first=st.floats(0, 1), symbols=st.integers(1, 8), batch=st.lists(st.integers(0, 3), max_size=2))
def test_modems_are_those_of_numpy(size, used, free, prefix, first, symbols, batch):
    rng = np.random.default_rng(size)
    n = wb.OfdmNumerology(fft_size=size, subcarriers=1 + int(used * (size - 1 - free)), free_carrier=free,
                          cyclic_prefix=int(prefix * size), first_cyclic_prefix=int(first * size), symbols_per_slot=symbols)
    values = complexes(rng, *batch, symbols, n.subcarriers)
    samples = wb.OfdmModulator(numerology=n)(values)
    assert samples.shape == (*batch, n.samples_per_slot) and samples.dtype == np.complex64
    np.testing.assert_allclose(samples, modulated(values, n), atol=1e-5)
    noise = complexes(rng, *batch, n.samples_per_slot)
    received = wb.OfdmDemodulator(numerology=n)(noise)
    assert received.shape == values.shape
    np.testing.assert_allclose(received, demodulated(noise, n), atol=2e-5)
    np.testing.assert_allclose(wb.OfdmDemodulator(numerology=n)(samples), values, atol=1e-5)


@pytest.mark.parametrize("mhz, size, used, first, other", [(1.4, 128, 72, 10, 9), (5, 512, 300, 40, 36), (15, 1536, 900, 120, 108),
                                                           (20, 2048, 1200, 160, 144)])
def test_lte(mhz, size, used, first, other):
    n = wb.lte_numerology(bandwidth_mhz=mhz)
    assert (n.fft_size, n.subcarriers, n.first_cyclic_prefix, n.cyclic_prefix, n.symbols_per_slot) == (size, used, first, other, 7)
    assert n.samples_per_slot == round(n.sample_rate_hz * 0.5e-3)
    assert wb.lte_numerology(bandwidth_mhz=mhz, prefix="extended").symbols_per_slot == 6


def test_a_delay_within_the_prefix_is_a_phase_on_each_subcarrier(rng):
    n = wb.lte_numerology(bandwidth_mhz=1.4)
    values = complexes(rng, 3, 7, 72)
    samples = wb.OfdmModulator(numerology=n)(values)
    late = np.roll(samples, 4, -1)  # what the first samples of a slot take from its end lies in the prefix
    got = wb.OfdmDemodulator(numerology=n)(late)
    np.testing.assert_allclose(got, values * np.exp(-2j * np.pi * 4 * bins(n) / n.fft_size), atol=1e-5)


def test_outputs_and_layouts(rng):
    n = wb.lte_numerology(bandwidth_mhz=1.4)
    modulate, demodulate = wb.OfdmModulator(numerology=n), wb.OfdmDemodulator(numerology=n)
    values = complexes(rng, 6, 7, 72)
    wide = np.zeros((6, n.samples_per_slot + 5), np.complex64)
    assert modulate(values, out=wide[:, 2:-3]) is not None and not wide[:, :2].any() and not wide[:, -3:].any()
    assert np.array_equal(wide[:, 2:-3], modulate(values)) and np.array_equal(modulate(values[::2]), modulate(values)[::2])
    assert np.array_equal(demodulate(wide[:, 2:-3]), demodulate(modulate(values)))


def test_what_is_refused(rng):
    modulate = wb.OfdmModulator()
    for call, match in ((lambda: modulate(complexes(rng, 7, 299)), r"values = shape \(7, 299\) is not allowed"),
                        (lambda: modulate(np.zeros((7, 300)), strict=True), "values = an array of float64"),
                        (lambda: modulate(complexes(rng, 300)), "values = shape"),
                        (lambda: wb.OfdmDemodulator()(complexes(rng, 3839)), r"samples = shape \(3839,\)"),
                        # An even size is a numerology's; the modulator's FFT has only products of 2, 3 and 5.
                        (lambda: wb.OfdmNumerology(fft_size=9, subcarriers=4), "fft_size = 9 is not allowed: expected an even number"),
                        (lambda: wb.OfdmModulator(numerology=wb.OfdmNumerology(fft_size=14, subcarriers=12, cyclic_prefix=1,
                                                                               first_cyclic_prefix=2)),
                         "fft_size = 14 is not allowed: expected 8 to 4096, a product of 2, 3 and 5"),
                        (lambda: wb.OfdmModulator(numerology=wb.OfdmNumerology(fft_size=2 ** 40)), f"fft_size = {2 ** 40}"),
                        (lambda: wb.OfdmModulator(numerology=wb.OfdmNumerology(subcarriers=512)), "subcarriers = 512"),
                        (lambda: wb.lte_numerology(bandwidth_mhz=4), "bandwidth_mhz = 4"),
                        (lambda: wb.lte_numerology(prefix="none"), "prefix = \"none\"")):
        with pytest.raises(ValueError, match=match):
            call()
