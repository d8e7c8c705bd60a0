#!/usr/bin/env python3
"""Registers, stack and instructions of the detectors' CUDA kernels, read off the machine code (wu2010 table 4.4). Needs cuobjdump.

usage: detector_instructions.py [--arch sm_90] [--ncu COMPARISON.json] [--all] FILE ...

FILE: objects or programs with CUDA code, such as build/cuda/warpband. By default kernels whose antennas and points are
known when they are compiled, and the linear ones of known antennas; --all adds the others. Columns:
  threads        threads that share a use
  registers      of a thread
  stack          bytes of a thread's local memory: spilled registers, and arrays that are indexed at run time
  LDL, STL       instructions in the code that load from and store to it
  code           instructions in the code
  inner loops    instructions of each loop that has no other inside, in the order of the code: one pass of it
  executed       of a use by all its threads, counted by the profiler (scripts/ncu_bound.py --output); for nway by N
  model          operations of a use that flops() states: a polynomial in n and sqrt(Q)
  wu2010         model / profiler of the thesis, times the Q threads that a use has there
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python/warpband"))
from reproduce.printed import WU2010_INSTRUCTIONS  # noqa: E402
from reproduce.records import table, three  # noqa: E402

INSTRUCTION = re.compile(r"^\s+/\*([0-9a-f]{4,})\*/\s+(.*?);")
LINEAR = ("mf", "zf", "mmse")
SIZES = re.compile(r"(nway|ml|trellis|kbest\w*|linear)_op<(?:exact_sizes<(\d+), (\d+)>|square_sizes<(\d+)>|any_sizes)(.*)")


def run(command):
    try:
        done = subprocess.run(command, capture_output=True, text=True)
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[:300]}")
    return done.stdout


def resources(text):
    """Registers and stack of each function."""
    found = re.findall(r"Function (\S+):\s+REG:(\d+) STACK:(\d+)", text)
    return {name: (int(registers), int(stack)) for name, registers, stack in found}


def code(text):
    """Of each function its instructions: (address, text)."""
    functions, current = {}, None
    for line in text.splitlines():
        if "Function :" in line:
            current = functions.setdefault(line.split(":", 1)[1].strip(), [])
        elif current is not None and (found := INSTRUCTION.match(line)):
            current.append((int(found.group(1), 16), found.group(2).strip()))
    return functions


def opcode(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split(" ")[0].split(".")[0]


def inner_loops(instructions):
    """Instructions of each loop without another inside: from the target of a branch backwards to the branch."""
    loops = set()
    for address, text in instructions:
        target = re.search(r"\bBRA\b.*?\b0x([0-9a-f]+)", text)
        if target and int(target.group(1), 16) < address:
            loops.add((int(target.group(1), 16), address))
    inner = [(first, last) for first, last in loops
             if not any((a, b) != (first, last) and first <= a and b <= last for a, b in loops)]
    return [sum(first <= address <= last for address, _ in instructions) for first, last in sorted(inner)]


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True).stdout.splitlines()
    return {name: re.sub(r"wb::(cuda_device::)?", "", plain) for name, plain in zip(names, text)}


def kernel_of(plain):
    """What a demangled name says: detector, n, Q (0: any), threads of a use; None for what is no detector."""
    if by_warps := re.search(r"kbest_warp_op<warp_part<(\d+)>, (\d), \d>", plain):
        return "kbest", 4, 4 ** int(by_warps.group(2)), int(by_warps.group(1))
    found = SIZES.search(plain)
    if not found:
        return None
    room, n, pam, square, rest = found.groups()
    if room == "trellis":
        room = "mtt" if "trellis_algorithm)1" in rest else "ot"
    elif room == "linear":
        room = LINEAR[int(re.search(r"linear_algorithm\)(\d)", rest).group(1))]
    tile = re.search(r", (\d+)(, (?:true|false))?>", rest)
    return room, int(n or square or 0), 4 ** int(pam) if pam else 0, int(tile.group(1)) if tile else 1


def counts(path):
    """Executed instructions and stated operations of a use by (detector, n, Q); for nway by N."""
    executed, model = {}, {}
    for b in json.load(open(path, encoding="utf-8"))["benchmarks"] if path else []:
        axes = dict(part.split("=") for part in b["name"].split("/")[1:])
        metrics, items = b["metrics"], b["stated"].get("items")
        n = metrics.get("smsp__inst_executed.sum", metrics.get("inst_executed"))
        if b["name"].startswith("detect/") and items and n:
            key = (axes["detector"], int(axes["antennas"].split("x")[1]), int(axes["qam"]))
            executed.setdefault(key, []).append(32 * n / items)
            model.setdefault(key, []).append(b["stated"]["flops"] / items)
    return executed, model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--arch", default="sm_90")
    parser.add_argument("--ncu")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    executed, model = counts(options.ncu)
    rows = []
    for path in options.files:
        usage = resources(run(["cuobjdump", "-arch", options.arch, "-res-usage", path]))
        names = demangled(list(usage))
        kernels = sorted((kernel, name) for name in usage if (kernel := kernel_of(names[name])) and (options.all or kernel[2] or (kernel[1] and kernel[0] in LINEAR)))
        instructions = code(run(["cuobjdump", "-arch", options.arch, "-sass", path])) if kernels else {}
        for (room, n, qam, threads), name in kernels:
            key, opcodes = (room, n, qam), instructions.get(name, [])
            theirs = WU2010_INSTRUCTIONS.get((n, qam)) if room == "mtt" else None
            rows.append([f"{room} {f'{n}x{n}' if n else 'any size'} {f'{qam}-QAM' if qam else 'any QAM'}", str(threads),
                         str(usage[name][0]), str(usage[name][1]),
                         f"{sum(opcode(i) == 'LDL' for _, i in opcodes)}, {sum(opcode(i) == 'STL' for _, i in opcodes)}",
                         str(sum(opcode(i) != "NOP" for _, i in opcodes)),
                         " ".join(map(str, inner_loops(opcodes))) or "-",
                         " ".join(map(three, executed.get(key, []))) or "-", " ".join(map(three, model.get(key, []))) or "-",
                         " / ".join(three(qam * x) for x in theirs) if theirs else "-"])
    if not rows:
        sys.exit(f"no detector's kernel for {options.arch} in {' '.join(options.files)}")
    print("\n".join(table(["kernel", "threads", "registers", "stack", "LDL, STL", "code", "inner loops", "executed", "model", "wu2010"],
                          rows)))


if __name__ == "__main__":
    main()
