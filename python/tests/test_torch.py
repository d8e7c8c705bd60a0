"""Layers of warpband.torch: forward bits of the package, gradients of an oracle in torch's double precision, compile and vmap."""
import subprocess
import sys

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
    return torch.from_numpy(wb.QamMapper(qam=qam)(labels(qam).numpy().ravel())).to(torch.complex128)


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


def agree(got, wanted, items):
    """Within 1e-4 of an item's largest gradient, but for at most 2 % of the items, which are next to a tie."""
    flat = [(a.reshape(items, -1), b.reshape(items, -1)) for a, b in zip(got, wanted)]
    size = torch.stack([b.abs().amax(1) for _, b in flat]).amax(0)
    worst = torch.stack([(a - b).abs().amax(1) for a, b in flat]).amax(0) / size
    assert (worst > 1e-4).sum() <= items // 50, worst.sort().values[-5:]


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
    agree(got, wanted, n)
    logits = wt.Demapper(qam=qam, algorithm=algorithm, llr_sign="p1/p0")
    assert torch.equal(logits(y, n0, h), -layer(y, n0, h))


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
    agree(got, wanted, n)


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
    assert torch.equal(torch.func.vmap(detect, (0, 0, None))(h, y, n0), detect(h, y, n0))
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


@pytest.mark.parametrize("call, text", [
    (lambda: wt.Demapper(qam=5), "qam = 5"),
    (lambda: wt.Demapper(qam=4, llr_sign="x"), "llr_sign"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3), 0.1), "received = a tensor of torch.float32"),
    (lambda: wt.Demapper(qam=4)(torch.zeros((), dtype=torch.complex64), 0.1), "received = shape ()"),
    (lambda: wt.Demapper(qam=4)(torch.zeros(3, dtype=torch.complex64), torch.ones(2)), "noise_var = shape (2,)"),
    (lambda: wt.MMSE(streams=9, rx_antennas=9, qam=4), "streams = 9"),
    (lambda: wt.MMSE(streams=2, rx_antennas=2, qam=4)(torch.zeros(2, 3, dtype=torch.complex64),
                                                      torch.zeros(2, dtype=torch.complex64), 0.1), "channel = shape (2, 3)"),
    (lambda: wt.Awgn(seed=-1), "seed = -1"),
    (lambda: wt.QamMapper(qam=16)(torch.zeros(3, dtype=torch.uint8)), "bits = shape (3,)"),
    (lambda: wt.QamMapper(qam=16)(torch.zeros(4)), "bits = a tensor of torch.float32"),
])
def test_refusals(call, text):
    with pytest.raises(ValueError) as error:
        call()
    assert text in str(error.value)


def test_without_torch_the_error_says_what_to_install():
    code = ("import sys; sys.modules['torch'] = None\nimport warpband\ntry:\n    import warpband.torch\n"
            "except ImportError as error:\n    print(error)")
    path = subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, capture_output=True, text=True, check=True)
    assert path.stdout.startswith("warpband.torch needs torch")
