/// Caller's data of a vertex that can be interpolated where an edge is cut.
///
/// # Examples
/// ```
/// use drystone_mesh::Interpolate;
///
/// #[derive(Clone)]
/// struct Lit { light: f32, material: u16 }
///
/// impl Interpolate for Lit {
///     fn interpolate(&self, other: &Self, t: f32) -> Self {
///         Self { light: self.light.interpolate(&other.light, t), material: self.material }
///     }
/// }
/// let lit = Lit { light: 1.0, material: 3 };
/// assert_eq!(lit.interpolate(&Lit { light: 2.0, material: 3 }, 0.25).light, 1.25);
/// ```
pub trait Interpolate: Clone {
    /// Returns the data at fraction `t` of the way from `self` (0) to `other` (1). The direction of
    /// an edge is the same for both polygons that share it.
    fn interpolate(&self, other: &Self, t: f32) -> Self;
}

impl Interpolate for () {
    fn interpolate(&self, _other: &Self, _t: f32) -> Self {}
}

impl Interpolate for f32 {
    fn interpolate(&self, other: &Self, t: f32) -> Self {
        mix(*self, *other, t.into())
    }
}

impl<const N: usize> Interpolate for [f32; N] {
    fn interpolate(&self, other: &Self, t: f32) -> Self {
        core::array::from_fn(|n| self[n].interpolate(&other[n], t))
    }
}

/// Interpolates colours and similar values, rounded to the nearest integer.
impl<const N: usize> Interpolate for [u8; N] {
    fn interpolate(&self, other: &Self, t: f32) -> Self {
        core::array::from_fn(|n| (mix(self[n].into(), other[n].into(), t.into()) + 0.5) as u8)
    }
}

/// Interpolates linearly from `a` to `b`. The result is never outside of them.
#[inline]
pub(super) fn mix(a: f32, b: f32, t: f64) -> f32 {
    let (low, high) = if a <= b { (a, b) } else { (b, a) };
    // In `f64` the difference of two `f32` does not overflow.
    let (a, b) = (f64::from(a), f64::from(b));
    ((a + (b - a) * t) as f32).max(low).min(high)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interpolated_values_stay_between_the_ends() {
        assert_eq!([0.0, 10.0].interpolate(&[4.0, 0.0], 0.25), [1.0, 7.5]);
        assert_eq!([0u8, 255].interpolate(&[255, 0], 0.5), [128, 128]);
        assert_eq!(f32::MAX.interpolate(&-f32::MAX, 0.5), 0.0);
        assert_eq!(0.1f32.interpolate(&0.1, 0.7), 0.1);
    }
}
