"""`warpband reproduce`: 41 figures and tables, four rows of text and five of findings, pages that are what the stored results give, and verdicts that follow from data."""
import json
import math
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python/warpband"))
from reproduce import bollapalli, cli, curves, estimates, li, output, printed, records, sweep_iterations, text, wu2010  # noqa: E402
from reproduce.data import Data, Need, ReproduceError  # noqa: E402
from reproduce.rows import Claim, Line, Panel, Row, all_rows, beside, measured  # noqa: E402

STORED = Data(stored=True)


def test_every_figure_and_table_has_a_row_a_figure_and_statements():
    rows = all_rows()
    assert len({row.file for row in rows}) == len(rows) == 41 + 4 + 5
    assert {d: sum(row.document == d and row.name != "text" for row in rows) for d in output.PAGES} == {"wu2010": 17, "wu2012": 4, "li": 16, "bollapalli": 4, "findings": 5}
    for row in rows:
        panels, claims = row.make(STORED)
        assert claims and any(line.points for panel in panels for line in panel.lines) == (row.name != "text"), row.file
        assert all(len({line.setting or line.label for line in panel.lines}) <= len(output.COLOURS) for panel in panels), row.file
        records = [need for need in row.needs if need.kind in ("bench", "stream", "profile", "peer") and STORED.has(need)]
        assert len(row.sources(STORED)) == len(records), row.file
        assert not any(c.verdict.endswith("differs") for c in claims), row.file  # always with a reason
        assert (ROOT / "docs" / output.FIGURES / f"{row.file}.png").exists() == bool(panels)
    assert len(set(output.COLOURS)) == len(output.COLOURS)


@pytest.mark.parametrize("document", output.PAGES)
def test_pages_begin_with_what_the_stored_results_give(document):
    block = output.block(document, [row for row in all_rows() if row.document == document], STORED)
    text = output.page_of(document).read_text(encoding="utf-8")
    assert output.with_block(text, block) == text, "warpband reproduce all --stored --pages writes it"
    assert text.index(output.BEGIN) < text.index("\n## ") if "\n## " in text else True


def result(**rates):
    return {"curves": [{"label": label, "config": {"sweep": {"snr_db": []}},
                        "points": [{"snr_db": x, "ber": y, "fer": y, "bits": 1000, "frames": 100} for x, y in enumerate(ys)]} for label, ys in rates.items()]}


def test_distances_are_read_between_points_in_the_logarithm():
    r = result(a=[1e-1, 1e-2, 1e-3], b=[1.0, 1e-1, 1e-2, 0])
    assert curves.behind(r, "b", "a", "ber", 1e-2) == pytest.approx(1.0)
    assert curves.crossing(curves.points(r, "a", "ber"), 10**-1.5) == pytest.approx(0.5)
    assert curves.points(r, "b", "ber")[-1] == (3, 5e-4)  # no error: half of one
    assert curves.behind(r, "a", "b", "fer", 1e-5) is None


def fixed_point(shift, short):
    """Curves of both detectors that begin `shift` decades above those of float32; the first format of 8 bits is `short`."""
    labels = [f"{name}{words}" for name in text.WORD_DETECTORS
              for words in ("", *(f", {w} bits" for w in text.WORD_LENGTHS), *(f", 8 bits, {f} after the point" for f in text.FRACTIONS))]
    made = result(**{label: short if label.endswith(f", {text.FRACTIONS[0]} after the point") else [10 ** (-x + shift * ("," in label)) for x in (1, 2, 3, 4)] for label in labels})
    for c in made["curves"]:
        for p in c["points"]:
            p.update(fer_interval=[0.9 * p["fer"], 1.1 * p["fer"]], ber_interval=None)
    return type("Held", (), {"has": lambda self, need: True, "get": lambda self, need: made})()


