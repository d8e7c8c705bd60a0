"""Effective SINR, mutual information, tables of block error rates and the fit of beta."""
import json
import pathlib

import numpy as np
import pytest

import bler_file
import oracles
import warpband as wb
from warpband import calibrate

REFERENCE = pathlib.Path(__file__).resolve().parents[3] / "shared" / "refdata" / "ldpc_more" / "tables"


def information(qam, snr, kind):
    """By Gauss-Hermite quadrature over both dimensions of the noise."""
    bits = oracles.labels(qam)
    points = oracles.qam_symbols(bits, qam)
    x, w = np.polynomial.hermite.hermgauss(40)
    noise = (x[:, None] + 1j * x) / np.sqrt(snr)  # of variance 1 / snr
    weight = np.outer(w, w) / np.pi
    y = points[:, None, None] + noise
    likelihood = np.exp(-snr * np.abs(y[..., None] - points) ** 2)
    everything = likelihood.sum(-1)
    if kind == "symbol":
        same = np.exp(-snr * np.abs(noise) ** 2)[None]
        return np.log2(qam) - (weight * np.log2(everything / same)).sum() / qam
    total = 0.0
    for b in range(bits.shape[1]):
        equal = bits[:, None, b] == bits[None, :, b]
        same = np.einsum("pijq,pq->pij", likelihood, equal)
        total += 1 - (weight * np.log2(everything / same)).sum() / qam
    return total


@pytest.mark.parametrize("kind", ["bit", "symbol"])
@pytest.mark.parametrize("qam", [2, 4, 16, 64])
def test_mutual_information(qam, kind):
    for snr_db in (-10.0, 0.0, 7.0):
        got = wb.mutual_information(snr_db, qam=qam, kind=kind)
        assert got == pytest.approx(information(qam, 10 ** (snr_db / 10), kind), abs=1e-4)
        assert wb.snr_of_information(got, qam=qam, kind=kind) == pytest.approx(snr_db, abs=1e-4)
    assert wb.mutual_information([[0.0, 300.0]], qam=qam, kind=kind).shape == (1, 2)
    for snr_db in (np.nan, 400.0):
        with pytest.raises(ValueError, match="snr_db"):
            wb.mutual_information(snr_db, qam=qam)
    for bits in (0.0, np.log2(qam), np.nan):
        with pytest.raises(ValueError, match="bits"):
            wb.snr_of_information(bits, qam=qam)


@pytest.mark.parametrize("method", ["eesm", "miesm", "rbir"])
def test_effective_sinr(method):
    rng = np.random.default_rng(1)
    sinrs, weights = 10 ** rng.normal(0.8, 0.4, (3, 5, 12)), rng.uniform(0, 2, 12)
    got = wb.effective_sinr(sinrs, method=method, qam=16, beta=2.0, weights=weights)
    if method == "eesm":
        wanted = -2 * np.log(np.average(np.exp(-sinrs / 2), axis=-1, weights=weights))
    else:
        kind = {"miesm": "bit", "rbir": "symbol"}[method]
        mean = np.average(wb.mutual_information(10 * np.log10(sinrs / 2), qam=16, kind=kind), axis=-1, weights=weights)
        wanted = 2 * 10 ** (wb.snr_of_information(mean, qam=16, kind=kind) / 10)
    assert got.shape == (3, 5) and got.dtype == np.float32
    assert got == pytest.approx(wanted, rel=3e-5)
    in_db = wb.effective_sinr(10 * np.log10(sinrs), method=method, qam=16, beta=2.0, weights=np.broadcast_to(weights, sinrs.shape), decibel=True)
    assert in_db == pytest.approx(10 * np.log10(wanted), abs=1e-4)
    sinrs[1, 2, 3] = np.nan
    effective, status = wb.effective_sinr(sinrs, method=method, outputs=("effective", "status"))
    assert np.flatnonzero(status).tolist() == [7] and np.flatnonzero(np.isnan(effective)).tolist() == [7]
    assert wb.effective_sinr([5.0, 5.0], method=method) == pytest.approx(5, rel=1e-5)  # a list, and no leading axes


def test_effective_sinr_of_torch_tensors():
    torch = pytest.importorskip("torch")
    got = wb.effective_sinr(torch.tensor([[1.0, 9.0]]), qam=16)
    assert isinstance(got, torch.Tensor) and got.numpy() == pytest.approx(wb.effective_sinr(np.array([[1.0, 9.0]]), qam=16))


