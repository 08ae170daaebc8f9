use std::collections::BTreeMap;
use std::fmt;

/// Kind of a feature that a file has and its model has not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WarningKind {
    /// Faces with fewer than three corners; skipped.
    TooFewCorners,
    /// Corners at the position of the previous corner; skipped.
    RepeatedCorner,
    /// Faces that visit a position twice; skipped.
    TouchesItself,
    /// Material files that cannot be read. Their materials are grey.
    MissingMaterials,
    /// File names that could lead outside the model's folder. These files are not read.
    OutsideFolder,
    /// Materials that are used but not defined. Shown grey.
    UnknownMaterial,
    /// Points, lines, curves and free-form surfaces; skipped.
    NotPolygons,
    /// Statements without a known meaning; skipped.
    UnknownStatement,
    /// Normals without a direction; skipped.
    NoDirection,
    /// Meshes with a skin. They keep their base shape.
    Skin,
    /// Meshes with morph targets. They keep their base shape.
    MorphTargets,
    /// Texture files that cannot be read. Surfaces show the colour of their material instead.
    MissingTexture,
    /// Textures that cannot be decoded, and materials whose reference to a texture is invalid.
    DamagedTexture,
    /// Textures in KTX2 or Basis Universal, which are not supported.
    Ktx2Texture,
    /// Textures in another format than PNG, JPEG and WebP. The location names it.
    UnsupportedTexture,
    /// Textures that exceed a [limit](super::ModelOptions::max_texture_bytes), not shown.
    LargeTexture,
    /// Textures that were made smaller to stay below the limit.
    ScaledTexture,
    /// Emissive textures with other texture coordinates than the base texture, not shown.
    OtherCoordinates,
}

impl WarningKind {
    /// Name for machine-readable output such as JSON.
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
            Self::MissingTexture => "missing-texture",
            Self::DamagedTexture => "damaged-texture",
            Self::Ktx2Texture => "ktx2-texture",
            Self::UnsupportedTexture => "unsupported-texture",
            Self::LargeTexture => "large-texture",
            Self::ScaledTexture => "scaled-texture",
            Self::OtherCoordinates => "other-coordinates",
        }
    }
}

/// Text for people, to follow a count.
impl fmt::Display for WarningKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooFewCorners => "faces with fewer than three corners skipped",
            Self::RepeatedCorner => "repeated corners skipped",
            Self::TouchesItself => "faces that touch themselves skipped",
            Self::MissingMaterials => "material files that cannot be read",
            Self::OutsideFolder => "file names outside the model's folder, not read",
            Self::UnknownMaterial => "undefined materials, shown in grey",
            Self::NotPolygons => "points, lines, curves or free-form surfaces skipped",
            Self::UnknownStatement => "unknown statements skipped",
            Self::NoDirection => "normals without direction skipped",
            Self::Skin => "meshes with bones, shown in their base shape",
            Self::MorphTargets => "meshes with morph targets, shown in their base shape",
            Self::MissingTexture => "textures that cannot be read",
            Self::DamagedTexture => "damaged textures, not shown",
            Self::Ktx2Texture => "textures in KTX2 or Basis Universal, not supported",
            Self::UnsupportedTexture => "textures that are not PNG, JPEG or WebP, not shown",
            Self::LargeTexture => "textures that are too large, not shown",
            Self::ScaledTexture => "textures made smaller to save memory",
            Self::OtherCoordinates => "emissive textures with coordinates of their own, not shown",
        })
    }
}

/// Number of warnings of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModelWarning {
    /// Kind of the warnings.
    pub kind: WarningKind,
    /// Number of warnings.
    pub count: u64,
    /// Location of the first warning, for example "line 12" or "mesh 3".
    pub first_location: String,
}

/// Warnings, counted by kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Warnings {
    counts: BTreeMap<WarningKind, (u64, String)>,
}

impl Warnings {
    /// Number of warnings of one kind.
    pub fn count(&self, kind: WarningKind) -> u64 {
        self.counts.get(&kind).map_or(0, |(count, _)| *count)
    }

    /// Counts of all kinds that occurred, sorted by [`WarningKind`].
    pub fn iter(&self) -> impl Iterator<Item = ModelWarning> {
        self.counts.iter().map(|(&kind, (count, location))| ModelWarning {
            kind,
            count: *count,
            first_location: location.clone(),
        })
    }

    /// Whether there are no warnings.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Counts a warning. Calls `location` for the first warning of each kind.
    pub(crate) fn add(&mut self, kind: WarningKind, location: impl FnOnce() -> String) {
        self.counts.entry(kind).or_insert_with(|| (0, location())).0 += 1;
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
            warnings.add(WarningKind::DamagedTexture, || format!("line {line}"));
        }
        warnings.add(WarningKind::TooFewCorners, || "line 8".into());
        let all: Vec<ModelWarning> = warnings.iter().collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[0].kind, all[0].count), (WarningKind::TooFewCorners, 1));
        assert_eq!((all[1].count, all[1].first_location.as_str()), (2, "line 7"));
        assert_eq!(warnings.count(WarningKind::Skin), 0);
    }
}
