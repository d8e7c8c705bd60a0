"""Control channels of 5G NR, against definitions in NumPy and data of other programs."""
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


def rows_of(name):
    rows = json.loads(refdata(f"vectors/{name}.json").read_text())["vectors"]
    assert rows
    return rows


def bits_of(text):
    return np.array([int(c) for c in text], np.uint8)


def coreset0(cell, blocks, symbols, level):
    return {"blocks": blocks, "symbols": symbols, "shift": cell, "dmrs_id": cell, "scrambling_id": cell, "level": level,
            "dci_bits": {24: 37, 48: 39, 96: 41}[blocks]}


def gold(c_init, count):
    x1, x2 = [1] + [0] * 30, [c_init >> i & 1 for i in range(31)]
    for n in range(1600 + count):
        x1.append(x1[n + 3] ^ x1[n])
        x2.append(x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n])
    return np.array(x1[1600:1600 + count]) ^ np.array(x2[1600:1600 + count])


def test_dmrs_are_a_gold_sequence():
    for slot, first_symbol, identity in ((0, 0, 3), (19, 1, 65535)):
        grid = wb.PdcchEncoder(blocks=24, symbols=2, interleaved=False, level=8, dci_bits=40, dmrs_id=identity, first_symbol=first_symbol)(
            np.ones(40, np.uint8), slot=slot, first_cce=0)
        assert grid.shape == (2, 288) and grid.dtype == np.complex64
        for symbol in range(2):
            number = 14 * slot + first_symbol + symbol + 1
            c = 1 - 2 * gold((2 ** 17 * number * (2 * identity + 1) + 2 * identity) % 2 ** 31, 144)
            np.testing.assert_allclose(grid[symbol, 1::4], (c[::2] + 1j * c[1::2]) / 2 ** 0.5, atol=1e-6)


def test_grids_are_those_of_other_programs():
    arrays = np.load(refdata("vectors/pdcch.npz"))
    for row in rows_of("pdcch"):
        first = row["first_prb"]
        settings = {"blocks": row["n_rb"], "symbols": row["n_symb"], "dmrs_first_block": first - row["dmrs_reference_prb"],
                    "interleaved": row["interleaved"], "dmrs_id": row["n_id_dmrs"], "scrambling_id": row["n_id_data"],
                    "scrambling_rnti": row["n_rnti"], "level": row["aggregation_level"], "rnti": row["rnti"], "dci_bits": len(row["dci"])}
        if row["interleaved"]:
            settings |= {"reg_bundle": row["reg_bundle"], "interleaver_rows": row["interleaver_rows"], "shift": row["n_shift"]}
        expected = arrays[row["arrays"]["grid"]][:, 12 * first:]
        grid = wb.PdcchEncoder(**settings)(bits_of(row["dci"]), slot=row["slot"], first_cce=row["first_cce"])
        np.testing.assert_allclose(grid, expected, atol=2e-4, err_msg=str(row["id"]))
        result, = wb.PdcchDecoder(**settings)(expected, slot=row["slot"], first_cce=[row["first_cce"]])
        assert result.ok and "".join(map(str, result.bits)) == row["dci"], row["id"]


def test_search_spaces_are_those_of_other_programs():
    for row in rows_of("pdcch_candidates"):
        ue = {} if row["common_search_space"] else {"rnti": row["rnti"], "coreset": row["coreset_id"], "slot": row["slot"]}
        assert wb.nr_pdcch_candidates(cces=row["n_cce"], level=row["aggregation_level"], candidates=row["n_candidates"],
                                      **ue) == row["first_cce"], row
    for row in rows_of("type0_occasions"):
        assert wb.nr_type0_occasion(index=row["search_space0_index"], ssb_index=row["i_ssb"], spacing_khz=15 << row["mu"],
                                    coreset_symbols=row["n_symb_coreset"]) == (row["sfn_parity"], row["n0"], row["first_symbol"]), row


