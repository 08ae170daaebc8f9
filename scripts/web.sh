#!/usr/bin/env bash
# Builds and tests the web page, see web/. Installs missing tools where possible.
#
#   scripts/web.sh build          builds web/dist and prints its size
#   scripts/web.sh serve [PORT]   serves web/dist on localhost
#   scripts/web.sh test           builds the page and tests it in headless Chromium; the last line
#                                 has the counts
#
#   CARGO_TARGET_DIR   cargo's output folder, its subfolder web for the page (default target)
#   CHROMIUM           the browser for the tests (default: one on the path)
#
# A tool that is missing and cannot be installed is a failure, and the message names it. The standard
# library is built too, with threads, from the source that rustup provides (rust-src). Without the source,
# an installed target wasm32-unknown-unknown is used, and the page has no threads. If rustup provides
# neither, Debian's and Ubuntu's packages of Rust for the web are used.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGET=wasm32-unknown-unknown
readonly DIST=web/dist
readonly TOOLS=target/tools
readonly PLAYWRIGHT=1.65.1
# Required by playwright-core.
readonly OLDEST_NODE=20
readonly STD=(-Zbuild-std=std,panic_abort)
readonly MAX_BYTES=1840000
# Largest memory of the page's program, in bytes.
readonly MAX_MEMORY=4294967296
readonly RUSTUP_SECONDS=120
readonly DEFAULT_PORT=8000

