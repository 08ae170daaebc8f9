use alloc::vec;

use super::{PolygonStore, VertexLists};

impl<T, L: VertexLists> PolygonStore<T, L> {
    /// Walks the whole store and says what is wrong with it, for tests: every vertex is
    /// counted by as many polygons as list it, every coordinate by as many vertices.
    ///
    /// # Errors
    /// The invariant that does not hold.
    pub fn check(&self) -> Result<(), &'static str> {
        self.polygons.check()?;
        self.vertices.check()?;
        self.coordinates.check()?;
        let mut users = vec![0u32; self.vertices.end() as usize];
        let mut corners = 0;
        for (_, polygon) in self.polygons.iter() {
            let list = self.lists.get(&polygon.list);
            if list.len() < 3 {
                return Err("a polygon has less than three corners");
            }
            corners += list.len() as u64;
            for &vertex in list {
                *users.get_mut(vertex as usize).ok_or("a polygon lists what is no vertex")? += 1;
            }
        }
        if corners != self.corner_count {
            return Err("the number of corners is wrong");
        }
        let counted = |index: u32| self.vertices.owners_at(index);
        if (0..).zip(&users).any(|(index, &users)| counted(index) != users) {
            return Err("a vertex is not counted as often as polygons list it");
        }
        let mut users = vec![0u32; self.coordinates.end() as usize];
        for (_, vertex) in self.vertices.iter() {
            let users = users.get_mut(vertex.coordinate as usize);
            *users.ok_or("a vertex is at what is no coordinate")? += 1;
        }
        let counted = |index: u32| self.coordinates.owners_at(index);
        match (0..).zip(&users).any(|(index, &users)| counted(index) != users) {
            true => Err("a coordinate is not counted as often as vertices are at it"),
            false => Ok(()),
        }
    }
}
