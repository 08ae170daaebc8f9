// Opens files, and downloads edits.
import { OPENS, isModel, listed, pathFrom } from './choosing.js';

/// Limit for all files together, in bytes. A program has 4 GiB. While files are read, there are up to
/// three copies, two of them in the program, next to the current world.
const MAX_FILES_BYTES = 1 << 30;
/// First bytes of a stored world.
const STORED = 'redb';
/// First bytes of all other files with a signature: voxels, binary glTF, PNG and TIFF.
const SIGNATURES = [STORED, 'VOX ', 'glTF', '\x89PNG', '\x89DSW', 'II*\0', 'MM\0*'];
/// Names of files without a signature.
const NAMED = /\.(vox|qb|mca|png|tiff?|hgt|obj|gltf|glb|drystone|dsw)$/i;
/// Time limit for checking a file, in milliseconds: a constant part, and a part per MiB.
const CHECK_MS = 60_000;
const CHECK_MS_PER_MIB = 1_000;
/// Time after which the address of a download is released, in milliseconds. The browser needs it only
/// to start the download.
const DOWNLOAD_MS = 60_000;

/// Checks a stored world in a worker, because its database may stop the program at damage. Returns
/// whether it contains edits of another world.
const checked = (file) => new Promise((done, fail) => {
  const worker = new Worker(new URL('./check.js', import.meta.url), { type: 'module' });
  const seconds = (CHECK_MS + CHECK_MS_PER_MIB * file.size / (1 << 20)) / 1e3;
  const limit = setTimeout(() => end(`${file.name}: not opened. Checking takes longer than ${seconds.toFixed(0)} s. Run drystone check to read all of it`), seconds * 1e3);
  const end = (error, isEdits) => {
    clearTimeout(limit);
    worker.terminate();
    if (error) fail(error); else done(isEdits);
  };
  worker.addEventListener('message', ({ data: { error, isBroken, isEdits } }) => end(isBroken
    ? `${file.name}: too damaged to open here. Run drystone check --repair to save the undamaged chunks`
    : error, isEdits));
  worker.addEventListener('error', (event) => end(`${file.name}: ${event.message ?? 'checking failed'}`));
  worker.postMessage(file);
});

/// Returns the first four bytes of a file, as characters.
const headOf = async (file) => String.fromCharCode(...new Uint8Array(await file.slice(0, 4).arrayBuffer()));

const isStored = async (file) => await headOf(file) === STORED;

const isKnown = async (file) => NAMED.test(file.name) || SIGNATURES.includes(await headOf(file));

const SEVERAL = 'Several files: drop one world, or a world together with its edits, or a model together with its files';

/// Returns why files cannot be opened, judging by their names, number and size; false if they can.
export function whyNot(files) {
  const models = files.filter(isModel);
  if (models.length > 1) return `Several models: drop ${models[0].name} or ${models[1].name}, each with its files`;
  const main = models.length > 0 ? models : files;
  const empty = main.find((file) => file.size === 0);
  if (empty) return `${empty.name}: the file is empty. If it is still being copied or downloaded, open it again afterwards`;
  const size = files.reduce((sum, file) => sum + file.size, 0);
  const how = files.length === 1 ? files[0].name : 'WORLD --edits EDITS';
  return size > MAX_FILES_BYTES && `${listed(files)}: ${size} bytes, at most ${MAX_FILES_BYTES} are supported here. Use the viewer: drystone ${how}`;
}

/// Returns which of the files is a world or a model, which contains edits, and which are `others`, which
/// belong to the model. Throws a message on errors.
export async function sorted(files) {
  const world = files.find(isModel);
  if (world) {
    const others = files.filter((file) => file !== world);
    for (const file of others) {
      if (await isStored(file)) throw `${file.name}: a polygon model has no edits. Open ${world.name} without it`;
    }
    return { world, others };
  }
  const found = { others: [] };
  for (const file of files) {
    if (!await isKnown(file)) throw `${file.name}: not a file that can be opened here. ${OPENS}`;
    const kind = await isStored(file) && await checked(file) ? 'edits' : 'world';
    if (found[kind]) throw SEVERAL;
    found[kind] = file;
  }
  return found;
}

/// Returns a world, or a model and the files that it names, for `openPage`.
export const worldOf = (file, others) => ({ file, others: others.map((other) => [pathFrom(other, file), other]) });

/// Address of the last download. It keeps the bytes in memory.
let last = null;

/// Downloads the bytes as a file.
export function download(name, bytes) {
  if (last) URL.revokeObjectURL(last);
  const address = URL.createObjectURL(new Blob([bytes], { type: 'application/octet-stream' }));
  last = address;
  Object.assign(document.createElement('a'), { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), DOWNLOAD_MS);
}
