// Forwards events of the browser to the crate, which handles them; see src/lib.rs.
import { WORLD, described, generated, isSite, options } from './address.js';
import { chosen, filesIn, isModel, listed } from './choosing.js';
import { chosenBackend, findLack, openGpu, pictureCanvas } from './device.js';
import { sorted, whyNot, worldOf } from './files.js';
import { freePointer, listKeys, listen, showKeyButtons } from './input.js';
import { listenToMarks } from './marks.js';
import { forgetDamage, hideMessage, showMessage, showStatus, withoutKeys } from './messages.js';
import { openPage } from './opening.js';
import { load } from './program.js';
import { Rounds, listenToQuality, setQuality, showQuality } from './quality.js';
import { startRemote } from './remote.js';
import { copyLink, saveEdits } from './saving.js';
import { listenToSleep, painted, visible } from './sleep.js';

const find = (name) => document.getElementById(name);
/// The canvas that receives events, and that WebGPU draws to.
const canvas = document.querySelector('canvas');
/// The canvas over it for pictures of the CPU. A canvas cannot change from WebGPU to pictures.
const plain = document.getElementById('plain');

/// Delays before each attempt to open a lost device again, in milliseconds. After the last attempt the
/// page reports an error.
const REOPEN_DELAYS_MS = [0, 500, 2000, 5000];
/// Time that a device must work until the attempts are counted from zero, in milliseconds.
const CALM_MS = 5000;
/// Largest number of pixels of the CPU on a side of a CSS pixel.
const MAX_CPU_SCALE = 2;
/// Time without frames after which the keys that were held count as released: the machine has slept. In
/// milliseconds.
const MAX_GAP_MS = 5000;
/// Time between pictures of a screen, in milliseconds.
const SCREEN_MS = 16;
/// Interval of the status line, in milliseconds.
const WORDS_MS = 250;

/// The current page; `null` while another is opened.
let page = null;
// The world that it shows, without edits; see `openPage`.
let opened = null;
// The program, which opens pages: on this thread, or in a worker if the CPU draws.
let program = { open: openPage };
// The last page after a fatal error: its edits can still be saved.
let rescued = null;
// Whether the page had unsaved edits at the last check: after a panic, it cannot be called.
let isEdited = false;
// Why the CPU draws; empty if WebGPU does.
let lack = '';
// Why the CPU draws on this thread; empty if it does not.
let loneliness = '';
// Whether a frame is scheduled or drawn, and whether another has to follow.
let [isScheduled, isRequested] = [false, false];
let requestedAt = 0;
let reopened = 0;
let faultAt = 0;
let worstMs = 0;
let wordsAt = 0;
const rounds = new Rounds();
/// The program, which is being loaded.
const loaded = load();
// What this script does for a key, by its name in the key table.
let scriptKeys = {};

const setState = (name) => { document.body.dataset.state = name; };

/// Whether there are unsaved edits.
const hasEdits = () => {
  const it = page ?? rescued;
  if (it) isEdited = it.is_edited();
  return isEdited;
};

/// Shows a fatal error. Edits of the page `lost` can still be saved, if given.
const refuse = (reason, lost = null) => {
  hideMessage('connection', 'device', 'waiting', 'saving', 'worker');
  [page, rescued] = [null, lost];
  find('rescue').hidden = !lost || !hasEdits();
  setState('refused');
  find('reason').textContent = reason;
  find('refused').hidden = false;
};

/// Pixels of pictures on a side of a CSS pixel. The CPU is too slow for the finest screens of phones.
const scale = () => Math.min(window.devicePixelRatio || 1, lack ? MAX_CPU_SCALE : Infinity);

/// The canvas's size in pixels of pictures.
const pixels = () =>
  [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * scale())));

const requestFrame = () => {
  isRequested = true;
  document.body.dataset.settled = false;
  if (isScheduled) return;
  isScheduled = true;
  requestedAt = performance.now();
  requestAnimationFrame(frame);
};

