//! Decodes a file with dot_vox. Chunks that dot_vox skips silently are errors here.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dot_vox::{DotVoxData, Model};

use super::SAVE_AGAIN;
use super::outline::{MAGIC, Numbered, Outline};
use super::packed::Unpacker;
use crate::fault::Fault;

/// Decodes bytes whose outline is valid.
///
/// # Errors
/// The first chunk that dot_vox cannot read.
pub(super) fn decode(bytes: &[u8], outline: &Outline) -> Result<DotVoxData, Fault> {
    let mut data = load(bytes)?;
    if data.models.len() + outline.packed.len() != outline.model_count {
        return Err(whole_file("a model cannot be decoded"));
    }
    if data.scenes.len() != outline.nodes.len() {
        return Err(culprit(bytes, &outline.nodes, |data| data.scenes.is_empty()));
    }
    if data.layers.len() != outline.layers.len() {
        return Err(culprit(bytes, &outline.layers, |data| data.layers.is_empty()));
    }
    data.models = with_packed(data.models, bytes, outline)?;
    Ok(data)
}

/// All models in file order: those that dot_vox has read, and the packed ones.
fn with_packed(models: Vec<Model>, bytes: &[u8], outline: &Outline) -> Result<Vec<Model>, Fault> {
    let (mut models, mut unpacker) = (models.into_iter(), Unpacker::new(bytes));
    let mut packed = outline.packed.iter().peekable();
    let all = (0..outline.model_count).filter_map(|number| {
        match packed.next_if(|packed| packed.model == number) {
            Some(packed) => Some(unpacker.unpack(packed)),
            None => models.next().map(Ok),
        }
    });
    all.collect()
}

/// Calls dot_vox, which promises not to panic. If it panics nevertheless, the file is reported as
/// damaged instead of ending the program.
fn load(bytes: &[u8]) -> Result<DotVoxData, Fault> {
    match catch_unwind(AssertUnwindSafe(|| dot_vox::load_bytes(bytes))) {
        Ok(Ok(data)) => Ok(data),
        Ok(Err(problem)) => Err(whole_file(problem)),
        Err(_) => Err(whole_file("the decoder panicked")),
    }
}

fn whole_file(problem: &str) -> Fault {
    Fault::new("byte 8", problem, SAVE_AGAIN)
}

/// The first of `chunks` that dot_vox skips: each is decoded alone, as a file of one chunk.
fn culprit(bytes: &[u8], chunks: &[Numbered], left_out: impl Fn(&DotVoxData) -> bool) -> Fault {
    let bad = chunks
        .iter()
        .find(|chunk| load(&file_of(bytes, &chunk.range)).is_ok_and(|data| left_out(&data)));
    match bad {
        None => whole_file("a chunk cannot be decoded"),
        Some(Numbered { id, range }) => {
            let name = bytes[range.start..range.start + 4].escape_ascii();
            let location = format!("chunk {name} at byte {}", range.start);
            let problem = format!("its content (number {id}) is cut off or is not UTF-8 text");
            Fault::new(location, problem, SAVE_AGAIN)
        }
    }
}

fn file_of(bytes: &[u8], chunk: &Range<usize>) -> Vec<u8> {
    let mut file = [MAGIC, &150_u32.to_le_bytes(), b"MAIN", &[0; 4]].concat();
    file.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
    file.extend_from_slice(&bytes[chunk.clone()]);
    file
}
