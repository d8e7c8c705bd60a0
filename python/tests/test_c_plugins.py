"""plugins/matlab under Octave, and plugins/julia's structures against the C header."""
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

import warpband as wb

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def octave(tmp_path_factory):
    """Runs lines of Octave with the gateway, built against the library that stands in this build."""
    library = pathlib.Path(wb.__file__).resolve().parents[2] / "libwarpband_c.so"
    for needed in ("octave-cli", "mkoctfile"):
        if shutil.which(needed) is None:
            pytest.skip(f"{needed} of Octave is not there")
    if not library.exists():
        pytest.skip("libwarpband_c.so is not in this build")
    home = tmp_path_factory.mktemp("octave")
    for part in ("matlab", "detected"):
        shutil.copytree(ROOT / "plugins" / part, home / part)

    def run(*lines):
        script = home / "script.m"
        script.write_text("\n".join([f"addpath('{home / 'matlab'}');", *lines]))
        done = subprocess.run(["octave-cli", "-q", "--no-init-file", script], cwd=home, capture_output=True, text=True, timeout=600,
                              env={**os.environ, "HOME": str(home)})
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    run(f"build('{ROOT}', '{library.parent}');")
    run.home = home
    return run


def test_detector_of_the_example(octave):
    assert "0 of 320 LLRs differ" in octave(f"run('{octave.home}/matlab/example/compare_detector.m');")


def test_stored_llrs():
    """The LLRs that both examples compare with are what the package gives today."""
    rows = np.loadtxt(ROOT / "plugins" / "detected" / "nway_4x4_16qam.csv", np.float32, delimiter=",")
    channel, received = rows[:, :32].copy().view(np.complex64).reshape(-1, 4, 4), rows[:, 32:40].copy().view(np.complex64)
    llr = wb.NWay(streams=4, rx_antennas=4, qam=16, ways=4)(channel, received, rows[:, 40])
    assert len(rows) == 20 and np.array_equal(llr, rows[:, 41:])


def test_ldpc(octave, rng):
    """Against the package: coded bits of two redundancy versions, and noisy LLRs of all three number types."""
    settings = {"base_graph": 2, "k": 480, "lifting_size": 48, "sent_bits": 1200, "modulation_order": 4}  # no filler
    match = wb.NrRateMatcher(**settings)
    bits = rng.integers(0, 2, (6, 480), dtype=np.uint8)
    codeword = wb.LdpcEncoder(code=match.code)(bits)
    coded = [match(codeword, rv=rv) for rv in (0, 2)]
    steps = np.clip(np.rint(8 * (1 - 2.0 * coded[0]) + rng.normal(0, 5, coded[0].shape)), -127, 127)
    for name, values in (("bits", bits), ("first", coded[0]), ("third", coded[1]), ("steps", steps)):
        np.savetxt(octave.home / f"{name}.csv", values.T, "%d", ",")
    read = [f"{name} = dlmread('{octave.home}/{name}.csv');" for name in ("bits", "first", "third", "steps")]
    of_block = "'base_graph', 2, 'lifting_size', 48, 'modulation_order', 4"
    out = octave(*read, f"sent = {{warpband.ldpc_encode(bits, 1200, {of_block}), warpband.ldpc_encode(bits, 1200, {of_block}, 'rv', 2)}};",
                 "printf('%d', isequal(sent, {uint8(first), uint8(third)}));",
                 "for llr = {int8(steps), int16(steps), single(steps) / 4}",
                 f"  [decoded, status, iterations] = warpband.ldpc_decode(llr{{1}}, {of_block}, 'llr_decimals', 2, 'iterations', 20);",
                 "  printf('%d', isequal(decoded, uint8(bits)) && ~any(status) && all(iterations >= 1));", "end",
                 f"[~, status] = warpband.ldpc_decode(single(randn(1200, 3)), {of_block}); printf('%d', all(status == 2));")
    assert out == "11111", out


def test_rate_example(octave):
    assert "0 of 540672 bits wrong" in octave(f"run('{octave.home}/matlab/example/ldpc_rate.m');")


