// Listens to the browser and hands on to the crate, which decides what it means; see src/lib.rs.
import init, { Edits, Page } from './drystone_web.js';
import { bytesOf, sorted, whyNot } from './files.js';
import { listen } from './input.js';
import { saveEdits } from './saving.js';

const find = (name) => document.getElementById(name);
const canvas = document.querySelector('canvas');

/// What is shown if the address says nothing else, as the command line's options of these names:
/// ?chunks=32x4x32&seed=3&relief=128
const WORLD = { chunks: '32x4x32', seed: '3', relief: '128' };
/// How long a lost device is waited for before it is opened again, in milliseconds: the first time,
/// the second, and so on until it is given up.
const REOPEN_DELAYS_MS = [0, 500, 2000, 5000];
/// A device that has worked for so long may be lost as often again.
const CALM_MS = 5000;
/// Words change no more often than eyes can follow, in milliseconds.
const WORDS_MS = 250;

/// What is shown; `null` while another is opened.
let page = null;
// How that was opened, so that it can be opened again with edits: of a size, and of these.
let opened = null;
// What was shown when nothing more could be: its edits can be saved still.
let rescued = null;
// Whether it had unsaved edits when it was looked at last: while a device is opened, it cannot be asked.
let isEdited = false;
let isAsked = false;
let reopened = 0;
let faultAt = 0;
let told = null;
let worstMs = 0;
let wordsAt = 0;

const state = (name) => { document.body.dataset.state = name; };

// Whose words are shown.
let sayer = null;

const say = (text, by = null) => {
  find('message').textContent = text;
  find('bar').hidden = !text;
  sayer = by;
};

/// Takes back what these have said. What is damaged is told again where that stood in its place.
const hush = (...by) => {
  if (!by.includes(sayer)) return;
  say('');
  told = null;
};

/// Whether edits would be lost now.
const hasEdits = () => {
  const it = page ?? rescued;
  if (it) isEdited = it.is_edited();
  return isEdited;
};

/// Nothing more can be shown: says why, with a picture. What was shown can be saved, if it is given.
const refuse = (reason, lost = null) => {
  hush('device', 'waiting', 'saving');
  [page, rescued] = [null, lost];
  find('rescue').hidden = !lost || !hasEdits();
  state('refused');
  find('reason').textContent = reason;
  find('picture').src = 'drystone.png';
  find('refused').hidden = false;
};

/// The canvas's size in pixels of the screen.
const pixels = () => {
  const scale = window.devicePixelRatio || 1;
  return [canvas.clientWidth, canvas.clientHeight].map((side) => Math.max(1, Math.round(side * scale)));
};

const ask = () => {
  if (!isAsked) {
    isAsked = true;
    document.body.dataset.settled = false;
    requestAnimationFrame(frame);
  }
};

function frame(now) {
  isAsked = false;
  if (!page) return;
  const begun = performance.now();
  let more;
  try {
    const [width, height] = pixels();
    if (canvas.width !== width || canvas.height !== height) page.resize(width, height);
    more = page.frame(now);
    if (now - faultAt > CALM_MS) reopened = 0;
  } catch (error) {
    recover(error);
    return;
  }
  worstMs = Math.max(worstMs, performance.now() - begun);
  document.body.dataset.settled = !more && page.is_settled();
  hasEdits();
  if (now - wordsAt >= WORDS_MS || !more) {
    find('words').textContent = `${worstMs.toFixed(1)} ms | ${page.words()}`;
    [wordsAt, worstMs] = [now, 0];
    tellDamage();
  }
  if (more) ask();
}

/// Says what was found damaged, when that is more than before.
function tellDamage() {
  const damage = page.damage() ?? null;
  if (damage === told) return;
  told = damage;
  if (damage) say(damage);
}

/// A program that stopped in the middle of something is not to be trusted with anything more.
const isBroken = (error) => error instanceof WebAssembly.RuntimeError;
const BROKEN = 'The program has stopped at something that it did not expect. Load the page anew to go on.';
const GONE = 'Edits that were not saved are gone with it.';

