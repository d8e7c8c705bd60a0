"""The blocks and flowgraphs of examples/gnuradio, where GNU Radio is installed."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import pytest

import warpband as wb

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples" / "gnuradio"


@pytest.fixture(scope="module")
def gnuradio(tmp_path_factory):
    """Runs programs with GNU Radio's Python: the system's, where a virtual environment does not see it."""
    home = tmp_path_factory.mktemp("gnuradio")
    (home / "package").mkdir()
    (home / "package" / "warpband").symlink_to(pathlib.Path(wb.__file__).parent)  # and nothing else of this environment
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": f"{home / 'package'}{os.pathsep}{EXAMPLES}",
                   "GRC_BLOCKS_PATH": str(EXAMPLES)}
    environment.pop("XDG_CONFIG_HOME", None), environment.pop("XDG_CACHE_HOME", None)
    reasons = []
    for python in dict.fromkeys([sys.executable, "/usr/bin/python3"]):
        if not os.path.exists(python):
            continue

        def run(*command, python=python):
            return subprocess.run([python, *map(str, command)], cwd=home, env=environment, capture_output=True, text=True, timeout=600)

        for module in ("gnuradio.gr", "warpband"):
            tried = run("-c", f"import {module}")
            if tried.returncode != 0:
                reasons.append(f"{python}: {(tried.stderr.strip().splitlines() or ['it ended'])[-1]}")
                break
        else:
            return run
    pytest.skip("GNU Radio 3.10 and the package are not there in one Python: " + "; ".join(reasons))


def test_blocks(gnuradio):
    done = gnuradio(ROOT / "python" / "tests" / "gnuradio_blocks.py")
    assert done.returncode == 0 and "blocks are right" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name, quiet, noisy", [("turbo_awgn", ("ebn0_db", "1.5"), ("ebn0_db", "-3")),
                                                ("mimo_ldpc", ("noise_var", "0.16"), ("noise_var", "1.5"))])
def test_flowgraphs(gnuradio, tmp_path, name, quiet, noisy):
    compiler = shutil.which("grcc")
    if compiler is None:
        pytest.skip("GNU Radio Companion's compiler grcc is not there")
    done = gnuradio(compiler, "-o", tmp_path, EXAMPLES / f"{name}.grc")
    program = tmp_path / f"{name}.py"
    assert program.exists(), done.stdout + done.stderr
    text, variable = program.read_text(), "self.{0} = {0} = {1}\n"
    assert variable.format(*quiet) in text
    for setting in (quiet, noisy):
        program.write_text(text.replace(variable.format(*quiet), variable.format(*setting)))
        done = gnuradio(program)
        assert done.returncode == 0, done.stdout + done.stderr
        wrong, bits = map(int, re.search(r"(\d+) wrong of (\d+) bits", done.stdout).groups())
        assert bits > 100000 and (wrong == 0) == (setting == quiet), done.stdout


FLOWGRAPH_OVER_ZEROMQ = """
import sys
import time
import numpy as np
from gnuradio import blocks, gr, zeromq
import warpband as wb

codewords = 50
llr = np.random.default_rng(1).normal(0.5, 1, (codewords, 132)).astype(np.float32)
top, got = gr.top_block(), blocks.vector_sink_b(40)
top.connect(blocks.vector_source_f(llr.ravel().tolist(), False, 132), zeromq.push_sink(gr.sizeof_float, 132, sys.argv[1]))
top.connect(zeromq.pull_source(gr.sizeof_char, 40, sys.argv[2]), got)
top.start()
while len(got.data()) < 40 * codewords:  # the source has no end
    time.sleep(0.01)
top.stop()
top.wait()
assert np.array_equal(np.array(got.data(), np.uint8).reshape(-1, 40), wb.TurboDecoder(k=40)(llr))
print("bits are right")
"""


def test_zeromq(gnuradio):
    """GNU Radio's ZeroMQ blocks and the server of examples/zeromq."""
    pytest.importorskip("zmq", reason="pyzmq is not installed")
    with tempfile.TemporaryDirectory(prefix="wb") as folder:  # whose name is short enough for a socket
        llrs, bits = f"ipc://{folder}/llrs", f"ipc://{folder}/bits"
        server = subprocess.Popen([sys.executable, ROOT / "examples" / "zeromq" / "decode_server.py", "--k", "40", "--connect", "--llrs", llrs,
                                   "--bits", bits], env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
                                  stdout=subprocess.PIPE, text=True)
        try:
            assert server.stdout.readline() == f"LLRs to {llrs}, bits from {bits}\n"
            done = gnuradio("-c", FLOWGRAPH_OVER_ZEROMQ, llrs, bits)
        finally:
            server.kill()
            server.communicate()
    assert done.returncode == 0 and "bits are right" in done.stdout, done.stdout + done.stderr
