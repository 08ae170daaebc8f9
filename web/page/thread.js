// Worker that is a thread of the program; see threads.js.
import { run_thread } from './drystone_web.js';
import { startThread } from './program.js';

self.addEventListener('message', async ({ data: { instance, faults } }) => {
  try {
    await startThread(instance);
  } catch (error) {
    self.postMessage(`${error}`);
    return;
  }
  self.postMessage('');
  try {
    run_thread();
  } catch (error) {
    // The worker of the program waits for this thread, and handles no messages.
    new BroadcastChannel(faults).postMessage(`${error}`);
  }
}, { once: true });
