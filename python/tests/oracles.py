"""What the tests compare with: textbook formulas in double precision, written for these tests alone."""
import itertools

import numpy as np


# ---------------------------------------------------------------- modulation, 3GPP TS 38.211 section 5.1
def qam_symbols(bits, qam):
    """Bits (..., m) to symbols (...)."""
    s = 1.0 - 2.0 * np.asarray(bits, float)
    if qam == 2:
        return s[..., 0] * (1 + 1j) / np.sqrt(2)
    m = s.shape[-1]

    def pam(first):
        level = s[..., m - 2 + first]
        for depth, place in enumerate(range(m - 4 + first, -1, -2), 1):
            level = s[..., place] * (2 ** depth - level)
        return level

    return (pam(0) + 1j * pam(1)) / np.sqrt({4: 2, 16: 10, 64: 42, 256: 170, 1024: 682, 4096: 2730}[qam])


def labels(qam):
    """All labels of a constellation, (qam, m)."""
    m = qam.bit_length() - 1
    return (np.arange(qam)[:, None] >> np.arange(m - 1, -1, -1)) & 1


def max_log(metric, bits):
    """ln P(0)/P(1) of each bit from squared distances over N0 (..., hypotheses) and their bits (hypotheses, m)."""
    return np.stack([metric[..., bits[:, b] == 1].min(-1) - metric[..., bits[:, b] == 0].min(-1)
                     for b in range(bits.shape[1])], -1)


def exact_log(metric, bits):
    def total(hypotheses):
        return np.logaddexp.reduce(-metric[..., hypotheses], -1)

    return np.stack([total(bits[:, b] == 0) - total(bits[:, b] == 1) for b in range(bits.shape[1])], -1)


def demap(y, n0, qam, h=None, exact=False):
    bits = labels(qam)
    points = qam_symbols(bits, qam)
    h = np.ones_like(y) if h is None else h
    metric = np.abs(y[..., None] - h[..., None] * points) ** 2 / np.asarray(n0)[..., None]
    llr = (exact_log if exact else max_log)(metric, bits)
    return llr.reshape(y.shape[:-1] + (-1,))


# ---------------------------------------------------------------- detection
def ml(h, y, n0, qam, prior=None):
    streams = h.shape[-1]
    single = labels(qam)
    bits = np.array([np.concatenate(words) for words in itertools.product(single, repeat=streams)])
    points = qam_symbols(bits.reshape(len(bits), streams, -1), qam)
    metric = (np.abs(y[:, None, :] - np.einsum("urs,ps->upr", h, points)) ** 2).sum(-1) / np.asarray(n0).reshape(-1, 1)
    if prior is not None:  # ln P(b) = -b L but for what all hypotheses share
        metric = metric + prior.astype(float) @ bits.T
    return max_log(metric, bits)


def _symbol_costs(prior, streams, qam):
    """-ln of the a-priori probabilities (uses, streams, qam), but for a constant."""
    return prior.reshape(len(prior), streams, -1).astype(float) @ labels(qam).T


def _symbol_llrs(cost, qam, demapper):
    """(uses, streams, qam) to (uses, streams * bits)."""
    return (exact_log if demapper == "exact" else max_log)(cost, labels(qam)).reshape(len(cost), -1)


def pic(h, y, n0, qam, prior, demapper):
    """MMSE with parallel interference cancellation: for each stream the inverse covariance of what it does not have."""
    rx, streams = h.shape[1:]
    points, cost = qam_symbols(labels(qam), qam), _symbol_costs(prior, streams, qam)
    weight = np.exp(cost.min(-1, keepdims=True) - cost)
    weight /= weight.sum(-1, keepdims=True)
    mean = weight @ points
    variance = (weight * np.abs(points - mean[..., None]) ** 2).sum(-1)
    for k in range(streams):
        others = np.delete(np.arange(streams), k)
        mixed = (h[:, :, others] * variance[:, None, others]) @ np.conj(np.swapaxes(h[:, :, others], 1, 2)) + n0 * np.eye(rx)
        filtered = np.conj(np.linalg.solve(mixed, h[:, :, k, None])[..., 0])
        sinr = (filtered * h[:, :, k]).sum(-1).real
        x = (filtered * (y - np.einsum("urk,uk->ur", h[:, :, others], mean[:, others]))).sum(-1) / sinr
        cost[:, k] += sinr[:, None] * np.abs(x[:, None] - points) ** 2
    return _symbol_llrs(cost, qam, demapper)


