#!/usr/bin/env python3
"""Laws 1, 2 and 4: who may include whom. Usage: include_layers.py [ROOT]

Law 1  A file includes only its own room and those that the table in CONTRIBUTING.md names. Tests and benchmarks
       (tests/, *_test.cpp, *_bench.cpp) may include every room.
Law 2  A body (*_body.hpp; *_team.hpp, what a team of a warp's threads does with an item; and the recursions that bodies
       share in fec/trellis/) includes core/, other bodies and its own folder's plain header (<name>.hpp, *_args.hpp); it has no heap, containers, input or output, no intrinsics and no __CUDA_ARCH__.
       Neither has any other header that a *_kernels.cpp includes, but for what EXEMPT names.
Law 4  oracle/ and warpband/ share nothing; tests may include both.
"""
import os
import pathlib
import re
import sys

CONTRIBUTING = pathlib.Path(__file__).resolve().parents[2] / "CONTRIBUTING.md"


def table_of(text):
    """{room: rooms it may include} of the table under law 1: cells are names between backticks, a first cell may name several rooms."""
    rules = {}
    for row in re.findall(r"^\|(.+)\|$", text[text.index("| room | may include |"):].partition("\n\n")[0], re.M)[2:]:
        rooms, allowed = (re.findall(r"`([a-z/]+)`", cell) for cell in row.split("|"))
        rules |= {room: set(allowed) for room in rooms}
    return rules


MAY_INCLUDE = table_of(CONTRIBUTING.read_text(encoding="utf-8"))

PLAIN_STANDARD_HEADERS = {"cstdint", "cstddef", "type_traits", "limits", "concepts"}
BANNED_IN_BODIES = [
    (r"\b_mm\d*_\w+|\b__m(128|256|512)\w*|\b__builtin_ia32_\w+|\bv(ld|st)\dq?_\w+", "intrinsics"),
    (r"\b(imm|xmm|emm|pmm|tmm)intrin\b|\barm_neon\b|\basm\b", "intrinsics"),
    (r"\b__CUDA_ARCH__\b", "__CUDA_ARCH__"),
    (r"\b(threadIdx|blockIdx|blockDim|__syncthreads|__syncwarp|__shfl\w*|__shared__)\b", "CUDA built-ins"),
    (r"\bstd::(vector|array|deque|list|(unordered_)?(multi)?(map|set)|basic_string|string\w*|span|optional|variant|"
     r"tuple|pair|function|queue|stack|bitset|\w+_ptr)\b", "std containers"),
    (r"\b(malloc|calloc|realloc|free)\s*\(|\bnew\b(?!\s*\()|\bdelete\b(?!\s*;)", "heap"),
    (r"\b(printf|fprintf|puts|fopen)\s*\(|\bstd::(cout|cerr|clog|print)", "input or output"),
]
# What other headers of kernels have: those of core/ and exec/ are the vocabulary of all kernels. What is below them is what one algorithm needs.
CUDA = {"CUDA built-ins"}
EXEMPT = {
    "warpband/core/lane.hpp": {"intrinsics"},
    "warpband/core/half_lane.hpp": {"intrinsics"},
    "warpband/core/message_lane.hpp": {"intrinsics"},
    "warpband/core/short_lane.hpp": {"intrinsics"},
    "warpband/core/short_words.hpp": {"intrinsics"},
    "warpband/core/whole_lane.hpp": {"intrinsics"},
    "warpband/core/group.hpp": CUDA,
    "warpband/core/warp_part.hpp": CUDA,
    "warpband/core/warp_tile.hpp": CUDA,
    "warpband/exec/launch.hpp": CUDA,
    "warpband/exec/ring.hpp": CUDA,
    "warpband/exec/warp_roles.hpp": CUDA,
    "warpband/exec/async_copies.hpp": {"__CUDA_ARCH__", "intrinsics"},
    "warpband/exec/tensor_cores.hpp": {"intrinsics"},
    # 8-bit LLRs that AVX-512 widens by one instruction; a sum that the optimiser must not take apart
    "warpband/fec/turbo/turbo_bfloat.hpp": {"intrinsics"},
    "warpband/fec/turbo/turbo_bfloat_semirings.hpp": {"intrinsics"},
    # blocks whose messages are partly in device memory, and signs of messages that fill a half by one instruction
    "warpband/fec/ldpc/gpu/graph_op.hpp": CUDA,
    "warpband/fec/ldpc/gpu/packed_messages.hpp": {"intrinsics"},
    # blocks with memory of their own in shared and in device memory
    "warpband/fec/bcjr/bcjr_known_op.hpp": CUDA,
    # elements of a list's paths that threads of a warp exchange
    "warpband/fec/polar/polar_paths.hpp": CUDA,
    # kernels of frames, whose warps have roles
    "warpband/massive/cluster/cluster_frames.hpp": CUDA,
    "warpband/massive/downlink/downlink_frames.hpp": CUDA,
    "warpband/massive/downlink/send_block.hpp": CUDA,
    "warpband/massive/downlink/sent_vectors.hpp": CUDA,
    "warpband/linalg/ldl/ldl_block.hpp": CUDA,
    "warpband/massive/frame_rows.hpp": CUDA,
    "warpband/massive/frame_solver.hpp": CUDA,
    "warpband/massive/frame_stream.hpp": CUDA,
    "warpband/massive/frame_sums.hpp": CUDA,
    "warpband/massive/frame_tiles.hpp": CUDA,
    "warpband/massive/uplink/frame_block.hpp": CUDA,
    "warpband/massive/uplink/frame_estimates.hpp": CUDA,
    "warpband/massive/uplink/tensor_operands.hpp": CUDA,
    "warpband/massive/uplink/tensor_sums.hpp": CUDA,
    "warpband/massive/uplink/uplink_frames.hpp": CUDA,
}
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def without_comments(text):
    """The text with comments and string literals blanked, line for line; include lines keep their names."""
    def blank(match):
        found = match.group(0)
        return found if found.startswith('"') and INCLUDE.match(line_of(text, match.start())) \
            else re.sub(r"[^\n]", " ", found)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def line_of(text, position):
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    return text[start:end if end >= 0 else None]


