"""Random settings and sizes against textbook versions: searches, linear systems, codes, mapping. The other tests have fixed settings."""
import itertools

import numpy as np
import oracles
from hypothesis import given, settings
from hypothesis import strategies as st

import warpband as wb

SEEDS = st.integers(0, 2 ** 32 - 1)
few = settings(max_examples=25, deadline=None)


def normal(rng, *shape):
    return ((rng.normal(size=shape) + 1j * rng.normal(size=shape)) / 2 ** 0.5).astype(np.complex64)


def uses(rng, n, streams, rx, qam, n0):
    h, bits = normal(rng, n, rx, streams), rng.integers(0, 2, (n, streams, qam.bit_length() - 1))
    return h, (np.einsum("urs,us->ur", h, oracles.qam_symbols(bits, qam)) + n0 ** 0.5 * normal(rng, n, rx)).astype(np.complex64)


def agree(llr, wanted, most_others=0):
    """All uses but few, where two paths were equal to float32's rounding."""
    close = np.isclose(llr, wanted, rtol=2e-3, atol=2e-3 * np.abs(wanted).max() + 1e-3).all(-1)
    assert (~close).sum() <= most_others, (llr[~close], wanted[~close])


# ---------------------------------------------------------------- MIMO detection

@few
@given(seed=SEEDS, streams=st.integers(1, 3), extra=st.integers(0, 3), qam=st.sampled_from([4, 16]), snr=st.floats(-3, 3))
def test_exhaustive_searches(seed, streams, extra, qam, snr):
    rng, rx, n0 = np.random.default_rng(seed), streams + extra, float(np.float32(10 ** (-snr / 10)))
    h, y = uses(rng, 7, streams, rx, qam, n0)
    wanted = oracles.ml(h, y, np.full(7, n0), qam)
    made = {"streams": streams, "rx_antennas": rx, "qam": qam}
    agree(wb.ML(**made)(h, y, n0), wanted)
    agree(wb.KBest(**made, survivors=4096, llr_clip=1e6)(h, y, n0), wanted)
    if streams <= 2:
        agree(wb.NWay(**made)(h, y, n0), wanted)
        agree(wb.MultiPassTrellis(**made)(h, y, n0), wanted)


@few
@given(seed=SEEDS, streams=st.integers(1, 6), extra=st.integers(0, 4), qam=st.sampled_from([4, 16, 64, 256]),
       kind=st.sampled_from(["mf", "zf", "mmse"]))
def test_linear_detectors(seed, streams, extra, qam, kind):
    rng, rx, n0 = np.random.default_rng(seed), streams + extra, 0.25
    h, y = uses(rng, 9, streams, rx, qam, n0)
    # Far from singular: float32 loses as many digits as the condition number has.
    h = (h + 2 * np.eye(rx, streams)).astype(np.complex64)
    name = {"mf": "MatchedFilter", "zf": "ZeroForcing", "mmse": "MMSE"}[kind]
    wanted = oracles.linear(kind, h.astype(complex), y.astype(complex), n0, qam)[0]
    agree(getattr(wb, name)(streams=streams, rx_antennas=rx, qam=qam)(h, y, n0), wanted)


def search(h, y, n0, qam, order, below, clip):
    """A search of one use through R of H's columns, `order` from the top of the tree down. `below` picks, of the metrics
    (paths, qam) of a level below the top, which (path, point) go on. LLRs from the paths at the end."""
    bits = oracles.labels(qam)
    points = oracles.qam_symbols(bits, qam)
    q, r = np.linalg.qr(h[:, order[::-1]].astype(complex), mode="complete")
    z, streams = q.conj().T @ y.astype(complex), len(order)
    paths, metric = np.zeros((1, 0), int), np.zeros(1)
    for level in range(streams - 1, -1, -1):
        known = points[paths[:, ::-1]] @ r[level, level + 1:streams] if level < streams - 1 else np.zeros(len(paths))
        step = metric[:, None] + np.abs(z[level] - known[:, None] - r[level, level] * points) ** 2
        path, point = below(step, level == streams - 1, level == 0)
        paths, metric = np.column_stack([paths[path], point]), step[path, point]
    return paths, metric  # columns of paths: order


