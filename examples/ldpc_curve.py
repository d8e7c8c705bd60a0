"""An error-rate curve of one's own: two LDPC decoders over AWGN, with a stop rule, a file that can be resumed, and a figure.

    python examples/ldpc_curve.py [--frame-errors 100] [--output ldpc.json] [--plot ldpc.png]
"""
import argparse

import warpband as wb

SCENARIO = {
    "title": "WiFi LDPC code, n = 648, rate 1/2, QPSK over AWGN",
    "code": {"type": "wifi-ldpc", "n": 648, "rate": "1/2"},
    "modem": {"modulation": "qpsk"},
    "sweep": {"ebn0_db": [1.0, 1.5, 2.0, 2.5]},
    "stop": {"frame_errors": 100, "max_frames": 100000},
    "curve": [{"label": "normalised min-sum"}, {"label": "sum-product", "decoder": {"algorithm": "sum-product"}}],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--frame-errors", type=int, default=100)
    parser.add_argument("--output", default=None, help="a result file, which warpband.sweep(resume=...) goes on with")
    parser.add_argument("--plot", default=None, help="a figure, which needs matplotlib")
    options = parser.parse_args()

    result = wb.sweep(SCENARIO, frame_errors=options.frame_errors, output=options.output)
    print(result)
    if options.plot:
        wb.plot.save(wb.plot.error_rates(result), options.plot)


if __name__ == "__main__":
    main()
