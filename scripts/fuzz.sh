#!/usr/bin/env bash
# Fuzzes what reads files, with AddressSanitizer and UndefinedBehaviorSanitizer. Usage: scripts/fuzz.sh [SECONDS [TARGET...]]
#   SECONDS   for each target, default 60
#   TARGET    hdf5, csi, scenario, stream, result, bench (default: all)
#
# Needs clang, and the library of a build without sanitizers (build/release or build/cuda, the newer one). What is found stays in build/fuzz/corpus/TARGET, so that the next run goes on
# there; inputs that fail in build/fuzz/found. The last lines say how many executions each target had and what it covered.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

seconds=${1:-60}
targets=("${@:2}")
if [[ ${#targets[@]} == 0 ]]; then targets=(hdf5 csi scenario stream result bench); fi
library=$(ls -t build/{release,cuda}/libwarpband.a 2> /dev/null | head -1 || true)
[[ -n $library ]] || { echo "fuzz.sh: build/release/libwarpband.a is missing: cmake --preset release && cmake --build --preset release" >&2; exit 1; }
command -v clang++ > /dev/null || { echo "fuzz.sh: clang++ is missing" >&2; exit 1; }

cmake -S tests/fuzz -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++ "-DCMAKE_CXX_COMPILER_LAUNCHER=$(command -v ccache || true)" \
    "-DLIBRARY=$PWD/$library" > /dev/null
cmake --build build/fuzz --parallel "$(nproc)" --target "${targets[@]/#/fuzz_}"

# seeds TARGET: what the corpus begins with
seeds() {
    case $1 in
        hdf5 | csi) echo tests/fuzz/seeds/hdf5/*.h5 ;;
        scenario) echo examples/*.toml curves/*.toml ;;
        stream) echo examples/stream/*.toml ;;
        result) find curves -name '*.json' -size -40k ;;
        bench) find bench/results -name '*.json' -size -40k ;;
    esac
}

failed=no
mkdir -p build/fuzz/found
for target in "${targets[@]}"; do
    corpus=build/fuzz/corpus/$target
    mkdir -p "$corpus"
    # shellcheck disable=SC2046
    cp -f $(seeds "$target") "$corpus"
    # libhdf5 is not instrumented and keeps what it leaks of damaged files until the end: leaks are not looked for in its targets.
    leaks=1
    if [[ $target == hdf5 || $target == csi ]]; then leaks=0; fi
    log=build/fuzz/$target.log
    if ! ASAN_OPTIONS=allocator_may_return_null=1:detect_container_overflow=0 \
        nice "build/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=65536 -timeout=25 -rss_limit_mb=2048 -malloc_limit_mb=1536 \
        -detect_leaks=$leaks -dict=tests/fuzz/words.dict -artifact_prefix="build/fuzz/found/$target-" -print_final_stats=1 \
        "$corpus" > "$log" 2>&1; then
        failed=yes
        echo "$target failed:"
        grep -E '^(SUMMARY|artifact_prefix|==.*ERROR)|Test unit written' "$log" || tail -5 "$log"
    fi
    echo "$target: $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") executions, $(grep -oE 'cov: [0-9]+ ft: [0-9]+' "$log" | tail -1)"
done
[[ $failed == no ]]
