"""PRACH, against its formulas in NumPy and data of other programs."""
import json
import os
import pathlib

import numpy as np
import pytest

import warpband as wb

REFDATA = pathlib.Path(os.environ.get("WARPBAND_REFDATA", pathlib.Path(__file__).parents[3] / "shared" / "refdata")) / "nr_time"
LONG = {"0": 1.25, "1": 1.25, "2": 1.25, "3": 5}
N_CS = {1.25: [0, 13, 15, 18, 22, 26, 32, 38, 46, 59, 76, 93, 119, 167, 279, 419], 5: [0, 13, 26, 33, 38, 41, 49, 55, 64, 76, 93, 119, 139, 209, 279, 419],
        15: [0, 2, 4, 6, 8, 10, 12, 13, 15, 17, 19, 23, 27, 34, 46, 69]}


try:
    wb.OfdmModulator()(np.zeros((7, 300), np.complex64))
except RuntimeError:
    pytest.skip("this build has no FFT for CPUs", allow_module_level=True)


def refdata(path):
    if not (REFDATA / path).exists():
        pytest.skip(f"no refdata: cannot open '{REFDATA / path}'")
    return REFDATA / path


def sequence(length, u, shift):
    n = (np.arange(length) + shift) % length
    return np.exp(-1j * np.pi * (u * n * (n + 1) % (2 * length)) / length)


def settings_of(row):
    """Of a row of the reference data."""
    format, khz = row["format"], row["df_ra_hz"] / 1e3
    given = {"format": format, "root_sequence": row["root_sequence_index"], "sample_rate_hz": row["sample_rate_hz"],
             "zero_correlation_zone": N_CS[khz if format in LONG else 15].index(row["n_cs"]), "first_subcarrier": row["first_subcarrier"]}
    return given if format in LONG else {**given, "spacing_khz": int(khz)}