async function frame(now) {
  isRequested = false;
  let more = false;
  try {
    more = page && (rounds.isOpen || await drawFrame(page, now));
  } finally {
    isScheduled = false;
  }
  if (!more && !isRequested) return;
  // A worker that is slower than the screen draws the next picture at once.
  if (page?.remote && performance.now() - now > SCREEN_MS && document.visibilityState === 'visible') {
    [isScheduled, requestedAt] = [true, performance.now()];
    frame(requestedAt);
  } else {
    requestFrame();
  }
}

/// Draws a frame. Returns whether another one should follow.
async function drawFrame(it, now) {
  const begun = performance.now();
  let more;
  try {
    if (begun - requestedAt > MAX_GAP_MS) it.release_all();
    it.resize(...pixels());
    more = await it.frame();
    if (page !== it) return false;
    await marks.draw();
    if (now - faultAt > CALM_MS) reopened = 0;
  } catch (error) {
    fail(it, error);
    return false;
  }
  if (page !== it) return false;
  worstMs = Math.max(worstMs, performance.now() - begun);
  showTools();
  if (now - wordsAt >= WORDS_MS || !more) {
    showStatus(it, worstMs);
    // After a change during the frame, the switches show what the user chose.
    if (!isRequested) showQuality(find, it);
    [wordsAt, worstMs] = [now, 0];
  }
  if (it.is_measuring()) rounds.next(it, () => page === it).catch((error) => fail(it, error));
  document.body.dataset.settled = !more && !isRequested && it.is_settled();
  return more;
}

/// Whether the program has panicked. Then it must not be called again.
const isBroken = (error) => error instanceof WebAssembly.RuntimeError;
const BROKEN = 'The program has stopped with an internal error. Reload the page to continue.';
const GONE = 'Unsaved edits are lost.';

/// Whether the program has panicked.
let isStopped = false;
const stop = () => {
  if (isStopped) return;
  isStopped = true;
  const gone = isEdited ? ` ${GONE}` : '';
  isEdited = false;
  refuse(`${BROKEN}${gone}`);
};

/// Handles an error of a page, or of the worker.
function fail(it, error) {
  if (isBroken(error)) stop();
  else if (page === it) recover(error);
}

/// Opens a device for a page: WebGPU, or the CPU if it is missing.
async function openDevice(it) {
  if (lack) await it.open_cpu(pictureCanvas(plain));
  else await openGpu(it, canvas);
  plain.hidden = !lack;
}

/// Starts the worker if the CPU draws. Without a worker, it draws on this thread.
async function startWorker() {
  if (!lack || program.end) return;
  try {
    program = await startRemote(loaded, { fail, hasEdits });
  } catch (error) {
    console.warn(`${error}`);
    loneliness = ` Inputs wait for pictures, because this browser starts no worker: ${error}.`;
  }
}

const notice = () => lack && `${lack}: the CPU draws, at a lower resolution while the picture moves.${loneliness}`;

/// Opens a lost device again, with several attempts. Only the meshes were lost, not the world. The CPU
/// draws if WebGPU fails.
async function recover(error) {
  const lost = setAside();
  const wasLacking = lack;
  for (let fault = error, isOpen = false; !isOpen;) {
    if (isBroken(fault)) return stop();
    if (reopened === REOPEN_DELAYS_MS.length) {
      if (lack) return refuse(`The graphics device failed, and cannot be opened again: ${fault}`, lost);
      console.warn(`${fault}`);
      lack = 'The graphics device has failed';
    } else {
      showMessage(`${fault}; opening the device again`, 'device');
      await pause(REOPEN_DELAYS_MS[reopened]);
      // Browsers may refuse devices to hidden pages.
      await visible();
      // If the program stopped meanwhile, that is already reported.
      if (isStopped) return;
      reopened += 1;
    }
    try {
      await openDevice(lost);
      // The quality was chosen for the device that is lost.
      if (!wasLacking && lack) await lost.set_quality('1', 'off');
      isOpen = true;
    } catch (again) {
      fault = again;
    }
  }
  faultAt = performance.now();
  if (isStopped) return;
  page = lost;
  hideMessage('device', 'waiting');
  if (!wasLacking && lack) showMessage(notice());
  showTools();
  requestFrame();
}

