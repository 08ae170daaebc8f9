// Drives the page in headless Chromium: node run.mjs DIST PICTURES; see scripts/web.sh.
// Pictures of what was seen are left in PICTURES. The last line holds the counts.
//   DRYSTONE       the command line, which draws what is expected (default target/debug/drystone)
//   DRYSTONE_DATA  a folder of real inputs; without it their tests are skipped
//   CHROMIUM       the browser (default /usr/bin/chromium)

import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { serve } from './serve.mjs';
import { compare } from './pictures.mjs';
import { sittings } from './sittings.mjs';
import { ballFile } from './vox.mjs';

const [dist, pictures] = process.argv.slice(2);
const { chromium } = createRequire(join(process.env.NODE_TOOLS ?? process.cwd(), 'x.js'))('playwright-core');
const drystone = process.env.DRYSTONE ?? 'target/debug/drystone';
const data = process.env.DRYSTONE_DATA;
mkdirSync(pictures, { recursive: true });

const SIZE = { width: 640, height: 360 };
/// A software GPU on a busy machine takes its time.
const PATIENCE_MS = 90_000;
/// Small enough to be made in a moment.
const WORLD = { chunks: '16x4x16', seed: '3', relief: '128' };
const ARGUMENTS = [
  '--headless', '--no-sandbox', '--disable-gpu-sandbox', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--use-vulkan=swiftshader', '--use-angle=swiftshader', '--enable-features=Vulkan',
  // An address that is not this machine's to the browser.
  '--host-resolver-rules=MAP plain.test 127.0.0.1',
];

const check = (is, words) => { if (!is) throw new Error(words); };

/// What `drystone shot` draws with the software rasteriser.
function expected(name, words) {
  const file = join(pictures, `${name}.expected.png`);
  const size = `${SIZE.width}x${SIZE.height}`;
  const done = spawnSync(drystone, ['shot', ...words, '--size', size, '--backend', 'soft', '-o', file], { encoding: 'utf8' });
  check(done.status === 0, `drystone shot ${words.join(' ')}: ${done.error ?? done.stderr}`);
  return readFileSync(file);
}

const ready = (page) => page.waitForFunction(
  () => document.body.dataset.state !== 'loading' && (document.body.dataset.settled === 'true' || document.body.dataset.state === 'refused'),
  null, { timeout: PATIENCE_MS });
/// Two frames later: what was asked for has been drawn.
const drawn = (page) => page.evaluate(() =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 50)))));

/// What the canvas shows, without the words over it.
async function picture(page, name) {
  await ready(page);
  await drawn(page);
  const style = await page.addStyleTag({ content: '#words, #tools, #message, #card { visibility: hidden }' });
  const shot = await page.screenshot({ path: join(pictures, `${name}.png`) });
  await style.evaluate((it) => it.remove());
  return shot;
}

const agree = async (page, name, want) => {
  const got = await picture(page, name);
  const seen = await compare(page, want, got);
  console.log(`  ${name}: ${JSON.stringify(seen)}`);
  check(seen.agrees, `${name} differs from what soft draws`);
  return got;
};
const differ = async (page, a, b, share, words) => {
  const seen = await compare(page, a, b);
  check(seen.share > share, `${words}: ${JSON.stringify(seen)}`);
};
const same = async (page, a, b, words) => {
  const seen = await compare(page, a, b);
  check(seen.share === 0, `${words}: ${JSON.stringify(seen)}`);
};

/// Drops files on the page, one after the other.
const dropAll = (page, files) => page.evaluate((files) => {
  document.body.dataset.settled = 'false';
  for (const [name, text] of files) {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([bytes], name));
    const options = { dataTransfer, bubbles: true, cancelable: true };
    window.dispatchEvent(new DragEvent('dragover', options));
    window.dispatchEvent(new DragEvent('drop', options));
  }
}, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]));

/// Drops a file on the page and waits until it is shown, or refused with a message.
async function drop(page, name, bytes) {
  await dropAll(page, [[name, bytes]]);
  await ready(page);
}

const message = (page) => page.locator('#message').textContent();
const says = async (page, words) => {
  const said = await message(page);
  check(said.includes(words), `"${said}" says nothing of "${words}"`);
};

/// A world of this size as a stored one.
function stored(name, ...words) {
  const file = join(pictures, `${name}.drystone`);
  rmSync(file, { force: true });
  const made = spawnSync(drystone, ['import', ...words, file], { encoding: 'utf8' });
  check(made.status === 0, `drystone import: ${made.error ?? made.stderr}`);
  return file;
}

const words = (page) => page.locator('#words').textContent();

