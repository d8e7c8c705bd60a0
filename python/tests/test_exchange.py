"""Tensors that say in C what they are (DLPack's exchange interface): what is taken that way, and what goes the way of all others.

The tensors here are in host memory, of a type of these tests and, where it is installed, of torch. test_device.py has tensors of
torch on a device.
"""
import ctypes as c
import itertools

import numpy as np
import pytest

import warpband as wb
from warpband import _core

CPU, CUDA, PINNED = 1, 2, 3
CODES = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}


class Tensor(c.Structure):
    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device", c.c_int32), ("ndim", c.c_int32), ("code", c.c_uint8),
                ("bits", c.c_uint8), ("lanes", c.c_uint16), ("shape", c.c_void_p), ("strides", c.c_void_p), ("offset", c.c_uint64)]


DESCRIBE = c.CFUNCTYPE(c.c_int, c.py_object, c.POINTER(Tensor))
STREAM = c.CFUNCTYPE(c.c_int, c.c_int32, c.c_int32, c.POINTER(c.c_void_p))


class Functions(c.Structure):
    _fields_ = [("major", c.c_uint32), ("minor", c.c_uint32), ("previous", c.c_void_p), ("allocate", c.c_void_p),
                ("export_managed", c.c_void_p), ("import_managed", c.c_void_p), ("describe", c.c_void_p), ("current_stream", c.c_void_p)]


def address(function):
    return c.cast(function, c.c_void_p).value


# int PyList_Append(PyObject*, PyObject*): a C function that fails for what is no list, with an error of Python
FAILS = c.cast(c.pythonapi.PyList_Append, c.c_void_p).value
_kept = []  # what C has the address of


def capsule(name=b"dlpack_exchange_api", **fields):
    functions = Functions(**{"major": 1, "minor": 3, **fields})
    _kept.append((functions, name, fields))
    new = c.pythonapi.PyCapsule_New
    new.restype, new.argtypes = c.py_object, (c.c_void_p, c.c_char_p, c.c_void_p)
    return new(c.addressof(functions), name, None)


class DType:
    known = {}

    def __new__(cls, name):
        return cls.known.setdefault(name, object.__new__(cls))

    def __init__(self, name):
        self.name, self.itemsize = name, np.dtype(name).itemsize

    def __str__(self):
        return "fake." + self.name


