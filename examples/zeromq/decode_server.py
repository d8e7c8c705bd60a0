"""A turbo decoder that others reach over ZeroMQ: LLRs in, bits out.

    python examples/zeromq/decode_server.py --k 1024        and, in another terminal, decode_client.py

A message that comes in holds one codeword or more: float32 LLRs, ln P(0)/P(1), of 3 (k + 4) coded bits each. The answer holds k bytes of 0 or 1
for each. Answers come in the order of the messages; a message of another length gets an empty one. "ZMQ PUSH Sink" and "ZMQ PULL Source" of GNU Radio
speak this protocol; the sink waits for connections, so that --connect is needed.
"""
import argparse
import signal
import sys
import threading
import time

import numpy as np
import zmq

import warpband as wb

WAKES_MS = 200  #: how often a server that waits looks for its end


def decoded(message, decoder):
    """The answer to a message, or nothing where its length is not that of codewords."""
    if len(message) == 0 or len(message) % (4 * decoder.n) != 0:
        print(f"a message of {len(message)} bytes: expected a multiple of {4 * decoder.n}", file=sys.stderr, flush=True)
        return b""
    return decoder(np.frombuffer(message, np.float32).reshape(-1, decoder.n))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--llrs", default="tcp://127.0.0.1:5555", help="where LLRs come in; port * takes a free one")
    parser.add_argument("--connect", action="store_true", help="connect to who sends LLRs, instead of waiting for connections")
    parser.add_argument("--bits", default="tcp://127.0.0.1:5556", help="where bits go out")
    parser.add_argument("--k", type=int, default=1024, help="information bits of a codeword")
    parser.add_argument("--iterations", type=int, default=8)
    parser.add_argument("--device", default="cpu", help="cpu, cuda:0, cuda:1, ...")
    options = parser.parse_args()

    executor = wb.cpu() if options.device == "cpu" else wb.cuda(device=int(options.device.removeprefix("cuda:")))
    decoder = wb.TurboDecoder(k=options.k, iterations=options.iterations, executor=executor)
    context = zmq.Context()
    llrs, bits = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    if options.connect:
        llrs.connect(options.llrs)
    else:
        llrs.bind(options.llrs)
    bits.bind(options.bits)
    ended = threading.Event()
    for ending in (signal.SIGINT, signal.SIGTERM):  # an exception could come where Python drops it: while a message is let go
        signal.signal(ending, lambda *_: ended.set())
    print(f"LLRs to {llrs.last_endpoint.decode()}, bits from {bits.last_endpoint.decode()}", flush=True)

    codewords, busy = 0, 0.0
    while not ended.is_set():
        if not llrs.poll(WAKES_MS):
            continue
        message = llrs.recv(copy=False)
        start = time.perf_counter()
        answer = decoded(message.buffer, decoder)
        busy += time.perf_counter() - start
        codewords += len(answer)
        while not ended.is_set() and not bits.poll(WAKES_MS, zmq.POLLOUT):
            pass  # nobody takes answers
        if not ended.is_set():
            bits.send(answer, copy=False)
    rate = f", {1e-6 * codewords * options.k / busy:.1f} Mb/s while decoding" if codewords else ""
    print(f"{codewords} codewords decoded{rate}", flush=True)
    context.destroy(linger=0)


if __name__ == "__main__":
    main()