def list_llrs(found, order, n0, qam, clip, streams):
    """Max-log LLRs of a list of (paths, metrics); +-clip where a hypothesis is missing."""
    m, bits = qam.bit_length() - 1, oracles.labels(qam)
    llr = np.zeros((streams, m))
    for s in range(streams):
        for b in range(m):
            least = [np.inf, np.inf]
            for paths, metric in found:
                value = bits[paths[:, order.index(s) if len(found) == 1 else found_order[id(paths)].index(s)], b]
                for v in (0, 1):
                    if (value == v).any():
                        least[v] = min(least[v], metric[value == v].min())
            llr[s, b] = clip if np.isinf(least[1]) else -clip if np.isinf(least[0]) else (least[1] - least[0]) / n0
    return np.clip(llr, -clip, clip).ravel()


found_order = {}


@few
@given(seed=SEEDS, streams=st.integers(2, 4), qam=st.sampled_from([4, 16]), k=st.sampled_from([1, 3, 8, 24]), turned=st.booleans())
def test_kbest(seed, streams, qam, k, turned):
    rng, n0 = np.random.default_rng(seed), 0.2
    h, y = uses(rng, 12, streams, streams + 1, qam, n0)
    order = [int(i) for i in rng.permutation(streams)] if turned else list(range(streams))

    def keep(step, top, bottom):
        return np.unravel_index(np.argsort(step, axis=None, kind="stable")[:k], step.shape)
    wanted = [list_llrs([search(h[i], y[i], n0, qam, order[::-1], keep, 8)], order[::-1], n0, qam, 8, streams) for i in range(12)]
    detector = wb.KBest(streams=streams, rx_antennas=streams + 1, qam=qam, survivors=k, order=order if turned else ())
    agree(detector(h, y, n0), np.array(wanted), 1)


@few
@given(seed=SEEDS, streams=st.integers(2, 4), qam=st.sampled_from([4, 16]), data=st.data())
def test_nway(seed, streams, qam, data):
    ways = data.draw(st.integers(1, streams))
    rng, n0 = np.random.default_rng(seed), 0.2
    h, y = uses(rng, 12, streams, streams, qam, n0)

    def nearest(step, top, bottom):
        return (np.zeros(qam, int), np.arange(qam)) if top else (np.arange(len(step)), step.argmin(1))
    clip = 1e6 if ways == streams else 8
    wanted = []
    for i in range(12):
        found = []
        for p in range(ways):
            order = [(p - j) % streams for j in range(streams)]
            found.append(search(h[i], y[i], n0, qam, order, nearest, clip))
            found_order[id(found[-1][0])] = order
        wanted.append(list_llrs(found, found_order[id(found[0][0])], n0, qam, clip, streams))
    agree(wb.NWay(streams=streams, rx_antennas=streams, qam=qam, ways=ways)(h, y, n0), np.array(wanted), 1)


@few
@given(seed=SEEDS, streams=st.integers(2, 4), qam=st.sampled_from([4, 16]))
def test_one_pass_trellis(seed, streams, qam):
    rng, n0 = np.random.default_rng(seed), 0.2
    h, y = uses(rng, 12, streams, streams + 1, qam, n0)

    def reduce(step, top, bottom):  # the best edge into each vertex
        return step.argmin(0), np.arange(qam)
    order = list(range(streams))[::-1]
    wanted = [list_llrs([search(h[i], y[i], n0, qam, order, reduce, 8)], order, n0, qam, 8, streams) for i in range(12)]
    agree(wb.OnePassTrellis(streams=streams, rx_antennas=streams + 1, qam=qam)(h, y, n0), np.array(wanted), 1)


