"""5G NR: sizes, codes and transport blocks against the standard's formulas, and each other."""
import numpy as np
import pytest

import warpband as wb


def test_ldpc_codewords_pass_all_checks(rng):
    for base_graph, z in ((1, 2), (1, 15), (2, 22), (2, 104)):
        code = wb.nr_ldpc(base_graph=base_graph, lifting_size=z)
        assert (code.k, code.n) == ((22 * z, 68 * z) if base_graph == 1 else (10 * z, 52 * z))
        word = wb.LdpcEncoder(code=code)(rng.integers(0, 2, (3, code.k))).reshape(3, -1, z)
        for row in code.matrix:
            checks = sum(np.roll(word[:, j], -s, axis=1).astype(int) for j, s in enumerate(row) if s >= 0)
            assert not (checks % 2).any()


def test_sizes_follow_the_standard():
    sizes = wb.nr_lifting_sizes()
    assert len(sizes) == 51 and sizes[-1] == 384
    assert wb.nr_mcs(table=2, index=20) == (8, 682.5)
    assert wb.nr_transport_block_size(resource_elements=3600, modulation_order=4, rate_x1024=490.0) == 6912
    assert wb.nr_base_graph(transport_bits=292, code_rate=0.9) == 2 and wb.nr_base_graph(transport_bits=3825, code_rate=0.5) == 1
    assert wb.nr_segmentation(transport_bits=6912, base_graph=1).lifting_size == 320
    assert wb.nr_resource_elements(resource_blocks=25, symbols=14, dmrs_per_block=24) == 25 * min(156, 12 * 14 - 24)
    assert wb.nr_scrambling_init(rnti=2, identity=7) == 65543
    for carrier, counted in ((20, 32), (60, 66), (273, 273)):
        size = wb.nr_transport_block_size(resource_elements=156 * counted, modulation_order=8, rate_x1024=948.0, layers=2)
        assert wb.nr_lbrm_transport_block_size(resource_blocks=carrier, layers=2, modulation_order=8) == size
    assert wb.nr_limited_buffer(lbrm_transport_bits=100000, blocks=4) == 100000 * 3 // (2 * 4)


def test_scrambling_is_a_gold_sequence():
    """TS 38.211 section 5.2.1."""
    x1, x2, length, c_init = [1] + [0] * 30, [65543 >> i & 1 for i in range(31)], 100, 65543
    for n in range(1600 + length):
        x1.append(x1[n + 3] ^ x1[n])
        x2.append(x2[n + 3] ^ x2[n + 2] ^ x2[n + 1] ^ x2[n])
    assert list(wb.nr_scrambling_sequence(c_init=c_init, length=length)) == [x1[n] ^ x2[n] for n in range(1600, 1600 + length)]


@pytest.mark.parametrize("make, argument", [
    (lambda: wb.nr_ldpc(base_graph=3, lifting_size=2), "base_graph"), (lambda: wb.nr_ldpc(base_graph=1, lifting_size=17), "lifting_size"),
    (lambda: wb.nr_mcs(table=5, index=0), "table"), (lambda: wb.nr_segmentation(transport_bits=8425, base_graph=1), "transport_bits"),
    (lambda: wb.nr_scrambling_sequence(c_init=-1, length=3), "c_init"), (lambda: wb.nr_scrambling_sequence(c_init=1, length=-3), "length"),
    (lambda: wb.nr_transport_block_size(resource_elements=10, modulation_order=2, rate_x1024=0.0), "rate_x1024"),
    (lambda: wb.NrTransportEncoder(transport_bits=100, coded_bits=0), "coded_bits"),
    (lambda: wb.NrTransportDecoder(transport_bits=100, coded_bits=200, precision="int9"), "precision"),
    (lambda: wb.NrRateMatcher(k=100, sent_bits=0), "sent_bits")])
def test_bad_settings_are_named(make, argument):
    with pytest.raises(ValueError, match=f"^{argument} = "):
        make()


def test_transport_blocks_come_back(rng):
    settings = {"transport_bits": 8448, "coded_bits": 12000, "modulation_order": 4, "base_graph": 1, "scrambling": 77}
    encode, decode = wb.NrTransportEncoder(**settings), wb.NrTransportDecoder(**settings)
    bits = rng.integers(0, 2, (3, 8448))
    coded = encode(bits)
    plain = wb.NrTransportEncoder(**{**settings, "scrambling": None})(bits)
    assert np.array_equal(coded ^ plain, np.broadcast_to(wb.nr_scrambling_sequence(c_init=77, length=12000), coded.shape))
    llr = (4 - 8.0 * coded).astype(np.float32)
    llr[1, 5] = np.nan
    decided, ok, block_ok, status = decode(llr, outputs=("bits", "ok", "block_ok", "status"))
    assert np.array_equal(decided[[0, 2]], bits[[0, 2]]) and ok.tolist() == [1, 0, 1]
    assert block_ok[1].tolist() == [0, 1] and status.tolist() == [0, 5, 0]
    again, ok = decode((4 - 8.0 * encode(bits, rv=2)), rv=2, first=False)
    llr[1, 5] = 0
    again, ok = decode(llr, first=False)
    assert np.array_equal(again, bits) and ok.tolist() == [1, 1, 1]
    by_crc = wb.NrTransportDecoder(**settings, early_stop="crc")
    assert by_crc.early_stop == "crc" and np.array_equal(by_crc(llr, outputs="bits"), bits)
    turned = wb.NrTransportDecoder(**settings, llr_sign="p1/p0")
    assert np.array_equal(turned(np.negative(llr), outputs="bits"), bits)


def test_rate_matching_comes_back(rng):
    matcher = wb.NrRateMatcher(base_graph=2, k=1000, sent_bits=1800, modulation_order=6)
    bits = np.zeros((2, matcher.code.k), np.uint8)
    bits[:, :1000] = rng.integers(0, 2, (2, 1000))
    sent = matcher(wb.LdpcEncoder(code=matcher.code)(bits), rv=0)
    soft = matcher.combine(4 - 8.0 * sent, rv=0)
    assert np.array_equal(wb.LdpcDecoder(code=matcher.code)(soft, outputs="bits"), bits)
    assert np.array_equal(matcher.combine(4 - 8.0 * sent, rv=0, soft=soft.copy())[soft < 1e30], 2 * soft[soft < 1e30])
