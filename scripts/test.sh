#!/usr/bin/env bash
# Builds everything and runs every test and check. Usage: scripts/test.sh [--quick] [--cuda] [--within MINUTES]
#   setup     what is missing of compilers and libraries
#   release   .venv, the optimised build (with MPI where there is an mpicxx), all tests; with --cuda the preset `cuda` (without a device its tests are skipped, visibly)
#   checks    the Python package, the installed library, files of h5py, the documentation site, and scripts/checks
#   asan, tsan, aarch64 under qemu-user, fuzz where there is a clang++: not with --quick. CMakePresets.json chooses their tests by label.
#
# --within: for a machine with little time, as that of .ci/run. Vector kernels are those of the widest instruction set alone, and of the last
# row no step begins after so many minutes. A step that does not begin counts as skipped. Commits take turns in which of them is first.
#
# build/test/STEP/log has the output of a step. What failed, and what was skipped and why, is printed. The last line is
# `N passed, N failed, N skipped`: the tests of all steps; a step without tests counts as one.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=no main=release within= jobs=$(nproc) wrapper=()
while (($#)); do
    case $1 in
        --quick) quick=yes ;;
        --cuda) main=cuda PATH=$PATH:/usr/local/cuda/bin ;;
        --within) within=${2:?--within needs minutes} && shift ;;
        *) echo "usage: test.sh [--quick] [--cuda] [--within MINUTES]" >&2; exit 2 ;;
    esac
    shift
done
rm -rf build/test
export PYTHONUTF8=1 # pages and reports are UTF-8 in every locale

# step NAME COMMAND...: $results is the folder of its log and of its tests' results, JUnit XML
step() {
    local start=$SECONDS
    results=$PWD/build/test/$1
    mkdir -p "$results"
    echo "== $1"
    (set -e; "${@:2}") > "$results/log" 2>&1
    python3 scripts/test_report.py "$results" $? $((SECONDS - start))
}
# The same unless it is too late to begin it
late_step() {
    if [[ -z $within ]] || ((SECONDS < 60 * within)); then
        step "$@"
    else
        mkdir -p "build/test/$1"
        echo "SKIPPED ($within minutes were over): $1" | tee "build/test/$1/log"
        echo '[{"passed": 0, "failed": 0, "skipped": 1}, "0"]' > "build/test/$1/counts.json"
    fi
}

# Scalar kernels, and those of the widest instruction sets that run here: each set takes three minutes of two cores.
kernels=-DWARPBAND_ISAS=all
if grep -q avx2 /proc/cpuinfo; then kernels="-DWARPBAND_ISAS=scalar;avx2"; fi
if grep -q avx512vl /proc/cpuinfo; then
    kernels="-DWARPBAND_ISAS=scalar;avx2;avx512"
    if [[ -n $within ]]; then kernels="-DWARPBAND_ISAS=scalar;avx512"; fi
fi
bbdev=()
if pkg-config --exists 'libdpdk >= 22.11'; then bbdev=(-DWARPBAND_BBDEV=ON); else echo "no libdpdk: the BBDEV driver and its tests are left out"; fi
build() {
    cmake --preset "$@"
    cmake --build --preset "$1" --parallel "$jobs"
}
run_tests() { python3 scripts/run_tests.py "$1" "$results/ctest.xml" --jobs "$jobs" -- "${wrapper[@]}"; }
python_tests() { PYTHONPATH=build/$main/python .venv/bin/python -m pytest -q --junitxml="$results/pytest.xml" "$@"; }

