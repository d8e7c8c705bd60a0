"""Effective SINR and block error rates of tables: what a system simulator asks of a link."""
from __future__ import annotations

import json
import math
import os
from typing import Any, Literal, Mapping, Sequence

import numpy as np

from . import _core
from ._arrays import FLOAT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_real, converting
from ._settings import checked_executor, file_name, listed, made, number, refused, whole

__all__ = ["BlerTables", "effective_sinr", "mutual_information", "snr_of_information"]

_DB = 10 / math.log(10)


def _in_double(name: str, values: Any) -> np.ndarray:
    try:
        if np.iscomplexobj(values):
            raise TypeError
        return np.array(values, float)
    except Exception:  # objects may raise anything
        raise TypeError(f"{name} is a {type(values).__name__}: expected numbers") from None


def mutual_information(snr_db: Any, *, qam: int, kind: Literal["bit", "symbol"] = "bit") -> np.ndarray:
    """Mutual information of BPSK or Gray QAM in white Gaussian noise, in bits a symbol.

    The capacity of a Gaussian input is :func:`warpband.capacity`.

    Args:
        snr_db: Es/N0 in dB, a number or an array of -300 to 300.
        qam: points of the constellation: 2 (BPSK), 4, 16, 64, 256, 1024 or 4096.
        kind: "bit", the sum over a symbol's bits, each by itself, as a demapper without a-priori LLRs leaves it (BICM);
            "symbol", what joint decoding of the bits could use (coded modulation).

    Returns:
        float64 of the shape of ``snr_db``, with a relative error below 1e-5 of it and of its distance to ``log2(qam)``.

    Raises:
        ValueError: for another ``qam`` or ``kind``, and SNRs that are NaN or beyond 300 dB.

    Source: G. Caire, G. Taricco, E. Biglieri, "Bit-interleaved coded modulation", IEEE Trans. IT 44(3), 1998.

    >>> wb.mutual_information([0.0, 10.0], qam=16).round(4).tolist()
    [0.8993, 3.1636]
    >>> float(wb.mutual_information(0.0, qam=16, kind="symbol").round(4))
    0.9897
    """
    values = _in_double("snr_db", snr_db)
    bits = made(_core.mutual_information, qam=qam, snr_db=values.ravel().tolist(), kind=kind)
    return np.array(bits).reshape(values.shape)


def snr_of_information(bits: Any, *, qam: int, kind: Literal["bit", "symbol"] = "bit") -> np.ndarray:
    """The SNR in dB at which :func:`mutual_information` is ``bits``.

    Args:
        bits: a number or an array, above 0 and below ``log2(qam)``.
        qam, kind: as there.

    Returns:
        float64 of the shape of ``bits``.

    Raises:
        ValueError: for bits that no SNR gives, and as :func:`mutual_information`.

    >>> float(wb.snr_of_information(2.0, qam=16).round(2))
    5.28
    """
    values = _in_double("bits", bits)
    snr_db = made(_core.snr_db_of_information, qam=qam, bits=values.ravel().tolist(), kind=kind)
    return np.array(snr_db).reshape(values.shape)


