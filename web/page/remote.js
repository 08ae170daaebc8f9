// Pages of the worker: the program runs there, and the page's thread sends messages; see worker.js.
import { hideMessage, showMessage } from './messages.js';
import { READS } from './opening.js';

/// Methods without a result. Their errors are reported later.
const SENDS = [
  'click', 'drag', 'fingers', 'focus', 'free', 'key', 'look_from', 'measure', 'mouse', 'release_all', 'resize', 'undo', 'wheel',
];
/// Methods with a result, which is a promise.
const CALLS = [
  'begin_round', 'choose_quality', 'copy_quality', 'draw_round', 'end_round', 'frame', 'handed_over', 'is_idle', 'outline', 'save', 'saved',
  'set_hour', 'set_quality',
];
/// Methods that may edit, other than releases of keys.
const EDITS = ['click', 'key', 'undo'];
/// The key that begins editing.
const EDIT_KEY = 'KeyE';
/// Time limit for the start of the worker with a loaded program, in milliseconds.
const START_MS = 30_000;
/// Time without an answer that is reported, in milliseconds. A picture takes a hundredth of it; files may
/// take longer.
const SILENCE_MS = 20_000;
/// Delay of a timer after which the machine or the page has slept, and so has the worker, in milliseconds.
const SLEPT_MS = 5_000;

/// A page in the worker, with the methods of `Page`. Methods that read return what the last answer reported.
export class RemotePage {
  /// What the last answer reported, by the names of methods.
  seen = {};
  /// Number of the last message that may have edited, and of the last one that was answered.
  edited = 0;
  answered = 0;
  /// Number of the last key.
  keyed = 0;
  /// Number of the first message without an answer that may begin editing.
  began = Infinity;

  constructor(remote, id) {
    Object.assign(this, { remote, id });
  }

  /// Draws on the CPU from now on, to a canvas of the page's thread.
  open_cpu(canvas) {
    this.canvas = canvas;
    return this.remote.call(this, 'open_cpu', []);
  }

  /// Whether the worker has not answered to a key: what methods that read return may be outdated.
  has_new_keys() {
    return this.keyed > this.answered;
  }

  /// Waits until the worker has handled all messages before.
  async answered_all() {
    await this.is_idle();
  }

  /// Whether edits are not saved. An edit that the worker has not answered counts.
  is_edited() {
    return this.seen.is_edited || (this.edited > this.answered && (this.seen.is_editing || this.edited > this.began));
  }
}

for (const name of READS) RemotePage.prototype[name] ??= function () { return this.seen[name]; };
for (const name of SENDS) {
  RemotePage.prototype[name] = function (...words) {
    const count = this.remote.send(this, name, words);
    if (!EDITS.includes(name) || words[1] === 'up') return;
    this.edited = count;
    if (name === 'key') this.keyed = count;
    if (words[0] === EDIT_KEY) this.began = Math.min(this.began, count);
  };
}
for (const name of CALLS) RemotePage.prototype[name] = function (...words) { return this.remote.call(this, name, words); };

/// The program in a worker.
class Remote {
  #worker;
  #faults;
  #host;
  #pages = new Map();
  #calls = new Map();
  #count = 0;
  /// Number of the call whose answer comes next.
  #begun = 0;
  #silence = 0;
  #isSilent = false;

