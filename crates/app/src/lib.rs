#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]
#![forbid(unsafe_code)]

mod action;
mod content;
mod flight;
mod framed;
pub mod keys;
mod orbit;
mod progress;
mod resolution;
pub mod scene;
mod session;
mod walk;

pub use action::{Action, CameraKind};
pub use content::{
    Amounts, Content, LevelsFor, LoadError, LoadOptions, LodLimits, Pace, Shown, load_world,
};
pub use flight::{Flight, FlightKey};
pub use framed::{CameraOptions, Fit, Framed, Haze, Look, ViewOptions};
pub use orbit::Orbit;
pub use progress::Progress;
pub use resolution::Resolution;
pub use scene::ViewSide;
pub use session::{
    CameraControl, ChangeTarget, Changed, CostSwitch, Costs, Editing, Message, MessageKind,
    Messages, Prepared, Session, SessionOptions, Stage,
};
pub use walk::Walk;

/// The examples of the repository's README, as doc tests.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
