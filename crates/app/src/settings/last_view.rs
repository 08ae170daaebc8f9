//! Choices of the last window that the viewer remembers: backend, size, light and camera.

use drystone::{
    Action, CameraControl, CameraKind, Flight,
    scene::{BackendKind, Size},
};
use drystone_render::Cull;
use serde::{Deserialize, Serialize};

use super::by_name;
use crate::cli::SceneOptions;

/// Range of the scale of text and panels.
const TEXT_SCALES: [f32; 2] = [0.75, 3.0];

/// Largest side of a window, in pixels. A remembered window of another screen may be larger than
/// this one; the window system shrinks it then.
const MAX_SIDE: u32 = 16_384;
/// Smallest side of a remembered window, in pixels. A smaller one would be hard to find.
const MIN_SIDE: u32 = 160;

/// Choices that the user made in a window. The command line has precedence over them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct LastView {
    /// Backend.
    #[serde(with = "by_name")]
    pub(crate) backend: BackendKind,
    /// Width and height of the window in pixels, neither maximized nor full screen. `None` until the
    /// user changes it.
    window: Option<[u32; 2]>,
    /// Whether the window was maximized.
    pub(crate) is_maximized: bool,
    /// Whether the user has changed the size of this window.
    #[serde(skip)]
    is_resized: bool,
    /// Scale of text and panels, within [`TEXT_SCALES`].
    pub(crate) text_scale: f32,
    /// Hour of the day; `None` for the default light.
    hour: Option<f32>,
    /// Factor of the speed of flight.
    speed: f64,
    /// Camera for models and other single objects.
    #[serde(with = "by_name")]
    object_camera: CameraKind,
    /// Camera for worlds.
    #[serde(with = "by_name")]
    world_camera: CameraKind,
}

/// State of an open window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowState {
    /// Size in pixels, chosen by the user.
    Normal(Size),
    /// Largest size that the screen allows.
    Maximized,
    /// Full screen, or minimized.
    Other,
}

impl Default for LastView {
    fn default() -> Self {
        Self {
            backend: BackendKind::Auto,
            window: None,
            is_maximized: false,
            is_resized: false,
            text_scale: 1.0,
            hour: None,
            speed: 1.0,
            object_camera: CameraKind::Orbit,
            world_camera: CameraKind::Fly,
        }
    }
}

impl LastView {
    /// Moves values from the settings file into their ranges.
    pub(super) fn limit(&mut self) {
        let [smallest, largest] = TEXT_SCALES;
        self.text_scale = self.text_scale.clamp(smallest, largest);
        self.hour = self.hour.map(|hour| hour.clamp(0.0, 24.0));
        self.speed = Flight::limited_factor(self.speed);
        if self.object_camera == CameraKind::Walk {
            self.object_camera = CameraKind::Orbit;
        }
        self.window = self.window.map(|sides| sides.map(|side| side.clamp(MIN_SIDE, MAX_SIDE)));
    }

    /// Sets backend, size and hour in the options, unless the command line sets them.
    pub(crate) fn set_options(&self, options: &mut SceneOptions) {
        if !options.drawing.is_backend_explicit {
            // Only wgpu culls on the GPU.
            let can_cull = matches!(self.backend, BackendKind::Auto | BackendKind::Wgpu);
            if can_cull || options.drawing.cull == Cull::Cpu {
                options.drawing.backend = self.backend;
            }
        }
        if let (false, Some([width, height])) = (options.camera.is_size_explicit, self.window) {
            options.camera.size = Size { width, height };
        }
        options.air.hour = options.air.hour.or(self.hour);
    }

    /// Remembers what an executed action chose.
    pub(crate) fn note(&mut self, action: Action, camera: &CameraControl) {
        match action {
            Action::Hour(hour) => self.hour = hour,
            Action::Camera(_) | Action::Walk => match camera.default_kind() {
                // Not every object can be walked on.
                CameraKind::Orbit if camera.kind() == CameraKind::Walk => {}
                CameraKind::Orbit => self.object_camera = camera.kind(),
                CameraKind::Fly | CameraKind::Walk => self.world_camera = camera.kind(),
            },
            Action::Wheel(..) => self.speed = camera.speed_factor(),
            _ => {}
        }
    }

