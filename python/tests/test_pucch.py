"""PUCCH, against formulas in NumPy and data of other programs."""
import json
import os
import pathlib

import numpy as np
import pytest

import warpband as wb

REFDATA = pathlib.Path(os.environ.get("WARPBAND_REFDATA", pathlib.Path(__file__).parents[3] / "shared" / "refdata")) / "nr_time"


def refdata(path):
    if not (REFDATA / path).exists():
        pytest.skip(f"no refdata: cannot open '{REFDATA / path}'")
    return REFDATA / path


def resource_of(row, spacing_khz):
    """Settings and message of a row of the reference data."""
    names = {"n_id_hopping": "hopping_id", "group_hopping": "group_hopping", "m0": "initial_cyclic_shift", "occ": "occ", "sf": "spreading",
             "rnti": "rnti", "n_id_scrambling": "scrambling_id", "n_id_dmrs": "dmrs_id", "additional_dmrs": "additional_dmrs", "pi2_bpsk": "pi2_bpsk"}
    given = {"format": row["format"], "spacing_khz": spacing_khz, "first_symbol": row["first_symbol"], "symbols": row["n_symbols"],
             "first_prb": row["first_prb"], "prbs": row["prbs"], "hopping": row["intra_slot_hopping"]}
    if row["intra_slot_hopping"]:
        given["second_hop_prb"] = row["second_hop_prb"]
    given.update({ours: row[theirs] for theirs, ours in names.items() if row.get(theirs) is not None})
    message = row.get("bits", row.get("harq_ack") or "")
    given["bits"] = len(message)
    if row["format"] == 0 and row.get("positive_sr") is not None:
        given["scheduling_request"] = True
        message += str(int(row["positive_sr"]))
    return given, np.array([int(b) for b in message], np.uint8)


def test_resource_elements_are_those_of_other_programs():
    data = json.loads(refdata("vectors/pucch.json").read_text())
    arrays = np.load(refdata("vectors/pucch.npz"))
    for row in data["vectors"]:
        resource, message = resource_of(row, 30)
        expected = arrays[row["arrays"]["used"]]
        generator = wb.PucchGenerator(**resource)
        values = generator(message, slot=row["slot"])
        np.testing.assert_allclose(values, expected, atol=5e-4, err_msg=str(row["id"]))
        assert generator.coded_bits == row.get("e", 0)
        bits, detected = wb.PucchDetector(**resource, antennas=2)(np.stack([values, 1j * values]), slot=row["slot"], outputs=("bits", "detected"))
        assert detected == 1 and np.array_equal(bits, message), row["id"]


def test_low_papr_sequences_are_those_of_other_programs():
    arrays = np.load(refdata("vectors/low_papr.npz"))
    for row in json.loads(refdata("vectors/low_papr.json").read_text())["vectors"]:
        r = wb.nr_low_papr_sequence(length=row["m"], u=row["u"], v=row["v"])
        np.testing.assert_allclose(r * np.exp(1j * row["alpha"] * np.arange(row["m"])), arrays[row["arrays"]["r"]].ravel(), atol=5e-4)


def test_short_low_papr_sequences_are_those_of_the_tables():
    tables = json.loads(refdata("tables_low_papr_phi.json").read_text())
    for length in (6, 12, 18, 24):
        rows = tables[f"phi{length}"]
        assert len(rows) == 30
        for u, phi in enumerate(rows):
            for v in (0, 1):
                np.testing.assert_allclose(wb.nr_low_papr_sequence(length=length, u=u, v=v), np.exp(0.25j * np.pi * np.array(phi)), atol=1e-6)


def test_uci_codes_are_those_of_other_programs():
    for row in json.loads(refdata("vectors/uci_codes.json").read_text())["vectors"]:
        message = np.array([int(b) for b in row["bits"]], np.uint8)
        if row["a"] <= 11:
            coded = wb.ShortBlockEncoder(k=row["a"], coded_bits=row["e"], modulation_order=row["qm"])(message)
        else:
            coded = wb.PolarEncoder(kind="uci", k=row["a"], coded_bits=row["e"])(message)
        assert "".join("01xy"[c] for c in coded) == row["coded"], row["id"]


