"""What the blocks compute, without GNU Radio: arrays of items in, arrays of items out.

A conversion has ``inputs`` and ``outputs``, each a list of (name, dtype, length of an item). ``convert(inputs, outputs, request)`` fills the
outputs. ``request`` is None in a flowgraph of streams, else the metadata of a PDU; ``convert`` then returns what the result's metadata say.

LLRs are ln P(0)/P(1): positive means 0. With ``llr_type="int8"`` an LLR is ``value / llr_steps``, limited to +-127 steps. Decoders of integers
(turbo and Viterbi with ``precision="int16"``) take these integers as they are. All other decoders get ``value / llr_steps`` in float32.
"""
import numpy as np

import warpband as wb

CONV_CODES = {"802.11": wb.conv_80211, "802.16": wb.conv_80216}
LDPC_CODES = {"wimax": wb.wimax_ldpc, "wifi": wb.wifi_ldpc}
DETECTORS = {"mmse": wb.MMSE, "nway": wb.NWay, "kbest": wb.KBest}
STATUS_ERASED, STATUS_STOPPED = 1, 2


def refused(name, value, allowed):
    return ValueError(f"{name} = {value!r} is not allowed: expected {allowed}")


def chosen(name, value, table):
    """The entry of a table that a setting names."""
    if value not in table:
        raise refused(name, value, "one of " + ", ".join(map(repr, table)))
    return table[value]


def whole(name, value, smallest, largest):
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not smallest <= value <= largest:
        raise refused(name, value, f"an integer from {smallest} to {largest}")
    return int(value)


def positive(name, value):
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0 < value < float("inf"):
        raise refused(name, value, "a number above 0")
    return float(value)


def scrambled(scrambling):
    """The setting of a transport block's classes."""
    return {} if whole("scrambling", scrambling, -1, (1 << 31) - 1) < 0 else {"scrambling": scrambling}


class llr_format:
    """The number format of LLRs on a port.

    Args:
        llr_type: "float" (float32) or "int8".
        llr_steps: steps of an int8 LLR of 1, above 0.
    """

    def __init__(self, llr_type, llr_steps):
        self.dtype = chosen("llr_type", llr_type, {"float": np.float32, "int8": np.int8})
        self.steps = np.float32(positive("llr_steps", llr_steps))

    def floats(self, llr):
        return llr if self.dtype is np.float32 else llr / self.steps

    def store(self, llr, out):
        """Float LLRs to a port's; what rounds to beyond +-127 steps becomes +-127."""
        if self.dtype is np.float32:
            out[...] = llr
        else:
            out[...] = np.clip(np.rint(llr * self.steps), -127, 127)


class encoder:
    """Bits to coded bits, one a byte."""

    def __init__(self, name, encode, k, n):
        self.name, self._encode = name, encode
        self.inputs, self.outputs = [("bits", np.uint8, k)], [("coded", np.uint8, n)]

    def convert(self, inputs, outputs, request=None):
        self._encode(inputs[0], out=outputs[0], strict=True)
        return {}


class decoder:
    """LLRs to bits.

    Metadata of a PDU: "ok" is true where the checks of all codewords hold; without a check, where nothing was erased. "status" has a byte of Warpband's for each codeword, and "iterations"
    of an iterative decoder a number for each.
    """

    def __init__(self, name, decode, n, k, llr_type="float", llr_steps=4, *, facts=("status",), integers=False,
                 has_check=True):
        self.name, self._decode, self._facts, self._integers, self._has_check = name, decode, facts, integers, has_check
        self._format = llr_format(llr_type, llr_steps)
        self.inputs, self.outputs = [("llr", self._format.dtype, n)], [("bits", np.uint8, k)]

    def convert(self, inputs, outputs, request=None):
        llr = inputs[0] if self._integers else self._format.floats(inputs[0])
        if request is None:
            self._decode(llr, out=outputs[0], strict=True)
            return {}
        facts = {name: np.empty(len(llr), np.int32 if name == "iterations" else np.uint8) for name in self._facts}
        self._decode(llr, outputs=("bits", *facts), out=(outputs[0], *facts.values()), strict=True)
        expected = STATUS_STOPPED if self._has_check else 0
        ok = facts["status"] & (STATUS_ERASED | expected) == expected
        return {"ok": bool(ok.all()), **facts}


