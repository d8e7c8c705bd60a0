"""Functions of a sweep on a CUDA device: they get tensors of torch. Skipped without a device or without torch."""
import subprocess
import sys

import numpy as np
import pytest

import warpband as wb

torch = pytest.importorskip("torch")
if not wb.has_cuda:
    pytest.skip("this build of warpband has no CUDA", allow_module_level=True)
if not wb.cuda_devices() or not torch.cuda.is_available():
    pytest.skip("there is no CUDA device", allow_module_level=True)

DEVICE = "cuda:0"
LDPC = {"code": {"type": "wifi-ldpc", "n": 648}, "modem": {"modulation": "qpsk"}, "sweep": {"ebn0_db": [3.0, 5.0]},
        "stop": {"frame_errors": 0, "max_frames": 300}}
MIMO = {"code": {"type": "none", "k": 96}, "modem": {"modulation": "qpsk"}, "mimo": {"streams": 2, "rx_antennas": 2},
        "channel": {"type": "rayleigh"}, "sweep": {"snr_db": [8.0]}, "stop": {"frame_errors": 0, "max_frames": 2000}}
MINE = {"decoder": {"type": "mine"}}
COUNTS = ("frames", "bit_errors", "frame_errors", "erased_frames")
QPSK = torch.tensor([[1., 1], [1, -1], [-1, 1], [-1, -1]])  # signs of the two bits, 1 for 0
HYPOTHESES = torch.cat([QPSK.repeat_interleave(4, 0), QPSK.repeat(4, 1)], 1)  # of two streams


def counts(result):
    return [[row[name] for name in (*COUNTS, "erased_uses") if name in row] for row in result]


def signs(llr):
    assert llr.is_cuda and llr.dtype == torch.float32
    return (llr[:, :324] < 0).to(torch.uint8)


def rayleigh(frames):
    generator = torch.Generator("cuda").manual_seed(frames.seed % 2 ** 63)
    return 0.5 ** 0.5 * torch.view_as_complex(torch.randn((*frames.shape, 2), device="cuda", generator=generator))


