"""Decompositions of small matrices against numpy.linalg, and items that are erased."""
import numpy as np
import pytest

import warpband as wb

UNIT = 2.0 ** -24


def matrices(rng, items, rows, columns, condition=10.0, real=False):
    """Of a condition, with a Frobenius norm between 1e-3 and 1e3."""
    def normal(n):
        x = rng.normal(size=(items, rows, n))
        return x if real else x + 1j * rng.normal(size=x.shape)

    u, v = np.linalg.qr(normal(columns))[0], np.linalg.qr(normal(columns)[:, :columns])[0]
    values = condition ** -np.linspace(0, 1, columns) if columns > 1 else np.ones(1)
    return 10 ** rng.uniform(-3, 3, (items, 1, 1)) * (u * values) @ v.conj().swapaxes(1, 2)


def norms(a):
    return np.sqrt((abs(a) ** 2).sum((-2, -1)))


def adjoint(a):
    return a.conj().swapaxes(-2, -1)


@pytest.mark.parametrize("real", [False, True])
@pytest.mark.parametrize("method", ["gram-schmidt", "householder", "cholesky"])
@pytest.mark.parametrize("rows, columns", [(1, 1), (2, 2), (4, 4), (5, 3), (8, 8), (16, 8)])
def test_qr(rows, columns, method, real):
    rng = np.random.default_rng(rows)
    for condition in (1.0, 30.0):
        a = matrices(rng, 50, rows, columns, condition, real).astype(np.float32 if real else np.complex64)
        q, r = np.linalg.qr(a.astype(np.complex128))
        turn = np.diagonal(r, axis1=1, axis2=2) / abs(np.diagonal(r, axis1=1, axis2=2))  # NumPy's diagonal is not positive
        q, r = q * turn[:, None, :], r / turn[:, :, None]
        wanted = ("r", "status") if method == "cholesky" else ("q", "r", "status")
        *found, status = wb.qr(a, method=method, outputs=wanted)
        growth = condition ** 2 if method == "cholesky" else condition
        assert not status.any() and found[-1].dtype == a.dtype
        assert (norms(found[-1] - r) <= 16 * growth * UNIT * norms(r)).all()
        assert not np.tril(found[-1], -1).any()
        if method != "cholesky":
            assert found[0].dtype == a.dtype and (norms(found[0] - q) <= 64 * condition * UNIT).all()
            assert (norms(found[0] @ found[1] - a) <= 32 * UNIT * norms(a)).all()


def test_qr_of_wide_real_numbers():
    a = np.random.default_rng(1).normal(size=(20, 16, 16))
    q, r = wb.qr(a, method="householder")
    assert q.dtype == r.dtype == np.float32
    assert np.allclose(q @ r, a, atol=1e-5) and np.allclose(adjoint(q) @ q, np.eye(16), atol=1e-5)


def test_householder_is_orthonormal_where_gram_schmidt_is_not():
    a = matrices(np.random.default_rng(2), 100, 8, 8, condition=1e5)
    loss = [norms(adjoint(q) @ q - np.eye(8)).max() for q in (wb.qr(a, method=m, outputs="q") for m in ("gram-schmidt", "householder"))]
    assert loss[0] > 1e-4 and loss[1] < 32 * UNIT


@pytest.mark.parametrize("method", ["gram-schmidt", "householder", "cholesky"])
def test_right_sides(method):
    """z = Q^H y: R x = z is the least-squares solution."""
    rng = np.random.default_rng(3)
    a, y = matrices(rng, 40, 6, 4).reshape(8, 5, 6, 4), rng.normal(size=(8, 5, 6)) + 1j * rng.normal(size=(8, 5, 6))
    z, r = wb.qr(a, y=y, method=method, outputs=("z", "r"))
    assert z.shape == (8, 5, 4)
    x = np.linalg.solve(r.astype(complex), z[..., None])
    wanted = np.linalg.solve(adjoint(a) @ a, adjoint(a) @ y[..., None])
    assert (norms(x - wanted) <= 1e-4 * norms(wanted)).all()


