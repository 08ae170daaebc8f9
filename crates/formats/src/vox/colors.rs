use dot_vox::Color;
use drystone_voxel::{Material, MaterialKind, MaterialTable};

/// Opacity of glass without a transparency value.
const DEFAULT_GLASS_OPACITY: f32 = 0.5;
/// Minimum opacity of glass, of 255. Clearer glass would be invisible.
const MIN_GLASS_ALPHA: u8 = 24;

/// Colours of the visible models, as materials.
pub(super) struct Colors {
    table: MaterialTable,
    /// Materials by dot_vox colour index: the number in the file minus one.
    materials: [Material; 256],
}

impl Colors {
    pub(super) fn new(palette: &[Color], kinds: &[dot_vox::Material], used: &[bool; 256]) -> Self {
        let (mut glass, mut emissions) = ([None; 256], [0; 256]);
        for kind in kinds.iter().filter(|kind| kind.id <= 256) {
            // Material numbers are the voxels' colour numbers in the file, from 1.
            let index = (kind.id as usize + 255) % 256;
            (glass[index], emissions[index]) = (glass_alpha(kind), emission(kind));
        }
        let mut table = MaterialTable::new();
        let mut materials = [Material::AIR; 256];
        for (index, material) in materials.iter_mut().enumerate().filter(|&(i, _)| used[i]) {
            let color = color_at(palette, index, glass[index]);
            let translucent = if color[3] < u8::MAX { "glass" } else { "color" };
            let name = format!("{translucent} {}", index + 1);
            let kind = MaterialKind::new(name, color).with_emission(emissions[index]);
            // Cannot fail: a table holds 65,535 materials, and these are at most 256.
            *material = table.insert_kind(kind).unwrap_or_default();
        }
        Self { table, materials }
    }

    pub(super) fn table(&self) -> &MaterialTable {
        &self.table
    }

    pub(super) fn material(&self, color: u8) -> Material {
        self.materials[usize::from(color)]
    }
}

fn color_at(palette: &[Color], index: usize, glass: Option<u8>) -> [u8; 4] {
    let default = dot_vox::DEFAULT_PALETTE.get(index);
    let [r, g, b, a] = palette.get(index).or(default).map_or([u8::MAX; 4], Into::into);
    let alpha = if a == 0 { u8::MAX } else { a };
    [r, g, b, glass.map_or(alpha, |glass| glass.min(alpha))]
}

/// Opacity of a glass material, 0 to 255; `None` for other materials.
///
/// Newer files store the transparency as `_trans`, older files the opacity as `_alpha`.
fn glass_alpha(kind: &dot_vox::Material) -> Option<u8> {
    if !matches!(kind.material_type(), Some("_glass" | "_blend")) {
        return None;
    }
    let sane = |value: f32| Some(value).filter(|value| value.is_finite());
    let passed = kind.transparency().and_then(sane).map(|passed| 1.0 - passed);
    let opacity = passed.or_else(|| kind.opacity().and_then(sane));
    let alpha = opacity.unwrap_or(DEFAULT_GLASS_OPACITY).clamp(0.0, 1.0) * 255.0;
    Some((alpha.round() as u8).clamp(MIN_GLASS_ALPHA, u8::MAX - 1))
}

/// Emission of a material that emits light, 0 to 255; 0 for other materials.
///
/// MagicaVoxel multiplies the emission `_emit`, 0 to 1, with a power of `_flux` + 1, 1 to 5. What is
/// bright enough for white in its renderer is full emission here.
fn emission(kind: &dot_vox::Material) -> u8 {
    if kind.material_type() != Some("_emit") {
        return 0;
    }
    let sane = |value: f32| Some(value).filter(|value| value.is_finite());
    let own = kind.emission().and_then(sane).unwrap_or(1.0);
    let power = kind.radiant_flux().and_then(sane).unwrap_or(0.0).max(0.0) + 1.0;
    ((own * power).clamp(0.0, 1.0) * 255.0).round() as u8
}
