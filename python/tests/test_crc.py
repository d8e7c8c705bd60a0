import numpy as np
import oracles
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpband as wb

#: 3GPP TS 36.212 section 5.1.1, and the parity of the bytes "123456789", the highest bit first, as catalogues of CRCs have it
STANDARD = {"crc24a": (0x1864CFB, 24, 0xCDE703), "crc24b": (0x1800063, 24, 0x23EF52), "crc16": (0x11021, 16, 0x31C3),
            "crc8": (0x19B, 8, 0xEA)}


@pytest.mark.parametrize("name", STANDARD)
def test_those_of_the_standard(name):
    polynomial, degree, parity = STANDARD[name]
    bits = np.unpackbits(np.frombuffer(b"123456789", np.uint8))
    coded = wb.CrcAttacher(n=72, crc=name)(bits)
    assert coded.dtype == np.uint8 and np.array_equal(coded[:72], bits)
    assert int("".join(map(str, coded[72:])), 2) == parity
    assert np.array_equal(wb.CrcAttacher(n=72, crc=(polynomial, degree))(bits), coded)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 2 ** 32 - 1), n=st.integers(1, 200), degree=st.integers(1, 24), data=st.data())
def test_parity_is_that_of_a_long_division(seed, n, degree, data):
    polynomial = 1 << degree | data.draw(st.integers(0, 2 ** degree - 1))
    bits = np.random.default_rng(seed).integers(0, 2, (3, n), dtype=np.uint8)
    attacher = wb.CrcAttacher(n=n, crc=(polynomial, degree))
    wanted = np.array([[*row, *oracles.crc(row, polynomial, degree)] for row in bits], np.uint8)
    assert attacher.degree == degree and np.array_equal(attacher(bits), wanted)
    assert np.array_equal(attacher(bits.astype(bool)), wanted)
    rows = np.concatenate([bits, np.ones((3, degree), np.uint8)], 1)  # what lies there does not count
    attacher.attach(rows)
    assert np.array_equal(rows, wanted)
    out = np.full((3, n + degree), 7, np.uint8)
    assert attacher(bits, out=out) is out and np.array_equal(out, wanted)


def test_check(rng):
    """A CRC whose polynomial has a constant term finds every burst of errors that is no longer than its degree."""
    for name, (_, degree, _) in STANDARD.items():
        attacher = wb.CrcAttacher(n=61, crc=name)
        coded = attacher(rng.integers(0, 2, (4, 50, 61), dtype=np.uint8))
        ok = attacher.check(coded)
        assert ok.dtype == bool and ok.shape == (4, 50) and ok.all()
        assert attacher.check(coded.astype(bool)).all() and attacher.check(coded[0, 0]).shape == ()
        for start in range(61 + degree):
            burst = rng.integers(0, 2, min(degree, 61 + degree - start), dtype=np.uint8)
            burst[0] = 1
            bad = coded.copy()
            bad[1:3, ::2, start:start + len(burst)] ^= burst
            wanted = np.ones((4, 50), bool)
            wanted[1:3, ::2] = False
            assert np.array_equal(attacher.check(bad), wanted)


def test_what_is_refused():
    for bad, argument in (({"n": 0}, "n"), ({"n": 2 ** 40}, "n"), ({"n": 8, "crc": "crc32"}, "crc"),
                          ({"n": 8, "crc": (7, 3)}, "crc"),
                          ({"n": 8, "crc": (1 << 25, 25)}, "crc"), ({"n": 8, "crc": (2 ** 40, 24)}, "crc"),
                          ({"n": 8, "crc": (7, 2 ** 40)}, "crc"), ({"n": 8, "crc": (7, 0)}, "crc")):
        with pytest.raises(ValueError, match=f"^{argument} = .* is not allowed"):
            wb.CrcAttacher(**bad)
    attacher = wb.CrcAttacher(n=8, crc="crc8")
    for call, array in ((attacher, np.full(8, 0.5)), (attacher, np.zeros(9, np.uint8)), (attacher.check, np.zeros(15, np.uint8)),
                        (attacher.check, np.full(16, 2)), (attacher.attach, np.zeros(8, np.uint8))):
        with pytest.raises(ValueError, match="bits = .* is not allowed"):
            call(array)
    fixed = np.zeros(16, np.uint8)
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="bits"):
        attacher.attach(fixed)
