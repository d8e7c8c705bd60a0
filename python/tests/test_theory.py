"""Closed forms, bounds and capacities beside simulated curves, numerical integrals and published numbers."""
import math

import numpy as np
import pytest

import warpband as wb
from warpband import _theory


def db(value):
    return 10 ** (value / 10)


def simulated(modulation, snr_db, channel, **more):
    row, = wb.sweep({"code": {"type": "none", "k": 3840}, "modem": {"modulation": modulation}, "channel": channel, "sweep": {"snr_db": [snr_db]},
                     "stop": {"frame_errors": 0, "max_frames": 100}, **more})
    return row


@pytest.mark.parametrize("modulation, points, snr_db", [("bpsk", 2, 4.0), ("qpsk", 4, 6.0), ("16qam", 16, 12.0), ("64qam", 64, 14.0), ("256qam", 256, 20.0), ("1024qam", 1024, 26.0), ("4096qam", 4096, 32.0)])
def test_bit_errors_are_those_of_simulated_links(modulation, points, snr_db):
    """Five deviations of independent bits. With fading neighbouring bits of a symbol fail together: twice as many."""
    for channel, exact in (({"type": "awgn"}, _theory.awgn_ber), ({"type": "rayleigh", "fading": "fast"}, _theory.rayleigh_ber)):
        row = simulated(modulation, snr_db, channel)
        rate, bits = exact(points, db(row["esn0_db"])), row["bits"]
        assert abs(row["ber"] - rate) < 10 * math.sqrt(rate / bits) and row["bit_errors"] > 100


@pytest.mark.parametrize("kind", ["bsc", "bec", "z"])
def test_bit_errors_on_channels_of_bits(kind):
    scenario = {"code": {"type": "none", "k": 3840}, "channel": {"type": kind}, "sweep": {"probability": [0.02, 0.3]}, "stop": {"frame_errors": 0, "max_frames": 100}}
    result = wb.sweep(scenario)
    assert result.axis == "probability"
    for row in result:
        rate = _theory.BITS[kind][1](row["probability"])
        assert abs(row["ber"] - rate) < 5 * math.sqrt(rate / row["bits"]) and "ebn0_db" not in row
    (label, line, points), = _theory.lines_for(result.to_dict()["curves"], "probability", "ber")
    assert line == "closed" and dict(points)[0.3] == _theory.BITS[kind][1](0.3) and label.startswith("uncoded")


@pytest.mark.parametrize("antennas", [1, 2])
def test_alamouti_has_twice_the_branches(antennas):
    row = simulated("16qam", 12.0, {"type": "rayleigh", "fading": "fast"}, mimo={"streams": 2, "rx_antennas": antennas}, stbc={"type": "alamouti"})
    rate = _theory.rayleigh_ber(16, db(row["esn0_db"]), 2 * antennas)
    assert abs(row["ber"] - rate) < 10 * math.sqrt(rate / row["bits"]) and row["bit_errors"] > 100


@pytest.mark.parametrize("k_db", [-3.0, 8.0])
def test_bit_errors_in_rician_fading(k_db):
    channel, k = {"type": "rician", "rician_k_db": k_db}, db(k_db)
    for more, branches in (({}, 1), ({"mimo": {"streams": 2, "rx_antennas": 1}, "stbc": {"type": "alamouti"}}, 2)):
        row = simulated("16qam", 9.0, channel, **more)
        rate = _theory.rician_ber(16, db(row["esn0_db"]), k, branches)
        assert abs(row["ber"] - rate) < 10 * math.sqrt(rate / row["bits"]) and row["bit_errors"] > 100
    assert _theory.rician_ber(64, 20.0, 0.0, 2) == pytest.approx(_theory.rayleigh_ber(64, 20.0, 2), rel=1e-6)


