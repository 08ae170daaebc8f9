use gltf::json::accessor::{Accessor, ComponentType, Type, sparse};
use gltf::json::validation::Checked;
use gltf::json::{Index, Root};

use super::buffers::{Buffers, View, part};
use super::{Document, no_memory};
use crate::fault::Fault;
use crate::model::fault::malformed;

/// Maximum number of elements of an accessor without a view: no bytes limit their number.
const MAX_ZEROS: u64 = 1 << 16;

/// Elements of an accessor: its view, or zeros if it has none, with replacements by index if it is
/// sparse.
pub(super) struct Elements<'a> {
    pub(super) number: usize,
    pub(super) count: u64,
    pub(super) kind: Type,
    pub(super) component: ComponentType,
    is_normalized: bool,
    dense: Option<View<'a>>,
    sparse: Sparse<'a>,
}

/// Replaced elements: increasing indices, and the bytes of the elements.
#[derive(Default)]
struct Sparse<'a> {
    indices: Vec<u64>,
    values: &'a [u8],
}

impl<'a> Elements<'a> {
    /// Resolves an accessor and checks that all of its elements exist.
    pub(super) fn new(document: &'a Document, index: Index<Accessor>) -> Result<Self, Fault> {
        let Document { root, buffers } = document;
        let number = index.value();
        let location = format!("accessor {number}");
        let bad = |problem: String| malformed(&location, problem);
        let Some(accessor) = root.accessors.get(number) else {
            return Err(bad(format!("out of range, the file has {}", root.accessors.len())));
        };
        let (Checked::Valid(kind), Checked::Valid(component)) =
            (accessor.type_, accessor.component_type)
        else {
            return Err(bad("a type unknown to glTF".into()));
        };
        let mut elements = Self {
            number,
            count: accessor.count.0,
            kind,
            component: component.0,
            is_normalized: accessor.normalized,
            dense: None,
            sparse: Sparse::default(),
        };
        if let Some(view) = accessor.buffer_view {
            let view = buffers.view(root, view)?;
            let start = accessor.byte_offset.unwrap_or_default().0;
            elements.dense = Some(elements.fit(view, start, elements.count).map_err(bad)?);
        } else if elements.count > MAX_ZEROS {
            let count = elements.count;
            let problem = format!("claims {count} elements without a view, at most {MAX_ZEROS}");
            return Err(bad(problem));
        }
        if let Some(sparse) = &accessor.sparse {
            elements.sparse = elements.read_sparse(root, buffers, sparse, &location)?;
        }
        Ok(elements)
    }

    /// Whether the elements have this type and one of these component types.
    pub(super) fn is_of(&self, kind: Type, components: &[ComponentType]) -> bool {
        self.kind == kind && components.contains(&self.component)
    }

    /// The components of an element, at most as many as its type has. Zeros beyond the last
    /// element.
    pub(super) fn get<const N: usize>(&self, index: u64) -> [f64; N] {
        let bytes = self.bytes(index).unwrap_or_default();
        let size = self.component.size();
        std::array::from_fn(|n| {
            let bytes = bytes.get(n * size..).unwrap_or_default();
            component(bytes, self.component, self.is_normalized).unwrap_or(0.0)
        })
    }

    /// The elements without normalisation. Used for indices.
    pub(super) fn unscaled(self) -> Self {
        Self { is_normalized: false, ..self }
    }

    fn bytes(&self, index: u64) -> Option<&'a [u8]> {
        let size = self.size_bytes();
        if let Ok(n) = self.sparse.indices.binary_search(&index) {
            return self.sparse.values.get(n * size..)?.get(..size);
        }
        let View { bytes, stride_bytes } = self.dense?;
        let start = usize::try_from(index).ok()?.checked_mul(stride_bytes.unwrap_or(size))?;
        bytes.get(start..)?.get(..size)
    }

    fn size_bytes(&self) -> usize {
        self.component.size() * self.kind.multiplicity()
    }

    /// The view from `start`, if `count` elements fit into it.
    fn fit<'v>(&self, view: View<'v>, start: u64, count: u64) -> Result<View<'v>, String> {
        let size = self.size_bytes() as u64;
        let stride = view.stride_bytes.map_or(size, |stride| stride as u64);
        let needed = match count {
            0 => Some(0),
            _ => (count - 1).checked_mul(stride).and_then(|bytes| bytes.checked_add(size)),
        };
        let left = (view.bytes.len() as u64).checked_sub(start);
        match (needed, left) {
            (Some(needed), Some(left)) if needed <= left => {
                let bytes = part(view.bytes, start, left).unwrap_or_default();
                Ok(View { bytes, ..view })
            }
            _ => Err(format!(
                "claims {count} elements of {size} bytes, {stride} apart, from byte {start}, but \
                 the view has {} bytes",
                view.bytes.len()
            )),
        }
    }

    fn read_sparse(
        &self,
        root: &Root,
        buffers: &'a Buffers,
        it: &sparse::Sparse,
        location: &str,
    ) -> Result<Sparse<'a>, Fault> {
        let bad = |problem: String| malformed(location, problem);
        let count = it.count.0;
        let Checked::Valid(index_type) = it.indices.component_type else {
            return Err(bad("sparse indices of a type unknown to glTF".into()));
        };
        let values = buffers.view(root, it.values.buffer_view)?;
        let packed = View { stride_bytes: None, ..values };
        let values = self.fit(packed, it.values.byte_offset.0, count).map_err(bad)?.bytes;
        let view = buffers.view(root, it.indices.buffer_view)?;
        let size = index_type.0.size();
        let bytes = count.checked_mul(size as u64);
        let bytes = bytes.and_then(|len| part(view.bytes, it.indices.byte_offset.0, len));
        let Some(bytes) = bytes else {
            return Err(bad(format!("claims {count} sparse indices, but its view has fewer")));
        };
        let mut indices: Vec<u64> = Vec::new();
        indices.try_reserve_exact(bytes.len() / size).map_err(|_| no_memory(location))?;
        let read = |bytes: &[u8]| component(bytes, index_type.0, false).unwrap_or(0.0) as u64;
        indices.extend(bytes.chunks_exact(size).map(read));
        let increase = indices.windows(2).all(|pair| pair[0] < pair[1]);
        if !increase || indices.last().is_some_and(|&last| last >= self.count) {
            let problem =
                format!("sparse indices that do not increase or are above {}", self.count);
            return Err(bad(problem));
        }
        Ok(Sparse { indices, values })
    }
}

/// The first number in `bytes`.
fn component(bytes: &[u8], kind: ComponentType, is_normalized: bool) -> Option<f64> {
    let (number, largest): (f64, f64) = match kind {
        ComponentType::I8 => (i8::from_le_bytes(*bytes.first_chunk()?).into(), i8::MAX.into()),
        ComponentType::U8 => (u8::from_le_bytes(*bytes.first_chunk()?).into(), u8::MAX.into()),
        ComponentType::I16 => (i16::from_le_bytes(*bytes.first_chunk()?).into(), i16::MAX.into()),
        ComponentType::U16 => (u16::from_le_bytes(*bytes.first_chunk()?).into(), u16::MAX.into()),
        ComponentType::U32 => (u32::from_le_bytes(*bytes.first_chunk()?).into(), u32::MAX.into()),
        ComponentType::F32 => return Some(f32::from_le_bytes(*bytes.first_chunk()?).into()),
    };
    Some(if is_normalized { f64::max(number / largest, -1.0) } else { number })
}
