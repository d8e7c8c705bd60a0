"""Tests of `warpband tables` with what other programs read: .venv/bin/python -m pytest apps/tables_test.py

WARPBAND_COMMAND names the program, build/release/warpband unless given. Sionna is needed for one of them.
"""
import json
import subprocess

import h5py
import numpy
import pytest

import array_files


def run(folder, *arguments):
    subprocess.run([array_files.command, "tables", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two sizes of an MCS, on Sionna's grid of them, to a BLER of 0.05."""
    made = tmp_path_factory.mktemp("tables")
    run(made, "nr", "--mcs", "9", "--sizes", "24,124", "--errors", "50", "--to", "0.05", "-o", "t", "--quiet")
    return made


def test_hdf5_has_what_json_has(folder):
    if not (folder / "t" / "tables.h5").exists():
        pytest.skip("this build has no HDF5")
    table = json.loads((folder / "t" / "tables.json").read_text())
    with h5py.File(folder / "t" / "tables.h5") as file:
        assert dict(file.attrs) == table["attributes"]
        assert set(file) == set(table) - {"attributes"}
        for name, column in file.items():
            numpy.testing.assert_array_equal(column[:], table[name], err_msg=name)
        assert file["errors"].dtype == numpy.int64 and file["snr_db"].dtype == numpy.float64


def test_sionna_loads_it_and_gives_it_back(folder):
    sionna = pytest.importorskip("sionna", reason="Sionna is not installed")
    from sionna.sys import PHYAbstraction
    if int(sionna.__version__.split(".")[0]) < 2:
        from tensorflow import constant as tensor
    else:
        from torch import tensor
    run(folder, "export", "t", "--format", "sionna", "-o", "bler.json")
    table = json.loads((folder / "bler.json").read_text())
    physical = PHYAbstraction(load_bler_tables_from=str(folder / "bler.json"))
    for category in (0, 1):
        entry = table["category"][str(category)]["index"]["1"]["MCS"]["9"]
        for size, curve in entry["CBS"].items():
            for snr, expected in zip(entry["SNR_db"], curve["BLER"]):
                got = float(physical.get_bler(tensor(9), tensor(1), tensor(category), tensor(int(size)), tensor(10 ** (snr / 10))))
                assert abs(got - expected) < 0.02, (category, size, snr, got, expected)
