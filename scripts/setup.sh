#!/usr/bin/env bash
# Installs what Warpband needs on Debian 12, Ubuntu 24.04 and their like, and only what is missing.
#
#   scripts/setup.sh            compiler, CMake, libraries, and .venv with matplotlib
#   scripts/setup.sh --checks   and what scripts/test.sh needs: ccache, and the tools of scripts/checks
#   scripts/setup.sh --docs     the same, and what the documentation site needs
#   scripts/setup.sh --cross    and the AArch64 cross compiler with qemu-user
#   scripts/setup.sh --system   no .venv: what its packages wait for on the network, compilers need not wait for
#
# With everything there already it changes nothing and uses no network. CUDA (nvcc) is optional and left to you.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

fail() { echo "setup.sh: $*" >&2; exit 1; }

# Programs may come from anywhere on PATH; their packages are installed only where the program is missing.
programs=(g++:g++ cmake:cmake ninja:ninja-build git:git python3:python3)
packages=(python3-venv libcli11-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev libboost-dev libhdf5-dev
          libkissfft-dev libgtest-dev googletest)
checks=no docs=no venv=yes
for argument in "$@"; do
    case $argument in
        --checks) checks=yes ;;
        --docs) checks=yes docs=yes ;;
        --cross) programs+=(qemu-aarch64:qemu-user aarch64-linux-gnu-g++:g++-aarch64-linux-gnu) ;;
        --system) venv=no ;;
        *) fail "unknown option $argument (there are --checks, --docs, --cross and --system)" ;;
    esac
done

if [[ $checks == yes ]]; then
    programs+=(nm:binutils ccache:ccache pkg-config:pkgconf clang++-16:clang-16)
    packages+=(libclang-rt-16-dev) # its sanitizers
fi

missing=()
if command -v python3 > /dev/null \
    && ! python3 -c 'import os, sys, sysconfig; sys.exit(not os.path.exists(sysconfig.get_path("include") + "/Python.h"))'; then
    missing+=(python3-dev) # the Python package
fi
for entry in "${programs[@]}"; do
    command -v "${entry%%:*}" > /dev/null || missing+=("${entry##*:}")
done
if command -v dpkg > /dev/null && command -v apt-get > /dev/null; then
    for package in "${packages[@]}"; do
        [[ $(dpkg-query --show --showformat '${Status}' "$package" 2> /dev/null) == *' installed' ]] || missing+=("$package")
    done
    if ((${#missing[@]})); then
        echo "setup.sh: installing ${missing[*]}"
        as_root=()
        if ((EUID != 0)); then
            command -v sudo > /dev/null || fail "not root and no sudo; as root: apt-get install ${missing[*]}"
            as_root=(sudo)
        fi
        "${as_root[@]}" apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 update > /dev/null || fail "apt-get update failed"
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 \
            -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" > /dev/null \
            || fail "apt-get install ${missing[*]} failed"
    fi
elif ((${#missing[@]})); then
    fail "there is no apt-get here; install these by hand: ${missing[*]}"
fi

version=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
[[ $(printf '%s\n' 3.25 "$version" | sort -V | head -n 1) == 3.25 ]] \
    || fail "CMake $version is too old, 3.25 or newer is needed (pip install cmake brings one)"

if [[ $venv == no ]]; then exit 0; fi

# The Python environment. A copy of each requirements file that was installed stays in it and tells whether it is current. pip takes only
# files with a hash from scripts/NAME.txt, which scripts/requirements.py makes of scripts/NAME.in.
venv=$root/.venv
if ! "$venv/bin/python" -c '' 2> /dev/null; then
    echo "setup.sh: making .venv"
    rm -rf "$venv"
    python3 -m venv "$venv" || fail "python3 -m venv failed; python3-venv (with ensurepip) is needed"
fi
require() {
    cmp -s "$root/scripts/$1.txt" "$venv/$1.txt" && return
    echo "setup.sh: installing $(sed -E '/^#/d; s/[=; ].*//' "$root/scripts/$1.in" | uniq | tr '\n' ' ')into .venv"
    "$venv/bin/python" -m pip --quiet --disable-pip-version-check install --only-binary :all: --require-hashes \
        -r "$root/scripts/$1.txt" || fail "pip could not install scripts/$1.txt"
    cp "$root/scripts/$1.txt" "$venv/$1.txt"
}
require requirements
if [[ $checks == yes ]]; then require requirements-dev; fi
if [[ $docs == yes ]]; then require requirements-docs; fi
