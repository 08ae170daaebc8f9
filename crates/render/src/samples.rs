//! Number and positions of the samples in a pixel.

use std::{fmt, str::FromStr};

/// Number of samples in each pixel of a picture. A pixel's colour is the mean of its samples, which
/// makes edges smooth.
///
/// Coverage and depth are decided for each sample; the colour of a triangle is computed once for
/// each pixel. Samples lie at the standard positions of Vulkan and Direct3D.
///
/// # Examples
/// ```
/// use drystone_render::{Output, Samples, SoftDevice};
///
/// let mut device = SoftDevice::new(64, 48)?;
/// device.set_samples("4".parse()?)?;
/// assert_eq!(device.info().samples, Samples::Four);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Samples {
    /// One sample, at the pixel's centre.
    #[default]
    One,
    /// Four samples.
    Four,
    /// Eight samples.
    Eight,
}

impl Samples {
    /// All numbers of samples, fewest first.
    pub const ALL: [Self; 3] = [Self::One, Self::Four, Self::Eight];

    /// Returns the number of samples.
    pub const fn count(self) -> u32 {
        match self {
            Self::One => 1,
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// Returns the largest number of samples that is not above this one and is accepted by
    /// `is_offered`. One sample needs no acceptance.
    #[cfg(any(feature = "wgpu", feature = "gl"))]
    pub(crate) fn lowered(self, is_offered: impl Fn(u32) -> bool) -> Self {
        let mut lower = Self::ALL.into_iter().rev().filter(|it| *it <= self);
        lower.find(|it| is_offered(it.count())).unwrap_or_default()
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.count().fmt(f)
    }
}

/// Error for a number of samples other than 1, 4 and 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a pixel has 1, 4 or 8 samples")]
pub struct UnknownSamples;

impl FromStr for Samples {
    type Err = UnknownSamples;

    fn from_str(text: &str) -> Result<Self, UnknownSamples> {
        match text {
            "1" => Ok(Self::One),
            "4" => Ok(Self::Four),
            "8" => Ok(Self::Eight),
            _ => Err(UnknownSamples),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_samples_are_parsed_or_refused() {
        for samples in Samples::ALL {
            assert_eq!(samples.to_string().parse(), Ok(samples));
        }
        for wrong in ["", "0", "2", "3", "16", "-4", "4x", "four"] {
            assert_eq!(wrong.parse::<Samples>(), Err(UnknownSamples), "{wrong}");
        }
    }

    #[cfg(any(feature = "wgpu", feature = "gl"))]
    #[test]
    fn a_request_is_lowered_to_what_is_offered() {
        let lowered = |from: Samples, offered: &[u32]| from.lowered(|n| offered.contains(&n));
        assert_eq!(lowered(Samples::Eight, &[1, 2, 4]), Samples::Four);
        assert_eq!(lowered(Samples::Eight, &[1, 2, 4, 8]), Samples::Eight);
        assert_eq!(lowered(Samples::Four, &[1, 2, 8]), Samples::One);
        assert_eq!(lowered(Samples::One, &[]), Samples::One);
    }
}
