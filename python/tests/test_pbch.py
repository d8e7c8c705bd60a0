"""SS/PBCH blocks, against definitions in NumPy and data of other programs."""
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


def contents(rng, count, l_max):
    return [wb.NrSsbContent(sfn=int(rng.integers(1024)), half_frame=int(rng.integers(2)), ssb_index=int(rng.integers(l_max)),
                            k_ssb=int(rng.integers(16)), common_spacing_khz=(60 if l_max == 64 else 15) << int(rng.integers(2)),
                            coreset0=int(rng.integers(16)), cell_barred=bool(rng.integers(2))) for _ in range(count)]


def gold(c_init, count):
    x1, x2 = [1] + [0] * 30, [c_init >> i & 1 for i in range(31)]
    for n in range(1600 + count):
        x1.append(x1[n + 3] ^ x1[n])
        x2.append(x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n])
    return np.array(x1[1600:1600 + count]) ^ np.array(x2[1600:1600 + count])


def test_dmrs_are_a_gold_sequence():
    for l_max, index, half_frame, cell in ((4, 2, 1, 33), (8, 5, 0, 1007), (64, 42, 1, 500)):
        grid = wb.PbchEncoder(l_max=l_max)(wb.NrSsbContent(ssb_index=index, half_frame=half_frame,
                                                           common_spacing_khz=120 if l_max == 64 else 15), cell_id=cell)
        i = index + 4 * half_frame if l_max == 4 else index % 8
        c = 1 - 2 * gold((i + 1) * (cell // 4 + 1) * 2 ** 11 + (i + 1) * 2 ** 6 + cell % 4, 288)
        dmrs = np.concatenate([grid[1, cell % 4::4], grid[2, cell % 4:48:4], grid[2, 192 + cell % 4::4], grid[3, cell % 4::4]])
        np.testing.assert_allclose(dmrs, (c[::2] + 1j * c[1::2]) / 2 ** 0.5, atol=1e-6)
        assert np.array_equal(grid[0, 56:183], wb.nr_pss(n_id2=cell % 3)) and np.array_equal(grid[2, 56:183], wb.nr_sss(cell_id=cell))


def test_grids_are_those_of_other_programs():
    rows = json.loads(refdata("vectors/ssb.json").read_text())["vectors"]
    arrays = np.load(refdata("vectors/ssb.npz"))
    assert rows
    for row in rows:
        content = wb.NrSsbContent(
            sfn=row["sfn"], half_frame=row["n_hf"], ssb_index=row["i_ssb"], k_ssb=row["k_ssb"],
            common_spacing_khz=int(row["scs_common"][:2]), dmrs_first_symbol=row["dmrs_type_a_position"], coreset0=row["coreset0_index"],
            search_space0=row["search_space0_index"], cell_barred=row["cell_barred"],
            intra_frequency=row["intra_freq_reselection_allowed"])
        grid = wb.PbchEncoder(l_max=row["l_max"])(content, cell_id=row["n_id"])
        np.testing.assert_allclose(grid, arrays[row["arrays"]["grid"]], atol=2e-4, err_msg=str(row["id"]))
        block, = wb.PbchDecoder(l_max=row["l_max"])(arrays[row["arrays"]["grid"]], cell_id=row["n_id"])
        assert block.content == content and "".join(map(str, block.payload[:24])) == row["mib"]


@pytest.mark.parametrize("l_max", [4, 8, 64])
def test_blocks_come_back(rng, l_max):
    sent, cells = contents(rng, 70, l_max), rng.integers(1008, size=70)
    grids = wb.PbchEncoder(l_max=l_max)(sent, cell_id=list(cells))
    assert grids.shape == (70, 4, 240)
    phase = np.exp(2j * np.pi * rng.random((70, 1, 1)))
    received = grids * phase + (rng.normal(size=grids.shape) + 1j * rng.normal(size=grids.shape))  # -3 dB
    blocks = wb.PbchDecoder(l_max=l_max, list_size=8, hypotheses=2)(received.reshape(7, 10, 4, 240), cell_id=cells.reshape(7, 10))
    assert [b.content for b in blocks] == sent and all(b.ok and not b.erased for b in blocks)
    assert abs(np.mean([b.snr_db for b in blocks]) + 3) < 1
    assert [b.dmrs_index for b in blocks] == [c.ssb_index + 4 * c.half_frame if l_max == 4 else c.ssb_index % 8 for c in sent]


def test_noise_and_bad_values(rng):
    noise = rng.normal(size=(500, 4, 240)) + 1j * rng.normal(size=(500, 4, 240))
    assert not any(b.ok or b.content for b in wb.PbchDecoder(hypotheses=8)(noise, cell_id=3))
    grids = np.repeat(wb.PbchEncoder()(wb.NrSsbContent(sfn=9), cell_id=3)[np.newaxis], 3, axis=0)
    grids[1, 0, 5] = np.nan
    blocks = wb.PbchDecoder()(grids, cell_id=3)
    assert [b.ok for b in blocks] == [True, False, True] and [b.erased for b in blocks] == [False, True, False]
    assert wb.PbchDecoder()(np.empty((0, 4, 240), np.complex64), cell_id=[]) == []
    encode, decode = wb.PbchEncoder(), wb.PbchDecoder()
    for call, match in ((lambda: encode(wb.NrSsbContent(sfn=1024), cell_id=3), "sfn = 1024"),
                        (lambda: encode(wb.NrSsbContent(sfn=1.5), cell_id=3), "sfn = 1.5"),
                        (lambda: encode(wb.NrSsbContent(cell_barred=2), cell_id=3), "cell_barred = 2"),
                        (lambda: encode(wb.NrSsbContent(), cell_id=1008), "cell_id = 1008"),
                        (lambda: decode(grids, cell_id=[1, 2]), "cell_id"),
                        (lambda: decode(grids, cell_id=[[1], [2], [3]]), "cell_id"),
                        (lambda: decode(grids[:, :3], cell_id=1), "grids"),
                        (lambda: wb.PbchDecoder(l_max=6), "l_max = 6"),
                        (lambda: wb.PbchDecoder(list_size=5), "list_size = 5")):
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(TypeError, match="contents"):
        encode([{"sfn": 3}], cell_id=3)


def downlink_files():
    for f in json.loads(refdata("samples/downlink.json").read_text())["files"]:
        name = f["file"]
        for cell in f.get("cells", [f]):
            if "ssb" in cell:
                yield name, {**f, **cell}


def samples_of(name):
    if name.endswith(".npy"):
        return np.load(REFDATA / "samples" / name)
    meta = json.loads((REFDATA / "samples" / name).read_text())["global"]
    data = REFDATA / "samples" / name.replace("meta", "data")
    if meta["core:datatype"] == "ci16_le":
        return np.fromfile(data, np.int16).astype(np.float32).view(np.complex64)
    return np.fromfile(data, np.complex64)


def blocks_in(samples, rate, spacing_khz, offset_hz, carrier_hz, l_max):
    """What found blocks say: first sample, cell and block."""
    search = wb.CellSearch(sample_rate_hz=rate, spacing_khz=spacing_khz, offset_hz=offset_hz, carrier_hz=carrier_hz)
    n = wb.nr_numerology(spacing_khz=spacing_khz, resource_blocks=20, fft_size=round(rate / spacing_khz / 1e3))
    demodulate = wb.OfdmDemodulator(numerology=n, first_symbol=2, symbols=4)
    size = 4 * (n.fft_size + n.cyclic_prefix)
    early = n.fft_size // 256
    for found in search(samples).blocks:
        first = round(found.first_sample) - early
        if first < 0 or first + size > len(samples):
            continue
        piece = samples[first:first + size] * np.exp(-2j * np.pi * (found.cfo_hz + offset_hz) / rate * np.arange(size))
        yield found, wb.PbchDecoder(l_max=l_max)(demodulate(piece.astype(np.complex64)), cell_id=found.cell_id)[0]


def test_every_mib_of_files_of_other_programs():
    blocks = 0
    for name, f in downlink_files():
        rate, spacing = f["sample_rate_hz"], f["scs_khz"]
        offset = 1e3 * spacing * (f["ssb_first_subcarrier_from_centre"] + 120)
        seen = {}
        for found, block in blocks_in(samples_of(name), rate, spacing, offset, f["f0_hz"], f["l_max"]):
            if found.cell_id == f["n_id"] and block.ok:
                c = block.content
                seen[c.sfn, c.half_frame, c.ssb_index] = "".join(map(str, block.payload[:24]))
        expected = {(b["sfn"] % 1024, b["n_hf"], b["i_ssb"]): b["mib"] for b in f["ssb"] if b.get("whole_in_file", True)}
        assert seen == expected, name
        blocks += len(expected)
    assert blocks >= 20


def test_the_mib_of_a_recording():
    row = json.loads(refdata("recorded/recorded.json").read_text())["files"][0]
    samples = np.load(REFDATA / "recorded" / row["file"])
    found, block = next(iter(blocks_in(samples, row["sample_rate_hz"], 30, row["ssb_centre_hz"] - row["f0_hz"], row["f0_hz"], 8)))
    assert found.cell_id == row["n_id"] and "".join(map(str, block.payload[:24])) == row["mib"]
    c = block.content
    assert c.sfn % 16 == row["sfn_4lsb"] and c.k_ssb >> 4 == row["k_ssb_msb"] and (c.ssb_index, c.half_frame) == (row["i_ssb"], row["n_hf"])
    assert abs(block.snr_db - row["snr_db_about"]) < 6
