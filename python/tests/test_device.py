"""Arrays on a CUDA device: kind, place, copies, order of work. Skipped without a device, and without the libraries in question."""
import gc

import numpy as np
import pytest

import warpband as wb

if not wb.has_cuda:
    pytest.skip("this build of warpband has no CUDA", allow_module_level=True)
if not wb.cuda_devices():
    pytest.skip("there is no CUDA device", allow_module_level=True)

from warpband import _core  # noqa: E402


def library(name):
    """The library, with a device; else the test is skipped."""
    module = pytest.importorskip(name)
    if name == "torch" and not module.cuda.is_available():
        pytest.skip("torch sees no device")
    return module


class Torch:
    """A torch tensor of any array, and back; so for the others."""

    def __init__(self):
        self.module = library("torch")
        self.kind = self.module.Tensor

    def here(self, array):
        return self.module.from_numpy(np.array(array)).cuda()

    def back(self, array):
        return array.cpu().numpy()


class Cupy:
    def __init__(self):
        self.module = library("cupy")
        self.kind = self.module.ndarray

    def here(self, array):
        return self.module.asarray(array)

    def back(self, array):
        return self.module.asnumpy(array)


class Jax:
    """Has DLPack and arrays that nobody writes to."""

    def __init__(self):
        self.module = pytest.importorskip("jax")
        try:
            self.device = self.module.devices("cuda")[0]
        except RuntimeError:
            pytest.skip("jax sees no device")
        self.kind = self.module.Array

    def here(self, array):
        return self.module.device_put(array, self.device)

    def back(self, array):
        return np.asarray(array)


class Numba:
    """Has __cuda_array_interface__ alone."""

    def __init__(self):
        pytest.importorskip("numba")
        self.module = pytest.importorskip("numba.cuda")
        if not self.module.is_available():
            pytest.skip("numba sees no device")
        self.kind = type(self.module.to_device(np.zeros(1, np.float32)))

    def here(self, array):
        return self.module.to_device(np.ascontiguousarray(array))

    def back(self, array):
        return array.copy_to_host()


class OnlyDlpack:
    """An array that has DLPack and nothing else, whose namespace makes such arrays."""

    def __init__(self, tensor):
        self.tensor, self.shape = tensor, tuple(tensor.shape)

    def __dlpack__(self, *, stream=None, **options):
        return self.tensor.__dlpack__(stream=stream, **options)

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __array_namespace__(self):
        return OnlyDlpack

    @staticmethod
    def from_dlpack(array):
        return OnlyDlpack(library("torch").from_dlpack(array))

    def __rsub__(self, number):
        return OnlyDlpack(number - self.tensor)

    @property
    def dtype(self):
        return self.tensor.dtype


class Other:
    def __init__(self):
        self.module, self.kind = library("torch"), OnlyDlpack

    def here(self, array):
        return OnlyDlpack(self.module.from_numpy(np.array(array)).cuda())

    def back(self, array):
        return array.tensor.cpu().numpy()


def returns_before(queue, over):
    """What `queue` gives. It queues work behind a kernel of so many cycles, and must return before that is `over`: a longer one, where
    the machine is busy."""
    for cycles in (400_000_000, 2_000_000_000, 10_000_000_000):  # 0.2 s to 6 s
        result = queue(cycles)
        if not over():
            return result
    return pytest.fail("the call waited for the work before it")


KINDS = [Torch, Cupy, Jax, Numba, Other]


@pytest.fixture(params=KINDS, ids=lambda kind: kind.__name__.lower())
def on(request):
    return request.param()


def normal(rng, *shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64)


def halves(x):
    return np.stack([x.real, x.imag], -1).astype(np.float16)


def turbo_llrs(rng, k, *batch):
    bits = rng.integers(0, 2, (*batch, k), dtype=np.uint8)
    coded = wb.TurboEncoder(k=k)(bits)
    return bits, (4 * (1 - 2.0 * coded) + 2 * rng.normal(size=coded.shape)).astype(np.float32)


