//! Random programs: the commands draw exactly the visible meshes in order, after any insertions,
//! replacements, moves and removals.

use alloc::vec::Vec;
use core::cmp::Ordering;

use super::{
    Memory, Pool, Random,
    twin::{PARTS, TwinMesh, TwinView, bits, key, parts},
};
use crate::{
    command::{Grouping, HiddenCommands, ListConfig},
    draw_list::{DrawList, DrawView, MeshRef},
    error::PoolError,
    mesh::MeshHandle,
};

/// Two lists over one pool, a second view of the first list, and a naive twin of each.
struct World {
    random: Random,
    pool: Pool,
    memory: Memory,
    other: Pool,
    stranger: MeshHandle,
    meshes: Vec<TwinMesh>,
    lists: [DrawList; 2],
    members: [Vec<MeshHandle>; 2],
    second: DrawView,
    /// Twins of the two lists' own views and of the second view of the first list.
    views: [TwinView; 3],
    step: u32,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let (pool, memory) = super::pool(60);
        let (mut other, mut nowhere) = super::pool(10);
        let stranger = other.insert(&[1], &[1], 1, &mut nowhere).unwrap();
        let mut config = || ListConfig {
            hidden: if random.below(3) == 0 {
                HiddenCommands::Zeroed
            } else {
                HiddenCommands::LeftOut
            },
            grouping: if random.below(2) == 0 { Grouping::ByBuffer } else { Grouping::InOrder },
        };
        let configs = [config(), config(), config()];
        Self {
            random,
            pool,
            memory,
            other,
            stranger,
            meshes: Vec::new(),
            lists: [DrawList::with_config(configs[0]), DrawList::with_config(configs[1])],
            members: [Vec::new(), Vec::new()],
            second: DrawView::with_config(configs[2]),
            views: configs.map(TwinView::new),
            step: 0,
        }
    }

    fn parts(&mut self) -> (Vec<Vec<u32>>, Vec<u32>, Vec<u32>) {
        let step = self.step;
        let parts: Vec<Vec<u32>> = (0..PARTS)
            .map(|_| (0..self.random.below(3)).map(|i| step * 100 + i).collect())
            .collect();
        let counts = parts.iter().map(|part| part.len() as u32).collect();
        (parts.clone(), parts.concat(), counts)
    }

    fn some_mesh(&mut self) -> Option<usize> {
        let count = self.meshes.len() as u32;
        (count > 0).then(|| self.random.below(count) as usize)
    }

    /// Applies one random change.
    fn change(&mut self) {
        let (kind, list) = (self.random.below(16), self.random.below(2) as usize);
        let some_mesh = self.some_mesh();
        match (kind, some_mesh) {
            (0..=4, _) => self.insert(),
            (5 | 6, Some(index)) => self.replace(index),
            (7, Some(index)) => {
                let buffer = self.random.below(super::BUFFERS);
                let mesh = &mut self.meshes[index];
                mesh.buffer = self.pool.move_to_buffer(mesh.handle, buffer, &mut self.memory);
            }
            (8 | 9, Some(index)) => self.remove(index),
            (10 | 11, Some(index)) => self.put_into(list, self.meshes[index].handle),
            (12 | 13, Some(index)) => {
                let mesh = self.meshes[index].handle;
                let was_in = self.members[list].contains(&mesh);
                assert_eq!(self.lists[list].contains(mesh), was_in);
                assert_eq!(self.lists[list].remove(mesh), was_in);
                self.take_from(list, mesh);
            }
            (14, _) if self.random.below(4) == 0 => {
                self.lists[list].clear();
                for mesh in core::mem::take(&mut self.members[list]) {
                    self.forget(list, mesh);
                }
            }
            _ => self.insert_foreign_mesh(list),
        }
    }

    fn insert(&mut self) {
        let (parts, flat, counts) = self.parts();
        let data = self.step;
        let Ok(handle) = self.pool.insert(&flat, &counts, data, &mut self.memory) else { return };
        let buffer = self.random.below(super::BUFFERS);
        let buffer = self.pool.move_to_buffer(handle, buffer, &mut self.memory);
        self.meshes.push(TwinMesh { handle, data, buffer, parts });
        let into = self.random.below(4) as usize;
        (0..2).filter(|list| into != *list).for_each(|list| self.put_into(list, handle));
    }

    fn replace(&mut self, index: usize) {
        let (parts, flat, counts) = self.parts();
        let mesh = &mut self.meshes[index];
        if self.pool.replace(mesh.handle, &flat, &counts, mesh.data, &mut self.memory).is_ok() {
            let buffer = self.pool.meshes.get(mesh.handle).unwrap().location().span.buffer.into();
            (mesh.parts, mesh.buffer) = (parts, buffer);
        }
    }

    fn remove(&mut self, index: usize) {
        let mesh = self.meshes.swap_remove(index).handle;
        self.pool.remove(mesh).unwrap();
        (0..2).for_each(|list| self.take_from(list, mesh));
    }

    fn put_into(&mut self, list: usize, mesh: MeshHandle) {
        self.lists[list].insert(mesh).unwrap();
        if !self.members[list].contains(&mesh) {
            self.members[list].push(mesh);
        }
    }

    fn take_from(&mut self, list: usize, mesh: MeshHandle) {
        self.members[list].retain(|other| *other != mesh);
        self.forget(list, mesh);
    }

    fn forget(&mut self, list: usize, mesh: MeshHandle) {
        self.views[list].forget(mesh);
        if list == 0 {
            self.views[2].forget(mesh);
        }
    }

    /// Inserts a mesh of another pool, which must fail without other effects.
    fn insert_foreign_mesh(&mut self, list: usize) {
        if self.lists[list].is_empty() {
            return;
        }
        assert_eq!(self.lists[list].insert(self.stranger), Err(PoolError::Stale));
        assert!(!self.lists[list].contains(self.stranger));
        assert!(!self.lists[list].remove(self.stranger));
        assert_eq!(self.pool.data(self.stranger), None);
        assert_eq!(self.lists[list].commands(&self.other).len(), 0);
    }

    /// Masks or sorts one of the views again, or both.
    fn select(&mut self, view: usize) {
        let (salt, list) = (self.random.below(97), view % 2);
        let (pool, twin, members) = (&self.pool, &mut self.views[view], &self.members[list]);
        let (own, second) = (&mut self.lists[list], &mut self.second);
        let mask = |mesh: &MeshRef<'_, u32>| parts(bits(*mesh.data(), salt));
        let order = |mesh: &MeshRef<'_, u32>| key(*mesh.data(), salt);
        match self.random.below(5) {
            0 => {
                let visible = match view {
                    2 => second.mask(own, pool, mask),
                    _ => own.mask(pool, mask),
                };
                let passed = |mesh: &&MeshHandle| bits(*pool.data(**mesh).unwrap(), salt) != 0;
                assert_eq!(visible, members.iter().filter(passed).count());
                twin.mask(members, pool, |data| bits(data, salt));
            }
            1 => {
                match view {
                    2 => second.sort(own, pool, order),
                    _ => own.sort(pool, order),
                }
                twin.sort(members, pool, |data| key(data, salt));
            }
            2 => {
                let compare = |a: &MeshRef<'_, u32>, b: &MeshRef<'_, u32>| by_location(a, b, salt);
                match view {
                    2 => second.sort_by(own, pool, compare),
                    _ => own.sort_by(pool, compare),
                }
                twin.sort_by(members, (pool, &self.meshes), |mesh| {
                    let count: usize = mesh.parts.iter().map(Vec::len).sum();
                    location_key(count as u64, mesh.buffer, mesh.data, salt)
                });
            }
            by => {
                let both = |mesh: &MeshRef<'_, u32>| (mask(mesh), order(mesh));
                match (view, by) {
                    #[cfg(feature = "rayon")]
                    (2, 3) => second.par_mask_and_sort(own, pool, both),
                    #[cfg(feature = "rayon")]
                    (_, 3) => own.par_mask_and_sort(pool, both),
                    (2, _) => second.mask_and_sort(own, pool, both),
                    _ => own.mask_and_sort(pool, both),
                };
                twin.mask(members, pool, |data| bits(data, salt));
                twin.sort(members, pool, |data| key(data, salt));
            }
        }
    }

    fn compare(&mut self, view: usize, seed: u64) {
        let list = view % 2;
        let twin = &self.views[view];
        let expected = twin.picture(&self.members[list], &self.meshes);
        let own = &mut self.lists[list];
        let commands = match view {
            2 => self.second.runs(own, &self.pool),
            _ => own.runs(&self.pool),
        };
        let got = twin.read(commands, &self.memory);
        assert_eq!(got, expected, "seed {seed}, step {}, view {view}", self.step);
    }
}

