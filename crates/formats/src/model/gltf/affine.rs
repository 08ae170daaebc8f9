use gltf::json::Node;

type Vector = [f64; 3];

/// Affine transform of a node, in `f64`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Affine {
    /// Images of the three axes and of the origin.
    axes: [Vector; 3],
    origin: Vector,
}

impl Affine {
    pub(super) const IDENTITY: Self =
        Self { axes: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], origin: [0.0; 3] };

    /// A node's own transform: its matrix, or scale, then rotation, then translation.
    pub(super) fn of(node: &Node) -> Self {
        if let Some(matrix) = node.matrix {
            let column = |n: usize| [0, 1, 2].map(|row| f64::from(matrix[4 * n + row]));
            return Self { axes: [0, 1, 2].map(column), origin: column(3) };
        }
        let [x, y, z, w] = node.rotation.unwrap_or_default().0.map(f64::from);
        let length = x * x + y * y + z * z + w * w;
        // A quaternion of length 0 is no rotation; others need not be normalised.
        let s = if length > 0.0 { 2.0 / length } else { 0.0 };
        let rotation = [
            [1.0 - s * (y * y + z * z), s * (x * y + w * z), s * (x * z - w * y)],
            [s * (x * y - w * z), 1.0 - s * (x * x + z * z), s * (y * z + w * x)],
            [s * (x * z + w * y), s * (y * z - w * x), 1.0 - s * (x * x + y * y)],
        ];
        let scale = node.scale.unwrap_or([1.0; 3]);
        let axes = [0, 1, 2].map(|n| rotation[n].map(|number| number * f64::from(scale[n])));
        Self { axes, origin: node.translation.unwrap_or_default().map(f64::from) }
    }

    /// The transform that applies `inner` first and then `self`.
    pub(super) fn after(&self, inner: &Self) -> Self {
        let axes = inner.axes.map(|axis| self.turned(axis));
        Self { axes, origin: self.point(inner.origin) }
    }

    pub(super) fn point(&self, at: Vector) -> Vector {
        let turned = self.turned(at);
        [0, 1, 2].map(|n| turned[n] + self.origin[n])
    }

    /// Transform for normals: they stay perpendicular to surfaces and on the same side. Does not
    /// preserve their length.
    pub(super) fn for_normals(&self) -> Self {
        let [x, y, z] = self.axes;
        let axes = [cross(y, z), cross(z, x), cross(x, y)];
        let sign = if self.is_mirror() { -1.0 } else { 1.0 };
        Self { axes: axes.map(|axis| axis.map(|number| number * sign)), origin: [0.0; 3] }
    }

    /// Whether the transform is a reflection, which inverts the winding of faces.
    pub(super) fn is_mirror(&self) -> bool {
        let [x, y, z] = self.axes;
        let cross = cross(y, z);
        (0..3).map(|n| x[n] * cross[n]).sum::<f64>() < 0.0
    }

    fn turned(&self, [x, y, z]: Vector) -> Vector {
        [0, 1, 2].map(|n| self.axes[0][n] * x + self.axes[1][n] * y + self.axes[2][n] * z)
    }
}

fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(text: &str) -> Affine {
        let text = format!(r#"{{"asset": {{"version": "2.0"}}, "nodes": [{text}]}}"#);
        Affine::of(&gltf::json::Root::from_slice(text.as_bytes()).unwrap().nodes[0])
    }

    fn assert_near(a: Vector, b: Vector) {
        assert!((0..3).all(|n| (a[n] - b[n]).abs() < 1e-6), "{a:?} {b:?}");
    }

    #[test]
    fn transforms_follow_the_format() {
        assert_eq!(node("{}"), Affine::IDENTITY);
        // A quarter turn about Z: X goes to Y.
        let turn = r#"{"scale": [2, 3, -4], "rotation": [0, 0, 0.70710678, 0.70710678],
                       "translation": [10, 0, 0]}"#;
        assert_near(node(turn).point([1.0, 1.0, 1.0]), [7.0, 2.0, -4.0]);
        assert!(node(turn).is_mirror());
        let matrix = r#"{"matrix": [0,2,0,0, -3,0,0,0, 0,0,-4,0, 10,0,0,1]}"#;
        assert_near(node(matrix).point([1.0, 1.0, 1.0]), [7.0, 2.0, -4.0]);
        let both = node(r#"{"translation": [0, 0, 5]}"#).after(&node(turn));
        assert_near(both.point([1.0, 1.0, 1.0]), [7.0, 2.0, 1.0]);
        assert_near(node(r#"{"rotation": [0, 0, 0, 0]}"#).point([1.0, 2.0, 3.0]), [1.0, 2.0, 3.0]);
    }

    #[test]
    fn normals_stay_perpendicular() {
        // The plane x + y = 0, stretched along X: its normal leans to Y.
        let stretched = node(r#"{"scale": [2, 1, 1]}"#).for_normals().point([1.0, 1.0, 0.0]);
        assert_near(stretched, [1.0, 2.0, 0.0]);
        let mirrored = node(r#"{"scale": [-2, 1, 1]}"#).for_normals().point([1.0, 1.0, 0.0]);
        assert_near(mirrored, [-1.0, 2.0, 0.0]);
    }
}
