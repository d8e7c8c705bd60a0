"""What docstrings and headers say with "limited", "counts as", "exact" and "up to": each limit is reached and not passed."""
import numpy as np
import pytest

import warpband as wb

MIMO = {"streams": 2, "rx_antennas": 2, "qam": 16}
SEARCHES = (wb.ML, wb.KBest, wb.NWay, wb.Sphere, wb.MultiPassTrellis, wb.OnePassTrellis, wb.PIC, wb.EP)
LINEAR = (wb.MatchedFilter, wb.ZeroForcing, wb.MMSE)


def normal(rng, *shape):
    return (rng.normal(size=(*shape, 2)).astype(np.float32).view(np.complex64)[..., 0] / 2 ** 0.5).astype(np.complex64)


def loud(kind, rng, shape, clip, extrinsic=False, bits=8):
    """The largest LLR of uses with little noise, and with a-priori LLRs if it takes some."""
    detector = kind(**MIMO, llr_clip=clip, **({"extrinsic": True} if extrinsic else {}))
    prior = {} if kind in LINEAR else {"prior": 10 * rng.normal(size=(shape, bits)).astype(np.float32)}
    return np.abs(detector(normal(rng, shape, 2, 2), 3 * normal(rng, shape, 2), 1e-6, **prior)).max()


@pytest.mark.parametrize("clip", [1e-6, 0.5, 100.0])
@pytest.mark.parametrize("kind", SEARCHES + LINEAR, ids=lambda kind: kind.__name__)
def test_detectors_limit_every_llr(kind, clip, rng):
    assert loud(kind, rng, 200, clip) == np.float32(clip)
    if kind not in LINEAR:
        assert loud(kind, rng, 200, clip, extrinsic=True) == np.float32(clip)


def test_other_receivers_limit_every_llr(rng):
    h, y = normal(rng, 100, 8, 2), 3 * normal(rng, 100, 8)
    prior = 10 * rng.normal(size=(100, 8)).astype(np.float32)
    massive = {"antennas": 8, "users": 2, "qam": 16, "llr_clip": 2.0}
    assert np.abs(wb.MassiveUplink(**massive)(h, y, 1e-6)).max() == 2
    assert np.abs(wb.MassiveSoftUplink(**massive, extrinsic=True)(h, y, 1e-6, prior=prior)).max() == 2
    for extrinsic in (False, True):
        code = wb.StbcDecoder(type="golden", qam=4, rx_antennas=2, llr_clip=2.0, extrinsic=extrinsic)
        assert np.abs(code(normal(rng, 100, 2, 2), normal(rng, 100, 2, 2), 1e-6, prior=prior)).max() == 2


def test_8_bit_llrs_are_the_nearest_steps(rng):
    h, y = normal(rng, 100, 8, 2), normal(rng, 100, 8)
    detector = wb.MassiveUplink(antennas=8, users=2, qam=16, llr_steps=4.0)
    for noise_var in (1e-4, 0.1, 10):
        exact = detector(h, y, noise_var)
        assert np.array_equal(detector(h, y, noise_var, outputs="llr_int8"), np.clip(np.rint(4 * exact), -127, 127))


@pytest.mark.parametrize("detector, shapes, bits", [
    *((kind(**MIMO), ((2, 2), (2,)), 8) for kind in SEARCHES),
    (wb.StbcDecoder(type="golden", qam=4, rx_antennas=2), ((2, 2), (2, 2)), 8),
    (wb.MassiveSoftUplink(antennas=8, users=2, qam=16), ((8, 2), (8,)), 8)], ids=lambda value: type(value).__name__)
def test_priors_beyond_a_million_count_as_a_million(detector, shapes, bits, rng):
    h, y = (normal(rng, 50, *shape) for shape in shapes)
    prior = rng.choice(np.array([-1e6, 1e6, 3], np.float32), (50, bits))
    beyond = np.where(np.abs(prior) == 1e6, prior * np.float32(1e30), prior)
    assert np.array_equal(detector(h, y, 0.1, prior=prior), detector(h, y, 0.1, prior=beyond))


@pytest.mark.parametrize("algorithm", ["max-log", "exact"])
def test_the_demapper_takes_all_finite_numbers(algorithm):
    """However small or large: LLRs are finite, within 3e38, and no symbol is erased."""
    received = np.array([0, 1e-45, 1e-38, 1e-20, 1, 1e20, 3e38, -3e38j], np.complex64)
    demap = wb.Demapper(qam=16, algorithm=algorithm)
    for noise_var in (1e-45, 1e-38, 1e-10, 1, 1e10, 3e38):
        for gain in (0, 1e-38, 1, 3e38):
            llr, status = demap(received, noise_var, channel=np.full(8, gain, np.complex64), outputs=("llr", "status"))
            assert not status.any() and np.all(np.abs(llr) <= np.float32(3e38)), (noise_var, gain)


