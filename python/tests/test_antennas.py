"""Massive MIMO and space-time codes."""
import itertools

import numpy as np
import oracles
import pytest

import warpband as wb


def normal(rng, *shape):
    return ((rng.normal(size=shape) + 1j * rng.normal(size=shape)) / 2 ** 0.5).astype(np.complex64)


@pytest.mark.parametrize("mode, kind", [("cholesky", "mmse"), ("zf", "zf"), ("mf", "mf")])
def test_uplink(mode, kind, rng):
    h, y = normal(rng, 3, 24, 5), normal(rng, 3, 4, 24)
    n0 = rng.uniform(0.5, 2, 3).astype(np.float32)
    detector = wb.MassiveUplink(antennas=24, users=5, qam=16, solver=mode)
    llr, x, sinr, status = detector(h, y, n0, outputs=("llr", "equalized", "sinr", "status"))
    wide = np.repeat(h.astype(complex), 4, 0)
    wanted, points, quality = oracles.linear(kind, wide, y.reshape(12, 24).astype(complex), np.repeat(n0, 4), 16)
    np.testing.assert_allclose(x.reshape(12, 5), points, atol=2e-3 * np.abs(points).max())
    np.testing.assert_allclose(sinr.reshape(12, 5), quality, rtol=2e-3)
    np.testing.assert_allclose(llr.reshape(12, -1), wanted, atol=3e-3 * np.abs(wanted).max())
    assert llr.shape == (3, 4, 20) and not status.any()
    assert np.array_equal(wb.MassiveUplink(antennas=24, users=5, qam=16, solver=mode, llr_sign="p1/p0")(h, y, n0), -llr)


def halves(x):
    return np.stack([x.real, x.imag], -1).astype(np.float16)


def widened(x):
    return (x[..., 0].astype(np.float32) + 1j * x[..., 1].astype(np.float32)).astype(np.complex64)


def test_uplink_of_halves(rng):
    h, y = halves(normal(rng, 3, 24, 5)), halves(normal(rng, 3, 4, 24))
    h[1, 3, 2, 0] = np.inf
    detector = wb.MassiveUplink(antennas=24, users=5, qam=16, llr_steps=3.0)
    names = ("llr", "equalized", "sinr", "status", "llr_int8")
    got, wanted = detector(h, y, 0.5, outputs=names), detector(widened(h), widened(y), 0.5, outputs=names)
    for name, a, b in zip(names, got, wanted):
        assert a.dtype == b.dtype and np.array_equal(a, b), name
    llr, steps, status = got[0], got[4], got[3]
    assert steps.dtype == np.int8 and steps.shape == (3, 4, 20)
    assert np.array_equal(steps, np.clip(np.rint(llr * np.float32(3)), -127, 127))
    assert np.array_equal(status, np.repeat([[0], [1], [0]], 4, 1))
    # antennas and users the other way round in memory
    turned = np.ascontiguousarray(h.transpose(1, 2, 0, 3)).transpose(2, 0, 1, 3)
    assert np.array_equal(detector(turned, y, 0.5), llr)
    reversed_sign = wb.MassiveUplink(antennas=24, users=5, qam=16, llr_steps=3.0, llr_sign="p1/p0")
    assert np.array_equal(reversed_sign(h, y, 0.5, outputs="llr_int8"), -steps)
    precoder = wb.MassiveDownlink(antennas=24, users=5)
    s = normal(rng, 3, 4, 5)
    assert np.array_equal(precoder(h, s, 0.5), precoder(widened(h), s, 0.5))


def test_halves_that_are_refused(rng):
    h, y = halves(normal(rng, 3, 24, 5)), halves(normal(rng, 3, 4, 24))
    detector = wb.MassiveUplink(antennas=24, users=5, qam=16)
    for channel, received, message in ((widened(h), y, "channel = an array of complex64.*float16"),
                                       (h, widened(y), "received = an array of complex64.*float16"),
                                       (h[..., :1], y, "channel = shape"), (h, y[..., :1], "received = shape"),
                                       (h, np.swapaxes(np.ascontiguousarray(np.swapaxes(y, 2, 3)), 2, 3), "side by side")):
        with pytest.raises(ValueError, match=message):
            detector(channel, received, 0.5, strict=True)
    with pytest.raises(ValueError, match="llr_steps"):
        wb.MassiveUplink(antennas=24, users=5, qam=16, llr_steps=100)


def test_split_f16_on_a_cpu_is_float32(rng):
    h, y = normal(rng, 3, 32, 16), normal(rng, 3, 4, 32)
    plain, split = (wb.MassiveUplink(antennas=32, users=16, qam=16, sums=sums)(h, y, 0.5) for sums in ("float32", "split-f16"))
    np.testing.assert_array_equal(split, plain)
    with pytest.raises(ValueError, match='sums = "tf32" is not allowed: expected .*split-f16'):
        wb.MassiveUplink(antennas=32, users=16, qam=16, sums="tf32")