optimised() {
    # Without a device CUDA code never runs: it is compiled for one architecture, at nvcc's fastest level, and by the check of CUDA
    # targets for the others. On a machine with a device all are compiled in full.
    local options=(-DWARPBAND_UNITY=ON -UCMAKE_CUDA_ARCHITECTURES -UCMAKE_CUDA_FLAGS)
    if [[ $main == cuda ]] && ! nvidia-smi -L; then options=(-DWARPBAND_UNITY=ON '-DCMAKE_CUDA_ARCHITECTURES=90-real;90-virtual' '-DCMAKE_CUDA_FLAGS=-Ofc max'); fi
    if mpicxx -include mpi.h -E -x c++ /dev/null > /dev/null 2>&1; then options+=(-DWARPBAND_MPI=ON); fi
    options+=("${bbdev[@]}")
    bash scripts/setup.sh "${tools[@]}" & # .venv waits for the network; kernels are compiled without it
    trap wait EXIT
    cmake --preset $main "$kernels" "${options[@]}" -DWARPBAND_PYTHON=OFF
    cmake --build --preset $main --target warpband_kernels --parallel "$jobs"
    wait $!
    build $main "$kernels" "${options[@]}" -DWARPBAND_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/bin/python"
    run_tests $main
}
installed() {
    rm -rf build/prefix build/consumer
    cmake --install "build/$main" --prefix build/prefix
    cmake -S tests/consumer -B build/consumer -G Ninja -DCMAKE_PREFIX_PATH="$PWD/build/prefix" -DCMAKE_BUILD_TYPE=Release
    cmake --build build/consumer
    ctest --test-dir build/consumer --output-on-failure --output-junit "$results/ctest.xml"
    # By pkg-config, and against the same objects as a shared library, which exports nothing of other libraries.
    local pkg library=build/consumer/libwarpband.so
    pkg=$(PKG_CONFIG_PATH=$(dirname "$(find "$PWD/build/prefix" -name warpband.pc)") pkg-config --cflags --libs warpband)
    g++ -std=c++20 -O1 examples/decode.cpp $pkg -o build/consumer/decode_by_pkg_config
    build/consumer/decode_by_pkg_config
    g++ -shared -o $library -Wl,--version-script=cmake/exports.map,--whole-archive "build/$main/libwarpband.a" -Wl,--no-whole-archive $pkg
    if nm -D --defined-only $library | grep -vE ' _Z(T[ISTV]|GVZ?|Thn[0-9]+_|Z)?N[KRO]*2wb'; then false; fi
    g++ -std=c++20 -O1 examples/own_detector.cpp ${pkg%% -L*} -Lbuild/consumer -lwarpband "-Wl,-rpath,$PWD/build/consumer" -o build/consumer/own_detector_shared
    build/consumer/own_detector_shared
    # The C library by pkg-config, in plain C
    pkg=$(PKG_CONFIG_PATH=$(dirname "$(find "$PWD/build/prefix" -name warpband_c.pc)") pkg-config --cflags --libs warpband_c)
    for example in decode detect latency; do
        cc -std=c99 -pedantic -Wall -Wextra -Werror examples/c/$example.c $pkg -lm "-Wl,-rpath,$(pkg-config --variable=libdir \
            "$(find "$PWD/build/prefix" -name warpband_c.pc)")" -o build/consumer/c_$example
        build/consumer/c_$example
    done
    build/prefix/bin/warpband --version
    WARPBAND_PYTHON=.venv/bin/python build/prefix/bin/warpband sim build/prefix/share/warpband/examples/uncoded_bpsk.toml \
        --quiet --plot build/consumer/plot.png
}
asan() { # by Clang, which the other steps do not use, and which takes a third of GCC's time; vector kernels are not instrumented
    build asan -DWARPBAND_ISAS=scalar "${bbdev[@]}" "-DCMAKE_CXX_COMPILER=$(command -v clang++-16 || command -v g++)"
    run_tests asan
}
tsan() {
    build tsan "$kernels"
    # ThreadSanitizer does not start where addresses are randomised over more bits than it knows.
    if setarch -R true; then wrapper=(setarch -R); fi
    run_tests tsan
    bash scripts/checks/symbols.sh build/tsan # kernels of a build of type Debug, which the sanitizer leaves as they are
}
aarch64() {
    build aarch64
    bash scripts/checks/symbols.sh build/aarch64
    run_tests aarch64
}
python_steps() {
    step python python_tests
    step h5py env "WARPBAND_COMMAND=$PWD/build/$main/warpband" .venv/bin/python -m pytest -q \
        --junitxml="build/test/h5py/pytest.xml" apps/{plot,plot_records,code,detect,ranks,readme,tables,terminal}_test.py
}
checks() { # in two rows, since most of the steps keep one core busy
    python_steps &
    local beside=$!
    step installed installed
    step site ninja -C "build/$main" docs
    step options python3 scripts/checks/options.py kissfft-off # the others by hand: they cost three minutes
    step include-layers python3 scripts/checks/include_layers.py
    step thread-notes python3 scripts/checks/thread_notes.py
    step kernel-symbols bash scripts/checks/symbols.sh "build/$main"
    step c-abi python3 scripts/checks/c_abi.py "build/$main"
    step format bash scripts/checks/format.sh
    step compile-cost python3 scripts/checks/compile_cost.py "build/$main"
    step words bash scripts/checks/words.sh
    step numbers bash scripts/checks/numbers.sh
    step version python3 scripts/checks/version.py
    step sentences python3 scripts/checks/sentences.py
    step function-words python3 scripts/checks/function_words.py
    step samples python3 scripts/checks/samples.py
    step performance-report python3 scripts/performance_report.py --check
    step reproduce "build/$main/warpband" reproduce all --quick --out build/test/reproduce
    step requirements "build/$main/warpband" reproduce ts38104 8.3.4.2.2-1 --quick --out build/test/reproduce
    step requirements-stored "build/$main/warpband" reproduce ts38104 8.3.4.2.2-1 --stored
    if [[ $main == cuda ]]; then step cuda-targets python3 scripts/checks/cuda_targets.py build/cuda "$jobs"; fi
    wait $beside
}

tools=(--docs)
if [[ $quick == no ]]; then tools+=(--cross); fi
step setup bash scripts/setup.sh --system "${tools[@]}"
step "$main" optimised
if [[ $quick == yes ]]; then
    checks
else
    checks &
    row=$!
    trap 'kill $row 2> /dev/null' EXIT
    slow=(asan tsan aarch64)
    first=0
    if [[ -n $within ]]; then first=$(($(git rev-list --count HEAD) % 3)); fi
    for name in "${slow[@]:first}" "${slow[@]:0:first}"; do late_step "$name" "$name"; done
    wait $row
    if command -v clang++ > /dev/null; then late_step fuzz bash scripts/fuzz.sh --runs 5000; else echo "no clang++: no fuzzers"; fi
fi
python3 scripts/test_report.py build/test
