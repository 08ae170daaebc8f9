//! The memory that a program imports.

use wasmparser::{Parser, Payload, TypeRef};

/// Bit of the flags of a memory's limits: the memory is shared between threads. From the binary format of the
/// threads proposal.
const SHARED: u8 = 2;

/// A shared memory that a program imports.
#[derive(Debug, PartialEq)]
pub(crate) struct SharedMemory {
    /// Sizes in pages of 64 KiB.
    pub(crate) initial: u64,
    pub(crate) maximum: u64,
    /// Position of its flags in the file.
    pub(crate) flags_at: usize,
}

/// Returns the shared memory that a program imports; `None` if it imports none.
pub(crate) fn find_shared(program: &[u8]) -> Result<Option<SharedMemory>, String> {
    for payload in Parser::new(0).parse_all(program) {
        let Payload::ImportSection(section) = payload.map_err(|error| error.to_string())? else {
            continue;
        };
        for import in section.into_imports_with_offsets() {
            let (at, import) = import.map_err(|error| error.to_string())?;
            let TypeRef::Memory(memory) = import.ty else { continue };
            if !memory.shared {
                return Ok(None);
            }
            // Two names with their lengths, each of one byte, and the kind precede.
            let flags_at = at + 1 + import.module.len() + 1 + import.name.len() + 1;
            if program.get(flags_at).is_none_or(|flags| flags & SHARED == 0) {
                return Err(format!("no flags of a shared memory at byte {flags_at}"));
            }
            let maximum = memory.maximum.ok_or("a shared memory without a maximum")?;
            return Ok(Some(SharedMemory { initial: memory.initial, maximum, flags_at }));
        }
    }
    Ok(None)
}

/// Changes whether the memory of a program is shared.
pub(crate) fn set_shared(program: &mut [u8], memory: &SharedMemory, is_shared: bool) {
    let flags = &mut program[memory.flags_at];
    *flags = if is_shared { *flags | SHARED } else { *flags & !SHARED };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that imports `m.f`, a function, and `n.m`, a memory of 2 to 200 pages with these flags.
    fn program(flags: u8) -> Vec<u8> {
        let types = [1, 4, 1, 0x60, 0, 0];
        let imports = [2, 16, 2, 1, b'm', 1, b'f', 0, 0, 1, b'n', 1, b'm', 2, flags, 2, 0xc8, 1];
        [&b"\0asm\x01\0\0\0"[..], &types, &imports].concat()
    }

    #[test]
    fn a_shared_memory_is_found_and_marked_as_not_shared() {
        let mut bytes = program(3);
        let memory = find_shared(&bytes).unwrap().unwrap();
        assert_eq!((memory.initial, memory.maximum), (2, 200));
        assert_eq!(bytes[memory.flags_at], 3);
        set_shared(&mut bytes, &memory, false);
        assert_eq!(bytes, program(1));
        assert_eq!(find_shared(&bytes), Ok(None));
        set_shared(&mut bytes, &memory, true);
        assert_eq!(bytes, program(3));
    }

    #[test]
    fn a_program_that_imports_no_memory_has_none() {
        assert_eq!(find_shared(b"\0asm\x01\0\0\0"), Ok(None));
        assert!(find_shared(b"not a program").is_err());
    }
}
