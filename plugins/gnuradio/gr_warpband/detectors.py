"""MIMO detectors, whose inputs have different rates."""
import numpy as np
from gnuradio import gr

import warpband as wb


class nway_detector(gr.basic_block):
    """Soft MIMO detection, N-way.

    In 0: received samples, complex vectors of ``rx_antennas``. In 1: channel matrices, complex vectors of ``rx_antennas * streams``, row
    after row; each serves the next ``uses_per_channel`` vectors of samples. Out: float vectors of ``streams * log2(qam)`` LLRs.

    Args:
        streams, rx_antennas: 1 to 8 streams, at least as many antennas.
        qam: 4, 16, 64 or 256 points.
        noise_var: N0 of a complex sample; ``set_noise_var`` changes it while the flowgraph runs.
        uses_per_channel: uses of the channel that share one matrix.
        settings: those of ``warpband.NWay``, for example ``ways``.
    """

    def __init__(self, streams=4, rx_antennas=4, qam=16, noise_var=0.1, uses_per_channel=1, **settings):
        if uses_per_channel < 1:
            raise ValueError(f"uses_per_channel = {uses_per_channel} is not allowed: expected 1 or more")
        self._detector = wb.NWay(streams=streams, rx_antennas=rx_antennas, qam=qam, **settings)
        self._matrix, self._uses = (rx_antennas, streams), uses_per_channel
        self._noise_var = noise_var
        gr.basic_block.__init__(self, name="Warpband N-way detector", out_sig=[(np.float32, (self._detector.bits_per_use,))],
                                in_sig=[(np.complex64, (rx_antennas,)), (np.complex64, (rx_antennas * streams,))])
        self.set_output_multiple(uses_per_channel)

    def set_noise_var(self, noise_var):
        self._noise_var = noise_var

    def forecast(self, noutput_items, ninputs):
        return [noutput_items, noutput_items // self._uses]

    def general_work(self, input_items, output_items):
        received, channel = input_items
        matrices = min(len(received) // self._uses, len(channel), len(output_items[0]) // self._uses)
        uses = matrices * self._uses
        if matrices:
            self._detector(channel[:matrices].reshape(matrices, *self._matrix), received[:uses].reshape(matrices, self._uses, -1),
                           self._noise_var, out=output_items[0][:uses].reshape(matrices, self._uses, -1), strict=True)
        self.consume(0, uses)
        self.consume(1, matrices)
        return uses