def test_fixed_point_holds_where_a_format_fails_and_none_is_ahead():
    claim = text.in_fixed_point(fixed_point(0.1, [0.9, 0.9, 0.9, 0.9]))
    assert claim.holds and "N-way +0.10, +0.10" in claim.result and "unreached at 3 dB, +0.10" in claim.result
    for shift, short, because in ((0.1, [0.1, 0.01, 0.001, 1e-4], "every format of 8 bits loses less"), (2, [0.9, 0.9, 0.9, 0.9], "16 bits lose more"),
                                  (-0.5, [0.9, 0.9, 0.9, 0.9], "fixed point is ahead by")):
        claim = text.in_fixed_point(fixed_point(shift, short))
        assert claim.holds is False and claim.because.startswith(because)


def test_points_without_an_error_keep_the_end_of_their_interval():
    held = {"curves": [{"label": "a", "config": {"sweep": {"snr_db": []}}, "points": [
        {"snr_db": 1, "ber": 0.0, "fer": 0.0, "bits": 300, "frames": 10, "ber_interval": None, "fer_interval": [0.0, 0.3]},
        {"snr_db": 0, "ber": 0.1, "fer": 0.5, "bits": 300, "frames": 10, "ber_interval": None, "fer_interval": [0.2, 0.8]}]}]}
    assert curves.with_intervals(held, "a", "fer") == [(0, 0.5, 0.2, 0.8), (1, 0.0, 0.0, 0.3)]
    assert curves.with_intervals(held, "a", "ber")[0] == pytest.approx((0, 0.1, 0.04, 0.16))  # in proportion to the frames'
    assert curves.with_intervals(held, "a", "ber")[1] == (1, 0.0, 0.0, 0.01)


def with_ends(share, **rates):
    """A result whose intervals reach from (1 - share) to (1 + share) of each rate."""
    r = result(**rates)
    for c in r["curves"]:
        for p in c["points"]:
            p.update({f"{rate}_interval": [(1 - share) * p[rate], (1 + share) * p[rate]] for rate in ("ber", "fer")})
    return r


def test_a_distance_has_an_interval():
    r = with_ends(0.5, a=[1e-1, 1e-2, 1e-3, 1e-4], b=[1.0, 1e-1, 1e-2, 1e-3])
    below, above = math.log10(2), math.log10(1.5)  # in points, one a decade
    ends = math.hypot(below, above)
    assert curves.distance(r, "b", "a", "fer", 1e-2) == pytest.approx((1, 1 - ends, 1 + ends))
    assert curves.distance(r, "a", "a", "fer", 1e-4) == pytest.approx((0, -ends, ends))  # the upper end goes on straight
    assert curves.distance(r, "b", "a", "fer", 1e-4) is None
    gaps = curves.distances(STORED, r, "b", "a", ("fer",))
    assert curves.in_words(gaps) == "+1.00, +1.00 dB at FER 1e-2, 1e-3" and curves.uncertainty(gaps.values()) == " (95 %: at most ±0.35 dB)"


def test_a_limit_inside_an_interval_is_open():
    def near(value):
        return estimates.Number(value, value - 0.05, value + 0.05)
    assert [curves.at_most([near(x)], 0.25) for x in (0.19, 0.27, 0.31)] == [True, None, False]
    assert [curves.at_most([near(x), *(near(0.0) for _ in range(9))], 0.25) for x in (0.19, 0.31, 0.35)] == [True, None, False]  # one of ten refutes by a wider interval
    assert curves.undecided([near(0.27), near(0.0)], 0.25) == "the limit of 0.25 dB lies inside the interval 0.27 [0.21, 0.33] dB, widened for 2 distances"
    claim = measured("x", [near(0.27)], str, lambda v: curves.at_most(v, 0.25), lambda v: curves.undecided(v, 0.25))
    assert claim.verdict == "open: the limit of 0.25 dB lies inside the interval 0.27 [0.22, 0.32] dB" and output.counts([claim]) == "0 hold, 0 differ, 1 open, 0 not measured"


