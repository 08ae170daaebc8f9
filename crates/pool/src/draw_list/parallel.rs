//! Masks and builds commands on the threads of rayon's pool.
//!
//! ```text
//!  slots      ├── piece ──┼── piece ──┼── piece ──┤     masked side by side, then moved together
//!  visible    ├── maker ──┼── maker ──┤                 commands in memory order of the pool's tables
//!  in order   ├── piece ──┼── piece ──┤                 counted by buffer, then copied to their places
//! ```
//! The result is that of one thread, to the last command.

use alloc::vec::Vec;
use bytemuck::Pod;
use rayon::prelude::*;

use super::{
    members::Members,
    mesh_ref::MeshRef,
    output::{Output, word_and_bit},
};
use crate::{
    command::{CommandRun, DrawCommand, Grouping},
    mesh::MeshKey,
    parts::{MAX_RUNS, PartSet, RunTable},
    vertex_pool::{CommandSource, VertexPool},
};

/// Minimum number of meshes for which threads are woken: one thread masks as many in half a millisecond.
const MIN_MESHES: usize = if cfg!(test) { 8 } else { 1 << 15 };
/// Number of meshes of a piece, a power of two. Tests have several pieces of few meshes.
const PIECE: usize = if cfg!(test) { 4 } else { 1 << 13 };
/// Number of words of a list's bitmap in a piece.
const PIECE_WORDS: usize = PIECE.div_ceil(u64::BITS as usize);
/// Maximum number of buffers whose commands the threads group.
const MAX_BUFFERS: u32 = 1024;

/// Whether several threads take less time for this number of meshes.
pub(super) fn is_worth_it(meshes: usize) -> bool {
    meshes >= MIN_MESHES && (cfg!(test) || rayon::current_num_threads() > 1)
}

/// Number of pieces that threads sort, to be merged in pairs.
pub(super) fn sorted_pieces() -> usize {
    rayon::current_num_threads().next_power_of_two()
}

/// Collects the meshes that `select` shows, in slot order, and their sort keys. Returns their number. All lists must
/// have an entry for each mesh.
pub(super) fn collect<V: Pod + Sync, D: Pod + Sync>(
    members: &Members,
    pool: &VertexPool<V, D>,
    (keys, shown, sort_keys): (&mut [Option<MeshKey>], &mut [PartSet], &mut [u64]),
    select: impl Fn(&MeshRef<'_, D>) -> (PartSet, u64) + Sync,
) -> usize {
    let words = (0..members.words()).step_by(PIECE_WORDS);
    let words = words.map(|first| first..(first + PIECE_WORDS).min(members.words()));
    let mut rest = (&mut *keys, &mut *shown, &mut *sort_keys);
    let pieces: Vec<_> = words
        .map(|words| {
            let (len, all) = (members.len_of(words.clone()), core::mem::take(&mut rest));
            let (keys, shown) = (all.0.split_at_mut(len), all.1.split_at_mut(len));
            let sort_keys = all.2.split_at_mut(len);
            rest = (keys.1, shown.1, sort_keys.1);
            (words, keys.0, shown.0, sort_keys.0)
        })
        .collect();
    let collected = pieces.into_par_iter().map(|(words, keys, shown, sort_keys)| {
        let len = keys.len();
        let visible = members.collect(pool, words, (keys, shown), |mesh, index| {
            let (parts, key) = select(mesh);
            sort_keys[index] = key;
            parts
        });
        (len, visible)
    });
    let collected: Vec<(usize, usize)> = collected.collect();
    let (mut start, mut total) = (0, 0);
    for (len, visible) in collected {
        let of_piece = start..start + visible;
        keys.copy_within(of_piece.clone(), total);
        shown.copy_within(of_piece.clone(), total);
        sort_keys.copy_within(of_piece, total);
        (start, total) = (start + len, total + visible);
    }
    total
}

/// Commands of a mesh.
type MeshCommands = [DrawCommand; MAX_RUNS];

/// Builds the commands of sorted lists. Reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Builder {
    /// Commands of the visible meshes, in slot order.
    commands: Vec<MeshCommands>,
    made: Vec<Made>,
    makers: Vec<Maker>,
    pieces: Vec<Piece>,
    /// Number of successful builds.
    #[cfg(test)]
    pub(super) count: u32,
}

