use std::collections::BTreeSet;
use std::ops::Range;

use drystone_voxel::{Chunk, ChunkPos, LocalPos, Material};

/// A box of voxels, stored as runs of one colour.
///
/// ```text
///  slice z:  index = y · size x + x        runs, sorted by index; air between them
///            0 1 2 3 4 5 6 7 8 9 …         ■■■■··■■········
/// ```
pub(super) struct Matrix {
    pub(super) name: String,
    size_x: u32,
    size_y: u32,
    /// World position of the voxel (0, 0) of slice 0.
    low: [i64; 3],
    /// Change of the world's Z from one slice to the next: 1 or −1.
    step_z: i64,
    runs: Vec<Run>,
    /// End of each slice's runs in `runs`.
    slice_ends: Vec<u32>,
}

/// Direction of a file's Z axis, with X to the right and Y up.
#[derive(Clone, Copy)]
pub(super) enum ZAxis {
    /// Away from the viewer. The world's Z is mirrored.
    LeftHanded,
    /// Towards the viewer, as the world's Z.
    RightHanded,
}

/// Solid voxels of one colour, side by side in a slice.
#[derive(Clone, Copy)]
pub(super) struct Run {
    /// Index of the first voxel in its slice.
    first: u32,
    len: u32,
    /// 0xRRGGBB.
    pub(super) color: u32,
    material: Material,
}

const SIDE: i64 = Chunk::SIDE as i64;

impl Matrix {
    /// A matrix without slices, of `size` voxels along X and Y, with its lowest corner at
    /// `position` in the file's axes.
    pub(super) fn new(name: String, size: [u32; 2], position: [i32; 3], axis: ZAxis) -> Self {
        let [x, y, z] = position.map(i64::from);
        let (z, step_z) = match axis {
            ZAxis::LeftHanded => (-z - 1, -1),
            ZAxis::RightHanded => (z, 1),
        };
        let [size_x, size_y] = size;
        let low = [x, y, z];
        Self { name, size_x, size_y, low, step_z, runs: Vec::new(), slice_ends: Vec::new() }
    }

    /// Appends solid voxels to the slice that is being built. Joins them to the run before them
    /// where that has the same colour.
    pub(super) fn push(&mut self, first: u32, len: u32, color: u32) {
        let slice = self.slice_ends.last().map_or(0, |&end| end as usize);
        match self.runs[slice..].last_mut() {
            Some(last) if last.color == color && last.end() == u64::from(first) => last.len += len,
            _ => self.runs.push(Run { first, len, color, material: Material::AIR }),
        }
    }

    /// Ends the slice that is being built.
    pub(super) fn end_slice(&mut self) {
        self.slice_ends.push(self.runs.len() as u32);
    }

    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    pub(super) fn set_materials(&mut self, material_of: impl Fn(u32) -> Material) {
        for run in &mut self.runs {
            run.material = material_of(run.color);
        }
    }

    /// Positions of all chunks that hold a solid voxel of this matrix; `None` if there are more
    /// than `limit`.
    pub(super) fn chunks(&self, limit: usize) -> Option<BTreeSet<ChunkPos>> {
        let mut chunks = BTreeSet::new();
        let mut last = None;
        for (z, runs) in self.slices() {
            for [columns, rows] in runs.iter().flat_map(|run| run.boxes(self.size_x)) {
                let [x, y] = [(columns, self.low[0]), (rows, self.low[1])]
                    .map(|(ends, low)| ends.map(|end| chunk_of(low + i64::from(end))));
                let here = (x, y, chunk_of(z));
                // Neighbouring runs are mostly in the same chunks.
                if last.replace(here) == Some(here) {
                    continue;
                }
                for y in y[0]..=y[1] {
                    chunks.extend((x[0]..=x[1]).map(|x| ChunkPos::new(x, y, here.2)));
                    if chunks.len() > limit {
                        return None;
                    }
                }
            }
        }
        Some(chunks)
    }

    /// Writes the solid voxels that lie in the chunk at `position`.
    pub(super) fn fill(&self, position: ChunkPos, chunk: &mut Chunk) {
        let corner = [position.x, position.y, position.z].map(|c| i64::from(c) * SIDE);
        let columns = overlap(corner[0] - self.low[0], self.size_x);
        let rows = overlap(corner[1] - self.low[1], self.size_y);
        let size_x = u64::from(self.size_x);
        for local_z in 0..SIDE {
            let slice = (corner[2] + local_z - self.low[2]) * self.step_z;
            let Some(runs) = usize::try_from(slice).ok().and_then(|it| self.slice(it)) else {
                continue;
            };
            let [first, end] = [rows.start, rows.end].map(|row| row * size_x);
            let from = runs.partition_point(|run| run.end() <= first);
            for run in runs[from..].iter().take_while(|run| u64::from(run.first) < end) {
                let inside = u64::from(run.first).max(first)..run.end().min(end);
                for row in inside.start / size_x..=(inside.end - 1) / size_x {
                    let start = inside.start.max(row * size_x + columns.start);
                    let end = inside.end.min(row * size_x + columns.end);
                    for index in start..end {
                        let x = self.low[0] + (index - row * size_x) as i64 - corner[0];
                        let y = self.low[1] + row as i64 - corner[1];
                        let at = LocalPos::new(x as u8, y as u8, local_z as u8);
                        chunk.set(at, run.material);
                    }
                }
            }
        }
    }

    /// World's Z and runs of each slice.
    fn slices(&self) -> impl Iterator<Item = (i64, &[Run])> {
        (0..self.slice_ends.len())
            .map(|i| (self.low[2] + self.step_z * i as i64, self.slice(i).unwrap_or_default()))
    }

    fn slice(&self, index: usize) -> Option<&[Run]> {
        let end = *self.slice_ends.get(index)? as usize;
        let start = index.checked_sub(1).map_or(0, |before| self.slice_ends[before] as usize);
        self.runs.get(start..end)
    }
}

impl Run {
    /// The rectangles that the run covers in a slice with rows of `row_len` voxels: its first row,
    /// the full rows, its last row. Each is given by its first and last column and row.
    fn boxes(&self, row_len: u32) -> impl Iterator<Item = [[u32; 2]; 2]> + use<> {
        let [first, last] = [self.first, self.first + self.len - 1];
        let [top, bottom] = [first / row_len, last / row_len];
        let [from, to] = [first % row_len, last % row_len];
        let row = |from, to, top, bottom| (top <= bottom).then_some([[from, to], [top, bottom]]);
        let boxes = if top == bottom {
            [row(from, to, top, top), None, None]
        } else {
            let end = row_len - 1;
            let full = row(0, end, top + 1, bottom - 1);
            [row(from, end, top, top), full, row(0, to, bottom, bottom)]
        };
        boxes.into_iter().flatten()
    }

    fn end(&self) -> u64 {
        u64::from(self.first) + u64::from(self.len)
    }
}

/// Indices along an axis of a matrix, `len` long, that lie in the chunk whose lowest index is
/// `corner`.
fn overlap(corner: i64, len: u32) -> Range<u64> {
    let start = corner.clamp(0, len.into());
    start as u64..(corner + SIDE).clamp(start, len.into()) as u64
}

fn chunk_of(coordinate: i64) -> i32 {
    coordinate.div_euclid(SIDE) as i32
}
