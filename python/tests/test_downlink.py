"""System information of 5G NR in samples and grids of other programs."""
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


def text_of(bits):
    return "".join(map(str, bits))


def test_transport_blocks_of_other_programs():
    rows = json.loads(refdata("vectors/pdsch_sib1.json").read_text())["vectors"]
    arrays = np.load(refdata("vectors/pdsch_sib1.npz"))
    times = {2: [(2, 12), (2, 10), (2, 9), (2, 7), (2, 5)], 3: [(3, 11), (3, 9), (3, 8), (3, 6), (3, 4)]}
    decoded = 0
    for row in rows:
        when = (row["first_symbol"], row["n_symbols"])
        if row["rv"] % 3 or when not in times[row["dmrs_type_a_position"]]:  # not decodable alone, not in the table
            continue
        dci = wb.NrSiDci(first_block=row["vrb_start"], blocks=row["vrb_count"], time_domain=times[row["dmrs_type_a_position"]].index(when),
                         interleaved=row["interleaved"], mcs=row["mcs"], rv=row["rv"])
        n = row["coreset0_n_rb"]
        assert [b + row["coreset0_first_prb"] for b in dci.physical_blocks(coreset_blocks=n)] == row["prbs"], row["id"]
        given = arrays[row["arrays"]["grid"]]
        grid = np.zeros((14, 12 * n), np.complex64)
        grid[when[0]:when[0] + len(given)] = given
        bits = wb.nr_si_decode(grid, dci=dci, cell_id=row["n_cell_id"], slot=row["slot"], coreset_blocks=n,
                               dmrs_first_symbol=row["dmrs_type_a_position"])
        assert bits is not None and text_of(bits) == row["tb"], row["id"]
        decoded += 1
    assert decoded > 3


def samples_of(name):
    if name.endswith(".npy"):
        return np.load(REFDATA / "samples" / name)
    meta = json.loads((REFDATA / "samples" / name).read_text())["global"]
    data = REFDATA / "samples" / name.replace("meta", "data")
    if meta["core:datatype"] == "ci16_le":
        return np.fromfile(data, np.int16).astype(np.float32).view(np.complex64)
    return np.fromfile(data, np.complex64)


def test_messages_of_files_of_other_programs():
    messages = 0
    for f in json.loads(refdata("samples/downlink.json").read_text())["files"]:
        if not f.get("pdcch"):
            continue
        for carrier_hz in (f["f0_hz"], None):
            receive = wb.NrDownlink(sample_rate_hz=f["sample_rate_hz"], spacing_khz=f["scs_khz"], offset_hz=f["ssb_centre_offset_hz"],
                                    carrier_hz=carrier_hz)
            found = receive(samples_of(f["file"])).messages
            assert all(m.cell_id == f["n_id"] for m in found)
            expected = {(c["sfn"] % 1024, c["slot"]): c for c in f["pdcch"] if c["whole_in_file"]}
            blocks = {(b["sfn"] % 1024, b["slot"]): b for b in f["pdsch"]}
            assert {(m.sfn, m.slot) for m in found} == set(expected), f["file"]
            for m in found:
                control, block = expected[m.sfn, m.slot], blocks[m.sfn, m.slot]
                assert (m.ssb_index, m.level, m.first_cce) == (control["i_ssb"], control["aggregation_level"], control["first_cce"])
                assert text_of(m.dci_bits) == control["dci"] and m.ok and text_of(m.bits) == block["tb"], (f["file"], carrier_hz)
                assert m.dci.mcs == block["mcs"]
                messages += 1
    assert messages >= 6


def test_blocks_of_long_arrays_are_found():
    for f in json.loads(refdata("samples/downlink.json").read_text())["files"]:
        if f.get("pdcch"):
            break
    receive = wb.NrDownlink(sample_rate_hz=f["sample_rate_hz"], spacing_khz=f["scs_khz"], offset_hz=f["ssb_centre_offset_hz"], carrier_hz=f["f0_hz"])
    samples = samples_of(f["file"])
    ahead = int(0.03 * f["sample_rate_hz"])
    one, two = receive(samples), receive(np.concatenate([np.zeros(ahead, np.complex64), samples]))
    assert [b.content for _, b in two.blocks] == [b.content for _, b in one.blocks]
    assert np.allclose([b.first_sample - ahead for b, _ in two.blocks], [b.first_sample for b, _ in one.blocks], atol=0.5)


def test_noise_and_bad_values(rng):
    noise = rng.normal(size=153600) + 1j * rng.normal(size=153600)
    assert wb.NrDownlink(sample_rate_hz=7.68e6, spacing_khz=30)(noise) == ([], [])
    assert wb.NrDownlink(sample_rate_hz=7.68e6, spacing_khz=30)(np.full(3000, np.nan)) == ([], [])
    for call, match in ((lambda: wb.NrDownlink(sample_rate_hz=7e6), "sample_rate_hz"),
                        (lambda: wb.NrDownlink(l_max=5), "l_max = 5"),
                        (lambda: wb.NrDownlink()(np.zeros((2, 500))), "samples"),
                        (lambda: wb.nr_si_decode(np.zeros((14, 300)), dci=wb.NrSiDci(), cell_id=1, slot=0, coreset_blocks=24), "grid"),
                        (lambda: wb.nr_si_decode(np.zeros((14, 288)), dci=wb.NrSiDci(mcs=30), cell_id=1, slot=0, coreset_blocks=24), "mcs = 30"),
                        (lambda: wb.nr_si_decode(np.zeros((14, 288)), dci=wb.NrSiDci(), cell_id=1008, slot=0, coreset_blocks=24), "cell_id = 1008"),
                        (lambda: wb.NrDownlink(wide=True), "wide"), (lambda: wb.NrDownlink(l_max=64), "l_max = 64"),
                        (lambda: wb.nr_si_decode(np.zeros((14, 288)), dci=wb.NrSiDci(time_domain=8), cell_id=1, slot=0, coreset_blocks=24), "noise_var")):
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(TypeError, match="dci"):
        wb.nr_si_decode(np.zeros((14, 288)), dci={}, cell_id=1, slot=0, coreset_blocks=24)
