"""Polar codes of 5G NR against textbook versions: the transform, and the most likely of all messages."""
import itertools

import numpy as np
import pytest

import warpband as wb

#: TS 38.212 table 5.4.1.1-1.
SUB_BLOCKS = [0, 1, 2, 4, 3, 5, 6, 7, 8, 16, 9, 17, 10, 18, 11, 19, 12, 20, 13, 21, 14, 22, 15, 23, 24, 25, 26, 28, 27, 29, 30, 31]


def test_without_frozen_bits_the_encoder_is_the_transform(rng):
    transform = np.eye(1, dtype=int)
    for _ in range(6):
        transform = np.kron(transform, [[1, 0], [1, 1]])
    u = rng.integers(0, 2, (5, 64))
    d = u @ transform % 2
    sent = d.reshape(5, 32, 2)[:, SUB_BLOCKS].reshape(5, 64)
    assert np.array_equal(wb.PolarEncoder(kind="plain", k=64, coded_bits=64, crc_bits=0)(u), sent)


@pytest.mark.parametrize("coded_bits", [24, 32, 45])
@pytest.mark.parametrize("algorithm", ["min-sum", "sum-product"])
def test_a_list_of_all_messages_finds_the_most_likely(rng, coded_bits, algorithm):
    code = {"kind": "plain", "k": 5, "coded_bits": coded_bits, "crc_bits": 0}
    messages = np.array(list(itertools.product([0, 1], repeat=5)))
    words = 1 - 2.0 * wb.PolarEncoder(**code)(messages)
    llr = rng.normal(0.8, 2, (300, coded_bits)).astype(np.float32)
    likelihood = llr.astype(float) @ words.T
    best = np.sort(likelihood, axis=1)
    clear = best[:, -1] - best[:, -2] > (0.2 if algorithm == "min-sum" else 2)  # the logarithms of sum-product are approximate
    decided = wb.PolarDecoder(**code, list_size=32, algorithm=algorithm)(llr)
    assert clear.mean() > 0.4
    assert np.array_equal(decided[clear], messages[likelihood.argmax(axis=1)][clear])


def test_what_is_wrong_has_no_crc_and_what_is_missing_is_erased(rng):
    code = {"kind": "dci", "k": 40, "coded_bits": 108, "rnti": 7}
    bits = rng.integers(0, 2, (4, 40))
    llr = (3 - 6.0 * wb.PolarEncoder(**code)(bits)).astype(np.float32)
    llr[0] = rng.normal(0, 1, 108)
    llr[1, 9], llr[2, :80] = np.nan, 0
    decided, status = wb.PolarDecoder(**code)(llr, outputs=("bits", "status"))
    assert status.tolist() == [0, 1, 5, 2]
    assert np.array_equal(decided[3], bits[3]) and not decided[1:3].any()
    assert np.array_equal(wb.PolarDecoder(**code, llr_sign="p1/p0")(-llr[3:]), bits[3:])
    adaptive = wb.PolarDecoder(**code, list_size=8, adaptive=True)(llr, outputs=("bits", "status"))
    assert all(np.array_equal(a, b) for a, b in zip(adaptive, (decided, status)))
    for precision in ("int16", "int8"):
        whole = wb.PolarDecoder(**code, precision=precision)(llr, outputs=("bits", "status"))
        assert np.array_equal(whole[0][1:], decided[1:]) and np.array_equal(whole[1], status)
    other = wb.PolarDecoder(**{**code, "rnti": 8})
    assert other(llr[3:], outputs="status").tolist() == [0]


def test_general_codes_are_the_transform_of_the_bits_they_name(rng, tmp_path):
    transform = np.eye(1, dtype=int)
    for _ in range(7):
        transform = np.kron(transform, [[1, 0], [1, 1]])
    frozen = rng.permutation(128)[:48]
    u = np.zeros((5, 128), dtype=int)
    u[:, np.setdiff1d(np.arange(128), frozen)] = bits = rng.integers(0, 2, (5, 80))
    code = {"kind": "general", "k": 80, "coded_bits": 128, "crc_bits": 0, "construction": "custom"}
    coded = wb.PolarEncoder(**code, reliability=[int(i) for i in frozen])(bits)
    assert np.array_equal(coded, u @ transform % 2)
    path = tmp_path / "frozen.txt"
    path.write_text("# frozen\n" + "\n".join(map(str, frozen)))
    assert np.array_equal(wb.PolarEncoder(**code, reliability_file=str(path))(bits), coded)
    path.write_text("1, 2\nthree")
    with pytest.raises(RuntimeError, match="line 2: expected an index"):
        wb.PolarEncoder(**code, reliability_file=str(path))


def test_long_codes_with_growing_lists(rng):
    code = {"kind": "general", "k": 16384, "coded_bits": 32768, "crc_bits": 16}
    bits = rng.integers(0, 2, (4, 16384), dtype=np.uint8)
    received = 1 - 2.0 * wb.PolarEncoder(**code)(bits) + rng.normal(0, 0.8, (4, 32768))
    decided, status = wb.PolarDecoder(**code, list_size=8, adaptive=True, growing=True, precision="int16")(
        2 / 0.64 * received, outputs=("bits", "status"))
    assert status.tolist() == [2, 2, 2, 2] and np.array_equal(decided, bits)


def test_sweeps_know_polar_codes():
    curve = {"code": {"type": "polar", "kind": "uci", "k": 64, "coded_bits": 128}, "modem": {"modulation": "qpsk"},
             "sweep": {"ebn0_db": [0.0, 6.0]}, "stop": {"frame_errors": 30, "max_frames": 400}}
    fer = wb.sweep(curve, threads=1)["fer"]
    assert fer[0] > 0.5 and fer[1] < 0.05


@pytest.mark.parametrize("make, argument", [
    (lambda: wb.PolarEncoder(k=11, coded_bits=100), "k"), (lambda: wb.PolarEncoder(k=64, coded_bits=0), "coded_bits"),
    (lambda: wb.PolarEncoder(kind="pusch", k=64, coded_bits=128), "kind"),
    (lambda: wb.PolarDecoder(k=64, coded_bits=128, list_size=12), "list_size"),
    (lambda: wb.PolarEncoder(kind="general", k=64, coded_bits=40000), "coded_bits"),
    (lambda: wb.PolarEncoder(kind="general", k=64, coded_bits=128, crc_bits=0, construction="custom", reliability=[1, 2]), "reliability"),
    (lambda: wb.PolarEncoder(kind="general", k=64, coded_bits=2048, construction="nr"), "construction"),
    (lambda: wb.PolarDecoder(k=64, coded_bits=128, algorithm="viterbi"), "algorithm")])
def test_bad_settings_are_named(make, argument):
    with pytest.raises(ValueError, match=f"^{argument} = "):
        make()
