//! Options of the commands that draw.

use std::str::FromStr;

use clap::{Args, ValueEnum};
use drystone::{
    Fit, Haze, LevelsFor, LoadOptions, Look, ViewOptions,
    scene::{BackendKind, MemoryBudget, Meshing, RendererKind, Shade, Side, Size},
};
use drystone_render::{Cull, Samples};
use glam::DVec3;

use super::{
    EditsArgs, MemoryOptions, SourceOptions,
    values::{point, side},
};

/// Worlds of more chunks than this are shown at levels of detail by default.
const MAX_CHUNKS_IN_MEMORY: u64 = 8_192;

/// Default of `--memory`, in MiB.
const DEFAULT_MIB: u32 = (MemoryBudget::DEFAULT_BYTES >> 20) as u32;

/// Options of the commands that draw: the source, the renderer, the camera, the light.
#[derive(Clone, Debug, Args)]
pub(crate) struct SceneOptions {
    #[command(flatten)]
    pub(crate) source: SourceOptions,
    #[command(flatten)]
    pub(crate) edits: EditsArgs,
    #[command(flatten)]
    pub(crate) drawing: DrawingArgs,
    #[command(flatten)]
    pub(crate) detail: DetailArgs,
    #[command(flatten)]
    pub(crate) memory: MemoryOptions,
    #[command(flatten)]
    pub(crate) camera: CameraArgs,
    #[command(flatten)]
    pub(crate) air: LookArgs,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Log each step
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

/// Options for the renderer and its device.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DrawingArgs {
    /// Renderer that stores and draws the meshes: pool, naive (one buffer per mesh) or instanced (one
    /// instance per cube; also instanced-last-leaf and instanced-oldest, by slot policy)
    #[arg(long, value_name = "KIND", default_value = "pool", value_parser = RendererKind::from_str)]
    pub(crate) renderer: RendererKind,
    /// Whether `--renderer` is on the command line.
    #[arg(skip)]
    pub(crate) is_renderer_explicit: bool,
    /// Graphics backend: auto (a GPU, else soft), soft, wgpu, gl, or gl-staged (gl without mapped memory)
    #[arg(long, value_name = "KIND", default_value = "auto", value_parser = BackendKind::from_str)]
    pub(crate) backend: BackendKind,
    /// Whether `--backend` is on the command line.
    #[arg(skip)]
    pub(crate) is_backend_explicit: bool,
    /// Culling on the cpu (frustum and back faces) or, if supported, on the gpu (occlusion too)
    #[arg(long, value_name = "KIND", default_value = "cpu", value_parser = Cull::from_str)]
    pub(crate) cull: Cull,
    /// Samples in each pixel, which make edges smooth: 1, 4 or 8. A backend that offers fewer draws
    /// fewer. With more than 1, the contrast of steps in far land fades too
    #[arg(long, value_name = "N", default_value = "4", value_parser = Samples::from_str)]
    pub(crate) samples: Samples,
}

/// Options for the detail of the content, and for the memory that it takes.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct DetailArgs {
    /// Ambient occlusion: darken the corners of faces next to solid voxels. auto (where available),
    /// on, or off. It is not available with --renderer instanced, nor for polygon models: there, on
    /// is an error
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) ao: OcclusionKind,
    /// Shading of a polygon model: flat (one normal per polygon) or smooth (the file's normals, or
    /// the mean normal of the polygons around a vertex)
    #[arg(long, value_name = "HOW", default_value = "smooth", value_parser = Shade::from_str)]
    pub(crate) shade: Shade,
    /// Levels of detail: far parts are drawn with larger voxels, and voxels are read when needed.
    /// auto (for worlds of more than 8,192 chunks), on, or off (all in full detail: the whole world is
    /// read first, at most 65,536 chunks). With --renderer instanced, auto means off, and on is an error
    #[arg(long, value_enum, value_name = "WHEN", default_value = "auto")]
    pub(crate) levels: LevelsKind,
    /// Memory limit in MiB. At levels of detail it includes vertices and cached voxels; in every voxel
    /// world, edits, undo history and waiting meshes. The program itself takes about 64 MiB more, shadow
    /// maps up to 64 MiB, and sky light 28 MiB. If vertices do not fit, far parts become coarser
    #[arg(long = "memory", value_name = "MIB", default_value_t = DEFAULT_MIB, value_parser = clap::value_parser!(u32).range(32..=1_048_576))]
    pub(crate) memory_mib: u32,
}

/// Values of `--ao`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OcclusionKind {
    Auto,
    On,
    Off,
}

impl OcclusionKind {
    /// Whether ambient occlusion is used where available.
    pub(crate) fn is_used(self) -> bool {
        self != Self::Off
    }
}

/// Values of `--levels`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LevelsKind {
    Auto,
    On,
    Off,
}

/// Options for the picture's size and the camera.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct CameraArgs {
    /// Size of the picture or window in pixels
    #[arg(long, value_name = "WxH", default_value = "1280x720", value_parser = Size::from_str)]
    pub(crate) size: Size,
    /// Whether `--size` is on the command line.
    #[arg(skip)]
    pub(crate) is_size_explicit: bool,
    /// Camera position, in voxels or the model's units (default: shows the whole scene)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) eye: Option<DVec3>,
    /// Target point of the camera, in the units of --eye (default: the centre of the scene)
    #[arg(long, value_name = "X,Y,Z", value_parser = point, allow_hyphen_values = true)]
    pub(crate) look: Option<DVec3>,
    /// Side from which the whole scene is shown: front (south), back, left, right, top, bottom, or
    /// degrees around it (0 is the default view)
    #[arg(long, value_name = "NAME|DEGREES", value_parser = side, conflicts_with = "eye", allow_hyphen_values = true)]
    pub(crate) from: Option<Side>,
    /// Orthographic projection: far objects appear as large as near ones
    #[arg(long)]
    pub(crate) orthographic: bool,
}

