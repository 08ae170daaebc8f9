// Worlds at addresses: carries out the requests of the program, on the thread that has it.
import { RemoteWorld, front_needed } from './drystone_web.js';

/// Length of the longest header of a packed world, in bytes.
const FRONT_BYTES = 65536;
/// Time limit for the first answer, time for which requests fail until opening is given up, between two requests for
/// the first answer, and between two looks at requests, in milliseconds.
const FIRST_MS = 30_000;
const PATIENCE_MS = 10_000;
const AGAIN_MS = 500;
const LOOK_MS = 10;

const NO_PARTS = 'the server cannot send parts of files (no range requests)';
const UNREACHED = 'the server cannot be reached, redirects elsewhere, or does not allow pages of other servers to read it (CORS)';

/// Why a status refuses a part.
const refusal = (status) => ({
  200: NO_PARTS, 403: 'the server denies access (403)', 404: 'the server has no such file (404)',
}[status] ?? `the server answers with status ${status}`);

/// Receives the bytes from `start` to `end`, fewer at the end of the file. Calls `heard` for each part that comes.
/// Throws a message.
async function receive(address, start, end, { signal, heard = () => {} } = {}) {
  let response;
  try {
    response = await fetch(address, { headers: { range: `bytes=${start}-${end - 1}` }, credentials: 'omit', redirect: 'error', signal });
  } catch {
    throw UNREACHED;
  }
  if (response.status !== 206) {
    response.body?.cancel();
    throw refusal(response.status);
  }
  const bytes = new Uint8Array(end - start);
  let length = 0;
  for (const reader = response.body.getReader();;) {
    const { done, value } = await reader.read();
    if (done) break;
    heard();
    if (length + value.length > bytes.length) {
      reader.cancel();
      throw 'the server has sent more than was requested';
    }
    bytes.set(value, length);
    length += value.length;
  }
  // Servers need not let pages of others read the tag, but they can read the date.
  return { bytes: bytes.subarray(0, length), tag: response.headers.get('etag') ?? response.headers.get('last-modified') };
}

/// Receives the start of a file. Asks again for a while if the server answers that it fails. Throws a message if
/// that takes too long.
async function receiveFront(address, end) {
  const slow = new AbortController();
  const limit = setTimeout(() => slow.abort(), FIRST_MS);
  try {
    for (const begun = performance.now();;) {
      try {
        return await receive(address, 0, end, { signal: slow.signal });
      } catch (problem) {
        const mayPass = /status (429|5..)$/.test(problem) && performance.now() - begun < PATIENCE_MS;
        if (!mayPass) throw slow.signal.aborted ? `the server has not answered for ${FIRST_MS / 1e3} s` : problem;
        await new Promise((done) => setTimeout(done, AGAIN_MS));
      }
    }
  } finally {
    clearTimeout(limit);
  }
}

/// Requests of a world.
class Network {
  #running = new Map();
  #isClosed = false;

  constructor(address, requests, tag) {
    Object.assign(this, { address, requests, tag });
  }

  /// Sends and cancels what the program wants now.
  poll() {
    const steps = this.requests.steps();
    for (let i = 0; i < steps.length; i += 3) {
      const [id, start, end] = steps.subarray(i, i + 3);
      if (end > 0) this.#send(id, start, end);
      else this.#running.get(id)?.abort();
    }
  }

  async #send(id, start, end) {
    const cancel = new AbortController();
    this.#running.set(id, cancel);
    try {
      const { bytes, tag } = await receive(this.address, start, end, { signal: cancel.signal, heard: () => this.requests.heard(id) });
      const isReplaced = this.tag && tag && tag !== this.tag;
      if (isReplaced) this.requests.lost(id, 'the file was replaced while it was read');
      else this.requests.received(id, bytes);
    } catch (problem) {
      if (problem instanceof WebAssembly.RuntimeError) throw problem;
      if (!cancel.signal.aborted) this.requests.failed(id, `${problem}`);
    }
    this.#running.delete(id);
    if (!this.#isClosed) this.poll();
  }

  /// Cancels all requests.
  close() {
    this.#isClosed = true;
    for (const cancel of this.#running.values()) cancel.abort();
  }
}

/// Opens the packed world at an address, with all that a page needs before its first picture. Throws a message.
export async function openRemote(address) {
  let network = null;
  try {
    let { bytes, tag } = await receiveFront(address, FRONT_BYTES);
    const needed = front_needed(bytes, address);
    if (needed > bytes.length) ({ bytes, tag } = await receiveFront(address, needed));
    const world = new RemoteWorld(address, bytes);
    network = new Network(address, world.requests(), tag);
    for (let fine = performance.now(); !world.is_ready();) {
      network.poll();
      await new Promise((done) => setTimeout(done, LOOK_MS));
      if (!world.problem()) fine = performance.now();
      if (performance.now() - fine > PATIENCE_MS) throw world.problem();
    }
    return { world, network };
  } catch (problem) {
    network?.close();
    if (problem instanceof WebAssembly.RuntimeError) throw problem;
    throw `${problem}`.startsWith(address) ? problem : `${address}: ${problem}`;
  }
}