/// Orders meshes by counts, buffer and data: more bits than a sort key has.
fn by_location(a: &MeshRef<'_, u32>, b: &MeshRef<'_, u32>, salt: u32) -> Ordering {
    let [a, b] = [a, b].map(|mesh| {
        let range = mesh.range();
        assert_eq!(range.part_counts.iter().sum::<u32>(), mesh.element_count());
        let buffer = if mesh.element_count() > 0 { range.buffer } else { 0 };
        location_key(mesh.element_count().into(), buffer, *mesh.data(), salt)
    });
    a.cmp(&b)
}

fn location_key(count: u64, buffer: u32, data: u32, salt: u32) -> [u64; 3] {
    let buffer = if count == 0 { 0 } else { buffer };
    [count % u64::from(1 + salt % 3), u64::MAX - u64::from(buffer), key(data, salt)]
}

#[test]
fn programs_draw_the_same_as_a_naive_list() {
    for seed in 1..=2_000_u64 {
        let mut world = World::new(seed);
        for step in 0..60 {
            world.step = step;
            match world.random.below(3) {
                0 => {
                    let view = world.random.below(3) as usize;
                    world.select(view);
                }
                _ => world.change(),
            }
            if world.random.below(2) == 0 {
                let view = world.random.below(3) as usize;
                world.compare(view, seed);
            }
        }
        (0..3).for_each(|view| world.compare(view, seed));
    }
}

/// Enough meshes for the digit sort, which small lists do not use.
#[test]
fn thousands_of_meshes_are_sorted_correctly() {
    let mut world = World::new(7);
    (world.pool, world.memory) = super::pool_with(20_000, 3000);
    for step in 0..2500 {
        world.step = step;
        world.insert();
        if step % 5 == 0 {
            let index = world.some_mesh().unwrap();
            world.remove(index);
        }
        if step % 250 == 249 {
            (0..3).for_each(|view| world.select(view));
            (0..3).for_each(|view| world.compare(view, 7));
        }
    }
}