class turbo_decoder(decoder):
    """The turbo code of LTE. In: 3 (k + 4) LLRs, streams d0, d1, d2. Out: k bits, one a byte.

    Args:
        k: information bits, one of the 188 sizes of LTE, 40 to 6144.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: those of ``warpband.TurboDecoder``, for example ``iterations``, ``algorithm``, ``precision``.

    "ok" of a PDU: the early stop held; with ``early_stop="none"``, the default, only that no codeword was an erasure.
    """

    def __init__(self, k=1024, llr_type="float", llr_steps=8, **settings):
        integers = llr_type == "int8" and settings.get("precision") == "int16"
        decode = wb.TurboDecoder(k=k, **settings)
        decoder.__init__(self, "Warpband turbo decoder", decode, 3 * (k + 4), k, llr_type, llr_steps, facts=("status", "iterations"),
                         integers=integers, has_check=decode.early_stop != "none")


class ldpc_decoder(decoder):
    """The LDPC codes of WiMAX and WiFi. In: n LLRs. Out: k = n * rate bits, one a byte.

    Args:
        standard: "wimax" or "wifi".
        n: bits of a codeword.
        rate: "1/2", ..., as the standard has them.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: those of ``warpband.LdpcDecoder``, for example ``iterations``, ``algorithm``, ``schedule``.

    "ok" of a PDU: all parity checks hold.
    """

    def __init__(self, standard="wimax", n=2304, rate="1/2", llr_type="float", llr_steps=4, **settings):
        code = chosen("standard", standard, LDPC_CODES)(n=n, rate=rate)
        decoder.__init__(self, "Warpband LDPC decoder", wb.LdpcDecoder(code=code, **settings), code.n, code.k, llr_type, llr_steps,
                         facts=("status", "iterations"))


class viterbi_decoder(decoder):
    """Convolutional codes with constraint length 7. In: the LLRs of a block's sent bits. Out: its k bits, one a byte.

    Args:
        standard: "802.11", "802.16" (both with a zero tail) or "lte" (rate 1/3, tail-biting).
        rate: "1/2", "2/3", "3/4" or "5/6"; of "lte" "1/3".
        k: information bits of a block.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: those of ``warpband.ViterbiDecoder``.

    The code has no check, so "ok" of a PDU says only that no codeword was an erasure.
    """

    def __init__(self, standard="802.11", rate="1/2", k=1024, llr_type="float", llr_steps=8, **settings):
        if standard == "lte":
            if rate != "1/3":
                raise ValueError(f"rate = {rate!r} is not allowed: expected '1/3' of the standard 'lte'")
            code = wb.conv_lte()
        else:
            code = chosen("standard", standard, {**CONV_CODES, "lte": None})(rate=rate)
        decode = wb.ViterbiDecoder(code=code, k=k, **settings)
        decoder.__init__(self, "Warpband Viterbi decoder", decode, decode.n, k, llr_type, llr_steps,
                         integers=llr_type == "int8" and settings.get("precision") == "int16", has_check=False)


class nr_ldpc_encoder(encoder):
    """A code block of 5G NR: LDPC code, rate matching and bit interleaver (3GPP TS 38.212 sections 5.3.2 and 5.4.2).

    In: k bits, one a byte, CRC included. Out: ``sent_bits`` bits.

    Args:
        base_graph: 1 (k up to 8448) or 2 (k up to 3840).
        k: K', bits of the block.
        sent_bits: E, a multiple of ``modulation_order``.
        modulation_order: Q_m: 1, 2, 4, 6, 8 or 10 bits of a symbol.
        rv: redundancy version, 0 to 3.
        settings: further ones of ``warpband.NrRateMatcher``: ``lifting_size``, ``soft_buffer``.
    """

    def __init__(self, base_graph=1, k=4224, sent_bits=8448, modulation_order=4, rv=0, **settings):
        match = wb.NrRateMatcher(base_graph=base_graph, k=k, sent_bits=sent_bits, modulation_order=modulation_order, **settings)
        encode, rv = wb.LdpcEncoder(code=match.code), whole("rv", rv, 0, 3)
        padded = match.code.k - k  # filler bits

        def run(bits, out, strict):
            match(encode(np.pad(bits, ((0, 0), (0, padded))) if padded else bits), rv=rv, out=out)

        encoder.__init__(self, "Warpband 5G LDPC encoder", run, k, sent_bits)


