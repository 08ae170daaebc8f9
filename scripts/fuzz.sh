#!/usr/bin/env bash
# Builds every fuzz target of fuzz/ with AddressSanitizer and runs each from its seeds.
#
#   scripts/fuzz.sh [SECONDS]   SECONDS per target, default 10 (`make fuzz`)
#
# Does the same as `cargo fuzz build` and `cargo fuzz run`, but does not need cargo-fuzz. Requires a
# nightly Rust and a C++ compiler. Without nightly it prints `skipped: fuzz: REASON` and exits with
# status 0, or with 1 if DRYSTONE_REQUIRE_BACKENDS is set. Inputs that reproduce a finding are written
# to target/fuzz/found. Two targets run at a time.
set -u -o pipefail
cd "$(dirname "$0")/.." || exit 1

readonly SECONDS_EACH=${1:-10}
readonly AT_A_TIME=2
# A fixed seed: each run executes the same programs until its time is up.
readonly SEED=1

# skip REASON: prints the reason and exits.
skip() {
    echo "skipped: fuzz: $1"
    [ -z "${DRYSTONE_REQUIRE_BACKENDS:-}" ] || exit 1
    exit 0
}

cargo +nightly --version >/dev/null 2>&1 || skip "no nightly toolchain"
[ "$(uname -s)" = Linux ] || skip "not on $(uname -s)"

case "${CARGO_TARGET_DIR:-target}" in
/*) folder=$CARGO_TARGET_DIR/fuzz ;;
*) folder=$PWD/${CARGO_TARGET_DIR:-target}/fuzz ;;
esac
host=$(rustc -vV | sed -n 's/^host: //p')

# Flags of cargo-fuzz 0.13.
coverage=(
    -Cpasses=sancov-module
    -Cllvm-args=-sanitizer-coverage-level=4
    -Cllvm-args=-sanitizer-coverage-inline-8bit-counters
    -Cllvm-args=-sanitizer-coverage-pc-table
    -Cllvm-args=-sanitizer-coverage-trace-compares
    -Cllvm-args=-simplifycfg-branch-fold-threshold=0
)
# C code is instrumented too, but without use-after-scope. gcc 12 stores a constant local array of
# ZSTD_selectBtGetAllMatches (zstd) in static data, and wrongly reports its use after the first call.
export CFLAGS="${CFLAGS:-} -fno-sanitize-address-use-after-scope"
# Crates that take minutes to optimise with these flags: the SIMD code of drystone-voxel, and decoders.
readonly UNOPTIMIZED=(drystone-voxel gltf-json image moxcms pxfm)

# Builds the rest with opt-level 1: a full optimisation would take longer than the ten seconds per target.
build() {
    local package options=(--config profile.release.opt-level=1)
    for package in "${UNOPTIMIZED[@]}"; do
        options+=(--config "profile.release.package.$package.opt-level=0")
    done
    (cd fuzz && RUSTFLAGS="${coverage[*]} --cfg fuzzing -Zsanitizer=address" CARGO_INCREMENTAL=0 \
        cargo +nightly build --quiet --locked --release "${options[@]}" --bins --target "$host" --target-dir "$folder")
}

targets() {
    sed -n '/^\[\[bin\]\]/,/^name/s/^name = "\(.*\)"$/\1/p' fuzz/Cargo.toml
}

# Prints the limits of a target, as documented in fuzz/README.md.
limits() {
    case "$1" in
    textures) echo "-max_len=4000 -malloc_limit_mb=64 -timeout=10" ;;
    model_obj | stored_chunk | packed_directory | packed_header | packed_record) echo "-max_len=4000 -malloc_limit_mb=32 -timeout=10" ;;
    model_gltf) echo "-max_len=4000 -malloc_limit_mb=32 -timeout=10 -dict=fuzz/model_gltf.dict" ;;
    height_map) echo "-max_len=4000 -malloc_limit_mb=128 -timeout=10" ;;
    minecraft) echo "-max_len=13000 -malloc_limit_mb=128 -timeout=10" ;;
    qb) echo "-max_len=2000 -malloc_limit_mb=64 -timeout=10" ;;
    vox) echo "-rss_limit_mb=3000 -timeout=25" ;;
    *) echo "-max_len=600 -timeout=25" ;;
    esac
}

# fuzz_one TARGET: runs one target and prints one line. Its whole output goes to a log.
fuzz_one() {
    local target=$1 log=$folder/logs/$1 corpus=$folder/corpus/$1 limits runs
    rm -rf "$corpus"
    mkdir -p "$corpus"
    [ ! -d "fuzz/seeds/$target" ] || cp "fuzz/seeds/$target"/* "$corpus"
    read -r -a limits <<<"$(limits "$target")"
    if ! "$folder/$host/release/$target" "$corpus" "${limits[@]}" -seed="$SEED" \
        -max_total_time="$SECONDS_EACH" -print_final_stats=1 -artifact_prefix="$folder/found/$target-" \
        </dev/null >"$log" 2>&1; then
        echo "fuzz $target: FAILED"
        tail -n 40 "$log"
        return 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    if [ "${runs:-0}" -eq 0 ]; then
        echo "fuzz $target: FAILED: it ran no program"
        return 1
    fi
    echo "fuzz $target: ok, $runs programs"
}

# Some targets request sizes that no heap can provide.
export ASAN_OPTIONS=allocator_may_return_null=1:detect_odr_violation=0
mkdir -p "$folder/logs" "$folder/found"
start=$SECONDS
if ! build; then
    echo "fuzz: the targets cannot be built" >&2
    exit 1
fi
mapfile -t names < <(targets)
echo "fuzz: ${#names[@]} targets built, $((SECONDS - start)) s"
export -f fuzz_one limits
export folder host SECONDS_EACH SEED
if printf '%s\n' "${names[@]}" | xargs -P "$AT_A_TIME" -I{} bash -c 'fuzz_one {}'; then
    echo "fuzz: nothing found, $((SECONDS - start)) s"
else
    echo "fuzz: FAILED, $((SECONDS - start)) s" >&2
    exit 1
fi
