//! Lists on several threads are those of one thread.

use super::*;
use crate::{
    config::{Oversize, PoolConfig},
    mesh::MeshHandle,
};

const MESHES: u32 = 300;
/// Number of elements that one command draws.
const PATTERN: u32 = 64;
/// Number of elements of a mesh that needs more than four commands.
const LONG: u32 = 5 * PATTERN;

/// A pool, and two lists of the same meshes, one for each kind of thread.
struct Lists {
    pool: Pool,
    memory: Memory,
    random: Random,
    one: DrawList,
    several: DrawList,
    meshes: Vec<MeshHandle>,
}

impl Lists {
    /// `max_elements` is the maximum size of a buffer; larger meshes are split.
    fn new(list: ListConfig, max_elements: u32) -> Self {
        let config = PoolConfig {
            pattern_elements: PATTERN,
            max_buffers: 50,
            min_buffer_elements: max_elements / 4,
            max_buffer_elements: max_elements,
            oversize: Oversize::Split,
            ..PoolConfig::fixed(max_elements, 2 * MESHES)
        };
        let mut lists = Self {
            pool: Pool::new(config).unwrap(),
            memory: Memory::default(),
            random: Random::new(5),
            one: DrawList::with_config(list),
            several: DrawList::with_config(list),
            meshes: Vec::new(),
        };
        (0..MESHES).for_each(|_| lists.insert(0));
        lists
    }

    /// Inserts a mesh of up to one element in each of three parts, and more in the second one.
    fn insert(&mut self, more: u32) {
        let mut counts = [(); 3].map(|()| self.random.below(2_u32));
        counts[1] += more;
        let elements = alloc::vec![7; counts.iter().sum::<u32>() as usize];
        let data = self.random.bits() as u32;
        let mesh = self.pool.insert(&elements, &counts, data, &mut self.memory).unwrap();
        self.meshes.push(mesh);
        self.one.insert(mesh).unwrap();
        self.several.insert(mesh).unwrap();
    }

    /// Masks and sorts both lists, and compares their commands.
    fn select(&mut self, salt: u32) {
        let select = |mesh: &MeshRef<'_, u32>| {
            let mixed = mesh.data().wrapping_mul(40_503 + salt);
            (PartSet::from_bits((mixed >> 7) as u8 & 0b111), u64::from(mixed >> 3 & 0xff) << salt)
        };
        let visible = self.one.mask_and_sort(&self.pool, select);
        assert_eq!(self.several.par_mask_and_sort(&self.pool, select), visible);
        self.compare();
    }

    fn compare(&mut self) {
        let Self { pool, one, several, .. } = self;
        assert_eq!(one.runs(pool), several.runs(pool));
        assert_eq!((one.visible(), one.drawn()), (several.visible(), several.drawn()));
    }

    /// Compares the lists after random masks, and after changes between them. Returns how often threads built commands.
    fn check(mut self) -> u32 {
        for round in 0..20 {
            self.select(round);
            // The commands are patched, which reads the slots that the threads have drawn.
            let removed = self.random.below(self.meshes.len() as u32) as usize;
            self.pool.remove(self.meshes.swap_remove(removed)).unwrap();
            self.compare();
            self.insert(0);
            self.compare();
        }
        self.several.view.builder.count
    }
}

const fn config(grouping: Grouping) -> ListConfig {
    ListConfig { hidden: HiddenCommands::LeftOut, grouping }
}

/// One buffer, and several.
const SIZES: [u32; 2] = [1 << 16, 128];

#[test]
fn threads_build_the_commands_of_one_thread() {
    for elements in SIZES {
        let lists = Lists::new(config(Grouping::ByBuffer), elements);
        assert_eq!(lists.pool.stats().buffers > 1, elements == SIZES[1]);
        assert_eq!(lists.check(), 20);
    }
    assert_eq!(Lists::new(config(Grouping::InOrder), SIZES[0]).check(), 20);
}

/// Commands that threads cannot build are built by one thread.
#[test]
fn one_thread_builds_the_other_commands() {
    assert_eq!(Lists::new(config(Grouping::InOrder), SIZES[1]).check(), 0);
    let zeroed = ListConfig { hidden: HiddenCommands::Zeroed, ..config(Grouping::ByBuffer) };
    assert_eq!(Lists::new(zeroed, SIZES[0]).check(), 0);
    // Meshes of many commands, and of few in several buffers.
    for (elements, more) in [(SIZES[0], LONG), (SIZES[1], SIZES[1])] {
        let mut lists = Lists::new(config(Grouping::ByBuffer), elements);
        (0..20).for_each(|_| lists.insert(more));
        assert!(lists.check() < 20);
    }
}
