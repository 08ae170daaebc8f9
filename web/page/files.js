// Files that come to the page and the one that leaves it.

/// A program in a browser has 4 GiB. While files are read, they are there up to three times, once of
/// these outside of it, beside the world that was shown before.
const MAX_FILES_BYTES = 1 << 30;
/// What stored worlds begin with.
const STORED = 'redb';
/// So long a file may be checked, in milliseconds, and so much longer for each of its MiB.
const CHECK_MS = 60_000;
const CHECK_MS_PER_MIB = 1_000;
/// A browser needs the address of a download only to begin it; so long it stays, in milliseconds.
const DOWNLOAD_MS = 60_000;

/// Reads a stored world where it may stop the program: its database may, at damage. Whether it holds
/// edits of another world.
const checked = (file) => new Promise((done, fail) => {
  const worker = new Worker(new URL('./check.js', import.meta.url), { type: 'module' });
  const seconds = (CHECK_MS + CHECK_MS_PER_MIB * file.size / (1 << 20)) / 1e3;
  const limit = setTimeout(() => end(`${file.name}: not opened, since checking it takes longer than ${seconds.toFixed(0)} s; drystone check reads it whole`), seconds * 1e3);
  const end = (error, isEdits) => {
    clearTimeout(limit);
    worker.terminate();
    if (error) fail(error); else done(isEdits);
  };
  worker.addEventListener('message', ({ data: { error, isBroken, isEdits } }) => end(isBroken
    ? `${file.name}: so damaged that reading it would stop this page; drystone check --repair saves what is whole`
    : error, isEdits));
  worker.addEventListener('error', (event) => end(`${file.name}: ${event.message ?? 'it cannot be checked'}`));
  worker.postMessage(file);
});

const isStored = async (file) => (await file.slice(0, STORED.length).text()) === STORED;

/// Why these cannot be opened, as far as it shows from outside.
export function whyNot(files) {
  if (files.length > 2) return 'Several files: drop one at a time, or a world together with its edits';
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const names = files.map((file) => file.name).join(', ');
  const how = files.length === 1 ? names : 'WORLD --edits EDITS';
  return size > MAX_FILES_BYTES && `${names}: ${size} bytes, at most ${MAX_FILES_BYTES} are taken; the viewer takes all: drystone ${how}`;
}

/// Which of one or two files is a world and which holds edits. Throws what is wrong with them.
export async function sorted(files) {
  const found = {};
  for (const file of files) {
    const kind = await isStored(file) && await checked(file) ? 'edits' : 'world';
    if (found[kind]) throw 'Several files: drop one at a time, or a world together with its edits';
    found[kind] = file;
  }
  return found;
}

export const bytesOf = async (file) => new Uint8Array(await file.arrayBuffer());

/// The address of the last download: as long as it is there, so are its bytes.
let last = null;

/// Has the browser keep these bytes as a file.
export function download(name, bytes) {
  if (last) URL.revokeObjectURL(last);
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  last = address;
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_MS);
}