/// Number of a mesh's commands, and the buffer that all of them read.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    count: u16,
    buffer: u16,
}

/// Makes the commands of a piece of the visible meshes.
#[derive(Debug, Default)]
struct Maker {
    /// The buffer of the first command.
    buffer: Option<u32>,
    /// Whether commands read other buffers.
    has_buffers: bool,
    /// Whether a mesh has more than [`MAX_RUNS`] commands, or in several buffers, or in one beyond [`MAX_BUFFERS`].
    has_others: bool,
    /// Words of the bitmap of drawn slots, from the word of the first mesh on.
    drawn: Vec<u64>,
    first_word: usize,
    table: RunTable,
}

/// A piece of the meshes in the order in which they are drawn.
#[derive(Debug, Default)]
struct Piece {
    made: Vec<Made>,
    /// Number of commands that read each buffer.
    counts: Vec<usize>,
}

impl Builder {
    /// Builds the commands of visible meshes: their keys and parts in slot order, and their indices in the order in
    /// which they are drawn, each in the lower half of a word. Returns `false` and leaves `output` as it is if one
    /// thread must do it.
    pub(super) fn build(
        &mut self,
        source: CommandSource<'_>,
        (keys, shown, order): (&[Option<MeshKey>], &[PartSet], &[u64]),
        grouping: Grouping,
        output: &mut Output,
    ) -> bool {
        if !is_worth_it(keys.len()) {
            return false;
        }
        self.make(source, keys, shown);
        let Self { commands, made, makers, pieces, .. } = self;
        let buffer = makers.iter().find_map(|maker| maker.buffer);
        let is_other = |maker: &Maker| maker.buffer.is_some() && maker.buffer != buffer;
        let has_buffers = makers.iter().any(|maker| maker.has_buffers || is_other(maker));
        if makers.iter().any(|maker| maker.has_others)
            || (has_buffers && grouping == Grouping::InOrder)
        {
            return false;
        }
        pieces.resize_with(makers.len(), Piece::default);
        let in_order = || order.par_chunks(PIECE);
        pieces.par_iter_mut().zip(in_order()).for_each(|(piece, words)| piece.list(made, words));
        let buffers = pieces.iter().map(|piece| piece.counts.len()).max().unwrap_or(0);
        let starts = starts_of_runs(pieces, buffers);
        output.restart();
        for maker in &*makers {
            output.drawn.insert_words(maker.first_word, &maker.drawn);
        }
        let runs = (0..buffers).filter(|&buffer| starts[buffer] < starts[buffer + 1]);
        output.runs.extend(runs.map(|buffer| {
            let commands = starts[buffer]..starts[buffer + 1];
            CommandRun { buffer: buffer as u32, commands }
        }));
        // The last commands are not cleared, because all of them are overwritten.
        output.commands.resize(starts[buffers], DrawCommand::default());
        let targets = targets(&mut output.commands, pieces, buffers);
        let pieces = pieces.par_iter().zip(in_order()).zip(targets);
        pieces.for_each(|((piece, words), targets)| piece.copy(commands, words, targets));
        #[cfg(test)]
        (self.count += 1);
        true
    }

    /// Makes the commands of all meshes, in the memory order of the pool's tables.
    fn make(&mut self, source: CommandSource<'_>, keys: &[Option<MeshKey>], shown: &[PartSet]) {
        let Self { commands, made, makers, .. } = self;
        commands.resize(keys.len(), MeshCommands::default());
        made.resize(keys.len(), Made::default());
        makers.resize_with(keys.len().div_ceil(PIECE), Maker::default);
        let visible = keys.par_chunks(PIECE).zip(shown.par_chunks(PIECE));
        let results = commands.par_chunks_mut(PIECE).zip(made.par_chunks_mut(PIECE));
        makers.par_iter_mut().zip(visible).zip(results).for_each(|((maker, visible), results)| {
            maker.make(source, visible, results);
        });
    }
}

