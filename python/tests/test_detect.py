import numpy as np
import oracles
import pytest

import warpband as wb


def uses(rng, n, streams, rx, qam, n0):
    h = ((rng.normal(size=(n, rx, streams)) + 1j * rng.normal(size=(n, rx, streams))) / 2 ** 0.5).astype(np.complex64)
    bits = rng.integers(0, 2, (n, streams, qam.bit_length() - 1), dtype=np.uint8)
    noise = (rng.normal(size=(n, rx)) + 1j * rng.normal(size=(n, rx))) * (n0 / 2) ** 0.5
    y = (np.einsum("urs,us->ur", h, oracles.qam_symbols(bits, qam)) + noise).astype(np.complex64)
    return h, y, bits.reshape(n, -1)


EXHAUSTIVE = {"ML": {}, "NWay": {}, "MultiPassTrellis": {}, "KBest": {"survivors": 4096, "llr_clip": 1e6}, "Sphere": {}}


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_two_streams_are_exhaustive(name, rng):
    h, y, _ = uses(rng, 33, 2, 2, 16, 0.1)
    llr = getattr(wb, name)(streams=2, rx_antennas=2, qam=16, **EXHAUSTIVE[name])(h, y, 0.1)
    wanted = oracles.ml(h, y, np.full(33, 0.1), 16)
    np.testing.assert_allclose(llr, wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("name", EXHAUSTIVE)
def test_prior(name, rng):
    h, y, _ = uses(rng, 17, 2, 3, 4, 0.5)
    prior = rng.normal(scale=3, size=(17, 4)).astype(np.float32)
    settings = EXHAUSTIVE[name]
    wanted = oracles.ml(h, y, np.full(17, 0.5), 4, prior)
    detector = getattr(wb, name)(streams=2, rx_antennas=3, qam=4, **settings)
    np.testing.assert_allclose(detector(h, y, 0.5, prior=prior), wanted, rtol=1e-3, atol=1e-3 * np.abs(wanted).max())
    extrinsic = getattr(wb, name)(streams=2, rx_antennas=3, qam=4, extrinsic=True, **settings)
    np.testing.assert_allclose(extrinsic(h, y, 0.5, prior=prior), wanted - prior, atol=2e-3 * np.abs(wanted).max())
    other = getattr(wb, name)(streams=2, rx_antennas=3, qam=4, llr_sign="p1/p0", **settings)
    assert np.array_equal(other(h, y, 0.5, prior=-prior), -detector(h, y, 0.5, prior=prior))


@pytest.mark.parametrize("kind, name", [("mf", "MatchedFilter"), ("zf", "ZeroForcing"), ("mmse", "MMSE")])
def test_linear(kind, name, rng):
    h, y, _ = uses(rng, 29, 3, 4, 16, 0.2)
    n0 = rng.uniform(0.1, 0.4, 29).astype(np.float32)
    llr = getattr(wb, name)(streams=3, rx_antennas=4, qam=16)(h, y, n0)
    wanted = oracles.linear(kind, h.astype(complex), y.astype(complex), n0, 16)[0]
    np.testing.assert_allclose(llr, wanted, rtol=2e-3, atol=2e-3 * np.abs(wanted).max())


@pytest.mark.parametrize("name", ["ML", "MatchedFilter", "ZeroForcing", "MMSE", "OnePassTrellis", "MultiPassTrellis",
                                  "KBest", "NWay", "Sphere", "PIC", "EP"])
def test_bits_are_signs_and_right_without_noise(name, rng):
    streams = 1 if name == "MatchedFilter" else 3
    h, y, sent = uses(rng, 21, streams, 4, 16, 1e-6)
    llr, bits, status = getattr(wb, name)(streams=streams, rx_antennas=4, qam=16)(h, y, 1e-6,
                                                                                  outputs=("llr", "bits", "status"))
    assert np.array_equal(bits, llr < 0) and np.array_equal(bits, sent) and not status.any()


def test_visited_nodes(rng):
    h, y, _ = uses(rng, 200, 3, 3, 16, 0.1)
    made = {"streams": 3, "rx_antennas": 3, "qam": 16, "llr_clip": 8}
    llr, visited = wb.Sphere(**made)(h, y, 0.1, outputs=("llr", "visited"))
    assert visited.shape == (200,) and visited.dtype == np.int32 and (visited >= 3).all()
    limited, fewer = wb.Sphere(**made, node_limit=20)(h, y, 0.1, outputs=("llr", "visited"))
    assert np.array_equal(fewer, np.minimum(visited, 20))
    assert np.array_equal(limited[visited < 20], llr[visited < 20]) and not np.array_equal(limited, llr)
    hard, fewest = wb.Sphere(**made, hard_output=True)(h, y, 0.1, outputs=("llr", "visited"))
    assert np.array_equal(hard, np.where(llr < 0, -8, 8)) and (fewest <= visited).all()
    with pytest.raises(ValueError, match="visited"):
        wb.ML(streams=3, rx_antennas=3, qam=16)(h, y, 0.1, outputs="visited")


def test_order_turns_the_columns(rng):
    h, y, _ = uses(rng, 9, 3, 3, 4, 0.1)
    order = [2, 0, 1]
    llr = wb.KBest(streams=3, rx_antennas=3, qam=4, survivors=3, order=order)(h, y, 0.1).reshape(9, 3, 2)
    turned = wb.KBest(streams=3, rx_antennas=3, qam=4, survivors=3)(np.ascontiguousarray(h[:, :, order]), y, 0.1)
    assert np.array_equal(llr[:, order], turned.reshape(9, 3, 2))


def test_uses_share_a_channel(rng):
    h, _, _ = uses(rng, 4, 2, 2, 4, 0.1)
    y = uses(rng, 20, 2, 2, 4, 0.1)[1].reshape(4, 5, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    n0 = rng.uniform(0.1, 1, (4, 5)).astype(np.float32)
    apart = detector(np.repeat(h[:, None], 5, 1), y, n0)
    assert np.array_equal(detector(h, y, n0), apart)
    assert np.array_equal(detector(h[0], y[0], 0.5), detector(np.repeat(h[:1], 5, 0), y[0], 0.5))


def test_a_channel_is_broadcast_as_numpy_does(rng):
    y = uses(rng, 20, 2, 2, 4, 0.1)[1].reshape(4, 5, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    for shape in ((), (1,), (1, 1), (4, 1), (1, 5), (4, 5)):
        h = (rng.normal(size=(*shape, 2, 2)) + 1j * rng.normal(size=(*shape, 2, 2))).astype(np.complex64)
        wanted = detector(np.array(np.broadcast_to(h, (4, 5, 2, 2))), y, 0.1)
        assert np.array_equal(detector(h, y, 0.1), wanted), shape
        assert np.array_equal(detector(h.tolist(), y, 0.1), wanted), shape
        if shape != (1, 5):  # nothing is copied
            assert np.array_equal(detector(h, y, 0.1, strict=True), wanted), shape
    assert np.array_equal(detector(h[:1, 0], y[0], 0.1), detector(h[0, 0], y[0], 0.1))
    for shape in ((3,), (2, 1), (4, 4), (1, 1, 1)):
        with pytest.raises(ValueError, match="^channel = shape .* is not allowed: expected batch axes that are the first of .*, or 1 where they are shared$"):
            detector(np.ones((*shape, 2, 2), np.complex64), y, 0.1)
    demap, r = wb.Demapper(qam=4), y.reshape(4, 10)
    gain = np.full((4, 10), 2j, np.complex64)
    for h in (np.complex64(2j) * np.ones(()), gain[:1], gain[:, :1], [2j]):
        assert np.array_equal(demap(r, 0.1, channel=h), demap(r, 0.1, channel=gain))
    with pytest.raises(ValueError, match="^channel = shape"):
        demap(r, 0.1, channel=gain[:3])


def test_a_singular_channel_is_erased_alone(rng):
    h, y, _ = uses(rng, 3, 2, 2, 4, 0.1)
    h[1, :, 1] = h[1, :, 0]
    llr, status = wb.ZeroForcing(streams=2, rx_antennas=2, qam=4)(h, y, 0.1, outputs=["llr", "status"])
    assert status.tolist() == [0, 1, 0] and not llr[1].any() and llr[[0, 2]].all()


@pytest.mark.parametrize("settings", [{"streams": 0}, {"rx_antennas": 1}, {"qam": 8}, {"order": [0, 0]}, {"llr_sign": "p1"},
                                      {"llr_clip": -1.0}, {"survivors": 0}])
def test_settings_that_are_not_allowed(settings):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        wb.KBest(**{"streams": 2, "rx_antennas": 2, "qam": 4, **settings})


def test_all_settings_are_named():
    with pytest.raises(TypeError):
        wb.MMSE(2, 2, 4)
    with pytest.raises(ValueError, match="prior"):
        wb.MMSE(streams=1, rx_antennas=1, qam=4)(np.ones((1, 1, 1), np.complex64), np.ones((1, 1), np.complex64), 1.0,
                                                 prior=np.ones((1, 2), np.float32))
