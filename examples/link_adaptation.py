"""Link adaptation: throughput over SNR on TDL-C with an outer loop, beside each MCS alone.

    python examples/link_adaptation.py [--tables FOLDER] [--users 32] [--slots 30] [--target 0.1] [--bias-db 1] [--snrs=0,5,10,15]

Each user has a drop of the channel in each slot and reports its SINRs, which are wrong by --bias-db. The link chooses the MCS that its tables
state to have at most the target error rate at the effective SINR, less an offset. An error raises the user's offset and a success lowers it,
so that the target is met in the long run (K. I. Pedersen et al., "Frequency domain scheduling for OFDMA with limited and noisy channel
feedback", VTC 2007). Without --tables the script simulates a small table in white noise first.
"""
import argparse
import json
import pathlib
import tempfile

import numpy as np

import warpband as wb
from warpband.calibrate import Link, drops

TABLE, MCS, SIZE = 1, (2, 7, 12, 18), 300  # QPSK, QPSK, 16-QAM, 64-QAM


def simulated_table(links, folder, blocks):
    """Curves in white noise of the links, in steps of 0.5 dB, in the layout of `warpband tables`."""
    columns = {name: [] for name in ("link", "transform_precoding", "mcs_table", "mcs", "modulation_order", "rate", "size", "round", "first",
                                     "points", "snr_db", "blocks", "errors")}
    for link in links:
        order, first = int(np.log2(link.qam)), len(columns["snr_db"])
        snr = round(2 * 10 * np.log10(2 ** (link.rate * order) - 1)) / 2
        while True:
            wrong = link.errors([1.0], snr, blocks, seed=len(columns["snr_db"]))
            for name, value in (("snr_db", snr), ("blocks", blocks), ("errors", wrong)):
                columns[name].append(value)
            if wrong <= blocks // 100:
                break
            snr += 0.5
        row = (1, 0, TABLE, link.mcs, order, link.rate, SIZE, 1, first, len(columns["snr_db"]) - first)
        for name, value in zip(columns, row):
            columns[name].append(value)
    text = json.dumps({"attributes": {"format": "warpband-tables", "version": 1, "harq": "none"}, **columns})
    pathlib.Path(folder, "tables.json").write_text(text)
    return wb.BlerTables(path=folder)


def adapted(links, tables, gains, snr_db, target, bias_db, step_db=0.5):
    """Bits a symbol of correct blocks, and the block error rate of the second half of the slots; gains: [slots, users, frequencies]."""
    slots, users, _ = gains.shape
    offset, bits, errors = np.zeros(users), 0.0, []
    for slot, g in enumerate(gains):
        chosen = tables.choose(SIZE, g * 10 ** ((snr_db + bias_db) / 10), target=target, backoff_db=offset)
        wrong = np.zeros(users, bool)
        for link in links:
            has = np.flatnonzero(chosen == link.mcs)
            if len(has):
                wrong[has] = link.wrong(g[has], snr_db, len(has), seed=slot)
                bits += link.rate * np.log2(link.qam) * (~wrong[has]).sum()
        offset += np.where(wrong, step_db, -step_db * target / (1 - target))
        errors.append(wrong.mean())
    return bits / (slots * users), float(np.mean(errors[slots // 2:]))


def fixed(link, gains, snr_db):
    """Bits a symbol of one MCS."""
    rows = gains.reshape(-1, gains.shape[-1])
    return link.rate * np.log2(link.qam) * (1 - link.errors(rows, snr_db, len(rows), seed=1) / len(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--tables", help="a folder that `warpband tables nr --mcs 2,7,12,18` made")
    parser.add_argument("--users", type=int, default=32)
    parser.add_argument("--slots", type=int, default=30)
    parser.add_argument("--target", type=float, default=0.1)
    parser.add_argument("--bias-db", type=float, default=1.0)
    parser.add_argument("--snrs", default="0,5,10,15")
    parser.add_argument("--table-blocks", type=int, default=400, help="blocks of each point of the simulated table")
    options = parser.parse_args()

    links = [Link(TABLE, mcs, SIZE) for mcs in MCS]
    with tempfile.TemporaryDirectory() as folder:
        tables = wb.BlerTables(path=options.tables, link="pdsch", mcs_table=TABLE) if options.tables else \
            simulated_table(links, folder, options.table_blocks)
        if set(tables.mcs) != set(MCS):
            parser.error(f"--tables has MCSs {tables.mcs}: expected {list(MCS)}")
    gains = drops("tdl-c", options.users * options.slots, seed=1, delay_spread_ns=300).reshape(options.slots, options.users, -1)
    print("SNR dB  adapted (errors)  " + "  ".join(f"MCS {mcs:2}" for mcs in MCS) + "   bit/symbol")
    for snr in map(float, options.snrs.split(",")):
        rate, errors = adapted(links, tables, gains, snr, options.target, options.bias_db)
        print(f"{snr:6.1f}  {rate:7.3f} ({errors:6.3f})  " + "  ".join(f"{fixed(link, gains, snr):6.3f}" for link in links), flush=True)


if __name__ == "__main__":
    main()
