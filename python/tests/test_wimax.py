"""WiMAX frames against NumPy: what is sent, what is estimated, what is decided; and the same through a stream."""
import numpy as np
import oracles
import pytest

import warpband as wb

THREE = {"profile": "mobile_128", "downlink_share": 0.5, "modulations": ["qpsk", "16qam", "64qam"], "shares": [2, 1, 1]}
CONV = {"type": "conv", "k": 60, "standard": "802.16", "termination": "tail-biting"}
CSI = [("preamble", "downlink"), ("preamble", "uplink"), ("perfect", "downlink"), ("perfect", "uplink")]


def drawn(frame, rng, *batch):
    return [rng.integers(0, 2, (*batch, burst.blocks, burst.k), dtype=np.uint8) for burst in frame.bursts]


def normal(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)) * 0.5 ** 0.5


def over_the_air(frame, sent, rng, noise_var):
    """What arrives, and H: for each frame one H, with a phase that turns over the tones."""
    batch, (_, tones) = sent.shape[:-3], frame.grid_shape
    h = normal(rng, *batch, 1, frame.rx_antennas, 2) * np.exp(-2j * np.pi * np.arange(tones)[:, None, None] / 1024)
    y = np.einsum("...tra,...sta->...str", h, sent)
    return (y + noise_var ** 0.5 * normal(rng, *y.shape)).astype(np.complex64), h.astype(np.complex64)


def received(frame, y, h, n0, **more):
    return frame.receive(y, n0, channel=h if frame.csi == "perfect" else None, **more)


@pytest.mark.parametrize("csi, direction", CSI)
@pytest.mark.parametrize("space_time, code", [("alamouti", None), ("silver", CONV), ("golden", {"type": "wimax-ldpc", "n": 576})])
def test_without_noise_the_bits_come_back(csi, direction, space_time, code, rng):
    frame = wb.WimaxFrame(**THREE, csi=csi, direction=direction, space_time=space_time, code=code)
    bits = drawn(frame, rng, 2)
    y, h = over_the_air(frame, frame.transmit(bits), rng, 0)
    decided = received(frame, y, h, 1e-4)
    assert isinstance(decided, tuple) and len(decided) == 3
    for got, wanted in zip(decided, bits):
        assert got.dtype == np.uint8 and np.array_equal(got, wanted)
    assert ("map_status" in frame._table) == (direction == "downlink")


# ---------------------------------------------------------------- what is sent
def number(value, bits):
    return [value >> i & 1 for i in range(bits - 1, -1, -1)]


def remainder(bits, polynomial, degree, inverted):
    """By long division; with `inverted` the first bits and the remainder are."""
    work = list(bits) + [0] * degree
    if inverted:
        work[:degree] = [1 - b for b in work[:degree]]
    for i in range(len(bits)):
        if work[i]:
            for j, b in enumerate([1] + number(polynomial, degree)):
                work[i + j] ^= b
    return [b ^ inverted for b in work[-degree:]]