# ---------------------------------------------------------------- the same kind comes out, with the same bits
def test_every_room_gives_the_bits_of_the_cpu_in_the_kind_that_came_in(on, rng):
    y, h, x = normal(rng, 5, 7, 4), normal(rng, 5, 7, 4, 4), normal(rng, 6, 10)
    n0 = rng.uniform(0.1, 1, (5, 7)).astype(np.float32)
    bits, llr = turbo_llrs(rng, 40, 3, 4)
    code, conv = wb.wifi_ldpc(n=648), wb.conv_80211()
    ldpc = rng.normal(size=(4, 648)).astype(np.float32)
    viterbi = wb.ViterbiDecoder(code=conv, k=40)
    calls = [
        (wb.NWay(streams=4, rx_antennas=4, qam=16), (h, y, n0)),
        (wb.MMSE(streams=4, rx_antennas=4, qam=64), (h, y, 0.25)),
        (wb.KBest(streams=4, rx_antennas=4, qam=16, survivors=8), (h, y, 0.25)),
        (wb.Sphere(streams=4, rx_antennas=4, qam=16, llr_clip=8), (h, y, 0.25)),
        (wb.TurboEncoder(k=40), (bits,)),
        (wb.TurboDecoder(k=40), (llr,)),
        (wb.LdpcEncoder(code=code), (rng.integers(0, 2, (4, code.k), dtype=np.uint8),)),
        (wb.LdpcDecoder(code=code), (ldpc,)),
        (viterbi, (rng.normal(size=(4, wb.ConvEncoder(code=conv, k=40).n)).astype(np.float32),)),
        (wb.QamMapper(qam=16), (bits,)),
        (wb.Demapper(qam=16), (x, 0.3)),
        (wb.Constellation(type="16apsk", ring_ratios=[2.7]).map, (bits,)),
        (wb.Constellation(type="32apsk", ring_ratios=[2.7, 4.5], algorithm="exact").demap, (x, 0.3)),
        (wb.MassiveUplink(antennas=16, users=4, qam=16), (normal(rng, 3, 16, 4), normal(rng, 3, 2, 16), 0.5)),
        (lambda *a: wb.MassiveUplink(antennas=16, users=4, qam=16, llr_steps=4.0)(*a, outputs=("llr", "llr_int8", "status")),
         (halves(normal(rng, 3, 16, 4)), halves(normal(rng, 3, 2, 16)), 0.5)),
        (wb.MassiveDownlink(antennas=16, users=4), (halves(normal(rng, 3, 16, 4)), normal(rng, 3, 2, 4), 0.5)),
        (lambda g: wb.effective_sinr(g, qam=16, outputs=("effective", "status")), (n0,)),
        (lambda a: wb.qr(a, method="householder", outputs=("q", "r", "status")), (h,)),
        (lambda a: wb.cholesky(a, outputs=("r", "status")), (h.conj().swapaxes(-1, -2) @ h,)),
        (lambda s: wb.awgn(s, noise_var=0.5, seed=3), (x,)),
        (lambda s: wb.rayleigh(s, seed=3), (x,)),
        (lambda s: wb.mimo_rayleigh(s, rx_antennas=3, seed=3), (x,)),
    ]
    for call, arrays in calls:
        wanted = call(*arrays)
        got = call(*(on.here(a) if isinstance(a, np.ndarray) else a for a in arrays))
        for one, other in zip(*((r if isinstance(r, tuple) else (r,)) for r in (wanted, got))):
            assert isinstance(other, on.kind), call
            back = on.back(other)
            assert back.dtype == one.dtype and np.array_equal(back, one), call


def test_torch_complex32(rng):
    torch = library("torch")
    h, y = halves(normal(rng, 3, 16, 4)), halves(normal(rng, 3, 2, 16))
    detector = wb.MassiveUplink(antennas=16, users=4, qam=16, llr_sign="p1/p0")
    narrow = [torch.view_as_complex(torch.from_numpy(x)).cuda() for x in (h, y)]
    assert narrow[0].dtype == torch.complex32
    for name in ("llr", "llr_int8"):
        got = detector(*narrow, 0.5, outputs=name)
        assert got.is_cuda and np.array_equal(got.cpu().numpy(), detector(h, y, 0.5, outputs=name))


@pytest.mark.parametrize("kind", [Torch, Cupy, Jax, Other])
def test_llr_sign(kind, rng):
    on = kind()
    bits, llr = turbo_llrs(rng, 40, 9)
    plus = wb.TurboDecoder(k=40)(llr, outputs=("bits", "soft"))
    got = wb.TurboDecoder(k=40, llr_sign="p1/p0")(on.here(-llr), outputs=("bits", "soft"))
    assert np.array_equal(on.back(got[0]), plus[0]) and np.array_equal(on.back(got[1]), 0 - plus[1])
    assert all(isinstance(array, on.kind) for array in got)


