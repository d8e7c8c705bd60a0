"""Run by test_gnuradio.py with the Python that has GNU Radio: blocks of examples/gnuradio in flowgraphs, against calls of the package."""
import pathlib
import re
import sys

import numpy as np
import warpband_blocks
import yaml
from gnuradio import blocks, gr

import warpband as wb

RNG = np.random.default_rng(3)
FOLDER = pathlib.Path(warpband_blocks.__file__).parent


class Chosen(str):
    """A choice of a block's parameter, with the attributes that GNU Radio Companion gives it."""


def lengths(block_id, **parameters):
    """The vector lengths of a block in GNU Radio Companion: its description's expressions with these parameters."""
    described = yaml.safe_load((FOLDER / f"{block_id}.block.yml").read_text())
    for parameter in described["parameters"]:
        value = parameters.get(parameter["id"], parameter.get("default", parameter.get("options", [""])[0]))
        if parameter["dtype"] == "enum":
            chosen = Chosen(value)
            for name, values in parameter.get("option_attributes", {}).items():
                setattr(chosen, name, values[parameter["options"].index(value)])
            value = chosen
        elif parameter["dtype"] == "int":
            value = int(value)
        parameters[parameter["id"]] = value
    return [eval(re.fullmatch(r"\$\{(.*)\}", port["vlen"])[1], parameters) for port in described["inputs"] + described["outputs"]]


def run(block, *inputs):
    """What the block gives of arrays (items, values), through GNU Radio's buffers."""
    top, kinds = gr.top_block(), {np.dtype(np.float32): blocks.vector_source_f, np.dtype(np.complex64): blocks.vector_source_c}
    for port, items in enumerate(inputs):
        top.connect(kinds[items.dtype](items.ravel().tolist(), False, items.shape[1]), (block, port))
    (kind,) = block.out_sig()
    length = kind.shape[0]
    sink = blocks.vector_sink_b(length) if kind.base == np.uint8 else blocks.vector_sink_f(length)
    top.connect(block, sink)
    top.run()
    return np.array(sink.data(), kind.base).reshape(-1, length)


def refused(make, **settings):
    try:
        make(**settings)
    except ValueError as error:
        return str(error)
    sys.exit(f"{make.__name__} took {settings}")


def check_decoders():
    wimax, conv = wb.wimax_ldpc(n=576), wb.conv_80211(rate="3/4")
    for block, decode in [
            (warpband_blocks.turbo_decoder(k=40, iterations=3), wb.TurboDecoder(k=40, iterations=3)),
            (warpband_blocks.ldpc_decoder(n=576, iterations=5), wb.LdpcDecoder(code=wimax, iterations=5)),
            (warpband_blocks.viterbi_decoder(rate="3/4", k=60), wb.ViterbiDecoder(code=conv, k=60)),
            (warpband_blocks.viterbi_decoder(standard="lte", rate="1/3", k=60), wb.ViterbiDecoder(code=wb.conv_lte(), k=60))]:
        llr = RNG.normal(0.5, 1, (700, decode.n)).astype(np.float32)  # more than a buffer
        got = run(block, llr)
        assert got.any() and np.array_equal(got, decode(llr)), type(block)


def check_detector():
    uses, matrices = 5, 60
    block = warpband_blocks.nway_detector(streams=2, rx_antennas=3, qam=16, ways=2, noise_var=9.0, uses_per_channel=uses)
    block.set_noise_var(0.2)
    normal = lambda *shape: (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype(np.complex64)
    channel, received = normal(matrices, 3, 2), normal(matrices * uses + 3, 3)  # the last three lack a matrix
    got = run(block, received, channel.reshape(matrices, 6))
    expected = wb.NWay(streams=2, rx_antennas=3, qam=16, ways=2)(channel, received[:matrices * uses].reshape(matrices, uses, 3), 0.2)
    assert np.array_equal(got, expected.reshape(-1, 8))


def check_companion():
    """GNU Radio Companion computes the vector lengths that the blocks have."""
    def compare(block_id, make, **settings):
        block = make(**settings)
        ports = [kind.shape[0] for kind in [*block.in_sig(), *block.out_sig()]]
        assert lengths(block_id, **settings) == ports, (block_id, settings)

    for k in (40, 6144):
        compare("warpband_turbo_decoder", warpband_blocks.turbo_decoder, k=k)
    for standard, sizes, rates in [("wimax", (576, 2304), ("1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6")),
                                   ("wifi", (648, 1944), ("1/2", "2/3", "3/4", "5/6"))]:
        for n in sizes:
            for rate in rates:
                compare("warpband_ldpc_decoder", warpband_blocks.ldpc_decoder, standard=standard, n=n, rate=rate)
    for k in range(6, 26):
        compare("warpband_viterbi_decoder", warpband_blocks.viterbi_decoder, standard="lte", rate="1/3", k=k)
        for standard in ("802.11", "802.16"):
            for rate in ("1/2", "2/3", "3/4", "5/6"):
                compare("warpband_viterbi_decoder", warpband_blocks.viterbi_decoder, standard=standard, rate=rate, k=k)
    for qam in (4, 16, 64, 256):
        compare("warpband_nway_detector", warpband_blocks.nway_detector, streams=2, rx_antennas=3, qam=qam, ways=2)


def check_refusals():
    assert "k = 41" in refused(warpband_blocks.turbo_decoder, k=41)
    assert "standard = 'dvb'" in refused(warpband_blocks.ldpc_decoder, standard="dvb")
    assert "standard = 'gsm'" in refused(warpband_blocks.viterbi_decoder, standard="gsm")
    assert "rate = '1/2'" in refused(warpband_blocks.viterbi_decoder, standard="lte", rate="1/2")
    assert "uses_per_channel = 0" in refused(warpband_blocks.nway_detector, uses_per_channel=0)


check_decoders()
check_detector()
check_companion()
check_refusals()
print("blocks are right")