@converting(sinrs=as_real, weights=as_real)
def effective_sinr(sinrs: Array, *, method: Literal["eesm", "miesm", "rbir"] = "miesm", qam: int = 4, beta: float = 1.0, decibel: bool = False,
                   mixed: Sequence[int] | None = None, weights: Array | None = None, outputs: str | Sequence[str] = "effective",
                   out: Any = None, executor: Executor | None = None, strict: bool = False) -> Any:
    """The SINR of a flat channel on which a code block has the error rate that it has on elements of these SINRs.

    Args:
        sinrs: float32 ``(..., elements)``: SINRs of the symbols or subcarriers of a block.
        method: "eesm": ``-beta ln mean exp(-sinr / beta)``. "miesm": ``beta I^-1(mean I(sinr / beta))`` with the mutual
            information I of single bits, "rbir" with that of symbols (:func:`mutual_information`).
        qam: points of the constellation, to which the result refers: 2, 4, 16, 64, 256, 1024 or 4096. Not used by "eesm".
        beta: 1e-3 to 1e5, linear; fitted for each MCS (``python -m warpband.calibrate``).
        decibel: SINRs in and out are in dB; else linear.
        mixed: points of each element's constellation, where they differ. The mean information is that of all elements over the bits
            of all; not with "eesm".
        weights: float32 ``(elements,)`` or of the shape of ``sinrs``, not negative; None: all equal. SINRs of weight 0 are not used.
        outputs: "effective" (float32 ``(...)``), "status" (uint8 ``(...)``: 1 erased), or both.
        out: arrays to fill, in the order of ``outputs``, instead of new ones.
        executor: where arrays in host memory are processed; None for all cores.
        strict: refuse arrays in host memory of another type or layout instead of converting them.

    Within 1e-4 dB of the formula. SINRs of any size are taken, limited to -300 to 300 dB: means are formed of logarithms, so that I is
    never clamped before it is inverted. An item is erased, with NaN and status 1, if a SINR or a weight is NaN, infinite or
    (linear) negative. The same holds if all weights are 0.

    Raises:
        ValueError: for settings that are not allowed, by name, and shapes that do not fit.

    Source: K. Brueninghaus et al., "Link performance models for system level simulations of broadband radio access systems",
    PIMRC 2005; IEEE 802.16m-08/004r5, section 4.3 (RBIR).

    >>> sinrs = np.array([[1.0, 10.0, 100.0], [10.0, 10.0, 10.0]])
    >>> wb.effective_sinr(sinrs, method="rbir", qam=16).astype(float).round(2).tolist()
    [6.52, 10.0]
    >>> wb.effective_sinr(10 * np.log10(sinrs), method="eesm", beta=5.0, decibel=True).astype(float).round(2).tolist()
    [7.58, 10.0]
    """
    space = space_of(sinrs)
    batch = batch_of("sinrs", sinrs, 1)
    if weights is not None and not hasattr(weights, "shape"):
        raise TypeError(f"weights is a {type(weights).__name__}: expected an array")
    if weights is not None and tuple(weights.shape) not in (tuple(sinrs.shape), tuple(sinrs.shape[-1:])):
        raise ValueError(f"weights = shape {tuple(weights.shape)} is not allowed: expected {tuple(sinrs.shape[-1:])} or {tuple(sinrs.shape)}")
    table = {"effective": (FLOAT32, ()), "status": (UINT8, ())}
    arrays = fill(space, table, outputs, out, batch)
    settings = {"method": method, "qam": qam, "beta": beta, "decibel": decibel,
                "mixed": [] if mixed is None else listed("mixed", mixed)}
    work = made(_core.EffectiveSinr, settings=settings)
    if not sinrs.shape[-1] or settings["mixed"] and len(settings["mixed"]) != sinrs.shape[-1]:
        expected = f"{len(settings['mixed'])} elements, as mixed has" if settings["mixed"] else "1 or more elements"
        raise ValueError(f"sinrs = shape {tuple(sinrs.shape)} is not allowed: expected {expected}")
    work.run(space.executor(checked_executor(executor)), space.take(sinrs), None if weights is None else space.take(weights),
             arrays.get("effective"), arrays.get("status"))
    return results(space, arrays, outputs, out)


# ---------------------------------------------------------------- tables of block error rates

_COLUMNS = ("link", "transform_precoding", "mcs_table", "mcs", "modulation_order", "rate", "size", "round", "first", "points")
_POINTS = ("snr_db", "blocks", "errors")
_LINKS = {"pusch": 0, "pdsch": 1}


