#!/usr/bin/env python3
"""Slots a second of Sionna's PUSCH receiver, for the slots of `warpband bench nr_slot`.

    python3 bench/peers/sionna_pusch.py --device cuda:0 --json sionna_pusch.json
    warpband bench nr_slot --device cuda:0 --json warpband_pusch.json

The slot is that of the benchmark: 273 resource blocks of 30 kHz, 4 layers, one antenna for each of them with H the identity, DMRS in
symbols 2 and 11, MCS 20 of table 1 (64-QAM), N0 = 1e-3. The receiver has least-squares estimates with linear interpolation, LMMSE
detection with max-log LLRs, and flooding min-sum without early stop. Before anything is timed, all bits must be right and all CRCs
hold. Needs sionna 2.2 (or sionna-no-rt) and PyTorch 2.9 or later.

Figures of each row:
  slots_per_s   the grids lie on the device, calls are queued one behind the other; median of ten windows
  latency_us    with one slot: its grid from page-locked memory of the host, bits as bytes and CRC back, p50 and p99
"""
import argparse
import json
import math
import platform
import statistics
import sys
import time

import torch

try:
    import sionna
    from sionna.phy.nr import PUSCHConfig, PUSCHReceiver, PUSCHTransmitter, TBDecoder
except ImportError as missing:
    sys.exit(f"sionna is missing ({missing}): pip install sionna-no-rt==2.2.0")

NOISE_VAR = 1e-3


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--device", default="cuda:0", help="of PyTorch: cuda:0, cpu")
    parser.add_argument("--resource-blocks", type=int, default=273)
    parser.add_argument("--layers", type=int, choices=[1, 2, 4], default=4)
    parser.add_argument("--rx-antennas", type=int, help="a multiple of the layers; their number if left out")
    parser.add_argument("--mcs", type=int, default=20, help="of table 1")
    parser.add_argument("--slots", type=int, nargs="+", default=[1, 32], help="of a call")
    parser.add_argument("--iterations", type=int, nargs="+", default=[8], help="of the LDPC decoder, all of which it runs")
    parser.add_argument("--check-nodes", default="minsum", help="of the LDPC decoder: minsum, boxplus-phi")
    parser.add_argument("--modes", nargs="+", default=["eager", "default", "reduce-overhead"],
                        help="eager, or modes of torch.compile")
    parser.add_argument("--seconds", type=float, default=2.0, help="that each figure is measured for, about")
    parser.add_argument("--json", help="file for the result; standard output if left out")
    given = parser.parse_args()
    given.rx_antennas = given.rx_antennas or given.layers
    if given.rx_antennas % given.layers:
        parser.error(f"--rx-antennas {given.rx_antennas} is not allowed: expected a multiple of {given.layers}")
    if min(given.slots + given.iterations) < 1:
        parser.error("--slots and --iterations are 1 or more")
    return given


def transmitter_of(given):
    config = PUSCHConfig(num_layers=given.layers, num_antenna_ports=given.layers, n_rnti=1)
    config.carrier.n_size_grid = given.resource_blocks
    config.carrier.subcarrier_spacing = 30
    config.carrier.n_cell_id = 0
    config.dmrs.config_type = 1
    config.dmrs.additional_position = 1
    config.dmrs.num_cdm_groups_without_data = 2
    config.dmrs.dmrs_port_set = list(range(given.layers))
    config.tb.mcs_table = 1
    config.tb.mcs_index = given.mcs
    return PUSCHTransmitter(config, return_bits=True, device=given.device), config


