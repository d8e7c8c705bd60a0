#!/usr/bin/env bash
# Makes a release of HEAD from a clean clone, into dist/, and tries what is there.
#
#   scripts/release.sh [--glibc-of ROOT] [--python PYTHON]... [cpu] [cuda]     both wheels unless one is named; python3 unless given
#   scripts/release.sh --try [SUITE [MIRROR]]
#
#   dist/warpband-VERSION.tar.gz   the sources, by `git archive`: a commit always gives the same bytes
#   dist/*.whl                     `cpu`: a wheel and its bill of materials, by scripts/python_wheel.sh
#   dist/cuda/*.whl                `cuda`: the same with CUDA; needs nvcc
#   dist/SHA256SUMS                all of them
#
# A wheel of Python 3.10 or 3.11 is for that version alone. For a whole release name python3.10, python3.11 and python3.12. The version is that
# of scripts/checks/version.py --dated. What dist/ has of another commit is deleted.
#
# --try compares the sums, and scripts/wheel_trial.sh tries each wheel here with the Python of its name. Then it unpacks the sources and runs the
# lines of Containerfile with an empty environment: README's installation. With SUITE, as root, it does so in a copy of a clean system
# (scripts/clean_system.sh) with this machine's network, else in a fresh folder. Variables CCACHE_* and PIP_* are kept.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
fail() {
    echo "release.sh: $*" >&2
    exit 1
}

version=$(python3 scripts/checks/version.py --dated)
name=warpband-$version
archive=dist/$name.tar.gz
commit_of_archive() { gzip -cd "$archive" | git get-tar-commit-id; }

make_release() {
    local options=() pythons=() wheels=() folder=$PWD/dist
    while (($#)); do
        case $1 in
            --glibc-of) options+=(--glibc-of "$(realpath "$2")"); shift ;;
            --python) pythons+=("$2"); shift ;;
            cpu | cuda) wheels+=("$1") ;;
            *) fail "unknown argument $1 (there are --glibc-of ROOT, --python PYTHON, cpu, cuda and --try)" ;;
        esac
        shift
    done
    if ((${#wheels[@]} == 0)); then wheels=(cpu cuda); fi
    if ((${#pythons[@]} == 0)); then pythons=(python3); fi
    git diff --quiet HEAD || fail "there are changes that are not committed"

    if [[ ! -e $archive || $(commit_of_archive) != $(git rev-parse HEAD) ]]; then rm -rf dist/warpband-* dist/cuda; fi
    mkdir -p build "$folder"
    scratch=$(mktemp -d "$PWD/build/release-XXXXXX") # beside the presets' folders, so that the compiler cache serves it as it does them
    trap 'rm -rf "$scratch"' EXIT
    git clone --quiet . "$scratch/clone"
    git -C "$scratch/clone" -c tar.umask=0022 archive --prefix="$name/" HEAD | gzip -n9 > "$archive"
    for wheel in "${wheels[@]}"; do
        for python in "${pythons[@]}"; do
            case $wheel in
                cpu) bash "$scratch/clone/scripts/python_wheel.sh" "${options[@]}" "$folder" "$python" ;;
                cuda) bash "$scratch/clone/scripts/python_wheel.sh" --cuda "${options[@]}" "$folder/cuda" "$python" ;;
            esac
        done
    done
    (cd dist && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum > SHA256SUMS)
    cat dist/SHA256SUMS
}

try_release() {
    [ -e dist/SHA256SUMS ] || fail "there is no dist/SHA256SUMS: scripts/release.sh makes it"
    (cd dist && sha256sum --check SHA256SUMS)
    local wheel tag kept inside enter=()
    for wheel in $(compgen -G 'dist/*.whl') $(compgen -G 'dist/cuda/*.whl'); do
        IFS=- read -r _ _ tag _ <<< "$wheel"
        bash scripts/wheel_trial.sh here "$wheel" "python3.${tag#cp3}"
    done

    scratch=$PWD/build/try
    rm -rf "$scratch"
    mkdir -p build
    trap 'rm -rf "$scratch"' EXIT
    if (($#)); then
        cp -a "$(bash scripts/clean_system.sh "$@")" "$scratch"
        cp /etc/resolv.conf "$scratch/etc/"
        if [ -e /etc/ssl/certs/ca-certificates.crt ]; then cp --parents /etc/ssl/certs/ca-certificates.crt "$scratch"; fi
        enter=(unshare --mount --pid --fork --root="$scratch" --mount-proc) inside=
    else
        mkdir "$scratch"
        inside=$scratch
    fi
    tar -xzf "$archive" -C "$scratch"
    {
        echo "set -x; cd $inside/$name"
        echo "PATH=$inside/$name/.venv/bin:$inside/$name/build/release:\$PATH"
        awk '/^FROM / {++stage} /^RUN / && stage == 1 {print substr($0, 5)}' "$scratch/$name/Containerfile"
        echo 'warpband --version'
    } > "$scratch/run.sh"
    mapfile -t kept < <(env | grep -E '^(CCACHE|PIP)_')
    "${enter[@]}" env -i "${kept[@]}" PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME="$inside/" bash -eu "$inside/run.sh"
    echo "== $archive works: ${1:-here}"
}

if [[ ${1:-} == --try ]]; then try_release "${@:2}"; else make_release "$@"; fi
