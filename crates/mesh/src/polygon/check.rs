use alloc::collections::BTreeMap;

use super::{PolygonStore, VertexLists};

impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Walks the whole store and says what is wrong with it, for tests: every vertex is
    /// counted by as many polygons as list it, every coordinate by as many vertices.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.polygons.check()?;
        let mut used = BTreeMap::<u32, u32>::new();
        let mut corners = 0;
        for (_, polygon) in self.polygons.iter() {
            let list = self.lists.get(&polygon.list);
            if list.len() < 3 {
                return Err("a polygon has less than three corners");
            }
            corners += list.len() as u64;
            for &vertex in list {
                self.vertices.surface(vertex).ok_or("a polygon lists what is no vertex")?;
                *used.entry(vertex).or_default() += 1;
            }
        }
        if corners != self.corner_count {
            return Err("the number of corners is wrong");
        }
        self.vertices.check(|vertex| used.get(&vertex).copied().unwrap_or(0))
    }
}
