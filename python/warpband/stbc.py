"""Space-time block codes: Alamouti, Silver, Golden, any pair of Alamouti blocks, and the transmit diversity of LTE over subcarriers."""
from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import numpy as np

from . import _core
from ._arrays import COMPLEX64, FLOAT32, UINT8, Array, Executor, batch_of, fill, results, space_of
from ._codec import Encoder
from ._convert import as_bits, as_channel, as_complex, as_llrs, as_noise, converting
from ._described import Described, described
from ._settings import checked_executor, checked_sign, made, refused

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._keywords import StbcDecoderKeywords, StbcEncoderKeywords

__all__ = ["StbcDecoder", "StbcEncoder"]


def _with_entries(settings: Any) -> Any:
    """The settings with the entries of a matrix ``v``, row after row."""
    v = settings.get("v")
    if v is None:
        return settings
    try:
        return {**settings, "v": np.asarray(v, complex).reshape(2, 2).ravel().tolist()}
    except (TypeError, ValueError, OverflowError):
        raise refused("v", v, "a unitary matrix of 2 x 2") from None


@described
class StbcEncoder(Encoder):
    """Bits or symbols to codewords.

    Args:
        {settings}
        executor: where arrays in host memory are processed; None for all cores.

    ``uses`` are the slots of a codeword, or its subcarriers, and ``streams`` its antennas: 4 and 4 with ``type="fstd"``, else 2 and 2. Each
    antenna sends unit mean energy; TS 36.211 §6.3.4.3 sends 1 / sqrt(2) of the amplitudes of "sfbc", and 1 / 2 of those of "fstd".

    >>> encode = wb.StbcEncoder(type="golden", qam=4)
    >>> encode(np.ones((10, encode.bits_per_codeword))).shape
    (10, 2, 2)
    """

    def __init__(self, *, executor: Executor | None = None, **settings: Unpack[StbcEncoderKeywords]):
        work = made(_core.StbcEncoder, settings=_with_entries(settings))
        super().__init__(work, {"coded": (COMPLEX64, (work.uses, work.streams))}, executor)
        self.symbols: int = work.symbols
        self.uses: int = work.uses
        self.streams: int = work.streams
        self.bits_per_codeword: int = work.bits_per_codeword

    @converting(bits=as_bits)
    def __call__(self, bits: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``bits``, uint8 or bool ``(..., bits_per_codeword)``, to complex64 ``(..., uses, streams)``."""
        return self._encode(bits, out)

    @converting(symbols=as_complex)
    def encode_symbols(self, symbols: Array, *, out: Any = None, strict: bool = False) -> Any:
        """Encodes ``symbols``, complex64 ``(..., 2 or 4)``, any finite numbers, to complex64 ``(..., uses, streams)``."""
        space = space_of(symbols)
        arrays = fill(space, self._table, "coded", out, batch_of("symbols", symbols, 1))
        self._work.run_symbols(space.executor(self._executor), space.take(symbols), arrays["coded"])
        return results(space, arrays, "coded", out)


@described
class StbcDecoder(Described):
    """Maximum-likelihood decoding; with a-priori LLRs maximum a-posteriori. Codes over subcarriers are combined linearly.

    Args:
        {settings}
        llr_sign: "p0/p1" for ln P(0)/P(1), positive means 0; "p1/p0" for the other sign, which Sionna has.
        executor: where arrays in host memory are processed; None for all cores.

    >>> bits = np.ones((10, 4))
    >>> sent = wb.StbcEncoder(type="alamouti", qam=4)(bits)
    >>> decode = wb.StbcDecoder(type="alamouti", qam=4, rx_antennas=2)
    >>> h = np.full((10, 2, 2), 0.5 + 0.5j)
    >>> np.array_equal(decode(h, sent @ h.swapaxes(1, 2), 0.1, outputs="bits"), bits)
    True
    """

    def __init__(self, *, llr_sign: str = "p0/p1", executor: Executor | None = None, **settings: Unpack[StbcDecoderKeywords]):
        self._reversed = checked_sign(llr_sign)
        self._executor = checked_executor(executor)
        self._work = made(_core.StbcDecoder, settings=_with_entries(settings))
        #: the sign of LLRs
        self.llr_sign = llr_sign
        self.bits_per_codeword: int = self._work.bits_per_codeword
        self.uses: int = self._work.uses
        self.streams: int = self._work.streams
        bits = (self.bits_per_codeword,)
        self._table = {"llr": (FLOAT32, bits), "bits": (UINT8, bits), "status": (UINT8, ())}

    @converting(channel=as_channel("received", 2), received=as_complex, noise_var=as_noise("received", 2), prior=as_llrs)
    def __call__(self, channel: Array, received: Array, noise_var: float | Array, *, prior: Array | None = None,
                 outputs: str | Sequence[str] = "llr", out: Any = None, strict: bool = False) -> Any:
        """Decodes codewords.

        Args:
            channel: H, complex64 ``(..., rx_antennas, 2)``; the batch axes may be the first of received's alone, or 1 where NumPy
                broadcasts them. With "sfbc" and "fstd" an H for each subcarrier: ``(..., uses, rx_antennas, streams)``; the batch axes
                may be the first of received's alone. If they differ within a pair, the interference counts as noise.
            received: Y, complex64 ``(..., uses, rx_antennas)``.
            noise_var: N0 per complex entry: a number, or an array that broadcasts to the batch axes of ``received``.
            prior: a-priori LLRs, float32, ``(..., bits_per_codeword)``; those beyond +-1e6 count as +-1e6. Not with
                ``search="slicing"``. In the sign of ``llr``.
            outputs: "llr" (float32 ``(..., bits_per_codeword)``, max-log), "bits" (uint8, of the most likely codeword, with
                a prior of the LLRs), "status" (uint8 ``(...)``, 1 erased, zeros: NaN or Inf, N0 or ``|H|^2`` outside 1e-30..1e30, ``|Y|^2`` above
                1e30 or above 1e10 ``|H|^2``); or several names. Without "llr" the search is the cheaper one.
            out: arrays to fill, in the order of ``outputs``, instead of new ones.
            strict: refuse arrays in host memory of another type or layout instead of converting them.
        """
        space = space_of(received)
        arrays = fill(space, self._table, outputs, out, batch_of("received", received, 2))
        if prior is not None:
            prior = space.take(prior)
            if self._reversed:
                prior = space.negated(prior)
        self._work.run(space.executor(self._executor), space.take(channel), space.take(received), space.take(noise_var), prior,
                       arrays.get("llr"), arrays.get("bits"), arrays.get("status"))
        return results(space, arrays, outputs, out, ("llr",) if self._reversed else ())
