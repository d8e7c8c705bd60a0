#!/usr/bin/env bash
# Builds everything and runs every test and check.
#
#   scripts/test.sh           release, the checks, asan, tsan, debug kernels, and AArch64 under qemu-user
#   scripts/test.sh --quick   release and the checks only
#   scripts/test.sh --cuda    the release build has the CUDA backend (needs nvcc); GPU tests are skipped, visibly, without a device
#
# The last line is `N passed, N failed, N skipped`: the tests of all builds, and one for each check. Any failure gives a
# non-zero exit code; the steps after it run all the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

quick=no cuda=no
for argument in "$@"; do
    case $argument in
        --quick) quick=yes ;;
        --cuda) cuda=yes ;;
        *) echo "usage: test.sh [--quick] [--cuda]" >&2; exit 2 ;;
    esac
done

jobs=$(nproc)
mkdir -p build
tally=$PWD/build/test-tally # the numbers of one step, written by run_tests in the step's subshell
passed=0 failed=0 skipped=0
summary=()

# step NAME COMMAND...: runs it, adds up its tests (a step without tests counts as one itself), notes the time
step() {
    local name=$1 status=0 start=$SECONDS p=0 f=0 s=0 word=ok
    shift
    printf '\n== %s\n' "$name"
    : > "$tally"
    set +e
    (set -e; "$@")
    status=$?
    set -e
    if [[ -s $tally ]]; then read -r p f s < "$tally"; elif ((status == 0)); then p=1; fi
    if ((status != 0 && f == 0)); then f=1; fi
    if ((f != 0)); then word=FAILED; fi
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    summary+=("$(printf '%-28s %6d s   %5d passed %4d failed %5d skipped   %s' \
        "$name" $((SECONDS - start)) "$p" "$f" "$s" "$word")")
    if ((f != 0)); then echo "FAILED: $name"; fi
}

# build PRESET [CMake argument...]
build() {
    local preset=$1
    shift
    # compile costs are noted where they are checked, which names the option again
    "${wrapper[@]}" cmake --preset "$preset" -DWARPBAND_COMPILE_COST=OFF "$@"
    "${wrapper[@]}" cmake --build --preset "$preset" --parallel "$jobs"
}
wrapper=()

# run_tests PRESET [EMULATOR...]: the GoogleTest program, in parts, then what else CTest knows (all that is not labelled
# gtest)
run_tests() {
    local preset=$1 status=0 files=() part
    shift
    local results=$PWD/build/$preset/test-results
    rm -rf "$results"
    mkdir -p "$results"
    # Shorter parts than one for each core: all cores are busy to the end.
    local shards=$((4 * jobs))
    export GTEST_TOTAL_SHARDS=$shards
    seq 0 $((shards - 1)) | xargs -P "$jobs" -I '{}' env -C "build/$preset" GTEST_SHARD_INDEX='{}' sh -c \
        '"$@" > "$0.log" 2>&1 || { touch "$0.failed"; exit 1; }' "$results/part{}" "${wrapper[@]}" "$@" ./warpband_tests "--gtest_output=xml:$results/part{}.xml" \
        || status=1
    unset GTEST_TOTAL_SHARDS
    for ((part = 0; part < shards; part++)); do
        files+=("$results/part$part.xml")
        # A failed test is shown from the XML below; a crash or a sanitizer's report only stands in the log.
        [[ -e $results/part$part.failed ]] || continue
        if ! grep -q '<failure' "$results/part$part.xml" 2> /dev/null \
            || grep -qE 'Sanitizer|runtime error:' "$results/part$part.log"; then
            echo "build/$preset/test-results/part$part.log ends:"
            tail -n 60 "$results/part$part.log" || true
        fi
    done
    "${wrapper[@]}" ctest --test-dir "build/$preset" -LE '^gtest$' --no-tests=ignore --output-on-failure \
        --output-junit "$results/ctest.xml" > "$results/ctest.log" 2>&1 || { status=1; cat "$results/ctest.log"; }

    python3 scripts/test_report.py "${files[@]}" "$results/ctest.xml" > "$tally"
    read -r p f s < "$tally"
    echo "$preset: $p tests passed, $f failed, $s skipped"
    if ((p + f == 0)); then echo "$preset: no test ran"; status=1; fi
    return $status
}

