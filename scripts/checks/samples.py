#!/usr/bin/env python3
"""C++ in the pages of the documentation. Usage: samples.py [ROOT] checks it: samples compile, and the table of classes names what is there.
Containerfile runs the lines of shell in README.md or names them as not run, in README's order.
samples.py --programs FOLDER writes the whole programs among the samples into a folder, for tests/consumer to build and run.

A sample that is no whole program is the body of a function; what it takes as given, `GIVEN` declares. A program begins with its file's name
in a comment. (Samples in Python and in TOML are run by python/tests/test_package.py.)
"""
import os
import pathlib
import re
import shlex
import subprocess
import sys

PLAIN = "#include <complex>\n#include <cstddef>\n#include <cstdint>\n#include <vector>\n"
GIVEN = {
    "docs/cpp.md": ("#include <cstdio>\n#include <vector>\n", ""),
    "docs/lte.md": ("#include <warpband/fec/lte/transport.hpp>\n",
                    "wb::executor& exec, wb::view<const std::uint8_t> bits, wb::view<std::uint8_t> coded, wb::view<const float> llr, "
                    "wb::view<std::uint8_t> decided, wb::view<std::uint8_t> ok"),
    "docs/polar.md": ("#include <warpband/fec/polar/polar.hpp>\n",
                      "wb::executor& exec, wb::view<const std::uint8_t> bits, wb::view<std::uint8_t> coded, wb::view<const float> llr, "
                      "wb::view<std::uint8_t> decided, wb::view<std::uint8_t> status"),
    "docs/ctc.md": ("#include <warpband/fec/ctc/ctc.hpp>\n",
                    "wb::executor& exec, wb::view<const std::uint8_t> bits, wb::view<std::uint8_t> coded, wb::view<const float> llr, "
                    "wb::view<std::uint8_t> decided, wb::view<std::uint8_t> status"),
    "docs/iterative.md": ("#include <warpband/receive/iterative.hpp>\n",
                          "wb::executor& exec, wb::view<const std::complex<float>> y, wb::view<const std::complex<float>> h, "
                          "wb::view<const float> n0, wb::view<std::uint8_t> bits"),
    "docs/nr-ldpc.md": ("#include <warpband/fec/nr/transport.hpp>\n",
                        "wb::executor& exec, wb::nr_transport_decoder& decoder, wb::view<const float> llr, wb::view<std::uint8_t> bits, "
                        "wb::view<std::uint8_t> ok"),
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
    includes_of_sample = "\n".join(re.findall(r"^#include .*$", code, re.M))
    body = re.sub(r"^#include .*$", "", code, flags=re.M)
    # What the sample itself declares hides what is given.
    return f"{PLAIN}{includes}{includes_of_sample}\nvoid sample({given}) {{\n{{\n", f"{body}}}\n}}\n"


def samples(root):
    """Page, line and code of each sample."""
    for path in [root / "README.md", root / "CONTRIBUTING.md",
                 *(page for folder in ("", "algorithms", "tutorials") for page in sorted((root / "docs" / folder).glob("*.md")))]:
        text, page = path.read_text(encoding="utf-8"), path.relative_to(root).as_posix()
        for found in re.finditer(r"^```(?:cpp|c\+\+)\n(.*?)^```", text, re.M | re.S):
            yield page, text[:found.start()].count("\n") + 2, found[1]


def name_of_program(code):
    found = re.match(r"// (\w+\.cpp)\n", code)
    return found[1] if found and "int main(" in code else None


def write_programs(root, folder):
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for page, line, code in samples(root):
        if name := name_of_program(code):
            names.append(name)
            (folder / name).write_text(f'#line {line} "{page}"\n{code}', encoding="utf-8")
    print(f"{len(names)} programs: {', '.join(names)}")
    return 0 if names and len(set(names)) == len(names) else 1


def missing_classes(root):
    """Names in the table of classes of docs/cpp.md that no header of their row declares."""
    table = (root / "docs/cpp.md").read_text(encoding="utf-8").partition("## All classes")[2]
    missing, count = [], 0
    for row in re.findall(r"^\| \w* ?\| (`.*?) \| (`.*?) \|", table, re.M):
        names, headers = (re.findall(r"`([^`]+)`", column) for column in row)
        text = "".join((root / "warpband" / h).read_text(encoding="utf-8") for h in headers)
        for include in re.findall(r"#include <(warpband/.*?)>", text):  # a header may gather others
            text += (root / include).read_text(encoding="utf-8")
        count += len(names)
        missing += [n for n in names if not re.search(rf"\b{re.escape(n.removesuffix('()'))}\b", text)]
    return missing, count


def container_faults(root):
    """Lines of Containerfile that no builder knows, or that differ from README's."""
    readme = (root / "README.md").read_text(encoding="utf-8")
    wanted = [re.sub(r"\s+#.*", "", line) for block in re.findall(r"^```sh\n(.*?)^```", readme, re.M | re.S) for line in block.splitlines()]
    spans = re.findall(r"`([^`\n]+)`", readme)
    run, left_out, stages = [], [], []
    for number, line in enumerate((root / "Containerfile").read_text(encoding="utf-8").splitlines(), 1):
        place, (word, _, rest) = f"Containerfile:{number}", line.partition(" ")
        if line.startswith("# not run: "):
            left_out.append(line.removeprefix("# not run: "))
        elif word == "FROM":
            found = re.fullmatch(r"(\S+)(?: AS (\w+))?", rest)
            if not found or not (found[1] in stages or found[1].startswith("${")):
                yield f"{place}: expected FROM ${{BASE}} or a stage above, and a name"
            stages.append(found and found[2])
        elif word == "RUN":
            if rest in wanted:
                run.append(rest)
            elif rest not in spans and "README.md" not in rest:
                yield f"{place}: README.md does not have this line"
        elif word not in ("", "#", "ARG", "COPY", "ENV", "WORKDIR") or line.endswith("\\"):
            yield f"{place}: expected a comment or one of FROM, RUN, ARG, COPY, ENV and WORKDIR, in one line"
        if word in ("RUN", "COPY", "ENV", "WORKDIR") and not stages:
            yield f"{place}: expected behind FROM"
    for name, lines in (("run", run), ("not run", left_out)):
        if lines != [line for line in wanted if line in lines]:
            yield f"Containerfile:1: lines that are {name} are not README's, or not in its order: {lines}"
    yield from (f"Containerfile:1: neither runs README's line nor names it as not run: {line}" for line in wanted if line not in run + left_out)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--programs":
        return write_programs(pathlib.Path(".").resolve(), pathlib.Path(sys.argv[2]))
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    count = bad = 0
    with_cuda = ["-isystem", "/usr/local/cuda/include"] if os.path.exists("/usr/local/cuda/include/cuda_runtime.h") else []
    for page, line, code in samples(root):
        if "cuda_runtime" in code and not with_cuda:
            print(f"{page}:{line}: left out: no CUDA headers here")
            continue
        before, after = ("", code) if name_of_program(code) else program(page, code)
        result = subprocess.run([*compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Wno-unused", f"-I{root}", *with_cuda, "-x", "c++", "-"],
                                input=f'{before}#line {line} "{page}"\n{after}', capture_output=True, text=True)
        count += 1
        if result.returncode != 0:
            bad += 1
            print(result.stderr.strip() or f"{page}:{line}: does not compile")
    print(f"{count} samples compiled, {bad} of them with errors")
    missing, classes = missing_classes(root)
    print(f"{classes} names in the table of docs/cpp.md, {len(missing)} of them not declared where it says{': ' if missing else ''}{', '.join(missing)}")
    faults = list(container_faults(root))
    print("\n".join([*faults, f"Containerfile: {len(faults)} faults"]))
    return 1 if bad or missing or faults or count == 0 or classes == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
