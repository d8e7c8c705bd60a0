"""The time domain of 5G NR and cell search, against definitions in NumPy and data of other programs."""
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


def block(cell_id):
    grid = np.zeros((4, 240))
    grid[0, 56:183], grid[2, 56:183] = wb.nr_pss(n_id2=cell_id % 3), wb.nr_sss(cell_id=cell_id)
    return grid


def test_spans_are_those_of_other_programs():
    rows = json.loads(refdata("vectors/ofdm.json").read_text())["vectors"]
    arrays = np.load(refdata("vectors/ofdm.npz"))
    assert rows
    for row in rows:
        n = wb.nr_numerology(spacing_khz=row["scs_khz"], resource_blocks=row["n_prb"], fft_size=row["n_fft"])
        span = {"numerology": n, "first_symbol": row["first_symbol_of_subframe"], "symbols": row["n_symbols"],
                "carrier_hz": row["f0_hz"]}
        grid, samples = (arrays[row["arrays"][name]] for name in ("grid", "samples"))
        np.testing.assert_allclose(wb.OfdmModulator(**span)(grid), samples, atol=2e-4, err_msg=str(row["id"]))
        np.testing.assert_allclose(wb.OfdmDemodulator(**span)(samples), grid, atol=1e-3, err_msg=str(row["id"]))


@pytest.mark.parametrize("spacing, first, symbols", [(15, 0, 14), (15, 9, 31), (30, 27, 70), (60, 1, 280), (120, 50, 8)])
def test_spans_are_pieces_of_a_frame(rng, spacing, first, symbols):
    n = wb.nr_numerology(spacing_khz=spacing, resource_blocks=4)
    whole = {"numerology": n, "symbols": 20 * n.symbols_per_slot, "carrier_hz": 3.5e9 + 7}
    values = (rng.normal(size=(20 * n.symbols_per_slot, 48)) + 1j * rng.normal(size=(20 * n.symbols_per_slot, 48))).astype(np.complex64)
    frame = wb.OfdmModulator(**whole)(values)
    assert frame.shape == (round(1e-2 * n.sample_rate_hz),)
    before = wb.OfdmModulator(**{**whole, "symbols": first})(values[:first]).size if first else 0
    span = {**whole, "symbols": symbols, "first_symbol": first}
    piece = wb.OfdmModulator(**span)(values[first:first + symbols])
    np.testing.assert_allclose(piece, frame[before:before + piece.size], atol=1e-6)
    np.testing.assert_allclose(wb.OfdmDemodulator(**span)(piece), values[first:first + symbols], atol=1e-5)


def test_sequences_and_places():
    # Properties of m-sequences: a periodic autocorrelation of -1, and shifts of one sequence for the three PSS.
    pss = [wb.nr_pss(n_id2=n) for n in range(3)]
    for n in range(3):
        spectrum = np.abs(np.fft.fft(pss[n])) ** 2
        np.testing.assert_allclose(np.fft.ifft(spectrum).real[1:], -1, atol=1e-4)
        assert np.array_equal(pss[n], np.roll(pss[0], -43 * n))
    for row in json.loads(refdata("vectors/sync.json").read_text())["vectors"]:
        assert "".join("+-"[int(x < 0)] for x in wb.nr_sss(cell_id=row["n_id"])) == row["sss"]
        assert "".join("+-"[int(x < 0)] for x in wb.nr_pss(n_id2=row["n_id"] % 3)) == row["pss"]
    assert wb.nr_ssb_first_symbols(pattern="B", l_max=8) == [4, 8, 16, 20, 32, 36, 44, 48]


def test_a_modulated_block_is_found(rng):
    n = wb.nr_numerology(spacing_khz=30, resource_blocks=20, fft_size=1024)
    modulate = wb.OfdmModulator(numerology=n, first_symbol=2, symbols=4, carrier_hz=3.5e9)
    samples = 0.1 * (rng.normal(size=(2, 3, 20000)) + 1j * rng.normal(size=(2, 3, 20000)))
    for i in range(2):
        for j in range(3):
            sent = modulate(block(100 * i + j))
            samples[i, j, 5000:5000 + sent.size] += sent * np.exp(2j * np.pi * 5e3 * np.arange(sent.size) / n.sample_rate_hz)
    search = wb.CellSearch(sample_rate_hz=n.sample_rate_hz, spacing_khz=30, carrier_hz=3.5e9)
    found = search(samples.astype(np.complex64))
    assert [b.cell_id for b in found.blocks] == [0, 1, 2, 100, 101, 102] and [b.row for b in found.blocks] == list(range(6))
    assert found.cells == [0, 1, 2, 100, 101, 102] and found.erased.tolist() == [0] * 6
    for b in found.blocks:
        assert abs(b.first_sample - 5000) < 1 and abs(b.cfo_hz - 5e3) < 200 and abs(b.snr_db - 17) < 2
        assert b.metric > search.threshold(20000)


def test_nothing_and_bad_samples():
    search = wb.CellSearch(sample_rate_hz=1.92e6)
    assert search(np.zeros(5000, np.complex64)).blocks == []
    found = search(np.full((2, 3000), np.nan, np.complex64))
    assert found.blocks == [] and found.erased.tolist() == [3000, 3000]
    assert search(np.zeros(3, np.complex64)).blocks == [] and search.block_samples == 411
    for call, match in ((lambda: wb.CellSearch(sample_rate_hz=8e6), "sample_rate_hz = 8e\\+06 is not allowed"),
                        (lambda: wb.CellSearch(spacing_khz=60), "spacing_khz = 60"),
                        (lambda: wb.nr_sss(cell_id=1008), "cell_id = 1008"),
                        (lambda: wb.nr_pss(n_id2=-1), "n_id2 = -1"),
                        (lambda: wb.nr_ssb_first_symbols(pattern="F", l_max=4), "pattern = \"F\""),
                        (lambda: wb.nr_ssb_first_symbols(pattern="D", l_max=8), "l_max = 8"),
                        (lambda: wb.nr_numerology(spacing_khz=15, extended_prefix=True), "extended_prefix = "),
                        (lambda: wb.OfdmModulator(first_symbol=14), "first_symbol = 14"),
                        (lambda: wb.OfdmModulator(symbols=-1), "symbols = -1"),
                        (lambda: search.threshold(-1), "samples = -1")):
        with pytest.raises(ValueError, match=match):
            call()