impl SceneOptions {
    /// Returns the options of the mesher.
    pub(crate) fn meshing(&self) -> Meshing {
        Meshing { occlusion: self.drawing.renderer.has_occlusion() && self.detail.ao.is_used() }
    }

    /// Returns the options of views.
    pub(crate) fn view_options(&self) -> ViewOptions {
        let CameraArgs { size, eye, look: target, from, orthographic, .. } = self.camera;
        let (side, look) = (from.unwrap_or_default(), self.air.look(self.detail.ao.is_used()));
        let (fit, samples) = (Fit::Whole, self.drawing.samples);
        ViewOptions { size, eye, target, side, orthographic, fit, look, samples }
    }

    /// Returns the options for loading content.
    pub(crate) fn load_options(&self) -> LoadOptions {
        let levels = match self.detail.levels {
            LevelsKind::On => LevelsFor::All,
            LevelsKind::Auto if self.can_have_levels() => {
                LevelsFor::MoreChunksThan(MAX_CHUNKS_IN_MEMORY)
            }
            LevelsKind::Auto | LevelsKind::Off => LevelsFor::None,
        };
        let (budget, shade) = (self.detail.memory_budget(), self.detail.shade);
        LoadOptions { levels, limits: budget.into(), shade }
    }
}

impl DetailArgs {
    /// Returns the memory limits of `--memory`.
    pub(crate) fn memory_budget(&self) -> MemoryBudget {
        MemoryBudget::new(u64::from(self.memory_mib) << 20)
    }
}

/// Options for haze, time of day, tint, wireframe, shadows, sky light and bloom.
#[derive(Clone, Debug, Args)]
pub(crate) struct LookArgs {
    /// Distance at which haze hides everything, in voxels or the model's units, or off. The default
    /// scales with the scene, and hides the edge of a vast world
    #[arg(long, value_name = "DISTANCE|off", value_parser = Haze::from_str)]
    pub(crate) haze: Option<Haze>,
    /// Time of day, which sets the position of the sun (default: a clear afternoon)
    #[arg(long = "time", value_name = "HH:MM", value_parser = hour)]
    pub(crate) hour: Option<f32>,
    /// Tint voxels: levels (one hue per level of detail)
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) tint: Option<Tint>,
    /// Draw the edges of quads, or of a model's triangles
    #[arg(long)]
    pub(crate) wire: bool,
    /// Shadows of the sun (default: on; in a window, on if a GPU draws)
    #[arg(long, value_enum, value_name = "on|off")]
    pub(crate) shadows: Option<Switch>,
    /// Sky light: caves and rooms are dark (default: on; in a window, on if a GPU draws)
    #[arg(long, value_enum, value_name = "on|off")]
    pub(crate) sky_light: Option<Switch>,
    /// Bloom: light spreads around materials that emit light (default: off)
    #[arg(long, value_enum, value_name = "on|off")]
    pub(crate) bloom: Option<Switch>,
}

impl LookArgs {
    /// Returns the look, with or without ambient occlusion.
    fn look(&self, occlusion: bool) -> Look {
        let tint_levels = self.tint == Some(Tint::Levels);
        let is_on = |switch: Option<Switch>| switch.is_none_or(|it| it == Switch::On);
        let (shadows, sky_light) = (is_on(self.shadows), is_on(self.sky_light));
        let bloom = self.bloom == Some(Switch::On);
        let Self { haze, hour, wire, .. } = *self;
        Look { haze, hour, tint_levels, wire, occlusion, shadows, sky_light, bloom }
    }

    /// Returns the options that describe a look.
    pub(crate) fn of(look: Look) -> Self {
        let tint = look.tint_levels.then_some(Tint::Levels);
        let switch = |is_on| Some(if is_on { Switch::On } else { Switch::Off });
        let (shadows, sky_light) = (switch(look.shadows), switch(look.sky_light));
        let (haze, hour, wire, bloom) = (look.haze, look.hour, look.wire, switch(look.bloom));
        Self { haze, hour, tint, wire, shadows, sky_light, bloom }
    }
}

/// Values of `--shadows`, `--sky-light` and `--bloom`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Switch {
    On,
    Off,
}

/// Property that voxels are tinted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Tint {
    Levels,
}

/// Parses a time of day into hours.
fn hour(text: &str) -> Result<f32, String> {
    let (hours, minutes) = text.split_once(':').unwrap_or((text, "0"));
    let is_short = |part: &str| (1..=2).contains(&part.len());
    let is_number = |part: &str| is_short(part) && part.bytes().all(|it| it.is_ascii_digit());
    match (hours.parse::<u8>(), minutes.parse::<u8>()) {
        (Ok(hour @ 0..24), Ok(minute @ 0..60)) if is_number(hours) && is_number(minutes) => {
            Ok(f32::from(hour) + f32::from(minute) / 60.0)
        }
        _ => Err("a time is HH:MM from 00:00 to 23:59, such as 18:30".into()),
    }
}