/// A file that is dropped shows what the command line shows of it.
async function dropped(page, file, name) {
  await drop(page, basename(file), readFileSync(file));
  const message = await page.locator('#message').textContent();
  check(!message, message);
  const levels = await page.evaluate(() => document.body.dataset.levels);
  await agree(page, name, expected(name, [file, '--levels', levels === 'true' ? 'on' : 'off']));
}

const generated = Object.entries(WORLD).flatMap(([key, value]) => [`--${key}`, value]);
const ball = join(pictures, 'ball.vox');
writeFileSync(ball, ballFile());

/// Each gets a page that shows the small world.
const TESTS = {
  async 'the generated world is drawn as soft draws it'(page) {
    const got = await agree(page, 'generated', expected('generated', [...generated, '--levels', 'on']));
    const seen = await compare(page, got, got);
    check(seen.colors > 100, `${seen.colors} colours are no landscape`);
  },
  async 'keys fly, turn and go home'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'home');
    for (const key of ['KeyW', 'ArrowLeft']) {
      await page.keyboard.down(key);
      await page.waitForTimeout(400);
      await page.keyboard.up(key);
      const after = await picture(page, `key-${key}`);
      await differ(page, before, after, 0.02, `${key} moves little`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home is elsewhere');
    }
  },
  async 'the mouse turns'(page) {
    const before = await picture(page, 'mouse-before');
    await page.mouse.move(300, 200);
    await page.mouse.down();
    await page.mouse.move(420, 220, { steps: 4 });
    await page.mouse.up();
    await differ(page, before, await picture(page, 'mouse-after'), 0.2, 'the mouse turns little');
  },
  async 'fingers look, move and pinch'(page) {
    const session = await page.context().newCDPSession(page);
    const touch = (type, points) => session.send('Input.dispatchTouchEvent', {
      type, touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
    const moves = { look: [[[300, 200]], [[420, 200]]], pinch: [[[280, 180], [360, 180]], [[200, 180], [440, 180]]] };
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'touch-before');
    for (const [name, [from, to]] of Object.entries(moves)) {
      await touch('touchStart', from);
      await touch('touchMove', from.map(([x, y], n) => [(x + to[n][0]) / 2, (y + to[n][1]) / 2]));
      await touch('touchMove', to);
      await touch('touchEnd', []);
      await differ(page, before, await picture(page, `touch-${name}`), 0.02, `${name} changes little`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home is elsewhere');
    }
  },
  async 'voxels are edited and taken back'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'edit-before');
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    await differ(page, before, await picture(page, 'edit-after'), 0.01, 'a click removes nothing');
    check((await words(page)).includes('voxels changed'), await words(page));
    await page.keyboard.press('Control+KeyZ');
    await same(page, before, await picture(page, 'edit-undone'), 'undo leaves something');
  },
  async 'a dropped model is shown as soft shows it'(page) {
    await dropped(page, ball, 'ball');
    check((await words(page)).includes('ball.vox'), await words(page));
  },
  async 'a dropped stored world is shown as soft shows it'(page) {
    await dropped(page, stored('ball', ball), 'stored');
  },
  async 'damaged stored worlds are told of and the page lives on'(page) {
    const whole = readFileSync(stored('damaged', '--chunks', '6x4x6'));
    let refused = 0;
    for (let n = 0; n < 24; n += 1) {
      const bytes = Buffer.from(whole);
      // Pages of the database, their places spread over the file.
      const at = 4096 * (1 + Math.floor((n * (bytes.length / 4096 - 2)) / 24));
      for (let i = 0; i < 64; i += 1) bytes[at + i] ^= (n * 37 + i * 11) & 0xff;
      await drop(page, `damaged-${n}.drystone`, bytes);
      const said = await message(page);
      const state = await page.evaluate(() => document.body.dataset.state);
      check(state === 'ready', `${state} after damage at ${at}: ${await page.locator('#reason').textContent()}`);
      if (said.includes(`damaged-${n}.drystone`)) refused += 1;
    }
    console.log(`  ${refused} of 24 damaged files are told of`);
    check(refused > 2, 'hardly anything is found damaged');
    await dropped(page, ball, 'ball');
  },
  async 'damage in a large file is told and the rest shown'(page) {
    if (!data) return 'DRYSTONE_DATA is not set';
    const bytes = readFileSync(join(data, 'r.0.0.mca'));
    bytes.fill(0x5a, 3 * 4096, 7 * 4096);
    await drop(page, 'r.0.0.mca', bytes);
    await page.waitForFunction(() => document.getElementById('message').textContent, null, { timeout: PATIENCE_MS });
    await says(page, 'damaged');
    const seen = await picture(page, 'damaged-region');
    check((await compare(page, seen, seen)).colors > 100, 'there is no landscape');
  },
  async 'what is dropped while something is opened is told'(page) {
    await dropAll(page, [['ball.vox', ballFile()], ['second.vox', ballFile()]]);
    await says(page, 'second.vox again');
    await ready(page);
    check((await words(page)).includes('ball.vox'), await words(page));
  },
  async 'folders are told apart from files'(page) {
    const before = await picture(page, 'folder-before');
    await page.evaluate(() => {
      DataTransferItem.prototype.webkitGetAsEntry = () => ({ isDirectory: true, name: 'my save' });
    });
    await dropAll(page, [['my save', 'x']]);
    await says(page, 'my save: a folder');
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
    await same(page, before, await picture(page, 'folder-after'), 'a folder changes the picture');
  },
  async 'edits are asked about before they go'(page) {
    await drop(page, 'ball.vox', ballFile());
    const asked = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      dialog.dismiss();
    });
    const unload = () => page.evaluate(() => {
      const event = new Event('beforeunload', { cancelable: true });
      return !window.dispatchEvent(event);
    });
    check(!await unload(), 'nothing is lost yet');
    await page.keyboard.press('KeyE');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const edited = await picture(page, 'unsaved');
    await dropAll(page, [['second.vox', ballFile()]]);
    check(asked.join() === 'confirm', `asked: ${asked}`);
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
    await same(page, edited, await picture(page, 'unsaved-after'), 'what was edited is gone');
    check(await unload(), 'it leaves without a word');
  },
  async 'who walks falls to the ground and stands'(page) {
    await page.keyboard.press('KeyF');
    await page.waitForFunction(() => document.getElementById('words').textContent.includes('walking'));
    // As far as it is down from where all of it is seen.
    let last = await picture(page, 'walk');
    for (let n = 0; ; n += 1) {
      check(n < 60, 'it falls for ever');
      await page.waitForTimeout(500);
      const next = await picture(page, 'walk');
      if ((await compare(page, last, next)).share === 0) break;
      last = next;
    }
    // It may be far from all there is, and runs.
    for (const key of ['ShiftLeft', 'KeyW']) await page.keyboard.down(key);
    await page.waitForTimeout(1500);
    for (const key of ['KeyW', 'ShiftLeft']) await page.keyboard.up(key);
    await differ(page, last, await picture(page, 'walked'), 0.01, 'nobody walks');
    await page.keyboard.press('KeyF');
    await page.waitForFunction(() => !document.getElementById('words').textContent.includes('walking'));
  },
  async 'what is replaced is given back'(page) {
    await drop(page, 'ball.vox', ballFile());
    const reason = await page.evaluate(() => Promise.race([
      window.devices[0].lost.then((info) => info.reason),
      new Promise((done) => setTimeout(() => done('it is kept'), 5000)),
    ]));
    check(reason === 'destroyed', reason);
  },
  async 'a device that is not to be had at once is tried again'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.keyboard.press('KeyE');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const before = await picture(page, 'retry-before');
    const count = await page.evaluate(() => {
      window.refusals = 2;
      window.devices.forEach((device) => device.destroy());
      return window.devices.length;
    });
    await page.waitForTimeout(300);
    await page.keyboard.press('KeyO');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    check(await page.evaluate(() => window.refusals) === 0, 'it was not refused');
    await same(page, before, await picture(page, 'retry-after'), 'the new device shows something else');
  },
  async 'bad files are refused and the world stays'(page) {
    const before = await picture(page, 'bad-before');
    const bad = { 'notes.txt': 'some words', 'cut.vox': ballFile().subarray(0, 300), 'empty.mca': 'x', 'spot.obj': 'v 0 0 0' };
    for (const [name, bytes] of Object.entries(bad)) {
      await drop(page, name, bytes);
      const message = await page.locator('#message').textContent();
      check(message.includes(name), `${name}: "${message}"`);
      await same(page, before, await picture(page, 'bad-after'), `${name} changes the picture`);
    }
  },
  async 'a lost device is opened again'(page) {
    const before = await picture(page, 'lost-before');
    const count = await page.evaluate(() => {
      window.devices.forEach((device) => device.destroy());
      return window.devices.length;
    });
    await page.waitForTimeout(300);
    await page.keyboard.press('Home');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'lost-after'), 'the new device shows something else');
  },
};