def _read(path: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Attributes and columns of a file that ``warpband tables`` writes."""
    if os.path.isdir(path):
        path = os.path.join(path, "tables.json")
    if path.endswith((".h5", ".hdf5")):
        import h5py
        with h5py.File(path) as f:
            attributes = {name: value.decode() if isinstance(value, bytes) else value for name, value in f.attrs.items()}
            return attributes, {name: np.asarray(f[name]) for name in (*_COLUMNS, *_POINTS) if name in f}
    with open(path, encoding="utf-8") as f:
        try:
            content = json.load(f)
        except ValueError as error:
            raise ValueError(f"path = {path!r} is not allowed: expected JSON ({error})") from None
    if not isinstance(content, dict):
        raise ValueError(f"path = {path!r} is not allowed: expected an object of columns")
    try:
        columns = {name: np.asarray(content[name], float) for name in (*_COLUMNS, *_POINTS) if name in content}
    except (TypeError, ValueError):
        raise ValueError(f"path = {path!r} is not allowed: expected columns of numbers") from None
    attributes = content.get("attributes") or {}
    if not isinstance(attributes, dict):
        raise ValueError(f"path = {path!r} is not allowed: expected an object of attributes")
    return attributes, columns


def _host(array: Any) -> np.ndarray:
    """An array of any library, in host memory."""
    for name in ("get", "cpu"):  # of CuPy, of torch
        if hasattr(array, name):
            array = getattr(array, name)()
    return np.asarray(array, float)


def _host_numbers(name: str, array: Any) -> Any:
    """A list or an array of NumPy as float64; arrays of others as they are."""
    return array if hasattr(array, "shape") and not isinstance(array, (np.ndarray, np.generic)) else _in_double(name, array)


def _is_beta(value: Any) -> bool:
    return isinstance(value, (int, float, np.number)) and not isinstance(value, bool) and 1e-3 <= value <= 1e5


class BlerTables:
    """Block error rates over Es/N0 in white noise, as ``warpband tables`` writes them, for blocks on elements of any SINRs.

    Args:
        path: a folder with ``tables.json``, or a file: JSON, or HDF5 where h5py is installed.
        link: "pdsch" or "pusch"; None: the one that the file has.
        mcs_table: number of the MCS table; None: the one that the file has.
        transform_precoding: tables of PUSCH with transform precoding.

    A curve is read at the effective SINR, see :func:`effective_sinr`. Between its points the log odds ln(p / (1 - p)) are linear in dB,
    with p = (errors + 1/2) / (blocks + 1). They never rise with the SNR. Below its first point p rises along the first line that falls.
    Above its last point p is that of the last: no rate is stated that was not simulated. Between two sizes log odds are linear in the
    logarithm of the size. With LTE a size is that of a transport block: leave ``code_blocks`` at 1, and do not use :meth:`choose`.

    Raises:
        ValueError: for a file without these columns, and for a choice that it does not have.
        OSError: where it cannot be read.

    >>> import json, pathlib, tempfile
    >>> columns = {"attributes": {"format": "warpband-tables"}, "link": [1], "transform_precoding": [0], "mcs_table": [1], "mcs": [4],
    ...            "modulation_order": [2], "rate": [0.30078125], "size": [500], "round": [1], "first": [0], "points": [3],
    ...            "snr_db": [-1.5, -1.2, -0.9], "blocks": [500, 1000, 10000], "errors": [400, 250, 100]}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = pathlib.Path(folder, "tables.json").write_text(json.dumps(columns))
    ...     tables = wb.BlerTables(path=folder)
    >>> tables.bler(4, 500, [[-1.2, -1.2], [0.2, -3.0]], decibel=True).round(2).tolist()
    [0.25, 0.37]
    """

    __slots__ = ("_attributes", "_curves", "_modes", "__weakref__")

    def __init__(self, *, path: str | os.PathLike[str], link: Literal["pdsch", "pusch"] | None = None, mcs_table: int | None = None,
                 transform_precoding: bool = False):
        name = file_name("path", path)
        attributes, columns = _read(name)
        missing = [c for c in (*_COLUMNS, *_POINTS) if c not in columns]
        if missing:
            raise ValueError(f"path = {name!r} is not allowed: expected columns {', '.join(missing)} too")
        if link is not None and not (isinstance(link, str) and link in _LINKS):
            raise refused("link", link, '"pdsch" or "pusch"')
        if mcs_table is not None:
            mcs_table = whole("mcs_table", mcs_table, 1, 2 ** 31 - 1)
        if not isinstance(transform_precoding, (bool, np.bool_)):
            raise refused("transform_precoding", transform_precoding, "True or False")
        if any(columns[c].ndim != 1 or len(columns[c]) != len(columns[group[0]]) for group in (_COLUMNS, _POINTS) for c in group):
            raise ValueError(f"path = {name!r} is not allowed: expected columns of one length for cases, and of one for points")
        if not all(np.isfinite(columns[c]).all() for c in (*_COLUMNS, *_POINTS)) or not (columns["size"] >= 1).all():
            raise ValueError(f"path = {name!r} is not allowed: expected finite numbers, and sizes of 1 or more")
        self._attributes = dict(attributes)
        rows = np.flatnonzero(columns["transform_precoding"] == int(transform_precoding))
        names = {value: word for word, value in _LINKS.items()}
        for argument, given in (("link", link), ("mcs_table", mcs_table)):
            values = {names.get(int(columns[argument][r]), "other") if argument == "link" else int(columns[argument][r]) for r in rows}
            if given is None and len(values) > 1 or given is not None and given not in values:
                raise ValueError(f"{argument} = {given!r} is not allowed: the file has {sorted(values)}")
            if given is not None:
                rows = rows[columns[argument][rows] == (_LINKS[given] if argument == "link" else given)]
        self._curves: dict[tuple[int, int], dict[int, tuple[np.ndarray, np.ndarray]]] = {}  # by (MCS, round), then size
        self._modes: dict[int, tuple[int, float]] = {}
        for r in rows:
            count, first = int(columns["points"][r]), int(columns["first"][r])
            snr, blocks, errors = (columns[c][first:first + count] for c in _POINTS)
            if not count:
                continue
            if len(snr) != count or not (np.diff(snr) > 0).all() or not ((0 <= errors) & (errors <= blocks) & (blocks > 0)).all():
                raise ValueError(f"path = {name!r} is not allowed: expected rising SNRs with 0 <= errors <= blocks in row {int(r)}")
            p = (errors + 0.5) / (blocks + 1)
            mcs = int(columns["mcs"][r])
            sizes = self._curves.setdefault((mcs, int(columns["round"][r])), {})
            sizes[int(columns["size"][r])] = (snr, np.minimum.accumulate(np.log(p / (1 - p))))
            self._modes[mcs] = int(columns["modulation_order"][r]), float(columns["rate"][r])
        if not self._curves:
            raise ValueError(f"path = {name!r} is not allowed: expected points of this link and table")

    def __repr__(self) -> str:
        return f"BlerTables(mcs={self.mcs}, decoder={self._attributes.get('decoder')!r})"

    @property
    def attributes(self) -> dict[str, Any]:
        """A copy of the file's attributes: standard, decoder, harq and others."""
        return dict(self._attributes)

    @property
    def mcs(self) -> list[int]:
        """MCS indices that have curves."""
        return sorted(self._modes)

    def sizes(self, mcs: int) -> list[int]:
        """Bits of the code blocks of an MCS that have curves."""
        return sorted(self._sizes(mcs, 1))

    def efficiency(self, mcs: int) -> float:
        """Information bits a symbol: the modulation order times the code rate."""
        self._sizes(mcs, 1)
        order, rate = self._modes[mcs]
        return order * rate

    def _sizes(self, mcs: int, rounds: int) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        index = whole("mcs", mcs, 0, 31)
        if index not in self._modes:
            raise refused("mcs", mcs, f"one of {self.mcs}")
        found = self._curves.get((index, rounds))
        if found is None:
            has = sorted(r for m, r in self._curves if m == index)
            raise ValueError(f"rounds = {rounds} is not allowed: MCS {index} has curves of rounds {has}")
        return found

    @staticmethod
    def _odds(curve: tuple[np.ndarray, np.ndarray], snr_db: np.ndarray) -> np.ndarray:
        snr, odds = curve
        value = np.interp(snr_db, snr, odds)
        falls = np.flatnonzero(np.diff(odds) < 0)
        if falls.size:  # the first points of a curve often fail alike: the line through them would be flat
            i = falls[0]
            below = odds[0] + (odds[i + 1] - odds[i]) / (snr[i + 1] - snr[i]) * (snr_db - snr[0])
            value = np.where(snr_db < snr[0], below, value)
        return np.where(np.isnan(snr_db), np.nan, value)

    def at_snr(self, mcs: int, size: int, snr_db: Any, *, rounds: int = 1, code_blocks: int = 1) -> np.ndarray:
        """Block error rates on a flat channel of these Es/N0 in dB, as :meth:`bler`, float64 of their shape; NaN where they are NaN."""
        curves = self._sizes(mcs, whole("rounds", rounds, 1, 64))
        sizes = sorted(curves)
        bits, snr = whole("size", size, 1, 2 ** 31 - 1), _in_double("snr_db", snr_db)
        if not sizes[0] <= bits <= sizes[-1]:
            raise refused("size", size, f"{sizes[0]} to {sizes[-1]}, as the curves of MCS {mcs} have")
        low, high = max(s for s in sizes if s <= bits), min(s for s in sizes if s >= bits)
        odds = self._odds(curves[low], snr)
        if high > low:
            share = math.log(bits / low) / math.log(high / low)
            odds = (1 - share) * odds + share * self._odds(curves[high], snr)
        with np.errstate(invalid="ignore"):  # of NaN
            log_success = -np.logaddexp(0, odds)  # ln(1 - p)
        return -np.expm1(whole("code_blocks", code_blocks, 1, 2 ** 20) * log_success)

    def bler(self, mcs: int, size: int, sinrs: Array, *, harq: Literal["none", "chase", "ir"] = "none", code_blocks: int = 1,
             method: Literal["eesm", "miesm", "rbir"] = "miesm", beta: float = 1.0, decibel: bool = False, weights: Array | None = None,
             executor: Executor | None = None) -> np.ndarray:
        """Error rates of blocks on elements of different SINRs.

        Args:
            mcs: the MCS index, with which the modulation is given.
            size: information bits of a code block, between the least and the largest size of this MCS.
            sinrs: ``(..., elements)``; with HARQ ``(..., rounds, elements)``. On a GPU the effective SINR is computed there.
            harq: "chase": the same bits again, SINRs of an element add up; the curve is that of the first round. "ir": other parity bits;
                the mean information of all rounds is looked up in the curve of so many rounds, which has the equivalent rate.
            code_blocks: C code blocks of a transport block, which fails if one does: 1 - (1 - p)^C.
            method, beta, decibel, executor: as of :func:`effective_sinr`.
            weights: ``(elements,)``, or one for each element of each item. With "chase" all rounds of an element have the same.

        Returns:
            float64 ``(...)``, a NumPy array; NaN for items that :func:`effective_sinr` erases.

        Raises:
            ValueError: for an MCS, a size or a number of rounds that the tables do not have, and as :func:`effective_sinr`.
        """
        if not (isinstance(harq, str) and harq in ("none", "chase", "ir")):
            raise refused("harq", harq, '"none", "chase" or "ir"')
        if not isinstance(decibel, (bool, np.bool_)):
            raise refused("decibel", decibel, "True or False")
        rounds = 1
        sinrs = _host_numbers("sinrs", sinrs)
        weights = None if weights is None else _host_numbers("weights", weights)
        if harq != "none":
            shape = tuple(sinrs.shape)
            if len(shape) < 2 or not shape[-2]:
                raise ValueError(f"sinrs = shape {shape} is not allowed: expected (..., rounds, elements) with harq = {harq!r}")
            if weights is not None and tuple(weights.shape) == shape and harq == "chase":
                raise ValueError(f'weights = shape {shape} is not allowed: expected {shape[-1:]} or {shape[:-2] + shape[-1:]} with harq = "chase"')
            if harq == "chase":
                sinrs = _sum_of_rounds(sinrs, bool(decibel))
            else:
                rounds = shape[-2]
                sinrs = sinrs.reshape(shape[:-2] + (rounds * shape[-1],))
                if weights is not None and tuple(weights.shape) == shape:
                    weights = weights.reshape(sinrs.shape)
                elif weights is not None and tuple(weights.shape) == shape[-1:]:
                    weights = weights.repeat(rounds) if hasattr(weights, "cpu") else np.tile(weights, rounds)  # torch repeats the whole
        self._sizes(mcs, rounds)
        effective = effective_sinr(sinrs, method=method, qam=2 ** self._modes[int(mcs)][0], beta=beta, decibel=decibel, weights=weights,
                                   executor=executor)
        snr = _host(effective)
        if not decibel:
            with np.errstate(divide="ignore"):
                snr = _DB * np.log(snr)
        return self.at_snr(mcs, size, snr, rounds=rounds, code_blocks=code_blocks)

    def choose(self, size: int, sinrs: Array, *, target: float = 0.1, backoff_db: Any = 0.0, method: Literal["eesm", "miesm", "rbir"] = "miesm",
               betas: Mapping[int, float] | None = None, decibel: bool = False, weights: Array | None = None) -> np.ndarray:
        """The MCS of the greatest efficiency with at most the target error rate, for each item.

        Args:
            size: information bits of a code block.
            sinrs: ``(..., elements)``.
            target: above 0 and below 1.
            backoff_db: by which effective SINRs are reduced first, as an outer loop sets it; broadcasts to ``(...)``.
            betas: beta of each MCS; 1 where it has none.
            method, decibel, weights: as of :func:`effective_sinr`.

        Returns:
            int64 ``(...)``; the MCS of the least efficiency where none reaches the target or the item is erased.

        MCS whose curves do not cover the size are left out.
        """
        bits, wanted = whole("size", size, 1, 2 ** 31 - 1), number("target", target)
        if not 0 < wanted < 1:
            raise refused("target", target, "a number above 0 and below 1")
        if betas is not None and not (isinstance(betas, Mapping) and all(_is_beta(b) for b in betas.values())):
            raise refused("betas", betas, "a number from 1e-3 to 1e5 for each MCS")
        backoff = _in_double("backoff_db", backoff_db)
        usable = [m for m in self.mcs if (m, 1) in self._curves and self.sizes(m)[0] <= bits <= self.sizes(m)[-1]]
        if not usable:
            raise refused("size", size, f"a size with curves, as {self.sizes(self.mcs[0])} of MCS {self.mcs[0]}")
        chosen: Any = None
        for mcs in sorted(usable, key=self.efficiency):
            effective = _host(effective_sinr(sinrs, method=method, qam=2 ** self._modes[mcs][0], beta=(betas or {}).get(mcs, 1.0),
                                             decibel=decibel, weights=weights))
            if not decibel:
                with np.errstate(divide="ignore"):
                    effective = _DB * np.log(effective)
            try:
                snr = effective - np.broadcast_to(backoff, effective.shape)
            except ValueError:
                raise ValueError(f"backoff_db = shape {backoff.shape} is not allowed: expected one that broadcasts to {effective.shape}") from None
            rate = self.at_snr(mcs, bits, snr)
            chosen = np.full(rate.shape, mcs) if chosen is None else np.where(rate <= wanted, mcs, chosen)
        return chosen


def _sum_of_rounds(sinrs: Any, decibel: bool) -> Any:
    """SINRs of all rounds of an element; NaN where one of them erases the item."""
    with np.errstate(invalid="ignore"):
        if not decibel:
            return (sinrs + 0 * sinrs ** 0.5).sum(-2)  # infinity and negative numbers become NaN
        total = (10 ** ((sinrs.clip(-300, 300) + 0 * sinrs) / 10)).sum(-2)
    return _DB * (total.log() if hasattr(total, "log") else np.log(total))
