"""How arrays come in and go out: layouts, types, addresses, kinds."""
import ctypes
import inspect
import os
import signal
import subprocess
import sys
import threading
import time
import tracemalloc
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import warpband as wb
from warpband import _core
from warpband._arrays import NumpySpace

HERE = wb.cpu(threads=1)


def normal(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


# ---------------------------------------------------------------- no copy
@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8", "int8"])
def test_views_are_the_arrays_own_memory(dtype):
    a = np.zeros((6, 4, 5), dtype)
    size = a.itemsize
    for array, trailing, wanted in ((a, 1, (5, 24, 1, 5)), (a, 2, (20, 6, 1, 20)), (a, 0, (1, 120, 1, 1)),
                                    (a[::2], 2, (20, 3, 1, 40)), (a[:, :, 1], 1, (4, 6, 5, 20)), (a[:, 1, ::2], 1, (3, 6, 2, 20)),
                                    (np.broadcast_to(a[:1, 0], (7, 5)), 1, (5, 7, 1, 0)), (a[0, 0], 1, (5, 1, 1, 1)),
                                    (np.zeros((5, 9), dtype).T, 1, (5, 9, 9, 1))):
        address, *layout = _core.view_of(array, trailing, HERE)
        assert address == array.ctypes.data and tuple(layout) == wanted, (array.shape, array.strides, trailing)
        assert all(stride * size < 2 ** 31 for stride in layout[2:])


def test_a_call_allocates_its_outputs_alone(rng):
    h, y = normal(rng, 20000, 4, 4), normal(rng, 20000, 4)
    detector = wb.MMSE(streams=4, rx_antennas=4, qam=16)
    out = np.empty((20000, 16), np.float32)
    address = out.ctypes.data
    tracemalloc.start()
    try:
        assert detector(h, y, 0.1, out=out) is out
        within = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        llr = detector(h, y, 0.1)
        new = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert out.ctypes.data == address and np.array_equal(llr, out)
    assert within < 50_000 and llr.nbytes <= new < llr.nbytes + 50_000


def test_outputs_may_have_strides(rng):
    h, y = normal(rng, 10, 2, 2), normal(rng, 10, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    wide = np.full((10, 9), 7, np.float32)
    detector(h, y, 0.1, out=wide[:, 2:6])
    assert np.array_equal(wide[:, 2:6], detector(h, y, 0.1)) and (np.delete(wide, range(2, 6), 1) == 7).all()


# ---------------------------------------------------------------- strides of an array without values do not matter
def empty(shape, dtype, stride):
    return np.lib.stride_tricks.as_strided(np.zeros(1, dtype), shape, (stride,) * len(shape))


class OfCupy:
    """What CuPy, numba and torch show of an array without memory."""

    def __init__(self, shape, dtype, stride):
        self.shape = shape
        self.__cuda_array_interface__ = {"shape": shape, "typestr": np.dtype(dtype).str, "data": (0, False), "version": 3,
                                         "strides": (stride,) * len(shape)}


def of_dlpack(shape, dtype, stride):
    """An array that came in by DLPack, with steps of whole numbers."""
    class Managed(ctypes.Structure):
        _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                    ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                    ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]
    dtype = np.dtype(dtype)
    extents, steps = (ctypes.c_int64 * len(shape))(*shape), (ctypes.c_int64 * len(shape))(*[stride // dtype.itemsize] * len(shape))
    code = {"f": 2, "c": 5, "u": 1, "i": 0, "b": 6}[dtype.kind]
    managed = Managed(None, 1, 0, len(shape), code, 8 * dtype.itemsize, 1, ctypes.addressof(extents), ctypes.addressof(steps), 0, None, None)
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return _core.DeviceArray.from_dlpack(new(ctypes.addressof(managed), b"dltensor", None), (managed, extents, steps))


@pytest.mark.parametrize("made", [empty, OfCupy, of_dlpack])
@pytest.mark.parametrize("stride", [0, -8, 64])
@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8", "bool", "int8", "float16"])
def test_strides_of_empty_arrays(dtype, stride, made):
    last = (2,) if dtype == "float16" else ()  # real and imaginary part
    for shape, trailing in (((0, 40), 1), ((0, 3, 4), 2), ((5, 0, 4), 1), ((0,), 0), ((3, 0), 1), ((2, 0, 3), 2)):
        wanted = _core.view_of(np.zeros(shape + last, dtype), trailing, HERE)[1:]
        assert _core.view_of(made(shape + last, dtype, stride), trailing, HERE)[1:] == wanted, shape
        assert 0 in wanted[:2]


@pytest.mark.parametrize("made", [empty, OfCupy, of_dlpack])
def test_the_compiled_part_fills_empty_arrays_of_any_strides(made):
    bits, coded = made((0, 40), "uint8", 0), made((0, 132), "uint8", 0)
    wb.TurboEncoder(k=40)._work.run(HERE, bits, coded)
    detector = wb.MMSE(streams=2, rx_antennas=3, qam=4)._work
    detector.run(HERE, made((0, 7, 3, 2), "complex64", 0), made((0, 7, 3), "complex64", 0), made((0, 7), "float32", 0),
                 made((0, 7, 4), "float32", 0), made((0, 7, 4), "float32", 0), None, made((0, 7), "uint8", 0), made((0, 7), "int32", 0))
    with pytest.raises(ValueError, match=r"coded = \[0, 131\] is not allowed: expected shape \[0, 132\]"):
        wb.TurboEncoder(k=40)._work.run(HERE, bits, made((0, 131), "uint8", 0))


@pytest.mark.parametrize("made", [empty, OfCupy, of_dlpack])
def test_every_room_takes_and_fills_empty_batches_of_any_strides(made, monkeypatch):
    """As of a library that is not here: what the compiled part is given are its arrays."""
    given = []

    class Foreign(NumpySpace):
        def take(self, array):
            return made(array.shape, array.dtype, 0) if isinstance(array, np.ndarray) else array

        def empty(self, shape, dtype):
            given.append(dtype)
            return made(shape, dtype, 0)

    for name, module in list(sys.modules.items()):
        if name.startswith("warpband.") and name != "warpband._arrays" and hasattr(module, "space_of"):
            monkeypatch.setattr(module, "space_of", lambda array: Foreign())
    code, conv = wb.wifi_ldpc(n=648), wb.conv_80211()
    c64, f32, u8, f16 = "complex64", "float32", "uint8", "float16"
    calls = [
        (wb.NWay(streams=4, rx_antennas=4, qam=16), [((0, 7, 4, 4), c64), ((0, 7, 4), c64), ((0, 7), f32)]),
        (wb.MMSE(streams=2, rx_antennas=4, qam=64), [((0, 4, 2), c64), ((0, 4), c64)]),
        (wb.TurboEncoder(k=40), [((3, 0, 40), u8)]),
        (wb.TurboDecoder(k=40), [((0, 3, 132), f32)]),
        (wb.LdpcEncoder(code=code), [((0, code.k), u8)]),
        (wb.LdpcDecoder(code=code), [((0, 648), f32)]),
        (wb.ConvEncoder(code=conv, k=40), [((0, 40), u8)]),
        (wb.ViterbiDecoder(code=conv, k=40), [((0, wb.ConvEncoder(code=conv, k=40).n), f32)]),
        (wb.BcjrDecoder(code=conv, k=40), [((0, wb.ConvEncoder(code=conv, k=40).n), f32)]),
        (wb.QamMapper(qam=16), [((3, 0, 40), u8)]),
        (wb.Demapper(qam=16), [((0, 10), c64)]),
        (wb.Constellation(type="8psk").map, [((3, 0, 30), u8)]), (wb.Constellation(type="8psk").demap, [((0, 10), c64)]),
        (wb.MassiveUplink(antennas=16, users=4, qam=16), [((0, 16, 4), c64), ((0, 2, 16), c64)]),
        (wb.MassiveUplink(antennas=16, users=4, qam=16), [((0, 16, 4, 2), f16), ((0, 2, 16, 2), f16)]),
        (wb.MassiveDownlink(antennas=16, users=4), [((0, 16, 4), c64), ((0, 2, 4), c64)]),
        (wb.StbcEncoder(type="golden", qam=4), [((0, wb.StbcEncoder(type="golden", qam=4).bits_per_codeword), u8)]),
        (wb.StbcDecoder(type="golden", qam=4, rx_antennas=2), [((0, 2, 2), c64), ((0, 2, 2), c64)]),
        (wb.OfdmModulator(), [((0, 7, 300), c64)]),
        (wb.OfdmDemodulator(), [((0, wb.OfdmNumerology().samples_per_slot), c64)]),
    ]
    for call, arrays in calls:
        needs_noise = "noise_var" in inspect.signature(call).parameters and len(arrays) < 3
        got = call(*(np.zeros(shape, dtype) for shape, dtype in arrays), *((0.1,) if needs_noise else ()))
        assert 0 in got.shape, call
    assert len(given) == len(calls)


# ---------------------------------------------------------------- any shape and layout gives the same
LAYOUTS = {
    "contiguous": lambda a: np.ascontiguousarray(a),
    "every second": lambda a: np.repeat(a, 2, 0)[::2] if a.ndim == 2 else a,
    "part of a wider one": lambda a: np.pad(a, [(0, 0)] * (a.ndim - 1) + [(1, 2)])[..., 1:-2],
    "batch fastest": lambda a: np.ascontiguousarray(a.T).T if a.ndim == 2 else np.ascontiguousarray(a),
}


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(batch=st.lists(st.integers(0, 5), max_size=3), layout=st.sampled_from(sorted(LAYOUTS)), streams=st.integers(1, 4),
       shared=st.booleans(), number=st.booleans(), sign=st.sampled_from(["p0/p1", "p1/p0"]))
def test_detector_layouts(batch, layout, streams, shared, number, sign):
    rng = np.random.default_rng(len(batch) + 10 * streams)
    y = normal(rng, *batch, 4)
    h = normal(rng, *(batch[:-1] if shared else batch), 4, streams)
    n0 = rng.uniform(0.1, 1, batch).astype(np.float32)
    detector = wb.MMSE(streams=streams, rx_antennas=4, qam=4, executor=HERE, llr_sign=sign)
    llr = detector(h, LAYOUTS[layout](y), 0.5 if number else n0)
    assert llr.shape == tuple(batch) + (2 * streams,)
    wide = np.broadcast_to(h.reshape(h.shape[:-2] + ((1,) if shared and batch else ()) + h.shape[-2:]),
                           tuple(batch) + (4, streams))
    one = wb.MMSE(streams=streams, rx_antennas=4, qam=4, executor=HERE)
    for item in np.ndindex(*batch):
        alone = one(wide[item].copy(), y[item].copy(), 0.5 if number else float(n0[item]))
        assert np.array_equal(llr[item], alone if sign == "p0/p1" else -alone)


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(batch=st.lists(st.integers(0, 4), max_size=3), layout=st.sampled_from(sorted(LAYOUTS)), boolean=st.booleans())
def test_codec_layouts(batch, layout, boolean):
    rng = np.random.default_rng(len(batch))
    bits = rng.integers(0, 2, (*batch, 40), dtype=np.uint8)
    encode, decode = wb.TurboEncoder(k=40, executor=HERE), wb.TurboDecoder(k=40, iterations=1, executor=HERE)
    taken = LAYOUTS[layout](bits)
    coded = encode(taken.astype(bool) if boolean else taken)
    assert coded.shape == tuple(batch) + (132,)
    llr = (4 * (1 - 2.0 * coded)).astype(np.float32)
    assert np.array_equal(decode(LAYOUTS[layout](llr)), bits)
    for item in np.ndindex(*batch):
        assert np.array_equal(encode(bits[item].copy()), coded[item])


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(dtype=st.sampled_from(["float16", "float64", "int32", "int8", "uint8", "complex64", "complex128", ">f4", "bool"]),
       shape=st.lists(st.integers(1, 3), max_size=3))
def test_other_types_and_shapes_are_refused(dtype, shape):
    with pytest.raises(ValueError, match="^(llr|bits) = .* is not allowed: expected "):
        wb.TurboDecoder(k=40, executor=HERE)(np.ones(shape, dtype))


# ---------------------------------------------------------------- what is refused
def refused(match, call, error=ValueError):
    with pytest.raises(error, match=match):
        call()


def test_strides_that_no_view_has(rng):
    h, y = normal(rng, 8, 2, 2), normal(rng, 8, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    refused(r"channel = an array with strides .* numpy.ascontiguousarray\(channel\)", lambda: detector(h.swapaxes(1, 2), y, 0.1, strict=True))
    refused("received = an array with strides", lambda: detector(h, y[::-1], 0.1, strict=True))
    refused("received = an array with strides", lambda: detector(h[:6].reshape(2, 3, 2, 2), normal(rng, 2, 4, 2)[:, :3], 0.1, strict=True))
    assert detector(np.ascontiguousarray(h.swapaxes(1, 2)), y, 0.1).shape == (8, 4)
    out = np.empty((1, 4), np.float32)
    refused("stride 0", lambda: detector(h, y, 0.1, out=np.lib.stride_tricks.as_strided(out, (8, 4), (0, 4))))
    frozen = np.empty((8, 4), np.float32)
    frozen.flags.writeable = False
    refused("llr = a read-only array", lambda: detector(h, y, 0.1, out=frozen))
    raw = np.zeros(8 * 16 + 4, np.uint8)[4:].view(np.float32)
    odd = raw[:32].view(np.complex64) if raw.ctypes.data % 8 == 4 else np.zeros(65, np.float32)[1:33].view(np.complex64)
    if odd.ctypes.data % 8:
        refused("odd address", lambda: detector(h, odd.reshape(8, 2), 0.1, strict=True))
        assert np.array_equal(detector(h, odd.reshape(8, 2), 0.1), detector(h, odd.copy().reshape(8, 2), 0.1))


def test_other_arguments_that_are_refused(rng):
    h, y = normal(rng, 8, 2, 2), normal(rng, 8, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    refused("expected an array, got list", lambda: detector([1], [1], 0.1, strict=True), TypeError)
    refused("channel is a list: expected an array", lambda: detector([1], y, 0.1, strict=True), TypeError)
    refused("channel: expected an array, got NoneType", lambda: detector(None, y, 0.1), TypeError)
    for given in (b"llr", bytearray(8), "llr", (value for value in y), np.ndarray):
        refused(f"received: expected an array, got {type(given).__name__}", lambda given=given: detector(h, given, 0.1), TypeError)
    refused("noise_var is None", lambda: detector(h, y, None), TypeError)
    refused("noise_var is a str", lambda: detector(h, y, "0.1"), TypeError)
    refused(r"noise_var = shape \(3,\)", lambda: detector(h, y, np.ones(3, np.float32)))
    refused(r"noise_var = shape \(3,\)", lambda: detector(h, y, np.ones(3)))
    refused(r"channel = shape \(7, 2, 2\)", lambda: detector(h[:7], y, 0.1))
    refused(r"channel = shape \(8, 2, 3\)", lambda: detector(normal(rng, 8, 2, 3), y, 0.1))
    refused(r"received = shape \(\)", lambda: detector(h, np.complex64(1), 0.1))
    refused("outputs = 'soft'", lambda: detector(h, y, 0.1, outputs="soft"))
    refused("outputs = 'soft'", lambda: detector(h, y, 0.1, outputs=("llr", "soft")))
    for given in (3, None, 2.5):
        refused(f"outputs = {given} is not allowed: expected 'llr' or ", lambda given=given: detector(h, y, 0.1, outputs=given))
    for given in ([0.0], (np.empty((8, 4), np.float32),), "llr", 3):
        refused(rf"out is a {type(given).__name__}: expected an array of shape \(8, 4\) for 'llr'",
                lambda given=given: detector(h, y, 0.1, out=given), TypeError)
    refused("out = 1 arrays is not allowed: expected 2", lambda: detector(h, y, 0.1, outputs=("llr", "bits"), out=3))
    refused("out is a int", lambda: detector(h, y, 0.1, outputs=("llr",), out=(3,)), TypeError)
    refused("out = 1 arrays", lambda: detector(h, y, 0.1, outputs=("llr", "bits"), out=(np.empty((8, 4), np.float32),)))
    refused("out = shape", lambda: detector(h, y, 0.1, out=np.empty((8, 3), np.float32)))
    refused("llr = an array of float64", lambda: detector(h, y, 0.1, out=np.empty((8, 4))))
    refused("channel = an array of complex128", lambda: detector(h.astype(complex), y, 0.1, strict=True))
    assert detector(h, y, np.float64(0.1)).shape == detector(h, y, np.float32(0.1)).shape == (8, 4)
    assert np.array_equal(detector(h, y, np.array(0.5, np.float32)), detector(h, y, 0.5))


@pytest.mark.parametrize("value", [Fraction(1, 2), Decimal("0.5"), np.float16(0.5), np.float32(0.5), np.float64(0.5),
                                   np.array(0.5), np.array(0.5, np.float16)])
def test_noise_var_is_of_any_real_type(value, rng):
    h, y = normal(rng, 8, 2, 2), normal(rng, 8, 2)
    for call in (lambda n0: wb.MMSE(streams=2, rx_antennas=2, qam=4)(h, y, n0), lambda n0: wb.Demapper(qam=4)(y, n0),
                 lambda n0: wb.MassiveUplink(antennas=2, users=2, qam=4)(h, y[:, None], n0),
                 lambda n0: wb.awgn(y, noise_var=n0, seed=1)):
        assert np.array_equal(call(value), call(0.5))
    assert np.array_equal(wb.Demapper(qam=4)(y, np.array(2)), wb.Demapper(qam=4)(y, 2.0))
    assert np.array_equal(wb.Demapper(qam=4)(y, np.int64(2)), wb.Demapper(qam=4)(y, 2.0))
    refused("noise_var = ", lambda: wb.Demapper(qam=4)(y, np.complex64(1)))


def test_noise_var_is_a_power(rng):
    h, y = normal(rng, 8, 2, 2), normal(rng, 8, 2)
    calls = [lambda n0: wb.MMSE(streams=2, rx_antennas=2, qam=4)(h, y, n0), lambda n0: wb.Demapper(qam=4)(y, n0),
             lambda n0: wb.MassiveUplink(antennas=2, users=2, qam=4)(h, y[:, None], n0),
             lambda n0: wb.StbcDecoder(type="golden", qam=4, rx_antennas=2)(h, h, n0)]
    zero = [lambda n0: wb.awgn(y, noise_var=n0, seed=1), lambda n0: wb.MassiveDownlink(antennas=2, users=2)(h, y, n0)]
    for call in calls + zero:
        for value in (-10, np.float32(-10), np.array(-10.0)):
            refused(r"^noise_var = -10(\.0)? is not allowed: expected a power .*, not in dB: 10 \*\* \(dB / 10\)$", lambda: call(value))
    for call in calls:
        refused("^noise_var = 0(.0)? is not allowed: expected a power above 0, not in dB", lambda: call(0))
    for call in zero:
        call(0.0)
    # of an array those items are erased
    status = wb.MMSE(streams=2, rx_antennas=2, qam=4)(h, y, np.array([-1, 0] + 6 * [1], np.float32), outputs="status")
    assert status.tolist() == [1, 1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("shape", [(), (1,), (5,), (3, 1), (1, 5), (3, 5)])
def test_noise_var_broadcasts(shape, rng):
    h, y = normal(rng, 3, 2, 2), normal(rng, 3, 5, 2)
    n0 = rng.uniform(0.1, 1, shape)
    whole = np.ascontiguousarray(np.broadcast_to(n0, (3, 5)), np.float32)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    wanted = detector(h, y, whole)
    for given in (n0, n0.astype(np.float32), n0.tolist()):
        assert np.array_equal(detector(h, y, given), wanted)
    assert np.array_equal(wb.Demapper(qam=4)(y[..., 0], n0), wb.Demapper(qam=4)(y[..., 0], whole))
    if shape in ((), (1,)):
        uplink = wb.MassiveUplink(antennas=2, users=2, qam=4)
        assert np.array_equal(uplink(h, y, n0), uplink(h, y, np.ascontiguousarray(whole[:, 0])))
    else:
        refused("^noise_var = ", lambda: detector(h, y, n0, strict=True) if shape != (3, 5) else detector(h, y, n0.astype(complex)))


def test_bits_are_zeros_and_ones(rng):
    wide = np.zeros((5, 93), np.uint8)
    wide[3, 40] = 2
    code = wb.conv_80211()
    for call in (wb.TurboEncoder(k=40), wb.ConvEncoder(code=code, k=40), wb.CrcAttacher(n=40), wb.CrcAttacher(n=16).check,
                 wb.LteTransportEncoder(transport_bits=40, coded_bits=120), wb.QamMapper(qam=4)):
        for bad in (wide[:, 7:47], wide[:, 1:81:2] * 0 + np.uint8(2), wide[:, 7:47].copy(), wide[:, 7:47].astype(np.int64), wide[:, 7:47].tolist()):
            refused("^bits = an array with 2 is not allowed: expected 0 and 1$", lambda: call(bad))
    refused("^bits = an array with 0.5 is not allowed: expected 0 and 1$", lambda: wb.TurboEncoder(k=40)(np.full(40, 0.5)))
    refused("^bits = an array with nan is not allowed: expected 0 and 1$", lambda: wb.TurboEncoder(k=40)(np.full(40, np.nan)))


def test_what_is_not_converted(rng):
    h, y = normal(rng, 8, 2, 2), normal(rng, 8, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    refused("llr = an array of float64", lambda: detector(h, y, 0.1, out=np.empty((8, 4))))  # it would not be filled
    refused("llr = an array of complex128", lambda: wb.TurboDecoder(k=40)(np.ones((2, 132), complex)))
    refused("without a mask", lambda: detector(h, np.ma.masked_array(y.astype(complex)), 0.1))
    refused(r"channel = shape \(7, 2, 2\)", lambda: detector(h[:7].astype(complex), y, 0.1))
    refused("expected an array", lambda: detector(h, "y", 0.1), TypeError)
    refused("expected an array", lambda: detector(h, [[1, 2], [3]], 0.1), TypeError)


def test_hard_bits_as_llrs_are_told_how_to_become_some():
    for made in (wb.TurboDecoder(k=40), wb.LdpcDecoder(code=wb.wimax_ldpc())):
        refused(r"llr = an array of uint8 .* 1 - 2 b, .* by 1 - 2 \* llr.astype\(\"float32\"\)",
                lambda: made(np.zeros((2, made.n), np.uint8)))


# ---------------------------------------------------------------- outputs that overlap
def test_outputs_that_overlap_inputs_or_one_another_are_refused(rng):
    x = normal(rng, 1000)
    refused("^out = an array that overlaps sent is not allowed: expected memory of its own, or sent itself",
            lambda: wb.awgn(x[:-1], noise_var=0.1, seed=1, out=x[1:]))
    gain = np.empty_like(x)
    refused("^gain = an array that overlaps out ", lambda: wb.rayleigh(x, seed=1, out=(gain, gain)))
    decoder = wb.BcjrDecoder(code=wb.ConvCode(termination="truncated"), k=64)
    llr = rng.normal(size=(50, decoder.n)).astype(np.float32)
    refused("^soft = an array that overlaps llr is not allowed: expected memory of its own$",
            lambda: decoder(llr, out=llr[:, :64]))
    h, y = normal(rng, 64, 3, 2), normal(rng, 64, 3)
    detector = wb.MMSE(streams=2, rx_antennas=3, qam=16)
    rows = np.lib.stride_tricks.as_strided(np.zeros(64 * 4 + 8, np.float32), (64, 8), (16, 4))
    refused(r"^llr = an array with strides \(16, 4\) of bytes, whose own items overlap", lambda: detector(h, y, 0.3, out=rows))
    several = np.zeros((64, 9), np.float32)
    refused("^status = an array that overlaps llr ", lambda: detector(
        h, y, 0.3, outputs=("llr", "status"), out=(several[:, :8], several.view(np.uint8)[:, 3])))


def test_outputs_may_lie_between_inputs_and_awgn_works_in_place(rng):
    x = normal(rng, 1000)
    wanted, fading = wb.awgn(x, noise_var=0.1, seed=1), wb.rayleigh(x, seed=1)
    z = x.copy()
    assert wb.awgn(z, noise_var=0.1, seed=1, out=z) is z and np.array_equal(z, wanted)
    z = x.copy()
    wb.rayleigh(z, seed=1, out=(z, np.empty_like(z)))
    assert np.array_equal(z, fading[0])
    z = np.zeros((1000, 2), np.complex64)
    z[:, 0] = x
    wb.awgn(z[:, 0], noise_var=0.1, seed=1, out=z[:, 1])  # between the numbers of the input
    assert np.array_equal(z[:, 1], wanted) and np.array_equal(z[:, 0], x)
    z = np.zeros(2000, np.complex64)
    z[:1000] = x
    assert np.array_equal(wb.awgn(z[:1000], noise_var=0.1, seed=1, out=z[1000:]), wanted)  # behind it
    decoder = wb.BcjrDecoder(code=wb.ConvCode(termination="truncated"), k=64)
    together = np.zeros((5, decoder.n + 64), np.float32)
    together[:, :decoder.n] = rng.normal(size=(5, decoder.n))
    wanted = decoder(together[:, :decoder.n].copy())
    assert np.array_equal(decoder(together[:, :decoder.n], out=together[:, decoder.n:]), wanted)  # beside its rows
    for _ in range(2):  # nothing of a call that was refused is left over
        with pytest.raises(ValueError):
            wb.awgn(x[:-1], noise_var=0.1, seed=1, out=x[1:])
        wb.awgn(x, noise_var=0.1, seed=1, out=x)


# ---------------------------------------------------------------- Ctrl-C
def test_a_signal_ends_a_long_call():
    # Where tests run in the background of a shell, SIGINT is ignored until a handler is set.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    decoder = wb.LdpcDecoder(code=wb.wimax_ldpc(), iterations=1000, early_stop="none", executor=HERE)
    out = np.full((4000, decoder.k), 7, np.uint8)  # a minute or so
    ended = threading.Event()

    def interrupt():
        while (out[0] == 7).all() and not ended.wait(0.01):
            pass
        if not ended.is_set():  # the call has begun and goes on
            os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            thread.start()
            try:
                decoder(np.ones((4000, decoder.n), np.float32), out=out)
            finally:
                ended.set()
        thread.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert (out[-1] == 7).all()  # it was never begun
    assert not decoder(np.ones((1, decoder.n), np.float32)).any()  # and the executor works


class OnGpu:
    """What CuPy, torch and numba show of an array on a GPU."""

    shape = (8, 2)
    __cuda_array_interface__ = {"shape": (8, 2), "typestr": "<c8", "data": (4096, False), "version": 3}


@pytest.mark.skipif(wb.has_cuda, reason="this build has CUDA")
def test_arrays_on_a_gpu_need_cuda(rng):
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    refused("this build of warpband has no CUDA", lambda: detector(normal(rng, 8, 2, 2), OnGpu(), 0.1), RuntimeError)
    refused("an array in memory of cuda:0 is not allowed: expected one in host memory",
            lambda: detector(OnGpu(), normal(rng, 8, 2), 0.1))
    refused("no CUDA", lambda: wb.cuda(), RuntimeError)
    assert wb.cuda_devices() == []


# ---------------------------------------------------------------- other kinds of arrays
class OnlyDlpack:
    """An array of a library that has no buffers."""

    def __init__(self, array):
        self.array, self.shape = array, array.shape

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


def test_dlpack_and_buffers(rng):
    h, y = normal(rng, 8, 2, 2), normal(rng, 8, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    wanted = detector(h, y, 0.1)
    assert np.array_equal(detector(OnlyDlpack(h), OnlyDlpack(y), 0.1), wanted)
    raw = (ctypes.c_float * 132)(*[4.0] * 132)
    llr = np.frombuffer(raw, np.float32)
    assert np.array_equal(wb.TurboDecoder(k=40)(memoryview(llr)), np.zeros(40))


# ---------------------------------------------------------------- threads and processes
def test_the_gil_is_released():
    """Python goes on, turn by turn, while a call runs: one that is long enough for that, however busy the machine is."""
    decoder = wb.TurboDecoder(k=6144, iterations=64, executor=wb.cpu(threads=1))
    turns, blocks = 0, 32
    while turns <= 5 and blocks < 20000:
        worker = threading.Thread(target=decoder, args=(np.full((blocks, 3 * 6148), 0.01, np.float32),))
        worker.start()
        turns, blocks = 0, 4 * blocks
        while worker.is_alive():
            time.sleep(0.002)
            turns += 1
    assert turns > 5


def test_many_threads_share_an_executor(rng):
    bits = rng.integers(0, 2, (20, 40), dtype=np.uint8)
    llr = (4 * (1 - 2.0 * wb.TurboEncoder(k=40)(bits))).astype(np.float32)
    decoder = wb.TurboDecoder(k=40)
    wrong = []

    def work():
        for _ in range(30):
            if not np.array_equal(decoder(llr), bits):
                wrong.append(1)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_child_works(rng):
    import os
    executor = wb.cpu(threads=4)
    encoder = wb.TurboEncoder(k=1024, executor=executor)
    bits = rng.integers(0, 2, (64, 1024), dtype=np.uint8)
    wanted = encoder(bits)
    child = os.fork()
    if child == 0:
        os._exit(0 if np.array_equal(encoder(bits), wanted) else 1)
    deadline = time.monotonic() + 300
    done, status = 0, 0
    while not done and time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        time.sleep(0.01)
    if not done:
        os.kill(child, 9)
        os.waitpid(child, 0)
    assert done == child and status == 0


def test_outputs_are_named_once_and_masks_refused(rng):
    encoder = wb.TurboEncoder(k=40)
    with pytest.raises(ValueError, match="without a mask"):
        encoder(np.ma.masked_array(np.zeros((2, 40), np.uint8)))
    decoder = wb.TurboDecoder(k=40)
    with pytest.raises(ValueError, match="each name once"):
        decoder(np.zeros((2, 132), np.float32), outputs=("bits", "bits"))


@pytest.mark.parametrize("end", ["del executor, encoder; os._exit(0)", "sys.exit(0)"])
def test_a_forked_child_may_end_without_a_call(end):
    # The threads of what it inherits are the parent's: nothing may wait for them.
    program = f"""
import os, sys, warpband as wb
import numpy as np
executor = wb.cpu(threads=2)
encoder = wb.TurboEncoder(k=40, executor=executor)
encoder(np.zeros((3, 40), np.uint8))
wb.TurboEncoder(k=40)(np.zeros((3, 40), np.uint8))
child = os.fork()
if child == 0:
    {end}
print(os.waitpid(child, 0)[1])
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout == "0\n", done.stderr


@pytest.mark.parametrize("isa", wb.isas())
def test_every_instruction_set_gives_the_same_bits(isa, rng):
    h, y = normal(rng, 37, 3, 3), normal(rng, 37, 3)
    wanted = wb.NWay(streams=3, rx_antennas=3, qam=16)(h, y, 0.1)
    assert np.array_equal(wb.NWay(streams=3, rx_antennas=3, qam=16, executor=wb.cpu(isa=isa))(h, y, 0.1), wanted)
    assert isa in wb.cpu(isa=isa).description


# ---------------------------------------------------------------- integers that no C++ type holds
HUGE = [2 ** 31, -2 ** 31 - 1, 2 ** 40, -2 ** 64, 10 ** 30]


@pytest.mark.parametrize("value", HUGE)
@pytest.mark.parametrize("make, name, allowed", [
    (lambda v: wb.MMSE(streams=v, rx_antennas=4, qam=4), "streams", "1 to 8"),
    (lambda v: wb.NWay(streams=4, rx_antennas=4, qam=16, ways=v), "ways", ""),
    (lambda v: wb.KBest(streams=4, rx_antennas=4, qam=16, survivors=v), "survivors", "1 to 4096"),
    (lambda v: wb.TurboDecoder(k=40, iterations=v), "iterations", "1 to 64"),
    (lambda v: wb.TurboEncoder(k=v), "k", ""),
    (lambda v: wb.wifi_ldpc(n=v), "n", "648"),
    (lambda v: wb.LdpcDecoder(code=wb.wifi_ldpc(n=648), iterations=v), "iterations", "1 to 1000"),
    (lambda v: wb.ViterbiDecoder(code=wb.conv_80211(), k=v), "k", ""),
    (lambda v: wb.LteTransportEncoder(transport_bits=v, coded_bits=300), "transport_bits", ""),
    (lambda v: wb.MassiveUplink(antennas=v, users=4, qam=4), "antennas", ""),
    (lambda v: wb.StbcDecoder(type="golden", qam=4, rx_antennas=v), "rx_antennas", ""),
    (lambda v: wb.QamMapper(qam=v), "qam", ""),
    (lambda v: wb.TdlChannel(sinusoids=v), "sinusoids", ""),
    (lambda v: wb.OfdmModulator(numerology=wb.OfdmNumerology(cyclic_prefix=v)), "cyclic_prefix", "0 to fft_size"),
    (lambda v: wb.TurboEncoder(k=40, permutation=[v] * 40), "permutation", ""),
    (lambda v: wb.rayleigh(np.zeros(4, np.complex64), seed=1, block=v), "block", ""),
    (lambda v: wb.cpu(threads=v), "threads", ""),
    (lambda v: wb.LteTransportEncoder(transport_bits=40, coded_bits=300)(np.zeros(40, np.uint8), rv=v), "rv", ""),
])
def test_integers_out_of_any_range(make, name, allowed, value):
    with pytest.raises(ValueError) as error:
        make(value)
    text = str(error.value)
    assert text.startswith(f"{name} = {value} is not allowed: expected ") and allowed in text, text


@pytest.mark.parametrize("name, value, limit", [("seed", -1, 2 ** 64 - 1), ("seed", 2 ** 64, 2 ** 64 - 1),
                                                ("first", -1, 2 ** 64 - 1), ("point", 2 ** 32, 2 ** 32 - 1)])
def test_random_numbers_out_of_range(name, value, limit):
    with pytest.raises(ValueError, match=f"^{name} = {value} is not allowed: expected 0 to {limit}$"):
        wb.awgn(np.zeros(4, np.complex64), noise_var=1, **{"seed": 1, name: value})


def test_parts_of_columns(rng):
    # Detectors and codecs take them; where every number is an item, all axes must be stepped through in one pace.
    wide = normal(rng, 5, 8)
    bits = rng.integers(0, 2, (5, 8), dtype=np.uint8)
    refused("sent = an array with strides", lambda: wb.awgn(wide[:, :3], noise_var=1, seed=1, strict=True))
    refused("sent = an array with strides", lambda: wb.rayleigh(wide[:, :3], seed=1, strict=True))
    refused("bits = an array with strides", lambda: wb.QamMapper(qam=4)(bits[:, :4], strict=True))
    refused("received = an array with strides", lambda: wb.Demapper(qam=4)(wide[:, :3], 0.1, strict=True))
    assert np.array_equal(wb.awgn(wide[:, ::2], noise_var=1, seed=1), wb.awgn(wide[:, ::2].copy(), noise_var=1, seed=1))
    assert np.array_equal(wb.Demapper(qam=4)(wide[:3], 0.1), wb.Demapper(qam=4)(wide[:3].copy(), 0.1))


# ---------------------------------------------------------------- descriptions that contradict themselves
class Described:
    """An array by its description, which may be wrong."""

    def __init__(self, **changed):
        self.__cuda_array_interface__ = {"shape": (4,), "typestr": "<f4", "data": (0, False), "version": 3, "strides": None, **changed}


class LikeTorch:
    """What torch shows of a tensor in host memory."""

    dtype, itemsize = "torch.float32", 4

    def __init__(self, memory, shape, steps):
        self.memory, self.shape, self.steps = memory, shape, steps

    def stride(self):
        return self.steps

    def data_ptr(self):
        return 0 if self.memory is None else self.memory.ctypes.data

    def get_device(self):
        return -1


@pytest.mark.parametrize(("made", "error"), [
    (lambda a: Described(), "an array without memory is not allowed: expected one with an address"),
    (lambda a: Described(data=()), "0 parts of its data is not allowed: expected an address and whether it is read-only"),
    (lambda a: Described(strides=()), "0 strides of 1 axes is not allowed: expected one for each axis"),
    (lambda a: Described(shape=(-3,)), r"shape \(-3,\) is not allowed: expected extents of 0 or more"),
    (lambda a: LikeTorch(a, (-2, 4), (4, 1)), r"shape \(-2, 4\) is not allowed: expected extents of 0 or more"),
    (lambda a: LikeTorch(a, (2**40, 4), (2**30, 1)), r"steps of \d+ times \d+ bytes is not allowed: expected an array that memory has room for"),
    (lambda a: LikeTorch(a, (2**30, 2**30), (3 * 2**29, 3 * 2**29)), r"steps of \d+ bytes is not allowed: expected an array that memory has room for"),
    (lambda a: LikeTorch(None, (4,), (1,)), "an array without memory"),
    (lambda a: LikeTorch(a, (4,), ()), "0 strides of 1 axes"),
    (lambda a: LikeTorch(a, (4,), (1,) * 40), "40 strides of 1 axes"),
    (lambda a: LikeTorch(a, (4,), (2**62,)), "steps of 4611686018427387904 times 4 bytes is not allowed: expected an array that memory has room for"),
    (lambda a: LikeTorch(a, (2, -2), (2, 1)), r"shape \(2, -2\) is not allowed"),
])
def test_descriptions_that_contradict_themselves_are_refused(made, error):
    memory = np.zeros(8, np.float32)
    assert _core.view_of(LikeTorch(memory, (2, 4), (4, 1)), 1, HERE) == (memory.ctypes.data, 4, 2, 1, 4)
    with pytest.raises(ValueError, match="array = " + error):
        _core.view_of(made(memory), 1, HERE)


def test_buffers_without_strides_are_taken():
    array = (ctypes.c_float * 6)()
    assert _core.view_of(array, 1, HERE) == (ctypes.addressof(array), 6, 1, 1, 1)
    assert _core.view_of((ctypes.c_float * 3 * 2)(), 1, HERE)[1:] == (3, 2, 1, 3)
