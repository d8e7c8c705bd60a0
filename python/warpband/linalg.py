"""Decompositions of many small matrices: QR, and Cholesky with the solution of Hermitian systems."""
from __future__ import annotations

from typing import Any, Literal, Sequence

from . import _core
from ._arrays import COMPLEX64, FLOAT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_complex, as_numbers, as_numbers_like, converting, has_complex_numbers
from ._settings import checked_executor, refused

__all__ = ["cholesky", "qr"]


@converting(a=as_numbers, y=as_numbers_like("a"))
def qr(a: Array, *, method: Literal["gram-schmidt", "householder", "cholesky"] = "gram-schmidt", y: Array | None = None,
       outputs: str | Sequence[str] = ("q", "r"), out: Any = None, executor: Executor | None = None, strict: bool = False) -> Any:
    """QR decompositions ``A = Q R`` of full column rank, R upper triangular with a real positive diagonal.

    Args:
        a: A, complex64 ``(..., m, n)`` with n 1..8, or float32 with n 1..16; m is n..16. Other real numbers become float32.
        method: "gram-schmidt", modified: Q loses orthogonality with the condition of A. "householder": Q is orthonormal up to
            rounding. "cholesky": R of ``A^H A``, without Q; the error of R grows with the squared condition.
        y: right sides ``(..., m)`` of the type of A; or None.
        outputs: "q" ``(..., m, n)`` and "r" ``(..., n, n)`` of the type of A, "z" ``(..., n)``: ``Q^H y``, "status" (uint8 ``(...)``,
            1 erased); or several.
        out: arrays to fill, in the order of ``outputs``, instead of new ones.
        executor: where arrays in host memory are processed; None for all cores.
        strict: refuse arrays in host memory of another type or layout instead of converting them.

    An item is erased, with zeros and status 1, if an entry of A or y is NaN or infinite. The same holds if ``|y|^2`` is above
    1e30, or ``|A|^2`` (the sum over entries) outside 1e-30..1e30. A singular A is erased too: a squared diagonal entry of R is
    below 1e-12 ``|A|^2``, with "cholesky" 1e-7.

    Raises:
        ValueError: for shapes, types or strides that do not fit, for "q" with method "cholesky", and for "z" without y.

    Source: modified Gram-Schmidt as in M. Wu, B. Yin, J. R. Cavallaro, "Flexible N-way MIMO detector on GPU", 2012, algorithm 1;
    G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, 2013, section 5.2.

    >>> a = np.random.default_rng(1).normal(size=(1000, 4, 4, 2)).astype(np.float32).view(np.complex64)[..., 0]
    >>> q, r = wb.qr(a, method="householder")
    >>> bool(np.allclose(q @ r, a, atol=1e-5)), bool((np.diagonal(r, axis1=1, axis2=2).real > 0).all())
    (True, True)
    """
    space = space_of(a)
    batch = batch_of("a", a, 2)
    m, n = a.shape[-2:]
    pairs = has_complex_numbers(a)
    if not isinstance(method, str):
        raise refused("method", method, '"gram-schmidt", "householder" or "cholesky"')
    if not 1 <= n <= (8 if pairs else 16) or not n <= m <= 16:
        raise ValueError(f"a = shape {tuple(a.shape)} is not allowed: expected 1 to {8 if pairs else 16} columns in the last axis and as "
                         "many to 16 rows in the one before it")
    if y is not None and not pairs and has_complex_numbers(y):
        raise ValueError("a = real numbers is not allowed: expected complex64, as y has complex numbers")
    dtype = COMPLEX64 if pairs else FLOAT32
    table = {"q": (dtype, (m, n)), "r": (dtype, (n, n)), "z": (dtype, (n,)), "status": (UINT8, ())}
    arrays = fill(space, table, outputs, out, batch)
    if "q" in arrays and method == "cholesky":
        raise refused("outputs", outputs, 'no "q": method "cholesky" has none')
    if "z" in arrays and y is None:
        raise refused("outputs", outputs, '"z" only with y')
    r = arrays.get("r")
    if r is None:  # the library computes it always
        r = space.empty(batch + (n, n), dtype)
    (_core.qr if pairs else _core.real_qr)(space.executor(checked_executor(executor)), method, space.take(a),
                                           None if y is None else space.take(y), arrays.get("q"), r, arrays.get("z"),
                                           arrays.get("status"))
    return results(space, arrays, outputs, out)


@converting(a=as_complex, b=as_complex)
def cholesky(a: Array, *, b: Array | None = None, outputs: str | Sequence[str] = "r", out: Any = None,
             executor: Executor | None = None, strict: bool = False) -> Any:
    """Cholesky decompositions ``A = R^H R`` of Hermitian positive definite A, and solutions of ``A x = b``.

    R is upper triangular with a real positive diagonal: the conjugate transpose of what ``numpy.linalg.cholesky`` gives.

    Args:
        a: A, complex64 ``(..., n, n)`` with n 1..8. Its upper triangle is read, and of the diagonal the real part.
        b: right sides, complex64 ``(..., n)``; or None.
        outputs: "r" (complex64 ``(..., n, n)``), "x" (complex64 ``(..., n)``), "status" (uint8 ``(...)``, 1 erased); or several.
        out: arrays to fill, in the order of ``outputs``, instead of new ones.
        executor: where arrays in host memory are processed; None for all cores.
        strict: refuse arrays in host memory of another type or layout instead of converting them.

    An item is erased, with zeros and status 1, if an entry that is read is NaN or infinite, or if A is not positive definite: a
    squared diagonal entry of R is below 1e-7 of the trace. The same holds if the trace is outside 1e-30..1e15, or the sum of
    ``|b|^2`` and the squares of the entries read is above 1e30.

    Raises:
        ValueError: for shapes, types or strides that do not fit, and for "x" without b.

    Source: G. H. Golub, C. F. Van Loan, "Matrix Computations", 4th edition, 2013, section 4.2.

    >>> h = np.random.default_rng(1).normal(size=(1000, 6, 4))
    >>> a, b = h.transpose(0, 2, 1) @ h, np.ones((1000, 4))
    >>> r, x, status = wb.cholesky(a, b=b, outputs=("r", "x", "status"))
    >>> bool(np.allclose(r.conj().transpose(0, 2, 1) @ r, a, atol=1e-4)), int(status.sum())
    (True, 0)
    >>> bool(np.allclose((a @ x[..., None])[..., 0], b, atol=1e-2))
    True
    """
    space = space_of(a)
    batch = batch_of("a", a, 2)
    n = a.shape[-1]
    if a.shape[-2] != n or not 1 <= n <= 8:
        raise ValueError(f"a = shape {tuple(a.shape)} is not allowed: expected square matrices of 1 to 8 columns in the last two axes")
    table = {"r": (COMPLEX64, (n, n)), "x": (COMPLEX64, (n,)), "status": (UINT8, ())}
    arrays = fill(space, table, outputs, out, batch)
    if "x" in arrays and b is None:
        raise refused("outputs", outputs, '"x" only with b')
    _core.cholesky(space.executor(checked_executor(executor)), space.take(a), None if b is None else space.take(b), arrays.get("r"),
                   arrays.get("x"), arrays.get("status"))
    return results(space, arrays, outputs, out)