def test_halves_of_torch(rng):
    torch = pytest.importorskip("torch")
    h, y = halves(normal(rng, 3, 24, 5)), halves(normal(rng, 3, 4, 24))
    detector = wb.MassiveUplink(antennas=24, users=5, qam=16)
    wanted = detector(h, y, 0.5)
    as_pairs = detector(torch.from_numpy(h), torch.from_numpy(y), 0.5)
    assert isinstance(as_pairs, torch.Tensor) and np.array_equal(as_pairs.numpy(), wanted)
    narrow = [torch.view_as_complex(torch.from_numpy(x)) for x in (h, y)]
    assert narrow[0].dtype == torch.complex32
    assert np.array_equal(detector(*narrow, 0.5).numpy(), wanted)


def test_conjugate_gradients_come_to_the_same(rng):
    h, y = normal(rng, 2, 64, 6), normal(rng, 2, 3, 64)
    exact = wb.MassiveUplink(antennas=64, users=6, qam=4)(h, y, 1.0, outputs="equalized")
    for mode in ("cg", "jacobi-cg"):
        found = wb.MassiveUplink(antennas=64, users=6, qam=4, solver=mode, iterations=8)(h, y, 1.0, outputs="equalized")
        # without A^-1 the bias that is taken off is an approximate one
        scale = (found * exact.conj()).real.sum((0, 1)) / (np.abs(exact) ** 2).sum((0, 1))
        np.testing.assert_allclose(found, exact * scale, atol=0.02)


def test_downlink(rng):
    h, s = normal(rng, 3, 16, 4), normal(rng, 3, 2, 4)
    sent = wb.MassiveDownlink(antennas=16, users=4)(h, s, 0.5)
    wide = h.astype(complex)
    gram = wide.conj().swapaxes(1, 2) @ wide + 4 * 0.5 * np.eye(4)  # users N0
    m = np.einsum("fbu,fsu->fsb", wide @ np.linalg.inv(gram), s)
    np.testing.assert_allclose(sent, m / np.linalg.norm(m, axis=-1, keepdims=True), atol=1e-4)


