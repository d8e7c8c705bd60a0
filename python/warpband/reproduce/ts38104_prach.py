"""PRACH of TS 38.104 sections 8.4 and 11.4: preambles that are missed or have a wrong delay, and false alarms."""
from __future__ import annotations

from .ts38104_rows import Margin, Measured, interval

COLUMNS = ("table", "format", "kHz", "antennas", "channel", "tolerance", "SNR", "rate, %")
QUICK, BATCH = 10, 100  # occasions
FALSE_ALARM, ALLOWED_ALARMS = 5e-4, 0.001
STEPS = (0.0, 1.0, 2.0, 3.0)  # dB below the required SNR
ALLOWED, DELAYS = 0.01, 10  # errors; delays in steps of 0.1 us
DOPPLER_HZ = {"tdlc300": 100.0, "tdla30": 300.0}


def trials(row: dict) -> int:
    """Occasions of a row."""
    return 1000


def key(row: dict) -> str:
    return f"{row['table']} {row['format']} {row['antennas']} antennas {row['channel']}"


def cells(row: dict) -> list[str]:
    fading = DOPPLER_HZ.get(row["channel"])
    name = f"{row['channel']}-{fading:g}, {row['offset_hz']} Hz" if fading else "AWGN"
    return [row["table"], row["format"], row["spacing_khz"], row["antennas"], name, f"{row['tolerance_us']} µs", f"{float(row['snr_db']):.1f} dB"]


def occasion_of(row: dict) -> dict:
    spacing = {} if row["format"].isdigit() else {"spacing_khz": int(row["spacing_khz"])}
    return spacing | {"format": row["format"], "root_sequence": int(row["root_sequence"]), "zero_correlation_zone": int(row["zero_correlation_zone"])}


def settings(row: dict) -> dict:
    """Of the detector, beside the row's own."""
    return {"false_alarm": FALSE_ALARM, "max_cfo_hz": max(400.0, float(row["offset_hz"]))}


def measure(row: dict, count: int, device: str, quick: bool) -> dict:
    from .ts38104_measure import measure_prach  # which needs NumPy
    return measure_prach(row, count, device, quick)


def judged(row: dict, result: dict) -> Measured:
    ends = [interval(errors, result["trials"]) for errors in result["errors"]]
    rates = [errors / result["trials"] for errors in result["errors"]]
    return Measured(rates[0], *ends[0], ALLOWED, margin=Margin.of_steps(STEPS, rates, ends, ALLOWED), alarms=alarms_of(result))


def alarms_of(result: dict) -> Measured:
    """False alarms in as many occasions of noise alone."""
    return Measured(result["alarms"] / result["count"], *interval(result["alarms"], result["count"]), ALLOWED_ALARMS)
