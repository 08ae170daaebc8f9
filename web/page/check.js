// Worker that checks a file with a separate instance of the program, which damage may stop; see src/check.rs.
import { check } from './drystone_web.js';
import { load } from './program.js';

self.addEventListener('message', async ({ data: file }) => {
  try {
    await load(false);
    const isEdits = check(file.name, new Uint8Array(await file.arrayBuffer()));
    self.postMessage({ isEdits });
  } catch (error) {
    self.postMessage({ error: `${error}`, isBroken: error instanceof WebAssembly.RuntimeError });
  }
});
