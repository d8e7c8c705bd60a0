"""Small files of block error rates in the layout of `warpband tables`."""
import json
import pathlib
import tempfile

import warpband as wb

POINTS = [(1.0, 999, 899), (1.5, 999, 499), (2.0, 999, 99)]
#: MCS, modulation order, rate, size, round, points (Es/N0 in dB, blocks, errors)
ROWS = [(4, 2, 0.3, 100, 1, POINTS), (4, 2, 0.3, 400, 1, [(0.1, 999, 999), (0.3, 999, 999), *((s - 0.4, n, e) for s, n, e in POINTS)]),
        (4, 2, 0.3, 100, 2, [(s - 4, n, e) for s, n, e in POINTS]), (12, 4, 0.5, 100, 1, [(s + 6, n, e) for s, n, e in POINTS])]


def columns(rows=ROWS):
    made = {"link": [], "transform_precoding": [], "mcs_table": [], "mcs": [], "modulation_order": [], "rate": [], "size": [], "round": [],
            "first": [], "points": [], "snr_db": [], "blocks": [], "errors": []}
    for mcs, order, rate, size, rounds, points in rows:
        for name, value in zip(made, (1, 0, 1, mcs, order, rate, size, rounds, len(made["snr_db"]), len(points))):
            made[name].append(value)
        for name, values in zip(("snr_db", "blocks", "errors"), zip(*points)):
            made[name].extend(values)
    return {"attributes": {"format": "warpband-tables", "version": 1, "harq": "ir"}, **made}


def bler_tables():
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "tables.json").write_text(json.dumps(columns()))
        return wb.BlerTables(path=folder)
