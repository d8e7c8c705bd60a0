"""Convolutional turbo codes against textbook versions of the encoder and of the exact decoder of a circular trellis."""
import numpy as np
import pytest

import warpband as wb

#: IEEE 802.16-2009 table 502 and EN 301 790: P0..P3
PARAMETERS = {("wimax", 24): (5, 0, 0, 0), ("wimax", 144): (17, 74, 72, 2), ("wimax", 240): (13, 120, 60, 180), ("wimax", 2400): (53, 66, 24, 2),
              ("dvb-rcs", 48): (11, 24, 0, 24), ("dvb-rcs", 228): (17, 116, 72, 188), ("dvb-rcs", 752): (19, 376, 224, 600)}
#: m and J of the subblock interleaver
SUBBLOCKS = {24: (3, 3), 48: (4, 3), 144: (6, 3), 240: (7, 2), 2400: (10, 3)}


def step(state, a, b):
    s1, s2, s3 = state
    into = a ^ b ^ s1 ^ s3
    return (into, s1 ^ b, s2 ^ b), into ^ s2 ^ s3, into ^ s3


def parities(couples):
    """Y and W of the one state of 8 in which the encoder begins and ends."""
    for start in np.ndindex(2, 2, 2):
        state, out = start, []
        for a, b in couples:
            state, y, w = step(state, a, b)
            out.append((y, w))
        if state == start:
            return np.array(out).T
    raise AssertionError("no circulation state")