  /// `faults` is a channel of errors of threads, or null if there are none. `host.fail` receives errors with their
  /// pages; `host.hasEdits` returns whether edits are not saved.
  constructor(worker, faults, host) {
    [this.#worker, this.#faults, this.#host] = [worker, faults, host];
    if (faults) faults.onmessage = ({ data }) => this.#stop(data);
    worker.addEventListener('message', ({ data }) => this.#answer(data));
    worker.addEventListener('error', ({ message }) => this.#stop(message));
    const fault = 'The browser cannot receive the answer of the program';
    worker.addEventListener('messageerror', () => this.#answer({ count: this.#begun, fault }));
  }

  /// Opens a world; see `openPage`.
  async open(size, world, edits) {
    const page = new RemotePage(this, this.#count + 1);
    this.#pages.set(page.id, page);
    try {
      await this.call(page, 'open', [size, world, edits]);
    } catch (error) {
      this.#pages.delete(page.id);
      throw error;
    }
    return page;
  }

  /// Calls a method, and returns a promise of its result.
  call(page, name, words) {
    return new Promise((done, fail) => {
      this.#calls.set(this.send(page, name, words, true), { done, fail });
      this.#listen();
    });
  }

  /// Calls a method without a result. Returns the number of the message.
  send({ id }, name, words, isCall = false) {
    this.#count += 1;
    const plain = words.map((word) => (word instanceof RemotePage ? { id: word.id } : word));
    this.#worker.postMessage({ count: this.#count, id, name, words: plain, isCall });
    if (name === 'free') this.#pages.delete(id);
    return this.#count;
  }

  /// Ends the worker. Calls fail that it has not answered.
  end(error) {
    this.#worker.terminate();
    this.#faults?.close();
    for (const { fail } of this.#calls.values()) fail(error);
    this.#calls.clear();
    this.#endSilence();
  }

  #answer({ count, id, value, seen, picture, fault, isBroken, begins }) {
    if (begins) {
      this.#begun = count;
      return this.#endSilence();
    }
    const [page, call] = [this.#pages.get(id), this.#calls.get(count)];
    this.#calls.delete(count);
    this.#endSilence();
    if (isBroken) return this.#stop(fault);
    if (page && seen) Object.assign(page, { seen, answered: count, began: page.began > count ? page.began : Infinity });
    try {
      if (page && picture) page.canvas.show(picture.rgba, picture.width, picture.height);
    } catch (error) {
      return call.fail(error);
    }
    if (!fault) return call?.done(value);
    return call ? call.fail(fault) : this.#host.fail(page, fault);
  }

  /// Reports that the program has stopped.
  #stop(reason) {
    const error = new WebAssembly.RuntimeError(reason);
    this.end(error);
    this.#host.fail(null, error);
  }

  /// Waits for the next answer, unless it waits already.
  #listen() {
    if (this.#calls.size === 0 || this.#silence) return;
    const begun = performance.now();
    this.#silence = setTimeout(() => {
      if (performance.now() - begun < SILENCE_MS + SLEPT_MS) return this.#setSilent(true);
      this.#silence = 0;
      return this.#listen();
    }, SILENCE_MS);
  }

  /// Notes an answer, and waits for the next one.
  #endSilence() {
    clearTimeout(this.#silence);
    this.#silence = 0;
    if (this.#isSilent) this.#setSilent(false);
    this.#listen();
  }

  #setSilent(isSilent) {
    this.#isSilent = isSilent;
    hideMessage('worker');
    const loss = this.#host.hasEdits() ? ', which loses unsaved edits' : '';
    const seconds = SILENCE_MS / 1e3;
    if (isSilent) showMessage(`The program has not answered for ${seconds} s. Wait until it continues, or reload the page${loss}.`, 'worker');
  }
}

/// Starts a worker with the program, once it is `loaded`. Throws the reason if the browser starts none.
export const startRemote = (loaded, host) => new Promise((done, fail) => {
  const worker = new Worker(new URL('./worker.js', import.meta.url), { type: 'module' });
  let [limit, faults] = [0, null];
  const end = (isStarted, reason) => {
    clearTimeout(limit);
    worker.onmessage = null;
    worker.onerror = null;
    if (isStarted) return done(new Remote(worker, faults, host));
    worker.terminate();
    faults?.close();
    return fail(reason);
  };
  worker.onmessage = ({ data: { isStarted, reason } }) => end(isStarted, reason);
  worker.onerror = ({ message }) => end(false, message || 'the worker cannot be loaded');
  loaded.then((loaded) => {
    limit = setTimeout(() => end(false, `the worker has not started after ${START_MS / 1e3} s`), START_MS);
    if (loaded.isShared) {
      faults = new BroadcastChannel(`drystone-${Math.random()}`);
      faults.onmessage = ({ data }) => end(false, data);
    }
    worker.postMessage({ loaded, faults: faults?.name });
  }).catch((error) => end(false, `${error}`));
});
