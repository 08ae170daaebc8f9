//! One function a command.

mod info;
mod shot;

use drystone::scene::{self, Outlook};
use drystone_render::{Projection, View};
use drystone_world::{GeneratedWorld, GeneratorConfig, Source, World, open_source};

use crate::{
    AppError,
    cli::{Command, Options, SceneOptions, SourceOptions},
    viewer,
};

/// Where the bare command draws to when there is no display.
const DEFAULT_PICTURE: &str = "drystone.png";

pub(crate) fn run(options: Options) -> Result<(), AppError> {
    match options.command {
        Some(Command::View(view)) if view.keys => {
            println!("{}", viewer::KEYS);
            Ok(())
        }
        Some(Command::View(view)) => viewer::run(&view.scene),
        Some(Command::Shot(options)) => shot::run(&options.scene, &options.output),
        Some(Command::Info(options)) => info::run(&options),
        None if viewer::has_display() => match viewer::run(&options.scene) {
            // A display that is named but not there, or that no adapter can show on.
            Err(AppError::Window(reason)) => {
                eprintln!("drystone: no window ({reason}); drawing a picture instead");
                shot::run(&options.scene, DEFAULT_PICTURE.as_ref())
            }
            done => done,
        },
        None => shot::run(&options.scene, DEFAULT_PICTURE.as_ref()),
    }
}

/// Opens the source that the options name.
pub(crate) fn open(options: &SourceOptions) -> Result<Box<dyn Source>, AppError> {
    if options.path.is_some() {
        return Ok(open_source(options.path.as_deref())?);
    }
    let default = GeneratorConfig::default();
    let size_chunks = options.chunks.unwrap_or(default.size_chunks);
    let config = GeneratorConfig { seed: options.seed, size_chunks, ..default };
    Ok(Box::new(GeneratedWorld::new(config)?))
}

/// What the options see of the world.
pub(crate) fn view_of(world: &World, options: &SceneOptions) -> View {
    let Outlook { mut camera, atmosphere } = scene::outlook(world, options.size.aspect());
    let middle = world.bounds().map_or(glam::DVec3::ZERO, |bounds| {
        let [min, max] =
            [bounds.min, bounds.max].map(|v| glam::DVec3::from_array(v.to_array().map(f64::from)));
        (min + max) / 2.0
    });
    if let Some(eye) = options.eye {
        camera.eye = eye;
    }
    if options.eye.is_some() || options.look.is_some() {
        camera.turn_to(options.look.unwrap_or(middle));
    }
    if options.orthographic {
        let distance = (camera.eye - options.look.unwrap_or(middle)).length();
        let [_, half_height] = camera.half_extents(1.0);
        let height_voxels = (2.0 * distance as f32 * half_height).max(1.0);
        camera.projection = Projection::Orthographic { height_voxels };
    }
    View { atmosphere, ..View::new(camera) }
}
