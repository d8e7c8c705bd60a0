"""Measurements of single bursts of PUCCH and PRACH: occasions in fading of Clarke's spectrum and in noise."""
from __future__ import annotations

import numpy as np

from . import ts38104_prach, ts38104_pucch
from .ts38104_rows import executor_of


def taps(profile: str) -> tuple[np.ndarray, np.ndarray]:
    """Delays in seconds and powers, whose sum is 1, of a delay line of 3GPP."""
    import warpband as wb
    line = wb.TdlChannel(profile=profile)
    return np.array(line.delays_ns) * 1e-9, np.array(line.powers)


def covariance(times: np.ndarray, doppler_hz: float) -> np.ndarray:
    """J0(2 pi f (t - t')) of Clarke's spectrum: the mean over directions of arrival, complete for lags below 10 / f."""
    angles = np.pi * (np.arange(256) + 0.5) / 256
    return np.cos(2 * np.pi * doppler_hz * (times[:, None, None] - times[None, :, None]) * np.cos(angles)).mean(-1)


def gains(rng: np.random.Generator, count: int, powers: np.ndarray, times: np.ndarray, doppler_hz: float) -> np.ndarray:
    """Gains of taps, complex64 ``(count, taps, times)``; each antenna of each burst is one of the count."""
    values, vectors = np.linalg.eigh(covariance(times, doppler_hz))
    kept = values > 1e-9
    factor = (vectors[:, kept] * np.sqrt(values[kept])).T
    normal = white(rng, (count, len(powers), int(kept.sum())))
    return ((normal * np.sqrt(powers)[:, None].astype(np.float32)) @ factor.astype(np.complex64)).astype(np.complex64)


