//! Writes Qubicle Binary files, in every layout of the format.

/// Choices that the header of a file makes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Layout {
    pub(crate) is_bgra: bool,
    pub(crate) is_right_handed: bool,
    pub(crate) is_compressed: bool,
    pub(crate) has_masks: bool,
}

impl Layout {
    /// All sixteen.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        (0..16).map(|bits| Self {
            is_bgra: bits & 1 != 0,
            is_right_handed: bits & 2 != 0,
            is_compressed: bits & 4 != 0,
            has_masks: bits & 8 != 0,
        })
    }
}

#[derive(Clone)]
pub(crate) struct Matrix {
    pub(crate) name: String,
    pub(crate) size: [u32; 3],
    pub(crate) position: [i32; 3],
    /// Red, green, blue and mask of each voxel, X fastest, then Y, then Z.
    pub(crate) colors: Vec<[u8; 4]>,
}

impl Matrix {
    /// Position in the file's axes and colour of each voxel.
    pub(crate) fn voxels(&self) -> impl Iterator<Item = ([i32; 3], [u8; 4])> {
        let [size_x, size_y, _] = self.size.map(|side| side as usize);
        self.colors.iter().enumerate().map(move |(index, &color)| {
            let cell = [index % size_x, index / size_x % size_y, index / size_x / size_y];
            ([0, 1, 2].map(|axis| self.position[axis] + cell[axis] as i32), color)
        })
    }
}

pub(crate) fn file(matrices: &[Matrix], layout: Layout) -> Vec<u8> {
    let Layout { is_bgra, is_right_handed, is_compressed, has_masks } = layout;
    let flags = [is_bgra, is_right_handed, is_compressed, has_masks].map(u32::from);
    let mut words = vec![0x101];
    words.extend(flags);
    words.push(matrices.len() as u32);
    let mut bytes = to_bytes(&words);
    for matrix in matrices {
        bytes.push(matrix.name.len() as u8);
        bytes.extend(matrix.name.bytes());
        bytes.extend(to_bytes(&matrix.size));
        bytes.extend(to_bytes(&matrix.position.map(i32::cast_unsigned)));
        let colors: Vec<u32> = matrix.colors.iter().map(|&color| word(color, layout)).collect();
        let slice_len = (matrix.size[0] * matrix.size[1]) as usize;
        for slice in 0..matrix.size[2] as usize {
            let Some(slice) = colors.get(slice * slice_len..(slice + 1) * slice_len) else { break };
            bytes.extend(if is_compressed { compressed(slice) } else { to_bytes(slice) });
        }
    }
    bytes
}

fn word([r, g, b, mask]: [u8; 4], layout: Layout) -> u32 {
    // Without masks, the fourth byte is 0 or 255.
    let mask = if layout.has_masks || mask == 0 { mask } else { u8::MAX };
    u32::from_le_bytes(if layout.is_bgra { [b, g, r, mask] } else { [r, g, b, mask] })
}

fn compressed(slice: &[u32]) -> Vec<u8> {
    let mut words = Vec::new();
    for run in slice.chunk_by(|a, b| a == b) {
        match run {
            // Words that would read as a marker are written as runs.
            [one] if *one != 2 && *one != 6 => words.push(*one),
            [first, ..] => words.extend([2, run.len() as u32, *first]),
            [] => {}
        }
    }
    words.push(6);
    to_bytes(&words)
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
