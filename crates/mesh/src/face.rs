/// Axis-aligned face direction, in the fixed order −X −Y −Z +X +Y +Z.
///
/// In this order, the face directions that a camera sees are adjacent as often as possible. From
/// outside a box, the three visible ones form 1.75 runs on average, instead of 2.5 for an order of
/// ± pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize))]
#[repr(u8)]
pub enum Face {
    /// Direction −X.
    NegX,
    /// Direction −Y (down).
    NegY,
    /// Direction −Z.
    NegZ,
    /// Direction +X.
    PosX,
    /// Direction +Y (up).
    PosY,
    /// Direction +Z.
    PosZ,
}

impl Face {
    /// Number of face directions.
    pub const COUNT: usize = 6;

    /// All face directions in their order.
    pub const ALL: [Self; Self::COUNT] =
        [Self::NegX, Self::NegY, Self::NegZ, Self::PosX, Self::PosY, Self::PosZ];

    /// Index in [`Face::ALL`].
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the face direction at an index of [`Face::ALL`], or `None` from 6 on.
    #[inline]
    pub const fn from_index(index: usize) -> Option<Self> {
        if index < Self::COUNT { Some(Self::ALL[index]) } else { None }
    }

    /// Axis of the face direction: 0 for X, 1 for Y, 2 for Z.
    #[inline]
    pub const fn axis(self) -> usize {
        self as usize % 3
    }

    /// Returns the two axes that span the face, so that `u × v` points along the positive axis. The
    /// width of a [`Quad`](crate::Quad) runs along the first, its height along the second.
    #[inline]
    pub const fn span_axes(self) -> [usize; 2] {
        [(self.axis() + 1) % 3, (self.axis() + 2) % 3]
    }

    /// Whether the face direction is positive along its axis.
    #[inline]
    pub const fn is_positive(self) -> bool {
        self as usize >= 3
    }

    /// Returns the opposite face direction.
    #[inline]
    pub const fn opposite(self) -> Self {
        Self::ALL[(self as usize + 3) % Self::COUNT]
    }

    /// Returns the outward unit normal.
    #[inline]
    pub const fn normal(self) -> [i32; 3] {
        let mut normal = [0; 3];
        normal[self.axis()] = if self.is_positive() { 1 } else { -1 };
        normal
    }
}

/// Set of face directions, one bit each: bit `n` for `Face::ALL[n]`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FaceSet(u8);

impl FaceSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);
    /// The set of all six face directions.
    pub const ALL: Self = Self(0x3f);

    /// Whether `face` is in the set.
    #[inline]
    pub const fn contains(self, face: Face) -> bool {
        self.0 >> face as u8 & 1 != 0
    }

    /// Returns the set with `face` added.
    #[inline]
    #[must_use]
    pub const fn with(self, face: Face) -> Self {
        Self(self.0 | 1 << face as u8)
    }

    /// Returns the union of both sets.
    #[inline]
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the face directions that are not in `other`.
    #[inline]
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the face directions that are visible from `point` for some face in the box `min` to
    /// `max`. All others point away from it.
    ///
    /// If the parts of a mesh in a vertex pool are its face directions, these are the parts to draw:
    /// `PartSet::from_bits(faces.bits())` in a mask.
    ///
    /// # Examples
    /// ```
    /// use drystone_mesh::{Face, FaceSet};
    ///
    /// let camera = [-9.0, 40.0, 16.0];
    /// let faces = FaceSet::visible_from(camera, [0.0; 3], [32.0; 3]);
    /// // The camera is between the planes of −Z and +Z, so that it can see faces of both.
    /// let expected = [Face::NegX, Face::PosY, Face::NegZ, Face::PosZ];
    /// assert_eq!(faces, FaceSet::from_iter(expected));
    /// ```
    pub fn visible_from(point: [f32; 3], min: [f32; 3], max: [f32; 3]) -> Self {
        let may_be_visible = |face: &Face| {
            let axis = face.axis();
            if face.is_positive() { point[axis] > min[axis] } else { point[axis] < max[axis] }
        };
        Face::ALL.into_iter().filter(may_be_visible).collect()
    }

    /// Returns the set of these bits. Bits beyond the sixth are ignored.
    #[inline]
    pub const fn from_bits(bits: u8) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the bits of the set.
    #[inline]
    pub const fn bits(self) -> u8 {
        self.0
    }
}

impl FromIterator<Face> for FaceSet {
    fn from_iter<I: IntoIterator<Item = Face>>(faces: I) -> Self {
        faces.into_iter().fold(Self::EMPTY, Self::with)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "serde")]
    #[test]
    fn face_directions_survive_json() {
        use drystone_testing::{from_json, json_of};

        let texts = Face::ALL.map(|face| json_of(&face));
        let names = ["NegX", "NegY", "NegZ", "PosX", "PosY", "PosZ"];
        assert_eq!(texts, names.map(|name| alloc::format!("\"{name}\"")));
        assert!(from_json::<Face>("\"Up\"").is_err());
    }

    #[test]
    fn union_and_difference_of_sets() {
        let [a, b] = [0b10_1101, 0b01_1001].map(FaceSet::from_bits);
        assert_eq!(a.union(b).bits(), 0b11_1101);
        assert_eq!(a.without(b).bits(), 0b10_0100);
    }

    /// A face can be seen from points in front of its plane.
    #[test]
    fn a_face_direction_is_visible_in_front_of_one_of_its_planes() {
        let (min, max) = ([2_i32, -5, 7], [6_i32, -1, 11]);
        for index in 0..20_i32.pow(3) {
            let point = [index % 20 - 6, index / 20 % 20 - 13, index / 400 - 1];
            let [at, low, high] = [point, min, max].map(|it| it.map(|c| c as f32));
            let faces = FaceSet::visible_from(at, low, high);
            for face in Face::ALL {
                let (axis, normal) = (face.axis(), face.normal());
                let in_front = |plane: i32| (point[axis] - plane) * normal[axis] > 0;
                let is_visible = (min[axis]..=max[axis]).any(in_front);
                assert_eq!(faces.contains(face), is_visible, "{face:?} from {point:?}");
            }
        }
    }

    #[test]
    fn order_axes_and_opposites_agree() {
        for (i, face) in Face::ALL.into_iter().enumerate() {
            assert_eq!(face.index(), i);
            assert_eq!(Face::from_index(i), Some(face));
            assert_eq!(face.opposite().opposite(), face);
            assert_eq!(face.opposite().axis(), face.axis());
            assert_ne!(face.opposite().is_positive(), face.is_positive());
            let sum: i32 = face.normal().iter().sum();
            assert_eq!(sum, if face.is_positive() { 1 } else { -1 });
        }
        assert_eq!(Face::from_index(6), None);
    }

    #[test]
    fn span_axes_are_right_handed() {
        for face in Face::ALL {
            let [u, v] = face.span_axes();
            assert_eq!([(u + 1) % 3, (v + 1) % 3], [v, face.axis()]);
        }
    }

    #[test]
    fn a_set_contains_the_added_faces() {
        let set = FaceSet::EMPTY.with(Face::NegX).with(Face::PosZ);
        assert_eq!(set.bits(), 0b10_0001);
        assert!(set.contains(Face::PosZ) && !set.contains(Face::PosX));
        assert_eq!(FaceSet::from_iter(Face::ALL), FaceSet::ALL);
        assert_eq!(FaceSet::from_bits(0xff), FaceSet::ALL);
    }
}
