"""Random wrong calls of every public class and function: each refusal is a typed exception that names an argument of the call.

`python test_refusals.py CALLS [SEED]` makes any number of calls and shows every message that names none.
"""
import collections
import contextlib
import datetime
import decimal
import fractions
import functools
import inspect
import os
import re
import sys
import tempfile
import warnings

import numpy as np
import pytest

import warpband as wb
from bler_file import bler_tables

CALLS = 4000


class Raising:
    """Fails at whatever it is asked for."""

    def __repr__(self):
        raise ArithmeticError("from __repr__")

    __array__ = __bool__ = __float__ = __index__ = __int__ = __iter__ = __len__ = __str__ = __fspath__ = __repr__


class Unclear:
    """Is not what its methods promise."""

    shape = "shape"
    dtype = None

    def __len__(self):
        return -1

    def __index__(self):
        return "one"

    def __iter__(self):
        return iter([self, None])


class Told(str):
    pass


def deep(levels):
    return functools.reduce(lambda inner, _: [inner], range(levels), 1)


#: Arguments that some call may take; most do not.
VALUES = [
    None, True, False, -1, 0, 1, 2, 3, 7, 2**32, -2**31 - 1, 2**63, 2**64, 10**400, -10**400, 0.5, -0.5, 1.5, 1e308, float("nan"), float("inf"),
    -float("inf"), 1j, "", "x", "none", "auto", "cpu", "cuda:99", "a\0b", "\udc80", "two\nlines", "x" * 1000, "é" * 200, Told("mmse"), b"x",
    bytearray(8), memoryview(b"abcd"), [], [1], [0, 1], [[1], [2, 3]], [[0, 1], [1, 0]], ["a"], ["\udc80", "a\0b"], [None], [10**400], [float("nan")],
    [1j], (), (1, 2), (-1, 2**70), {}, {"a": 1}, {1, 2}, range(4), iter([1, 2]), object(), object, len, deep(50), deep(2000), Ellipsis,
    NotImplemented, Raising(), Unclear(), decimal.Decimal("1.5"), fractions.Fraction(1, 3), datetime.date(2026, 1, 1),
    np.int64(2), np.int8(-3), np.uint64(2**64 - 1), np.float32(0.5), np.float64("nan"), np.bool_(True), np.complex64(1j), np.str_("x"),
    np.datetime64("2026-01-01"), np.array(2), np.array("x"), np.array(None), np.zeros(0), np.zeros((2, 0, 3)), np.zeros((2, 3, 4)), np.ones((4, 2)),
    np.array([1, None]), np.array(["a", "b"]), np.zeros(3, "M8[s]"), np.zeros(3, "V8"), np.ones((4, 2), ">f4"), np.ones((4, 2), np.longdouble),
    np.ones((4, 2), np.clongdouble), np.ma.masked_array(np.ones((4, 2)), True), np.zeros(2, [("a", "f4"), ("b", "i4")]), np.full((4, 2), np.nan),
    np.broadcast_to(np.float32(1), (4, 2)), np.int32, np.dtype("f4"), wb, wb.MMSE,
    wb.MMSE(streams=2, rx_antennas=2, qam=4), wb.conv_lte(), wb.wifi_ldpc(n=648), wb.OfdmNumerology(), wb.NrSharedChannel(resource_blocks=1),
    wb.cpu(threads=1),
]


def spoiled(random, value):
    """An array like `value`, but of another type, shape, layout or with other numbers."""
    a = np.asarray(value)
    numeric = a.dtype.kind in "biufc" and a.ndim
    changes = [
        lambda: a[..., 0] if a.ndim else a[None], lambda: a[None], lambda: a[0] if a.ndim else a, lambda: a[..., :0] if a.ndim else a,
        lambda: np.concatenate([a, a], -1) if a.ndim else a, lambda: a.T, lambda: a.ravel(), lambda: a.astype(object), lambda: a.astype(str),
        lambda: a.tolist(), lambda: np.ma.masked_array(a), lambda: a.astype(a.dtype.newbyteorder()), lambda: memoryview(np.ascontiguousarray(a)),
        lambda: bytes(a)]
    if numeric:
        with_real = a.real if a.dtype.kind == "c" else a
        changes += [
            lambda: with_real.astype(random.choice(["f2", "f4", "f8", "i1", "u1", "i2", "i8", "u8", "c8", "c16", "?", "g", "G", "M8[s]"])),
            lambda: a * np.nan, lambda: a * 1e300, lambda: -1 - a, lambda: a[::-1], lambda: np.broadcast_to(a[:1], a.shape),
            lambda: np.lib.stride_tricks.as_strided(a, a.shape, (0,) * a.ndim), lambda: np.asfortranarray(a), lambda: a.view(np.recarray)]
    return random.choice(changes)()


