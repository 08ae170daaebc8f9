// Tests of the worker that draws on the CPU: it keeps the page's thread free, and its failures are reported.
// Each opens its own page.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  PATIENCE_MS, SIZE, WORLD, agree, ball, check, differ, downloaded, drawer, drop, dropTogether, edit, expectMessage, expected, generated, hold,
  message, needsConfirmation, open, picture, ready, same, waitForStatus,
} from './kit.mjs';
import { recordPictures } from './cpu.mjs';
import { ballFile } from './vox.mjs';

const address = (url) => `${url}?${new URLSearchParams({ ...WORLD, backend: 'soft' })}`;

/// Time that each frame and each opening of a world takes longer where the program runs, and the longest task
/// that the page's thread may have meanwhile, in milliseconds.
const SLOW_MS = 400;
const MAX_TASK_MS = 200;
/// Number of moving pictures. Slow ones take longer than a gap after which a held key is released.
const PICTURES = 12;

/// Opens the small world in the worker, and checks that nothing is logged as an error.
const inWorker = (test, script = () => {}) => async (browser, url) => {
  const { page, errors, close } = await open(browser, address(url), script, { program: recordPictures });
  check(drawer(page) !== page, 'the page\'s thread draws');
  await test(page);
  check(errors.length === 0, errors.join('\n'));
  await close();
};

/// Replaces `Page.frame` in the worker by one that panics, or that does not return until `goOn`.
const breakFrames = (page, how) => drawer(page).evaluate(async (how) => {
  const { Page } = await import(new URL('./drystone_web.js', location.href));
  const { frame } = Page.prototype;
  globalThis.stuck = new Promise((stick) => {
    Page.prototype.frame = async function () {
      if (how === 'panic') throw new WebAssembly.RuntimeError('unreachable');
      await new Promise(stick);
      Page.prototype.frame = frame;
      return frame.call(this);
    };
  });
}, how);

/// Lets a frame return, once it has begun.
const goOn = (page) => drawer(page).evaluate(async () => (await globalThis.stuck)());

const refused = async (page, ...texts) => {
  await page.waitForFunction(() => document.body.dataset.state === 'refused', null, { timeout: PATIENCE_MS });
  const reason = await page.locator('#reason').textContent();
  for (const text of texts) check(reason.includes(text), reason);
  check(await page.locator('#reload').isVisible(), 'the page cannot be reloaded');
};

