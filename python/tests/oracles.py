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

    return (pam(0) + 1j * pam(1)) / np.sqrt({4: 2, 16: 10, 64: 42, 256: 170}[qam])


def labels(qam):
    """All labels of a constellation, (qam, m)."""
    m = qam.bit_length() - 1
    return (np.arange(qam)[:, None] >> np.arange(m - 1, -1, -1)) & 1


def max_log(metric, bits):
    """ln P(0)/P(1) of each bit from squared distances over N0 (..., hypotheses) and their bits (hypotheses, m)."""
    return np.stack([metric[..., bits[:, b] == 1].min(-1) - metric[..., bits[:, b] == 0].min(-1)
                     for b in range(bits.shape[1])], -1)


def exact_log(metric, bits):
    def total(of):
        return np.logaddexp.reduce(-metric[..., of], -1)

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


def linear(kind, h, y, n0, qam):
    hh = np.conj(np.swapaxes(h, -1, -2))
    gram = hh @ h
    matched = (hh @ y[..., None])[..., 0]
    own = np.einsum("...kk->...k", gram).real
    n0 = np.broadcast_to(np.asarray(n0, float).reshape(-1, 1), own.shape)
    if kind == "mf":
        x = matched / own
        sinr = own ** 2 / ((np.abs(gram) ** 2).sum(-1) - own ** 2 + n0 * own)
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
def conv_encode(bits, k_length, generators, tail_biting=False):
    """One block, serial, zero tail or tail-biting; generators with the newest bit highest."""
    bits = list(bits)
    register = bits[::-1][:k_length - 1] if tail_biting else [0] * (k_length - 1)
    sent = []
    for b in bits + ([] if tail_biting else [0] * (k_length - 1)):
        window = [b] + register
        for g in generators:
            sent.append(sum(w for i, w in enumerate(window) if g >> (k_length - 1 - i) & 1) % 2)
        register = window[:-1]
    return np.array(sent, np.uint8)


def all_words(k):
    return labels(2 ** k).astype(np.uint8)


def map_of_all(llr, words, codewords, prior=None):
    """Most likely word, and exact a-posteriori LLRs, by listing all codewords; one received word."""
    metric = codewords.astype(float) @ llr.astype(float)  # -ln P but for what all share
    if prior is not None:
        metric = metric + words.astype(float) @ prior.astype(float)
    soft = [np.logaddexp.reduce(-metric[words[:, b] == 0]) - np.logaddexp.reduce(-metric[words[:, b] == 1])
            for b in range(words.shape[1])]
    return words[metric.argmin()], np.array(soft)


def bcjr_around(llr, k, k_length, generators, overlap):
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
            before[t + 1, to] = np.logaddexp(before[t + 1, to], before[t, f] - received[t] @ coded)
    for t in range(n - 1, -1, -1):
        for f, to, u, coded in edges:
            behind[t, f] = np.logaddexp(behind[t, f], behind[t + 1, to] - received[t] @ coded)
    soft = []
    for t in range(overlap, overlap + k):
        total = [-np.inf, -np.inf]
        for f, to, u, coded in edges:
            total[u] = np.logaddexp(total[u], before[t, f] - received[t] @ coded + behind[t + 1, to])
        soft.append(total[0] - total[1])
    return np.array(soft)


# ---------------------------------------------------------------- the turbo code of LTE, 3GPP TS 36.212 section 5.1.3.2
QPP = {40: (3, 10), 104: (7, 26), 512: (31, 64), 1024: (31, 64), 6144: (263, 480)}


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
    edges = []
    for state in range(8):
        s = [state >> 2 & 1, state >> 1 & 1, state & 1]
        for u in (0, 1):
            a = u ^ s[1] ^ s[2]
            edges.append((state, a << 2 | s[0] << 1 | s[1], u, a ^ s[0] ^ s[2]))
    before = np.full((n + 1, 8), -np.inf)
    behind = np.full((n + 1, 8), -np.inf)
    before[0, 0] = behind[n, 0] = 0

    def weight(t, u, p):
        return -u * sys_all[t] - p * par_all[t]

    for t in range(n):
        for f, to, u, p in edges:
            before[t + 1, to] = combine(before[t + 1, to], before[t, f] + weight(t, u, p))
    for t in range(n - 1, -1, -1):
        for f, to, u, p in edges:
            behind[t, f] = combine(behind[t, f], behind[t + 1, to] + weight(t, u, p))
    extrinsic = []
    for t in range(len(systematic)):
        total = [-np.inf, -np.inf]
        for f, to, u, p in edges:
            total[u] = combine(total[u], before[t, f] + weight(t, u, p) + behind[t + 1, to])
        extrinsic.append(total[0] - total[1] - sys_all[t])
    return np.array(extrinsic)