class Random:
    """Choices of any objects."""

    def __init__(self, seed):
        self.numbers = np.random.default_rng(seed)

    def choice(self, options):
        return options[int(self.numbers.integers(len(options)))]

    def chance(self, p):
        return self.numbers.random() < p


MIMO = {"streams": 2, "rx_antennas": 2, "qam": 4}
H, Y, N0 = np.ones((4, 2, 2), np.complex64) * (np.eye(2) + 0.5).astype("c8"), np.ones((4, 2), np.complex64), 0.1
PRIOR = np.zeros((4, 4), np.float32)
MASSIVE, MASSIVE_H, MASSIVE_Y = {"antennas": 4, "users": 2}, np.ones((3, 4, 2), "c8") + np.eye(4, 2).astype("c8"), np.ones((3, 4), "c8")
LDPC, CONV = wb.wifi_ldpc(n=648), wb.conv_80211()
HARQ = {"transport_bits": 32, "coded_bits": 96}
BLOCK = {"base_graph": 2, "lifting_size": 2, "sent_bits": 60}
LTE, NR = {"transport_bits": 40, "coded_bits": 132}, {"transport_bits": 24, "coded_bits": 132}
PUSCH = wb.NrSharedChannel(resource_blocks=1)
SRS = wb.NrSrs()
SPREAD = wb.NrSharedChannel(resource_blocks=1, dmrs_additional_positions=1, transform_precoding=True)
UCI = wb.PuschUci(channel=PUSCH, ack_bits=4, csi1_bits=3, mcs=4)
GRID = np.ones((2, *PUSCH.grid_shape, 1), np.complex64)
PRACH = wb.PrachDetector(format="A1")
PUCCH = wb.PucchDetector(format=2, prbs=2, bits=5)
WIMAX = wb.WimaxFrame(profile="mobile_128", modulations=["qpsk", "16qam"])
NUMEROLOGY = wb.OfdmNumerology(fft_size=16, subcarriers=4, cyclic_prefix=2, first_cyclic_prefix=3)
SCENARIO = {"code": {"type": "none", "k": 10}, "sweep": {"ebn0_db": [0.0]}, "stop": {"max_frames": 2}}
TABLES = bler_tables()
STREAM = wb.Stream(stage=wb.MMSE(**MIMO), most_items=4, devices=["cpu"])
RESULT = wb.sweep(SCENARIO)
CHOICE = wb.choose(SCENARIO, fer=0.3, width_db=2)
KEYWORDS = wb._core.keywords


def bits(*shape):
    return np.ones(shape, np.uint8)


def llrs(*shape):
    return np.full(shape, 3, np.float32)


