"""Figures of measured speed."""
import json
import pathlib

import numpy as np
import pytest

import warpband as wb

pytest.importorskip("matplotlib")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def bench(*records, **about):
    return {"format": "warpband bench 1", **about, "benchmarks": list(records)}


def record(items, mbps, low=0.9, high=1.25, op="turbo", figure="resident", device="cpu", samples=(1.0,), **axes):
    return {"op": op, "figure": figure, "axes": axes, "device": device, "items": items, "items_per_second": 2 * mbps,
            "seconds": {"median": 1.0, "low": low, "high": high, "samples": list(samples)}, "mbps": mbps}


def lines_of(figure):
    panel, = figure.axes
    return {line.get_label(): [list(map(float, values)) for values in line.get_data()] for line in panel.get_lines() if not line.get_label().startswith("_")}


def test_throughput_has_a_line_for_each_setting(tmp_path):
    data = bench(record(64, 30.0, k=40), record(1, 2.0, figure="small", k=40, codewords=1), record(64, 9.0, k=6144),
                 record(64, 500.0, figure="kernel", k=40), record(8, 1.0, op="ldpc", n=648))
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(data))
    figure = wb.plot.throughput(path, op="turbo")
    assert lines_of(figure) == {"k=40": [[1, 64], [2, 30]], "k=6144": [[64], [9]]}
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    assert {(64.0, 30 / 1.25), (64.0, 30 / 0.9)} <= {(float(x), float(y)) for x, y in band}
    assert figure.axes[0].get_ylabel() == "Mb/s" and "batch" in figure.axes[0].get_xlabel()
    rates = lines_of(wb.plot.throughput([data, path], op="turbo", where={"k": 40}, figure=None, unit="items_per_second"))
    assert set(rates) == {"resident", "kernel"} and rates["kernel"] == [[64, 64], [1000, 1000]]


def test_latencies_are_counted_and_their_percentiles_drawn(tmp_path):
    rng = np.random.default_rng(1)
    times = {"a": 1e-5 * rng.lognormal(size=1000), "b": 1e-4 * rng.lognormal(size=500)}
    figure = wb.plot.latencies(times, percentiles=(50, 99.9))
    panel, = figure.axes
    assert sum(patch.get_height() for patch in panel.patches) == 1500
    unit = panel.get_xlabel()[-3:-1]
    scale = {"us": 1e6, "ns": 1e9, "ms": 1e3}[unit]
    drawn = sorted(line.get_xdata()[0] for line in panel.get_lines())
    np.testing.assert_allclose(drawn, sorted(scale * np.percentile(v, p) for v in times.values() for p in (50, 99.9)))
    wb.plot.save(figure, tmp_path / "a.png")
    data = bench(record(1, 2.0, samples=[1e-3, 2e-3, 4e-3], k=40), record(1, 2.0, samples=[1.0], k=48))
    panel, = wb.plot.latencies(data, where={"k": 40}).axes
    assert sum(patch.get_height() for patch in panel.patches) == 3


@pytest.mark.parametrize("call, match", [
    (lambda: wb.plot.throughput({"format": "another"}), "records = another file"),
    (lambda: wb.plot.throughput(bench(record(1, 1.0)), op="ldpc"), "no benchmark"),
    (lambda: wb.plot.throughput({"format": "warpband bench 1", "benchmarks": [record(1, 1.0), {"op": "turbo"}]}), "benchmark 2 has no axes"),
    (lambda: wb.plot.throughput(bench(record(1, 1.0)), unit="gbps"), "unit = 'gbps'"),
    (lambda: wb.plot.latencies({}), "times = none"),
    (lambda: wb.plot.latencies({"a": [1.0, -1.0]}), "times = none"),
    (lambda: wb.plot.latencies({"a": [1.0]}, percentiles=(101,)), "percentiles = 101"),
])
def test_what_is_refused(call, match):
    with pytest.raises(ValueError, match=match):
        call()


def test_records_of_the_project_can_be_drawn(tmp_path):
    for path, op, where in (("codes_h100.json", "ldpc", {"n": 2304, "rate": "1_2"}), ("detect_h100.json", "detect", {"qam": 64})):
        file = ROOT / "bench" / "results" / path
        if not file.exists():
            pytest.skip("the records are not here")
        figure = wb.plot.throughput(file, op=op, where=where)
        assert len(lines_of(figure)) > 1
        wb.plot.save(figure, tmp_path / "t.png")
    with pytest.raises(ValueError, match="settings is not allowed: expected at most 16 lines"):
        wb.plot.throughput(ROOT / "bench" / "results" / "codes_h100.json", figure=None)


def test_the_figure_of_the_readme_has_three_detectors(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import readme_figure
    lines = lines_of(readme_figure.draw(tmp_path / "readme.png"))
    assert list(lines) == list(readme_figure.LABELS.values()) and (tmp_path / "readme.png").stat().st_size > 0
    assert "docs/figures/readme.png" in (ROOT / "README.md").read_text(encoding="utf-8") and (ROOT / "docs/figures/readme.png").exists()
