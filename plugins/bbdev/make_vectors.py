#!/usr/bin/env python3
"""Writes the test vectors of this folder for dpdk-test-bbdev, with the encoders of the Python package.

    PYTHONPATH=build/release/python .venv/bin/python plugins/bbdev/make_vectors.py [--speed] [FOLDER]

With --speed it writes code blocks of Z 384 instead, to measure the tool's latency and throughput; these are not stored. Every file is the same on every machine. LLRs have one binary place after the point and are positive for 0.
"""
from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import warpband as wb

Bits = np.ndarray
ARGUMENTS = argparse.ArgumentParser()
ARGUMENTS.add_argument("--speed", action="store_true")
ARGUMENTS.add_argument("folder", nargs="?", type=Path, default=Path(__file__).parent / "vectors")
GIVEN = ARGUMENTS.parse_args()
FOLDER = GIVEN.folder


def packed(bits: Bits) -> bytes:
    """Bits with the first one in the most significant place; zeros fill the last byte."""
    return np.packbits(bits.astype(np.uint8)).tobytes()


def words(data: bytes) -> str:
    """Little-endian words of 32 bits, the last one shorter."""
    return ", ".join("0x" + data[i:i + 4][::-1].hex().upper() for i in range(0, len(data), 4))


def write(name: str, about: str, operation: str, buffers: dict[str, bytes], flags: list[str], status: str = "OK", **settings: int) -> None:
    prefix = "RTE_BBDEV_" + operation.split("_", 1)[0] + "_"
    lines = [f"# {about}", "# Made by plugins/bbdev/make_vectors.py.", "", "op_type =", f"RTE_BBDEV_OP_{operation}", ""]
    for key, data in buffers.items():
        lines += [f"{key} =", words(data), ""]
    for key, value in settings.items():
        lines += [f"{key} =", str(value), ""]
    lines += ["op_flags =", ", ".join(prefix + flag for flag in flags), "", "expected_status =", status, ""]
    (FOLDER / f"{name}.data").write_text("\n".join(lines))


def received(bits: Bits, sigma: float, rng: np.random.Generator) -> np.ndarray:
    """LLRs of bits over BPSK and noise, int8 in steps of 1/2."""
    llrs = 2 * (1 - 2.0 * bits + sigma * rng.standard_normal(bits.shape)) / sigma ** 2
    return np.clip(np.rint(2 * llrs), -127, 127).astype(np.int8)


def with_crc(bits: Bits, crc: str) -> Bits:
    return wb.CrcAttacher(n=bits.size, crc=crc)(bits)


