#!/usr/bin/env python3
"""Compiler launcher: timed_compile.py LOG COMPILER ARGUMENTS...

Runs the compiler and appends one JSON line to LOG (or to $WARPBAND_COMPILE_LOG): CPU seconds of the compiler and all its
children, and the peak memory of the largest of them. The compiler's exit status is passed on.
"""
import json
import os
import sys
import time


def value_after(arguments, option):
    return arguments[arguments.index(option) + 1] if option in arguments[:-1] else None


def architectures(arguments):
    """Number of GPU targets that one nvcc call compiles for; 0 for a host compiler."""
    if not any(os.path.basename(a) == "nvcc" for a in arguments):
        return 0
    named = [a.split("code=")[-1] for a in arguments if a.startswith(("-gencode", "--generate-code"))]
    return max(1, sum(codes.count(",") + 1 for codes in named))


def main():
    log, command = os.environ.get("WARPBAND_COMPILE_LOG", sys.argv[1]), sys.argv[2:]
    start = time.monotonic()
    # Without the module subprocess, which takes longer to read than all else here: this runs before each compilation.
    _, status, used = os.wait4(os.posix_spawnp(command[0], command, os.environ), 0)
    status = os.waitstatus_to_exitcode(status)
    wall = time.monotonic() - start
    target, source = value_after(command, "-o"), value_after(command, "-c") or value_after(command, "-dc")
    if status == 0 and target and source:
        line = json.dumps({
            "object": os.path.normpath(target),
            "source": os.path.relpath(source, os.path.join(os.path.dirname(__file__), "..", "..")),
            "cpu_s": round(used.ru_utime + used.ru_stime, 3),
            "wall_s": round(wall, 3),
            "max_rss_mb": round(used.ru_maxrss / 1024, 1),
            "architectures": architectures(command),
        })
        # One write to a file opened for appending: lines of compilations side by side do not mix.
        handle = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        os.write(handle, (line + "\n").encode())
        os.close(handle)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