def test_convergence_is_read_from_intervals():
    def near(value, half):
        return estimates.Number(value, value - half, value + half)
    assert li.converges([(None, near(0.1, 0.5))]) is True and li.converges([(near(0.3, 0.1), near(0.1, 0.3))]) is None
    assert li.converges([(near(0.1, 0.1), near(0.5, 0.1))]) is False and li.converges([(None, None)]) is False


def test_why_two_gpus_have_less_than_twice_the_rate():
    def run(copies, frame=50.0):
        return {"alone": {"copies_us": copies}, "frame_us": frame}
    here, other = [(run(45.0), {"frame_us": 30.0})], [(run(40.0), run(25.0))]
    assert li.copies_of_two(here, other) == "copies of a frame alone take 90 to 90 % of its time on one GPU. This record lacks those of two GPUs; on two H200s they are 1.6 to 1.6 times as fast as those of one"
    assert "Those of two GPUs are 1.5 to 1.5 times" in li.copies_of_two([(run(45.0), run(30.0))], other)
    assert li.copies_of_two([(run(20.0), None)], other) == "" == li.copies_of_two(here, [(run(40.0), run(20.0))])
    assert li.copies_of_two([(None, None)], other) == "" == li.copies_of_two(here, [(None, run(1.0))])


def test_a_bar_in_a_cell_separates_no_columns():
    row = Row("wu2010", "fig0", "made up", (), lambda data: ([], []))
    assert output.claim_lines(row, "t", [Claim("|det|²", "a|b", True)], None)[0][2:4] == ["a\\|b", "\\|det\\|²"]


def test_a_page_tells_stored_results_from_those_to_come():
    needs = (Need("bench", "detect_h100", ("^detect/",), "cuda"), Need("bench", "no_such_record", ("^detect/",), "cuda"))
    block = output.block("wu2010", [Row("wu2010", "fig0", "made up", needs, lambda data: ([], [Claim("a", "b", True)]))], STORED)
    assert block.index("detect_h100.json") < block.index("# not stored yet") < block.index("no_such_record.json")


def test_a_crossing_counts_where_intervals_are_apart():
    rates = {"floor": [1e-1, 1e-2, 5e-3, 4e-3], "steep": [3e-1, 1e-1, 5e-4, 1e-6]}
    crossed = curves.falls_behind(with_ends(0.1, **rates), "floor", "steep", "fer")
    assert 5e-3 < crossed < 1e-2
    assert curves.falls_behind(with_ends(0.99, **rates), "floor", "steep", "fer") is None  # nothing is decided
    assert curves.falls_behind(with_ends(0.1, **rates), "steep", "floor", "fer") is None
    r = with_ends(0.1, **{name: [y / 1000 for y in ys] for name, ys in rates.items()})
    claim = wu2010.ahead(STORED, r, "floor", ["steep"], "floor is better")
    assert not claim.holds and claim.because.startswith("floor falls behind steep below BER ")  # although all distances are below 0
    assert all(n.value < 0 for n in curves.distances(STORED, r, "floor", "steep").values())


def test_the_trellis_is_that_of_the_standard():
    forward = {(state, bit): text.step(state, bit) for state in range(8) for bit in (0, 1)}
    assert sorted(after for after, _ in forward.values()) == sorted(2 * list(range(8)))  # every state twice
    assert text.trellis_claim(2, [[forward[i, 0], forward[i, 1]] for i in range(8)], forward, "successor").holds
    wrong = text.trellis_claim(2, printed.WU2010_BETA, forward, "successor")
    assert not wrong.holds and "0 have another successor, 12 another parity" in wrong.result


def test_the_silver_code_has_the_determinant_of_the_literature():
    pytest.importorskip("numpy")
    assert [text.least_determinant(levels) / 4 for levels in (1, 2)] == pytest.approx([1 / 7, 1 / 7])


