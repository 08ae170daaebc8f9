// Shared by all tests: the browser's arguments, pictures, dropped files; see run.mjs.

import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

export const [dist, pictures] = process.argv.slice(2);
export const data = process.env.DRYSTONE_DATA;
const drystone = process.env.DRYSTONE ?? 'target/debug/drystone';
mkdirSync(pictures, { recursive: true });

export const SIZE = { width: 640, height: 360 };
/// Time limit for a picture. A software GPU on a busy machine is slow.
export const PATIENCE_MS = 90_000;
/// The small world: it is generated quickly.
export const WORLD = { chunks: '16x4x16', seed: '3', relief: '128' };
export const ARGUMENTS = [
  '--headless', '--no-sandbox', '--disable-gpu-sandbox', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync',
  '--enable-unsafe-webgpu', '--use-webgpu-adapter=swiftshader', '--use-vulkan=swiftshader', '--use-angle=swiftshader', '--enable-features=Vulkan',
  // A host name that the browser does not treat as localhost.
  '--host-resolver-rules=MAP plain.test 127.0.0.1',
];

export const check = (is, words) => { if (!is) throw new Error(words); };

/// Returns the picture that `drystone shot` draws with the software rasteriser. A page on a software
/// device has one sample a pixel and no shadows.
export function expected(name, words, samples = '1', shadows = 'off') {
  const file = join(pictures, `${name}.expected.png`);
  const size = `${SIZE.width}x${SIZE.height}`;
  const drawing = ['--size', size, '--backend', 'soft', '--samples', samples, '--shadows', shadows, '--sky-light', 'off'];
  const done = spawnSync(drystone, ['shot', ...words, ...drawing, '-o', file], { encoding: 'utf8' });
  check(done.status === 0, `drystone shot ${words.join(' ')}: ${done.error ?? done.stderr}`);
  return readFileSync(file);
}

export const ready = (page) => page.waitForFunction(
  () => document.body.dataset.state !== 'loading' && (document.body.dataset.settled === 'true' || document.body.dataset.state === 'refused'),
  null, { timeout: PATIENCE_MS });
/// Waits for two frames, so that the last drawing is on the screen.
export const drawn = (page) => page.evaluate(() =>
  new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/// Hides or shows the elements over the canvas. The page's policy allows no style elements.
const bare = (page, isBare) => page.evaluate((isBare) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync('#words, #top, #stick, #marks { visibility: hidden }');
  document.adoptedStyleSheets = isBare ? [sheet] : [];
}, isBare);

/// Returns a picture of the canvas, without the elements over it.
export async function picture(page, name) {
  await ready(page);
  await drawn(page);
  // Events before this may have begun a new picture in these frames.
  await ready(page);
  await drawn(page);
  await bare(page, true);
  const shot = await page.screenshot({ path: join(pictures, `${name}.png`) });
  await bare(page, false);
  return shot;
}

/// Holds keys down until more than this share of the canvas differs from `before`.
export async function hold(page, keys, before, share) {
  for (const key of keys) await page.keyboard.down(key);
  await bare(page, true);
  const end = performance.now() + PATIENCE_MS;
  for (let seen = 0; seen <= share;) {
    check(performance.now() < end, `${keys.join(' and ')} held: only ${seen} of the picture changes`);
    await drawn(page);
    seen = (await compare(page, before, await page.screenshot())).share;
  }
  await bare(page, false);
  for (const key of keys.toReversed()) await page.keyboard.up(key);
}

/// Destroys the page's devices, and returns after the page was notified.
export const loseDevices = (page) => page.evaluate(async () => {
  window.devices.forEach((device) => device.destroy());
  await Promise.all(window.devices.map((device) => device.lost));
});

export const agree = async (page, name, reference) => {
  const got = await picture(page, name);
  const seen = await compare(page, reference, got);
  console.log(`  ${name}: ${JSON.stringify(seen)}`);
  check(seen.agrees, `${name} differs from the software rasteriser`);
  return got;
};
export const differ = async (page, a, b, share, words) => {
  const seen = await compare(page, a, b);
  check(seen.share > share, `${words}: ${JSON.stringify(seen)}`);
};
export const same = async (page, a, b, words) => {
  const seen = await compare(page, a, b);
  check(seen.share === 0, `${words}: ${JSON.stringify(seen)}`);
};