def test_turbo(octave, rng):
    bits = rng.integers(0, 2, (5, 104), dtype=np.uint8)
    llr = 4 * (1 - 2.0 * wb.TurboEncoder(k=104)(bits)) + rng.normal(0, 2.5, (5, 324))
    for name, values in (("bits", bits), ("llr", llr)):
        np.savetxt(octave.home / f"{name}.csv", values.T, "%.9g", ",")
    out = octave(*(f"{name} = dlmread('{octave.home}/{name}.csv');" for name in ("bits", "llr")),
                 "[decoded, status, iterations] = warpband.turbo_decode(llr, 104, 'streams', 1);",
                 "printf('%d', isequal(decoded, uint8(bits)) && ~any(status) && all(iterations >= 1));")
    assert out == "1", out


def test_octave_refusals(octave):
    calls = {"warpband.detect('best', eye(2), [1; 1], 0.1, 4)": "best", "warpband.detect('mmse', eye(2), [1; 1], [1 1], 4)": "noise_var",
             "warpband.detect('mmse', eye(2), [1; 1], 0.1, 5)": "qam", "warpband.ldpc_decode(ones(10, 1), 'ways', 4)": "no setting ways",
             "warpband.ldpc_decode(ones(10, 1), 'rv', 4)": "rv = 4", "warpband.ldpc_decode(ones(10, 1), 'iterations', 1.5)": "iterations = 1.5",
             "warpband.ldpc_decode(uint8(ones(10, 1)))": "int8, int16 or single", "warpband.turbo_decode(ones(10, 1), 40)": "expected 192",
             "warpband.ldpc_encode(ones(5, 1), 10)": "expected 8448", "warpband.ldpc_encode(2 * ones(8448, 1), 9000)": "expected 0 or 1",
             "warpband.ldpc_decode(ones(10, 1), 'device', 'tpu')": "tpu", "warpband.ldpc_decode(ones(10, 1), 'lifting_size', 17)": "17"}
    out = octave(*(f"try, {call}; disp('taken'), catch e, disp(e.message), end" for call in calls))
    for (call, text), line in zip(calls.items(), out.splitlines(), strict=True):
        assert text in line, (call, line)


JULIA = {"uint64_t": "UInt64", "uint32_t": "UInt32", "uint16_t": "UInt16", "size_t": "Csize_t", "const void*": "Ptr{Cvoid}", "void*": "Ptr{Cvoid}",
         "const int8_t*": "Ptr{Int8}", "int8_t*": "Ptr{Int8}", "const uint8_t*": "Ptr{UInt8}", "uint8_t*": "Ptr{UInt8}"}


@pytest.mark.parametrize("name", ["ldpc_decode", "ldpc_encode", "turbo_decode", "done"])
def test_structures_of_julia(name):
    """Julia is not run here: its structures have the header's fields, and its functions are called with the header's arguments."""
    header, julia = ((ROOT / path).read_text() for path in ("warpband/c/warpband.h", "plugins/julia/Warpband.jl"))
    body = re.sub(r"/\*.*?\*/", "", re.search(rf"typedef struct wb_{name} \{{(.*?)\}}", header, re.S)[1], flags=re.S)
    fields = [(field, JULIA[kind]) for kind, field in re.findall(r"([\w ]+\*?) (\w+);", re.sub(r"\s+", " ", body).replace("; ", ";\n").strip() + "\n")]
    title = "".join(part.title() for part in name.split("_"))
    assert fields == re.findall(r"(\w+)::([\w{}]+)", re.search(rf"struct {title}\n(.*?)\nend", julia, re.S)[1])
    assert len(fields) >= 5


def test_calls_of_julia():
    header, julia = ((ROOT / path).read_text() for path in ("warpband/c/warpband.h", "plugins/julia/Warpband.jl"))
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    calls = re.findall(r"ccall\(\(:(wb_\w+), library\), \w+, \(([^()]*)\)", julia)
    assert len(calls) >= 13
    for function, types in calls:
        arguments = re.search(rf"\b{function}\(([^)]*)\)", header)[1]
        count = 0 if arguments == "void" else arguments.count(",") + 1
        assert len([t for t in types.split(",") if t.strip()]) == count, function
