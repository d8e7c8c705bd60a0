#!/usr/bin/env bash
# Law 6: what an instruction set's kernel objects define stays in that instruction set's namespace. Anything else (an
# inline function of the standard library, a template instance of a shared header) would be merged by the linker with
# the same symbol of baseline code, and AVX-512 instructions would run where there are none. And for CUDA: where host code
# calls a function of the device, nvcc puts exit(1) in its place, often without a word. Usage: symbols.sh BUILD_FOLDER
set -euo pipefail
[[ $# == 1 && -d $1 ]] || { echo "usage: symbols.sh BUILD_FOLDER" >&2; exit 2; }
build=$1

nm=$(sed -n 's/^CMAKE_NM:FILEPATH=//p' "$build/CMakeCache.txt" 2> /dev/null || true)
nm=${nm:-nm}
objects=$(find "$build" -path '*/CMakeFiles/wb_kernels_*.dir/*' ! -path '*/wb_kernels_*_cuda.dir/*' -name '*.o' | sort)
if [[ -z $objects ]]; then
    echo "$build/CMakeCache.txt:1: no kernel object found below CMakeFiles/wb_kernels_*.dir; build first" >&2
    exit 1
fi
failed=0
# The tests have kernels of their own: wb_kernels_warpband_tests_<isa>.
for isa in $(sed -E 's|.*/wb_kernels_[^/]*_([a-z0-9]+)\.dir/.*|\1|' <<< "$objects" | sort -u); do
    # Mangled names: a function, static local, guard, vtable or typeinfo of wb::<isa>::...
    inside="^_Z(T[A-Z]|G[VR])?Z*N[KVrRO]*2wb${#isa}${isa}"
    # Types: T D B R S G C defined for all, W V weak, u unique, i indirect. Lower-case t d b r are local and harmless.
    leaked=$(grep "_$isa\.dir/" <<< "$objects" | xargs -d '\n' "$nm" -A --defined-only | awk -v inside="$inside" -v isa="$isa" -v build="${build##*/}" '
        $(NF - 1) ~ /^[TDBRSGCWVui]$/ && $NF !~ inside {
            sub(/.*\/wb_kernels_[^\/]*\.dir\//, ""); sub(/\.o:.*/, "", $1)
            print $1 ":1: symbol outside wb::" isa ":: (" build "): " $(NF - 1), $NF
        }' | c++filt)
    if [[ -n $leaked ]]; then
        failed=1
        echo "$leaked" >&2
    fi
done
for object in $(find "$build" -path '*/CMakeFiles/wb_kernels_*_cuda.dir/*' -name '*.o' | sort); do
    undefined=$("$nm" -u "$object") # in full: what ends a pipe early makes the pipe fail
    if grep -qw exit <<< "$undefined"; then
        failed=1
        object=${object##*/wb_kernels_*.dir/}
        echo "${object%.o}:1: its host code calls a function of the device, for which nvcc has put exit(1)" >&2
    fi
done
echo "$(wc -l <<< "$objects") kernel objects looked at"
exit $failed