/// It has stopped so.
let isStopped = false;
const stop = () => {
  if (isStopped) return;
  isStopped = true;
  const gone = isEdited ? ` ${GONE}` : '';
  isEdited = false;
  refuse(`${BROKEN}${gone}`);
};

/// A lost device takes its meshes along, not the world: it is opened again, a few times.
async function recover(error) {
  const lost = setAside();
  for (let fault = error, isOpen = false; !isOpen;) {
    if (isBroken(fault)) return stop();
    if (reopened === REOPEN_DELAYS_MS.length) {
      return refuse(`The graphics device fails: ${fault}`, lost);
    }
    say(`${fault}; opening the device again`, 'device');
    await pause(REOPEN_DELAYS_MS[reopened]);
    // Whatever stopped the program meanwhile has said so.
    if (isStopped) return;
    reopened += 1;
    try {
      await lost.reopen(canvas);
      isOpen = true;
    } catch (again) {
      fault = again;
    }
  }
  faultAt = performance.now();
  if (isStopped) return;
  page = lost;
  hush('device', 'waiting');
  showTools();
  ask();
}

/// Takes the page away, and the keys that are held: their ends will reach nobody.
function setAside() {
  const it = page;
  page = null;
  try {
    isEdited = it.is_edited();
    it.release_all();
  } catch {
    // It stopped in the middle of something; whoever goes on with it is told.
  }
  return it;
}

/// The sun stands where it was put, in whatever is shown.
const lightUp = (it) => { if (find('sun').dataset.isSet) it.set_hour(find('sun').valueAsNumber); };

/// Goes on with the other renderer: a device of its own is opened for that.
async function switchRenderer() {
  if (!page) return;
  const it = setAside();
  state('loading');
  find('loading').textContent = 'Switching …';
  await painted();
  let failed = null;
  try {
    await it.switch_renderer(canvas);
  } catch (error) {
    failed = error;
  }
  if (isStopped) return;
  page = it;
  hush('waiting');
  showTools();
  if (!failed) lightUp(it);
  state('ready');
  document.body.dataset.settled = false;
  if (failed) recover(failed);
  else ask();
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));

/// Shows what `open` opens in place of what is shown; where that fails, this goes on.
async function show(words, open) {
  const old = page && setAside();
  find('loading').textContent = words;
  state('loading');
  say('');
  await painted();
  try {
    page = await open(...pixels());
    lightUp(page);
    old?.free();
    told = null;
  } catch (error) {
    if (isBroken(error)) return stop();
    if (!old) return refuse(`${error}`);
    page = old;
    say(`${error}`);
  }
  hush('waiting');
  Object.assign(document.body.dataset, { settled: false, levels: page.has_levels() });
  state('ready');
  canvas.focus();
  showTools();
  ask();
}

const LOST = 'Edits that are not saved (Ctrl+S) are lost with what is shown. Open another file?';

/// Shows a world, one with edits, or what is shown with edits.
async function openFiles(files) {
  const names = files.map((file) => file.name).join(', ');
  if (!page) {
    const isRefused = document.body.dataset.state === 'refused';
    say(isRefused ? `${names}: not opened. This page can show nothing more, for the reason below`
      : `Something is still being opened; drop ${names} again after that`);
    return;
  }
  const why = whyNot(files);
  if (why) {
    say(why);
    return;
  }
  if (page.is_edited() && !window.confirm(LOST)) return;
  const old = page;
  await show(`Reading ${names} …`, async (...size) => {
    const { world, edits } = await sorted(files);
    const open = world ? worldOf(world) : opened;
    const it = await open(size, edits && new Edits(edits.name, await bytesOf(edits)));
    if (!world) it.look_from(old);
    opened = open;
    return it;
  });
}

const worldOf = (file) => async (size, edits) => Page.file(canvas, ...size, file.name, await bytesOf(file), edits);