@pytest.mark.parametrize("points", [4, 16, 64, 256, 1024, 4096])
def test_exact_bit_errors_are_those_of_a_gray_labelled_dimension(points):
    levels, n0 = math.isqrt(points), 0.05
    half = math.sqrt(3 / (2 * (points - 1)))
    amplitudes = half * (2 * np.arange(levels) + 1 - levels)
    edges = np.concatenate([[-np.inf], (amplitudes[1:] + amplitudes[:-1]) / 2, [np.inf]])
    below = np.vectorize(lambda t: 0.5 * math.erfc(-t / math.sqrt(n0)))(edges[None, :] - amplitudes[:, None])
    gray = np.arange(levels) ^ (np.arange(levels) >> 1)
    wrong = np.vectorize(lambda x: bin(x).count("1"))(gray[:, None] ^ gray[None, :])
    expected = (np.diff(below, axis=1) * wrong).sum() / levels / math.log2(levels)
    assert _theory.awgn_ber(points, 1 / n0) == pytest.approx(expected, rel=1e-9)


def test_capacity_of_a_constellation():
    # 0.187 dB of Eb/N0 at rate 1/2, 1.628 dB at 3/4: Richardson and Urbanke, Modern Coding Theory; Ryan and Lin, Channel Codes, table 1.3
    for rate, ebn0_db in ((0.5, 0.187), (0.75, 1.628)):
        assert _theory.shannon_limit(2, rate) - 10 * math.log10(rate) == pytest.approx(ebn0_db, abs=0.002)
    assert _theory.shannon_limit(16, 4.0) is None
    assert _theory.information(4, 2.0)[0] == pytest.approx(2 * _theory.information(2, 1.0)[0], rel=1e-9)
    assert _theory.information(64, 1e5)[0] == pytest.approx(6.0)
    rng, g = np.random.default_rng(5), db(9.0)  # by drawn symbols of 16-QAM
    side = math.sqrt(1 / 10) * np.array([-3, -1, 1, 3])
    alphabet = (side[:, None] + 1j * side[None, :]).ravel()
    x = rng.choice(alphabet, 100_000)
    y = x + math.sqrt(0.5 / g) * (rng.standard_normal(x.size) + 1j * rng.standard_normal(x.size))
    metric = -np.abs(y[:, None] - alphabet) ** 2 * g
    density = 4 - np.log2(np.exp(metric + np.abs(y - x)[:, None] ** 2 * g).sum(1))
    mean, variance = _theory.information(16, g)
    assert density.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / x.size))
    assert density.var() == pytest.approx(variance, rel=0.05)


def test_the_normal_approximation_is_one_half_near_capacity_and_falls():
    rates = [_theory.normal_approximation(2, 2304, 1152, db(esn0_db)) for esn0_db in np.arange(-4, 1, 0.5)]
    assert all(high > low for high, low in zip(rates, rates[1:])) and rates[0] > 0.99 and rates[-1] < 1e-6
    mean, _ = _theory.information(4, 1.0)
    assert _theory.normal_approximation(4, 1000, 1000 * mean + 0.5 * math.log2(1000), 1.0) == pytest.approx(0.5)
    assert _theory.normal_approximation(2, 100, 50, 1e9) < 1e-15


