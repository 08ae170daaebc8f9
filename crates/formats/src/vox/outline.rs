//! First pass over the bytes. Checks that every chunk is inside the file, that the bytes suffice
//! for every count, and that every voxel is inside its model.
//!
//! dot_vox silently skips chunks that are cut off or malformed, and follows nested chunks by
//! recursion. This module therefore validates all chunks before dot_vox reads them.

use std::ops::Range;

use super::packed::{MAX_PACKED_VOLUME, Packed};
use super::{NOT_VOX, SAVE_AGAIN};
use crate::fault::{Fault, GET_AGAIN, SPLIT};

/// First bytes of a `.vox` file.
pub(super) const MAGIC: &[u8] = b"VOX ";

/// Maximum side of a model, in voxels.
const MAX_MODEL_SIDE: u32 = 256;

/// Maximum size of chunks other than voxels, in bytes. Decoded chunks can take 16 times as much
/// memory, so this limits it to about 1 GiB. Real scenes stay below 4 MiB.
const MAX_SCENE_BYTES: usize = 64 << 20;

/// Length of a model's size, in bytes: three numbers.
const SIZE_BYTES: usize = 12;

/// Length of a chunk's head, in bytes: id, content length, children length.
const HEAD_BYTES: usize = 12;

/// A numbered chunk, and its range in the file including its head.
#[derive(Debug)]
pub(super) struct Numbered {
    pub(super) id: u32,
    pub(super) range: Range<usize>,
}

/// Contents of a file, in file order.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) model_count: usize,
    /// Whether the models are frames, if there is no scene: there is a PACK chunk.
    pub(super) is_animation: bool,
    /// Packed models, in file order.
    pub(super) packed: Vec<Packed>,
    pub(super) nodes: Vec<Numbered>,
    pub(super) layers: Vec<Numbered>,
    /// Size of the model whose voxels follow.
    size: Option<[u32; 3]>,
    scene_bytes: usize,
    /// Total size of all packed models, in voxels including empty ones.
    packed_volume: u64,
}

/// Validates all chunks of a file.
///
/// # Errors
/// The first invalid chunk, and its byte offset.
pub(super) fn outline(bytes: &[u8]) -> Result<Outline, Fault> {
    let at_byte =
        |at: usize, problem: String, advice| Err(Fault::new(format!("byte {at}"), problem, advice));
    if !bytes.starts_with(MAGIC) {
        return at_byte(0, "not a .vox file: it does not begin with \"VOX \"".into(), NOT_VOX);
    }
    let start = MAGIC.len() + 4;
    let main = Head::read(bytes, start.min(bytes.len()), bytes.len())?;
    if main.id != *b"MAIN" {
        return Err(main.fault("found instead of MAIN".into()));
    }
    if main.end() != bytes.len() {
        let extra = bytes.len() - main.end();
        return at_byte(main.end(), format!("{extra} bytes after the end of MAIN"), SAVE_AGAIN);
    }
    let mut outline = Outline::default();
    let mut at = main.children.start;
    while at < main.end() {
        let head = Head::read(bytes, at, main.end())?;
        at = head.end();
        outline.take(&head, bytes)?;
    }
    if outline.model_count == 0 {
        return Err(main.fault("no model (SIZE and XYZI) in the file".into()));
    }
    Ok(outline)
}

impl Outline {
    fn take(&mut self, head: &Head, bytes: &[u8]) -> Result<(), Fault> {
        if !head.children.is_empty() {
            return Err(head.fault("has chunks inside, which only MAIN may have".into()));
        }
        let content = &bytes[head.content.clone()];
        self.scene_bytes += HEAD_BYTES;
        match &head.id {
            b"PACK" => self.is_animation = true,
            b"SIZE" => self.size = Some(read_size(head, content)?),
            b"XYZI" => {
                check_voxels(head, content, self.size)?;
                self.model_count += 1;
            }
            b"TDCZ" => self.take_packed(head, content)?,
            b"RGBA" if !content.len().is_multiple_of(4) || content.len() > 1024 => {
                let problem = format!("{} bytes, not 4 for each of 256 colours", content.len());
                return Err(head.fault(problem));
            }
            b"nTRN" | b"nGRP" | b"nSHP" => self.nodes.push(head.numbered(content)?),
            b"LAYR" => self.layers.push(head.numbered(content)?),
            _ => {}
        }
        if matches!(&head.id, b"nTRN" | b"nGRP" | b"nSHP" | b"LAYR" | b"MATL") {
            self.scene_bytes += content.len();
        }
        if self.scene_bytes > MAX_SCENE_BYTES {
            let problem = format!("more than {MAX_SCENE_BYTES} bytes of scene up to here");
            return Err(Fault::new(head.location(), problem, SPLIT));
        }
        Ok(())
    }

