import numpy as np
import oracles
import pytest

import warpband as wb

SIZES = [2, 4, 16, 64, 256, 1024, 4096]


@pytest.mark.parametrize("qam", SIZES)
def test_symbols_are_those_of_the_standard(qam, rng):
    m = qam.bit_length() - 1
    bits = rng.integers(0, 2, (5, 7, m), dtype=np.uint8)
    symbols = wb.QamMapper(qam=qam)(bits.reshape(5, 7 * m))
    assert symbols.shape == (5, 7) and symbols.dtype == np.complex64
    np.testing.assert_allclose(symbols, oracles.qam_symbols(bits, qam), atol=1e-6)


@pytest.mark.parametrize("algorithm", ["max-log", "exact"])
@pytest.mark.parametrize("qam", SIZES)
def test_llrs(qam, algorithm, rng):
    def normal(shape):
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)

    y, h = normal((3, 11)), normal((3, 11))
    n0 = rng.uniform(0.05, 2, (3, 11)).astype(np.float32)
    demap = wb.Demapper(qam=qam, algorithm=algorithm)
    exact = algorithm == "exact"
    for llr, wanted in ((demap(y, n0, channel=h), oracles.demap(y, n0, qam, h, exact)),
                        (demap(y, 0.3), oracles.demap(y, np.full(y.shape, 0.3), qam, None, exact))):
        assert llr.shape == (3, 11 * (qam.bit_length() - 1))
        np.testing.assert_allclose(llr, wanted, rtol=2e-4, atol=2e-4 * np.abs(wanted).max())


def test_a_bad_symbol_is_erased_alone(rng):
    y = np.full((4,), 0.5 + 0.5j, np.complex64)
    y[1] = np.nan
    llr, status = wb.Demapper(qam=4)(y, 0.5, outputs=("llr", "status"))
    assert status.tolist() == [0, 1, 0, 0]
    assert (llr[2:4] == 0).all() and (llr[:2] > 0).all()


def test_status_alone(rng):
    y = np.full((3, 4), 0.5 + 0.5j, np.complex64)
    y[1, 2] = np.inf
    status = wb.Demapper(qam=4)(y, 0.5, outputs="status")
    assert status.dtype == np.uint8 and np.array_equal(status, ~np.isfinite(y))


@pytest.mark.parametrize("qam", [2, 4, 16])
def test_symbols_of_any_size_decide_their_bits(qam, rng):
    demap = wb.Demapper(qam=qam)
    bits = rng.integers(0, 2, 64 * demap.bits_per_symbol, dtype=np.uint8)
    s = wb.QamMapper(qam=qam)(bits)
    for size, n0 in ((1e-14, 1e-30), (1e-15, 1e-32), (1e-17, 1e-36), (3e19, 1e37), (1, 1e-39)):
        llr, status = demap((s * size).astype(np.complex64), n0, channel=np.full(64, size, np.complex64),
                            outputs=("llr", "status"))
        assert np.array_equal(llr < 0, bits) and (llr != 0).all() and not status.any()


def point_llrs(y, n0, h, points, exact):
    """By sums over all points, bits from the most significant one of a label."""
    m = len(points).bit_length() - 1
    metric = -np.abs(y[..., None] - h[..., None] * points) ** 2 / n0[..., None]
    join = np.logaddexp.reduce if exact else np.max
    one = np.arange(len(points))[:, None] >> np.arange(m)[::-1] & 1 == 1
    llr = [join(metric[..., ~one[:, i]], axis=-1) - join(metric[..., one[:, i]], axis=-1) for i in range(m)]
    return np.stack(llr, -1).reshape(*y.shape[:-1], -1)


@pytest.mark.parametrize("algorithm", ["max-log", "exact"])
@pytest.mark.parametrize("count", [2, 8, 64])
def test_points_of_your_own(count, algorithm, rng):
    points, labels = rng.normal(size=count) + 1j * rng.normal(size=count), rng.permutation(count)
    modem = wb.Constellation(points=points, labels=labels, algorithm=algorithm)
    m, by_label = count.bit_length() - 1, np.empty(count, complex)
    by_label[labels] = points / np.sqrt(np.mean(np.abs(points) ** 2))
    np.testing.assert_allclose(modem.symbols, by_label, rtol=1e-12)
    assert modem.bits_per_symbol == m
    bits = rng.integers(0, 2, (5, 7, m), dtype=np.uint8)
    np.testing.assert_allclose(modem.map(bits.reshape(5, -1)), by_label[bits @ (1 << np.arange(m)[::-1])], atol=1e-6)
    y, h = ((rng.normal(size=(5, 7)) + 1j * rng.normal(size=(5, 7))).astype(np.complex64) for _ in range(2))
    n0 = rng.uniform(0.05, 2, (5, 7)).astype(np.float32)
    wanted = point_llrs(y.astype(complex), n0, h.astype(complex), by_label, algorithm == "exact")
    np.testing.assert_allclose(modem.demap(y, n0, channel=h), wanted, rtol=2e-4, atol=2e-5 * np.abs(wanted).max())


def test_constellations_of_dvb_s2(rng):
    """Neighbours on a ring differ in one bit, but for four pairs on the outermost ring of 32APSK; radii have the ratios."""
    for kind, rings, pairs in (("8psk", (8,), 0), ("16apsk", (4, 12), 0), ("32apsk", (4, 12, 16), 4)):
        ratios = wb.dvb_s2_ring_ratios(type=kind, rate="3/4")
        s = wb.Constellation(type=kind, ring_ratios=ratios).symbols
        assert np.mean(np.abs(s) ** 2) == pytest.approx(1)
        order = np.argsort(np.abs(s).round(9) * 100 + np.angle(s))
        apart = 0
        for ring, ratio in zip(np.split(order, np.cumsum(rings)[:-1]), [1, *(ratios or [])]):
            np.testing.assert_allclose(np.abs(s[ring]) / np.abs(s).min(), ratio)
            apart += sum(bin(a ^ b).count("1") == 2 for a, b in zip(ring, np.roll(ring, 1)))
            assert all(bin(a ^ b).count("1") <= 2 for a, b in zip(ring, np.roll(ring, 1)))
        assert apart == pairs
    with pytest.raises(ValueError, match='rate = "1/2" is not allowed'):
        wb.dvb_s2_ring_ratios(type="8psk", rate="1/2")


@pytest.mark.parametrize("settings", [{}, {"points": [1, -1, 2]}, {"points": [0, 0]}, {"points": [1, -1], "labels": [0, 0]},
                                      {"points": [1, -1], "labels": [0]}, {"points": [1, float("nan")]}, {"points": "text"},
                                      {"type": "16apsk"}, {"type": "16apsk", "ring_ratios": [0.5]}, {"type": "star"}])
def test_constellations_that_are_not_allowed(settings):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        wb.Constellation(**settings)


def test_sign(rng):
    y = (rng.normal(size=9) + 1j * rng.normal(size=9)).astype(np.complex64)
    plus, minus = wb.Demapper(qam=16)(y, 0.1), wb.Demapper(qam=16, llr_sign="p1/p0")(y, 0.1)
    assert np.array_equal(plus, -minus)


@pytest.mark.parametrize("make", [lambda: wb.QamMapper(qam=8), lambda: wb.Demapper(qam=3),
                                  lambda: wb.Demapper(qam=4, algorithm="best"), lambda: wb.Demapper(qam=4, llr_sign="other")])
def test_settings_that_are_not_allowed(make):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        make()