/// Saves the edits of what is shown, or was until nothing more could be.
async function save() {
  const it = page ?? rescued;
  if (!it) {
    const isRefused = document.body.dataset.state === 'refused';
    say(isRefused ? 'There is nothing to be saved' : 'Wait until it is open, and save then', 'waiting');
    return;
  }
  try {
    const why = await saveEdits(it);
    if (why) say(why, 'saving');
    else hush('saving');
  } catch (error) {
    if (!isBroken(error)) throw error;
    stop();
    return;
  }
  if (rescued) find('rescue').hidden = !hasEdits();
  showTools();
  ask();
}

const showTools = () => {
  hasEdits();
  const isEditing = page?.is_editing() ?? false;
  find('edit').setAttribute('aria-pressed', isEditing);
  find('undo').hidden = !isEditing;
  find('save').hidden = !isEditing && !isEdited;
  find('tap').hidden = !isEditing || !matchMedia('(pointer: coarse)').matches;
  canvas.style.cursor = isEditing ? 'crosshair' : 'default';
};

/// Does something with the page, and draws what came of it. Errors are the page's to tell.
const act = (work) => {
  if (!page) return undefined;
  let done;
  try {
    done = work(page);
  } catch (error) {
    recover(error);
    return undefined;
  }
  showTools();
  ask();
  return done;
};

/// A whole number of so many bits, in decimal digits. Throws `why`, with the largest number, for any other text.
const wholeOf = (text, bits, why) => {
  const end = 1n << BigInt(bits);
  if (!/^[0-9]+$/.test(text) || BigInt(text) >= end) throw `${why} from 0 to ${end - 1n}`;
  return BigInt(text);
};

/// Opens the generated world that an address asks for. Throws what is wrong with the address.
const generated = ({ seed, chunks, relief }) => {
  const sides = chunks.split('x');
  const isSize = `chunks=${chunks}: a size is three numbers, such as ${WORLD.chunks}`;
  if (sides.length !== 3) throw isSize;
  const size = Uint32Array.from(sides, (side) => Number(wholeOf(side, 32, `${isSize}, each`)));
  const height = Number(wholeOf(relief, 32, `relief=${relief}: a relief is a number`));
  const number = wholeOf(seed, 64, `seed=${seed}: a seed is a number`);
  return (pixels, edits) => Page.generated(canvas, ...pixels, number, size, height, edits);
};

async function start() {
  const gpu = navigator.gpu;
  if (!gpu && !window.isSecureContext) {
    return refuse(`Browsers give WebGPU, which this page draws with, to pages from https:// and from localhost alone; this one came from ${location.origin}.`);
  }
  if (!gpu) return refuse('This browser has no WebGPU, which this page draws with.');
  const adapter = await gpu.requestAdapter().catch(() => null);
  if (!adapter) return refuse('This browser has WebGPU, but no graphics device for it.');
  await init();
  let refusal = '';
  await show('Making a world …', async (...size) => {
    try {
      opened = generated({ ...WORLD, ...Object.fromEntries(new URLSearchParams(location.search)) });
      return await opened(size);
    } catch (error) {
      if (isBroken(error)) throw error;
      refusal = `${error}. The default world is shown instead`;
    }
    opened = generated(WORLD);
    return opened(size);
  });
  if (page && refusal) say(refusal);
}

// What was edited and not saved goes with the page.
window.addEventListener('beforeunload', (event) => { if (hasEdits()) event.preventDefault(); });
// What stops in the middle of opening tells nobody who waits for it.
window.addEventListener('error', ({ error }) => { if (isBroken(error)) stop(); });
window.addEventListener('unhandledrejection', ({ reason }) => { if (isBroken(reason)) stop(); });
find('close').addEventListener('click', () => {
  say('');
  canvas.focus();
});
listen({ canvas, find, act, ask, openFiles, save, say, switchRenderer, page: () => page });
start().catch((error) => { if (isBroken(error)) stop(); else refuse(`${error}`); });