SPARSE = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0], [1, 0, 0, 1, 1, 0], [0, 1, 0, 1, 0, 1], [0, 0, 1, 0, 1, 1]])
#: Calls that are right: what is called, its arguments. A class stands for its constructor.
CALLS_OF = [
    *((kind, MIMO) for kind in (wb.ML, wb.MatchedFilter, wb.ZeroForcing, wb.MMSE, wb.OnePassTrellis, wb.MultiPassTrellis, wb.KBest, wb.NWay, wb.Sphere, wb.PIC,
                                wb.EP)),
    *((kind(**MIMO), {"channel": H, "received": Y, "noise_var": N0}) for kind in (wb.MMSE, wb.KBest)),
    (wb.PIC(**MIMO), {"channel": H, "received": Y, "noise_var": N0, "prior": PRIOR}),
    (wb.QamMapper, {"qam": 4}), (wb.QamMapper(qam=4), {"bits": bits(3, 4)}),
    (wb.Demapper, {"qam": 4}), (wb.Demapper(qam=4), {"received": Y, "noise_var": N0, "channel": Y}),
    (wb.Constellation, {"type": "8psk"}), (wb.Constellation, {"points": [1, 1j, -1, -1j], "labels": [0, 1, 3, 2]}),
    (wb.dvb_s2_ring_ratios, {"type": "16apsk", "rate": "3/4"}), (wb.Constellation(type="8psk").map, {"bits": bits(3, 6)}),
    (wb.Constellation(type="8psk").demap, {"received": Y, "noise_var": N0, "channel": Y}),
    (wb.MassiveUplink, {**MASSIVE, "qam": 4}), (wb.MassiveSoftUplink, {**MASSIVE, "qam": 4}), (wb.MassiveDownlink, MASSIVE),
    (wb.ClusteredUplink, {**MASSIVE, "qam": 4, "clusters": 2}), (wb.ClusteredDownlink, {**MASSIVE, "clusters": 2}),
    *((detect, {"channel": MASSIVE_H, "received": MASSIVE_Y, "noise_var": N0}) for detect in (
        wb.MassiveUplink(**MASSIVE, qam=4), wb.MassiveSoftUplink(**MASSIVE, qam=4), wb.ClusteredUplink(**MASSIVE, qam=4, clusters=2))),
    *((precode, {"channel": MASSIVE_H, "sent": MASSIVE_Y[:, :2], "noise_var": N0}) for precode in (
        wb.MassiveDownlink(**MASSIVE), wb.ClusteredDownlink(**MASSIVE, clusters=2))),
    (wb.StbcEncoder, {"type": "golden", "qam": 4}), (wb.StbcDecoder, {"type": "golden", "qam": 4, "rx_antennas": 2}),
    (wb.StbcEncoder(type="golden", qam=4), {"bits": bits(3, 8)}), (wb.StbcEncoder(type="golden", qam=4).encode_symbols, {"symbols": np.ones((3, 4), "c8")}),
    (wb.StbcDecoder(type="golden", qam=4, rx_antennas=2), {"channel": H, "received": H, "noise_var": N0}),
    (wb.TurboEncoder, {"k": 40}), (wb.TurboDecoder, {"k": 40}), (wb.TurboEncoder(k=40), {"bits": bits(2, 40)}),
    (wb.TurboDecoder(k=40, iterations=1), {"llr": llrs(2, 132)}),
    (wb.LdpcCode, {"matrix": [[0, 1, 0, -1], [1, 0, 0, 0]], "z": 4}), (wb.LdpcEncoder, {"code": LDPC}), (wb.LdpcDecoder, {"code": LDPC}),
    (wb.ParityCheckMatrix, {"matrix": [[1, 1, 0, 1], [0, 1, 1, 1]], "punctured": [0], "shortened": [1]}),
    (wb.SparseLdpcEncoder, {"matrix": SPARSE}), (wb.SparseLdpcDecoder, {"matrix": SPARSE}),
    (wb.SparseLdpcEncoder(matrix=SPARSE), {"bits": bits(2, 3)}),
    (wb.BchEncoder, {"field_degree": 4, "corrects": 2, "n": 15}), (wb.BchDecoder, {"field_degree": 4, "corrects": 2, "n": 15}),
    (wb.BpOsd, {"pcm": SPARSE, "error_rate": 0.1}), (wb.BpOsd, {"pcm": SPARSE, "error_channel": [0.1] * 6}),
    (wb.BchEncoder(field_degree=4, corrects=2, n=15), {"bits": bits(2, 7)}), (wb.BchDecoder(field_degree=4, corrects=2, n=15), {"received": bits(2, 15)}),
    (wb.BpOsd(pcm=SPARSE, max_iter=1), {"syndrome": bits(2, 4), "llr": llrs(2, 6)}), (wb.BpOsd(pcm=SPARSE, max_iter=1).words, {"llr": llrs(2, 6)}),
    (wb.SparseLdpcDecoder(matrix=SPARSE, iterations=1), {"llr": llrs(2, 6), "syndrome": bits(2, 4)}),
    (wb.LdpcEncoder(code=LDPC), {"bits": bits(2, 324)}), (wb.LdpcDecoder(code=LDPC, iterations=1), {"llr": llrs(2, 648)}),
    (wb.wifi_ldpc, {"n": 648}), (wb.wimax_ldpc, {"n": 576}), (wb.read_ldpc, {"path": "there is no such file"}),
    (wb.nr_ldpc, {"base_graph": 2, "lifting_size": 2}),
    (wb.ConvCode, {"constraint_length": 3, "generators": (7, 5), "sent": [[1, 1], [1, 0]]}), (wb.ConvEncoder, {"code": CONV, "k": 10}),
    (wb.ViterbiDecoder, {"code": CONV, "k": 10}), (wb.BcjrDecoder, {"code": CONV, "k": 10}), (wb.conv_80211, {"rate": "1/2"}),
    (wb.conv_80216, {"rate": "1/2"}), (wb.conv_lte, {}), (wb.ConvEncoder(code=CONV, k=10), {"bits": bits(2, 10)}),
    (wb.ViterbiDecoder(code=CONV, k=10), {"llr": llrs(2, 32)}), (wb.BcjrDecoder(code=CONV, k=10), {"llr": llrs(2, 32), "prior": llrs(2, 10)}),
    (wb.umts_permutation, {"k": 40}), (wb.CtcEncoder, {"k": 48}), (wb.CtcDecoder, {"k": 48}),
    (wb.CtcEncoder(k=48), {"bits": bits(2, 48)}), (wb.CtcDecoder(k=48, iterations=1), {"llr": llrs(2, 144)}),
    (wb.LdpcBlockEncoder, BLOCK), (wb.LdpcBlockDecoder, BLOCK), (wb.TurboBlockEncoder, {"k": 40}), (wb.TurboBlockDecoder, {"k": 40}),
    (wb.LdpcBlockEncoder(**BLOCK), {"bits": np.zeros((2, 3), np.uint8), "rv": 0}), (wb.LdpcBlockDecoder(**BLOCK), {"llr": llrs(2, 60), "rv": 0, "first": True}),
    (wb.TurboBlockEncoder(k=40), {"bits": np.zeros((2, 5), np.uint8), "rv": 0}), (wb.TurboBlockDecoder(k=40), {"llr": llrs(2, 192)}),
    (wb.PolarEncoder, {"kind": "uci", "k": 20, "coded_bits": 60}), (wb.PolarDecoder, {"kind": "uci", "k": 20, "coded_bits": 60}),
    (wb.ShortBlockEncoder, {"k": 4, "coded_bits": 20}), (wb.ShortBlockDecoder, {"k": 4, "coded_bits": 20}),
    (wb.PolarEncoder(kind="uci", k=20, coded_bits=60), {"bits": bits(2, 20)}), (wb.PolarDecoder(kind="uci", k=20, coded_bits=60), {"llr": llrs(2, 60)}),
    (wb.ShortBlockEncoder(k=4, coded_bits=20), {"bits": bits(2, 4)}), (wb.ShortBlockDecoder(k=4, coded_bits=20), {"llr": llrs(2, 20)}),
    (wb.CrcAttacher, {"n": 8, "crc": "crc8"}), (wb.CrcAttacher(n=8, crc="crc8"), {"bits": bits(2, 8)}),
    (wb.CrcAttacher(n=8, crc="crc8").attach, {"bits": bits(2, 16)}), (wb.CrcAttacher(n=8, crc="crc8").check, {"bits": bits(2, 16)}),
    (wb.lte_segmentation, {"transport_bits": 100}), (wb.LteRateMatcher, {"k": 40, "sent_bits": 100}),
    (wb.LteRateMatcher(k=40, sent_bits=100), {"bits": bits(2, 132), "rv": 0}),
    (wb.LteRateMatcher(k=40, sent_bits=100).combine, {"llr": llrs(2, 100), "rv": 0, "soft": llrs(2, 132)}),
    (wb.CtcTransportEncoder, HARQ), (wb.CtcTransportDecoder, HARQ),
    (wb.CtcTransportEncoder(**HARQ), {"bits": bits(2, 32), "rv": 0}), (wb.CtcTransportDecoder(**HARQ), {"llr": llrs(2, 96), "rv": 0, "first": True}),
    (wb.LteTransportEncoder, LTE), (wb.LteTransportDecoder, LTE), (wb.LteTransportEncoder(**LTE), {"bits": bits(2, 40), "rv": 0}),
    (wb.LteTransportDecoder(**LTE), {"llr": llrs(2, 132), "rv": 0, "first": True}),
    (wb.NrRateMatcher, {"k": 40, "sent_bits": 70, "base_graph": 2}),
    (wb.NrRateMatcher(k=40, sent_bits=70, base_graph=2), {"bits": bits(2, wb.NrRateMatcher(k=40, sent_bits=70, base_graph=2).code.n), "rv": 0}),
    (wb.NrRateMatcher(k=40, sent_bits=70, base_graph=2).combine, {"llr": llrs(2, 70), "rv": 0}),
    (wb.NrTransportEncoder, NR), (wb.NrTransportDecoder, NR), (wb.NrTransportEncoder(**NR), {"bits": bits(2, 24), "rv": 0}),
    (wb.NrTransportDecoder(**NR), {"llr": llrs(2, 132), "rv": 0, "first": True}),
    (wb.nr_mcs, {"table": 1, "index": 13}), (wb.nr_resource_elements, {"resource_blocks": 4, "symbols": 14, "dmrs_per_block": 12, "overhead_per_block": 0}),
    (wb.nr_transport_block_size, {"resource_elements": 100, "modulation_order": 2, "rate_x1024": 500.0, "layers": 1}),
    (wb.nr_base_graph, {"transport_bits": 100, "code_rate": 0.5}), (wb.nr_segmentation, {"transport_bits": 100, "base_graph": 2}),
    (wb.nr_limited_buffer, {"lbrm_transport_bits": 1000, "blocks": 1}),
    (wb.nr_lbrm_transport_block_size, {"resource_blocks": 5, "layers": 1, "modulation_order": 6}), (wb.nr_lifting_sizes, {}),
    (wb.nr_scrambling_init, {"rnti": 1, "identity": 1, "codeword": 0}), (wb.nr_scrambling_sequence, {"c_init": 1, "length": 10}),
    (wb.nr_precoder, {"antenna_ports": 2, "layers": 1, "tpmi": 0, "transform_precoding": False}), (wb.nr_reference_channel, {"name": "G-FR1-A4-14"}),
    (wb.NrSharedChannel, {"resource_blocks": 1}), (PUSCH.map, {"symbols": np.ones((2, PUSCH.codeword_symbols), "c8"), "second": None}),
    (PUSCH.extract, {"grid": GRID}), (PUSCH.dmrs, {"layer": 0}), (PUSCH.transport, {"mcs": 5, "mcs_table": 1, "codeword": 0}),
    (SPREAD.equalise, {"channel": np.ones((2, 144, 1, 1), "c8"), "received": np.ones((2, 144, 1), "c8"), "noise_var": 0.1}),
    (wb.PuschUci, {"channel": PUSCH, "ack_bits": 4}), (UCI.places, {"part": "ack"}), (UCI.transport, {}),
    (UCI.multiplex, {name: np.ones((2, n), "u1") for name, n in UCI.coded_bits.items() if n}),
    (UCI.demultiplex, {"llr": np.ones((2, UCI.codeword_bits), "f4"), "outputs": "ack"}),
    (wb.NrSrs, {"ports": 2}), (SRS.map, {"slots": 2}), (SRS.band_symbols, {"band": 0}), (SRS.first_subcarrier, {"band": 0}),
    (wb.SrsEstimator, {"srs": SRS, "band": 0, "shifts": 1}), (wb.SrsEstimator(srs=SRS), {"received": np.ones((2, 14, 300, 1), "c8"), "noise_var": N0}),
    (wb.ChannelEstimator, {"channel": PUSCH, "data_only": True}), (wb.NoiseEstimator, {"channel": wb.NrSharedChannel(resource_blocks=5)}),
    (wb.ChannelEstimator(channel=PUSCH), {"received": GRID, "noise_var": N0}),
    (wb.ChannelEstimator(channel=PUSCH).error_variance, {"noise_var": 0.1, "layer": 0}),
    (wb.NoiseEstimator(channel=wb.NrSharedChannel(resource_blocks=5)), {"received": np.ones((2, 14, 60, 1), "c8")}),
    (wb.whiten, {"covariance": np.eye(2, dtype="c8"), "received": Y, "channel": H, "added": 0.1}),
    (wb.OfdmNumerology, {"fft_size": 16, "subcarriers": 4, "cyclic_prefix": 2, "first_cyclic_prefix": 3}), (wb.lte_numerology, {"bandwidth_mhz": 5}),
    (wb.OfdmModulator, {"numerology": NUMEROLOGY, "first_symbol": 1, "symbols": 2, "carrier_hz": 1e9}),
    (wb.OfdmDemodulator, {"numerology": NUMEROLOGY, "first_symbol": 1, "symbols": 2, "carrier_hz": 1e9}),
    (wb.nr_numerology, {"spacing_khz": 15, "resource_blocks": 6, "fft_size": 128, "extended_prefix": False}),
    (wb.CellSearch, {"sample_rate_hz": 1.92e6, "spacing_khz": 15, "carrier_hz": 1e9, "candidates": 2}),
    (wb.CellSearch(sample_rate_hz=1.92e6), {"samples": np.ones((2, 500), "c8")}), (wb.CellSearch().threshold, {"samples": 1000}),
    (wb.PbchEncoder, {"l_max": 4}), (wb.PbchEncoder(l_max=8), {"contents": [wb.NrSsbContent(sfn=3)], "cell_id": 5}),
    (wb.PbchDecoder, {"l_max": 4, "list_size": 2, "hypotheses": 1}), (wb.PbchDecoder(), {"grids": np.ones((2, 4, 240), "c8"), "cell_id": 7}),
    (wb.PdcchEncoder, {"level": 8, "dci_bits": 40}), (wb.PdcchEncoder(), {"bits": bits(2, 39), "slot": 3, "first_cce": [0, 4]}),
    (wb.PdcchDecoder, {"blocks": 24, "symbols": 2, "list_size": 2}), (wb.PdcchDecoder(), {"grids": np.ones((2, 1, 576), "c8"), "slot": [3, 4], "first_cce": [0, 4]}),
    (wb.NrDownlink, {"sample_rate_hz": 7.68e6, "spacing_khz": 30, "carrier_hz": 1e9, "l_max": 8, "wide": True}),
    (wb.NrDownlink(sample_rate_hz=3.84e6), {"samples": np.ones(3000, "c8")}),
    (wb.nr_si_decode, {"grid": np.ones((14, 288), "c8"), "dci": wb.NrSiDci(blocks=2), "cell_id": 3, "slot": 2, "coreset_blocks": 24, "spacing_khz": 15,
                       "dmrs_first_symbol": 2, "noise_var": 0.1, "reserved": [0, 1, 4, 1], "dmrs_delay": 0}),
    (wb.PdcchSearch, {"sizes": [39], "candidates": [0, 0, 1, 0, 0], "coreset_id": 1}), (wb.PdcchSearch(), {"grids": np.ones((2, 1, 576), "c8"), "slot": [3, 4]}),
    (wb.PdcchEncoder().reserved, {"first_cce": 4}), (wb.NrDciFormat, {"format": "0_1", "max_layers": 1}), (wb.NrDciFormat().encode, {"mcs": 3}),
    (wb.NrDciFormat().decode, {"bits": bits(37)}), (wb.NrDciFormat().blocks, {"frequency_domain": 30}),
    (wb.nr_interleaved_blocks, {"first_resource_block": 3, "blocks": 20, "bundle": 4}), (wb.nr_coreset0, {"ssb_spacing_khz": 30, "spacing_khz": 15, "index": 3, "wide": True, "k_ssb": 2}), (wb.NrSiDci().bits, {"coreset_blocks": 24}),
    (wb.nr_coreset0_first_hz, {"offset": 3, "ssb_spacing_khz": 30, "spacing_khz": 15, "k_ssb": 3}), (wb.NrSiDci().physical_blocks, {"coreset_blocks": 48}),
    (wb.NrSiDci.of_bits, {"bits": bits(37), "coreset_blocks": 24}), (wb.nr_type0_occasion, {"index": 3, "ssb_index": 2, "spacing_khz": 15, "coreset_symbols": 2}),
    (wb.nr_pdcch_candidates, {"cces": 16, "level": 4, "candidates": 2, "rnti": 5, "coreset": 1, "slot": 3}),
    (wb.PrachGenerator, {"format": "A1", "spacing_khz": 30, "root_sequence": 5, "sample_rate_hz": 7.68e6}),
    (wb.PrachDetector, {"format": "0", "zero_correlation_zone": 1, "antennas": 1, "false_alarm": 1e-3}),
    (wb.PrachGenerator(), {"preambles": [1, 2]}), (wb.PrachGenerator().values, {"preamble": 1}),
    (PRACH.demodulate, {"samples": np.ones((2, 1, PRACH.samples), "c8")}), (PRACH, {"values": np.ones((2, 1, 2, 139), "c8"), "outputs": "detected"}),
    (wb.prach_first_subcarrier, {"format": "A1", "spacing_khz": 15, "uplink_khz": 15, "resource_blocks": 25, "first_block": 1}),
    (wb.PucchGenerator, {"format": 1, "symbols": 14, "hopping": True, "initial_cyclic_shift": 3, "bits": 2}),
    (wb.PucchDetector, {"format": 2, "prbs": 2, "bits": 5, "antennas": 1, "false_alarm": 1e-3}),
    (wb.PucchGenerator(bits=2), {"bits": np.ones((3, 2), "u1"), "slot": 4}), (PUCCH, {"values": np.ones((3, 1, 1, 24), "c8"), "slot": 4, "outputs": "detected"}),
    (wb.nr_low_papr_sequence, {"length": 12, "u": 3, "v": 0}),
    (wb.nr_pss, {"n_id2": 1}), (wb.nr_sss, {"cell_id": 7}), (wb.nr_ssb_first_symbols, {"pattern": "A", "l_max": 4}),
    *([(wb.OfdmModulator(numerology=NUMEROLOGY), {"values": np.ones((2, 7, 4), "c8")}),
       (wb.OfdmDemodulator(numerology=NUMEROLOGY), {"samples": np.ones((2, NUMEROLOGY.samples_per_slot), "c8")})]),
    (wb.qr, {"a": H, "method": "householder", "y": Y}), (wb.cholesky, {"a": H, "b": Y}),
    (wb.capacity, {"channel": H, "snr_db": 10.0, "water_filling": True}), (wb.effective_capacity, {"coherence_s": [1e-3, 1e-2], "bits_per_hz": 8.4, "central": True, "precoding_s": 2e-4, "antennas": 64, "users": 8}),
    (wb.mutual_information, {"snr_db": [0.0, 3.0], "qam": 16, "kind": "bit"}), (wb.snr_of_information, {"bits": [1.0, 3.0], "qam": 16, "kind": "bit"}),
    (wb.effective_sinr, {"sinrs": N0, "method": "rbir", "qam": 16, "beta": 1.5, "weights": N0}), (wb.BlerTables, {"path": "there is no such file"}),
    (TABLES.bler, {"mcs": 4, "size": 100, "sinrs": np.ones((2, 3)), "code_blocks": 2}), (TABLES.at_snr, {"mcs": 4, "size": 100, "snr_db": [1.0]}),
    (TABLES.choose, {"size": 100, "sinrs": np.ones((2, 3)), "target": 0.1, "betas": {4: 1.0}}), (TABLES.sizes, {"mcs": 4}),
    (TABLES.efficiency, {"mcs": 4}),
    (wb.awgn, {"sent": Y, "noise_var": 0.1, "seed": 1, "first": 0, "point": 0}), (wb.rayleigh, {"sent": Y, "seed": 1, "block": 2}),
    (wb.binary_channel, {"bits": np.ones((2, 5), "u1"), "kind": "bsc", "probability": 0.1, "seed": 1}),
    (wb.Impairments, {"cfo_hz": 10.0, "converter_bits": 8}), (wb.Impairments(noise_var=0.1), {"samples": Y, "seed": 1, "first": 0, "point": 0}),
    (wb.mimo_rayleigh, {"sent": Y, "rx_antennas": 2, "seed": 1, "uses_per_channel": 1}),
    (wb.exponential_correlation, {"antennas": 2, "correlation": 0.5}), (wb.tdl_profiles, {}), (wb.cdl_profiles, {}),
    (wb.TdlChannel, {"profile": "epa", "subcarriers": 2}), (wb.TdlChannel(subcarriers=2, symbols=2), {"sent": np.ones((2, 2, 2, 1), "c8"), "seed": 1}),
    (wb.TdlChannel(subcarriers=2, symbols=2).response, {"blocks": 2, "seed": 1}), (wb.CdlChannel, {"antennas": 2, "users": 1, "subcarriers": 2}),
    (wb.CdlChannel(antennas=2, users=1, subcarriers=2).response, {"drops": 2, "seed": 1}),
    (wb.KroneckerChannel, {"streams": 2, "rx_antennas": 2, "rx_correlation": np.eye(2)}),
    (wb.KroneckerChannel(streams=2, rx_antennas=2), {"sent": Y, "seed": 1, "uses_per_channel": 1}),
    (wb.KroneckerChannel(streams=2, rx_antennas=2).response, {"channels": 2, "seed": 1}),
    (wb.read_csi, {"path": "there is no such file", "first": 0, "snapshots": 1}),
    (wb.IterativeReceiver, {"detector": wb.PIC(**MIMO), "decoder": wb.LdpcDecoder(code=LDPC, iterations=2), "outer": 2}),
    (wb.IterativeReceiver(detector=wb.PIC(**MIMO), decoder=wb.BcjrDecoder(code=CONV, k=10), outer=2),
     {"channel": np.ones((2, 8, 2, 2), "c8"), "received": np.ones((2, 8, 2), "c8"), "noise_var": N0, "prior": llrs(2, 32)}),
    (wb.IterativeReceiver(detector=wb.PIC(**MIMO), decoder=wb.BcjrDecoder(code=CONV, k=10), outer=2).interleave, {"coded": bits(2, 32)}),
    (wb.exit_chart, {"detector": wb.PIC(**MIMO), "decoder": wb.BcjrDecoder(code=CONV, k=10), "snr_db": 3, "bits": 100, "prior_information": [0.5]}),
    (wb.WimaxFrame, {"profile": "mobile_128", "modulations": ["qpsk", "16qam"], "code": {"type": "conv", "k": 60}, "decoder": {"algorithm": "max-log-map"}}),
    (WIMAX.transmit, {"bits": [bits(2, burst.blocks, burst.k) for burst in WIMAX.bursts]}),
    (WIMAX.receive, {"received": np.ones((2, *WIMAX.grid_shape, 2), "c8"), "noise_var": N0, "outputs": "bits_1"}),
    (wb.Stream, {"stage": wb.MMSE(**MIMO), "most_items": 4, "devices": ["cpu"]}), (STREAM.push, {"channel": H, "items": Y, "noise_var": N0, "timeout": 60}),
    (STREAM.push(H, Y, N0).result, {"timeout": 60}), (STREAM.push(H, Y, N0).frame, {"timeout": 60}), (STREAM.push(H, Y, N0).exception, {"timeout": 60}),
    (STREAM.drain, {"timeout": 60}), (STREAM.stats().latency.percentile_us, {"percent": 50}), (STREAM.stats().latency.seconds, {"limit": 5}),
    (wb.choose, {"scenario": SCENARIO, "fer": 0.3, "width_db": 2, "threads": 1}), (wb.Choice, {"content": CHOICE.to_dict(), "toml": CHOICE.toml}),
    (wb.sweep, {"scenario": SCENARIO, "threads": 1}), (wb.SweepResult, {"content": RESULT.to_dict()}), (wb.SweepResult.load, {"path": "there is no such file"}),
    (wb.cpu, {"threads": 1}), (wb.cuda, {"device": 99}), (wb.scenario_help, {}), (wb.isas, {}), (wb.cuda_devices, {}),
]

