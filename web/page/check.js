// Worker that checks a file with a separate instance of the program, which damage may stop; see src/check.rs.
import init, { check } from './drystone_web.js';

self.addEventListener('message', async ({ data: file }) => {
  try {
    await init();
    const isEdits = check(file.name, new Uint8Array(await file.arrayBuffer()));
    self.postMessage({ isEdits });
  } catch (error) {
    self.postMessage({ error: `${error}`, isBroken: error instanceof WebAssembly.RuntimeError });
  }
});
