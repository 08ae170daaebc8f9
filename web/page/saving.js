// Saves edits: to a file that the user picks, if the browser supports that, else as a download.
import { linkOf } from './address.js';
import { download } from './files.js';
import { showMessage } from './messages.js';

const TYPES = [{ description: 'edits', accept: { 'application/octet-stream': ['.drystone'] } }];
const STILL_HERE = 'The edits are still here, not saved.';

/// The file that the user picked for a `Page`. The next save overwrites it.
const picked = new WeakMap();
let isSaving = false;

/// Returns the file to write, or `null` if the browser cannot pick files. Throws if the user picked none.
async function pick(it) {
  if (picked.has(it)) return picked.get(it);
  if (!window.showSaveFilePicker) return null;
  try {
    return await window.showSaveFilePicker({ suggestedName: it.edits_name(), types: TYPES });
  } catch (error) {
    if (error.name === 'AbortError') throw 'No file was chosen';
    // In a frame of another site, or too long after the key press: download instead.
    if (error.name === 'SecurityError') return null;
    throw error;
  }
}

async function write(it, file, bytes) {
  try {
    const stream = await file.createWritable();
    await stream.write(bytes);
    // The file is complete only after this.
    await stream.close();
  } catch (error) {
    picked.delete(it);
    throw `${file.name}: ${error}`;
  }
  picked.set(it, file);
}

/// Records the save in the page. The page may be closed by now, or busy with opening a device. Then its
/// edits count as not saved, and closing asks once more.
async function record(it, file) {
  try {
    if (file) await it.saved(file.name);
    else await it.handed_over();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
  }
}

/// Saves the edits of a `Page`. Returns an empty text, or the reason of a failure. Throws if the program
/// has panicked.
export async function saveEdits(it) {
  if (isSaving) return 'The last save is still in progress. Save again afterwards';
  isSaving = true;
  try {
    const bytes = await it.save();
    if (!bytes) return '';
    const file = await pick(it);
    if (file) await write(it, file, bytes);
    else download(it.next_name(), bytes);
    await record(it, file);
    return '';
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return `${error}. ${STILL_HERE}`;
  } finally {
    isSaving = false;
  }
}

/// Copies the address of a world with the camera, as options of the command line. Shows it where the browser does not
/// allow to copy.
export async function copyLink(world, camera) {
  const link = linkOf(world, camera);
  if (!link) {
    showMessage('A world from a file has no link. On a web server, a packed world has one: ?world=ADDRESS');
    return;
  }
  try {
    await navigator.clipboard.writeText(link);
    showMessage('The link was copied, with the camera');
  } catch {
    showMessage(link);
  }
}
