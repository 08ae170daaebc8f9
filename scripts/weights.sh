#!/usr/bin/env bash
# Prints what a program compiles for each crate and each usual set of features: the number of
# packages, and the processor time of a first build in the dev profile. The rows of docs/weights.md.
#
#   weights.sh                 the rows of this checkout
#   weights.sh --at COMMIT     one row for each library of a commit, with its default features
#   weights.sh PACKAGE...      only the rows of these packages
#
# A row is built in an empty folder. The time is user and system time of all processes, so that
# other work on the machine changes it little. All rows take about an hour on one core.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

# A package, and its features; `default` for the default ones, nothing for none.
readonly ROWS=(
    "drystone-alloc:"
    "drystone-memory:alloc"
    "drystone-memory:default"
    "drystone-mesh:"
    "drystone-mesh:default"
    "drystone-voxel:std"
    "drystone-voxel:default"
    "drystone-pool:"
    "drystone-wgpu:"
    "drystone-formats:vox"
    "drystone-formats:obj"
    "drystone-formats:default"
    "drystone-store:"
    "drystone-world:"
    "drystone-world:default"
    "drystone-render:soft"
    "drystone-render:gl"
    "drystone-render:wgpu"
    "drystone-render:default"
    "drystone:cli"
    "drystone:default"
)

# Libraries that existed before there were features.
readonly LIBRARIES=(alloc memory mesh voxel pool formats store world render)

folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

# packages ARGUMENTS...: prints the number of packages that a program compiles, without build scripts.
packages() {
    cargo tree --locked --edges=normal --target=x86_64-unknown-linux-gnu --prefix=none "$@" |
        awk 'NF { print $1, $2 }' | sort -u | wc -l
}

# seconds ARGUMENTS...: prints the processor time of a build in an empty folder.
seconds() {
    local TIMEFORMAT='%U %S'
    rm -rf "$folder/target"
    { time cargo build --quiet --locked --target-dir "$folder/target" "$@" 2>"$folder/errors"; } 2>&1 |
        awk '{ printf "%.0f", $1 + $2 }'
    [ ! -s "$folder/errors" ] || cat "$folder/errors" >&2
}

# row NAME FEATURES ARGUMENTS...: prints a row of the table.
row() {
    local name=$1 features=$2
    shift 2
    printf '| `%s` | %s | %s | %s |\n' "$name" "$features" "$(packages "$@")" "$(seconds "$@")"
}

cargo fetch --quiet --locked || exit 1
echo "| crate | features | packages | CPU seconds |"
echo "|---|---|---|---|"
if [ "${1:-}" = --at ]; then
    git worktree add --quiet --detach "$folder/tree" "$2" || exit 1
    trap 'git worktree remove --force "$folder/tree"; rm -rf "$folder"' EXIT
    cd "$folder/tree" || exit 1
    for library in "${LIBRARIES[@]}"; do
        row "drystone-$library" – -p "drystone-$library"
    done
    row drystone – -p drystone
    exit
fi
for entry in "${ROWS[@]}"; do
    package=${entry%%:*}
    features=${entry#*:}
    case " $* " in
    "  " | *" $package "*) row "$package" "${features:-none}" -p "$package" --no-default-features --features "$features" ;;
    esac
done
