"""Sends turbo-coded frames over a noisy channel to decode_server.py, live, and counts wrong bits.

    python examples/zeromq/decode_client.py --k 1024 --ebn0-db 0.0 1.5      Eb/N0 rises from the first frame to the last
"""
import argparse
import collections
import sys
import time

import numpy as np
import zmq

import warpband as wb


def frames(count, encoder, ebn0_db, rng):
    """Bits, and the LLRs of their BPSK symbols after noise."""
    bits = rng.integers(0, 2, (count, encoder.k), dtype=np.uint8)
    noise_var = encoder.n / encoder.k / 2 * 10 ** (-ebn0_db / 10)  # of a real sample
    received = 1 - 2.0 * encoder(bits) + noise_var ** 0.5 * rng.standard_normal((count, encoder.n))
    return bits, (2 / noise_var * received).astype(np.float32)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--llrs", default="tcp://127.0.0.1:5555", help="where the server takes LLRs")
    parser.add_argument("--bits", default="tcp://127.0.0.1:5556", help="where the server gives bits")
    parser.add_argument("--k", type=int, default=1024, help="information bits of a codeword, as of the server")
    parser.add_argument("--ebn0-db", type=float, nargs=2, default=(0.0, 1.5), help="of the first and of the last message")
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--codewords", type=int, default=32, help="of a message")
    parser.add_argument("--in-flight", type=int, default=8, help="messages that may wait for their answer")
    parser.add_argument("--timeout-s", type=float, default=30, help="give up when no answer comes for so long")
    options = parser.parse_args()

    encoder, rng = wb.TurboEncoder(k=options.k), np.random.default_rng(1)
    context = zmq.Context()
    context.linger = 0  # what nobody takes does not keep the program
    llrs, answers = context.socket(zmq.PUSH), context.socket(zmq.PULL)
    answers.setsockopt(zmq.RCVTIMEO, int(1e3 * options.timeout_s))
    llrs.setsockopt(zmq.SNDTIMEO, int(1e3 * options.timeout_s))
    llrs.connect(options.llrs)
    answers.connect(options.bits)

    sent = collections.deque()  # bits of messages that were not answered yet
    wrong = total = received = 0
    start = shown = time.perf_counter()
    try:
        for i in range(options.messages + options.in_flight):
            if i < options.messages:
                first, last = options.ebn0_db
                ebn0_db = first + (last - first) * i / max(1, options.messages - 1)
                bits, values = frames(options.codewords, encoder, ebn0_db, rng)
                llrs.send(values, copy=False)
                sent.append((ebn0_db, bits))
            if sent and (len(sent) >= options.in_flight or i >= options.messages):
                at_db, bits = sent.popleft()
                answer = np.frombuffer(answers.recv(), np.uint8)
                if answer.size != bits.size:
                    sys.exit(f"an answer of {answer.size} bits to {bits.size}: does the server have the same k?")
                errors = int((answer.reshape(bits.shape) != bits).sum())
                wrong, total, received = wrong + errors, total + bits.size, received + 1
                if time.perf_counter() - shown > 0.5 or received == options.messages:
                    shown = time.perf_counter()
                    print(f"Eb/N0 {at_db:5.2f} dB  BER {errors / bits.size:8.2e}  {1e-6 * total / (shown - start):7.1f} Mb/s", flush=True)
    except zmq.Again:
        sys.exit(f"no server takes LLRs at {options.llrs} and answers at {options.bits}")
    finally:
        context.destroy()
    print(f"{wrong} wrong of {total} bits in {received} messages")


if __name__ == "__main__":
    main()
