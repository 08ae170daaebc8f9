#!/usr/bin/env bash
# Runs what a release needs besides `make test`: pairs of features, packages that build from their
# own files, the documentation as docs.rs builds it, compatibility with the last version, licences
# and advisories. A tool that is not installed is named, and the check fails.
#
#   DRYSTONE_BASELINE   commit or tag that `cargo semver-checks` compares with; default: the newest tag
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

failed=""

# check NAME COMMAND...: runs a command and records a failure.
check() {
    local name=$1
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    "$@" || failed="$failed $name"
}

# needs TOOL: whether a subcommand of cargo is installed.
needs() {
    cargo "$1" --version >/dev/null 2>&1 && return
    echo "cargo-$1 is not installed; run: cargo install --locked cargo-$1" >&2
    return 1
}

documentation() {
    RUSTDOCFLAGS="--cfg docsrs -Dwarnings" cargo +nightly doc --locked --no-deps --all-features \
        --workspace --exclude drystone-bench --exclude drystone-testing --exclude drystone-tidy
}

compatibility() {
    local baseline=${DRYSTONE_BASELINE:-$(git describe --tags --abbrev=0 2>/dev/null)}
    needs semver-checks || return 1
    if [ -z "$baseline" ]; then
        echo "no tag to compare with; set DRYSTONE_BASELINE" >&2
        return 1
    fi
    cargo semver-checks --workspace --baseline-rev "$baseline"
}

dependencies() {
    needs deny && cargo deny --all-features check
}

check features bash scripts/features.sh --pairs
check packages cargo package --locked --workspace --exclude drystone-bench \
    --exclude drystone-testing --exclude drystone-tidy
check documentation documentation
check compatibility compatibility
check dependencies dependencies
if [ -n "$failed" ]; then
    echo "failed:$failed" >&2
    exit 1
fi
