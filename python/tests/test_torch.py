"""Layers of warpband.torch: forward bits of the package, gradients of an oracle in torch's double precision, compile and vmap."""
import doctest

import numpy as np
import pytest

import warpband as wb

torch = pytest.importorskip("torch", reason="torch is not installed")
import warpband.torch as wt  # noqa: E402


def drawn(rng, *shape):
    return torch.from_numpy((rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(np.complex64) / 2 ** 0.5)


def labels(qam):
    bits = qam.bit_length() - 1
    return torch.from_numpy((np.arange(qam)[:, None] >> np.arange(bits)[::-1] & 1).astype(bool))


def llrs(distances, scale, qam, exact):
    """Of distances (..., qam) to all points, by definition; in double precision."""
    costs = -distances * scale
    sides = [torch.where(labels(qam) == value, costs[..., None, :].mT, -torch.inf) for value in (False, True)]
    reduced = [torch.logsumexp(side, -2) if exact else side.amax(-2) for side in sides]
    return (reduced[0] - reduced[1]).flatten(-2)


def points_of(qam):
    """By 3GPP TS 38.211 section 5.1: nested signs of the bits of each dimension. BPSK is on the diagonal."""
    sign = 1 - 2 * labels(qam).double()
    if qam == 2:
        return (sign[:, 0] * (1 + 1j)) / 2 ** 0.5
    levels = torch.ones(qam, 2, dtype=torch.float64)
    for i in range(sign.shape[1] - 2, -1, -2):
        levels = sign[:, i:i + 2] * (2 ** ((sign.shape[1] - 2 - i) // 2) * (i < sign.shape[1] - 2) + levels * (-1) ** (i < sign.shape[1] - 2))
    return torch.complex(levels[:, 0], levels[:, 1]) / (2 * (qam - 1) / 3) ** 0.5


def demap_oracle(y, n0, h, qam, exact):
    return llrs((y[..., None] - h[..., None] * points_of(qam)).abs().square(), 1 / n0[..., None, None].expand(*y.shape, 1, 1)[..., 0], qam, exact)


def mmse_oracle(h, y, n0, qam):
    inverse = torch.linalg.inv(h.mH @ h + n0[..., None, None] * torch.eye(h.shape[-1], dtype=h.dtype))
    error = n0[..., None] * inverse.diagonal(dim1=-2, dim2=-1).real
    x = (inverse @ h.mH @ y[..., None])[..., 0] / (1 - error)
    return llrs((x[..., None] - points_of(qam)).abs().square(), ((1 - error) / error)[..., None], qam, False).flatten(-1)


def gradients(call, weights, *inputs):
    inputs = [x.detach().clone().requires_grad_() for x in inputs]
    return torch.autograd.grad((call(*inputs) * weights).sum(), inputs)


def agree(got, wanted, items, ties=0):
    """Each tensor within 1e-4 of its own largest gradient of an item, except ``ties`` items: there the nearest point differs, or terms cancel."""
    worst = torch.zeros(items, dtype=torch.float64)
    for a, b in zip(got, wanted):
        a, b = a.reshape(items, -1), b.reshape(items, -1)
        worst = worst.maximum((a - b).abs().amax(1) / b.abs().amax(1))
    assert (worst > 1e-4).sum() <= ties, worst.sort().values[-5:]


def double(tensor):
    return tensor.to(torch.complex128 if tensor.is_complex() else torch.float64)


@pytest.mark.parametrize("qam", [2, 4, 16, 64])
@pytest.mark.parametrize("algorithm", ["max-log", "exact"])
def test_demapper(rng, qam, algorithm):
    n, exact = 100, algorithm == "exact"
    h = drawn(rng, n) + 0.1
    n0 = torch.from_numpy(rng.uniform(0.05, 2, n).astype(np.float32))
    bits = rng.integers(0, 2, n * (qam.bit_length() - 1))
    y = h * torch.from_numpy(wb.QamMapper(qam=qam)(bits)) + n0.sqrt() * drawn(rng, n)
    layer = wt.Demapper(qam=qam, algorithm=algorithm)
    assert torch.equal(layer(y, n0, h), wb.Demapper(qam=qam, algorithm=algorithm)(y, n0, channel=h))
    weights = torch.from_numpy(rng.normal(size=len(bits)))
    got = gradients(lambda y, h, n0: layer(y, n0, h), weights.float(), y, h, n0)
    wanted = gradients(lambda y, h, n0: demap_oracle(y, n0, h, qam, exact).flatten(), weights, double(y), double(h), double(n0))
    agree(got, wanted, n, ties=(qam, algorithm) == (16, "max-log"))
    logits = wt.Demapper(qam=qam, algorithm=algorithm, llr_sign="p1/p0")
    assert torch.equal(logits(y, n0, h), -layer(y, n0, h))


def bits_of(tensor):
    return tensor.detach().contiguous().view(torch.int32)


def test_logits_have_the_bits_of_the_package(rng):
    """An LLR of 0 is +0.0, also that of an erased item."""
    y, h, n0 = drawn(rng, 6), drawn(rng, 6, 2, 1), torch.full((6,), 0.5)
    n0[2] = -1
    settings = {"qam": 16, "llr_sign": "p1/p0"}
    logits, wanted = wt.Demapper(**settings)(y, n0), wb.Demapper(**settings)(y, n0)
    assert (logits.reshape(6, 4)[2] == 0).all() and torch.equal(bits_of(logits), bits_of(wanted))
    compiled = torch.compile(wt.Demapper(**settings), backend="aot_eager", fullgraph=True)(y, n0)
    assert torch.equal(bits_of(compiled), bits_of(wanted))
    settings |= {"streams": 1, "rx_antennas": 2}
    assert torch.equal(bits_of(wt.MMSE(**settings)(h, drawn(rng, 6, 2), n0)[2]), torch.zeros(4, dtype=torch.int32))


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_gradient_that_is_not_finite_is_seen(rng, bad):
    """It gives NaN, not 0: otherwise a loss of NaN would train silently."""
    demap, y, h, n0 = wt.Demapper(qam=16), drawn(rng, 5), drawn(rng, 5), torch.full((5,), 0.4)
    weights = torch.ones(20)
    weights[9] = bad  # symbol 2
    for gradient in gradients(lambda y, h, n0: demap(y, n0, h), weights, y, h, n0):
        assert torch.isnan(torch.view_as_real(gradient) if gradient.is_complex() else gradient)[2].all()
        assert torch.isfinite(gradient[[0, 1, 3, 4]]).all()
    detect, h, y = wt.MMSE(streams=2, rx_antennas=3, qam=4), drawn(rng, 5, 3, 2), drawn(rng, 5, 3)
    weights = torch.ones(5, 4)
    weights[2, 1] = bad
    for gradient in gradients(detect, weights, h, y, n0):
        assert torch.isnan(gradient[2]).all() and torch.isfinite(gradient[[0, 1, 3, 4]]).all()


def test_operators_are_as_torch_expects(rng):
    """Shapes and strides of traced tensors are those of real ones, also of a transposed input."""
    y, n0, h, z = drawn(rng, 3, 4).t(), torch.full((4, 3), 0.5), drawn(rng, 3, 4, 2).transpose(0, 1), drawn(rng, 3, 4).t()
    operators, number = torch.ops.warpband, wt.LdpcDecoder(code=SMALL, iterations=2)._code_number
    l, f = torch.from_numpy(rng.normal(size=(30, 4)).astype(np.float32)).t(), torch.tensor([0.5, 0.75])
    calls = [(operators.demap, (y, n0, None, 16, "exact")), (operators.demap_backward, (y, n0, None, torch.ones(4, 12), 16, "exact")),
             (operators.mmse, (h, z, n0[:, 0], 4, None)), (operators.mmse_backward, (h, z, n0[:, 0], torch.ones(4, 4).t(), 4, None)),
             (operators.awgn, (y, n0, 1, 0, 0)), (operators.min_sum, (l, f, number)),
             (operators.min_sum_backward, (l, f, torch.ones(30, 4).t(), number))]
    for operator, arguments in calls:
        with torch._subclasses.FakeTensorMode(allow_non_fake_inputs=True) as mode:
            fake = operator(*(mode.from_tensor(a) if isinstance(a, torch.Tensor) else a for a in arguments))
        real = operator(*arguments)
        for a, b in zip(fake if isinstance(fake, tuple) else (fake,), real if isinstance(real, tuple) else (real,)):
            assert (a.shape, a.stride(), a.dtype) == (b.shape, b.stride(), b.dtype), operator


@pytest.mark.parametrize("streams, rx, qam", [(1, 1, 4), (2, 2, 16), (4, 4, 64), (3, 5, 256)])
def test_mmse(rng, streams, rx, qam):
    n = 100
    h, n0 = drawn(rng, n, rx, streams), torch.from_numpy(rng.uniform(0.05, 2, n).astype(np.float32))
    bits = rng.integers(0, 2, n * streams * (qam.bit_length() - 1))
    sent = torch.from_numpy(wb.QamMapper(qam=qam)(bits)).reshape(n, streams, 1)
    y = (h @ sent)[..., 0] + n0[:, None].sqrt() * drawn(rng, n, rx)
    layer = wt.MMSE(streams=streams, rx_antennas=rx, qam=qam)
    assert torch.equal(layer(h, y, n0), wb.MMSE(streams=streams, rx_antennas=rx, qam=qam)(h, y, n0))
    weights = torch.from_numpy(rng.normal(size=(n, layer.bits_per_use)))
    got = gradients(layer, weights.float(), h, y, n0)
    wanted = gradients(lambda h, y, n0: mmse_oracle(h, y, n0, qam).reshape(n, -1), weights, double(h), double(y), double(n0))
    agree(got, wanted, n, ties=streams == 4)


def rows_of(code):
    """Columns of the ones of each row of H, block row after block row."""
    return [[c * code.z + (r + s) % code.z for c, s in enumerate(row) if s >= 0] for row in code.matrix for r in range(code.z)]


def min_sum_oracle(llr, corrections, rows, offset):
    """Layered min-sum by definition, whose gradients are torch's own; a column after the other."""
    a = list(llr.unbind(-1))
    messages = [[torch.zeros_like(a[0]) for _ in row] for row in rows]
    for correction in corrections.unbind():
        for i, row in enumerate(rows):
            q = [a[column] - r for column, r in zip(row, messages[i])]
            for d, column in enumerate(row):
                others = torch.stack(q[:d] + q[d + 1:])
                least = others.abs().amin(0)
                m = (least - correction).clamp(min=0) if offset else correction * least
                messages[i][d] = others.detach().sign().prod(0) * m
                a[column] = q[d] + messages[i][d]
    return torch.stack(a, -1)


SMALL = wb.LdpcCode(matrix=[[0, 1, 0, -1, 2, -1], [1, 0, -1, 3, 0, 2], [-1, 4, 2, 0, -1, 1]], z=5)


@pytest.mark.parametrize("name, values", [("factors", [0.51, 0.76, 0.87, 0.95, 0.63]), ("offsets", [0.113, 0.271, 0.194, 0.337, 0.089])])
def test_ldpc_decoder(rng, name, values):
    """Irregular values: with a factor of 1, or offsets of equal sums, magnitudes are equal, and torch splits their gradient."""
    n = 20
    algorithm = "normalised-min-sum" if name == "factors" else "offset-min-sum"
    layer = wt.LdpcDecoder(code=SMALL, algorithm=algorithm, iterations=5, trainable=True, **{name: values})
    llr = torch.from_numpy(rng.normal(1.5, 1.5, (n, 30)).astype(np.float32))
    deployed = wb.LdpcDecoder(code=SMALL, early_stop="none", **layer.settings())
    assert torch.equal(bits_of(layer(llr)), bits_of(deployed(llr, outputs="soft")))
    weights = torch.from_numpy(rng.normal(size=(n, 30)))
    parameter = getattr(layer, name)
    got = torch.autograd.grad((layer(x := llr.clone().requires_grad_()) * weights.float()).sum(), (x, parameter))
    wanted = gradients(lambda x, c: min_sum_oracle(x, c, rows_of(SMALL), name == "offsets"), weights, double(llr), double(parameter))
    agree(got[:1], wanted[:1], n)
    torch.testing.assert_close(got[1].double(), wanted[1], rtol=1e-4, atol=1e-4 * float(wanted[1].abs().max()))
    logits = wt.LdpcDecoder(code=SMALL, algorithm=algorithm, iterations=5, llr_sign="p1/p0", **{name: values})
    assert torch.equal(bits_of(logits(-llr)), bits_of(0 - layer(llr))) and not list(logits.parameters())


def test_ldpc_decoder_of_any_matrix(rng):
    h = wb.ParityCheckMatrix(matrix=[[1, 1, 1, 0, 0, 0, 1], [1, 0, 0, 1, 1, 0, 0], [0, 1, 0, 1, 0, 1, 0], [0, 0, 1, 0, 1, 1, 1]], punctured=[6])
    layer = wt.LdpcDecoder(code=h, iterations=3, factors=[0.5, 0.75, 1], trainable=True)
    llr = torch.from_numpy(rng.normal(1.5, 1.5, (40, 6)).astype(np.float32))
    assert torch.equal(layer(llr), wb.SparseLdpcDecoder(matrix=h, early_stop="none", **layer.settings())(llr, outputs="soft"))
    weights = torch.from_numpy(rng.normal(size=(40, 7)))
    padded = lambda x, c: min_sum_oracle(torch.cat([x, torch.zeros_like(x[:, :1])], -1), c, h.rows, False)  # noqa: E731
    got = torch.autograd.grad((layer(x := llr.clone().requires_grad_()) * weights.float()).sum(), (x, layer.factors))
    wanted = gradients(padded, weights, double(llr), double(layer.factors))
    agree(got[:1], wanted[:1], 40)
    torch.testing.assert_close(got[1].double(), wanted[1], rtol=1e-4, atol=1e-4)


def test_ldpc_decoder_under_compile_and_vmap(rng):
    layer = wt.LdpcDecoder(code=SMALL, iterations=3, factors=0.625, trainable=True)
    llr = torch.from_numpy(rng.normal(1.5, 1.5, (4, 6, 30)).astype(np.float32))
    compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
    assert torch.equal(bits_of(compiled(llr)), bits_of(layer(llr)))
    step = [torch.autograd.grad(call(llr).square().sum(), layer.factors)[0] for call in (layer, compiled)]
    torch.testing.assert_close(*step)
    assert torch.equal(torch.func.vmap(layer, 1, 1)(llr), layer(llr))
    mapped = gradients(lambda x: torch.func.vmap(layer)(x).square(), torch.ones(()), llr)[0]
    assert torch.equal(mapped, gradients(lambda x: layer(x).square(), torch.ones(()), llr)[0])
    lists = torch.tensor([[0.5, 0.75, 1.0], [0.625, 0.625, 0.625]])
    call = lambda x, c: torch.ops.warpband.min_sum(x, c, layer._code_number)  # noqa: E731
    assert torch.equal(torch.func.vmap(call, (None, 0))(llr, lists)[1], layer(llr))
    assert torch.equal(torch.func.vmap(call)(llr[:2], lists)[0], call(llr[0], lists[0]))


def test_ldpc_decoder_erases_and_shows_what_is_not_finite(rng):
    layer = wt.LdpcDecoder(code=SMALL, iterations=3, trainable=True)
    llr = torch.from_numpy(rng.normal(1.5, 1.5, (4, 30)).astype(np.float32))
    llr[1, 2] = float("nan")
    weights = torch.ones(4, 30)
    got = gradients(layer, weights, llr)[0]
    assert (got[1] == 0).all() and (got[[0, 2, 3]] != 0).any(1).all() and torch.isfinite(got).all()
    weights[3, 4] = float("inf")
    broken = torch.autograd.grad((layer(x := llr.clone().requires_grad_()) * weights)[2:].sum(), (x, layer.factors))
    assert torch.isnan(broken[0][3]).all() and torch.isnan(broken[1]).all() and torch.equal(broken[0][2], got[2])


def test_trained_factors_are_saved_copied_and_deployed(rng, tmp_path):
    import copy
    import json
    import pickle
    layer = wt.LdpcDecoder(code=SMALL, iterations=4, trainable=True)
    llr = torch.from_numpy(rng.normal(1.0, 1.0, (200, 30)).astype(np.float32))
    optimiser, losses = torch.optim.Adam(layer.parameters(), lr=0.05), []
    for _ in range(15):
        optimiser.zero_grad()
        losses.append(torch.nn.functional.softplus(-layer(llr)).mean())  # zeros were sent
        losses[-1].backward()
        optimiser.step()
    assert losses[-1] < losses[0]
    for other in (copy.deepcopy(layer), pickle.loads(pickle.dumps(layer))):
        assert torch.equal(other(llr), layer(llr))
    layer.save(tmp_path / "f.json", trained_for="a test")
    read = wb.LdpcDecoder(code=SMALL, iterations=4, early_stop="none", factors=str(tmp_path / "f.json"))
    assert torch.equal(bits_of(read(llr, outputs="soft")), bits_of(layer(llr)))
    layer.save(tmp_path / "i.json", trained_for="int8", step=0.125)
    assert all(8 * x == round(8 * x) for x in json.loads((tmp_path / "i.json").read_text())["factors"])
    wb.LdpcDecoder(code=SMALL, iterations=4, precision="int8", factors=str(tmp_path / "i.json"))


def test_shared_inputs_have_the_sum_of_the_gradients(rng):
    h, y, n0 = drawn(rng, 3, 4, 2), drawn(rng, 3, 5, 4), torch.tensor(0.3)
    layer, weights = wt.MMSE(streams=2, rx_antennas=4, qam=16), torch.from_numpy(rng.normal(size=(3, 5, 8))).float()
    shared = gradients(layer, weights, h, y, n0)
    alone = gradients(layer, weights, h[:, None].expand(3, 5, 4, 2), y, n0.expand(3, 5))
    assert [tuple(g.shape) for g in shared] == [(3, 4, 2), (3, 5, 4), ()]
    torch.testing.assert_close(shared[0], alone[0].sum(1))
    assert torch.equal(shared[1], alone[1])
    torch.testing.assert_close(shared[2], alone[2].sum())
    assert torch.equal(layer(h, y, n0), wb.MMSE(streams=2, rx_antennas=4, qam=16)(h, y, 0.3))


def test_awgn(rng):
    sent, n0 = drawn(rng, 7, 9), torch.from_numpy(rng.uniform(0.1, 2, (7, 1)).astype(np.float32))
    layer = wt.Awgn(seed=3)
    received = layer(sent, n0, first=5, point=2)
    assert torch.equal(received, wb.awgn(sent, noise_var=n0.expand(7, 9).contiguous(), seed=3, first=5, point=2))
    weights = drawn(rng, 7, 9)
    of_sent, of_n0 = gradients(lambda s, n: (layer(s, n, first=5, point=2) * weights.conj()).real, torch.ones(7, 9), sent, n0)
    torch.testing.assert_close(of_sent, weights)
    torch.testing.assert_close(of_n0, ((weights.conj() * (received - sent)).real / (2 * n0)).sum(1, keepdim=True), rtol=1e-4, atol=1e-5)
    zero = torch.zeros((), requires_grad=True)
    layer(sent, zero).abs().sum().backward()
    assert zero.grad == 0


@pytest.mark.parametrize("qam", [2, 4, 16, 256])
def test_mapper(rng, qam):
    mapper = wt.QamMapper(qam=qam, trainable=True)
    bits = torch.from_numpy(rng.integers(0, 2, (5, 3 * mapper.bits_per_symbol)))
    assert torch.equal(mapper(bits).detach(), wb.QamMapper(qam=qam)(bits))
    torch.testing.assert_close(mapper.points.detach().to(torch.complex128), points_of(qam), rtol=0, atol=1e-6)
    assert torch.equal(wt.QamMapper(qam=qam)(bits), wb.QamMapper(qam=qam)(bits)) and not list(wt.QamMapper(qam=qam).parameters())
    weights = drawn(rng, 5, 3)
    (mapper(bits) * weights.conj()).real.sum().backward()
    index = (bits.reshape(-1, mapper.bits_per_symbol) * 2 ** torch.arange(mapper.bits_per_symbol).flip(0)).sum(1)
    torch.testing.assert_close(mapper.points.grad, torch.zeros(qam, dtype=torch.complex64).index_add(0, index, weights.flatten()))
    with torch.no_grad():
        mapper.points *= 3
    assert abs(float(mapper.normalize_().points.detach().abs().square().mean()) - 1) < 1e-6


def chain(rng):
    bits = torch.from_numpy(rng.integers(0, 2, (6, 16)))
    map_, noise, demap = wt.QamMapper(qam=16), wt.Awgn(seed=1), wt.Demapper(qam=16, algorithm="exact", llr_sign="p1/p0")

    def loss(gain, n0):
        return torch.nn.functional.binary_cross_entropy_with_logits(demap(noise(gain * map_(bits), n0), n0, gain), bits.float())

    return loss, torch.tensor(0.8 + 0.3j, dtype=torch.complex64), torch.tensor(0.2)


def test_compiled_layers_give_the_same_gradients(rng):
    loss, gain, n0 = chain(rng)
    compiled = torch.compile(loss, backend="aot_eager", fullgraph=True)
    for a, b in zip(gradients(loss, torch.tensor(1.), gain, n0), gradients(compiled, torch.tensor(1.), gain, n0)):
        torch.testing.assert_close(a, b)


def test_vmap_is_a_batch(rng):
    h, y, n0 = drawn(rng, 5, 6, 3, 2), drawn(rng, 5, 6, 3), torch.full((6,), 0.4)
    detect, demap = wt.MMSE(streams=2, rx_antennas=3, qam=4), wt.Demapper(qam=16)
    assert torch.equal(torch.func.vmap(detect, (0, 0, None))(h, y, n0), detect(h, y, n0.expand(5, 6)))
    assert torch.equal(torch.func.vmap(demap, (1, None), 1)(y, torch.tensor(0.4)), demap(y.movedim(1, 0), 0.4).movedim(0, 1))
    mapped = gradients(lambda y: torch.func.vmap(lambda row: demap(row, 0.4))(y).square(), torch.ones(()), y)[0]
    assert torch.equal(mapped, gradients(lambda y: demap(y, 0.4).square(), torch.ones(()), y)[0])


def test_a_training_step_lowers_the_loss(rng):
    """Rotated points come back: the demapper expects those of the standard."""
    mapper, demap = wt.QamMapper(qam=4, trainable=True), wt.Demapper(qam=4, llr_sign="p1/p0")
    with torch.no_grad():
        mapper.points *= torch.exp(torch.tensor(0.6j))
    bits = torch.from_numpy(rng.integers(0, 2, 400))
    optimiser, losses = torch.optim.Adam(mapper.parameters(), lr=0.05), []
    for step in range(40):
        optimiser.zero_grad()
        received = wt.Awgn(seed=1)(mapper(bits), 0.5, first=200 * step)
        losses.append(torch.nn.functional.binary_cross_entropy_with_logits(demap(received, 0.5), bits.float()))
        losses[-1].backward()
        optimiser.step()
        mapper.normalize_()
    assert losses[-1] < 0.8 * losses[0]
    assert (mapper.points - wt.QamMapper(qam=4).points).abs().max() < 0.3


def scaled_mapper(factor):
    mapper = wt.QamMapper(qam=4, trainable=True)
    with torch.no_grad():
        mapper.points *= factor
    return mapper


@pytest.mark.parametrize("call, text", [
    (lambda: wt.Demapper(qam=5), "qam = 5"),
    (lambda: wt.Demapper(qam=4, llr_sign="x"), "llr_sign"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3), 0.1), "received = a tensor of torch.float32"),
    (lambda: wt.Demapper(qam=4)(torch.zeros((), dtype=torch.complex64), 0.1), "received = shape ()"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3, dtype=torch.complex64), torch.ones(2)), "noise_var = shape (2,)"),
    (lambda: wt.MMSE(streams=9, rx_antennas=9, qam=4), "streams = 9"),
    (lambda: wt.MMSE(streams=2, rx_antennas=2, qam=4)(torch.zeros(2, 3, dtype=torch.complex64),
                                                      torch.zeros(2, dtype=torch.complex64), 0.1), "channel = shape (2, 3)"),
    (lambda: wt.MMSE(streams=1, rx_antennas=2, qam=4)(torch.zeros(3, 3, 2, 1, dtype=torch.complex64),
                                                      torch.zeros(3, 3, 2, dtype=torch.complex64), torch.ones(3)), "noise_var = shape (3,)"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3, dtype=torch.complex64), -0.5), "noise_var = -0.5 is not allowed: expected a power above 0"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3, dtype=torch.complex64), 0), "noise_var = 0 is not allowed: expected a power above 0"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3, dtype=torch.complex64), float("nan")), "noise_var = nan"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3, dtype=torch.complex64), 1j), "noise_var = 1j"),
    (lambda: wt.Awgn(seed=1)(torch.zeros(3, dtype=torch.complex64), -0.5), "noise_var = -0.5 is not allowed: expected a power of 0 or more"),
    (lambda: wt.QamMapper(qam=4).normalize_(), "trainable = False"),
    (lambda: scaled_mapper(0).normalize_(), "points = of mean energy 0.0"),
    (lambda: scaled_mapper(float("nan")).normalize_(), "points = of mean energy nan"),
    (lambda: wt.Awgn(seed=-1), "seed = -1"),
    (lambda: wt.LdpcDecoder(code=SMALL, algorithm="sum-product"), "algorithm"),
    (lambda: wt.LdpcDecoder(code=SMALL, iterations=0), "iterations = 0"),
    (lambda: wt.LdpcDecoder(code=SMALL, iterations=3, factors=[0.5, 0.5]), "expected a number from 0 to 1, or 3 of them"),
    (lambda: wt.LdpcDecoder(code=SMALL, factors=1.5), "factors"),
    (lambda: wt.LdpcDecoder(code=SMALL, offsets=0.5), "offsets"),
    (lambda: wt.LdpcDecoder(code=SMALL)(torch.zeros(3, 29)), "llr = shape (3, 29)"),
    (lambda: wt.LdpcDecoder(code=SMALL)(torch.zeros(30, dtype=torch.float64)), "llr = a tensor of torch.float64"),
    (lambda: wt.LdpcDecoder(code=SMALL).save("x", trained_for=""), "trained_for"),
    (lambda: wt.QamMapper(qam=16)(torch.zeros(3, dtype=torch.uint8)), "bits = shape (3,)"),
    (lambda: wt.QamMapper(qam=16)(torch.zeros(4)), "bits = a tensor of torch.float32"),
])
def test_refusals(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert text in str(error.value)


@pytest.mark.parametrize("noise_var", [None, "0.5", True, np.ones(3)])
def test_noise_of_another_type_is_refused_by_name(noise_var):
    symbols = torch.zeros(3, dtype=torch.complex64)
    for call in (lambda: wt.Demapper(qam=4)(symbols, noise_var), lambda: wt.Awgn(seed=1)(symbols, noise_var),
                 lambda: wt.MMSE(streams=1, rx_antennas=1, qam=4)(symbols[:1, None], symbols[:1], noise_var)):
        with pytest.raises(TypeError, match=f"noise_var is a {type(noise_var).__name__}: expected a number or a tensor"):
            call()


def test_examples_of_the_docstrings():
    found = doctest.testmod(wt)
    assert found.failed == 0 and found.attempted >= 16
