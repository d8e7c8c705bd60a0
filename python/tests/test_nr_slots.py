"""Slots of 5G NR, channel and noise estimation: what goes in comes back, estimates against NumPy's formulas, and bad arguments."""
import json
import os
import pathlib

import numpy as np
import pytest

import warpband as wb


REFDATA = pathlib.Path(os.environ.get("WARPBAND_REFDATA", pathlib.Path(__file__).parents[3] / "shared" / "refdata")) / "nr_time/vectors"


def vectors_of(name):
    if not (REFDATA / f"{name}.json").exists():
        pytest.skip(f"no refdata: cannot open '{REFDATA / name}.json'")
    return json.loads((REFDATA / f"{name}.json").read_text())["vectors"], np.load(REFDATA / f"{name}.npz")


def test_slots_carry_layers_and_dmrs(rng):
    pusch = wb.NrSharedChannel(resource_blocks=6, first_block=1, blocks=4, layers=2, dmrs_additional_positions=1, cell_id=7)
    symbols = rng.normal(size=(3, pusch.codeword_symbols)) + 1j
    grid = pusch.map(symbols)
    assert grid.shape == (3, 14, 72, 2)
    assert np.array_equal(pusch.extract(grid), symbols.astype(np.complex64).reshape(3, -1, 2))
    places = pusch.data_places
    assert np.array_equal(grid[:, places[:, 0], places[:, 1]], pusch.extract(grid))
    for layer in (0, 1):
        dmrs = pusch.dmrs(layer)
        assert set(np.flatnonzero(np.abs(dmrs).sum(axis=1))) == set(pusch.dmrs_symbols)
        assert np.allclose(np.abs(dmrs[dmrs != 0]), np.sqrt(2))
        assert np.array_equal(grid[0, 2, :, layer], dmrs[2])
    assert pusch.transport(mcs=4)["coded_bits"] == 2 * pusch.codeword_symbols


def test_codebook_precodes(rng):
    assert wb.nr_precoder(antenna_ports=True, layers=np.int64(1), tpmi=0).tolist() == [[1]]
    pusch = wb.NrSharedChannel(resource_blocks=1, layers=2, antenna_ports=4, tpmi=14)
    symbols = rng.normal(size=pusch.codeword_symbols)
    w = wb.nr_precoder(antenna_ports=4, layers=2, tpmi=14)
    assert np.allclose(pusch.extract(pusch.map(symbols)), symbols.reshape(-1, 2) @ w.T, atol=1e-6)


@pytest.fixture
def fft():
    try:
        wb.OfdmModulator()(np.zeros((7, 300), np.complex64))
    except RuntimeError:
        pytest.skip("this build has no FFT for CPUs")


def test_transform_precoding_is_a_dft(rng, fft):
    pusch = wb.NrSharedChannel(resource_blocks=9, first_block=1, blocks=6, transform_precoding=True)
    symbols = rng.normal(size=(2, pusch.codeword_symbols)) + 1j * rng.normal(size=(2, pusch.codeword_symbols))
    expected = np.fft.fft(symbols.reshape(2, -1, 72), norm="ortho")
    data = pusch.extract(pusch.map(symbols))
    assert np.allclose(data.reshape(2, -1, 72), expected, atol=1e-5)
    h = rng.normal(size=(2, pusch.data_elements, 3, 1)) + 1j * rng.normal(size=(2, pusch.data_elements, 3, 1))
    received, n0 = (h @ data[..., None])[..., 0], 0.3
    one, found, noise_var = pusch.equalise(h, received, n0)
    power = np.sum(np.abs(h) ** 2, axis=(2, 3)).reshape(2, -1, 72)
    rho = np.mean(power / (power + n0), axis=-1, keepdims=True)
    equalised = np.fft.ifft(power / (power + n0) * expected, norm="ortho") / rho
    assert np.all(one == 1) and np.allclose(found.reshape(2, -1, 72), equalised, atol=1e-4)
    assert np.allclose(noise_var.reshape(2, -1, 72), (1 - rho) / rho, rtol=1e-4)
    w = wb.nr_precoder(antenna_ports=4, layers=1, tpmi=12, transform_precoding=True)
    assert np.allclose(2 * w.ravel(), [1, 1, 1, -1])
    with pytest.raises(ValueError, match="blocks = 7"):
        wb.NrSharedChannel(resource_blocks=7, transform_precoding=True)
    with pytest.raises(ValueError, match="transform_precoding"):
        wb.NrSharedChannel(resource_blocks=1).equalise(np.ones((156, 1, 1)), np.ones((156, 1)), 1.0)


