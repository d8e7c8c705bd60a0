"""Blocks of GNU Radio 3.10 that decode and detect with Warpband.

A decoder takes one codeword of LLRs an item and gives one block of bits an item. LLRs are ln P(0)/P(1): positive means 0. The detector takes
one use of the channel an item. Blocks work on GNU Radio's buffers, without copies, and take all items that are there in one call.

Large calls are faster: give the block that feeds a decoder a buffer of many items (`set_min_output_buffer`, in GNU Radio Companion
"Min Output Buffer" of the tab "Advanced").
"""
import numpy as np
from gnuradio import gr

import warpband as wb

CONV_CODES = {"802.11": wb.conv_80211, "802.16": wb.conv_80216}


class _decoder(gr.sync_block):
    """A decoder of Warpband as a block: float vectors of ``n`` LLRs in, byte vectors of ``k`` bits out."""

    def __init__(self, name, decoder, n, k):
        gr.sync_block.__init__(self, name=name, in_sig=[(np.float32, n)], out_sig=[(np.uint8, k)])
        self._decoder = decoder

    def work(self, input_items, output_items):
        # `strict` refuses what would need a copy
        self._decoder(input_items[0], out=output_items[0], strict=True)
        return len(output_items[0])


class turbo_decoder(_decoder):
    """The turbo code of LTE. In: 3 (k + 4) LLRs, streams d0, d1, d2. Out: k bits, one a byte.

    Args:
        k: information bits, one of the 188 sizes of LTE, 40 to 6144.
        settings: those of ``warpband.TurboDecoder``, for example ``iterations``, ``algorithm``, ``precision``.
    """

    def __init__(self, k=1024, **settings):
        _decoder.__init__(self, "Warpband turbo decoder", wb.TurboDecoder(k=k, **settings), 3 * (k + 4), k)


class ldpc_decoder(_decoder):
    """The LDPC codes of WiMAX and WiFi. In: n LLRs. Out: k = n * rate bits, one a byte.

    Args:
        standard: "wimax" or "wifi".
        n: bits of a codeword.
        rate: "1/2", ..., as the standard has them.
        settings: those of ``warpband.LdpcDecoder``, for example ``iterations``, ``algorithm``, ``schedule``.
    """

    def __init__(self, standard="wimax", n=2304, rate="1/2", **settings):
        codes = {"wimax": wb.wimax_ldpc, "wifi": wb.wifi_ldpc}
        if standard not in codes:
            raise ValueError(f"standard = {standard!r} is not allowed: expected one of {', '.join(map(repr, codes))}")
        code = codes[standard](n=n, rate=rate)
        _decoder.__init__(self, "Warpband LDPC decoder", wb.LdpcDecoder(code=code, **settings), code.n, code.k)


class viterbi_decoder(_decoder):
    """Convolutional codes with constraint length 7. In: the LLRs of a block's sent bits. Out: its k bits, one a byte.

    Args:
        standard: "802.11", "802.16" (both with a zero tail) or "lte" (rate 1/3, tail-biting).
        rate: "1/2", "2/3", "3/4" or "5/6"; of "lte" "1/3".
        k: information bits of a block.
        settings: those of ``warpband.ViterbiDecoder``.
    """

    def __init__(self, standard="802.11", rate="1/2", k=1024, **settings):
        if standard == "lte":
            if rate != "1/3":
                raise ValueError(f"rate = {rate!r} is not allowed: expected '1/3' of the standard 'lte'")
            code = wb.conv_lte()
        elif standard in CONV_CODES:
            code = CONV_CODES[standard](rate=rate)
        else:
            raise ValueError(f"standard = {standard!r} is not allowed: expected '802.11', '802.16' or 'lte'")
        decoder = wb.ViterbiDecoder(code=code, k=k, **settings)
        _decoder.__init__(self, "Warpband Viterbi decoder", decoder, decoder.n, k)


class nway_detector(gr.basic_block):
    """Soft MIMO detection, N-way.

    In 0: received samples, complex vectors of ``rx_antennas``. In 1: channel matrices, complex vectors of ``rx_antennas * streams``, row
    after row; each serves the next ``uses_per_channel`` vectors of samples. Out: float vectors of ``streams * log2(qam)`` LLRs.

    Args:
        streams, rx_antennas: 1 to 8 streams, at least as many antennas.
        qam: 4, 16, 64 or 256 points.
        noise_var: N0 of a complex sample; ``set_noise_var`` changes it while the flowgraph runs.
        uses_per_channel: uses of the channel that share one matrix.
        settings: those of ``warpband.NWay``, for example ``ways``.
    """

    def __init__(self, streams=4, rx_antennas=4, qam=16, noise_var=0.1, uses_per_channel=1, **settings):
        if uses_per_channel < 1:
            raise ValueError(f"uses_per_channel = {uses_per_channel} is not allowed: expected 1 or more")
        self._detector = wb.NWay(streams=streams, rx_antennas=rx_antennas, qam=qam, **settings)
        self._matrix, self._uses = (rx_antennas, streams), uses_per_channel
        self._noise_var = noise_var
        gr.basic_block.__init__(self, name="Warpband N-way detector", out_sig=[(np.float32, self._detector.bits_per_use)],
                                in_sig=[(np.complex64, rx_antennas), (np.complex64, rx_antennas * streams)])
        self.set_output_multiple(uses_per_channel)

    def set_noise_var(self, noise_var):
        self._noise_var = noise_var

    def forecast(self, noutput_items, ninputs):
        return [noutput_items, noutput_items // self._uses]

    def general_work(self, input_items, output_items):
        received, channel = input_items
        matrices = min(len(received) // self._uses, len(channel), len(output_items[0]) // self._uses)
        uses = matrices * self._uses
        if matrices:
            self._detector(channel[:matrices].reshape(matrices, *self._matrix), received[:uses].reshape(matrices, self._uses, -1),
                           self._noise_var, out=output_items[0][:uses].reshape(matrices, self._uses, -1), strict=True)
        self.consume(0, uses)
        self.consume(1, matrices)
        return uses
