#!/usr/bin/env bash
# Runs `make test`: format, lints, docs, every test, and a short run of the memory checkers.
# Later stages run even if an earlier one fails, so that one run shows every failure.
# The last line is `N passed, N failed, N skipped`. The exit status is 0 only if no stage failed.
#
#   DRYSTONE_TEST_PACKAGES      only these packages, such as "drystone-mesh drystone-tidy"
#   DRYSTONE_REQUIRE_BACKENDS   if set, a test that is skipped because a driver, a display or a
#                               memory checker is missing counts as a failure
#   DRYSTONE_DATA               the folder of real inputs; if unset, their tests are skipped
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

# Bash 3.2 (macOS) cannot expand an empty array, so both arrays always have an element.
scope=(--workspace)
format_scope=(--all)
if [ -n "${DRYSTONE_TEST_PACKAGES:-}" ]; then
    scope=()
    for package in $DRYSTONE_TEST_PACKAGES; do
        scope+=(-p "$package")
    done
    format_scope=("${scope[@]}")
    # Other crates enable these features if the whole workspace is tested.
    [[ " ${scope[*]} " != *" drystone-memory "* ]] || scope+=(--features drystone-memory/allocator-api2,drystone-memory/pages)
    [[ " ${scope[*]} " != *" drystone-pool "* ]] || scope+=(--features drystone-pool/rayon)
fi

# Mesa prints a warning for every device that it opens if this folder is missing.
made_folder=
if [ -z "${XDG_RUNTIME_DIR:-}" ]; then
    made_folder=$(mktemp -d) || exit 1
    export XDG_RUNTIME_DIR=$made_folder
fi

failed_stages=""

# stage NAME COMMAND...: runs a command, records a failure and prints the duration.
stage() {
    local name=$1 start=$SECONDS
    shift
    printf '\n== %s: %s\n' "$name" "$*"
    if "$@"; then
        printf '== %s: ok, %d s\n' "$name" $((SECONDS - start))
    else
        printf '== %s: FAILED, %d s\n' "$name" $((SECONDS - start))
        failed_stages="$failed_stages $name"
    fi
}

documentation() {
    RUSTDOCFLAGS="${RUSTDOCFLAGS:-} -Dwarnings" cargo doc --locked --no-deps "$@"
}

# Prints the output of the tests to the terminal and the log. Passing tests show their output,
# because a skipped test counts as passed and prints that it was skipped.
tests() {
    cargo test --locked --no-fail-fast "${scope[@]}" -- --show-output --color never 2>&1 | tee "$log"
}

# Runs the memory checkers. They have a separate log, because their tests are not among the tests
# that libtest counts in the main log.
sanitizers() {
    bash scripts/sanitize.sh --short "${scope[@]}" 2>&1 | tee "$checker_log"
}

log=$(mktemp) || exit 1
checker_log=$(mktemp) || exit 1
trap 'rm -rf "$log" "$checker_log" "$made_folder"' EXIT

stage format cargo fmt "${format_scope[@]}" --check
# Workspaces of their own.
stage format-web cargo fmt --manifest-path web/Cargo.toml --check
stage format-fuzz cargo fmt --manifest-path fuzz/Cargo.toml --check
# --locked: an outdated Cargo.lock is a failure.
stage lints cargo clippy --locked "${scope[@]}" --all-targets -- -D warnings
stage docs documentation "${scope[@]}"
stage tests tests
case "${scope[*]}" in
*--workspace*) stage features bash scripts/features.sh ;;
esac
stage sanitizers sanitizers

# A line of libtest: "test result: ok. 12 passed; 0 failed; 1 ignored; ...".
read -r passed failed ignored <<COUNTS
$(awk '/^test result: / { passed += $4; failed += $6; ignored += $8 }
       END { print passed + 0, failed + 0, ignored + 0 }' "$log")
COUNTS
skips_in() {
    awk '/^skipped: / { sub(/\r$/, ""); print }' "$1" | sort
}
skips=$(skips_in "$log")
skip_count=$(printf '%s' "$skips" | awk 'END { print NR }')
checker_skips=$(skips_in "$checker_log")
checker_skip_count=$(printf '%s' "$checker_skips" | awk 'END { print NR }')
# Missing drivers or a missing nightly Rust count as failures. Missing real inputs do not, because they
# are not part of the repository, nor do missing instructions, which cannot be installed.
forbidden=$(printf '%s\n%s' "$skips" "$checker_skips" | awk '
    NF && !/: (DRYSTONE_DATA is not set|the processor lacks AVX-512)$/ { n++ } END { print n + 0 }')

# Prints what each failed test of libtest printed, at most 40 lines of it, in the order of the log.
# libtest prints the output of passed tests below `successes:` and then that of failed ones.
failures_in() {
    awk '/^successes:$/ { failures = 0 }
         /^failures:$/ { failures = 1; lines = 0; next }
         /^test result: / { failures = 0 }
         /^---- .* stdout ----$/ { lines = 0 }
         failures && lines++ < 40' "$1"
}
if [ "$failed" -gt 0 ]; then
    printf '\n== tests that failed\n'
    failures_in "$log"
fi

printf '\n'
for skipped in "$skips" "$checker_skips"; do
    if [ -n "$skipped" ]; then
        printf '%s\n' "$skipped" | sed 's/^/  /'
    fi
done
status=0
if [ -n "${DRYSTONE_REQUIRE_BACKENDS:-}" ] && [ "$forbidden" -gt 0 ]; then
    printf 'DRYSTONE_REQUIRE_BACKENDS is set: %d skipped tests count as failures\n' "$forbidden"
    status=1
fi
if [ -n "$failed_stages" ] || [ "$failed" -gt 0 ]; then
    printf 'failed stages:%s\n' "$failed_stages"
    status=1
fi
# libtest counts a test that skipped itself as passed. Count it as skipped only.
printf '%d passed, %d failed, %d skipped\n' $((passed - skip_count)) "$failed" \
    $((ignored + skip_count + checker_skip_count))
exit $status