@pytest.mark.parametrize("n", range(1, 9))
def test_cholesky(n):
    rng = np.random.default_rng(n)
    h, b = matrices(rng, 50, 9, n), rng.normal(size=(50, n)) + 1j * rng.normal(size=(50, n))
    a = (adjoint(h) @ h).astype(np.complex64)
    r, x, status = wb.cholesky(a, b=b, outputs=("r", "x", "status"))
    wanted, solution = adjoint(np.linalg.cholesky(a.astype(complex))), np.linalg.solve(a.astype(complex), b[..., None])[..., 0]
    assert not status.any() and r.dtype == x.dtype == np.complex64
    assert (norms(r - wanted) <= 1e-4 * norms(wanted)).all() and not np.tril(r, -1).any()
    assert (abs(x - solution).max(1) <= 1e-3 * abs(solution).max(1)).all()
    lower = np.tril(np.full((n, n), np.nan), -1) + np.triu(a)
    assert np.array_equal(wb.cholesky(lower), r)  # what is below the diagonal is not read


def test_bad_items_are_erased_and_counted():
    rng = np.random.default_rng(4)
    h = matrices(rng, 6, 4, 4).astype(np.complex64)
    h[1, 2, 3], h[3, :, 1], h[4] = np.nan, h[3, :, 0], 0
    for method in ("gram-schmidt", "householder"):
        q, r, status = wb.qr(h, method=method, outputs=("q", "r", "status"))
        assert status.tolist() == [0, 1, 0, 1, 1, 0]
        assert not q[status == 1].any() and not r[status == 1].any() and np.isfinite(q).all()
    a = adjoint(h) @ h
    a[2], a[5, 0, 0] = -a[2], np.inf
    a[1, 0, 1] = np.nan
    r, x, status = wb.cholesky(a, b=np.ones((6, 4)), outputs=("r", "x", "status"))
    assert status.tolist() == [0, 1, 1, 1, 1, 1] and int(status.sum()) == 5
    assert not r[1:].any() and not x[1:].any() and r[0].any()


def test_out_and_one_output():
    a = matrices(np.random.default_rng(5), 10, 4, 4).astype(np.complex64)
    q, r = np.empty_like(a), np.empty_like(a)
    assert all(one is other for one, other in zip(wb.qr(a, out=(q, r)), (q, r)))
    wanted = wb.qr(a)
    assert np.array_equal(q, wanted[0]) and np.array_equal(r, wanted[1])
    assert np.array_equal(wb.qr(a, outputs="r"), r) and np.array_equal(wb.qr(a, outputs=["q"])[0], q)


@pytest.mark.parametrize("call, message", [
    (lambda: wb.qr(np.ones((3, 9, 9), complex)), r"a = shape \(3, 9, 9\) is not allowed: expected 1 to 8 columns"),
    (lambda: wb.qr(np.ones((3, 17, 16))), "expected 1 to 16 columns in the last axis and as many to 16 rows"),
    (lambda: wb.qr(np.ones((3, 2, 4))), "a = shape"), (lambda: wb.qr(np.ones(3)), "a = shape"),
    (lambda: wb.qr(np.eye(2), method="givens"), 'method = "givens" is not allowed: expected one of "gram-schmidt"'),
    (lambda: wb.qr(np.eye(2), method=2), "method = 2 is not allowed"),
    (lambda: wb.qr(np.eye(2), method="cholesky"), 'outputs = .* is not allowed: expected no "q"'),
    (lambda: wb.qr(np.eye(2), outputs="z"), 'outputs = .* is not allowed: expected "z" only with y'),
    (lambda: wb.qr(np.eye(2), y=1j * np.ones(2)), "a = .* is not allowed: expected complex64"),
    (lambda: wb.qr(np.eye(2), y=np.ones(3)), "y = shape"), (lambda: wb.qr(np.eye(2), strict=True), "a = .*float64"),
    (lambda: wb.cholesky(np.ones((2, 3))), "a = shape"), (lambda: wb.cholesky(np.eye(9)), "a = shape"),
    (lambda: wb.cholesky(np.eye(2), outputs="x"), 'outputs = .* is not allowed: expected "x" only with b'),
    (lambda: wb.cholesky(np.eye(2), b=np.ones((2, 2))), "b = shape"),
])
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()