def turbo_decode(llr, k, iterations, exact=True):
    """A-posteriori LLRs of one codeword."""
    llr = np.asarray(llr, float)
    d = llr.reshape(3, k + 4)
    pi = interleaver(k)
    x, z, z2 = d[0, :k], d[1, :k], d[2, :k]
    tails = ([d[0, k], d[2, k], d[1, k + 1]], [d[1, k], d[0, k + 1], d[2, k + 1]],
             [d[0, k + 2], d[2, k + 2], d[1, k + 3]], [d[1, k + 2], d[0, k + 3], d[2, k + 3]])
    combine = np.logaddexp if exact else np.maximum
    second = np.zeros(k)
    for _ in range(iterations):
        first = _turbo_map(x, z, second, tails[0], tails[1], combine)
        found = _turbo_map(x[pi], z2, first[pi], tails[2], tails[3], combine)
        second = np.empty(k)
        second[pi] = found
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


def rate_match(coded, k, sent_bits, rv):
    """TS 36.212 section 5.1.4.1 of one code block without filler bits and with its whole circular buffer."""
    streams = np.asarray(coded).reshape(3, k + 4)
    rows = -(-(k + 4) // 32)
    size = 32 * rows
    padded = np.full((3, size), -1)
    padded[:, size - (k + 4):] = streams
    v0, v1 = (padded[i].reshape(rows, 32)[:, COLUMNS].T.reshape(-1) for i in (0, 1))
    v2 = np.array([padded[2][(COLUMNS[i // rows] + 32 * (i % rows) + 1) % size] for i in range(size)])
    buffer = np.concatenate([v0, np.stack([v1, v2], 1).reshape(-1)])
    place = rows * (2 * -(-len(buffer) // (8 * rows)) * rv + 2)
    sent = []
    while len(sent) < sent_bits:
        bit = buffer[place % len(buffer)]
        if bit >= 0:
            sent.append(bit)
        place += 1
    return np.array(sent, np.uint8)


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


def min_sum(llr, h, iterations, scale):
    """Flooding normalised min-sum of one codeword: a-posteriori LLRs."""
    llr = np.asarray(llr, float)
    message = np.zeros(h.shape)
    edge = h.astype(bool)
    total = llr.copy()
    for _ in range(iterations):
        toward = np.where(edge, total[None, :] - message, np.inf)
        sign = np.where(toward < 0, -1.0, 1.0)
        row_sign = sign.prod(1, where=edge, keepdims=True)
        order = np.sort(np.abs(toward), 1)
        least = np.where(np.abs(toward) == order[:, :1], order[:, 1:2], order[:, :1])
        message = np.where(edge, scale * row_sign * sign * least, 0.0)
        total = llr + message.sum(0)
    return total


# ---------------------------------------------------------------- space-time codes
def alamouti(a, b):
    return np.array([[a, -np.conj(b)], [b, np.conj(a)]])


def golden(x1, x2, x3, x4):
    t = (1 + 5 ** 0.5) / 2
    u = 1 - t
    a, b = 1 + 1j - 1j * t, 1 + 1j - 1j * u
    return np.array([[a * (x1 + t * x2), a * (x3 + t * x4)], [1j * b * (x3 + u * x4), b * (x1 + u * x2)]]) / 5 ** 0.5