/// Removes the page and returns it. Releases held keys, because their release is not forwarded.
function setAside() {
  const it = page;
  page = null;
  try {
    isEdited = it.is_edited();
    it.release_all();
  } catch {
    // The program has panicked; the next call reports it.
  }
  return it;
}

/// Sets the sun to the slider's hour, if the user has moved it.
const setSun = (it) => find('sun').dataset.isSet && it.set_hour(find('sun').valueAsNumber);

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/// Opens a device for a page, and returns the page. If the first device cannot be opened, the CPU draws,
/// and `open` makes the page again: its content may be lost with the device.
async function drawable(it, old, open) {
  try {
    await openDevice(it);
    return it;
  } catch (error) {
    if (isBroken(error)) throw error;
    it.free();
    if (old || lack) throw error;
    console.warn(`${error}`);
    lack = 'This browser opens no graphics device for WebGPU';
    await startWorker();
  }
  return drawable(await open(pixels()), old, open);
}

/// Replaces the current page by the one that `open` returns. If that fails, the current page continues,
/// and the result is false.
async function show(words, open) {
  const old = page && setAside();
  let wrong = '';
  let isShown = false;
  find('loading').textContent = words;
  setState('loading');
  showMessage('');
  await painted();
  try {
    const it = await drawable(await open(pixels()), old, open);
    await setSun(it);
    wrong = await setQuality(it, old);
    old?.free();
    page = it;
    forgetDamage();
    isShown = true;
  } catch (error) {
    if (isBroken(error) || !old) {
      if (isBroken(error)) stop(); else refuse(`${error}`);
      return false;
    }
    page = old;
    showMessage(`${error}`);
  }
  hideMessage('waiting');
  const message = [wrong, isShown && page.notice()].filter(Boolean).join('. ');
  if (message) showMessage(message);
  Object.assign(document.body.dataset, { settled: false, levels: page.has_levels() });
  setState('ready');
  canvas.focus();
  showTools();
  requestFrame();
  return isShown;
}

const LOST = 'Unsaved edits will be lost (Ctrl+S saves them). Open another file?';

/// Whether files can be opened now. If not, a message says why.
function canOpen(names) {
  if (page) return true;
  const isRefused = document.body.dataset.state === 'refused';
  showMessage(isRefused ? `${names}: not opened, because of the error below`
    : `Another file is still being opened. Drop ${names} again afterwards`);
  return false;
}

/// Opens what can be opened of folders and files, given as entries of a file system.
async function openFolders(entries) {
  const from = listed(entries);
  if (!canOpen(from)) return;
  showMessage(`Looking through ${from} …`, 'folder');
  try {
    const { files, notice } = chosen(await filesIn(entries), from);
    hideMessage('folder');
    await openFiles(files, notice);
  } catch (error) {
    if (isBroken(error)) throw error;
    showMessage(`${error}`);
  }
}

/// Opens a world, a world with edits, or the current world with edits. Of many files, chooses what to open.
async function openFiles(all, notice = '') {
  let files = all;
  if (!canOpen(listed(files))) return;
  if (files.length > 2 && !files.some(isModel)) {
    try {
      ({ files, notice } = chosen(files, `${files.length} files`));
    } catch (error) {
      showMessage(`${error}`);
      return;
    }
  }
  const names = listed(files);
  const why = whyNot(files);
  if (why) {
    showMessage(why);
    return;
  }
  if (page.is_edited() && !window.confirm(withoutKeys(LOST))) return;
  const old = page;
  let shown = opened;
  const isShown = await show(`Reading ${names} …`, async (size) => {
    const { world, edits, others } = await sorted(files);
    if (world) shown = worldOf(world, others);
    const it = await program.open(size, shown, edits);
    if (!world) it.look_from(old);
    return it;
  });
  if (!isShown) return;
  opened = shown;
  if (notice) showMessage([find('message').textContent, notice].filter(Boolean).join('. '));
}

