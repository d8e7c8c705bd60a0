#!/usr/bin/env bash
# Builds a wheel that other machines can install, with the package and the command: what it needs beside the system's C and C++ libraries
# is put into it, and its name says from which glibc on it runs. Then scripts/wheel_trial.sh tries it here, and, if the interpreter is 3.12 or
# newer, with every further PYTHON.
#
#   scripts/python_wheel.sh [--cuda] [--glibc-of ROOT] [FOLDER [PYTHON...]]     dist in the repository and python3 unless given
#
# --cuda: with the CUDA backend, into dist/cuda unless given. It needs a CUDA toolkit here and none where the wheel is installed: the CUDA
# runtime is linked into it, and the driver and cuFFT are looked for when they are first used. CMAKE_ARGS=-DCMAKE_CUDA_ARCHITECTURES=90-real
# compiles for one kind of device alone. Needs the network: pip fetches the tools of requirements-wheel.txt and checks their hashes.
#
# --glibc-of ROOT: for systems as old as the one in ROOT. The compiler is this machine's; the linker takes ROOT's C library, and puts the
# C++ library into the wheel. ROOT needs no more than libc6-dev and libgcc_s. For manylinux_2_27, as root, with a mirror of Ubuntu:
#   debootstrap --variant=minbase --include=libc6-dev bionic ROOT MIRROR
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

cuda=OFF folder_of_wheels=$root/dist old=
while [[ ${1:-} == --* ]]; do
    case $1 in
        --cuda) cuda=ON folder_of_wheels=$root/dist/cuda ;;
        --glibc-of)
            old=$(realpath "$2")
            shift
            ;;
        *)
            echo "python_wheel.sh: unknown option $1 (there are --cuda and --glibc-of ROOT)" >&2
            exit 2
            ;;
    esac
    shift
done
# What is relative is so to where the caller stands; a PYTHON without a slash is a command.
target=$(realpath -m "${1:-$folder_of_wheels}")
shift || true
pythons=()
for python in "${@:-python3}"; do
    case $python in
    */*) pythons+=("$(realpath -s "$python")") ;; # the link itself: that of a virtual environment is its interpreter
    *) pythons+=("$python") ;;
    esac
done
[ -z "${WARPBAND_WHEEL:-}" ] || WARPBAND_WHEEL=$(realpath "$WARPBAND_WHEEL")
cd "$root"
mkdir -p "$target" build
folder=$(mktemp -d)
build=$(mktemp -d "$root/build/wheel-XXXXXX") # beside the presets' folders, so that the compiler cache serves it as it does them
trap 'rm -rf "$folder" "$build"' EXIT

"${pythons[0]}" -m venv "$folder/tools"
"$folder/tools/bin/pip" --quiet --disable-pip-version-check install --only-binary :all: --require-hashes \
    -r scripts/requirements-wheel.txt
if [ -n "$old" ]; then # a folder of what the linker takes from there; the links in ROOT itself may point out of it
    triple=$(uname -m)-linux-gnu
    ln -s "$old/usr/lib/$triple"/{{Scrt1,crti,crtn}.o,lib*_nonshared.a} "$build/"
    for library in dl m pthread rt; do
        ln -s "$old/lib/$triple/lib$library".so.? "$build/lib$library.so"
    done
    loader=$(basename "$old/lib/$triple"/ld-linux*.so.?)
    echo "GROUP ( $old/lib/$triple/libc.so.6 $(echo "$build"/lib*_nonshared.a) AS_NEEDED ( $old/lib/$triple/$loader ) )" > "$build/libc.so"
    echo "GROUP ( $old/lib/$triple/libgcc_s.so.1 -lgcc )" > "$build/libgcc_s.so"
    c++ -std=c++20 -O2 -fPIC -c scripts/old_glibc.cpp -o "$build/old_glibc.o"
    # The C++ library in the wheel is the wheel's alone: it exports nothing of it.
    export LDFLAGS="-B$build -L$build -static-libstdc++ -Wl,--exclude-libs,ALL -Wl,--as-needed $build/old_glibc.o ${LDFLAGS:-}"
fi
if [ -n "${WARPBAND_WHEEL:-}" ]; then # one that was built before
    cp "$WARPBAND_WHEEL" "$folder/"
else # compiled as the presets do, so that the compiler cache has kernels
    PATH="$folder/tools/bin:$PATH" CXX=${CXX:-c++} "$folder/tools/bin/pip" --quiet --disable-pip-version-check wheel --no-deps \
        --no-build-isolation --check-build-dependencies -w "$folder" -C "build-dir=$build" \
        -C "cmake.define.WARPBAND_CUDA=$cuda" -C cmake.define.WARPBAND_ISAS=all -C cmake.define.WARPBAND_APP=ON \
        -C cmake.define.CMAKE_CXX_FLAGS_RELEASE= -C cmake.define.WARPBAND_WERROR=ON .
fi
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" show "$folder"/warpband-*.whl
PATH="$folder/tools/bin:$PATH" "$folder/tools/bin/auditwheel" repair -w "$folder/repaired" "$folder"/warpband-*.whl
wheel=$(echo "$folder"/repaired/warpband-*.whl)
if "$folder/tools/bin/python" -m zipfile -l "$wheel" | grep -E 'lib(cuda|cudart|cufft|nvrtc)[.-]'; then
    echo "the wheel holds libraries of CUDA" >&2
    exit 1
fi

# What the old C library lacks a linker leaves open in a module, and auditwheel, which reads versions, does not see it.
"$folder/tools/bin/python" -m zipfile -e "$wheel" "$folder/held"
if { find "$folder/held" -type f -exec nm -D --undefined-only {} + 2> /dev/null || true; } | awk '$1 == "U" && $2 !~ /@|^_?Py|^kiss_fft/' | grep .; then
    echo "no library has these symbols" >&2
    exit 1
fi

for python in "${pythons[@]}"; do
    bash scripts/wheel_trial.sh here "$wheel" "$python"
done
cp "$wheel" "$target/"
python3 scripts/sbom.py "$wheel" "$target/$(basename "$wheel" .whl).cdx.json" # what it holds
echo "$target/$(basename "$wheel")"
