"""Tables and charts of docs/performance.md and the performance tables: a row stands for the benchmark of exactly its axes."""
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "python/warpband"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from opening_figures import figures  # noqa: E402
from performance_charts import find  # noqa: E402
from reproduce.massive_tables import Frames, formats_table, variants_table  # noqa: E402
from reproduce.stbc_tables import one  # noqa: E402
from reproduce.turbo_tables import rate  # noqa: E402

FRAME = {"antennas": "128x16", "mode": "cholesky", "subcarriers": 1200, "symbols": 14, "estimate": "shared", "by": "warpband"}


def bench(mbps, op, figure, axes):
    return {"op": op, "figure": figure, "axes": axes, "device": "cuda:0", "file": "x.json", "mbps": mbps,
            "seconds": {"median": 1e-6}}


def frame(mbps, **more):
    return bench(mbps, "uplink_frame", "kernel", FRAME | more)


FRAMES = [frame(26200), frame(30800, sums="split_f16"), frame(23500, samples="half"), frame(39500, sums="split_f16", samples="half"),
          frame(7470, by="cublas"), frame(21300, mode="cg", iterations=3)]


@pytest.mark.parametrize("order", [FRAMES, FRAMES[::-1]])
def test_frames_of_other_sums_and_samples_do_not_stand_for_float32(order):
    frames = Frames(order)
    key = "uplink", "128x16", "cholesky", 14, "shared", "warpband", "kernel"
    assert frames.rate(*key, subcarriers=1200) == 26200
    assert frames.rate(*key, subcarriers=1200, sums="split_f16") == 30800
    assert frames.rate(*key, subcarriers=1200, sums="split_f16", samples="half") == 39500
    assert frames.rate("uplink", "128x16", "cg", 14, "shared", "warpband", "kernel", subcarriers=1200) == 21300
    assert "| detector 128x16 Cholesky | 14 x 1200 | shared | 26.2 | 7.47 | - | - | - | 3.51 x |" in variants_table(frames)
    assert [line.split(" | ")[4:] for line in formats_table(frames)[4:-1]] == [
        ["float32", "half", "23.5", "1", "0.897 x |"], ["split FP16", "complex64", "30.8", "1", "1.18 x |"],
        ["split FP16", "half", "39.5", "1", "1.51 x |"]]


def test_two_benchmarks_of_the_same_axes_are_an_error():
    with pytest.raises(SystemExit, match="x.json: two benchmarks of uplink_frame"):
        Frames([*FRAMES, frame(1.0)])


def test_space_time_codes_and_turbo_are_found_by_all_axes():
    axes = {"code": "silver", "output": "hard", "qam": 16, "fragment": 8, "stage": "all"}
    records = [bench(1.0, "stbc_fragment", "kernel", axes | {"code": "golden"}), bench(2.0, "stbc_fragment", "kernel", axes)]
    assert one(records, "stbc_fragment", ["kernel"], qam=16, fragment=8, stage="all")["mbps"] == 2.0
    axes = {"k": 6144, "map": "log_map", "precision": "bfloat16", "window_steps": 48, "overlap": 8, "iterations": 6}
    records = [bench(5.0, "turbo", "resident", axes | {"iterations": 8}), bench(3.0, "turbo", "resident", axes),
               bench(4.0, "turbo", "resident", axes | {"input": "float32"})]
    assert rate(records, "bfloat16", "log_map", 48, 8) == 3.0


def test_a_chart_takes_the_benchmark_of_its_machine_and_of_all_axes():
    axes = {"detector": "nway", "ways": 4}
    benchmarks = [bench(1.0, "detect", "kernel", axes | {"uses": 8400}), bench(2.0, "detect", "resident", axes), bench(3.0, "detect", "kernel", axes)]
    assert find(benchmarks, lambda b: "H100", "H100", "detect", axes)["mbps"] == 3.0
    assert find(benchmarks[:2], lambda b: "H100", "H100", "detect", axes)["mbps"] == 2.0
    for machine, records in (("H100", benchmarks[:1]), ("EPYC", benchmarks)):
        with pytest.raises(SystemExit, match=f"no benchmark of detect .* on {machine}"):
            find(records, lambda b: "H100", machine, "detect", axes)


def test_figures_of_algorithms_are_those_of_the_stored_results():
    folder = pathlib.Path(__file__).resolve().parents[2] / "docs" / "figures" / "openings"
    made = dict(figures())
    assert sorted(made) == sorted(path.stem for path in folder.iterdir())
    for name, content in made.items():
        assert (folder / f"{name}.svg").read_text(encoding="utf-8") == content, f"run scripts/opening_figures.py: {name}"
