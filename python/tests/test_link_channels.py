"""Correlated and recorded channels of the simulator, against NumPy's own simulation or the formula of each antenna system.

A frame is a use of the channel (a codeword, a drop of one subcarrier). So frames are independent and the intervals of Clopper and
Pearson hold.
"""
import itertools
import math

import numpy as np
import pytest

import warpband as wb
from warpband._error_rates import clopper_pearson

FRAMES = 8000
CONFIDENCE = 0.9999
needs_files = pytest.mark.skipif(not wb._core.has_hdf5(), reason="this build reads no channel files")


def points(qam):
    side = np.arange(1 - math.isqrt(qam), math.isqrt(qam), 2)
    all_points = (side[:, None] + 1j * side).ravel()
    return all_points / np.sqrt((np.abs(all_points) ** 2).mean())


def normal(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)) / np.sqrt(2)


def ml(h, y, n0, s):
    """Indices of the most likely symbols [uses, streams]."""
    vectors = np.array(list(itertools.product(range(len(s)), repeat=h.shape[2])))
    distance = np.abs(y[:, :, None] - h @ s[vectors].T) ** 2
    return vectors[distance.sum(1).argmin(1)]


def mmse(h, y, n0, s):
    gram = h.conj().transpose(0, 2, 1) @ h
    filters = np.linalg.solve(gram + n0 * np.eye(h.shape[2]), h.conj().transpose(0, 2, 1))
    gain = np.einsum("ust,uts->us", filters, h).real
    estimate = np.einsum("ust,ut->us", filters, y) / gain
    return np.abs(estimate[:, :, None] - s).argmin(2)


def wrong_vectors(detect, h, n0, qam, rng):
    """Uses in which any symbol is wrong."""
    s = points(qam)
    sent = rng.integers(qam, size=(len(h), h.shape[2]))
    y = np.einsum("urt,ut->ur", h, s[sent]) + np.sqrt(n0) * normal(rng, len(h), h.shape[1])
    return int((detect(h, y, n0, s) != sent).any(1).sum())


def simulated(channel, snr_db, **tables):
    scenario = {"seed": 5, "channel": channel, "sweep": {"snr_db": [snr_db]}, "stop": {"frame_errors": 0, "max_frames": FRAMES}, **tables}
    return wb.sweep(scenario, threads=1).curves[0].points[0]["frame_errors"]


def agree(errors, other, frames=FRAMES):
    """Of two runs: intervals that meet."""
    (low, high), (from_, to) = clopper_pearson(errors, FRAMES, CONFIDENCE), clopper_pearson(other, frames, CONFIDENCE)
    assert 0.02 < errors / FRAMES < 0.9
    assert low < to and from_ < high, (errors, other)


def holds(errors, rate):
    low, high = clopper_pearson(errors, FRAMES, CONFIDENCE)
    assert 0.02 < rate < 0.9
    assert low < rate < high, (errors / FRAMES, rate)


def error_function(x):
    """Q(x)."""
    return 0.5 * np.vectorize(math.erfc)(np.asarray(x) / math.sqrt(2))


def uncoded(qam, symbols):
    return {"code": {"type": "none", "k": symbols * int(math.log2(qam))}, "modem": {"modulation": {4: "qpsk", 16: "16qam"}.get(qam, "bpsk")}}


def streams(qam, detector):
    return {**uncoded(qam, 4), "mimo": {"streams": 4, "rx_antennas": 4}, "detector": {"type": detector}}


RX, TX = 0.6, np.array([[1, .3 + .4j, .2, 0], [.3 - .4j, 1, .1j, .2], [.2, -.1j, 1, -.5], [0, .2, -.5, 1]])
KRONECKER = {"type": "kronecker", "rx_coefficient": RX, "tx_correlation": [[z.real, z.imag] for z in TX.ravel()]}


@pytest.mark.parametrize("detector, detect, qam, snr_db", [("ml", ml, 4, 9.0), ("mmse", mmse, 16, 22.0)])
def test_correlated_streams(detector, detect, qam, snr_db):
    rng = np.random.default_rng(1)
    a = np.linalg.cholesky(RX ** np.abs(np.subtract.outer(np.arange(4), np.arange(4))))
    b = np.linalg.cholesky(TX)
    h = a @ normal(rng, FRAMES, 4, 4) @ b.conj().T
    errors = simulated(KRONECKER, snr_db, **streams(qam, detector))
    agree(errors, wrong_vectors(detect, h, 4 / 10 ** (snr_db / 10), qam, rng))
    independent = simulated({"type": "rayleigh"}, snr_db, **streams(qam, detector))
    assert independent < 0.8 * errors  # what correlation costs


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    """A recorded 4x4 channel with a line of sight, as numpy.save writes it: complex128 [snapshots, rx, tx]."""
    rng = np.random.default_rng(2)
    h = 0.7 * normal(rng, 200, 4, 4) + np.exp(2j * np.pi * np.outer([0, .1, .2, .3], [1, 2, 3, 4]))
    path = tmp_path_factory.mktemp("recording") / "h.npy"
    np.save(path, h)
    return str(path), h


def in_power(h, power_control):
    """Mean power 1 of each transmitter: in every snapshot, or over all."""
    return h / np.sqrt((np.abs(h) ** 2).mean(1 if power_control else (0, 1), keepdims=True))