case "${CARGO_TARGET_DIR:-target}" in
/*) NATIVE=$CARGO_TARGET_DIR ;;
*) NATIVE=$PWD/${CARGO_TARGET_DIR:-target} ;;
esac
readonly NATIVE
readonly BUILT=$NATIVE/web
# Each call names its output folder, and flags for other targets do not apply to the page.
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR CARGO_BUILD_TARGET
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS
unset CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS

readonly OPTIONS=(--release --locked --target "$TARGET" --target-dir "$BUILT")
# Panics name source files. Short names make the page smaller, and as large for every folder.
readonly NAMES="\"--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates\", \"--remap-path-prefix=$PWD=.\""

# cannot REASON: prints the reason and exits with an error.
cannot() {
    echo "page: FAILED: $1" >&2
    exit 1
}

# install PACKAGE...: installs packages with apt, if no package has to be removed. Uses sudo only in
# CI; elsewhere it prints the command for the user.
install() {
    command -v apt-get >/dev/null || return 1
    local get=(env DEBIAN_FRONTEND=noninteractive apt-get)
    local options=(-y -q --no-remove --no-install-recommends)
    if [ "$(id -u)" -ne 0 ]; then
        if [ -z "${CI:-}" ]; then
            echo "missing packages; install them: sudo apt-get install --no-install-recommends $*" >&2
            return 1
        fi
        get=(sudo -n "${get[@]}")
    fi
    echo "installing: $*" >&2
    "${get[@]}" install "${options[@]}" "$@" >&2 && return
    "${get[@]}" update -q >&2 && "${get[@]}" install "${options[@]}" "$@" >&2
}

# within SECONDS COMMAND...: runs a command with a time limit, if `timeout` is installed.
within() {
    local seconds=$1
    shift
    if command -v timeout >/dev/null; then
        timeout "$seconds" "$@"
    else
        "$@"
    fi
}

# rustup_add KIND NAME: installs a part of the compiler on the path, if rustup provides it.
rustup_add() {
    command -v rustup >/dev/null && within "$RUSTUP_SECONDS" rustup "$1" add "$2"
}

# has_source RUSTC: whether the source of a compiler's standard library is installed.
has_source() {
    [ -d "$("$1" --print sysroot)/lib/rustlib/src/rust/library" ]
}

# can_build_std RUSTC CARGO: whether a compiler can build the standard library. Downloads its crates.
can_build_std() {
    has_source "$1" && (cd web && RUSTC=$1 RUSTC_BOOTSTRAP=1 "$2" fetch --quiet --locked --target "$TARGET" "${STD[@]}")
}

# Whether the compiler on the path has a standard library for the page's target.
has_target() {
    local folder
    folder=$(rustc --print target-libdir --target "$TARGET" 2>/dev/null) &&
        compgen -G "$folder/libcore-*.rlib" >/dev/null
}

# Prints the path of a linker: that of rustup's compiler, else Debian's lld.
find_linker() {
    local folder
    folder="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | awk '/^host: / { print $2 }')/bin"
    if [ -x "$folder/rust-lld" ]; then
        echo "$folder/rust-lld"
    else
        command -v wasm-ld || { install lld && command -v wasm-ld; }
    fi
}

# Downloads the crates in web/Cargo.lock. An outdated lock file is a failure.
fetch_crates() {
    local output
    output=$(cd web && cargo fetch --locked 2>&1) && return
    echo "$output" >&2
    [[ $output != *--locked* ]] || exit 1
    cannot "crates cannot be downloaded"
}

# build_with RUSTC CARGO: builds the page's crate for threads, with the standard library. The compiler of
# stable Rust then takes the options of nightly Rust.
build_with() {
    local names linker threads argument
    linker=$(find_linker) || cannot "no linker for $TARGET"
    names="$NAMES, \"--remap-path-prefix=$("$1" --print sysroot)/lib/rustlib/src/rust=rust\""
    # Threads share a memory that the page's script creates.
    threads="\"-Ctarget-feature=+atomics,+bulk-memory,+mutable-globals\""
    for argument in --shared-memory --import-memory "--max-memory=$MAX_MEMORY" \
        --export=__wasm_init_tls --export=__tls_size --export=__tls_align --export=__tls_base; do
        threads+=", \"-Clink-arg=$argument\""
    done
    (
        cd web
        RUSTC=$1 RUSTC_BOOTSTRAP=1 CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
            "$2" build "${OPTIONS[@]}" "${STD[@]}" --config "target.$TARGET.rustflags=[$names, $threads]"
    )
}

build_crate() {
    # Without the source of the standard library, an installed target is used at once.
    if can_build_std rustc cargo ||
        { ! has_target && rustup_add component rust-src && can_build_std rustc cargo; }; then
        build_with rustc cargo
    elif has_target || rustup_add target "$TARGET"; then
        echo "the page has no threads: the standard library cannot be built (rustup component add rust-src)" >&2
        (cd web && cargo build "${OPTIONS[@]}" --config "target.$TARGET.rustflags=[$NAMES]")
    else
        [ -x /usr/bin/rustc ] && has_source /usr/bin/rustc || install rustc-web cargo-web rust-web-src ||
            cannot "no Rust for $TARGET"
        can_build_std /usr/bin/rustc /usr/bin/cargo || cannot "the standard library cannot be built for $TARGET"
        build_with /usr/bin/rustc /usr/bin/cargo
    fi
}

# Prints the size of the page, compressed as servers do, and fails above the limit.
check_size() {
    local bytes=0 packed file
    for file in "$DIST"/*; do
        packed=$(gzip -9 -c "$file" | wc -c)
        printf '%10d %s\n' "$packed" "$file"
        bytes=$((bytes + packed))
    done
    printf '%10d bytes in total with gzip, limit %d\n' "$bytes" "$MAX_BYTES"
    if [ "$bytes" -gt "$MAX_BYTES" ]; then
        echo "the page is too large: $bytes bytes, limit $MAX_BYTES" >&2
        return 1
    fi
}

build() {
    fetch_crates
    build_crate
    (cd web && cargo build --quiet --locked -p drystone-web-bindgen --target-dir "$BUILT")
    rm -rf "$DIST"
    mkdir -p "$DIST"
    "$BUILT/debug/drystone-web-bindgen" "$BUILT/$TARGET/release/drystone_web.wasm" "$DIST"
    cp web/page/* "$DIST"
    # Comments on lines of their own are a quarter of the scripts' compressed size.
    sed -i.bak -E '/^[[:space:]]*(\/\/|\/\*\*|\*( |\/|$))/d' "$DIST"/*.js
    rm "$DIST"/*.bak
    check_scripts
    check_size
}

# Fails if a script is not valid: the removal of comments does not parse them.
check_scripts() {
    if ! command -v node >/dev/null; then
        echo "skipped: the syntax of the scripts is not checked, because Node is missing" >&2
        return
    fi
    local file
    for file in "$DIST"/*.js; do
        node --input-type=module --check <"$file" || cannot "$file is not valid without its comments"
    done
}

# Fails if the page is not built. Serving does not need the build tools.
need_build() {
    if [ ! -f "$DIST/index.html" ]; then
        echo "$DIST is missing; run make web first" >&2
        exit 1
    fi
}

serve() {
    need_build
    local port=${1:-$DEFAULT_PORT}
    echo "open http://localhost:$port/"
    # Python's server sends no headers of ours: the page has no threads then.
    if ! command -v node >/dev/null && command -v python3 >/dev/null; then
        exec python3 -m http.server --bind 127.0.0.1 --directory "$DIST" "$port"
    fi
    exec node web/test/serve.mjs "$DIST" "$port"
}

# Prints the path of the first browser that runs. On some systems the command is a script that only
# prints how to install one.
find_browser() {
    local name
    for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
        if command -v "$name" >/dev/null && within 60 "$name" --version >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
        # If CHROMIUM is set, no other browser is tried.
        [ -z "${CHROMIUM:-}" ] || return 1
    done
    install chromium && within 60 chromium --version >/dev/null 2>&1 && command -v chromium
}

need_node() {
    { command -v node && command -v npm; } >/dev/null || install nodejs npm ||
        cannot "Node is missing"
    node -e "process.exit(parseInt(process.versions.node) >= $OLDEST_NODE ? 0 : 1)" ||
        cannot "Node is $(node --version), playwright-core requires $OLDEST_NODE"
    local found
    found=$(node -p "require('$PWD/$TOOLS/node_modules/playwright-core/package.json').version" 2>/dev/null) || found=none
    if [ "$found" != "$PLAYWRIGHT" ]; then
        mkdir -p "$TOOLS"
        npm install --silent --no-save --fetch-retries=1 --fetch-timeout=20000 --prefix "$TOOLS" \
            "playwright-core@$PLAYWRIGHT" || cannot "playwright-core $PLAYWRIGHT cannot be installed"
    fi
}

# Builds the page, then runs web/test.
run_tests() {
    need_node
    # The same features as in `make test`, so that the crates are not built twice. Beside the page, whose
    # last crate keeps only one core busy.
    cargo test --quiet --locked --workspace --no-run --test it --target-dir "$NATIVE" &
    local browser native=$!
    # shellcheck disable=SC2064
    trap "kill $native 2>/dev/null || true" EXIT
    build
    (cd web && cargo test --quiet --locked -p drystone-web-bindgen --target-dir "$BUILT")
    browser=$(find_browser) || cannot "no Chromium runs"
    wait "$native" || cannot "the command line cannot be built"
    trap - EXIT
    CHROMIUM=$browser NODE_TOOLS=$PWD/$TOOLS DRYSTONE=$NATIVE/debug/drystone \
        node web/test/run.mjs "$DIST" target/web-test
}

case "${1:-}" in
build) build ;;
serve) serve "${2:-}" ;;
test) run_tests ;;
*)
    sed -n '2,10s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