def tensor_type(functions=None, device=(CPU, 0), normal=False, **changed):
    """A type of tensors around arrays of NumPy, with the methods of torch's tensors and this exchange interface. ``asked`` counts by
    which way it was asked."""

    class Fake:
        asked = {"interface": 0, "methods": 0}

        def __init__(self, array, conj=False, neg=False):
            self.array, self.waiting = array, (conj, neg)
            self.lengths = (c.c_int64 * array.ndim)(*array.shape)
            self.steps = (c.c_int64 * array.ndim)(*(s // array.itemsize for s in array.strides))

        def is_conj(self):
            return self.waiting[0]

        def is_neg(self):
            return self.waiting[1]

        def resolve_conj(self):
            return type(self)(self.array.conj(), False, self.waiting[1]) if self.waiting[0] else self

        def resolve_neg(self):
            return type(self)(-self.array, self.waiting[0], False) if self.waiting[1] else self

        def data_ptr(self):
            self.asked["methods"] += 1
            return self.array.ctypes.data

        def get_device(self):
            return device[1] if device[0] == CUDA else -1

        def stride(self):
            return tuple(s // self.array.itemsize for s in self.array.strides)

        @property
        def shape(self):
            return self.array.shape

        @property
        def dtype(self):
            return DType(self.array.dtype.name)

        @property
        def itemsize(self):
            return self.array.itemsize

    @DESCRIBE
    def describe(fake, out):
        fake.asked["interface"] += 1
        a, t = fake.array, out[0]
        t.data, t.offset = a.ctypes.data - 64, 64
        t.device_type, t.device, t.ndim = *device, a.ndim
        t.code, t.bits, t.lanes = CODES[a.dtype.kind], 8 * a.itemsize, 1
        t.shape = c.addressof(fake.lengths)
        t.strides = None if normal else c.addressof(fake.steps)
        return 0

    @STREAM
    def current_stream(device_type, number, out):
        out[0] = 4096 + number
        return 0

    fields = {"describe": address(describe), "current_stream": address(current_stream), **changed}
    _kept.append((describe, current_stream))
    Fake.__dlpack_c_exchange_api__ = capsule(**fields) if functions is None else functions(fields)
    return Fake


def view(tensor, trailing=1):
    return _core.view_of(tensor, trailing, wb.cpu(threads=1))


@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8", "bool", "int8", "float16"])
def test_the_interface_says_it_all(dtype):
    array = np.zeros((6, 4, 2), dtype)
    kind = tensor_type()
    for cut, trailing in ((array, 1), (array[::2], 2), (array[:, 1:3], 2), (array[2], 1), (array[:0], 1)):
        trailing -= dtype == "float16"  # the last axis of real and imaginary part is no element
        assert view(kind(cut), trailing) == view(cut, trailing)
    assert kind.asked == {"interface": 5, "methods": 0}


def test_no_strides_are_those_of_a_contiguous_array():
    kind, array = tensor_type(normal=True), np.zeros((3, 4, 5), np.float32)
    assert view(kind(array)) == view(array) and kind.asked["methods"] == 0


@pytest.mark.parametrize("dtype", ["float32", "complex64", "uint8", "bool", "int8"])
@pytest.mark.parametrize("changed", [{}, {"describe": None}], ids=["interface", "methods"])
def test_strides_of_empty_arrays_do_not_matter(dtype, changed):
    """CuPy's are 0, and so are those of what was made of its arrays."""
    kind, one = tensor_type(**changed), np.zeros(1, dtype)
    for step in (0, -one.itemsize, 3 * one.itemsize):
        def odd(*shape):
            return kind(np.lib.stride_tricks.as_strided(one, shape, (step,) * len(shape)))
        for shape, trailing in (((0, 40), 1), ((0, 3, 4), 2), ((2, 0, 5), 1), ((0,), 0)):
            assert view(odd(*shape), trailing)[1:] == view(np.zeros(shape, dtype), trailing)[1:], (shape, step)
    if dtype == "uint8":
        wb.TurboEncoder(k=40)._work.run(wb.cpu(threads=1), odd(0, 40), odd(0, 132))
    assert kind.asked["methods" if changed else "interface"] == 12 + 2 * (dtype == "uint8")


def test_a_call_reads_and_writes_the_memory_itself(rng):
    kind, bits = tensor_type(), rng.integers(0, 2, (5, 8), dtype=np.uint8)
    symbols = np.empty((5, 4), np.complex64)
    wb.QamMapper(qam=4)._work.run(wb.cpu(threads=1), kind(bits), kind(symbols))
    assert np.array_equal(symbols, wb.QamMapper(qam=4)(bits)) and kind.asked == {"interface": 2, "methods": 0}


@pytest.mark.parametrize("changed", [
    {"describe": FAILS}, {"describe": None}, {"major": 2}, {"major": 0}, {"name": b"another"}, {"current_stream": None},
], ids=str)
def test_what_the_interface_cannot_say_the_methods_do(changed):
    kind, array = tensor_type(**changed), np.zeros((6, 4), np.complex64)
    assert view(kind(array[::2])) == view(array[::2])
    assert kind.asked == {"interface": 0, "methods": 1}


def test_an_older_version_of_the_interface_may_stand_behind_a_newer_one():
    def chained(fields):
        older = Functions(major=1, minor=3, **fields)
        _kept.append(older)
        return capsule(major=2, previous=c.addressof(older))
    kind = tensor_type(chained)
    assert view(kind(np.zeros((2, 3), np.float32)))[1:3] == (3, 2) and kind.asked == {"interface": 1, "methods": 0}


@pytest.mark.parametrize("attribute", [None, 7, "text"])
def test_an_attribute_that_is_no_capsule_is_no_interface(attribute):
    kind = tensor_type(lambda fields: attribute)
    assert view(kind(np.zeros(3, np.float32)))[1] == 3 and kind.asked["methods"] == 1


def test_a_subclass_is_asked_by_its_methods():
    """It may have changed what they give."""
    base = tensor_type()

    class Shifted(base):
        def data_ptr(self):
            return super().data_ptr() + 4

    array = np.zeros(3, np.float32)
    assert view(Shifted(array))[0] == array.ctypes.data + 4 and base.asked == {"interface": 0, "methods": 1}


def test_a_conjugation_or_sign_that_waits(rng):
    h, y = ((rng.normal(size=s) + 1j * rng.normal(size=s)).astype(np.complex64) for s in ((7, 2, 2), (7, 2)))
    detector, executor = wb.MMSE(streams=2, rx_antennas=2, qam=4), wb.cpu(threads=1)
    for kind in (tensor_type(), tensor_type(describe=None)):
        for conj, neg in itertools.product((False, True), repeat=2):
            llr = np.empty((7, 4), np.float32)
            meant = h.conj() if conj else h
            detector._work.run(executor, kind(h, conj, neg), kind(y), 0.1, None, kind(llr), None, None, None)
            assert np.array_equal(llr, detector(-meant if neg else meant, y, 0.1))
            if conj or neg:
                with pytest.raises(ValueError, match="out = a tensor with a conjugation or sign that waits is not allowed: "
                                                     "expected one without, as torch.empty gives"):
                    wb.QamMapper(qam=4)._work.run(executor, kind(np.zeros((5, 8), np.uint8)),
                                           kind(np.zeros((5, 4), np.complex64), conj, neg))


def test_errors_are_those_of_other_arrays():
    def text(array, kind=None, **options):
        with pytest.raises(ValueError) as error:
            view(array if kind is None else kind(array), **options)
        return str(error.value)
    array = np.zeros((4, 6, 4), np.complex64)
    kind = tensor_type()
    for wrong in (array[:, :3, :3].T, array[:, ::-1]):
        assert text(wrong, kind) == text(wrong)
    assert text(array, kind, trailing=4) == text(array, trailing=4) == \
        "array = shape (4, 6, 4) is not allowed: expected at least 4 axes"
    assert text(np.zeros((1,) * 17, np.float32), kind) == "array = 17 axes is not allowed: expected at most 16"
    for name in ("float64", "complex128", "int64", "uint16"):
        assert text(np.zeros(3, name), kind).startswith(f"array = an array of {name} is not allowed")
    assert text(array, tensor_type(device=(CUDA, 3))) == \
        "array = an array in memory of cuda:3 is not allowed: expected one in host memory"
    pinned = tensor_type(device=(PINNED, 0))  # as the methods say
    assert view(pinned(array)) == view(array) and pinned.asked["methods"] == 1


def test_where_the_library_works():
    array = np.zeros(3, np.float32)
    for number in (0, 1, 0, 5):
        assert _core.work_stream(tensor_type(device=(CUDA, number))(array)) == (number, 4096 + number)
    streams = iter([0, 1, 77] + list(range(1000, 1020)) + [77])

    @STREAM
    def one_after_another(device_type, number, out):
        assert (device_type, number) == (CUDA, 2)
        out[0] = next(streams)
        return 0
    kind = tensor_type(device=(CUDA, 2), current_stream=address(one_after_another))
    _kept.append(one_after_another)
    got = [_core.work_stream(kind(array)) for _ in range(24)]
    assert got == [(2, 1), (2, 1), (2, 77)] + [(2, n) for n in range(1000, 1020)] + [(2, 77)]

    @STREAM
    def failing(device_type, number, out):
        return -1
    _kept.append(failing)
    nothing = (tensor_type()(array), tensor_type(device=(CUDA, 0), current_stream=address(failing))(array), array, 3,
               tensor_type(device=(CUDA, 0), describe=FAILS)(array), tensor_type(device=(CUDA, 0), major=2)(array))
    assert [_core.work_stream(one) for one in nothing] == [None] * len(nothing)


def test_many_types_are_told_apart():
    """More than are remembered of those without the interface."""
    array = np.zeros((2, 3), np.float32)
    kinds = [tensor_type() for _ in range(20)] + [tensor_type(describe=None) for _ in range(20)]
    for kind in kinds + kinds[::-1]:
        assert view(kind(array)) == view(array)
    assert [kind.asked["interface"] for kind in kinds] == [2] * 20 + [0] * 20


# ---------------------------------------------------------------- torch
@pytest.mark.filterwarnings("ignore::UserWarning")  # of complex32 and of sparse tensors
def test_tensors_of_torch():
    torch = pytest.importorskip("torch")
    for dtype in (torch.float32, torch.complex64, torch.uint8, torch.bool, torch.int8):
        a = torch.zeros(6, 4, 5, dtype=dtype)
        for one, trailing in ((a, 1), (a[::2], 2), (a[:, 1:3], 2), (a[0].T, 1), (a[:0], 1), (a[2, 3, 1], 0), (a[:, :, 1], 1),
                              (torch.nn.Parameter(a, requires_grad=False), 1)):
            address, *layout = view(one, trailing)
            assert address == one.data_ptr() and layout == list(view(one.detach().numpy(), trailing)[1:])
    grown = torch.zeros(4, 3, requires_grad=True)
    assert view(grown)[0] == grown.data_ptr() and view(grown * 2)[1:3] == (3, 4)
    with pytest.raises(ValueError, match="array = an array with strides"):
        view(torch.zeros(4, 6, 4)[:, :3, :3])
    with pytest.raises(ValueError, match="an array of bfloat16 is not allowed"):
        view(torch.zeros(3, dtype=torch.bfloat16))
    with pytest.raises(ValueError, match="an array of complex32 is not allowed"):
        view(torch.zeros(3, dtype=torch.complex32))
    with pytest.raises(RuntimeError):
        view(torch.sparse_coo_tensor([[0]], [1.0], size=(1,)))


def test_values_of_torch_that_wait(rng):
    torch = pytest.importorskip("torch")
    h, y = ((rng.normal(size=s) + 1j * rng.normal(size=s)).astype(np.complex64) for s in ((7, 2, 2), (7, 2)))
    detector, executor = wb.MMSE(streams=2, rx_antennas=2, qam=4), wb.cpu(threads=1)
    received, llr = torch.from_numpy(y), torch.empty(7, 4)
    for channel in (torch.from_numpy(h).conj(), torch.from_numpy(h.real.copy()).to(torch.complex64).conj(), torch.from_numpy(h)):
        detector._work.run(executor, channel, received, 0.1, None, llr, None, None, None)
        assert np.array_equal(llr.numpy(), detector(channel.resolve_conj().numpy(), y, 0.1))
    signed = torch.from_numpy(h.conj()).conj().imag.reshape(7, 4)[:, :2]  # a sign waits
    assert signed.is_neg()
    with pytest.raises(ValueError, match="out = a tensor with a conjugation or sign that waits"):
        detector._work.run(executor, torch.from_numpy(h), received, 0.1, None, signed, None, None, None)


def test_the_interface_of_torch_is_known():
    """From 2.10 on: a call of theirs must not silently become one of the slow ones."""
    torch = pytest.importorskip("torch")
    if tuple(int(n) for n in torch.__version__.split(".")[:2]) < (2, 10):
        pytest.skip("torch has it from 2.10 on")
    assert _core.has_exchange(torch.zeros(1)) and not _core.has_exchange(torch.nn.Parameter(torch.zeros(1)))
    assert not _core.has_exchange(np.zeros(1))
