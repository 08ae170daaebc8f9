use std::str::FromStr;

use drystone_render::Samples;
use drystone_world::{Axis, PasteAir, VoxelRay};
use glam::DVec3;

use crate::scene::{BackendKind, Brush, EditAction, EditTool, RendererKind};
use crate::{FlightKey, ViewSide};

/// Way in which a camera moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CameraKind {
    /// Around a point.
    Orbit,
    /// Through the air.
    Fly,
    /// On the ground of a voxel world.
    Walk,
}

impl CameraKind {
    /// Returns the name that is parsed, such as `orbit`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Orbit => "orbit",
            Self::Fly => "fly",
            Self::Walk => "walk",
        }
    }
}

impl FromStr for CameraKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "orbit" => Ok(Self::Orbit),
            "fly" => Ok(Self::Fly),
            "walk" => Ok(Self::Walk),
            _ => Err("a camera is orbit, fly or walk".into()),
        }
    }
}

/// Action of a user. [`Session::apply`](crate::Session::apply) executes it, or returns it to the
/// window or page if it concerns files, devices or panels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Begins to move the camera.
    Hold(FlightKey),
    /// Ends a movement.
    Release(FlightKey),
    /// Ends all movements.
    ReleaseAll,
    /// Turns the camera by a movement of the mouse, in pixels.
    Turn([f64; 2]),
    /// Turns the camera by a movement of one finger, in pixels: the scene follows it.
    Drag([f64; 2]),
    /// Moves the camera as if the scene were dragged, in pixels.
    Pan([f64; 2]),
    /// Moves closer by a factor towards a point of the picture, in pixels from the top left.
    Zoom(f64, [f64; 2]),
    /// Moves an orbiting camera closer by notches of a wheel, towards the pointer in pixels from the
    /// top left; changes the speed of a flying one.
    Wheel(f64, [f64; 2]),
    /// Centres what lies at a point of the picture, in pixels from the top left.
    Focus([f64; 2]),
    /// Changes how the camera moves.
    Camera(CameraKind),
    /// Looks at the target from a side, in an orbit.
    LookFrom(ViewSide),
    /// Turns around the target by steps of 15° to the left and up, in an orbit.
    Step([i8; 2]),
    /// Moves the camera back or closer until the scene fits the picture, in an orbit.
    Fit,
    /// Changes between perspective and parallel projection.
    Projection,
    /// Moves the camera to a position.
    Go(DVec3),
    /// Moves the camera to the start.
    Home,
    /// Toggles between walking and flying.
    Walk,
    /// Toggles the masks of face directions.
    FaceMask,
    /// Toggles frustum culling.
    Frustum,
    /// Toggles sorting from front to back.
    Sort,
    /// Toggles culling between CPU and GPU.
    Cull,
    /// Toggles ambient occlusion.
    Occlusion,
    /// Toggles the tint of levels of detail.
    Tint,
    /// Toggles the wireframe.
    Wire,
    /// Toggles shadows of the sun.
    Shadows,
    /// Toggles sky light.
    SkyLight,
    /// Toggles bloom.
    Bloom,
    /// Sets the number of samples in each pixel.
    Samples(Samples),
    /// Changes to the next number of samples: 1, 4, 8.
    NextSamples,
    /// Measures what samples, shadows, sky light, bloom and ambient occlusion cost.
    MeasureCosts,
    /// Sets the hour of the day; `None` sets the default light, a clear afternoon.
    Hour(Option<f32>),
    /// Sets the factor of the speed of flight, limited to 1/32 to 32.
    Speed(f64),
    /// Sets the distance in voxels at which haze hides everything.
    Haze(f32),
    /// Changes the renderer.
    Renderer(RendererKind),
    /// Changes to the next renderer that can draw the content.
    NextRenderer,
    /// Toggles editing with the mouse.
    Edit,
    /// Edits the voxel that a ray hits.
    Click(EditAction, VoxelRay),
    /// Sets the brush.
    Brush(Brush),
    /// Changes to the next form of the brush.
    NextForm,
    /// Changes the radius of the brush by a number of voxels.
    Grow(i32),
    /// Steps through the materials.
    StepMaterial(i32),
    /// Changes to the next mirror of the brush.
    NextMirror,
    /// Changes what clicks do while editing, or back to the brush.
    Tool(EditTool),
    /// Copies the selected voxels; without a selection, the camera.
    Copy,
    /// Copies the selected voxels and removes them.
    Cut,
    /// Fills the selection with the material of the brush.
    FillSelection,
    /// Removes the selected voxels.
    EmptySelection,
    /// Turns the copied voxels by quarter turns about an axis.
    TurnCopy(Axis, i32),
    /// Mirrors the copied voxels along an axis.
    MirrorCopy(Axis),
    /// Sets what copied air does where it is placed.
    PasteAir(PasteAir),
    /// Undoes the last edit.
    Undo,
    /// Redoes the last undone edit.
    Redo,
    /// Undoes a negative number of edits, or redoes a positive one.
    History(i32),
    /// Saves the edits.
    Save,
    /// Toggles levels of detail.
    Levels,
    /// Changes the backend.
    Backend(BackendKind),
    /// Changes to the next backend.
    NextBackend,
    /// Opens a dialog for a file.
    OpenDialog,
    /// Opens the recent file of this rank.
    OpenRecent(usize),
    /// Loads the current file again.
    Reload,
    /// Opens the previous file.
    OpenPrevious,
    /// Shows another frame of an animated file, by a number of frames.
    StepFrame(i32),
    /// Saves a picture.
    Screenshot,
    /// Fills the screen with the window, or ends that.
    FullScreen,
    /// Copies the camera as options of the program.
    CopyCamera,
    /// Sets the factor of the mouse speed.
    MouseSpeed(f64),
    /// Sets the scale of text and panels.
    TextScale(f32),
    /// Shows or hides the panels.
    Panels,
    /// Shows or hides the list of keys.
    Help,
    /// Leaves the innermost state: captured mouse, list, editing, program.
    Escape,
}

impl Action {
    /// Whether a held key repeats the action.
    pub const fn repeats(self) -> bool {
        matches!(
            self,
            Self::Hold(_)
                | Self::Step(_)
                | Self::Grow(_)
                | Self::StepMaterial(_)
                | Self::Undo
                | Self::Redo
        )
    }

    /// Whether the action moves the camera in a way that depends on the scene.
    pub(crate) const fn is_of_camera(self) -> bool {
        matches!(
            self,
            Self::Walk | Self::Camera(_) | Self::Wheel(..) | Self::Zoom(..) | Self::Focus(_)
        )
    }

    /// Whether the action belongs to editing, and does nothing while that is off.
    pub const fn is_of_brush(self) -> bool {
        let is_of_copy = matches!(
            self,
            Self::Cut | Self::TurnCopy(..) | Self::MirrorCopy(_) | Self::PasteAir(_)
        );
        let is_of_selection = matches!(
            self,
            Self::FillSelection | Self::EmptySelection | Self::Tool(EditTool::Replace)
        );
        let is_of_brush = matches!(
            self,
            Self::NextForm | Self::Grow(_) | Self::StepMaterial(_) | Self::NextMirror
        );
        is_of_copy || is_of_selection || is_of_brush
    }
}
