// What was edited leaves the page: into a file that one picks, where browsers let pages write, else as a download.
import { download } from './files.js';

const TYPES = [{ description: 'edits', accept: { 'application/octet-stream': ['.drystone'] } }];
const STILL_HERE = 'What was edited is still here, not saved.';

/// The file that was picked for edits of what is shown, a `Page`: the next save writes it again.
const picked = new WeakMap();
let isSaving = false;

/// The file to be written; `null` where pages cannot pick any. Throws why none was picked.
async function pick(it) {
  if (picked.has(it)) return picked.get(it);
  if (!window.showSaveFilePicker) return null;
  try {
    return await window.showSaveFilePicker({ suggestedName: it.edits_name(), types: TYPES });
  } catch (error) {
    if (error.name === 'AbortError') throw 'No file was chosen';
    // Within another's page, or long after the key: who asked gets a file all the same.
    if (error.name === 'SecurityError') return null;
    throw error;
  }
}

async function write(it, file, bytes) {
  try {
    const stream = await file.createWritable();
    await stream.write(bytes);
    // Only then it is there.
    await stream.close();
  } catch (error) {
    picked.delete(it);
    throw `${file.name}: ${error}`;
  }
  picked.set(it, file);
}

/// Notes what became of the bytes. What is shown may be gone by then, or its device be opened again
/// just now: then its edits count as not saved, which costs a question.
function note(it, file) {
  try {
    if (file) it.saved(file.name);
    else it.handed_over();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
  }
}

/// Saves the edits of a `Page`. Says nothing where that was done, or else why not. Throws where the
/// program has stopped.
export async function saveEdits(it) {
  if (isSaving) return 'The last save goes on still: save again after it';
  isSaving = true;
  try {
    const bytes = it.save();
    if (!bytes) return '';
    const file = await pick(it);
    if (file) await write(it, file, bytes);
    else download(it.next_name(), bytes);
    note(it, file);
    return '';
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return `${error}. ${STILL_HERE}`;
  } finally {
    isSaving = false;
  }
}
