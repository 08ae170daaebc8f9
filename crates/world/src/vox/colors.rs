use dot_vox::Color;
use drystone_voxel::{Material, MaterialTable};

/// The opacity of glass that does not say how clear it is.
const DEFAULT_GLASS_OPACITY: f32 = 0.5;
/// The least opacity of glass, of 255: clearer glass could not be seen.
const MIN_GLASS_ALPHA: u8 = 24;

/// The colours that a file's shown models use, as materials.
pub(super) struct Colors {
    table: MaterialTable,
    /// By colour as dot_vox counts: the number in the file less one.
    materials: [Material; 256],
}

impl Colors {
    pub(super) fn new(palette: &[Color], kinds: &[dot_vox::Material], used: &[bool; 256]) -> Self {
        let mut glass = [None; 256];
        for kind in kinds.iter().filter(|kind| kind.id <= 256) {
            // Materials are numbered as voxels are in the file, from 1.
            glass[(kind.id as usize + 255) % 256] = glass_alpha(kind);
        }
        let mut table = MaterialTable::new();
        let mut materials = [Material::AIR; 256];
        for (index, material) in materials.iter_mut().enumerate().filter(|&(i, _)| used[i]) {
            let color = color_at(palette, index, glass[index]);
            let translucent = if color[3] < u8::MAX { "glass" } else { "color" };
            let name = format!("{translucent} {}", index + 1);
            // There is room for 65,535 materials, of which these are at most 256.
            *material = table.insert(&name, color).unwrap_or_default();
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

/// The opacity, 0 to 255, of a material of type glass; `None` for others.
///
/// Newer files give the share of light that passes as `_trans`, older ones the opacity as
/// `_alpha`.
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