def test_effective_sinr_of_mixed_constellations():
    got = wb.effective_sinr([[3.0, 30.0]], qam=16, mixed=[4, 64], method="rbir")
    both = wb.mutual_information(10 * np.log10(3.0), qam=4, kind="symbol") + wb.mutual_information(10 * np.log10(30.0), qam=64, kind="symbol")
    assert 10 * np.log10(got) == pytest.approx(wb.snr_of_information([both / 8 * 4], qam=16, kind="symbol"), abs=1e-4)


@pytest.mark.parametrize("settings, name", [({"qam": 8}, "qam"), ({"method": "mean"}, "method"), ({"beta": 0.0}, "beta"), ({"beta": "1"}, "beta"),
                                            ({"mixed": [4]}, "sinrs"), ({"mixed": [4, 5]}, "mixed"), ({"weights": np.ones(3)}, "weights"),
                                            ({"mixed": [4, 4], "method": "eesm"}, "mixed"), ({"decibel": 2}, "decibel"),
                                            ({"outputs": "sinr"}, "outputs")])
def test_effective_sinr_refuses(settings, name):
    with pytest.raises(ValueError, match=name):
        wb.effective_sinr(np.ones((4, 2)), **settings)


# ---------------------------------------------------------------- tables

def odds(p):
    return np.log(p / (1 - p))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tables.json").write_text(json.dumps(bler_file.columns()))
    return tmp_path


def test_tables_interpolate_log_odds(folder):
    tables = wb.BlerTables(path=folder)
    assert tables.mcs == [4, 12] and tables.sizes(4) == [100, 400] and tables.attributes["harq"] == "ir"
    assert tables.efficiency(12) == pytest.approx(2)
    assert tables.at_snr(4, 100, [1.0, 1.5, 2.0]) == pytest.approx([0.8995, 0.4995, 0.0995])
    assert odds(tables.at_snr(4, 100, 1.25)) == pytest.approx((odds(0.8995) + odds(0.4995)) / 2)
    assert odds(tables.at_snr(4, 100, 0.5)) == pytest.approx(2 * odds(0.8995) - odds(0.4995))  # the first line goes on
    assert tables.at_snr(4, 100, [2.5, 80.0]) == pytest.approx([0.0995, 0.0995])  # the last point's
    assert tables.at_snr(4, 100, -500.0) == 1 and np.isnan(tables.at_snr(4, 100, np.nan))
    assert tables.at_snr(4, 400, [-100.0, -np.inf]) == pytest.approx([1, 1])  # its first points fail alike
    between = (odds(tables.at_snr(4, 100, 1.3)) + odds(tables.at_snr(4, 400, 1.3))) / 2
    assert odds(tables.at_snr(4, 200, 1.3)) == pytest.approx(between)
    assert tables.at_snr(4, 100, 2.0, code_blocks=3) == pytest.approx(1 - (1 - 0.0995) ** 3)


def test_bler_of_blocks(folder):
    tables = wb.BlerTables(path=folder)
    flat = np.full((2, 7), 10 ** 0.15)
    assert tables.bler(4, 100, flat) == pytest.approx([0.4995] * 2, abs=1e-4)
    assert tables.bler(4, 100, np.full((2, 7), 1.5), decibel=True) == pytest.approx([0.4995] * 2, abs=1e-4)
    # Chase combining: twice the SINR on the curve of the first round
    assert tables.bler(4, 100, np.stack([flat / 2, flat / 2], -2), harq="chase") == pytest.approx([0.4995] * 2, abs=1e-4)
    assert tables.bler(4, 100, np.full((2, 7), 1.5 - 10 * np.log10(2)), harq="chase", decibel=True) == pytest.approx(0.4995, abs=1e-4)
    # Incremental redundancy: the mean information on the curve of two rounds
    twice = np.array([[0.3, 0.3], [0.9, 0.9]])
    effective = 10 * np.log10(wb.effective_sinr(twice.ravel(), qam=4))
    assert tables.bler(4, 100, twice, harq="ir") == pytest.approx(tables.at_snr(4, 100, effective, rounds=2), rel=1e-4)
    assert tables.bler(4, 100, twice, harq="ir", weights=np.array([1.0, 0.0])) == pytest.approx(
        tables.bler(4, 100, twice, harq="ir"), rel=1e-4)
    whole = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert tables.bler(4, 100, twice, harq="ir", weights=whole) == pytest.approx(tables.bler(4, 100, twice, harq="ir"), rel=1e-4)
    with pytest.raises(ValueError, match="^weights = "):
        tables.bler(4, 100, twice, harq="chase", weights=whole)
    assert tables.bler(4, 100, [[4000.0, 4000.0], [1000.0, 1000.0]], harq="chase", decibel=True) == pytest.approx(0.0995)
    assert np.isnan(tables.bler(4, 100, [[-1.0, 1.0], [3.0, 1.0]], harq="chase"))
    assert np.isnan(tables.bler(4, 100, [[1.0, np.nan]]))[0]
    assert tables.bler(4, 100, [0.0, 0.0]) == 1


