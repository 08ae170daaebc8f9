//! Runs the Lua program once with an allocator that records its requests.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    collections::HashMap,
    ffi::{CStr, c_void},
    ptr,
};

use drystone_memory::Recorder;
use mlua::ffi;

use super::{
    statistics::Classes,
    trace::{Step, Trace},
};

const PROGRAM: &str = include_str!("program.lua");
/// Alignment of Lua's requests: that of its numbers and pointers.
const ALIGN: usize = 8;
/// Runs the program for `turns` turns. Returns all steps, and size classes for them.
pub(super) fn record(turns: usize) -> Result<(Trace, Classes), String> {
    let mut log = Log::new();
    let program = format!("local TURNS = {turns}\n{PROGRAM}");
    let hook = (&raw mut log).cast();
    // SAFETY: the hook keeps Lua's contract, and the log outlives the state, which is closed before
    // the log is read.
    let sum = unsafe {
        let state = ffi::lua_newstate(allocate, hook);
        if state.is_null() {
            return Err("out of memory for Lua".to_owned());
        }
        let sum = run(state, &program);
        ffi::lua_close(state);
        sum
    }?;
    if sum == 0 || log.is_wrong || !log.live.is_empty() {
        return Err(format!("the program returned {sum} and left {} blocks", log.live.len()));
    }
    let classes = Classes::of(&log.recorder.record());
    Ok((Trace { steps: log.steps, blocks: log.blocks as usize }, classes))
}

/// Returns the program's result, or Lua's error message.
///
/// # Safety
/// - The state is live and new.
unsafe fn run(state: *mut ffi::lua_State, program: &str) -> Result<i64, String> {
    // SAFETY: the state is live, and its stack has the values that the previous calls pushed.
    unsafe {
        ffi::luaL_openlibs(state);
        let name = c"=program".as_ptr();
        let loaded =
            ffi::luaL_loadbufferx(state, program.as_ptr().cast(), program.len(), name, ptr::null());
        if loaded == ffi::LUA_OK && ffi::lua_pcall(state, 0, 1, 0) == ffi::LUA_OK {
            return Ok(ffi::lua_tointegerx(state, -1, ptr::null_mut()));
        }
        let text = ffi::lua_tolstring(state, -1, ptr::null_mut());
        let text = if text.is_null() { c"unknown" } else { CStr::from_ptr(text) };
        Err(format!("Lua: {}", text.to_string_lossy()))
    }
}

/// Log of all steps. The numbers of freed blocks are reused.
struct Log {
    recorder: Recorder<System>,
    live: HashMap<usize, u32>,
    gone: Vec<u32>,
    blocks: u32,
    steps: Vec<Step>,
    is_wrong: bool,
}

impl Log {
    fn new() -> Self {
        Self {
            recorder: Recorder::new(System, &System),
            live: HashMap::new(),
            gone: Vec::new(),
            blocks: 0,
            steps: Vec::new(),
            is_wrong: false,
        }
    }

    fn add_block(&mut self, address: usize) -> u32 {
        let block = self.gone.pop().unwrap_or(self.blocks);
        self.blocks = self.blocks.max(block + 1);
        self.is_wrong |= self.live.insert(address, block).is_some();
        block
    }

    fn remove_block(&mut self, address: usize) -> u32 {
        let block = self.live.remove(&address);
        self.is_wrong |= block.is_none();
        block.unwrap_or(0)
    }
}

/// Allocation hook of Lua: allocates, frees or resizes a block.
///
/// # Safety
/// - `hook` is a live log without other users.
/// - `block` is null, or a live block of this function with `from` bytes.
unsafe extern "C" fn allocate(
    hook: *mut c_void,
    block: *mut c_void,
    from: usize,
    to: usize,
) -> *mut c_void {
    // SAFETY: the caller guarantees it.
    let log = unsafe { &mut *hook.cast::<Log>() };
    let layout = |bytes| Layout::from_size_align(bytes, ALIGN).unwrap_or(Layout::new::<u64>());
    let address = block.addr();
    // SAFETY: blocks are from the recorder, with the layout of their size. A requested size is not
    // zero.
    let (moved, number, from) = unsafe {
        match (block.is_null(), to) {
            (true, 0) => return ptr::null_mut(),
            (true, _) => {
                let moved = log.recorder.alloc(layout(to));
                (moved, if moved.is_null() { 0 } else { log.add_block(moved.addr()) }, 0)
            }
            (false, 0) => {
                log.recorder.dealloc(block.cast(), layout(from));
                let number = log.remove_block(address);
                log.gone.push(number);
                (ptr::null_mut(), number, from)
            }
            (false, _) => {
                let moved = log.recorder.realloc(block.cast(), layout(from), to);
                let number = log.remove_block(address);
                log.live.insert(if moved.is_null() { address } else { moved.addr() }, number);
                (moved, number, from)
            }
        }
    };
    if to == 0 || !moved.is_null() {
        log.steps.push(Step { block: number, from: from as u32, to: to as u32 });
    }
    moved.cast()
}