def test_llr_sign_where_nobody_can_change_it(rng):
    on = Numba()
    with pytest.raises(ValueError, match="p1/p0.* is not allowed: expected arrays of torch"):
        wb.TurboDecoder(k=40, llr_sign="p1/p0")(on.here(np.zeros((2, 132), np.float32)))


# ---------------------------------------------------------------- no copies
@pytest.mark.parametrize("kind", [Torch, Cupy])
def test_views_are_the_arrays_own_memory(kind):
    on = kind()
    a = on.here(np.zeros((6, 4, 5), np.complex64))
    address = a.data_ptr() if kind is Torch else a.data.ptr
    from warpband._arrays import space_of
    where = space_of(a).executor(None)
    for array, trailing, offset, wanted in ((a, 1, 0, (5, 24, 1, 5)), (a[::2], 2, 0, (20, 3, 1, 40)),
                                            (a[:, :, 1], 1, 8, (4, 6, 5, 20)), (a[0].T, 1, 0, (4, 5, 5, 1))):
        found, *layout = _core.view_of(array, trailing, where)
        assert found == address + offset and tuple(layout) == wanted


def test_dlpack_gives_the_memory_itself(rng):
    on = Other()
    a = on.here(normal(rng, 6, 4))
    from warpband._arrays import space_of
    space = space_of(a)
    assert _core.view_of(space.take(a), 1, space.executor(None))[0] == a.tensor.data_ptr()


def test_a_call_on_tensors_allocates_its_outputs_alone(rng):
    torch = library("torch")
    h, y = (torch.from_numpy(normal(rng, *s)).cuda() for s in ((20000, 4, 4), (20000, 4)))
    detector = wb.MMSE(streams=4, rx_antennas=4, qam=16)
    out = torch.empty(20000, 16, device="cuda")
    address = out.data_ptr()
    detector(h, y, 0.1, out=out)

    def allocations():
        return torch.cuda.memory_stats()["allocation.all.allocated"]

    before = allocations()
    assert detector(h, y, 0.1, out=out) is out and out.data_ptr() == address
    assert allocations() == before
    llr = detector(h, y, 0.1)
    assert allocations() == before + 1 and torch.equal(llr, out)


def test_a_call_on_cupy_arrays_allocates_its_outputs_alone(rng):
    cupy = library("cupy")
    h, y = cupy.asarray(normal(rng, 20000, 4, 4)), cupy.asarray(normal(rng, 20000, 4))
    detector = wb.MMSE(streams=4, rx_antennas=4, qam=16)
    out = cupy.empty((20000, 16), cupy.float32)
    detector(h, y, 0.1, out=out)
    sizes = []

    class Counted(cupy.cuda.MemoryHook):
        name = "counted"

        def malloc_postprocess(self, **about):
            sizes.append(about["size"])

    with Counted():
        assert detector(h, y, 0.1, out=out) is out and sizes == []
        llr = detector(h, y, 0.1)
    assert sizes == [llr.nbytes] and bool((llr == out).all())


# ---------------------------------------------------------------- order of work
def test_a_call_is_ordered_with_the_work_of_its_torch_stream(rng):
    torch = library("torch")
    bits, llr = turbo_llrs(rng, 1024, 64)
    decoder = wb.TurboDecoder(k=1024)
    source = torch.from_numpy(llr).cuda()
    wanted = decoder(source)
    stream = torch.cuda.Stream()
    landing = torch.zeros_like(source)
    torch.cuda.synchronize()

    def queue(cycles):
        with torch.cuda.stream(stream):
            torch.cuda._sleep(cycles)
            landing.copy_(source)                  # what the decoder must see
            decided = decoder(landing)
            landing.zero_()                        # what it must not see
            return decided, decided.to(torch.int64).sum()  # what must see its output

    queue(1)  # opens the executor of this stream, copies tables, loads kernels and fills the caches of memory
    torch.cuda.synchronize()
    decided, total = returns_before(queue, stream.query)
    stream.synchronize()
    assert int(total) == int(wanted.sum()) and torch.equal(decided, wanted)