class nr_ldpc_decoder(decoder):
    """A code block of 5G NR. In: ``sent_bits`` LLRs. Out: k bits, one a byte.

    Args:
        base_graph, k, sent_bits, modulation_order, rv: as of :class:`nr_ldpc_encoder`.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: ``lifting_size`` and ``soft_buffer`` of ``warpband.NrRateMatcher``, and those of ``warpband.LdpcDecoder``.

    "ok" of a PDU: all parity checks hold. For CRCs see :class:`nr_transport_decoder`.
    """

    def __init__(self, base_graph=1, k=4224, sent_bits=8448, modulation_order=4, rv=0, llr_type="float", llr_steps=4, *, lifting_size="auto",
                 soft_buffer="auto", **settings):
        match = wb.NrRateMatcher(base_graph=base_graph, k=k, sent_bits=sent_bits, modulation_order=modulation_order,
                                 lifting_size=lifting_size, soft_buffer=soft_buffer)
        code, rv = match.code, whole("rv", rv, 0, 3)
        if rv == 0:  # parity rows behind the last sent bit change nothing
            columns = -(-(2 * code.z + sent_bits + code.k - k) // code.z)
            systematic = code.k // code.z
            rows = min(max(columns - systematic, 4), (code.n - code.k) // code.z)
            code = wb.nr_ldpc(base_graph=base_graph, lifting_size=code.z, rows=rows, systematic=systematic)
        decode, n = wb.LdpcDecoder(code=code, **settings), code.n

        def run(llr, outputs="bits", out=None, strict=True):
            soft = match.combine(llr, rv=rv, strict=strict)[:, :n]
            if out is None or isinstance(outputs, str):
                out[...] = decode(soft)[:, :k]
                return
            bits, *facts = decode(soft, outputs=outputs)
            for to, result in zip(out, (bits[:, :k], *facts)):
                to[...] = result

        decoder.__init__(self, "Warpband 5G LDPC decoder", run, sent_bits, k, llr_type, llr_steps, facts=("status", "iterations"))


class nr_transport_encoder(encoder):
    """A transport block of 5G NR: CRCs, code blocks, LDPC code, rate matching, scrambling (3GPP TS 38.212 sections 6.2 and 7.2).

    In: ``transport_bits`` bits, one a byte. Out: ``coded_bits`` bits.

    Args:
        transport_bits: A.
        coded_bits: G, a multiple of ``modulation_order``.
        modulation_order: Q_m: 1, 2, 4, 6, 8 or 10 bits of a symbol.
        rv: redundancy version, 0 to 3.
        scrambling: c_init of the scrambling sequence, as ``warpband.nr_scrambling_init`` gives it; -1: not scrambled.
        settings: further ones of ``warpband.NrTransportEncoder``: ``layers``, ``base_graph``, ``code_rate``, ...

    A PDU's metadata may have "rv", which replaces the setting.
    """

    def __init__(self, transport_bits=4224, coded_bits=8448, modulation_order=4, rv=0, scrambling=-1, **settings):
        self._work = wb.NrTransportEncoder(transport_bits=transport_bits, coded_bits=coded_bits, modulation_order=modulation_order,
                                           **scrambled(scrambling), **settings)
        self._rv = whole("rv", rv, 0, 3)
        encoder.__init__(self, "Warpband 5G transport encoder", None, transport_bits, coded_bits)

    def convert(self, inputs, outputs, request=None):
        rv = whole("rv", (request or {}).get("rv", self._rv), 0, 3)
        self._work(inputs[0], rv=rv, out=outputs[0], strict=True)
        return {"rv": rv}


class nr_transport_decoder(decoder):
    """A transport block of 5G NR. In: ``coded_bits`` LLRs. Out: ``transport_bits`` bits, one a byte, right or not.

    Args:
        transport_bits, coded_bits, modulation_order, rv, scrambling: as of :class:`nr_transport_encoder`.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: those of ``warpband.NrTransportDecoder``, for example ``iterations``, ``layers``.

    "ok" of a PDU: all CRCs hold. A PDU's metadata may have "rv", and "first" = False for a further transmission of the last PDU's blocks, with
    which it is combined (HARQ). In a stream every item is a first transmission.
    """

    def __init__(self, transport_bits=4224, coded_bits=8448, modulation_order=4, rv=0, scrambling=-1, llr_type="float", llr_steps=4,
                 **settings):
        self._work = wb.NrTransportDecoder(transport_bits=transport_bits, coded_bits=coded_bits, modulation_order=modulation_order,
                                           **scrambled(scrambling), **settings)
        self._rv = whole("rv", rv, 0, 3)
        decoder.__init__(self, "Warpband 5G transport decoder", None, coded_bits, transport_bits, llr_type, llr_steps)

    def convert(self, inputs, outputs, request=None):
        llr = self._format.floats(inputs[0])
        if request is None:
            self._work(llr, rv=self._rv, outputs="bits", out=outputs[0], strict=True)
            return {}
        rv, first = whole("rv", request.get("rv", self._rv), 0, 3), request.get("first", True)
        names = ("ok", "status", "iterations")
        _, ok, status, iterations = self._work(llr, rv=rv, first=first, outputs=("bits", *names),
                                               out=(outputs[0], *(np.empty((len(llr), *more), dtype) for more, dtype in (
                                                   ((), np.uint8), ((), np.uint8), ((self._work.blocks,), np.int32)))), strict=True)
        return {"ok": bool(ok.all()), "ok_of_each": ok, "status": status, "iterations": iterations.ravel(), "rv": rv}


class polar_encoder(encoder):
    """Polar codes of 5G NR and general ones: CRC, polar code, rate matching (3GPP TS 38.212 sections 5.3.1 and 5.4.1).

    In: k bits, one a byte. Out: ``coded_bits`` bits.

    Args:
        kind: "uci" (k from 12 on), "dci", "pbch", "plain" or "general".
        k: bits of a message, without its CRC.
        coded_bits: bits that are sent for it.
        settings: further ones of ``warpband.PolarEncoder``: ``rnti``, ``crc_bits``.
    """

    def __init__(self, kind="uci", k=64, coded_bits=256, **settings):
        encoder.__init__(self, "Warpband polar encoder", wb.PolarEncoder(kind=kind, k=k, coded_bits=coded_bits, **settings), k, coded_bits)


class polar_decoder(decoder):
    """Polar codes of 5G NR and general ones, a list decoder. In: ``coded_bits`` LLRs. Out: k bits, one a byte.

    Args:
        kind, k, coded_bits: as of :class:`polar_encoder`.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: those of ``warpband.PolarDecoder``, for example ``list_size``, ``rnti``.

    "ok" of a PDU: the CRC holds.
    """

    def __init__(self, kind="uci", k=64, coded_bits=256, llr_type="float", llr_steps=4, **settings):
        decode = wb.PolarDecoder(kind=kind, k=k, coded_bits=coded_bits, **settings)
        decoder.__init__(self, "Warpband polar decoder", decode, coded_bits, k, llr_type, llr_steps)


class qam_mapper:
    """Bits to symbols of BPSK or Gray QAM with mean energy 1 (3GPP TS 38.211 section 5.1).

    In: ``symbols * log2(qam)`` bits, one a byte. Out: ``symbols`` complex numbers.

    Args:
        qam: 2, 4, 16, 64, 256, 1024 or 4096 points.
        symbols: in an item.
    """

    def __init__(self, qam=16, symbols=1):
        self.name, self._map, symbols = "Warpband QAM mapper", wb.QamMapper(qam=qam), whole("symbols", symbols, 1, 1 << 24)
        self.inputs = [("bits", np.uint8, symbols * self._map.bits_per_symbol)]
        self.outputs = [("symbols", np.complex64, symbols)]

    def convert(self, inputs, outputs, request=None):
        self._map(inputs[0], out=outputs[0], strict=True)
        return {}


class demapper:
    """Soft demapping of y = h s + n. In 0: y, ``symbols`` complex numbers. In 1, with ``has_channel``: h, as many. Out: ``symbols * log2(qam)``
    LLRs. A PDU has y and then h of each item.

    Args:
        qam: 2, 4, 16, 64, 256, 1024 or 4096 points.
        noise_var: N0 of a complex number; ``set_noise_var`` changes it while the flowgraph runs.
        symbols: in an item.
        has_channel: whether h comes in; else it is 1.
        llr_type: "float" or "int8".
        llr_steps: steps of an int8 LLR of 1.
        settings: those of ``warpband.Demapper``: ``algorithm``.

    A PDU's metadata may have "noise_var", which replaces the setting for this PDU.
    """

    def __init__(self, qam=16, noise_var=0.1, symbols=1, has_channel=False, llr_type="float", llr_steps=4, **settings):
        self.name, self._demap, self._format = "Warpband demapper", wb.Demapper(qam=qam, **settings), llr_format(llr_type, llr_steps)
        symbols = whole("symbols", symbols, 1, 1 << 24)
        self.inputs = [("received", np.complex64, symbols)] + [("channel", np.complex64, symbols)] * bool(has_channel)
        self.outputs = [("llr", self._format.dtype, symbols * self._demap.bits_per_symbol)]
        self.set_noise_var(noise_var)

    def set_noise_var(self, noise_var):
        self._noise_var = positive("noise_var", noise_var)

    def convert(self, inputs, outputs, request=None):
        noise_var = positive("noise_var", (request or {}).get("noise_var", self._noise_var))
        received, channel = inputs[0], inputs[1] if len(inputs) > 1 else None
        if self._format.dtype is np.float32:
            self._demap(received, noise_var, channel=channel, out=outputs[0])
        else:
            self._format.store(self._demap(received, noise_var, channel=channel), outputs[0])
        return {"noise_var": noise_var}


class ofdm_modulator:
    """Subcarriers to samples. An item is a slot. In: ``symbols_per_slot * subcarriers`` complex numbers. Out: the samples of the slot, with
    cyclic prefixes. The transform is unitary.

    Args:
        settings: those of ``warpband.OfdmNumerology``: ``fft_size``, ``subcarriers``, ``cyclic_prefix``, ...
    """

    def __init__(self, **settings):
        numerology = wb.OfdmNumerology(**settings)
        self.name, self._shape = "Warpband OFDM modulator", (-1, numerology.symbols_per_slot, numerology.subcarriers)
        self._modulate = wb.OfdmModulator(numerology=numerology)
        self.inputs = [("values", np.complex64, numerology.symbols_per_slot * numerology.subcarriers)]
        self.outputs = [("samples", np.complex64, numerology.samples_per_slot)]

    def convert(self, inputs, outputs, request=None):
        self._modulate(inputs[0].reshape(self._shape), out=outputs[0])
        return {}


class ofdm_demodulator:
    """Samples to subcarriers, the inverse of :class:`ofdm_modulator`. The first sample of an item is the first of a slot: Warpband does not
    synchronise.

    Args:
        settings: those of ``warpband.OfdmNumerology``.
    """

    def __init__(self, **settings):
        numerology = wb.OfdmNumerology(**settings)
        self.name, self._shape = "Warpband OFDM demodulator", (-1, numerology.symbols_per_slot, numerology.subcarriers)
        self._demodulate = wb.OfdmDemodulator(numerology=numerology)
        self.inputs = [("samples", np.complex64, numerology.samples_per_slot)]
        self.outputs = [("values", np.complex64, numerology.symbols_per_slot * numerology.subcarriers)]

    def convert(self, inputs, outputs, request=None):
        self._demodulate(inputs[0], out=outputs[0].reshape(self._shape))
        return {}


class pusch_receiver:
    """Slots of 5G NR PUSCH to transport blocks: channel estimation from DMRS, detection, decoding.

    In: one port for each receive antenna, whose items are slots: ``14 * 12 * resource_blocks`` values of subcarriers, OFDM symbol after OFDM
    symbol. Out 0: the transport block's bits, one a byte, right or not. Out 1: a byte, 1 where all its CRCs hold. A PDU has the
    antennas' values of a slot one after the other.

    Args:
        rx_antennas: 1 to 8, at least as many as layers.
        mcs: index of the MCS table, 0 to 27.
        mcs_table: 1 to 4 (3GPP TS 38.214 section 5.1.3.1).
        noise_var: N0 of a value; 0: measured in each slot.
        detector: "mmse", "nway" or "kbest".
        estimator: "ls" or "lmmse", with the defaults of ``warpband.ChannelEstimator``.
        scrambling: c_init of the scrambling sequence, as ``warpband.nr_scrambling_init`` gives it; -1: not scrambled.
        iterations: of the LDPC decoder, at most.
        transport_bits: None, or the size of the transport block, which must be what the other settings give.
        settings: those of ``warpband.NrSharedChannel``: ``resource_blocks``, ``layers``, ``dmrs_additional_positions``, ...

    Every slot is a first transmission in redundancy version 0. Metadata of a PDU: "ok", "ok_of_each", "noise_var".
    """

    def __init__(self, rx_antennas=2, mcs=10, mcs_table=1, noise_var=0.0, detector="mmse", estimator="ls", scrambling=-1, iterations=10,
                 transport_bits=None, **settings):
        self.name, self._slot = "Warpband PUSCH receiver", wb.NrSharedChannel(**settings)
        rx_antennas = whole("rx_antennas", rx_antennas, 1, 8)
        transport = self._slot.transport(mcs=mcs, mcs_table=mcs_table)
        if transport_bits not in (None, transport["transport_bits"]):
            raise refused("transport_bits", transport_bits, f"{transport['transport_bits']}, as the other settings give")
        transport.update(scrambled(scrambling))
        self._detect = chosen("detector", detector, DETECTORS)(streams=self._slot.layers, rx_antennas=rx_antennas,
                                                               qam=2 ** transport["modulation_order"])
        self._estimate = wb.ChannelEstimator(channel=self._slot, method=estimator)
        self._measure, self._decode = wb.NoiseEstimator(channel=self._slot), wb.NrTransportDecoder(**transport, iterations=iterations)
        self._coded_bits = transport["coded_bits"]
        self.inputs = [(f"antenna{i}", np.complex64, int(np.prod(self._slot.grid_shape))) for i in range(rx_antennas)]
        self.outputs = [("bits", np.uint8, transport["transport_bits"]), ("ok", np.uint8, 1)]
        self.set_noise_var(noise_var)

    def set_noise_var(self, noise_var):
        if not 0 <= noise_var < float("inf"):
            raise refused("noise_var", noise_var, "a number of 0 or more")
        self._noise_var = float(noise_var)

    def convert(self, inputs, outputs, request=None):
        slots = len(inputs[0])
        received = np.stack([values.reshape(slots, *self._slot.grid_shape) for values in inputs], axis=-1)
        if self._noise_var > 0:
            noise_var = np.full(slots, self._noise_var, np.float32)
        else:
            noise_var = self._measure(received, outputs="noise_var")
        channel, trusted = self._estimate(received, noise_var)
        llr = self._detect(channel, self._slot.extract(received), trusted)
        self._decode(llr.reshape(slots, self._coded_bits), out=(outputs[0], outputs[1].reshape(slots)))
        ok = outputs[1].reshape(slots).copy()
        return {"ok": bool(ok.all()), "ok_of_each": ok, "noise_var": noise_var}