def test_search_spaces_follow_the_standard():
    # Section 10.1 in integers of Python.
    for cces, level, candidates, rnti, coreset, slot in ((48, 2, 6, 4660, 1, 7), (16, 4, 4, 65519, 5, 79), (8, 8, 2, 1, 0, 0)):
        y = rnti * (39827, 39829, 39839)[coreset % 3] ** (slot + 1) % 65537
        expected = [level * ((y + m * cces // (level * candidates)) % (cces // level)) for m in range(candidates)]
        assert wb.nr_pdcch_candidates(cces=cces, level=level, candidates=candidates, rnti=rnti, coreset=coreset, slot=slot) == expected
    assert wb.nr_pdcch_candidates(cces=8, level=4, candidates=4) == [0, 0, 4, 4]
    assert wb.nr_coreset0(ssb_spacing_khz=15, spacing_khz=15, index=14) == (96, 3, 38, 1)
    assert wb.nr_coreset0(ssb_spacing_khz=30, spacing_khz=15, index=9) is None
    assert wb.nr_coreset0(ssb_spacing_khz=30, spacing_khz=30, index=9, wide=True) == (48, 3, 28, 1)
    assert wb.nr_coreset0(ssb_spacing_khz=120, spacing_khz=60, index=10, k_ssb=3) == (96, 1, -42, 2)
    assert wb.nr_coreset0(ssb_spacing_khz=120, spacing_khz=120, index=6, k_ssb=0) == (48, 2, -20, 3)
    assert wb.nr_coreset0(ssb_spacing_khz=240, spacing_khz=60, index=4) is None
    assert wb.nr_coreset0_first_hz(offset=-42, ssb_spacing_khz=240, spacing_khz=120, k_ssb=5) == -1e3 * (120 * 240 + 5 * 120 - 42 * 12 * 120)
    assert wb.nr_type0_occasion(index=10, ssb_index=63, spacing_khz=120, coreset_symbols=2) == (1, 11, 7)
    assert wb.nr_coreset0_first_hz(offset=2, ssb_spacing_khz=15, spacing_khz=30, k_ssb=5) == -15e3 * (120 + 5 + 48)
    assert wb.nr_type0_occasion(index=6, ssb_index=4, spacing_khz=15, coreset_symbols=1) == (1, 1, 0)
    assert wb.nr_type0_occasion(index=14, ssb_index=0, spacing_khz=60, coreset_symbols=1) is None


def test_dcis_come_back(rng):
    for row in rows_of("dci_1_0_si"):
        dci = wb.NrSiDci(first_block=row["rb_start"], blocks=row["rb_count"], time_domain=row["time_domain"], interleaved=row["vrb_to_prb"] == 1,
                         mcs=row["mcs"], rv=row["rv"], other_information=row["system_information_indicator"] == 1)
        n = row["n_rb_coreset0"]
        assert "".join(map(str, dci.bits(coreset_blocks=n))) == row["payload"]
        assert wb.NrSiDci.of_bits(bits_of(row["payload"]), coreset_blocks=n) == dci
    assert wb.NrSiDci(first_block=2, blocks=5).physical_blocks(coreset_blocks=24) == [2, 3, 4, 5, 6]
    assert wb.NrSiDci(first_block=2, blocks=5, interleaved=True).physical_blocks(coreset_blocks=24) == [12, 13, 2, 3, 14]
    assert wb.NrSiDci.of_bits(np.ones(37, np.uint8), coreset_blocks=24) is None
    for call, match in ((lambda: wb.NrSiDci(mcs=32).bits(coreset_blocks=24), "mcs = 32"),
                        (lambda: wb.NrSiDci(rv=1.5).bits(coreset_blocks=24), "rv = 1.5"),
                        (lambda: wb.NrSiDci(interleaved=2).bits(coreset_blocks=24), "interleaved = 2"),
                        (lambda: wb.NrSiDci(blocks=25).bits(coreset_blocks=24), "blocks = 25"),
                        (lambda: wb.NrSiDci().bits(coreset_blocks=25), "coreset_blocks = 25"),
                        (lambda: wb.NrSiDci.of_bits([0] * 36, coreset_blocks=24), "bits"),
                        (lambda: wb.NrSiDci.of_bits([2] * 37, coreset_blocks=24), "bits = 2")):
        with pytest.raises(ValueError, match=match):
            call()


@pytest.mark.parametrize("blocks, symbols, level", [(24, 2, 4), (48, 1, 8), (96, 3, 16), (48, 2, 2)])
def test_candidates_come_back(rng, blocks, symbols, level):
    settings = coreset0(501, blocks, symbols, level)
    bits = rng.integers(2, size=(5, 8, settings["dci_bits"]), dtype=np.uint8)
    slots = rng.integers(80, size=(5, 8))
    cces = level * rng.integers(blocks * symbols // 6 // level, size=(5, 8))
    grids = wb.PdcchEncoder(**settings)(bits, slot=slots, first_cce=cces.tolist())
    assert grids.shape == (5, 8, symbols, 12 * blocks)
    noise_var = 0.4 if level < 4 else 0.8
    received = 3 * grids * np.exp(2j * np.pi * rng.random((5, 8, 1, 1)))
    received = received + 3 * (noise_var / 2) ** 0.5 * (rng.normal(size=grids.shape) + 1j * rng.normal(size=grids.shape))
    tried = list(range(0, blocks * symbols // 6 - level + 1, level))
    results = wb.PdcchDecoder(**settings)(received, slot=slots, first_cce=tried)
    assert len(results) == 40 * len(tried)
    right = 0
    for r in results:
        assert not r.erased and r.ok <= (r.first_cce == cces.flat[r.grid])
        if r.ok:
            right += np.array_equal(r.bits, bits.reshape(40, -1)[r.grid])
            assert r.metric > 3 and abs(r.snr_db + 10 * np.log10(noise_var)) < 6 and abs(r.delay_symbols) < 0.03
    assert right >= 38


def test_noise_and_bad_values(rng):
    settings = coreset0(3, 48, 1, 8)
    noise = rng.normal(size=(300, 1, 576)) + 1j * rng.normal(size=(300, 1, 576))
    encode, decode = wb.PdcchEncoder(**settings), wb.PdcchDecoder(**settings)
    assert not any(r.ok or r.bits.any() for r in decode(noise, slot=3, first_cce=[0]))
    dci = wb.NrSiDci(blocks=20).bits(coreset_blocks=48)
    grids = np.repeat(encode(dci, slot=3, first_cce=0)[np.newaxis], 3, axis=0)
    grids[1, 0, 5] = np.nan
    results = decode(grids, slot=3, first_cce=[0])
    assert [r.ok for r in results] == [True, False, True] and [r.erased for r in results] == [False, True, False]
    assert decode(np.empty((0, 1, 576), np.complex64), slot=[], first_cce=[0]) == [] and decode(grids, slot=3, first_cce=[]) == []
    for call, match in ((lambda: encode(dci, slot=80, first_cce=0), "slot = 80"),
                        (lambda: encode(dci, slot=3, first_cce=4), "first_cce = 4"),
                        (lambda: encode(dci, slot=[1, 2], first_cce=0), "slot"),
                        (lambda: encode(dci[:5], slot=3, first_cce=0), "bits"),
                        (lambda: decode(grids, slot=[1, 2], first_cce=[0]), "slot"),
                        (lambda: decode(grids, slot=[[1], [2], [3]], first_cce=[0]), "slot"),
                        (lambda: decode(grids, slot=3, first_cce=[1]), "first_cce = 1"),
                        (lambda: decode(grids[:, :, 1:], slot=3, first_cce=[0]), "grids"),
                        (lambda: wb.PdcchDecoder(blocks=25), "blocks = 25"),
                        (lambda: wb.PdcchDecoder(level=3), "level = 3"),
                        (lambda: wb.PdcchDecoder(list_size=5), "list_size = 5"),
                        (lambda: wb.PdcchDecoder(symbols=3, reg_bundle=2), "reg_bundle = 2"),
                        (lambda: wb.nr_coreset0(ssb_spacing_khz=15, spacing_khz=15, index=16), "index = 16"),
                        (lambda: wb.nr_coreset0(ssb_spacing_khz=120, spacing_khz=60, index=8), "k_ssb"),
                        (lambda: wb.nr_type0_occasion(index=0, ssb_index=8, spacing_khz=15, coreset_symbols=1), "ssb_index = 8"),
                        (lambda: wb.nr_pdcch_candidates(cces=8, level=16, candidates=1), "level = 16")):
        with pytest.raises(ValueError, match=match):
            call()


def test_fields_of_dcis(rng):
    """Widths by the formulas of TS 38.212 in Python."""
    def bits_for(values):
        return int(np.ceil(np.log2(values))) if values > 1 else 0

    for _ in range(200):
        up, down = (int(n) for n in rng.integers(1, 276, size=2))
        common = bool(rng.integers(2))
        fallback = {name: wb.NrDciFormat(format=name, uplink_blocks=up, downlink_blocks=down, common_search_space=common) for name in ("0_0", "1_0")}
        expected_down, expected_up = bits_for(down * (down + 1) // 2) + 28, bits_for(up * (up + 1) // 2) + 20
        size = expected_down if common else max(expected_down, expected_up)
        assert [sum(f.fields.values()) for f in fallback.values()] == [size, size], (up, down, common)
        rows, parts, delays, csi = int(rng.integers(1, 17)), int(rng.integers(5)), int(rng.integers(1, 9)), int(rng.integers(7))
        kind, length, dynamic = int(rng.integers(1, 3)), int(rng.integers(1, 3)), bool(rng.integers(2))
        more = {"time_rows": rows, "bandwidth_parts": parts, "dmrs_type": kind, "dmrs_length": length, "dynamic_harq": dynamic}
        shared = 1 + (0, 1, 2, 2, 2)[parts] + bits_for(rows) + 8 + 4
        pdsch = wb.NrDciFormat(format="1_1", downlink_blocks=down, harq_delays=delays, **more)
        assert sum(pdsch.fields.values()) == (shared + bits_for(down * (down + 1) // 2) + 2 * dynamic + 5 + bits_for(delays)
                                              + {(1, 1): 4, (1, 2): 5, (2, 1): 5, (2, 2): 6}[kind, length] + 3)
        pusch = wb.NrDciFormat(format="0_1", uplink_blocks=up, csi_request_bits=csi, **more)
        assert sum(pusch.fields.values()) == (shared + bits_for(up * (up + 1) // 2) + 1 + dynamic + 2
                                              + {(1, 1): 3, (1, 2): 4, (2, 1): 4, (2, 2): 5}[kind, length] + 2 + csi + 2)
        for fmt in (*fallback.values(), pdsch, pusch):
            values = {name: int(rng.integers(2 ** (bits - (name == "frequency_domain" and bits > 0)))) for name, bits in fmt.fields.items()
                      if name not in ("identifier", "reserved", "padding")}
            sent = fmt.encode(**values)
            assert sent.dtype == np.uint8 and len(sent) == sum(fmt.fields.values()) and fmt.decode(sent) == values
    fmt = wb.NrDciFormat()
    assert fmt.decode(wb.NrDciFormat(format="0_0").encode()) is None
    assert fmt.decode(wb.NrDciFormat(use="order").encode(preamble=5)) is None
    assert fmt.blocks(24 * 3 + 2) == [2, 3, 4, 5] and fmt.blocks(511) is None
    for call, match in ((lambda: fmt.encode(mcs=32), "mcs = 32"), (lambda: fmt.encode(tci=1), "values = 'tci'"),
                        (lambda: fmt.decode([0] * 36), "bits"), (lambda: wb.NrDciFormat(format="2_0"), "format"),
                        (lambda: wb.NrDciFormat(format="1_1", use="si-rnti"), "use"), (lambda: fmt.blocks(512), "frequency_domain")):
        with pytest.raises(ValueError, match=match):
            call()


def test_every_field_counts():
    for name, use in (("0_0", "c-rnti"), ("0_0", "tc-rnti"), ("1_0", "c-rnti"), ("1_0", "tc-rnti"), ("1_0", "si-rnti"), ("1_0", "ra-rnti"),
                      ("1_0", "p-rnti"), ("1_0", "order"), ("0_1", "c-rnti"), ("1_1", "c-rnti")):
        for sul in (False, True):
            fmt = wb.NrDciFormat(format=name, use=use, supplementary_uplink=sul)
            assert len(fmt.encode()) == fmt.dci_bits == sum(fmt.fields.values()), (name, use)
    fmt = wb.NrDciFormat(format="0_0", use="tc-rnti")
    assert fmt.dci_bits == 37 and set(fmt.decode(fmt.encode(rv=2))) == {"frequency_domain", "time_domain", "frequency_hopping", "mcs", "rv", "tpc"}
    for call, match in ((lambda: fmt.encode(ndi=1), "values = 'ndi'"), (lambda: wb.NrDciFormat().encode(frequency_domain=511), "frequency_domain"),
                        (lambda: fmt.blocks(27, hopping_bits=3), "hopping_bits = 3"), (lambda: wb.NrDciFormat().blocks(27, hopping_bits=1), "hopping_bits"),
                        (lambda: wb.NrDciFormat(format="1_1", use="ra-rnti"), "use = \"ra-rnti\"")):
        with pytest.raises(ValueError, match=match):
            call()
    with pytest.raises(TypeError):
        fmt.fields["rv"] = 5


def test_a_search_space_is_searched(rng):
    ue = {"blocks": 48, "symbols": 2, "dmrs_id": 4, "scrambling_id": 5, "rnti": 4660, "scrambling_rnti": 4660}
    slots = [3, 11, 19]
    sent, grids = [], []
    for slot, level, size in zip(slots, (1, 4, 8), (40, 51, 51)):
        cces = wb.nr_pdcch_candidates(cces=16, level=level, candidates=2, rnti=4660, coreset=2, slot=slot)
        bits = rng.integers(2, size=size, dtype=np.uint8)
        sent.append((level, cces[1], bits))
        grids.append(wb.PdcchEncoder(**ue, level=level, dci_bits=size)(bits, slot=slot, first_cce=cces[1]))
    noise = 0.1 * (rng.normal(size=(3, 2, 576)) + 1j * rng.normal(size=(3, 2, 576)))
    found = wb.PdcchSearch(**ue, sizes=[40, 51], candidates=[2, 2, 2, 2, 1], coreset_id=2)(np.stack(grids) + noise, slot=slots)
    assert [f.grid for f in found] == [0, 1, 2]
    for f, (level, cce, bits) in zip(found, sent):
        assert (f.level, f.first_cce) == (level, cce) and np.array_equal(f.bits, bits) and f.metric > 0 and f.snr_db > 10
    assert wb.PdcchSearch(**{**ue, "rnti": 4661}, sizes=[40, 51], candidates=[8, 8, 4, 2, 1])(np.stack(grids) + noise, slot=slots) == []
    first = wb.nr_pdcch_candidates(cces=16, level=4, candidates=2, rnti=4660, coreset=2, slot=11, carrier=3)[1]
    bits = rng.integers(2, size=40, dtype=np.uint8)
    grid = wb.PdcchEncoder(**ue, level=4, dci_bits=40)(bits, slot=11, first_cce=first)
    for carrier in (0, 3):
        found = wb.PdcchSearch(**ue, sizes=[40], candidates=[0, 0, 2, 0, 0], coreset_id=2, carrier=carrier)(grid, slot=11)
        assert [f.first_cce for f in found] == ([first] if carrier == 3 else [])
    for settings, match in (({"sizes": [141]}, "sizes"), ({"candidates": [0, 0, 0, 0, 0]}, "candidates"), ({"carrier": 1}, "carrier"),
                            ({"candidates": [0, 0, 7, 0, 0]}, "candidates"), ({"sizes": [100], "candidates": [1, 0, 0, 0, 0]}, "candidates"), ({"candidates": [1]}, "candidates"), ({"coreset_id": 16}, "coreset_id")):
        with pytest.raises(ValueError, match=match):
            wb.PdcchSearch(**settings)
