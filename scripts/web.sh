#!/usr/bin/env bash
# The page in the browser, see web/. What is missing is installed, where it can be.
#
#   scripts/web.sh build          builds web/dist and says how large it is
#   scripts/web.sh serve [PORT]   serves web/dist to this machine
#   scripts/web.sh test           drives web/dist in headless Chromium; the last line holds the
#                                 counts
#
# Exits 77 where something that is needed is neither there nor to be had.
# Where rustup has the target wasm32-unknown-unknown, that is all that is needed. On Debian and
# Ubuntu without it, their packages of Rust for the web are used, which build its library too.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly TARGET=wasm32-unknown-unknown
readonly DIST=web/dist
readonly TOOLS=target/tools
readonly BUILT=target/web
readonly PLAYWRIGHT=playwright-core@1.65.1
readonly MAX_BYTES=$((3 << 20))
readonly CANNOT=77
readonly DEFAULT_PORT=8000

# install PACKAGE...: by apt, as we are or through sudo where it asks no questions.
install() {
    command -v apt-get >/dev/null || return 1
    local root=()
    [ "$(id -u)" -eq 0 ] || root=(sudo -n)
    echo "installing: $*" >&2
    "${root[@]+"${root[@]}"}" apt-get install -y -q --no-install-recommends "$@" >&2 && return
    "${root[@]+"${root[@]}"}" apt-get update -q >&2 &&
        "${root[@]+"${root[@]}"}" apt-get install -y -q --no-install-recommends "$@" >&2
}

cannot() {
    echo "the page is left out: $1" >&2
    exit "$CANNOT"
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

build_crate() {
    if has_target || { command -v rustup >/dev/null && timeout 120 rustup target add "$TARGET"; }; then
        (cd web && cargo build --release --target "$TARGET")
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
            /usr/bin/cargo build --release --target "$TARGET" -Zbuild-std=std,panic_abort
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
    [ "$bytes" -le "$MAX_BYTES" ]
}

build() {
    build_crate
    (cd web && cargo build --quiet -p drystone-web-bindgen)
    rm -rf "$DIST"
    mkdir -p "$DIST"
    "$BUILT/debug/drystone-web-bindgen" "$BUILT/$TARGET/release/drystone_web.wasm" "$DIST"
    cp web/page/* docs/drystone.png "$DIST"
    check_size
}

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

find_browser() {
    command -v chromium || command -v chromium-browser || command -v google-chrome ||
        { install chromium && command -v chromium; }
}

run_tests() {
    need_build
    local browser
    browser=$(find_browser) || cannot "there is no Chromium"
    command -v npm >/dev/null || install nodejs npm || cannot "there is no Node"
    if [ ! -d "$TOOLS/node_modules/playwright-core" ]; then
        mkdir -p "$TOOLS"
        npm install --silent --no-save --prefix "$TOOLS" "$PLAYWRIGHT" ||
            cannot "playwright-core cannot be installed"
    fi
    cargo build --quiet -p drystone
    CHROMIUM=$browser NODE_TOOLS=$PWD/$TOOLS node web/test/run.mjs "$DIST" target/web-test
}

case "${1:-}" in
build) build ;;
serve) serve "${2:-}" ;;
test) run_tests ;;
*)
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
