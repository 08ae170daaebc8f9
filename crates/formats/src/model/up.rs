use std::fmt;

use super::ModelOptions;
use crate::up_axis::UpAxis;

/// Axis that points up in the file of a model, and why it is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelUp {
    /// The axis. The model itself has Y up.
    pub axis: UpAxis,
    /// Reason for the axis.
    pub reason: UpReason,
}

/// Reason for the [axis](ModelUp::axis) that points up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum UpReason {
    /// Nothing in an `.obj` file tells the axis. It is Y, as most programs write.
    #[default]
    Assumed,
    /// A comment in the first 4 KiB of an `.obj` file says so, or names a program that writes files
    /// with Z up: FreeCAD, OpenSCAD, CloudCompare or Metashape.
    Comment(&'static str),
    /// The format specifies the axis.
    Format,
    /// [`ModelOptions::up`] has it.
    Chosen,
}

/// Length of the beginning of an `.obj` file whose comments are searched, in bytes.
const SEARCHED_BYTES: usize = 4 << 10;

/// Words in comments that name the axis, in lower case, the clearest first: in "Forward: Y Up: Z", Y is
/// not up. The names of programs come last.
const MEANINGS: [(&str, UpAxis); 14] = [
    ("up: z", UpAxis::Z),
    ("up=z", UpAxis::Z),
    ("up: y", UpAxis::Y),
    ("up=y", UpAxis::Y),
    ("up z", UpAxis::Z),
    ("up y", UpAxis::Y),
    ("z-up", UpAxis::Z),
    ("y-up", UpAxis::Y),
    ("z up", UpAxis::Z),
    ("y up", UpAxis::Y),
    ("freecad", UpAxis::Z),
    ("openscad", UpAxis::Z),
    ("cloudcompare", UpAxis::Z),
    ("metashape", UpAxis::Z),
];

impl ModelUp {
    /// The axis of a format that specifies Y, unless the options have another.
    #[cfg(feature = "gltf")]
    pub(super) fn by_format(options: &ModelOptions) -> Self {
        Self::chosen(options).unwrap_or(Self { axis: UpAxis::Y, reason: UpReason::Format })
    }

    /// The axis of an `.obj` file with these bytes: that of the options, else as its comments say.
    #[cfg(feature = "obj")]
    pub(super) fn by_comments(bytes: &[u8], options: &ModelOptions) -> Self {
        Self::chosen(options).unwrap_or_else(|| {
            let start = &bytes[..bytes.len().min(SEARCHED_BYTES)];
            let comments = start.split(|byte| matches!(byte, b'\n' | b'\r'));
            let comments = comments.filter(|line| line.trim_ascii_start().starts_with(b"#"));
            let text = comments.map(String::from_utf8_lossy).collect::<Vec<_>>().join("\n");
            let text = text.to_lowercase();
            let meaning = MEANINGS.into_iter().find(|(word, _)| text.contains(word));
            meaning.map_or_else(Self::default, |(word, axis)| Self {
                axis,
                reason: UpReason::Comment(word),
            })
        })
    }

    fn chosen(options: &ModelOptions) -> Option<Self> {
        options.up.map(|axis| Self { axis, reason: UpReason::Chosen })
    }

    /// Whether the axis is a guess.
    pub const fn is_guess(&self) -> bool {
        matches!(self.reason, UpReason::Assumed | UpReason::Comment(_))
    }
}

impl fmt::Display for ModelUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, ", self.axis)?;
        match self.reason {
            UpReason::Assumed => f.write_str("assumed"),
            UpReason::Comment(word) => write!(f, "guessed from {word:?} in a comment"),
            UpReason::Format => f.write_str("by the format"),
            UpReason::Chosen => f.write_str("as requested"),
        }
    }
}

#[cfg(all(test, feature = "obj"))]
mod tests {
    use super::*;

    #[test]
    fn comments_tell_the_axis() {
        let of = |text: &str| ModelUp::by_comments(text.as_bytes(), &ModelOptions::default());
        for (text, axis, shown) in [
            ("v 0 0 0", UpAxis::Y, "y, assumed"),
            ("# Blender 4.2.0\nv 0 0 0", UpAxis::Y, "y, assumed"),
            ("g freecad\nv 0 0 0", UpAxis::Y, "y, assumed"),
            ("# FreeCAD v0.21", UpAxis::Z, "z, guessed from \"freecad\" in a comment"),
            ("v 0 0 0\r\n  # Z-up\r\n", UpAxis::Z, "z, guessed from \"z-up\" in a comment"),
            ("# Forward: Y Up: Z", UpAxis::Z, "z, guessed from \"up: z\" in a comment"),
            ("# forward -Y up Z", UpAxis::Z, "z, guessed from \"up z\" in a comment"),
            ("# OpenSCAD\n# Y up", UpAxis::Y, "y, guessed from \"y up\" in a comment"),
        ] {
            assert_eq!((of(text).axis, of(text).to_string().as_str()), (axis, shown), "{text}");
        }
        let late = format!("{}\n# FreeCAD", "v 1 2 3\n".repeat(1_000));
        assert_eq!(of(&late), ModelUp::default());
        assert_eq!(of("# \u{fffd}\u{0} FreeCAD").axis, UpAxis::Z);
        let chosen = ModelOptions::default().with_up(Some(UpAxis::Y));
        let up = ModelUp::by_comments(b"# FreeCAD", &chosen);
        assert_eq!((up.axis, up.is_guess()), (UpAxis::Y, false));
    }
}
