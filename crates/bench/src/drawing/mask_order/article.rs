//! The article's draw list: records are partitioned, sorted by comparisons, and uploaded unchanged.
//! A counting error of its mask is fixed here.

use std::{
    cmp::Ordering,
    collections::HashSet,
    hash::{BuildHasherDefault, Hasher},
};

use super::{
    CommandList,
    crowd::{Crowd, Drawn, FACINGS, Viewpoint, push_run},
};

/// A draw command together with its metadata.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Record {
    index_count: u32,
    instance_count: u32,
    first_index: u32,
    base_vertex: u32,
    base_instance: u32,
    /// Location of the record's own number, for its users.
    number: u64,
    group: i32,
    position: [f32; 3],
}

const _: () = assert!(size_of::<Record>() == 48);

/// Groups that are drawn. Numbers are their own hashes, as in the article's library.
type Groups = HashSet<i32, BuildHasherDefault<SameHash>>;

#[derive(Default)]
struct SameHash(u64);

impl Hasher for SameHash {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.0 = self.0 << 8 | u64::from(byte));
    }

    fn write_i32(&mut self, number: i32) {
        self.0 = number as u64;
    }
}

pub(super) struct ArticleList {
    records: Vec<Record>,
    /// Current index of each record.
    numbers: Vec<u32>,
    visible: usize,
    groups: Groups,
    written: Vec<Record>,
}

impl ArticleList {
    pub(super) fn new(crowd: &Crowd) -> Self {
        let record = |(number, (chunk, facing))| {
            let quads = crowd.quads(chunk, facing);
            Record {
                index_count: quads.len() as u32 * 6,
                instance_count: 1,
                first_index: 0,
                base_vertex: quads.start * 4,
                base_instance: 0,
                number,
                group: facing as i32,
                position: crowd.positions()[chunk],
            }
        };
        let records: Vec<_> = (0..).zip(crowd.parts()).map(record).collect();
        let numbers = (0..records.len() as u32).collect();
        let written = records.clone();
        Self { visible: records.len(), groups: Groups::default(), numbers, written, records }
    }

    /// Moves the records that pass to the front, by swaps from both ends.
    fn partition(&mut self) {
        let Self { records, numbers, groups, .. } = self;
        let (mut front, mut back) = (0, records.len());
        loop {
            while front < back && groups.contains(&records[front].group) {
                front += 1;
            }
            while front < back && !groups.contains(&records[back - 1].group) {
                back -= 1;
            }
            if front == back {
                break;
            }
            back -= 1;
            records.swap(front, back);
            numbers[records[front].number as usize] = front as u32;
            numbers[records[back].number as usize] = back as u32;
            front += 1;
        }
        self.visible = front;
    }
}

fn along(of: [f32; 3], other: [f32; 3], direction: [f32; 3]) -> f32 {
    (0..3).map(|axis| (of[axis] - other[axis]) * direction[axis]).sum()
}

impl CommandList for ArticleList {
    fn mask(&mut self, viewpoint: &Viewpoint) {
        self.groups.clear();
        let facings = (0..FACINGS as i32).filter(|facing| viewpoint.facings >> facing & 1 != 0);
        self.groups.extend(facings);
        self.partition();
    }

    fn order(&mut self, viewpoint: &Viewpoint) {
        let nearest_first = |a: &Record, b: &Record| {
            let farther = along(b.position, a.position, viewpoint.direction);
            if farther < 0.0 {
                Ordering::Less
            } else if farther > 0.0 {
                Ordering::Greater
            } else {
                a.base_vertex.cmp(&b.base_vertex)
            }
        };
        self.records[..self.visible].sort_unstable_by(nearest_first);
        for (at, record) in (0..).zip(&self.records) {
            self.numbers[record.number as usize] = at;
        }
    }

    fn upload(&mut self) {
        self.written.copy_from_slice(&self.records);
    }

    fn drawn(&self) -> Drawn {
        let mut drawn = Drawn::new();
        for record in &self.written[..self.visible] {
            let first = record.base_vertex / 4;
            push_run(&mut drawn, first..first + record.index_count / 6);
        }
        drawn
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cases that the published code gets wrong: no record passes, all pass, or every other one.
    /// References must stay valid.
    #[test]
    fn partitions_are_right_for_every_pattern() {
        let crowd = Crowd::new(FACINGS * 20);
        for facings in 0..1_u8 << FACINGS {
            let mut list = ArticleList::new(&crowd);
            let viewpoint = Viewpoint { direction: [3.0, 5.0, 7.0], facings };
            list.mask(&viewpoint);
            assert_eq!(list.visible, 20 * facings.count_ones() as usize);
            list.order(&viewpoint);
            let passes = |record: &Record| facings >> record.group & 1 != 0;
            assert!(list.records[..list.visible].iter().all(passes));
            assert!(!list.records[list.visible..].iter().any(passes));
            for (at, record) in list.records.iter().enumerate() {
                assert_eq!(list.numbers[record.number as usize] as usize, at);
            }
        }
    }
}
