#!/usr/bin/env bash
# Makes a clean system with Python and nothing else, once, in build/systems/SUITE, and prints its folder. As root; needs debootstrap.
#
#   scripts/clean_system.sh SUITE [MIRROR]     SUITE: bookworm, trixie, jammy, noble, or another that debootstrap knows
#
# Debian has no key of Ubuntu's packages: there name a MIRROR for jammy and noble. It is trusted without a signature.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
suite=$1
system=$PWD/build/systems/$suite

if [ ! -e "$system.made" ]; then
    rm -rf "$system"
    mkdir -p "$system"
    script=/usr/share/debootstrap/scripts/$suite
    [ -e "$script" ] || script=${script%/*}/jammy # Debian 12 knows Ubuntu to 22.10; what follows is made alike
    debootstrap --variant=minbase --include=python3 "$suite" "$system" ${2:+"$2" "$script"} > "$system.log" \
        || { tail "$system.log" >&2; exit 1; }
    touch "$system.made"
fi
echo "$system"