def test_a_call_is_ordered_with_the_work_of_its_cupy_stream(rng):
    cupy = library("cupy")
    bits, llr = turbo_llrs(rng, 1024, 64)
    decoder = wb.TurboDecoder(k=1024)
    source, stream = cupy.asarray(llr), cupy.cuda.Stream(non_blocking=True)
    wanted, landing = decoder(source), cupy.zeros_like(source)
    spin = cupy.RawKernel("extern \"C\" __global__ void spin(long long n) { for (long long t = clock64(); clock64() - t < n;); }",
                          "spin")

    def queue(cycles):
        with stream:
            spin((1,), (1,), (np.int64(cycles),))
            landing[...] = source
            decided = decoder(landing)
            landing[...] = 0
            return decided.copy()

    queue(1)
    cupy.cuda.Device().synchronize()
    kept = returns_before(queue, lambda: stream.done)
    stream.synchronize()
    assert bool((kept == wanted).all())


def test_a_call_on_dlpack_arrays_is_ordered_on_both_sides(rng):
    torch, on = library("torch"), Other()
    bits, llr = turbo_llrs(rng, 1024, 64)
    decoder = wb.TurboDecoder(k=1024)
    source = torch.from_numpy(llr).cuda()
    wanted = on.back(decoder(on.here(llr)))
    stream = torch.cuda.Stream()
    landing = torch.zeros_like(source)
    torch.cuda.synchronize()

    def queue(cycles):
        landing.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(cycles)
            landing.copy_(source)
            decided = decoder(OnlyDlpack(landing)).tensor
            return decided.to(torch.int64).sum()
    for turn in range(4):  # memory of outputs is used again
        total = returns_before(queue, stream.query) if turn else queue(1)
        stream.synchronize()  # the host reads on another stream
        assert int(total) == int(wanted.sum())


def test_inputs_of_dlpack_live_until_the_work_has_run(rng):
    torch = library("torch")
    bits, llr = turbo_llrs(rng, 1024, 256)
    decoder = wb.TurboDecoder(k=1024)
    wanted = torch.from_numpy(decoder(llr)).cuda()
    for _ in range(5):
        got = decoder(OnlyDlpack(torch.from_numpy(llr).cuda())).tensor  # nothing else holds the input
        gc.collect()
        torch.full((256, 3 * 1028), 9.0, device="cuda")  # would take its place
        assert torch.equal(got, wanted)


def test_a_call_can_be_captured_in_a_graph(rng):
    torch = library("torch")
    h, y = (torch.from_numpy(normal(rng, *s)).cuda() for s in ((500, 4, 4), (500, 4)))
    detector = wb.NWay(streams=4, rx_antennas=4, qam=16)
    out = torch.empty(500, 16, device="cuda")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        detector(h, y, 0.1, out=out)  # tables, workspace and N0 are there from now on
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        detector(h, y, 0.1, out=out)
    h.copy_(torch.from_numpy(normal(rng, 500, 4, 4)))
    out.zero_()
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(out, detector(h, y, 0.1)) and bool(out.any())


def test_the_stream_of_a_tensor_is_asked_in_c():
    torch = library("torch")
    if not hasattr(torch.Tensor, "__dlpack_c_exchange_api__"):
        pytest.skip("torch has it from 2.10 on")
    tensor = torch.zeros(2, 4, dtype=torch.uint8, device="cuda")
    assert _core.has_exchange(tensor) and _core.work_stream(tensor) == (0, 1) and _core.work_stream(tensor.cpu()) is None
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        assert _core.work_stream(tensor) == (0, stream.cuda_stream) == _core.work_stream(tensor[:0])
    assert _core.work_stream(torch.nn.Parameter(tensor, requires_grad=False)) is None  # by its methods


def test_tensors_with_and_without_the_exchange_interface_give_the_same(rng, monkeypatch):
    torch = library("torch")
    h, y = normal(rng, 9, 4, 4), normal(rng, 9, 4)
    detector, got = wb.NWay(streams=4, rx_antennas=4, qam=16), []
    for plain in (True, False):
        channel, received = (torch.from_numpy(x).cuda() for x in (h, y))
        if not plain:
            channel, received = (torch.nn.Parameter(x, requires_grad=False) for x in (channel, received))
        out = torch.zeros(18, 16, device="cuda")[::2]
        assert detector(channel, received, 0.1, out=out) is out
        got += [out.cpu(), detector(channel, received, np.float32(0.1)).cpu()]
        with pytest.raises(ValueError, match="channel = an array of complex128"):
            detector(channel.to(torch.complex128), received, 0.1)
    assert all(np.array_equal(one.numpy(), detector(h, y, np.float32(0.1))) for one in got)


