//! Random numbers and random programs for the tests of all crates. Only tests depend on this crate.
//!
//! Every test run uses the same numbers, unless the variable [`SEED_VARIABLE`] is set. `make soak`
//! sets it, together with the seed of the property tests, for each of its rounds.
//!
//! # Examples
//! ```
//! use drystone_testing::Random;
//!
//! let (mut first, mut second) = (Random::new(7), Random::new(7));
//! let rolls: Vec<u32> = (0..100).map(|_| first.below(6)).collect();
//! assert!(rolls.iter().all(|&roll| roll < 6 && roll == second.below(6)));
//! ```
//!
//! # Limits
//! The numbers are for tests only: each can be computed from the previous one.
#![forbid(unsafe_code)]

mod bytes;
pub mod http;
pub mod objects;

use std::sync::LazyLock;

use serde::{Serialize, de::DeserializeOwned};

pub use bytes::Bytes;

/// Name of the environment variable that changes the seed of every [`Random`].
pub const SEED_VARIABLE: &str = "DRYSTONE_SEED";

static ROUND_SEED: LazyLock<u64> = LazyLock::new(|| round_seed(std::env::var(SEED_VARIABLE).ok()));

/// Parses the value of [`SEED_VARIABLE`]; zero if the variable is not set.
///
/// # Panics
/// If the value is not a number, because tests with a mistyped seed would repeat the default ones.
fn round_seed(value: Option<String>) -> u64 {
    value.map_or(0, |value| match value.parse() {
        Ok(seed) => seed,
        Err(_) => panic!("{SEED_VARIABLE}={value}: not a number from 0 to {}", u64::MAX),
    })
}

/// Writes a value as JSON and reads it back. Returns the text.
///
/// # Panics
/// If the value cannot be written, or the value that is read differs.
pub fn json_of<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let text = match serde_json::to_string(value) {
        Ok(text) => text,
        Err(error) => panic!("{value:?}: {error}"),
    };
    match serde_json::from_str::<T>(&text) {
        Ok(read) => assert_eq!(read, *value, "{text}"),
        Err(error) => panic!("{text}: {error}"),
    }
    text
}

/// Reads a value from JSON. Returns the error's text.
pub fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

/// Random number generator: SplitMix64 by Steele, Lea and Flood.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed. In one test run, equal seeds yield equal numbers.
    pub fn new(seed: u64) -> Self {
        // Multiplied, so that round 1 of seed 2 differs from round 2 of seed 1.
        Self(seed ^ ROUND_SEED.wrapping_mul(0xd6e8_feb8_6659_fd93))
    }

    /// Returns the next 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// Returns a number from zero up to, but not including, `end`; zero if `end` is zero.
    ///
    /// # Panics
    /// If `end` is negative.
    pub fn below<T: Whole>(&mut self, end: T) -> T {
        T::scaled(self.bits(), end)
    }

    /// Returns a number from 0 up to, but not including, 1.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Integer types that [`Random::below`] supports.
pub trait Whole: Copy {
    /// Scales 64 random bits to the numbers from zero up to, but not including, `end`.
    fn scaled(bits: u64, end: Self) -> Self;
}

macro_rules! whole {
    ($($number:ty),*) => {$(
        impl Whole for $number {
            fn scaled(bits: u64, end: Self) -> Self {
                let end = u128::try_from(end).expect("an end that is not negative");
                ((u128::from(bits) * end) >> 64) as Self
            }
        }
    )*};
}

// `i32` is the type of a literal without a suffix.
whole!(u8, u16, u32, u64, usize, i32);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, RngSeed, TestRunner};

    use super::*;

    #[test]
    fn numbers_are_below_their_end_and_cover_the_range() {
        let mut random = Random::new(1);
        let mut counts = [0; 7];
        for _ in 0..7_000 {
            counts[random.below(7_usize)] += 1;
            assert!((0.0..1.0).contains(&random.unit()));
        }
        assert!(counts.iter().all(|count| (800..1_200).contains(count)), "{counts:?}");
        assert_eq!((random.below(0_u32), random.below(1_u64)), (0, 0));
        assert!((0..100).any(|_| random.below(u64::MAX) > 1 << 63));
    }

    #[test]
    fn a_seed_yields_the_published_numbers() {
        // The first numbers of SplitMix64 from 1234567, from the Rosetta Code page on it.
        let mut random = Random(1_234_567);
        assert_eq!(random.bits(), 6_457_827_717_110_365_317);
        assert_eq!(random.bits(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn seeds_of_rounds_are_numbers() {
        assert_eq!((round_seed(None), round_seed(Some("21".into()))), (0, 21));
        assert!(std::panic::catch_unwind(|| round_seed(Some("x".into()))).is_err());
    }

    /// Fails without the seed in `.cargo/config.toml`.
    #[test]
    fn property_tests_repeat_their_cases() {
        let seed = Config::default().rng_seed;
        assert!(
            matches!(seed, RngSeed::Fixed(_)),
            "start the tests with cargo, in this repository"
        );
        let cases = || -> Vec<u64> {
            let mut runner = TestRunner::new(Config::default());
            let case = |_| any::<u64>().new_tree(&mut runner).unwrap().current();
            (0..64).map(case).collect()
        };
        assert_eq!(cases(), cases());
    }
}
