use std::time::Duration;

use web_time::Instant;

use crate::scene::Size;

/// Chooses the size of pictures that the CPU draws. Pictures that move are drawn at a lower resolution,
/// so that there are about 20 of them a second. The full size follows 0.2 s after the last movement.
///
/// # Examples
/// ```
/// use std::time::{Duration, Instant};
///
/// use drystone::{Resolution, scene::Size};
///
/// let (full, now) = (Size { width: 800, height: 600 }, Instant::now());
/// let mut resolution = Resolution::default();
/// assert_eq!(resolution.moving(full, now), full);
/// resolution.drawn(Duration::from_millis(160));
/// // A quarter of the pixels take a quarter of the time.
/// assert_eq!(resolution.moving(full, now), Size { width: 400, height: 300 });
/// assert_eq!(resolution.still(full, now), None);
/// assert_eq!(resolution.still(full, now + Duration::from_millis(200)), Some(full));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Resolution {
    /// Steps below the full size.
    step: u8,
    /// Time of the last moving picture.
    moved_at: Option<Instant>,
    /// Whether the last picture was moving.
    is_moving: bool,
    /// Whether the last picture had the full size.
    is_full: bool,
}

/// Steps that halve width and height. One step divides the number of pixels by √2.
const STEPS_PER_HALF: f64 = 4.0;
/// Largest step: a quarter of the full width and height.
const MAX_STEP: u8 = 8;
/// Maximum time of a moving picture. A 20th of a second has 10 ms left for meshes and the browser.
const MAX_TIME: Duration = Duration::from_millis(40);
/// A picture that takes less time is followed by one that is a step larger. A step takes √2 times as
/// long at most, so the size does not go back and forth.
const MIN_TIME: Duration = Duration::from_millis(20);
/// Time without movement until a picture of the full size.
const STILL_AFTER: Duration = Duration::from_millis(200);

impl Resolution {
    /// Returns the size of a picture that differs from the last one, or soon will.
    pub fn moving(&mut self, full: Size, now: Instant) -> Size {
        let size = reduced(full, self.step);
        (self.moved_at, self.is_moving, self.is_full) = (Some(now), true, size == full);
        size
    }

    /// Returns the size of a picture that does not move; `None` while the last movement is too recent for
    /// a picture of the full size.
    pub fn still(&mut self, full: Size, now: Instant) -> Option<Size> {
        self.is_moving = false;
        let is_recent = |at| now.saturating_duration_since(at) < STILL_AFTER;
        if !self.is_full && self.moved_at.is_some_and(is_recent) {
            return None;
        }
        self.is_full = true;
        Some(full)
    }

    /// Records the time that the picture took, which determines the size of the next moving one.
    pub fn drawn(&mut self, time: Duration) {
        if !self.is_moving {
            return;
        }
        if time > MAX_TIME {
            let pixels = time.as_secs_f64() / MAX_TIME.as_secs_f64();
            let steps =
                (pixels.log2() * STEPS_PER_HALF / 2.0).ceil().min(f64::from(MAX_STEP)) as u8;
            self.step = self.step.saturating_add(steps).min(MAX_STEP);
        } else if time < MIN_TIME {
            self.step = self.step.saturating_sub(1);
        }
    }

    /// Whether a picture of the full size is due later.
    pub const fn is_reduced(&self) -> bool {
        !self.is_full
    }
}

/// Returns a size some steps below the full size.
fn reduced(full: Size, step: u8) -> Size {
    let scale = (-f64::from(step) / STEPS_PER_HALF).exp2();
    let side = |full: u32| ((f64::from(full) * scale).round() as u32).max(1);
    Size { width: side(full.width), height: side(full.height) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: Size = Size { width: 1280, height: 720 };

    /// Draws moving pictures until the size no longer changes. `time` returns the milliseconds of a
    /// picture of this number of pixels.
    fn settled(time: impl Fn(f64) -> f64) -> (Size, f64) {
        let (mut resolution, now) = (Resolution::default(), Instant::now());
        let mut last = None;
        for _ in 0..64 {
            let size = resolution.moving(FULL, now);
            let ms = time(f64::from(size.width) * f64::from(size.height));
            resolution.drawn(Duration::from_secs_f64(ms / 1e3));
            last = Some((size, ms));
        }
        let (size, ms) = last.unwrap();
        assert_eq!(resolution.moving(FULL, now), size, "the size changes back and forth");
        (size, ms)
    }

    #[test]
    fn moving_pictures_hold_20_a_second_on_slow_and_fast_machines() {
        for full_ms in [5.0, 30.0, 60.0, 100.0, 300.0, 500.0] {
            let (size, ms) = settled(|pixels| full_ms * pixels / (1280.0 * 720.0));
            assert!(ms <= 40.0, "{full_ms} ms: {ms} ms at {size:?}");
            // Not smaller than necessary.
            assert!(size == FULL || ms >= 20.0, "{full_ms} ms: {ms} ms at {size:?}");
        }
    }

    #[test]
    fn a_picture_is_never_smaller_than_a_sixteenth() {
        let (size, _) = settled(|_| 10_000.0);
        assert_eq!(size, Size { width: 320, height: 180 });
    }

    #[test]
    fn a_machine_that_becomes_fast_draws_larger_pictures() {
        let (mut resolution, now) = (Resolution::default(), Instant::now());
        resolution.moving(FULL, now);
        resolution.drawn(Duration::from_secs(1));
        for _ in 0..8 {
            assert_ne!(resolution.moving(FULL, now), FULL);
            resolution.drawn(Duration::from_millis(1));
        }
        assert_eq!(resolution.moving(FULL, now), FULL);
    }

    #[test]
    fn the_full_size_follows_once_after_a_movement() {
        let (mut resolution, now) = (Resolution::default(), Instant::now());
        let at = |ms| now + Duration::from_millis(ms);
        resolution.moving(FULL, at(0));
        resolution.drawn(Duration::from_millis(90));
        assert!(resolution.moving(FULL, at(100)) != FULL && resolution.is_reduced());
        assert_eq!(resolution.still(FULL, at(299)), None);
        assert!(resolution.is_reduced());
        assert_eq!(resolution.still(FULL, at(300)), Some(FULL));
        assert!(!resolution.is_reduced());
        // The time of a still picture does not count.
        resolution.drawn(Duration::from_secs(9));
        // A change without movement is shown at once.
        assert_eq!(resolution.still(FULL, at(301)), Some(FULL));
        assert_eq!(resolution.moving(FULL, at(400)), reduced(FULL, 3));
    }

    #[test]
    fn the_smallest_picture_has_a_pixel() {
        let tiny = Size { width: 1, height: 2 };
        assert_eq!(reduced(tiny, MAX_STEP), Size { width: 1, height: 1 });
    }
}
