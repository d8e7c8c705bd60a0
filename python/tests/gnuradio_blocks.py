"""Run by test_gnuradio.py with the Python that has GNU Radio: blocks of plugins/gnuradio in flowgraphs, against calls of the package."""
import pathlib
import re
import sys

import gr_warpband
import numpy as np
import pmt
import yaml
from gnuradio import blocks, gr

import warpband as wb

RNG = np.random.default_rng(3)
FOLDER = pathlib.Path(gr_warpband.__file__).parent / "grc"


class Chosen(str):
    """A choice of a block's parameter, with the attributes that GNU Radio Companion gives it."""


def described(block_id):
    return yaml.safe_load((FOLDER / f"{block_id}.block.yml").read_text())


def ports(block_id, **parameters):
    """Types and vector lengths of a block's streams in GNU Radio Companion: its description's expressions with these parameters."""
    block = described(block_id)
    for parameter in block["parameters"]:
        value = str(parameters.get(parameter["id"], parameter.get("default", parameter.get("options", [""])[0])))
        if parameter["dtype"] == "enum":
            chosen = Chosen(value)
            for name, values in parameter.get("option_attributes", {}).items():
                setattr(chosen, name, values[parameter["options"].index(value)])
            value = chosen
        elif parameter["dtype"] in ("int", "real", "bool"):
            value = {"int": int, "real": float, "bool": lambda word: word == "True"}[parameter["dtype"]](value)
        parameters[parameter["id"]] = value

    def evaluated(text):
        expression = re.fullmatch(r"\$\{(.*)\}", str(text))
        return eval(expression[1], dict(parameters)) if expression else text

    streams = []
    for port in block["inputs"] + block.get("outputs", []):
        if port["domain"] == "stream" and not evaluated(port.get("hide", False)):
            streams += [(evaluated(port["dtype"]), evaluated(port.get("vlen", 1)))] * evaluated(port.get("multiplicity", 1))
    return streams


KINDS = {np.dtype(np.float32): "f", np.dtype(np.complex64): "c", np.dtype(np.uint8): "b", np.dtype(np.int8): "b"}
NAMES = {np.dtype(np.float32): "float", np.dtype(np.complex64): "complex", np.dtype(np.uint8): "byte", np.dtype(np.int8): "byte"}


def run(block, *inputs):
    """What the block's first output gives of arrays (items, values), through GNU Radio's buffers."""
    top = gr.top_block()
    for port, items in enumerate(inputs):
        source, raw = getattr(blocks, f"vector_source_{KINDS[items.dtype]}"), items.view(np.uint8) if items.dtype == np.int8 else items
        top.connect(source(raw.ravel().tolist(), False, items.shape[1]), (block, port))
    sinks = []
    for port, kind in enumerate(block.out_sig()):
        sinks.append(getattr(blocks, f"vector_sink_{KINDS[kind.base]}")(kind.shape[0]))
        top.connect((block, port), sinks[-1])
    top.run()
    kind = next(iter(block.out_sig()))
    return np.array(sinks[0].data(), np.uint8 if kind.base == np.int8 else kind.base).view(kind.base).reshape(-1, kind.shape[0])


def pdus(block, *messages):
    """Metadata and vectors that a block of PDUs gives of pairs (metadata, array)."""
    top, store = gr.top_block(), blocks.message_debug()
    top.msg_connect((block, "out"), (store, "store"))
    top.start()
    for metadata, values in messages:
        data = pmt.make_dict()
        for name, value in metadata.items():
            data = pmt.dict_add(data, pmt.intern(name), pmt.to_pmt(value))
        block.to_basic_block()._post(pmt.intern("in"), pmt.cons(data, gr_warpband.ports.to_pmt(values)))
    block.to_basic_block()._post(pmt.intern("system"), pmt.cons(pmt.intern("done"), pmt.from_long(1)))
    top.wait()
    got = [store.get_message(i) for i in range(store.num_messages())]
    assert len(got) == len(messages), (type(block), len(got))
    read = lambda value: gr_warpband.ports.to_array(value) if pmt.is_uniform_vector(value) else pmt.to_python(value)
    facts = [{pmt.symbol_to_string(key): read(pmt.dict_ref(pmt.car(m), key, pmt.PMT_NIL)) for key in
              (pmt.nth(i, pmt.dict_keys(pmt.car(m))) for i in range(pmt.length(pmt.dict_keys(pmt.car(m)))))} for m in got]
    return [(f, gr_warpband.ports.to_array(pmt.cdr(m))) for f, m in zip(facts, got)]


