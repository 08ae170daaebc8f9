#!/usr/bin/env bash
# Checks that features add up: each crate passes the lints without features and with each feature alone,
# and compiles with each pair of features.
#
#   features.sh           lints of each crate without features; lints and tests of features with one `+`,
#                         whose tests run only without other features; part of `make test`
#   features.sh --alone   lints of each feature alone too; a job of .github/workflows
#   features.sh --all     the same, and the tests of features with `++`; part of `make release-check`
#   features.sh --pairs   each pair compiles, and the lints of all together; part of `make release-check`
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

# A crate, and its features. The tests run too with those that have a `+`; if words follow, only the
# tests whose names contain them. With the others they are the tests of fewer features. A `++` is a `+`
# with `--all` only.
readonly CRATES=(
    "drystone-alloc: serde++json"
    "drystone-memory: alloc+ std pages allocator-api2"
    "drystone-mesh: bytemuck serde++json triangulate"
    "drystone-voxel: bytemuck mint++ serde++ std"
    "drystone-pool: rayon serde++json"
    "drystone-formats: export gltf height-map minecraft++ model obj++ png qb serde++json textures tiff++ vox++"
    "drystone-world: gltf minecraft png serde++json textures tiff vox"
    "drystone-store: remote"
    "drystone-render: gl++gl:: png++png rayon serde++json soft++soft:: wgpu++wgpu_device::"
    "drystone: cli++ gpu++ remote window"
)

# Prints what is linted and tested of a package: the library and programs, and integration tests of
# crates that have some for single features.
targets() {
    case $1 in
    drystone-formats) echo --lib --test it ;;
    *) echo --lib --bins ;;
    esac
}

# run CARGO_COMMAND ARGUMENTS...: runs cargo, and names the arguments if it fails.
run() {
    cargo "$@" && return
    echo "failed: cargo $*" >&2
    exit 1
}

# alone PACKAGE FEATURE: lints a package with one feature or none. Runs its tests after a `+`.
alone() {
    local targets arguments
    read -ra targets <<<"$(targets "$1")"
    arguments=(--locked --quiet -p "$1" --no-default-features --features "${2%%+*}" "${targets[@]}")
    run clippy "${arguments[@]}" -- -D warnings
    case $2 in
    *++*) [ "$mode" = --all ] || return 0 ;;
    esac
    case ${2/++/+} in
    *+) run test "${arguments[@]}" ;;
    *+*) run test "${arguments[@]}" "${2##*+}" ;;
    esac
}

# pairs PACKAGE FEATURES...: compiles the library with each pair of features.
pairs() {
    local package=$1 first second
    shift
    for first in "$@"; do
        for second in "$@"; do
            [[ $first < $second ]] || continue
            echo "$package: $first $second"
            run check --locked --quiet -p "$package" --no-default-features --features "$first,$second" --lib --bins
        done
    done
    run clippy --locked --quiet -p "$package" --all-features --lib --bins -- -D warnings
}

readonly mode=${1:-}
case $mode in
"" | --alone | --all | --pairs) ;;
*)
    echo "usage: scripts/features.sh [--alone | --all | --pairs]" >&2
    exit 2
    ;;
esac
for row in "${CRATES[@]}"; do
    package=${row%%:*}
    read -ra features <<<"${row#*: }"
    if [ "$mode" = --pairs ]; then
        pairs "$package" "${features[@]%%+*}"
    else
        for feature in "" "${features[@]}"; do
            # By default only a feature with one `+`, whose tests run without others.
            [[ -n $mode || -z $feature || ($feature == *+* && $feature != *++*) ]] || continue
            echo "$package: ${feature:-no feature}, after $SECONDS s"
            alone "$package" "$feature"
        done
    fi
done
