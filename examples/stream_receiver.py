"""A receiver that gets frames at a fixed rate and has a deadline: MIMO detection and turbo decoding, several frames at a time.

    python examples/stream_receiver.py [--devices cpu cpu] [--rate 200] [--frames 400] [--deadline-ms 20] [--plot latency.png]

A frame is 1024 uses of 4x4 16-QAM with five codewords of 1024 bits. When frames come faster than they are received, the oldest that
waits is dropped.
"""
import argparse
import time

import numpy as np

import warpband as wb

K, CODEWORDS, USES, STREAMS, QAM = 1024, 5, 1024, 4, 16


def frames(count, noise_var, rng):
    """Bits, and what a receiver with perfect channel estimates gets of them; an H serves 16 uses."""
    bits = rng.integers(0, 2, (count, CODEWORDS, K), dtype=np.uint8)
    coded = np.zeros((count, USES * STREAMS * 4), np.uint8)  # zeros fill the frame
    codewords = wb.TurboEncoder(k=K)(bits).reshape(count, -1)
    coded[:, :codewords.shape[1]] = codewords
    sent = wb.QamMapper(qam=QAM)(coded).reshape(count * USES // 16, 16, STREAMS)
    received, channel = wb.mimo_rayleigh(sent, rx_antennas=STREAMS, uses_per_channel=16, seed=1)
    received = wb.awgn(received, noise_var=noise_var, seed=1)
    return bits, channel.reshape(count, USES // 16, STREAMS, STREAMS), received.reshape(count, USES, STREAMS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--devices", nargs="+", default=["cpu"], help="cpu, cuda:0, cuda:1, ...")
    parser.add_argument("--rate", type=float, default=100, help="frames a second")
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--deadline-ms", type=float, default=20)
    parser.add_argument("--noise-var", type=float, default=0.1)
    parser.add_argument("--plot", help="a figure, which needs matplotlib")
    options = parser.parse_args()

    rng = np.random.default_rng(1)
    bits, channels, received = frames(16, options.noise_var, rng)  # used in turn
    wrong = np.zeros(2, int)  # bits, frames

    def on_frame(frame):
        errors = int((frame.result != bits[frame.tag]).sum()) if frame.status == "delivered" else 0
        wrong[:] += errors, errors > 0

    with wb.Stream(stage=wb.NWay(streams=STREAMS, rx_antennas=STREAMS, qam=QAM), decoder=wb.TurboDecoder(k=K, precision="int16",
                   algorithm="max-log-map"), most_items=USES, items_per_channel=16, devices=options.devices,
                   overflow="drop-oldest", deadline_us=1e3 * options.deadline_ms, on_frame=on_frame) as stream:
        print(", ".join(stream.descriptions))
        start = time.perf_counter()
        for i in range(options.frames):
            time.sleep(max(0.0, start + i / options.rate - time.perf_counter()))
            stream.push(channels[i % 16], received[i % 16], options.noise_var, tag=i % 16)
        stream.drain()
        stats = stream.stats()
    print(f"{stats.delivered} frames delivered, {stats.missed} of them late, {stats.dropped} dropped, {stats.failed} failed")
    print(f"{wrong[1]} frames with wrong bits, {wrong[0]} bits in all")
    print(stats.latency)
    if options.plot:
        figure = wb.plot.latencies({"from push to delivery": stats.latency, "on the device": stats.device}, percentiles=(50, 99))
        wb.plot.save(figure, options.plot)


if __name__ == "__main__":
    main()
