#!/usr/bin/env bash
# Runs all randomised tests in rounds, each from a new seed, for ten minutes. The first round is
# always completed. Stops at the first failure, and prints the seed and the command that repeats it.
#
#   scripts/soak.sh         new seeds
#   scripts/soak.sh SEED    one round from this seed
#
#   DRYSTONE_SOAK_SECONDS   duration in seconds, default 600
#   DRYSTONE_PROGRAMS       programs of each allocator per round, default 2,000
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

readonly LIMIT_SECONDS=${DRYSTONE_SOAK_SECONDS:-600}
export DRYSTONE_PROGRAMS=${DRYSTONE_PROGRAMS:-2000}
if [ $# -gt 1 ] || [[ ! ${1:-0} =~ ^[0-9]+$ ]]; then
    echo "usage: scripts/soak.sh [SEED]" >&2
    exit 2
fi

# Steps of a round: arguments of `cargo test`. Slow tests without random numbers are left out.
readonly STEPS=(
    "-p drystone-alloc --lib --test it"
    "-p drystone-memory --all-features --lib --test it -- --skip compile --skip bits::tests"
    "-p drystone-mesh --lib --test it"
    "-p drystone-voxel --lib --test it"
    "-p drystone-pool --lib"
    "-p drystone-render --lib"
    "-p drystone-formats --lib --test it -- --skip real_files --skip minecraft_real"
    "-p drystone-store --lib --test it"
    "-p drystone-world --lib"
    "-p drystone --lib --test it -- scene:: editing_parts level_faults model_programs"
)

new_seed() {
    od -An -N4 -tu4 /dev/urandom | tr -d ' '
}

# run_round SEED: runs all steps from the seed.
run_round() {
    local step log status
    log=$(mktemp) || exit 1
    for step in "${STEPS[@]}"; do
        # Word splitting is intended: a step is a list of arguments.
        # shellcheck disable=SC2086
        PROPTEST_RNG_SEED=$1 DRYSTONE_SEED=$1 cargo test --quiet $step >"$log" 2>&1
        status=$?
        if [ "$status" -ne 0 ]; then
            tail -n 200 "$log"
            rm -f "$log"
            printf '\nsoak: FAILED with seed %s. Repeat with:\n' "$1"
            printf '    DRYSTONE_PROGRAMS=%s PROPTEST_RNG_SEED=%s DRYSTONE_SEED=%s cargo test %s\n' \
                "$DRYSTONE_PROGRAMS" "$1" "$1" "$step"
            exit 1
        fi
    done
    rm -f "$log"
}

echo "soak: building"
for step in "${STEPS[@]}"; do
    # shellcheck disable=SC2086
    cargo test --quiet --no-run ${step%% -- *} || exit 1
done

start=$SECONDS rounds=0
while :; do
    seed=${1:-$(new_seed)}
    round_start=$SECONDS
    echo "soak: round $((rounds + 1)) from seed $seed"
    run_round "$seed"
    rounds=$((rounds + 1))
    echo "soak: round $rounds ok, $((SECONDS - round_start)) s"
    if [ $# -gt 0 ] || [ $((SECONDS - start)) -ge "$LIMIT_SECONDS" ]; then
        break
    fi
done
echo "soak: nothing found in $rounds rounds, $((SECONDS - start)) s"