def test_transform_precoding_equals_other_programs(fft):
    rows, arrays = vectors_of("transform_precoding")
    for row in rows:
        bpsk = row["modulation"] == "pi/2-BPSK"
        qam = {"pi/2-BPSK": 2, "QPSK": 4, "16QAM": 16, "64QAM": 64}[row["modulation"]]
        pusch = wb.NrSharedChannel(resource_blocks=row["prbs"], symbols=4, transform_precoding=True, pi2_bpsk=bpsk)
        symbols = wb.QamMapper(qam=qam)(np.array([int(b) for b in row["bits"]], np.uint8))
        d, y = arrays[row["arrays"]["d"]].ravel(), arrays[row["arrays"]["y"]].ravel()
        turned = symbols * np.where(np.arange(len(symbols)) % 2, 1j, 1) if bpsk else symbols
        assert np.allclose(turned, d, atol=5e-4), row["id"]
        sent = np.zeros(pusch.codeword_symbols, np.complex64)
        sent[:len(symbols)] = symbols
        assert np.allclose(pusch.extract(pusch.map(sent)).ravel()[:len(y)], y, atol=5e-4), row["id"]


def test_dmrs_of_transform_precoding_equals_other_programs():
    rows, arrays = vectors_of("pusch_tp_dmrs")
    for row in rows:
        # The row's symbol is the first one of an allocation with mapping type B.
        pusch = wb.NrSharedChannel(resource_blocks=row["prbs"], slot=row["slot"], mapping="B", first_symbol=row["symbol"], symbols=14 - row["symbol"],
                                   transform_precoding=True, dmrs_hopping=row["hopping"], dmrs_low_papr_id=row["n_id_rs"])
        assert np.allclose(pusch.dmrs()[row["symbol"], ::2], np.sqrt(2) * arrays[row["arrays"]["r"]].ravel(), atol=1e-3), row["id"]


def test_uci_on_pusch_equals_other_programs():
    if not (REFDATA / "uci_on_pusch.json").exists():
        pytest.skip(f"no refdata: cannot open '{REFDATA / 'uci_on_pusch.json'}'")
    for row in json.loads((REFDATA / "uci_on_pusch.json").read_text())["vectors"]:
        messages = {name: np.array([int(b) for b in row[name]], np.uint8) for name in ("ack", "csi1")}
        pusch = wb.NrSharedChannel(resource_blocks=row["prbs"], cell_id=row["n_id"], rnti=row["rnti"], symbols=row["n_symbols"],
                                   dmrs_additional_positions=len(row["dmrs_symbols"]) - 1)
        uci = wb.PuschUci(channel=pusch, ack_bits=len(messages["ack"]), csi1_bits=len(messages["csi1"]), beta_ack=row["beta_ack"],
                          beta_csi1=row["beta_csi1"], alpha=row["alpha"], mcs=row["mcs"])
        assert uci.coded_bits == {"data": row["g_ulsch"], "ack": row["g_ack"], "csi1": row["g_csi1"], "csi2": 0}, row["id"]
        assert uci.places("ack").tolist() == row["ack_positions"] and uci.places("csi1").tolist() == row["csi1_positions"]
        coded = {"data": wb.NrTransportEncoder(**uci.transport())(np.array([int(b) for b in row["tb"]], np.uint8))}
        for name, message in messages.items():
            n = uci.coded_bits[name]
            if len(message) > 11:
                coded[name] = wb.PolarEncoder(kind="uci", k=len(message), coded_bits=n)(message)
            elif len(message):
                coded[name] = wb.ShortBlockEncoder(k=len(message), coded_bits=n, modulation_order=row["qm"])(message)
        codeword = uci.multiplex(**coded)
        assert "".join(map(str, codeword)) == row["scrambled"], row["id"]
        back = uci.demultiplex(1.0 - 2.0 * codeword, outputs="data")
        kept = uci.places("data") >= 0
        assert np.array_equal(back[kept] < 0, coded["data"][kept] == 1) and not back[~kept].any()
    for settings, name in (({"csi2_bits": 3}, "csi2_bits"), ({"ack_bits": 3, "beta_ack": 1.3}, "beta_ack"), ({"data": False}, "data")):
        with pytest.raises(ValueError, match=name):
            wb.PuschUci(channel=pusch, **settings)


