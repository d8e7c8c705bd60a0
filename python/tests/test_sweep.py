import json
import math
import pathlib
import sys

import numpy as np
import pytest

import warpband as wb

BPSK = {"title": "BPSK", "code": {"type": "none", "k": 1000}, "sweep": {"ebn0_db": np.array([0.0, 4.0])},
        "stop": {"frame_errors": 0, "max_frames": 300}}
TURBO = {"code": {"k": 128}, "modem": {"modulation": "qpsk"}, "sweep": {"ebn0_db": [0.0, 1.0]},
         "stop": {"frame_errors": 20, "max_frames": 5000},
         "curve": [{"label": "exact"}, {"label": "max", "decoder": {"algorithm": "max-log-map"}}]}
HOLDS_ITSELF = {}
HOLDS_ITSELF["code"] = HOLDS_ITSELF


def test_uncoded_bpsk_is_what_theory_says():
    result = wb.sweep(BPSK)
    assert result.complete and result.title == "BPSK" and len(result) == 2
    for row in result:
        theory = 0.5 * math.erfc(math.sqrt(10 ** (row["ebn0_db"] / 10)))
        spread = math.sqrt(theory / 300000)
        assert abs(row["ber"] - theory) < 5 * spread
        assert row["frames"] == 300 and row["ber_low"] < row["ber"] < row["ber_high"]


def test_a_result_is_a_table(tmp_path):
    result = wb.sweep(TURBO)
    assert [c.label for c in result.curves] == ["exact", "max"]
    assert result["frame_errors"][:1] == [20] and result["label"] == ["exact", "exact", "max", "max"]
    assert result.curves[0].column("ebn0_db") == [0.0, 1.0]
    assert json.loads(result.to_json()) == result.to_dict()
    assert "frame_errors" in repr(result) and "exact" in repr(result)
    with pytest.raises(KeyError, match="columns are"):
        result["rate"]
    result.save(tmp_path / "r.json")
    assert wb.SweepResult.load(tmp_path / "r.json").to_dict() == result.to_dict()
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert isinstance(frame, pandas.DataFrame) and frame["fer"].tolist() == result["fer"]


def test_mutual_information_is_a_column():
    asked = {**BPSK, "modem": {"mutual_information": True}}
    result, plain = wb.sweep(asked), wb.sweep(BPSK)
    assert result["bit_errors"] == plain["bit_errors"] and "mutual_information" not in plain.columns and "mutual" not in repr(plain)
    assert "mutual_information" in repr(result)
    g = np.linspace(-10, 10, 20001)  # the standard deviation of the noise
    for row in result:
        variance = 8 * 10 ** (row["ebn0_db"] / 10)  # of the LLRs, whose mean is half of it
        expected = 1 - np.average(np.log2(1 + np.exp(-variance / 2 - variance ** 0.5 * g)), weights=np.exp(-g * g / 2))
        assert abs(row["mutual_information"] - expected) < 0.005
        assert row["information_lost"] == pytest.approx((1 - row["mutual_information"]) * 300000)