#: What the package alone makes, and calls without arguments that could be wrong.
NOT_CALLED = {
    "Array", "CellSearchResult", "Choice.save", "Choice.to_dict", "Choice.to_json", "ChoiceProgress", "Executor", "Csi", "Curve", "ExitChart", "FrameDropped", "Frames", "Latencies", "LteSegmentation", "NrCoreset0", "NrDownlinkResult", "NrFoundBlock", "NrMcs", "NrMessage", "NrPbchBlock", "NrPdcchFound", "NrPdcchResult", "NrReferenceChannel", "NrSegmentation", "NrSiDci", "NrSsbContent", "NrType0Occasion",
    "NrSharedChannel.ptrs", "Progress", "StreamFrame", "StreamStats", "Ticket", "has_cuda", "has_hdf5", "plot", "Stream.map", "Stream.reset_times", "Stream.stats", "Stream.stop",
    "SweepResult.rows", "SweepResult.save", "SweepResult.to_dict", "SweepResult.to_json", "SweepResult.to_pandas", "Curve.column", "StreamFrame.unwrap",
    "Ticket.done", "WimaxBurst",
}


def parameters_of(target):
    return inspect.signature(target).parameters


def owner_of(target):
    return target if inspect.isclass(target) else getattr(target, "__self__", target)