def test_rates_over_the_snr_are_read_when_there_are_some():
    def made(snr, mbps, detector="sphere"):
        return {"op": "detect", "device": "cuda:0", "figure": "kernel", "mbps": mbps, "axes": {"detector": detector, "antennas": "4x4", "qam": 16, "snr_db": snr}}
    found = text.over_snr([made(20, 50.0), made(10, 5.0), made(10, 7.0, "mtt"), {**made(10, 1.0), "axes": {"detector": "sphere"}}])
    assert found == {"4x4 16-QAM": {10.0: 5.0, 20.0: 50.0}}
    assert text.name_of({"detector": "sphere", "antennas": "4x4", "qam": 64, "output": "hard", "sort": "sqrd", "snr_db": 10}) == "4x4 64-QAM, decisions, sorted QR"


def drawn(lines):
    from matplotlib.figure import Figure
    axes = Figure().subplots()
    output._draw_panel(axes, Panel("p", "x", "y", lines))
    return axes.get_lines()


def test_a_setting_has_one_colour_and_a_point_without_errors_a_triangle():
    ours, paper, other = drawn([Line("ours, W = 32", [(1, 0.5)], setting="W = 32"), Line("paper, W = 32", [(1, 0.4)], printed=True, setting="W = 32"), Line("b", [(1, 0.1)])])
    assert ours.get_color() == paper.get_color() != other.get_color()
    triangle, seen = drawn([Line("a", [(0, 0.5, 0.2, 0.8), (1, 0.0, 0.0, 0.3)])])
    assert (triangle.get_marker(), list(triangle.get_ydata()), list(seen.get_xdata())) == ("v", [0.3], [0])


def test_a_figure_names_machine_date_and_commit():
    row = next(r for r in all_rows() if (r.document, r.name) == ("wu2010", "table4.1"))
    assert row.sources(STORED) == ["detect_h100: NVIDIA H100 80GB HBM3, 2026-11-25, commit 3bfe35c9, stored"]
    row = next(r for r in all_rows() if (r.document, r.name) == ("li", "table5.3"))
    assert [text.split(": ")[1].split(",")[0] for text in row.sources(STORED)][2:4] == ["NVIDIA H200", "NVIDIA H100 80GB HBM3"]
    row = next(r for r in all_rows() if (r.document, r.name) == ("bollapalli", "table3"))
    assert [text.split(": ")[1].split(",")[0] for text in row.sources(STORED)] == ["NVIDIA H100 80GB HBM3", "Intel(R) Xeon(R) Processor"]


def test_a_verdict_needs_data():
    assert measured("x", [1.0, None], lambda v: "", lambda v: True, missing="so").verdict == "not measured: so"
    assert measured("x", [], lambda v: "", lambda v: True).holds is None
    assert measured("x", [1.0], lambda v: f"{v[0]}", lambda v: v[0] > 2, lambda v: f"of {v[0]}").verdict == "differs, because of 1.0"
    claims = [beside("t", [1.0], lambda v: "2x"), Claim("a", "b", True), Claim("a", "b", None)]
    assert claims[0].verdict == "another machine"
    assert output.counts(claims) == "1 hold, 0 differ, 1 not measured; 1 only compare values"


