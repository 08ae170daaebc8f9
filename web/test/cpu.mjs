// Tests of a browser without WebGPU, where the software rasteriser draws on the CPU. Each opens its own
// page.

import { join } from 'node:path';
import { SIZE, WORLD, agree, ball, check, differ, downloaded, drawer, drop, edit, expected, expectMessage, generated, hold, message, open, picture, pictures, ready, same, waitForStatus, words } from './kit.mjs';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

/// Runs in the page before its scripts: a browser without WebGPU.
export const hideGpu = () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });

const sizeOf = (page) => page.evaluate(() => {
  const { width, height } = document.getElementById('plain');
  return { width, height };
});

/// Runs where the program was loaded: records the widths of pictures in `pictures`. Each takes `slowMs` longer.
export const recordPictures = (Page) => {
  Object.assign(globalThis, { pictures: [], slowMs: 0 });
  const { open_cpu: open } = Page.prototype;
  Page.prototype.open_cpu = function (canvas) {
    const show = (rgba, width, height) => {
      canvas.show(rgba, width, height);
      globalThis.pictures.push(width);
      for (const end = performance.now() + globalThis.slowMs; performance.now() < end;);
    };
    return open.call(this, { isRemote: canvas.isRemote, show });
  };
};

/// Opens the small world without WebGPU, and checks that nothing is logged as an error.
const without = (test) => async (browser, url) => {
  const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams(WORLD)}`, hideGpu, { program: recordPictures });
  await test(page);
  check(errors.length === 0, errors.join('\n'));
  await close();
};

export const cpu = {
  'without WebGPU the page says so in one line, and draws the same picture': without(async (page) => {
    await expectMessage(page, 'This browser has no WebGPU: the CPU draws');
    const got = await agree(page, 'cpu-generated', expected('cpu-generated', [...generated, '--levels', 'on']));
    check((await compare(page, got, got)).colors > 100, 'no landscape');
    await page.setViewportSize({ width: 1280, height: 800 });
    const lines = await page.evaluate(() => {
      const style = getComputedStyle(document.getElementById('message'));
      return document.getElementById('message').clientHeight / parseFloat(style.lineHeight);
    });
    check(lines < 1.5, `the message has ${lines} lines`);
    await page.screenshot({ path: join(pictures, 'cpu-page.png') });
    check((await words(page)).includes('soft: '), await words(page));
    await page.locator('#close').click();
    check(!await message(page), 'the message stays');
  }),
  async 'where WebGPU runs in software the CPU draws, unless the address chooses WebGPU'(browser, url) {
    for (const [backend, device, text] of [
      ['auto', 'soft: ', 'This browser runs WebGPU in software (swiftshader), which is slower: the CPU draws, at a lower resolution while the picture moves.'],
      ['webgpu', ' on wgpu: webgpu', ''],
      ['best', 'soft: ', 'backend=best: a backend is auto, soft or webgpu. This browser runs WebGPU in software'],
    ]) {
      const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, backend })}`, () => {});
      const seen = await message(page);
      check(text ? seen.includes(text) : !seen, `${backend}: ${seen}`);
      check((await words(page)).toLowerCase().includes(device), `${backend}: ${await words(page)}`);
      await agree(page, `cpu-choice-${backend}`, expected('cpu-choice', [...generated, '--levels', 'on']));
      check(errors.length === 0, errors.join('\n'));
      await close();
    }
  },
  async 'a device is software by its name or as a fallback, in the words of all browsers'(browser, url) {
    const { page, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, backend: 'soft' })}`, () => {});
    const names = await page.evaluate(async () => {
      const { softwareName } = await import('./device.js');
      return [
        { info: { vendor: 'google', architecture: 'swiftshader', isFallbackAdapter: true } },
        { info: { vendor: 'mesa', description: 'llvmpipe (LLVM 15.0.6, 256 bits)' } },
        { info: { vendor: 'microsoft', description: 'Microsoft Basic Render Driver' } },
        { info: { vendor: 'x', isFallbackAdapter: true } },
        { isFallbackAdapter: true },
        { info: { vendor: 'nvidia', architecture: 'ampere', isFallbackAdapter: false } },
        { info: { vendor: '', architecture: '', description: '' } },
        {},
      ].map(softwareName);
    });
    const right = ['swiftshader', 'llvmpipe (LLVM 15.0.6, 256 bits)', 'Microsoft Basic Render Driver', 'x', 'its fallback', '', '', ''];
    check(names.join() === right.join(), names.join());
    await close();
  },
  'without WebGPU keys and the mouse move the camera, and Home returns': without(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'cpu-home');
    await hold(page, ['KeyW'], before, 0.02);
    await differ(page, before, await picture(page, 'cpu-forward'), 0.02, 'KeyW moves little');
    await page.keyboard.press('Home');
    await same(page, before, await picture(page, 'cpu-home-again'), 'Home does not return to the start');
    await page.mouse.move(320, 200);
    await page.mouse.down();
    await page.mouse.move(380, 230, { steps: 4 });
    await page.mouse.up();
    await differ(page, before, await picture(page, 'cpu-turned'), 0.01, 'the mouse turns little');
  }),
  'without WebGPU voxels are edited and saved': without(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'cpu-edit-before');
    await edit(page);
    await differ(page, before, await picture(page, 'cpu-edited'), 0.0001, 'no voxels are removed');
    const file = await downloaded(page, () => page.keyboard.press('Control+KeyS'));
    await agree(page, 'cpu-saved', expected('cpu-saved', [ball, '--levels', 'off', '--edits', file]));
    await page.keyboard.press('Control+KeyZ');
    await ready(page);
    await same(page, before, await picture(page, 'cpu-undone'), 'undoing leaves a difference');
  }),
  'on a slow CPU moving pictures are small, and still ones have the full size': without(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    check((await sizeOf(page)).width === SIZE.width, 'a still picture is small');
    await drawer(page).evaluate(() => Object.assign(globalThis, { pictures: [], slowMs: 45 }));
    const before = await picture(page, 'cpu-slow');
    await hold(page, ['KeyW'], before, 0.02);
    await page.keyboard.press('Home');
    await same(page, before, await picture(page, 'cpu-slow-again'), 'a still picture is coarse');
    const widths = await drawer(page).evaluate(() => globalThis.pictures);
    check(Math.min(...widths) < SIZE.width * 0.9, `no moving picture is small: ${widths}`);
    check(Math.min(...widths) >= SIZE.width / 4, `a moving picture is too small: ${widths}`);
    check((await sizeOf(page)).width === SIZE.width, 'the last picture is small');
  }),
  async 'while the CPU makes meshes for long, every other frame draws a picture'(browser, url) {
    const record = `(Page) => {
      // A clock that runs fast: the time for meshes ends after a few of them.
      const now = performance.now.bind(performance);
      performance.now = () => 20 * now();
      (${recordPictures})(Page);
      globalThis.frames = [];
      const { frame } = Page.prototype;
      Page.prototype.frame = function () {
        const before = pictures.length;
        const more = frame.call(this);
        frames.push(pictures.length - before);
        return more;
      };
    }`;
    const { page, errors, close } = await open(browser, `${url}?backend=soft`, () => {}, { program: record });
    const drew = await drawer(page).evaluate(() => globalThis.frames.join(''));
    console.log(`  pictures of the frames: ${drew}`);
    check(drew.includes('0101'), 'frames make meshes and draw at once');
    check(!/00.*1/.test(drew.slice(0, -8)), 'pictures wait twice');
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
  async 'without WebGPU the finest screens have 2 x 2 pixels in a CSS pixel, and clicks hit what they show'(browser, url) {
    const fine = { viewport: { width: 320, height: 240 }, deviceScaleFactor: 3 };
    const { page, close } = await open(browser, `${url}?${new URLSearchParams(WORLD)}`, hideGpu, fine);
    await drop(page, 'ball.vox', ballFile());
    const { width, height } = await sizeOf(page);
    check(width === 640 && height === 480, `${width} x ${height}`);
    const before = await picture(page, 'cpu-fine');
    await page.keyboard.press('KeyE');
    // Hides the buttons, which cover the middle of such a small screen.
    await page.keyboard.press('KeyZ');
    await page.mouse.click(160, 120);
    await waitForStatus(page, ' changed');
    await differ(page, before, await picture(page, 'cpu-fine-edited'), 0.0001, 'a click in the middle hits nothing');
    await close();
  },
  async 'a page without https draws on the CPU and shows the reason'(browser, url) {
    const plain = url.replace('127.0.0.1', 'plain.test');
    const { page, errors, close } = await open(browser, `${plain}?${new URLSearchParams(WORLD)}`, () => {});
    await expectMessage(page, 'https://');
    await agree(page, 'cpu-plain', expected('cpu-plain', [...generated, '--levels', 'on']));
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
  async 'if WebGPU gives no adapter or no device, the CPU draws'(browser, url) {
    const refuse = {
      requestAdapter: () => { GPU.prototype.requestAdapter = async () => null; },
      requestDevice: () => { GPUAdapter.prototype.requestDevice = async () => { throw new DOMException('not now', 'OperationError'); }; },
    };
    for (const [name, script] of Object.entries(refuse)) {
      const { page, close } = await open(browser, `${url}?${new URLSearchParams(WORLD)}`, script);
      await expectMessage(page, 'the CPU draws');
      await agree(page, `cpu-${name}`, expected('cpu-refused', [...generated, '--levels', 'on']));
      await close();
    }
  },
};
