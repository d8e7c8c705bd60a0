"""Makes objects that look like arrays of a fuzzer's bytes, and calls the array layer with them."""
import ctypes

import _core
import numpy as np

HERE = _core.Executor(threads=1, isa=None)
MEMORY = np.zeros(4096, np.uint8)
DTYPES = ["f4", "c8", "u1", "i1", "f2", "?", "i4", "f8", "c16", ">f4", "S3", "f4,f4", "M8[s]", "u8"]
TYPESTRS = ["<f4", "<c8", "|u1", "|i1", "<f2", "|b1", ">f4", "", "<", "f4", "<f99999999999999999999", "<fx", "|V0", "<f0"]
NUMBERS = [0, 1, -1, 2, 3, 4, 5, 7, 8, 16, 17, 64, 2**31 - 1, 2**31, 2**32, 2**61, 2**62, 2**63 - 1, -2**62, -2**63, 2**64, 2**70]


class Bytes:
    """Takes what is left of the input apart."""

    def __init__(self, data):
        self.data, self.position = data, 0

    def below(self, n):
        self.position += 1
        return self.data[self.position - 1] % n if self.position <= len(self.data) else 0

    def one_of(self, choices):
        return choices[self.below(len(choices))]

    def numbers(self, limit=4):
        return tuple(self.one_of(NUMBERS) if self.below(2) else self.below(8) for _ in range(self.below(limit + 1)))


def strided(b):
    """An array of NumPy with any strides inside of its memory."""
    dtype = np.dtype(b.one_of(DTYPES))
    shape = [b.below(5) for _ in range(b.below(5))]
    strides = [(b.below(17) - 8) * b.one_of([1, 2, 4, dtype.itemsize]) for _ in shape]
    array = np.ndarray(shape, dtype, MEMORY, 2048 + b.below(9), strides)
    array.flags.writeable = b.below(4) != 0
    return array


def sliced(b):
    array = np.zeros((b.below(5), b.below(5), b.below(5)), b.one_of(DTYPES))
    array = np.moveaxis(array, b.below(3), b.below(3))[::b.one_of([1, 2, -1]), ..., ::b.one_of([1, 2, -1])]
    return np.broadcast_to(array, (b.below(4), *array.shape)) if b.below(4) == 0 else array


class Described:
    def __init__(self, b):
        about = {"shape": b.numbers(20), "typestr": b.one_of(TYPESTRS), "data": b.one_of([(0, False), (0, True), (), (0,), (2**70, False), None, 5]),
                 "version": 3, "strides": None if b.below(2) else b.numbers(20)}
        for key in list(about):
            if b.below(16) == 0:
                del about[key]
        if b.below(8) == 0:
            about["mask"] = b.one_of([None, 1])
        self.__cuda_array_interface__ = about


class LikeTorch:
    def __init__(self, b):
        self.dtype, self.itemsize = b.one_of([("torch.float32", 4), ("torch.complex64", 8), ("torch.uint8", 1), ("torch.double", 8), ("x", 0)])
        self.address = b.one_of([0, MEMORY.ctypes.data + 2048, MEMORY.ctypes.data + 2049, -1, 2**70])
        self.shape, self.steps, self.device = b.numbers(20), b.numbers(20), b.one_of([-1, -1, 0, 2**40])
        self.is_conj = self.is_neg = lambda: False

    def stride(self):
        return self.steps

    def data_ptr(self):
        return self.address

    def get_device(self):
        return self.device


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32), ("ndim", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16), ("shape", ctypes.c_void_p),
                ("strides", ctypes.c_void_p), ("offset", ctypes.c_uint64), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)


def by_dlpack(b):
    axes = b.below(19)
    extents, steps = ((ctypes.c_int64 * 20)(*[(b.one_of(NUMBERS) if b.below(4) == 0 else b.below(8)) % 2**63 for _ in range(axes)]) for _ in range(2))
    tensor = Tensor(b.one_of([None, MEMORY.ctypes.data + 2048]), b.one_of([1, 1, 2, 9]), b.below(2), axes - 1, b.below(8),
                    b.one_of([8, 16, 32, 64, 0, 255]), b.one_of([1, 1, 1, 2]), ctypes.addressof(extents),
                    b.one_of([None, ctypes.addressof(steps)]), b.below(9), None, None)
    name = b.one_of([b"dltensor", b"dltensor", b"used_dltensor", b"other"])
    return _core.DeviceArray.from_dlpack(new_capsule(ctypes.addressof(tensor), name, None), (tensor, extents, steps))


def no_array(b):
    return b.one_of([None, 1.5, "text", b"bytes", bytearray(8), [1, 2], memoryview(b"12345678").cast("f"), memoryview(bytearray(8)).cast("B", (2, 4)),
                     (ctypes.c_float * 4)(), np.float32(1), range(3)])


KINDS = [strided, strided, sliced, Described, LikeTorch, by_dlpack, no_array]


def inside(array, trailing):
    """What a view of an array of NumPy steps through is the array's own memory."""
    address, elements, items, step, item_step = _core.view_of(array, trailing, HERE)
    if elements * items == 0:
        return
    unit = array.itemsize * (2 if array.dtype == np.float16 else 1)
    low, high = np.lib.array_utils.byte_bounds(array) if hasattr(np.lib, "array_utils") else np.byte_bounds(array)
    assert low <= address and address + ((elements - 1) * step + (items - 1) * item_step + 1) * unit <= high, (array.shape, array.strides)
    assert elements * items * (2 if array.dtype == np.float16 else 1) == array.size


def look(data):
    b = Bytes(data)
    try:
        array, trailing = b.one_of(KINDS)(b), b.below(5)
        if isinstance(array, np.ndarray):
            inside(array, trailing)
        else:
            _core.view_of(array, trailing, HERE)
    except AssertionError:
        raise
    except (ValueError, TypeError, RuntimeError, IndexError, KeyError, OverflowError, AttributeError, BufferError):
        pass
    try:
        _core.input_and_output(b.one_of([strided, sliced])(b), b.one_of([strided, sliced])(b), b.below(4), HERE)
    except (ValueError, TypeError, RuntimeError, IndexError):
        pass
