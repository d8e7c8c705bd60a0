"""Channel estimates from HDF5 files that h5py writes: the plain layout, and pilots as sounders write them, of a channel that is known."""
import pathlib
import threading

import numpy as np
import pytest

import warpband as wb

SEEDS = pathlib.Path(__file__).parents[2] / "tests" / "fuzz" / "seeds" / "hdf5"
needs_hdf5 = pytest.mark.skipif(not wb.has_hdf5, reason="this build has no HDF5")


def normal(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


@needs_hdf5
def test_plain_channels(rng, tmp_path):
    h5py = pytest.importorskip("h5py")
    h = normal(rng, 9, 5, 4, 2)
    h[3, 2, 1, 0] = np.nan
    with h5py.File(tmp_path / "h.hdf5", "w") as file:
        file["h"] = h
    csi = wb.read_csi(tmp_path / "h.hdf5")
    wanted, status = h.copy(), np.zeros((9, 5), np.uint8)
    wanted[3, 2], status[3, 2] = 0, 1
    assert csi.channel.dtype == np.complex64 and np.array_equal(csi.channel, wanted)
    assert csi.status.dtype == np.uint8 and np.array_equal(csi.status, status)
    assert (csi.layout, csi.carrier_hz, csi.spacing_hz) == ("plain", 0, 0)
    part = wb.read_csi(str(tmp_path / "h.hdf5"), first=2, snapshots=3)
    assert np.array_equal(part.channel, wanted[2:5]) and np.array_equal(part.status, status[2:5])
    assert np.array_equal(wb.read_csi(tmp_path / "h.hdf5", first=7).channel, h[7:])
    assert wb.read_csi(tmp_path / "h.hdf5", first=9).channel.shape == (0, 5, 4, 2)
    for shape in ((1, 5, 4, 2), (3, 1, 1, 1), (1, 1, 1, 1)):
        with h5py.File(tmp_path / "small.hdf5", "w") as file:
            file["h"] = h[:shape[0], :shape[1], :shape[2], :shape[3]]
        assert np.array_equal(wb.read_csi(tmp_path / "small.hdf5").channel, h[:shape[0], :shape[1], :shape[2], :shape[3]])
    by_snapshot = wb.read_csi(tmp_path / "h.hdf5", scale="snapshot")
    good = (status == 0)[:, :, None, None]
    np.testing.assert_allclose((np.abs(by_snapshot.channel) ** 2).sum((1, 2)) / (4 * good.sum(1)[:, 0]), 1, rtol=1e-5)
    factors = np.sqrt(good.sum() * 4 / (np.abs(wanted) ** 2).sum((0, 1, 2)))
    np.testing.assert_allclose(wb.read_csi(tmp_path / "h.hdf5", scale="file", first=1, snapshots=2).channel, wanted[1:3] * factors, rtol=1e-5)
    # as detectors take it
    y = np.einsum("nfrt,nft->nfr", wanted, np.ones((9, 5, 2), np.complex64))
    llr, erased = wb.MMSE(streams=2, rx_antennas=4, qam=4)(csi.channel, y, 0.1, outputs=("llr", "status"))
    assert np.array_equal(erased[status == 0], status[status == 0]) and llr.shape == (9, 5, 4)
    for bad, argument in (({"first": 10}, "snapshots"), ({"first": 8, "snapshots": 2}, "snapshots"), ({"snapshots": -1}, "snapshots"),
                          ({"first": -1}, "first"), ({"scale": "most"}, "scale"), ({"cell": -1}, "cell"), ({"cell": 2 ** 40}, "cell")):
        with pytest.raises(ValueError, match=f"^{argument} = .* is not allowed"):
            wb.read_csi(tmp_path / "h.hdf5", **bad)


@needs_hdf5
def test_channels_of_matlab(rng, tmp_path):
    """Axes reversed, float64, "real" and "imag", behind a user block; the last axis, of one stream, is dropped."""
    h5py = pytest.importorskip("h5py")
    h = normal(rng, 9, 5, 4)
    stored = np.zeros(h.shape, [("real", "f8"), ("imag", "f8")])
    stored["real"], stored["imag"] = h.real, h.imag
    with h5py.File(tmp_path / "h.mat", "w", userblock_size=512) as file:
        file["h"] = stored.T
        file["h"].attrs["MATLAB_class"] = np.bytes_("double")
    with pytest.warns(UserWarning, match="h.mat: read as MATLAB wrote it: axes reversed, float64 converted"):
        csi = wb.read_csi(tmp_path / "h.mat")
    assert np.array_equal(csi.channel, h[..., None]) and csi.layout == "plain"


@needs_hdf5
def test_soundings(rng, tmp_path):
    """RENEW: a slot of two OFDM symbols for each user's pilot."""
    h5py = pytest.importorskip("h5py")
    n, prefix, before, after, frames, users, antennas = 64, 16, 5, 3, 3, 2, 4
    used = np.zeros(n, int)  # from the lowest frequency on
    used[6:-5] = rng.choice([-1, 1], n - 11)
    used[n // 2] = 0
    places = np.flatnonzero(used)
    h = normal(rng, frames, len(places), antennas, users) / 4
    spectrum = np.zeros((frames, antennas, users, n), complex)
    spectrum[..., places] = h.transpose(0, 2, 3, 1) * used[places]
    symbol = np.fft.ifft(np.fft.ifftshift(spectrum, axes=-1)) * 32768
    symbol = np.concatenate([symbol[..., -prefix:], symbol], -1)
    slot = np.concatenate([np.zeros(symbol.shape[:-1] + (before,)), symbol, symbol, np.zeros(symbol.shape[:-1] + (after,))], -1)
    slot = slot.transpose(0, 2, 1, 3)
    samples = np.stack([slot.real, slot.imag], -1).round().astype(">i2").reshape(frames, 1, users, antennas, -1)
    path = tmp_path / "renew.hdf5"
    with h5py.File(path, "w") as file:
        data = file.create_group("Data")
        data["Pilot_Samples"] = np.concatenate([samples, np.zeros((2,) + samples.shape[1:], ">i2")])  # two frames without samples
        pilot = np.stack([used, np.zeros(n)], -1).ravel()
        for name, value in dict(SLOT_SAMP_LEN=slot.shape[-1], FFT_SIZE=n, CP_LEN=prefix, PREFIX_LEN=before, POSTFIX_LEN=after,
                                FREQ=[3.6e9], RATE=[5e6], OFDM_PILOT_F=pilot).items():
            data.attrs[name] = value
    csi = wb.read_csi(path)
    assert csi.layout == "renew" and csi.carrier_hz == 3.6e9 and csi.spacing_hz == 5e6 / n and not csi.status.any()
    assert csi.channel.shape == h.shape
    np.testing.assert_allclose(csi.channel, h, atol=6 * (n / 6) ** 0.5 / 32768)  # rounding of samples
    with pytest.raises(ValueError, match="^cell = 1 is not allowed"):
        wb.read_csi(path, cell=1)


@needs_hdf5
def test_traces_of_argos(rng, tmp_path):
    """The long training field of IEEE Std 802.11-2016 17.3.3 (equation 17-8), twice, 47 samples into a user's slot."""
    h5py = pytest.importorskip("h5py")
    field = np.array([1, 1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 1, 1, -1, -1, 1, 1, -1, 1, -1, 1, 1, 1, 1, 0, 1, -1, -1, 1, 1, -1, 1, -1, 1,
                      -1, -1, -1, -1, -1, 1, 1, -1, -1, 1, -1, 1, -1, 1, 1, 1, 1])
    h = normal(rng, 2, 52, 3, 2) / 64
    carriers = np.concatenate([np.arange(-26, 0), np.arange(1, 27)])
    spectrum = np.zeros((2, 3, 2, 64), complex)
    spectrum[..., carriers % 64] = h.transpose(0, 2, 3, 1) * field[carriers + 26]
    once = np.fft.ifft(spectrum) * 32768
    samples = np.zeros((2, 3, 3, 224), complex)  # a slot of noise behind the users'
    samples[:, :, :2, 47:47 + 128] = np.concatenate([once, once], -1)
    samples[:, :, :2, 32:47] = once[..., -15:]
    samples *= 20  # of what 16 bits hold
    path = tmp_path / "argos.hdf5"
    with h5py.File(path, "w") as file:
        file["Pilot_Samples"] = np.stack([samples.real, samples.imag], -1).round().astype(np.int16).reshape(2, 3, -1)
        file.attrs["samples_per_user"], file.attrs["num_mob_ant"] = 224, 2
    csi = wb.read_csi(path)
    assert csi.layout == "argos" and csi.channel.shape == h.shape
    np.testing.assert_allclose(csi.channel, 20 * h, atol=6 * (64 / 6) ** 0.5 / 32768)


@needs_hdf5
def test_files_of_strangers(rng, tmp_path):
    """Read by a program of its own: the same values and errors as in this process."""
    h5py = pytest.importorskip("h5py")
    h = normal(rng, 9, 5, 4, 2)
    with h5py.File(tmp_path / "h.hdf5", "w") as file:
        file["h"] = h
    for how in ({}, {"trusted": True}, {"untrusted": True}):
        csi = wb.read_csi(tmp_path / "h.hdf5", first=1, **how)
        assert np.array_equal(csi.channel, h[1:]) and csi.layout == "plain"
    (tmp_path / "none.hdf5").write_text("no HDF5")
    for trusted in (False, True):
        with pytest.raises(RuntimeError, match="none.hdf5: it is not an HDF5 file$"):
            wb.read_csi(tmp_path / "none.hdf5", trusted=trusted)
    for path in sorted(SEEDS.glob("*.h5")):
        if not path.name.startswith("good_"):
            with pytest.raises(RuntimeError) as error:
                wb.read_csi(path)
            assert "\n" not in str(error.value)


@needs_hdf5
def test_files_of_octave(rng, tmp_path):
    """Groups with a type and a value, axes in reverse, complex numbers of float64."""
    h5py = pytest.importorskip("h5py")
    h = normal(rng, 9, 5, 4, 2)
    with h5py.File(tmp_path / "h.hdf5", "w") as file:
        group = file.create_group("h")
        group.attrs["OCTAVE_NEW_FORMAT"] = np.uint8(1)
        group["type"] = np.bytes_("complex matrix")
        value = np.zeros(h.T.shape, [("real", "f8"), ("imag", "f8")])
        value["real"], value["imag"] = h.T.real, h.T.imag
        group["value"] = value
        group["dims"] = 4
    with pytest.warns(UserWarning, match="read as Octave wrote it: axes reversed, float64 converted"):
        assert np.array_equal(wb.read_csi(tmp_path / "h.hdf5").channel, h)
    with h5py.File(tmp_path / "h.hdf5", "r+") as file:
        del file["h/type"]
        file["h/type"] = np.bytes_("cell")
    with pytest.raises(RuntimeError, match="h is of Octave's type cell: expected a full array of numbers$"):
        wb.read_csi(tmp_path / "h.hdf5")


@needs_hdf5
def test_files_that_are_none(tmp_path):
    with pytest.raises(RuntimeError, match="none.hdf5.*No such file"):
        wb.read_csi(tmp_path / "none.hdf5")
    (tmp_path / "text").write_text("no HDF5 at all")
    with pytest.raises(RuntimeError, match="not an HDF5 file"):
        wb.read_csi(tmp_path / "text")


@needs_hdf5
@pytest.mark.parametrize("bad, expected", [
    ({"snapshots": 2.5}, "snapshots = 2.5 is not allowed: expected an integer from 0 to 2147483647"),
    ({"snapshots": "3"}, "snapshots = '3' is not allowed: expected an integer from 0 to 2147483647"),
    ({"snapshots": -1}, "snapshots = -1 is not allowed: expected 0 to 2147483647"),
    ({"first": 0.0}, "first = 0.0 is not allowed: expected an integer from 0 to"),
    ({"snapshots": 4}, "snapshots = 0 + 4 is not allowed: expected at most 3 in all"),
    ({"scale": 5}, "scale = 5 is not allowed: expected text"),
])
def test_snapshots_that_are_none(tmp_path, bad, expected):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "h.hdf5", "w") as file:
        file["h"] = np.ones((3, 4, 2, 1), np.complex64)
    assert wb.read_csi(tmp_path / "h.hdf5", snapshots=np.int64(2)).channel.shape == (2, 4, 2, 1)
    with pytest.raises(ValueError) as caught:
        wb.read_csi(tmp_path / "h.hdf5", **bad)
    assert str(caught.value).startswith(expected)


@needs_hdf5
def test_threads_read_side_by_side(rng, tmp_path):
    """Without Python's lock: calls take turns in HDF5, which is for one thread at a time."""
    h5py = pytest.importorskip("h5py")
    h = [normal(rng, 40, 16, 4, 2) for _ in range(4)]
    for i, values in enumerate(h):
        with h5py.File(tmp_path / f"{i}.hdf5", "w") as file:
            file["h"] = values
    wrong = []

    def read(i):
        for _ in range(20):
            if not np.array_equal(wb.read_csi(tmp_path / f"{i}.hdf5").channel, h[i]):
                wrong.append(i)
    threads = [threading.Thread(target=read, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_a_build_without_hdf5_says_so(monkeypatch):
    if wb.has_hdf5:
        monkeypatch.setattr(wb._core, "has_hdf5", lambda: False)
    with pytest.raises(RuntimeError, match="^this build of warpband has no HDF5"):
        wb.read_csi("h.hdf5")
