#!/usr/bin/env python3
"""The golden set of tests/golden/, which judges what reads settings and what counts errors.

    ninja -C build/release golden_rows
    python3 scripts/golden.py [--build build/release] [--check]

Makes the scenarios, asks golden_rows of the build what it says to them, writes the rows and prints those whose answer changed.
--check writes nothing, and fails if a row differs. Five files, a JSON object in each line:

    tree.jsonl    scenarios in the tree and on its pages, and what they give
    right.jsonl   300 right ones or more: every kind as base and as curve, base keys of an old kind, sweeps, options on top
    wrong.jsonl   300 wrong ones or more, each one mutation of a right one, and their messages
    by_hand.jsonl scenarios that a person wrote, right and wrong: add a line with "name", "command" and "text", then run this script
    counts.jsonl  what the first frames of every stored curve count, at the point whose frame error rate is nearest 0.3

tests/golden_test.cpp holds the build to them. Only text goes in and comes out: the tables below do not know the reader.
"""
import argparse
import json
import math
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests/golden"
LEAST = 300
SKIPPED_FILES = ("li_thesis_file", "li_thesis_file_downlink")  # their recordings are not in the tree
BELOW_DB = 10.0  # under the lowest stored point of a curve without errors in a few frames
COUNT_SECONDS = 0.06  # for the frames of a curve, when they are first chosen


# ---- TOML

def toml(value):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    return repr(value)


def lines(keys):
    return "".join(f"{key} = {toml(value)}\n" for key, value in keys.items())


def text_of(base, curves=(), table="curve"):
    """A scenario: keys of the base, then those of each [[curve]] or [[run]]."""
    return lines(base) + "".join(f"[[{table}]]\n{lines(c)}" for c in curves)


# ---- kinds of sim: what makes each, and settings of it with a good and with bad values

EBN0 = {"sweep.ebn0_db": [0.0, 1.5]}
SNR = {"sweep.snr_db": {"from": 8.0, "to": 12.0, "step": 2.0}}
FADING = {"channel.type": "rayleigh"}
MIMO = {**FADING, "modem.modulation": "16qam", "mimo.streams": 2, "mimo.rx_antennas": 4}
UPLINK = {**FADING, "massive.solver": "cholesky", "massive.antennas": 32, "massive.users": 4, "massive.subcarriers": 96,
          "code.type": "conv", "code.k": 90, "modem.modulation": "qpsk"}