/// The start of each buffer's commands, and their total number.
fn starts_of_runs(pieces: &[Piece], buffers: usize) -> Vec<usize> {
    let mut end = 0;
    let mut starts = Vec::from([0]);
    starts.extend((0..buffers).map(|buffer| {
        end += pieces.iter().map(|piece| piece.count(buffer)).sum::<usize>();
        end
    }));
    starts
}

/// Divides the commands by buffer, and those of a buffer by piece. Returns the parts of each piece by buffer.
fn targets<'a>(
    mut rest: &'a mut [DrawCommand],
    pieces: &[Piece],
    buffers: usize,
) -> Vec<Vec<&'a mut [DrawCommand]>> {
    let mut targets: Vec<Vec<_>> = pieces.iter().map(|_| Vec::with_capacity(buffers)).collect();
    for buffer in 0..buffers {
        for (piece, targets) in pieces.iter().zip(&mut targets) {
            let (target, after) = rest.split_at_mut(piece.count(buffer));
            targets.push(target);
            rest = after;
        }
    }
    targets
}

impl Maker {
    fn make(
        &mut self,
        source: CommandSource<'_>,
        (keys, shown): (&[Option<MeshKey>], &[PartSet]),
        (commands, made): (&mut [MeshCommands], &mut [Made]),
    ) {
        let Self { buffer, has_buffers, has_others, drawn, first_word, table } = self;
        drawn.clear();
        (*buffer, *has_buffers, *has_others) = (None, false, false);
        *first_word = keys.iter().flatten().next().map_or(0, |key| word_and_bit(key.index()).0);
        let results = commands.iter_mut().zip(made);
        for ((key, &parts), (commands, made)) in keys.iter().zip(shown).zip(results) {
            *made = Made::default();
            let Some(key) = *key else { continue };
            let (mut count, mut own) = (0, None);
            let handle = source.meshes.handle(key);
            let is_there = source.emit(handle, parts, table, |of_command, command| {
                *has_others |= *own.get_or_insert(of_command) != of_command;
                match commands.get_mut(count) {
                    Some(target) => *target = command,
                    None => *has_others = true,
                }
                count += 1;
            });
            if let Some(own) = own {
                *has_buffers |= *buffer.get_or_insert(own) != own;
                *has_others |= own >= MAX_BUFFERS;
                *made = Made { count: count as u16, buffer: own as u16 };
            }
            if is_there {
                let (word, bit) = word_and_bit(key.index());
                drawn.resize(word - *first_word + 1, 0);
                drawn[word - *first_word] |= bit;
            }
        }
    }
}

impl Piece {
    /// Looks up the numbers of commands of these sorted meshes, and adds them up.
    fn list(&mut self, made: &[Made], words: &[u64]) {
        self.made.clear();
        self.made.extend(words.iter().map(|&word| made[mesh_of(word)]));
        self.counts.clear();
        for made in &self.made {
            let buffer = usize::from(made.buffer);
            if buffer >= self.counts.len() {
                self.counts.resize(buffer + 1, 0);
            }
            self.counts[buffer] += usize::from(made.count);
        }
    }

    fn count(&self, buffer: usize) -> usize {
        self.counts.get(buffer).copied().unwrap_or(0)
    }

    /// Copies the commands to the target of the buffer that they read.
    fn copy(&self, commands: &[MeshCommands], words: &[u64], mut targets: Vec<&mut [DrawCommand]>) {
        for (&word, made) in words.iter().zip(&self.made) {
            let target = &mut targets[usize::from(made.buffer)];
            let (to, count) = (core::mem::take(target), usize::from(made.count));
            copy(to, &commands[mesh_of(word)], count);
            *target = &mut to[count..];
        }
    }
}

/// Number of a sorted mesh among the visible ones.
#[inline]
const fn mesh_of(word: u64) -> usize {
    word as u32 as usize
}

/// Copies the first commands of a mesh to the start of `to`. Their number is hard to predict. So all are copied if they
/// fit, and the next mesh overwrites the surplus.
#[inline]
fn copy(to: &mut [DrawCommand], from: &MeshCommands, count: usize) {
    match to.first_chunk_mut() {
        Some(to) => *to = *from,
        None => to[..count].copy_from_slice(&from[..count]),
    }
}