def ep(h, y, n0, qam, prior, demapper, iterations, damping):
    """Expectation propagation over real dimensions, from the sample variance of the amplitudes on."""
    streams, levels = h.shape[2], np.sqrt(qam)
    points, known = qam_symbols(labels(qam), qam), _symbol_costs(prior, streams, qam)
    parts = np.stack([points.real, points.imag])  # (2, qam)
    real = np.concatenate([np.concatenate([h.real, -h.imag], 2), np.concatenate([h.imag, h.real], 2)], 1).astype(float)
    gram = np.swapaxes(real, 1, 2) @ real * 2 / n0
    matched = np.einsum("urk,ur->uk", real, np.concatenate([y.real, y.imag], 1)) * 2 / n0

    def moments(cost):  # of both parts: (uses, 2 * streams)
        weight = np.exp(cost.min(-1, keepdims=True) - cost)
        weight /= weight.sum(-1, keepdims=True)
        mean = np.einsum("ukq,pq->upk", weight, parts)
        variance = np.einsum("ukq,upkq->upk", weight, (parts[None, :, None] - mean[..., None]) ** 2)
        return mean.reshape(len(cost), -1), variance.reshape(len(cost), -1)

    mean, variance = moments(known)
    precision = 1 / np.maximum(variance * levels / (levels - 1), 1e-6)
    shift = mean * precision
    for i in range(1, iterations + 1):
        covariance = np.linalg.inv(gram + precision[..., None] * np.eye(2 * streams))
        marginal = np.einsum("ukk->uk", covariance)
        v = 1 / (1 / marginal - precision)
        x = v * ((covariance @ (matched + shift)[..., None])[..., 0] / marginal - shift)
        x_parts, v_parts = x.reshape(-1, 2, streams), v.reshape(-1, 2, streams)
        off = (x_parts[..., None] - parts[None, :, None]) ** 2 / (2 * v_parts[..., None])
        cost = known + off.sum(1)
        if i == iterations:
            return _symbol_llrs(cost, qam, demapper)
        mean, variance = moments(cost)
        variance = np.maximum(variance, 1e-6)
        new = 1 / variance - 1 / v
        kept = np.where(new <= 1e-4 / v, 1, damping)
        shift = kept * shift + (1 - kept) * (mean / variance - x / v)
        precision = kept * precision + (1 - kept) * new


def linear(kind, h, y, n0, qam):
    hh = np.conj(np.swapaxes(h, -1, -2))
    gram = hh @ h
    matched = (hh @ y[..., None])[..., 0]
    power = np.einsum("...kk->...k", gram).real
    n0 = np.broadcast_to(np.asarray(n0, float).reshape(-1, 1), power.shape)
    if kind == "mf":
        x = matched / power
        sinr = power ** 2 / ((np.abs(gram) ** 2).sum(-1) - power ** 2 + n0 * power)
    else:
        a = gram + (n0[..., None] * np.eye(h.shape[-1]) if kind == "mmse" else 0)
        inverse = np.linalg.inv(a)
        diagonal = np.einsum("...kk->...k", inverse).real
        x = (inverse @ matched[..., None])[..., 0]
        sinr = 1 / (n0 * diagonal)
        if kind == "mmse":
            sinr = sinr - 1
            x = x * (1 + sinr) / sinr
    bits = labels(qam)
    metric = np.abs(x[..., None] - qam_symbols(bits, qam)) ** 2 * sinr[..., None]
    return max_log(metric, bits).reshape(len(y), -1), x, sinr


# ---------------------------------------------------------------- convolutional codes
def conv_encode(bits, k_length, generators, tail_biting=False, feedback=0, tail=True):
    """One block, serial; generators with the newest bit highest. With feedback each input bit has those that it names added."""
    def taps(number, window):
        return sum(w for i, w in enumerate(window) if number >> (k_length - 1 - i) & 1) % 2
    bits = list(bits)
    register = bits[::-1][:k_length - 1] if tail_biting else [0] * (k_length - 1)
    sent = []
    for t in range(len(bits) + (k_length - 1 if tail and not tail_biting else 0)):
        back = taps(feedback, [0] + register)
        newest = 0 if t >= len(bits) else bits[t] ^ back  # the tail empties the register
        window = [newest] + register
        sent += [taps(g, window) for g in generators]
        register = window[:-1]
    return np.array(sent, np.uint8)


def all_words(k):
    return labels(2 ** k).astype(np.uint8)