def test_many_streams(rng):
    """More than executors are kept for, with work on all of them under way."""
    torch, cupy = library("torch"), library("cupy")
    bits, llr = turbo_llrs(rng, 40, 50)
    decoder, source = wb.TurboDecoder(k=40), torch.from_numpy(llr).cuda()
    wanted = decoder(llr)
    streams = [torch.cuda.Stream() for _ in range(24)]
    torch.cuda.synchronize()
    for _ in range(3):
        got = []
        for stream in streams:
            with torch.cuda.stream(stream):
                got.append(decoder(source))
        other = cupy.cuda.Stream(non_blocking=True)
        with other:
            got.append(decoder(cupy.asarray(llr)))
        torch.cuda.synchronize()
        other.synchronize()
        assert all(np.array_equal(one.cpu().numpy() if isinstance(one, torch.Tensor) else cupy.asnumpy(one), wanted) for one in got)
    from warpband._arrays import DeviceSpace
    assert len(DeviceSpace._executors) <= 16


def test_memory_of_resolved_tensors_is_not_used_too_early(rng):
    torch = library("torch")
    h, y = normal(rng, 2000, 2, 2), normal(rng, 2000, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    wanted = torch.from_numpy(detector(h, y, 0.1)).cuda()
    channel, received = torch.from_numpy(h.conj()).cuda().conj(), torch.from_numpy(y).cuda()
    detector(channel, received, 0.1)
    for _ in range(5):
        torch.cuda._sleep(20_000_000)
        got = detector(channel, received, 0.1)  # works on a copy that nobody holds any more
        torch.full((2000, 2, 2), 9.0, dtype=torch.complex64, device="cuda")  # may take its place
        assert torch.equal(got, wanted)


def test_a_sign_that_waits(rng):
    torch = library("torch")
    bits, llr = turbo_llrs(rng, 40, 9)
    signed = torch.complex(torch.zeros(9, 132), torch.from_numpy(-llr)).cuda().conj().imag
    assert signed.is_neg()
    assert np.array_equal(wb.TurboDecoder(k=40)(signed.contiguous()).cpu().numpy(), wb.TurboDecoder(k=40)(llr))
    assert np.array_equal(wb.TurboDecoder(k=40)(signed).cpu().numpy(), wb.TurboDecoder(k=40)(llr))


def test_arrays_of_cupy_are_asked_by_their_attributes(rng, monkeypatch):
    cupy = library("cupy")
    bits = rng.integers(0, 2, (7, 8), dtype=np.uint8)
    mapper, on_device, wanted = wb.QamMapper(qam=4), cupy.asarray(bits), wb.QamMapper(qam=4)(bits)
    asked = []
    plain = cupy.ndarray.__cuda_array_interface__

    class Counted:
        def __get__(self, array, kind=None):
            asked.append(array)
            return plain.__get__(array, kind)
    monkeypatch.setattr(cupy.ndarray, "__cuda_array_interface__", Counted(), raising=False)
    assert np.array_equal(cupy.asnumpy(mapper(on_device)), wanted) and not asked
    assert np.array_equal(cupy.asnumpy(mapper(on_device[:0])), wanted[:0]) and not asked
    with pytest.raises(ValueError, match="bits = an array of .*int64.* is not allowed|bits = an array of <i8 is not allowed"):
        mapper(on_device.astype(cupy.int64))


def test_an_array_of_cupys_other_stream_is_waited_for(rng):
    """Where the work is on torch's stream."""
    torch, cupy = library("torch"), library("cupy")
    h, y = normal(rng, 500, 2, 2), torch.from_numpy(normal(rng, 500, 2)).cuda()
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    source = cupy.asarray(h)
    wanted = detector(torch.from_numpy(h).cuda(), y, 0.1)
    landing, stream = cupy.zeros_like(source), cupy.cuda.Stream(non_blocking=True)
    spin = cupy.RawKernel("extern \"C\" __global__ void spin(long long n) { for (long long t = clock64(); clock64() - t < n;); }",
                          "spin")
    side = torch.cuda.Stream()
    with stream, torch.cuda.stream(side):
        def queue(cycles):
            landing[...] = 0
            cupy.cuda.Device().synchronize()
            spin((1,), (1,), (np.int64(cycles),))
            landing[...] = source
            return detector(landing, y, 0.1)
        queue(1)  # what is compiled, loaded or allocated only once would take longer than the kernel spins
        got = returns_before(queue, lambda: stream.done)
        side.synchronize()
        assert torch.equal(got, wanted)


# ---------------------------------------------------------------- devices
def test_the_current_device_stays():
    torch = library("torch")
    if torch.cuda.device_count() < 2:
        pytest.skip("needs two devices")
    encoder, bits = wb.TurboEncoder(k=40), torch.randint(0, 2, (7, 40), dtype=torch.uint8)
    wanted = encoder(bits)
    for current in (0, 1):
        with torch.cuda.device(current):
            for place in (0, 1):
                coded = encoder(bits.to(f"cuda:{place}"))
                assert coded.get_device() == place and torch.equal(coded.cpu(), wanted)
                assert torch.cuda.current_device() == current
                cupy = pytest.importorskip("cupy")
                assert cupy.cuda.runtime.getDevice() == current
    decoder = wb.TurboDecoder(k=40)
    with pytest.raises(ValueError, match="channel = an array in memory of cuda:1 is not allowed: expected one in memory of cuda:0"):
        wb.MMSE(streams=1, rx_antennas=1, qam=4)(torch.zeros(3, 1, 1, dtype=torch.complex64, device="cuda:1"),
                                                 torch.zeros(3, 1, dtype=torch.complex64, device="cuda:0"), 0.1)
    assert decoder(torch.ones(3, 132, device="cuda:1")).get_device() == 1


def test_the_current_device_stays_with_one_device():
    executor = wb.cuda(device=len(wb.cuda_devices()) - 1)
    executor.sync()
    torch = library("torch")
    assert torch.cuda.current_device() == 0


# ---------------------------------------------------------------- what is refused
def test_what_is_refused(rng):
    torch = library("torch")
    y, h = torch.zeros(3, 2, dtype=torch.complex64, device="cuda"), torch.zeros(3, 2, 2, dtype=torch.complex64, device="cuda")
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)

    def refused(match, *arrays, **options):
        with pytest.raises(ValueError, match=match):
            detector(*arrays, **options)

    refused("channel = an array in host memory is not allowed: expected one in memory of cuda:0", h.cpu(), y, 0.1)
    refused("an array in host memory is not allowed: expected one in memory of cuda:0", np.zeros((3, 2, 2), np.complex64), y, 0.1)
    refused("an array on cuda:0 is not allowed: expected all arrays of a call in host memory", h, y.cpu(), 0.1)
    refused("channel = an array of complex128 is not allowed", h.to(torch.complex128), y, 0.1)
    refused("channel = an array of bfloat16 is not allowed", h.real.to(torch.bfloat16), y, 0.1)
    refused("received = an array with strides", h, torch.zeros(3, 4, 4, dtype=torch.complex64, device="cuda")[:, :2, :2], 0.1)
    refused("conjugation", h, y, 0.1, out=torch.zeros(3, 4, dtype=torch.complex64, device="cuda").conj())
    assert detector(h, y.conj(), 0.1).shape == (3, 4)
    cupy = library("cupy")
    frozen = cupy.zeros((3, 4), cupy.float32)
    assert detector(cupy.asarray(h), cupy.asarray(y), 0.1, out=frozen) is frozen


