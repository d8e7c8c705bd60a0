"""Warpband: the heavy work of a wireless receiver and transmitter, on CPUs and GPUs with the same bits.

NumPy arrays are processed on the CPU, arrays of CuPy and torch on their GPU; what comes out is of the same kind. Arrays of the
types that the docstrings name (``complex64``, ``float32``, ``uint8``) are used where they lie. In host memory others are
converted, and lists too, unless a call has ``strict=True``. What cannot be used raises a ``ValueError`` that names the argument.

LLRs are ``ln P(bit = 0) - ln P(bit = 1)``: positive means 0. Who needs the other sign gives ``llr_sign="p1/p0"``.
"""
from __future__ import annotations

from typing import Any


def _check_interpreter() -> None:
    """Refuses a subinterpreter: loaded there too, the compiled part would no longer know its own types in the main one."""
    for name in ("_interpreters", "_xxsubinterpreters"):  # from Python 3.13 on, and before
        try:
            known = __import__(name)
        except ImportError:
            continue
        if known.get_current() != known.get_main():
            raise ImportError("warpband does not work in a subinterpreter: import it in the main one, or use a process")
        return


_check_interpreter()
try:
    from . import _core
except ImportError as error:
    import pathlib
    here = pathlib.Path(__file__).parent
    raise ImportError(
        f"the compiled part of warpband in {here} cannot be loaded ({error}): it is of another Python or not built to its end"
        if any(here.glob("_core*.so")) else
        f"{here} has no compiled part of warpband: `pip install .` in the root of the repository makes one, or CMake, in "
        "build/<preset>/python") from None
from ._arrays import Array, Executor, cpu, cuda
from ._choose import Choice, ChoiceProgress, choose
from ._sweep import Curve, Frames, Progress, SweepResult, scenario_help, sweep
from .bch import BchDecoder, BchEncoder
from .blocks import LdpcBlockDecoder, LdpcBlockEncoder, TurboBlockDecoder, TurboBlockEncoder
from .cell_search import CellSearch, CellSearchResult, NrFoundBlock, nr_pss, nr_ssb_first_symbols, nr_sss
from .channel import (CdlChannel, Csi, Impairments, KroneckerChannel, TdlChannel, awgn, binary_channel, capacity, cdl_profiles, exponential_correlation, mimo_rayleigh,
                      rayleigh, read_csi, tdl_profiles)
from .conv import BcjrDecoder, ConvCode, ConvEncoder, ViterbiDecoder, conv_80211, conv_80216, conv_lte
from .ctc import CtcDecoder, CtcEncoder, CtcTransportDecoder, CtcTransportEncoder
from .detect import EP, KBest, ML, MMSE, MatchedFilter, MultiPassTrellis, NWay, OnePassTrellis, PIC, Sphere, ZeroForcing
from .downlink import NrDownlink, NrDownlinkResult, NrMessage, nr_si_decode
from .effective import BlerTables, effective_sinr, mutual_information, snr_of_information
from .ldpc import LdpcCode, LdpcDecoder, LdpcEncoder, read_ldpc, wifi_ldpc, wimax_ldpc
from .linalg import cholesky, qr
from .lte import CrcAttacher, LteRateMatcher, LteSegmentation, LteTransportDecoder, LteTransportEncoder, lte_segmentation
from .massive import ClusteredDownlink, ClusteredUplink, MassiveDownlink, MassiveSoftUplink, MassiveUplink, effective_capacity
from .modem import Constellation, Demapper, QamMapper, dvb_s2_ring_ratios
from .nr import (NrMcs, NrRateMatcher, NrSegmentation, NrTransportDecoder, NrTransportEncoder, nr_base_graph,
                 nr_lbrm_transport_block_size, nr_ldpc, nr_lifting_sizes, nr_limited_buffer, nr_mcs, nr_resource_elements,
                 nr_scrambling_init, nr_scrambling_sequence, nr_segmentation, nr_transport_block_size)
from .nr_slots import (ChannelEstimator, NoiseEstimator, NrReferenceChannel, NrSharedChannel, NrSrs, PuschUci, SrsEstimator, nr_interleaved_blocks, nr_precoder,
                       nr_reference_channel, whiten)
from .ofdm import OfdmDemodulator, OfdmModulator, OfdmNumerology, lte_numerology, nr_numerology
from .osd import BpOsd
from .pbch import NrPbchBlock, NrSsbContent, PbchDecoder, PbchEncoder
from .pdcch import (NrCoreset0, NrDciFormat, NrPdcchFound, NrPdcchResult, NrSiDci, NrType0Occasion, PdcchDecoder, PdcchEncoder, PdcchSearch,
                    nr_coreset0, nr_coreset0_first_hz, nr_pdcch_candidates, nr_type0_occasion)
from .polar import PolarDecoder, PolarEncoder
from .prach import PrachDetector, PrachGenerator, prach_first_subcarrier
from .pucch import PucchDetector, PucchGenerator, nr_low_papr_sequence
from .receive import ExitChart, IterativeReceiver, exit_chart
from .short_block import ShortBlockDecoder, ShortBlockEncoder
from .sparse_ldpc import ParityCheckMatrix, SparseLdpcDecoder, SparseLdpcEncoder
from .stbc import StbcDecoder, StbcEncoder
from .stream import FrameDropped, Latencies, Stream, StreamFrame, StreamStats, Ticket
from .turbo import TurboDecoder, TurboEncoder, umts_permutation
from .wimax import WimaxBurst, WimaxFrame