# With CUDA one optimised build is enough: those with sanitizers show that all works without.
main=release
if [[ $cuda == yes ]]; then main=cuda PATH=$PATH:/usr/local/cuda/bin; fi
optimised() {
    # Without a device no CUDA code runs here: it is compiled for sm_90 as it is shipped, and by the check of CUDA targets for the rest.
    local targets=(-UCMAKE_CUDA_ARCHITECTURES)
    if [[ $cuda == yes ]] && ! nvidia-smi -L > /dev/null 2>&1; then
        targets=('-DCMAKE_CUDA_ARCHITECTURES=90-real;90-virtual' -DWARPBAND_CUDA_UNITS=ON)
    fi
    targets+=(-DWARPBAND_COMPILE_COST=ON)
    if [[ $quick == no ]]; then
        # All that needs nothing of .venv, which is being filled.
        build "$main" "${targets[@]}" -DWARPBAND_PYTHON=OFF
        while [[ ! -e build/setup-more.status ]] && kill -0 "$setup_pid"; do sleep 1; done
    fi
    build "$main" "${targets[@]}" -DWARPBAND_PYTHON=ON "-DPython_EXECUTABLE=$PWD/.venv/bin/python"
    # Long comparisons that are for devices (uplinks of a CPU take the path that tests of any batch and layout take with all builds), and
    # of scalar code with itself, which AddressSanitizer's build runs.
    export GTEST_FILTER='-*/uplink.frames_of_*/scalar:*/uplink.frames_of_*/base:*/downlink.every_way_*/scalar'
    run_tests "$main"
}
installed() {
    rm -rf build/prefix build/consumer
    cmake --install "build/$main" --prefix build/prefix > /dev/null
    cmake -S tests/consumer -B build/consumer -G Ninja -DCMAKE_PREFIX_PATH="$PWD/build/prefix" -DCMAKE_BUILD_TYPE=Release
    cmake --build build/consumer
    build/consumer/decode
    build/prefix/bin/warpband --version
    WARPBAND_PYTHON=.venv/bin/python build/prefix/bin/warpband sim build/prefix/share/warpband/examples/uncoded_bpsk.toml \
        --quiet --plot build/consumer/plot.png
}
asan() {
    export WARPBAND_TEST_SCALE=small UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    # The library, its scalar kernels and the command are instrumented, tests of core and exec, whose code is in headers, and those of
    # the command. The other tests and the oracles are those of the optimised build: arrays on the heap are guarded all the same.
    build asan "-DWARPBAND_OBJECTS_FROM=$PWD/build/$main"
    # Only scalar kernels are instrumented; of the others one build shows what the host gives them. Results are held against code with
    # vectors: instrumented code is the one under test. Left out is what runs no instrumented code (oracles against closed forms), and, but
    # for scalar code, the longest comparisons of massive MIMO, whose host code other tests give vectors to.
    export WARPBAND_TEST_REFERENCE=vectors
    export GTEST_FILTER='-*/base:*/avx512:oracle_*:*/uplink.frames_of_*/avx2:*/downlink.every_way_*/avx2'
    run_tests asan
}
tsan() {
    export WARPBAND_TEST_SCALE=small
    # ThreadSanitizer does not start where addresses are randomised over more bits than it knows.
    if setarch "$(uname -m)" -R true 2> /dev/null; then wrapper=(setarch "$(uname -m)" -R); fi
    # Which lanes a kernel has matters to no thread: the tests run one build, which is never instrumented, so that
    # all kernels are those of the optimised build. The tests are those with threads: pools and executors, each detector and
    # code in links with several workers, streams, caches, and the commands over them. (Results that a sweep goes on from are written and
    # read by the one thread that runs it: files of them are tested by the other builds.)
    export WARPBAND_TEST_REFERENCE=vectors # as it is faster
    build tsan -DWARPBAND_SANITIZE_KERNELS=OFF "-DWARPBAND_OBJECTS_FROM=$PWD/build/$main" \
        '-DWARPBAND_TEST_FILES=/(exec|invariance|ldpc_rates|modem|count|source|chain|chains|codec|sweep|frame|harq|csi_link|massive_link|pipeline|latency|command|stream)_test[.]cpp$'
    # Of the error rates of LDPC codes one test has decoders of all formats on several threads.
    # What a command refuses it refuses before it has threads.
    export GTEST_FILTER='-*/scalar:*/base:*/avx512:curves/ldpc_rates.*:ldpc_rates_padova.*:harq.a_result_is_a_state_*:sweep.a_curve_goes_on_*:sweep.of_several_antennas_*'
    GTEST_FILTER+=':command.help_teaches:command.examples_*:command.used_wrongly_*:command.failures_*:stream_command.refuses_*'
    run_tests tsan
}
# python_tests FILE [ARGUMENT...]: a unittest program; its tests count one by one
python_tests() {
    local log=$PWD/build/python-tests.log status=0 p f=0 s=0
    .venv/bin/python "$@" > "$log" 2>&1 || status=$?
    cat "$log"
    p=$(sed -n 's/^Ran \([0-9]*\) tests\? .*/\1/p' "$log")
    f=$(sed -n 's/^FAILED (.*\(failures\|errors\)=\([0-9]*\).*/\2/p' "$log")
    s=$(sed -n 's/.*skipped=\([0-9]*\).*/\1/p' "$log" | tail -n 1)
    f=${f:-0} s=${s:-0}
    if ((f > p)); then f=$p; fi # subtests fail one by one
    echo "$((p - f - s > 0 ? p - f - s : 0)) $f $s" > "$tally"
    return $status
}
# python_package NAME ARGUMENT...: tests of the Python package, in the build tree of the optimised build
python_package() {
    local results=$PWD/build/$main/test-results/$1.xml status=0
    PYTHONPATH="build/$main/python" .venv/bin/python -m pytest -q --junitxml="$results" "${@:2}" || status=$?
    python3 scripts/test_report.py "$results" > "$tally"
    return $status
}
# The documentation site, of the same package.
site() {
    bash scripts/setup.sh --docs
    ninja -C "build/$main" docs
}
debug_kernels() {
    cmake --preset debug -DWARPBAND_COMPILE_COST=OFF
    # Kernels are optimised in every preset: what the same commands compile was compiled and looked at in the optimised build.
    local differ
    differ=$(python3 scripts/checks/same_kernels.py "build/$main" build/debug)
    # shellcheck disable=SC2086 # one word for each object
    if [[ -n $differ ]]; then
        ninja -C build/debug -j "$jobs" $differ
        bash scripts/checks/symbols.sh build/debug
    fi
}
aarch64() {
    export WARPBAND_TEST_SCALE=small
    # Only what is compiled for this processor alone is run: the files that enumerate backends, of all rooms with kernels.
    local files
    files=$(grep -lrE --include='*_test.cpp' 'WB_ON_ALL_BACKENDS|all_backends[(][)]' \
        tests warpband/{channel,detect,fec,linalg,massive,modem,ofdm,stbc} warpband/link/{count,frame,source} | paste -s -d '|')
    build aarch64 "-DWARPBAND_TEST_FILES=^($files)\$"
    bash scripts/checks/symbols.sh build/aarch64
    # Emulation is slow. NEON code is held to the bits of scalar code; left out are longer comparisons whose kernels others here have:
    # those meant for devices, ways to move data, which are those of SSE2 code (four lanes as well), statistics of values that are the
    # same bits, oracles where another test of the room has one, and what the host does between kernels.
    export GTEST_FILTER='*neon*-*/uplink.frames_of_*:*/uplink.split_f16_equals_the_oracle/*:*/downlink.every_way_*:*/ldpc.float32_agrees_*:*/bcjr.tail_biting_*'
    GTEST_FILTER+=':*/cdl.correlation_over_antennas_*:*/tdl.correlation_over_time_*:*/tdl.antennas_taps_*:*/frame_on.decisions_*:*/detect_order_on.does_not_matter_*'
    GTEST_FILTER+=':*/lte_transport.threads_*:*/lte_transport.comes_back_through_*'
    run_tests aarch64 qemu-aarch64 -L /usr/aarch64-linux-gnu
}
if [[ $quick == yes ]]; then
    step setup bash scripts/setup.sh --checks
