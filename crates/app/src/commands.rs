//! One function a command.

mod check;
mod edits;
mod fly;
mod import;
mod info;
mod pool_map;
mod shot;

use std::path::Path;

use drystone::scene::{self, ModelTriangles, Outlook};
use drystone_render::{Atmosphere, Camera, Cull, Projection, RenderError, Renderer, View};
use drystone_world::{
    GeneratedWorld, GeneratorConfig, HeightMap, LevelData, Model, ModelOptions, ModelWarning,
    Source, World, open_source,
};
use glam::{DQuat, DVec3};

pub(crate) use edits::{is_keepable, keep_in_new_file, open_edited, open_to_edit};
pub(crate) use pool_map::{bytes, grouped, mesh_color};

use crate::{
    AppError,
    cli::{Command, Haze, LevelsKind, Options, SceneOptions, Side, SourceOptions, Tint},
    output,
    progress::Progress,
    viewer,
};

/// Where the bare command draws to when there is no display.
const DEFAULT_PICTURE: &str = "drystone.png";

pub(crate) fn run(options: Options) -> Result<(), AppError> {
    match options.command {
        Some(Command::View(view)) if view.keys => output::print(&viewer::keys_text()),
        Some(Command::View(view)) => viewer::run(&view.scene, &view.save, view.frames),
        Some(Command::Shot(options)) => shot::run(&options.scene, &options.output),
        Some(Command::Fly(options)) => fly::run(&options),
        Some(Command::Info(options)) => info::run(&options),
        Some(Command::Import(options)) => import::run(&options),
        Some(Command::Check(options)) => check::run(&options),
        Some(Command::PoolMap(options)) => pool_map::run(&options),
        None if viewer::has_display() => match viewer::run(&options.scene, &options.save, None) {
            // A display that is named but not there, or that no adapter can show on.
            Err(AppError::Window(reason)) => {
                output::note(&format!("no window ({reason}); drawing a picture instead"));
                shot::run(&options.scene, DEFAULT_PICTURE.as_ref())
            }
            done => done,
        },
        None => shot::run(&options.scene, DEFAULT_PICTURE.as_ref()),
    }
}

/// Opens the source that the options name.
pub(crate) fn open(options: &SourceOptions) -> Result<Box<dyn Source>, AppError> {
    if let Some(path) = options.path.as_deref().filter(|path| HeightMap::is_height_map(path)) {
        return Ok(Box::new(HeightMap::open(path, &options.height_map.options())?));
    }
    if options.path.is_some() {
        return Ok(open_source(options.path.as_deref())?);
    }
    let size_chunks = options.chunks.unwrap_or(GeneratorConfig::default().size_chunks);
    let (seed, relief_voxels) = (options.seed, options.relief);
    let config = GeneratorConfig { seed, size_chunks, relief_voxels };
    Ok(Box::new(GeneratedWorld::new(config)?))
}

/// Reads a polygon model.
pub(crate) fn read_model(options: &SourceOptions, path: &Path) -> Result<Model, AppError> {
    let merge_tolerance = options.merge;
    Ok(Model::open(path, &ModelOptions { merge_tolerance, ..ModelOptions::default() })?)
}

/// Reads a polygon model to be shown; what it lacks is noted.
pub(crate) fn open_model(options: &SceneOptions, path: &Path) -> Result<Model, AppError> {
    let model = read_model(&options.source, path)?;
    if options.verbose {
        for ModelWarning { kind, count, first_place } in model.warnings.iter() {
            output::note(&format!("{kind}: {count}, the first at {first_place}"));
        }
    }
    Ok(model)
}

/// So many places that are damaged are named one by one.
const NAMED_FAULTS: usize = 10;

/// Loads all of a source. What is damaged is named on standard error, and the rest is there.
pub(crate) fn load(source: &dyn Source) -> Result<World, AppError> {
    load_telling(source, &Progress::default())
}

