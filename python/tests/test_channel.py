import numpy as np
import pytest

import warpband as wb

N = 40000


def close(value, wanted, spread):
    assert abs(value - wanted) < 5 * spread, (value, wanted, spread)


def test_awgn():
    x = np.full((4, N // 4), 1 + 1j, np.complex64)
    y = wb.awgn(x, noise_var=0.5, seed=3)
    noise = (y - x).ravel()
    close((np.abs(noise) ** 2).mean(), 0.5, 0.5 / N ** 0.5)
    close(noise.real.mean(), 0, 0.5 / N ** 0.5)
    close((noise.real ** 4).mean() / (noise.real ** 2).mean() ** 2, 3, (24 / N) ** 0.5)
    close((noise[1:] * noise[:-1].conj()).real.mean(), 0, 0.5 / N ** 0.5)
    # an item's noise follows from its number
    halves = np.concatenate([wb.awgn(x[:2], noise_var=0.5, seed=3), wb.awgn(x[2:], noise_var=0.5, seed=3, first=N // 2)])
    assert np.array_equal(halves, y)
    assert not np.array_equal(wb.awgn(x, noise_var=0.5, seed=4), y)
    assert not np.array_equal(wb.awgn(x, noise_var=0.5, seed=3, point=1), y)
    again = x.copy()
    assert wb.awgn(again, noise_var=0.5, seed=3, out=again) is again and np.array_equal(again, y)
    with pytest.raises(ValueError, match="noise_var"):
        wb.awgn(x, noise_var=-1.0, seed=1)


@pytest.mark.parametrize("kind, p, changed", [("bsc", 0.2, (0.2, 0.2)), ("bec", 0.3, (0.3, 0.3)), ("z", 0.4, (0.0, 0.4))])
def test_binary_channels(kind, p, changed):
    bits = (np.arange(N).reshape(4, N // 4) % 3 == 0).astype(np.uint8)
    received, llr = wb.binary_channel(bits, kind=kind, probability=p, seed=3)
    for bit in (0, 1):
        of_bit = received[bits == bit]
        close((of_bit != bit).mean(), changed[bit], (changed[bit] * (1 - changed[bit]) / of_bit.size) ** 0.5 + 1e-9)
    of_received = {"bsc": (np.log((1 - p) / p), -np.log((1 - p) / p), 0), "bec": (100, -100, 0), "z": (-np.log(p), -100, 0)}[kind]
    assert np.allclose(llr, np.array(of_received)[received], rtol=1e-6) and llr.dtype == np.float32
    assert set(received[received != bits].tolist()) == ({0, 1} if kind == "bsc" else {2} if kind == "bec" else {0})
    later, _ = wb.binary_channel(bits[2:], kind=kind, probability=p, seed=3, first=N // 2)
    assert np.array_equal(later, received[2:])
    for wrong in ({"probability": 1.5}, {"kind": "awgn"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            wb.binary_channel(bits, **{"kind": kind, "probability": p, "seed": 3, **wrong})


def test_impairments(rng):
    n = 3000
    spectrum = np.zeros((2, n), complex)
    spectrum[:, rng.permutation(n)[:400] % 1100 - 550] = 20  # within 0.19 of the sample rate
    x = np.fft.ifft(spectrum).astype(np.complex64)
    time = np.arange(n)
    # A delay is a phase in frequency, a carrier frequency offset one in time.
    late = np.fft.ifft(np.fft.fft(x) * np.exp(-2j * np.pi * 2.3 * np.fft.fftfreq(n)))
    got = wb.Impairments(sample_rate_hz=1e6, delay_samples=2.3, cfo_hz=-3e4)(x)
    wanted = late * np.exp(-2j * np.pi * 0.03 * time)
    assert np.abs(got - wanted)[:, 40:-40].max() < 3e-4 * np.abs(wanted).max()
    # Imbalance, offset, converter.
    g, phi = 10 ** (1 / 40), np.deg2rad(5)
    mixed = g * np.exp(-0.5j * phi) * x.real + 1j / g * np.exp(0.5j * phi) * x.imag + 0.01 - 0.02j
    front_end = {"iq_gain_db": 1.0, "iq_phase_deg": 5.0, "dc_i": 0.01, "dc_q": -0.02}
    np.testing.assert_allclose(wb.Impairments(**front_end)(x), mixed, atol=1e-6)
    steps = wb.Impairments(**front_end, converter_bits=6, full_scale=0.5)(x) * 64
    assert np.array_equal(steps, steps.real.round() + 1j * steps.imag.round()) and np.abs(steps.real / 64 - mixed.real.clip(-0.5, 0.5 - 1 / 64)).max() < 0.0079
    # Random numbers follow from the capture.
    noisy = wb.Impairments(linewidth_hz=1e4, noise_var=0.1)
    whole = noisy(x, seed=3)
    assert np.array_equal(noisy(x[1], seed=3, first=1), whole[1]) and not np.array_equal(noisy(x, seed=4), whole)
    close((np.abs(wb.Impairments(noise_var=0.1)(x, seed=3) - x) ** 2).mean(), 0.1, 0.1 / (2 * n) ** 0.5)
    assert np.array_equal(wb.Impairments()(x), x)
    x[1, 7] = np.nan
    received, erased = wb.Impairments()(x, outputs=("received", "erased"))
    assert erased.tolist() == [0, 1] and received[1, 7] == 0
    for settings in ({"converter_bits": 1}, {"linewidth_hz": 1e9}, {"delay_samples": 2e6}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            wb.Impairments(**settings)
    with pytest.raises(ValueError, match="outputs"):
        wb.Impairments()(x, outputs="erased")


def test_awgn_with_an_n0_for_each_item():
    x = np.exp(2j * np.pi * np.arange(60) / 7).astype(np.complex64).reshape(3, 20)
    values = np.array([0.1, 0.0, 4.0])
    wanted = np.stack([wb.awgn(x[i], noise_var=n0, seed=3, first=20 * i, point=2) for i, n0 in enumerate(values)])
    for n0 in (values[:, None], values[:, None].tolist(), np.repeat(values, 20).reshape(3, 20).astype(np.float32)):
        assert np.array_equal(wb.awgn(x, noise_var=n0, seed=3, point=2), wanted)
    assert np.array_equal(wb.awgn(x, noise_var=[0.5], seed=3), wb.awgn(x, noise_var=0.5, seed=3))
    again = x.copy()
    assert wb.awgn(again, noise_var=values[:, None], seed=3, point=2, out=again) is again and np.array_equal(again, wanted)
    for n0, text in ((values, "^noise_var = shape"), (-values[:, None], "^noise_var = an array with -"), ([[np.nan]], "^noise_var = an array with nan"),
                     (["loud"], "^noise_var"), (1j * values[:, None], "^noise_var")):
        with pytest.raises((ValueError, TypeError), match=text):
            wb.awgn(x, noise_var=n0, seed=3)
    with pytest.raises(ValueError, match="^noise_var = an array of float64"):
        wb.awgn(x, noise_var=np.full((3, 20), 0.5), seed=3, strict=True)


def test_rayleigh():
    x = np.exp(2j * np.pi * np.arange(N) / 7).astype(np.complex64)
    y, h = wb.rayleigh(x, seed=1)
    np.testing.assert_allclose(y, h * x, atol=1e-5)
    close((np.abs(h) ** 2).mean(), 1, 1 / N ** 0.5)
    close((np.abs(h) ** 4).mean(), 2, 20 ** 0.5 / N ** 0.5)
    _, h = wb.rayleigh(x.reshape(-1, 8), seed=1, block=8)
    assert (h == h[:, :1]).all() and len(np.unique(h)) == N // 8


def test_mimo():
    x = np.exp(2j * np.pi * np.arange(N).reshape(-1, 5, 2) / 7).astype(np.complex64)
    y, h = wb.mimo_rayleigh(x, rx_antennas=3, seed=1)
    assert y.shape == (N // 10, 5, 3) and h.shape == (N // 10, 5, 3, 2)
    np.testing.assert_allclose(y, np.einsum("...rs,...s->...r", h, x), atol=1e-5)
    close((np.abs(h) ** 2).mean(), 1, 1 / h.size ** 0.5)
    close((h[..., 0, 0] * h[..., 1, 1].conj()).real.mean(), 0, 1 / N ** 0.5)
    y, h = wb.mimo_rayleigh(x, rx_antennas=3, seed=1, uses_per_channel=5)
    assert h.shape == (N // 10, 3, 2)
    np.testing.assert_allclose(y, np.einsum("brs,bus->bur", h, x), atol=1e-5)
    with pytest.raises(ValueError, match="uses_per_channel"):
        wb.mimo_rayleigh(x, rx_antennas=3, seed=1, uses_per_channel=4)


def test_delay_lines():
    # 3GPP TS 36.101 table B.2.1-2
    power = 10 ** (np.array([0, -1, -2, -3, -8, -17.2, -20.8]) / 10)
    delay = np.array([0, 30, 70, 90, 110, 190, 410])
    channel = wb.TdlChannel(profile="epa", subcarriers=64, symbols=3, spacing_hz=60000.0, streams=2, rx_antennas=2)
    assert channel.delays_ns == delay.tolist()
    np.testing.assert_allclose(channel.powers, power / power.sum(), rtol=1e-6)
    h = channel.response(blocks=2000, seed=5)
    assert h.shape == (2000, 3, 64, 2, 2)
    assert np.array_equal(h[:, 0], h[:, 2])  # no Doppler shift
    for apart in (1, 20, 63):
        found = (h[:, 0, apart] * h[:, 0, 0].conj()).mean()
        wanted = (channel.powers * np.exp(-2j * np.pi * 60000 * apart * delay * 1e-9)).sum()
        close(abs(found - wanted), 0, 1 / 8000 ** 0.5)
    x = np.exp(1j * np.arange(2 * 3 * 64 * 2)).reshape(2, 3, 64, 2).astype(np.complex64)
    y, same = channel(x, seed=5)
    assert np.array_equal(same, h[:2])
    np.testing.assert_allclose(y, np.einsum("...rs,...s->...r", same, x), atol=1e-5)
    assert "tdl-a" in wb.tdl_profiles()


def test_own_taps_and_doppler():
    channel = wb.TdlChannel(delays_ns=[0.0], powers_db=[0.0], subcarriers=1, symbols=50, doppler_hz=300.0)
    h = channel.response(blocks=4000, seed=2)[:, :, 0, 0, 0]
    period = 1 / 15000 + 4.6875e-6
    angles = np.linspace(0, np.pi, 2001)
    for steps in (3, 11):
        bessel = np.cos(2 * np.pi * 300 * steps * period * np.cos(angles)).mean()  # J0
        close((h[:, steps] * h[:, 0].conj()).mean().real, bessel, 1 / 4000 ** 0.5)
    with pytest.raises(ValueError, match="profile"):
        wb.TdlChannel(profile="rural")
    with pytest.raises(ValueError, match="powers_db"):
        wb.TdlChannel(delays_ns=[0.0, 1.0], powers_db=[0.0])