def streams(bits, standard):
    """A, B, Y1, Y2, W1, W2."""
    couples = bits.reshape(-1, 2)
    n = len(couples)
    p0, p1, p2, p3 = PARAMETERS[standard, n]
    j = np.arange(n)
    order = (p0 * j + 1 + np.array([0, n // 2 + p1, p2, n // 2 + p3])[j % 4]) % n
    second = couples[order]
    second[::2] = second[::2, ::-1]
    (y1, w1), (y2, w2) = parities(couples), parities(second)
    return np.array([*couples.T, y1, y2, w1, w2])


def sent(s, standard):
    """The bits of rate 1/3 in their order."""
    if standard == "wimax":
        n = s.shape[1]
        m, j = SUBBLOCKS[n]
        addresses = [2 ** m * (k % j) + int(f"{k // j:0{m}b}"[::-1], 2) for k in range(j * 2 ** m)]
        s = s[:, [t for t in addresses if t < n]]
        return np.concatenate([s[0], s[1], s[2:4].T.ravel(), s[4:].T.ravel()])
    return np.concatenate([s[i:i + 2].T.ravel() for i in (0, 2, 4)])


@pytest.mark.parametrize("standard, couples", PARAMETERS)
def test_codewords(standard, couples, rng):
    bits = rng.integers(0, 2, (2, 2 * couples), dtype=np.uint8)
    coded = wb.CtcEncoder(standard=standard, k=2 * couples)(bits)
    assert np.array_equal(coded, [sent(streams(b, standard), standard) for b in bits])
    if standard == "wimax":
        half = wb.CtcEncoder(standard=standard, k=2 * couples, rate="1/2")(bits)
        assert np.array_equal(half, coded[:, :4 * couples])  # the first bits
    else:
        punctured = wb.CtcEncoder(standard=standard, k=2 * couples, rate="2/3")(bits)
        y = coded[:, 2 * couples:4 * couples].reshape(2, couples // 2, 4)[..., :2].reshape(2, -1)  # those of even steps
        assert np.array_equal(punctured, np.concatenate([coded[:, :2 * couples], y], axis=1))


def exact_map(llr):
    """A-posteriori LLRs of A and B of one circular code: over all paths that end where they begin. llr: A, B, Y, W."""
    n = llr.shape[1]
    edges = [(4 * s[0] + 2 * s[1] + s[2], a, b, *step(s, a, b)) for s in np.ndindex(2, 2, 2) for a in (0, 1) for b in (0, 1)]
    gamma = np.full((n, 2, 2, 8, 8), -np.inf)
    for s, a, b, to, y, w in edges:
        gamma[:, a, b, s, 4 * to[0] + 2 * to[1] + to[2]] = -(np.array([a, b, y, w]) @ llr)
    through = np.logaddexp.reduce(gamma.reshape(n, 4, 8, 8), axis=1)

    def times(x, y):
        return np.logaddexp.reduce(x[:, :, None] + y[None], axis=1)

    start = np.where(np.eye(8) > 0, 0.0, -np.inf)
    ahead, behind = [start], [start]
    with np.errstate(invalid="ignore"):
        for t in range(n):
            ahead.append(times(ahead[-1], through[t]))
        for t in range(n - 1, -1, -1):
            behind.append(times(through[t], behind[-1]))
        out = np.empty((n, 2, 2))
        for t in range(n):
            around = times(behind[n - 1 - t], ahead[t])  # from behind the step round to before it
            out[t] = np.logaddexp.reduce(gamma[t] + around.T, axis=(2, 3))
    out = np.logaddexp.reduce(out, axis=2)[:, 0] - np.logaddexp.reduce(out, axis=2)[:, 1], \
        np.logaddexp.reduce(out, axis=1)[:, 0] - np.logaddexp.reduce(out, axis=1)[:, 1]
    return np.stack(out, axis=1).ravel()


def test_the_code_alone_is_decoded_exactly(rng):
    """Without the parities of the second code its decoder adds nothing."""
    encode, decode = wb.CtcEncoder(k=96), wb.CtcDecoder(k=96, iterations=12, windows=1, overlap=47)
    bits = rng.integers(0, 2, (20, 96), dtype=np.uint8)
    coded = encode(bits).astype(float)
    llr = 4 * (1 - 2 * coded) + rng.normal(0, 8 ** 0.5, coded.shape)
    places = sent(np.arange(288).reshape(6, 48), "wimax")
    llr[:, (places // 48 == 3) | (places // 48 == 5)] = 0
    soft = decode(llr.astype(np.float32), outputs="soft")
    for got, row in zip(soft, llr):
        streams_of_row = np.zeros(288)
        streams_of_row[places] = row
        want = exact_map(streams_of_row.reshape(6, 48)[[0, 1, 2, 4]])
        near = np.abs(want) < 12  # extrinsic weights are limited
        assert np.allclose(got[near], want[near], rtol=0.05, atol=0.05)
        assert (got[~near] * want[~near] > 0).all()


@pytest.mark.parametrize("settings", [{}, {"algorithm": "log-map-table"}, {"algorithm": "max-log-map", "extrinsic_scale": 0.75},
                                      {"early_stop": "sign-agreement"}, {"windows": 6, "overlap": 12}])
def test_noise_is_corrected(settings, rng):
    code = {"k": 480, "rate": "1/2"}
    bits = rng.integers(0, 2, (8, 480), dtype=np.uint8)
    coded = wb.CtcEncoder(**code)(bits)
    llr = (2 * (1 - 2.0 * coded) / 0.5 + 2 * rng.normal(size=coded.shape) / 0.5 ** 0.5).astype(np.float32)
    assert ((llr < 0) != coded).mean() > 0.05
    decided, iterations, status = wb.CtcDecoder(**code, **settings)(llr, outputs=("bits", "iterations", "status"))
    assert np.array_equal(decided, bits)
    assert (iterations < 8).any() == ("early_stop" in settings)
    assert np.array_equal(wb.CtcDecoder(**code, **settings, llr_sign="p1/p0")(-llr), bits)
    llr[2, 7], llr[3, :600] = np.nan, 0
    decided, status = wb.CtcDecoder(**code, **settings)(llr, outputs=("bits", "status"))
    assert (status & 5).tolist() == [0, 0, 1, 5, 0, 0, 0, 0]
    assert not decided[2:4].any()


def test_extrinsics_of_coded_bits(rng):
    """Those of information bits are the soft outputs without the channel's LLRs; the sign of the others is that of the codeword."""
    code = {"k": 96, "rate": "1/2"}
    bits = rng.integers(0, 2, (10, 96), dtype=np.uint8)
    coded = wb.CtcEncoder(**code)(bits)
    llr = (4 * (1 - 2.0 * coded) + 8 ** 0.5 * rng.normal(size=coded.shape)).astype(np.float32)
    decode = wb.CtcDecoder(**code, iterations=4)
    soft, extrinsic = decode(llr, outputs=("soft", "coded_extrinsic"))
    places = sent(np.arange(288).reshape(6, 48), "wimax")[:192]
    for place, i in zip(places, range(192)):
        if place < 96:
            bit = 2 * (place % 48) + place // 48
            assert np.allclose(extrinsic[:, i], soft[:, bit] - llr[:, i], atol=1e-3, rtol=1e-3)
    assert ((extrinsic < 0) == coded).mean() > 0.99
    assert np.array_equal(wb.CtcDecoder(**code, iterations=4, llr_sign="p1/p0")(-llr, outputs="coded_extrinsic"), -extrinsic)


def test_subpackets(rng):
    """Those of SPID 0 to 3 follow each other on the circle of the coded bits; together they are decoded as one codeword."""
    settings = {"transport_bits": 176, "coded_bits": 240}
    encode, decode = wb.CtcTransportEncoder(**settings), wb.CtcTransportDecoder(**settings, iterations=6)
    bits = rng.integers(0, 2, (12, 176), dtype=np.uint8)
    words = wb.CtcEncoder(k=192)(wb.CrcAttacher(n=176, crc="crc16")(bits))
    sums, right = np.zeros((12, 576), np.float32), []
    for rv in range(3):
        places = (240 * rv + np.arange(240)) % 576
        coded = encode(bits, rv=rv)
        assert np.array_equal(coded, words[:, places])
        llr = (2 * (1 - 2.0 * coded) + 2 * rng.normal(size=coded.shape)).astype(np.float32)
        sums[:, places] += llr
        decided, ok = decode(llr, rv=rv, first=rv == 0)
        assert np.array_equal(decided, wb.CtcDecoder(k=192, iterations=6)(sums)[:, :176])
        assert np.array_equal(ok == 1, (decided == bits).all(axis=1))
        right.append(ok.sum())
    assert right[0] < right[2]
    for name, wrong in (("transport_bits", {"transport_bits": 177}), ("coded_bits", {"coded_bits": 241}), ("iterations", {"iterations": 65})):
        with pytest.raises(ValueError, match=f"^{name} = "):
            wb.CtcTransportDecoder(**{**settings, **wrong})


def test_what_is_not_allowed():
    for name, settings in (("k", {"k": 50}), ("k", {"standard": "dvb-rcs", "k": 48}), ("rate", {"k": 48, "rate": "5/6"}),
                           ("rate", {"k": 48, "rate": "2/5"}), ("standard", {"k": 48, "standard": "lte"})):
        with pytest.raises(ValueError, match=f"^{name} = "):
            wb.CtcEncoder(**settings)
    for name, settings in (("iterations", {"iterations": 0}), ("windows", {"windows": 4}), ("overlap", {"overlap": 24}),
                           ("extrinsic_scale", {"extrinsic_scale": 0.5}), ("algorithm", {"algorithm": "viterbi"})):
        with pytest.raises(ValueError, match=f"^{name} = "):
            wb.CtcDecoder(k=48, **settings)
    with pytest.raises(ValueError, match="llr"):
        wb.CtcDecoder(k=48)(np.zeros((3, 143), np.float32))


def test_sweeps_know_these_codes():
    for code in ({"type": "ctc", "k": 96}, {"type": "ctc", "standard": "dvb-rcs", "k": 96, "rate": "6/7"},
                 {"type": "lte-turbo", "standard": "umts", "k": 100}):
        curve = {"code": code, "sweep": {"ebn0_db": [-1.0, 8.0]}, "stop": {"frame_errors": 30, "max_frames": 200}}
        fer = wb.sweep(curve, threads=1)["fer"]
        assert fer[0] > 0.3 and fer[1] < 0.05