def map_of_all(llr, words, codewords, prior=None, add=np.logaddexp):
    """Most likely word, and exact a-posteriori LLRs (with add = maximum their max-log form), by listing all codewords; one received
    word."""
    metric = codewords.astype(float) @ llr.astype(float)  # -ln P but for what all share
    if prior is not None:
        metric = metric + words.astype(float) @ prior.astype(float)
    soft = [add.reduce(-metric[words[:, b] == 0]) - add.reduce(-metric[words[:, b] == 1])
            for b in range(words.shape[1])]
    return words[metric.argmin()], np.array(soft)


def bcjr_around(llr, k, k_length, generators, overlap, add=np.logaddexp):
    """Tail-biting: all states alike, `overlap` steps around the circle before and behind the codeword."""
    steps = np.arange(-overlap, k + overlap) % k
    received = np.asarray(llr, float).reshape(k, -1)[steps]
    states = 2 ** (k_length - 1)
    edges = []
    for state in range(states):
        for u in (0, 1):
            register = u << (k_length - 1) | state
            coded = [bin(register & g).count("1") % 2 for g in generators]
            edges.append((state, register >> 1, u, np.array(coded)))
    n = len(steps)
    before, behind = np.full((n + 1, states), -np.inf), np.full((n + 1, states), -np.inf)
    before[0] = behind[n] = 0
    for t in range(n):
        for f, to, u, coded in edges:
            before[t + 1, to] = add(before[t + 1, to], before[t, f] - received[t] @ coded)
    for t in range(n - 1, -1, -1):
        for f, to, u, coded in edges:
            behind[t, f] = add(behind[t, f], behind[t + 1, to] - received[t] @ coded)
    soft = []
    for t in range(overlap, overlap + k):
        total = [-np.inf, -np.inf]
        for f, to, u, coded in edges:
            total[u] = add(total[u], before[t, f] - received[t] @ coded + behind[t + 1, to])
        soft.append(total[0] - total[1])
    return np.array(soft)


# ---------------------------------------------------------------- the turbo code of LTE, 3GPP TS 36.212 section 5.1.3.2
QPP = {40: (3, 10), 48: (7, 12), 104: (7, 26), 112: (41, 84), 512: (31, 64), 1024: (31, 64), 3072: (47, 96), 3136: (13, 28),
       4096: (31, 64), 4160: (33, 130), 6144: (263, 480)}
#: all block sizes of table 5.1.3-3
SIZES = [*range(40, 512, 8), *range(512, 1024, 16), *range(1024, 2048, 32), *range(2048, 6145, 64)]


def interleaver(k):
    f1, f2 = QPP[k]
    return np.array([(f1 * i + f2 * i * i) % k for i in range(k)])


def _rsc(bits):
    """Parity of all bits, then of the three that end the trellis; and those three bits."""
    s = [0, 0, 0]
    parity, tail = [], []
    for i in range(len(bits) + 3):
        feedback = s[1] ^ s[2]
        u = int(bits[i]) if i < len(bits) else feedback
        if i >= len(bits):
            tail.append(u)
        a = u ^ feedback
        parity.append(a ^ s[0] ^ s[2])
        s = [a, s[0], s[1]]
    return parity, tail


def turbo_encode(bits):
    k = len(bits)
    z, x_tail = _rsc(bits)
    z2, x2_tail = _rsc(np.asarray(bits)[interleaver(k)])
    x, y = x_tail, x2_tail
    d0 = list(bits) + [x[0], z[k + 1], y[0], z2[k + 1]]
    d1 = z[:k] + [z[k], x[2], z2[k], y[2]]
    d2 = z2[:k] + [x[1], z[k + 2], y[1], z2[k + 2]]
    return np.array(d0 + d1 + d2, np.uint8)


def _turbo_map(systematic, parity, prior, tail_systematic, tail_parity, combine):
    """A-posteriori minus prior minus systematic of an 8-state code, over the whole block."""
    sys_all = np.concatenate([systematic + prior, tail_systematic])
    par_all = np.concatenate([parity, tail_parity])
    n = len(sys_all)
    state = np.arange(8)
    s = np.array([state >> 2 & 1, state >> 1 & 1, state & 1])
    u = np.arange(2)[:, None]  # an edge: input, state it leaves
    a = u ^ s[1] ^ s[2]
    to, p = a << 2 | s[0] << 1 | s[1], a ^ s[0] ^ s[2]
    into = np.array([np.flatnonzero(to.ravel() == v) for v in state]).T  # the two edges into each state
    weight = -(u[None] * sys_all[:, None, None] + p[None] * par_all[:, None, None])  # step, input, state
    before = np.full((n + 1, 8), -np.inf)
    behind = np.full((n + 1, 8), -np.inf)
    before[0, 0] = behind[n, 0] = 0
    for t in range(n):
        before[t + 1] = combine(*(before[t] + weight[t]).ravel()[into])
    for t in range(n - 1, -1, -1):
        behind[t] = combine(*(weight[t] + behind[t + 1][to]))
    through = before[:-1, None, :] + weight + behind[1:][:, to]
    total = combine.reduce(through, 2)[:len(systematic)]
    return total[:, 0] - total[:, 1] - sys_all[:len(systematic)]