else
    step setup bash scripts/setup.sh --checks --system
    # What only later steps need is fetched meanwhile.
    rm -f build/setup-more.status
    (status=0; bash scripts/setup.sh --docs --cross > build/setup-more.log 2>&1 || status=$?; echo $status > build/setup-more.status) &
    setup_pid=$!
    trap 'kill $setup_pid 2> /dev/null || true' EXIT
fi
step "$main" optimised
setup_more() {
    cat build/setup-more.log
    [[ $(cat build/setup-more.status) == 0 ]]
}
if [[ $quick == no ]]; then
    wait $setup_pid || true
    trap - EXIT
    step 'setup: Python, AArch64' setup_more
fi
# Whole programs and comparisons with oracles judge no times: they run beside steps that keep all cores busy. (A new file is among
# those that do not.)
python_programs=(python/tests/test_{examples,notebooks,oracles,plot,properties}.py)
python_rest() { step 'python package' python_package python "${python_programs[@]/#/--ignore=}"; }
# First those that take one core, and leave the other to the Python package.
checks() {
    step 'check: include layers' python3 scripts/checks/include_layers.py
    step 'check: kernel symbols' bash scripts/checks/symbols.sh "build/$main"
    step 'check: format' bash scripts/checks/format.sh
    step 'check: compile cost' python3 scripts/checks/compile_cost.py "build/$main"
    step 'check: words' bash scripts/checks/words.sh
    step 'check: samples' python3 scripts/checks/samples.py
    step 'check: performance report' python3 scripts/performance_report.py --check
    step 'documentation site' site
    step 'python: programs, oracles' python_package python_programs "${python_programs[@]}"
    if [[ $cuda == yes ]]; then step 'check: cuda targets' python3 scripts/checks/cuda_targets.py "build/$main" "$jobs"; fi
    step 'installed' installed
    step 'plot' python_tests apps/plot_test.py
    step 'files of h5py: codes' python_tests apps/code_test.py "build/$main/warpband"
    step 'files of h5py: MIMO' python_tests apps/detect_test.py "build/$main/warpband"
}
if [[ $quick == yes ]]; then
    python_rest
    checks
