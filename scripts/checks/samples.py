#!/usr/bin/env python3
"""C++ in the pages of the documentation compiles. Usage: samples.py [ROOT]

A sample that is no whole program is the body of a function; what it takes as given, `GIVEN` declares. (Samples in Python and in TOML are
run by python/tests/test_package.py.)
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

PLAIN = "#include <complex>\n#include <cstddef>\n#include <cstdint>\n#include <vector>\n"
GIVEN = {
    "docs/cpp.md": ("#include <warpband/detect/detector.hpp>\n#include <warpband/exec/cuda.hpp>\n#include <warpband/fec/turbo/turbo.hpp>\n",
                  "std::size_t batch, std::size_t uses, const float* recorded, wb::view<const std::complex<float>> y, "
                  "wb::view<const std::complex<float>> h, wb::view<const float> n0, wb::cuda& exec"),
    "docs/lte.md": ("#include <warpband/fec/lte/transport.hpp>\n",
                    "wb::executor& exec, wb::view<const std::uint8_t> bits, wb::view<std::uint8_t> coded, wb::view<const float> llr, "
                    "wb::view<std::uint8_t> decided, wb::view<std::uint8_t> ok"),
    "docs/polar.md": ("#include <warpband/fec/polar/polar.hpp>\n",
                      "wb::executor& exec, wb::view<const std::uint8_t> bits, wb::view<std::uint8_t> coded, wb::view<const float> llr, "
                      "wb::view<std::uint8_t> decided, wb::view<std::uint8_t> status"),
    "docs/iterative.md": ("#include <warpband/receive/iterative.hpp>\n",
                          "wb::executor& exec, wb::view<const std::complex<float>> y, wb::view<const std::complex<float>> h, "
                          "wb::view<const float> n0, wb::view<std::uint8_t> bits"),
    "docs/nr-ldpc.md": ("", "wb::executor& exec"),
    "docs/pusch.md": ("", "wb::executor& exec"),
    "docs/scale.md": ("#include <warpband/massive/cluster/cluster.hpp>\n",
                      "wb::executor& first, wb::executor& second, const std::vector<wb::uplink_input>& halves, "
                      "const std::vector<wb::uplink_output>& outputs"),
    "docs/tdl.md": ("#include <warpband/ofdm/modem/modem.hpp>\n",
                    "wb::executor& exec, wb::view<std::complex<float>> values, wb::view<std::complex<float>> samples, "
                    "wb::view<const std::complex<float>> received"),
}


def program(page, code):
    """What stands before the sample's first line, and from there on. Its includes are moved up."""
    includes, given = GIVEN.get(page, ("", ""))
    own = "\n".join(re.findall(r"^#include .*$", code, re.M))
    body = re.sub(r"^#include .*$", "", code, flags=re.M)
    # What the sample itself declares hides what is given.
    return f"{PLAIN}{includes}{own}\nvoid sample({given}) {{\n{{\n", f"{body}}}\n}}\n"


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    count = bad = 0
    for path in [root / "README.md", root / "CONTRIBUTING.md", *sorted((root / "docs").glob("*.md"))]:
        text, page = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        for found in re.finditer(r"^```(?:cpp|c\+\+)\n(.*?)^```", text, re.M | re.S):
            line = text[:found.start()].count("\n") + 2
            before, after = program(page, found[1])
            result = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{root}", "-x", "c++", "-"],
                                    input=f'{before}#line {line} "{page}"\n{after}', capture_output=True, text=True)
            count += 1
            if result.returncode != 0:
                bad += 1
                print(result.stderr.strip() or f"{page}:{line}: does not compile")
    print(f"{count} samples compiled, {bad} of them with errors")
    return 1 if bad or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
