use drystone::FlightKey;
use winit::{event::MouseScrollDelta, keyboard::KeyCode};

/// Pixels that a touchpad scrolls for a notch of a wheel.
const NOTCH_PIXELS: f64 = 40.0;

/// What a key of the keyboard does in flight, if anything.
pub(super) const fn flight_key(code: KeyCode) -> Option<FlightKey> {
    Some(match code {
        KeyCode::KeyW => FlightKey::Forward,
        KeyCode::KeyS => FlightKey::Back,
        KeyCode::KeyA => FlightKey::Left,
        KeyCode::KeyD => FlightKey::Right,
        KeyCode::Space => FlightKey::Up,
        KeyCode::KeyQ => FlightKey::Down,
        KeyCode::ArrowLeft => FlightKey::TurnLeft,
        KeyCode::ArrowRight => FlightKey::TurnRight,
        KeyCode::ArrowUp => FlightKey::TurnUp,
        KeyCode::ArrowDown => FlightKey::TurnDown,
        KeyCode::ShiftLeft => FlightKey::FastLeft,
        KeyCode::ShiftRight => FlightKey::FastRight,
        _ => return None,
    })
}

/// Notches of a wheel, or as many as a touchpad means.
pub(super) fn notches(delta: MouseScrollDelta) -> f64 {
    match delta {
        MouseScrollDelta::LineDelta(_, y) => f64::from(y),
        MouseScrollDelta::PixelDelta(position) => position.y / NOTCH_PIXELS,
    }
}
