use std::borrow::Cow;
use std::ops::RangeInclusive;

use gltf::json::{Index, Root, buffer};

use super::uri::{self, Uri};
use crate::WorldError;
use crate::model::WarningKind;
use crate::model::builder::Builder;
use crate::model::fault::{Fault, quoted};
use crate::model::files::Beside;

/// How far apart the format allows elements to be.
const STRIDES_BYTES: RangeInclusive<usize> = 4..=252;

/// What to do about a buffer whose name is refused.
const PUT_BESIDE: &str = "put the buffer into the model's folder, and name it by a relative path";

/// The bytes of all buffers; `None` of one whose name is refused.
pub(super) struct Buffers<'a>(Vec<Option<Cow<'a, [u8]>>>);

/// A part of a buffer.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) bytes: &'a [u8],
    /// From one element to the next, where they are not packed.
    pub(super) stride_bytes: Option<usize>,
}

impl<'a> Buffers<'a> {
    /// Reads every buffer; `binary` is the one in the file itself.
    pub(super) fn read(
        root: &Root,
        binary: Option<&'a [u8]>,
        beside: &mut Beside,
        builder: &mut Builder,
    ) -> Result<Self, Fault> {
        let read = |(number, buffer): (usize, &buffer::Buffer)| {
            let place = format!("buffer {number}");
            let bytes: Cow<[u8]> = match (&buffer.uri, binary) {
                (None, Some(binary)) if number == 0 => binary.into(),
                (None, _) => return Err(Fault::new(place, "it is not in this file")),
                (Some(uri), _) => match uri::parse(uri) {
                    Ok(Uri::Data(bytes)) => bytes.into(),
                    Ok(Uri::File(name)) => match read_file(&name, &place, beside)? {
                        Some(bytes) => bytes.into(),
                        None => {
                            builder.warn(WarningKind::OutsideFolder, place);
                            return Ok(None);
                        }
                    },
                    Err(problem) => return Err(Fault::new(place, problem)),
                },
            };
            let (claimed, there) = (buffer.byte_length.0, bytes.len());
            if there as u64 >= claimed {
                return Ok(Some(bytes));
            }
            Err(Fault::new(place, format!("claims {claimed} bytes, there are {there}")))
        };
        root.buffers.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self)
    }

    /// The bytes of a view.
    pub(super) fn view(&self, root: &Root, index: Index<buffer::View>) -> Result<View<'_>, Fault> {
        let number = index.value();
        let place = format!("buffer view {number}");
        let Some(view) = root.buffer_views.get(number) else {
            let problem = format!("there are {}", root.buffer_views.len());
            return Err(Fault::new(place, problem));
        };
        let buffer = view.buffer.value();
        let Some(bytes) = self.0.get(buffer) else {
            let problem = format!("buffer {buffer} of {}", self.0.len());
            return Err(Fault::new(place, problem));
        };
        let Some(bytes) = bytes else {
            let problem = "its name is not that of a file in the model's folder";
            return Err(Fault::with_advice(format!("buffer {buffer}"), problem, PUT_BESIDE));
        };
        let stride_bytes = view.byte_stride.map(|stride| stride.0).filter(|&it| it > 0);
        if let Some(stride) = stride_bytes
            && !STRIDES_BYTES.contains(&stride)
        {
            return Err(Fault::new(place, format!("elements that are {stride} bytes apart")));
        }
        let start = view.byte_offset.unwrap_or_default().0;
        match part(bytes, start, view.byte_length.0) {
            Some(bytes) => Ok(View { bytes, stride_bytes }),
            None => {
                let (length, there) = (view.byte_length.0, bytes.len());
                let problem = format!("{length} bytes from byte {start} on, of {there}");
                Err(Fault::new(place, problem))
            }
        }
    }
}

/// The bytes of a file beside this one; `None` if its name is refused.
fn read_file(name: &str, place: &str, beside: &mut Beside) -> Result<Option<Vec<u8>>, Fault> {
    beside.read(name).map_err(|error| match error {
        WorldError::Unreadable { problem, .. } => {
            let problem = format!("{} cannot be read: {problem}", quoted(name.as_bytes()));
            Fault::with_advice(place, problem, "put that file beside this one")
        }
        error => Fault::Other(error),
    })
}

/// A part of some bytes, if it is within.
pub(super) fn part(bytes: &[u8], start: u64, len: u64) -> Option<&[u8]> {
    let end = usize::try_from(start.checked_add(len)?).ok()?;
    bytes.get(usize::try_from(start).ok()?..end)
}
