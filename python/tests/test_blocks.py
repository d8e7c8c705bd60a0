"""Single code blocks against the classes for batches, and their HARQ memory."""
import numpy as np
import pytest

import warpband as wb

RNG = np.random.default_rng(580)
LDPC = {"base_graph": 2, "lifting_size": 32, "sent_bits": 600, "fillers": 20, "modulation_order": 4}


def packed(bits):
    return np.packbits(bits, axis=-1)


def unpacked(byte_rows, count):
    return np.unpackbits(byte_rows, axis=-1)[..., :count]


def steps(coded, amplitude, noise):
    return np.clip(np.rint(amplitude * (1 - 2.0 * coded) + RNG.normal(0, noise, coded.shape)), -127, 127).astype(np.int8)


def test_ldpc_blocks_are_encoded_as_code_blocks():
    """CRC, LDPC code and rate matching by their own classes."""
    encode = wb.LdpcBlockEncoder(**LDPC, crc="crc16")
    assert (encode.k, encode.bytes) == (300, 36)
    bits = RNG.integers(0, 2, (5, 284), dtype=np.uint8)
    matcher = wb.NrRateMatcher(base_graph=2, k=300, lifting_size=32, sent_bits=600, modulation_order=4)
    block = np.zeros((5, matcher.code.k), np.uint8)
    block[:, :300] = wb.CrcAttacher(n=284, crc="crc16")(bits)
    codewords = wb.LdpcEncoder(code=matcher.code)(block)
    for rv in range(4):
        assert np.array_equal(unpacked(encode(packed(bits), rv=rv), 600), matcher(codewords, rv=rv)), rv


@pytest.mark.parametrize("sign", ["p0/p1", "p1/p0"])
def test_ldpc_blocks_come_back(sign):
    encode = wb.LdpcBlockEncoder(**LDPC, crc="crc16")
    bits = RNG.integers(0, 2, (2, 3, 284), dtype=np.uint8)
    llr = steps(unpacked(encode(packed(bits)), 600), 6, 4)
    assert ((llr < 0) != (unpacked(encode(packed(bits)), 600) == 1)).any()
    turn = -1 if sign == "p1/p0" else 1
    for drop in (False, True):
        decode = wb.LdpcBlockDecoder(**LDPC, crc="crc16", drop_crc=drop, llr_sign=sign, iterations=20)
        got, ok, iterations, status = decode(turn * llr, outputs=("bits", "ok", "iterations", "status"))
        assert got.shape == (2, 3, 36 if drop else 38) and np.array_equal(unpacked(got, 284), bits)
        assert ok.all() and not status.any() and (1 <= iterations).all() and (iterations <= 20).all()
    wide = (turn * llr).astype(np.int16)
    assert np.array_equal(decode(wide), got) and np.array_equal(decode(wide / 2), got)  # decimals = 1
    strided = np.repeat(turn * llr, 2, axis=-1)[..., ::2]
    assert np.array_equal(decode(strided), got)
    with pytest.raises(ValueError, match="^llr = .* side by side"):
        decode(strided, strict=True)
    noise = decode(RNG.integers(-9, 10, (4, 600)).astype(np.int8), outputs=("ok", "status"))
    assert not noise[0].any() and (noise[1] & 4 == 4).all()
    worst = wb.LdpcBlockDecoder(**LDPC, early_stop="none", iterations=3)
    assert worst(llr, outputs="iterations").tolist() == [[3] * 3] * 2