@needs_files
@pytest.mark.parametrize("power_control", [True, False])
@pytest.mark.parametrize("detector, detect, qam, snr_db", [("ml", ml, 4, 10.0), ("mmse", mmse, 16, 25.0)])
def test_recorded_streams(recording, detector, detect, qam, snr_db, power_control):
    path, h = recording
    h = in_power(h, power_control)[np.arange(FRAMES) % 200]
    other = wrong_vectors(detect, h, 4 / 10 ** (snr_db / 10), qam, np.random.default_rng(3))
    for fading in ("block", "fast"):  # a frame is a use
        channel = {"type": "file", "file": path, "power_control": power_control, "fading": fading}
        agree(simulated(channel, snr_db, **streams(qam, detector)), other)


@needs_files
def test_recorded_channel_with_an_n_way_detector(recording):
    """It lies between ML and MMSE, both of NumPy."""
    path, h = recording
    h = in_power(h, True)[np.arange(FRAMES) % 200]
    errors = simulated({"type": "file", "file": path}, 16.0, **streams(4, "nway"))
    best, worst = (wrong_vectors(d, h, 4 / 10 ** 1.6, 4, np.random.default_rng(4)) for d in (ml, mmse))
    low, high = clopper_pearson(errors, FRAMES, CONFIDENCE)
    assert clopper_pearson(best, FRAMES, CONFIDENCE)[0] < high and low < clopper_pearson(worst, FRAMES, CONFIDENCE)[1]
    assert errors < 0.5 * worst


@needs_files
def test_recorded_single_antenna(recording):
    path, h = recording
    h = in_power(h[:, :1, :1], False).ravel()
    errors = simulated({"type": "file", "file": path, "power_control": False}, 5.0, **uncoded(2, 1))
    holds(errors, error_function(np.sqrt(2 * np.abs(h) ** 2 * 10 ** .5)).mean())
    errors = simulated({"type": "kronecker", "fading": "block"}, 5.0, **uncoded(2, 1))
    holds(errors, 0.5 * (1 - math.sqrt(10 ** .5 / (1 + 10 ** .5))))  # Rayleigh fading


@needs_files
def test_space_time_code(recording):
    """Alamouti's code sends 4 bits of QPSK, each with the gain of all four paths."""
    path, h = recording
    code = {**uncoded(4, 2), "mimo": {"streams": 2, "rx_antennas": 2}, "stbc": {"type": "alamouti"}}
    n0 = 2 / 10 ** .3

    def rate(h):
        gain = (np.abs(h) ** 2).sum((1, 2))
        return (1 - (1 - error_function(np.sqrt(gain / n0))) ** 4).mean()
    holds(simulated({"type": "file", "file": path}, 3.0, **code), rate(in_power(h[:, :2, :2], True)))
    rng = np.random.default_rng(5)
    a = np.linalg.cholesky([[1, .9], [.9, 1]])
    errors = simulated({"type": "kronecker", "rx_coefficient": .9, "tx_coefficient": .9}, 3.0, **code)
    holds(errors, rate(a @ normal(rng, 400_000, 2, 2) @ a.T))


def test_correlated_massive_mimo():
    """A drop is one subcarrier of four users: MMSE uplink, and vectors of unit energy downlink."""
    rng = np.random.default_rng(6)
    a = np.linalg.cholesky(.8 ** np.abs(np.subtract.outer(np.arange(16), np.arange(16))))
    h = a @ normal(rng, FRAMES, 16, 4)
    channel = {"type": "kronecker", "rx_coefficient": .8}
    massive = {**uncoded(4, 1), "massive": {"solver": "cholesky", "antennas": 16, "users": 4, "subcarriers": 1}}
    snr_db = 0.0
    agree(simulated(channel, snr_db, **massive), wrong_vectors(mmse, h, 4 / 10 ** (snr_db / 10), 4, rng))
    massive["massive"]["direction"] = "downlink"
    snr_db, s = 6.0, points(4)
    n0 = 10 ** (-snr_db / 10)
    sent = rng.integers(4, size=(FRAMES, 4))
    up = h.conj().transpose(0, 2, 1)
    x = np.einsum("ubv,uv->ub", h @ np.linalg.inv(up @ h + 4 * n0 * np.eye(4)), s[sent])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    y = np.einsum("uvb,ub->uv", up, x) + np.sqrt(n0) * normal(rng, FRAMES, 4)
    wrong = (np.sign(y.real) != np.sign(s[sent].real)) | (np.sign(y.imag) != np.sign(s[sent].imag))
    agree(simulated(channel, snr_db, **massive), int(wrong.any(1).sum()))


@needs_files
def test_numpy_files(tmp_path):
    """complex64 and complex128 in C order, of three or four axes; other arrays are refused."""
    rng = np.random.default_rng(7)
    h = normal(rng, 5, 3, 4, 2)
    np.save(tmp_path / "h.npy", h)
    read = wb.read_csi(tmp_path / "h.npy")
    assert read.layout == "plain" and np.array_equal(read.channel, h.astype(np.complex64)) and not read.status.any()
    np.save(tmp_path / "h.npy", h[:, 0].astype(">c8"))
    assert np.array_equal(wb.read_csi(tmp_path / "h.npy", first=2).channel, h[2:, :1].astype(np.complex64))
    h[1, 2, 0, 0] = np.nan
    np.save(tmp_path / "h.npy", h)
    assert np.array_equal(np.argwhere(wb.read_csi(tmp_path / "h.npy").status), [[1, 2]])
    for bad, part in ((h.real, "<f8"), (np.asfortranarray(h), "Fortran"), (h[0, 0], "shape"), (np.array([{}], object), "O")):
        np.save(tmp_path / "bad.npy", bad, allow_pickle=True)
        with pytest.raises(RuntimeError, match=part):
            wb.read_csi(tmp_path / "bad.npy")
    np.savez(tmp_path / "bad.npz", h=h)
    with pytest.raises(RuntimeError, match="not an HDF5 file"):
        wb.read_csi(tmp_path / "bad.npz")
