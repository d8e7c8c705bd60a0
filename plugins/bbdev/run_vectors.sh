#!/usr/bin/env bash
# Runs dpdk-test-bbdev on every vector of some folders, through the driver.
# Usage: run_vectors.sh [--driver FILE] [--device cpu:1] [--harq host] [--mode validation] [--tool dpdk-test-bbdev] FOLDER...
#   --driver   librte_baseband_warpband.so, by default that of build/release
#   --device, --harq   arguments of the vdev
#   --mode     of the tool: validation, latency, throughput, offload, bler, ...; its output is shown for all but validation
# Fails where a vector fails, where the tool finds no device for it, and where a folder has no vectors. The
# result is 77, which CTest counts as skipped, where the tool, a folder or the mode is missing.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
driver=$root/build/release/librte_baseband_warpband.so device=cpu:1 harq=host mode=validation tool=dpdk-test-bbdev
folders=()
while (($#)); do
    case $1 in
        --driver | --device | --harq | --mode | --tool)
            (($# > 1)) || { echo "run_vectors.sh: $1 needs a value" >&2; exit 2; }
            declare "${1#--}=$2"
            shift ;;
        -*) sed -n '2,8s/^# //p' "${BASH_SOURCE[0]}" >&2; exit 2 ;;
        *) folders+=("$1") ;;
    esac
    shift
done
((${#folders[@]})) || { echo "run_vectors.sh: name a folder of vectors" >&2; exit 2; }
command -v "$tool" > /dev/null || { echo "skipped: there is no $tool (Debian: dpdk-dev)"; exit 77; }
for folder in "${folders[@]}"; do
    [[ -d $folder ]] || { echo "skipped: there is no folder $folder"; exit 77; }
done
[[ -f $driver ]] || { echo "run_vectors.sh: there is no driver $driver" >&2; exit 2; }

passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for folder in "${folders[@]}"; do
    vectors=("$folder"/*.data)
    [[ -e ${vectors[0]} ]] || { echo "FAILED: $folder has no vectors"; failed=$((failed + 1)); continue; }
    for vector in "${vectors[@]}"; do
        if grep -q '^RTE_BBDEV_OP_NONE' "$vector"; then
            echo "left out: $vector has no operation"
            continue
        fi
        timeout 300 "$tool" --no-shconf --no-huge --no-pci --no-telemetry -m 1024 -d "$driver" \
            "--vdev=baseband_warpband,device=$device,harq=$harq" -- -n 16 -b 8 -l 1 -t 8 -c "$mode" -v "$vector" > "$log" 2>&1
        result=$?
        if ((result == 0)) && grep -q 'Tests Passed : *[1-9]' "$log" && grep -q 'Tests Failed : *0' "$log" \
            && grep -q 'Tests Skipped : *0' "$log" && ! grep -q 'No suitable devices' "$log"; then
            echo "passed: $vector"
            passed=$((passed + 1))
            if [[ $mode != validation ]]; then grep -vE '^(EAL:|Buffer |=+$|\+ -|$)' "$log"; fi
        elif ((result == 0)) && grep -q 'test is disabled' "$log" && grep -q 'Tests Failed : *0' "$log"; then
            echo "left out: $vector, as this $tool was built without $mode"
        else
            echo "FAILED: $vector ($tool ended with $result)"
            failed=$((failed + 1))
            cut -c 1-200 "$log" | tail -n 30
        fi
    done
done
echo "$passed passed, $failed failed"
if ((failed)); then exit 1; fi
if ((!passed)); then exit 77; fi
