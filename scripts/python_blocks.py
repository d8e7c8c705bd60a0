#!/usr/bin/env python3
"""What single code blocks take through Python: microseconds a call, median and 99th percentile, and Mb/s of information bits.

    PYTHONPATH=build/release/python python3 scripts/python_blocks.py [REPETITIONS]

The blocks are those of docs/integrate.md, on one thread of a CPU: LDPC codes of base graph 1 with Z = 384, without a CRC, and the turbo code
of 6144 bits. Decoders do all iterations.
"""
import sys
import time

import numpy as np

import warpband as wb


def measured(call, repetitions):
    for _ in range(20):
        call()
    times = []
    for _ in range(repetitions):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return np.percentile(times, 50) * 1e6, np.percentile(times, 99) * 1e6


def main():
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    rng, cpu = np.random.default_rng(1), wb.cpu(threads=1)
    jobs = []
    for rows in (8, 46):
        code = {"base_graph": 1, "lifting_size": 384, "sent_bits": (22 - 2 + rows) * 384, "modulation_order": 6, "executor": cpu}
        decode = wb.LdpcBlockDecoder(**code, iterations=10, early_stop="none")
        encode = wb.LdpcBlockEncoder(**code)
        jobs.append((f"LDPC decoding, {rows} rows", 8448, decode, lambda n, code=code: rng.normal(10, 8, (n, code["sent_bits"])).clip(-127, 127).astype(np.int8)))
        jobs.append((f"LDPC encoding, {rows} rows", 8448, encode, lambda n, encode=encode: rng.integers(0, 256, (n, encode.bytes), dtype=np.uint8)))
    turbo = wb.TurboBlockDecoder(k=6144, iterations=8, early_stop="none", executor=cpu)
    jobs.append(("turbo decoding, 6144 bits", 6144, turbo, lambda n: rng.normal(10, 8, (n, turbo.llrs)).clip(-127, 127).astype(np.int8)))
    encode = wb.TurboBlockEncoder(k=6144, sent_bits=12288, executor=cpu)
    jobs.append(("turbo encoding, 6144 bits, 12288 sent", 6144, encode, lambda n: rng.integers(0, 256, (n, encode.bytes), dtype=np.uint8)))
    print("| operation | blocks | median / 99th percentile, us | Mb/s |\n|---|---|---|---|")
    for name, bits, work, draw in jobs:
        for blocks in (1, 8, 64):
            data = draw(blocks)
            out = work(data)
            median, late = measured(lambda: work(data, out=out), repetitions)
            print(f"| {name} | {blocks} | {median:.3g} / {late:.3g} | {bits * blocks / median:.0f} |", flush=True)


main()
