"""The package as a whole: import, types, documentation, torch."""
import inspect
import os
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import warpband as wb

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(wb.__file__).parent


def python(code):
    """A new interpreter with this one's path."""
    path = os.pathsep.join(p for p in sys.path if p)
    return subprocess.run([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True,
                          check=True).stdout


def test_import_reads_nothing_that_is_not_needed():
    """What it takes is counted in modules: seconds are those of the machine and of what runs beside."""
    imported_modules = python("import sys, numpy; before = set(sys.modules); import warpband; print(*sorted(set(sys.modules) - before))").split()
    assert {name.partition(".")[0] for name in imported_modules} <= {"warpband", "_xxsubinterpreters", *sys.stdlib_module_names}
    assert len(imported_modules) < 90, imported_modules


def test_a_subinterpreter_is_refused_and_leaves_the_main_one_usable():
    code = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
import warpband as wb
other = interpreters.create()
program = f'''
import sys
sys.path = {sys.path!r}
try:
    import warpband
except ImportError as error:
    print(error, flush=True)
'''
(interpreters.exec if hasattr(interpreters, "exec") else interpreters.run_string)(other, program)
print(wb.MMSE(streams=2, rx_antennas=2, qam=4).bits_per_use, flush=True)
"""
    assert python(code).splitlines() == ["warpband does not work in a subinterpreter: import it in the main one, or use a process", "4"]


def test_types_are_there():
    assert (PACKAGE / "py.typed").exists()
    stub = (PACKAGE / "_core.pyi").read_text()
    for name in ("Detector", "TurboDecoder", "LdpcDecoder", "BcjrDecoder", "LteTransportDecoder", "MassiveUplink",
                 "StbcDecoder", "TdlChannel", "CdlChannel", "QamMapper", "class Stream", "def sweep"):
        assert name in stub, name


def test_everything_is_documented_and_named():
    for name in wb.__all__:
        thing = getattr(wb, name)
        if not (inspect.isclass(thing) or inspect.isfunction(thing)) or name in ("Array", "ChoiceProgress", "Curve", "Frames", "Progress"):
            continue
        assert inspect.getdoc(thing), name
        if inspect.isclass(thing) and name not in (
                "Choice", "SweepResult", "Executor", "ExitChart", "FrameDropped", "Latencies", "StreamFrame", "StreamStats", "Ticket", "Csi", "LteSegmentation", "NrMcs", "NrReferenceChannel", "NrSegmentation",
                "WimaxBurst", "CellSearchResult", "NrCoreset0", "NrDownlinkResult", "NrFoundBlock", "NrMessage", "NrPbchBlock", "NrPdcchFound", "NrPdcchResult", "NrType0Occasion"):  # made by others
            for parameter in list(inspect.signature(thing.__init__).parameters.values())[1:]:
                assert parameter.kind is parameter.KEYWORD_ONLY, f"{name}({parameter})"
                assert parameter.annotation is not parameter.empty, f"{name}({parameter})"


ALONE = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def test_the_root_of_the_repository_says_what_is_missing_and_does_not_hide_the_package():
    def imported(*path):
        return subprocess.run([sys.executable, "-S", "-c", "import warpband; print(warpband.__file__)"], cwd=ROOT, text=True,
                              capture_output=True, env={**ALONE, "PYTHONPATH": os.pathsep.join(map(str, path))})

    missing = imported()
    assert missing.returncode == 1 and re.search(r"^ImportError: the Python package warpband is not installed: .*pip install \.", missing.stderr, re.M)
    from_root = imported(PACKAGE.parent, *(p for p in sys.path if p))
    assert from_root.stdout.strip() == str(PACKAGE / "__init__.py"), from_root.stderr


def test_a_package_that_is_not_built_says_so(tmp_path):
    for path in PACKAGE.glob("*.py"):
        (tmp_path / "warpband").mkdir(exist_ok=True)
        (tmp_path / "warpband" / path.name).write_text(path.read_text())
    program = [sys.executable, "-c", "import warpband"]
    path = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *(p for p in sys.path if p)])}
    message = subprocess.run(program, env=path, cwd=tmp_path, capture_output=True, text=True).stderr
    assert re.search(r"^ImportError: .*/warpband has no compiled part of warpband: `pip install .`", message, re.M), message
    (tmp_path / "warpband" / "_core.cpython-311-x86_64-linux-gnu.so").write_bytes(b"half of it")
    (tmp_path / "warpband" / "_core.abi3.so").write_bytes(b"half of it")
    message = subprocess.run(program, env=path, cwd=tmp_path, capture_output=True, text=True).stderr
    assert re.search(r"^ImportError: the compiled part of warpband in .*/warpband cannot be loaded \(.*\): it is of another Python", message, re.M), message


def test_plot_is_listed():
    assert "plot" in dir(wb) and set(wb.__all__) <= set(dir(wb))


def test_version():
    assert wb.__version__ == re.search(r"^project\(warpband VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]


def code_blocks(language):
    """The code of the pages in a language, and the line it begins in. The Python of a tutorial is one program."""
    pages = [ROOT / "README.md", *(page for folder in ("", "algorithms", "tutorials") for page in sorted((ROOT / "docs" / folder).glob("*.md")))]
    for path in pages:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        if path.parent.name == "tutorials" and language == "python":
            prose = r"\A.*?^```python\n|^```$.*?(?:^```python\n|\Z)"
            yield path.relative_to(ROOT).as_posix(), 1, re.sub(prose, lambda found: "\n" * found[0].count("\n"), text, flags=re.M | re.S)
            continue
        for found in re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S):
            yield path.relative_to(ROOT).as_posix(), text[:found.start()].count("\n") + 2, found[1]


BLOCKS, SCENARIOS = list(code_blocks("python")), list(code_blocks("toml"))


@pytest.mark.parametrize("page, line, code", BLOCKS, ids=[f"{page}:{line}" for page, line, _ in BLOCKS])
def test_code_of_the_documentation_runs(page, line, code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "read_csi" in code and not wb.has_hdf5:
        pytest.skip("needs HDF5")
    for library, sign in (("torch", "import torch"), ("cupy", "import cupy"), ("matplotlib", "wb.plot"), ("pandas", "to_pandas")):
        if sign in code:
            pytest.importorskip(library)
    exec(compile(code, f"{page}:{line}", "exec"), {})


@pytest.mark.parametrize("page, line, code", SCENARIOS, ids=[f"{page}:{line}" for page, line, _ in SCENARIOS])
def test_scenarios_of_the_documentation_run(page, line, code, tmp_path):
    """A frame or few at each point: what they name is there. (C++ of the pages: scripts/checks/samples.py.)"""
    path = tmp_path / "scenario.toml"
    path.write_text(code, encoding="utf-8")
    result = wb.sweep(path, frame_errors=1, max_frames=1)
    labels = re.findall(r'^label = "(.*?)"', code, re.M)
    families = list(dict.fromkeys(curve.config["sweep"].get("family", curve.label) for curve in result.curves))
    assert families == (labels or families[:1])
    assert all(point["frames"] > 0 for curve in result.curves for point in curve.points)


class Tensor:
    """What the package uses of a tensor of torch in host memory, so that this is tested without torch too."""

    __module__ = "torch"
    is_cuda = False

    def __init__(self, array):
        self.array, self.shape = array, array.shape
        self.device = type("device", (), {"type": "cpu"})

    def detach(self):
        return self

    resolve_conj = resolve_neg = detach

    def numpy(self):
        return self.array


def test_what_looks_like_torch(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", type("torch", (), {"from_numpy": staticmethod(Tensor)}))
    rng = np.random.default_rng(1)
    h, y = ((rng.normal(size=s) + 1j * rng.normal(size=s)).astype(np.complex64) for s in ((9, 2, 2), (9, 2)))
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    wanted = detector(h, y, 0.1)
    llr, status = detector(Tensor(h), Tensor(y), Tensor(np.full(9, 0.1, np.float32)), outputs=("llr", "status"))
    assert isinstance(llr, Tensor) and np.array_equal(llr.numpy(), wanted) and not status.numpy().any()
    out = Tensor(np.empty((9, 4), np.float32))
    assert detector(Tensor(h), Tensor(y), 0.1, out=out) is out and np.array_equal(out.numpy(), wanted)


def test_without_torch_the_layers_say_what_to_install():
    code = """
import sys
sys.modules["torch"] = None
try:
    import warpband.torch
except ImportError as error:
    print(error)
"""
    assert python(code).startswith("warpband.torch needs torch, which is not installed")


def test_layers_name_the_least_torch():
    code = """
import sys, types
torch = sys.modules["torch"] = types.ModuleType("torch")
torch.library, torch.__version__ = types.ModuleType("torch.library"), "2.3"
try:
    import warpband.torch
except ImportError as error:
    print(error)
"""
    assert python(code).startswith("warpband.torch needs torch 2.5 or later, this is 2.3")


def test_torch_in_torch_out():
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(1)
    h, y = ((rng.normal(size=s) + 1j * rng.normal(size=s)).astype(np.complex64) for s in ((9, 2, 2), (9, 2)))
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4, llr_sign="p1/p0")
    wanted = detector(h, y, 0.1)
    llr = detector(torch.from_numpy(h), torch.from_numpy(y), 0.1)
    assert isinstance(llr, torch.Tensor) and np.array_equal(llr.numpy(), wanted)
    out = torch.empty(9, 4)
    assert detector(torch.from_numpy(h), torch.from_numpy(y), 0.1, out=out) is out and np.array_equal(out.numpy(), wanted)
    conjugated = detector(torch.from_numpy(h.conj()).conj(), torch.from_numpy(y), torch.full((9,), 0.1))
    assert np.array_equal(conjugated.numpy(), wanted)


class Traced:
    """As jax.jit hands it to a function: without values."""

    shape, dtype, ndim = (9, 2), np.dtype("complex64"), 2

    def __dlpack__(self, **_):
        raise TypeError("no values")

    __dlpack_device__ = __array__ = __dlpack__


class Half:
    """An array of a library with DLPack, of a type that NumPy lacks."""

    shape, dtype, ndim = (9, 132), "bfloat16", 2

    def __dlpack__(self, **_):
        raise BufferError("a type that NumPy lacks")

    def __dlpack_device__(self):
        return 1, 0


TRACED = r"a tracer of JAX is not allowed: expected an array with values, so call it outside jax\.jit or through jax\.pure_callback$"
GRADIENT = r"a tensor that requires a gradient is not allowed: expected one without, as tensor\.detach\(\) gives$"
HALF = r"an array of bfloat16 is not allowed: expected one of float32, as tensor\.float\(\) or array\.astype\('float32'\) gives$"


def test_arrays_that_no_call_takes_are_refused_with_what_to_do():
    base = type("Tracer", (Traced,), {"__module__": "jax._src.core"})
    tracer = type("DynamicJaxprTracer", (base,), {"__module__": "jax._src.interpreters.partial_eval"})()
    h, y = np.ones((9, 2, 2), np.complex64), np.ones((9, 2), np.complex64)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    for name, call in (("received", lambda: detector(h, tracer, 0.1)), ("channel", lambda: detector(tracer, y, 0.1)),
                       ("noise_var", lambda: detector(h, y, tracer)), ("sent", lambda: wb.awgn(tracer, noise_var=0.1, seed=1)),
                       ("llr", lambda: wb.TurboDecoder(k=40)(tracer)), ("out", lambda: wb.awgn(y, noise_var=0.1, seed=1, out=tracer))):
        with pytest.raises(ValueError, match=f"^{name} = {TRACED}"):
            call()
    with pytest.raises(ValueError, match=f"^llr = {HALF}"):
        wb.TurboDecoder(k=40)(Half())


@pytest.mark.parametrize("sign", ["p0/p1", "p1/p0"])
def test_tensors_of_torch_that_no_call_takes(sign):
    torch = pytest.importorskip("torch")
    decode = wb.TurboDecoder(k=40, llr_sign=sign)
    for wrong, text in ((torch.ones(2, 132, requires_grad=True), GRADIENT), (torch.nn.Parameter(torch.ones(2, 132)), GRADIENT),
                        (torch.ones(2, 132, dtype=torch.bfloat16), HALF)):
        with pytest.raises(ValueError, match=f"^llr = {text}"):
            decode(wrong)
    assert decode(torch.nn.Parameter(torch.ones(2, 132)).detach()).shape == (2, 40)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    h, y = torch.ones(9, 2, 2, dtype=torch.complex64, requires_grad=True), torch.ones(9, 2, dtype=torch.complex64)
    with pytest.raises(ValueError, match=f"^channel = {GRADIENT}"):
        detector(h, y, 0.1)


def test_threads_that_do_not_start_are_an_error():
    """Under a bound of memory, in which some of 512 threads start: an error, and the process goes on."""
    program = """
import os, resource, sys
import warpband as wb

def size():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()

for mib in (20, 100, 1000, 3400, 3500, 3600, 3700, 3800, 3900):
    child = os.fork()
    if child == 0:
        resource.setrlimit(resource.RLIMIT_AS, (size() + (mib << 20), resource.RLIM_INFINITY))
        try:
            wb.cpu(threads=512)
        except (RuntimeError, MemoryError) as error:
            assert isinstance(error, MemoryError) or "512 threads: ask for fewer" in str(error), error
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, mib
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
