// Loads the program, see src/threads.rs: with a shared memory where the page is isolated from others.
import init, { module } from './drystone_web.js';
import { MEMORY } from './memory.js';

/// Bit of the flags of a memory: it is shared.
const SHARED = 2;
/// Number of times that a memory is halved for a browser that creates no larger one. Some reserve all of it.
const HALVINGS = 4;
/// Interval of looks whether a future can continue, in milliseconds: a picture of the GPU is done.
const LOOK_MS = 2;

/// Whether browsers let threads share the program's memory: it is built for them, and the page is isolated.
export const canShare = Boolean(MEMORY && self.crossOriginIsolated && self.TransformStream);

/// Creates a memory for the program. It is undefined if the program is not built for threads.
function newMemory(shared, halvings = 0) {
  if (!MEMORY) return undefined;
  try {
    const memory = new WebAssembly.Memory({ initial: MEMORY.initial, maximum: MEMORY.maximum >> halvings, shared });
    if (!shared || !Atomics.waitAsync) waitByLooking(memory);
    return memory;
  } catch (error) {
    if (halvings === HALVINGS) throw error;
    return newMemory(shared, halvings + 1);
  }
}

/// Replaces the browser's `Atomics.waitAsync`, which throws for a memory that is not shared: futures of a program
/// that is built for threads wait with it until a word of the memory changes.
function waitByLooking(memory) {
  Atomics.waitAsync = (_, index, value) => {
    const isChanged = () => new Int32Array(memory.buffer)[index] !== value;
    if (isChanged()) return { async: false };
    const changed = new Promise((done) => {
      const look = () => { if (isChanged()) done('ok'); else setTimeout(look, LOOK_MS); };
      setTimeout(look);
    });
    return { async: true, value: changed };
  };
}

/// Sets the bit of the program's file that says that its memory is shared.
function withShared() {
  let begun = 0;
  return new TransformStream({
    transform(part, out) {
      const at = MEMORY.flagsAt - begun;
      if (at >= 0 && at < part.length) part[at] |= SHARED;
      begun += part.length;
      out.enqueue(part);
    },
  });
}

/// Receives the program as one that shares its memory.
async function receiveShared() {
  const answer = await fetch(new URL('./drystone_web_bg.wasm', import.meta.url));
  if (!answer.ok) throw `The program cannot be loaded: the server answers ${answer.status}`;
  return new Response(answer.body.pipeThrough(withShared()), { headers: { 'Content-Type': 'application/wasm' } });
}

/// Creates a shared memory; `null` if the browser has none.
function sharedMemory() {
  try {
    return newMemory(true);
  } catch (error) {
    console.warn(`The program has one thread: ${error}`);
    return null;
  }
}

/// Loads the program, with a memory that threads can share if it `shares`. Returns what a worker needs to start an
/// instance of it, with a memory of its own.
export async function load(shares = canShare) {
  const memory = shares && sharedMemory();
  if (memory) await init({ module_or_path: receiveShared(), memory });
  else await init({ memory: newMemory(false) });
  return { program: module(), isShared: Boolean(memory) };
}

/// Starts an instance of a loaded program. Returns what a worker needs to be a thread of it. Without a
/// shared memory, loads the program again as one that needs none.
export async function start({ program, isShared }) {
  const memory = isShared && sharedMemory();
  if (isShared && !memory) return load(false);
  await init({ module_or_path: program, memory: memory || newMemory(false) });
  return { program, memory, isShared: Boolean(memory) };
}

/// Starts a thread of an instance, which has a stack of its own.
export const startThread = ({ program, memory }) => init({ module_or_path: program, memory });
