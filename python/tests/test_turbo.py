import numpy as np
import oracles
import pytest

import warpband as wb


def received(rng, coded, sigma):
    return ((2 * (1 - 2.0 * coded) + 2 * sigma * rng.normal(size=coded.shape)) / sigma ** 2).astype(np.float32)


@pytest.mark.parametrize("k", [40, 1024, 6144])
def test_codewords(k, rng):
    bits = rng.integers(0, 2, (3, k), dtype=np.uint8)
    coded = wb.TurboEncoder(k=k)(bits)
    assert np.array_equal(coded, [oracles.turbo_encode(b) for b in bits])


@pytest.mark.parametrize("algorithm", ["log-map", "max-log-map"])
def test_llrs(algorithm, rng):
    k = 40
    bits = rng.integers(0, 2, (5, k), dtype=np.uint8)
    llr = received(rng, wb.TurboEncoder(k=k)(bits), 1.6)  # far from the limits of log-MAP
    decoder = wb.TurboDecoder(k=k, iterations=2, windows=1, algorithm=algorithm)
    soft, decided, extrinsic = decoder(llr, outputs=("soft", "bits", "extrinsic"))
    wanted = np.array([oracles.turbo_decode(np.clip(x, -30, 30), k, 2, algorithm == "log-map") for x in llr])
    np.testing.assert_allclose(soft, wanted, rtol=2e-3, atol=2e-2)
    assert np.array_equal(decided, soft < 0)
    np.testing.assert_allclose(extrinsic, soft - llr[:, :k], atol=1e-4)


@pytest.mark.parametrize("settings", [{}, {"precision": "bfloat16"}, {"precision": "int16", "algorithm": "max-log-map"},
                                      {"early_stop": "sign-agreement"}, {"windows": 8, "overlap": 16}])
def test_noise_is_corrected(settings, rng):
    bits = rng.integers(0, 2, (8, 1024), dtype=np.uint8)
    llr = received(rng, wb.TurboEncoder(k=1024)(bits), 0.9)
    assert ((llr < 0) != wb.TurboEncoder(k=1024)(bits)).mean() > 0.1
    assert np.array_equal(wb.TurboDecoder(k=1024, **settings)(llr), bits)


def test_int8_llrs_are_steps(rng):
    bits = rng.integers(0, 2, (4, 512), dtype=np.uint8)
    decoder = wb.TurboDecoder(k=512, precision="int16", algorithm="max-log-map", llr_steps=4)
    llr = received(rng, wb.TurboEncoder(k=512)(bits), 0.9)
    steps = np.clip(np.rint(4 * llr), -127, 127)
    assert np.array_equal(decoder(steps.astype(np.int8)), decoder((steps / 4).astype(np.float32)))
    other = wb.TurboDecoder(k=512, precision="int16", algorithm="max-log-map", llr_steps=4, llr_sign="p1/p0")
    assert np.array_equal(other(-steps.astype(np.int8)), decoder(steps.astype(np.int8)))
    with pytest.raises(ValueError, match="outputs = 'soft' is not allowed"):
        decoder(steps.astype(np.int8), outputs="soft")
    with pytest.raises(ValueError, match="float32"):
        wb.TurboDecoder(k=512)(steps.astype(np.int8))


def test_crc_stops(rng):
    bits = rng.integers(0, 2, (6, 40), dtype=np.uint8)
    for b in bits:
        b[16:] = oracles.crc(b[:16], 0x1864CFB, 24)
    llr = received(rng, wb.TurboEncoder(k=40)(bits), 0.4)
    decided, iterations, status = wb.TurboDecoder(k=40, iterations=8, early_stop="crc", crc="crc24a")(
        llr, outputs=("bits", "iterations", "status"))
    assert np.array_equal(decided, bits) and (iterations < 8).all() and (status == 2).all()


