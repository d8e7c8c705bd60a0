"""Conjugate gradients in massive MIMO, in NumPy and double precision: spectra of A = H^H H + N0 I, errors left after each iteration, and iterations
up to a residual. At the SNRs where Cholesky has a block error rate of 1e-2 (curves/li_thesis_*.json).

Needs the package `warpband`, for its channels, and NumPy.
"""
from __future__ import annotations

import pathlib

from . import sweep_iterations as sweep
from .data import ReproduceError, read, root

DROPS, BATCH, SUBCARRIERS = 96, 12, 16  # the band of 128 subcarriers at every eighth
QUANTILES = (0.5, 0.9, 0.99)
RESIDUALS = (0.3, 0.2, 0.1, 0.05, 0.02)
SPACING_HZ = 156250.0 * 8


def channels_of(channel: str, antennas: int, users: int, drops: int, first: int, power_control: bool):
    """H, (drops, subcarriers, antennas, users) of entries of mean power 1."""
    import numpy as np
    import warpband as wb
    if channel == "rayleigh":
        random = np.random.default_rng([1, first, antennas, users])
        shape = (drops, SUBCARRIERS, antennas, users)
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)) / np.sqrt(2)
    profile = {"c2": "c2-nlos", "b1": "b1-los"}[channel]
    cdl = wb.CdlChannel(antennas=antennas, users=users, profile=profile, subcarriers=SUBCARRIERS, spacing_hz=SPACING_HZ,
                        cyclic_prefix_us=4.6875, power_control=power_control)
    return cdl.response(drops=drops, seed=1, first=first)[:, 0].astype(np.complex128)


def gradients(a, b, iterations: int, jacobi: bool):
    """x after each iteration, (iterations, ..., users), and |r|^2 / |b|^2 before each and after the last; Jacobi's in its scaled norm."""
    import numpy as np
    scale = 1 / np.sqrt(np.einsum("...ii->...i", a).real) if jacobi else np.ones(b.shape)
    a, r = a * scale[..., :, None] * scale[..., None, :], b * scale
    x, t = np.zeros_like(b), r.copy()
    first = energy = (abs(r) ** 2).sum(-1)
    xs, left = [], [np.ones(first.shape)]
    for _ in range(iterations):
        s = (a @ t[..., None])[..., 0]
        curvature = np.einsum("...i,...i->...", t.conj(), s).real
        alpha = np.where(energy > 1e-28 * first, energy / np.where(curvature > 0, curvature, 1), 0)
        x, r = x + alpha[..., None] * t, r - alpha[..., None] * s
        after = (abs(r) ** 2).sum(-1)
        t = r + (after / np.where(energy > 0, energy, 1))[..., None] * t
        energy = after
        xs.append(x * scale)
        left.append(energy / first)
    return np.array(xs), np.array(left)


def measure(channel: str, antennas: int, users: int, snr_db: float, power_control=True) -> dict:
    """Quantiles over drops and subcarriers of the condition number, and what iterations leave."""
    import numpy as np
    n0 = users * 10 ** (-snr_db / 10)
    steps = min(users, 48)
    kappa, excess, needed = [], {False: [], True: []}, []
    random = np.random.default_rng(2)
    for begin in range(0, DROPS, BATCH):
        h = channels_of(channel, antennas, users, BATCH, begin, power_control)
        shape = h.shape[:2]
        s = np.exp(1j * np.pi / 2 * (random.integers(0, 4, (*shape, users)) + 0.5))
        noise = np.sqrt(n0 / 2) * (random.standard_normal((*shape, antennas)) + 1j * random.standard_normal((*shape, antennas)))
        y = (h @ s[..., None])[..., 0] + noise
        adjoint = h.conj().swapaxes(-1, -2)
        a = adjoint @ h + n0 * np.eye(users)
        b = (adjoint @ y[..., None])[..., 0]
        eigenvalues = np.linalg.eigvalsh(a)
        kappa.append((eigenvalues[..., -1] / eigenvalues[..., 0]).ravel())
        exact = np.linalg.solve(a, b[..., None])[..., 0]
        noise_left = (abs(exact - s) ** 2).mean(axis=(1, 2))  # of a drop
        for jacobi in (False, True):
            xs, left = gradients(a, b, steps, jacobi)
            excess[jacobi].append((abs(xs - exact) ** 2).mean(axis=(2, 3)) / noise_left)
            if not jacobi:
                needed.append(left.reshape(len(left), -1))
    kappa, needed = np.concatenate(kappa), np.concatenate(needed, axis=1)
    found = {"channel": channel, "antennas": antennas, "users": users, "snr_db": round(snr_db, 3), "power_control": power_control,
             "kappa": [round(float(q), 3) for q in np.quantile(kappa, QUANTILES)], "stop": {}}
    for jacobi in (False, True):
        per_drop = np.concatenate(excess[jacobi], axis=1)
        found["jacobi_excess" if jacobi else "excess"] = [[float(f"{q:.3g}") for q in np.quantile(per_drop[i], QUANTILES)]
                                                          for i in range(steps) if i == 0 or np.quantile(per_drop[i - 1], 0.99) > 1e-4]
    for residual in RESIDUALS:  # iterations of a vector: the first whose residual is small enough
        met = needed <= residual ** 2
        count = np.where(met.any(axis=0), met.argmax(axis=0), steps).reshape(DROPS, -1).mean(axis=1)
        found["stop"][str(residual)] = [round(float(count.mean()), 4), round(float(1.96 * count.std(ddof=1) / DROPS ** 0.5), 4)]
    return found


def make(folder: pathlib.Path) -> pathlib.Path:
    """Of all sizes and channels of table 3.1 of K. Li's thesis, and of users whose powers differ."""
    from .campaign import write_lines
    try:
        import numpy  # noqa: F401
        import warpband  # noqa: F401
    except ImportError as error:
        raise ReproduceError(f"{error}: spectra need the package warpband and NumPy") from None
    entries = []
    for channel in ("rayleigh", "c2", "b1"):
        held = sweep.Curves(read(root() / f"curves/li_thesis_{channel}.json"))
        for size in held.sizes():
            snr_db = sweep.crossing(held.of(size, "cholesky"))
            if snr_db is None:
                continue
            alike = (True, False) if channel != "rayleigh" and size in ((128, 16), (128, 32), (256, 32)) else (True,)
            entries += [measure(channel, *size, snr_db, power_control) for power_control in alike]
            write_lines(folder / "spectrum.json", {"quantiles": QUANTILES, "drops": DROPS, "subcarriers": SUBCARRIERS, "entries": entries}, "entries")
    return folder / "spectrum.json"