def test_reasons_follow_from_the_numbers():
    assert measured("x", [1.0], lambda v: "", lambda v: False, lambda v: "").verdict == "differs"
    assert "10 to 10 times" in records.faster_than_copies([(20, 10)], [(11, 1)]) and records.faster_than_copies([(20, 10)], [(6, 5)]) == ""
    assert li.slow_frames([(8, 2, 1), (16, 1, 2)]).startswith("the last group of 14 symbols is short at N_sym 16,")
    assert li.slow_frames([(8, 1, 1), (16, 2, 1)]) == "" and li.grows([(1, estimates.Number(1.0, 0.9, 1.1)), (2, estimates.Number(1.1, 1.0, 1.2))]) == (True, "")
    assert li.grows([(1, estimates.Number(1.0, 0.9, 1.1)), (2, estimates.Number(0.5, 0.4, 0.6))]) == (False, "it falls by 50 % from 1 to 2 symbols")
    assert li.ratio(estimates.Number(4.0, 3.0, 5.0), estimates.Number(2.0, 2.0, 2.0)) == pytest.approx((2.0, 1.5, 2.5))
    assert li.grows([(1, estimates.Number(1.0, 0.9, 1.1)), (2, estimates.Number(0.9, 0.8, 1.0))]) == (None, "it falls by 10 % from 1 to 2 symbols, which the spread of the records' medians includes")
    assert bollapalli.fixed_cost({"QPSK": {3: 1.0, 20: 100.0}}) == "" and "10 % (QPSK)" in bollapalli.fixed_cost({"QPSK": {3: 1.0, 20: 10.0}})
    assert "2^4 symbols takes 1.5 times as long as one of 2^3 on the GPU and 2 times" in bollapalli.small_calls({3: 1.0, 4: 1.5, 5: 3.0}, {3: 1.0, 4: 2.0})
    assert bollapalli.small_calls({3: 1.0, 4: 2.0}, {3: 1.0, 4: 2.0}) == "" and li.same_time({1: 10, 2: 11, 4: 11}) == "" == li.same_time({1: 10, 2: 20, 4: 40})
    assert li.same_time({1: 10, 2: 20, 4: 22}).startswith("CG takes 10 us for one symbol and 20 to 22 us for 2 to 4")
    assert li.waiting([(900, 100)]).startswith("frames wait") and li.waiting([(900, 400)]) == "" == li.waiting([(9000, 100)])
    assert li.slow_copies([(1, 10)]).endswith("1 of 10 us of a synchronous call") and li.slow_copies([(1, 1.5)]) == ""


def test_additions_of_ours_are_no_statements_of_a_document():
    claims = [Claim("a", "b", True), Claim("c", "d", True, ours=True), measured("e", [1.0], lambda v: "", lambda v: False, lambda v: "f", ours=True)]
    assert [c.verdict for c in claims] == ["holds", "ours: holds", "ours: differs, because f"]
    assert output.counts(claims) == "1 hold, 0 differ, 0 not measured; besides them 2 of ours"
    ours = {(row.document, row.name) for row in all_rows() if any(c.ours for c in row.results(STORED)[1])}
    assert {("wu2010", "fig4.6"), ("wu2012", "fig3"), ("wu2012", "table2"), ("li", "fig3.4"), ("li", "table3.1"), ("bollapalli", "table3")} <= ours


def write_command(program, bench):
    """A stand-in for the command. Its subcommands do `bench`, but for `info` and help, which every build has."""
    program.write_text(f"""#!/bin/sh
case "$*" in
  *--help*) ;;
  info*) echo '{{"cpu": {{"instruction_sets": ["avx2"]}}, "cuda_devices": []}}' ;;
  *) {bench} ;;
esac
""", encoding="utf-8")
    program.chmod(0o755)


def test_what_a_run_takes_as_stored(tmp_path, monkeypatch):
    write_command(tmp_path / "warpband", "exit 0")
    monkeypatch.setenv("WARPBAND_COMMAND", str(tmp_path / "warpband"))
    gpu, sim, profile = Need("bench", "x", (), "cuda"), Need("sim", "y"), Need("profile", "z")
    assert not Data(stored=True).runs(sim) and not Data().runs(gpu) and Data(device="cuda:0").runs(gpu)
    assert Data(quick=True).runs(sim) and not Data(quick=True, device="cuda:0").runs(gpu) and not Data(device="cuda:0").runs(profile)
    assert Need("bench", "b", ("^(a|b)/",), "cpu", "scalar").line() == "WARPBAND_ISA=scalar warpband bench '^(a|b)/' --device cpu --json bench/results/b.json"


