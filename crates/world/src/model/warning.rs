use std::collections::BTreeMap;
use std::fmt;

/// What a file has that its model has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WarningKind {
    /// Faces of fewer than three corners, left out.
    TooFewCorners,
    /// Corners at the same place as the corner before, left out.
    RepeatedCorner,
    /// Faces that come back to a place that they had left, left out.
    TouchesItself,
    /// Files of materials that cannot be read; their materials are grey.
    MissingMaterials,
    /// Names of files that may lie outside of the model's folder: those files are not read.
    OutsideFolder,
    /// Materials that are used but not described, grey.
    UnknownMaterial,
    /// Points, lines, curves and surfaces that are no polygons, left out.
    NotPolygons,
    /// Statements that mean nothing here, left out.
    UnknownStatement,
    /// Normals without direction, left out.
    NoDirection,
    /// Meshes that bones move: they stand as they were made.
    Skin,
    /// Meshes with other shapes to take (morph targets): they have their first one.
    MorphTargets,
    /// Materials whose texture is not shown.
    Texture,
    /// Vertices or meshes whose own colours are not shown.
    VertexColors,
}

impl WarningKind {
    /// A name for programs, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::TooFewCorners => "too-few-corners",
            Self::RepeatedCorner => "repeated-corner",
            Self::TouchesItself => "touches-itself",
            Self::MissingMaterials => "missing-materials",
            Self::OutsideFolder => "outside-folder",
            Self::UnknownMaterial => "unknown-material",
            Self::NotPolygons => "not-polygons",
            Self::UnknownStatement => "unknown-statement",
            Self::NoDirection => "no-direction",
            Self::Skin => "skin",
            Self::MorphTargets => "morph-targets",
            Self::Texture => "texture",
            Self::VertexColors => "vertex-colors",
        }
    }
}

/// For people, behind a number.
impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFewCorners => "faces of fewer than three corners left out",
            Self::RepeatedCorner => "corners left out that repeat the one before",
            Self::TouchesItself => "faces left out that touch themselves",
            Self::MissingMaterials => "files of materials that cannot be read",
            Self::OutsideFolder => "names of files outside the model's folder, which were not read",
            Self::UnknownMaterial => "materials that are described nowhere, shown in grey",
            Self::NotPolygons => "points, lines, curves or free-form surfaces left out",
            Self::UnknownStatement => "statements left out that mean nothing here",
            Self::NoDirection => "normals left out that point nowhere",
            Self::Skin => "meshes with bones, which stand as they were made",
            Self::MorphTargets => "meshes with morph targets, which keep their first shape",
            Self::Texture => "materials whose texture is not shown",
            Self::VertexColors => "vertices or meshes whose own colours are not shown",
        })
    }
}

/// How often there was one kind of warning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelWarning {
    /// Which.
    pub kind: WarningKind,
    /// How often.
    pub count: u64,
    /// Where for the first time: "line 12", "mesh 3".
    pub first_place: String,
}

/// Warnings, counted by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    counts: BTreeMap<WarningKind, (u64, String)>,
}

impl Warnings {
    /// How many of one kind.
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.counts.get(&kind).map_or(0, |(count, _)| *count)
    }

    /// Each kind that there was, in the order of [`WarningKind`].
    pub fn iter(&self) -> impl Iterator<Item = ModelWarning> {
        self.counts.iter().map(|(&kind, (count, place))| ModelWarning {
            kind,
            count: *count,
            first_place: place.clone(),
        })
    }

    /// Whether there was none.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Counts one; asks for the place of the first of its kind.
    pub fn add(&mut self, kind: WarningKind, place: impl FnOnce() -> String) {
        self.counts.entry(kind).or_insert_with(|| (0, place())).0 += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_counted_by_kind() {
        let mut warnings = Warnings::default();
        assert!(warnings.is_empty());
        for line in [7, 9] {
            warnings.add(WarningKind::Texture, || format!("line {line}"));
        }
        warnings.add(WarningKind::TooFewCorners, || "line 8".into());
        let all: Vec<ModelWarning> = warnings.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].kind, all[0].count), (WarningKind::TooFewCorners, 1));
        assert_eq!((all[1].count, all[1].first_place.as_str()), (2, "line 7"));
        assert_eq!(warnings.count(WarningKind::Skin), 0);
    }
}
