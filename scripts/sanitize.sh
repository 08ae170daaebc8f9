#!/usr/bin/env bash
# Runs tests under memory checkers. AddressSanitizer checks the crates whose `unsafe` code depends on
# lengths: the allocators, the SIMD code of the meshers, and a drawing case of OpenGL. ThreadSanitizer
# and valgrind check the allocators. Both sanitizers need a nightly Rust. (The model checker for
# threads is an ordinary test of crates/memory.)
#
#   scripts/sanitize.sh            all checkers (`make sanitize`), about half an hour on 2 cores
#   scripts/sanitize.sh --short    fewer programs, no meshes of chunks with 62 to 64 voxels a side, no
#                                  ThreadSanitizer (`make test`); the packages to check may follow,
#                                  such as --workspace or -p PACKAGE
#
# A missing checker is skipped: `skipped: NAME: REASON`. The exit status is 0 only if no checker
# found an error.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

readonly CRATE=drystone-memory
# Packages built for valgrind. They determine the features of shared dependencies.
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

# Tests that are slow under a checker and do not need one: the compile-fail tests, and the model
# checker, which simulates its threads.
readonly OTHERS=(--skip compile --skip bits::tests)
# address_tests PACKAGE: arguments for the tests of a package under AddressSanitizer. OpenGL uses any
# driver that is installed; without one, the test prints that it was skipped.
address_tests() {
    case "$1" in
        drystone-memory) echo "--all-features --lib --test it -- ${OTHERS[*]}" ;;
        drystone-voxel) echo "--lib -- simd:: ${is_short:+--skip large_chunks}" ;;
        drystone-render) echo "--no-default-features --features gl --lib -- --show-output gl::tests::a_full_ring_spills_and_grows" ;;
    esac
}
readonly ADDRESS_PACKAGES=(drystone-memory drystone-voxel drystone-render)
host=$(rustc -vV | sed -n 's/^host: //p')
target_folder=${CARGO_TARGET_DIR:-target}
failed=

note() {
    printf '%s\n' "$*"
}

# run NAME COMMAND...: runs a checker and records a failure.
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

# is_selected PACKAGE: whether the package is to be tested.
is_selected() {
    [[ " ${scope[*]} " == *" --workspace "* || " ${scope[*]} " == *" -p $1 "* ]]
}

# with_sanitizer KIND PROGRAMS FLAGS PACKAGE TESTS...: builds and runs the tests with a sanitizer. The
# build has a separate folder, because its output is not compatible with other builds. Naming the
# target excludes build scripts from the sanitizer. Most dependencies, the meshers and renderers are built
# without optimisation, to save time. A filter that matches no test is a failure.
with_sanitizer() {
    local kind=$1 log status=0
    log=$(mktemp) || return 1
    DRYSTONE_PROGRAMS=$2 RUSTFLAGS="-Zsanitizer=$kind $3" CARGO_PROFILE_DEV_DEBUG=line-tables-only \
        CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="$target_folder/sanitize-$kind" \
        cargo +nightly test --quiet --locked --config 'profile.dev.package."*".opt-level=0' \
        --config 'profile.dev.package.drystone-voxel.opt-level=0' \
        --config 'profile.dev.package.drystone-render.opt-level=0' \
        -p "$4" --target "$host" "${@:5}" 2>&1 | tee "$log" || status=1
    if ! grep -q '^test result: ok\. [1-9]' "$log"; then
        note "$4: no test was run"
        status=1
    fi
    rm -f "$log"
    return "$status"
}

# Runs the ordinary test programs under valgrind. Skips the test that requests an alignment over
# 16 MiB and expects an error, because valgrind aborts there.
with_valgrind() {
    local runner=(valgrind --quiet --error-exitcode=9 --leak-check=full --show-leak-kinds=definite
        --errors-for-leak-kinds=definite)
    local program programs seed status=0
    programs=$(built_tests) || return 1
    # cargo would set this seed, but the tests are started without cargo.
    seed=${PROPTEST_RNG_SEED:-}
    [ -n "$seed" ] || seed=$(sed -n 's/^PROPTEST_RNG_SEED = "\(.*\)"/\1/p' .cargo/config.toml)
    while read -r program; do
        (cd crates/memory && PROPTEST_RNG_SEED="$seed" DRYSTONE_PROGRAMS="$slow_programs" \
            "${runner[@]}" "$program" --quiet --test-threads 1 "${OTHERS[@]}" \
            --skip slabs_for_the_largest_blocks_are_refused </dev/null) || status=1
    done <<<"$programs"
    return "$status"
}

# Prints the paths of the allocators' test programs. `make test` has usually built them already.
built_tests() {
    local messages
    messages=$(cargo test --quiet --locked "${scope[@]}" --no-run --message-format json) || return 1
    local artifact='s!.*/crates/memory#.*"kind":\["KIND"\].*"executable":"\([^"]*\)".*!\1!p'
    sed -n -e "${artifact/KIND/lib}" -e "${artifact/KIND/test}" <<<"$messages" |
        grep .
}

# A failed allocation returns null instead of ending the program.
export ASAN_OPTIONS=allocator_may_return_null=1
export TSAN_OPTIONS=allocator_may_return_null=1

why=
if ! cargo +nightly --version >/dev/null 2>&1; then
    why="no nightly toolchain"
elif [ "$(uname -s)" != Linux ]; then
    why="not on $(uname -s)"
fi
for package in "${ADDRESS_PACKAGES[@]}"; do
    is_selected "$package" || continue
    if [ -n "$why" ]; then
        note "skipped: sanitize-address: $package: $why"
        continue
    fi
    read -r -a tests <<<"$(address_tests "$package")"
    # Drivers hold memory until the program ends, so leaks are not reported.
    [ "$package" != drystone-render ] || ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0
    run "address, $package" with_sanitizer address "$programs" "" "$package" "${tests[@]}"
done
is_selected "$CRATE" || exit $((${#failed} > 0))

if [ -n "$is_short" ]; then
    :
elif [ -n "$why" ]; then
    note "skipped: sanitize-thread: $why"
else
    # The standard library is not instrumented, so the channels with which libtest's threads report
    # tests appear as races. Those of its functions and types are suppressed.
    suppressions=$(mktemp) || exit 1
    trap 'rm -f "$suppressions"' EXIT
    printf 'race:test::%s\n' run_test event::CompletedTest >"$suppressions"
    export TSAN_OPTIONS=$TSAN_OPTIONS:suppressions=$suppressions
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