__all__ = [
    "Array", "BchDecoder", "BchEncoder", "BcjrDecoder", "BlerTables", "BpOsd", "CdlChannel", "CellSearch", "CellSearchResult", "ChannelEstimator", "Choice", "ChoiceProgress", "ClusteredDownlink", "ClusteredUplink", "Constellation", "ConvCode", "ConvEncoder",
    "CrcAttacher", "Csi", "CtcDecoder", "CtcEncoder", "CtcTransportDecoder", "CtcTransportEncoder", "Curve", "Demapper", "EP", "Executor", "ExitChart", "FrameDropped", "Frames", "Impairments", "IterativeReceiver", "KBest",
    "KroneckerChannel", "Latencies", "LdpcBlockDecoder", "LdpcBlockEncoder", "LdpcCode", "LdpcDecoder", "LdpcEncoder", "LteRateMatcher", "LteSegmentation", "LteTransportDecoder",
    "LteTransportEncoder", "ML", "MMSE", "MassiveDownlink", "MassiveSoftUplink", "MassiveUplink", "MatchedFilter", "MultiPassTrellis",
    "NWay", "NoiseEstimator", "NrCoreset0", "NrDciFormat", "NrDownlink", "NrDownlinkResult", "NrFoundBlock", "NrMcs", "NrMessage", "NrPbchBlock", "NrPdcchFound", "NrPdcchResult", "NrRateMatcher", "NrReferenceChannel", "NrSegmentation", "NrSharedChannel", "NrSiDci", "NrSrs", "NrSsbContent", "NrTransportDecoder",
    "NrTransportEncoder", "NrType0Occasion", "OfdmDemodulator", "OfdmModulator", "OfdmNumerology", "OnePassTrellis", "PIC", "ParityCheckMatrix", "PbchDecoder", "PbchEncoder", "PdcchDecoder", "PdcchEncoder", "PdcchSearch", "PolarDecoder", "PolarEncoder", "PrachDetector", "PrachGenerator",
    "Progress", "PucchDetector", "PucchGenerator", "PuschUci", "QamMapper", "ShortBlockDecoder", "ShortBlockEncoder", "SparseLdpcDecoder", "SparseLdpcEncoder", "Sphere", "SrsEstimator", "StbcDecoder", "StbcEncoder", "Stream", "StreamFrame", "StreamStats", "SweepResult", "TdlChannel", "Ticket",
    "TurboBlockDecoder", "TurboBlockEncoder", "TurboDecoder", "TurboEncoder", "ViterbiDecoder", "WimaxBurst", "WimaxFrame", "ZeroForcing", "awgn", "binary_channel", "capacity", "cdl_profiles", "cholesky", "choose", "conv_80211", "conv_80216", "conv_lte", "cpu",
    "cuda", "cuda_devices", "dvb_s2_ring_ratios", "effective_capacity", "effective_sinr", "exit_chart", "exponential_correlation", "has_cuda", "has_hdf5", "isas", "lte_numerology", "lte_segmentation",
    "mimo_rayleigh", "mutual_information", "nr_base_graph", "nr_coreset0", "nr_coreset0_first_hz", "nr_interleaved_blocks", "nr_lbrm_transport_block_size", "nr_ldpc", "nr_lifting_sizes", "nr_limited_buffer", "nr_low_papr_sequence", "nr_mcs", "nr_numerology", "nr_pdcch_candidates",
    "nr_precoder", "nr_pss", "nr_reference_channel", "nr_resource_elements", "nr_scrambling_init", "nr_scrambling_sequence", "nr_segmentation",
    "nr_si_decode", "nr_ssb_first_symbols", "nr_sss", "nr_transport_block_size", "nr_type0_occasion", "plot", "prach_first_subcarrier", "qr", "rayleigh", "read_csi", "read_ldpc", "scenario_help", "snr_of_information", "sweep", "tdl_profiles", "umts_permutation", "whiten", "wifi_ldpc",
    "wimax_ldpc",
]

__version__: str = _core.version()
#: The commit this was built from; "unknown" outside a repository.
__commit__: str = _core.commit()

#: Whether this build can use CUDA devices.
has_cuda: bool = _core.has_cuda()
#: Whether this build can read HDF5 files.
has_hdf5: bool = _core.has_hdf5()


def isas() -> list[str]:
    """Instruction sets that this build has and this machine can run, the narrowest first.

    >>> wb.cpu(isa=wb.isas()[0]).description.split(",")[0] == wb.isas()[0]
    True
    """
    return _core.isas()


def cuda_devices() -> list[str]:
    """The names of this machine's CUDA devices; empty without any, or where this build has no CUDA.

    >>> devices = ["cpu", *(f"cuda:{i}" for i in range(len(wb.cuda_devices())))]
    >>> devices[0]
    'cpu'
    """
    return _core.cuda_devices()


#: Classes under their earlier names, which 0.2.0 still has.
_RENAMED = {"Ep": "EP", "Pic": "PIC"}


def __dir__() -> list[str]:
    return sorted({*globals(), "plot"})


def __getattr__(name: str) -> Any:
    if name == "plot":  # when it is first used
        import importlib
        return importlib.import_module(".plot", __name__)
    if name in _RENAMED:
        import warnings
        warnings.warn(f"warpband.{name} is now called warpband.{_RENAMED[name]}", FutureWarning, stacklevel=2)
        return globals()[_RENAMED[name]]
    raise AttributeError(f"module 'warpband' has no attribute {name!r}")
