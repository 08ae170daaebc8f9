#!/usr/bin/env bash
# Runs `make gallery`: redraws the pictures in docs/gallery with the software rasteriser, so that
# they are the same on every machine. Pictures of the real inputs (DRYSTONE_DATA), which belong to
# other authors, are written to target/gallery.
set -eu -o pipefail
cd "$(dirname "$0")/.." || exit 1

cargo build --release --bin drystone
drystone=${CARGO_TARGET_DIR:-target}/release/drystone

# shot FOLDER NAME ARGUMENTS...: draws one small picture.
shot() {
    local path=$1/$2.png
    shift 2
    "$drystone" shot "$@" --backend soft --size 640x360 -o "$path"
}

# fly FOLDER NAME ARGUMENTS...: draws a small picture that moves. Smooth edges or ambient occlusion would
# double its size.
fly() {
    local path=$1/$2.gif
    shift 2
    "$drystone" fly "$@" --ao off --samples 1 --shadows off --sky-light off --backend soft -o "$path"
}

gallery=docs/gallery
mkdir -p "$gallery"
shot "$gallery" hills --seed 3
shot "$gallery" dusk --seed 3 --time 18:12 --eye 384,80,330 --look 100,40,150
shot "$gallery" from-above --seed 7 --from top --orthographic
shot "$gallery" mountains --chunks 64x8x64 --relief 240 --levels on
shot "$gallery" cubes --seed 8 --chunks 6x4x6 --renderer instanced
fly "$gallery" random --scene random --chunks 8x2x8 --eye 190,110,330 --look 128,30,200 \
    --path still --size 280x180 --frames 8 --rate 5
fly "$gallery" noise --scene noise --seed 6 --from 20 --orthographic \
    --path still --size 320x200 --frames 24 --rate 12
fly "$gallery" crater --scene crater --eye 148,90,215 --look 96,0,92 \
    --path still --size 320x180 --frames 30 --rate 12
"$drystone" pool-map --chunks 4x4x4 -o "$gallery/pool-map.svg"

if [ -z "${DRYSTONE_DATA:-}" ]; then
    echo "skipped: pictures of real inputs: DRYSTONE_DATA is not set"
    exit 0
fi
real=target/gallery
mkdir -p "$real"
for input in monu10.vox dragon.vox teapot.vox maze.vox r.0.0.mca jacksboro-dem-16bit.png spot.obj suzanne.obj; do
    if [ ! -e "$DRYSTONE_DATA/$input" ]; then
        echo "$DRYSTONE_DATA/$input is missing" >&2
        exit 1
    fi
    shot "$real" "${input%.*}" "$DRYSTONE_DATA/$input"
done