/// The same; `progress` is told how far it is.
pub(crate) fn load_telling(source: &dyn Source, progress: &Progress) -> Result<World, AppError> {
    progress.begin(format!("reading {}", source.name()), source.chunk_count());
    let world = World::load_telling(source, || progress.step())?;
    let faults = source.faults();
    if let (true, [first, ..]) = (world.is_empty(), faults.as_slice()) {
        return Err(AppError::AllDamaged { first: output::plain(first), count: faults.len() });
    }
    note_faults(source.name(), &faults);
    Ok(world)
}

/// Names what is damaged and left out, on standard error.
pub(crate) fn note_faults(name: &str, faults: &[String]) {
    faults.iter().take(NAMED_FAULTS).for_each(|fault| output::note(fault));
    if faults.len() > NAMED_FAULTS {
        let more = faults.len() - NAMED_FAULTS;
        output::note(&format!("{name}: {more} more places are damaged and left out"));
    }
}

/// Has the GPU or the CPU leave out what cannot be seen. Where the GPU cannot, that is
/// said, and the CPU does.
pub(crate) fn set_cull(renderer: &mut dyn Renderer, cull: Cull) -> Result<(), RenderError> {
    match renderer.set_cull(cull) {
        Err(error @ RenderError::NoCulling { .. }) => {
            output::note(&error.to_string());
            Ok(())
        }
        done => done,
    }
}

/// Sources of more chunks than this are shown at levels of detail, if nothing else is said.
const CHUNKS_IN_MEMORY: u64 = 8_192;

/// Whether the source is shown at levels of detail, instead of loaded whole.
pub(crate) fn wants_levels(options: &SceneOptions, source: &dyn Source) -> bool {
    match options.levels {
        LevelsKind::On => true,
        LevelsKind::Off => false,
        LevelsKind::Auto => options.can_have_levels() && source.chunk_count() > CHUNKS_IN_MEMORY,
    }
}

/// What the options see of a world at levels of detail.
pub(crate) fn view_of_levels(data: &LevelData, options: &SceneOptions) -> View {
    let (view, corners) = clear_view_of_levels(data, options);
    let atmosphere = match options.air.haze {
        None => scene::edge_haze(view.atmosphere, &view.camera, corners),
        Some(_) => view.atmosphere,
    };
    View { atmosphere, ..view }
}

/// The same through air that hides no end of the world, and the corners of that.
pub(crate) fn clear_view_of_levels(
    data: &LevelData,
    options: &SceneOptions,
) -> (View, (DVec3, DVec3)) {
    let corners = scene::level_corners(data);
    let outlook = scene::outlook_on(corners, options.size.aspect());
    (framed(corners, outlook, options, |point| point), corners)
}

/// What the options see of the world: all of it, unless they say from where.
pub(crate) fn view_of(world: &World, options: &SceneOptions) -> View {
    let outlook = scene::outlook(world, options.size.aspect());
    framed(scene::corners(world), outlook, options, |point| point)
}

/// The same of a model. Points are given in its own units.
pub(crate) fn view_of_model(model: &ModelTriangles, options: &SceneOptions) -> View {
    let corners = model.place.corners();
    let outlook = scene::model_outlook(corners, options.size.aspect());
    framed(corners, outlook, options, |point| model.place.to_world(point))
}