def wrong_call(random):
    """A call with one or two arguments that are other than they should be: what, arguments."""
    target, right = random.choice(CALLS_OF)
    given = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in right.items()}
    left_out = {"_faults", "on_frame", "progress", *(["stream"] if wb.has_cuda else [])}  # a stream is an address, which nobody can check
    names = [name for name, p in parameters_of(target).items() if p.kind is not p.VAR_KEYWORD and name not in left_out]
    for _ in range(1 + random.chance(0.3)):
        if not names or random.chance(0.03):
            given["no_such_argument"] = 1
        elif given and random.chance(0.05):
            del given[random.choice(list(given))]
        else:
            name = random.choice(names)
            value = right.get(name)
            array = isinstance(value, (np.ndarray, list, tuple))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    given[name] = spoiled(random, value) if array and random.chance(0.7) else random.choice(VALUES)
                except (TypeError, ValueError, OverflowError, IndexError):  # NumPy has no such array
                    given[name] = random.choice(VALUES)
    return target, given


def title(target):
    if inspect.isclass(target) or inspect.isfunction(target):
        return target.__qualname__
    return f"{type(owner_of(target)).__name__}.{getattr(target, '__name__', '__call__')}"


def outcome(target, given):
    """"" of a call that was taken or is refused by name, else what is wrong with the refusal."""
    names = [name for name, p in parameters_of(target).items() if p.kind is not p.VAR_KEYWORD]
    if target is wb.exit_chart:
        names += parameters_of(wb.IterativeReceiver)
    outputs = getattr(owner_of(target), "_table", {}) if not inspect.isclass(target) else {}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = target(**given)
        if isinstance(made, wb.Stream):
            made.stop()
        return ""
    except TimeoutError:  # of a call that was taken
        return ""
    except (ValueError, TypeError, RuntimeError, OSError) as error:
        text = str(error)
        if type(error) not in (ValueError, TypeError, RuntimeError, FileNotFoundError, IsADirectoryError, PermissionError, OSError, UnicodeDecodeError):
            return f"{type(error).__name__}: {text}"
        # Errors of files and devices name file or device.
        of_files = isinstance(error, (RuntimeError, OSError)) and any(isinstance(v, str) and (v in text or repr(v) in text) for v in given.values())
        if of_files or isinstance(error, RuntimeError) and ("has no CUDA" in text or text.startswith("device cuda:")):
            return ""
        known = "|".join(map(re.escape, [*names, *given, *outputs]))
        if "\n" in text or len(text) > 2000 or not text:
            return f"{type(error).__name__} is not one line: {text!r}"
        if "incompatible function arguments" in text or "std::" in text:
            return f"text of C++: {text}"
        if re.search(rf"^({known})([.\[][\w\].\[]*)?( = | is a |: | is None)|'({known})'|no_such_argument", text):
            return ""
        return f"{type(error).__name__} names no argument: {text}"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return f"{type(error).__name__}: {error}"


