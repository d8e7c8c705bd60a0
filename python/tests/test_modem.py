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


def test_sign(rng):
    y = (rng.normal(size=9) + 1j * rng.normal(size=9)).astype(np.complex64)
    plus, minus = wb.Demapper(qam=16)(y, 0.1), wb.Demapper(qam=16, llr_sign="p1/p0")(y, 0.1)
    assert np.array_equal(plus, -minus)


@pytest.mark.parametrize("make", [lambda: wb.QamMapper(qam=8), lambda: wb.Demapper(qam=3),
                                  lambda: wb.Demapper(qam=4, algorithm="best"), lambda: wb.Demapper(qam=4, llr_sign="other")])
def test_settings_that_are_not_allowed(make):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        make()
