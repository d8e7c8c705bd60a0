"""Integer LLRs with a scale, packed bits, and HARQ memory of the caller."""
import numpy as np
import pytest

import warpband as wb

RNG = np.random.default_rng(58)


def decoders():
    """Decoders that take integers, by name: how to make one for a sign, and a batch of its coded bits."""
    ldpc, polar = wb.nr_ldpc(base_graph=2, lifting_size=16), {"kind": "dci", "k": 40, "coded_bits": 120, "rnti": 5}
    nr = {"transport_bits": 8424, "coded_bits": 14400, "modulation_order": 4, "scrambling": 7}
    lte = {"transport_bits": 6200, "coded_bits": 12000}
    bits = {k: RNG.integers(0, 2, (3, k), dtype=np.uint8) for k in (ldpc.k, 40, 96, 8424, 6200)}
    return {
        "ldpc": (lambda **more: wb.LdpcDecoder(code=ldpc, iterations=5, **more), wb.LdpcEncoder(code=ldpc)(bits[ldpc.k]), bits[ldpc.k]),
        "ctc": (lambda **more: wb.CtcDecoder(k=96, rate="1/2", **more), wb.CtcEncoder(k=96, rate="1/2")(bits[96]), bits[96]),
        "polar": (lambda **more: wb.PolarDecoder(**polar, **more), wb.PolarEncoder(**polar)(bits[40]), bits[40]),
        "nr": (lambda **more: wb.NrTransportDecoder(**nr, iterations=5, **more), wb.NrTransportEncoder(**nr)(bits[8424]), bits[8424]),
        "lte": (lambda **more: wb.LteTransportDecoder(**lte, iterations=3, **more), wb.LteTransportEncoder(**lte)(bits[6200]), bits[6200])}


def steps_of(coded, dtype):
    """Noisy integers, some of them at the ends of their range."""
    largest = np.iinfo(dtype).max
    steps = (1 - 2.0 * coded) * largest * 0.6 + RNG.normal(0, largest * 0.35, coded.shape)
    return np.clip(np.rint(steps), np.iinfo(dtype).min, largest).astype(dtype)


@pytest.mark.parametrize("sign", ["p0/p1", "p1/p0"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16])
def test_integers_equal_floats_times_the_scale(dtype, sign):
    for name, (make, coded, bits) in decoders().items():
        decode = make(llr_sign=sign)
        steps = steps_of(coded, dtype)
        assert (steps == np.iinfo(dtype).min).any()
        scale = np.float32(RNG.uniform(0.01, 0.5) if dtype == np.int8 else RNG.uniform(1e-4, 1e-3))
        factor = scale if sign == "p0/p1" else -scale
        if sign == "p1/p0":  # -(-128) is no int8: the same bits of the other sign
            steps = np.maximum(steps, -np.iinfo(dtype).max)
            steps = -steps
        outputs = ("bits", "soft", "status") if name in ("ctc", "ldpc") else ("bits", "status")
        wanted = make()(steps.astype(np.float32) * factor, outputs=outputs)
        got = decode(steps, llr_scale=float(scale), outputs=outputs, strict=True)
        for x, y, output in zip(wanted, got, outputs):
            assert np.array_equal(x, -y if output == "soft" and sign == "p1/p0" else y), (name, output)
        assert np.array_equal(got[0], bits), name
        strided = np.repeat(steps, 2, axis=1)[:, ::2][::-1]
        assert np.array_equal(decode(strided, llr_scale=float(scale)) if name in ("ctc", "ldpc", "polar")
                              else decode(strided, llr_scale=float(scale), outputs="bits"), bits[::-1]), name


def test_rate_matchers_take_integers():
    for matcher in (wb.NrRateMatcher(base_graph=2, k=120, sent_bits=240), wb.LteRateMatcher(k=104, sent_bits=300)):
        steps = RNG.integers(-128, 128, (2, matcher.sent_bits)).astype(np.int8)
        soft = matcher.combine(steps, llr_scale=0.3)
        assert np.array_equal(soft, matcher.combine(steps.astype(np.float32) * np.float32(0.3)))
        again = matcher.combine(steps, llr_scale=0.3, rv=2, soft=soft.copy())
        assert np.array_equal(again, matcher.combine(steps.astype(np.float32) * np.float32(0.3), rv=2, soft=soft))
        reverse = type(matcher)(**{**matcher._given, "llr_sign": "p1/p0"})
        assert np.array_equal(reverse.combine(steps, llr_scale=0.3), -matcher.combine(-steps.astype(np.float32) * np.float32(0.3)) + 0)


def test_scales_that_are_refused():
    for name, (make, coded, _) in decoders().items():
        decode, steps = make(), steps_of(coded, np.int8)
        for scale in (0, 0.0, float("nan"), float("inf"), 1e300, "x", None, 1j, np.ones(2), [0.5]):
            with pytest.raises(ValueError, match="llr_scale"):
                decode(steps, llr_scale=scale)
        with pytest.raises(ValueError, match="llr_scale = 0.25.* expected 1 with LLRs of float32"):
            decode(steps.astype(np.float32), llr_scale=0.25)
        with pytest.raises(ValueError, match="llr"):
            decode(steps.astype(np.uint8), llr_scale=0.25)