class NrBlock:
    """A code block of K' bits, and what is sent of it."""

    def __init__(self, base_graph: int, z: int, fillers: int, sent_bits: int, order: int, buffer: int | None = None):
        self.graph, self.z, self.fillers, self.e, self.order = base_graph, z, fillers, sent_bits, order
        self.full_k = (22 if base_graph == 1 else 10) * z
        self.k = self.full_k - fillers
        self.buffer = buffer or (66 if base_graph == 1 else 50) * z
        self.matcher = wb.NrRateMatcher(base_graph=base_graph, k=self.k, lifting_size=z, sent_bits=sent_bits, modulation_order=order,
                                        soft_buffer=self.buffer)

    def encode(self, bits: Bits, rv: int) -> Bits:
        padded = np.zeros(self.matcher.code.k, np.uint8)
        padded[:self.k] = bits
        return self.matcher(wb.LdpcEncoder(code=self.matcher.code)(padded), rv=rv)

    def harq(self, llrs: np.ndarray, rv: int, former: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        """LLRs of all transmissions in codeword order, and as a HARQ buffer without fillers, saturated."""
        sums = self.matcher.combine(llrs.astype(np.float32), rv=rv, soft=former)
        parity = self.buffer - (self.full_k - 2 * self.z)
        places = np.concatenate([sums[2 * self.z:self.k], sums[self.matcher.code.k:self.matcher.code.k + parity]])
        return sums, np.clip(places, -127, 127).astype(np.int8)

    def settings(self, rv: int) -> dict[str, int]:
        return dict(basegraph=self.graph, z_c=self.z, n_cb=self.buffer, q_m=self.order, n_filler=self.fillers, e=self.e, rv_index=rv,
                    code_block_mode=1)


def ldpc_enc(rng: np.random.Generator) -> None:
    block = NrBlock(1, 44, 24, 2880, 6)
    data = rng.integers(0, 2, block.k - 24, dtype=np.uint8)
    write("ldpc_enc_64qam_crc24b", "BG1, Z 44, 24 fillers, 64-QAM, CRC-24B attached", "LDPC_ENC",
          {"input0": packed(data), "output0": packed(block.encode(with_crc(data, "crc24b"), 0))},
          ["RATE_MATCH", "CRC_24B_ATTACH"], **block.settings(0))

    block = NrBlock(2, 52, 8, 1003, 1, 2000)
    data = rng.integers(0, 2, block.k - 16, dtype=np.uint8)
    write("ldpc_enc_bypass_crc16_rv3_limited", "BG2, Z 52, 8 fillers, rv 3 of 2000 places, CRC-16 attached, no interleaver", "LDPC_ENC",
          {"input0": packed(data), "output0": packed(block.encode(with_crc(data, "crc16"), 3))},
          ["RATE_MATCH", "CRC_16_ATTACH", "INTERLEAVER_BYPASS"], **(block.settings(3) | {"q_m": 2}))

    shorter, longer = NrBlock(1, 36, 16, 1604, 4), NrBlock(1, 36, 16, 1608, 4)
    blocks = [rng.integers(0, 2, shorter.k - 24, dtype=np.uint8) for _ in range(3)]
    sent = [packed((shorter if r < 2 else longer).encode(with_crc(b, "crc24b"), 0)) for r, b in enumerate(blocks)]
    settings = shorter.settings(0) | {"code_block_mode": 0, "ea": 1604, "eb": 1608, "c": 3, "cab": 2, "r": 0}
    del settings["e"]
    write("ldpc_enc_transport_block", "transport block of 3 code blocks, BG1, Z 36, 16 fillers, E 1604 and 1608, 16-QAM", "LDPC_ENC",
          {"input0": b"".join(map(packed, blocks)), "output0": b"".join(sent)}, ["RATE_MATCH", "CRC_24B_ATTACH"], **settings)


def ldpc_dec(rng: np.random.Generator) -> None:
    limits = dict(iter_max=8, expected_iter_count=8)
    block = NrBlock(1, 44, 24, 2880, 6)
    data = rng.integers(0, 2, block.k - 24, dtype=np.uint8)
    llrs = received(block.encode(with_crc(data, "crc24b"), 0), 0.6, rng)
    write("ldpc_dec_64qam_drop", "BG1, Z 44, 24 fillers, 64-QAM, 4.4 dB, CRC-24B dropped", "LDPC_DEC",
          {"input0": llrs.tobytes(), "output0": packed(data)},
          ["ITERATION_STOP_ENABLE", "CRC_TYPE_24B_CHECK", "CRC_TYPE_24B_DROP"], **block.settings(0), **limits)

    block = NrBlock(2, 30, 20, 640, 2)
    bits = with_crc(rng.integers(0, 2, block.k - 24, dtype=np.uint8), "crc24a")
    bits[block.k - 5] ^= 1
    write("ldpc_dec_wrong_crc24a", "BG2, Z 30, 20 fillers, a codeword whose CRC-24A is wrong", "LDPC_DEC",
          {"input0": received(block.encode(bits, 0), 0.4, rng).tobytes(), "output0": packed(bits)},
          ["ITERATION_STOP_ENABLE", "CRC_TYPE_24A_CHECK"], status="CRC", **block.settings(0), **limits)

    block = NrBlock(2, 60, 40, 1200, 4, 2400)
    data = rng.integers(0, 2, block.k - 16, dtype=np.uint8)
    bits = with_crc(data, "crc16")
    first, second = (received(block.encode(bits, rv), 0.75, rng) for rv in (0, 2))
    former, buffer = block.harq(first, 0)
    harq_in = buffer[:block.e]  # up to the last place that was received
    write("ldpc_dec_harq_rv0", "BG2, Z 60, 40 fillers, rv 0 of 2400 places, HARQ buffer written, CRC-16", "LDPC_DEC",
          {"input0": first.tobytes(), "output0": packed(bits), "harq_output0": harq_in.tobytes()},
          ["ITERATION_STOP_ENABLE", "CRC_TYPE_16_CHECK", "HQ_COMBINE_OUT_ENABLE"], **block.settings(0), **limits)
    write("ldpc_dec_harq_rv2", "the second transmission of the block before: rv 2, HARQ buffer read and written", "LDPC_DEC",
          {"input0": second.tobytes(), "harq_input0": harq_in.tobytes(), "output0": packed(bits),
           "harq_output0": block.harq(second, 2, former)[1].tobytes()},
          ["ITERATION_STOP_ENABLE", "CRC_TYPE_16_CHECK", "HQ_COMBINE_IN_ENABLE", "HQ_COMBINE_OUT_ENABLE"], **block.settings(2), **limits)


def turbo_enc(rng: np.random.Generator) -> None:
    data = rng.integers(0, 2, 512 - 24, dtype=np.uint8)
    coded = wb.TurboEncoder(k=512)(with_crc(data, "crc24a"))
    sent = wb.LteRateMatcher(k=512, sent_bits=1101, soft_buffer=1200)(coded, rv=1)
    write("turbo_enc_rv1_limited", "K 512, rv 1 of 1200 places, E 1101, CRC-24A attached", "TURBO_ENC",
          {"input0": packed(data), "output0": packed(sent)}, ["RATE_MATCH", "CRC_24A_ATTACH"],
          e=1101, k=512, ncb=1200, rv_index=1, code_block_mode=1)

    sizes, lengths = (1024, 1056), (2000, 2004)
    blocks = [rng.integers(0, 2, k - 24, dtype=np.uint8) for k in sizes]
    sent = [wb.LteRateMatcher(k=k, sent_bits=e)(wb.TurboEncoder(k=k)(with_crc(b, "crc24b")), rv=0) for k, e, b in zip(sizes, lengths, blocks)]
    write("turbo_enc_transport_block", "transport block of two code blocks, K 1024 and 1056, E 2000 and 2004", "TURBO_ENC",
          {"input0": b"".join(map(packed, blocks)), "output0": b"".join(map(packed, sent))}, ["RATE_MATCH", "CRC_24B_ATTACH"],
          ea=2000, eb=2004, cab=1, c=2, c_neg=1, k_neg=1024, k_pos=1056, ncb_neg=3168, ncb_pos=3264, r=0, rv_index=0, code_block_mode=0)


def virtual_buffer(llrs: np.ndarray, k: int) -> bytes:
    """w of TS 36.212 section 5.1.4.1 of d0, d1, d2: the three streams through the sub-block interleaver, NULLs as 0."""
    rows = -(-(k + 4) // 32)
    order = np.array([int(f"{c:05b}"[::-1], 2) for c in range(32)])
    size = 32 * rows
    streams = [np.concatenate([np.zeros(size - k - 4, np.int8), d]) for d in llrs.reshape(3, k + 4)]
    plain = [d.reshape(rows, 32)[:, order].T.reshape(-1) for d in streams[:2]]
    shifted = streams[2][(order[:, None] + 32 * np.arange(rows) + 1).reshape(-1) % size]
    return np.concatenate([plain[0], np.stack([plain[1], shifted], axis=1).reshape(-1)]).tobytes()


def turbo_dec(rng: np.random.Generator) -> None:
    limits = dict(iter_max=8, iter_min=1, expected_iter_count=8, ext_scale=15, num_maps=0, rv_index=0)
    k = 768
    data = rng.integers(0, 2, k - 24, dtype=np.uint8)
    llrs = received(wb.TurboEncoder(k=k)(with_crc(data, "crc24b")), 1.0, rng)
    write("turbo_dec_crc24b_drop", "K 768, rate 1/3, 0 dB, CRC-24B dropped", "TURBO_DEC",
          {"input0": virtual_buffer(llrs, k), "hard_output0": packed(data)},
          ["SUBBLOCK_DEINTERLEAVE", "NEG_LLR_1_BIT_IN", "CRC_TYPE_24B", "DEC_CRC_24B_DROP", "EARLY_TERMINATION"], e=3 * (k + 4), k=k,
          code_block_mode=1, **limits)

    sizes = (512, 528)
    blocks = [with_crc(rng.integers(0, 2, n - 24, dtype=np.uint8), "crc24b") for n in sizes]
    buffers = [virtual_buffer(received(wb.TurboEncoder(k=n)(b), 0.9, rng), n) for n, b in zip(sizes, blocks)]
    write("turbo_dec_transport_block_keep", "transport block of two code blocks, K 512 and 528, CRC-24B kept", "TURBO_DEC",
          {"input0": b"".join(buffers), "hard_output0": b"".join(map(packed, blocks))},
          ["SUBBLOCK_DEINTERLEAVE", "NEG_LLR_1_BIT_IN", "CRC_TYPE_24B", "DEC_TB_CRC_24B_KEEP", "EARLY_TERMINATION"],
          ea=3 * 516, eb=3 * 532, cab=1, c=2, c_neg=1, k_neg=512, k_pos=528, r=0, code_block_mode=0, **limits)


def speed(rng: np.random.Generator) -> None:
    """Zeros with Z 384, from the highest rate to the lowest, 10 iterations without early stop, as `warpband bench ldpc_block` does."""
    for graph, rows in ((1, 4), (1, 8), (1, 46), (2, 4), (2, 42)):
        columns = 22 if graph == 1 else 10
        e, size = (columns - 2 + rows) * 384 // 6 * 6, columns * 48
        settings = dict(basegraph=graph, z_c=384, n_cb=(66 if graph == 1 else 50) * 384, q_m=6, n_filler=0, e=e, rv_index=0, code_block_mode=1)
        zeros = np.zeros(e, np.uint8)
        write(f"ldpc_dec_bg{graph}_{rows}_rows", f"BG{graph}, Z 384, {rows} rows, 10 iterations", "LDPC_DEC",
              {"input0": received(zeros, 0.35, rng).tobytes(), "output0": bytes(size)}, ["CRC_TYPE_24B_CHECK"], **settings, iter_max=10,
              expected_iter_count=10)
        write(f"ldpc_enc_bg{graph}_{rows}_rows", f"BG{graph}, Z 384, {rows} rows, CRC-24B attached", "LDPC_ENC",
              {"input0": bytes(size - 3), "output0": packed(zeros)}, ["RATE_MATCH", "CRC_24B_ATTACH"], **settings)


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for seed, make in enumerate([speed] if GIVEN.speed else [ldpc_enc, ldpc_dec, turbo_enc, turbo_dec]):
        make(np.random.default_rng(seed))


if __name__ == "__main__":
    main()
