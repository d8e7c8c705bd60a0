"""Codes of 1 to 11 bits of 5G NR against the table of the clause and a search of all messages."""
import itertools

import numpy as np
import pytest

import warpband as wb

#: TS 38.212 table 5.3.3.3-1, a row for each coded bit
TABLE = np.array([[int(m) for m in row] for row in (
    "11000000001 11100000011 10010010111 10110000101 11110001001 11001011101 10101010111 10011001101 "
    "11011001011 10111010011 10100111011 11100110101 10010101111 11010101011 10001101001 11001111011 "
    "11101110010 10011100100 11011111000 10000110000 10100010001 11010000011 10001001101 11101000111 "
    "11111011110 11000111001 10110100110 11110101110 10101110100 10111111100 11111111111 10000000000").split()])


@pytest.mark.parametrize("k", range(3, 12))
def test_words_are_those_of_the_table(rng, k):
    bits = rng.integers(0, 2, (9, k))
    words = np.tile(bits @ TABLE[:, :k].T % 2, 3)[:, :70]
    assert np.array_equal(wb.ShortBlockEncoder(k=k, coded_bits=70)(bits), words)


@pytest.mark.parametrize("k, coded_bits", [(3, 12), (6, 32), (11, 50)])
def test_the_likeliest_message_is_found(rng, k, coded_bits):
    code = {"k": k, "coded_bits": coded_bits}
    messages = np.array(list(itertools.product([0, 1], repeat=k)))
    words = 1 - 2.0 * wb.ShortBlockEncoder(**code)(messages)
    llr = rng.normal(0.5, 2, (40, coded_bits)).astype(np.float32)
    likelihood = llr.astype(float) @ words.T / 2
    best = np.sort(likelihood, axis=1)
    bits, status, margin, agreement = wb.ShortBlockDecoder(**code)(llr, outputs=("bits", "status", "margin", "agreement"))
    assert np.allclose(margin, best[:, -1] - best[:, -2], atol=1e-4)
    assert np.allclose(agreement, 2 * best[:, -1] / np.abs(llr).sum(axis=1), atol=1e-5)
    clear = best[:, -1] - best[:, -2] > 1e-3
    assert clear.mean() > 0.9 and not status.any()
    assert np.array_equal(bits[clear], messages[likelihood.argmax(axis=1)][clear])
    assert np.array_equal(wb.ShortBlockDecoder(**code, llr_sign="p1/p0")(-llr)[clear], bits[clear])
    assert np.array_equal(wb.ShortBlockDecoder(**code)(llr, packed=True), np.packbits(bits, axis=1))


def test_placeholders_are_known_to_both_sides():
    code = {"k": 2, "coded_bits": 24, "modulation_order": 4}
    coded = wb.ShortBlockEncoder(**code)([[0, 1]])
    assert "".join("01xy"[c] for c in coded[0]) == "01xx10xx11xx01xx10xx11xx"
    llr = np.where(coded == 2, np.nan, 3 - 6.0 * coded)
    assert np.array_equal(wb.ShortBlockDecoder(**code)(llr), [[0, 1]])


def test_silence_is_no_message():
    llr = np.zeros((2, 20))
    llr[1, 3] = np.inf
    bits, status = wb.ShortBlockDecoder(k=4, coded_bits=20)(llr, outputs=("bits", "status"))
    assert status.tolist() == [5, 1] and not bits.any()
