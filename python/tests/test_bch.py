"""BCH codes: against polynomial division, errors up to t and beyond, erased words, settings."""
import copy
import pickle

import numpy as np
import pytest

import warpband as wb

ONE = wb.cpu(threads=1)
CODES = [{"field_degree": 4, "corrects": 2, "n": 15}, {"field_degree": 6, "corrects": 3, "n": 50},
         {"field_degree": 14, "corrects": 12, "n": 400}]


def remainder(word, generator):
    """Of polynomials over GF(2) as lists of bits, the highest power first."""
    rest = list(word)
    for i in range(len(rest) - len(generator) + 1):
        if rest[i]:
            rest[i:i + len(generator)] = [a ^ b for a, b in zip(rest[i:i + len(generator)], generator)]
    return rest[len(rest) - len(generator) + 1:]


@pytest.mark.parametrize("code", CODES)
def test_codewords_are_multiples_of_the_generator(code):
    encode = wb.BchEncoder(**code, executor=ONE)
    last = np.zeros(encode.k, np.uint8)
    last[-1] = 1
    generator = encode(last)[encode.k - 1:].tolist()  # x^(n - k) and its remainder
    bits = np.random.default_rng(1).integers(0, 2, (20, encode.k), dtype=np.uint8)
    words = encode(bits)
    assert (words[:, :encode.k] == bits).all()
    assert not any(any(remainder(word.tolist(), generator)) for word in words)


@pytest.mark.parametrize("code", CODES)
def test_errors_are_corrected_up_to_t(code):
    encode, decode = wb.BchEncoder(**code), wb.BchDecoder(**code, executor=ONE)
    rng, t = np.random.default_rng(2), code["corrects"]
    errors = np.arange(t + 3).repeat(3)
    bits = rng.integers(0, 2, (errors.size, encode.k), dtype=np.uint8)
    received = encode(bits)
    for word, count in zip(received, errors):
        word[rng.choice(code["n"], count, replace=False)] ^= 1
    found, corrected, status = decode(received, outputs=("bits", "corrected", "status"))
    right = errors <= t
    assert (found[right] == bits[right]).all() and (corrected[right] == errors[right]).all() and (status[right] == 2).all()
    failed = status == 0
    assert not failed[right].any()
    assert (found[failed] == received[failed, :encode.k]).all() and (corrected[failed] == 0).all()


@pytest.mark.parametrize("convert", [list, lambda s: np.array(s, np.uint8), lambda s: np.array(s, np.int64)])
def test_the_status_of_a_decoder_before_says_what_is_erased(convert):
    code = CODES[0]
    words = wb.BchEncoder(**code)(np.ones((4, 7)))
    bits, status = wb.BchDecoder(**code)(words, erased=convert([0, 1, 2, 5]), outputs=("bits", "status"))
    assert status.tolist() == [2, 1, 2, 5]
    assert bits.sum(axis=1).tolist() == [7, 0, 7, 0]


def test_erased_may_be_bools_and_no_other_numbers():
    code = CODES[0]
    decode, words = wb.BchDecoder(**code), wb.BchEncoder(**code)(np.ones((2, 7)))
    assert decode(words, erased=np.array([True, False]), outputs="status").tolist() == [1, 2]
    with pytest.raises(ValueError, match="erased = an array with 256 is not allowed"):
        decode(words, erased=[0, 256])


def test_objects_are_copied_and_stored():
    decode = wb.BchDecoder(**CODES[1])
    for other in (copy.deepcopy(decode), pickle.loads(pickle.dumps(decode))):
        assert (other.n, other.corrects, other.k) == (decode.n, decode.corrects, decode.k) == (50, 3, 32)


@pytest.mark.parametrize("wrong, name", [({"field_degree": 2}, "field_degree"), ({"corrects": 13}, "corrects"), ({"n": 16}, "n"),
                                         ({"polynomial": 31}, "polynomial")])
def test_wrong_settings_are_named(wrong, name):
    with pytest.raises(ValueError, match=rf"^{name} = "):
        wb.BchEncoder(**{**CODES[0], **wrong})
