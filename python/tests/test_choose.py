"""The search for receivers: what `warpband choose` does, from Python."""
import math

import pytest

import warpband as wb

UNCODED = {"code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [0.0]}}
MIMO = {"title": "2x2", "code": {"type": "conv", "k": 100}, "modem": {"modulation": "qpsk"}, "channel": {"type": "rayleigh"},
        "mimo": {"streams": 2, "rx_antennas": 2}, "sweep": {"snr_db": [5.0]}}
MASSIVE = {"code": {"type": "none"}, "modem": {"modulation": "qpsk"}, "channel": {"type": "rayleigh"}, "sweep": {"snr_db": [1.0]},
           "massive": {"solver": "cholesky", "antennas": 4, "users": 2, "subcarriers": 4, "symbols": 2}}


def test_the_snr_is_what_theory_says():
    """BPSK over AWGN: a frame of 100 bits is right with (1 - Q(sqrt(2 Eb/N0)))^100."""
    chosen = wb.choose(UNCODED, fer=0.3, width_db=0.25).chosen
    low, high = chosen["interval_db"]

    def fer(db):
        return 1 - (1 - math.erfc(math.sqrt(10 ** (db / 10))) / 2) ** 100

    assert fer(low) > 0.3 > fer(high)
    assert high - low <= 0.25 and low <= chosen["db"] <= high


def test_a_choice_has_a_front_and_a_scenario_that_runs(tmp_path):
    told = []
    choice = wb.choose(MIMO, fer=0.3, loss_db=0.7, width_db=1, progress=told.append)
    front = choice.front
    assert all(a["db"] > b["db"] for a, b in zip(front, front[1:]))
    assert choice.chosen in front and choice.chosen["loss_db"] <= 0.7
    assert front[-1]["loss_db"] == 0 and len(choice.settings) >= len(front)
    assert choice.batching is None
    assert all(isinstance(t, wb.ChoiceProgress) and t.front <= t.tried for t in told)
    assert choice.chosen["detector"] in repr(choice)
    path = tmp_path / "chosen.toml"
    choice.save(path)
    assert path.read_text() == choice.toml
    result = wb.sweep(path, max_frames=200)
    assert result.title == f"2x2: {choice.chosen['detector']}; {choice.chosen['decoder']}"


def test_frames_of_massive_mimo_within_a_latency():
    batching = wb.choose(MASSIVE, fer=0.3, width_db=1, latency_us=1e9).batching
    assert [(p["symbols"], p["streams"]) for p in batching["pairs"]] == [(symbols, streams) for symbols in (1, 2) for streams in (1, 2, 4, 8, 16)]
    best = batching["pairs"][batching["chosen"]]
    assert best["symbols_per_second"] == max(p["symbols_per_second"] for p in batching["pairs"])
    assert wb.choose(MASSIVE, fer=0.3, width_db=1, latency_us=1e-3).batching["chosen"] is None


def test_no_setting_is_begun_after_the_longest_time():
    with pytest.raises(RuntimeError, match="1 left out for lack of time"):
        wb.choose(UNCODED, fer=0.3, width_db=1, max_seconds=1e-9)
    assert [setting["fate"] for setting in wb.choose(UNCODED, fer=0.3, width_db=1, max_seconds=None).settings] == ["measured"]


def test_it_can_be_ended():
    with pytest.raises(RuntimeError, match="False"):
        wb.choose(MIMO, fer=0.3, width_db=1, progress=lambda setting: False)

    def fails(setting):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        wb.choose(MIMO, fer=0.3, width_db=1, progress=fails)


@pytest.mark.parametrize("wrong, message", [
    ({"fer": 0}, "fer = 0 is not allowed: expected a rate above 0 and below 1"),
    ({"loss_db": -1}, "loss_db = -1 is not allowed: expected 0 to 100 dB"),
    ({"width_db": 0}, "width_db = 0 is not allowed: expected 0.01 to 10 dB"),
    ({"max_frames": 0}, "max_frames = 0 is not allowed"),
    ({"max_seconds": 0}, "max_seconds = 0 is not allowed: expected seconds above 0, up to 1e9, or None"),
    ({"latency_us": 0}, "latency_us = 0 is not allowed: expected microseconds above 0"),
    ({"latency_us": 5}, "latency_us = 5 is not allowed: expected None: the scenario has no massive.solver"),
    ({"curve": "b"}, 'curve = "b" is not allowed: expected one of "2x2"'),
    ({"device": "tpu"}, """device = 'tpu' is not allowed: expected "cpu" or "cuda:N\""""),
    ({"progress": 1}, "progress = 1 is not allowed: expected a function, or None"),
])
def test_refusals(wrong, message):
    with pytest.raises(ValueError) as refused:
        wb.choose(MIMO, **wrong)
    assert message in str(refused.value)


def test_links_without_a_choice_and_targets_out_of_reach():
    with pytest.raises(ValueError, match="massive.direction = downlink is not allowed: expected uplink"):
        wb.choose({**MASSIVE, "massive": {**MASSIVE["massive"], "direction": "downlink"}})
    with pytest.raises(RuntimeError, match="fer = 0.3 is reached by no setting: 1 setting: 0 on the front"):
        wb.choose(UNCODED, fer=0.3, max_frames=5)
    with pytest.raises(ValueError, match="content = {} is no choice"):
        wb.Choice({}, "")
    with pytest.raises(TypeError, match="toml is a int"):
        wb.Choice(wb.choose(UNCODED, fer=0.3, width_db=2).to_dict(), 1)
