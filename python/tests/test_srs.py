"""SRS: combs, ports and bands against NumPy, channels of ports and terminals, a precoder that takes them, bad arguments."""
import numpy as np
import pytest

import warpband as wb


def test_values_are_shifted_base_sequences_on_a_comb():
    srs = wb.NrSrs(resource_blocks=24, ports=4, comb=4, comb_offset=1, cyclic_shift=5, bandwidth_config=7, bandwidth=1, frequency_position=3, sequence_id=41)
    assert (srs.length, srs.bands, srs.first_subcarrier(), srs.band_symbols()) == (36, 1, 144, [13])
    grid = srs.map(slots=2)
    assert np.array_equal(grid[0], grid[1]) and not grid[:, :13].any()
    base = wb.nr_low_papr_sequence(length=36, u=41 % 30)
    for port in range(4):
        expected = np.zeros(288, np.complex64)
        expected[145:289:4] = 0.5 * base * np.exp(2j * np.pi * ((5 + 3 * port) % 12) * np.arange(36) / 12)
        np.testing.assert_allclose(grid[0, 13, :, port], expected, atol=1e-6)


def test_hopping_visits_all_bands():
    firsts = []
    for count in range(0, 12, 4):
        srs = wb.NrSrs(resource_blocks=48, symbols=4, first_symbol=8, bandwidth_config=13, bandwidth=3, hopping_bandwidth=0, count=count)
        assert srs.bands == 4 and srs.band_symbols(2) == [10]
        firsts += [srs.first_subcarrier(band) for band in range(4)]
    assert sorted(firsts) == [48 * part for part in range(12)]


def test_terminals_are_told_apart_and_their_channels_precode(rng):
    terminals = [wb.NrSrs(resource_blocks=24, bandwidth_config=6, comb=4, cyclic_shift=shift) for shift in (0, 3, 6, 9)]
    h = rng.normal(size=(8, 4)) + 1j * rng.normal(size=(8, 4))
    received = sum(srs.map(slots=3) * h[:, u] for u, srs in enumerate(terminals)).astype(np.complex64)
    channel = np.concatenate([wb.SrsEstimator(srs=srs, shifts=4)(received, 0.01, outputs="channel") for srs in terminals], axis=-1)
    assert channel.shape == (3, 288, 8, 4)
    np.testing.assert_allclose(channel, np.broadcast_to(h, channel.shape), atol=1e-4)
    symbols = np.ones((288, 1, 4), np.complex64)
    heard = wb.MassiveDownlink(antennas=8, users=4, solver="cholesky")(channel[0].conj(), symbols, 1e-6)[:, 0] @ h
    np.testing.assert_allclose(heard / heard.mean(), 1, atol=1e-3)


def test_noise_is_what_the_estimator_expects(rng):
    srs = wb.NrSrs(resource_blocks=24, ports=2, bandwidth_config=6)
    estimator = wb.SrsEstimator(srs=srs)
    received = wb.awgn(srs.map(slots=200) @ np.array([[1.0], [1j]], np.complex64), noise_var=0.1, seed=3)
    channel, noise_var = estimator(received, 0.1)
    error = np.mean(np.abs(channel - np.array([1, 1j])) ** 2, axis=(0, 1, 2))
    np.testing.assert_allclose(error, [estimator.error_variance(0.1, layer=port) for port in (0, 1)], rtol=0.05)
    assert noise_var.shape == (200, 288) and (noise_var > 0.1).all()


def test_bad_arguments_are_named():
    srs = wb.NrSrs(ports=4, bandwidth_config=1)
    for call, problem in ((lambda: wb.NrSrs(bandwidth_config=8), "frequency_shift = 0"), (lambda: wb.NrSrs(comb=3), "comb = 3"), (lambda: wb.NrSrs(repetition=2), "repetition = 2"),
                          (lambda: wb.SrsEstimator(srs=srs, shifts=2), "shifts = 2"), (lambda: wb.SrsEstimator(srs=srs, band=1), "band = 1"),
                          (lambda: srs.first_subcarrier(1), "band = 1"), (lambda: srs.map(slots=-1), "slots = -1"),
                          (lambda: wb.SrsEstimator(srs=srs)(np.ones((14, 288, 2), np.complex64), 0.1), r"received = .*expected \(..., 14, 300, n\)")):
        with pytest.raises(ValueError, match=problem):
            call()
    with pytest.raises(TypeError, match="expected an NrSrs"):
        wb.SrsEstimator(srs=wb.NrSharedChannel(resource_blocks=1))


# The table of docs/srs.md: one path of 100 and of 500 ns at 30 kHz, without noise.
@pytest.mark.parametrize("comb, shifts, short, long", [
    (2, 1, 1.6e-8, 1e-5), (2, 2, 1.8e-4, 0.0046), (2, 4, 0.0013, 0.032), (4, 1, 3e-7, 1.9e-4), (4, 2, 5.7e-4, 0.016), (4, 4, 0.0046, 0.13)])
def test_delays_cost_accuracy_as_the_page_has_it(comb, shifts, short, long):
    srs = wb.NrSrs(resource_blocks=52, spacing_khz=30, comb=comb, bandwidth_config=12)
    grid, estimator = srs.map(slots=1)[..., 0], wb.SrsEstimator(srs=srs, shifts=shifts)
    band = slice(srs.first_subcarrier(), srs.first_subcarrier() + srs.band_subcarriers)
    for delay_s, expected in ((1e-7, short), (5e-7, long)):
        h = np.exp(-2j * np.pi * 30e3 * delay_s * np.arange(grid.shape[-1]))
        channel = estimator((grid * h)[..., np.newaxis].astype(np.complex64), 1e-6, outputs="channel")[0, :, 0, 0]
        assert np.mean(np.abs(channel - h[band]) ** 2) == pytest.approx(expected, rel=0.1, abs=1e-9)
