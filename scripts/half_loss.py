#!/usr/bin/env python3
"""What halves and 8-bit LLRs cost in error rate: the uplink of 128 antennas and 16 users, 16-QAM, a WiMAX LDPC codeword of
rate 1/2 and n = 576 for each user over 12 subcarriers of 12 symbols, Rayleigh channels. All formats detect the same samples.

    PYTHONPATH=build/release/python python3 scripts/half_loss.py [--drops 600] [--snr-db -14.6 -14.4]
"""
import argparse

import numpy as np
import warpband as wb

ANTENNAS, USERS, SUBCARRIERS, SYMBOLS = 128, 16, 12, 12


def normal(rng, *shape):
    return (rng.standard_normal(shape + (2,), np.float32) * np.float32(0.5 ** 0.5)).view(np.complex64)[..., 0]


def halves(x):
    return np.ascontiguousarray(x).view(np.float32).reshape(*x.shape, 2).astype(np.float16)


def formats(steps):
    """Name, whether H and y are halves, steps of the LLRs or None for floats."""
    return [("complex64, float32 LLRs", False, None), ("halves, float32 LLRs", True, None)] + [
        (f"halves, int8 LLRs, {s:g} steps", True, s) for s in steps]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--drops", type=int, default=600, help="16 codewords each")
    options.add_argument("--snr-db", type=float, nargs="+", default=[-14.6, -14.4], help="of a user at an antenna")
    options.add_argument("--steps", type=float, nargs="+", default=[8.0, 2.0])
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    code = wb.wimax_ldpc(n=576, rate="1/2")
    encoder, decoder = wb.LdpcEncoder(code=code), wb.LdpcDecoder(code=code, iterations=20)
    mapper = wb.QamMapper(qam=16)
    for snr_db in given.snr_db:
        rng = np.random.default_rng(given.seed)
        n0 = 10 ** (-snr_db / 10)
        errors = {name: 0 for name, _, _ in formats(given.steps)}
        power = error = 0.0
        for _ in range(given.drops):
            bits = rng.integers(0, 2, (USERS, 288), dtype=np.uint8)
            sent = mapper(encoder(bits).reshape(USERS, SUBCARRIERS, 4 * SYMBOLS)).transpose(1, 2, 0)
            h = normal(rng, SUBCARRIERS, ANTENNAS, USERS)
            y = (np.einsum("fbu,fsu->fsb", h, sent) + np.float32(n0 ** 0.5) * normal(rng, SUBCARRIERS, SYMBOLS, ANTENNAS))
            y = y.astype(np.complex64)
            narrow = halves(h), halves(y)
            estimates = []
            for name, half, steps in formats(given.steps):
                detector = wb.MassiveUplink(antennas=ANTENNAS, users=USERS, qam=16, llr_steps=steps or 8.0)
                llr, x = detector(*(narrow if half else (h, y)), n0, outputs=("llr_int8" if steps else "llr", "equalized"))
                estimates.append(x)
                llr = llr.reshape(SUBCARRIERS, SYMBOLS, USERS, 4).transpose(2, 0, 1, 3).reshape(USERS, 576)
                if steps:
                    llr = llr.astype(np.float32) / np.float32(steps)
                decided = decoder(np.ascontiguousarray(llr), outputs="bits")
                errors[name] += int((decided != bits).any(1).sum())
            power += float((np.abs(estimates[0]) ** 2).sum())
            error += float((np.abs(estimates[1] - estimates[0]) ** 2).sum())
        blocks = given.drops * USERS
        print(f"SNR {snr_db:g} dB, {blocks} codewords; estimates from halves differ by {10 * np.log10(error / power):.1f} dB")
        for name, count in errors.items():
            print(f"  {name:32} {count:6} block errors, {count / blocks:.4f}")


if __name__ == "__main__":
    main()
