"""Blocks of GNU Radio 3.10 that decode, demodulate and detect with Warpband.

Each conversion is two blocks: ``nr_ldpc_decoder`` for streams and ``nr_ldpc_decoder_pdu`` for PDUs, with the same settings.

Streams. An item is a vector: a codeword, a slot, ... A block takes all items that are there in one call, and large calls are faster. Give the
block before it a buffer of many items (``set_min_output_buffer``; in GNU Radio Companion "Min Output Buffer" of the tab "Advanced").

PDUs. Port "in" takes a pair of metadata and a vector with one item or more, port "out" gives the same. Metadata stay; decoders add "ok",
"status" and others. A PDU that cannot be converted comes out as an empty vector with the metadata "error", and is logged.

LLRs are ln P(0)/P(1): positive means 0. ``llr_type="int8"`` makes ports of chars, with ``value / llr_steps`` as the LLR.
"""
from . import conversions
from .detectors import nway_detector
from .errors import block_errors
from .ports import both

turbo_decoder, turbo_decoder_pdu = both(conversions.turbo_decoder)
ldpc_decoder, ldpc_decoder_pdu = both(conversions.ldpc_decoder)
viterbi_decoder, viterbi_decoder_pdu = both(conversions.viterbi_decoder)
nr_ldpc_encoder, nr_ldpc_encoder_pdu = both(conversions.nr_ldpc_encoder)
nr_ldpc_decoder, nr_ldpc_decoder_pdu = both(conversions.nr_ldpc_decoder)
nr_transport_encoder, nr_transport_encoder_pdu = both(conversions.nr_transport_encoder)
nr_transport_decoder, nr_transport_decoder_pdu = both(conversions.nr_transport_decoder)
polar_encoder, polar_encoder_pdu = both(conversions.polar_encoder)
polar_decoder, polar_decoder_pdu = both(conversions.polar_decoder)
qam_mapper, qam_mapper_pdu = both(conversions.qam_mapper)
demapper, demapper_pdu = both(conversions.demapper)
ofdm_modulator, ofdm_modulator_pdu = both(conversions.ofdm_modulator)
ofdm_demodulator, ofdm_demodulator_pdu = both(conversions.ofdm_demodulator)
pusch_receiver, pusch_receiver_pdu = both(conversions.pusch_receiver)

__all__ = ["block_errors", "nway_detector", *(name + kind for name in (
    "turbo_decoder", "ldpc_decoder", "viterbi_decoder", "nr_ldpc_encoder", "nr_ldpc_decoder", "nr_transport_encoder", "nr_transport_decoder",
    "polar_encoder", "polar_decoder", "qam_mapper", "demapper", "ofdm_modulator", "ofdm_demodulator", "pusch_receiver")
    for kind in ("", "_pdu"))]