/// What the options see of the box `min` to `max`; `to_world` says where the points are that
/// they name.
fn framed(
    (min, max): (DVec3, DVec3),
    outlook: Outlook,
    options: &SceneOptions,
    to_world: impl Fn(DVec3) -> DVec3,
) -> View {
    let aspect = options.size.aspect();
    let Outlook { mut camera, atmosphere } = outlook;
    let (eye, look) = (options.eye.map(&to_world), options.look.map(&to_world));
    let target = look.unwrap_or((min + max) / 2.0);
    let parallel = |height_voxels| Projection::Orthographic { height_voxels };
    match (eye, options.orthographic) {
        (None, true) => camera = Camera::fit(min, max, parallel(1.0), aspect),
        (Some(eye), true) => {
            // As large as a perspective picture shows what is looked at.
            let [_, half_height] = camera.half_extents(aspect);
            let height_voxels = 2.0 * (eye - target).length() as f32 * half_height;
            camera.projection = parallel(height_voxels.max(1.0));
        }
        (_, false) => {}
    }
    if let Some(side) = options.from {
        camera = seen_from(side, camera, (min, max), aspect);
    }
    if let Some(eye) = eye {
        camera.eye = eye;
    }
    if eye.is_some() || look.is_some() {
        camera.turn_to(target);
    }
    scene::reach(&mut camera, min, max);
    let occlusion = options.occlusion();
    let atmosphere = match options.air.haze {
        None => atmosphere,
        Some(Haze::Off) => atmosphere.with_haze(0.0, 0.0, 0.0),
        Some(Haze::Distance(distance)) => {
            let unit = (to_world(DVec3::X) - to_world(DVec3::ZERO)).length() as f32;
            let end = distance * unit;
            atmosphere.with_haze(end * scene::HAZE_BEGINS, end, 1.0)
        }
    };
    let atmosphere = options.air.hour.map_or(atmosphere, |hour| atmosphere.with_hour(hour));
    View {
        atmosphere: Atmosphere { occlusion, ..atmosphere },
        tint_levels: options.air.tint == Some(Tint::Levels),
        wire: options.air.wire,
        ..View::new(camera)
    }
}

/// A camera that sees all of the box `min` to `max` from another side than `camera` does.
fn seen_from(side: Side, camera: Camera, (min, max): (DVec3, DVec3), aspect: f32) -> Camera {
    let middle = (min + max) / 2.0;
    match side {
        Side::Top => Camera::fit_from(DVec3::Y, min, max, camera.projection, aspect),
        Side::Around(degrees) => {
            let turn = DQuat::from_rotation_y(degrees.to_radians());
            let mut camera = Camera { eye: middle + turn * (camera.eye - middle), ..camera };
            camera.turn_to(middle);
            camera
        }
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use drystone_voxel::{Material, MaterialTable, VoxelPos};
    use glam::DVec3;

    use super::*;
    use crate::cli;

    fn seen(words: &str) -> (View, f32) {
        let mut world = World::new("two far apart", MaterialTable::new());
        world.set(VoxelPos::new(0, 0, 0), Material(1));
        world.set(VoxelPos::new(299, 39, 299), Material(1));
        let arguments = words.split(' ').map(OsString::from);
        let Ok(options) = cli::parse(arguments) else { panic!("{words}") };
        (view_of(&world, &options.scene), options.scene.size.aspect())
    }

    /// How many of the world's eight corners are in the picture.
    fn corners_in(words: &str) -> usize {
        let (view, aspect) = seen(words);
        let matrix = view.camera.clip_from_relative(aspect);
        let corners = (0..8).map(|bits: u32| {
            let side = |bit: u32| f64::from(bits >> bit & 1);
            DVec3::new(side(0) * 300.0, side(1) * 40.0, side(2) * 300.0)
        });
        let inside = |corner: DVec3| {
            let clip = matrix * (corner - view.camera.eye).as_vec3().extend(1.0);
            let ndc = clip / clip.w;
            ndc.x.abs() <= 1.0 && ndc.y.abs() <= 1.0 && (0.0..=1.0).contains(&ndc.z)
        };
        corners.filter(|&corner| inside(corner)).count()
    }

    #[test]
    fn the_whole_scene_is_seen() {
        assert_eq!(corners_in("drystone --orthographic"), 8);
        assert_eq!(corners_in("drystone --orthographic --size 300x900"), 8);
        assert_eq!(corners_in("drystone --eye 100000,200,100000"), 8);
        assert_eq!(corners_in("drystone --eye 150,90000,150 --look 150,0,150"), 8);
        assert_eq!(corners_in("drystone"), 8);
    }
}
