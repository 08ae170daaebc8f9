use std::fmt;

/// File formats that this project reads. [`Format::of`] recognises them.
///
/// A format consists of its own module, its lines in this enum, and its section in the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// MagicaVoxel `.vox`: [`VoxFile`](crate::VoxFile).
    MagicaVoxel,
    /// Qubicle Binary `.qb`: [`QbFile`](crate::QbFile).
    Qubicle,
    /// A region file, or a folder with regions: [`MinecraftWorld`](crate::MinecraftWorld).
    Minecraft,
    /// Heights as PNG, GeoTIFF or SRTM tile: [`HeightMap`](crate::HeightMap).
    HeightMap,
    /// A world in this project's own format: `StoredWorld` in `drystone-store`.
    Stored,
    /// A world in one file for reading in ranges: `PackedWorld` in `drystone-store`.
    Packed,
    /// Wavefront OBJ or glTF: [`Model`](crate::Model).
    Model,
}

impl Format {
    /// Every format.
    pub const ALL: [Self; 7] = [
        Self::MagicaVoxel,
        Self::Qubicle,
        Self::Minecraft,
        Self::HeightMap,
        Self::Stored,
        Self::Packed,
        Self::Model,
    ];

    /// The first bytes of every stored world.
    pub const STORED_SIGNATURE: [u8; 4] = *b"redb";

    /// The first bytes of every packed world.
    pub const PACKED_SIGNATURE: [u8; 8] = *b"\x89DSW\r\n\x1a\n";

    /// Whether this build reads files of the format: whether one of its features is enabled.
    /// `drystone-store` reads stored and packed worlds.
    pub const fn is_enabled(self) -> bool {
        match self {
            Self::MagicaVoxel => cfg!(feature = "vox"),
            Self::Qubicle => cfg!(feature = "qb"),
            Self::Minecraft => cfg!(feature = "minecraft"),
            Self::HeightMap => cfg!(feature = "height-map"),
            Self::Stored | Self::Packed => true,
            Self::Model => cfg!(any(feature = "gltf", feature = "obj")),
        }
    }

    /// Name and extensions that this build reads, in the plural, for messages.
    pub const fn description(self) -> &'static str {
        match self {
            Self::MagicaVoxel => "MagicaVoxel files (.vox)",
            Self::Qubicle => "Qubicle files (.qb)",
            Self::Minecraft => "Minecraft Java worlds (.mca, save folders)",
            Self::HeightMap => match (cfg!(feature = "png"), cfg!(feature = "tiff")) {
                (true, true) => "height maps (.png, .tif, .hgt)",
                (true, false) => "height maps (.png, .hgt)",
                (false, true) => "height maps (.tif, .hgt)",
                (false, false) => "height maps (.hgt)",
            },
            Self::Stored => "stored worlds (.drystone)",
            Self::Packed => "packed worlds (.dsw)",
            Self::Model => match (cfg!(feature = "obj"), cfg!(feature = "gltf")) {
                (true, false) => "polygon models (.obj)",
                (false, true) => "polygon models (.gltf, .glb)",
                _ => "polygon models (.obj, .gltf, .glb)",
            },
        }
    }
}

/// All enabled formats, as messages list them.
pub(crate) struct SupportedFormats;

impl fmt::Display for SupportedFormats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let enabled = Format::ALL.into_iter().filter(|format| format.is_enabled());
        for (index, format) in enabled.enumerate() {
            f.write_str(if index > 0 { ", " } else { "" })?;
            f.write_str(format.description())?;
        }
        Ok(())
    }
}