@few
@given(seed=SEEDS, streams=st.integers(2, 4), qam=st.sampled_from([4, 16]))
def test_multi_pass_trellis(seed, streams, qam):
    rng, n0 = np.random.default_rng(seed), 0.2
    h, y = uses(rng, 12, streams, streams, qam, n0)
    order, m = list(range(streams))[::-1], qam.bit_length() - 1
    wanted = np.zeros((12, streams, m))
    for i in range(12):
        for stage in range(streams):  # its antenna is order[stage]
            level = [0]

            def step_of(step, top, bottom):
                level[0] += 1
                if level[0] <= stage + 1:
                    return step.argmin(0), np.arange(qam)  # reductions
                return np.arange(len(step)), step.argmin(1)  # extensions
            paths, metric = search(h[i], y[i], n0, qam, order, step_of, None)
            value = oracles.labels(qam)[paths[:, stage]]
            wanted[i, order[stage]] = oracles.max_log(metric[None] / n0, value)[0]
    agree(wb.MultiPassTrellis(streams=streams, rx_antennas=streams, qam=qam)(h, y, n0), wanted.reshape(12, -1), 1)


# ---------------------------------------------------------------- massive MIMO, space-time codes

def gradients(a, b, iterations, jacobi):
    """Conjugate gradients from 0, with A's diagonal divided out first if `jacobi`."""
    d = np.diag(a).real ** -0.5 if jacobi else np.ones(len(a))
    a, b = d[:, None] * a * d, d * b
    x, r = np.zeros_like(b), b.copy()
    p = r.copy()
    for _ in range(iterations):
        ap = a @ p
        step = np.vdot(r, r).real / np.vdot(p, ap).real
        x, after = x + step * p, r - step * ap
        p = after + np.vdot(after, after).real / np.vdot(r, r).real * p
        r = after
    return d * x


@few
@given(seed=SEEDS, users=st.integers(1, 9), extra=st.integers(0, 20), vectors=st.integers(1, 4), iterations=st.integers(1, 4),
       mode=st.sampled_from(["cholesky", "zf", "mf", "cg", "jacobi-cg"]))
def test_precoders(seed, users, extra, vectors, iterations, mode):
    rng, n0 = np.random.default_rng(seed), 0.5
    antennas = 2 * users + extra
    h, s = normal(rng, 2, antennas, users), normal(rng, 2, vectors, users)
    extra_settings = {"iterations": iterations} if "cg" in mode else {}
    sent = wb.MassiveDownlink(antennas=antennas, users=users, mode=mode, **extra_settings)(h, s, n0)
    for i, j in itertools.product(range(2), range(vectors)):
        wide = h[i].astype(complex)
        gram = wide.conj().T @ wide
        a = gram + (0 if mode == "zf" else n0) * np.eye(users)
        z = s[i, j].astype(complex) if mode == "mf" else gradients(a, s[i, j].astype(complex), min(iterations, users), "j" in mode) \
            if "cg" in mode else np.linalg.solve(a, s[i, j])
        wanted = wide @ z
        np.testing.assert_allclose(sent[i, j], wanted / np.linalg.norm(wanted), atol=2e-3)


@few
@given(seed=SEEDS, users=st.integers(1, 8), extra=st.integers(0, 24), qam=st.sampled_from([4, 16, 64, 256]),
       mode=st.sampled_from(["cholesky", "zf", "mf"]), vectors=st.integers(1, 5))
def test_uplink_detectors(seed, users, extra, qam, mode, vectors):
    rng, n0, antennas = np.random.default_rng(seed), 0.5, 2 * users + 2 + extra
    h, y = normal(rng, 3, antennas, users), normal(rng, 3, vectors, antennas)
    detector = wb.MassiveUplink(antennas=antennas, users=users, qam=qam, mode=mode)
    llr, sinr = detector(h, y, n0, outputs=("llr", "sinr"))
    kind = {"cholesky": "mmse"}.get(mode, mode)
    wanted, _, quality = oracles.linear(kind, np.repeat(h.astype(complex), vectors, 0), y.reshape(-1, antennas).astype(complex), n0, qam)
    agree(llr.reshape(len(wanted), -1), wanted)
    np.testing.assert_allclose(sinr.reshape(quality.shape), quality, rtol=5e-3)


@few
@given(seed=SEEDS, code=st.sampled_from(["alamouti", "silver", "golden"]), rx=st.integers(1, 3), per_channel=st.integers(1, 4),
       qam=st.sampled_from([4, 16]))
