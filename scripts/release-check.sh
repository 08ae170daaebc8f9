#!/usr/bin/env bash
# Runs what a release needs besides `make test`: pairs of features, packages that build from their
# own files, the documentation as docs.rs builds it, compatibility with the last version, licences
# and advisories. A tool that is not installed is named, and the check fails. The other checks still
# run.
#
#   DRYSTONE_BASELINE   commit or tag that `cargo semver-checks` compares with; default: the newest tag
#   DRYSTONE_REQUIRE_BACKENDS   if set, a missing database of advisories is a failure
#
# Without a network, advisories are those of the last database that was fetched. If there is none, the
# check prints `skipped: advisories: REASON`.
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
    local manifest new=()
    for manifest in crates/*/Cargo.toml; do
        git cat-file -e "$baseline:$manifest" 2>/dev/null && continue
        new+=(--exclude "$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)")
    done
    [ ${#new[@]} -eq 0 ] || echo "not in $baseline: ${new[*]//--exclude/}"
    cargo semver-checks --workspace "${new[@]}" --baseline-rev "$baseline"
}

# deny ARGUMENTS...: checks the dependencies of the crates and of the page.
deny() {
    local workspace status=0
    needs deny || return 1
    for workspace in . web; do
        cargo deny --config deny.toml --all-features --manifest-path "$workspace/Cargo.toml" "$@" || status=1
    done
    return "$status"
}

dependencies() {
    deny check bans licenses sources
}

advisories() {
    local folder=${CARGO_HOME:-$HOME/.cargo}/advisory-dbs options=()
    needs deny || return 1
    if ! cargo deny fetch db 2>/dev/null; then
        if ! compgen -G "$folder/*/crates" >/dev/null; then
            echo "skipped: advisories: no database in $folder, and it cannot be fetched"
            [ -z "${DRYSTONE_REQUIRE_BACKENDS:-}" ]
            return
        fi
        echo "advisories: the database cannot be fetched; the copy in $folder is used"
        options=(--offline)
    fi
    deny "${options[@]}" check advisories
}

check features bash scripts/features.sh --all
check pairs bash scripts/features.sh --pairs
check packages cargo package --locked --workspace --exclude drystone-bench \
    --exclude drystone-testing --exclude drystone-tidy
check documentation documentation
check compatibility compatibility
check dependencies dependencies
check advisories advisories
if [ -n "$failed" ]; then
    echo "failed:$failed" >&2
    exit 1
fi