def test_pdsch_is_mapped_round_what_is_reserved(rng):
    blocks = wb.nr_interleaved_blocks(first_resource_block=3, blocks=20, bundle=4)
    # Bundles of 1, 4, 4, 4, 4 and 3 blocks in two rows of three columns; the last one stays.
    assert blocks == [0, 9, 10, 11, 12, 1, 2, 3, 4, 13, 14, 15, 16, 5, 6, 7, 8, 17, 18, 19]
    pdcch = wb.PdcchEncoder(blocks=18, symbols=2, level=2, interleaved=False)
    reserved = pdcch.reserved(first_cce=2) + [4, 6, 8, 3]
    pdsch = wb.NrSharedChannel(channel="pdsch", resource_blocks=20, first_resource_block=3, blocks=9, physical_blocks=blocks[2:11], reserved=reserved,
                               ptrs_time_density=2, rnti=7)
    taken = np.zeros(pdsch.grid_shape, bool)
    taken[:2, :216] = pdcch(np.ones(39, np.uint8), slot=0, first_cce=2) != 0
    taken[8:11, 48:120] = True
    taken[2] = True  # DMRS of two CDM groups
    ptrs = pdsch.ptrs()
    assert set(np.flatnonzero(ptrs.any(axis=1))) == {0, 4, 6, 8, 10, 12} and not (ptrs != 0)[taken].any()
    taken |= ptrs != 0
    expected = [[symbol, 12 * block + k] for symbol in range(14) for block in blocks[2:11] for k in range(12) if not taken[symbol, 12 * block + k]]
    assert np.array_equal(pdsch.data_places, expected)
    symbols = rng.normal(size=pdsch.codeword_symbols) + 0j
    grid = pdsch.map(symbols)[..., 0]
    assert np.allclose(grid[tuple(pdsch.data_places.T)], symbols) and np.array_equal(grid[ptrs != 0], ptrs[ptrs != 0])
    assert not grid[8:11, 48:120].any()
    for settings, match in (({"reserved": [0, 1, 2]}, "reserved"), ({"reserved": [0, 1, 2, 1]}, "DMRS"), ({"channel": "pusch", "reserved": [0, 1, 4, 1]}, "reserved"),
                            ({"ptrs_offset": 4}, "ptrs_offset"), ({"physical_blocks": [4, 4]}, "physical_blocks"), ({"dmrs_delay": 1}, "dmrs_delay")):
        with pytest.raises(ValueError, match=match):
            wb.NrSharedChannel(**{"channel": "pdsch", "resource_blocks": 20, "blocks": 2} | settings)


def test_downlink_has_two_codewords(rng):
    pdsch = wb.NrSharedChannel(channel="pdsch", resource_blocks=1, layers=5, dmrs_length=2)
    first, second = rng.normal(size=pdsch.codeword_symbols), rng.normal(size=pdsch.second_codeword_symbols)
    data = pdsch.extract(pdsch.map(first, second))
    assert np.allclose(data[:, :2].ravel(), first, atol=1e-6) and np.allclose(data[:, 2:].ravel(), second, atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"method": "lmmse", "delays_ns": [100, 150], "powers": [1, 0.5], "noise_var": 0.01}])