def test_space_time_decoders(seed, code, rx, per_channel, qam):
    """The least distance over all codewords, which is a linear map of the symbols and of their conjugates."""
    rng, n0, symbols = np.random.default_rng(seed), 0.3, 2 if code == "alamouti" else 4
    qam = qam if symbols == 2 else 4
    m = qam.bit_length() - 1
    encoder = wb.StbcEncoder(code=code, qam=qam)
    words = np.array([np.concatenate(w) for w in itertools.product(oracles.labels(qam), repeat=symbols)], np.uint8)
    points = oracles.qam_symbols(words.reshape(-1, symbols, m), qam)
    basis = encoder.encode_symbols(np.eye(symbols, dtype=np.complex64)), encoder.encode_symbols(1j * np.eye(symbols, dtype=np.complex64))
    coded = np.einsum("ps,sta->pta", points.real, basis[0]) + np.einsum("ps,sta->pta", points.imag, basis[1])  # slot, antenna
    np.testing.assert_allclose(encoder(words), coded, atol=1e-5)
    h = normal(rng, 3, rx, 2)
    sent = rng.integers(0, len(words), (3, per_channel))
    y = (coded[sent] @ h[:, None].swapaxes(2, 3) + n0 ** 0.5 * normal(rng, 3, per_channel, 2, rx)).astype(np.complex64)
    metric = (np.abs(y[:, :, None] - (coded @ h[:, None].swapaxes(2, 3).astype(complex))[:, None]) ** 2).sum((-1, -2)) / n0
    llr, bits = wb.StbcDecoder(code=code, qam=qam, rx_antennas=rx)(h, y, n0, outputs=("llr", "bits"))
    wanted = oracles.max_log(metric, words)
    agree(llr.reshape(3 * per_channel, -1), wanted.reshape(3 * per_channel, -1))
    assert np.array_equal(bits, words[metric.argmin(-1)])


# ---------------------------------------------------------------- codes

@few
@given(seed=SEEDS, k=st.sampled_from([40, 104, 512]), batch=st.integers(1, 3))
def test_turbo_encoder(seed, k, batch):
    bits = np.random.default_rng(seed).integers(0, 2, (batch, k), dtype=np.uint8)
    assert np.array_equal(wb.TurboEncoder(k=k)(bits), [oracles.turbo_encode(b) for b in bits])


@settings(max_examples=8, deadline=None)
@given(seed=SEEDS, k=st.sampled_from([40, 104]), iterations=st.integers(1, 3), algorithm=st.sampled_from(["log-map", "max-log-map"]))
def test_turbo_decoder(seed, k, iterations, algorithm):
    rng = np.random.default_rng(seed)
    coded = oracles.turbo_encode(rng.integers(0, 2, k))
    llr = (0.4 * (1 - 2.0 * coded) + rng.normal(size=coded.size)).astype(np.float32)  # far from the limits of log-MAP
    soft = wb.TurboDecoder(k=k, algorithm=algorithm, iterations=iterations, windows=1)(llr, outputs="soft")
    wanted = oracles.turbo_decode(llr, k, iterations, algorithm == "log-map")
    np.testing.assert_allclose(soft, wanted, rtol=2e-3, atol=2e-2)


@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, length=st.integers(3, 5), outputs=st.integers(2, 3), k=st.integers(4, 9), tail_biting=st.booleans())
def test_convolutional_codes(seed, length, outputs, k, tail_biting):
    """Codewords, and of zero-tail codes the most likely word and exact LLRs, by listing all words."""
    rng = np.random.default_rng(seed)
    generators = tuple(int(g) | 1 | 1 << (length - 1) for g in rng.integers(1, 2 ** length, outputs))
    code = wb.ConvCode(constraint_length=length, generators=generators, termination="tail-biting" if tail_biting else "zero-tail")
    words = oracles.all_words(k)
    codewords = np.array([oracles.conv_encode(w, length, generators, tail_biting) for w in words])
    assert np.array_equal(wb.ConvEncoder(code=code, k=k)(words), codewords)
    if tail_biting:
        return
    llr = rng.normal(scale=2, size=(5, codewords.shape[1])).astype(np.float32)
    wanted = [oracles.map_of_all(x, words, codewords) for x in llr]
    assert np.array_equal(wb.ViterbiDecoder(code=code, k=k)(llr), [w[0] for w in wanted])
    np.testing.assert_allclose(wb.BcjrDecoder(code=code, k=k)(llr, outputs="soft"), [w[1] for w in wanted], rtol=1e-3, atol=1e-3)


