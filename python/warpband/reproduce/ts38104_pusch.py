"""PUSCH of TS 38.104 sections 8.2.1 and 8.2.2: the SNR at 70 % of the maximum throughput, with up to four transmissions."""
from __future__ import annotations

from .ts38104_rows import Margin, Measured, interval

WANTED, STEP, LOWEST = 0.7, 1.0, 12.0  # share of the maximum throughput, dB, dB from the requirement
COLUMNS = ("table", "MHz", "kHz", "antennas", "channel", "reference channel", "SNR", "throughput, %")
CSI, DETECTOR, ITERATIONS, TRANSMISSIONS = "lmmse", "mmse", 12, 4
QUICK = 2  # transport blocks of a point


def trials(row: dict) -> int:
    """Transport blocks of a point."""
    return 200


def key(row: dict) -> str:
    return f"{row['table']} {row['tx']}x{row['rx']} {row['frc']} {row['profile']}-{row['doppler_hz']}"


def cells(row: dict) -> list[str]:
    return [row["table"], row["bandwidth_mhz"], row["spacing_khz"], f"{row['tx']} x {row['rx']}", f"{row['profile']}-{row['doppler_hz']}", row["frc"],
            f"{float(row['required_snr_db']):.1f} dB"]


def settings(row: dict) -> dict:
    """Of the receiver, beside the row's own."""
    return {"csi": CSI, "detector": DETECTOR, "iterations": ITERATIONS, "transmissions": TRANSMISSIONS}


def measure(row: dict, frames: int, device: str, quick: bool) -> dict:
    """Throughputs from the required SNR on, in steps of 1 dB, until 70 % lie between the last two."""
    import warpband as wb

    def throughput(snr_db):
        scenario = {"nr": {"channel": "pusch", "frc": row["frc"], "csi": CSI}, "mimo": {"rx_antennas": int(row["rx"])},
                    "channel": {"type": "tdl", "profile": row["profile"], "doppler_hz": float(row["doppler_hz"])},
                    "detector": {"type": DETECTOR}, "code": {"transmissions": TRANSMISSIONS}, "decoder": {"iterations": ITERATIONS},
                    "sweep": {"snr_db": [round(snr_db, 3)]}, "stop": {"frame_errors": 0, "max_frames": frames}}
        return wb.sweep(scenario, device=device).rows()[0]["relative_throughput"]

    required = float(row["required_snr_db"])
    points = [(required, throughput(required))]
    down = points[0][1] >= WANTED
    while not quick and (points[-1][1] >= WANTED) == down and abs(points[-1][0] - required) < LOWEST:
        snr_db = points[-1][0] + (-STEP if down else STEP)
        points.append((snr_db, throughput(snr_db)))
    return {"count": frames, "points": [[round(x, 3), round(y, 4)] for x, y in points]}


def crossing(points: list[tuple[float, float]]) -> float | None:
    """The SNR of 70 %, on the straight line between the last two points."""
    if len(points) < 2 or (points[-2][1] >= WANTED) == (points[-1][1] >= WANTED):
        return None
    (x0, y0), (x1, y1) = points[-2:]
    return x0 + (WANTED - y0) * (x1 - x0) / (y1 - y0)


def judged(row: dict, result: dict) -> Measured:
    """Intervals take a point's transport blocks as trials: a block has at least one transmission."""
    points, blocks = result["points"], result["count"]
    low, high = interval(points[0][1] * blocks, blocks)
    required, ours, margin = float(row["required_snr_db"]), crossing(points), None
    if ours is not None:
        (x0, y0), (x1, y1) = points[-2:]
        ends = [(end - WANTED) * (x1 - x0) / (y1 - y0) for end in interval(WANTED * blocks, blocks)]
        margin = Margin(required - ours, required - ours + min(ends), required - ours + max(ends))
    return Measured(points[0][1], low, high, WANTED, at_least=True, margin=margin)