def test_linear_detectors_have_the_exact_sinr(rng):
    """Against 4-QAM's max-log LLRs in double precision, 4 Re(x) SINR / sqrt(2), of the filter's definition."""
    h, y, n0 = normal(rng, 200, 4, 3), normal(rng, 200, 4), 0.3
    wide, gram = h.astype(complex), np.swapaxes(h, 1, 2).conj().astype(complex) @ h
    matched = (np.swapaxes(wide, 1, 2).conj() @ y[..., None])[..., 0]
    inverse = np.linalg.inv(gram + n0 * np.eye(3))
    bias = 1 - n0 * np.diagonal(inverse, axis1=1, axis2=2).real
    zero = np.linalg.inv(gram)
    power = np.diagonal(gram, axis1=1, axis2=2).real
    others = (np.abs(gram) ** 2).sum(-1) - power ** 2
    for kind, x, sinr in (
            (wb.MMSE, (inverse @ matched[..., None])[..., 0] / bias, bias / (1 - bias)),
            (wb.ZeroForcing, (zero @ matched[..., None])[..., 0], 1 / (n0 * np.diagonal(zero, axis1=1, axis2=2).real)),
            (wb.MatchedFilter, matched / power, power ** 2 / (others + n0 * power))):
        expected = 2 * 2 ** 0.5 * np.stack([x.real, x.imag], -1) * sinr[..., None]
        llr = kind(streams=3, rx_antennas=4, qam=4)(h, y, n0).reshape(expected.shape)
        assert np.allclose(llr, expected, rtol=2e-4, atol=2e-4), kind


def test_searches_that_are_exhaustive(rng):
    h, y = normal(rng, 200, 2, 2), normal(rng, 200, 2)
    for qam in (4, 16, 64):
        settings = {"streams": 2, "rx_antennas": 2, "qam": qam}
        exact = wb.ML(**settings)(h, y, 0.3)
        assert np.allclose(wb.MultiPassTrellis(**settings)(h, y, 0.3), exact, rtol=1e-5, atol=1e-4)
        assert np.allclose(wb.Sphere(**settings)(h, y, 0.3), exact, rtol=1e-5, atol=1e-4)
        assert np.allclose(wb.KBest(**settings, survivors=qam ** 2, llr_clip=1e6)(h, y, 0.3), exact, rtol=1e-5, atol=1e-4)


def test_uses_are_erased_outside_the_ranges_and_nowhere_else():
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    h, y = np.eye(2)[None] / 2 ** 0.5, np.ones((1, 2)) / 2 ** 0.5  # of power 1

    def erased(power_h, power_y, noise_var):
        arrays = (np.sqrt(power_h) * h).astype(np.complex64), (np.sqrt(power_y) * y).astype(np.complex64)
        return int(detector(*arrays, noise_var, outputs="status")[0])

    assert [erased(1, 1, n) for n in (0.9e-30, 1.1e-30, 0.9e30, 1.1e30)] == [1, 0, 0, 1]
    assert [erased(p, min(p, 1), 1) for p in (0.9e-30, 1.1e-30, 0.9e30, 1.1e30)] == [1, 0, 0, 1]
    assert [erased(1e29, p, 1) for p in (0.9e30, 1.1e30)] == [0, 1]
    assert [erased(2, p, 1) for p in (1.9e10, 2.1e10)] == [0, 1]


@pytest.mark.parametrize("seed", range(3))
def test_clusters_of_the_exact_method_are_the_central_detector(seed):
    """Within 2e-6 of the estimates' norm, as massive/cluster/cluster.hpp says, for B >= 2 U."""
    rng = np.random.default_rng(seed)
    h, y = normal(rng, 200, 32, 8), normal(rng, 200, 32)
    settings = {"antennas": 32, "users": 8, "qam": 16}
    central = wb.MassiveUplink(**settings)(h, y, 0.1, outputs="equalized")
    for clusters in (2, 4, 16):
        apart = wb.ClusteredUplink(**settings, clusters=clusters)(h, y, 0.1, outputs="equalized")
        assert np.all(np.linalg.norm(apart - central, axis=-1) <= 2e-6 * np.linalg.norm(central, axis=-1))
