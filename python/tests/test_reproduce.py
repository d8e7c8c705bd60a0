"""`warpband reproduce`: 41 rows, pages that are what the stored results give, and verdicts that follow from data."""
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/warpband"))
from reproduce import bollapalli, cli, curves, li, output, records, sweep_iterations  # noqa: E402
from reproduce.data import Data, Need, ReproduceError  # noqa: E402
from reproduce.rows import Claim, Line, Panel, Row, all_rows, beside, measured  # noqa: E402

STORED = Data(stored=True)


def test_every_figure_and_table_has_a_row_a_figure_and_statements():
    rows = all_rows()
    assert len(rows) == 41 and len({row.file for row in rows}) == 41
    assert {d: sum(row.document == d for row in rows) for d in output.PAGES} == {"wu2010": 17, "wu2012": 4, "li": 16, "bollapalli": 4}
    for row in rows:
        panels, claims = row.make(STORED)
        assert claims and any(line.points for panel in panels for line in panel.lines), row.file
        assert all(len({line.setting or line.label for line in panel.lines}) <= len(output.COLOURS) for panel in panels), row.file
        records = [need for need in row.needs if need.kind in ("bench", "stream", "profile") and STORED.has(need)]
        assert len(row.sources(STORED)) == len(records), row.file
        assert "differs" not in [c.verdict for c in claims], row.file  # always with a reason
        assert (ROOT / "docs" / output.FIGURES / f"{row.file}.png").exists()
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


def test_points_without_an_error_keep_the_end_of_their_interval():
    held = {"curves": [{"label": "a", "config": {"sweep": {"snr_db": []}}, "points": [
        {"snr_db": 1, "ber": 0.0, "fer": 0.0, "bits": 300, "frames": 10, "ber_interval": None, "fer_interval": [0.0, 0.3]},
        {"snr_db": 0, "ber": 0.1, "fer": 0.5, "bits": 300, "frames": 10, "ber_interval": None, "fer_interval": [0.2, 0.8]}]}]}
    assert curves.with_intervals(held, "a", "fer") == [(0, 0.5, 0.2, 0.8), (1, 0.0, 0.0, 0.3)]
    assert curves.with_intervals(held, "a", "ber") == [(0, 0.1, 0.1, 0.1), (1, 0.0, 0.0, 0.01)]


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
    assert li.slow_frames([(8, 1, 1), (16, 2, 1)]) == "" and li.falling([(1, 1.0), (2, 1.1)]) == ""
    assert li.falling([(1, 1.0), (2, 0.5)]) == "it falls by 50 % from 1 to 2 symbols"
    assert bollapalli.fixed_cost({"QPSK": {3: 1.0, 20: 100.0}}) == "" and "10 % (QPSK)" in bollapalli.fixed_cost({"QPSK": {3: 1.0, 20: 10.0}})
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
    folders = []
    monkeypatch.setattr(sweep_iterations, "wanted", lambda *arguments: ([], False))
    monkeypatch.setattr(sweep_iterations, "soundings", lambda *arguments: "made")
    for csi in (None, "a-{size}.hdf5", "b-{size}.hdf5"):
        folders.append(sweep_iterations.run_channel("li_thesis_file", "cpu", tmp_path, csi).parent)
    assert folders[0] == tmp_path and len(set(folders)) == 3


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