@pytest.mark.parametrize("harq_type", ["int8", "float16"])
def test_ldpc_harq_memory_adds_up(harq_type):
    """Two transmissions through memory are one with their sum, where both have the same places."""
    code = {**LDPC, "sent_bits": 400, "crc": "crc16"}
    encode = wb.LdpcBlockEncoder(**code)
    decode = wb.LdpcBlockDecoder(**code, harq_type=harq_type, iterations=20, drop_crc=True)
    assert decode.harq_bytes == (50 * 32 - 20) * (1 if harq_type == "int8" else 2)
    bits = RNG.integers(0, 2, (4, 284), dtype=np.uint8)
    sent = unpacked(encode(packed(bits)), 400)
    first, second = (np.clip(steps(sent, 3, 4), -60, 60) for _ in range(2))
    harq = np.full((4, decode.harq_bytes), 77, np.uint8)
    decode(first, harq=harq)
    values = harq.view(np.int8 if harq_type == "int8" else np.float16)
    assert (values[:, 400:] == 0).all()
    scale = 1 if harq_type == "int8" else 2  # float16 holds LLRs
    assert np.array_equal(np.sort(values[:, :400].astype(float) * scale), np.sort(first.astype(float)))
    again = decode(second, first=False, harq=harq, outputs=("bits", "ok"))
    at_once = decode(first + second, outputs=("bits", "ok"))
    assert all(np.array_equal(a, b) for a, b in zip(again, at_once))
    assert np.array_equal(np.sort(values[:, :400].astype(float) * scale), np.sort((first + second).astype(float)))
    # Other redundancy versions bring other bits.
    worse = [steps(unpacked(encode(packed(bits), rv=rv), 400), 5, 4) for rv in (0, 2)]
    alone = decode(worse[0], harq=harq, outputs="ok")
    both = decode(worse[1], rv=2, first=False, harq=harq, outputs="ok")
    assert both.sum() > alone.sum()
    for wrong in (harq[:, 1:], harq[:3], harq.astype(np.int8)):
        with pytest.raises(ValueError, match="harq"):
            decode(first, harq=wrong)
    with pytest.raises(ValueError, match="^first = False .* True without harq"):
        decode(first, first=False)


