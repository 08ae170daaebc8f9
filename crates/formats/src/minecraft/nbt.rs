use super::problems::damaged;
use crate::fault::Fault;

/// Maximum nesting of compounds and lists, as in the game.
const MAX_DEPTH: u32 = 512;

/// Type tags of values.
pub(super) mod tag {
    pub(crate) const END: u8 = 0;
    pub(crate) const BYTE: u8 = 1;
    pub(crate) const SHORT: u8 = 2;
    pub(crate) const INT: u8 = 3;
    pub(crate) const LONG: u8 = 4;
    pub(crate) const FLOAT: u8 = 5;
    pub(crate) const DOUBLE: u8 = 6;
    pub(crate) const BYTES: u8 = 7;
    pub(crate) const STRING: u8 = 8;
    pub(crate) const LIST: u8 = 9;
    pub(crate) const COMPOUND: u8 = 10;
    pub(crate) const INTS: u8 = 11;
    pub(crate) const LONGS: u8 = 12;
}

/// Streaming reader of NBT, the game's tree of named values. Does not build the tree: skips values
/// that the caller does not read, and checks every length against the actual bytes.
///
/// # Cost
/// O(bytes). No memory except the stack, which [`MAX_DEPTH`] limits.
#[derive(Debug)]
pub(super) struct Nbt<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: u32,
}

impl<'a> Nbt<'a> {
    /// Starts reading. The entries of the root compound are next.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self, Fault> {
        let mut nbt = Self { bytes, at: 0, depth: 0 };
        match nbt.u8()? {
            tag::COMPOUND => {}
            other => return Err(nbt.bad(format!("begins with tag {other}, not with a compound"))),
        }
        nbt.string()?;
        Ok(nbt)
    }

    /// Calls `on` with each entry of a compound. `on` reads the value and returns true, or reads
    /// nothing and returns false.
    pub(super) fn entries(
        &mut self,
        mut on: impl FnMut(&mut Self, u8, &'a [u8]) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.deeper()?;
        loop {
            let kind = self.u8()?;
            if kind == tag::END {
                break;
            }
            let name = self.string()?;
            if !on(self, kind, name)? {
                self.skip(kind)?;
            }
        }
        self.depth -= 1;
        Ok(())
    }

    /// Reads the head of a list: type and number of its elements, which are next.
    pub(super) fn list(&mut self) -> Result<(u8, usize), Fault> {
        let kind = self.u8()?;
        // The game treats a negative length as 0.
        let count = usize::try_from(self.i32()?).unwrap_or(0);
        if kind == tag::END && count > 0 {
            return Err(self.bad(format!("a list of {count} elements without a kind")));
        }
        Ok((kind, count))
    }

    /// Reads text, in the game's modified UTF-8.
    pub(super) fn string(&mut self) -> Result<&'a [u8], Fault> {
        let length = u16::from_be_bytes(self.array()?);
        self.take(length.into())
    }

    /// Reads an array of big-endian elements of `size_bytes` bytes each.
    pub(super) fn elements(&mut self, size_bytes: usize) -> Result<&'a [u8], Fault> {
        let count = self.i32()?;
        let Ok(length) = usize::try_from(count) else {
            return Err(self.bad(format!("an array of {count} elements")));
        };
        self.take(length.saturating_mul(size_bytes))
    }

    /// Reads an integer of any width; `None` for another type, whose value is not read.
    pub(super) fn integer(&mut self, kind: u8) -> Result<Option<i64>, Fault> {
        Ok(Some(match kind {
            tag::BYTE => i8::from_be_bytes(self.array()?).into(),
            tag::SHORT => i16::from_be_bytes(self.array()?).into(),
            tag::INT => self.i32()?.into(),
            tag::LONG => i64::from_be_bytes(self.array()?),
            _ => return Ok(None),
        }))
    }

    /// Skips a value.
    pub(super) fn skip(&mut self, kind: u8) -> Result<(), Fault> {
        match kind {
            tag::STRING => self.string().map(drop),
            tag::BYTES => self.elements(1).map(drop),
            tag::INTS => self.elements(4).map(drop),
            tag::LONGS => self.elements(8).map(drop),
            tag::COMPOUND => self.entries(|_, _, _| Ok(false)),
            tag::LIST => self.skip_list(),
            _ => match fixed_size(kind) {
                Some(size) => self.take(size).map(drop),
                None => Err(self.bad(format!("unknown tag {kind}"))),
            },
        }
    }

    fn skip_list(&mut self) -> Result<(), Fault> {
        let (kind, count) = self.list()?;
        if let Some(size) = fixed_size(kind) {
            return self.take(count.saturating_mul(size)).map(drop);
        }
        self.deeper()?;
        // Each other element takes at least one byte, so a false count reaches the end.
        for _ in 0..count {
            self.skip(kind)?;
        }
        self.depth -= 1;
        Ok(())
    }

    /// A problem at the current offset.
    pub(super) fn bad(&self, problem: String) -> Fault {
        damaged(format!("byte {} of its data: {problem}", self.at))
    }

    fn deeper(&mut self) -> Result<(), Fault> {
        if self.depth == MAX_DEPTH {
            return Err(self.bad(format!("nested more than {MAX_DEPTH} deep")));
        }
        self.depth += 1;
        Ok(())
    }

    fn u8(&mut self) -> Result<u8, Fault> {
        self.array().map(|[byte]| byte)
    }

    fn i32(&mut self) -> Result<i32, Fault> {
        self.array().map(i32::from_be_bytes)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Fault> {
        let bytes = self.take(N)?;
        bytes.try_into().map_err(|_| self.bad("ends too early".into()))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Fault> {
        let left = self.bytes.get(self.at..).unwrap_or_default();
        match left.get(..length) {
            Some(bytes) => {
                self.at += length;
                Ok(bytes)
            }
            None => Err(self.bad(format!("needs {length} bytes, but {} remain", left.len()))),
        }
    }
}

/// Size in bytes of a value of fixed size; 0 for the end of a compound.
fn fixed_size(kind: u8) -> Option<usize> {
    match kind {
        tag::END => Some(0),
        tag::BYTE => Some(1),
        tag::SHORT => Some(2),
        tag::INT | tag::FLOAT => Some(4),
        tag::LONG | tag::DOUBLE => Some(8),
        _ => None,
    }
}