@settings(max_examples=12, deadline=None)
@given(seed=SEEDS, z=st.integers(3, 30), rows=st.integers(2, 4), iterations=st.integers(1, 5),
       algorithm=st.sampled_from(["min-sum", "normalised-min-sum"]))
def test_ldpc_of_any_matrix(seed, z, rows, iterations, algorithm):
    rng = np.random.default_rng(seed)
    columns = rows + int(rng.integers(2, 5))
    matrix = np.where(rng.random((rows, columns)) < 0.7, rng.integers(0, z, (rows, columns)), -1)
    matrix[:, :2] = rng.integers(0, z, (rows, 2))  # checks of at least two bits
    for column in range(2, columns):
        matrix[column % rows, column] = rng.integers(0, z)
    code = wb.LdpcCode(matrix=matrix.tolist(), z=z)
    llr = rng.normal(1, 2, (2, code.n)).astype(np.float32)
    decoder = wb.LdpcDecoder(code=code, algorithm=algorithm, scale=0.7, schedule="flooding", iterations=iterations, early_stop=False)
    h = oracles.parity_checks(matrix.tolist(), z)
    wanted = [oracles.min_sum(x, h, iterations, 1.0 if algorithm == "min-sum" else 0.7) for x in llr]
    np.testing.assert_allclose(decoder(llr, outputs="soft"), wanted, rtol=2e-3, atol=2e-3)


# ---------------------------------------------------------------- mapping, channels

@few
@given(seed=SEEDS, qam=st.sampled_from([2, 4, 16, 64, 256]), n=st.integers(1, 40), exact=st.booleans(), faded=st.booleans())
def test_mapping_and_demapping(seed, qam, n, exact, faded):
    rng = np.random.default_rng(seed)
    m = qam.bit_length() - 1
    bits = rng.integers(0, 2, (3, n * m), dtype=np.uint8)
    sent = wb.QamMapper(qam=qam)(bits)
    np.testing.assert_allclose(sent, oracles.qam_symbols(bits.reshape(3, n, m), qam), atol=1e-6)
    y = (sent + 0.4 * normal(rng, 3, n)).astype(np.complex64)
    h = normal(rng, 3, n) if faded else None
    n0 = rng.uniform(0.1, 1, (3, n)).astype(np.float32)
    settings_of = {"algorithm": "exact" if exact else "max-log"}
    llr = wb.Demapper(qam=qam, **settings_of)(y, n0, **({"channel": h} if faded else {}))
    wanted = oracles.demap(y.astype(complex), n0, qam, None if h is None else h.astype(complex), exact)
    np.testing.assert_allclose(llr, wanted, rtol=2e-3, atol=2e-3 * np.abs(wanted).max() + 1e-3)


@few
@given(seed=st.integers(0, 2 ** 64 - 1), rx=st.integers(1, 4), streams=st.integers(1, 4), shared=st.integers(1, 5))
def test_fading_channels_are_what_they_say(seed, rx, streams, shared):
    """y = H s with the H that is given back, the same for any cut of the batch."""
    rng = np.random.default_rng(seed % 2 ** 32)
    s = normal(rng, 4, shared, streams)
    y, h = wb.mimo_rayleigh(s, rx_antennas=rx, uses_per_channel=shared, seed=seed)
    wanted = np.einsum("crs,cus->cur", h.reshape(4, rx, streams).astype(complex), s)
    np.testing.assert_allclose(y, wanted, atol=1e-4)
    noise = wb.awgn(np.zeros_like(s), noise_var=0.7, seed=seed)
    np.testing.assert_allclose(wb.awgn(s, noise_var=0.7, seed=seed), s + noise, atol=1e-5)


