"""Channels of a base station with many antennas, by what the standards and their formulas say of them."""
import numpy as np
import pytest

import warpband as wb

#: 3GPP TR 38.901 table 7.5-3
RAYS = np.array([s * x for x in (.0447, .1413, .2492, .3715, .5129, .6797, .8844, 1.1481, 1.5195, 2.1551) for s in (1, -1)])


def close(value, wanted, spread):
    assert abs(value - wanted) < 5 * spread, (value, wanted, spread)


# ---------------------------------------------------------------- clustered delay lines

def test_clustered_delay_lines():
    # 3GPP TR 38.901 table 7.7.1-1
    delay = 50 * np.array([0, .3819, .4025, .5868, .4610, .5375, .6708, .5750, .7618, 1.5375, 1.8978, 2.2242, 2.1718, 2.4942, 2.5119,
                           3.0582, 4.0810, 4.4579, 4.5695, 4.7966, 5.0066, 5.3043, 9.6586])
    power = 10 ** (np.array([-13.4, 0, -2.2, -4, -6, -8.2, -9.9, -10.5, -7.5, -15.9, -6.6, -16.7, -12.4, -15.2, -10.8, -11.3, -12.7,
                             -16.2, -18.3, -18.9, -16.6, -19.9, -29.7]) / 10)
    channel = wb.CdlChannel(profile="cdl-a", delay_spread_ns=50.0, antennas=2, users=8, subcarriers=48, symbols=2, spacing_hz=120e3)
    np.testing.assert_allclose(channel.delays_ns, delay, rtol=1e-12)
    np.testing.assert_allclose(channel.powers, power / power.sum(), rtol=1e-9)
    h = channel.response(drops=1500, seed=3)
    assert h.shape == (1500, 2, 48, 2, 8) and h.dtype == np.complex64
    assert np.array_equal(h[:, 0], h[:, 1])  # nobody moves
    for apart in (1, 11, 47):
        found = (h[:, 0, apart, 0] * h[:, 0, 0, 0].conj()).mean()
        wanted = (power / power.sum() * np.exp(-2j * np.pi * 120e3 * apart * delay * 1e-9)).sum()
        close(abs(found - wanted), 0, 1 / 12000 ** 0.5)
    assert np.array_equal(channel.response(drops=3, seed=3, first=7), h[7:10])
    assert not np.array_equal(channel.response(drops=3, seed=4, first=7), h[7:10])
    filled = np.empty_like(h[:4])
    assert channel.response(drops=4, seed=3, out=filled) is filled and np.array_equal(filled, h[:4])
    assert wb.cdl_profiles()[0] == "a1-los" and wb.cdl_profiles()[-1] == "cdl-e" and len(wb.cdl_profiles()) == 13


def test_own_clusters():
    """Power of each delay, and correlation along the array and over time, are sums over the rays' angles."""
    n, drops = 64, 3000
    made = dict(delays_ns=[0, 300, 700], powers_db=[0, -3, -6], aod_deg=[-40, 10, 35], aoa_deg=[60, -100, 170], asd_deg=5.0, asa_deg=8.0,
                antennas=6, users=2, directions_deg=[0, 25], subcarriers=n, symbols=9, spacing_hz=10e6 / n, carrier_hz=2.6e9,
                speed_kmh=400.0, heading_deg=20.0)
    channel = wb.CdlChannel(**made)
    h = channel.response(drops=drops, seed=11)
    power = 10 ** (-0.1 * np.array([0, 3, 6]))
    power /= power.sum()
    np.testing.assert_allclose(channel.powers, power, rtol=1e-9)
    taps = np.fft.ifft(h[:, 0, :, 0, :], axis=1)  # of 100 ns
    found = (np.abs(taps) ** 2).mean((0, 2))
    for delay in range(n):
        close(found[delay], dict(zip((0, 3, 7), power)).get(delay, 0), max(found[delay], 1e-9) / (2 * drops) ** 0.5)
    departing = np.radians(np.array([-40, 10, 35])[:, None] + 5 * RAYS)
    arriving = np.radians(np.array([60, -100, 170])[:, None] + 8 * RAYS - 20)
    for user, direction in enumerate((0, np.radians(25))):
        for apart in (1, 2, 5):
            wanted = power @ np.exp(2j * np.pi * apart * 0.5 * np.sin(direction + departing)).mean(1)
            close(abs((h[:, 0, 5, apart, user] * h[:, 0, 5, 0, user].conj()).mean() - wanted), 0, 1 / drops ** 0.5)
        shift = 400 / 3.6 / (299792458 / 2.6e9) * (n / 10e6 + 4.6875e-6)  # turns a symbol
        for steps in (1, 8):
            wanted = power @ np.exp(2j * np.pi * steps * shift * np.cos(arriving)).mean(1)
            close(abs((h[:, steps, 5, 0, user] * h[:, 0, 5, 0, user].conj()).mean() - wanted), 0, 1 / drops ** 0.5)
    # metres in the place of wavelengths
    metres = wb.CdlChannel(**made, antenna_spacing_m=0.5 * 299792458 / 2.6e9).response(drops=5, seed=11)
    np.testing.assert_allclose(metres, h[:5], atol=1e-4)


