"""Binary BCH codes, the outer codes of DVB-S2 among them."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

from . import _core
from ._arrays import INT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._codec import BlockEncoder
from ._convert import as_bits, as_status, converting
from ._described import Described, described
from ._settings import checked_executor, made

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import BchDecoderKeywords, BchEncoderKeywords

__all__ = ["BchDecoder", "BchEncoder"]


@described
class BchEncoder(BlockEncoder):
    """Encodes blocks of k bits by a binary, narrow-sense BCH code: the bits, then their remainder modulo the generator.

    The first bit is the coefficient of the highest power. The generator is the product of the minimal polynomials of alpha, alpha^3, ...
    alpha^(2 t - 1). k is n less its degree.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Source: Bose and Ray-Chaudhuri, "On a class of error correcting binary group codes", 1960; ETSI EN 302 307-1 clause 5.3.1.

    >>> encode = wb.BchEncoder(field_degree=4, corrects=2, n=15)
    >>> encode.k
    7
    >>> encode([1, 0, 0, 0, 0, 0, 0])
    array([1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0], dtype=uint8)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[BchEncoderKeywords]):
        work = made(_core.BchEncoder, settings=settings)
        super().__init__(work, {"coded": (UINT8, (work.settings["n"],))}, executor)
        #: information bits of a codeword
        self.k: int = work.k


@described
class BchDecoder(Described):
    """Corrects up to t errors of hard decisions (Berlekamp-Massey and Chien search).

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Outputs: "bits" (uint8 ``(..., k)``), "corrected" (int32 ``(...)``, errors that were corrected) and "status" (uint8 ``(...)``). Status 2:
    ``bits`` are those of a codeword. Status 0: more than t errors were found, and ``bits`` are as received. With bit 0
    set, 1 or 5: erased, as ``erased`` says, with bits of 0. A word with more than t errors may also be taken for another codeword.

    Source: Massey, "Shift-register synthesis and BCH decoding", 1969; Chien, "Cyclic decoding procedures for Bose-Chaudhuri-Hocquenghem
    codes", 1964.

    >>> code = {"field_degree": 6, "corrects": 3, "n": 63}
    >>> word = wb.BchEncoder(**code)(np.ones(45))
    >>> word[[3, 40, 62]] ^= 1
    >>> bits, corrected = wb.BchDecoder(**code)(word, outputs=("bits", "corrected"))
    >>> int(bits.sum()), int(corrected)
    (45, 3)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[BchDecoderKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.BchDecoder, settings=settings)
        #: information bits of a codeword
        self.k: int = self._work.k
        self._table = {"bits": (UINT8, (self.k,)), "corrected": (INT32, ()), "status": (UINT8, ())}

    @converting(received=as_bits, erased=as_status)
    def __call__(self, received: Array, *, erased: Array | None = None, outputs: str | Sequence[str] = "bits", out: Any = None,
                 strict: bool = False) -> Any:
        """Decodes a batch of words.

        Args:
            received: hard decisions, uint8 or bool ``(..., n)``.
            erased: uint8 or bool ``(...)``, the status of the decoder that made the decisions: words with bit 0 set, as 1 and 5, are erased.
                None: none are.
            outputs: one or several names of the outputs that the class lists.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.

        Returns:
            The output, or a tuple of them.
        """
        space = space_of(received)
        arrays = fill(space, self._table, outputs, out, batch_of("received", received, 1))
        marks = None if erased is None else space.take(erased)
        self._work.run(space.executor(self._executor), space.take(received), marks, *map(arrays.get, self._table))
        return results(space, arrays, outputs, out)