    /// Remembers the window, once its user changes the size that it was opened with.
    pub(crate) fn note_window(&mut self, window: WindowState, opened: Option<Size>) {
        match window {
            WindowState::Normal(size) if self.is_resized || Some(size) != opened => {
                (self.is_resized, self.is_maximized) = (true, false);
                self.window = Some([size.width, size.height]);
            }
            WindowState::Maximized => (self.is_resized, self.is_maximized) = (true, true),
            WindowState::Normal(_) | WindowState::Other => {}
        }
    }

    /// Whether the size of a window is remembered.
    pub(crate) const fn has_window(&self) -> bool {
        self.window.is_some()
    }

    /// Returns the camera to use in place of a default one; `None` if that is remembered.
    pub(crate) fn camera(&self, default: CameraKind) -> Option<CameraKind> {
        let kind = match default {
            CameraKind::Orbit => self.object_camera,
            CameraKind::Fly | CameraKind::Walk => self.world_camera,
        };
        (kind != default).then_some(kind)
    }

    /// Returns the factor of the speed of flight.
    pub(crate) const fn speed(&self) -> f64 {
        self.speed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli;

    fn options(words: &[&str]) -> SceneOptions {
        match cli::parse(words.iter().map(Into::into)) {
            Ok(parsed) => parsed.scene,
            Err(_) => panic!("{words:?}"),
        }
    }

    #[test]
    fn the_command_line_has_precedence_over_the_last_view() {
        let view = LastView {
            backend: BackendKind::Soft,
            window: Some([900, 500]),
            hour: Some(6.5),
            ..LastView::default()
        };
        let mut plain = options(&["drystone", "a.vox"]);
        view.set_options(&mut plain);
        assert_eq!(plain.drawing.backend, BackendKind::Soft);
        assert_eq!(plain.camera.size, Size { width: 900, height: 500 });
        assert_eq!(plain.air.hour, Some(6.5));
        let words =
            ["drystone", "a.vox", "--backend", "auto", "--size", "1280x720", "--time", "12:00"];
        let mut named = options(&words);
        view.set_options(&mut named);
        assert_eq!(named.drawing.backend, BackendKind::Auto);
        assert_eq!(named.camera.size, Size { width: 1280, height: 720 });
        assert_eq!(named.air.hour, Some(12.0));
        // A backend that cannot do what the command line requires is not used.
        let mut culled = options(&["drystone", "a.vox", "--cull", "gpu"]);
        view.set_options(&mut culled);
        assert_eq!(culled.drawing.backend, BackendKind::Auto);
    }

    #[test]
    fn only_a_changed_normal_window_is_remembered() {
        // As on a screen whose text is scaled.
        let first = Size { width: 2560, height: 1440 };
        let (opened, small) = (Some(first), Size { width: 640, height: 480 });
        let before = LastView { is_maximized: true, ..LastView::default() };
        let mut view = before;
        view.note_window(WindowState::Normal(first), opened);
        view.note_window(WindowState::Other, opened);
        assert_eq!(view, before, "the size on the command line changes nothing");
        view.note_window(WindowState::Normal(small), opened);
        view.note_window(WindowState::Maximized, opened);
        assert_eq!((view.window, view.is_maximized), (Some([640, 480]), true));
        view.note_window(WindowState::Other, opened);
        assert!(view.is_maximized, "full screen does not end it");
        view.note_window(WindowState::Normal(first), opened);
        assert_eq!((view.window, view.is_maximized), (Some([2560, 1440]), false), "back again");
    }

    #[test]
    fn values_beyond_their_ranges_are_moved_into_them() {
        let far = LastView {
            window: Some([0, u32::MAX]),
            text_scale: 1e9,
            hour: Some(-4.0),
            speed: 1e300,
            ..LastView::default()
        };
        let mut view = far;
        view.limit();
        assert_eq!(view.window, Some([MIN_SIDE, MAX_SIDE]));
        assert_eq!((view.text_scale, view.hour), (TEXT_SCALES[1], Some(0.0)));
        assert!(view.speed < 100.0);
    }
}