def test_a_conjugated_tensor_is_what_it_looks_like(rng):
    torch = library("torch")
    h, y = normal(rng, 9, 2, 2), normal(rng, 9, 2)
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    got = detector(torch.from_numpy(h.conj()).cuda().conj(), torch.from_numpy(y).cuda(), 0.1)
    assert np.array_equal(got.cpu().numpy(), detector(h, y, 0.1))


def test_empty_batches(on):
    """Of CuPy's arrays all strides are then 0."""
    encoder, bits = wb.TurboEncoder(k=40), on.here(np.zeros((0, 40), np.uint8))
    got = encoder(bits)
    assert tuple(got.shape) == (0, 132) and isinstance(got, on.kind)
    if not isinstance(on, (Jax, Other)):  # which cannot be written to
        assert encoder(bits, out=got) is got
    h, y, n0 = (on.here(np.zeros((0, *shape), dtype)) for shape, dtype in (((3, 2), np.complex64), ((3,), np.complex64),
                                                                           ((), np.float32)))
    llr, status = wb.MMSE(streams=2, rx_antennas=3, qam=4)(h, y, n0, outputs=("llr", "status"))
    assert tuple(llr.shape) == (0, 4) and tuple(status.shape) == (0,) and isinstance(llr, on.kind)
    narrow = (on.here(np.zeros((0, *shape, 2), np.float16)) for shape in ((16, 4), (3, 16)))
    llr = wb.MassiveUplink(antennas=16, users=4, qam=16)(*narrow, 0.5)
    assert tuple(llr.shape) == (0, 3, 16) and isinstance(llr, on.kind)