def turbo_decode(llr, k, iterations, exact=True, scale=1.0):
    """A-posteriori LLRs of one codeword; extrinsics are scaled in all iterations but the last."""
    llr = np.asarray(llr, float)
    d = llr.reshape(3, k + 4)
    pi = interleaver(k)
    x, z, z2 = d[0, :k], d[1, :k], d[2, :k]
    tails = ([d[0, k], d[2, k], d[1, k + 1]], [d[1, k], d[0, k + 1], d[2, k + 1]],
             [d[0, k + 2], d[2, k + 2], d[1, k + 3]], [d[1, k + 2], d[0, k + 3], d[2, k + 3]])
    combine = np.logaddexp if exact else np.maximum
    second = np.zeros(k)
    for i in range(iterations):
        factor = scale if i < iterations - 1 else 1.0
        first = factor * _turbo_map(x, z, second, tails[0], tails[1], combine)
        found = _turbo_map(x[pi], z2, first[pi], tails[2], tails[3], combine)
        second = np.empty(k)
        second[pi] = factor * found
    return x + first + second


# ---------------------------------------------------------------- LTE transport channel
def crc(bits, polynomial, degree):
    rest = list(bits) + [0] * degree
    divisor = [polynomial >> (degree - i) & 1 for i in range(degree + 1)]
    for i in range(len(bits)):
        if rest[i]:
            for j, b in enumerate(divisor):
                rest[i + j] ^= b
    return rest[-degree:]


COLUMNS = [0, 16, 8, 24, 4, 20, 12, 28, 2, 18, 10, 26, 6, 22, 14, 30, 1, 17, 9, 25, 5, 21, 13, 29, 3, 19, 11, 27, 7, 23, 15, 31]


