"""The decoder of examples/zeromq, which others reach over ZeroMQ."""
import os
import pathlib
import re
import signal
import subprocess
import sys

import numpy as np
import pytest

import warpband as wb

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples" / "zeromq"
zmq = pytest.importorskip("zmq", reason="pyzmq is not installed")


def started(script, *arguments):
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.Popen([sys.executable, EXAMPLES / script, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            text=True, env={**os.environ, "PYTHONPATH": path})


@pytest.fixture
def server():
    """A running server for k = 40, and its two addresses. Ends it, and holds that it says how much it decoded."""
    process = started("decode_server.py", "--k", 40, "--llrs", "tcp://127.0.0.1:*", "--bits", "tcp://127.0.0.1:*")
    line = process.stdout.readline()
    try:
        addresses = re.fullmatch(r"LLRs to (\S+), bits from (\S+)\n", line)
        assert addresses, line + process.stderr.read()
        yield process, *addresses.groups()
        process.send_signal(signal.SIGTERM)
        assert "codewords decoded" in process.communicate(timeout=120)[0] and process.returncode == 0
    finally:
        process.kill()
        process.communicate()


def test_client(server):
    _, llrs, bits = server
    where = ["--k", 40, "--llrs", llrs, "--bits", bits, "--codewords", 10, "--timeout-s", 120]
    for messages, ebn0_db, right in [(30, (8, 8), True), (3, (-8, -8), False)]:
        client = started("decode_client.py", *where, "--messages", messages, "--ebn0-db", *ebn0_db)
        out, errors = client.communicate(timeout=300)
        assert client.returncode == 0, errors
        wrong, total, received = map(int, re.search(r"(\d+) wrong of (\d+) bits in (\d+) messages", out).groups())
        assert (total, received) == (messages * 400, messages) and (wrong == 0) == right, out


def test_messages(server, rng):
    """Answers are those of the decoder, in order; what is no codeword gets an empty answer, and the next message a right one."""
    _, llrs, bits = server
    decode = wb.TurboDecoder(k=40)
    sent = [rng.normal(0, 2, (n, 132)).astype(np.float32) for n in (1, 7, 2)]
    messages = [sent[0].tobytes(), sent[1].tobytes(), b"", b"LLRs", sent[0].tobytes()[:-4], sent[2].tobytes()]
    with zmq.Context() as context, context.socket(zmq.PUSH) as out, context.socket(zmq.PULL) as back:
        back.setsockopt(zmq.RCVTIMEO, 120000)
        out.connect(llrs)
        back.connect(bits)
        for message in messages:
            out.send(message)
        answers = [np.frombuffer(back.recv(), np.uint8) for _ in messages]
        out.setsockopt(zmq.LINGER, 0)
    assert [a.size for a in answers] == [40, 280, 0, 0, 0, 80]
    for given, answer in zip(sent, (answers[0], answers[1], answers[5])):
        assert np.array_equal(answer.reshape(-1, 40), decode(given))


def test_no_server():
    client = started("decode_client.py", "--k", 40, "--llrs", "tcp://127.0.0.1:9", "--bits", "tcp://127.0.0.1:9", "--timeout-s", 0.2)
    out, errors = client.communicate(timeout=120)
    assert client.returncode == 1 and "no server takes LLRs" in errors, out + errors