def test_a_quick_run_draws_curves_and_does_not_judge_them(tmp_path, monkeypatch):
    need, kept = Need("sim", "y"), [Claim("a", "b", True), Claim("c", "-", None, "the curves do not reach it")]
    row = Row("wu2010", "fig0", "title", (need,), lambda data: ([], kept))
    quick = Data(quick=True, out=tmp_path)
    assert [c.verdict for c in row.results(quick)[1]] == ["not measured: quick run, few frames", "not measured: the curves do not reach it"]
    assert row.full_title(quick) == "title (quick run, few frames)" and row.full_title(STORED) == "title"
    assert [c.verdict for c in row.results(STORED)[1]][0] == "holds"
    stored = Row("wu2010", "fig0", "title", (Need("bench", "z"),), lambda data: ([], kept))
    assert stored.results(quick)[1] == kept  # benchmarks of a quick run are the stored ones
    for name in ("fig3.4", "fig3.5"):  # a quick run takes stored curves there, at the error rate of the thesis
        row = next(r for r in all_rows() if (r.document, r.name) == ("li", name))
        assert [c.verdict for c in row.results(quick)[1]] == [c.verdict for c in row.results(STORED)[1]]


def test_the_thesis_design_saves_what_it_states():
    saved = 1 - li.thesis_operations(128, 64, 8) / li.thesis_operations(128, 64)
    assert 0.35 < saved < 0.45


def test_a_row_becomes_files(tmp_path, capsys, monkeypatch):
    row = Row("wu2010", "fig0", "made up", (), lambda data: ([Panel("p", "x", "y", [Line("a", [(1, 0.5), (2, 0.25)]), Line("b", [(1, 1)], printed=True)])],
                                                             [Claim("says", "result", True)]))
    monkeypatch.setattr(cli, "all_rows", lambda: [row])
    assert cli.main(["fig0", "--stored", "--out", str(tmp_path)]) == 0
    assert "1 hold, 0 differ, 0 not measured" in capsys.readouterr().out
    assert (tmp_path / "wu2010_fig0.csv").read_text().splitlines()[1:] == ["p,a,0,1,0.5,,", "p,a,0,2,0.25,,", "p,b,1,1,1,,"]
    assert (tmp_path / "wu2010_fig0.png").read_bytes().startswith(b"\x89PNG") and "<svg" in (tmp_path / "wu2010_fig0.svg").read_text(encoding="utf-8")
    assert "| **[fig0](wu2010_fig0.png)** made up | `warpband reproduce wu2010 fig0` | result | says | holds |" in (tmp_path / "page.md").read_text(encoding="utf-8")
    assert cli.main(["fig9", "--out", str(tmp_path)]) == 2
    assert "fig9 is no row" in capsys.readouterr().err
    assert cli.main(["fig0", "--pages"]) == 2


@pytest.mark.parametrize("arguments, message", [
    (["wu2010", "--quick", "--stored"], "give one of them"),
    (["li", "fig3.4", "--quick", "--csi", "x"], "--csi needs a full run"),
    (["li", "fig3.4", "--stored", "--csi", "x"], "--csi needs a full run"),
    (["li", "fig3.1", "--csi", "x"], "neither is asked for"),
    (["li", "fig3.4", "--csi", "no-such-{size}"], "cannot read no-such-68x4")])
def test_options_that_contradict_each_other_are_refused(arguments, message, tmp_path, capsys):
    assert cli.main([*arguments, "--out", str(tmp_path)]) == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_results_of_other_channels_are_not_resumed(tmp_path, monkeypatch):
    def folder_of(csi):
        return sweep_iterations.run_channel("li_thesis_file", "cpu", tmp_path, csi).parent
    monkeypatch.setattr(sweep_iterations, "wanted", lambda *arguments: ([], False))
    monkeypatch.setattr(sweep_iterations, "soundings", lambda *arguments: "made")
    for name in "ab":
        for size in sweep_iterations.FILE_SIZES:
            (tmp_path / sweep_iterations.csi_file(name + "-{size}.hdf5", size)).write_text(name)
    one, other = (str(tmp_path / f"{name}-{{size}}.hdf5") for name in "ab")
    folders = [folder_of(csi) for csi in (None, one, other, one)]
    assert folders[0] == tmp_path and len(set(folders)) == 3 and folders[1] == folders[3]
    (tmp_path / "a-68x4.hdf5").write_text("changed")
    assert folder_of(one) not in folders


