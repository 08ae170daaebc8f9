// Threads of the program, in a worker; see src/threads.rs.
import { start_threads } from './drystone_web.js';

/// Largest number of threads. Each has a worker, and a stack of 2 MiB.
const MAX_THREADS = 16;
/// Time limit for the start of all threads, in milliseconds. Those that take longer are not used.
const START_MS = 5_000;

/// A worker that becomes a thread. Its script is loaded at once.
class Thread {
  #worker = new Worker(new URL('./thread.js', import.meta.url), { type: 'module' });
  /// Resolves to the reason if the thread does not start, else to an empty string.
  started = new Promise((done) => {
    this.#worker.onmessage = ({ data: reason }) => done(reason);
    this.#worker.onmessageerror = () => done('the browser cannot send it the program');
    this.#worker.onerror = (event) => {
      event.preventDefault();
      done(event.message || 'its script cannot be loaded');
    };
  });

  start(instance, faults) {
    this.#worker.postMessage({ instance, faults });
    const late = new Promise((done) => setTimeout(done, START_MS, `not within ${START_MS / 1e3} s`));
    return Promise.race([this.started, late]);
  }

  end() {
    this.#worker.terminate();
  }
}

/// Returns a worker for each core, if there are several.
export function createThreads() {
  const count = Math.min(navigator.hardwareConcurrency, MAX_THREADS);
  return count < 2 ? [] : Array.from({ length: count }, () => new Thread());
}

/// Starts the threads of an instance of the program whose memory is shared. An error of a thread is sent to the
/// broadcast channel `faults`.
export async function startThreads(threads, instance, faults) {
  const reasons = await Promise.all(threads.map((thread) => thread.start(instance, faults)));
  const failed = reasons.filter(Boolean);
  if (failed.length > 0) console.warn(`${failed.length} of ${threads.length} threads do not start: ${failed[0]}`);
  const count = threads.length - failed.length;
  if (count >= 2) start_threads(count);
}