SLOT = {"nr.channel": "pusch", "nr.resource_blocks": 6, "nr.mcs": 5, "mimo.rx_antennas": 2, "channel.type": "tdl"}
UNCODED = {"code.type": "none", "code.k": 96}
UNITARY = [[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]

CODES = {
    "lte-turbo": {"code.k": 1024, "code.rate": "1/2", "decoder.iterations": 5, "decoder.algorithm": "max-log-map",
                  "decoder.extrinsic_scale": 0.75},
    "lte-transport": {"code.transport_block_size": 2000, "code.resource_elements": 3000, "code.transmissions": 3,
                      "decoder.early_stop": "none"},
    "wimax-ldpc": {"code.n": 1152, "code.rate": "2/3A", "decoder.algorithm": "offset-min-sum", "decoder.offset": 0.25},
    "wifi-ldpc": {"code.n": 648, "code.rate": "3/4", "decoder.schedule": "flooding", "decoder.iterations": 30},
    "nr-ldpc": {"code.k": 500, "code.n": 1200, "code.base_graph": 2, "decoder.scale": 0.875},
    "nr-dlsch": {"code.transport_block_size": 4000, "code.coded_bits": 9000, "code.redundancy_versions": [0, 2]},
    "nr-ulsch": {"code.transport_block_size": 1000, "code.resource_elements": 2400, "code.lbrm_resource_blocks": 25},
    "qc-ldpc": {"code.base_matrix": "matrix.csv", "decoder.precision": "int8", "decoder.llr_steps": 4.0},
    "conv": {"code.k": 300, "code.rate": "3/4", "code.termination": "tail-biting", "decoder.tail_biting": "exact"},
    "polar": {"code.k": 40, "code.coded_bits": 96, "code.kind": "dci", "code.rnti": 17, "decoder.list_size": 4},
    "none": {"code.k": 480},
    "ctc": {"code.k": 96, "code.rate": "2/3", "decoder.algorithm": "max-log-map", "decoder.extrinsic_scale": 0.75},
    "ctc-harq": {"code.transport_block_size": 176, "code.coded_bits": 240, "code.redundancy_versions": [0, 1]},
    "ldpc": {"code.matrix": "matrix.alist", "code.punctured": [0], "decoder.algorithm": "sum-product", "decoder.iterations": 20},
    "dvb-s2": {"code.n": 16200, "code.rate": "3/4", "decoder.schedule": "flooding"},
}
CHANNELS = {
    "awgn": {},
    "rayleigh": {"channel.fading": "block"},
    "rician": {"channel.rician_k_db": 6.0},
    "tdl": {"channel.profile": "tdl-c", "channel.delay_spread_ns": 50.0, "channel.spacing_hz": 30000.0},
    "cdl": {"channel.profile": "c1-los", "channel.sector_deg": 45.0, "channel.power_control": False},
    "file": {"channel.file": "channel.hdf5", "channel.power_control": False},
}
DETECTORS = {
    "ml": {}, "mf": {"detector.llr_clip": 20.0}, "zf": {}, "mmse": {},
    "ot": {"detector.order": [1, 0]}, "mtt": {"detector.sort": "sqrd"},
    "kbest": {"detector.survivors": 8, "detector.real_valued": True},
    "nway": {"detector.ways": 1, "detector.sort": "norm", "detector.llr_clip": 6.0},
    "sphere": {"detector.node_limit": 50, "detector.sort": "sqrd"},
    "pic": {"detector.demapper": "exact"},
    "ep": {"detector.iterations": 5, "detector.damping": 0.5, "detector.start_variance": 1.0},
}
ANTENNAS = {
    "single": {**FADING, "modem.modulation": "16qam", "modem.demapper": "exact"},
    "streams": {**MIMO, "detector.type": "kbest", "detector.survivors": 16},
    "alamouti": {**FADING, "modem.modulation": "qpsk", "stbc.type": "alamouti", "mimo.rx_antennas": 1},
    "golden": {**FADING, "modem.modulation": "16qam", "stbc.type": "golden", "stbc.search": "slicing", "mimo.rx_antennas": 2},
    "pair": {**FADING, "modem.modulation": "qpsk", "stbc.type": "pair", "stbc.v": UNITARY},
    "uplink": {**UPLINK, "massive.symbols": 2},
    "downlink": {**UPLINK, "massive.direction": "downlink", "modem.demapper": "exact", "massive.solver": "zf"},
    "pusch": {**SLOT, "nr.csi": "lmmse", "nr.taps": 8},
    "pdsch": {**SLOT, "nr.channel": "pdsch", "channel.profile": "eva"},
    "fstd": {"channel.type": "tdl", "channel.subcarriers": 12, "modem.modulation": "16qam", "stbc.type": "fstd", "mimo.rx_antennas": 1},
    "wimax": {"channel.type": "tdl", "wimax.profile": "mobile_128", "wimax.modulations": ["16qam", "qpsk"], "mimo.rx_antennas": 2},
}
STREAMS_OF_2 = {"mimo.streams": 2, "mimo.rx_antennas": 2, **FADING, "modem.modulation": "16qam", "code.type": "wimax-ldpc"}
MASSIVE_FILE = {**UPLINK, "channel.type": "file", "channel.file": "channel.hdf5", "massive.antennas": 4, "massive.users": 2,
                "massive.subcarriers": 8, "code.k": 8, "code.type": "none"}

# context, key, a good value, values that are refused
TURBO = {"code.k": 1024, **EBN0}
INT16 = {**TURBO, "decoder.precision": "int16", "decoder.algorithm": "max-log-map"}
HARQ = {"code.type": "lte-transport", "code.transport_block_size": 2000, "code.coded_bits": 6000, **EBN0}
NR_HARQ = {"code.type": "nr-dlsch", "code.transport_block_size": 2000, "code.coded_bits": 6000, **EBN0}
WIMAX, WIFI = {"code.type": "wimax-ldpc", **EBN0}, {"code.type": "wifi-ldpc", **EBN0}
NR_LDPC = {"code.type": "nr-ldpc", "code.k": 400, **EBN0}
MATRIX = {"code.type": "qc-ldpc", "code.base_matrix": "matrix.csv", **EBN0}
CONV = {"code.type": "conv", "code.k": 300, **EBN0}
POLAR = {"code.type": "polar", **EBN0}
UNC = {**UNCODED, **EBN0}
TDL = {"code.k": 1024, "channel.type": "tdl", **SNR}
OWN_TDL = {**TDL, "channel.delays_ns": [0.0, 100.0], "channel.powers_db": [0.0, -3.0]}
CDL = {**UPLINK, "channel.type": "cdl", **SNR}
OWN_CDL = {**CDL, "channel.delays_ns": [0.0, 30.0], "channel.powers_db": [0.0, -6.0]}
LINK = {**MIMO, "code.type": "wimax-ldpc", **SNR}
KBEST = {**LINK, "detector.type": "kbest"}
EP = {**LINK, "detector.type": "ep"}
GOLD = {**ANTENNAS["golden"], **UNCODED, **SNR}
UP, CG = {**UPLINK, **SNR}, {**UPLINK, "massive.solver": "cg", "massive.iterations": 3, **SNR}
PUSCH = {**SLOT, **SNR}
LOOP = {**LINK, "detector.type": "pic", "receiver.outer": 3}
CTC = {"code.type": "ctc", "code.k": 96, **EBN0}
FRAMES = {**ANTENNAS["wimax"], "code.type": "none", **SNR}
SETTINGS = [
    (TURBO, "seed", 12345, [-1, "one", 1.5]),
    (TURBO, "code.k", 512, [41, "large", 1024.5, 0]),
    (TURBO, "code.rate", "1/2", ["2/5", 0.5]),
    (TURBO, "code.crc", "crc24a", ["crc24c", 24]),
    (TURBO, "code.interleaver", {"f1": 31, "f2": 64}, [{"f1": 31}, {"f1": 2, "f2": 4}, 7]),
    (TURBO, "decoder.algorithm", "max-log-map", ["maxlog", 1]),
    (TURBO, "decoder.iterations", 3, [65, 0, "six"]),
    (TURBO, "decoder.windows", 4, [0, 1024, "some"]),
    (TURBO, "decoder.overlap", 16, [2000]),
    ({**TURBO, "decoder.algorithm": "max-log-map"}, "decoder.extrinsic_scale", 0.75, [1.5, 0]),
    (TURBO, "decoder.early_stop", "sign-agreement", ["syndrome", True]),
    (TURBO, "decoder.precision", "bfloat16", ["float16", 16]),
    (INT16, "decoder.llr_steps", 8.0, [0.1, 65, "fine"]),
    (HARQ, "code.transport_block_size", 4008, [0, "4008"]),
    (HARQ, "code.coded_bits", 7200, [-2, 1.5]),
    (HARQ, "code.transmissions", 2, [0, 9, [2]]),
    (HARQ, "code.redundancy_versions", [0], [[4], [], 0, [0, 1, 2, 3, 0, 1, 2, 3, 0]]),
    (HARQ, "code.soft_buffer", 5000, [0, "all"]),
    (NR_HARQ, "code.base_graph", 1, [3, "one"]),
    (NR_HARQ, "code.target_rate", 0.4, [1.1, -0.5]),
    (NR_HARQ, "code.lbrm_resource_blocks", 52, [276, 0]),
    (WIMAX, "code.n", 576, [600, "long"]),
    (WIMAX, "code.rate", "5/6", ["7/8", 0.8]),
    (WIMAX, "decoder.scale", 0.5, [0, 1.25]),
    (WIMAX, "decoder.schedule", "flooding", ["layerd", False]),
    (WIMAX, "decoder.early_stop", "none", ["sign-agreement"]),
    (WIMAX, "decoder.precision", "float16", ["int16"]),
    ({**WIMAX, "decoder.algorithm": "offset-min-sum"}, "decoder.offset", 1.0, [9, -1]),
    ({**WIMAX, "decoder.precision": "int8"}, "decoder.llr_steps", 2.0, [100, 0.1]),
    (WIFI, "code.n", 1296, [1300]),
    (WIFI, "code.rate", "2/3", ["2/3A", "3/5"]),
    (WIFI, "decoder.algorithm", "sum-product", ["sum-prod", "log-map"]),
    (WIFI, "decoder.iterations", 100, [1001]),
    (NR_LDPC, "code.n", 1000, [0]),
    (NR_LDPC, "code.base_graph", 2, [0]),
    (MATRIX, "code.lifting_size", 12, [4097, 6]),
    (CONV, "code.rate", "2/3", ["4/5"]),
    (CONV, "code.termination", "tail-biting", ["zero", 0]),
    (CONV, "code.constraint_length", 7, [10, 2]),
    (CONV, "code.generators", ["561", "753"], [["9", "7"], [], "133", ["133", "171", "165", "117", "127"]]),
    ({**CONV, "code.generators": ["7", "5"]}, "code.feedback", "7", ["8", 7]),
    (CONV, "code.standard", "802.16", ["802.15"]),
    (CONV, "code.order", "streams", ["parallel"]),
    (CONV, "decoder.algorithm", "log-map", ["bcjr"]),
    (CONV, "decoder.precision", "int16", ["int8"]),
    (POLAR, "code.k", 20, [2000]),
    (POLAR, "code.kind", "plain", ["pucch"]),
    ({**POLAR, "code.kind": "plain"}, "code.crc_bits", 24, [12]),
    ({**POLAR, "code.kind": "dci"}, "code.rnti", 65535, [65536]),
    (POLAR, "decoder.list_size", 16, [3, 64]),
    (POLAR, "decoder.adaptive", True, ["yes", 1]),
    (POLAR, "decoder.precision", "int8", ["bfloat16"]),
    (UNC, "code.k", 1000, [0, 16777217]),
    (UNC, "modem.modulation", "256QAM", ["64apsk", 16]),
    ({**UNC, "modem.modulation": "64qam"}, "modem.demapper", "exact", ["log", True]),
    (CONV, "modem.mutual_information", True, ["on", 1]),
    (UNC, "channel.type", "rayleigh", ["nakagami", "epa", "winner"]),
    ({**UNC, **FADING}, "channel.fading", "block", ["slow"]),
    (TDL, "channel.profile", "eva", ["epb", "c2-nlos", 3]),
    ({**TDL, "channel.profile": "tdl-a"}, "channel.delay_spread_ns", 30.0, [0, 1e7]),
    (TDL, "channel.doppler_hz", 70.0, [-1, 1e7]),
    ({**TDL, "channel.doppler_hz": 5.0}, "channel.sinusoids", 16, [7, 257]),
    (TDL, "channel.subcarriers", 72, [0, "all"]),
    (TDL, "channel.symbols", 14, [65537, -1]),
    (TDL, "channel.spacing_hz", 30000.0, [0.5]),
    (TDL, "channel.cyclic_prefix_us", 16.667, [0.1]),
    (TDL, "channel.symbol_period_us", 100.0, [1.0]),
    (OWN_TDL, "channel.powers_db", [0.0, -10.0], [[0.0], [0.0, -300.0], 3.0]),
    (OWN_TDL, "channel.delays_ns", [0.0, 250.0], [[0.0, -1.0], [float(i) for i in range(65)], []]),
    (OWN_TDL, "channel.rician_k_db", 9.0, [101, "strong"]),
    (CDL, "channel.profile", "a1-los", ["c3-los", "epa"]),
    ({**CDL, "channel.profile": "cdl-a"}, "channel.delay_spread_ns", 30.0, [0]),
    (CDL, "channel.carrier_hz", 3.5e9, [1.0]),
    (CDL, "channel.antenna_spacing_m", 0.05, [-1, 100]),
    (CDL, "channel.antenna_spacing_wavelengths", 0.5, [17]),
    (CDL, "channel.sector_deg", 30.0, [181]),
    (CDL, "channel.power_control", False, ["no"]),
    (OWN_CDL, "channel.aod_deg", [0.0, 20.0], [[0.0], [0.0, 400.0]]),
    (OWN_CDL, "channel.zoa_deg", [90.0, 80.0], [[90.0, 190.0]]),
    (OWN_CDL, "channel.split", [1, 0], [[2, 0]]),
    (OWN_CDL, "channel.asd_deg", 5.0, [61]),
    (LINK, "mimo.streams", 4, [0, 17, "two"]),
    (LINK, "mimo.rx_antennas", 3, [1, 17]),
    (LINK, "detector.type", "zf", ["genie", 4]),
    (KBEST, "detector.survivors", 32, [0, 5000]),
    (KBEST, "detector.real_valued", True, ["real"]),
    (KBEST, "detector.order", [1, 0], [[0, 0], [0, 1, 2], "natural"]),
    (KBEST, "detector.sort", "norm-ascending", ["qr"]),
    (KBEST, "detector.llr_clip", 4.0, [0, "infinite"]),
    ({**LINK, "detector.type": "nway"}, "detector.ways", 2, [3, "all"]),
    (EP, "detector.iterations", 3, [0, 101]),
    (EP, "detector.damping", 0.0, [1.0]),
    (EP, "detector.start_variance", 2.0, [11]),
    (EP, "detector.demapper", "exact", ["max"]),
    (GOLD, "stbc.type", "silver", ["gold"]),
    (GOLD, "stbc.search", "exact", ["fast"]),
    ({**ANTENNAS["pair"], **UNCODED, **SNR}, "stbc.v", [[0.0, 1.0], [0.0, 0.0], [0.0, 0.0], [0.0, 1.0]],
     [[[1.0, 0.0]], [[1.0, 0.0], [1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], [1.0, 0.0, 0.0, 1.0]]),
    (UP, "massive.solver", "zf", ["lu"]),
    (UP, "massive.direction", "downlink", ["down"]),
    (UP, "massive.antennas", 64, [3, 513]),
    (UP, "massive.users", 8, [0, 65]),
    (UP, "massive.sinr", "approximate", ["rough"]),
    (UP, "massive.subcarriers", 128, [10, 4097]),
    (UP, "massive.symbols", 7, [65]),
    (UP, "massive.clusters", 4, [3, 65]),
    (CG, "massive.iterations", 5, [0, 65]),
    (CG, "massive.cluster_method", "cg", ["local"]),
    (PUSCH, "nr.csi", "perfect", ["genie"]),
    (PUSCH, "nr.mcs_table", 2, [4]),
    (PUSCH, "nr.mcs", 10, [29, -1]),
    (PUSCH, "nr.spacing_khz", 15, [45]),
    (PUSCH, "nr.resource_blocks", 25, [276]),
    (PUSCH, "nr.cell_id", 1007, [1008]),
    (PUSCH, "nr.slot", 3, [80]),
    (PUSCH, "nr.blocks", 3, [7]),
    (PUSCH, "nr.mapping", "B", ["C"]),
    (PUSCH, "nr.symbols", 10, [15]),
    (PUSCH, "nr.layers", 2, [9]),
    (PUSCH, "nr.dmrs_type", 2, [3]),
    (PUSCH, "nr.dmrs_additional_positions", 2, [4]),
    (PUSCH, "nr.dmrs_ports", [1], [[0, 0], [9]]),
    (PUSCH, "nr.dmrs_ids", [1, 2], [[1]]),
    ({**SLOT, "nr.csi": "lmmse", **SNR}, "nr.taps", 4, [65]),
    ({"nr.channel": "pusch", "mimo.rx_antennas": 2, "channel.type": "tdl", **SNR}, "nr.frc", "G-FR1-A4-11", ["G-FR1-A9-1", 4]),
    (LOOP, "receiver.outer", 2, [0, 17]),
    (LOOP, "receiver.inner", 3, [1001]),
    (LOOP, "receiver.scaling", 0.7, [2.5]),
    (LOOP, "receiver.interleaver", "random", ["s-random"]),
    ({**LOOP, "receiver.interleaver": "random"}, "receiver.interleaver_seed", 9, [-1]),
    (LOOP, "receiver.decoder_state", "reset", ["drop"]),
    (LOOP, "receiver.detector_clip", 10.0, [0]),
    (TURBO, "sweep.ebn0_db", [-1.0, 0.0], [[1.0, 0.0], [], [101.0], "0", {"from": 0.0, "to": 1.0},
                                           {"from": 1.0, "to": 0.0, "step": 0.1}, {"from": 0.0, "to": 100.0, "step": 0.001}]),
    (TURBO, "sweep.target_fer", 0.01, [0, 1.0]),
    ({**TURBO, "sweep.target_fer": 0.1}, "sweep.target_width_db", 0.2, [20]),
    (TURBO, "stop.frame_errors", 0, [-1, "many"]),
    (TURBO, "stop.max_frames", 10, [0, 1.5]),
    (TURBO, "stop.max_seconds", 2.5, [-1]),
    (TURBO, "stop.below_fer", 0.001, [2]),
    (UP, "stop.below_bler", 0.01, [-0.1]),
    ({"code.k": 333, **EBN0}, "code.standard", "umts", ["gsm", 3]),
    ({"code.k": 2048, **EBN0}, "decoder.algorithm", "log-map-table", ["table"]),
    (CTC, "code.k", 480, [50, "long"]),
    (CTC, "code.rate", "3/4", ["7/8"]),
    (CTC, "code.standard", "dvb-rcs", ["dvb-s2"]),
    (CTC, "decoder.windows", 2, [0]),
    ({**UNC, "channel.type": "rician"}, "channel.rician_k_db", -3.0, [101, "strong"]),
    ({**GOLD, "stbc.search": "exact"}, "stbc.method", "exhaustive", ["brute-force"]),
    (UP, "massive.csi", "ls", ["lmmse"]),
    ({**UP, "massive.csi": "ls"}, "massive.pilots", 6, [3, 5000]),
    ({**UP, "channel.type": "tdl", "channel.profile": "eva", "channel.doppler_hz": 70.0}, "massive.csi_delay", 7, [-1, 100001]),
    (CONV, "decoder.algorithm", "log-map-table", ["map"]),
    ({"code.type": "nr-ldpc", "code.k": 500, "code.n": 1200, **EBN0}, "code.redundancy_versions", [0, 2], [[4], []]),
    ({"code.type": "nr-ldpc", "code.k": 500, "code.n": 1200, **EBN0}, "code.modulation_order", 4, [3]),
    ({**UP, "massive.csi": "ls"}, "massive.pilot_snr_db", 20.0, [301, "high"]),
    ({**CDL, "massive.antennas": 32}, "channel.antenna_rows", 4, [5, 0]),
    ({**CDL, "channel.antenna_rows": 4}, "channel.row_spacing_wavelengths", 0.7, [17]),
    (FRAMES, "wimax.profile", "mobile_512", ["mobile_100", 512]),
    (FRAMES, "wimax.frame_ms", 10.0, [3.0, 25]),
    (FRAMES, "wimax.downlink_share", 0.5, [1.5]),
    (FRAMES, "wimax.modulations", ["qpsk"], [["bpsk"], [], "qpsk"]),
    (FRAMES, "wimax.shares", [2.0, 1.0], [[1.0], [1.0, -1.0]]),
    (FRAMES, "wimax.space_time", "golden", ["fstd"]),
    (FRAMES, "wimax.csi", "perfect", ["pilots"]),
    (FRAMES, "wimax.maps", False, ["no"]),
    (FRAMES, "wimax.map_modulation", "qpsk", ["16qam"]),
    (FRAMES, "wimax.map_repetition", 4, [3]),
    (FRAMES, "wimax.burst", 2, [3, 0]),
]

# ---- kinds of stream

DETECT = {"stream.chain": "detect", "stream.items": 48, "mimo.streams": 2, "mimo.rx_antennas": 2}
DECODE = {"stream.chain": "decode", "stream.items": 1152, "mimo.streams": 2, "mimo.rx_antennas": 2, "modem.modulation": "qpsk",
          "code.type": "wimax-ldpc", "code.n": 576, "detector.type": "mmse"}
CHAINS = {
    "detect": {**DETECT, "modem.modulation": "64qam", "detector.type": "kbest", "detector.survivors": 8},
    "decode": DECODE,
    "uplink": {"stream.chain": "uplink", "stream.items": 56, "stream.per_channel": 14, "massive.antennas": 32, "massive.users": 4,
               "massive.llr": "int8", "massive.llr_steps": 4.0},
    "precode": {"stream.chain": "precode", "stream.items": 56, "stream.per_channel": 14, "massive.antennas": 32, "massive.users": 4,
                "massive.solver": "zf"},
    "stbc": {"stream.chain": "stbc", "stream.items": 10, "stbc.type": "golden", "stbc.search": "slicing",
             "modem.modulation": "16qam", "mimo.rx_antennas": 2},
    "pusch": {"stream.chain": "pusch", "stream.items": 1, "mimo.rx_antennas": 4, "nr.resource_blocks": 24, "nr.layers": 2,
              "decoder.iterations": 8},
    "wimax-frame": {"stream.chain": "wimax-frame", "stream.items": 1, "mimo.rx_antennas": 2, "wimax.profile": "mobile_128",
                    "wimax.modulations": ["qpsk", "16qam"], "wimax.shares": [1.0, 2.0]},
}
STREAM_SETTINGS = [
    ("detect", "stream.items", 7, [0, "many", 3e9]),
    ("detect", "stream.least_items", 3, [49, -1]),
    ("detect", "stream.per_channel", 12, [0]),
    ("detect", "stream.devices", ["cpu", "cuda:0"], ["cpu", [1], ["gpu"]]),
    ("detect", "stream.streams", 4, [0, 65]),
    ("detect", "stream.threads", 0, [-1, 4097]),
    ("detect", "stream.batch", 0, [65]),
    ("detect", "stream.parts", 4, [65]),
    ("detect", "stream.graphs", True, ["yes"]),
    ("detect", "stream.queue", 1, [0, 65537]),
    ("detect", "stream.overflow", "drop-oldest", ["drop"]),
    ("detect", "stream.waiting", "spin", ["busy"]),
    ("detect", "stream.retries", 0, [65]),
    ("detect", "stream.rate", 500.0, [-1.0, "fast"]),
    ("detect", "stream.frames", 10, [0]),
    ("detect", "stream.seconds", 1.5, [-1]),
    ("detect", "stream.warmup", 0, [-1]),
    ("detect", "stream.deadline_us", 800.0, [-5]),
    ("detect", "stream.timeout_ms", 20.0, ["soon"]),
    ("detect", "stream.source", "frames.hdf5", [5]),
    ("detect", "stream.snr_db", 12.5, [101, "high"]),
    ("detect", "stream.seed", 99, [-1]),
    ("detect", "stream.check_every", 0, [-1]),
    ("detect", "stream.copies_every", 0, [1, 5]),
    ("detect", "stream.trace", 5, [100001]),
    ("detect", "stream.stages", False, [0]),
    ("detect", "stream.repetitions", 3, [0]),
    ("detect", "mimo.streams", 1, [0, 17, 3]),
    ("detect", "mimo.rx_antennas", 4, [1, 17]),
    ("detect", "modem.modulation", "16-QAM", ["bpsk", 16]),
    ("detect", "detector.survivors", 16, [5000]),
    ("detect", "detector.sort", "sqrd", ["none-at-all"]),
    ("decode", "code.n", 1152, [577]),
    ("decode", "code.rate", "3/4A", ["3/4"]),
    ("decode", "decoder.iterations", 4, [0]),
    ("decode", "decoder.precision", "int8", ["int4"]),
    ("uplink", "massive.solver", "zf", ["none"]),
    ("uplink", "massive.antennas", 128, [3]),
    ("uplink", "massive.users", 8, [65]),
    ("uplink", "massive.sums", "split-f16", ["half"]),
    ("uplink", "massive.samples", "complex32", ["complex128"]),
    ("uplink", "massive.llr", "float32", ["int4"]),
    ("uplink", "massive.llr_clip", 3.0, [0]),
    ("uplink", "massive.clusters", 4, [5]),
    ("uplink", "stream.splits", 7, [3, 0]),
    ("precode", "massive.samples", "complex32", [32]),
    ("precode", "massive.clusters", 2, [3]),
    ("stbc", "stbc.type", "silver", ["none"]),
    ("stbc", "stbc.search", "exact", ["quick"]),
    ("stbc", "mimo.rx_antennas", 4, [5]),
    ("pusch", "nr.csi", "lmmse", ["perfect"]),
    ("pusch", "nr.doppler_hz", 70.0, [-1]),
    ("pusch", "nr.mcs", 20, [29]),
    ("pusch", "nr.layers", 1, [5]),
    ("pusch", "decoder.iterations", 20, [0]),
    ("pusch", "decoder.algorithm", "offset-min-sum", ["log-map"]),
    ("wimax-frame", "wimax.direction", "uplink", ["sidelink"]),
    ("wimax-frame", "wimax.csi", "perfect", ["genie"]),
    ("wimax-frame", "wimax.frame_ms", 20.0, [6.0]),
]


# ---- right scenarios

def row(name, text, command="sim", **more):
    return {"name": name, "command": command, "text": text, **more}


def others(kinds, name, count, step=1):
    """Some other kinds, each kind as often as any."""
    names = list(kinds)
    i = names.index(name)
    return [names[(i + step * j + 1) % len(names)] for j in range(len(names)) if names[(i + step * j + 1) % len(names)] != name][:count]


def codes_of_right():
    for name, keys in CODES.items():
        base = {"code.type": name, **keys, "modem.modulation": "qpsk", **EBN0}
        yield row(f"code {name} in the base", text_of({"title": f"a base of {name}", **base}))
        for other in others(CODES, name, 4, 3):
            curves = [{"label": "base"}, {"label": other, "code.type": other, **CODES[other]}]
            yield row(f"code {other} in a curve, keys of {name} in the base", text_of(base, curves))


def channels_of_right():
    whole = {**UPLINK, "massive.antennas": 4, "massive.users": 2, "massive.subcarriers": 48, "code.k": 36, **SNR}
    for name, keys in CHANNELS.items():
        if name == "awgn":
            base = {"code.type": "none", "code.k": 200, **SNR}
        else:
            base = {**whole, "channel.type": name, **keys}
        if name == "file":
            base["massive.subcarriers"], base["code.k"], base["code.type"] = 8, 8, "none"
        yield row(f"channel {name} in the base", text_of(base))
        for other in others(CHANNELS, name, 4):
            if "awgn" in (name, other) and {name, other} & {"cdl", "file"}:
                continue
            curve = {"channel.type": other, **CHANNELS[other]}
            if other == "awgn":
                curve["massive.solver"] = "none"
            if other == "file":
                curve |= {"massive.subcarriers": 8, "code.k": 8, "code.type": "none"}
            yield row(f"channel {other} in a curve, keys of {name} in the base", text_of(base, [{}, curve]))
    alone = {"code.k": 512, "modem.modulation": "qpsk", **SNR}
    for name in ("awgn", "rayleigh", "tdl"):
        for other in ("awgn", "rayleigh", "tdl"):
            if name != other:
                base = {**alone, "channel.type": name, **CHANNELS[name]}
                curve = {"channel.type": other, **CHANNELS[other]}
                yield row(f"one antenna, channel {other} in a curve, keys of {name} in the base", text_of(base, [curve]))


def antennas_of_right():
    sweep = {**SNR, "code.type": "none"}
    for name, keys in ANTENNAS.items():
        slots = name in ("pusch", "pdsch")
        base = {**keys, **SNR} if slots else {**keys, **sweep} if name == "wimax" else {**keys, **sweep, "code.k": 96}
        yield row(f"antennas {name} in the base", text_of(base, [{"label": "only"}]))
    pairs = [("single", "streams"), ("single", "golden"), ("single", "uplink"), ("streams", "alamouti"),
             ("golden", "alamouti"), ("alamouti", "golden"), ("alamouti", "pair"), ("uplink", "downlink"), ("downlink", "uplink"),
             ("pusch", "pdsch"), ("pdsch", "pusch"), ("streams", "golden"), ("alamouti", "fstd"), ("fstd", "golden")]
    for name, other in pairs:
        slots = name in ("pusch", "pdsch")
        base = {**ANTENNAS[name], **SNR} if slots else {**ANTENNAS[name], **sweep, "code.k": 96}
        curve = dict(ANTENNAS[other])
        if other == "single":
            curve |= {"mimo.streams": 1, "mimo.rx_antennas": 1}
        yield row(f"antennas {other} in a curve, keys of {name} in the base", text_of(base, [{"label": name}, {"label": other, **curve}]))
    for table, off in (("massive", {"massive.solver": "none"}), ("stbc", {"stbc.type": "none"})):
        base = {**(ANTENNAS["uplink"] if table == "massive" else ANTENNAS["golden"]), **sweep, "code.k": 96}
        yield row(f"{table} taken away in a curve", text_of(base, [{"label": "with"}, {"label": "without", **off}]))


def detectors_of_right():
    for name, keys in DETECTORS.items():
        base = {**STREAMS_OF_2, "detector.type": name, **keys, **SNR}
        yield row(f"detector {name} in the base", text_of(base))
        for other in others(DETECTORS, name, 2, 3):
            yield row(f"detector {other} in a curve, keys of {name} in the base",
                      text_of(base, [{"label": name}, {"label": other, "detector.type": other, **DETECTORS[other]}]))


def alternatives_of_right():
    yield row("snr_db in a curve, ebn0_db in the base", text_of(TURBO, [{}, {"sweep.snr_db": [1.0, 2.0]}]))
    yield row("ebn0_db in a curve, a range of snr_db in the base", text_of({**LINK}, [{"sweep.ebn0_db": 3.0}, {}]))
    yield row("a list in a curve, a range in the base", text_of(LINK, [{"sweep.snr_db": [1.0]}]))
    yield row("a range in a curve, a list in the base", text_of(TURBO, [{"sweep.ebn0_db": {"from": 1.0, "to": 1.4, "step": 0.1}}]))
    yield row("one key of a range in a curve", text_of(LINK, [{"sweep.snr_db.to": 10.0}]))
    yield row("delays_ns in a curve, profile in the base",
              text_of({**TDL, "channel.profile": "tdl-b", "channel.delay_spread_ns": 20.0},
                      [{"channel.delays_ns": [0.0, 50.0], "channel.powers_db": [0.0, -1.0]}]))
    yield row("profile in a curve, delays_ns in the base", text_of(OWN_TDL, [{"channel.profile": "eva"}]))
    yield row("cdl: profile in a curve, delays_ns in the base",
              text_of({**OWN_CDL, "channel.aod_deg": [0.0, 10.0]}, [{"channel.profile": "c2-nlos"}]))
    yield row("cdl: delays_ns in a curve, profile in the base",
              text_of({**CDL, "channel.profile": "b1-nlos"}, [{"channel.delays_ns": [0.0], "channel.powers_db": [0.0]}]))
    yield row("resource_elements in a curve, coded_bits in the base", text_of(HARQ, [{}, {"code.resource_elements": 5000}]))
    yield row("coded_bits in a curve, resource_elements in the base",
              text_of({**{k: v for k, v in NR_HARQ.items() if k != "code.coded_bits"}, "code.resource_elements": 7000},
                      [{"code.coded_bits": 5000}]))
    yield row("antenna_spacing_wavelengths in a curve, antenna_spacing_m in the base",
              text_of({**CDL, "channel.antenna_spacing_m": 0.1}, [{"channel.antenna_spacing_wavelengths": 0.5}, {}]))
    yield row("antenna_spacing_m in a curve, antenna_spacing_wavelengths in the base",
              text_of({**CDL, "channel.antenna_spacing_wavelengths": 0.5}, [{"channel.antenna_spacing_m": 0.1}]))
    yield row("k of an LDPC code in the base, n in a curve", text_of({**WIMAX, "code.k": 1152}, [{"code.n": 576}, {"code.rate": "5/6"}]))
    yield row("frc in a curve, mcs in the base", text_of(PUSCH, [{}, {"nr.frc": "G-FR1-A4-11"}]))
    yield row("a loop in a curve", text_of(LINK | {"detector.type": "pic"}, [{}, {"receiver.outer": 2, "receiver.scaling": 0.8}]))
    yield row("mutual information in a curve", text_of(LINK, [{"modem.mutual_information": True}, {}]))
    yield row("slots over clustered delay lines", text_of(PUSCH | {"channel.type": "cdl", "channel.speed_kmh": 3.0}, [{}]))
    yield row("target_fer in a curve", text_of(TURBO, [{"sweep.target_fer": 0.1}, {}]))


def sweeps_of_right():
    def sweep(name, base, **keys):
        swept = {k.replace("__", "."): v for k, v in keys.items()}
        base = {k: v for k, v in base.items() if k not in swept}
        yield row(f"sweep of {name}", text_of({**base, **{"sweep." + k: v for k, v in swept.items()}}))
    yield from sweep("types of codes", {"code.k": 1024, **EBN0}, code__type=["lte-turbo", "conv", "none"])
    yield from sweep("types of LDPC codes", EBN0, code__type=["wimax-ldpc", "wifi-ldpc", "nr-ldpc"])
    yield from sweep("codes and their algorithms", {"code.k": 40, **EBN0}, code__type=["lte-turbo", "conv"],
                     decoder__algorithm=["log-map", "max-log-map"])
    yield from sweep("types of channels", {"code.k": 40, **SNR}, channel__type=["awgn", "rayleigh", "tdl"])
    yield from sweep("fading", {"code.k": 40, **FADING, **SNR}, channel__fading=["fast", "block"])
    yield from sweep("types of detectors", LINK, detector__type=list(DETECTORS))
    yield from sweep("survivors", KBEST, detector__survivors=[2, 4, 8], detector__sort=["none", "sqrd"])
    yield from sweep("solvers", {**UP, "massive.iterations": 3}, massive__solver=["cg", "jacobi-cg"])
    yield from sweep("users and antennas", UP, massive__users=[2, 4], massive__antennas=[16, 32])
    yield from sweep("directions", UP, massive__direction=["uplink", "downlink"])
    yield from sweep("modulations", UNC, modem__modulation=["bpsk", "qpsk", "16qam", "64qam", "256qam"])
    yield from sweep("rates", WIMAX, code__rate=["1/2", "2/3A", "3/4B", "5/6"])
    yield from sweep("space-time codes", {k: v for k, v in GOLD.items() if k != "stbc.search"}, stbc__type=["alamouti", "silver", "golden"])
    yield from sweep("MCS", PUSCH, nr__mcs=[0, 5, 10], nr__csi=["perfect", "ls", "lmmse"])
    yield from sweep("profiles", TDL, channel__profile=["epa", "eva", "tdl-a"])
    yield from sweep("outer iterations", LOOP, receiver__outer=[1, 2, 4])
    yield from sweep("transmissions", HARQ, code__transmissions=[1, 2, 4], code__redundancy_versions=[[0], [0, 2, 3, 1]])
    yield from sweep("streams", LINK, mimo__streams=[1, 2], mimo__rx_antennas=[2, 4])
    base = {"code.k": 40, **EBN0, "sweep.decoder.iterations": [1, 4]}
    yield row("sweep in the base, a curve sets the key", text_of(base, [{"label": "a"}, {"label": "b", "decoder.iterations": 3}]))
    yield row("sweep in the base, a curve sweeps it too", text_of(base, [{"label": "a", "sweep.decoder.iterations": [2, 6]}]))
    yield row("sweep in the base, a curve has another code", text_of(base, [{"label": "a"}, {"label": "b", "code.type": "none"}]))
    yield row("sweep of a curve", text_of(TURBO, [{"label": "a", "sweep.code.k": [40, 512]}, {"label": "b"}]))
    yield row("sweep as tables", "code.k = 40\n[sweep]\nebn0_db = 1\n[sweep.decoder]\niterations = [1, 2]\n")


def options_of_right():
    curves = [{"label": "a"}, {"label": "b", "seed": 5, "stop.max_frames": 7, "stop.frame_errors": 3}]
    for name, options in (("seed", {"seed": 77}), ("frame errors", {"frame_errors": 9}), ("no frame errors", {"frame_errors": 0}),
                          ("max frames", {"max_frames": 1234}),
                          ("all", {"seed": 1, "frame_errors": 2, "max_frames": 3, "max_seconds": 4.0})):
        yield row(f"option {name} on top", text_of({**TURBO, "stop.max_seconds": 1.0}, curves), options=options)
        yield row(f"option {name} on top of a search", text_of({**WIMAX, "sweep.target_fer": 0.1, "seed": 4}), options=options)


def forms_of_right():
    yield row("tables", '[code]\ntype = "conv"\nk = 64\n[decoder]\nalgorithm = "viterbi"\n[sweep]\nebn0_db = 3\n')
    yield row("inline tables", 'code = { type = "conv", k = 64 }\nsweep = { ebn0_db = [3, 4] }\n')
    yield row("words in other spellings", 'code.type = "LTE_Turbo"\ncode.k = 40\ndecoder.algorithm = "Log_Map"\nmodem.modulation = '
              '"16-QAM"\nsweep.ebn0_db = 1\n')
    yield row("integers where numbers are", 'code.k = 40\nsweep.ebn0_db = [0, 1, 2]\nstop.max_seconds = 3\n')
    yield row("comments and an empty table", '# a comment\ncode.k = 40 # another\n[decoder]\n[sweep]\nebn0_db = 0\n')
    yield row("labels and a title", text_of({"title": "t", **TURBO}, [{"label": "α"}, {"label": "with \"quotes\""}, {}]))
    yield row("a range whose end the steps miss", text_of({"code.k": 40, "sweep.ebn0_db": {"from": 0.0, "to": 1.0, "step": 0.3}}))


def settings_of_right():
    """A curve for each setting of a context."""
    contexts, names = [], set()
    for context, *_ in SETTINGS:
        if context not in contexts:
            contexts.append(context)
    for context in contexts:
        curves = [{"label": key, key: good} for c, key, good, _ in SETTINGS if c == context]
        over = context.get("channel.type", "awgn")
        name = f"curves over {over} that set " + ", ".join(c["label"] for c in curves)
        if name in names:
            name += f" of {context['code.type']}"
        names.add(name)
        yield row(name, text_of(context, curves))


def streams_of_right():
    for name, keys in CHAINS.items():
        yield row(f"stream: {name} in the base", text_of(keys), "stream")
        for other in CHAINS:
            if other != name:
                yield row(f"stream: {other} in a run, keys of {name} in the base",
                          text_of(keys, [{"label": name}, {"label": other, **CHAINS[other]}], "run"), "stream")
    for i, (chain, key, good, _) in enumerate(STREAM_SETTINGS):
        if i % 3 == 0:
            runs = [{"label": k, k: g} for c, k, g, _ in STREAM_SETTINGS[i:i + 3] if c == chain]
            yield row(f"stream: runs that set {key} and others of {chain}", text_of(CHAINS[chain], [{}, *runs], "run"), "stream")
    for code in ("lte-turbo", "wifi-ldpc", "conv"):
        keys = {"lte-turbo": {"code.k": 512}, "wifi-ldpc": {"code.n": 648, "stream.items": 648}, "conv": {"code.k": 282}}[code]
        yield row(f"stream: {code} in a run, keys of wimax-ldpc in the base",
                  text_of({k: v for k, v in DECODE.items() if k != "code.n"} | {"stream.items": 1548},
                          [{"code.type": code, **keys, **({"stream.items": 1152} if code == "conv" else {})}], "run"), "stream")
    yield row("stream: a loop in a run", text_of(DECODE, [{}, {"detector.type": "pic", "receiver.outer": 3, "receiver.scaling": 0.8}], "run"),
              "stream")
    yield row("stream: keys by their old names", text_of({"stream.items": 8, "detector.streams": 2, "detector.rx_antennas": 4,
                                                          "detector.qam": 64}), "stream")
    yield row("stream: old names of massive MIMO", text_of({"stream.chain": "uplink", "stream.items": 8, "massive.qam": 4,
                                                            "massive.antennas": 16, "massive.users": 4}), "stream")
    yield row("stream: old names of stbc", text_of({"stream.chain": "stbc", "stream.items": 8, "stbc.code": "silver", "stbc.qam": 16,
                                                    "stbc.rx_antennas": 2}), "stream")
    yield row("stream: reference channel", text_of(CHAINS["pusch"] | {"nr.layers": 1}, [{"nr.frc": "G-FR1-A4-11", "nr.csi": "lmmse"}], "run"),
              "stream")


def right_rows():
    rows = [*codes_of_right(), *channels_of_right(), *antennas_of_right(), *detectors_of_right(), *alternatives_of_right(),
            *sweeps_of_right(), *options_of_right(), *forms_of_right(), *streams_of_right(), *settings_of_right()]
    return rows


# ---- wrong scenarios

def misspelt(key):
    """Without the last letter but one."""
    return key[:-2] + key[-1]


def wrong_rows():
    """Mutations by hand, and of each setting in turn a bad value in the base or in a curve; of some the key misspelt."""
    rows = [*special_wrong(), *stream_wrong()]
    for i, (context, key, good, bad) in enumerate(SETTINGS):
        if i % 5 in (2, 4):  # enough are left
            continue
        base = {k: v for k, v in context.items() if not k.startswith(key + ".") and k != key}
        value = bad[i % len(bad)]
        if i % 3 == 0:
            rows.append(row(f"{key} = {toml(value)[:60]} in a curve", text_of(context, [{"label": "a"}, {"label": "b", key: value}])))
        else:
            rows.append(row(f"{key} = {toml(value)[:60]}", text_of(base | {key: value})))
        if i % 15 == 0:
            rows.append(row(f"{key} misspelt", text_of(context | {misspelt(key): good})))
    return rows


def special_wrong():
    def wrong(name, base, *curves):
        return row(name, text_of(base, curves))
    yield row("not TOML", "code.k = = 40\n")
    yield row("a key twice", "code.k = 40\ncode.k = 48\nsweep.ebn0_db = 1\n")
    yield row("nothing", "")
    yield row("a table that is open", "[code\nk = 40\n")
    yield row("a result", '{ "curves": [] }\n')
    yield row("curve is no table", "curve = 3\n" + lines(TURBO))
    yield row("curve is an empty list", "curve = []\n" + lines(TURBO))
    yield row("curve as a table", lines(TURBO) + "[curve]\nlabel = \"a\"\n")
    yield row("curves in the plural", lines(TURBO) + "[[curves]]\nlabel = \"a\"\n")
    yield row("an unknown table", lines(TURBO) + "[decodr]\niterations = 3\n")
    yield row("a number for a table", lines(EBN0) + "code = 3\n")
    yield row("a date", lines(EBN0) + "code.k = 2026-11-28\n")
    yield row("an integer that is too large", lines(EBN0) + "code.k = 99999999999999999999\n")
    yield row("not a number", lines({"code.k": 40}) + "sweep.ebn0_db = nan\n")
    yield row("infinite", lines({"code.k": 40}) + "sweep.ebn0_db = [0, inf]\n")
    yield wrong("label in the base", TURBO | {"label": "a"})
    yield wrong("title in a curve", TURBO, {"title": "a"})
    yield wrong("two curves of one label", TURBO, {"label": "a"}, {"label": "a"})
    yield wrong("label is no text", TURBO, {"label": 3})
    yield wrong("title is no text", TURBO | {"title": 3})
    yield wrong("no points", {"code.k": 40})
    yield wrong("no points, in a curve", {}, {"label": "a", **EBN0}, {"label": "b"})
    yield wrong("both ebn0_db and snr_db", TURBO | {"sweep.snr_db": 1.0})
    yield wrong("both ebn0_db and snr_db, in a curve", {"code.k": 40}, {"sweep.snr_db": 1.0, **EBN0})
    yield wrong("both profile and delays_ns", OWN_TDL | {"channel.profile": "epa"})
    yield wrong("delay_spread_ns with delays_ns", OWN_TDL | {"channel.delay_spread_ns": 10.0})
    yield wrong("delays_ns without powers_db", {k: v for k, v in OWN_TDL.items() if k != "channel.powers_db"})
    yield wrong("powers_db without delays_ns", TDL | {"channel.powers_db": [0.0]})
    yield wrong("both spacings of antennas", CDL | {"channel.antenna_spacing_m": 0.1, "channel.antenna_spacing_wavelengths": 0.5})
    yield wrong("both coded_bits and resource_elements", HARQ | {"code.resource_elements": 3000})
    yield wrong("neither coded_bits nor resource_elements", {k: v for k, v in HARQ.items() if k != "code.coded_bits"})
    yield wrong("f1 without f2", TURBO | {"code.interleaver.f1": 31})
    yield wrong("range without step", TURBO | {"sweep.ebn0_db": {"from": 0.0, "to": 1.0}})
    yield wrong("range with an unknown key", TURBO | {"sweep.ebn0_db": {"from": 0.0, "to": 1.0, "stp": 0.1}})
    yield wrong("iterations missing", {k: v for k, v in CG.items() if k != "massive.iterations"})
    yield wrong("v missing", {k: v for k, v in ANTENNAS["pair"].items() if k != "stbc.v"} | UNCODED | SNR)
    yield wrong("file missing", MASSIVE_FILE | {"channel.file": "none.hdf5"} | SNR)
    yield wrong("no file", {k: v for k, v in MASSIVE_FILE.items() if k != "channel.file"} | SNR)
    yield wrong("a file of too few antennas", MASSIVE_FILE | SNR | {"massive.antennas": 32})
    yield wrong("a file of too few users", MASSIVE_FILE | SNR | {"massive.users": 4})
    yield wrong("a file of too few subcarriers", MASSIVE_FILE | SNR | {"massive.subcarriers": 96})
    yield wrong("matrix missing", MATRIX | {"code.base_matrix": "none.csv"})
    yield wrong("no matrix", {"code.type": "qc-ldpc", **EBN0})
    yield wrong("target_width_db without target_fer", TURBO | {"sweep.target_width_db": 0.1})
    yield wrong("a search in less than 1 dB", TURBO | {"sweep.target_fer": 0.1, "sweep.ebn0_db": [0.0, 0.5]})
    yield wrong("sweep of one value", TURBO | {"sweep.decoder.iterations": 3})
    yield wrong("sweep of no value", TURBO | {"sweep.decoder.iterations": []})
    yield wrong("sweep of a value twice", TURBO | {"sweep.decoder.iterations": [1, 2, 1]})
    yield wrong("sweep of a bad value", TURBO | {"sweep.decoder.iterations": [1, 100]})
    yield wrong("sweep of a stop rule", TURBO | {"sweep.stop.max_frames": [1, 2]})
    yield wrong("sweep of an unknown key", TURBO | {"sweep.decoder.iteration": [1, 2]})
    yield wrong("sweep of seeds", TURBO | {"sweep.seed": [1, 2]})
    yield wrong("swept and set", TURBO | {"decoder.iterations": 2, "sweep.decoder.iterations": [1, 2]})
    yield wrong("swept and set in a curve", TURBO, {"decoder.iterations": 2, "sweep.decoder.iterations": [1, 2]})
    yield wrong("sweep of too many values", TURBO | {"sweep.decoder.iterations": list(range(1, 1002))})
    yield wrong("sweeps of too many curves", {"code.type": "none", **EBN0, "sweep.code.k": list(range(1, 102)),
                                              "sweep.modem.modulation": ["bpsk", "qpsk", "16qam", "64qam", "256qam"],
                                              "sweep.modem.demapper": ["max-log", "exact"]})
    yield wrong("sweep of iterations, which one code lacks", {"code.k": 40, **EBN0, "sweep.code.type": ["lte-turbo", "none"],
                                                             "sweep.decoder.iterations": [1, 2, 4]})
    yield wrong("sweep of survivors, which one detector lacks", {k: v for k, v in LINK.items() if k != "detector.type"} |
                {"sweep.detector.type": ["mmse", "kbest"], "sweep.detector.survivors": [4, 16]})
    yield wrong("sweep of a key without meaning", TURBO | {"sweep.detector.survivors": [2, 4]})
    # keys without a meaning, and of another kind
    for i, (name, key, value) in enumerate((
            ("lte-turbo", "decoder.schedule", "flooding"), ("lte-transport", "code.generators", ["7", "5"]), ("wimax-ldpc", "decoder.windows", 4),
            ("wifi-ldpc", "code.kind", "dci"), ("nr-ldpc", "code.transmissions", 2), ("nr-dlsch", "code.termination", "zero-tail"),
            ("nr-ulsch", "decoder.list_size", 4), ("qc-ldpc", "code.n", 648), ("conv", "decoder.iterations", 5), ("polar", "code.rate", "1/2"),
            ("none", "decoder.algorithm", "log-map"))):
        keys = {"code.type": name, **CODES[name]}
        yield wrong(f"{key} with {name}", {**keys, **EBN0, key: value})
        if i % 2 == 0:
            yield wrong(f"{key} with {name}, in a curve", {"code.k": 40, **EBN0}, {"label": "a"}, {"label": "b", **keys, key: value})
    for name, key, value in (("mmse", "detector.survivors", 4), ("kbest", "detector.ways", 1), ("nway", "detector.real_valued", True),
                             ("ml", "detector.damping", 0.5), ("zf", "detector.order", [0, 1]), ("ep", "detector.sort", "sqrd"),
                             ("pic", "detector.iterations", 4), ("mmse", "modem.demapper", "exact")):
        yield wrong(f"{key} with {name}", LINK | {"detector.type": name, key: value})
    yield wrong("a detector with one antenna", TURBO | {"detector.llr_clip": 3.0})
    yield wrong("order and sort", KBEST | {"detector.order": [1, 0], "detector.sort": "norm"})
    yield wrong("no clip where hypotheses can be missing", KBEST | {"detector.llr_clip": "none"})
    yield wrong("fading in AWGN", TURBO | {"channel.fading": "block"})
    yield wrong("profile in Rayleigh fading", TURBO | FADING | {"channel.profile": "epa"})
    yield wrong("several antennas in AWGN", {k: v for k, v in LINK.items() if k != "channel.type"})
    yield wrong("cdl of one antenna", TURBO | {"channel.type": "cdl"})
    yield wrong("speed_kmh without slots", CDL | {"channel.speed_kmh": 30.0})
    yield wrong("csi_delay of a channel that does not age", UP | {"massive.csi_delay": 7})
    yield wrong("csi_delay with a Rician tap", UP | {"channel.type": "tdl", "channel.profile": "tdl-d", "massive.csi_delay": 7})
    yield wrong("doppler_hz with massive MIMO", UP | {"channel.type": "tdl", "channel.doppler_hz": 5.0})
    yield wrong("subcarriers of a delay line with massive MIMO", UP | {"channel.type": "tdl", "channel.subcarriers": 96})
    yield wrong("a prefix that is too short", TDL | {"channel.profile": "etu", "channel.cyclic_prefix_us": 1.0})
    yield wrong("users without massive MIMO", TURBO | {"massive.users": 4})
    yield wrong("streams with massive MIMO", UP | {"mimo.streams": 2})
    yield wrong("a detector with massive MIMO", UP | {"detector.type": "zf"})
    yield wrong("sinr in the downlink", UP | {"massive.direction": "downlink", "massive.sinr": "exact"})
    yield wrong("exact SINR with cg", CG | {"massive.sinr": "exact"})
    yield wrong("local-mmse with cg", CG | {"massive.clusters": 2, "massive.cluster_method": "local-mmse"})
    yield wrong("a demapper in the uplink", UP | {"modem.demapper": "exact"})
    yield wrong("more users than antennas", UP, {"massive.users": 64})
    yield wrong("a codeword of more than the subcarriers", UP, {"code.k": 1000})
    yield wrong("three streams with a space-time code", GOLD | {"mimo.streams": 3})
    yield wrong("a detector with a space-time code", GOLD | {"detector.type": "ml"})
    yield wrong("search with silver", GOLD | {"stbc.type": "silver"})
    yield wrong("v with silver", {**ANTENNAS["pair"], **UNCODED, **SNR, "stbc.type": "silver"})
    yield wrong("BPSK with a space-time code", GOLD | {"modem.modulation": "bpsk"})
    yield wrong("a space-time code in AWGN", GOLD | {"channel.type": "awgn"})
    yield wrong("a space-time code and massive MIMO", UP | {"stbc.type": "golden"})
    yield wrong("modulation with slots", PUSCH | {"modem.modulation": "qpsk"})
    yield wrong("streams with slots", PUSCH | {"mimo.streams": 2})
    yield wrong("another code with slots", PUSCH | {"code.type": "conv"})
    yield wrong("block size with slots", PUSCH | {"code.transport_block_size": 1000})
    yield wrong("subcarriers with slots", PUSCH | {"channel.subcarriers": 72})
    yield wrong("mcs with a reference channel", PUSCH | {"nr.frc": "G-FR1-A4-11"})
    yield wrong("taps without filters", PUSCH | {"nr.taps": 8})
    yield wrong("tpmi without a codebook", PUSCH | {"nr.tpmi": 1})
    yield wrong("layers with too few antennas", PUSCH | {"nr.layers": 4})
    yield wrong("a receiver in a loop with zf", LOOP | {"detector.type": "zf"})
    yield wrong("a receiver in a loop with viterbi", LOOP | {"code.type": "conv", "code.k": 300})
    yield wrong("a receiver in a loop of one antenna", TURBO | {"receiver.outer": 3})
    yield wrong("interleaver_seed without an interleaver", LOOP | {"receiver.interleaver_seed": 3})
    yield wrong("mutual information with a receiver", LOOP | {"modem.mutual_information": True})
    yield wrong("mutual information with HARQ", HARQ | {"modem.mutual_information": True})
    yield wrong("extrinsic_scale with log-map", TURBO | {"decoder.extrinsic_scale": 0.75})
    yield wrong("int16 with log-map", TURBO | {"decoder.precision": "int16", "decoder.algorithm": "log-map"})
    yield wrong("llr_steps with float32", TURBO | {"decoder.llr_steps": 8.0})
    yield wrong("early stop by a CRC that is not there", TURBO | {"decoder.early_stop": "crc"})
    yield wrong("k that n does not have", WIMAX | {"code.k": 1000})
    yield wrong("feedback with tail-biting", CONV | {"code.feedback": "171", "code.termination": "tail-biting"})
    yield wrong("polar: rnti with uci", POLAR | {"code.rnti": 5})
    yield wrong("polar: adaptive without a CRC", POLAR | {"code.kind": "plain", "code.crc_bits": 0, "decoder.adaptive": True})
    yield wrong("an old name: modem.qam", TURBO | {"modem.qam": 16})
    yield wrong("an old name: detector.qam", LINK | {"detector.qam": 16})
    yield wrong("another name: code.iterations", TURBO | {"code.iterations": 4})
    yield wrong("another name: detector.k", KBEST | {"detector.k": 4})
    yield wrong("a key of stream", TURBO | {"stream.items": 4})


def stream_wrong():
    def wrong(name, base, *runs):
        return row("stream: " + name, text_of(base, runs, "run"), "stream")
    for i, (chain, key, good, bad) in enumerate(STREAM_SETTINGS):
        if i % 3 == 2:
            continue
        yield wrong(f"{key} = {toml(bad[0])} of {chain}", CHAINS[chain] | {key: bad[0]})
        if len(bad) > 1 and i % 8 == 0:
            yield wrong(f"{key} = {toml(bad[1])} of {chain}, in a run", CHAINS[chain], {}, {key: bad[1]})
        if i % 16 == 0:
            yield wrong(f"{key} misspelt", CHAINS[chain] | {misspelt(key): good})
    yield wrong("no items", {"stream.chain": "detect"})
    yield wrong("an unknown chain", {"stream.chain": "receive", "stream.items": 4})
    yield wrong("a number at the top", {"stream": 3})
    yield row("stream: run is no table", "run = 3\n" + lines(DETECT), "stream")
    yield row("stream: runs in the plural", lines(DETECT) + "[[runs]]\nlabel = \"a\"\n", "stream")
    yield row("stream: curve", lines(DETECT) + "[[curve]]\nlabel = \"a\"\n", "stream")
    yield row("stream: not TOML", "stream.items = \n", "stream")
    yield wrong("label is no text", DETECT, {"label": 3})
    yield wrong("title is no text", DETECT | {"title": 3})
    yield wrong("code of detect", DETECT | {"code.type": "conv"})
    yield wrong("massive of detect", DETECT | {"massive.users": 4})
    yield wrong("a detector of uplink", CHAINS["uplink"] | {"detector.type": "zf"})
    yield wrong("splits of precode", CHAINS["precode"] | {"stream.splits": 2})
    yield wrong("massive of detect, in a run", DETECT, {"label": "a"}, {"massive.users": 4})
    yield wrong("keys of no run", CHAINS["detect"] | {"stbc.type": "golden"}, {"label": "a"}, {"label": "b"})
    yield wrong("a key by two names", DETECT | {"modem.modulation": "16qam", "detector.qam": 16})
    yield wrong("an old name with a bad value", DETECT | {"detector.qam": 8})
    yield wrong("v missing", CHAINS["stbc"] | {"stbc.type": "pair"})
    yield wrong("iterations missing", CHAINS["uplink"] | {"massive.solver": "cg"})
    yield wrong("items that are no codewords", DECODE | {"stream.items": 100})
    yield wrong("items that are no channels", CHAINS["uplink"] | {"stream.items": 57})
    yield wrong("a code that is not there", DECODE | {"code.type": "polar"})
    yield wrong("a loop with mmse and turbo", DECODE, {"receiver.outer": 3, "detector.type": "zf"})
    yield wrong("a loop of detect", DETECT | {"receiver.outer": 3})
    yield wrong("perfect knowledge", CHAINS["pusch"] | {"nr.csi": "perfect"})


# ---- scenarios that a person wrote, of the tree, and counts

def by_hand_rows():
    for r in previous("by_hand"):
        yield row(r["name"], r["text"], r["command"])



def tree_rows():
    for path in sorted(p for p in ROOT.rglob("*.toml") if not {".venv", "build", ".git"} & set(p.relative_to(ROOT).parts)):
        name = str(path.relative_to(ROOT))
        text = path.read_text()
        if path.name == "pyproject.toml" or path.is_relative_to(GOLDEN):
            continue
        command = "stream" if re.search(r"^\[stream\]|^stream\.|^stream =", text, re.M) else "sim"
        if path.stem in SKIPPED_FILES:
            yield {"result": f"curves/{path.stem}.json"}
        else:
            yield {"scenario": name, "command": command}
    for page in [ROOT / "README.md", *(page for folder in ("", "algorithms", "tutorials") for page in sorted((ROOT / "docs" / folder).glob("*.md")))]:
        blocks = re.findall(r"^```toml\n(.*?)^```", page.read_text(), re.M | re.S)
        for i, text in enumerate(blocks):
            command = "stream" if re.search(r"^\[stream\]|^stream\.|^stream =", text, re.M) else "sim"
            yield row(f"{page.relative_to(ROOT)}, block {i + 1}", text, command)


def error_rate(point):
    """Of frames; of codewords with massive MIMO, and of blocks after the last transmission with HARQ."""
    if "codewords" in point:
        return point["codewords"]["bler"]
    return point["harq"]["bler"][-1] if "harq" in point else point["fer"]


def count_rows():
    for path in sorted((ROOT / "curves").glob("*.json")):
        result = json.loads(path.read_text())
        if not isinstance(result.get("curves"), list):
            continue
        name = {"result": str(path.relative_to(ROOT))}
        if "iterations_sum" not in result["curves"][0]["points"][0]:
            name = {"scenario": result["scenario"]["file"]}  # written before results could be resumed
        for curve in result["curves"]:
            if curve["config"]["channel"]["type"] == "file":
                continue
            axis = next(a for a in ("ebn0_db", "snr_db") if a in curve["config"]["sweep"])
            point = min(curve["points"], key=lambda p: abs(math.log10(max(error_rate(p), 1e-9) / 0.3)))
            yield {**name, "curve": curve["label"], "point": point[axis], "lowest": curve["points"][0][axis]}


def counted(build, before):
    """Rows of counts. Points and frames stay those that were chosen first; if no bit is wrong at the point, the lowest one, and
    one below it."""
    rows = asked(build, [r | {k: before[key_of(r)][k] for k in ("point", "frames")} if key_of(r) in before else r | {"budget": COUNT_SECONDS}
                         for r in count_rows()])
    for down in (0.0, BELOW_DB):
        silent = [i for i, r in enumerate(rows) if "counts" in r and not any(r["counts"]["bit_errors"])]
        again = [{k: v for k, v in rows[i].items() if k not in ("counts", "frames")} | {"point": rows[i]["lowest"] - down} for i in silent]
        for i, r in zip(silent, asked(build, [r | {"budget": COUNT_SECONDS} for r in again])):
            rows[i] = r
    for r in rows:
        if "seconds" in r:
            print(f"left out, {r['seconds']:.1f} s a frame: {key_of(r)}")
        elif not any(r["counts"]["bit_errors"]):
            print(f"no bit is wrong in {r['frames']} frames: {key_of(r)} at {r['point']} dB")
    return [{k: v for k, v in r.items() if k not in ("budget", "lowest")} for r in rows if "seconds" not in r]


def make_recording():
    """Channel estimates of 2 snapshots, 8 subcarriers, 4 antennas and 2 users."""
    import h5py
    import numpy
    random = numpy.random.default_rng(1)
    parts = random.integers(-64, 64, (2, 2, 8, 4, 2)) / 64
    with h5py.File(GOLDEN / "channel.hdf5", "w") as file:
        file.create_dataset("h", data=(parts[0] + 1j * parts[1]).astype(numpy.complex64))


# ---- answers

def asked(build, rows):
    """Rows with what the build says to them."""
    program = subprocess.run([str(build / "golden_rows")], input="".join(json.dumps(r) + "\n" for r in rows), capture_output=True, text=True)
    if program.returncode != 0:
        sys.exit(program.stderr or f"golden_rows: exit status {program.returncode}")
    return [json.loads(line) for line in program.stdout.splitlines()]


def key_of(r):
    return ", ".join(str(r[k]) for k in ("name", "scenario", "result", "curve") if k in r)


def written(rows):
    return "".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) + "\n" for r in rows)


