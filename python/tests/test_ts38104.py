"""`warpband reproduce ts38104`: rows, verdicts, the page of the stored results, and quick runs of every channel."""
import json
import math
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import warpband as wb

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "python/warpband"))
from reproduce import cli, ts38104, ts38104_measure, ts38104_prach, ts38104_pucch, ts38104_pusch  # noqa: E402
from reproduce.ts38104_rows import Margin, Measured, interval  # noqa: E402


@pytest.fixture
def fft():
    try:
        wb.OfdmModulator()(np.zeros((7, 300), np.complex64))
    except RuntimeError:
        pytest.skip("this build has no FFT for CPUs")


def test_every_row_has_a_key_and_a_section():
    rows = {channel: ts38104.rows_of(channel) for channel in ts38104.CHANNELS}
    assert {channel: len(group) for channel, group in rows.items()} == {"pusch": 90, "pucch": 189, "prach": 56}
    for channel, group in rows.items():
        module = ts38104.CHANNELS[channel]
        assert len({module.key(row) for row in group}) == len(group)
        for row in group:
            assert sum(ts38104.is_in(row, section) for section in ts38104.SECTIONS) == 1
            assert len(module.cells(row)) + 1 == len(module.COLUMNS)
    assert ts38104.listing().count("\n") == len(ts38104.SECTIONS)


def test_the_page_is_what_the_stored_results_give():
    text = (ROOT / "docs/ts38104.md").read_text(encoding="utf-8")
    assert ts38104.page_text(text) == text, "warpband reproduce ts38104 --stored --pages writes it"
    for channel, module in ts38104.CHANNELS.items():
        results = ts38104.stored(channel, ROOT / "curves")
        assert set(results) == {module.key(row) for row in ts38104.rows_of(channel)}
        for row in ts38104.rows_of(channel):
            result = results[module.key(row)]
            wanted = ts38104.made_of(channel, row) | {"count": module.trials(row)}
            assert {name: result[name] for name in wanted} == wanted  # measured with this requirement and these settings
            assert {"device", "commit"} <= set(result)
    assert not any(line.endswith("| fails |") for line in text.splitlines())


def test_a_verdict_needs_the_limit_outside_of_the_interval():
    assert Measured(0.001, 0.0, 0.005, 0.01).verdict == "passes" and Measured(0.05, 0.02, 0.08, 0.01).verdict == "fails"
    assert Measured(0.009, 0.005, 0.012, 0.01).verdict == "open" == Measured(0.012, 0.008, 0.02, 0.01).verdict
    assert Measured(0.9, 0.8, 0.95, 0.7, at_least=True).verdict == "passes" and Measured(0.6, 0.5, 0.65, 0.7, at_least=True).verdict == "fails"
    assert Measured(0.001, 0.0, 0.005, 0.01, alarms=Measured(0.5, 0.4, 0.6, 0.01)).verdict == "fails"
    assert interval(0, 3000)[1] == pytest.approx(1 - 0.025 ** (1 / 3000), rel=1e-6)


def test_margins_are_the_last_steps_that_are_allowed():
    rates = [0.001, 0.002, 0.004, 0.02, 0.005, 0.03, 0.1, 0.2]
    ends = [(0.5 * rate, 2 * rate) for rate in rates]
    steps = ts38104_pucch.STEPS
    assert Margin.of_steps(steps, rates, ends, 0.01) == Margin(1.0, 1.0, 2.0, 0.0, 4.0)
    assert Margin.of_steps(steps, [0.011] + rates[1:], ends, 0.01) is None
    assert str(Margin.of_steps(steps, [0.0] * 8, [(0.0, 0.001)] * 8, 0.01)) == "at least 4.0 dB"
    assert str(Margin.of_steps(steps, [0.0] * 7 + [0.011], [(0.0, 0.001)] * 7 + [(0.005, 0.02)], 0.01)) == "3.0 dB (3.0 to at least 4.0)"
    assert str(Margin.of_steps(steps, [0.009, 0.02], [(0.005, 0.015), (0.011, 0.03)], 0.01)) == "0.0 dB (below 0.0 to 0.0)"
    row = {"required_snr_db": "10.0"}
    measured = ts38104_pusch.judged(row, {"count": 200, "points": [[10.0, 0.95], [9.0, 0.8], [8.0, 0.6]]})
    assert measured.margin.db == pytest.approx(1.5) and measured.margin.low < 1.5 < measured.margin.high
    assert ts38104_pusch.judged(row, {"count": 200, "points": [[10.0, 0.95]]}).margin is None