def messages(frame):
    """FCH and DL-MAP, coded and repeated."""
    dl_map = number(2, 8) + number(len(frame.bursts), 8)
    for i, b in enumerate(frame.bursts, 1):
        dl_map += number(["qpsk", "16qam", "64qam"].index(b.modulation), 4) + number(i, 16)
        dl_map += number(b.first_symbol, 12) + number(b.first_tone, 12) + number(b.symbols, 12) + number(b.tones, 12) + [0] * 4
    dl_map += remainder(dl_map, 0x04C11DB7, 32, 1)
    fch = [1] * 6 + [0] + number(frame.map_repetition // 2, 2) + [0] * 3 + number(len(dl_map) // 8, 8) + [0] * 4
    fch += remainder(fch, 0x07, 8, 0)
    coded = [oracles.conv_encode(np.array(m), 7, (0o171, 0o133), tail_biting=True) for m in (fch, dl_map)]
    return np.concatenate([np.tile(coded[0], 4), np.tile(np.repeat(coded[1], 2 if frame.map_modulation == "bpsk" else 1), frame.map_repetition)])


def preamble(tones):
    """BPSK on every second tone of an antenna, (tones, 2)."""
    state, sent = [1] * 11, np.zeros((tones, 2))
    for t in range(tones):
        new = state[-1] ^ state[-3]
        state = [new] + state[:-1]
        sent[t, t % 2] = 2 ** 0.5 * (1 - 2 * new)
    return sent


def alamouti_symbols(grid, bits, qam, first_symbol, first_tone, tones, steps):
    """Codewords of a burst, tone by tone and on a tone in the order of time."""
    m = qam.bit_length() - 1
    words = oracles.qam_symbols(np.reshape(bits, (-1, 2, m)), qam)
    for n, (a, b) in enumerate(words):
        symbol, tone = first_symbol + 2 * (n % steps), first_tone + n // steps
        if tone < first_tone + tones:
            grid[symbol:symbol + 2, tone] = oracles.alamouti(a, b).T


@pytest.mark.parametrize("modulation, repetition", [("bpsk", 2), ("qpsk", 1), ("qpsk", 4)])
def test_a_grid_is_that_of_numpy(modulation, repetition, rng):
    frame = wb.WimaxFrame(**THREE, map_modulation=modulation, map_repetition=repetition)
    bits = drawn(frame, rng)
    symbols, tones = frame.grid_shape
    wanted = np.zeros((symbols, tones, 2), complex)
    wanted[0] = preamble(tones)
    coded = messages(frame)
    steps = -(-len(coded) // (4 * tones))
    assert frame.control_symbols == 1 + 2 * steps
    alamouti_symbols(wanted, np.pad(coded, (0, 4 * steps * tones - len(coded))), 4, 1, 0, tones, steps)
    assert [b.tones for b in frame.bursts] == [36, 18, 18]
    for b, data in zip(frame.bursts, bits):
        assert (b.first_symbol, b.blocks, b.n) == (frame.control_symbols, b.codewords, b.bits_per_codeword)
        alamouti_symbols(wanted, data, {"qpsk": 4, "16qam": 16, "64qam": 64}[b.modulation], b.first_symbol, b.first_tone, b.tones, b.symbols // 2)
    np.testing.assert_allclose(frame.transmit(bits), wanted, atol=1e-6)


# ---------------------------------------------------------------- what is received
def test_estimates_are_those_of_numpy(rng):
    frame = wb.WimaxFrame(**{**THREE, "profile": "mobile_512"}, rx_antennas=3)
    y, _ = over_the_air(frame, frame.transmit(drawn(frame, rng, 2)), rng, 0.1)
    h, n0 = frame.receive(y, 0.1, outputs=("channel", "noise_var"))
    tones = frame.grid_shape[1]
    assert h.shape == (2, tones, 3, 2) and n0.shape == (2, tones) and (n0 > 0.1).all()
    pilots = preamble(tones)
    for a in range(2):
        places = np.arange(a, tones, 2)
        known = y[:, 0, places] / pilots[places, a][:, None]
        between = np.interp(np.arange(tones), places, np.arange(len(places)))
        low = np.minimum(between.astype(int), len(places) - 2)
        weight = np.arange(tones) / 2 - a / 2 - low  # lines go on beyond the first and the last pilot
        line = known[:, low] * (1 - weight)[:, None] + known[:, low + 1] * weight[:, None]
        np.testing.assert_allclose(h[..., a], line, atol=1e-5)


def test_llrs_and_what_goes_with_them(rng):
    """With H known, LLRs of a burst are those of its space-time decoder alone."""
    frame = wb.WimaxFrame(**THREE, csi="perfect", maps=False)
    y, h = over_the_air(frame, frame.transmit(drawn(frame, rng, 2)), rng, 0.3)
    llr, bits, status = frame.receive(y, 0.3, channel=h, outputs=("llr_2", "bits_2", "codeword_status_2"))
    b = frame.bursts[1]
    where = slice(b.first_tone, b.first_tone + b.tones)
    words = y[:, b.first_symbol:b.first_symbol + b.symbols // 2 * 2, where].reshape(2, b.symbols // 2, 2, b.tones, -1).transpose(0, 3, 1, 2, 4)
    decoder = wb.StbcDecoder(type="alamouti", qam=16, rx_antennas=2)
    wanted = decoder(np.ascontiguousarray(h[:, where]), np.ascontiguousarray(words), 0.3).reshape(llr.shape)
    assert np.array_equal(llr, wanted) and np.array_equal(bits, llr < 0) and not status.any()
    turned = wb.WimaxFrame(**THREE, csi="perfect", maps=False, llr_sign="p1/p0").receive(y, 0.3, channel=h, outputs="llr_2")
    assert np.array_equal(turned, -llr)


def test_a_frame_whose_maps_fail_is_erased_alone(rng):
    frame = wb.WimaxFrame(**THREE, code=CONV)
    y, _ = over_the_air(frame, frame.transmit(drawn(frame, rng, 3)), rng, 0.01)
    bad = y.copy()
    bad[1, 1:frame.control_symbols] *= -1
    outputs = ("map_status", *(f"{name}_{i}" for i in (1, 2, 3) for name in ("bits", "status", "iterations", "codeword_status")))
    good, got = (frame.receive(x, 0.01, outputs=outputs) for x in (y, bad))
    assert good[0].tolist() == [0, 0, 0] and got[0].tolist() == [0, 1, 0]
    for name, a, b in zip(outputs[1:], got[1:], good[1:]):
        assert np.array_equal(a[[0, 2]], b[[0, 2]]), name
        if name.startswith("codeword_status"):
            assert (a[1] == 1).all() and (b == 0).all()
        elif name.startswith("bits"):
            assert not a[1].any()


def test_frames_of_any_batch_and_an_n0_for_each(rng):
    frame = wb.WimaxFrame(**THREE, csi="perfect", maps=False, space_time="silver")
    bits = drawn(frame, rng, 2, 3)
    sent = frame.transmit(bits)
    assert np.array_equal(sent[1, 2], frame.transmit([b[1, 2] for b in bits]))
    y, h = over_the_air(frame, sent, rng, 0.4)
    n0 = rng.uniform(0.2, 0.6, (2, 3)).astype(np.float32)
    whole = frame.receive(y, n0, channel=h)
    for i, j in np.ndindex(2, 3):
        for a, b in zip(frame.receive(y[i, j], float(n0[i, j]), channel=h[i, j]), whole):
            assert np.array_equal(a, b[i, j])
    narrow = np.repeat(y, 2, axis=1)[:, ::2]
    for a, b in zip(frame.receive(narrow, n0, channel=h.astype(complex)), whole):  # other strides, another type
        assert np.array_equal(a, b)
    with pytest.raises(ValueError, match="^channel = an array of complex128"):
        frame.receive(y, n0, channel=h.astype(complex), strict=True)
    into = [np.empty_like(a) for a in whole]
    assert frame.receive(y, n0, channel=h, out=into) is into and all(map(np.array_equal, into, whole))
    assert frame.transmit([b[:0] for b in bits]).shape == (0, 3, *frame.grid_shape, 2)
    assert [b.shape[:2] for b in frame.receive(y[:0], 0.1, channel=h[:0])] == [(0, 3)] * 3


def test_bits_may_be_lists_and_bools(rng):
    frame = wb.WimaxFrame(**THREE)
    bits = drawn(frame, rng)
    sent = frame.transmit(bits)
    for other in ([b.astype(bool) for b in bits], [b.tolist() for b in bits], [b.astype(float) for b in bits]):
        assert np.array_equal(frame.transmit(other), sent)
    assert np.array_equal(frame.transmit(bits, out=np.empty_like(sent)), sent)


# ---------------------------------------------------------------- streams
@pytest.mark.parametrize("csi, direction", CSI)
@pytest.mark.parametrize("code", [None, CONV])
def test_a_stream_gives_what_the_call_gives(csi, direction, code, rng):
    frame = wb.WimaxFrame(**THREE, csi=csi, direction=direction, code=code)
    y, h = over_the_air(frame, frame.transmit(drawn(frame, rng, 2)), rng, 0.15)
    y[0, 1:3] *= 1 if direction == "uplink" else -1  # the first frame's maps fail
    names = ("bits_3", "bits_1", *(["map_status"] if direction == "downlink" else []))
    frames = [(h if csi == "perfect" else None, y, 0.15), (h[1:] if csi == "perfect" else None, y[1:], 0.15)]
    with wb.Stream(stage=frame, most_items=2, outputs=names, devices=["cpu", "cpu"]) as stream:
        results = [ticket.result() for ticket in [stream.push(*frames[i % 2]) for i in range(6)]]
    for i, result in enumerate(results):
        wanted = received(frame, frames[i % 2][1], frames[i % 2][0], 0.15, outputs=names)
        assert len(result) == len(wanted) and all(map(np.array_equal, result, wanted))
    with wb.Stream(stage=frame, most_items=2) as stream:
        everything = stream.push(*frames[0]).result()
    assert len(everything) == 3 and all(map(np.array_equal, everything, received(frame, y, h, 0.15)))


def test_what_streams_of_frames_refuse(rng):
    frame, known = (wb.WimaxFrame(**THREE, csi=csi) for csi in ("preamble", "perfect"))
    y, h = over_the_air(frame, frame.transmit(drawn(frame, rng, 1)), rng, 0.1)
    for given, message in (({"items_per_channel": 2}, "items_per_channel = 2 is not allowed"), ({"splits": 2}, "splits = 2 is not allowed"),
                           ({"outputs": "llr_1"}, "outputs = 'llr_1' is not allowed"),
                           ({"decoder": wb.ViterbiDecoder(code=wb.conv_lte(), k=10)}, "decoder = ViterbiDecoder is not allowed"),
                           ({"stage": wb.WimaxFrame(modulations=["qpsk"] * 8)}, "modulations = 8 of them is not allowed"),
                           ({"stage": wb.WimaxFrame(executor=wb.cpu())}, "stage = one with an executor")):
        with pytest.raises(ValueError, match="^" + message):
            wb.Stream(**{"stage": frame, "most_items": 1, **given})
    with wb.Stream(stage=frame, most_items=1) as stream:
        with pytest.raises(ValueError, match="^channel = .* is not allowed: expected None"):
            stream.push(h, y, 0.1)
        with pytest.raises(ValueError, match="^items: received = shape"):
            stream.push(None, y[:, 1:], 0.1)
        stream.push(None, y.astype(complex), 0.1).result()
    with wb.Stream(stage=known, most_items=1) as stream:
        with pytest.raises(ValueError, match="^channel = None is not allowed: expected an array"):
            stream.push(None, y, 0.1)


# ---------------------------------------------------------------- settings
def test_code_and_decoder_are_tables_of_scenarios():
    frame = wb.WimaxFrame(code={"type": "wimax-ldpc", "n": 1152, "rate": "2/3A"}, decoder={"iterations": 7})
    assert {name: frame.code[name] for name in ("type", "n", "rate")} == {"type": "wimax-ldpc", "n": 1152, "rate": "2/3A"}
    assert frame.decoder["iterations"] == 7 and (frame.bursts[0].k, frame.bursts[0].n) == (768, 1152)
    assert wb.WimaxFrame().code == {"type": "none"} and wb.WimaxFrame(code={"type": "none"}).decoder == {}
    table = {"type": "wimax-ldpc", "n": 576}
    kept = wb.WimaxFrame(code=table)
    table["n"] = 2304
    assert kept.code["n"] == 576 and "576" in repr(kept)


@pytest.mark.parametrize("given, message", [
    ({"code": "ldpc"}, "code = 'ldpc' is not allowed: expected a dict"), ({"code": {}}, "code.type = None is not allowed"),
    ({"code": {"type": "bch"}}, 'code.type = "bch" is not allowed'), ({"code": {"type": 5}}, "code.type = no text"),
    ({"code": {"type": "wimax-ldpc", "n": 577}}, "code.n = 577 is not allowed"),
    ({"code": {"type": "wimax-ldpc", "iterations": 5}}, 'code = with "iterations" is not allowed: expected'),
    ({"code": {"type": "wimax-ldpc"}, "decoder": {"iterations": 0}}, "decoder.iterations = 0 is not allowed"),
    ({"code": {"type": "wimax-ldpc"}, "decoder": {"n": 576}}, 'decoder = with "n" is not allowed: expected'),
    ({"decoder": {"iterations": 5}}, "decoder = given is not allowed: expected None without a code"),
    ({"code": {"type": "none", "k": 4}}, "code = of settings is not allowed"),
    ({"code": {"type": "nr-dlsch"}}, "code.type = .* is not allowed"),
    ({"code": {"type": "wimax-ldpc", "n": 2304}, "profile": "mobile_128", "frame_ms": 2, "maps": False}, "code = with 2304 bits a block is not allowed"),
    ({"modulations": []}, r"modulations = .* is not allowed"), ({"modulations": ["8psk"]}, 'modulations = "8psk" is not allowed'),
    ({"shares": [1, 2]}, "shares = 2 numbers is not allowed"), ({"downlink_share": 0.01}, "downlink_share = 0.01 is not allowed"),
    ({"frame_ms": 3}, "frame_ms = 3 is not allowed"), ({"profile": "mobile_256"}, 'profile = "mobile_256" is not allowed'),
])
def test_settings_that_are_refused(given, message):
    with pytest.raises(ValueError, match="^" + message):
        wb.WimaxFrame(**given)


def test_calls_that_are_refused(rng):
    frame, known = (wb.WimaxFrame(**THREE, csi=csi) for csi in ("preamble", "perfect"))
    bits = drawn(frame, rng, 2)
    y, h = over_the_air(frame, frame.transmit(bits), rng, 0.1)
    for call, message in ((lambda: frame.transmit(bits[:2]), "bits = .* is not allowed: expected a list of 3 arrays"),
                          (lambda: frame.transmit(bits[0]), "bits = .* is not allowed: expected a list of 3 arrays"),
                          (lambda: frame.transmit([bits[0], bits[1][:1], bits[2]]), r"bits\[1\] = shape \(1, .* is not allowed: expected batch axes"),
                          (lambda: frame.transmit([bits[0], bits[1], bits[2][:, 1:]]), r"bits\[2\] = shape .* is not allowed: expected shape"),
                          (lambda: frame.transmit([bits[0] + 1, *bits[1:]]), r"bits\[0\] = an array with 2 is not allowed: expected 0 and 1"),
                          (lambda: frame.transmit([b.astype(float) for b in bits], strict=True), r"bits\[0\] = an array of float64"),
                          (lambda: frame.transmit(bits, out=np.empty((2, 3), "c8")), "out = shape"),
                          (lambda: frame.receive(y, 0.1, channel=h), 'channel = .* is not allowed: expected None with csi = "preamble"'),
                          (lambda: known.receive(y, 0.1), 'channel = None is not allowed: expected H of each tone with csi = "perfect"'),
                          (lambda: known.receive(y, 0.1, channel=h[:1]), "channel = shape .* is not allowed: expected batch axes"),
                          (lambda: frame.receive(y[:, 1:], 0.1), "received = shape .* is not allowed: expected shape"),
                          (lambda: frame.receive(y, 0), "noise_var = 0 is not allowed"),
                          (lambda: frame.receive(y, 0.1, outputs="llr_4"), "outputs = 'llr_4' is not allowed"),
                          (lambda: frame.receive(y, 0.1, outputs="status_1"), "outputs = 'status_1' is not allowed"),
                          (lambda: frame.receive(y, 0.1, outputs="bits_1", out=np.empty((2, *bits[0].shape[1:][::-1]), np.uint8).swapaxes(1, 2)), "bits_1 = an array with strides")):
        with pytest.raises(ValueError, match="^" + message):
            call()
