#!/usr/bin/env bash
# The page in the browser, see web/. What is missing is installed, where it can be.
#
#   scripts/web.sh build          builds web/dist and says how large it is
#   scripts/web.sh serve [PORT]   serves web/dist to this machine
#   scripts/web.sh test           builds it and drives it in headless Chromium; the last line holds
#                                 the counts
#
#   CARGO_TARGET_DIR   where cargo builds, in its folder web for the page (default target)
#   CHROMIUM           the browser to test in (default: one on the path)
#
# Where something that is needed is neither there nor to be had, that is a failure, and it says what.
# Where rustup has the target wasm32-unknown-unknown, that is all that is needed. On Debian and
# Ubuntu without it, their packages of Rust for the web are used, which build its library too.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGET=wasm32-unknown-unknown
readonly DIST=web/dist
readonly TOOLS=target/tools
readonly PLAYWRIGHT=1.65.1
# What that asks for.
readonly OLDEST_NODE=20
readonly MAX_BYTES=3000000
readonly RUSTUP_SECONDS=120
readonly DEFAULT_PORT=8000

case "${CARGO_TARGET_DIR:-target}" in
/*) NATIVE=$CARGO_TARGET_DIR ;;
*) NATIVE=$PWD/${CARGO_TARGET_DIR:-target} ;;
esac
readonly NATIVE
readonly BUILT=$NATIVE/web
# The folders are said with each call, and flags for other targets are not the page's.
unset CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR CARGO_BUILD_TARGET
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_RUSTFLAGS
unset CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS

cannot() {
    echo "page: FAILED: $1" >&2
    exit 1
}

# install PACKAGE...: by apt, where nothing has to go for it. Without being root only in CI: elsewhere a
# line says what to type.
install() {
    command -v apt-get >/dev/null || return 1
    local get=(env DEBIAN_FRONTEND=noninteractive apt-get)
    local options=(-y -q --no-remove --no-install-recommends)
    if [ "$(id -u)" -ne 0 ]; then
        if [ -z "${CI:-}" ]; then
            echo "missing; to install it: sudo apt-get install --no-install-recommends $*" >&2
            return 1
        fi
        get=(sudo -n "${get[@]}")
    fi
    echo "installing: $*" >&2
    "${get[@]}" install "${options[@]}" "$@" >&2 && return
    "${get[@]}" update -q >&2 && "${get[@]}" install "${options[@]}" "$@" >&2
}

# within SECONDS COMMAND...: no longer than that, where the system can see to it.
within() {
    local seconds=$1
    shift
    if command -v timeout >/dev/null; then
        timeout "$seconds" "$@"
    else
        "$@"
    fi
}

# Whether the compiler on the path has a library for the page's target.
has_target() {
    local folder
    folder=$(rustc --print target-libdir --target "$TARGET" 2>/dev/null) &&
        compgen -G "$folder/libcore-*.rlib" >/dev/null
}

# A linker for the page: rustup's compilers have one, else Debian's lld is it.
find_linker() {
    local folder
    folder="$(rustc --print sysroot)/lib/rustlib/$(rustc -vV | awk '/^host: / { print $2 }')/bin"
    if [ -x "$folder/rust-lld" ]; then
        echo "$folder/rust-lld"
    else
        command -v wasm-ld || { install lld && command -v wasm-ld; }
    fi
}

# All that the page is built of, as web/Cargo.lock says. One that is out of date is a failure.
fetch_crates() {
    local said
    said=$(cd web && cargo fetch --locked 2>&1) && return
    echo "$said" >&2
    [[ $said != *--locked* ]] || exit 1
    cannot "its crates cannot be fetched"
}

build_crate() {
    local options=(--release --locked --target "$TARGET" --target-dir "$BUILT")
    if has_target ||
        { command -v rustup >/dev/null && within "$RUSTUP_SECONDS" rustup target add "$TARGET"; }; then
        (cd web && cargo build "${options[@]}")
        return
    fi
    if [ ! -x /usr/bin/rustc ] || [ ! -d "$(/usr/bin/rustc --print sysroot)/lib/rustlib/src/rust/library" ]; then
        install rustc-web cargo-web rust-web-src || cannot "there is no Rust for $TARGET"
    fi
    local linker
    linker=$(find_linker) || cannot "there is no linker for $TARGET"
    (
        cd web
        PATH="/usr/bin:$PATH" RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
            CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker" \
            /usr/bin/cargo build "${options[@]}" -Zbuild-std=std,panic_abort
    )
}

# What each visitor loads: no more than that, packed as servers pack it.
check_size() {
    local bytes=0 packed file
    for file in "$DIST"/*; do
        packed=$(gzip -9 -c "$file" | wc -c)
        printf '%10d %s\n' "$packed" "$file"
        bytes=$((bytes + packed))
    done
    printf '%10d bytes in all, packed by gzip, of at most %d\n' "$bytes" "$MAX_BYTES"
    if [ "$bytes" -gt "$MAX_BYTES" ]; then
        echo "the page is larger than it may be: $bytes bytes, at most $MAX_BYTES" >&2
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
    cp web/page/* docs/drystone.png "$DIST"
    check_size
}

# Serves what is there: to look at, also without the tools that build it.
need_build() {
    if [ ! -f "$DIST/index.html" ]; then
        echo "there is no $DIST; run make web before" >&2
        exit 1
    fi
}

serve() {
    need_build
    local port=${1:-$DEFAULT_PORT}
    echo "open http://localhost:$port/"
    if command -v python3 >/dev/null; then
        exec python3 -m http.server --bind 127.0.0.1 --directory "$DIST" "$port"
    fi
    exec node web/test/serve.mjs "$DIST" "$port"
}

# The first browser that runs: some systems have a script that only says where to get one.
find_browser() {
    local name
    for name in "${CHROMIUM:-chromium}" chromium-browser google-chrome; do
        if command -v "$name" >/dev/null && within 60 "$name" --version >/dev/null 2>&1; then
            command -v "$name"
            return
        fi
        # One that was asked for, or none.
        [ -z "${CHROMIUM:-}" ] || return 1
    done
    install chromium && within 60 chromium --version >/dev/null 2>&1 && command -v chromium
}

need_node() {
    { command -v node && command -v npm; } >/dev/null || install nodejs npm ||
        cannot "there is no Node"
    node -e "process.exit(parseInt(process.versions.node) >= $OLDEST_NODE ? 0 : 1)" ||
        cannot "Node is $(node --version), playwright-core asks for $OLDEST_NODE"
    local found
    found=$(node -p "require('$PWD/$TOOLS/node_modules/playwright-core/package.json').version" 2>/dev/null) || found=none
    if [ "$found" != "$PLAYWRIGHT" ]; then
        mkdir -p "$TOOLS"
        npm install --silent --no-save --fetch-retries=1 --fetch-timeout=20000 --prefix "$TOOLS" \
            "playwright-core@$PLAYWRIGHT" || cannot "playwright-core $PLAYWRIGHT cannot be installed"
    fi
}

# Never of an old page: cargo builds what has changed.
run_tests() {
    build
    local browser
    browser=$(find_browser) || cannot "there is no Chromium that runs"
    need_node
    # As `make test` builds it: of the same features, or half of all crates would be built twice.
    cargo test --quiet --locked --workspace --no-run --test it --target-dir "$NATIVE"
    CHROMIUM=$browser NODE_TOOLS=$PWD/$TOOLS DRYSTONE=$NATIVE/debug/drystone \
        node web/test/run.mjs "$DIST" target/web-test
}

case "${1:-}" in
build) build ;;
serve) serve "${2:-}" ;;
test) run_tests ;;
*)
    sed -n '2,12s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