def test_choice_of_the_mcs(folder):
    tables = wb.BlerTables(path=folder)
    sinrs = np.array([[0.0, 0.0], [2.2, 2.2], [8.2, 8.2], [np.nan, 9.0]])
    assert tables.choose(100, sinrs, decibel=True).tolist() == [4, 4, 12, 4]
    assert tables.choose(100, sinrs, decibel=True, backoff_db=np.array([0, 0, 1, 0])).tolist() == [4, 4, 4, 4]
    assert tables.choose(100, sinrs, decibel=True, target=0.01).tolist() == [4] * 4
    assert tables.choose(300, sinrs, decibel=True).tolist() == [4] * 4  # MCS 12 has no curve of this size
    with pytest.raises(ValueError, match="^backoff_db = "):
        tables.choose(100, sinrs, decibel=True, backoff_db=np.zeros((2, 4)))
    assert tables.choose(100, 10 ** (sinrs / 10)).tolist() == [4, 4, 12, 4]


def test_tables_refuse(folder, tmp_path):
    tables = wb.BlerTables(path=folder / "tables.json")
    for call, name in ((lambda: tables.bler(5, 100, [1.0]), "mcs"), (lambda: tables.bler(4, 50, [1.0]), "size"),
                       (lambda: tables.bler(4, 500, [1.0]), "size"), (lambda: tables.bler(4, 100, [1.0], harq="on"), "harq"),
                       (lambda: tables.bler(4, 100, [1.0], harq="ir"), "sinrs"), (lambda: tables.bler(4, 100, np.ones((3, 2)), harq="ir"), "rounds"),
                       (lambda: tables.bler(4, 100, [1.0], code_blocks=0), "code_blocks"), (lambda: tables.choose(100, [1.0], target=1), "target"),
                       (lambda: tables.choose(7000, [1.0]), "size"), (lambda: wb.BlerTables(path=folder, link="pusch"), "link"),
                       (lambda: wb.BlerTables(path=folder, link="up"), "link"), (lambda: wb.BlerTables(path=folder, mcs_table=2), "mcs_table"),
                       (lambda: wb.BlerTables(path=folder, transform_precoding=True), "path")):
        with pytest.raises(ValueError, match=f"^{name} = "):
            call()
    good = json.loads((folder / "tables.json").read_text())
    bad = [[], {}, {**good, "errors": good["blocks"][:-1]}, {**good, "snr_db": good["snr_db"][::-1]}, {**good, "errors": [2000] * len(good["errors"])}, {**good, "mcs": [1e999] * 4}, {**good, "size": [0] * 4}, {**good, "attributes": [1]},
           {**good, "mcs": ["x"] * 4}]
    for content in [*map(json.dumps, bad), "no json"]:
        path = tmp_path / "bad.json"
        path.write_text(content)
        with pytest.raises(ValueError, match="^path = "):
            wb.BlerTables(path=path)
    with pytest.raises(OSError):
        wb.BlerTables(path=tmp_path / "none.json")


def test_tables_of_hdf5(folder):
    h5py = pytest.importorskip("h5py")
    content = json.loads((folder / "tables.json").read_text())
    with h5py.File(folder / "tables.h5", "w") as f:
        for name, value in content.items():
            if name == "attributes":
                f.attrs.update(value)
            else:
                f[name] = value
    a, b = wb.BlerTables(path=folder / "tables.h5"), wb.BlerTables(path=folder)
    assert a.attributes == b.attributes and a.at_snr(4, 150, 1.2) == b.at_snr(4, 150, 1.2)


# ---------------------------------------------------------------- calibration

