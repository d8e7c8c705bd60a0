"""PUCCH of TS 38.104 section 8.3, TDLC300-100 and antennas of low correlation: rates of errors and of false alarms."""
from __future__ import annotations

from .ts38104_rows import Margin, Measured, interval

COLUMNS = ("table", "format", "requirement", "kHz", "PRB", "antennas", "symbols", "SNR", "rate, %")
QUICK, BATCH = 50, 1000  # occasions
STEPS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0)  # dB below the required SNR
FALSE_ALARM, ALLOWED_ALARMS = 0.005, 0.01
REQUIREMENTS = {"detection": "ACK missed", "ack missed": "ACK missed", "nack to ack": "NACK to ACK"}


def key(row: dict) -> str:
    return " ".join([row["table"], row["test"], f"{row['carrier_prbs']} PRB", f"{row['antennas']} antennas", f"{row['symbols']} symbols",
                     *(["additional DMRS"] if row["additional_dmrs"] == "1" else [])])


def trials(row: dict) -> int:
    """Occasions of a row: more where errors are 0.1 % or where the margin is small."""
    return 10000 if int(row["format"]) < 2 else 3000


def allowed(row: dict) -> float:
    return 0.001 if row["test"] == "nack to ack" else 0.01


def cells(row: dict) -> list[str]:
    symbols = row["symbols"] + (", additional DMRS" if row["additional_dmrs"] == "1" else "")
    return [row["table"], row["format"], f"{REQUIREMENTS.get(row['test'], 'UCI BLER')} ≤ {100 * allowed(row):g} %", row["spacing_khz"],
            row["carrier_prbs"], row["antennas"], symbols, f"{float(row['snr_db']):.1f} dB"]


def resource_of(row: dict) -> dict:
    """Hops are at both ends of the carrier."""
    hopping = row["hopping"] == "1"
    numbers = {name: int(row[name]) for name in ("format", "spacing_khz", "symbols", "first_symbol", "prbs", "bits")}
    return numbers | {"hopping": hopping, "second_hop_prb": int(row["carrier_prbs"]) - int(row["prbs"]) if hopping else 0,
                      "additional_dmrs": row["additional_dmrs"] == "1"}


def settings(row: dict) -> dict:
    """Of the detector, beside the row's own."""
    return {"false_alarm": FALSE_ALARM}


def measure(row: dict, count: int, device: str, quick: bool) -> dict:
    from .ts38104_measure import measure_pucch  # which needs NumPy
    return measure_pucch(row, count, device, quick)


def judged(row: dict, result: dict) -> Measured:
    ends = [interval(errors, result["trials"]) for errors in result["errors"]]
    rates = [errors / result["trials"] for errors in result["errors"]]
    return Measured(rates[0], *ends[0], allowed(row), margin=Margin.of_steps(STEPS, rates, ends, allowed(row)), alarms=alarms_of(result))


def alarms_of(result: dict) -> Measured:
    """False alarms in as many occasions of noise alone."""
    return Measured(result["alarms"] / result["count"], *interval(result["alarms"], result["count"]), ALLOWED_ALARMS)