def refused(make, **settings):
    try:
        make(**settings)
    except ValueError as error:
        return str(error)
    sys.exit(f"{make.__name__} took {settings}")


def check_decoders():
    wimax, conv = wb.wimax_ldpc(n=576), wb.conv_80211(rate="3/4")
    for block, decode in [
            (gr_warpband.turbo_decoder(k=40, iterations=3), wb.TurboDecoder(k=40, iterations=3)),
            (gr_warpband.ldpc_decoder(n=576, iterations=5), wb.LdpcDecoder(code=wimax, iterations=5)),
            (gr_warpband.viterbi_decoder(rate="3/4", k=60), wb.ViterbiDecoder(code=conv, k=60)),
            (gr_warpband.viterbi_decoder(standard="lte", rate="1/3", k=60), wb.ViterbiDecoder(code=wb.conv_lte(), k=60))]:
        llr = RNG.normal(0.5, 1, (700, decode.n)).astype(np.float32)  # more than a buffer
        got = run(block, llr)
        assert got.any() and np.array_equal(got, decode(llr)), type(block)
    for block, decode, n in [(gr_warpband.turbo_decoder_pdu(k=40), wb.TurboDecoder(k=40), 132),
                             (gr_warpband.turbo_decoder_pdu(k=40, early_stop="sign-agreement"), wb.TurboDecoder(k=40), 132),
                             (gr_warpband.ldpc_decoder_pdu(n=576), wb.LdpcDecoder(code=wimax), 576),
                             (gr_warpband.viterbi_decoder_pdu(rate="3/4", k=60), wb.ViterbiDecoder(code=conv, k=60), 88)]:
        strong = np.full((2, n), 4, np.float32)
        right, erased = pdus(block, ({}, strong), ({}, np.stack([strong[0], np.full(n, np.nan, np.float32)])))
        assert right[0]["ok"] is True and not right[1].any() and len(right[1]) == decode(strong).size, right
        assert erased[0]["ok"] is False and erased[0]["status"][0] != 1 and erased[0]["status"][1] == 1, erased