def test_figures_have_them_on_demand():
    pytest.importorskip("matplotlib")
    uncoded = wb.sweep({"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0, 3.0]}, "stop": {"max_frames": 20}})
    coded = wb.sweep({"code": {"type": "wifi-ldpc", "n": 648}, "modem": {"modulation": "qpsk"}, "sweep": {"ebn0_db": [1.0, 2.0]}, "stop": {"max_frames": 50}})

    def labels(results, **options):
        return [[line.get_label() for line in panel.get_lines() if "exact" in line.get_label() or "normal" in line.get_label() or "capacity" in line.get_label()]
                for panel in wb.plot.error_rates(results, **options).axes]

    bounds = ["normal approximation, 324 bits in 324 QPSK symbols", "capacity of QPSK at 1 bit/symbol"]
    assert labels([uncoded, coded], theory=True) == [["BPSK in AWGN, exact"], bounds]
    assert labels([uncoded, coded]) == [[], []]
    line = next(line for line in wb.plot.error_rates(uncoded, theory=True, metric="ber").axes[0].get_lines() if "exact" in line.get_label())
    x, y = line.get_data()
    assert [x[0], x[-1]] == [0.0, 3.0] and y[0] == pytest.approx(0.5 * math.erfc(1.0)) and y[-1] == pytest.approx(0.5 * math.erfc(math.sqrt(db(3))))
    loop = {"code": {"type": "none", "k": 96}, "modem": {"modulation": "qpsk"}, "mimo": {"streams": 2, "rx_antennas": 2}, "channel": {"type": "rayleigh"}, "sweep": {"snr_db": [5.0]},
            "stop": {"max_frames": 5}}
    with pytest.raises(ValueError, match="^theory: no curve of the figure has a closed form or a bound: expected "):
        wb.plot.error_rates(wb.sweep(loop), theory=True)


# ---------------------------------------------------------------- MIMO capacity
def test_ergodic_capacity_of_rayleigh_fading():
    """One antenna: e^(1/SNR) E1(1/SNR) / ln 2, by integration. 4x4: log det of each H."""
    rng = np.random.default_rng(3)
    h = (rng.standard_normal((20_000, 4, 4, 2)) @ (0.5 ** 0.5 * np.array([1, 1j])))
    snr = db(10.0)
    g = np.linspace(0, 60, 600_001)
    density = np.log2(1 + snr * g) * np.exp(-g)
    expected = ((density[1:] + density[:-1]) / 2).sum() * (g[1] - g[0])
    single = wb.capacity(h[:, :1, :1], 10.0)
    assert single.mean() == pytest.approx(expected, abs=5 * single.std() / len(h) ** 0.5)
    determinants = np.linalg.slogdet(np.eye(4) + snr / 4 * h @ h.conj().swapaxes(1, 2))[1] / math.log(2)
    np.testing.assert_allclose(wb.capacity(h, 10.0), determinants, rtol=1e-10)
    assert 10.5 < wb.capacity(h, 10.0).mean() < 11.3  # 10.9: Telatar 1999, figure 2


def test_water_filling_is_the_best_power():
    rng = np.random.default_rng(4)
    h = rng.standard_normal((50, 3, 4)) + 1j * rng.standard_normal((50, 3, 4))
    for snr_db in (-10.0, 0.0, 10.0):
        best = wb.capacity(h, snr_db, water_filling=True)
        gains = np.linalg.svd(h, compute_uv=False) ** 2
        powers = rng.dirichlet(np.ones(3) * 0.7, 3000) * db(snr_db)
        tried = np.log2(1 + powers[:, None, :] * gains[None]).sum(-1).max(0)
        assert (best >= tried - 1e-9).all() and (best - tried < 0.1).all()
        assert (best >= wb.capacity(h, snr_db) - 1e-9).all()
    assert wb.capacity(np.zeros((2, 2)), 10.0, water_filling=True) == 0
    assert wb.capacity(np.ones((5, 1, 2, 2)), [0.0, 10.0, 20.0]).shape == (5, 3)
    np.testing.assert_allclose(wb.capacity([[0, 2]], 0.0, water_filling=True), math.log2(5))
    for wrong in (dict(channel=np.ones(3), snr_db=1), dict(channel=np.full((2, 2), np.nan), snr_db=1), dict(channel=np.ones((2, 2)), snr_db=np.inf)):
        with pytest.raises(ValueError, match="is not allowed: expected"):
            wb.capacity(**wrong)


# ---------------------------------------------------------------- effective capacity of massive MIMO
def test_effective_capacity_is_that_of_the_thesis():
    """Eqs 5.1 and 5.2 by hand, with the numbers of table 5.5; and the crossover of figure 5.3 at 100 Gb/s."""
    times = np.array([[0.3e-3, 1e-3], [3e-3, 0.1]])
    pilots = 16 / 313e3
    np.testing.assert_allclose(wb.effective_capacity(times, bits_per_hz=6.12, central=False), 16 * 6.12 * (1 - pilots / times), rtol=1e-12)
    overhead = pilots + 2 * (64 * 128 * 16 * 128 / 40e9 + 1e-6) + 242e-6
    np.testing.assert_allclose(wb.effective_capacity(times, bits_per_hz=8.4, precoding_s=242e-6),
                               16 * 8.4 * np.maximum(1 - overhead / times, 0), rtol=1e-12)
    crossover = 2.19e-3
    near = crossover * np.array([0.99, 1.01])
    gain = wb.effective_capacity(near, bits_per_hz=8.4, precoding_s=242e-6, transport_bps=100e9) - wb.effective_capacity(
        near, bits_per_hz=6.12, central=False)
    assert gain[0] < 0 < gain[1]
    repeated = wb.effective_capacity(0.1, bits_per_hz=8.4, precoding_s=1e-5, precoding_per_subcarrier=True)
    assert repeated.shape == () and repeated == wb.effective_capacity(0.1, bits_per_hz=8.4, precoding_s=128e-5)
    for name, value in {"coherence_s": 0.0, "bits_per_hz": 1001.0, "users": 129, "hop_s": -1.0, "bits_per_csi": 0.5, "subcarriers": 0}.items():
        with pytest.raises(ValueError, match=f"{name} = "):
            wb.effective_capacity(**{"coherence_s": 1e-3, "bits_per_hz": 8.4, name: value})
    with pytest.raises(TypeError, match="coherence_s is a str: expected numbers"):
        wb.effective_capacity("a while", bits_per_hz=8.4)


def test_exit_charts_are_drawn():
    pytest.importorskip("matplotlib")
    chart = wb.exit_chart(detector=wb.ML(streams=2, rx_antennas=2, qam=4), snr_db=3, bits=20000, outer=3,
                          decoder=wb.LdpcDecoder(code=wb.wifi_ldpc(n=648), iterations=5, early_stop="none"))
    panel, = wb.plot.exit_chart(chart, title="a loop").axes
    detector, decoder, loop = (line.get_data() for line in panel.get_lines())
    np.testing.assert_array_equal(detector, (chart.prior, chart.detector))
    np.testing.assert_array_equal(decoder, (chart.decoder, chart.prior))
    np.testing.assert_array_equal(loop[0][1::2], [0, *chart.loop_decoder][:3])
    np.testing.assert_array_equal(loop[1][1::2], chart.loop_detector)
    assert panel.get_title() == "a loop"
    with pytest.raises(TypeError, match="^chart is a int: expected what warpband.exit_chart measures$"):
        wb.plot.exit_chart(3)


def test_a_sweep_over_es_n0_is_drawn_over_it():
    scenario = {"code": {"type": "none", "k": 1000}, "modem": {"modulation": "qpsk"}, "stop": {"frame_errors": 0, "max_frames": 20}}
    result = wb.sweep({**scenario, "sweep": {"esn0_db": [3.0, 6.0]}})
    assert result.axis == "esn0_db" and result["esn0_db"] == [3.0, 6.0]
    assert result["ebn0_db"] == pytest.approx([3 - 10 * math.log10(2), 6 - 10 * math.log10(2)])
    panel = wb.plot.error_rates(result, metric="ber", theory=True).axes[0]
    assert panel.get_xlabel() == "$E_s/N_0$ (dB)"
    assert [line.get_xdata()[0] for line in panel.get_lines() if line.get_label() == "QPSK in AWGN, exact"] == [3.0]
    other = wb.sweep({**scenario, "sweep": {"snr_db": [3.0]}})
    assert wb.plot.error_rates([result, other], x="esn0_db").axes[0].get_xlabel() == "$E_s/N_0$ (dB)"
