"""PUCCH of 5G NR, the uplink control channel: formats 0 to 4, their generation and detection (3GPP TS 38.211 sections 6.3.2 and 6.4.1.3)."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._convert import as_bits, as_complex, converting
from ._described import Described, described
from ._settings import checked_executor, made, whole, whole_for_each

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import PucchDetectorKeywords, PucchGeneratorKeywords

__all__ = ["PucchDetector", "PucchGenerator", "nr_low_papr_sequence"]


def nr_low_papr_sequence(*, length: int, u: int, v: int = 0) -> np.ndarray:
    """The base sequence r_{u,v}(n) of low PAPR, type 1, without cyclic shift: complex64 ``(length,)`` (TS 38.211 section 5.2.2).

    Args:
        length: a multiple of 6 from 6 to 3300.
        u: group, 0 to 29.
        v: number in the group, 0 or 1; ignored up to length 30. The standard defines 1 from length 72 on; 36, 48 and 60 follow the same formula.

    Raises:
        ValueError: for a number that is not allowed, by its name.

    >>> bool(np.allclose(np.abs(wb.nr_low_papr_sequence(length=36, u=3, v=1)), 1))
    True
    """
    return np.array(made(_core.nr_low_papr_sequence, length=whole("length", length, 6, 3300), u=whole("u", u, 0, 29), v=whole("v", v, 0, 1)), np.complex64)


class _Pucch(Described):
    """Properties that generator and detector share."""

    _work: Any

    @property
    def slots(self) -> int:
        """Slots of a frame."""
        return self._work.slots

    @property
    def shape(self) -> tuple[int, int]:
        """Resource elements of an occasion: symbols, subcarriers."""
        return self._work.symbols, self._work.subcarriers

    @property
    def message_bits(self) -> int:
        """Bits of a message: those of the setting, and a scheduling request."""
        return self._work.message_bits

    @property
    def coded_bits(self) -> int:
        """E, coded bits of formats 2 to 4; 0 of the others."""
        return self._work.coded_bits

    @property
    def first_coded_bits(self) -> int:
        """Coded bits of HARQ-ACK, SR and CSI part 1: all of them without CSI part 2."""
        return self._work.first_coded_bits

    @property
    def first_hop_symbols(self) -> int:
        """Symbols of the first hop; all without hopping."""
        return self._work.first_hop_symbols


@described
class PucchGenerator(_Pucch):
    """UCI to the resource elements of PUCCH, of amplitude 1.

    A message of formats 0 and 1 is its HARQ-ACK bits, and with ``scheduling_request`` that request as its last bit. Without any other
    bit, an absent request sends nothing. A message of formats 2 to 4 is all of UCI. 3 to 11 bits have a short block code, more
    have a CRC and a polar code. With ``csi2_bits`` CSI part 2 ends the message and has its own code.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    >>> generator = wb.PucchGenerator(format=2, symbols=2, prbs=4, bits=11)
    >>> generator(np.ones((5, 11), np.uint8), slot=3).shape
    (5, 2, 48)
    >>> parts = wb.PucchGenerator(format=3, symbols=14, prbs=4, bits=20, csi2_bits=300, max_code_rate=0.15)
    >>> parts.message_bits, parts.coded_bits, parts.first_coded_bits
    (320, 1152, 208)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PucchGeneratorKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PucchGenerator, settings=settings)
        self._table = {"values": (COMPLEX64, self.shape)}

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, slot: int | Sequence[int], out: Any = None, strict: bool = False) -> Any:
        """Resource elements, complex64 ``(..., symbols, subcarriers)``, of messages, uint8 or bool ``(..., message_bits)``.

        Subcarriers are those of the resource blocks of each symbol's hop, the lowest first.

        Args:
            slot: number in the frame, one for all messages or one for each, of shape ``(...)``.

        Raises:
            ValueError: for a slot that a frame does not have, or slots of another shape.
        """
        space, batch = space_of(bits), batch_of("bits", bits, 1)
        arrays = fill(space, self._table, "values", out, batch)
        slots = whole_for_each("slot", slot, batch, 0, self.slots - 1)
        self._work.run(space.executor(self._executor), space.take(bits), slots, arrays["values"])
        return results(space, arrays, "values", out)