def test_slots_of_other_programs_are_decoded():
    for file in json.loads(refdata("samples/pucch.json").read_text())["files"]:
        samples, size, begin = np.load(refdata("samples/" + file["file"])), file["n_fft"], 0
        per_subframe, carriers = file["scs_khz"] // 15 * 14, 12 * file["n_prb"]
        prefixes = [144 * size // 2048 + (16 * size * per_subframe // 14 // 2048 if s % (per_subframe // 2) == 0 else 0) for s in range(per_subframe)]
        for row in file["slots"]:
            first, grid = row["slot"] * 14 % per_subframe, []
            for symbol in range(first, first + 14):
                y = np.fft.fft(samples[:, begin + prefixes[symbol]:begin + prefixes[symbol] + size]) / size ** 0.5
                start = sum(prefixes[:symbol]) + symbol * size + prefixes[symbol]  # in the subframe
                k = np.arange(-(carriers // 2), carriers // 2)
                grid.append(y[:, k] * np.exp(2j * np.pi * (file["f0_hz"] * start / file["sample_rate_hz"] % 1)))
                begin += prefixes[symbol] + size
            resource, message = resource_of(row, file["scs_khz"])
            detector = wb.PucchDetector(**resource, antennas=len(samples))
            values = [grid[row["first_symbol"] + i][:, 12 * p:12 * (p + row["prbs"])] for i in range(row["n_symbols"])
                      for p in [row["first_prb"] if i < detector.first_hop_symbols else row["second_hop_prb"]]]
            bits, detected, snr_db = detector(np.stack(values, 1).astype("c8"), slot=row["slot"], outputs=("bits", "detected", "snr_db"))
            assert detected == 1 and np.array_equal(bits, message), row
            assert abs(snr_db - file["snr_db"]) < 6, row


def test_format_0_is_a_shifted_sequence():
    generator = wb.PucchGenerator(format=0, bits=2, symbols=2)
    values = generator([[0, 0], [0, 1], [1, 1], [1, 0]], slot=[5, 5, 5, 5])
    k = np.arange(12)
    for m, shift in enumerate((0, 3, 6, 9)):
        np.testing.assert_allclose(values[m], values[0] * np.exp(2j * np.pi * shift * k / 12), atol=1e-5)
    np.testing.assert_allclose(np.abs(values), 1, atol=1e-5)
    r = wb.nr_low_papr_sequence(length=12, u=0)
    ratio = values[0] / r
    np.testing.assert_allclose(ratio[:, 1:] / ratio[:, :-1], np.repeat(ratio[:, 1:2] / ratio[:, :1], 11, axis=1), atol=1e-4)


def test_messages_come_back_and_noise_is_nothing():
    rng = np.random.default_rng(2)

    def noise(*shape):
        return ((rng.normal(size=shape) + 1j * rng.normal(size=shape)) * 0.5 ** 0.5).astype(np.complex64)

    for resource in ({"format": 0, "bits": 1, "scheduling_request": True}, {"format": 1, "symbols": 10, "bits": 2, "hopping": True},
                     {"format": 2, "symbols": 2, "prbs": 4, "bits": 11}, {"format": 3, "symbols": 8, "prbs": 3, "bits": 50},
                     {"format": 4, "symbols": 14, "bits": 15, "spreading": 4, "occ": 2},
                     {"format": 3, "symbols": 14, "prbs": 2, "bits": 6, "csi2_bits": 40, "max_code_rate": 0.15}):
        generator, detector = wb.PucchGenerator(**resource), wb.PucchDetector(**resource, antennas=2)
        message = rng.integers(0, 2, (3, 20, generator.message_bits), np.uint8)
        slot = rng.integers(0, generator.slots, (3, 20))
        values = np.repeat(generator(message, slot=slot)[:, :, np.newaxis], 2, axis=2)
        bits, detected, metric, status = detector(values + 0.2 * noise(*values.shape), slot=slot, outputs=("bits", "detected", "metric", "status"))
        assert np.array_equal(bits, message) and detected.all() and not status.any() and (metric > detector.threshold).all()
        empty, found = detector(noise(500, *values.shape[2:]), slot=3, outputs=("bits", "detected"))
        assert found.sum() < 15 and not empty[found == 0].any()
    values = np.ones((3, 1, 1, 12), np.complex64)
    values[1, 0, 0, 4] = np.nan
    assert wb.PucchDetector()(values, slot=0, outputs="status").tolist() == [0, 1, 0]
    for call, problem in ((lambda: wb.PucchDetector()(values, slot=10), "slot = 10"), (lambda: wb.PucchDetector()(values, slot=[1, 2]), "slot = "),
                          (lambda: wb.PucchDetector()(values, slot=[[1, 2, 3]]), r"slot = .* shape \(3,\)"),
                          (lambda: wb.PucchDetector()(values, slot=[1, 2.5, 3]), "slot = "), (lambda: wb.PucchDetector()(values, slot="one"), "slot = "),
                          (lambda: wb.PucchDetector()(values, slot=[1, -1, 3]), "slot = -1"),
                          (lambda: wb.PucchDetector(format=2, bits=4, spacing_khz=30, max_delay_us=8.889), "max_delay_us = 8.889"),
                          (lambda: wb.PucchGenerator(format=2, bits=2), "bits = 2"), (lambda: wb.PucchDetector(format=5), "format = 5"),
                          (lambda: wb.nr_low_papr_sequence(length=32, u=0), "length = 32")):
        with pytest.raises(ValueError, match=problem):
            call()
