#!/usr/bin/env python3
"""Files that h5py writes and the library reads, and the other way round; warpband/io/hdf5_test.cpp runs it.

hdf5_interop.py write FOLDER   writes h5py_*.h5
hdf5_interop.py check FOLDER   checks warpband.h5, which the library wrote
"""
import sys

import h5py
import numpy as np

ROWS, COLUMNS = 37, 20


def ramp(dtype):
    """The values that the C++ test expects: from 0 up, row by row."""
    values = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS)
    if np.issubdtype(dtype, np.complexfloating):
        return (values - 0.5j * values).astype(dtype)
    if np.issubdtype(dtype, np.floating):
        return (values / 4 - 3).astype(dtype)
    return (values % 251).astype(dtype)


FORMS = {
    "contiguous": {},
    "chunked": {"chunks": (8, COLUMNS)},
    "columns_cut": {"chunks": (5, 7)},
    "gzip": {"chunks": (6, 9), "compression": "gzip"},
    "shuffle": {"chunks": (6, COLUMNS), "compression": "gzip", "shuffle": True, "fletcher32": True},
    "growing": {"maxshape": (None, COLUMNS), "chunks": (64, 8)},
}


def write(folder):
    for form, options in FORMS.items():
        with h5py.File(f"{folder}/h5py_{form}.h5", "w") as file:
            for name in ("uint8", "int32", "int64", "float32", "float64", "complex64"):
                file.create_dataset(name, data=ramp(np.dtype(name)), **options)
            for name in ("int32", "int64", "float32", "float64"):
                file.create_dataset(f"big_{name}", data=ramp(np.dtype(name).newbyteorder(">")), **options)
            file.create_dataset("group/inner", data=ramp(np.dtype("float32")), **options)
            # Three axes: whole rows, parts of them, and rows that can be added.
            deep = {"chunks": (options["chunks"][0], 3, 2)} if "chunks" in options else {}
            if "maxshape" in options:
                deep["maxshape"] = (None, 4, 5)
            file.create_dataset("deep", data=ramp(np.dtype("complex64")).reshape(ROWS, 4, 5), **{**options, **deep})
            file.attrs.update({"k": 40, "small": np.int8(-3), "big": np.array(-7, ">i4"), "rate": 0.5,
                               "half": np.float16(0.25), "bool": np.True_, "code": "turbo", "umlaut": "größe",
                               "fixed": np.bytes_(b"abc"), "empty": "", "one": np.array([5]),
                               "several": np.arange(3), "texts": ["a", "b"]})
            file["float32"].attrs["note"] = "rows"
    with h5py.File(f"{folder}/h5py_others.h5", "w") as file:
        for name in ("int8", "uint16", "int16", "uint32", "uint64", "float16", "complex128", "bool"):
            file[name] = np.zeros((2, 3), name)
        file["string"] = "text"
        file.create_dataset("strings", data=["a", "b", "c"], chunks=(2,))
        file["another type"] = np.zeros(2, [("a", "f4"), ("b", "f4")])
        file["scalar"] = np.float32(1.5)
        file["one"] = np.full(1, 2.5, ">f4")
        file["no_rows"] = np.zeros((0, 4), "f4")
        file["null"] = h5py.Empty("f4")
        file["dangling"] = h5py.SoftLink("/nowhere")
        file["outside"] = h5py.ExternalLink("missing.h5", "/x")
        file["linked"] = h5py.SoftLink("/scalar")
        file.create_dataset("lzf", data=np.ones((4, 4), "f4"), compression="lzf")
        layout = h5py.VirtualLayout((2,), "f4")
        layout[:] = h5py.VirtualSource("missing.h5", "x", (2,))
        file.create_virtual_dataset("virtual", layout)
    for version in ("earliest", "latest"):  # more attributes than a header holds are kept elsewhere
        with h5py.File(f"{folder}/h5py_{version}.h5", "w", libver=version) as file:
            file["float32"] = ramp(np.dtype("float32"))
            for kind, limit in {"fixed": (ROWS, COLUMNS), "one": (None, COLUMNS), "both": (None, None)}.items():
                for packing in (None, "gzip"):
                    file.create_dataset(f"{kind}_{packing}", data=ramp(np.dtype("float32")), maxshape=limit,
                                        chunks=(5, 9), compression=packing)
                file.create_dataset(f"{kind}_begun", (ROWS, COLUMNS), "f4", maxshape=limit, chunks=(5, 9))[1] = 1
            file.attrs.update({f"a{i}": i for i in range(30)})
            file["float32"].attrs["k"] = "text"


def check(folder):
    with h5py.File(f"{folder}/warpband.h5") as file:
        for name in ("uint8", "int32", "int64", "float32", "float64", "complex64"):
            array = file[name]
            assert array.dtype == np.dtype(name), (name, array.dtype)
            assert np.array_equal(array[...], ramp(np.dtype(name))), name
        assert np.array_equal(file["deep"][...], ramp(np.dtype("complex64")).reshape(ROWS, 4, 5))
        assert file["group/inner"].shape == (2, 3, 4) and not file["group/inner"][...].any()
        assert file["no_rows"].shape == (0, 5)
        assert file["one_axis"].shape == (7,)
        assert dict(file.attrs) == {"k": 40, "rate": 0.5, "code": "turbo", "umlaut": "größe", "empty": ""}, dict(file.attrs)
        assert isinstance(file.attrs["code"], str)
        assert file["float32"].attrs["note"] == "rows"


if __name__ == "__main__":
    {"write": write, "check": check}[sys.argv[1]](sys.argv[2])
