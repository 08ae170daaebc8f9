// Reads a file in a program of its own, which may stop at what is in it; see src/check.rs.
import init, { check } from './drystone_web.js';

self.addEventListener('message', async ({ data: file }) => {
  try {
    await init();
    check(file.name, new Uint8Array(await file.arrayBuffer()));
    self.postMessage({});
  } catch (error) {
    self.postMessage({ error: `${error}`, isBroken: error instanceof WebAssembly.RuntimeError });
  }
});
