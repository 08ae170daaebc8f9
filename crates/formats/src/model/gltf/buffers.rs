use std::borrow::Cow;
use std::ops::RangeInclusive;

use gltf::json::{Index, Root, buffer};

use super::uri::{self, Uri};
use crate::error::SourceError;
use crate::fault::Fault;
use crate::model::WarningKind;
use crate::model::builder::Builder;
use crate::model::fault::{malformed, quoted};
use crate::model::files::NamedFiles;

/// Strides that the format allows, in bytes.
const STRIDES_BYTES: RangeInclusive<usize> = 4..=252;

/// Advice for a buffer whose name is refused.
const PUT_BESIDE: &str = "move the buffer into the model's folder and name it by a relative path";

/// Bytes of all buffers; `None` for a buffer whose name is refused.
pub(super) struct Buffers<'a>(Vec<Option<Cow<'a, [u8]>>>);

/// A resolved buffer view.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) bytes: &'a [u8],
    /// Distance of elements; `None` if they are packed.
    pub(super) stride_bytes: Option<usize>,
}

impl<'a> Buffers<'a> {
    /// Reads every buffer. `binary` is the buffer in the file itself.
    pub(super) fn read(
        root: &Root,
        binary: Option<&'a [u8]>,
        named_files: &mut NamedFiles,
        builder: &mut Builder,
    ) -> Result<Self, Fault> {
        let read = |(number, buffer): (usize, &buffer::Buffer)| {
            let location = format!("buffer {number}");
            let bytes: Cow<[u8]> = match (&buffer.uri, binary) {
                (None, Some(binary)) if number == 0 => binary.into(),
                (None, _) => {
                    return Err(malformed(location, "it has no URI and is not in this file"));
                }
                (Some(uri), _) => match uri::parse(uri) {
                    Ok(Uri::Data(bytes)) => bytes.into(),
                    Ok(Uri::File(name)) => match read_file(&name, &location, named_files)? {
                        Some(bytes) => bytes.into(),
                        None => {
                            builder.warn(WarningKind::OutsideFolder, location);
                            return Ok(None);
                        }
                    },
                    Err(problem) => return Err(malformed(location, problem)),
                },
            };
            let (claimed, there) = (buffer.byte_length.0, bytes.len());
            if there as u64 >= claimed {
                return Ok(Some(bytes));
            }
            Err(malformed(location, format!("claims {claimed} bytes, but has {there}")))
        };
        root.buffers.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The bytes of a view.
    pub(super) fn view(&self, root: &Root, index: Index<buffer::View>) -> Result<View<'_>, Fault> {
        let number = index.value();
        let location = format!("buffer view {number}");
        let Some(view) = root.buffer_views.get(number) else {
            let problem = format!("out of range, the file has {}", root.buffer_views.len());
            return Err(malformed(location, problem));
        };
        let buffer = view.buffer.value();
        let Some(bytes) = self.0.get(buffer) else {
            let problem = format!("buffer {buffer} of {}", self.0.len());
            return Err(malformed(location, problem));
        };
        let Some(bytes) = bytes else {
            let problem = "its name is not allowed: it could lead outside the model's folder";
            return Err(Fault::new(format!("buffer {buffer}"), problem, PUT_BESIDE));
        };
        let stride_bytes = view.byte_stride.map(|stride| stride.0).filter(|&it| it > 0);
        if let Some(stride) = stride_bytes
            && !STRIDES_BYTES.contains(&stride)
        {
            return Err(malformed(
                location,
                format!("a stride of {stride} bytes, 4 to 252 are allowed"),
            ));
        }
        let start = view.byte_offset.unwrap_or_default().0;
        match part(bytes, start, view.byte_length.0) {
            Some(bytes) => Ok(View { bytes, stride_bytes }),
            None => {
                let (length, there) = (view.byte_length.0, bytes.len());
                let problem =
                    format!("{length} bytes from byte {start}, but the buffer has {there}");
                Err(malformed(location, problem))
            }
        }
    }
}

/// Reads a buffer file; `None` if its name is refused.
fn read_file(
    name: &str,
    location: &str,
    named_files: &mut NamedFiles,
) -> Result<Option<Vec<u8>>, Fault> {
    named_files.read(name).map_err(|error| match error {
        SourceError::Unreadable { problem, .. } => {
            let problem = format!("{} cannot be read: {problem}", quoted(name.as_bytes()));
            Fault::new(location, problem, "put the buffer file into the model's folder")
        }
        error => Fault::Other(error),
    })
}

/// The range of `len` bytes from `start`, if it is within `bytes`.
pub(super) fn part(bytes: &[u8], start: u64, len: u64) -> Option<&[u8]> {
    let end = usize::try_from(start.checked_add(len)?).ok()?;
    bytes.get(usize::try_from(start).ok()?..end)
}
