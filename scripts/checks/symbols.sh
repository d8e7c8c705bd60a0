#!/usr/bin/env bash
# Law 6: what an instruction set's kernel objects define stays in that instruction set's namespace. Anything else (an
# inline function of the standard library, a template instance of a shared header) would be merged by the linker with
# the same symbol of baseline code, and AVX-512 instructions would run where there are none. Usage: symbols.sh BUILD_FOLDER
set -euo pipefail
[[ $# == 1 && -d $1 ]] || { echo "usage: symbols.sh BUILD_FOLDER" >&2; exit 2; }
build=$1

nm=$(sed -n 's/^CMAKE_NM:FILEPATH=//p' "$build/CMakeCache.txt" 2> /dev/null || true)
nm=${nm:-nm}
failed=0
checked=0
while IFS= read -r object; do
    isa=${object##*/wb_kernels_}
    isa=${isa%%.dir/*}
    isa=${isa##*_} # the tests have kernels of their own: wb_kernels_warpband_tests_<isa>
    [[ $isa != cuda* ]] || continue
    # Mangled names: a function, static local, guard, vtable or typeinfo of wb::<isa>::...
    inside="_Z(T[A-Z]|G[VR])?Z*N[KVrRO]*2wb${#isa}${isa}"
    # Types: T D B R S G C defined for all, W V weak, u unique, i indirect. Lower-case t d b r are local and harmless.
    leaked=$("$nm" --defined-only "$object" | awk -v inside="^$inside" \
        '$2 ~ /^[TDBRSGCWVui]$/ && $3 !~ inside {print $2, $3}' | c++filt)
    checked=$((checked + 1))
    if [[ -n $leaked ]]; then
        failed=1
        source=${object#*/wb_kernels_*.dir/}
        while IFS= read -r symbol; do
            echo "${source%.o}:1: symbol outside wb::$isa:: (${build##*/}): $symbol" >&2
        done <<< "$leaked"
    fi
done < <(find "$build" -path '*/CMakeFiles/wb_kernels_*.dir/*' -name '*.o' | sort)

if ((checked == 0)); then
    echo "$build/CMakeCache.txt:1: no kernel object found below CMakeFiles/wb_kernels_*.dir; build first" >&2
    exit 1
fi
echo "$checked kernel objects looked at"
exit $failed