def test_estimates_find_the_channel(rng, settings):
    pusch = wb.NrSharedChannel(resource_blocks=12, layers=2, dmrs_additional_positions=1)
    h = rng.normal(size=(4, 1, 1, 3, 2)) + 1j * rng.normal(size=(4, 1, 1, 3, 2))
    h = h * np.exp(-2j * np.pi * 30e3 * 150e-9 * np.arange(144))[:, None, None] / np.sqrt(2)
    sent = pusch.map(rng.normal(size=(4, pusch.codeword_symbols)))
    received = np.einsum("slkrp,slkp->slkr", np.broadcast_to(h, (4, 14, 144, 3, 2)), sent)
    received = received + 0.05 * (rng.normal(size=received.shape) + 1j * rng.normal(size=received.shape))
    estimate = wb.ChannelEstimator(channel=pusch, data_only=False, **settings)
    channel, noise_var = estimate(received, 0.005)
    assert channel.shape == (4, 14, 144, 3, 2) and noise_var.shape == (4, 14, 144)
    assert np.mean(np.abs(channel - h) ** 2) < 0.005
    assert np.all(noise_var > 0.005)
    data = wb.ChannelEstimator(channel=pusch, **settings)(received, np.full(4, 0.005, np.float32), outputs="channel")
    places = pusch.data_places
    assert np.array_equal(data, channel[:, places[:, 0], places[:, 1]])
    assert 0 < estimate.error_variance(0.005) < 0.005


def test_numerology_is_that_of_the_channel(rng):
    pusch = wb.NrSharedChannel(spacing_khz=15, resource_blocks=8, dmrs_additional_positions=1)
    known = {"method": "lmmse", "noise_var": 0.05, "doppler_hz": 100.0, "delays_ns": [0, 400, 900], "powers": [1, 0.5, 0.2]}
    estimate = wb.ChannelEstimator(channel=pusch, data_only=False, **known)
    assert estimate.spacing_hz == 15e3 and abs(estimate.period_us - 1000 / 14) < 1e-9
    assert estimate.error_variance(0.05) == wb.ChannelEstimator(channel=pusch, data_only=False, spacing_hz=15e3, period_us=1000 / 14,
                                                                **known).error_variance(0.05)
    line = wb.TdlChannel(delays_ns=known["delays_ns"], powers_db=list(10 * np.log10(known["powers"])), doppler_hz=100.0, subcarriers=96, symbols=14,
                         spacing_hz=15e3, rx_antennas=2)
    sent = pusch.map(np.exp(2j * np.pi * rng.random((60, pusch.codeword_symbols))))
    received, h = line(sent, seed=1)
    found = estimate(wb.awgn(received, noise_var=0.05, seed=2), 0.05, outputs="channel")
    assert abs(np.mean(np.abs(found - h) ** 2) / estimate.error_variance(0.05) - 1) < 0.1
    for name, value in (("spacing_hz", 30e3), ("period_us", 35.7)):
        for method in ({}, known):
            with pytest.raises(ValueError, match=rf"^{name} = .* is not allowed: expected none, or .*, which the pilots have\Z"):
                wb.ChannelEstimator(channel=pusch, **{name: value}, **method)


def test_noise_of_a_selective_channel_is_not_too_high():
    pusch = wb.NrSharedChannel(resource_blocks=12, layers=4, dmrs_additional_positions=1)
    line = wb.TdlChannel(profile="tdlc300", doppler_hz=50.0, subcarriers=144, symbols=14, spacing_hz=30e3, cyclic_prefix_us=2.7, streams=4,
                         rx_antennas=2)
    received, _ = line(pusch.map(np.ones((30, pusch.codeword_symbols))), seed=1)
    estimate = wb.NoiseEstimator(channel=pusch)
    noise_var = estimate(wb.awgn(received, noise_var=0.001, seed=2), outputs="noise_var")
    assert abs(noise_var.mean() / 0.001 - 1) < 0.1
    assert 0 < estimate.leak < 1e-6
    assert wb.NoiseEstimator(channel=wb.NrSharedChannel(resource_blocks=4)).leak == 0
    assert wb.NoiseEstimator(channel=wb.NrSharedChannel(resource_blocks=2, layers=4)).leak > 1e-4


