"""The blocks and flowgraphs of plugins/gnuradio, where GNU Radio is installed."""
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
PLUGIN = ROOT / "plugins" / "gnuradio"
EXAMPLES = PLUGIN / "examples"


@pytest.fixture(scope="module")
def gnuradio(tmp_path_factory):
    """Runs programs with GNU Radio's Python: the system's, where a virtual environment does not see it."""
    home = tmp_path_factory.mktemp("gnuradio")
    (home / "package").mkdir()
    (home / "package" / "warpband").symlink_to(pathlib.Path(wb.__file__).parent)  # and nothing else of this environment
    environment = {**os.environ, "HOME": str(home), "PYTHONPATH": f"{home / 'package'}{os.pathsep}{PLUGIN}",
                   "GRC_BLOCKS_PATH": str(PLUGIN / "gr_warpband" / "grc")}
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
                                                ("mimo_ldpc", ("noise_var", "0.16"), ("noise_var", "1.5")),
                                                ("nr_link", ("esn0_db", "9.0"), ("esn0_db", "5.0"))])
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
        wrong, bits = map(int, re.search(r"(\d+)(?: wrong)? of (\d+) bits", done.stdout).groups())
        assert bits > 100000 and (wrong == 0) == (setting == quiet), done.stdout


@pytest.mark.parametrize("llrs", [[], ["--int8"]])
def test_link(gnuradio, llrs):
    done = gnuradio(EXAMPLES / "nr_link.py", "--slots", 60, "--esn0-db", 6, 10, *llrs)
    assert done.returncode == 0, done.stdout + done.stderr
    wrong = [int(number) for number in re.findall(r"(\d+) of 60 blocks wrong", done.stdout)]
    assert wrong == [60, 0], done.stdout


def test_companion_makes_every_block(gnuradio, tmp_path):
    """GNU Radio Companion generates each block, for streams and for PDUs, and the program that it writes runs."""
    compiler = shutil.which("grcc")
    if compiler is None:
        pytest.skip("GNU Radio Companion's compiler grcc is not there")
    header, _, _ = (EXAMPLES / "turbo_awgn.grc").read_text().partition("blocks:\n")
    names = sorted(path.name[:-len(".block.yml")] for path in (PLUGIN / "gr_warpband" / "grc").glob("*.block.yml"))
    pdus = [name for name in names if name not in ("warpband_nway_detector", "warpband_block_errors")]
    assert len(names) == 16
    blocks = "".join(f"- name: {name}_{i}\n  id: {name}\n  parameters: {{ports: pdu}}\n  states: {{coordinate: [8, 8], rotation: 0, state: enabled}}\n"
                     for i, name in enumerate(pdus))
    graph = tmp_path / "all.grc"
    graph.write_text(header.replace("turbo_awgn", "all_pdus") + "blocks:\n" + blocks + "\nconnections: []\n\nmetadata:\n  file_format: 1\n")
    done = gnuradio(compiler, "-o", tmp_path, graph)
    program = tmp_path / "all_pdus.py"
    assert program.exists(), done.stdout + done.stderr
    text = program.read_text()
    for name in pdus:
        assert f"gr_warpband.{name[len('warpband_'):]}_pdu(" in text, name
    done = gnuradio("-c", f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import all_pdus; all_pdus.all_pdus(); print('made')")
    assert done.returncode == 0 and "made" in done.stdout, done.stdout + done.stderr


def test_install(gnuradio, tmp_path):
    """pip installs the package, with the descriptions of its blocks."""
    source = shutil.copytree(PLUGIN, tmp_path / "source")  # pip builds in it
    for module in ("pip", "setuptools", "wheel"):
        if gnuradio("-c", f"import {module}").returncode != 0:
            pytest.skip(f"the Python that has GNU Radio has no {module}")
    done = gnuradio("-m", "pip", "install", "--no-deps", "--no-build-isolation", "--no-index", "--target", tmp_path / "site", source)
    assert done.returncode == 0, done.stdout + done.stderr
    done = gnuradio("-c", f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r}); import runpy; runpy.run_module('gr_warpband', run_name='__main__')")
    folder = pathlib.Path(done.stdout.strip())
    assert folder == tmp_path / "site" / "gr_warpband" / "grc", done.stdout + done.stderr
    assert {path.name for path in folder.iterdir()} == {path.name for path in (PLUGIN / "gr_warpband" / "grc").iterdir()}


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
