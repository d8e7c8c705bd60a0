#!/usr/bin/env bash
# Fuzzes what reads files, with AddressSanitizer and UndefinedBehaviorSanitizer.
# Usage: scripts/fuzz.sh [--minutes N | --hours N | --runs N] [--jobs N] [TARGET...]
#   --minutes N   for each target, default 1
#   --hours N     the same in hours
#   --runs N      N executions of each target, from its seeds and with the same random numbers each time: for scripts/test.sh
#   --jobs N      targets at once, default: one for each core
#   TARGET        hdf5, csi, scenario, stream, result, bench, arrays (default: all; arrays needs the Python of .venv)
#
# Inputs are in memory, of at most 1 MiB (HDF5: 16 KiB, arrays: 256 bytes), and what takes more time than the size of its text explains fails. libFuzzer weighs no rare features (-entropic=0): that took up to half of the time.
# Needs clang, and the library of a build without sanitizers (build/release or build/cuda, the newer one). A target that fails is started again, ten times at most.
# Inputs that fail stay in build/fuzz/found, and what covers more in build/fuzz/corpus/TARGET, where the next run goes on. build/fuzz/runs.tsv has a line for each
# run: date, target, seconds, executions, edges covered, files of the corpus, failures. The last line adds up all runs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=60
runs=
jobs=$(nproc)
targets=()
while [[ $# -gt 0 ]]; do
    case $1 in
        --minutes) seconds=$((60 * ${2:?--minutes needs a number})) && shift ;;
        --hours) seconds=$((3600 * ${2:?--hours needs a number})) && shift ;;
        --runs) runs=${2:?--runs needs a number} && shift ;;
        --jobs) jobs=${2:?--jobs needs a number} && shift ;;
        hdf5 | csi | scenario | stream | result | bench | arrays) targets+=("$1") ;;
        *) echo "fuzz.sh: $1: expected --minutes N, --hours N, --runs N, --jobs N or hdf5, csi, scenario, stream, result, bench, arrays" >&2 && exit 2 ;;
    esac
    shift
done
python=$PWD/.venv/bin/python
if [[ ${#targets[@]} == 0 ]]; then
    targets=(hdf5 csi scenario stream result bench)
    if "$python" -c "import nanobind, numpy" 2> /dev/null; then targets+=(arrays); fi
fi
library=$({ find build/release build/cuda -maxdepth 1 -name libwarpband.a -printf "%T@ %p\n" 2> /dev/null || true; } | sort -rn | sed -n "1s/^[^ ]* //p")
[[ -n $library ]] || { echo "fuzz.sh: build/release/libwarpband.a is missing: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
command -v clang++ > /dev/null || { echo "fuzz.sh: clang++ is missing" >&2; exit 1; }

cmake -S tests/fuzz -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ "-DCMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true)" \
    "-DLIBRARY=$PWD/$library" "-DPython_EXECUTABLE=$python" > /dev/null
export PYTHONPATH=
PYTHONPATH=$("$python" -c 'import site; print(site.getsitepackages()[0])' 2> /dev/null || true) # of the Python that `arrays` embeds
nice cmake --build build/fuzz --parallel "$jobs" --target "${targets[@]/#/fuzz_}"

# seeds TARGET: what the corpus begins with
seeds() {
    if [[ -d build/fuzz/seeds/$1 ]]; then find "build/fuzz/seeds/$1" -type f; fi
    case $1 in
        hdf5 | csi) find tests/fuzz/seeds/hdf5 -name '*.h5' ;;
        arrays) find tests/fuzz/seeds/arrays -type f ;;
    esac
}

# fuzz TARGET: until its time is over, also where it fails on the way
fuzz() {
    local target=$1 corpus=build/fuzz/corpus/$1 log=build/fuzz/$1.log leaks=1 most=1048576 executions=0 failures=0 start=$SECONDS covered left limit n
    if [[ -n $runs ]]; then corpus=build/fuzz/corpus_of_runs/$1 && rm -rf "$corpus"; fi
    mkdir -p "$corpus"
    for n in $(seeds "$target"); do cp -f "$n" "$corpus"; done # one by one: names may be the same
    # HDF5 files are read by a program of their own, which is not instrumented: edges are its parent's. Python keeps things until the end:
    # leaks are not looked for there.
    case $target in
        hdf5 | csi) leaks=0 most=16384 ;;
        arrays) leaks=0 most=256 ;;
    esac
    while left=$((seconds - (SECONDS - start))) && [[ $left -gt 0 && $failures -lt 10 ]]; do
        limit=("-max_total_time=$left" -timeout=25)
        if [[ -n $runs ]]; then limit=("-runs=$runs" -seed=1 -timeout=300); fi
        if ! ASAN_OPTIONS=allocator_may_return_null=1:detect_container_overflow=0:detect_leaks=$leaks:quarantine_size_mb=4:malloc_context_size=2:max_malloc_fill_size=64 \
            nice "${fixed[@]}" "build/fuzz/fuzz_$target" "${limit[@]}" -max_len=$most -reload=0 -entropic=0 -rss_limit_mb=2048 -malloc_limit_mb=1536 \
            -detect_leaks=$leaks -dict=tests/fuzz/words.dict -artifact_prefix="build/fuzz/found/$target-" -print_final_stats=1 \
            "$corpus" > "$log" 2>&1; then
            failures=$((failures + 1))
            cp "$log" "build/fuzz/found/$target-$failures.log"
            echo "$target failed:"
            grep -E '^(SUMMARY|artifact_prefix|==.*ERROR)|Test unit written' "$log" || tail -5 "$log"
        fi
        n=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        executions=$((executions + ${n:-0}))
        if [[ -n $runs ]]; then break; fi
    done
    covered=$(grep -oE 'cov: [0-9]+' "$log" | tail -1 | tr -dc 0-9 || true)
    n=$(find "$corpus" -type f | wc -l)
    printf '%s\t%s\t%d\t%d\t%s\t%d\t%d\n' "$(date -u +%FT%TZ)" "$target" $((SECONDS - start)) "$executions" "${covered:-0}" "$n" "$failures" >> build/fuzz/runs.tsv
    echo "$target: $executions executions in $((SECONDS - start)) s, ${covered:-0} edges covered, $n files in the corpus, $failures failures"
    [[ $failures == 0 ]]
}

mkdir -p build/fuzz/found
fixed=()
if [[ -n $runs ]] && setarch -R true 2> /dev/null; then fixed=(setarch -R); fi # what libFuzzer chooses also depends on addresses
rm -rf build/fuzz/seeds
python3 tests/fuzz/short_seeds.py build/fuzz/seeds
status=0
running=0
for target in "${targets[@]}"; do
    if [[ $running -ge $jobs ]]; then
        wait -n || status=1
        running=$((running - 1))
    fi
    fuzz "$target" &
    running=$((running + 1))
done
while [[ $running -gt 0 ]]; do
    wait -n || status=1
    running=$((running - 1))
done
awk -F '\t' '{n += $4; s += $3} END {printf "all runs so far: %d executions in %.1f hours\n", n, s / 3600}' build/fuzz/runs.tsv
exit $status
