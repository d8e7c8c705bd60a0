"""A link of torch modules in the manner of Sionna, with Warpband's encoder, mapper, detector and decoder as its layers.

    python examples/torch_chain.py [--device cuda] [--frames 200] [--ebn0-db 7 8 9]

LLRs are logits, ln P(1)/P(0), as Sionna has them: every layer is told so by name. The channel is torch's own. On a GPU nothing
is copied, and the host does not wait before the errors of a point are read.
"""
import argparse

import torch

import warpband as wb

STREAMS, ANTENNAS, QAM = 4, 4, 16
BITS_PER_SYMBOL = 4


class Encoder(torch.nn.Module):
    """Bits (frames, k) to symbols (frames, uses, streams)."""

    def __init__(self, code):
        super().__init__()
        self.encode, self.map = wb.LdpcEncoder(code=code), wb.QamMapper(qam=QAM)

    def forward(self, bits):
        return self.map(self.encode(bits)).unflatten(-1, (-1, STREAMS))


class Channel(torch.nn.Module):
    """y = H s + n, an H for each use."""

    def forward(self, sent, noise_var):
        frames, uses, _ = sent.shape
        h = torch.randn(frames, uses, ANTENNAS, STREAMS, dtype=torch.complex64, device=sent.device)
        noise = noise_var ** 0.5 * torch.randn(frames, uses, ANTENNAS, dtype=torch.complex64, device=sent.device)
        return (h @ sent.unsqueeze(-1)).squeeze(-1) + noise, h


class Receiver(torch.nn.Module):
    """y and H to bits (frames, k)."""

    def __init__(self, code):
        super().__init__()
        self.detect = wb.NWay(streams=STREAMS, rx_antennas=ANTENNAS, qam=QAM, llr_sign="p1/p0")
        self.decode = wb.LdpcDecoder(code=code, llr_sign="p1/p0")

    def forward(self, received, h, noise_var):
        logits = self.detect(h, received, noise_var)
        return self.decode(logits.flatten(1))


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda" if wb.has_cuda and torch.cuda.is_available() else "cpu")
    parser.add_argument("--frames", type=int, default=200)
    parser.add_argument("--ebn0-db", type=float, nargs="+", default=[7.0, 8.0, 9.0])
    options = parser.parse_args()

    torch.manual_seed(1)
    code = wb.wifi_ldpc(n=1296, rate="1/2")
    encoder, channel, receiver = Encoder(code), Channel(), Receiver(code)
    for ebn0_db in options.ebn0_db:
        # Es = 1 for each stream, of which ANTENNAS antennas receive one each
        noise_var = ANTENNAS / (BITS_PER_SYMBOL * code.k / code.n * 10 ** (ebn0_db / 10))
        bits = torch.randint(0, 2, (options.frames, code.k), dtype=torch.uint8, device=options.device)
        received, h = channel(encoder(bits), noise_var)
        wrong = receiver(received, h, noise_var) != bits
        print(f"Eb/N0 {ebn0_db:5.1f} dB   BER {wrong.float().mean().item():.2e}   FER {wrong.any(1).float().mean().item():.3f}")


if __name__ == "__main__":
    main()