/// Saves the edits of the current page, or of the last page after a fatal error.
async function save() {
  const it = page ?? rescued;
  if (!it) {
    const isRefused = document.body.dataset.state === 'refused';
    showMessage(isRefused ? 'There are no edits to save' : 'Wait until the file is open, then save again', 'waiting');
    return;
  }
  try {
    const why = await saveEdits(it);
    if (why) showMessage(why, 'saving');
    else hideMessage('saving');
  } catch (error) {
    if (!isBroken(error)) throw error;
    stop();
    return;
  }
  if (rescued) find('rescue').hidden = !hasEdits();
  showTools();
  requestFrame();
}

const showTools = () => {
  hasEdits();
  const isEditing = page?.is_editing() ?? false;
  find('edit').setAttribute('aria-pressed', isEditing);
  find('edit').disabled = page && !(page.selection() & 64);
  find('undo').hidden = !isEditing;
  find('save').hidden = !isEditing && !isEdited;
  find('edits').hidden = !isEditing;
  if (isEditing) {
    showKeyButtons(page);
    freePointer();
  }
  find('tap').hidden = !isEditing || !matchMedia('(pointer: coarse)').matches;
  canvas.style.cursor = isEditing ? 'crosshair' : 'default';
  document.body.dataset.flies = Boolean(page) && !page.is_orbiting();
};

/// Calls `work` with the page and requests a frame. Recovers from errors.
const act = (work) => {
  const it = page;
  if (!it) return;
  try {
    Promise.resolve(work(it)).catch((error) => fail(it, error));
  } catch (error) {
    fail(it, error);
    return;
  }
  showTools();
  requestFrame();
};

async function start() {
  const decided = findLack().then((it) => {
    lack = it;
    return startWorker();
  });
  await Promise.all([loaded, decided]);
  scriptKeys = listKeys(find);
  let refusal = '';
  await show(options().world ? 'Receiving the world …' : 'Generating a world …', async (size) => {
    try {
      opened = described(options());
      return await program.open(size, opened);
    } catch (error) {
      if (isBroken(error) || isSite()) throw error;
      refusal = `${error}. The default world is shown instead`;
    }
    opened = generated(WORLD);
    return program.open(size, opened);
  });
  const { wrong } = chosenBackend();
  if (page && (refusal || wrong || lack)) showMessage([refusal, wrong, notice()].filter(Boolean).join('. '));
}

// Asks before the page is closed with unsaved edits.
window.addEventListener('beforeunload', (event) => { if (hasEdits()) event.preventDefault(); });
// A panic in an async function does not reach its caller.
window.addEventListener('error', ({ error }) => { if (isBroken(error)) stop(); });
window.addEventListener('unhandledrejection', ({ reason }) => { if (isBroken(reason)) stop(); });
// While the page sleeps, the release of keys is not reported. Afterwards, a frame finds a lost device.
listenToSleep(() => act((it) => it.release_all()), requestFrame);
plain.addEventListener('contextrestored', requestFrame);
const closeMessage = () => {
  showMessage('');
  canvas.focus();
};
find('close').addEventListener('click', closeMessage);
find('link').addEventListener('click', () => page && copyLink(opened, page.camera_options()));
find('reload').addEventListener('click', () => location.reload());
listenToQuality({ find, act, canvas });
const marks = listenToMarks({ canvas, find, page: () => page, scale, size: pixels, fail: (error) => fail(page, error) });
listen({ canvas, find, act, scale, point: marks.point, ask: requestFrame, openFiles, openFolders, save, say: showMessage, closeMessage, page: () => page, scriptKeys: () => scriptKeys });
start().catch((error) => { if (isBroken(error)) stop(); else refuse(`${error}`); });