def previous(name):
    path = GOLDEN / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="where golden_rows is")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a row differs")
    parser.add_argument("--only", default="tree,right,wrong,by_hand,counts", help="files, by name")
    options = parser.parse_args()
    if not (GOLDEN / "channel.hdf5").exists():
        make_recording()
    changed = 0
    for name in options.only.split(","):
        rows = {"tree": tree_rows, "right": right_rows, "wrong": wrong_rows, "by_hand": by_hand_rows, "counts": count_rows}[name]
        before = {key_of(r): r for r in previous(name)}
        rows = counted(options.build, before) if name == "counts" else asked(options.build, list(rows()))
        if name in ("right", "wrong"):
            wanted = "curves" if name == "right" else "message"
            for r in rows:
                if wanted not in r["answer"]:
                    print(f"not {name}: {r['name']}: {r['answer'].get('message', '')}\n{r['text']}")
            rows = [r for r in rows if wanted in r["answer"]]
            if len(rows) < LEAST:
                sys.exit(f"{len(rows)} {name} scenarios: at least {LEAST} are wanted")
        for r in rows:
            old = before.get(key_of(r))
            if old is not None and old != r:
                print(f"changed, {name}: {key_of(r)}\n  was {json.dumps(old.get('answer', old.get('counts')))[:400]}"
                      f"\n  is  {json.dumps(r.get('answer', r.get('counts')))[:400]}")
                changed += 1
        gone = len(set(before) - {key_of(r) for r in rows})
        print(f"{name}: {len(rows)} rows, {sum(key_of(r) not in before for r in rows)} new, {gone} gone")
        if not options.check:
            (GOLDEN / f"{name}.jsonl").write_text(written(rows))
    sys.exit(1 if options.check and changed else 0)


if __name__ == "__main__":
    main()