def test_downlink_that_is_not_normalised(rng):
    h, s = normal(rng, 3, 16, 4), normal(rng, 3, 2, 4)
    for made in ({"solver": "zf"}, {"solver": "mf"}, {"solver": "cg", "iterations": 4}, {"clusters": 2},
                 {"clusters": 2, "cluster_method": "local-mmse"}):
        kind = wb.ClusteredDownlink if "clusters" in made else wb.MassiveDownlink
        m, x = (kind(antennas=16, users=4, normalization=n, **made)(h, s, 0.5) for n in ("unscaled", "unit-power"))
        np.testing.assert_allclose(np.linalg.norm(x, axis=-1), 1, atol=1e-5)
        for first in range(0, 16, 8):  # with "local-mmse" clusters of 8 have factors of their own
            part = slice(first, first + 8) if "cluster_method" in made else slice(None)
            power = np.linalg.norm(m[..., part], axis=-1, keepdims=True) / np.linalg.norm(x[..., part], axis=-1, keepdims=True)
            np.testing.assert_allclose(x[..., part] * power, m[..., part], atol=1e-5)
    # m is linear in s
    linear = wb.MassiveDownlink(antennas=16, users=4, normalization="unscaled")
    np.testing.assert_allclose(linear(h, 3 * s, 0.5), 3 * linear(h, s, 0.5), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("solver", ["zf", "cholesky", "cg"])
def test_a_downlink_by_hand_has_the_error_rate_of_sweep(rng, solver):
    """Vectors of energy 1, y = H^H x + n, and N0 of n for the precoder: the convention of scenarios."""
    antennas, users, snr_db, vectors = 8, 4, 6.0, 30000
    n0, made = 10 ** (-snr_db / 10), {"solver": solver, **({"iterations": 3} if solver == "cg" else {})}
    h, bits = normal(rng, vectors, antennas, users), rng.integers(0, 2, (vectors, 2 * users))
    s = wb.QamMapper(qam=4)(bits).reshape(vectors, users)
    x = wb.MassiveDownlink(antennas=antennas, users=users, **made)(h, s, n0)
    y = np.einsum("vbu,vb->vu", h.conj(), x) + n0 ** 0.5 * normal(rng, vectors, users)
    decided = np.stack([y.real < 0, y.imag < 0], -1).reshape(vectors, -1)  # all gains are positive
    by_hand = (decided != bits).mean()
    result = wb.sweep({"code": {"type": "none"}, "modem": {"modulation": "qpsk"}, "channel": {"type": "rayleigh"},
                       "massive": {"direction": "downlink", "antennas": antennas, "users": users, "subcarriers": 50, **made},
                       "sweep": {"snr_db": [snr_db]}, "stop": {"frame_errors": 0, "max_frames": vectors // 50}})
    swept = result["ber"][0]
    spread = (3 * (by_hand + swept) / (vectors * 2 * users)) ** 0.5  # errors of a vector come together
    assert abs(by_hand - swept) < 4 * spread and by_hand > 0.002
    # A channel with the same N0 and another energy of what is sent: the same system, given otherwise.
    again = wb.MassiveDownlink(antennas=antennas, users=users, symbol_energy=1.0, **made)(h, s, users * n0)
    np.testing.assert_allclose(again, x, atol=1e-5)


def test_status_alone_of_the_downlink(rng):
    precoder = wb.MassiveDownlink(antennas=8, users=4)
    h, s = normal(rng, 3, 8, 4), normal(rng, 3, 2, 4)
    h[1, 2, 3], s[2, 1, 0] = np.nan, np.inf
    status = precoder(h, s, 0.5, outputs="status")
    assert status.tolist() == [[0, 0], [1, 1], [0, 1]]
    given = np.full((3, 2), 7, np.uint8)
    assert precoder(h, s, 0.5, outputs="status", out=given) is given and np.array_equal(given, status)
    assert np.array_equal(precoder(h, s, 0.5, outputs=("status", "precoded"))[0], status)


@pytest.mark.parametrize("make", [lambda: wb.MassiveUplink(antennas=2, users=4, qam=4),
                                  lambda: wb.MassiveUplink(antennas=8, users=4, qam=4, solver="cg"),
                                  lambda: wb.MassiveUplink(antennas=8, users=4, qam=4, solver="qr"),
                                  lambda: wb.MassiveDownlink(antennas=8, users=4, normalization="none"),
                                  lambda: wb.StbcEncoder(type="bronze", qam=4), lambda: wb.StbcEncoder(type="pair", qam=4),
                                  lambda: wb.StbcEncoder(type="pair", qam=4, v=[[1, 1], [1, 1]]),
                                  lambda: wb.StbcDecoder(type="silver", qam=1024, rx_antennas=2),
                                  lambda: wb.StbcDecoder(type="silver", qam=4, rx_antennas=2, search="slicing")])
def test_settings_that_are_not_allowed(make):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        make()


PAIR = np.array([[1, 0], [0, -1]])


def codeword(code, x):
    if code == "alamouti":
        return oracles.alamouti(*x)
    if code == "golden":
        return oracles.golden(*x)
    return (oracles.alamouti(*x[:2]) + PAIR @ oracles.alamouti(*x[2:])) / 2 ** 0.5


@pytest.mark.parametrize("code", ["alamouti", "golden", "pair"])
def test_space_time_codes(code, rng):
    symbols = 2 if code == "alamouti" else 4
    v = {"v": PAIR} if code == "pair" else {}
    encoder = wb.StbcEncoder(type=code, qam=4, **v)
    words = np.array([np.concatenate(w) for w in itertools.product(oracles.labels(4), repeat=symbols)], np.uint8)
    points = oracles.qam_symbols(words.reshape(-1, symbols, 2), 4)
    coded = np.array([codeword(code, x) for x in points])  # antenna, slot
    np.testing.assert_allclose(encoder(words).swapaxes(1, 2), coded, atol=1e-6)
    np.testing.assert_allclose(encoder.encode_symbols(points.astype(np.complex64)).swapaxes(1, 2), coded, atol=1e-6)

    h = normal(rng, 13, 2, 2)
    sent = rng.integers(0, len(words), 13)
    y = (h @ coded[sent]).swapaxes(1, 2).astype(np.complex64) + 0.4 * normal(rng, 13, 2, 2)  # slot, antenna
    metric = (np.abs(y.swapaxes(1, 2)[:, None] - h[:, None].astype(complex) @ coded) ** 2).sum((2, 3)) / 0.16
    decoder = wb.StbcDecoder(type=code, qam=4, rx_antennas=2, **v)
    llr, bits, status = decoder(h, y, 0.16, outputs=("llr", "bits", "status"))
    wanted = oracles.max_log(metric, words)
    np.testing.assert_allclose(llr, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())
    assert np.array_equal(bits, words[metric.argmin(1)]) and not status.any()
    assert np.array_equal(decoder(h, y, 0.16, outputs="bits"), bits)
    assert np.array_equal(wb.StbcDecoder(type=code, qam=4, rx_antennas=2, llr_sign="p1/p0", **v)(h, y, 0.16), -llr)


@pytest.mark.parametrize("code", ["alamouti", "silver", "golden"])
def test_exhaustive_search_is_the_conditional_one(code, rng):
    bits = rng.integers(0, 2, (30, wb.StbcEncoder(type=code, qam=4).bits_per_codeword), dtype=np.uint8)
    h = normal(rng, 30, 2, 2)
    y = (wb.StbcEncoder(type=code, qam=4)(bits) @ h.swapaxes(1, 2) + 0.5 * normal(rng, 30, 2, 2)).astype(np.complex64)
    llr, all_of_them = (wb.StbcDecoder(type=code, qam=4, rx_antennas=2, method=method)(h, y, 0.25) for method in ("conditional", "exhaustive"))
    np.testing.assert_allclose(all_of_them, llr, rtol=1e-3, atol=1e-3 * np.abs(llr).max())


def test_256_qam_of_space_time_codes(rng):
    for code in ("alamouti", "silver"):
        encode = wb.StbcEncoder(type=code, qam=256)
        bits = rng.integers(0, 2, (3, encode.bits_per_codeword), dtype=np.uint8)
        h = normal(rng, 3, 2, 2)
        y = (encode(bits) @ h.swapaxes(1, 2)).astype(np.complex64)
        assert np.array_equal(wb.StbcDecoder(type=code, qam=256, rx_antennas=2)(h, y, 1e-5, outputs="bits"), bits)


def test_transmit_diversity_of_lte(rng):
    """The matrices of TS 36.211 6.3.4.3, and linear combining with the interference as noise."""
    n0 = 0.2
    for code, size, rx in (("sfbc", 2, 1), ("sfbc", 2, 3), ("fstd", 4, 2)):
        encode, decode = wb.StbcEncoder(type=code, qam=16), wb.StbcDecoder(type=code, qam=16, rx_antennas=rx)
        bits = rng.integers(0, 2, (50, encode.bits_per_codeword), dtype=np.uint8)
        x = oracles.qam_symbols(bits.reshape(50, size, 4), 16)
        sent = np.zeros((50, size, size), complex)  # subcarrier, antenna
        for p in range(size // 2):
            q, a, b = p + size // 2, x[:, 2 * p], x[:, 2 * p + 1]
            sent[:, 2 * p, p], sent[:, 2 * p, q], sent[:, 2 * p + 1, p], sent[:, 2 * p + 1, q] = a, -b.conj(), b, a.conj()
        sent *= (size / 2) ** 0.5
        np.testing.assert_allclose(encode(bits), sent, atol=1e-6)
        h = normal(rng, 50, 1, rx, size) + 0.3 * normal(rng, 50, size, rx, size)
        y = (np.einsum("bert,bet->ber", h, sent) + n0 ** 0.5 * normal(rng, 50, size, rx)).astype(np.complex64)
        llr, decided = decode(h.astype(np.complex64), y, n0, outputs=("llr", "bits"))
        points, labels = oracles.qam_symbols(oracles.labels(16)[:, None], 16)[:, 0], oracles.labels(16)
        for i in range(50):
            for p in range(size // 2):
                g0, g1 = h[i, 2 * p][:, [p, p + size // 2]], h[i, 2 * p + 1][:, [p, p + size // 2]]
                g = (size / 2) ** 0.5 * np.vstack([np.stack([g0[:, 0], -g0[:, 1]], 1), np.stack([g1[:, 1], g1[:, 0]], 1).conj()])
                gram, z = g.conj().T @ g, g.conj().T @ np.concatenate([y[i, 2 * p], y[i, 2 * p + 1].conj()])
                for k in range(2):
                    gain = gram[k, k].real
                    metric = np.abs(z[k] / gain - (points if k == 0 else points.conj())) ** 2 * gain / (n0 + abs(gram[0, 1]) ** 2 / gain)
                    wanted = oracles.max_log(metric[None], labels)[0]
                    got = llr[i, (2 * p + k) * 4:(2 * p + k + 1) * 4]
                    np.testing.assert_allclose(got, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())
        assert np.array_equal(decided, llr < 0)


def test_silver_is_decoded(rng):
    bits = rng.integers(0, 2, (50, 8), dtype=np.uint8)
    coded = wb.StbcEncoder(type="silver", qam=4)(bits)
    h = normal(rng, 50, 2, 2)
    y = np.ascontiguousarray((h @ coded.swapaxes(1, 2)).swapaxes(1, 2))
    assert np.array_equal(wb.StbcDecoder(type="silver", qam=4, rx_antennas=2)(h, y, 1e-4, outputs="bits"), bits)