    fn take_packed(&mut self, head: &Head, content: &[u8]) -> Result<(), Fault> {
        let Some((size, _)) = content.split_at_checked(SIZE_BYTES) else {
            return Err(head.fault(format!("{} bytes are too few for its size", content.len())));
        };
        let size = read_size(head, size)?;
        self.packed_volume += size.map(u64::from).iter().product::<u64>();
        if self.packed_volume > MAX_PACKED_VOLUME {
            let problem =
                format!("packed models of more than {MAX_PACKED_VOLUME} voxels up to here");
            return Err(Fault::new(head.location(), problem, SPLIT));
        }
        let range = head.content.start + SIZE_BYTES..head.content.end;
        self.packed.push(Packed {
            model: self.model_count,
            size,
            location: head.location(),
            range,
        });
        self.model_count += 1;
        Ok(())
    }
}

/// Head of a chunk that is completely inside the file.
struct Head {
    id: [u8; 4],
    start: usize,
    content: Range<usize>,
    children: Range<usize>,
}

impl Head {
    fn read(bytes: &[u8], start: usize, end: usize) -> Result<Self, Fault> {
        let cut = |location: String, problem: String| Err(Fault::new(location, problem, GET_AGAIN));
        let left = end - start;
        if left < HEAD_BYTES {
            let problem = format!("a chunk's head takes {HEAD_BYTES} bytes, {left} are left");
            return cut(format!("byte {start}"), problem);
        }
        let word = |i: usize| le_u32(&bytes[start + 4 * i..]) as usize;
        let id = [0, 1, 2, 3].map(|i| bytes[start + i]);
        if !id.iter().all(|b| b.is_ascii_graphic() || *b == b' ') {
            let problem = format!("\"{}\" is not the name of a chunk", id.escape_ascii());
            return cut(format!("byte {start}"), problem);
        }
        let body = start + HEAD_BYTES;
        let sizes = [word(1), word(2)];
        let head = Self {
            id,
            start,
            content: body..body.saturating_add(sizes[0]),
            children: body.saturating_add(sizes[0])
                ..body.saturating_add(sizes[0]).saturating_add(sizes[1]),
        };
        if head.end() > end {
            let (claimed, left) = (sizes[0].saturating_add(sizes[1]), end - body);
            let problem = format!("claims {claimed} bytes, but {left} remain");
            return cut(head.location(), problem);
        }
        Ok(head)
    }

    fn end(&self) -> usize {
        self.children.end
    }

    fn location(&self) -> String {
        format!("chunk {} at byte {}", self.id.escape_ascii(), self.start)
    }

    fn fault(&self, problem: String) -> Fault {
        Fault::new(self.location(), problem, SAVE_AGAIN)
    }

    fn numbered(&self, content: &[u8]) -> Result<Numbered, Fault> {
        if content.len() < 4 {
            return Err(self.fault(format!("{} bytes are too few for its number", content.len())));
        }
        Ok(Numbered { id: le_u32(content), range: self.start..self.end() })
    }
}

fn read_size(head: &Head, content: &[u8]) -> Result<[u32; 3], Fault> {
    if content.len() != SIZE_BYTES {
        return Err(head.fault(format!("{} bytes, not the {SIZE_BYTES} of a size", content.len())));
    }
    let size = [0, 1, 2].map(|axis| le_u32(&content[4 * axis..]));
    if size.iter().any(|&side| side > MAX_MODEL_SIDE) {
        let [x, y, z] = size;
        return Err(head.fault(format!(
            "a model of {x} x {y} x {z} voxels, at most {MAX_MODEL_SIDE} a side are taken"
        )));
    }
    Ok(size)
}

fn check_voxels(head: &Head, content: &[u8], size: Option<[u32; 3]>) -> Result<(), Fault> {
    let Some(size) = size else {
        return Err(head.fault("no SIZE before it".into()));
    };
    if content.len() < 4 {
        return Err(head.fault(format!("{} bytes are too few for its count", content.len())));
    }
    let (count, voxels) = (le_u32(content), &content[4..]);
    if voxels.len() as u64 != 4 * u64::from(count) {
        let bytes = voxels.len();
        return Err(head.fault(format!("claims {count} voxels of 4 bytes in {bytes} bytes")));
    }
    let outside = |v: &&[u8]| (0..3).any(|axis| u32::from(v[axis]) >= size[axis]);
    if let Some(v) = voxels.chunks_exact(4).find(outside) {
        let [x, y, z] = size;
        return Err(head.fault(format!(
            "a voxel at ({}, {}, {}) in a model of {x} x {y} x {z}",
            v[0], v[1], v[2]
        )));
    }
    Ok(())
}

/// Reads a little-endian `u32` from the first four bytes, which must exist.
fn le_u32(bytes: &[u8]) -> u32 {
    u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