def segmentation(b):
    """TS 36.212 section 5.1.2 of B bits: the sizes K of the code blocks, the filler bits of the first one, the bits of a block's CRC."""
    crc_bits = 0 if b <= 6144 else 24
    blocks = 1 if b <= 6144 else -(-b // (6144 - crc_bits))
    whole = b + blocks * crc_bits
    plus = min(k for k in SIZES if blocks * k >= whole)
    minus = max([k for k in SIZES if k < plus], default=0)
    smaller = 0 if blocks == 1 else (blocks * plus - whole) // (plus - minus)
    sizes = [minus] * smaller + [plus] * (blocks - smaller)
    return sizes, sum(sizes) - whole, crc_bits


def code_blocks(bits):
    """A transport block with its CRC-24A, cut into code blocks with their CRC-24B; and the filler bits of the first one."""
    bits = list(bits) + crc(bits, 0x1864CFB, 24)
    sizes, fillers, crc_bits = segmentation(len(bits))
    blocks, begin = [], 0
    for r, k in enumerate(sizes):
        block = [0] * (fillers if r == 0 else 0)
        take = k - crc_bits - len(block)
        block += bits[begin:begin + take]
        begin += take
        blocks.append(block + (crc(block, 0x1800063, 24) if crc_bits else []))
    return blocks, fillers


def sent_places(k, sent_bits, rv, fillers=0, soft_buffer=None):
    """TS 36.212 section 5.1.4.1: the places in a code block's codeword, of three streams, that a transmission sends, in order."""
    d = k + 4
    streams = np.arange(3 * d).reshape(3, d)
    streams[:2, :fillers] = -1
    rows = -(-d // 32)
    size = 32 * rows
    padded = np.full((3, size), -1)
    padded[:, size - d:] = streams
    v0, v1 = (padded[i].reshape(rows, 32)[:, COLUMNS].T.reshape(-1) for i in (0, 1))
    v2 = np.array([padded[2][(COLUMNS[i // rows] + 32 * (i % rows) + 1) % size] for i in range(size)])
    buffer = np.concatenate([v0, np.stack([v1, v2], 1).reshape(-1)])
    kept = min(soft_buffer or len(buffer), len(buffer))
    place = rows * (2 * -(-kept // (8 * rows)) * rv + 2)
    sent = []
    while len(sent) < sent_bits:
        if buffer[place % kept] >= 0:
            sent.append(buffer[place % kept])
        place += 1
    return np.array(sent)


def sent_of_blocks(g, blocks, modulation_order, layers):
    """How many of the G bits of a transmission each code block sends."""
    together = layers * modulation_order
    symbols = g // together
    larger = symbols % blocks
    return [together * (symbols // blocks + (r >= blocks - larger)) for r in range(blocks)]


def transport_encode(bits, g, rv, modulation_order=2, layers=1, soft_buffer=None):
    blocks, fillers = code_blocks(bits)
    shares = sent_of_blocks(g, len(blocks), modulation_order, layers)
    return np.concatenate([turbo_encode(block)[sent_places(len(block), share, rv, fillers if r == 0 else 0, soft_buffer)]
                           for r, (block, share) in enumerate(zip(blocks, shares))])


def transport_decode(received, transport_bits, iterations, exact=True, scale=1.0, modulation_order=2, layers=1, soft_buffer=None):
    """From transmissions (LLRs, redundancy version) the a-posteriori LLRs of the transport block's bits, which code blocks' CRCs hold
    (of one alone: that of the transport block), whether all do, and the least LLR of all bits, CRCs included."""
    sizes, fillers, crc_bits = segmentation(transport_bits + 24)
    soft = [np.zeros(3 * (k + 4)) for k in sizes]
    for llr, rv in received:
        begin = 0
        for r, share in enumerate(sent_of_blocks(len(llr), len(sizes), modulation_order, layers)):
            places = sent_places(sizes[r], share, rv, fillers if r == 0 else 0, soft_buffer)
            np.add.at(soft[r], places, np.asarray(llr, float)[begin:begin + share])
            begin += share
    found, holds, least = [], [], np.inf
    for r, k in enumerate(sizes):
        known = fillers if r == 0 else 0
        streams = soft[r].reshape(3, k + 4)
        streams[:2, :known] = 30 if exact else 10000  # they are zeros
        decided = turbo_decode(streams, k, iterations, exact, scale)
        least = min(least, np.abs(decided[known:]).min())
        bits = (decided < 0).astype(int).tolist()
        holds.append(not crc_bits or crc(bits[:-24], 0x1800063, 24) == bits[-24:])
        found.append(decided[known:k - crc_bits])
    found = np.concatenate(found)
    bits = (found < 0).astype(int).tolist()
    whole = crc(bits[:-24], 0x1864CFB, 24) == bits[-24:]
    return found[:-24], holds if crc_bits else [whole], whole and all(holds), least


# ---------------------------------------------------------------- LDPC
def parity_checks(matrix, z):
    rows, columns = len(matrix), len(matrix[0])
    h = np.zeros((rows * z, columns * z), np.uint8)
    for i, row in enumerate(matrix):
        for j, shift in enumerate(row):
            if shift >= 0:
                for r in range(z):
                    h[i * z + r, j * z + (r + shift) % z] = 1
    return h


def belief_propagation(llr, h, iterations, rule, layers=None, scale=1.0, offset=0.0):
    """A-posteriori LLRs of one codeword. Rules "min-sum", with the least amplitude times `scale` minus `offset` but not below 0, and
    "sum-product". `layers`: checks that work from the same LLRs, as slices of rows, one after the other; None: all at once."""
    llr = np.asarray(llr, float)
    message, edge, total = np.zeros(h.shape), h.astype(bool), llr.copy()
    for _ in range(iterations):
        for rows in layers or [slice(None)]:
            here = edge[rows]
            toward = np.where(here, total[None, :] - message[rows], np.inf)
            if rule == "sum-product":
                part = np.where(here, np.tanh(toward / 2), 1.0)
                others = np.array([[np.prod(np.delete(row, v)) if edges[v] else 0.0 for v in range(len(row))]
                                   for row, edges in zip(part, here)])
                answer = 2 * np.arctanh(others)
            else:
                sign = np.where(toward < 0, -1.0, 1.0)
                order = np.sort(np.abs(toward), 1)
                least = np.where(np.abs(toward) == order[:, :1], order[:, 1:2], order[:, :1])
                answer = sign.prod(1, where=here, keepdims=True) * sign * np.maximum(scale * least - offset, 0)
            answer = np.where(here, answer, 0.0)
            total = total + (answer - message[rows]).sum(0)
            message[rows] = answer
    return total


# ---------------------------------------------------------------- space-time codes
def alamouti(a, b):
    return np.array([[a, -np.conj(b)], [b, np.conj(a)]])


def golden(x1, x2, x3, x4):
    t = (1 + 5 ** 0.5) / 2
    u = 1 - t
    a, b = 1 + 1j - 1j * t, 1 + 1j - 1j * u
    return np.array([[a * (x1 + t * x2), a * (x3 + t * x4)], [1j * b * (x3 + u * x4), b * (x1 + u * x2)]]) / 5 ** 0.5


def golden_slicing(h, y, n0, qam):
    """Max-log LLRs of one codeword, y (rx, slot): for every value of one pair the other one is sliced, its second symbol first or
    its first symbol first. The real and the imaginary part each take the better of the two. Then the pairs are exchanged."""
    bits = labels(qam)
    points = qam_symbols(bits, qam)
    levels = np.unique(points.real.round(12))

    def slices(x):
        return levels[np.abs(x.real[..., None] - levels).argmin(-1)] + 1j * levels[np.abs(x.imag[..., None] - levels).argmin(-1)]

    # H S is linear in the symbols
    columns = np.array([(h @ golden(*np.eye(4)[i])).ravel() for i in range(4)]).T.astype(complex)
    pairs = np.array(list(itertools.product(points, repeat=2)))
    words = np.array([np.concatenate(w) for w in itertools.product(bits, repeat=2)])
    llr = []
    for known, other in (([2, 3], [0, 1]), ([0, 1], [2, 3])):  # LLRs of those that are known, all values of which are tried
        p = columns[:, other]
        rest = y.ravel()[None] - pairs @ columns[:, known].T
        free = rest @ np.linalg.pinv(p).T
        power = (np.abs(p) ** 2).sum(0)

        def given(which, value):  # the best of one symbol beside a value of the other
            return slices((rest - value[:, None] * p[:, 1 - which]) @ p[:, which].conj() / power[which])

        def cost(first, second):  # of real and imaginary parts, which do not meet: P^H P is real
            off = np.stack([free[:, 0] - first, free[:, 1] - second], -1)
            gram = (p.conj().T @ p).real
            return np.stack([np.einsum("qi,ij,qj->q", part, gram, part) for part in (off.real, off.imag)])
        second = slices(free[:, 1])
        one = cost(given(0, second), second)
        second = given(1, slices(free[:, 0]))
        other_one = cost(given(0, second), second)
        outside = (np.abs(rest - free @ p.T) ** 2).sum(1)
        llr.insert(0, max_log((np.minimum(one, other_one).sum(0) + outside)[None] / n0, words)[0])
    return np.concatenate(llr)


# ---------------------------------------------------------------- massive MIMO
def gradients(a, b, iterations, jacobi):
    """Conjugate gradients from 0 (Hestenes and Stiefel), with A's diagonal divided out first if `jacobi`."""
    d = np.diag(a).real ** -0.5 if jacobi else np.ones(len(a))
    a, b = d[:, None] * a * d, d * b
    x, r = np.zeros_like(b), b.copy()
    p = r.copy()
    for _ in range(min(iterations, len(a))):
        ap = a @ p
        step = np.vdot(r, r).real / np.vdot(p, ap).real
        x, after = x + step * p, r - step * ap
        p = after + np.vdot(after, after).real / np.vdot(r, r).real * p
        r = after
    return d * x


def uplink(h, y, n0, qam, mode, iterations=0):
    """One vector with the SINR that the Gram matrix alone gives, G_uu / N0: LLRs, estimates without bias, SINR."""
    gram, matched = h.conj().T @ h, h.conj().T @ y
    power = np.diag(gram).real
    a = gram + (0 if mode == "zf" else n0) * np.eye(len(gram))
    sinr = power / n0
    if mode == "mf":
        x = matched / power
    elif mode == "zf":
        x = np.linalg.solve(a, matched)
    else:
        x = gradients(a, matched, iterations, mode == "jacobi-cg") if "cg" in mode else np.linalg.solve(a, matched)
        x = x / (sinr / (1 + sinr))
    bits = labels(qam)
    metric = np.abs(x[:, None] - qam_symbols(bits, qam)) ** 2 * sinr[:, None]
    return max_log(metric, bits).ravel(), x, sinr