@described
class PucchDetector(_Pucch):
    """Detects and decodes PUCCH on one or several antennas, with a threshold by false alarm.

    The metric is the share of the energy that the likeliest message explains. Its law in white Gaussian noise is known, whatever the
    level. The threshold bounds the probability that noise gives a message by ``false_alarm``. Formats 2 to 4 estimate the channel from
    their DMRS by a Wiener filter. From 20 bits on the CRC alone may keep the bound, and the threshold is 0 (docs/pucch.md).
    CSI part 2 may be lost alone: each part has a code, a metric and a threshold of its own.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    Raises:
        ValueError: for a setting that is not allowed, by its name.

    Source: Edfors et al., "OFDM channel estimation by singular value decomposition", IEEE Trans. Commun. 46, 1998; the channel of
    3GPP TS 38.211 sections 6.3.2 and 6.4.1.3 and TS 38.212 section 6.3.1.

    >>> resource = {"format": 2, "symbols": 2, "prbs": 4, "hopping": True, "second_hop_prb": 20, "bits": 11}
    >>> message = np.arange(11) % 2
    >>> values = np.stack(2 * [wb.PucchGenerator(**resource)(message, slot=3)])  # two antennas
    >>> rng = np.random.default_rng(1)
    >>> values = values + 0.5 * (rng.normal(size=values.shape) + 1j * rng.normal(size=values.shape))
    >>> bits, detected = wb.PucchDetector(**resource, antennas=2)(values, slot=3, outputs=("bits", "detected"))
    >>> bool((bits == message).all()), int(detected)
    (True, 1)
    """

    _outputs = ("bits", "detected", "csi2_detected", "metric", "snr_db", "status")

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[PucchDetectorKeywords]):
        self._executor = checked_executor(executor)
        self._work = made(_core.PucchDetector, settings=settings)
        self._table = {"bits": (UINT8, (self.message_bits,)), "detected": (UINT8, ()), "csi2_detected": (UINT8, ()),
                       "metric": (FLOAT32, ()), "snr_db": (FLOAT32, ()), "status": (UINT8, ())}

    @property
    def threshold(self) -> float:
        """The threshold of the metric, that of part 1; 0 if the CRC alone bounds false alarms."""
        return self._work.threshold

    @converting(values=as_complex)
    def __call__(self, values: Array, *, slot: int | Sequence[int], outputs: str | Sequence[str] = "bits", out: Any = None,
                 strict: bool = False) -> Any:
        """Detects in resource elements, complex64 ``(..., antennas, symbols, subcarriers)``.

        outputs: "bits" (uint8 ``(..., message_bits)``), "detected", "csi2_detected" (uint8), "metric", "snr_db" (float32) and "status" (uint8), each ``(...)``;
        or several names. Bits and "snr_db", that of a resource element, are 0 where nothing is detected. "detected" is 1 if
        HARQ-ACK, SR and CSI part 1 are found, and "csi2_detected" if CSI part 2 is found too. "metric" is that of part 1. Status 1: an occasion with a
        value that is NaN, infinite or above 1e15 in magnitude, which is erased: all its outputs are 0.

        Args:
            slot: number in the frame, one for all occasions or one for each, of shape ``(...)``.

        Raises:
            ValueError: for a slot that a frame does not have, or slots of another shape.
        """
        space, batch = space_of(values), batch_of("values", values, 3)
        arrays = fill(space, self._table, outputs, out, batch)
        slots = whole_for_each("slot", slot, batch, 0, self.slots - 1)
        self._work.run(space.executor(self._executor), space.take(values), slots, *map(arrays.get, self._outputs))
        return results(space, arrays, outputs, out)