def sources(root):
    for top in ("warpband", "oracle", "apps", "python", "tests", "bench", "examples"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".hpp", ".h", ".cpp", ".cu", ".cuh")):
                    yield os.path.relpath(os.path.join(folder, name), root)


def room_of(path):
    """core, fec, ... or oracle, apps, tests ...; None for a file beside the rooms, which no rule allows."""
    parts = path.split("/")
    if parts[0] != "warpband":
        return parts[0]
    return parts[1] if len(parts) > 2 else None


def resolve(root, path, quote, name):
    """An include as a path below the root, or None where it is not a file of this project."""
    beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
    if quote == '"' and os.path.exists(os.path.join(root, beside)):
        return beside
    for candidate in (name, os.path.join("warpband", name)):
        candidate = os.path.normpath(candidate)
        if os.path.exists(os.path.join(root, candidate)):
            return candidate
    return os.path.normpath(name) if name.startswith(("warpband/", "oracle/")) else None


def layer_fault(path, target):
    """What is wrong with `path` including `target`, or None."""
    source, used = room_of(path), room_of(target)
    in_library = path.startswith("warpband/")
    if source == used or source == "tests":
        return None
    if path.endswith("_test.cpp"):
        return None
    if source == "oracle":
        return "an oracle shares no code with the library (law 4)"
    if used == "oracle":
        return "only tests include oracle/ (law 4)" if in_library else None
    if path.endswith("_bench.cpp"):
        return None
    if source not in MAY_INCLUDE:
        return f"the table in CONTRIBUTING.md has no room {source}/ (law 1)" if in_library else None
    folder = path.removeprefix("warpband/").rpartition("/")[0]
    allowed = MAY_INCLUDE.get(folder, MAY_INCLUDE[source])  # a folder may have a line of its own
    return None if used in allowed else f"{source}/ may not include {used}/ (law 1)"


def is_body(path):
    return path.startswith("warpband/") and (path.endswith(("_body.hpp", "_team.hpp")) or path.startswith("warpband/fec/trellis/"))


def body_fault(path, name, target):
    """What is wrong with the body `path` including <name>, which is `target` in this project or None."""
    if target is None:
        return None if name in PLAIN_STANDARD_HEADERS else f"a body does not include <{name}> (law 2)"
    own_header = re.sub(r"_(body|team)\.hpp$", ".hpp", path)
    own_arguments = os.path.dirname(target) == os.path.dirname(path) and target.endswith("_args.hpp")
    if room_of(target) == "core" or is_body(target) or target == own_header or own_arguments:
        return None
    return f"a body includes only core/, bodies and its own plain header, not {target} (law 2)"


def headers_of_kernels(root, paths):
    """All headers of warpband/ that a *_kernels.cpp includes, directly or not."""
    found, open_files = set(), [path for path in paths if path.startswith("warpband/") and path.endswith("_kernels.cpp")]
    while open_files:
        path = open_files.pop()
        with open(os.path.join(root, path), encoding="utf-8") as file:
            includes = [INCLUDE.match(line) for line in file]
        for include in filter(None, includes):
            target = resolve(root, path, *include.groups())
            if target and target not in found and os.path.exists(os.path.join(root, target)):
                found.add(target)
                open_files.append(target)
    return found


def faults_in(root, path, of_kernels):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = without_comments(file.read())
    body = is_body(path)
    kind, exempt, used = "body" if body else "header of kernels", EXEMPT.get(path, set()), set()
    for number, line in enumerate(text.split("\n"), 1):
        include = INCLUDE.match(line)
        if include:
            target = resolve(root, path, *include.groups())
            fault = layer_fault(path, target) if target else None
            if not fault and body:
                fault = body_fault(path, include.group(2), target)
            if fault:
                yield f"{path}:{number}: {fault}: {line.strip()}"
        elif body or of_kernels:
            for pattern, construct in BANNED_IN_BODIES:
                found = re.search(pattern, line)
                if found and construct in exempt:
                    used.add(construct)
                elif found:
                    yield f"{path}:{number}: a {kind} has no {construct} (law 2): {found.group(0).strip()}"
    if of_kernels and exempt - used:
        yield f"{path}:1: it has none of what EXEMPT allows it: {', '.join(sorted(exempt - used))}"


def main():
    root = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    paths, faults = list(sources(root)), []
    of_kernels = headers_of_kernels(root, paths)
    for path in paths:
        faults += faults_in(root, path, path in of_kernels)
    if unused := EXEMPT.keys() - of_kernels:
        faults.append(f"{__file__}: exempt, but no kernel includes it: {', '.join(sorted(unused))}")
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(paths)} files looked at, {len(of_kernels)} of them headers of kernels")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main()
