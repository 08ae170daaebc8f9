// Worker that is a thread of the program; see threads.js.
import { run_thread } from './drystone_web.js';
import { startThread } from './program.js';

self.addEventListener('message', async ({ data: { instance, faults } }) => {
  await startThread(instance);
  self.postMessage('ready');
  try {
    run_thread();
  } catch (error) {
    // The worker of the program waits for this thread, and handles no messages.
    new BroadcastChannel(faults).postMessage(`${error}`);
  }
}, { once: true });
