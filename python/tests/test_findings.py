"""Findings: intervals from counts, what is stored of a result, and verdicts that follow from data."""
import json
import pathlib
import random
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python/warpband"))
from reproduce import campaign, estimates, findings_clip, findings_codes, findings_data, findings_detectors, findings_iterations, spectrum  # noqa: E402
from reproduce.estimates import Curve, Number, Point  # noqa: E402


def falling(errors, step=0.5, decades=1.0, trials=100_000):
    """A curve whose error rate falls by `decades` a dB from 0.1 at 0 dB."""
    points = []
    for k in range(6):
        rate = 10 ** (-1 - decades * k * step)
        points.append(Point(k * step, errors, errors / rate) if errors else Point(k * step, rate * trials, trials))
    return Curve("a", {}, points)


def test_a_crossing_lies_in_its_interval_which_narrows_with_errors():
    few, many = (estimates.crossing_of(falling(n), 1e-2) for n in (50, 5000))
    for found in (few, many):
        assert found.value == pytest.approx(1.0) and found.low <= 1.0 <= found.high
    assert 5 < (few.high - few.low) / (many.high - many.low) < 20  # errors as 1 : 100
    assert estimates.crossing_of(falling(50), 1e-9) is None


def test_intervals_of_crossings_cover_the_truth():
    source, inside = random.Random(1), 0
    for trial in range(60):
        points = []
        for k in range(5):
            rate, frames = 10 ** (-1 - 0.5 * k), 3000
            points.append(Point(0.5 * k, sum(source.random() < rate for _ in range(frames)), frames))
        found = estimates.crossing_of(Curve("c", {"trial": trial}, points), 1e-2)
        inside += found.low <= 1.0 <= found.high
    assert inside >= 52  # of 60 at 95 %: fewer in one of 2000 repetitions


def test_differences_add_half_widths_as_squares():
    assert Number(2, 1.7, 2.4).minus(Number(1, 0.6, 1.3)) == pytest.approx((1, 1 - (0.3 ** 2 + 0.3 ** 2) ** 0.5, 1 + (0.4 ** 2 + 0.4 ** 2) ** 0.5))
    assert Number(1, 0, 3).among(1) == pytest.approx((1, 0, 3), abs=1e-4) and Number(1, 0, 3).among(10) == pytest.approx((1, 1 - 2.807 / 1.96, 1 + 2 * 2.807 / 1.96), abs=1e-3)
    assert str(Number(0.125, 0.1, 0.2)) == "0.12 [0.10, 0.20]"


def test_codewords_that_fail_together_are_worth_fewer():
    alone, together = (estimates.point_of([1.0, 100, 1600, 160, squares], True) for squares in (100 * 1.6 ** 2 + 100 * 1.44, 160 * 16))
    assert alone.rate == together.rate == 0.1
    assert alone.trials == pytest.approx(1600, rel=0.02) and together.trials == pytest.approx(100, rel=0.02)


RESULT = {"warpband": {"version": "1", "commit": "c"}, "machine": {"device": "cpu"}, "complete": True, "curves": [
    {"label": "a, ways = 2", "config": {"sweep": {"snr_db": [1, 2, 3], "family": "a", "parameters": {"detector.ways": 2}}},
     "points": [{"snr_db": x, "frames": 100, "frame_errors": e, "bits": 1000, "bit_errors": 3 * e} for x, e in ((1, 100), (2, 95), (3, 10))]},
    {"label": "b", "config": {"sweep": {"ebn0_db": {"from": 0, "to": 9}, "target_fer": 0.01}}, "points": [],
     "target": {"fer": 0.01, "outcome": "reached", "db": 1.00001, "low_db": 0.9, "high_db": 1.2, "frames": 7}}]}


def test_what_is_stored_of_a_result(tmp_path):
    campaign.write_lines(tmp_path / "x.json", campaign.short(RESULT, "x"), "curves")
    stored = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert stored["curves"][0] == {"family": "a", "parameters": {"ways": 2}, "axis": "snr_db", "points": [[2, 100, 95, 1000, 285], [3, 100, 10, 1000, 30]]}
    assert stored["curves"][1]["target"] == [0.01, 1.0, 0.9, 1.2, 7]
    one, other = estimates.curves_of(stored)
    assert one.points[1] == Point(3, 10, 100, 1000, 30) and other.target == (1.0, 0.9, 1.2)
    assert (tmp_path / "x.json").read_text(encoding="utf-8").count("\n") == 4  # a line for each curve


@pytest.mark.parametrize("name", [name for name, _ in campaign.SIMULATED])
def test_every_run_has_a_scenario(name):
    assert campaign.scenario_of(name).read_text(encoding="utf-8").startswith(f"# warpband sim curves/findings/{name}.toml ")


def clip_cells(errors_of):
    """Of N = 4, as stored results have them: errors of 10000 frames by limit."""
    curves = [Curve("16qam 1/2", {"ways": 4, "llr_clip": clip}, [Point(12.0, errors_of(clip), 10_000)]) for clip in (4, 8, 16, 1e6)]
    return findings_clip.clip_cells(curves, lambda c: c.parameters["ways"])