def shown(value):
    try:
        return f"{type(value).__name__} {repr(value)[:60]}" + (f" {value.dtype} {value.shape}" if isinstance(value, np.ndarray) else "")
    except Exception:
        return type(value).__name__


def faults(calls, seed):
    """What is wrong with refusals of so many random calls, each kind once, with a call that shows it."""
    random, found = Random(seed), {}
    for _ in range(calls):
        target, given = wrong_call(random)
        fault = outcome(target, given)
        if fault:
            found.setdefault((title(target), fault[:60]), f"{title(target)}({', '.join(f'{k}={shown(v)}' for k, v in given.items())}): {fault[:400]}")
    return list(found.values())


def test_every_public_call_is_tried():
    tried = {title(target) for target, _ in CALLS_OF}
    wanted = set()
    for name in wb.__all__:
        thing = getattr(wb, name)
        wanted.add(name)
        if inspect.isclass(thing) and name not in NOT_CALLED:
            for member, value in vars(thing).items():
                if inspect.isfunction(value) and not member.startswith("_"):
                    wanted.add(f"{name}.{member}")
    assert wanted - tried - NOT_CALLED == set()


@pytest.mark.parametrize("seed", range(4))
def test_every_refusal_names_an_argument(seed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some of the values are names of files
    assert faults(CALLS // 4, seed) == []


if __name__ == "__main__":
    os.chdir(tempfile.mkdtemp())
    calls, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    done = collections.Counter()
    for start in range(0, calls, 1000):
        for fault in faults(min(1000, calls - start), first + start):
            key = re.sub(r"\(.*?\): ", ": ", fault)[:90]
            done[key] += 1
            if done[key] == 1:
                print(fault, flush=True)
    print(f"{len(done)} kinds of faults in {calls} calls")
    with contextlib.suppress(Exception):
        STREAM.stop()
