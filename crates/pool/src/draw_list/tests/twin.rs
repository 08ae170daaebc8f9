//! Naive list that copies everything and sorts with comparators. It produces drawn elements without
//! commands.

use alloc::vec::Vec;

use super::{Memory, Pool};
use crate::{
    command::{CommandRun, DrawCommand, Grouping, HiddenCommands, ListConfig},
    mesh::MeshHandle,
    parts::PartSet,
};

/// Number of parts of each mesh.
pub(super) const PARTS: usize = 6;

/// Current state of a mesh.
#[derive(Clone)]
pub(super) struct TwinMesh {
    pub(super) handle: MeshHandle,
    pub(super) data: u32,
    pub(super) buffer: u32,
    pub(super) parts: Vec<Vec<u32>>,
}

impl TwinMesh {
    fn shown(&self, bits: u8) -> Vec<Drawn> {
        let elements = (0..PARTS).filter(|&part| bits >> part & 1 != 0);
        let elements = elements.flat_map(|part| self.parts[part].iter());
        elements.map(|&element| (self.buffer, self.data, element)).collect()
    }

    fn hidden_parts(&self, bits: u8) -> usize {
        (0..PARTS).filter(|&part| bits >> part & 1 == 0 && !self.parts[part].is_empty()).count()
    }
}

/// Buffer, per-draw data and element.
pub(super) type Drawn = (u32, u32, u32);

/// Content that one view draws.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) drawn: Vec<Drawn>,
    /// Number of commands that draw nothing.
    pub(super) zeroed: usize,
    pub(super) buffers: Vec<u32>,
}

/// Mask and order of a view.
pub(super) struct TwinView {
    pub(super) config: ListConfig,
    /// Meshes that were in the list at the mask, with their parts; none before the first mask.
    masked: Option<Vec<(MeshHandle, u8)>>,
    is_sorted: bool,
}

impl TwinView {
    pub(super) const fn new(config: ListConfig) -> Self {
        Self { config, masked: None, is_sorted: false }
    }

    pub(super) fn mask(&mut self, list: &[MeshHandle], pool: &Pool, bits: impl Fn(u32) -> u8) {
        let live = list.iter().filter_map(|&mesh| Some((mesh, bits(*pool.data(mesh)?))));
        self.masked = Some(live.collect());
        self.is_sorted = false;
    }

    pub(super) fn sort(&mut self, list: &[MeshHandle], pool: &Pool, key: impl Fn(u32) -> u64) {
        if self.masked.is_none() {
            self.mask(list, pool, |_| u8::MAX);
        }
        let by = |mesh: &MeshHandle| (pool.data(*mesh).map(|&data| key(data)), mesh.slot());
        self.masked.as_mut().unwrap().sort_by_key(|(mesh, _)| by(mesh));
        self.is_sorted = true;
    }

    pub(super) fn sort_by(
        &mut self,
        list: &[MeshHandle],
        (pool, meshes): (&Pool, &[TwinMesh]),
        key: impl Fn(&TwinMesh) -> [u64; 3],
    ) {
        if self.masked.is_none() {
            self.mask(list, pool, |_| u8::MAX);
        }
        let key = |handle: MeshHandle| key(meshes.iter().find(|it| it.handle == handle).unwrap());
        let by = |&(mesh, _): &(MeshHandle, u8)| (key(mesh), mesh.slot());
        self.masked.as_mut().unwrap().sort_by_key(by);
        self.is_sorted = true;
    }

    pub(super) fn forget(&mut self, mesh: MeshHandle) {
        self.masked.iter_mut().for_each(|masked| masked.retain(|(other, _)| *other != mesh));
    }

    /// Returns the content drawn for a list of live meshes.
    pub(super) fn picture(&self, list: &[MeshHandle], meshes: &[TwinMesh]) -> Picture {
        let masked = self.masked.clone().unwrap_or_default();
        let new = list.iter().filter(|mesh| !masked.iter().any(|(member, _)| member == *mesh));
        let mut new: Vec<_> = new.map(|&mesh| (mesh, u8::MAX)).collect();
        new.sort_by_key(|(mesh, _)| mesh.slot());
        let mut picture = Picture::default();
        for (handle, bits) in masked.iter().chain(&new) {
            let mesh = meshes.iter().find(|mesh| mesh.handle == *handle).unwrap();
            picture.drawn.extend(mesh.shown(*bits));
            if self.config.hidden == HiddenCommands::Zeroed {
                picture.zeroed += mesh.hidden_parts(*bits);
            }
        }
        if self.is_grouped() {
            picture.drawn.sort_by_key(|(buffer, ..)| *buffer);
        }
        if !self.is_sorted {
            picture.drawn.sort();
        }
        picture.buffers = picture.drawn.iter().map(|(buffer, ..)| *buffer).collect();
        picture.buffers.dedup();
        picture
    }

    fn is_grouped(&self) -> bool {
        !self.is_sorted || self.config.grouping == Grouping::ByBuffer
    }

    /// Reads the content from commands.
    pub(super) fn read(
        &self,
        (runs, commands): (&[CommandRun], &[DrawCommand]),
        memory: &Memory,
    ) -> Picture {
        let mut picture = Picture::default();
        let (mut end, mut before) = (0, None);
        for CommandRun { buffer, commands: range } in runs.iter().cloned() {
            assert!(range.start == end && range.end > end, "runs do not cover all commands");
            assert!(before != Some(buffer), "adjacent runs read one buffer");
            (end, before) = (range.end, Some(buffer));
            for command in &commands[range] {
                let count = command.index_count as usize / 6;
                picture.zeroed += usize::from(count == 0);
                let first = command.base_vertex as usize / 4;
                let data = memory.data[command.first_instance as usize];
                let run = &memory.buffers[buffer as usize][first..first + count];
                picture.drawn.extend(run.iter().map(|&element| (buffer, data, element)));
            }
        }
        assert_eq!(end, commands.len(), "runs do not cover all commands");
        if self.is_grouped() {
            assert!(runs.is_sorted_by_key(|run| run.buffer));
        }
        if !self.is_sorted {
            picture.drawn.sort();
        }
        picture.buffers = picture.drawn.iter().map(|(buffer, ..)| *buffer).collect();
        picture.buffers.dedup();
        picture
    }
}

/// Returns the visible parts for a mask with this salt: none, all, or some of each mesh.
pub(super) fn bits(data: u32, salt: u32) -> u8 {
    match salt % 8 {
        0 => 0,
        1 => u8::MAX,
        2 if data.is_multiple_of(3) => 0,
        _ => (data.wrapping_mul(31) ^ salt) as u8,
    }
}

/// Returns a sort key for this salt: few distinct values, bits of distances, or all 64 bits.
pub(super) fn key(data: u32, salt: u32) -> u64 {
    let mixed = u64::from(data ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    match salt % 4 {
        0 => mixed % 5,
        1 => u64::from((data as f32 + 0.5).to_bits()) << 32,
        2 => !(mixed >> 62 << 50 | mixed & 0xffff),
        _ => mixed,
    }
}

/// Converts bits to the set of parts for a list.
pub(super) const fn parts(bits: u8) -> PartSet {
    PartSet::from_bits(bits)
}
