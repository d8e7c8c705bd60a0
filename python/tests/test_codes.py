import numpy as np
import oracles
import pytest

import warpband as wb


def noisy(rng, coded, scale=2.0):
    return (scale * (1 - 2.0 * coded) + rng.normal(scale=scale, size=coded.shape)).astype(np.float32)


# ---------------------------------------------------------------- convolutional
CODES = [(3, (0o7, 0o5)), (4, (0o13, 0o15, 0o17)), (7, (0o133, 0o171))]


@pytest.mark.parametrize("length, generators", CODES)
def test_convolutional_codes(length, generators, rng):
    k = 8
    code = wb.ConvCode(constraint_length=length, generators=generators)
    words = oracles.all_words(k)
    codewords = np.array([oracles.conv_encode(w, length, generators) for w in words])
    assert np.array_equal(wb.ConvEncoder(code=code, k=k)(words), codewords)
    llr = noisy(rng, codewords[rng.integers(0, len(words), 19)])
    prior = rng.normal(size=(19, k)).astype(np.float32)
    found = [oracles.map_of_all(x, words, codewords) for x in llr]
    decided = wb.ViterbiDecoder(code=code, k=k)(llr)
    assert np.array_equal(decided, [word for word, _ in found])
    soft = wb.BcjrDecoder(code=code, k=k)(llr)
    np.testing.assert_allclose(soft, [s for _, s in found], rtol=2e-3, atol=2e-3)
    with_prior, extrinsic = wb.BcjrDecoder(code=code, k=k)(llr, prior=prior, outputs=("soft", "extrinsic"))
    np.testing.assert_allclose(with_prior, [oracles.map_of_all(x, words, codewords, p)[1] for x, p in zip(llr, prior)],
                               rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(extrinsic, with_prior - prior, atol=1e-3)
    other = wb.BcjrDecoder(code=code, k=k, llr_sign="p1/p0")
    assert np.array_equal(other(-llr, prior=-prior), -with_prior)
    assert np.array_equal(wb.ViterbiDecoder(code=code, k=k, llr_sign="p1/p0")(-llr), decided)


def test_around_the_circle(rng):
    k, length, generators = 10, 3, (0o7, 0o5)
    code = wb.ConvCode(constraint_length=length, generators=generators, termination="tail-biting")
    words = oracles.all_words(k)
    codewords = np.array([oracles.conv_encode(w, length, generators, True) for w in words])
    assert np.array_equal(wb.ConvEncoder(code=code, k=k)(words), codewords)
    # With little noise the path that is found ends in the state it began with.
    sent = rng.integers(0, len(words), 50)
    llr = (2 * (1 - 2.0 * codewords[sent]) + rng.normal(scale=0.7, size=(50, 2 * k))).astype(np.float32)
    found = [oracles.map_of_all(x, words, codewords) for x in llr]
    assert np.array_equal(wb.ViterbiDecoder(code=code, k=k)(llr), [word for word, _ in found])
    decoder = wb.BcjrDecoder(code=code, k=k, overlap=7)
    wanted = [oracles.bcjr_around(x, k, length, generators, 7) for x in llr]
    np.testing.assert_allclose(decoder(llr), wanted, rtol=2e-3, atol=2e-3)


def test_codes_of_the_standards(rng):
    bits = rng.integers(0, 2, (4, 60), dtype=np.uint8)
    whole = np.array([oracles.conv_encode(b, 7, (0o133, 0o171)) for b in bits])
    assert np.array_equal(wb.ConvEncoder(code=wb.conv_80211(), k=60)(bits), whole)
    pattern = np.resize([1, 1, 1, 0, 0, 1], whole.shape[1]).astype(bool)  # rate 3/4: A1 B1 A2 B3
    assert np.array_equal(wb.ConvEncoder(code=wb.conv_80211(rate="3/4"), k=60)(bits), whole[:, pattern])
    turned = np.array([oracles.conv_encode(b, 7, (0o171, 0o133)) for b in bits])
    assert np.array_equal(wb.ConvEncoder(code=wb.conv_80216(), k=60)(bits), turned)
    lte = np.array([oracles.conv_encode(b, 7, (0o133, 0o171, 0o165), True) for b in bits])
    streams = lte.reshape(4, 60, 3).swapaxes(1, 2).reshape(4, -1)
    assert np.array_equal(wb.ConvEncoder(code=wb.conv_lte(), k=60)(bits), streams)
    assert np.array_equal(wb.ViterbiDecoder(code=wb.conv_lte(), k=60)(noisy(rng, streams, 8)), bits)
    assert "0o133" in repr(wb.conv_lte()) and wb.conv_80211(rate="2/3").sent == [[1, 1], [1, 0]]


def test_metric(rng):
    code = wb.ConvCode(constraint_length=3, generators=(0o7, 0o5))
    llr = noisy(rng, wb.ConvEncoder(code=code, k=10)(rng.integers(0, 2, (3, 10), dtype=np.uint8)))
    bits, metric = wb.ViterbiDecoder(code=code, k=10)(llr, outputs=("bits", "metric"))
    coded = np.array([oracles.conv_encode(b, 3, (0o7, 0o5)) for b in bits])
    np.testing.assert_allclose(metric, -(coded * llr).sum(1), rtol=1e-5, atol=1e-4)


# ---------------------------------------------------------------- LDPC
@pytest.mark.parametrize("code", [wb.wifi_ldpc(n=648, rate="1/2"), wb.wifi_ldpc(n=1944, rate="5/6"),
                                  wb.wimax_ldpc(n=576, rate="2/3A"), wb.wimax_ldpc(n=2304, rate="3/4B")], ids=repr)
def test_ldpc_codewords_pass_all_checks(code, rng):
    bits = rng.integers(0, 2, (3, code.k), dtype=np.uint8)
    coded = wb.LdpcEncoder(code=code)(bits)
    assert np.array_equal(coded[:, :code.k], bits)
    h = oracles.parity_checks(code.matrix, code.z)
    assert not (h.astype(int) @ coded.T % 2).any()
    decoded, status = wb.LdpcDecoder(code=code)((4 * (1 - 2.0 * coded)).astype(np.float32), outputs=("bits", "status"))
    assert np.array_equal(decoded, bits) and (status == 2).all()


def test_min_sum(rng):
    code = wb.wifi_ldpc(n=648, rate="3/4")
    llr = noisy(rng, wb.LdpcEncoder(code=code)(rng.integers(0, 2, (2, code.k), dtype=np.uint8)))
    decoder = wb.LdpcDecoder(code=code, schedule="flooding", iterations=3, early_stop="none")
    soft, iterations = decoder(llr, outputs=("soft", "iterations"))
    h = oracles.parity_checks(code.matrix, code.z)
    np.testing.assert_allclose(soft, [oracles.belief_propagation(x, h, 3, "min-sum", scale=0.75) for x in llr], rtol=1e-3, atol=1e-3)
    assert iterations.tolist() == [3, 3]
    other = wb.LdpcDecoder(code=code, schedule="flooding", iterations=3, early_stop="none", llr_sign="p1/p0")
    assert np.array_equal(other(-llr, outputs="soft"), -soft)


def test_sum_product_is_exact_without_cycles(rng):
    matrix = [[0, 0, 0, -1, -1, -1, -1], [-1, -1, 0, 0, 0, -1, -1], [-1, -1, -1, -1, 0, 0, 0]]
    code = wb.LdpcCode(matrix=matrix, z=1)
    h = oracles.parity_checks(matrix, 1)
    words = oracles.all_words(7)
    words = words[~(words.astype(int) @ h.T % 2).any(1)]
    llr = rng.normal(scale=2, size=(25, 7)).astype(np.float32)
    soft = wb.LdpcDecoder(code=code, algorithm="sum-product", iterations=10, early_stop="none")(llr, outputs="soft")
    np.testing.assert_allclose(soft, [oracles.map_of_all(x, words, words)[1] for x in llr], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("make", [lambda: wb.wifi_ldpc(n=600), lambda: wb.wimax_ldpc(rate="1/3"),
                                  lambda: wb.LdpcCode(matrix=[[0, 0], [0]], z=2), lambda: wb.LdpcCode(matrix=[[0, 5]], z=2),
                                  lambda: wb.LdpcDecoder(code=wb.wifi_ldpc(), algorithm="sum"),
                                  lambda: wb.ConvCode(generators=(0o7,), constraint_length=2),
                                  lambda: wb.ConvEncoder(code=wb.ConvCode(generators=(0,)), k=4),
                                  lambda: wb.ConvEncoder(code=wb.conv_lte(), k=0)])
def test_settings_that_are_not_allowed(make):
    with pytest.raises(ValueError, match="is not allowed: expected"):
        make()


# ---------------------------------------------------------------- LTE transport channel
def test_transport_block_of_one_code_block(rng):
    a, k, g = 16, 40, 100
    bits = rng.integers(0, 2, (3, a), dtype=np.uint8)
    blocks = np.array([list(b) + oracles.crc(b, 0x1864CFB, 24) for b in bits])
    encode = wb.LteTransportEncoder(transport_bits=a, coded_bits=g)
    for rv in range(4):
        wanted = [oracles.turbo_encode(b)[oracles.sent_places(k, g, rv)] for b in blocks]
        assert np.array_equal(encode(bits, rv=rv), wanted), rv


def test_early_stop_of_a_transport_block_is_that_of_other_decoders():
    settings = {"transport_bits": 200, "coded_bits": 600, "iterations": 5}
    llr = 5 - 10.0 * wb.LteTransportEncoder(transport_bits=200, coded_bits=600)(np.ones((2, 200), np.uint8))
    for stop, iterations in (({}, 1), ({"early_stop": "crc"}, 1), ({"early_stop": "none"}, 5)):
        decode = wb.LteTransportDecoder(**settings, **stop)
        assert decode.early_stop == stop.get("early_stop", "crc")
        assert decode(llr, outputs="iterations").tolist() == [[iterations]] * 2
    with pytest.raises((TypeError, ValueError), match="crc_stop"):
        wb.LteTransportDecoder(**settings, crc_stop=False)


def test_ldpc_status_tells_whether_checks_hold_without_a_stop_too():
    llr = np.full((2, 648), 3.0, np.float32)
    llr[1] *= np.random.default_rng(1).choice([-1, 1], 648)
    for early_stop in ("none", "syndrome"):
        assert wb.LdpcDecoder(code=wb.wifi_ldpc(n=648), early_stop=early_stop)(llr, outputs="status").tolist() == [2, 0]


def test_a_large_prior_outweighs_what_a_code_says():
    code = wb.conv_80211()
    word = np.zeros((1, 40), np.uint8)
    word[0, 12] = 1
    prior = np.zeros((1, 40), np.float32)
    prior[0, 12] = 200
    llr = 6 - 12.0 * wb.ConvEncoder(code=code, k=40)(word)
    # 36 ways lead to a word at distance 10, each 60 less likely than the one that was sent.
    assert abs(wb.BcjrDecoder(code=code, k=40)(llr, prior=prior)[0, 12] - (200 - 60 + np.log(36))) < 0.1
    assert abs(wb.BcjrDecoder(code=code, k=40, algorithm="max-log-map")(llr, prior=prior)[0, 12] - 140) < 1e-3


def test_a_weak_transmission_does_not_spoil_a_block_in_integers(rng):
    settings = {"transport_bits": 1500, "coded_bits": 3000, "modulation_order": 2}
    encode, decode = wb.NrTransportEncoder(**settings), wb.NrTransportDecoder(**settings, precision="int8")
    bits = rng.integers(0, 2, (20, 1500), dtype=np.uint8)
    for rv, deviation in ((0, 0.5), (2, 10)):
        received = 1 - 2.0 * encode(bits, rv=rv) + deviation * rng.normal(size=(20, 3000))
        ok = decode((2 / deviation ** 2 * received).astype(np.float32), rv=rv, first=rv == 0, outputs="ok")
        assert ok.all(), rv


def test_an_own_permutation_needs_no_windows(rng):
    permutation, word = rng.permutation(256), rng.integers(0, 2, (2, 256), dtype=np.uint8)
    llr = 4 - 8.0 * wb.TurboEncoder(k=256, permutation=permutation)(word)
    for settings in ({"precision": "bfloat16"}, {"precision": "int16", "algorithm": "max-log-map"}):
        decode = wb.TurboDecoder(k=256, permutation=permutation, **settings)
        assert decode.windows == 1 and np.array_equal(decode(llr), word)


def test_harq(rng):
    settings = {"transport_bits": 7000, "coded_bits": 9000, "modulation_order": 4}
    encode, decode = wb.LteTransportEncoder(**settings), wb.LteTransportDecoder(**settings)
    assert encode.blocks == decode.blocks == 2
    bits = rng.integers(0, 2, (4, 7000), dtype=np.uint8)
    sent = [(1 - 2.0 * encode(bits, rv=rv)) for rv in (0, 2)]
    llr = [(0.55 * (x + rng.normal(scale=1.9, size=x.shape))).astype(np.float32) for x in sent]
    decided, ok = decode(llr[0])
    assert decided.shape == (4, 7000) and not ok.any()
    # a call that is refused leaves what was combined
    with pytest.raises(ValueError):
        decode(-llr[0], first=False, outputs="bits", out=np.empty((4, 7000), np.float32))
    for _ in range(3):
        decided, ok, blocks = decode(llr[0], outputs=("bits", "ok", "block_ok"))
        assert blocks.shape == (4, 2) and not ok.any()
        for rv in (2, 0, 2):
            decided, ok = decode((2 * sent[rv // 2]).astype(np.float32), rv=rv, first=False)
    assert ok.all() and np.array_equal(decided, bits)
    other = wb.LteTransportDecoder(**settings, llr_sign="p1/p0")
    assert np.array_equal(other(-llr[0], outputs="bits"), decode(llr[0], outputs="bits"))
    with pytest.raises(ValueError, match="coded_bits"):
        wb.LteTransportEncoder(transport_bits=100, coded_bits=0)


INSUFFICIENT = 5  # status of a word that is an erasure for want of usable LLRs
PRECISIONS = [{}, {"algorithm": "max-log-map"}, {"precision": "bfloat16"},
              {"precision": "int16", "algorithm": "max-log-map"}]


@pytest.mark.parametrize("settings", PRECISIONS)
def test_nothing_received_is_no_block_of_zeros(rng, settings):
    channel = {"transport_bits": 500, "coded_bits": 1600, "modulation_order": 4}
    bits = rng.integers(0, 2, (5, 500), dtype=np.uint8)
    bits[3] = 0  # sent
    y = wb.awgn(wb.QamMapper(qam=16)(wb.LteTransportEncoder(**channel)(bits)), noise_var=0.1, seed=1)
    y[1] = 0
    y[2] = 1e-6 * (1 + 1j)
    y[4] = wb.awgn(np.zeros_like(y[4]), noise_var=0.1, seed=2)
    decode = wb.LteTransportDecoder(**channel, **settings)
    decided, ok, status = decode(wb.Demapper(qam=16)(y, 0.1), outputs=("bits", "ok", "status"))
    assert ok.tolist() == [1, 0, 0, 1, 0] and status[:4].tolist() == [0, INSUFFICIENT, INSUFFICIENT, 0]
    assert np.array_equal(decided[[0, 3]], bits[[0, 3]])


@pytest.mark.parametrize("sends", [False, True])
@pytest.mark.parametrize("mode", ["cholesky", "zf", "mf"])
def test_an_absent_user_is_not_acknowledged(rng, mode, sends):
    channel = {"transport_bits": 500, "coded_bits": 1600, "modulation_order": 4}
    bits = rng.integers(0, 2, (4, 500), dtype=np.uint8)
    s = wb.QamMapper(qam=16)(wb.LteTransportEncoder(**channel)(bits))
    h = rng.normal(scale=np.sqrt(0.5), size=(400, 64, 4, 2)).astype(np.float32).view(np.complex64)[..., 0]
    if sends:  # but is not heard
        h[:, :, 2] = 0
    else:
        s[2] = 0
    y = wb.awgn((h @ s.T[..., None])[..., 0], noise_var=0.01, seed=2)
    llr = wb.MassiveUplink(antennas=64, users=4, qam=16, solver=mode)(h, y, 0.01)
    llr = np.ascontiguousarray(llr.reshape(400, 4, 4).transpose(1, 0, 2)).reshape(4, 1600)
    heard = [1, 1, 0, 1]
    if mode == "zf" and sends:  # H is singular: nobody is heard
        heard = [0, 0, 0, 0]
    for settings in PRECISIONS:
        _, ok = wb.LteTransportDecoder(**channel, **settings)(llr)
        assert ok.tolist() == heard, settings


def test_status_of_too_few_llrs(rng):
    for decode, k, n in ((wb.LdpcDecoder(code=wb.wimax_ldpc(n=576, rate="1/2")), 288, 576),
                         (wb.TurboDecoder(k=40, early_stop="sign-agreement"), 40, 132),
                         (wb.ViterbiDecoder(code=wb.conv_lte(), k=60), 60, 180),
                         (wb.BcjrDecoder(code=wb.conv_lte(), k=60), 60, 180)):
        llr = np.zeros((3, n), np.float32)
        llr[1, : k - 1] = llr[2, :k] = 1
        bits, status = decode(llr, outputs=("bits", "status"))
        assert status[:2].tolist() == [INSUFFICIENT] * 2 and status[2] in (0, 2) and not bits[:2].any(), decode


@pytest.mark.parametrize("k, ml, decided", [(8, 0.065, 0.142), (12, 0.062, 0.112)])
def test_short_tail_biting_blocks_lose_what_the_page_says(k, ml, decided):
    # All codewords are compared: K = 7, (133, 171), at Es/N0 = -1.07 dB.
    rng = np.random.default_rng(1)
    code = wb.ConvCode(constraint_length=7, generators=(0o133, 0o171), termination="tail-biting")
    encoder = wb.ConvEncoder(code=code, k=k)
    words = (np.arange(2 ** k)[:, None] >> np.arange(k - 1, -1, -1) & 1).astype(np.uint8)
    signs = 1 - 2.0 * encoder(words)
    sent = rng.integers(0, 2 ** k, 2000)
    llr = (2 / 0.64 * (signs[sent] + 0.8 * rng.normal(size=(2000, encoder.n)))).astype(np.float32)
    best = (llr @ signs.T).argmax(1)
    got = wb.ViterbiDecoder(code=code, k=k)(llr)
    assert abs((best != sent).mean() - ml) < 0.02
    assert abs((got != words[sent]).any(1).mean() - decided) < 0.025


# ---------------------------------------------------------------- the parts of LTE's transport channel by themselves
@pytest.mark.parametrize("sign", ["p0/p1", "p1/p0"])
def test_rate_matching_of_code_blocks(sign, rng):
    k, e = 48, 90
    matcher = wb.LteRateMatcher(k=k, sent_bits=e, llr_sign=sign)
    coded = wb.TurboEncoder(k=k)(rng.integers(0, 2, (3, k)))
    soft, wanted = None, np.zeros((3, matcher.n), np.float32)
    for rv in (0, 2, 3, 1):
        places = oracles.sent_places(k, e, rv)
        assert np.array_equal(matcher(coded, rv=rv), coded[:, places])
        llr = rng.normal(size=(3, e)).astype(np.float32)
        for i, place in enumerate(places):
            wanted[:, place] += llr[:, i]
        before = soft
        soft = matcher.combine(llr, rv=rv, soft=soft)
        assert before is None or soft is before
        np.testing.assert_allclose(soft, wanted, rtol=1e-5, atol=1e-6)
    filled = wb.LteRateMatcher(k=k, sent_bits=e, fillers=5, llr_sign=sign).combine(llr)
    assert np.array_equal(filled[:, :5], np.full((3, 5), 1e30 if sign == "p0/p1" else -1e30, np.float32))
    with pytest.raises(ValueError, match="^rv = 4 is not allowed"):
        matcher(coded, rv=4)
    with pytest.raises(ValueError, match="^fillers = 49 is not allowed"):
        wb.LteRateMatcher(k=k, sent_bits=e, fillers=49)


@pytest.mark.parametrize("bits", [1, 16, 6120, 6121, 6200, 20000])
def test_segmentation(bits):
    sizes, fillers, crc_bits = oracles.segmentation(bits + 24)
    assert wb.lte_segmentation(transport_bits=bits) == (sizes, fillers, crc_bits)
    with pytest.raises(ValueError, match="^transport_bits = 0 is not allowed"):
        wb.lte_segmentation(transport_bits=0)


# ---------------------------------------------------------------- base matrices of files
def test_base_matrices_of_files(tmp_path, rng):
    matrix, z = [[1, 4, 2, 0, -1], [0, 3, -1, 2, 0]], 5
    (tmp_path / "own.csv").write_text("# z = 5\n" + "\n".join(",".join(map(str, row)) for row in matrix))
    h = np.block([[np.roll(np.eye(z, dtype=int), s, axis=1) if s >= 0 else np.zeros((z, z), int) for s in row] for row in matrix])
    lists = [[np.flatnonzero(line) + 1 for line in m] for m in (h.T, h)]
    (tmp_path / "own.alist").write_text("\n".join(
        [f"{h.shape[1]} {h.shape[0]}", f"{h.sum(0).max()} {h.sum(1).max()}", *(" ".join(map(str, h.sum(a))) for a in (0, 1)),
         *(" ".join(map(str, x)) for two in lists for x in two)]))
    for name in ("own.csv", "own.alist"):
        code = wb.read_ldpc(tmp_path / name)
        assert code.matrix == matrix and code.z == z
        words = wb.LdpcEncoder(code=code)(rng.integers(0, 2, (20, code.k)))
        assert not (words.astype(int) @ h.T % 2).any()
    with pytest.raises(RuntimeError, match="own.csv: no base matrix: it says z = 5, but lifting size 6 is asked for"):
        wb.read_ldpc(tmp_path / "own.csv", lifting_size=6)
    (tmp_path / "own.csv").write_text("1,x,0")
    with pytest.raises(RuntimeError, match='no base matrix: line 1: "x" in column 1 is no shift'):
        wb.read_ldpc(tmp_path / "own.csv", lifting_size=6)
