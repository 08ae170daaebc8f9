#!/usr/bin/env bash
# Tests under what sees errors of memory: AddressSanitizer over the crates that have `unsafe` code
# which depends on lengths (the allocators, the SIMD of the meshers, a drawing case of OpenGL), and
# over the allocators ThreadSanitizer and valgrind too. Both sanitizers need a nightly Rust. (The
# model checker for threads is one of the ordinary tests of crates/alloc.)
#
#   scripts/sanitize.sh            all of it: `make sanitize`, about half an hour on 2 cores
#   scripts/sanitize.sh --short    fewer programs and no ThreadSanitizer: what `make test` runs,
#                                  which says what it has built, such as --workspace or -p PACKAGE
#
# A checker that is not there is skipped: `skipped: NAME: why`. The exit status is 0 only if
# what ran found nothing.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

readonly CRATE=drystone-alloc
# What of the workspace is built for valgrind. Features are those of all that is built.
scope=(--workspace)
[ $# -le 1 ] || scope=("${@:2}")

case "${1:-}" in
    "") programs=10000 slow_programs=300 is_short= ;;
    --short) programs=300 slow_programs=15 is_short=1 ;;
    *)
        echo "usage: scripts/sanitize.sh [--short [-p PACKAGE | --workspace]...]" >&2
        exit 2
        ;;
esac

# Tests that look at other things, and would look at them slowly: what must not compile,
# and the model checker, which has threads of its own.
readonly OTHERS=(--skip compile --skip bits::tests)
# What AddressSanitizer watches of a package. GL is drawn by whatever driver there is; without one,
# the test says that it was skipped, in output that is shown.
address_tests() {
    case "$1" in
        drystone-alloc) echo "--lib --test it -- ${OTHERS[*]}" ;;
        drystone-voxel) echo "--lib -- simd::" ;;
        drystone-render) echo "--lib -- --show-output gl::tests::a_full_ring_spills_and_grows" ;;
    esac
}
readonly ADDRESS_PACKAGES=(drystone-alloc drystone-voxel drystone-render)
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

# is_asked PACKAGE: whether it is among those to be tested.
is_asked() {
    [[ " ${scope[*]} " == *" --workspace "* || " ${scope[*]} " == *" -p $1 "* ]]
}

# with_sanitizer KIND PROGRAMS FLAGS PACKAGE TESTS...: the tests, and the standard library's generic
# code in them, built to watch themselves. A folder of their own, for they fit nothing else; the
# target is named, so that build scripts are not watched. Other crates are built as quickly as can be.
# A filter that fits no test any more is a failure: the counts say so.
with_sanitizer() {
    local kind=$1 log status=0
    log=$(mktemp) || return 1
    DRYSTONE_PROGRAMS=$2 RUSTFLAGS="-Zsanitizer=$kind $3" CARGO_PROFILE_DEV_DEBUG=line-tables-only \
        CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$target_folder/sanitize-$kind" \
        cargo +nightly test --quiet --locked --config 'profile.dev.package."*".opt-level=0' \
        -p "$4" --target "$host" "${@:5}" 2>&1 | tee "$log" || status=1
    if ! grep -q '^test result: ok\. [1-9]' "$log"; then
        note "$4: no test was run"
        status=1
    fi
    rm -f "$log"
    return "$status"
}

# The tests as they are, on a processor that valgrind plays. Asked for memory at multiples of
# more than 16 MiB, as one test does to be refused, it does not refuse but ends itself.
with_valgrind() {
    local runner=(valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite
        --errors-for-leak-kinds=definite)
    local program programs seed status=0
    programs=$(built_tests) || return 1
    # The seed that cargo gives to the tests it starts; these are started without cargo.
    seed=${PROPTEST_RNG_SEED:-}
    [ -n "$seed" ] || seed=$(sed -n 's/^PROPTEST_RNG_SEED = "\(.*\)"/\1/p' .cargo/config.toml)
    while read -r program; do
        (cd crates/alloc && PROPTEST_RNG_SEED="$seed" DRYSTONE_PROGRAMS="$slow_programs" \
            "${runner[@]}" "$program" --quiet --test-threads 1 "${OTHERS[@]}" \
            --skip no_source_has_slabs </dev/null) || status=1
    done <<<"$programs"
    return "$status"
}

# The programs of tests of the allocators; those that `make test` has built are there already.
built_tests() {
    local messages
    messages=$(cargo test --quiet --locked "${scope[@]}" --no-run --message-format json) || return 1
    local artifact='s!.*/crates/alloc#.*"kind":\["KIND"\].*"executable":"\([^"]*\)".*!\1!p'
    sed -n -e "${artifact/KIND/lib}" -e "${artifact/KIND/test}" <<<"$messages" |
        grep .
}

# What a sanitizer says of memory that there is not: nothing, but no memory.
export ASAN_OPTIONS=allocator_may_return_null=1
export TSAN_OPTIONS=allocator_may_return_null=1

why=
if ! cargo +nightly --version >/dev/null 2>&1; then
    why="no nightly toolchain"
elif [ "$(uname -s)" != Linux ]; then
    why="not on $(uname -s)"
fi
for package in "${ADDRESS_PACKAGES[@]}"; do
    is_asked "$package" || continue
    if [ -n "$why" ]; then
        note "skipped: sanitize-address: $package: $why"
        continue
    fi
    read -r -a tests <<<"$(address_tests "$package")"
    # Drivers keep what they have made until the program ends: their leaks are none of ours.
    [ "$package" != drystone-render ] || ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    run "address, $package" with_sanitizer address "$programs" "" "$package" "${tests[@]}"
done
is_asked "$CRATE" || exit $((${#failed} > 0))

if [ -n "$is_short" ]; then
    :
elif [ -n "$why" ]; then
    note "skipped: sanitize-thread: $why"
else
    # The standard library is not built to be watched, and its own locks and channels are seen
    # as races: only what the crate does itself counts.
    read -r -a tests <<<"$(address_tests "$CRATE")"
    run thread with_sanitizer thread "$slow_programs" "-Cunsafe-allow-abi-mismatch=sanitizer" "$CRATE" "${tests[@]}"
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