def test_noise_of_slots_is_a_number_or_an_array():
    pusch = wb.NrSharedChannel(resource_blocks=4)
    estimate, received = wb.ChannelEstimator(channel=pusch), np.zeros((2, 3, *pusch.grid_shape, 1), np.complex64)
    wanted = estimate(received, np.tile(np.array([0.1, 0.2, 0.4], np.float32), (2, 1)), outputs="noise_var")
    assert np.all(np.diff(wanted, axis=1) > 0)
    for noise_var in ([0.1, 0.2, 0.4], np.array([0.1, 0.2, 0.4]), np.array([[0.1, 0.2, 0.4]], np.float32)):
        assert np.array_equal(estimate(received, noise_var, outputs="noise_var"), wanted)
    with pytest.raises(ValueError, match=r"^noise_var = shape \(2,\) is not allowed: expected batch axes \(2, 3\)\Z"):
        estimate(received, [0.1, 0.2])
    with pytest.raises(TypeError, match=r"^noise_var is None: expected a number or an array of float32\Z"):
        estimate(received, None)
    with pytest.raises(TypeError, match=r"^noise_var is a str: expected a number or an array\Z"):
        estimate(received, "0.1")


def test_interference_is_rejected(rng):
    pusch = wb.NrSharedChannel(resource_blocks=24, dmrs_additional_positions=1)
    bits = rng.integers(0, 2, (20, 2 * pusch.codeword_symbols), dtype=np.uint8)
    sent = pusch.map(wb.QamMapper(qam=4)(bits).reshape(20, -1))
    h, other = (rng.normal(size=(20, 1, 1, 4)) + 1j * rng.normal(size=(20, 1, 1, 4)) for _ in range(2))
    jammer = 3 * (rng.normal(size=(20, 14, 288, 1)) + 1j * rng.normal(size=(20, 14, 288, 1)))
    received = wb.awgn((h * sent + other * jammer).astype(np.complex64), noise_var=0.1, seed=1)
    channel, noise_var = wb.ChannelEstimator(channel=pusch)(received, 0.1)
    y = pusch.extract(received)
    detector = wb.MMSE(streams=1, rx_antennas=4, qam=4)
    plain = detector(channel, y, noise_var).reshape(20, -1) < 0
    covariance = wb.NoiseEstimator(channel=pusch)(received, outputs="covariance")
    rejecting = detector(*wb.whiten(covariance, channel, y), 1.0).reshape(20, -1) < 0
    assert np.mean(rejecting != bits) < 0.1 * np.mean(plain != bits)


def test_a_slot_from_bits_to_bits(rng):
    pusch, mcs = wb.nr_reference_channel(name="G-FR1-A4-11")
    transport = pusch.transport(mcs=mcs)
    bits = rng.integers(0, 2, (2, transport["transport_bits"]), dtype=np.uint8)
    coded = wb.NrTransportEncoder(**transport)(bits)
    sent = pusch.map(wb.QamMapper(qam=16)(coded).reshape(2, -1))
    received = wb.awgn(sent, noise_var=0.05, seed=3)
    channel, noise_var = wb.ChannelEstimator(channel=pusch)(received, 0.05)
    llr = wb.MMSE(streams=1, rx_antennas=1, qam=16)(channel, pusch.extract(received), noise_var)
    decided, ok = wb.NrTransportDecoder(**transport)(llr.reshape(2, -1))
    assert ok.all() and np.array_equal(decided, bits)


GRID = np.ones((14, 300, 1))


