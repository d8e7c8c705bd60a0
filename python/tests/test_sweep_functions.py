"""Functions of Python in a sweep: channels, detectors and decoders, fixed batches, results and refusals."""
import doctest
import json
import math
import threading

import numpy as np
import pytest

import warpband as wb

LDPC = {"code": {"type": "wifi-ldpc", "n": 648}, "modem": {"modulation": "qpsk"}, "sweep": {"ebn0_db": [3.0, 5.0]},
        "stop": {"frame_errors": 0, "max_frames": 300}}
MIMO = {"code": {"type": "none", "k": 96}, "modem": {"modulation": "qpsk"}, "mimo": {"streams": 2, "rx_antennas": 2},
        "channel": {"type": "rayleigh"}, "sweep": {"snr_db": [8.0]}, "stop": {"frame_errors": 0, "max_frames": 2000}}
COUNTS = ("frames", "bit_errors", "frame_errors", "erased_frames")


def counts(result):
    return [[row[name] for name in (*COUNTS, "erased_uses") if name in row] for row in result]


def signs(llr):
    """The first k of the bits that are sent."""
    return (llr[:, :324] < 0).astype(np.uint8)


def rayleigh(frames):
    rng = np.random.default_rng(frames.seed)
    return (rng.standard_normal((*frames.shape, 2), np.float32) @ (0.5 ** 0.5 * np.array([1, 1j], np.complex64))).astype(np.complex64)


def with_channel(scenario, **channel):
    return {**scenario, "channel": channel}


def with_decoder(scenario, name):
    return {**scenario, "decoder": {"type": name}}


# ---------------------------------------------------------------- decoders
def test_a_hard_decoder_errs_as_theory_says():
    result = wb.sweep(with_decoder(LDPC, "signs"), decoders={"signs": signs}, batch=128)
    for row in result:
        p = 0.5 * math.erfc(math.sqrt(10 ** (row["ebn0_db"] / 10) / 2))  # Eb/N0 of a sent bit: R = 1/2
        bits = 300 * 324
        assert abs(row["bit_errors"] - bits * p) < 5 * math.sqrt(bits * p)
        assert row["frames"] == 300 and row["iterations_sum"] == 300


def test_a_decoder_of_the_package_counts_what_the_built_in_one_does():
    decoder = wb.LdpcDecoder(code=wb.wifi_ldpc(n=648, rate="1/2"), iterations=7)
    shapes = set()

    def mine(llr):
        shapes.add((llr.shape, llr.dtype.name, llr.flags.c_contiguous))
        return decoder(llr, outputs=("bits", "iterations"))

    scenario = {**LDPC, "sweep": {"ebn0_db": [1.0, 2.0]}}
    built_in = wb.sweep({**scenario, "decoder": {"iterations": 7}})
    result = wb.sweep(with_decoder(scenario, "mine"), decoders={"mine": mine}, batch=200)
    assert counts(result) == counts(built_in) and result["iterations_sum"] == built_in["iterations_sum"]
    assert built_in["frame_errors"][0] > 0 and shapes == {((200, 648), "float32", True)}


# ---------------------------------------------------------------- channels
@pytest.mark.parametrize("fading", ["fast", "block"])
def test_a_rayleigh_channel_errs_as_the_built_in_one(fading):
    calls = []

    def mine(frames):
        calls.append(frames)
        return rayleigh(frames)

    built_in, = wb.sweep(with_channel(MIMO, type="rayleigh", fading=fading))
    row, = wb.sweep(with_channel(MIMO, type="mine", fading=fading), channels={"mine": mine}, batch=500)
    assert row["fer_low"] < built_in["fer_high"] and built_in["fer_low"] < row["fer_high"] and row["fer_high"] - row["fer_low"] < 0.05
    assert row["bit_errors"] != built_in["bit_errors"]
    assert [(c.count, c.first) for c in calls] == [(500, 0), (500, 500), (500, 1000), (500, 1500)]
    assert {c[3:] for c in calls} == {(24 if fading == "fast" else 1, 2, 2)} and len({c.seed for c in calls}) == 4


