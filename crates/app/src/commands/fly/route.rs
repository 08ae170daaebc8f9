use std::{fs, path::Path};

use drystone::{
    Framed, ViewOptions,
    scene::{self, Side},
};
use drystone_render::View;
use glam::{DQuat, DVec3};

use crate::{
    AppError,
    cli::{CameraPathKind, point},
};

/// Camera path of a flight.
#[derive(Debug, PartialEq)]
pub(super) enum Route {
    /// Once around the target point.
    Orbit,
    /// At the first view.
    Still,
    /// Through these stops, at least one.
    Stops(Vec<Stop>),
}

/// Position and target point of the camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stop {
    eye: DVec3,
    look: DVec3,
}

/// Maximum size of a path file in bytes: about a hundred thousand stops.
const MAX_BYTES: u64 = 16 << 20;

impl Route {
    /// Reads the camera path that the options name.
    pub(super) fn open(kind: &CameraPathKind) -> Result<Self, AppError> {
        let path = match kind {
            CameraPathKind::Orbit => return Ok(Self::Orbit),
            CameraPathKind::Still => return Ok(Self::Still),
            CameraPathKind::File(path) => path,
        };
        let wrong = |line: usize, problem: String| AppError::CameraPath {
            path: path.into(),
            line,
            problem,
        };
        let text = read(path).map_err(|problem| wrong(0, problem))?;
        parse(&text).map_err(|(line, problem)| wrong(line, problem))
    }

    /// Returns `count` views along the path.
    pub(super) fn views(&self, framed: &Framed, options: &ViewOptions, count: u32) -> Vec<View> {
        match self {
            Self::Orbit => orbit(framed, options, count),
            Self::Still => vec![framed.view(options); count as usize],
            Self::Stops(stops) => {
                // The last picture of a path is the last stop. A closed path repeats: after its last
                // picture follows the first.
                let last = if is_closed(stops) { count } else { (count - 1).max(1) };
                let at = |n: u32| {
                    let Stop { eye, look } = between(stops, f64::from(n) / f64::from(last));
                    let (eye, target) = (Some(eye), Some(look));
                    framed.view(&ViewOptions { eye, target, ..*options })
                };
                (0..count).map(at).collect()
            }
        }
    }
}

/// Turns the camera around the scene in `count` equal steps; after the last picture follows the
/// first. Each picture equals that of [`Side`] with its turn. With `--look`, the camera turns around
/// that point.
fn orbit(framed: &Framed, options: &ViewOptions, count: u32) -> Vec<View> {
    let degrees = (0..count).map(|n| 360.0 * f64::from(n) / f64::from(count));
    let side = options.side;
    if options.eye.is_some() || options.target.is_some() {
        return around_target(framed, options, degrees);
    }
    let side = |degrees| Side { turn_degrees: side.turn_degrees + degrees, ..side };
    let view = |degrees| framed.view(&ViewOptions { side: side(degrees), ..*options });
    degrees.map(view).collect()
}

/// Turns the camera of the options around its target point.
fn around_target(
    framed: &Framed,
    options: &ViewOptions,
    degrees: impl Iterator<Item = f64>,
) -> Vec<View> {
    let (min, max) = framed.corners();
    let first = framed.view(options);
    let target = match options.target {
        Some(_) => {
            // The centre of rotation lies straight ahead, as far as the middle of the scene.
            let forward = first.camera.basis()[2].as_dvec3();
            first.camera.position + forward * (first.camera.position - framed.middle()).length()
        }
        None => framed.middle(),
    };
    let turned = |degrees: f64| {
        let turn = DQuat::from_rotation_y(degrees.to_radians());
        let mut camera = first.camera;
        camera.position = target + turn * (first.camera.position - target);
        camera.turn_to(target);
        scene::reach(&mut camera, min, max);
        View { camera, ..first }
    };
    degrees.map(turned).collect()
}