export const worker = {
  async 'while the CPU loads and draws, the page\'s thread has no long task'(browser, url) {
    const observe = () => {
      Object.assign(window, { tasks: [], pictures: 0 });
      const put = CanvasRenderingContext2D.prototype.putImageData;
      CanvasRenderingContext2D.prototype.putImageData = function (...all) {
        window.pictures += 1;
        put.apply(this, all);
      };
      const note = (list) => window.tasks.push(...list.getEntries().map((it) => Math.round(it.duration)));
      new PerformanceObserver(note).observe({ type: 'longtask', buffered: true });
    };
    const slow = `(Page) => {
      const later = (work) => function (...all) {
        for (const end = performance.now() + ${SLOW_MS}; performance.now() < end;);
        return work.apply(this, all);
      };
      for (const [of, name] of [[Page, 'generated'], [Page, 'file'], [Page.prototype, 'frame']]) of[name] = later(of[name]);
    }`;
    const options = { viewport: { width: 1280, height: 800 } };
    for (const program of [undefined, slow]) {
      const { page, errors, close } = await open(browser, address(url), observe, { ...options, program });
      // Pictures are not compared here: that is a long task itself.
      await page.keyboard.down('KeyW');
      await page.evaluate(() => { window.pictures = 0; });
      await page.waitForFunction((count) => window.pictures >= count, PICTURES, { timeout: PATIENCE_MS });
      await page.keyboard.up('KeyW');
      await drop(page, 'ball.vox', ballFile());
      const tasks = await page.evaluate(() => window.tasks);
      console.log(`  long tasks${program ? ` with frames of more than ${SLOW_MS} ms` : ''}, in ms: ${tasks}`);
      check(!program || Math.max(...tasks, 0) < MAX_TASK_MS, `the page's thread has a task of ${Math.max(...tasks)} ms`);
      check(errors.length === 0, errors.join('\n'));
      await close();
    }
  },
  async 'a page of the worker has all methods of a page'(browser, url) {
    const { page, close } = await open(browser, address(url), () => {});
    const missing = await page.evaluate(async () => {
      const [{ Page }, { RemotePage }] = await Promise.all([import('./drystone_web.js'), import('./remote.js')]);
      // A WebGPU device draws on the page's thread.
      const local = ['is_opening', 'open_gpu'];
      const names = Object.getOwnPropertyNames(Page.prototype).filter((name) => !name.startsWith('__') && !local.includes(name));
      return names.filter((name) => !RemotePage.prototype[name]);
    });
    check(missing.length === 0, missing.join());
    await close();
  },
  'keys with an effect are kept from the browser': inWorker(async (page) => {
    const [SELECTED, EDITS] = [1, 32];
    const cases = [
      ['KeyW', 'down', 0, true], ['KeyW', 'up', 0, true], ['KeyE', 'repeat', 0, false], ['F12', 'down', 0, false],
      ['KeyB', 'down', 0, false], ['KeyB', 'down', EDITS, true], ['Ctrl+c', 'down', SELECTED, false],
      ['Ctrl+c', 'down', EDITS, false], ['Ctrl+c', 'down', SELECTED + EDITS, true], ['Ctrl+s', 'down', EDITS, false],
    ];
    const wrong = await page.evaluate(async (cases) => {
      const { handles_key } = await import('./drystone_web.js');
      return cases.filter(([chord, phase, bits, is]) => handles_key(chord, phase, bits) !== is);
    }, cases);
    check(wrong.length === 0, JSON.stringify(wrong));
    const press = (code) => page.evaluate((code) => !window.dispatchEvent(new KeyboardEvent('keydown', { code, key: 'x', cancelable: true })), code);
    await drop(page, 'ball.vox', ballFile());
    check(!await press('KeyB'), 'a key of the brush is handled without editing');
    check(await press('KeyE'), 'a key is not handled');
    await waitForStatus(page, 'edit: ');
    check(await press('KeyB'), 'a key of the brush is not handled while editing');
  }),
  'a switch that is changed while a picture is drawn shows what the user chose': inWorker(async (page) => {
    await page.keyboard.press('KeyH');
    await page.keyboard.down('KeyW');
    await drawer(page).evaluate(() => { globalThis.slowMs = 300; });
    const values = await page.evaluate(() => new Promise((done) => {
      const [seen, shadows] = [[], document.getElementById('shadows')];
      const put = CanvasRenderingContext2D.prototype.putImageData;
      CanvasRenderingContext2D.prototype.putImageData = function (...all) {
        put.apply(this, all);
        // While this picture is shown, the next one is drawn.
        if (seen.push(shadows.checked) === 3) setTimeout(() => shadows.click());
        if (seen.length === 8) done(seen);
      };
    }));
    await page.keyboard.up('KeyW');
    check(values.join() === 'false,false,false,true,true,true,true,true', values.join());
    await ready(page);
    check(await page.locator('#shadows').isChecked(), 'the switch changes back');
  }),
  async 'a browser that starts no worker draws on the page\'s thread, and says so'(browser, url) {
    // Browsers without workers, with workers that cannot load modules, and with ones that never start.
    const cases = {
      none: [() => { window.Worker = class { constructor() { throw new DOMException('there are none', 'NotSupportedError'); } }; }, 'NotSupportedError'],
      classic: [() => {
        const { Worker } = window;
        window.Worker = class extends Worker { constructor(file) { super(file); } };
      }, 'import statement'],
      silent: [() => {
        const later = window.setTimeout;
        window.setTimeout = (work, ms) => later(work, ms === 30_000 ? 0 : ms);
        window.Worker = class extends EventTarget {
          postMessage() {}
          terminate() {}
        };
      }, 'has not started after 30 s'],
      nameless: [() => {
        window.Worker = class extends EventTarget {
          constructor() {
            super();
            setTimeout(() => this.onerror(new ErrorEvent('error')));
          }

          postMessage() {}
          terminate() {}
        };
      }, 'the worker cannot be loaded'],
    };
    for (const [name, [script, why]] of Object.entries(cases)) {
      const { page, close } = await open(browser, address(url), script);
      await expectMessage(page, 'The address contains backend=soft: the CPU draws, at a lower resolution');
      await expectMessage(page, 'Inputs wait for pictures, because this browser starts no worker: ');
      await expectMessage(page, why);
      check(drawer(page) === page, 'a worker runs');
      await agree(page, `lonely-${name}`, expected('lonely', [...generated, '--levels', 'on']));
      await drop(page, 'ball.vox', ballFile());
      const before = await picture(page, 'lonely-before');
      await edit(page);
      await differ(page, before, await picture(page, 'lonely-edited'), 0.0001, 'no voxels are removed');
      await close();
    }
  },
  async 'if the program panics in the worker, the page says what to do'(browser, url) {
    const { page, close } = await open(browser, address(url), () => {});
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    await breakFrames(page, 'panic');
    const closed = drawer(page).waitForEvent('close');
    await page.keyboard.press('KeyO');
    await refused(page, 'The program has stopped with an internal error. Reload the page', 'Unsaved edits are lost');
    check(!await needsConfirmation(page), 'confirmation for lost edits');
    await closed;
    await page.locator('#reload').click();
    await ready(page);
    await agree(page, 'panicked', expected('panicked', [...generated, '--levels', 'on']));
    // An error outside of a message.
    await drawer(page).evaluate(() => { setTimeout(() => { throw new Error('out of memory'); }); });
    await refused(page, 'The program has stopped with an internal error. Reload the page');
    await close();
  },
  'if the worker does not answer, a message says so until it does, and the page answers': inWorker(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'silent-before');
    await breakFrames(page, 'wait');
    await page.keyboard.press('ArrowLeft');
    await page.waitForFunction(() => window.silence);
    // The machine sleeps for an hour.
    await page.evaluate(() => {
      const now = performance.now.bind(performance);
      performance.now = () => now() + 3_600_000;
      window.silence();
    });
    check(!await message(page), `after a sleep: ${await message(page)}`);
    await page.evaluate(() => window.silence());
    await expectMessage(page, 'has not answered for 20 s. Wait until it continues, or reload the page, which loses unsaved edits');
    await page.keyboard.press('KeyH');
    check(await page.locator('#card').isVisible(), 'the page does not answer');
    await page.keyboard.press('KeyH');
    check(await needsConfirmation(page), 'unsaved edits need no confirmation');
    // In this test the worker answers other calls than the one for a frame.
    const shown = await page.evaluate(() => {
      window.dispatchEvent(new KeyboardEvent('keydown', { code: 'KeyS', key: 's', ctrlKey: true, cancelable: true }));
      return document.getElementById('message').textContent;
    });
    check(shown.includes('has not answered'), `a call ends the message: "${shown}"`);
    await goOn(page);
    await ready(page);
    check(!await message(page), await message(page));
    await page.keyboard.press('Home');
    await same(page, before, await picture(page, 'silent-after'), 'Home does not return to the start');
  }, () => {
    // The test ends the time limit of an answer.
    const { setTimeout: later, clearTimeout: clear } = window;
    window.setTimeout = (work, ms) => {
      if (ms !== 20_000) return later(work, ms);
      window.silence = work;
      return -1;
    };
    window.clearTimeout = (id) => {
      if (id === -1) window.silence = null;
      else clear(id);
    };
  }),
  'an edit that the worker has not made yet counts as unsaved': inWorker(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    await page.keyboard.press('KeyE');
    await ready(page);
    check(!await needsConfirmation(page), 'confirmation without edits');
    await breakFrames(page, 'wait');
    // A click beside the ball, which edits nothing.
    await page.mouse.click(SIZE.width - 10, SIZE.height / 2);
    check(await needsConfirmation(page), 'no confirmation while a click is not answered');
    await goOn(page);
    await ready(page);
    check(!await needsConfirmation(page), 'confirmation without edits after the answer');
    await page.keyboard.press('KeyE');
    await ready(page);
    await breakFrames(page, 'wait');
    await page.keyboard.press('KeyE');
    check(!await needsConfirmation(page), 'confirmation because editing begins');
    await page.mouse.click(SIZE.width - 10, SIZE.height / 2);
    check(await needsConfirmation(page), 'no confirmation while the beginning of editing is not answered');
    await goOn(page);
    await ready(page);
    check(!await needsConfirmation(page), 'confirmation without edits after the second answer');
  }),
  'pictures are drawn while the mouse moves faster than outlines': inWorker(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    await page.keyboard.press('KeyE');
    await waitForStatus(page, 'edit: ');
    await ready(page);
    await page.evaluate(async () => {
      const { RemotePage } = await import('./remote.js');
      const { outline } = RemotePage.prototype;
      RemotePage.prototype.outline = function (...at) {
        document.querySelector('canvas').dispatchEvent(new PointerEvent('pointermove', { pointerType: 'mouse' }));
        return outline.apply(this, at);
      };
    });
    await page.keyboard.press('ArrowLeft');
    await ready(page);
  }),
  'a file whose quality cannot be set is refused with the reason': inWorker(async (page) => {
    const before = await picture(page, 'quality-before');
    await drawer(page).evaluate(async () => {
      const { Page } = await import(new URL('./drystone_web.js', location.href));
      Page.prototype.copy_quality = () => { throw 'no quality'; };
    });
    await drop(page, 'ball.vox', ballFile());
    await expectMessage(page, 'no quality');
    await same(page, before, await picture(page, 'quality-after'), 'the file is shown');
  }),
  'a save whose answer cannot be received fails, and can be repeated': inWorker(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    await page.evaluate(() => { window.losesBytes = true; });
    await page.keyboard.press('Control+KeyS');
    await page.waitForFunction(() => document.getElementById('message').textContent.includes('cannot receive the answer of the program. The edits are still here, not saved'), null, { timeout: PATIENCE_MS });
    await downloaded(page, () => page.keyboard.press('Control+KeyS'));
  }, () => {
    // The next answer with bytes, that of a save, cannot be received. Other calls wait for answers at that time.
    const { Worker } = window;
    window.Worker = class extends Worker {
      addEventListener(kind, listener, ...more) {
        super.addEventListener(kind, kind !== 'message' ? listener : (event) => {
          if (!window.losesBytes || !(event.data.value instanceof Uint8Array)) return listener(event);
          window.losesBytes = false;
          return this.dispatchEvent(new MessageEvent('messageerror'));
        }, ...more);
      }
    };
  }),
  'the worker opens files with their edits, keeps the camera, and saves what it edits': inWorker(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    const whole = await picture(page, 'worker-whole');
    await edit(page);
    check(await needsConfirmation(page), 'no confirmation for unsaved edits');
    const edited = await picture(page, 'worker-edited');
    const file = await downloaded(page, () => page.keyboard.press('Control+KeyS'));
    await waitForStatus(page, 'download');
    check(!await needsConfirmation(page), 'confirmation for saved edits');
    await agree(page, 'worker-saved', expected('worker-saved', [ball, '--levels', 'off', '--edits', file]));
    await drop(page, 'ball.vox', ballFile());
    await same(page, whole, await picture(page, 'worker-again'), 'edits of the last page are shown');
    await hold(page, ['ArrowLeft'], whole, 0.02);
    const turned = await picture(page, 'worker-turned');
    await dropTogether(page, [[basename(file), readFileSync(file)]]);
    await differ(page, turned, await picture(page, 'worker-over'), 0.005, 'no edits are shown');
    await page.keyboard.press('Home');
    await same(page, edited, await picture(page, 'worker-home'), 'the camera is at another position');
    await drop(page, 'cut.vox', ballFile().subarray(0, 300));
    await expectMessage(page, 'cut.vox');
    await same(page, edited, await picture(page, 'worker-cut'), 'a refused file changes the picture');
    await edit(page);
    await downloaded(page, () => page.keyboard.press('Control+KeyS'));
  }),
  'the worker measures the costs of the switches': inWorker(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    await page.keyboard.press('KeyV');
    await page.waitForFunction(() => document.getElementById('shadows-cost').textContent.includes(' ms'), null, { timeout: PATIENCE_MS });
    await page.keyboard.press('KeyJ');
    await ready(page);
    check(await page.locator('#samples').inputValue() === '4', 'the card shows other switches');
  }),
};