def test_packed_bits_are_those_of_packbits():
    for name, (make, coded, bits) in decoders().items():
        llr = (4 - 8.0 * coded).astype(np.float32)
        packed = make()(llr, outputs="bits", packed=True)
        assert packed.dtype == np.uint8 and np.array_equal(packed, np.packbits(bits, axis=-1)), name
        out = np.empty_like(packed), np.empty(3, np.uint8)
        make()(llr[:, None], outputs=("bits", "status"), packed=True, out=(out[0][:, None], out[1][:, None]))
        assert np.array_equal(out[0], packed), name
        with pytest.raises(ValueError, match="out = shape"):
            make()(llr, outputs="bits", packed=True, out=np.empty(bits.shape, np.uint8))
        with pytest.raises(ValueError, match="packed = 1 is not allowed: expected True or False"):
            make()(llr, packed=1)
    code = wb.conv_lte()
    others = [(wb.TurboEncoder(k=40), wb.TurboDecoder(k=40)), (wb.ConvEncoder(code=code, k=60), wb.ViterbiDecoder(code=code, k=60)),
              (wb.ConvEncoder(code=code, k=60), wb.BcjrDecoder(code=code, k=60)),
              (wb.CtcEncoder(standard="dvb-rcs", k=96, rate="2/3"), wb.CtcDecoder(standard="dvb-rcs", k=96, rate="2/3"))]
    for encode, decode in others:
        bits = RNG.integers(0, 2, (2, 5, encode.k), dtype=np.uint8)
        packed = decode(4 - 8.0 * encode(bits), outputs="bits", packed=True)
        assert np.array_equal(packed, np.packbits(bits, axis=-1)), decode


@pytest.mark.parametrize("kind", ["Nr", "Lte"])
def test_harq_memory_holds_a_series_for_each_block(kind):
    settings = {"transport_bits": 4008, "coded_bits": 4400, "modulation_order": 4}
    encode = getattr(wb, f"{kind}TransportEncoder")(**settings)
    bits = RNG.integers(0, 2, (2, 4008), dtype=np.uint8)
    sent = [np.rint(4 * (2 / 0.7 ** 2) * (1 - 2.0 * encode(bits, rv=rv) + RNG.normal(0, 0.7, (2, 4400)))).clip(-60, 60).astype(np.int8)
            for rv in (0, 2)]
    for harq_type in ("int8", "float16"):
        decode = getattr(wb, f"{kind}TransportDecoder")(**settings, harq_type=harq_type)
        assert decode.harq_type == harq_type and decode.harq_scale == 0.25
        unshared = getattr(wb, f"{kind}TransportDecoder")(**settings)
        wanted = [unshared(sent[t], llr_scale=0.25, rv=2 * t, first=t == 0, outputs=("bits", "ok")) for t in (0, 1)]
        harq = np.full((2, decode.harq_bytes), 77, np.uint8)
        got = [[decode(sent[t][b], llr_scale=0.25, rv=2 * t, first=t == 0, harq=harq[b]) for b in (0, 1)] for t in (0, 1)]
        for t in (0, 1):
            assert [int(got[t][b][1]) for b in (0, 1)] == wanted[t][1].tolist() == [t, t], (kind, harq_type, t)
        assert all(np.array_equal(got[1][b][0], bits[b]) for b in (0, 1))
        for _ in range(8):  # sums saturate
            decode(sent[0], llr_scale=0.25, rv=0, first=False, harq=harq)
        values = harq[:, :2000].view(np.int8 if harq_type == "int8" else np.float16)
        assert values.max() == -values.min() == 127 if harq_type == "int8" else values.max() > 127
        with pytest.raises(ValueError, match="harq"):
            decode(sent[0], llr_scale=0.25, harq=harq[:, 1:])
        with pytest.raises(ValueError, match="harq"):
            decode(sent[0], llr_scale=0.25, harq=harq[:1])
        with pytest.raises(ValueError, match="harq"):
            decode(sent[0], llr_scale=0.25, harq=harq.astype(np.int8))
        with pytest.raises((TypeError, ValueError), match="harq"):
            decode(sent[0], llr_scale=0.25, harq="x")
        kept = harq.copy()
        kept.flags.writeable = False
        with pytest.raises(ValueError, match="harq"):
            decode(sent[0], llr_scale=0.25, harq=kept)
    for wrong in ({"harq_type": "int4"}, {"harq_type": 8}, {"harq_scale": 0}, {"harq_scale": -1}, {"harq_scale": float("nan")}, {"harq_scale": "x"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            getattr(wb, f"{kind}TransportDecoder")(**settings, **wrong)