fn read(path: &Path) -> Result<String, String> {
    let metadata = fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() || metadata.len() > MAX_BYTES {
        return Err(format!("not a file of at most {MAX_BYTES} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

/// Parses the stops, or returns the number of the wrong line and the reason.
fn parse(text: &str) -> Result<Route, (usize, String)> {
    let mut stops = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let words = line.split('#').next().unwrap_or_default();
        let points: Vec<&str> = words.split_whitespace().collect();
        let wrong = |problem: String| (number, problem);
        match points[..] {
            [] => {}
            [eye, look] => {
                let [eye, look] = [eye, look].map(point);
                stops.push(Stop { eye: eye.map_err(wrong)?, look: look.map_err(wrong)? });
            }
            _ => return Err((number, "a stop is two points, X,Y,Z X,Y,Z".into())),
        }
    }
    match stops[..] {
        [] => Err((0, "the file has no stops; a stop is two points, X,Y,Z X,Y,Z".into())),
        _ => Ok(Route::Stops(stops)),
    }
}

/// Whether the path ends where it begins.
fn is_closed(stops: &[Stop]) -> bool {
    stops.len() > 2 && stops.first() == stops.last()
}

/// Returns the part of the way after a part of the time, both 0 to 1: the speed grows evenly in the
/// first `ramp` of the time, and falls evenly in the last.
fn eased(part: f64, ramp: f64) -> f64 {
    let speed = 1.0 / (1.0 - ramp);
    let started = |part: f64| match part {
        part if part < ramp => speed * part * part / (2.0 * ramp),
        part => speed * (part - ramp / 2.0),
    };
    if part <= 0.5 { started(part) } else { 1.0 - started(1.0 - part) }
}

/// Returns the stop at `part` of the time, 0 to 1, on a Catmull-Rom spline through all stops (E.
/// Catmull, R. Rom, "A class of local interpolating splines", 1974). Each segment takes the same
/// time, except that the first and the last one begin and end slowly. A closed path does not.
fn between(stops: &[Stop], part: f64) -> Stop {
    let (last, is_closed) = (stops.len() - 1, is_closed(stops));
    let part = part.clamp(0.0, 1.0);
    let ramp = (0.5 / last.max(1) as f64).min(0.25);
    let at = if is_closed { part } else { eased(part, ramp) } * last as f64;
    let from = (at.floor() as usize).min(last.saturating_sub(1));
    let t = at - from as f64;
    let stop = |offset: isize| match is_closed {
        true => stops[(from + last).saturating_add_signed(offset) % last],
        false => stops[from.saturating_add_signed(offset).min(last)],
    };
    let spline = |of: fn(Stop) -> DVec3| {
        let [a, b, c, d] = [-1, 0, 1, 2].map(|offset| of(stop(offset)));
        let curve = (b - c) * 3.0 + (d - a);
        (b * 2.0 + (c - a) * t + (a * 2.0 - b * 5.0 + c * 4.0 - d) * (t * t) + curve * (t * t * t))
            * 0.5
    };
    Stop { eye: spline(|stop| stop.eye), look: spline(|stop| stop.look) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stops(text: &str) -> Vec<Stop> {
        let Ok(Route::Stops(stops)) = parse(text) else { panic!("{text}") };
        stops
    }

    #[test]
    fn a_flight_goes_through_its_stops_evenly() {
        let text = "# a path\n0,0,0 0,0,9\n10,0,0 10,5,9 # on\n\n20,10,-4 0,0,0\n";
        let stops = stops(text);
        assert_eq!(stops.len(), 3);
        for (part, stop) in [0.0, 0.5, 1.0].into_iter().zip(&stops) {
            assert!(between(&stops, part).eye.distance(stop.eye) < 1e-9);
            assert!(between(&stops, part).look.distance(stop.look) < 1e-9);
        }
        // Evenly spaced stops on a line give a straight path at constant speed, except at its ends.
        let line = self::stops("0,0,0 1,0,0\n2,0,0 3,0,0\n4,0,0 5,0,0\n6,0,0 7,0,0");
        let at = |part: f64| between(&line, part).eye.x;
        let speed = |part: f64| (at(part + 1e-4) - at(part - 1e-4)) / 2e-4;
        assert!((at(0.5) - 3.0).abs() < 1e-9);
        for part in [0.4, 0.45, 0.5, 0.6] {
            assert!((speed(part) - speed(0.5)).abs() < 1e-6, "{part}");
        }
        for end in [0.001, 0.999] {
            assert!(speed(end) < 0.05 * speed(0.5), "{end}");
        }
        // The path is continuous.
        let steps = (0..=1000).map(|n| between(&stops, f64::from(n) / 1000.0).eye);
        let steps: Vec<DVec3> = steps.collect();
        assert!(steps.windows(2).all(|pair| pair[0].distance(pair[1]) < 0.1));
        assert_eq!(between(&stops[..1], 0.7), stops[0]);
    }

    /// After the last picture of a closed path follows the first, as far away as any other, in the same
    /// direction.
    #[test]
    fn closed_paths_repeat_without_a_seam() {
        let ring = stops("0,0,0 9,9,9\n10,0,0 9,9,9\n10,0,10 9,9,9\n0,0,10 9,9,9\n0,0,0 9,9,9");
        let eyes = (0..=2000).map(|n| between(&ring, f64::from(n) / 2000.0).eye);
        let eyes: Vec<DVec3> = eyes.collect();
        assert!(eyes[0].distance(eyes[2000]) < 1e-9);
        assert!(eyes[500].distance(DVec3::new(10.0, 0.0, 0.0)) < 1e-9);
        let [before, after] = [eyes[0] - eyes[1999], eyes[1] - eyes[0]];
        assert!(before.distance(after) < 0.02 * after.length(), "{before} {after}");
        // An open path along the same stops begins at rest.
        let open = between(&ring[..4], 0.01).eye;
        assert!(open.length() < 0.2 * eyes[20].length(), "{open}");
    }

    #[test]
    fn errors_name_the_line() {
        let line = |text: &str| parse(text).map_err(|(line, _)| line);
        assert_eq!(line(""), Err(0));
        assert_eq!(line("0,0,0 1,1,1\n1,2,3"), Err(2));
        assert_eq!(line("\n\n0,0,0 x,1,1"), Err(3));
        assert_eq!(line("0,0,0 1e300,1,1"), Err(1));
    }
}