def test_own_interleaver_sign_and_erasure(rng):
    permutation = rng.permutation(50)
    bits = rng.integers(0, 2, (3, 50), dtype=np.uint8)
    coded = wb.TurboEncoder(k=50, permutation=permutation)(bits)
    llr = (8 * (1 - 2.0 * coded)).astype(np.float32)
    decoder = wb.TurboDecoder(k=50, permutation=permutation)
    assert np.array_equal(decoder(llr), bits)
    other = wb.TurboDecoder(k=50, permutation=permutation, llr_sign="p1/p0")
    assert np.array_equal(other(-llr, outputs="soft"), -decoder(llr, outputs="soft"))
    llr[1, 7] = np.inf
    decided, status = decoder(llr, outputs=("bits", "status"))
    assert status.tolist() == [0, 1, 0] and not decided[1].any() and np.array_equal(decided[[0, 2]], bits[[0, 2]])


@pytest.mark.parametrize("precision, rate, windows, overlap", [("float32", 1 / 3, 192, 24), ("float32", 0.9, 51, 90),
                                                               ("bfloat16", 0.5, 64, 8), ("bfloat16", 0.9, 32, 88)])
def test_windows_follow_the_code_rate(precision, rate, windows, overlap):
    decoder = wb.TurboDecoder(k=6144, precision=precision, code_rate=rate)
    assert (decoder.windows, decoder.overlap) == (windows, overlap)


@pytest.mark.parametrize("made", [wb.TurboEncoder, wb.TurboDecoder])
@pytest.mark.parametrize("entries", [0, 40, 49, 51])
def test_an_interleaver_has_k_entries(made, entries):
    with pytest.raises(ValueError, match=f"^permutation = {entries} entries is not allowed: expected 50, one for each of the k bits"):
        made(k=50, permutation=range(entries))


@pytest.mark.parametrize("settings", [{"k": 41}, {"iterations": 0}, {"algorithm": "map"}, {"early_stop": "crc"},
                                      {"crc": "crc7"}, {"precision": "float64"}, {"extrinsic_scale": 0.5},
                                      {"code_rate": 0.0}, {"code_rate": 1.1}])
def test_settings_that_are_not_allowed(settings):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        wb.TurboDecoder(**{"k": 40, **settings})


def umts(k):
    """The interleaver as 3GPP TS 25.212 section 4.2.3.2.3 has it, for blocks of five rows."""
    p, v = next((p, v) for p, v in ((7, 3), (11, 2), (13, 2), (17, 3), (19, 2), (23, 5), (29, 2), (31, 3)) if k <= 5 * (p + 1))
    columns = p - 1 if k <= 5 * (p - 1) else p if k <= 5 * p else p + 1
    s = [v ** j % p for j in range(p - 1)]
    q = [1] + [x for x in (7, 11, 13, 17, 19, 23) if (p - 1) % x][:4]
    rows = []
    for row in range(5):
        r = q[4 - row]  # rows leave in reverse order
        u = [s[j * r % (p - 1)] for j in range(p - 1)] + [0, p]
        if columns == p - 1:
            u = [x - 1 for x in u]
        u = u[:columns]
        if k == 5 * (p + 1) and row == 4:
            u[0], u[p] = u[p], u[0]
        rows.append([row * columns + x for x in u])
    return [x for column in zip(*rows[::-1]) for x in column if x < k]


def test_interleaver_of_umts(rng):
    for k in range(40, 160):
        assert wb.umts_permutation(k).tolist() == umts(k), k
    for k in (39, 5115):
        with pytest.raises(ValueError, match="^k = "):
            wb.umts_permutation(k)
    bits = rng.integers(0, 2, (3, 5114), dtype=np.uint8)
    coded = wb.TurboEncoder(k=5114, permutation="umts")(bits)
    assert np.array_equal(coded, wb.TurboEncoder(k=5114, permutation=wb.umts_permutation(5114))(bits))
    for settings in ({}, {"algorithm": "log-map-table"}, {"precision": "bfloat16"}):
        assert np.array_equal(wb.TurboDecoder(k=5114, permutation="umts", **settings)(received(rng, coded, 0.9)), bits)
    with pytest.raises(ValueError, match="^permutation = "):
        wb.TurboEncoder(k=5114, permutation="lte")
    with pytest.raises(ValueError, match="permutation"):
        wb.TurboDecoder(k=1024, permutation="umts", precision="bfloat16", windows=16)