Object.assign(TESTS, sittings({ pictures, SIZE, check, drop, picture, differ, same }));
for (const name of ['monu10.vox', 'r.0.0.mca', 'jacksboro-dem-16bit.png']) {
  TESTS[`${name} is shown as soft shows it`] = async (page) => {
    if (!data) return 'DRYSTONE_DATA is not set';
    await dropped(page, join(data, name), name);
  };
}

/// Opens a page; notes what goes wrong in it, and devices that it opens.
async function open(browser, url, script) {
  const context = await browser.newContext({ viewport: SIZE, deviceScaleFactor: 1, hasTouch: true });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (line) => {
    // What WebGPU refuses is no more than a warning to the browser.
    const isRefused = line.type() === 'warning' && /\b(invalid|error)\b/i.test(line.text());
    if (line.type() === 'error' || isRefused) errors.push(line.text());
  });
  page.on('pageerror', (error) => errors.push(`${error}`));
  await page.addInitScript(script);
  await page.goto(url);
  await ready(page);
  return { page, errors, close: () => context.close() };
}

function noteDevices() {
  window.devices = [];
  if (!window.GPUAdapter) return;
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (...words) {
    if (window.refusals > 0) {
      window.refusals -= 1;
      throw new DOMException('not now', 'OperationError');
    }
    const device = await request.apply(this, words);
    window.devices.push(device);
    return device;
  };
}