def metrics(h, y, n0):
    """-|y - H s|^2 / N0 of all s."""
    signs_of_s = HYPOTHESES.to(y.device)
    vectors = torch.complex(signs_of_s[:, 0::2], signs_of_s[:, 1::2]) / 2 ** 0.5
    h = h.repeat_interleave(len(y) // len(h), 0)
    apart = y[:, None] - torch.einsum("urs,vs->uvr", h, vectors)
    return -(apart.real ** 2 + apart.imag ** 2).sum(-1) / n0[:, None]


def max_log(metric):
    zero = HYPOTHESES.to(metric.device) > 0
    return torch.stack([metric[:, zero[:, b]].amax(1) - metric[:, ~zero[:, b]].amax(1) for b in range(4)], 1)


def ml(h, y, n0):
    return max_log(metrics(h, y, n0))


def ml_with_prior(h, y, n0, prior):
    return max_log(metrics(h, y, n0) + prior @ HYPOTHESES.to(y.device).clamp(min=0).T)


@pytest.mark.parametrize("first", ["torch", "warpband"])
def test_torch_and_the_package_share_a_process(first):
    """In either order of import, with and without work of torch before."""
    code = "import torch\nimport warpband as wb\n" if first == "torch" else "import warpband as wb\nwb.cuda()\nimport torch\n"
    code += f"""
wb.sweep({LDPC}, device="cuda:0")
torch.zeros(3, device="cuda").sum().item()
wb.sweep({ {**LDPC, **MINE} }, decoders={{"mine": lambda llr: (llr[:, :324] < 0).to(torch.uint8)}}, device="cuda:0", batch=64)
"""
    done = subprocess.run([sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_a_decoder_counts_what_it_does_on_a_cpu():
    on_cpu = wb.sweep({**LDPC, **MINE}, decoders={"mine": lambda llr: (llr[:, :324] < 0).astype(np.uint8)}, batch=128)
    result = wb.sweep({**LDPC, **MINE}, decoders={"mine": signs}, batch=128, device=DEVICE)
    assert counts(result) == counts(on_cpu) and result["bit_errors"][0] > 100


def test_a_decoder_of_the_package_counts_what_the_built_in_one_does():
    decoder = wb.LdpcDecoder(code=wb.wifi_ldpc(n=648, rate="1/2"), iterations=7)
    scenario = {**LDPC, "sweep": {"ebn0_db": [1.0, 2.0]}}
    built_in = wb.sweep({**scenario, "decoder": {"iterations": 7}}, device=DEVICE)
    result = wb.sweep({**scenario, **MINE}, decoders={"mine": lambda llr: decoder(llr, outputs=("bits", "iterations"))}, batch=200, device=DEVICE)
    assert counts(result) == counts(built_in) and result["iterations_sum"] == built_in["iterations_sum"]
    assert built_in["frame_errors"][0] > 0


@pytest.mark.parametrize("fading", ["fast", "block"])
def test_an_ml_detector_counts_what_the_built_in_one_does(fading):
    scenario = {**MIMO, "channel": {"type": "rayleigh", "fading": fading}}
    built_in = wb.sweep({**scenario, "detector": {"type": "ml"}}, device=DEVICE)
    result = wb.sweep({**scenario, "detector": {"type": "mine"}}, detectors={"mine": ml}, batch=500, device=DEVICE)
    assert counts(result) == counts(built_in) and built_in["bit_errors"][0] > 100


def test_a_detector_with_a_prior_serves_a_loop():
    coded = {"code": {"type": "conv", "k": 200, "generators": ["5", "7"]}, "decoder": {"algorithm": "max-log-map"}, "modem": {"modulation": "qpsk"},
             "mimo": {"streams": 2, "rx_antennas": 2}, "channel": {"type": "rayleigh"}, "receiver": {"outer": 3},
             "sweep": {"ebn0_db": [3.0]}, "stop": {"frame_errors": 0, "max_frames": 400}}
    built_in, = wb.sweep({**coded, "detector": {"type": "ml"}}, device=DEVICE)
    counts, = wb.sweep({**coded, "detector": {"type": "mine"}}, detectors={"mine": ml_with_prior}, batch=400, device=DEVICE)
    for name in ("bit_errors_1", "bit_errors_2", "bit_errors_3"):
        assert abs(counts[name] - built_in[name]) <= 0.01 * built_in[name]
    assert built_in["bit_errors_1"] > 1.05 * built_in["bit_errors_3"] > 100


@pytest.mark.parametrize("fading", ["fast", "block"])
def test_a_rayleigh_channel_errs_as_the_built_in_one(fading):
    built_in, = wb.sweep({**MIMO, "channel": {"type": "rayleigh", "fading": fading}}, device=DEVICE)
    row, = wb.sweep({**MIMO, "channel": {"type": "mine", "fading": fading}}, channels={"mine": rayleigh}, batch=500, device=DEVICE)
    assert row["fer_low"] < built_in["fer_high"] and built_in["fer_low"] < row["fer_high"] and row["fer_high"] - row["fer_low"] < 0.05


def test_work_on_the_current_stream_is_waited_for():
    """The sum of a long product stands before the bits on torch's stream; its value changes none of them."""
    large = torch.ones((4096, 4096), device="cuda")

    def slow(llr):
        extra = llr
        for _ in range(4):
            extra = extra + 0 * (large @ large)[0, 0]
        return signs(extra)

    expected = wb.sweep({**LDPC, **MINE}, decoders={"mine": signs}, batch=100, device=DEVICE)
    assert counts(wb.sweep({**LDPC, **MINE}, decoders={"mine": slow}, batch=100, device=DEVICE)) == counts(expected)
    with torch.cuda.stream(torch.cuda.Stream()):
        assert counts(wb.sweep({**LDPC, **MINE}, decoders={"mine": slow}, batch=100, device=DEVICE)) == counts(expected)


def test_nan_erases_uses():
    def with_holes(h, y, n0):
        llr = ml(h, y, n0)
        llr[::24] = float("nan")
        return llr

    row, = wb.sweep({**MIMO, "detector": {"type": "mine"}}, detectors={"mine": with_holes}, batch=100, device=DEVICE)
    assert row["erased_uses"] == 2000 and row["frame_errors"] > 1900


def test_what_a_function_gives_is_checked():
    for result, error, match in ((lambda llr: torch.zeros((50, 324), device="cuda"), TypeError, "returned bits as an array of float32: expected uint8$"),
                                 (lambda llr: signs(llr).T, ValueError, r"returned bits as an array of shape \(324, 50\): expected \(50, 324\)$"),
                                 (lambda llr: 2 + signs(llr), ValueError, "returned bits with the value 3: expected 0 and 1$")):
        with pytest.raises(error, match=match):
            wb.sweep({**LDPC, **MINE}, decoders={"mine": result}, batch=50, device=DEVICE)


def test_arrays_of_host_memory_and_of_any_strides_are_taken():
    expected = wb.sweep({**LDPC, **MINE}, decoders={"mine": signs}, batch=100, device=DEVICE)
    for f in (lambda llr: signs(llr).cpu(), lambda llr: signs(llr).cpu().numpy(), lambda llr: signs(llr).T.contiguous().T):
        assert counts(wb.sweep({**LDPC, **MINE}, decoders={"mine": f}, batch=100, device=DEVICE)) == counts(expected)


def test_a_run_is_resumed(tmp_path):
    path, call = tmp_path / "r.json", {"decoders": {"mine": signs}, "batch": 64, "device": DEVICE}
    at_once = wb.sweep({**LDPC, **MINE}, **call)
    wb.sweep({**LDPC, **MINE}, **call, max_frames=70, output=path)
    assert counts(wb.sweep(resume=path, **call, max_frames=300)) == counts(at_once)
