// Worker that draws on the CPU, so that the page's thread does not wait for pictures; see remote.js.
import { READS, openPage } from './opening.js';
import { canShare, start } from './program.js';
import { createThreads, startThreads } from './threads.js';

/// Time between two notes that a world is still being opened, in milliseconds.
const ALIVE_MS = 5_000;

/// Workers of threads. Their scripts are loaded while the program is.
const threads = canShare ? createThreads() : [];
const pages = new Map();
let picture = null;

/// Keeps the last picture until it is sent. Its bytes are in the program's memory, which cannot be sent.
const canvas = {
  isRemote: true,
  show(rgba, width, height) { picture = { rgba: rgba.slice(), width, height }; },
};

/// Calls a method of a page. Arguments that are pages are named by their numbers.
async function call(id, name, words) {
  if (name === 'open') return void pages.set(id, await openPage(...words));
  const page = pages.get(id);
  if (name === 'open_cpu') return page.open_cpu(canvas);
  if (name !== 'free') return page[name](...words.map((word) => pages.get(word?.id) ?? word));
  pages.delete(id);
  return page.free();
}

/// Answers a message. Messages without `isCall` are answered only if they fail.
async function answer({ count, id, name, words, isCall }) {
  // A server may be slower than the program may be silent.
  const alive = name === 'open' && words[1].remote && setInterval(() => self.postMessage({ count, begins: true }), ALIVE_MS);
  try {
    const value = await call(id, name, words);
    if (!isCall) return;
    const page = pages.get(id);
    const seen = Object.fromEntries(READS.map((read) => [read, page[read]()]));
    const buffers = [value, picture?.rgba].filter(ArrayBuffer.isView).map((view) => view.buffer);
    // An answer that cannot be received does not name its call.
    self.postMessage({ count, begins: true });
    self.postMessage({ count, id, value, seen, picture }, buffers);
    picture = null;
  } catch (error) {
    self.postMessage({ count, id, fault: `${error}`, isBroken: error instanceof WebAssembly.RuntimeError });
  } finally {
    clearInterval(alive);
  }
}

// Answers of servers come between messages.
self.addEventListener('unhandledrejection', ({ reason }) => {
  self.postMessage({ fault: `${reason}`, isBroken: reason instanceof WebAssembly.RuntimeError });
});
self.addEventListener('message', async ({ data: { loaded, faults } }) => {
  try {
    const instance = await start(loaded);
    if (instance.isShared) await startThreads(threads, instance, faults);
    else for (const thread of threads) thread.end();
    self.addEventListener('message', ({ data }) => answer(data));
    self.postMessage({ isStarted: true });
  } catch (error) {
    self.postMessage({ isStarted: false, reason: `${error}` });
  }
}, { once: true });
