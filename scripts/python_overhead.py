#!/usr/bin/env python3
"""What a call of the Python package costs beside its work: microseconds for batches of one item, and the import.

    PYTHONPATH=build/release/python .venv/bin/python scripts/python_overhead.py [--json FILE]

Each number is the least of many rounds, so that other work on the machine does not count. `call` is from Python's call to its
return, `core` the part of it below the Python layer, the work on the item included: detection of one use with one stream, the map of
one QPSK symbol. With a CUDA device and torch, `device` calls are those with tensors on it: they queue their work and return. Calls
of no item launch nothing, so they show what the bindings cost alone. `new` calls show the cost with torch.empty for the output.
"""
import argparse
import platform
import subprocess
import sys
import timeit

import numpy

import warpband
from warpband._json_lines import json_lines


def least(statement, names, rounds=200, calls=500):
    return min(timeit.repeat(statement, globals=names, number=calls, repeat=rounds)) / calls * 1e6


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())


def on_device():
    """Calls with arrays on a CUDA device, of torch and of the other libraries that are there; nothing without torch or a device."""
    try:
        import torch
    except ImportError:
        return {}
    if not warpband.cuda_devices() or not torch.cuda.is_available():
        return {}
    names = {"h": torch.ones(1, 1, 1, dtype=torch.complex64, device="cuda"), "y": torch.ones(1, 1, dtype=torch.complex64, device="cuda"),
             "llr": torch.empty(1, 2, device="cuda"), "bits": torch.ones(1, 2, dtype=torch.uint8, device="cuda"), "torch": torch,
             "detect": warpband.MMSE(streams=1, rx_antennas=1, qam=4), "modulate": warpband.QamMapper(qam=4)}
    names.update(no_h=names["h"][:0], no_y=names["y"][:0], no_llr=names["llr"][:0], no_bits=names["bits"][:0],
                 symbols=torch.empty(1, 1, dtype=torch.complex64, device="cuda"))
    names["no_symbols"] = names["symbols"][:0]

    def queued(statement, names=names):
        exec(statement, names)  # copies tables
        return min(least(statement, names, rounds=1, calls=20) for _ in range(200) if torch.cuda.synchronize() is None)
    numbers = {"device_detect_call_us": queued("detect(h, y, 0.1)"), "device_detect_call_with_out_us": queued("detect(h, y, 0.1, out=llr)"),
               "device_detect_nothing_us": queued("detect(no_h, no_y, 0.1, out=no_llr)"),
               "device_detect_nothing_new_us": queued("detect(no_h, no_y, 0.1)"), "device_map_call_us": queued("modulate(bits)"),
               "device_map_nothing_us": queued("modulate(no_bits, out=no_symbols)"),
               "device_map_nothing_new_us": queued("modulate(no_bits)"), "device_torch_add_us": queued("torch.add(y, y, out=y)"),
               "device_torch_empty_us": queued("torch.empty((0, 1), dtype=torch.complex64, device=y.device)")}
    tensors = {name: value for name, value in names.items() if isinstance(value, torch.Tensor)}
    for library in ("cupy", "numba", "jax"):  # JAX's arrays can't be filled, so that each call has a new one
        try:
            names.update(arrays_of(library, tensors))
            if library != "jax":
                numbers[f"device_{library}_detect_nothing_us"] = queued("detect(no_h, no_y, 0.1, out=no_llr)")
                numbers[f"device_{library}_map_nothing_us"] = queued("modulate(no_bits, out=no_symbols)")
            numbers[f"device_{library}_map_nothing_new_us"] = queued("modulate(no_bits)")
        except Exception as reason:  # it is not there, or has no arrays of no item: the others are measured all the same
            print(f"without {library}: {reason}", file=sys.stderr)
    return {**numbers, "device": torch.cuda.get_device_name()}


def arrays_of(library, tensors):
    """The tensors' arrays as those of another library."""
    host = {name: tensor.cpu().numpy() for name, tensor in tensors.items()}
    if library == "cupy":
        import cupy
        return {name: cupy.asarray(array) for name, array in host.items()}
    if library == "numba":
        from numba import cuda
        return {name: cuda.to_device(numpy.ones(array.shape, array.dtype)) for name, array in host.items()}
    import jax
    return {name: jax.device_put(array, jax.devices("cuda")[0]) for name, array in host.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--json", help="write the numbers here")
    options = parser.parse_args()
    one = warpband.cpu(threads=1)
    names = {
        "h": numpy.ones((1, 1, 1), numpy.complex64), "y": numpy.ones((1, 1), numpy.complex64), "one": one,
        "bits": numpy.ones((1, 2), numpy.uint8), "llr": numpy.empty((1, 2), numpy.float32),
        "symbols": numpy.empty((1, 1), numpy.complex64), "numpy": numpy,
        "detect": warpband.MMSE(streams=1, rx_antennas=1, qam=4, executor=one),
        "modulate": warpband.QamMapper(qam=4, executor=one),
    }
    numbers = {
        "detect_call_us": least("detect(h, y, 0.1)", names),
        "detect_call_with_out_us": least("detect(h, y, 0.1, out=llr)", names),
        "detect_core_us": least("detect._work.run(one, h, y, 0.1, None, llr, None, None, None)", names),
        "map_call_us": least("modulate(bits)", names),
        "map_core_us": least("modulate._work.run(one, bits, symbols)", names),
        "numpy_add_us": least("numpy.add(y, y)", names),
    }
    with warpband.Stream(stage=warpband.MMSE(streams=1, rx_antennas=1, qam=4), most_items=1, streams=1, queue=1000) as stream:
        names["stream"] = stream
        pushes = []
        for _ in range(100):  # into an empty queue that takes them all
            pushes.append(least("stream.push(h, y, 0.1)", names, rounds=1))
            stream.drain()
        numbers["stream_push_us"] = min(pushes)
        numbers["stream_push_and_result_us"] = least("stream.push(h, y, 0.1).result()", names, calls=50)
    seconds = [float(subprocess.run([sys.executable, "-c", "import time; import warpband; print(time.process_time())"],
                                    check=True, capture_output=True, text=True).stdout) for _ in range(9)]
    numbers["import_cpu_s"] = min(seconds)
    device = on_device()
    about_device = {"device": device.pop("device")} if device else {}
    numbers.update(device)
    for name, value in numbers.items():
        print(f"{name:32s} {value:8.3f}")
    if options.json:
        about = {"format": "warpband python overhead 1", "warpband": warpband.__version__, "commit": warpband.__commit__,
                 "python": platform.python_version(),
                 "numpy": numpy.__version__, "executor": one.description, "cpu": processor(), **about_device}
        with open(options.json, "w", encoding="utf-8") as file:
            file.write(json_lines({**about, **{name: round(value, 3) for name, value in numbers.items()}}))


if __name__ == "__main__":
    main()
