#!/usr/bin/env python3
"""The requirements of 3GPP TS 38.104 sections 8.2.1.2 and 8.2.2.2 (PUSCH, FR1): our SNR at 70 % of the maximum throughput.

    PYTHONPATH=build/release/python .venv/bin/python scripts/ts38104.py [--device cuda:0] [--frames 500] [--rows REGEX]
        [--csi lmmse] [-o curves/ts38104_pusch.json] [--page docs/pusch.md]

Each row of curves/ts38104_pusch.csv is a reference channel, a delay line and the SNR that a base station may need. From there the
SNR falls in steps until the throughput, with up to four transmissions, is below 70 %. A straight line between the last two points
gives our SNR. Rows that the output has already are not run again with as many frames or fewer. --page writes the table between the
marks in a page.
"""
import argparse
import csv
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python/warpband"))
from _json_lines import json_lines  # noqa: E402

BEGIN, END = "<!-- ts38104: begin -->", "<!-- ts38104: end -->"
WANTED, STEP, LOWEST = 0.7, 1.0, 12.0  # throughput, dB, dB below the requirement


def scenario_of(row, csi, snr_db, frames, detector):
    return {"nr": {"channel": "pusch", "frc": row["frc"], "csi": csi}, "mimo": {"rx_antennas": int(row["rx"])},
            "channel": {"type": "tdl", "profile": row["profile"], "doppler_hz": float(row["doppler_hz"])},
            "detector": {"type": detector}, "code": {"transmissions": 4}, "decoder": {"iterations": 12},
            "sweep": {"snr_db": [round(snr_db, 3)]}, "stop": {"frame_errors": 0, "max_frames": frames}}


def throughput(row, options, snr_db):
    import warpband as wb
    result = wb.sweep(scenario_of(row, options.csi, snr_db, options.frames, options.detector), device=options.device,
                      threads=options.threads)
    return result.rows()[0]["relative_throughput"]


def measured(row, options):
    """The SNR of 70 %, and the points that it follows from."""
    required = float(row["required_snr_db"])
    points = [(required, throughput(row, options, required))]
    down = points[0][1] >= WANTED
    while (points[-1][1] >= WANTED) == down and abs(points[-1][0] - required) < LOWEST:
        snr_db = points[-1][0] - STEP if down else points[-1][0] + STEP
        points.append((snr_db, throughput(row, options, snr_db)))
    if (points[-1][1] >= WANTED) == down:
        return None, points
    (x0, y0), (x1, y1) = points[-2:]
    return x0 + (WANTED - y0) * (x1 - x0) / (y1 - y0), points


def key_of(row):
    return f"{row['table']} {row['tx']}x{row['rx']} {row['frc']} {row['profile']}-{row['doppler_hz']}"


def table_of(rows, results):
    done = [(row, results[key_of(row)]) for row in rows if key_of(row) in results]
    passed = sum(r["snr_db"] is not None and r["snr_db"] <= float(row["required_snr_db"]) for row, r in done)
    lines = [f"{len(done)} of {len(rows)} rows measured, {passed} of them pass.", "",
             "| table | MHz | kHz | tx x rx | channel | reference channel | required | ours | margin | CSI | blocks a point |",
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row, r in done:
        need, measured = float(row["required_snr_db"]), r["snr_db"]
        lines.append(f"| {row['table']} | {row['bandwidth_mhz']} | {row['spacing_khz']} | {row['tx']} x {row['rx']} | {row['profile']}-"
                     f"{row['doppler_hz']} | {row['frc']} | {need:.1f} dB | "
                     + (f"{measured:.1f} dB | {need - measured:.1f} dB" if measured is not None else "none | none") + f" | {r['csi']} | {r['frames']} |")
    return lines


def write_page(page, lines):
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    page.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + END + rest.split(END)[1], encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--frames", type=int, default=500, help="transport blocks of a point")
    parser.add_argument("--rows", default="", help="only rows whose name, as it is printed, the expression finds")
    parser.add_argument("--csi", default="lmmse", choices=("lmmse", "ls", "perfect"))
    parser.add_argument("--detector", default="mmse")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "curves/ts38104_pusch.json")
    parser.add_argument("--page", type=pathlib.Path)
    options = parser.parse_args()
    with open(ROOT / "curves/ts38104_pusch.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    results = json.loads(options.output.read_text(encoding="utf-8")) if options.output.exists() else {}
    for row in rows:
        key = key_of(row)
        if not re.search(options.rows, key):
            continue
        old = results.get(key)
        if old and old["csi"] == options.csi and old["detector"] == options.detector and old["frames"] >= options.frames:
            continue
        snr_db, points = measured(row, options)
        results[key] = {"snr_db": None if snr_db is None else round(snr_db, 2), "required_snr_db": float(row["required_snr_db"]),
                        "csi": options.csi, "detector": options.detector, "frames": options.frames,
                        "points": [[round(x, 3), round(y, 4)] for x, y in points]}
        print(key, results[key], flush=True)
        options.output.write_text(json_lines(results), encoding="utf-8")
    lines = table_of(rows, results)
    if options.page:
        write_page(options.page, lines)
    print("\n".join(lines))
    failed = [k for k, r in results.items() if r["snr_db"] is None or r["snr_db"] > r["required_snr_db"]]
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