else
    # shellcheck disable=SC2030,SC2031 # the second row counts for itself
    # Most of the checks, and the Python package, keep one core busy, as do the ends of builds: two rows of steps side by side leave none
    # idle. The optimised build runs before, alone: it notes compile costs, and its tests measure times. Within a row seconds are those
    # of a shared machine.
    beside=$PWD/build/beside
    rm -f "$beside.result"
    set -m # a process group of its own, which ends as one
    (
        set +m
        tally+=-beside passed=0 failed=0 skipped=0 summary=()
        checks
        step 'debug kernels, symbols' debug_kernels
        step 'aarch64 under qemu' aarch64
        printf '%s\n' "$passed $failed $skipped" "${summary[@]}" > "$beside.result"
    ) > "$beside.log" 2>&1 &
    beside_pid=$!
    set +m
    echo "checks, debug kernels and aarch64 run beside the Python package, asan and tsan; their output follows (meanwhile build/beside.log)"
    trap 'kill -- -$beside_pid 2> /dev/null || true' EXIT
    python_rest
    step 'asan' asan
    step 'tsan' tsan
    wait $beside_pid || true
    trap - EXIT
    cat "$beside.log"
    if [[ -s $beside.result ]]; then
        mapfile -t lines < "$beside.result"
        read -r p f s <<< "${lines[0]}"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
        summary+=("${lines[@]:1}")
    else
        echo "FAILED: the steps beside asan and tsan did not end"
        failed=$((failed + 1))
    fi
fi

printf '\n'
printf '%s\n' "${summary[@]}"
printf '\n%d passed, %d failed, %d skipped\n' "$passed" "$failed" "$skipped"
((failed == 0))
