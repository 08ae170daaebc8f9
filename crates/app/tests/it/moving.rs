//! Scenes that change in every frame.

use std::{fs, process::Stdio};

use drystone::scene::{
    BackendKind, MemoryBudget, Meshing, RendererKind, Shade, Size, open_renderer,
};
use drystone::{
    Content, Framed, LevelsFor, LoadOptions, LodLimits, Pace, Progress, Shown, ViewOptions,
};
use drystone_formats::Source;
use drystone_render::{Camera, Image, SlotPolicy, View};
use drystone_world::{MovingConfig, MovingKind, MovingWorld};
use glam::DVec3;

use crate::{
    memory::watch,
    program::{drystone, run, scratch},
};

const SIZE: Size = Size { width: 160, height: 100 };
const CUBES: RendererKind = RendererKind::Instanced(SlotPolicy::Lowest);

/// A small scene in a later frame.
fn world(kind: MovingKind, frame: u32) -> MovingWorld {
    let size_chunks = if kind == MovingKind::Crater { [3, 2, 3] } else { [3, 2, 2] };
    let config = MovingConfig::new(kind).with_size_chunks(size_chunks);
    let world = MovingWorld::new(config).unwrap();
    (0..frame).for_each(|_| drop(world.motion().unwrap().next_frame()));
    world
}

fn shown(world: MovingWorld, renderer: RendererKind, levels: LevelsFor) -> (Shown, View) {
    let limits = LodLimits::from(MemoryBudget::default());
    let options = LoadOptions { levels, limits, shade: Shade::default() };
    let content = Content::read_voxels(Box::new(world), &options, &Progress::default()).unwrap();
    let view = Framed::new(&content).view(&ViewOptions::new(SIZE));
    let renderer = open_renderer(renderer, BackendKind::Soft, SIZE, content.capacity()).unwrap();
    (Shown::new(content, Meshing::default(), renderer, Pace::Pictures).unwrap(), view)
}

fn picture(shown: &mut Shown, view: &View) -> Image {
    shown.settle(view, SIZE).unwrap();
    shown.picture(view).unwrap().0
}

/// A scene that was moved frame by frame shows what a new scene of that frame shows: as meshes, as
/// cubes, and at levels of detail.
#[test]
fn every_frame_shows_its_voxels() {
    const FRAMES: u32 = 3;
    for kind in [MovingKind::Random, MovingKind::Noise, MovingKind::Crater] {
        for (renderer, levels) in [
            (RendererKind::Pool, LevelsFor::None),
            (CUBES, LevelsFor::None),
            (RendererKind::Pool, LevelsFor::All),
        ] {
            let (mut moving, view) = shown(world(kind, 0), renderer, levels);
            let mut last = picture(&mut moving, &view);
            for _ in 0..FRAMES {
                assert!(moving.advance().unwrap());
                let next = picture(&mut moving, &view);
                assert!(next != last, "{kind:?} {renderer:?}");
                last = next;
            }
            let (mut fresh, _) = shown(world(kind, FRAMES), renderer, levels);
            let difference = last.difference(&picture(&mut fresh, &view), 0).unwrap();
            assert_eq!(difference.pixels, 0, "{kind:?} {renderer:?} {levels:?}");
            let bytes = [&mut moving, &mut fresh].map(|it| it.renderer().held().used_bytes);
            assert_eq!(bytes[0], bytes[1], "{kind:?} {renderer:?} {levels:?}");
        }
    }
}

/// After some hundred frames, the pool is as long as after thousands.
#[test]
fn the_pool_does_not_grow_while_chunks_change() {
    let config = MovingConfig::new(MovingKind::Random).with_size_chunks([1, 1, 2]);
    let (mut moving, view) =
        shown(MovingWorld::new(config).unwrap(), RendererKind::Pool, LevelsFor::None);
    // The scene lies behind the camera: only its meshes change.
    let away = View::new(Camera::look_at(DVec3::splat(-9.0), DVec3::splat(-20.0)));
    picture(&mut moving, &view);
    let mut early_bytes = 0;
    for frame in 0..3_000 {
        assert!(moving.advance().unwrap());
        moving.settle(&away, SIZE).unwrap();
        moving.draw(&away).unwrap();
        let held = moving.renderer().held();
        match frame {
            ..300 => early_bytes = held.reserved_bytes.max(early_bytes),
            _ => assert!(held.reserved_bytes <= early_bytes, "frame {frame}: {held:?}"),
        }
        assert_eq!(held.meshes, 2);
    }
}

/// Memory of the program is the same after hundreds and after thousands of frames.
#[test]
fn memory_does_not_grow_while_chunks_change() {
    const MIB: u64 = 1 << 20;
    let folder = scratch("moving-memory");
    let peak = |frames: &str| {
        let file = folder.join("a.gif");
        let scene = ["--scene", "random", "--chunks", "1x1x2", "--size", "8x8"];
        let path = ["--backend", "soft", "--eye", "-9,-9,-9", "--look", "-20,-20,-20"];
        // Their maps would take nearly all of the time.
        let path = [&path[..], &["--shadows", "off", "--sky-light", "off"]].concat();
        let words = ["--path", "still", "--frames", frames, "-o", file.to_str().unwrap()];
        let all = [&["fly"], &scene[..], &path, &words].concat();
        watch(drystone(&all).stdout(Stdio::null()).spawn().unwrap())
    };
    let (short, long) = (peak("300"), peak("3000"));
    if short == 0 {
        println!("skipped: this system does not say how much memory a process had");
        return;
    }
    assert!(long < short + 4 * MIB, "{} and {} MiB", short / MIB, long / MIB);
}

/// Two flights through a moving scene are equal, byte by byte. The first picture is that of `shot`.
#[test]
fn flights_through_moving_scenes_are_repeatable() {
    let folder = scratch("moving-fly");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for scene in ["random", "noise", "crater"] {
        let words = ["--scene", scene, "--chunks", "2x2x2", "--size", "96x64", "--backend", "soft"];
        let fly = |output: &str, way: &str| {
            let words =
                [&["fly", "--frames", "3", "--path", way, "-o", output], &words[..]].concat();
            let done = run(&words);
            assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        };
        let gifs = [path("a.gif"), path("b.gif")];
        gifs.iter().for_each(|gif| fly(gif, "orbit"));
        assert!(fs::read(&gifs[0]).unwrap() == fs::read(&gifs[1]).unwrap(), "{scene}");
        let (still, shot) = (path(scene), path("shot.png"));
        fly(&still, "still");
        assert!(run(&[&["shot", "-o", &shot], &words[..]].concat()).status.success());
        let load = |path: &str| Image::load_png(path.as_ref()).unwrap();
        let [first, second, third] = [0, 1, 2].map(|n| load(&format!("{still}/{n}.png")));
        assert!(first == load(&shot) && first != second && second != third, "{scene}");
    }
}