def test_values_and_samples_follow_the_formulas():
    for settings in ({"format": "0", "root_sequence": 22}, {"format": "A3", "spacing_khz": 30, "zero_correlation_zone": 11, "first_subcarrier": -100},
                     {"format": "3", "sample_rate_hz": 30.72e6, "first_subcarrier": 1000}):
        generator = wb.PrachGenerator(**settings)
        samples = generator([0, 5, 63])
        assert samples.shape == (3, generator.samples) and np.array_equal(generator(5), samples[1])
        assert generator.samples == generator.prefix_samples + generator.repetitions * generator.sequence_samples
        for i, p in enumerate((0, 5, 63)):
            length = generator.length
            y = np.fft.fft(sequence(length, generator.roots[p], generator.shifts[p])) / length
            np.testing.assert_allclose(generator.values(p), y * length ** 0.5, atol=1e-6)
            first = settings.get("first_subcarrier", -(length // 2))
            n = np.arange(generator.samples)[::97] - generator.prefix_samples
            k = first + np.arange(length)
            expected = np.exp(2j * np.pi * (np.outer(n, k) % generator.sequence_samples) / generator.sequence_samples) @ y
            np.testing.assert_allclose(samples[i, ::97], expected * (length / generator.sequence_samples) ** 0.5, atol=3e-6)


def test_samples_are_those_of_other_programs():
    rows = json.loads(refdata("vectors/prach_time.json").read_text())["vectors"]
    arrays = np.load(refdata("vectors/prach_time.npz"))
    assert rows
    for row in rows:
        place = {"resource_blocks": row["n_prb"], "first_block": row["msg1_first_rb"], "uplink_khz": int(row["pusch_scs_khz"])}
        settings = settings_of(row)
        assert wb.prach_first_subcarrier(format=row["format"], spacing_khz=settings.get("spacing_khz", 15), **place) == row["first_subcarrier"]
        if row["format"] not in LONG:
            symbols = [0]
            for s in range(27):
                symbols.append(symbols[-1] + (2192 / (row["df_ra_hz"] / 15e3) + 16 * (s % (7 * row["df_ra_hz"] // 15000) == 0)) / 30.72)
            settings["start_symbol"] = int(np.argmin(np.abs(np.array(symbols) - row["t_start_us"])))
        generator = wb.PrachGenerator(**settings)
        p = row["preamble_index"]
        assert (generator.prefix_samples, generator.sequence_samples, generator.repetitions) == (row["prefix_samples"], row["symbol_samples"], row["repetitions"])
        assert (generator.roots[p], generator.shifts[p]) == (row["u"], row["c_v"])
        expected = arrays[row["arrays"]["samples"]]
        sent = generator(p) * (row["symbol_samples"] / row["l_ra"]) ** 0.5
        np.testing.assert_allclose(sent, expected, atol=5e-4, err_msg=str(row["id"]))


def test_what_was_sent_is_found(rng):
    for settings in ({"format": "0", "root_sequence": 22}, {"format": "B4", "spacing_khz": 30, "zero_correlation_zone": 14}):
        detector = wb.PrachDetector(**settings, antennas=2)
        rate = detector.sequence_samples * (1250 if settings["format"] == "0" else 30e3)
        noise = rng.normal(size=(3, 5, 2, detector.samples, 2)) @ [1, 1j] * 0.5 ** 0.5
        sent = wb.PrachGenerator(**settings)(range(0, 60, 4))
        samples = noise + 0.4 * np.roll(sent, 3, axis=-1).reshape(3, 5, 1, -1)
        values = detector.demodulate(samples)
        assert values.shape == (3, 5, 2, detector.repetitions, detector.length)
        detected, delay_us, advance, snr_db, metric, status = detector(
            values, outputs=("detected", "delay_us", "timing_advance", "snr_db", "metric", "status"))
        assert np.array_equal(np.argwhere(detected.reshape(15, 64))[:, 1], np.arange(0, 60, 4)) and not status.any()
        found = detected.astype(bool)
        np.testing.assert_allclose(delay_us[found], 3e6 / rate, atol=0.25)
        np.testing.assert_allclose(snr_db[found], 20 * np.log10(0.4), atol=1.5)
        assert (metric[found] > detector.threshold).all() and not delay_us[~found].any() and not snr_db[~found].any()
        assert np.array_equal(advance[found], np.maximum(0, np.floor(delay_us[found] * 1.92 + 0.5)))


def test_occasions_of_other_programs():
    """Preambles within the tolerance of TS 38.104, and no other. One of 67 is in a fade, below two of more than ten times its power."""
    content = json.loads(refdata("samples/prach.json").read_text())
    for file in content["files"]:
        samples = np.load(refdata(f"samples/{file['file']}"))
        detector = wb.PrachDetector(**settings_of(file), antennas=samples.shape[1])
        assert detector.prefix_samples == file["prefix_samples"]
        detected, delay_us = detector(detector.demodulate(samples[..., :detector.samples]), outputs=("detected", "delay_us"))
        fading = file["channel"] != "AWGN"
        tolerance = {"0": 2.55 if fading else 1.04, "A2": 2.03, "B4": 0.26}[file["format"]]
        for i, sent in enumerate(file["occasions"]):
            seen = [p for p in sent if (file["file"], i, p["preamble"]) != ("prach_a2_tdlc.npy", 3, 53)]
            assert np.flatnonzero(detected[i]).tolist() == sorted(p["preamble"] for p in seen), (file["file"], i)
            for p in seen:
                assert abs(delay_us[i, p["preamble"]] - p["delay_us"]) < tolerance, (file["file"], i, p)


def test_bad_values_and_settings():
    detector = wb.PrachDetector(format="A1", zero_correlation_zone=11)
    values = np.zeros((3, 1, 2, 139), np.complex64)
    values[:2] = wb.PrachGenerator(format="A1", zero_correlation_zone=11).values(9)
    values[1, 0, 1, 7] = np.nan
    detected, status = detector(values, outputs=("detected", "status"))
    assert np.argwhere(detected).tolist() == [[0, 9]] and status.tolist() == [0, 1, 0]
    for call, match in ((lambda: wb.PrachDetector(format="A1", root_sequence=138), "root_sequence = 138 is not allowed"),
                        (lambda: wb.PrachDetector(format="D1"), 'format = "D1"'), (lambda: wb.PrachGenerator(sample_rate_hz=1e6), "sample_rate_hz = "),
                        (lambda: wb.PrachDetector(max_cfo_hz=700), "max_cfo_hz = 700"), (lambda: wb.PrachGenerator()(64), "preambles = 64"),
                        (lambda: wb.PrachGenerator().values(-1), "preamble = -1"), (lambda: detector(values[..., :7]), "values"),
                        (lambda: detector.demodulate(np.zeros((2, 9))), "samples"),
                        (lambda: wb.prach_first_subcarrier(format="0", uplink_khz=120), "uplink_khz = 120")):
        with pytest.raises(ValueError, match=match):
            call()