def test_a_limit_is_needed_where_frame_errors_say_so():
    worse = findings_clip.no_clip_claim("x", clip_cells(lambda clip: 900 if clip == 1e6 else 100), "")
    same = findings_clip.no_clip_claim("x", clip_cells(lambda clip: 100), "")
    assert worse.holds is False and same.verdict.startswith("open: 1 of 1 intervals") and "in 1 of 1 settings" in worse.result and worse.because
    better = findings_clip.no_clip_claim("x", clip_cells(lambda clip: 100 if clip == 1e6 else 900), "")
    assert better.holds is True and "fewer in 1 (16-QAM, R = 1/2, 12 dB: 0.11 [" in better.result and "more in 0, fewer in 1" in better.result
    few = findings_clip.no_clip_claim("x", clip_cells(lambda clip: 3), "too few frame errors")
    assert few.verdict == "not measured: too few frame errors"


def test_the_best_limit_is_the_vertex_of_a_parabola():
    (cell,) = clip_cells(lambda clip: 100)
    fers = {4: 2e-2, 8: 1e-2, 16: 2e-2, 1e6: 1e-1}
    assert cell.best(fers) == pytest.approx(8)
    assert cell.best({**fers, 4: 1e-3}) == 4  # the end of the grid
    assert cell.at(fers, 8) == pytest.approx(1e-2) and cell.at(fers, 32 ** 0.5) == pytest.approx(2 ** 0.5 * 1e-2)


def test_the_chosen_detector_is_the_fastest_that_is_accurate_enough():
    snr = {"mmse": Number(10.6, 10.5, 10.7), "nway 4": Number(10.0, 9.9, 10.1), "ep 2": Number(10.2, 10.1, 10.3)}
    times = {("4x4", 16, "mmse"): 1.0, ("4x4", 16, "nway 4"): 5.0, ("4x4", 16, "ep 2"): 9.0}
    cell = findings_detectors.Cell(("4x4", "16qam", "1/2", "fast", 0.0), snr, times)
    assert cell.choice()[0] == "nway 4" and cell.gain("tree").value == pytest.approx(0.6)
    snr["mmse"] = Number(10.2, 10.1, 10.3)
    assert cell.choice() == ("mmse", 1.0)
    assert not cell.beats("mmse", "nway 4") and cell.is_faster("mmse", "nway 4") and cell.is_faster("mmse", "mtt") is None
    assert cell.beats("nway 4", "ep 2") and not cell.beats("nway 4", "ep 2", 100)  # one of many needs a wider interval
    assert findings_detectors.where([cell]) == "4x4 fast: 16-QAM R = 1/2"


def test_gains_are_of_the_same_setting_and_error_rate(tmp_path):
    def entry(scheme, fer, db):
        return {"family": f"LDPC {scheme} {fer}", "parameters": {"rate": "1/2", "modulation": "qpsk", "fading": "block", "tx_coefficient": 0}, "axis": "ebn0_db",
                "target": [float(fer), db, db - 0.1, db + 0.1, 9]}

    class Held:
        def has(self, need):
            return True

        def get(self, need):
            return {"curves": [entry("silver", "1e-1", 6.0), entry("multiplexing", "1e-1", 5.0), entry("silver", "1e-3", 9.0), entry("multiplexing", "1e-3", 12.0),
                               entry("golden", "1e-2", 9.0)], "complete": True}
    gains = findings_codes.gains_of(Held())
    assert {key[0]: [(f, round(n.value, 6)) for f, n in values] for key, values in gains.items()} == {"silver": [("1e-1", -1.0), ("1e-3", 3.0)]}
    claims = {c.says.split("; ")[1].split(",")[0]: c.holds for c in findings_codes.codes_row(Held())[1]}
    assert claims == {"Silver behind a code at FER 1e-1": False, "Silver behind a code at FER 1e-3": True}


def test_a_gain_whose_interval_includes_0_is_open():
    wide = {"axis": "ebn0_db", "parameters": {"rate": "1/2", "modulation": "qpsk", "fading": "block", "tx_coefficient": 0}}
    curves = [{**wide, "family": f"LDPC {scheme} 1e-1", "target": [0.1, db, db - 1, db + 1, 9]} for scheme, db in (("silver", 5.5), ("multiplexing", 6.0))]
    data = Held({"curves": curves, "complete": True})
    (claim,) = findings_codes.codes_row(data)[1]
    assert claim.verdict == "open: 1 of 1 widened intervals include 0, and none is below 0"


def test_one_of_many_refutes_by_a_widened_interval():
    def data(count):
        setting = {"axis": "ebn0_db", "parameters": {"modulation": "qpsk", "fading": "block", "tx_coefficient": 0}}
        return Held({"complete": True, "curves": [{**setting, "parameters": {**setting["parameters"], "rate": str(i)}, "family": f"LDPC {scheme} 1e-1", "target": [0.1, db, db - 0.1, db + 0.1, 9]}
                                                  for i in range(count) for scheme, db in (("silver", 6.16 if i == 0 else 5.0), ("multiplexing", 6.0))]})
    assert [findings_codes.codes_row(data(count))[1][0].holds for count in (1, 12)] == [False, None]
    assert estimates.decided([Number(-1, -1.5, -0.5), Number(1, -0.1, 2), Number(1, 0.9, 1.1)]) == ([Number(-1, -1.5, -0.5)], [Number(1, 0.9, 1.1)])


