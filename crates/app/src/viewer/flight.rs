use drystone::FlightKey;
use winit::{event::MouseScrollDelta, keyboard::KeyCode};

/// Scrolled pixels of a touchpad that count as one notch of a wheel.
const NOTCH_PIXELS: f64 = 40.0;

/// Returns the flight key of a keyboard key.
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

/// Converts a wheel or touchpad movement to notches.
pub(super) fn notches(delta: MouseScrollDelta) -> f64 {
    match delta {
        MouseScrollDelta::LineDelta(_, y) => f64::from(y),
        MouseScrollDelta::PixelDelta(position) => position.y / NOTCH_PIXELS,
    }
}