def test_one_antenna_and_massive_mimo():
    single = {**LDPC, "code": {"type": "none", "k": 100}, "sweep": {"ebn0_db": [10.0]}}
    for fading in ("fast", "block"):
        row, = wb.sweep(with_channel(single, type="mine", fading=fading), channels={"mine": rayleigh})
        theory = 0.5 * (1 - math.sqrt(10 / 11))
        assert abs(row["ber"] - theory) < (0.003 if fading == "fast" else 0.02)
    massive = {**single, "massive": {"solver": "zf", "antennas": 8, "users": 4, "subcarriers": 50}, "sweep": {"snr_db": [5.0]}}
    row, = wb.sweep(with_channel(massive, type="mine"), channels={"mine": rayleigh}, batch=100)
    built_in, = wb.sweep(with_channel(massive, type="rayleigh"))
    assert row["bler_low"] < built_in["bler_high"] and built_in["bler_low"] < row["bler_high"]


def test_nan_erases_uses():
    def with_holes(frames):
        h = rayleigh(frames)
        h[::10, 3] = np.nan
        return h

    row, = wb.sweep(with_channel(MIMO, type="holes"), channels={"holes": with_holes}, batch=100)
    assert row["erased_uses"] == 200


# ---------------------------------------------------------------- detectors
QPSK = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])  # signs of the two bits, 1 for 0
HYPOTHESES = np.array([[*a, *b] for a in QPSK for b in QPSK])  # of two streams
VECTORS = ((HYPOTHESES[:, 0::2] + 1j * HYPOTHESES[:, 1::2]) / 2 ** 0.5).astype(np.complex64)