def test_fading_has_the_covariance_of_clarke():
    times = np.arange(14) / 14e3
    c = ts38104_measure.covariance(times, 100.0)
    x = 2 * np.pi * 100 * times[-1]
    assert c[0, 13] == pytest.approx(sum((-x * x / 4) ** k / math.factorial(k) ** 2 for k in range(12)), abs=1e-9)
    rng = np.random.default_rng(1)
    g = ts38104_measure.gains(rng, 20000, np.array([0.7, 0.3]), times, 100.0)
    estimate = np.einsum("npt,nps->pts", g, g.conj()) / 20000
    np.testing.assert_allclose(estimate[0], 0.7 * c, atol=0.03)
    np.testing.assert_allclose(estimate[1], 0.3 * c, atol=0.02)


def test_a_delay_is_a_shift():
    burst = np.random.default_rng(2).normal(size=64).astype(np.complex64)
    copies = ts38104_measure.delayed(burst, 1e6, np.array([0.0, 3e-6]))
    np.testing.assert_allclose(copies[0], burst, atol=1e-5)
    np.testing.assert_allclose(copies[1], np.concatenate([np.zeros(3), burst[:-3]]), atol=1e-5)


def rows_in(table, module, **wanted):
    rows = ts38104.rows_of(module.__name__.rpartition("_")[2])
    return next(row for row in rows if row["table"] == table and all(row[name] == value for name, value in wanted.items()))


def test_rates_are_counted_and_repeat():
    row = rows_in("8.3.4.2.2-1", ts38104_pucch)
    result = ts38104_pucch.measure(row, 300, "cpu", True)
    assert result == ts38104_pucch.measure(row, 300, "cpu", True)
    assert result["trials"] == 300 and result["errors"][0] <= 6 and result["alarms"] <= 8
    far = ts38104_pucch.measure({**row, "snr_db": "-20"}, 300, "cpu", True)
    assert far["errors"][0] > 250  # nothing is found, so all are missed


def test_a_detector_that_always_alarms_fails_every_row():
    always = {"count": 1000, "trials": 1000, "errors": [0], "alarms": 1000, "others": 0}
    for module in (ts38104_pucch, ts38104_prach):
        row = ts38104.rows_of(module.__name__.rpartition("_")[2])[0]
        assert module.judged(row, always).verdict == "fails" and module.judged(row, {**always, "alarms": 0}).verdict == "passes"


def test_preambles_are_found_with_their_delay(fft):
    row = rows_in("8.4.2.2-2", ts38104_prach, format="A2", channel="tdlc300")
    result = ts38104_prach.measure(row, 100, "cpu", True)
    assert result["errors"][0] <= 4 and result["alarms"] <= 3
    strict = ts38104_prach.measure({**row, "tolerance_us": "0.001"}, 100, "cpu", True)
    assert strict["errors"][0] > 50