def received_slots(transmitter, given, slots):
    """Grids [slots, 1, antennas, symbols, subcarriers] as they are received, antenna r hearing layer r mod layers, and what was sent."""
    sent, bits = transmitter(slots)
    grid = sent.repeat(1, 1, given.rx_antennas // given.layers, 1, 1)
    noise = torch.randn_like(grid)  # of unit power
    return grid + math.sqrt(NOISE_VAR) * noise, bits


class Clock:
    """Waits for a device and times what runs on it."""

    def __init__(self, device, seconds):
        self.cuda = device.startswith("cuda")
        self.device, self.seconds = device, seconds

    def wait(self):
        if self.cuda:
            torch.cuda.synchronize(self.device)

    def time(self, call, times=1):
        self.wait()
        start = time.perf_counter()
        for _ in range(times):
            call()
        self.wait()
        return (time.perf_counter() - start) / times

    def warm(self, call):
        """Seconds of a call, once they no longer fall."""
        before = self.time(call)
        for _ in range(10):
            seconds = self.time(call)
            if seconds > 0.9 * before:
                return seconds
            before = seconds
        return before

    def windows(self, call, count=10):
        times = max(1, round(self.seconds / count / self.warm(call)))
        return [self.time(call, times) for _ in range(count)]

    def singles(self, call):
        times = min(10000, max(100 if self.cuda else 5, round(self.seconds / self.warm(call))))
        return sorted(self.time(call) for _ in range(times))


def compiled(receiver, mode):
    return receiver if mode == "eager" else torch.compile(receiver, mode=mode)


def row_of(given, clock, transmitter, mode, slots, iterations):
    torch.compiler.reset()
    received, sent = received_slots(transmitter, given, slots)
    decoder = TBDecoder(transmitter._tb_encoder, num_bp_iter=iterations, cn_update=given.check_nodes, device=given.device)
    receiver = PUSCHReceiver(transmitter, tb_decoder=decoder, return_tb_crc_status=True, device=given.device)
    no = torch.tensor(NOISE_VAR, device=given.device)
    receiver(received, no)  # builds it
    receive = compiled(receiver, mode)
    start = time.perf_counter()
    bits, ok = receive(received, no)
    clock.wait()
    row = {"first_call_s": time.perf_counter() - start}
    if not (bool(ok.all()) and torch.equal(bits, sent)):
        raise RuntimeError(f"{int((bits != sent).any(-1).sum())} of {slots} transport blocks are wrong")
    seconds = clock.windows(lambda: receive(received, no))
    row |= {"slots_per_s": slots / statistics.median(seconds), "call_us": 1e6 * statistics.median(seconds),
            "call_us_least": 1e6 * min(seconds), "call_us_most": 1e6 * max(seconds)}
    if slots == 1:
        row["latency_us"] = latency_of(clock, given, receive, received, no)
    if clock.cuda:
        row["device_memory_bytes"] = torch.cuda.max_memory_allocated(given.device)
    return row


def latency_of(clock, given, receive, received, no):
    host = received.cpu()
    if clock.cuda:
        host = host.pin_memory()

    def from_host():
        bits, ok = receive(host.to(given.device, non_blocking=True), no)
        return bits.to(torch.uint8).cpu(), ok.cpu()

    all_us = [1e6 * s for s in clock.singles(from_host)]
    return {"p50": all_us[len(all_us) // 2], "p99": all_us[min(len(all_us) - 1, 99 * len(all_us) // 100)], "count": len(all_us)}


def machine_of(device):
    cuda = device.startswith("cuda")
    return {"device": torch.cuda.get_device_name(device) if cuda else platform.processor() or platform.machine(),
            "sionna": sionna.__version__, "torch": torch.__version__, "python": platform.python_version()}


def main():
    given = arguments()
    sionna.phy.config.seed = 1
    sionna.phy.config.device = given.device
    torch.manual_seed(1)
    clock = Clock(given.device, given.seconds)
    transmitter, config = transmitter_of(given)
    result = {"format": "sionna pusch 1", **machine_of(given.device), "resource_blocks": given.resource_blocks,
              "layers": given.layers, "rx_antennas": given.rx_antennas, "mcs": given.mcs, "transport_bits": config.tb_size,
              "coded_bits": config.num_coded_bits, "code_blocks": transmitter._tb_encoder.num_cbs, "check_nodes": given.check_nodes,
              "noise_var": NOISE_VAR, "rows": []}
    for slots in given.slots:
        for iterations in given.iterations:
            for mode in given.modes:
                row = {"slots": slots, "iterations": iterations, "mode": mode}
                try:
                    with torch.no_grad():
                        row |= row_of(given, clock, transmitter, mode, slots, iterations)
                except Exception as error:  # PyTorch's compiler raises anything; other rows go on, and main fails at the end
                    row["error"] = f"{type(error).__name__}: {error}"[:500]
                if clock.cuda:
                    torch.cuda.empty_cache()
                    torch.cuda.reset_peak_memory_stats(given.device)
                result["rows"].append(row)
                print(json.dumps(row), file=sys.stderr, flush=True)
                write(given, result)
    if given.json is None:
        print(json.dumps(result, indent=1))
    return 1 if any("error" in row for row in result["rows"]) else 0


def write(given, result):
    """After every row, so that a run that is cut off leaves its rows."""
    if given.json is not None:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")


if __name__ == "__main__":
    sys.exit(main())
