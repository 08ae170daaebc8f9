use alloc::collections::BTreeMap;

use super::{PolygonStore, VertexLists};

impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Verifies all invariants, for tests. In particular, the owners of every vertex are the
    /// polygons that list it, and those of every coordinate the vertices that use it.
    ///
    /// # Errors
    /// The invariant that is violated.
    pub fn check(&self) -> Result<(), &'static str> {
        self.polygons.check()?;
        let mut used = BTreeMap::<u32, u32>::new();
        let mut corners = 0;
        for (_, polygon) in self.polygons.iter() {
            let list = self.lists.get(&polygon.list);
            if list.len() < 3 {
                return Err("a polygon has fewer than three corners");
            }
            corners += list.len() as u64;
            for &vertex in list {
                self.vertices.surface(vertex).ok_or("a polygon lists an index without a vertex")?;
                *used.entry(vertex).or_default() += 1;
            }
        }
        if corners != self.corner_count {
            return Err("the number of corners is wrong");
        }
        self.vertices.check(|vertex| used.get(&vertex).copied().unwrap_or(0))
    }
}
