#!/usr/bin/env python3
"""A link as a flowgraph: 5G LDPC code, QAM, OFDM, two-tap channel with noise, soft demapper, decoder. Prints the block error rate.

One code block fills a slot of 5 MHz: 7 OFDM symbols of 300 subcarriers. The receiver knows the channel and N0. Without a display.
"""
import argparse

import numpy as np
from gnuradio import analog, blocks, filter, gr

import gr_warpband
import warpband as wb

SLOT = {"fft_size": 512, "subcarriers": 300, "cyclic_prefix": 36, "first_cyclic_prefix": 40, "symbols_per_slot": 7}
TAPS = np.array([0.8, 0, 0, 0.6j])  # energy 1, shorter than the cyclic prefix


def channel_of(taps, **slot):
    """What the channel does to each value of a slot: complex64, symbol after symbol."""
    numerology = wb.OfdmNumerology(**slot)
    ones = np.ones((numerology.symbols_per_slot, numerology.subcarriers), np.complex64)
    samples = np.convolve(wb.OfdmModulator(numerology=numerology)(ones), taps)[:numerology.samples_per_slot]
    return wb.OfdmDemodulator(numerology=numerology)(samples.astype(np.complex64)).ravel()


class link(gr.top_block):
    """The link at one Es/N0 in dB."""

    def __init__(self, esn0_db, slots, qam, rate, llr_type, seed=1):
        gr.top_block.__init__(self, "5G LDPC link")
        numerology = wb.OfdmNumerology(**SLOT)
        symbols, noise_var = numerology.symbols_per_slot * numerology.subcarriers, 10 ** (-esn0_db / 10)
        order = qam.bit_length() - 1
        code = {"base_graph": 1, "k": round(rate * symbols * order), "sent_bits": symbols * order, "modulation_order": order}
        bits = np.random.default_rng(seed).integers(0, 2, (slots, code["k"]), dtype=np.uint8)
        k, samples = code["k"], numerology.samples_per_slot

        source = blocks.vector_source_b(bits.ravel().tolist(), False, k)
        source.set_min_output_buffer(64)
        to_samples = blocks.vector_to_stream(gr.sizeof_gr_complex, samples)
        taps, noisy = filter.fir_filter_ccc(1, TAPS.tolist()), blocks.add_cc()
        noise = analog.noise_source_c(analog.GR_GAUSSIAN, noise_var ** 0.5, seed)
        to_slots = blocks.stream_to_vector(gr.sizeof_gr_complex, samples)
        to_slots.set_min_output_buffer(64)
        channel = blocks.vector_source_c(channel_of(TAPS, **SLOT).tolist(), True, symbols)

        # GNU Radio does not keep blocks of Python alive, so the flowgraph does.
        self.encoder, self.mapper = gr_warpband.nr_ldpc_encoder(**code), gr_warpband.qam_mapper(qam=qam, symbols=symbols)
        self.modulator, self.demodulator = gr_warpband.ofdm_modulator(**SLOT), gr_warpband.ofdm_demodulator(**SLOT)
        self.demapper = gr_warpband.demapper(qam=qam, noise_var=noise_var, symbols=symbols, has_channel=True, llr_type=llr_type)
        self.decoder = gr_warpband.nr_ldpc_decoder(**code, iterations=20, llr_type=llr_type)
        self.errors = gr_warpband.block_errors(k=k)

        self.connect(source, self.encoder, self.mapper, self.modulator, to_samples, taps, noisy, to_slots, self.demodulator, self.demapper,
                     self.decoder, self.errors)
        self.connect(noise, (noisy, 1))
        self.connect(channel, (self.demapper, 1))
        self.connect(source, (self.errors, 1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--esn0-db", type=float, nargs="+", default=[7.0, 7.5, 8.0], help="Es/N0 of a subcarrier")
    parser.add_argument("--slots", type=int, default=200, help="for each Es/N0")
    parser.add_argument("--qam", type=int, default=16, choices=(4, 16, 64))
    parser.add_argument("--rate", type=float, default=0.5, help="k over sent bits, at most 0.66 of 64-QAM")
    parser.add_argument("--int8", action="store_true", help="LLRs of int8, in steps of 1/4")
    arguments = parser.parse_args()
    for esn0_db in arguments.esn0_db:
        top = link(esn0_db, arguments.slots, arguments.qam, arguments.rate, "int8" if arguments.int8 else "float")
        top.run()
        print(f"Es/N0 {esn0_db:g} dB: {top.errors.summary()}", flush=True)
