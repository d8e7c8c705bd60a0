"""Counts what was decoded wrongly."""
import numpy as np
from gnuradio import gr


class block_errors(gr.sync_block):
    """Compares decided blocks with the sent ones. In 0 and 1: k bits, one a byte.

    Args:
        k: bits of a block.

    ``blocks``, ``wrong_blocks``, ``wrong_bits`` and ``block_error_rate`` may be read at any time. ``summary()`` gives them as a line.
    """

    def __init__(self, k=1024):
        gr.sync_block.__init__(self, name="Warpband block errors", in_sig=[(np.uint8, (k,))] * 2, out_sig=None)
        self.k, self.blocks, self.wrong_blocks, self.wrong_bits = k, 0, 0, 0

    def work(self, input_items, output_items):
        wrong = np.count_nonzero(input_items[0] != input_items[1], axis=1)
        self.blocks += len(wrong)
        self.wrong_blocks += np.count_nonzero(wrong)
        self.wrong_bits += int(wrong.sum())
        return len(wrong)

    @property
    def block_error_rate(self):
        """Wrong blocks over all; NaN before the first."""
        return self.wrong_blocks / self.blocks if self.blocks else float("nan")

    def summary(self):
        """Counts and block error rate, as a line."""
        return (f"{self.wrong_blocks} of {self.blocks} blocks wrong, {self.wrong_bits} of {self.blocks * self.k} bits: "
                f"block error rate {self.block_error_rate:.3g}")