def test_a_result_is_saved_in_full_or_the_old_one_stays(tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    path, result = tmp_path / "r.json", wb.sweep(BPSK)
    result.save(path)
    before, limit = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    resource.setrlimit(resource.RLIMIT_FSIZE, (64, limit[1]))  # a disk that is full after 64 bytes
    try:
        with pytest.raises(OSError, match="File too large: '.*r.json'"):
            result.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert path.read_bytes() == before and list(tmp_path.iterdir()) == [path]


def test_a_file_and_a_dictionary_are_the_same(tmp_path):
    (tmp_path / "s.toml").write_text('[code]\nk = 128\n[modem]\nmodulation = "qpsk"\n[sweep]\nebn0_db = [0.0, 1.0]\n[stop]\n'
                                     'frame_errors = 20\nmax_frames = 5000\n[[curve]]\nlabel = "exact"\n'
                                     '[[curve]]\nlabel = "max"\ndecoder.algorithm = "max-log-map"\n')
    one, other = wb.sweep(tmp_path / "s.toml", threads=1), wb.sweep(TURBO)
    for name in ("label", "frames", "bit_errors", "frame_errors"):
        assert one[name] == other[name]
    assert wb.sweep(TURBO, seed=2)["frames"] != other["frames"]


@pytest.mark.parametrize("by_file", [False, True])
def test_resume_comes_to_the_same_counts(by_file, tmp_path):
    out = tmp_path / "r.json"
    first = wb.sweep(TURBO, frame_errors=7, output=out)
    assert first["frame_errors"][0] == 7 and wb.SweepResult.load(out).to_dict() == first.to_dict()
    further = wb.sweep(resume=out if by_file else first, frame_errors=20)
    straight = wb.sweep(TURBO)
    for name in ("frames", "bit_errors", "frame_errors"):
        assert further[name] == straight[name]


def test_several_devices_count_what_one_does():
    one, several = wb.sweep(TURBO), wb.sweep(TURBO, device=["cpu", "cpu", "cpu"], threads=1)
    for name in ("frames", "bit_errors", "frame_errors"):
        assert several[name] == one[name]
    assert several.to_dict()["machine"]["device"] == "cpu and cpu and cpu"


def test_progress_and_stopping(tmp_path, capsys):
    told = []
    wb.sweep(TURBO, progress=told.append)
    finished = [p for p in told if p.finished]
    assert [p.number for p in finished] == [0, 1, 2, 3] and finished[0].points == 4 and finished[0].frame_errors == 20
    out = tmp_path / "r.json"
    result = wb.sweep(TURBO, progress=lambda p: not (p.finished and p.number == 1), output=out)
    assert not result.complete and len(result) == 2
    assert wb.sweep(resume=out)["frames"] == wb.sweep(TURBO)["frames"]

    def fail(_):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        wb.sweep(TURBO, progress=fail)
    wb.sweep(TURBO, progress=True)
    assert "[4/4] max, 1 dB" in capsys.readouterr().err


@pytest.mark.parametrize("call, error, match", [
    (lambda: wb.sweep(), ValueError, "scenario"),
    (lambda: wb.sweep({"sweep": {"ebn0_db": [0]}, "kode": {}}), ValueError, "^scenario: unknown key kode: "),
    (lambda: wb.sweep({"sweep": {"ebn0_db": [0]}, "frobnicate": 3}), ValueError,
     r"^scenario: unknown key frobnicate: see warpband.scenario_help\(\)$"),
    (lambda: wb.sweep({"sweep": {"ebn0_db": [0]}, "code": {"k": 41}}), ValueError, "^scenario: code.k = 41 is not allowed: expected"),
    (lambda: wb.sweep({"sweep": {"ebn0_db": [0]}, "decoder": {"precision": "bfloat16", "early_stop": "sign-agreement"}}),
     ValueError, '^scenario: decoder.early_stop = "sign-agreement" is not allowed: expected "none" or "crc" with'),
    (lambda: wb.sweep({"sweep": {"ebn0_db": [0]}, "seed": -2}), ValueError, "^scenario: seed = -2 is not allowed: expected"),
    (lambda: wb.sweep({"sweep": {"ebn0_db": [0]}, "seed": 2 ** 70}), ValueError, "the integer 1180591620717411303424 is not allowed"),
    (lambda: wb.sweep({"code": {"k": 40}}), ValueError, "^scenario: sweep"),
    (lambda: wb.sweep({"sweep": {"ebn0_db": object()}}), ValueError, "a object is not allowed"),
    (lambda: wb.sweep({"a b": 1}), ValueError, "key 'a b'"),
    (lambda: wb.sweep(TURBO, max_frames=0), ValueError, "^max_frames = 0 is not allowed: expected 1 to 1000000000000000$"),
    (lambda: wb.sweep(TURBO, frame_errors=-2), ValueError, "^frame_errors = -2 is not allowed: expected 0 to 1000000000000000$"),
    (lambda: wb.sweep(TURBO, frame_errors=2 ** 70), ValueError, "^frame_errors = 1180591620717411303424 is not allowed"),
    (lambda: wb.sweep(TURBO, frame_errors=2.5), ValueError, "^frame_errors = 2.5 is not allowed: expected an integer"),
    (lambda: wb.sweep(TURBO, seed=-2), ValueError, "^seed = -2 is not allowed: expected 0 to 9223372036854775807$"),
    (lambda: wb.sweep(TURBO, seed=2 ** 63), ValueError, "^seed = 9223372036854775808 is not allowed"),
    (lambda: wb.sweep(TURBO, seed=2 ** 64), ValueError, "^seed = 18446744073709551616 is not allowed"),
    (lambda: wb.sweep(TURBO, checkpoint=100), ValueError, "^checkpoint = 100 is not allowed: expected 0 to 30 seconds$"),
    (lambda: wb.sweep(TURBO, checkpoint=float("nan")), ValueError, "^checkpoint = nan is not allowed"),
    (lambda: wb.sweep(TURBO, max_seconds=-1), ValueError, "^max_seconds = -1 is not allowed: expected 0 to 1e9$"),
    (lambda: wb.sweep(TURBO, max_seconds="1"), ValueError, "^max_seconds = '1' is not allowed: expected a number$"),
    (lambda: wb.sweep(TURBO, threads=2 ** 40), ValueError, "^threads = 1099511627776 is not allowed"),
    (lambda: wb.sweep(TURBO, device=0), ValueError, '^device = 0 is not allowed: expected "cpu" or "cuda:N", or a list of these$'),
    (lambda: wb.sweep(TURBO, device=[]), ValueError, r"^device = \[\] is not allowed"),
    (lambda: wb.sweep(TURBO, device=["cpu", "gpu"]), ValueError, "^device = "),
    (lambda: wb.sweep(TURBO, progress="yes"), ValueError, "^progress = 'yes' is not allowed"),
    (lambda: wb.sweep(5), TypeError, "^scenario is a int: expected a path or a dictionary$"),
    (lambda: wb.sweep(TURBO, device="gpu"), ValueError, "device"),
    (lambda: wb.sweep(TURBO, output="no/such/folder/r.json"), RuntimeError, "no/such/folder"),
    (lambda: wb.sweep("a\0b.toml"), ValueError, r"^scenario = 'a\\x00b.toml' is not allowed: expected a path"),
    (lambda: wb.sweep(TURBO, output="a\udcffb"), ValueError, r"^output = 'a\\udcffb' is not allowed: expected a path"),
    (lambda: wb.sweep(TURBO, output=3), TypeError, "^output is a int: expected a path"),
    (lambda: wb.sweep(resume=b"r.json"), TypeError, "^resume is a bytes: expected a path"),
    (lambda: wb.sweep({**TURBO, "title": "\ud800"}), ValueError, r"^scenario = '\\ud800' is not allowed: expected text"),
    (lambda: wb.sweep(HOLDS_ITSELF), ValueError, "^scenario = a dictionary that holds itself or is nested too deep is not allowed"),
    (lambda: wb.read_csi("a\0b"), ValueError, r"^path = 'a\\x00b' is not allowed: expected a path"),
    (lambda: wb.read_ldpc(None), TypeError, "^path is a NoneType: expected a path"),
    (lambda: wb.sweep("no_such.toml"), OSError, "no_such"),
    (lambda: wb.SweepResult({}), ValueError, "no result"),
    (lambda: wb.SweepResult(5), ValueError, "no result"),
])
def test_clear_errors(call, error, match):
    with pytest.raises(error, match=match) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_errors_of_a_file_name_it_and_the_line(tmp_path):
    path = tmp_path / "s.toml"
    for text, match in (("sweep.ebn0_db = 0\ncode.k = 41\n", "line 2: code.k = 41 is not allowed: expected"),
                        ("sweep.ebn0_db = 0\n\nfrobnicate = 3", r"line 3: unknown key frobnicate: see warpband.scenario_help\(\)$"),
                        ("sweep.ebn0_db = ", "line 1: not TOML")):
        path.write_text(text)
        with pytest.raises(RuntimeError, match=f"s.toml: {match}"):
            wb.sweep(path)


def test_channels_of_a_file(tmp_path):
    h5py = pytest.importorskip("h5py")
    random = np.random.default_rng(1)
    with h5py.File(tmp_path / "h.h5", "w") as file:
        h = random.standard_normal((5, 24, 8, 2)) + 1j * random.standard_normal((5, 24, 8, 2))
        file["h"] = h.astype(np.complex64)
    (tmp_path / "s.toml").write_text('code.type = "none"\nmodem.modulation = "qpsk"\nchannel = { type = "file", file = "h.h5" }\n'
                                     'massive = { solver = "zf", antennas = 8, users = 2 }\nsweep.snr_db = [0, 40]\n'
                                     'stop = { frame_errors = 0, max_frames = 10 }\n')
    result = wb.sweep(tmp_path / "s.toml")
    assert result["frames"] == [10, 10] and result["bit_errors"][0] > 0 and result["bit_errors"][1] == 0
    channel = result.to_dict()["curves"][0]["config"]["channel"]
    assert (channel["file"], channel["layout"], channel["snapshots"], channel["subcarriers"]) == ("h.h5", "plain", 5, 24)
    with pytest.raises(RuntimeError, match="^scenario: channel.file: no.h5"):
        wb.sweep({"code": {"type": "none"}, "modem": {"modulation": "qpsk"}, "channel": {"type": "file", "file": "no.h5"},
                  "massive": {"solver": "zf", "antennas": 8, "users": 2}, "sweep": {"snr_db": [0.0]}})
    with pytest.raises(ValueError, match="^scenario: massive.antennas"):
        wb.sweep({"code": {"type": "none"}, "modem": {"modulation": "qpsk"}, "channel": {"type": "file", "file": str(tmp_path / "h.h5")},
                  "massive": {"solver": "zf", "antennas": 9, "users": 2}, "sweep": {"snr_db": [0.0]}})


def test_scenario_help():
    assert "decoder" in wb.scenario_help() and "[sweep]" in wb.scenario_help()


# ---------------------------------------------------------------- plots
def test_plot(tmp_path):
    pytest.importorskip("matplotlib")
    result = wb.sweep(TURBO)
    figure = wb.plot.error_rates(result, references={"else": {"ebn0_db": [0, 1], "ber": [0.1, 0.01], "fer": [0, 0.1]}})
    panels = figure.get_axes()
    assert [p.get_ylabel() for p in panels] == ["bit error rate", "frame error rate"]
    assert [t.get_text() for t in panels[0].get_legend().get_texts()] == ["exact", "max", "else"]
    drawn = next(line for line in panels[1].get_lines() if line.get_label() == "exact")
    assert drawn.get_ydata().tolist() == result.curves[0].column("fer")
    ends = [path.vertices[:, 1].tolist() for path in panels[1].collections[0].get_paths()]
    assert ends == [pytest.approx(point["fer_interval"]) for point in result.curves[0].points]
    (tmp_path / "ref.csv").write_text("ebn0_db,ber\n0,0.1\n1,0.02\n")
    wb.plot.save(wb.plot.error_rates(result, metric="ber", references={"file": tmp_path / "ref.csv"}), tmp_path / "a.png")
    assert (tmp_path / "a.png").stat().st_size > 5000
    for settings in ({"metric": "rate"}, {"metric": "bler"}, {"axes": [1, 2, 3]}, {"size": "large"}, {"x": "decoder.iterations"}):
        with pytest.raises(ValueError, match="is not allowed"):
            wb.plot.error_rates(result, **settings)


def test_plot_of_harq():
    pytest.importorskip("matplotlib")
    result = wb.sweep({"code": {"type": "lte-transport", "transport_block_size": 40, "coded_bits": 120},
                       "modem": {"modulation": "qpsk"}, "sweep": {"snr_db": [-6, 40]},
                       "stop": {"frame_errors": 5, "max_frames": 200}})
    figure = wb.plot.error_rates(result)
    assert figure.get_axes()[0].get_xlabel() == "$E_s/N_0$ (dB)"
    assert [panel.get_ylabel() for panel in figure.get_axes()] == ["block error rate after each transmission", "throughput (bits per resource element)"]
    assert "bler_1" in result.columns and "bler_1_low" in result.columns


def test_runs_of_the_same_settings_are_one_line(tmp_path):
    pytest.importorskip("matplotlib")
    runs = [wb.sweep(TURBO, seed=seed) for seed in (1, 2)]
    runs[1].save(tmp_path / "b.json")
    panel, = wb.plot.error_rates([runs[0], tmp_path / "b.json"], metric="fer").get_axes()
    line = next(line for line in panel.get_lines() if line.get_label() == "exact")
    both = [[run.curves[0].points[n] for run in runs] for n in range(len(runs[0].curves[0].points))]
    assert line.get_ydata().tolist() == [sum(p["frame_errors"] for p in ps) / sum(p["frames"] for p in ps) for ps in both]
    with pytest.raises(TypeError, match="results has a int"):
        wb.plot.error_rates([3])


def test_values_of_python_that_toml_has_by_another_name():
    """Ranges are lists, and paths texts."""
    scenario = {"code": {"type": "none", "k": 100}, "stop": {"max_frames": 10}}
    counted = [wb.sweep({**scenario, "sweep": {"ebn0_db": points}})["bit_errors"] for points in ([0, 1, 2], range(3))]
    assert counted[0] == counted[1]
    if wb.has_hdf5:
        with pytest.raises(RuntimeError, match="no_such.h5: cannot read"):
            wb.sweep({**scenario, "modem": {"modulation": "qpsk"}, "sweep": {"snr_db": 0}, "massive": {"solver": "zf", "antennas": 4, "users": 2},
                      "channel": {"type": "file", "file": pathlib.Path("no_such.h5")}})


def test_settings_are_swept_and_drawn_over():
    pytest.importorskip("matplotlib")
    result = wb.sweep({"code": {"k": 40}, "sweep": {"decoder": {"iterations": [1, 2, 4]}, "ebn0_db": [0, 1]},
                       "stop": {"frame_errors": 5, "max_frames": 200}})
    assert [curve.config["decoder"]["iterations"] for curve in result.curves] == [1, 2, 4]
    assert result["decoder.iterations"] == [1, 1, 2, 2, 4, 4]
    panel, = wb.plot.error_rates(result, metric="fer").get_axes()
    lines = [line for line in panel.get_lines() if not line.get_label().startswith("_")]
    assert panel.get_xlabel() == "iterations of the decoder" and lines[0].get_label().endswith(", 0 dB")
    assert lines[0].get_xdata().tolist() == [1, 2, 4] and panel.get_xticks().tolist() == [1, 2, 4]
    assert lines[0].get_ydata().tolist() == [curve.points[0]["fer"] for curve in result.curves]


def test_the_snr_of_a_frame_error_rate_is_searched_for(tmp_path):
    scenario = {"code": {"type": "none", "k": 100}, "sweep": {"modem": {"modulation": ["bpsk", "qpsk"]}, "target_fer": 0.5, "target_width_db": 0.5}}
    told = []
    result = wb.sweep(scenario, output=tmp_path / "r.json", progress=told.append)
    assert result.complete and told and all(p.db != p.db and p.points == 2 for p in told)
    for curve in result.curves:  # Q(sqrt(2 Eb/N0)) = 1 - 2^(-1/100) for both
        assert curve.target["outcome"] == "reached" and curve.target["low_db"] < 4.8156 < curve.target["high_db"]
    again = wb.sweep(resume=tmp_path / "r.json")
    assert [curve.target for curve in again.curves] == [curve.target for curve in result.curves]
    pytest.importorskip("matplotlib")
    panel, = wb.plot.error_rates(result).get_axes()
    assert panel.get_ylabel() == "$E_b/N_0$ (dB) for a frame error rate of 0.5"
    assert [tick.get_text() for tick in panel.get_xticklabels()] == ["bpsk", "qpsk"]