def test_power_of_clustered_delay_lines():
    made = dict(delays_ns=[0], powers_db=[0], antennas=3, users=4, subcarriers=8)
    h = wb.CdlChannel(**made, rician_k_db=10.0).response(drops=4000, seed=1)[:, 0, 0, 0]
    # one ray of 10/11 and twenty that share 1/11: E |h|^4 = 2 - the sum of their squared powers
    fourth = 2 - (10 / 11) ** 2 - 20 * (1 / 220) ** 2
    close((np.abs(h) ** 4).mean(), fourth, (np.abs(h) ** 4).std() / h.size ** 0.5)
    h = wb.CdlChannel(**made, power_control=True).response(drops=50, seed=1)
    np.testing.assert_allclose((np.abs(h) ** 2).mean((1, 2, 3)), 1, rtol=1e-5)
    h = wb.CdlChannel(profile="cdl-c", antennas=64, users=4, subcarriers=64, spacing_hz=60e3, cyclic_prefix_us=5.0,
                      shadowing_db=8.0).response(drops=300, seed=1)
    plain = wb.CdlChannel(profile="cdl-c", antennas=64, users=4, subcarriers=64, spacing_hz=60e3,
                          cyclic_prefix_us=5.0).response(drops=300, seed=1)
    level = 10 * np.log10((np.abs(h) ** 2).mean((1, 2, 3)) / (np.abs(plain) ** 2).mean((1, 2, 3)))
    close(level.mean(), 0, 8 / 1200 ** 0.5)
    close(level.std(), 8, 8 / 2400 ** 0.5)


@pytest.mark.parametrize("bad, argument", [
    ({"profile": "cdl-z"}, "profile"), ({"antennas": 513}, "antennas"), ({"users": 2 ** 40}, "users"), ({"antenna_spacing_m": -1.0}, "antenna_spacing_m"),
    ({"delays_ns": [0.0, 1.0], "powers_db": [0.0]}, "powers_db"), ({"aod_deg": [0.0], "delays_ns": [0, 1], "powers_db": [0, 0]}, "aod_deg"),
    ({"users": 2, "directions_deg": [1.0]}, "directions_deg"), ({"cyclic_prefix_us": 0.1}, "cyclic_prefix_us"),
    ({"power_control": True, "shadowing_db": 3.0}, "shadowing_db"),
    ({"profile": "a1-los", "delay_spread_ns": 50.0}, "delay_spread_ns"),
    ({"delay_spread_ns": 0.0}, "delay_spread_ns"), ({"antenna_spacing_m": 0.1, "antenna_spacing_wavelengths": 0.5}, "antenna_spacing_wavelengths"),
    ({"profile": "cdl-b", "delays_ns": [0.0], "powers_db": [0.0]}, "profile"),
    ({"profile": "cdl-b", "powers_db": [0.0]}, "powers_db"),
    ({"aod_deg": [0.0]}, "aod_deg"), ({"zsa_deg": 3.0}, "zsa_deg"), ({"rician_k_db": 3.0}, "rician_k_db"),
    ({"split": [True]}, "split"),
    ({"zod_deg": [181.0], "delays_ns": [0.0], "powers_db": [0.0]}, "zod_deg"),
    ({"antenna_spacing_wavelengths": 17.0}, "antenna_spacing_wavelengths"),
    ({"delays_ns": 33 * [0.0], "powers_db": 33 * [0.0]}, "delays_ns"), ({"antenna_spacing_m": float("nan")}, "antenna_spacing_m"),
])
def test_what_clustered_delay_lines_refuse(bad, argument):
    with pytest.raises(ValueError, match=f"^{argument} = .* is not allowed"):
        wb.CdlChannel(**{"antennas": 4, **bad})


def test_outputs_of_clustered_delay_lines():
    channel = wb.CdlChannel(antennas=4, users=2, subcarriers=6)
    assert channel.response(drops=0, seed=1).shape == (0, 1, 6, 4, 2)
    for out in (np.empty((2, 1, 6, 2, 4), np.complex64), np.empty((3, 1, 6, 4, 2), np.complex64), np.empty((2, 1, 6, 4, 2))):
        with pytest.raises(ValueError, match="is not allowed"):
            channel.response(drops=2, seed=1, out=out)


# ---------------------------------------------------------------- correlated antennas

