//! dot_vox, with its silence broken: what it leaves out is an error here.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dot_vox::{DotVoxData, Model};

use super::fault::{Fault, SAVE_AGAIN};
use super::outline::{MAGIC, Numbered, Outline};
use super::packed::Unpacker;

/// Decodes bytes whose outline holds.
///
/// # Errors
/// Names the first chunk that dot_vox could not read.
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

/// All models in the order of the file: those that dot_vox has read, and packed ones between them.
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

/// dot_vox promises not to panic. Should it break that promise on some file, the file is
/// at fault, not the program that opens it.
fn load(bytes: &[u8]) -> Result<DotVoxData, Fault> {
    match catch_unwind(AssertUnwindSafe(|| dot_vox::load_bytes(bytes))) {
        Ok(Ok(data)) => Ok(data),
        Ok(Err(problem)) => Err(whole_file(problem)),
        Err(_) => Err(whole_file("its decoder gave up")),
    }
}

fn whole_file(problem: &str) -> Fault {
    Fault::new("byte 8".into(), problem.into(), SAVE_AGAIN)
}

/// Which of `chunks` dot_vox leaves out: it is given each alone, as a file of one chunk.
fn culprit(bytes: &[u8], chunks: &[Numbered], left_out: impl Fn(&DotVoxData) -> bool) -> Fault {
    let bad = chunks
        .iter()
        .find(|chunk| load(&file_of(bytes, &chunk.range)).is_ok_and(|data| left_out(&data)));
    match bad {
        None => whole_file("a chunk cannot be decoded"),
        Some(Numbered { id, range }) => {
            let name = bytes[range.start..range.start + 4].escape_ascii();
            let place = format!("chunk {name} at byte {}", range.start);
            let problem = format!("its content (number {id}) is cut off or is not text in UTF-8");
            Fault::new(place, problem, SAVE_AGAIN)
        }
    }
}

fn file_of(bytes: &[u8], chunk: &Range<usize>) -> Vec<u8> {
    let mut file = [MAGIC, &150_u32.to_le_bytes(), b"MAIN", &[0; 4]].concat();
    file.extend_from_slice(&(chunk.len() as u32).to_le_bytes());
    file.extend_from_slice(&bytes[chunk.clone()]);
    file
}