@pytest.mark.parametrize("make, argument", [
    (lambda: wb.NrSharedChannel(resource_blocks=10, first_block=5, blocks=6), "blocks"),
    (lambda: wb.NrSharedChannel(layers=2, dmrs_ports=[0, 0]), "dmrs_ports"),
    (lambda: wb.NrSharedChannel(antenna_ports=2), "antenna_ports"),
    (lambda: wb.NrSharedChannel().transport(mcs=31), "rate_x1024"),
    (lambda: wb.NrSharedChannel().dmrs(1), "layer"),
    (lambda: wb.NrSharedChannel().map(np.ones(5)), "symbols"),
    (lambda: wb.NrSharedChannel().extract(np.ones((14, 12, 1))), "grid"),
    (lambda: wb.nr_precoder(antenna_ports=2, layers=1, tpmi=6), "tpmi"),
    (lambda: wb.nr_reference_channel(name="G-FR1-A9-1"), "name"),
    (lambda: wb.ChannelEstimator(channel=wb.NrSharedChannel(), method="lmmse", taps=0), "taps"),
    (lambda: wb.ChannelEstimator(channel=wb.NrSharedChannel(), data_only=1), "data_only"),
    (lambda: wb.ChannelEstimator(channel=wb.NrSharedChannel())(np.ones((14, 12, 1)), 1.0), "received"),
    (lambda: wb.NoiseEstimator(channel=wb.NrSharedChannel(resource_blocks=1, layers=4)), "channel"),
    (lambda: wb.ChannelEstimator(channel=wb.NrSharedChannel())(GRID, 0.1, outputs=[["channel"]]), "outputs"),
    (lambda: wb.ChannelEstimator(channel=wb.NrSharedChannel()).error_variance("x"), "noise_var"),
    (lambda: wb.whiten("x", np.ones((5, 2, 1)), np.ones((5, 2))), "covariance"),
    (lambda: wb.whiten(np.eye(2), np.ones((5, 2, 1)), np.array(["a"])), "received"),
    (lambda: wb.whiten(np.eye(2), [[1], [1, 2]], np.ones((5, 2))), "channel"),
    (lambda: wb.whiten(np.eye(2), np.ones((5, 2, 1)), np.ones((5, 2)), added=None), "added")])
def test_bad_arguments_are_named(make, argument):
    with pytest.raises(ValueError, match=rf"^{argument} = .* is not allowed: expected [^\n]*\Z"):
        make()


def test_what_overflows_is_erased():
    h, y, status = wb.whiten(np.eye(1), np.ones((2, 1, 1)), np.array([[1e300], [1]]), outputs=("channel", "received", "status"))
    assert (y.tolist(), h.tolist(), status.tolist()) == ([[0], [1]], [[[0]], [[1]]], [1, 0])


@pytest.mark.parametrize("bad", [np.ones((2, 2)), np.zeros((2, 2)), -np.eye(2), np.full((2, 2), np.nan), np.diag([np.inf, 1]), np.diag([1, 0]),
                                 [[1, 2], [2, 1]], [[1, 0], [np.nan, 1]], np.eye(2) * 1e300, np.outer([3 + 4j, 1], [3 - 4j, 1])])
def test_uses_of_a_singular_covariance_are_erased(bad, rng):
    """And counted: by the status here, and by that of the detector behind. The slots before and behind are untouched."""
    good = np.eye(2) + 0.5
    covariance = np.stack([good, np.asarray(bad, complex), good])
    received, channel = (rng.normal(size=(3, 5, *shape)).astype(np.complex64) for shape in ((2,), (2, 1)))
    h, y, status = wb.whiten(covariance, channel, received, outputs=("channel", "received", "status"))
    assert status.tolist() == [[0] * 5, [1] * 5, [0] * 5] and not y[1].any() and not h[1].any()
    for slot in (0, 2):
        alone = wb.whiten(good, channel[slot], received[slot])
        assert np.array_equal(h[slot], alone[0]) and np.array_equal(y[slot], alone[1])
    llr, erased = wb.MMSE(streams=1, rx_antennas=2, qam=4)(h, y, 1.0, outputs=("llr", "status"))
    assert np.array_equal(erased, status) and np.isfinite(llr).all() and not llr[1].any()
    assert np.array_equal(wb.whiten(covariance, channel, received, outputs="status"), status)
    if np.isfinite(np.asarray(bad)).all() and np.linalg.eigvalsh(bad).min() > -1e-9 and np.abs(bad).max() < 1e9:  # what `added` mends
        assert not wb.whiten(bad, channel[1], received[1], added=0.1, outputs="status").any()


def test_covariances_that_rounding_leaves_definite_are_taken(rng):
    """Interference of 50 dB over the noise in 4 antennas, and diagonals of any scale."""
    direction = rng.normal(size=4) + 1j * rng.normal(size=4)
    strong = 1e5 * np.outer(direction, direction.conj()) / np.sum(np.abs(direction) ** 2) * 4 + np.eye(4)
    y, h = np.ones((3, 4)), np.ones((3, 4, 1))
    for covariance in (strong, np.diag([1e-20, 1, 1e10, 1e20]), 1e-20 * np.eye(4)):
        assert not wb.whiten(covariance, h, y, outputs="status").any()