def metrics(h, y, n0):
    """-|y - H s|^2 / N0 of all s."""
    h = np.repeat(h, len(y) // len(h), axis=0)
    apart = y[:, None] - np.einsum("urs,vs->uvr", h, VECTORS)
    return -(apart.real ** 2 + apart.imag ** 2).sum(-1) / n0[:, None]


def max_log(metric):
    return np.stack([metric[:, HYPOTHESES[:, b] > 0].max(1) - metric[:, HYPOTHESES[:, b] < 0].max(1) for b in range(4)], axis=1).astype(np.float32)


def ml(h, y, n0):
    return max_log(metrics(h, y, n0))


def ml_with_prior(h, y, n0, prior):
    return max_log(metrics(h, y, n0) + prior @ np.maximum(HYPOTHESES, 0).T)


def with_detector(scenario, kind):
    return {**scenario, "detector": {"type": kind}}


@pytest.mark.parametrize("fading", ["fast", "block"])
def test_an_ml_detector_counts_what_the_built_in_one_does(fading):
    """Their LLRs differ by float32: 1e-4 of the largest. No decision of this case is so close."""
    worst, groups = [], set()

    def mine(h, y, n0):
        llr, library = ml(h, y, n0), wb.ML(streams=2, rx_antennas=2, qam=4)(np.repeat(h, len(y) // len(h), axis=0), y, n0)
        worst.append(np.abs(llr - library).max() / np.abs(library).max())
        assert (np.sign(llr) == np.sign(library)).all()
        groups.add((y.shape, h.shape, n0.shape, y.dtype.name, h.dtype.name, n0.dtype.name))
        return llr

    scenario = with_channel(MIMO, type="rayleigh", fading=fading)
    built_in = wb.sweep(with_detector(scenario, "ml"))
    result = wb.sweep(with_detector(scenario, "mine"), detectors={"mine": mine}, batch=500)
    assert counts(result) == counts(built_in) and built_in["bit_errors"][0] > 100
    assert max(worst) < 1e-4
    of_h = 500 * 24 if fading == "fast" else 500
    assert groups == {((12000, 2), (of_h, 2, 2), (12000,), "complex64", "complex64", "float32")}


def test_detectors_of_the_package_and_a_decoder():
    coded = {**LDPC, "mimo": {"streams": 2, "rx_antennas": 2}, "channel": {"type": "rayleigh"}, "sweep": {"ebn0_db": [4.0]}}
    mmse = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    built_in = wb.sweep(with_detector(coded, "mmse"))
    assert counts(wb.sweep(with_detector(coded, "mine"), detectors={"mine": lambda h, y, n0: mmse(h, y, n0)})) == counts(built_in)
    assert built_in["frame_errors"][0] > 5


def test_a_detector_with_a_prior_serves_a_loop():
    coded = {"code": {"type": "conv", "k": 200, "generators": ["5", "7"]}, "decoder": {"algorithm": "max-log-map"}, "modem": {"modulation": "qpsk"},
             "mimo": {"streams": 2, "rx_antennas": 2}, "channel": {"type": "rayleigh"}, "receiver": {"outer": 3},
             "sweep": {"ebn0_db": [3.0]}, "stop": {"frame_errors": 0, "max_frames": 400}}
    built_in, = wb.sweep(with_detector(coded, "ml"))
    got, = wb.sweep(with_detector(coded, "mine"), detectors={"mine": ml_with_prior}, batch=400)
    for name in ("bit_errors_1", "bit_errors_2", "bit_errors_3"):  # after each outer iteration
        assert abs(got[name] - built_in[name]) <= 0.01 * built_in[name]
    assert built_in["bit_errors_1"] > 1.05 * built_in["bit_errors_3"] > 100 and got["erased_uses"] == 0
    with pytest.raises(ValueError, match='detector.type = "mine", which takes no a-priori LLRs'):
        wb.sweep(with_detector(coded, "mine"), detectors={"mine": ml})
    open_loop = {key: value for key, value in coded.items() if key != "receiver"}
    assert counts(wb.sweep(with_detector(open_loop, "mine"), detectors={"mine": ml_with_prior})) == counts(
        wb.sweep(with_detector(open_loop, "mine"), detectors={"mine": ml}))


def test_nan_of_a_detector_erases_uses():
    def with_holes(h, y, n0):
        llr = ml(h, y, n0)
        llr[::24] = np.nan
        llr[1::24, 3] = np.inf
        return llr

    row, = wb.sweep(with_detector(MIMO, "mine"), detectors={"mine": with_holes}, batch=100)
    assert row["erased_uses"] == 4000 and row["frame_errors"] > 1900


def test_what_a_detector_gives_is_checked():
    for result, error, match in (
            (lambda h, y, n0: ml(h, y, n0).astype(float), TypeError, r'^detectors\["mine"\] returned an array of float64: expected float32$'),
            (lambda h, y, n0: ml(h, y, n0).T, ValueError, r'^detectors\["mine"\] returned an array of shape \(4, 1200\): expected \(1200, 4\)$')):
        with pytest.raises(error, match=match):
            wb.sweep(with_detector(MIMO, "mine"), detectors={"mine": result}, batch=50)


def test_llrs_are_limited_where_the_scenario_says_so():
    largest = []

    def seen(llr):
        largest.append(float(abs(llr).max()))
        return signs(llr)

    coded = {**LDPC, "mimo": {"streams": 2, "rx_antennas": 2}, "channel": {"type": "rayleigh"}, "decoder": {"type": "seen"}}
    wb.sweep({**coded, "detector": {"type": "mine", "llr_clip": 3.0}}, detectors={"mine": ml}, decoders={"seen": seen})
    assert set(largest) == {3.0}


# ---------------------------------------------------------------- batches, results
def depends_on_the_batch(llr):
    """Errs in a frame whose number depends on the whole batch."""
    bits = signs(llr)
    bits[int(abs(llr).sum()) % len(llr)] ^= 1
    return bits


def test_counts_do_not_depend_on_the_stop_rule_or_on_resuming(tmp_path):
    scenario = {**with_decoder(LDPC, "mine"), "sweep": {"ebn0_db": [13.0, 14.0]}, "stop": {"frame_errors": 9, "max_frames": 1000}}
    call = {"decoders": {"mine": depends_on_the_batch}, "batch": 64, "version": "2"}
    at_once = wb.sweep(scenario, **call)
    assert at_once["frame_errors"] == [9, 9] and at_once["frames"][0] > 9 * 30
    path = tmp_path / "r.json"
    wb.sweep(scenario, **call, max_frames=70, output=path)
    for max_frames in (100, 128, 300):
        wb.sweep(resume=path, **call, max_frames=max_frames, output=path)
    parts = wb.sweep(resume=path, **call, max_frames=1000, output=path)
    assert counts(parts) == counts(at_once) and parts.complete
    assert counts(wb.sweep(scenario, **call, threads=1)) == counts(at_once)
    assert counts(wb.sweep(scenario, **{**call, "batch": 100})) != counts(at_once)
    searched = {**scenario, "sweep": {"target_fer": 0.1, "target_width_db": 1.0, "snr_db": [0.0, 20.0]}, "stop": {"max_frames": 4000}}
    assert wb.sweep(searched, decoders={"mine": signs}).curves[0].target["outcome"] == "reached"


def test_a_result_names_its_functions_and_goes_on_with_these_alone(tmp_path):
    path, scenario = tmp_path / "r.json", with_channel(with_decoder(LDPC, "signs"), type="fading")
    call = {"decoders": {"signs": signs, "unused": signs}, "channels": {"fading": rayleigh}, "batch": 60, "version": "1"}
    result = wb.sweep(scenario, **call, max_frames=60, output=path)
    assert result.to_dict()["functions"] == {"channels": ["fading"], "decoders": ["signs"], "batch": 60, "version": "1"}
    assert result.curves[0].config["decoder"] == {"type": "signs"} and result.curves[0].config["channel"]["type"] == "fading"
    assert wb.SweepResult.load(path).to_dict() == result.to_dict()
    assert wb.sweep(resume=result, **call, max_frames=120)["frames"] == [120, 120]

    def refuses(match, **change):
        with pytest.raises(RuntimeError, match=match) as caught:
            wb.sweep(resume=path, **{**call, **change})
        assert "\n" not in str(caught.value)

    refuses(r'r.json: was run with a function of Python: expected warpband.sweep\(resume=..., decoders={"signs": ...}\)$', decoders=None)
    refuses(r'was run with a function of Python: expected warpband.sweep\(resume=..., channels={"fading": ...}\)$', channels={"other": rayleigh})
    refuses("was run with batch = 60, now 1024: expected the same$", batch=1024)
    refuses('was run with version = "1", now "2": expected the same$', version="2")
    refuses('was run with version = "1", now None: expected the same$', version=None)
    refuses('was run with decoder.type = "signs", now "other": expected the same$', decoders={"signs": signs, "other": signs},
            scenario=with_channel(with_decoder(LDPC, "other"), type="fading"))
    assert "functions" not in wb.sweep(LDPC, **call, max_frames=5).to_dict()


# ---------------------------------------------------------------- errors
@pytest.mark.parametrize("result, error, match", [
    (None, TypeError, r'^decoders\["mine"\] returned bits as None, a NoneType: expected an array of uint8$'),
    ([[0] * 324] * 50, TypeError, r'^decoders\["mine"\] returned bits as \[\[0, 0, .*, a list: expected an array of uint8$'),
    (np.zeros((50, 324)), TypeError, r'^decoders\["mine"\] returned bits as an array of float64: expected uint8$'),
    (np.zeros((50, 323), np.uint8), ValueError, r'^decoders\["mine"\] returned bits as an array of shape \(50, 323\): expected \(50, 324\)$'),
    (np.full((50, 324), 2, np.uint8), ValueError, r'^decoders\["mine"\] returned bits with the value 2: expected 0 and 1$'),
    ((np.zeros((50, 324), np.uint8), np.zeros(50)), TypeError, r'^decoders\["mine"\] returned iterations as an array of float64: expected int32$'),
    ((np.zeros((50, 324), np.uint8), np.full(50, -1, np.int32)), ValueError, r'^decoders\["mine"\] returned iterations from -1 to -1: expected 0 to 65535$'),
])
def test_what_a_decoder_gives_is_checked(result, error, match):
    with pytest.raises(error, match=match) as caught:
        wb.sweep(with_decoder(LDPC, "mine"), decoders={"mine": lambda llr: result}, batch=50)
    assert "\n" not in str(caught.value)


def test_what_a_channel_gives_is_checked():
    for result, error, match in (
            (lambda f: rayleigh(f).astype(np.complex128), TypeError, r'^channels\["mine"\] returned an array of complex128: expected complex64$'),
            (lambda f: rayleigh(f)[:, 0], ValueError, r'^channels\["mine"\] returned an array of shape \(50, 2, 2\): expected \(50, 24, 2, 2\)$'),
            (lambda f: 1.0, TypeError, r'^channels\["mine"\] returned 1.0, a float: expected an array of complex64$')):
        with pytest.raises(error, match=match):
            wb.sweep(with_channel(MIMO, type="mine"), channels={"mine": result}, batch=50)


def test_a_batch_that_no_memory_has_room_for_is_refused():
    massive = {**MIMO, "code": {"type": "none"}, "mimo": {}, "massive": {"solver": "zf", "antennas": 256, "users": 64, "subcarriers": 1200}}
    with pytest.raises(ValueError, match=r"^batch = 1024 is not allowed: expected at most \d+: a frame takes \d+ bytes$"):
        wb.sweep(with_channel(massive, type="mine"), channels={"mine": rayleigh})


def test_an_array_of_any_strides_is_taken():
    expected = wb.sweep(with_channel(MIMO, type="mine"), channels={"mine": rayleigh}, batch=50, max_frames=50)
    turned = wb.sweep(with_channel(MIMO, type="mine"), channels={"mine": lambda f: np.asfortranarray(rayleigh(f))}, batch=50, max_frames=50)
    assert counts(turned) == counts(expected)


def test_what_a_function_raises_comes_out_and_points_stay(tmp_path):
    class Mine(Exception):
        pass

    left = [6]

    def fails(llr):
        left[0] -= 1
        if left[0] < 0:
            raise Mine("at the second point")
        return signs(llr)

    path = tmp_path / "r.json"
    with pytest.raises(Mine, match="at the second point"):
        wb.sweep(with_decoder(LDPC, "mine"), decoders={"mine": fails}, batch=60, output=path)
    held = wb.SweepResult.load(path)
    assert held["frames"] == [300] and not held.complete
    whole = wb.sweep(resume=path, decoders={"mine": signs}, batch=60)
    assert counts(whole) == counts(wb.sweep(with_decoder(LDPC, "signs"), decoders={"signs": signs}, batch=60))
    with pytest.raises(KeyboardInterrupt):
        wb.sweep(with_decoder(LDPC, "mine"), decoders={"mine": lambda llr: (_ for _ in ()).throw(KeyboardInterrupt)})


@pytest.mark.parametrize("call, error, match", [
    (dict(decoders=[signs]), TypeError, "^decoders is a list: expected a dictionary of names and functions$"),
    (dict(decoders={"mine": 3}), TypeError, r'^decoders\["mine"\] is a int: expected a function$'),
    (dict(decoders={"a b": signs}), ValueError, "^decoders = 'a b' is not allowed: expected names of letters"),
    (dict(decoders={"built-in": signs}), ValueError, "^decoders = 'built-in' is not allowed: expected names"),
    (dict(channels={"rayleigh": rayleigh}), ValueError, '^channels = "rayleigh" is not allowed: expected the name of a new kind$'),
    (dict(decoders={"a": signs, "A": signs}), ValueError, '^decoders = "A" is not allowed: expected the name of a new kind$'),
    (dict(decoders={"mine": signs}, batch=0), ValueError, "^batch = 0 is not allowed: expected 1 to 1048576$"),
    (dict(decoders={"mine": signs}, version=1), ValueError, "^version = 1 is not allowed: expected text of at most 200 characters, or None$"),
    (dict(decoders={"mine": signs}, device=["cpu", "cpu"]), ValueError, r"^device = \['cpu', 'cpu'\] is not allowed: expected one device with functions$"),
    (dict(detectors={"mmse": ml}), ValueError, '^detectors = "mmse" is not allowed: expected the name of a new kind$'),
    (dict(), ValueError, "^scenario: unknown key decoder.type: did you mean decoder.algorithm"),
])
def test_clear_errors(call, error, match):
    with pytest.raises(error, match=match) as caught:
        wb.sweep(with_decoder(LDPC, "mine"), **call)
    assert "\n" not in str(caught.value)


def test_names_are_those_of_a_call():
    """Not of later ones, of other threads or of sweeps in a function."""
    both, inner = threading.Barrier(2, timeout=60), []
    results = {}

    def run(name, function):
        def mine(llr):
            both.wait()
            return function(llr)
        results[name] = wb.sweep(with_decoder(LDPC, "mine"), decoders={"mine": mine}, batch=100)

    threads = [threading.Thread(target=run, args=(name, f)) for name, f in (("signs", signs), ("zeros", lambda llr: signs(llr) & 0))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts(results["signs"]) == counts(wb.sweep(with_decoder(LDPC, "signs"), decoders={"signs": signs}, batch=100))
    assert results["zeros"]["frame_errors"] == [300, 300]
    with pytest.raises(ValueError, match="unknown key decoder.type"):
        wb.sweep(with_decoder(LDPC, "mine"))

    def sweeps(llr):
        inner.append(counts(wb.sweep(LDPC, max_frames=20)))
        with pytest.raises(ValueError, match="unknown key decoder.type"):
            wb.sweep(with_decoder(LDPC, "sweeps"))
        return signs(llr)

    outer = wb.sweep(with_decoder(LDPC, "sweeps"), decoders={"sweeps": sweeps}, batch=300)
    assert counts(outer) == counts(wb.sweep(with_decoder(LDPC, "signs"), decoders={"signs": signs}, batch=300))
    assert inner == [counts(wb.sweep(LDPC, max_frames=20))] * 2


def test_bits_may_be_true_and_false_and_a_parameter_with_a_default_is_no_prior():
    named = with_decoder(LDPC, "mine")
    flags = wb.sweep(named, decoders={"mine": lambda llr: llr[:, :324] < 0})
    assert counts(flags) == counts(wb.sweep(named, decoders={"mine": signs}))
    seen = []

    def scaled(h, y, n0, scale=2.0):
        seen.append(scale)
        return np.zeros((len(y), 4), np.float32)

    wb.sweep({**MIMO, "detector": {"type": "scaled"}}, detectors={"scaled": scaled}, max_frames=10)
    assert set(seen) == {2.0}


def test_functions_of_torch():
    torch = pytest.importorskip("torch")
    result = wb.sweep(with_decoder(LDPC, "mine"), decoders={"mine": lambda llr: (torch.from_numpy(llr)[:, :324] < 0).to(torch.uint8)})
    assert counts(result) == counts(wb.sweep(with_decoder(LDPC, "mine"), decoders={"mine": signs}))


def test_the_command_refuses_a_result_with_functions(tmp_path):
    path = tmp_path / "r.json"
    wb.sweep(with_decoder(LDPC, "signs"), decoders={"signs": signs}, max_frames=10, output=path)
    broken = json.loads(path.read_text())
    broken["functions"]["batch"] = 0
    path.write_text(json.dumps(broken))
    with pytest.raises(RuntimeError, match="functions.batch = 0 is not allowed"):
        wb.SweepResult.load(path)


def test_the_examples_run():
    for thing in (wb.sweep, wb.Frames):
        tests = doctest.DocTestFinder(recurse=False).find(thing, thing.__name__, module=False, globs={"wb": wb, "np": np})
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        assert sum(runner.run(test).attempted for test in tests) > 1 and runner.failures == 0
