/// Voxels of a model, sorted into bricks of 32³. A chunk touches at most eight bricks, however the
/// model is rotated, so building it does not visit all voxels.
pub(super) struct Model {
    bricks: Vec<Brick>,
    voxels: Vec<ModelVoxel>,
    /// Whether each colour occurs.
    used: [bool; 256],
}

/// A voxel in model coordinates.
#[derive(Clone, Copy, Default)]
pub(super) struct ModelVoxel {
    pub(super) position: [u8; 3],
    /// dot_vox colour index: the number in the file minus one.
    pub(super) color: u8,
}

/// A brick with at least one voxel.
pub(super) struct Brick {
    /// Lowest and highest coordinates of its voxels.
    pub(super) low: [u8; 3],
    pub(super) high: [u8; 3],
    first: u32,
    count: u32,
}

/// Maximum number of bricks of a model: eight along each axis of 256 voxels.
const BRICKS: usize = 8 * 8 * 8;

impl Model {
    pub(super) fn new(model: dot_vox::Model) -> Self {
        let mut counts = [0_u32; BRICKS];
        for voxel in &model.voxels {
            counts[brick_of(voxel)] += 1;
        }
        let mut next = [0_u32; BRICKS];
        for i in 1..BRICKS {
            next[i] = next[i - 1] + counts[i - 1];
        }
        let starts = next;
        let mut voxels = vec![ModelVoxel::default(); model.voxels.len()];
        let mut used = [false; 256];
        // In file order: of two voxels at one position the later one stays later.
        for voxel in &model.voxels {
            let slot = &mut next[brick_of(voxel)];
            voxels[*slot as usize] =
                ModelVoxel { position: [voxel.x, voxel.y, voxel.z], color: voxel.i };
            used[usize::from(voxel.i)] = true;
            *slot += 1;
        }
        let bricks = (0..BRICKS)
            .filter(|&i| counts[i] != 0)
            .map(|i| Brick::around(&voxels, starts[i], counts[i]))
            .collect();
        Self { bricks, voxels, used }
    }

    pub(super) fn bricks(&self) -> &[Brick] {
        &self.bricks
    }

    /// Voxels of a brick.
    pub(super) fn brick_voxels(&self, brick: usize) -> &[ModelVoxel] {
        &self.voxels[self.bricks[brick].range()]
    }

    pub(super) fn voxel_count(&self) -> u64 {
        self.voxels.len() as u64
    }

    pub(super) fn used(&self) -> &[bool; 256] {
        &self.used
    }
}

impl Brick {
    fn around(voxels: &[ModelVoxel], first: u32, count: u32) -> Self {
        let mut brick = Self { low: [u8::MAX; 3], high: [0; 3], first, count };
        for voxel in &voxels[brick.range()] {
            for axis in 0..3 {
                brick.low[axis] = brick.low[axis].min(voxel.position[axis]);
                brick.high[axis] = brick.high[axis].max(voxel.position[axis]);
            }
        }
        brick
    }

    fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.count) as usize
    }
}

fn brick_of(voxel: &dot_vox::Voxel) -> usize {
    let [x, y, z] = [voxel.x, voxel.y, voxel.z].map(|c| usize::from(c >> 5));
    x | y << 3 | z << 6
}