def test_fit_finds_the_beta_that_made_the_data():
    rng = np.random.default_rng(3)
    shapes = 10 ** rng.normal(0, 0.3, (12, 24))
    for method, beta in (("eesm", 4.0), ("miesm", 1.5), ("rbir", 0.8)):
        # Scales each drop so that its effective SINR is 9 dB.
        low, high = np.full(12, -20.0), np.full(12, 40.0)
        for _ in range(40):
            middle = (low + high) / 2
            below = 10 * np.log10(wb.effective_sinr(shapes * 10 ** (middle[:, None] / 10), method=method, qam=16, beta=beta)) < 9
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        found, rmse = calibrate.fit(method, 16, shapes * 10 ** (low[:, None] / 10), 9.0)
        assert found == pytest.approx(beta, rel=0.02) and rmse < 1e-3


def test_link_and_drops():
    link = calibrate.Link(1, 4, 60)
    assert link.sent_bits == 200 and link.base_graph == 2
    flat = link.snr_db([1.0], start=0.0, blocks=200)
    assert -3 < flat < 2
    errors = link.errors([1.0], flat, 400, seed=9)
    assert 10 < errors < 90  # 40 in the mean
    gains = np.stack([np.full(5, 1e-3), np.full(5, 100.0)])
    assert link.wrong(gains, flat, 2, seed=1).tolist() == [True, False]
    for profile in ("epa", "tdl-d", "cdl-c"):
        assert abs(calibrate.drops(profile, 300, seed=1).mean() - 1) < 0.25
    with pytest.raises(ValueError, match="profile"):
        calibrate.drops("flat", 1, seed=1)


def test_calibration_command(tmp_path, capsys):
    calibrate.main(["--mcs", "4", "--size", "60", "--profiles", "tdl-a:100", "--drops", "3", "--held-out", "2", "--blocks", "100",
                    "-o", str(tmp_path / "beta.json")])
    assert "rbir" in capsys.readouterr().out
    row = json.loads((tmp_path / "beta.json").read_text())["rows"][0]
    assert set(row["methods"]) == {"eesm", "miesm", "rbir"} and row["methods"]["rbir"]["held_out_rmse_db"] < 1


# Of (MCS table, MCS, size), by warpband.calibrate with its decoder. FLAT: Es/N0 in dB of a block error rate of 0.1 in white noise, by 1600 blocks
# at each end of 0.125 dB. EESM: its beta, fitted to 15 other drops of TDL-A, TDL-C and CDL-C.
FLAT = {(1, 4, 500): -1.459, (1, 13, 2000): 6.056, (2, 17, 3000): 15.505, (2, 23, 2000): 21.131, (1, 20, 4000): 11.671}


EESM = {(1, 4, 500): 1.365, (1, 13, 2000): 4.449, (2, 17, 3000): 25.55, (2, 23, 2000): 95.572, (1, 20, 4000): 14.462}


@pytest.mark.parametrize("method, allowed", [("miesm", 0.1), ("rbir", 0.2), ("eesm", 0.2)])
def test_predicted_snr_of_stored_drops(method, allowed):
    """The effective SINR of each drop where another simulator counts an error rate of 0.1; beta is 1 but for EESM."""
    if not (REFERENCE / "sionna_points_tdl.json").exists():
        pytest.skip(f"no {REFERENCE / 'sionna_points_tdl.json'}")
    cases = json.loads((REFERENCE / "sionna_points_tdl.json").read_text())["cases"]
    gains = {c["name"]: np.array(c["gains"]) for c in json.loads((REFERENCE / "tdl_channels.json").read_text())["channels"]}
    differences = []
    for name, case in cases.items():
        key = case["mcs_table"], case["mcs"], case["cbs"]
        points = sorted((float(s), (e + 0.5) / (n + 1)) for s, (n, e) in case["points"].items())
        snr, p = map(np.array, zip(*points))
        counted = np.interp(-odds(0.1), -odds(p), snr)
        sinrs = np.resize(gains[name.split("_")[1]], case["n"] // case["qm"]) * 10 ** (counted / 10)
        effective = wb.effective_sinr(sinrs, method=method, qam=2 ** case["qm"], beta=EESM[key] if method == "eesm" else 1.0)
        differences.append(10 * np.log10(effective) - FLAT[key])
    assert len(differences) == 10
    assert np.sqrt(np.mean(np.square(differences))) < allowed