def test_gradients_stop_here(rng):
    torch = library("torch")
    llr = torch.ones(2, 132, device="cuda", requires_grad=True)
    for sign in ("p0/p1", "p1/p0"):
        with pytest.raises(ValueError, match=r"^llr = a tensor that requires a gradient is not allowed: expected one without, as tensor\.detach\(\) gives$"):
            wb.TurboDecoder(k=40, llr_sign=sign)(llr)
    llr = llr.detach()
    decided = wb.TurboDecoder(k=40)(llr)
    assert not decided.requires_grad and not bool(decided.any())
    assert torch.equal(wb.TurboDecoder(k=40, llr_sign="p1/p0")(-llr, outputs="soft") < 0, torch.ones(2, 40, device="cuda") > 0)


# ---------------------------------------------------------------- cost
def test_a_call_does_not_wait(rng):
    """Each returns while the device is busy. scripts/python_overhead.py measures what it costs."""
    torch = library("torch")
    encoder, bits = wb.TurboEncoder(k=40), torch.zeros(1, 40, dtype=torch.uint8, device="cuda")
    detector = wb.MMSE(streams=2, rx_antennas=2, qam=4)
    h, y = torch.ones(1, 2, 2, dtype=torch.complex64, device="cuda"), torch.ones(1, 2, dtype=torch.complex64, device="cuda")
    out, llr, stream = encoder(bits), detector(h, y, 0.1), torch.cuda.Stream()
    for call in (lambda: encoder(bits, out=out), lambda: encoder(bits), lambda: encoder(bits[:0]), lambda: detector(h, y, 0.1, out=llr),
                 lambda: detector(h, y, 0.1), lambda: detector(h[:0], y[:0], 0.1)):
        def queue(cycles, call=call):
            with torch.cuda.stream(stream):
                torch.cuda._sleep(cycles)
                call()
        queue(1)  # opens the executor of this stream
        torch.cuda.synchronize()
        returns_before(queue, stream.query)
        stream.synchronize()


# ---------------------------------------------------------------- OFDM: another library's FFT, so equal to rounding and not bit for bit
def test_ofdm(on, rng):
    for numerology in (wb.lte_numerology(bandwidth_mhz=5), wb.OfdmNumerology(fft_size=96, subcarriers=75, cyclic_prefix=11,
                                                                              first_cyclic_prefix=17, symbols_per_slot=5)):
        modulator, demodulator = wb.OfdmModulator(numerology=numerology), wb.OfdmDemodulator(numerology=numerology)
        values = normal(rng, 3, 2, numerology.symbols_per_slot, numerology.subcarriers)
        samples = modulator(on.here(values))
        assert isinstance(samples, on.kind)
        np.testing.assert_allclose(on.back(samples), modulator(values), atol=2e-5)
        noise = normal(rng, 4, numerology.samples_per_slot)
        np.testing.assert_allclose(on.back(demodulator(on.here(noise))), demodulator(noise), atol=2e-4)
        again = demodulator(samples)
        assert isinstance(again, on.kind)
        np.testing.assert_allclose(on.back(again), values, atol=2e-5)


def test_split_f16_is_near_float32(on, rng):
    for antennas, users, symbols in ((128, 16, 14), (64, 32, 1)):
        h, y = normal(rng, 20, antennas, users), normal(rng, 20, symbols, antennas)
        settings = {"antennas": antennas, "users": users, "qam": 16}
        plain = wb.MassiveUplink(**settings)(h, y, 0.5)
        split = on.back(wb.MassiveUplink(sums="split-f16", **settings)(on.here(h), on.here(y), 0.5))
        assert not np.array_equal(split, plain)
        np.testing.assert_allclose(split, plain, rtol=1e-4, atol=1e-3 * np.abs(plain).max())


