use crate::fault::Fault;
use crate::model::fault::{EXPORT_AGAIN, malformed};

/// Advice for a file that ends too early.
const GET_AGAIN: &str = "the file is incomplete or damaged: copy or download it again";
const MAGIC: &[u8] = b"glTF";
const VERSION: u32 = 2;
/// Length of a binary file's head, in bytes.
const HEAD_BYTES: usize = 12;
/// Length of the head of each chunk, in bytes.
const CHUNK_HEAD_BYTES: usize = 8;

/// JSON of a file, and the buffer in the file itself.
///
/// ```text
///  .glb   glTF 2 length │ length JSON … │ length BIN … │ other chunks, ignored
///  .gltf  {"asset": …}
/// ```
#[derive(Debug)]
pub(super) struct Container<'a> {
    pub(super) json: &'a [u8],
    pub(super) binary: Option<&'a [u8]>,
}

impl<'a> Container<'a> {
    pub(super) fn split(bytes: &'a [u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(MAGIC) {
            let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            return Ok(Self { json, binary: None });
        }
        let (Some(version), Some(length)) = (word(bytes, 4), word(bytes, 8)) else {
            return Err(cut(0, format!("the head takes {HEAD_BYTES} bytes")));
        };
        if version != VERSION {
            let problem = format!("version {version}, only {VERSION} is supported");
            return Err(malformed("byte 4", problem));
        }
        let (claimed, len) = (length as usize, bytes.len());
        let Some(bytes) = bytes.get(..claimed) else {
            return Err(cut(8, format!("claims {claimed} bytes, but has {len}")));
        };
        let mut chunks = Chunks { bytes, at: HEAD_BYTES };
        let json = match chunks.next().transpose()? {
            Some((b"JSON", json)) => json,
            _ => return Err(malformed(format!("byte {HEAD_BYTES}"), "no JSON chunk")),
        };
        let binary = match chunks.next().transpose()? {
            Some((b"BIN\0", binary)) => Some(binary),
            _ => None,
        };
        chunks.try_for_each(|chunk| chunk.map(|_| ()))?;
        Ok(Self { json, binary })
    }
}

/// Name and content of a chunk.
type Chunk<'a> = (&'a [u8], &'a [u8]);

struct Chunks<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        let left = self.bytes.get(start..).filter(|left| !left.is_empty())?;
        let Some((head, left)) = left.split_at_checked(CHUNK_HEAD_BYTES) else {
            self.at = self.bytes.len();
            return Some(Err(cut(start, format!("a chunk's head takes {CHUNK_HEAD_BYTES} bytes"))));
        };
        let length = word(head, 0).unwrap_or_default() as usize;
        let Some(content) = left.get(..length) else {
            self.at = self.bytes.len();
            let problem = format!("a chunk claims {length} bytes, {} are left", left.len());
            return Some(Err(cut(start, problem)));
        };
        self.at = start + CHUNK_HEAD_BYTES + length;
        Some(Ok((&head[4..], content)))
    }
}

fn cut(at: usize, problem: String) -> Fault {
    let advice = if at == 0 { EXPORT_AGAIN } else { GET_AGAIN };
    Fault::new(format!("byte {at}"), problem, advice)
}

/// The `u32` at byte `at`.
fn word(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let chunks: Vec<u8> = chunks
            .iter()
            .flat_map(|(name, bytes)| {
                [&(bytes.len() as u32).to_le_bytes(), &name[..], bytes].concat()
            })
            .collect();
        let length = (HEAD_BYTES + chunks.len()) as u32;
        [MAGIC, &2_u32.to_le_bytes(), &length.to_le_bytes(), &chunks].concat()
    }

    #[test]
    fn chunks_are_found() {
        let bytes = file(&[(b"JSON", b"{}  "), (b"BIN\0", b"1234"), (b"MORE", b"")]);
        let container = Container::split(&bytes).unwrap();
        assert_eq!((container.json, container.binary), (&b"{}  "[..], Some(&b"1234"[..])));
        let bytes = file(&[(b"JSON", b"{}  "), (b"MORE", b"1234")]);
        assert_eq!(Container::split(&bytes).unwrap().binary, None);
        assert_eq!(Container::split(b"\xef\xbb\xbf{}").unwrap().json, b"{}");
    }

    #[test]
    fn cut_and_inconsistent_files_are_refused() {
        let bytes = file(&[(b"JSON", b"{}  "), (b"BIN\0", b"1234")]);
        for end in MAGIC.len()..bytes.len() {
            let mut cut = bytes[..end].to_vec();
            assert!(Container::split(&cut).is_err(), "{end}");
            // The same prefix with a correct length.
            if end > HEAD_BYTES {
                cut[8..12].copy_from_slice(&(end as u32).to_le_bytes());
                assert_eq!(Container::split(&cut).is_err(), end != 24, "{end}");
            }
        }
        for (chunks, problem) in [
            (&[][..], "byte 12: no JSON chunk"),
            (&[(b"BIN\0", &b"{}"[..])], "byte 12: no JSON chunk"),
        ] {
            let error = Container::split(&file(chunks))
                .unwrap_err()
                .in_file(crate::format::Format::Model, "a")
                .to_string();
            assert!(error.starts_with(&format!("a: {problem}")), "{error}");
        }
    }
}