class Iterations:
    def __init__(self, low, high):
        self.low, self.high = low, high


def test_more_iterations_are_told_from_no_more_by_intervals():
    few = ((128, 8), Iterations(3, 3))
    assert [findings_iterations.grows([(few, ((256, 16), Iterations(*ends)))]) for ends in ((4, 5), (3, 3), (3, 4), (2, None))] == [(1, 0), (0, 1), (0, 0), (0, 0)]


class Held:
    """One result for every need."""

    def __init__(self, result):
        self.result = result

    def has(self, need):
        return True

    def get(self, need):
        return self.result


def test_a_run_that_ended_early_names_what_it_leaves_out():
    pytest.importorskip("tomllib")
    need = findings_codes.CODES
    wanted = findings_data.grid(need)
    assert wanted["LDPC silver 1e-1"] == 24 and wanted["conv silver 1e-1"] == 8 and sum(wanted.values()) == 288
    stored = [{"family": family} for family, n in wanted.items() for _ in range(n) if family != "conv multiplexing 1e-3"][:-2]
    (claim,) = findings_data.left_out(Held({"curves": stored, "complete": False}), need)
    assert claim.holds is None and claim.result == "278 of 288 curves; not run: conv multiplexing 1e-3; in part: conv multiplexing 1e-2 (6 of 8)"
    assert findings_data.left_out(Held({"curves": stored, "complete": True}), need) == []


def test_a_law_is_judged_by_cells_that_it_has_not_seen():
    cells = [findings_clip.ClipCell(ways, f"{word} {rate}", 10.0, 0.0, {}) for ways in (1, 2) for word in ("qpsk", "16qam", "64qam") for rate in ("1/2", "5/6")]
    limits = [0.5 * c.bits + c.kind + c.rate for c in cells]
    features = lambda c: [1.0, c.bits, c.rate, c.kind]  # noqa: E731
    assert findings_clip.rest_of(cells, limits, features) == pytest.approx(0, abs=1e-9)
    alone = [10.0 if (c.word, c.rate_name) == ("64qam", "5/6") else 1.0 for c in cells]
    assert findings_clip.rest_of(cells, alone, lambda c: [1.0]) == pytest.approx(((2 * 9**2 + 10 * 1.8**2) / 12) ** 0.5)  # two are missed by 9, whose mean moves ten by 1.8


def test_times_of_a_cell_are_of_one_machine():
    record = {"machine": {"device": "cuda:0, GPU A"}, "times": [{"antennas": "4x4", "qam": 4, "detector": "mmse", "us": 2.0, "ways": None, "iterations": None}]}

    class Data(Held):
        def benchmarks(self, *needs):
            return [{"op": "detect", "figure": "kernel", "device": "cuda:0", "description": "GPU B", "mbps": 1152.0,
                     "axes": {"detector": "mmse", "antennas": "4x4", "qam": qam}} for qam in (4, 16)]
    times, machine = findings_detectors.times_of(Data(record))
    assert times == {("4x4", 4, "mmse"): 2.0, ("4x4", 16, "mmse"): 2.0} and machine == {("4x4", 4): "GPU A", ("4x4", 16): "GPU B"}


def test_chebyshev_counts_iterations():
    # kappa = 9: the factor is 1/2, and 2 * 2^-I <= 0.25 at I = 3
    assert findings_iterations.chebyshev(9.0, 16, 0.25) == 3
    assert findings_iterations.chebyshev(1e6, 16, 0.25) == 16


def test_gradients_end_at_the_solution_and_bound_their_residual():
    numpy = pytest.importorskip("numpy")
    random_numbers = numpy.random.default_rng(1)
    h = random_numbers.standard_normal((3, 12, 5)) + 1j * random_numbers.standard_normal((3, 12, 5))
    h[..., 0] *= 10  # a strong user: Jacobi's scaling pays
    a, b = h.conj().swapaxes(-1, -2) @ h + numpy.eye(5), random_numbers.standard_normal((3, 5)) + 0j
    exact = numpy.linalg.solve(a, b[..., None])[..., 0]
    left = {}
    for jacobi in (False, True):
        xs, energy = spectrum.gradients(a, b, 5, jacobi)
        assert abs(xs[-1] - exact).max() < 1e-6 * abs(exact).max()
        assert energy.shape == (6, 3) and (energy[0] == 1).all() and (energy[-1] < 1e-12).all()
        left[jacobi] = float((abs(xs[1] - exact) ** 2).sum())
    assert left[True] < left[False]
    # the residual of the first iteration, by its definition
    xs, energy = spectrum.gradients(a, b, 1, False)
    r = b - (a @ xs[0][..., None])[..., 0]
    assert energy[1] == pytest.approx((abs(r) ** 2).sum(-1) / (abs(b) ** 2).sum(-1))