def check_detector():
    uses, matrices = 5, 60
    block = gr_warpband.nway_detector(streams=2, rx_antennas=3, qam=16, ways=2, noise_var=9.0, uses_per_channel=uses)
    block.set_noise_var(0.2)
    normal = lambda *shape: (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(np.complex64)
    channel, received = normal(matrices, 3, 2), normal(matrices * uses + 3, 3)  # the last three lack a matrix
    got = run(block, received, channel.reshape(matrices, 6))
    expected = wb.NWay(streams=2, rx_antennas=3, qam=16, ways=2)(channel, received[:matrices * uses].reshape(matrices, uses, 3), 0.2)
    assert np.array_equal(got, expected.reshape(-1, 8))


NR = {"base_graph": 2, "k": 300, "sent_bits": 600, "modulation_order": 4}
TRANSPORT = {"transport_bits": 1000, "coded_bits": 2000, "modulation_order": 4}
POLAR = {"kind": "uci", "k": 40, "coded_bits": 120}
SLOT = {"fft_size": 64, "subcarriers": 48, "cyclic_prefix": 4, "first_cyclic_prefix": 6, "symbols_per_slot": 3}
PUSCH = {"resource_blocks": 6, "layers": 2, "dmrs_additional_positions": 1}


def random_bits(*shape):
    return RNG.integers(0, 2, shape, dtype=np.uint8)


def random_symbols(*shape):
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(np.complex64)


def check_nr_codes():
    """Encoders and decoders against the package, as streams of floats, streams of int8 and PDUs."""
    match = wb.NrRateMatcher(**NR)
    whole = wb.LdpcDecoder(code=match.code, iterations=8)

    def nr_encode(bits, rv=0):
        return match(wb.LdpcEncoder(code=match.code)(np.pad(bits, ((0, 0), (0, match.code.k - 300)))), rv=rv)

    for name, settings, encode, decode, extra in [
            ("nr_ldpc", NR, nr_encode, lambda llr: whole(match.combine(llr))[:, :300], {"iterations": 8}),
            ("nr_transport", TRANSPORT, wb.NrTransportEncoder(**TRANSPORT), wb.NrTransportDecoder(**TRANSPORT), {}),
            ("polar", POLAR, wb.PolarEncoder(**POLAR), wb.PolarDecoder(**POLAR, list_size=8), {"list_size": 8})]:
        encoder, decoder = (getattr(gr_warpband, f"{name}_{kind}") for kind in ("encoder", "decoder"))
        bits = random_bits(130, encoder(**settings).conversion.inputs[0][2])
        coded = encode(bits)
        assert np.array_equal(run(encoder(**settings), bits), coded), name
        llr = ((1 - 2 * coded.astype(np.float32) + RNG.normal(0, 0.6, coded.shape)) * 4).astype(np.float32)
        expected = decode(llr)
        expected = expected[0] if isinstance(expected, tuple) else expected
        assert np.array_equal(run(decoder(**settings, **extra), llr), expected), name
        assert (expected == bits).all(1).mean() > 0.8, name  # most are right
        steps = np.clip(np.rint(llr * 4), -127, 127).astype(np.int8)
        of_steps = decode((steps / np.float32(4)))
        of_steps = of_steps[0] if isinstance(of_steps, tuple) else of_steps
        assert np.array_equal(run(decoder(**settings, **extra, llr_type="int8", llr_steps=4), steps), of_steps), name

        if name != "polar":
            second = encoder(**settings, rv=2)
            sent = nr_encode(bits, 2) if name == "nr_ldpc" else encode(bits, rv=2)
            assert np.array_equal(run(second, bits), sent) and not np.array_equal(sent, coded), name
            sent = 8 - 16 * sent.astype(np.float32)
            of_second = whole(match.combine(sent, rv=2))[:, :300] if name == "nr_ldpc" else decode(sent, rv=2, outputs="bits")
            assert np.array_equal(run(decoder(**settings, **extra, rv=2), sent), of_second), name

        (facts, got), = pdus(getattr(gr_warpband, f"{name}_encoder_pdu")(**settings), ({"name": "a"}, bits[:3]))
        assert facts["name"] == "a" and np.array_equal(got.reshape(3, -1), coded[:3]), name
        block = getattr(gr_warpband, f"{name}_decoder_pdu")
        noise = RNG.normal(0, 1, llr[:1].shape).astype(np.float32)
        one, many, bad, short, other = pdus(block(**settings, **extra), ({}, 8 - 16 * coded[:1].astype(np.float32)), ({"number": 7}, llr[:5]),
                                            ({}, noise), ({"number": 8}, llr[0, 1:]), ({}, coded[0]))
        assert one[0]["ok"] is True and np.array_equal(one[1], bits[0]), one[0]
        assert many[0]["number"] == 7 and len(many[0]["status"]) == 5 and np.array_equal(many[1].reshape(5, -1), expected[:5]), many[0]
        assert bad[0]["ok"] is False and bad[1].size == bits.shape[1], bad[0]
        assert short[0]["number"] == 8 and "a multiple of" in short[0]["error"] and short[1].size == 0, short[0]
        assert "vector of uint8" in other[0]["error"], other[0]
        for wire in (steps[:2], steps[:2].view(np.uint8)):
            (facts, got), = pdus(block(**settings, **extra, llr_type="int8", llr_steps=4), ({}, wire))
            assert np.array_equal(got.reshape(2, -1), of_steps[:2]), (name, facts)


def check_harq():
    """Two transmissions of which neither suffices: the second PDU is combined with the first."""
    bits = random_bits(4, TRANSPORT["transport_bits"])
    encode = wb.NrTransportEncoder(**TRANSPORT)
    first, second = ((1 - 2.0 * encode(bits, rv=rv) + RNG.normal(0, 1.05, (4, 2000))).astype(np.float32) * 2 for rv in (0, 2))
    alone, both, anew = pdus(gr_warpband.nr_transport_decoder_pdu(**TRANSPORT), ({"rv": 0}, first), ({"rv": 2, "first": False}, second),
                             ({"rv": 2}, second))
    assert not alone[0]["ok_of_each"].any() and not anew[0]["ok_of_each"].any(), (alone[0], anew[0])
    assert both[0]["ok"] and both[0]["rv"] == 2 and np.array_equal(both[1].reshape(4, -1), bits), both[0]


def check_integers():
    """int8 LLRs reach decoders of integers unscaled, and saturate at a demapper's port."""
    steps = RNG.integers(-40, 41, (50, 132)).astype(np.int8)
    decode = wb.TurboDecoder(k=40, precision="int16", llr_steps=3, algorithm="max-log-map")
    got = run(gr_warpband.turbo_decoder(k=40, precision="int16", algorithm="max-log-map", llr_type="int8"), steps)
    assert np.array_equal(got, decode(steps))
    symbols = 3 * random_symbols(40, 5)
    llr = wb.Demapper(qam=64)(symbols, 0.05)
    got = run(gr_warpband.demapper(qam=64, noise_var=0.05, symbols=5, llr_type="int8", llr_steps=2), symbols)
    assert np.array_equal(got, np.clip(np.rint(2 * llr), -127, 127)) and got.min() == -127 and got.max() == 127


def check_modem():
    bits = random_bits(30, 5 * 4)
    sent = run(gr_warpband.qam_mapper(qam=16, symbols=5), bits)
    assert np.array_equal(sent, wb.QamMapper(qam=16)(bits))
    received, channel = random_symbols(30, 5), random_symbols(30, 5)
    block = gr_warpband.demapper(qam=16, noise_var=9.0, symbols=5, has_channel=True)
    block.set_noise_var(0.5)
    expected = wb.Demapper(qam=16)(received, 0.5, channel=channel)
    assert np.array_equal(run(block, received, channel), expected)
    (facts, got), = pdus(gr_warpband.demapper_pdu(qam=16, noise_var=9.0, symbols=5, has_channel=True),
                         ({"noise_var": 0.5}, np.stack([received, channel], axis=1)))
    assert np.array_equal(got.reshape(30, -1), expected) and facts["noise_var"] == 0.5

    numerology = wb.OfdmNumerology(**SLOT)
    values = random_symbols(20, 3 * 48)
    samples = wb.OfdmModulator(numerology=numerology)(values.reshape(20, 3, 48))
    assert np.array_equal(run(gr_warpband.ofdm_modulator(**SLOT), values), samples)
    back = run(gr_warpband.ofdm_demodulator(**SLOT), samples)
    assert np.array_equal(back, wb.OfdmDemodulator(numerology=numerology)(samples).reshape(20, -1)) and np.allclose(back, values, atol=1e-5)
    (_, got), = pdus(gr_warpband.ofdm_modulator_pdu(**SLOT), ({}, values))
    assert np.array_equal(got, samples.ravel())


def check_pusch():
    slot = wb.NrSharedChannel(**PUSCH)
    transport = {**slot.transport(mcs=5), "scrambling": 77}
    bits = random_bits(12, transport["transport_bits"])
    grid = slot.map(wb.QamMapper(qam=2 ** transport["modulation_order"])(wb.NrTransportEncoder(**transport)(bits)))
    mix = random_symbols(12, 1, 1, 3, 2) / np.sqrt(2)
    received = wb.awgn((mix @ grid[..., None])[..., 0], noise_var=0.01, seed=1)
    antennas = [np.ascontiguousarray(received[..., i]).reshape(12, -1) for i in range(3)]
    settings = {"rx_antennas": 3, "mcs": 5, "scrambling": 77, **PUSCH}
    for more in ({"noise_var": 0.01}, {}, {"detector": "nway", "estimator": "lmmse"}):
        got = run(gr_warpband.pusch_receiver(**settings, **more), *antennas)
        assert np.array_equal(got, bits), (more, (got != bits).any(1))
    good, bad = pdus(gr_warpband.pusch_receiver_pdu(**settings), ({"slot": 3}, np.stack(antennas, axis=1)),
                     ({"slot": 4}, random_symbols(2 * 3 * antennas[0].shape[1])))
    assert good[0]["ok"] and good[0]["slot"] == 3 and np.array_equal(good[1].reshape(bits.shape), bits), good[0]
    assert np.all(np.abs(good[0]["noise_var"] - 0.01) < 0.005), good[0]
    assert not bad[0]["ok"] and bad[0]["ok_of_each"].tolist() == [0, 0], bad[0]


def check_errors():
    sent = random_bits(300, 40)
    decided = sent.copy()
    decided[::7, 3:5] ^= 1
    block, top = gr_warpband.block_errors(k=40), gr.top_block()
    assert "nan" in block.summary()
    for port, items in enumerate((decided, sent)):
        top.connect(blocks.vector_source_b(items.ravel().tolist(), False, 40), (block, port))
    top.run()
    assert block.summary() == "43 of 300 blocks wrong, 86 of 12000 bits: block error rate 0.143", block.summary()


def check_companion():
    """GNU Radio Companion computes the types and vector lengths that the blocks have."""
    def compare(name, **settings):
        block = getattr(gr_warpband, name)(**settings)
        streams = [(NAMES[kind.base], kind.shape[0]) for kind in [*block.in_sig(), *block.out_sig()]]
        assert ports(f"warpband_{name}", **settings) == streams, (name, settings, streams)

    for k in (40, 6144):
        compare("turbo_decoder", k=k)
    for standard, sizes, rates in [("wimax", (576, 2304), ("1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6")),
                                   ("wifi", (648, 1944), ("1/2", "2/3", "3/4", "5/6"))]:
        for n in sizes:
            for rate in rates:
                compare("ldpc_decoder", standard=standard, n=n, rate=rate)
    for k in range(6, 26):
        compare("viterbi_decoder", standard="lte", rate="1/3", k=k)
        for standard in ("802.11", "802.16"):
            for rate in ("1/2", "2/3", "3/4", "5/6"):
                compare("viterbi_decoder", standard=standard, rate=rate, k=k)
    for qam in (4, 16, 64, 256):
        compare("nway_detector", streams=2, rx_antennas=3, qam=qam, ways=2)
        compare("qam_mapper", qam=qam, symbols=3)
        for llr_type in ("float", "int8"):
            for has_channel in (False, True):
                compare("demapper", qam=qam, symbols=3, has_channel=has_channel, llr_type=llr_type)
    for name, settings in (("nr_ldpc", NR), ("nr_transport", TRANSPORT), ("polar", POLAR)):
        compare(f"{name}_encoder", **settings)
        compare(f"{name}_decoder", **settings)
        compare(f"{name}_decoder", **settings, llr_type="int8")
    for name in ("nr_ldpc_encoder", "nr_ldpc_decoder", "nr_transport_encoder", "nr_transport_decoder", "polar_encoder", "polar_decoder",
                 "ofdm_modulator", "ofdm_demodulator", "block_errors"):
        compare(name)  # the defaults of both are the same
    compare("ofdm_modulator", **SLOT)
    compare("ofdm_demodulator", **SLOT)
    compare("pusch_receiver", resource_blocks=24, dmrs_additional_positions=1, transport_bits=4608)
    described_blocks = {path.name[len("warpband_"):-len(".block.yml")] for path in FOLDER.glob("*.block.yml")}
    assert described_blocks == {name for name in gr_warpband.__all__ if not name.endswith("_pdu")}


def check_refusals():
    assert "k = 41" in refused(gr_warpband.turbo_decoder, k=41)
    assert "standard = 'dvb'" in refused(gr_warpband.ldpc_decoder, standard="dvb")
    assert "standard = 'gsm'" in refused(gr_warpband.viterbi_decoder, standard="gsm")
    assert "rate = '1/2'" in refused(gr_warpband.viterbi_decoder, standard="lte", rate="1/2")
    assert "uses_per_channel = 0" in refused(gr_warpband.nway_detector, uses_per_channel=0)
    assert "rv = 4" in refused(gr_warpband.nr_ldpc_decoder, rv=4)
    assert "llr_type = 'int4'" in refused(gr_warpband.polar_decoder, llr_type="int4")
    assert "llr_steps = 0" in refused(gr_warpband.demapper_pdu, llr_steps=0)
    assert "noise_var = -1" in refused(gr_warpband.demapper, noise_var=-1)
    assert "symbols = 0" in refused(gr_warpband.qam_mapper, symbols=0)
    assert "transport_bits = 5" in refused(gr_warpband.pusch_receiver, transport_bits=5)
    assert "detector = 'best'" in refused(gr_warpband.pusch_receiver, detector="best")


for check in (check_decoders, check_detector, check_nr_codes, check_harq, check_integers, check_modem, check_pusch, check_errors,
              check_companion, check_refusals):
    check()
print("blocks are right")