# ---------------------------------------------------------------- streams
def stream_cases(rng):
    def frame(channels, items, *shape, shared=1):
        return normal(rng, items // shared, *channels), normal(rng, items, *shape), 0.25
    detector, uplink = wb.NWay(streams=4, rx_antennas=4, qam=16), wb.MassiveUplink(antennas=32, users=8, qam=16)
    downlink, golden = wb.MassiveDownlink(antennas=32, users=8), wb.StbcDecoder(type="golden", qam=4, rx_antennas=2)
    h, y, n0 = frame((32, 8), 140, 32, shared=14)
    yield {"stage": uplink, "items_per_channel": 14}, (h, y, n0), uplink(h, y.reshape(10, 14, 32), n0).reshape(140, -1)
    for antennas, users, extra in ((32, 8, {"solver": "cg", "iterations": 3}), (64, 16, {})):  # 16 users have a kernel of their own
        steps = wb.MassiveUplink(antennas=antennas, users=users, qam=64, llr_steps=4.0, llr_sign="p1/p0", **extra)
        h, y, n0 = frame((antennas, users), 140, antennas, shared=14)
        h, y, together = halves(h), halves(y), halves(y).reshape(10, 14, antennas, 2)
        for name in ("llr", "llr_int8"):
            yield ({"stage": steps, "items_per_channel": 14, "samples": "complex32", "outputs": name}, (h, y, n0),
                   steps(h, together, n0, outputs=name).reshape(140, -1))
    h, s, n0 = frame((32, 8), 140, 8, shared=14)
    yield {"stage": downlink, "items_per_channel": 14}, (h, s, n0), downlink(h, s.reshape(10, 14, 8), n0).reshape(140, -1)
    h, y, n0 = frame((2, 2), 300, 2, 2)
    yield {"stage": golden}, (h, y, n0), golden(h, y, n0)
    h, y, n0 = frame((4, 4), 999, 4)
    llr = detector(h, y, n0)
    yield {"stage": detector}, (h, y, n0), llr
    turbo = wb.TurboDecoder(k=1024, precision="int16", algorithm="max-log-map")
    blocks = llr.size // turbo.n
    yield ({"stage": detector, "decoder": turbo}, (h, y, n0), turbo(llr.ravel()[:blocks * turbo.n].reshape(blocks, -1)))


@pytest.mark.parametrize("extra", [{}, {"waiting": "spin"}, {"parts": 2, "streams": 3}, {"graphs": True}, {"devices": ["cuda:0", "cpu"]}])
def test_streams_give_the_bits_of_the_cpu(extra, rng):
    for made, frame, wanted in stream_cases(rng):
        if "decoder" in made and "parts" in extra:
            continue  # such a chain works on a frame as a whole
        with wb.Stream(**{"most_items": frame[1].shape[0], "devices": "cuda:0", **made, **extra}) as stream:
            frames = list(stream.map([frame] * 60))
            stats = stream.stats()
        assert all(f.status == "delivered" and f.result.tobytes() == wanted.tobytes() for f in frames), made
        assert "cuda:0" in {f.device for f in frames} and stats.delivered == 60


def test_a_stream_under_load(rng):
    """Several producers, a callback, drops, and a stop with frames under way."""
    import threading
    detector, got = wb.KBest(streams=4, rx_antennas=4, qam=64), []
    frame = normal(rng, 4000, 4, 4), normal(rng, 4000, 4), 0.25
    wanted = detector(*frame)
    stream = wb.Stream(stage=detector, most_items=4000, devices=["cuda:0"], streams=4, queue=2, overflow="drop-oldest",
                       on_frame=got.append)
    tickets = [[] for _ in range(3)]
    threads = [threading.Thread(target=lambda results=results: results.extend(stream.push(*frame) for _ in range(100))) for results in tickets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    stream.drain()
    last = [stream.push(*frame) for _ in range(4)]
    stream.stop()
    ended = [t.frame(timeout=60) for results in tickets for t in results]
    assert all(f.result.tobytes() == wanted.tobytes() for f in ended if f.status == "delivered")
    stats = stream.stats()
    assert stats.pushed == 304 == stats.delivered + stats.dropped and len(got) == stats.delivered
    assert [f.sequence for f in got] == sorted(f.sequence for f in got)
    assert {t.frame().status for t in last} <= {"delivered", "dropped"}


def test_a_stream_takes_no_arrays_on_a_device(rng):
    torch = library("torch")
    h, y = (torch.from_numpy(normal(rng, *s)).cuda() for s in ((5, 2, 2), (5, 2)))
    with wb.Stream(stage=wb.MMSE(streams=2, rx_antennas=2, qam=4), most_items=5, devices="cuda:0") as stream:
        with pytest.raises(ValueError, match="received = an array on a device is not allowed: expected one in host memory"):
            stream.push(h, y, 0.1)
        with pytest.raises(ValueError, match="host memory"):
            stream.push(h, y.cpu(), 0.1)
        llr = stream.push(h.cpu(), y.cpu(), 0.1).result()
    assert isinstance(llr, torch.Tensor) and not llr.is_cuda