@pytest.fixture
def without_bench(tmp_path, monkeypatch):
    write_command(tmp_path / "warpband", "exit 1")
    monkeypatch.setenv("WARPBAND_COMMAND", str(tmp_path / "warpband"))


def test_a_build_without_bench_names_what_it_lacks_and_makes_the_rest(tmp_path, capsys, without_bench):
    assert cli.main(["table5.4", "wu2010", "--out", str(tmp_path / "out")]) == 0
    output = capsys.readouterr().err
    assert output.index("bench/results/turbo_h100.json is not measured again") < output.index("1 of 1")
    page = (tmp_path / "out/page.md").read_text(encoding="utf-8")
    assert "-DWARPBAND_BENCH=ON; bench/results/turbo_h100.json is used instead" in page and "table5.4" in page


def test_a_run_that_failed_is_not_started_again(tmp_path, without_bench):
    notes = []
    data = Data(out=tmp_path, note=notes.append)
    for _ in range(2):
        with pytest.raises(ReproduceError, match="ended with 1"):
            data.get(Need("sim", "y"))
    assert len(notes) == 1


def test_what_is_in_the_way_of_a_run(without_bench):
    full = Data(device="cuda:0")
    assert "WARPBAND_BENCH" in full.obstacle(Need("bench", "x")) and not full.runs(Need("bench", "x"))
    assert "2 GPUs" in full.obstacle(Need("stream", "x", device="cuda", gpus=2))
    assert "scalar" in full.obstacle(Need("sim", "x", isa="scalar")) and full.runs(Need("sim", "x", isa="avx2"))
    assert not Data(stored=True).obstacle(Need("bench", "x")) and not Data().obstacle(Need("bench", "x", device="cuda"))


def test_a_row_that_fails_does_not_end_the_run(tmp_path, capsys, monkeypatch, without_bench):
    def rows():
        claims = [Claim("says", "result", True)]
        def held(path):
            return lambda data: ([Panel("p", "x", "y", [Line("a", [(1, 0.5)])])], claims) if path is None or (path / "page.md").exists() else None
        need = Need("sim", "y")
        return [Row("wu2010", "fig1", "made", (), held(None)), Row("wu2010", "fig2", "fails", (need,), lambda data: data.get(need)),
                Row("wu2010", "fig3", "after a page", (), held(tmp_path / "out"))]
    monkeypatch.setattr(cli, "all_rows", rows)
    assert cli.main(["wu2010", "--out", str(tmp_path / "out")]) == 1
    output = capsys.readouterr()
    page = (tmp_path / "out/page.md").read_text(encoding="utf-8")
    assert "made" in page and "after a page" in page and "- wu2010 fig2: " in page and "ended with 1" in page
    assert "1 of 3 rows failed" in output.err and "2 rows, 2 statements" in output.out


def test_a_broken_record_is_one_line(tmp_path, monkeypatch):
    (tmp_path / "curves").mkdir()
    (tmp_path / "bench/results").mkdir(parents=True)
    (tmp_path / "curves/y.json").write_text(json.dumps({})[:-1])
    monkeypatch.setattr("reproduce.data.root", lambda: tmp_path)
    with pytest.raises(ReproduceError, match="y.json"):
        Data(stored=True).get(Need("sim", "y"))


def test_the_list_ends_quietly_where_nobody_reads_it():
    unread, written = os.pipe()
    os.close(unread)
    with os.fdopen(written, "wb") as pipe:
        done = subprocess.run([sys.executable, str(pathlib.Path(cli.__file__).parent)], stdout=pipe, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")
