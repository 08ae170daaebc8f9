use drystone_mesh::{PolygonHandle, PolygonStats, PolygonStore};

mod bounds;
mod vertex;
mod warning;

pub use bounds::ModelBounds;
pub use vertex::ModelVertex;
pub use warning::{ModelWarning, WarningKind, Warnings};

/// A model of polygons: what an `.obj`, `.gltf` or `.glb` file holds.
///
/// ```text
///  parts ──► polygons ──► vertices ──► coordinates      each kept once, counted
///    └► materials         uv, normal   position
/// ```
/// Y is up and coordinates are right-handed; a front face is seen counter-clockwise. The
/// unit is the file's, and numbers are `f32`, in the model's own space.
///
/// The model is the one owner of each polygon. Whoever removes some takes them out of their
/// part too; temporaries ([`PolygonStore::clip`]) are in no part.
#[derive(Debug, Default)]
pub struct Model {
    /// A name to show: the file's.
    pub name: String,
    /// The polygons of all parts.
    pub polygons: PolygonStore<ModelVertex>,
    /// What belongs together: polygons of one name and one material.
    pub parts: Vec<ModelPart>,
    /// The materials that parts number.
    pub materials: Vec<ModelMaterial>,
    /// What the file has and the model has not.
    pub warnings: Warnings,
}

/// Polygons of one name and one material.
#[derive(Clone, Debug, Default)]
pub struct ModelPart {
    /// The object and group of an `.obj`, the node of a glTF file; may be empty. Names
    /// longer than 255 bytes are cut.
    pub name: String,
    /// Which of the model's materials.
    pub material: usize,
    /// In the order of the file.
    pub polygons: Vec<PolygonHandle>,
}

/// What polygons are made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelMaterial {
    /// Its name in the file; may be empty. Names longer than 255 bytes are cut.
    pub name: String,
    /// Red, green, blue and opacity, as shown on screen.
    pub color: [u8; 4],
}

impl ModelMaterial {
    /// What polygons have that name no material: light grey.
    pub const DEFAULT_COLOR: [u8; 4] = [204, 204, 204, 255];
}

impl Model {
    /// How many triangles the parts' polygons are cut into when they are drawn: two less
    /// than corners each.
    ///
    /// # Cost
    /// O(1). It counts temporaries of the store as well.
    pub fn triangle_count(&self) -> u64 {
        let PolygonStats { corners, polygons, .. } = self.polygons.stats();
        corners.saturating_sub(2 * u64::from(polygons))
    }

    /// Bytes of polygons, vertices and coordinates as they are, divided by the bytes that
    /// they would take if each corner had a vertex and a coordinate of its own
    /// ([`PolygonStats::bytes`], [`PolygonStats::unshared_bytes`]): 1 where nothing is
    /// shared, about a third for a closed surface of quads. 1 for an empty model.
    ///
    /// # Cost
    /// O(1).
    pub fn sharing_ratio(&self) -> f64 {
        let PolygonStats { bytes, unshared_bytes, .. } = self.polygons.stats();
        if unshared_bytes == 0 { 1.0 } else { bytes as f64 / unshared_bytes as f64 }
    }

    /// The smallest box, parallel to the axes, around the parts' polygons; `None` where
    /// there are none.
    ///
    /// # Cost
    /// O(corners).
    pub fn bounds(&self) -> Option<ModelBounds> {
        let polygons = self.parts.iter().flat_map(|part| &part.polygons);
        let corners = polygons.filter_map(|&polygon| self.polygons.corners(polygon).ok()).flatten();
        ModelBounds::around(corners.map(|corner| corner.position()))
    }
}

#[cfg(test)]
mod tests {
    use drystone_mesh::Corner;

    use super::*;

    #[test]
    fn figures_of_a_model_made_by_hand() {
        let mut model = Model::default();
        assert_eq!((model.triangle_count(), model.sharing_ratio()), (0, 1.0));
        assert_eq!(model.bounds(), None);
        let data = ModelVertex::default();
        let corners = [[0.0, 0.0, 5.0], [2.0, 0.0, 5.0], [2.0, 3.0, 5.0], [0.0, 3.0, -5.0]]
            .map(|position| Corner::New { position, uv: [0.0; 2], data });
        let quad = model.polygons.insert(&corners).unwrap();
        model.parts.push(ModelPart { polygons: vec![quad], ..ModelPart::default() });
        assert_eq!((model.triangle_count(), model.sharing_ratio()), (2, 1.0));
        let bounds = model.bounds().unwrap();
        assert_eq!((bounds.min, bounds.max), ([0.0, 0.0, -5.0], [2.0, 3.0, 5.0]));
    }
}
