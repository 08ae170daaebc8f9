#!/usr/bin/env bash
# The tests of crates/alloc, the home of `unsafe` below the GPU, under what sees errors of
# memory: AddressSanitizer and ThreadSanitizer, which need a nightly Rust, and valgrind. (The
# model checker for threads is one of the crate's ordinary tests.)
#
#   scripts/sanitize.sh            all of it: `make sanitize`, about half an hour on 2 cores
#   scripts/sanitize.sh --short    fewer programs and no ThreadSanitizer, within two minutes
#                                  once built: what `make test` runs, which says what it has
#                                  built, such as --workspace
#
# A checker that is not there is skipped: `skipped: NAME: why`. The exit status is 0 only if
# what ran found nothing.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

readonly CRATE=drystone-alloc
# What of the workspace is built for valgrind. Features are those of all that is built.
scope=(-p "$CRATE")
[ $# -le 1 ] || scope=("${@:2}")

case "${1:-}" in
    "") programs=10000 slow_programs=300 is_short= ;;
    --short) programs=300 slow_programs=15 is_short=1 ;;
    *)
        echo "usage: scripts/sanitize.sh [--short [-p PACKAGE | --workspace]...]" >&2
        exit 2
        ;;
esac

# Tests that look at other things, and would look at them slowly: what must not compile, a
# program without the standard library, the model checker, which has threads of its own.
readonly OTHERS=(--skip compile --skip no_std --skip bits::tests)
host=$(rustc -vV | sed -n 's/^host: //p')
target_folder=${CARGO_TARGET_DIR:-target}
failed=

note() {
    printf '%s\n' "$*"
}

# run NAME COMMAND...: runs a checker, notes whether it found something.
run() {
    local name=$1 start=$SECONDS
    shift
    note "-- $name"
    if "$@"; then
        note "-- $name: nothing found, $((SECONDS - start)) s"
    else
        note "-- $name: FAILED, $((SECONDS - start)) s"
        failed="$failed $name"
    fi
}

# with_sanitizer KIND PROGRAMS FLAGS: the tests, and the standard library's generic code in
# them, built to watch themselves. A folder of their own, for they fit nothing else; the
# target is named, so that build scripts are not watched.
with_sanitizer() {
    local kind=$1
    DRYSTONE_PROGRAMS=$2 RUSTFLAGS="-Zsanitizer=$kind $3" \
        CARGO_TARGET_DIR="$target_folder/sanitize-$kind" \
        cargo +nightly test --quiet -p "$CRATE" --target "$host" --lib --test it -- "${OTHERS[@]}"
}

# The tests as they are, on a processor that valgrind plays. Asked for memory at multiples of
# more than 16 MiB, as one test does to be refused, it does not refuse but ends itself.
with_valgrind() {
    local runner=(valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite
        --errors-for-leak-kinds=definite)
    local program programs status=0
    programs=$(built_tests) || return 1
    while read -r program; do
        (cd crates/alloc && DRYSTONE_PROGRAMS="$slow_programs" "${runner[@]}" "$program" --quiet \
            --test-threads 1 "${OTHERS[@]}" --skip no_source_has_slabs </dev/null) || status=1
    done <<<"$programs"
    return "$status"
}

# The crate's programs of tests; those that `make test` has built are there already.
built_tests() {
    local messages
    messages=$(cargo test --quiet "${scope[@]}" --no-run --message-format json) || return 1
    local artifact='s!.*/crates/alloc#.*"kind":\["KIND"\].*"executable":"\([^"]*\)".*!\1!p'
    sed -n -e "${artifact/KIND/lib}" -e "${artifact/KIND/test}" <<<"$messages" |
        grep .
}

# What a sanitizer says of memory that there is not: nothing, but no memory.
export ASAN_OPTIONS=allocator_may_return_null=1
export TSAN_OPTIONS=allocator_may_return_null=1

if ! cargo +nightly --version >/dev/null 2>&1; then
    note "skipped: sanitize-address: no nightly toolchain"
    [ "$is_short" ] || note "skipped: sanitize-thread: no nightly toolchain"
elif [ "$(uname -s)" != Linux ]; then
    note "skipped: sanitize-address: not on $(uname -s)"
    [ "$is_short" ] || note "skipped: sanitize-thread: not on $(uname -s)"
else
    run address with_sanitizer address "$programs" ""
    # The standard library is not built to be watched, and its own locks and channels are seen
    # as races: only what the crate does itself counts.
    [ "$is_short" ] || run thread with_sanitizer thread "$slow_programs" "-Cunsafe-allow-abi-mismatch=sanitizer"
fi

if ! command -v valgrind >/dev/null; then
    note "skipped: sanitize-valgrind: valgrind is not installed"
else
    run valgrind with_valgrind
fi

if [ -n "$failed" ]; then
    note "failed:$failed"
    exit 1
fi