def streams_of(k, soft):
    """LLRs of d0, d1 and d2, side by side, at their places of K_pi each."""
    places = -(-(k + 4) // 32) * 32
    out = np.zeros(soft.shape[:-1] + (3, places), soft.dtype)
    out[..., :k + 4] = soft.reshape(*soft.shape[:-1], 3, k + 4)
    return out.reshape(*soft.shape[:-1], 3 * places)


def test_turbo_blocks_are_encoded_as_code_blocks():
    encode = wb.TurboBlockEncoder(k=104, crc="crc24b", sent_bits=300)
    bits = RNG.integers(0, 2, (5, 80), dtype=np.uint8)
    codewords = wb.TurboEncoder(k=104)(wb.CrcAttacher(n=80, crc="crc24b")(bits))
    matcher = wb.LteRateMatcher(k=104, sent_bits=300)
    for rv in range(4):
        assert np.array_equal(unpacked(encode(packed(bits), rv=rv), 300), matcher(codewords, rv=rv)), rv
    assert np.array_equal(unpacked(wb.TurboBlockEncoder(k=104, crc="crc24b")(packed(bits)), 324), codewords)


@pytest.mark.parametrize("sign", ["p0/p1", "p1/p0"])
def test_turbo_blocks_come_back(sign):
    bits = RNG.integers(0, 2, (6, 80), dtype=np.uint8)
    with_crc = wb.CrcAttacher(n=80, crc="crc24b")(bits)
    coded = wb.TurboEncoder(k=104)(with_crc)
    llr = streams_of(104, steps(coded, 6, 4))
    turn = -1 if sign == "p1/p0" else 1
    decode = wb.TurboBlockDecoder(k=104, crc="crc24b", drop_crc=True, order="streams", llr_sign=sign)
    got, ok, iterations, status, soft = decode(turn * llr, outputs=("bits", "ok", "iterations", "status", "soft"))
    assert np.array_equal(unpacked(got, 80), bits) and ok.all() and not status.any() and (iterations >= 1).all()
    # d0, d1, d2 of each step
    assert np.array_equal(soft.reshape(6, 108, 3) * turn < 0, coded.reshape(6, 3, 108).swapaxes(1, 2) == 1)
    assert np.array_equal(decode(turn * llr.astype(np.int16)), got)
    few = llr.copy()
    few[2, 50:] = 0
    got, ok, status = decode(turn * few, outputs=("bits", "ok", "status"))
    assert ok.tolist() == [1, 1, 0, 1, 1, 1] and status[2] == 4 and not got[2].any()
    # The circular buffer: the sub-block interleaver of d0, then d1 and d2 by turns, each 4 rows of 32 columns.
    column = [int(f"{c:05b}"[::-1], 2) for c in range(32)]
    d0, d1, d2 = np.concatenate([np.zeros((6, 3, 20), np.int8), llr.reshape(6, 3, 128)[..., :108]], axis=-1).swapaxes(0, 1)
    order = np.array([32 * row + column[c] for c in range(32) for row in range(4)])
    buffer = np.concatenate([d0[:, order], np.stack([d1[:, order], d2[:, (order + 1) % 128]], axis=-1).reshape(6, -1)], axis=-1)
    buffered = wb.TurboBlockDecoder(k=104, crc="crc24b", drop_crc=True, llr_sign=sign)
    assert buffered.llrs == 384 and np.array_equal(unpacked(buffered(turn * buffer), 80), bits)


def test_what_is_not_allowed():
    for name, kind, settings in (
            ("base_graph", wb.LdpcBlockDecoder, {**LDPC, "base_graph": 3}), ("lifting_size", wb.LdpcBlockEncoder, {**LDPC, "lifting_size": 17}),
            ("fillers", wb.LdpcBlockDecoder, {**LDPC, "fillers": 256}), ("sent_bits", wb.LdpcBlockEncoder, {**LDPC, "sent_bits": 601}),
            ("soft_buffer", wb.LdpcBlockDecoder, {**LDPC, "soft_buffer": 1601}), ("iterations", wb.LdpcBlockDecoder, {**LDPC, "iterations": 0}),
            ("decimals", wb.LdpcBlockDecoder, {**LDPC, "decimals": 8}), ("crc", wb.LdpcBlockDecoder, {**LDPC, "crc": "crc7"}),
            ("drop_crc", wb.LdpcBlockDecoder, {**LDPC, "drop_crc": True}), ("harq_type", wb.LdpcBlockDecoder, {**LDPC, "harq_type": "int16"}),
            ("k", wb.TurboBlockDecoder, {"k": 41}), ("k", wb.TurboBlockEncoder, {"k": 6145}), ("order", wb.TurboBlockDecoder, {"k": 40, "order": "rows"}),
            ("least_iterations", wb.TurboBlockDecoder, {"k": 40, "iterations": 3, "least_iterations": 4}),
            ("drop_crc", wb.TurboBlockDecoder, {"k": 40, "drop_crc": True}), ("soft_buffer", wb.TurboBlockEncoder, {"k": 40, "soft_buffer": 90}),
            ("crc", wb.TurboBlockEncoder, {"k": 40, "crc": (0x1864CFB, 25)})):
        with pytest.raises(ValueError, match=f"^{name} = "):
            kind(**settings)
    decode = wb.LdpcBlockDecoder(**LDPC)
    with pytest.raises(ValueError, match="^llr = "):
        decode(np.zeros((2, 599), np.int8))
    with pytest.raises(ValueError, match="^rv = "):
        decode(np.zeros((2, 600), np.int8), rv=4)
    with pytest.raises(ValueError, match="^first = "):
        decode(np.zeros((2, 600), np.int8), first=2)
    with pytest.raises(ValueError, match="^bits = "):
        wb.LdpcBlockEncoder(**LDPC)(np.zeros((2, 37), np.uint8))
    with pytest.raises(ValueError, match="^bits = an array with 256 "):
        wb.LdpcBlockEncoder(**LDPC)(np.full((2, 38), 256))


def test_blocks_of_no_batch_and_many_axes():
    decode = wb.LdpcBlockDecoder(**LDPC)
    assert decode(np.zeros((0, 600), np.int8)).shape == (0, 38)
    assert decode(np.zeros(600, np.int8)).shape == (38,)
    assert decode(np.zeros((2, 1, 3, 600), np.int8), outputs="status").shape == (2, 1, 3)
    out = np.empty((2, 38), np.uint8)
    assert decode(np.full((2, 600), 9, np.int8), out=out) is out and not out.any()
