#!/usr/bin/env bash
# From a fresh checkout to a simulated LTE turbo link: installs what is missing, builds the `warpband` command, runs
# examples/quickstart.toml and draws its error rates. Some minutes on two idle cores: kernels are built only for the
# instruction set that this machine has.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

echo "== 1/3 what is needed"
bash scripts/setup.sh --system
bash scripts/setup.sh & # .venv waits for the network, and only the plot needs it
trap wait EXIT

echo "== 2/3 build"
cmake --preset release -DWARPBAND_ISAS=native -DWARPBAND_UNITY=ON -DWARPBAND_TESTS=OFF -DWARPBAND_COMPILE_COST=OFF
cmake --build --preset release --parallel "$(nproc)"
wait $!

echo "== 3/3 run: warpband sim examples/quickstart.toml"
build/release/warpband sim examples/quickstart.toml -o build/quickstart.json --force --plot build/quickstart.png

echo
echo "The table above, with raw counts and the whole configuration: $PWD/build/quickstart.json"
echo "The plot:                                                     $PWD/build/quickstart.png"
echo "Next: build/release/warpband --help, and the other scenarios in examples/."