def white(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Circular white noise of unit variance, complex64."""
    return (rng.standard_normal((*shape, 2), np.float32) * np.float32(0.5 ** 0.5)).view(np.complex64)[..., 0]


def responses(rng: np.random.Generator, row: dict, shape: tuple[int, int], first_hop: int, count: int) -> np.ndarray:
    """H of `count` antennas of occasions, ``(count, symbols, subcarriers)``."""
    symbols, subcarriers = shape
    delays, powers = taps("tdlc300")
    spacing = 1e3 * int(row["spacing_khz"])
    fading = gains(rng, count, powers, np.arange(symbols) * 15e3 / spacing / 14e3, 100.0)
    second = ts38104_pucch.resource_of(row)["second_hop_prb"]
    h = np.empty((count, symbols, subcarriers), np.complex64)
    for hop, offset in ((slice(0, first_hop), 0), (slice(first_hop, symbols), 12 * second)):
        waves = np.exp(-2j * np.pi * spacing * np.outer(delays, offset + np.arange(subcarriers))).astype(np.complex64)
        h[:, hop] = fading[:, :, hop].transpose(0, 2, 1) @ waves
    return h


def useful_steps(errors: np.ndarray, allowed: float) -> int:
    """Steps up to the first that has three times the allowed errors: later ones do not change the margin."""
    over = np.flatnonzero(errors > 3 * allowed)
    return int(over[0]) + 1 if len(over) else len(errors)


def wrong_pucch(row: dict, bits: np.ndarray, detected: np.ndarray, sent: np.ndarray) -> int:
    """Wrong bits of HARQ-ACK, or wrong messages; a message that is not detected is missed."""
    if row["test"] == "nack to ack":
        return int(bits.sum())
    errors = (bits != sent) | (detected == 0)[:, np.newaxis]
    return int(errors.sum() if row["test"] in ts38104_pucch.REQUIREMENTS else errors.any(axis=1).sum())


def measure_pucch(row: dict, count: int, device: str, quick: bool) -> dict:
    """Errors at the required SNR and at lower ones, and messages found in noise; slots are random."""
    import warpband as wb
    executor, resource, antennas = executor_of(device), ts38104_pucch.resource_of(row), int(row["antennas"])
    generator = wb.PucchGenerator(**resource, executor=executor)
    detector = wb.PucchDetector(**resource, **ts38104_pucch.settings(row), antennas=antennas, executor=executor)
    rng = np.random.default_rng([38104, *ts38104_pucch.key(row).encode()])
    steps = ts38104_pucch.STEPS[:1] if quick else ts38104_pucch.STEPS
    errors, alarms, bits = np.zeros(len(steps), int), 0, generator.message_bits
    trials = count * (bits if row["test"] in ts38104_pucch.REQUIREMENTS else 1)
    for begin in range(0, count, ts38104_pucch.BATCH):
        n = min(ts38104_pucch.BATCH, count - begin)
        slot = rng.integers(0, generator.slots, n)
        sent = rng.integers(0, 2, (n, bits), np.uint8)
        if row["test"] in ts38104_pucch.REQUIREMENTS:
            sent[:] = row["test"] != "nack to ack"
        h = responses(rng, row, generator.shape, generator.first_hop_symbols, n * antennas)
        signal = generator(sent, slot=slot)[:, np.newaxis] * h.reshape(n, antennas, *generator.shape)
        noise = white(rng, signal.shape)
        for i, step in enumerate(steps[:useful_steps(errors, ts38104_pucch.allowed(row) * trials)]):
            found, detected = detector(noise + np.float32(10 ** ((float(row["snr_db"]) - step) / 20)) * signal, slot=slot, outputs=("bits", "detected"))
            errors[i] += wrong_pucch(row, found, detected, sent)
        alarms += int(detector(noise, slot=slot, outputs="detected").sum())
    return {"count": count, "trials": trials, "errors": errors[:useful_steps(errors, ts38104_pucch.allowed(row) * trials)].tolist(), "alarms": alarms}


def delayed(samples: np.ndarray, rate_hz: float, delays_s: np.ndarray) -> np.ndarray:
    """Copies of a burst, ``(*delays, samples)``, by a phase in the frequency domain of a burst with silence behind it."""
    size = 1 << (len(samples) + int(delays_s.max() * rate_hz) + 64).bit_length()
    turn = np.exp(-2j * np.pi * np.fft.fftfreq(size) * rate_hz * delays_s[..., np.newaxis])
    return np.fft.ifft(np.fft.fft(samples, size) * turn)[..., :len(samples)].astype(np.complex64)


def measure_prach(row: dict, count: int, device: str, quick: bool) -> dict:
    """Errors at the required SNR and at lower ones. Noise is added to resource elements, where white noise stays white."""
    import warpband as wb
    executor, occasion, antennas = executor_of(device), ts38104_prach.occasion_of(row), int(row["antennas"])
    generator = wb.PrachGenerator(**occasion, executor=executor)
    detector = wb.PrachDetector(**occasion, **ts38104_prach.settings(row), antennas=antennas, executor=executor)
    preamble, rng = int(row["preamble"]), np.random.default_rng([38104, *ts38104_prach.key(row).encode()])
    sequence_s = 1e-3 / float(row["spacing_khz"])
    rate_hz = generator.sequence_samples / sequence_s
    base = generator.n_cs / 2 / generator.length * sequence_s if row["format"].isdigit() else 0.0
    tested = base + 1e-7 * np.arange(ts38104_prach.DELAYS)
    doppler_hz = ts38104_prach.DOPPLER_HZ.get(row["channel"])
    paths, powers = taps(row["channel"]) if doppler_hz else (np.zeros(1), np.ones(1))
    copies = delayed(generator(preamble), rate_hz, tested[:, np.newaxis] + paths)
    times = np.arange(generator.samples) / rate_hz
    knots = np.linspace(0, times[-1], 12)
    offset = np.exp(2j * np.pi * float(row["offset_hz"]) * times).astype(np.complex64)
    steps = ts38104_prach.STEPS[:1] if quick else ts38104_prach.STEPS
    errors, others, alarms = np.zeros(len(steps), int), 0, 0
    for begin in range(0, count, ts38104_prach.BATCH):
        n = min(ts38104_prach.BATCH, count - begin)
        number = (begin + np.arange(n)) % ts38104_prach.DELAYS
        if doppler_hz:
            fading = gains(rng, n * antennas, powers, knots, doppler_hz).reshape(n, antennas, len(powers), -1)
            samples = np.zeros((n, antennas, generator.samples), np.complex64)
            for path in range(len(powers)):
                samples += _interpolated(fading[:, :, path], knots, times) * copies[number, np.newaxis, path]
        else:
            samples = np.repeat(copies[number], antennas, axis=1)
        signal = detector.demodulate(samples * offset)
        noise = white(rng, signal.shape)
        for i, step in enumerate(steps[:useful_steps(errors, ts38104_prach.ALLOWED * count)]):
            found, delay = detector(noise + np.float32(10 ** ((float(row["snr_db"]) - step) / 20)) * signal, outputs=("detected", "delay_us"))
            right = (found[:, preamble] == 1) & (np.abs(delay[:, preamble] - 1e6 * tested[number]) <= float(row["tolerance_us"]))
            errors[i] += n - int(right.sum())
            others += int((np.delete(found, preamble, axis=1).sum(axis=1) > 0).sum()) if i == 0 else 0
        alarms += int((detector(noise).sum(axis=1) > 0).sum())
    kept = errors[:useful_steps(errors, ts38104_prach.ALLOWED * count)]
    return {"count": count, "trials": count, "errors": kept.tolist(), "others": others, "alarms": alarms}


def _interpolated(values: np.ndarray, knots: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Straight lines between knots at equal distances: 12 in a burst of 1 ms and 300 Hz deviate by less than 0.4 %."""
    position = times / knots[1]
    left = np.minimum(position.astype(int), len(knots) - 2)
    share = (position - left).astype(np.float32)
    return values[..., left] * (1 - share) + values[..., left + 1] * share