def test_exponential_correlation():
    r = 0.8 * np.exp(0.7j)
    found = wb.exponential_correlation(antennas=5, correlation=r)
    wanted = np.array([[r ** (j - i) if j >= i else np.conj(r) ** (i - j) for j in range(5)] for i in range(5)])
    assert found.dtype == np.complex128
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    for bad in ({"antennas": 0, "correlation": 0.5}, {"antennas": 2 ** 40, "correlation": 0.5}):
        with pytest.raises(ValueError, match="^antennas = "):
            wb.exponential_correlation(**bad)
    with pytest.raises(ValueError, match="^correlation = "):
        wb.exponential_correlation(antennas=3, correlation=1.01j)


def correlation_of_any_kind(rng, n, rank):
    """Hermitian, ones on the diagonal, of a rank."""
    a = rng.normal(size=(n, rank)) + 1j * rng.normal(size=(n, rank))
    r = a @ a.conj().T
    d = np.sqrt(np.diag(r).real)
    return r / np.outer(d, d)


def test_correlated_antennas(rng):
    """The sample covariance of all entries is the Kronecker product of the two matrices."""
    n, rx, streams = 60000, 4, 3
    r_rx, r_tx = correlation_of_any_kind(rng, rx, 2), wb.exponential_correlation(antennas=streams, correlation=0.6 - 0.5j)
    channel = wb.KroneckerChannel(streams=streams, rx_antennas=rx, rx_correlation=r_rx, tx_correlation=r_tx)
    h = channel.response(channels=n, seed=2)
    assert h.shape == (n, rx, streams) and h.dtype == np.complex64
    flat = h.reshape(n, -1).astype(complex)
    # E h_rs conj(h_r's') = R_rx[r, r'] conj(R_tx[s, s'])
    assert np.abs(flat.T @ flat.conj() / n - np.kron(r_rx, r_tx.conj())).max() < 5 / n ** 0.5
    np.testing.assert_allclose(np.einsum("nrs,nqs->rq", h, h.conj()) / n, streams * r_rx, atol=5 * streams / n ** 0.5)
    np.testing.assert_allclose(np.einsum("nrs,nrt->st", h.conj(), h) / n, rx * r_tx, atol=5 * rx / n ** 0.5)
    assert np.array_equal(channel.response(channels=5, seed=2, first=30), h[30:35])
    # H is the Cholesky factors around the H that is not correlated
    sent = np.ones((6, streams), np.complex64)
    _, g = wb.mimo_rayleigh(sent, rx_antennas=rx, seed=2)
    definite = correlation_of_any_kind(rng, rx, 9)
    h = wb.KroneckerChannel(streams=streams, rx_antennas=rx, rx_correlation=definite, tx_correlation=r_tx).response(channels=6, seed=2)
    np.testing.assert_allclose(h, np.linalg.cholesky(definite) @ g @ np.linalg.cholesky(r_tx).conj().T, atol=1e-5)


def test_sending_over_correlated_antennas(rng):
    x = np.exp(2j * np.pi * rng.random((7, 5, 3))).astype(np.complex64)
    plain = wb.KroneckerChannel(streams=3, rx_antennas=4)
    assert np.array_equal(plain(x, seed=9, first=3)[1], wb.mimo_rayleigh(x, rx_antennas=4, seed=9, first=3)[1])
    channel = wb.KroneckerChannel(streams=3, rx_antennas=4, rx_correlation=wb.exponential_correlation(antennas=4, correlation=0.9))
    y, h = channel(x, seed=9)
    assert y.shape == (7, 5, 4) and h.shape == (7, 5, 4, 3)
    np.testing.assert_allclose(y, np.einsum("...rs,...s->...r", h, x), atol=1e-5)
    assert np.array_equal(channel.response(channels=35, seed=9).reshape(h.shape), h)
    y, h = channel(x, seed=9, uses_per_channel=5)
    assert h.shape == (7, 4, 3)
    np.testing.assert_allclose(y, np.einsum("brs,bus->bur", h, x), atol=1e-5)
    with pytest.raises(ValueError, match="uses_per_channel"):
        channel(x, seed=9, uses_per_channel=7)
    with pytest.raises(ValueError, match="^sent = shape"):
        channel(x[..., :2], seed=9)


@pytest.mark.parametrize("bad, argument", [
    ({"rx_correlation": np.eye(3)}, "rx_correlation"), ({"tx_correlation": 2 * np.eye(2)}, "tx_correlation"),
    ({"tx_correlation": [[1, 0.5], [0.4, 1]]}, "tx_correlation"), ({"tx_correlation": [[1, 1.2], [1.2, 1]]}, "tx_correlation"),
    ({"streams": 65}, "streams"), ({"rx_antennas": 2 ** 40}, "rx_antennas"),
])
def test_what_correlated_antennas_refuse(bad, argument):
    with pytest.raises(ValueError, match=f"^{argument} = .* is not allowed"):
        wb.KroneckerChannel(**{"streams": 2, "rx_antennas": 4, **bad})