/// Pages that are no small world.
const PAGES = {
  async 'the page shows its world at once'(browser, url) {
    const { page, errors, close } = await open(browser, url, noteDevices);
    await page.screenshot({ path: join(pictures, 'page.png') });
    const seen = await picture(page, 'first');
    check((await compare(page, seen, seen)).colors > 100, 'there is no landscape');
    await page.keyboard.press('KeyH');
    await page.screenshot({ path: join(pictures, 'card.png') });
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
  async 'seeds have 64 bits'(browser, url) {
    const seed = `${(1n << 64n) - 1n}`;
    const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, seed })}`, noteDevices);
    const options = ['--chunks', WORLD.chunks, '--relief', WORLD.relief, '--seed', seed, '--levels', 'on'];
    await agree(page, 'seed', expected('seed', options));
    check(errors.length === 0, errors.join('\n'));
    await page.goto(`${url}?seed=18446744073709551616`);
    await ready(page);
    check((await page.locator('#reason').textContent()).includes('a seed is'), 'a seed too large is taken');
    await close();
  },
  async 'a page from elsewhere than https is told why'(browser, url) {
    const plain = url.replace('127.0.0.1', 'plain.test');
    const { page, close } = await open(browser, plain, noteDevices);
    check((await page.locator('#reason').textContent()).includes('https://'), 'it does not say why');
    await close();
  },
  async 'a page that is opened as a file is told why'(browser) {
    const { page, close } = await open(browser, pathToFileURL(resolve(dist, 'index.html')).href, noteDevices);
    check((await page.locator('#reason').textContent()).includes('localhost'), 'it does not say why');
    await close();
  },
  async 'a browser without WebGPU is told so, with a picture'(browser, url) {
    const hide = () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });
    const { page, errors, close } = await open(browser, url, hide);
    await page.waitForFunction(() => document.getElementById('picture').naturalWidth > 0);
    check((await page.locator('#reason').textContent()).includes('WebGPU'), 'it does not say why');
    await page.screenshot({ path: join(pictures, 'refused.png') });
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
};

const counts = { passed: 0, failed: 0, skipped: 0 };
async function run(name, test) {
  const begun = performance.now();
  let outcome = 'ok';
  try {
    const skipped = await test();
    if (skipped) console.log(`skipped: ${name}: ${skipped}`);
    counts[skipped ? 'skipped' : 'passed'] += 1;
  } catch (error) {
    outcome = `FAILED: ${error.message ?? error}`;
    counts.failed += 1;
  }
  console.log(`test ${name} ... ${outcome} (${((performance.now() - begun) / 1e3).toFixed(1)} s)`);
}

const server = await serve(dist);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS,
});
const only = process.env.ONLY ?? '';
try {
  for (const [name, test] of Object.entries(PAGES).filter(([name]) => name.includes(only))) {
    await run(name, () => test(browser, server.url));
  }
  for (const [name, test] of Object.entries(TESTS).filter(([name]) => name.includes(only))) {
    await run(name, async () => {
      const { page, errors, close } = await open(browser, `${server.url}?${new URLSearchParams(WORLD)}`, noteDevices);
      try {
        const skipped = await test(page);
        check(errors.length === 0, `the console says: ${errors.join('\n')}`);
        return skipped;
      } catch (error) {
        await page.screenshot({ path: join(pictures, 'failed.png') });
        console.log(`  ${await words(page)} ${await page.locator('#message').textContent()}`);
        console.log(errors.map((line) => `  console: ${line}`).join('\n'));
        throw error;
      } finally {
        await close();
      }
    });
  }
} finally {
  await browser.close();
  server.close();
}
console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
process.exit(counts.failed ? 1 : 0);