def test_a_quick_run_prints_tables_and_is_kept(tmp_path, capsys, fft):
    arguments = ["ts38104", "8.2.2.2-1", "8.3.2", "--quick", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    output = capsys.readouterr()
    assert "3 of 3 rows; a quick run is not judged" in output.out and output.err.count("\n") == 3 and "verdict" not in output.out
    assert cli.main(arguments) == 0
    assert capsys.readouterr() == (output.out, "")  # nothing is measured again
    assert len(json.loads((tmp_path / "ts38104_quick/ts38104_pucch.json").read_text())) == 2


def test_a_row_of_other_conditions_is_measured_again(tmp_path, monkeypatch):
    measured = []
    monkeypatch.setattr(ts38104_pucch, "measure", lambda row, count, device, quick: measured.append(device) or {"trials": count, "errors": [0], "alarms": 0})
    row = ts38104.rows_of("pucch")[0]

    def run(given, device="cpu"):
        return ts38104.run("pucch", [given], tmp_path, device, True, lambda line: None)
    run(row)
    run(row)
    assert len(measured) == 1
    run({**row, "snr_db": "3.3"})
    run(row)
    run(row, "cuda:1")
    monkeypatch.setattr(ts38104_pucch, "FALSE_ALARM", 0.001)
    run(row, "cuda:1")
    monkeypatch.setattr(wb, "__commit__", "another")
    run(row, "cuda:1")
    assert len(measured) == 6
    path = tmp_path / "ts38104_pucch.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"of another run": {"count": 1}}))
    run({**row, "snr_db": "3.3"}, "cuda:1")
    assert "of another run" in json.loads(path.read_text())


def test_errors_of_a_measurement_are_no_wrong_usage(tmp_path, monkeypatch):
    def broken(*_):
        raise ValueError("shapes do not match")
    monkeypatch.setattr(ts38104_pucch, "measure", broken)
    with pytest.raises(ValueError, match="shapes do not match"):
        cli.main(["ts38104", "8.3.2.2-1", "--quick", "--out", str(tmp_path)])


def test_a_package_that_is_not_beside_the_command_is_refused(tmp_path, monkeypatch):
    folder = tmp_path / "build/python/warpband"
    folder.mkdir(parents=True)
    (tmp_path / "build/warpband").write_text("")
    script = ("import sys; sys.path.insert(0, sys.argv[1]); from reproduce import data, ts38104\n"
              "ts38104.command = lambda: sys.argv[2]\n"
              "try: ts38104.compiled_package()\nexcept data.ReproduceError as error: print(error)\nelse: print('taken')")

    def refusal(*folders):
        path = os.pathsep.join(map(str, folders))
        return subprocess.run([sys.executable, "-S", "-c", script, str(ROOT / "python/warpband"), str(tmp_path / "build/warpband")],
                              env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert "has no whole package" in refusal()  # a folder without __init__.py
    other = tmp_path / "other/warpband"
    other.mkdir(parents=True)
    (other / "__init__.py").write_text("")
    assert "is another one" in refusal(other.parent)
    (folder / "__init__.py").write_text("")
    assert refusal(other.parent) == "taken\n"


@pytest.mark.parametrize("arguments, message", [
    (["ts38104", "8.3.2", "--stored", "--pages"], "give no sections"),
    (["ts38104", "8.9"], "8.9 is no section or table"), (["ts38104", "wu2010"], "wu2010 is no section"), (["ts38104", "--stored"], "--out is for runs"), (["ts38104", "--quick", "--stored"], "give one of them"),
    (["ts38104", "--pages"], "--pages needs --stored"), (["ts38104", "8.3.2", "--quick", "--device", "tpu"], "tpu")])
def test_what_is_not_allowed_is_named(arguments, message, tmp_path, capsys):
    out = [] if "--pages" in arguments else ["--out", str(tmp_path)]
    assert cli.main([*arguments, *out]) in (1, 2)
    assert message in capsys.readouterr().err


def test_stored_rows_are_printed_without_a_build(capsys):
    assert cli.main(["ts38104", "8.3.2.2-1", "--stored"]) == 0
    output = capsys.readouterr().out
    assert "12 of 12 rows: " in output and "Noise alone: " in output and "margin | verdict" in output