/// Drops groups of files on the page, one group after another.
export const dropGroups = (page, groups) => page.evaluate((groups) => {
  document.body.dataset.settled = 'false';
  for (const files of groups) {
    const dataTransfer = new DataTransfer();
    for (const [name, text] of files) {
      const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
      dataTransfer.items.add(new File([bytes], name));
    }
    const options = { dataTransfer, bubbles: true, cancelable: true };
    window.dispatchEvent(new DragEvent('dragover', options));
    window.dispatchEvent(new DragEvent('drop', options));
  }
}, groups.map((files) => files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')])));

/// Drops files on the page, one after another.
export const dropAll = (page, files) => dropGroups(page, files.map((file) => [file]));

/// Drops files together and waits until they are shown or refused.
export async function dropTogether(page, files) {
  await dropGroups(page, [files]);
  await ready(page);
}

/// Drops a file on the page and waits until it is shown or refused.
export async function drop(page, name, bytes) {
  await dropAll(page, [[name, bytes]]);
  await ready(page);
}

export const message = (page) => page.locator('#message').textContent();
/// Waits for a message with these words: a worker sends its messages later.
export const expectMessage = (page, words) =>
  page.waitForFunction((words) => document.getElementById('message').textContent.includes(words), words, { timeout: PATIENCE_MS })
    .catch(async () => check(false, `"${await message(page)}" does not contain "${words}"`));

/// Imports an input as a stored world and returns its path.
export function stored(name, ...words) {
  const file = join(pictures, `${name}.drystone`);
  rmSync(file, { force: true });
  const made = spawnSync(drystone, ['import', ...words, file], { encoding: 'utf8' });
  check(made.status === 0, `drystone import: ${made.error ?? made.stderr}`);
  return file;
}

/// Packs an input and returns the path of the packed world.
export function packed(name, ...words) {
  const file = join(pictures, `${name}.dsw`);
  const made = spawnSync(drystone, ['pack', ...words, '-o', file], { encoding: 'utf8' });
  check(made.status === 0, `drystone pack: ${made.error ?? made.stderr}`);
  return file;
}

/// Publishes an input with this page, and serves the site until `close`. Returns its address and the path of its world.
export async function published(name, ...words) {
  const site = join(pictures, name);
  rmSync(site, { recursive: true, force: true });
  const made = spawnSync(drystone, ['publish', ...words, '--page', dist, '-o', site], { encoding: 'utf8' });
  check(made.status === 0, `drystone publish: ${made.error ?? made.stderr}`);
  const server = spawn(drystone, ['serve', site, '--port', '0'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const line = await new Promise((done, failed) => {
    server.once('error', failed);
    server.once('exit', (code) => failed(new Error(`drystone serve ended with ${code}`)));
    server.stdout.once('data', (text) => done(`${text}`));
  });
  const [url] = /http:\S+/.exec(line);
  const world = readdirSync(site).find((name) => name.endsWith('.dsw'));
  return { url, world: join(site, world), close: () => server.kill() };
}

/// Returns the number of commits of a stored world.
export function commits(file) {
  const done = spawnSync(drystone, ['info', '--json', file], { encoding: 'utf8' });
  check(done.status === 0, `drystone info: ${done.error ?? done.stderr}`);
  return JSON.parse(done.stdout).revision;
}

/// Waits until the status line contains the words.
export const waitForStatus = (page, words) => page.waitForFunction((words) => document.getElementById('words').textContent.includes(words), words);

/// Removes voxels in the middle of the picture, each time with the next brush.
export async function edit(page) {
  await page.keyboard.press('KeyE');
  await page.keyboard.press('KeyB');
  await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
  await waitForStatus(page, ' changed');
  await ready(page);
  await page.keyboard.press('KeyE');
}

/// Returns the path of the file that `how` makes the browser download, in the folder of pictures.
export async function downloaded(page, how) {
  const [download] = await Promise.all([page.waitForEvent('download'), how()]);
  const file = join(pictures, download.suggestedFilename());
  await download.saveAs(file);
  return file;
}

/// Whether closing the page requires a confirmation.
export const needsConfirmation = (page) => page.evaluate(() => {
  const event = new Event('beforeunload', { cancelable: true });
  return !window.dispatchEvent(event);
});

export const words = (page) => page.locator('#words').textContent();

/// Drops a file and compares the page with the command line's picture of the file.
export async function dropped(page, file, name) {
  await drop(page, basename(file), readFileSync(file));
  const message = await page.locator('#message').textContent();
  check(!message, message);
  const levels = await page.evaluate(() => document.body.dataset.levels);
  await agree(page, name, expected(name, [file, '--levels', levels === 'true' ? 'on' : 'off']));
}

export const generated = Object.entries(WORLD).flatMap(([key, value]) => [`--${key}`, value]);
export const ball = join(pictures, 'ball.vox');
writeFileSync(ball, ballFile());

/// Returns an address that chooses WebGPU, or `BACKEND`, unless it chooses a backend: the tests have a software
/// device, for which a page chooses the CPU.
const withBackend = (url) => {
  const address = new URL(url);
  if (!address.searchParams.has('backend')) address.searchParams.set('backend', process.env.BACKEND ?? 'webgpu');
  return address.href;
};

/// Returns the worker that draws, or the page if its own thread draws.
export const drawer = (page) => page.workers().find((worker) => worker.url().endsWith('/worker.js')) ?? page;

/// Opens a page, and records its errors. `options` are those of a browser context. `program` runs after the
/// program was loaded, in the page and in the worker, with the class `Page`.
export async function open(browser, url, script, { program, ...options } = {}) {
  const context = await browser.newContext({ viewport: SIZE, deviceScaleFactor: 1, hasTouch: true, ...options });
  const page = await context.newPage();
  const errors = [];
  page.on('console', (line) => {
    // Chromium reports WebGPU validation errors as warnings.
    const isRefused = line.type() === 'warning' && /\b(invalid|error)\b/i.test(line.text());
    if (line.type() === 'error' || isRefused) errors.push(line.text());
  });
  page.on('pageerror', (error) => errors.push(`${error}`));
  if (program) {
    await context.route('**/drystone_web.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: `${await response.text()}\n(${program})(Page);` });
    });
  }
  await page.addInitScript(script);
  // Without the file picker, saving downloads. Tests that need a picker mock it.
  await page.addInitScript(() => { delete window.showSaveFilePicker; });
  await page.goto(withBackend(url));
  await ready(page);
  return { page, errors, close: () => context.close() };
}

/// Runs in the page: records the devices that it opens, and refuses the first `window.refusals` of them.
export function noteDevices() {
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
