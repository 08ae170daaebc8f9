// Tests of pages that are isolated from others, in which the program has threads. Each opens its own page.

import { PATIENCE_MS, WORLD, agree, ball, check, downloaded, drawer, drop, edit, expected, generated, hold, open, picture, ready, same, words } from './kit.mjs';
import { ballFile } from './vox.mjs';

const soft = (url, world = WORLD) => `${url}?${new URLSearchParams({ ...world, backend: 'soft' })}`;
const LEVELS = [...generated, '--levels', 'on'];

/// Answers requests for the script of threads with a changed one, or not at all.
const changeThreads = (context, change) => context.route('**/thread.js', async (route) => {
  if (!change) return route.abort();
  const response = await route.fetch();
  return route.fulfill({ response, body: change(await response.text()) });
});

/// Opens the small world in a browser context in which threads are changed, and the `start` of all scripts.
async function openChanged(browser, url, change, start = '') {
  const changed = Object.create(browser, {
    newContext: {
      value: async (options) => {
        const context = await browser.newContext(options);
        await changeThreads(context, change);
        await context.route('**/program.js', async (route) => {
          const response = await route.fetch();
          await route.fulfill({ response, body: `${start}\n${await response.text()}` });
        });
        return context;
      },
    },
  });
  return open(changed, soft(url), () => {});
}

/// Returns the number of threads that a page should have, and why it has none; empty if it has some.
const threadsOf = (page) => page.evaluate(async () => {
  const { MEMORY } = await import('./memory.js');
  const count = Math.min(navigator.hardwareConcurrency, 16);
  return { count, lack: (!MEMORY && 'the program is built without threads') || (count < 2 ? 'there is one core' : '') };
});

export const threads = {
  async 'a page that is isolated has threads, and edits and saves with them'(browser, url) {
    const { page, errors, close } = await open(browser, soft(url), () => {});
    const { count, lack } = await threadsOf(page);
    if (lack) {
      await close();
      return lack;
    }
    check((await words(page)).includes(`, ${count} threads,`), await words(page));
    await agree(page, 'threads-generated', expected('threads-generated', LEVELS));
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'threads-before');
    await edit(page);
    const file = await downloaded(page, () => page.keyboard.press('Control+KeyS'));
    await agree(page, 'threads-saved', expected('threads-saved', [ball, '--levels', 'off', '--edits', file]));
    await page.keyboard.press('Control+KeyZ');
    await ready(page);
    await same(page, before, await picture(page, 'threads-undone'), 'undoing leaves a difference');
    await hold(page, ['KeyW'], before, 0.02);
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
  async 'a page that is isolated draws with WebGPU'(browser, url) {
    // Older browsers cannot wait for a word of a shared memory without blocking.
    for (const script of [() => {}, () => { delete Atomics.waitAsync; }]) {
      const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams(WORLD)}`, script);
      check(await page.evaluate(() => crossOriginIsolated), 'the page is not isolated');
      check((await words(page)).toLowerCase().includes(' on wgpu: webgpu'), await words(page));
      await agree(page, 'threads-gpu', expected('threads-gpu', LEVELS));
      check(errors.length === 0, errors.join('\n'));
      await close();
    }
  },
  async 'threads that do not start are not needed'(browser, url) {
    const { page, close } = await openChanged(browser, url, null);
    check(page !== drawer(page), 'the page\'s thread draws');
    check((await words(page)).includes(', 1 thread,'), await words(page));
    await agree(page, 'threads-none', expected('threads-none', LEVELS));
    await close();
  },
  async 'a worker without a shared memory draws with one thread'(browser, url) {
    // The page's thread has a shared memory, and the worker gets none.
    const { page, close } = await openChanged(browser, url, (text) => text, `
      const { Memory } = WebAssembly;
      if (self.WorkerGlobalScope) WebAssembly.Memory = function (of) {
        if (of.shared) throw new RangeError('no memory');
        return new Memory(of);
      };`);
    check(page !== drawer(page), 'the page\'s thread draws');
    check((await words(page)).includes(', 1 thread,'), await words(page));
    await agree(page, 'threads-memory', expected('threads-memory', LEVELS));
    await close();
  },
  async 'a thread that panics stops the program, which is reported'(browser, url) {
    // Threads that make meshes read the clock.
    const noClock = () => { Performance.prototype.now = () => { throw new WebAssembly.RuntimeError('unreachable'); }; };
    const panic = (text) => `${text}\n(${noClock})();`;
    const { page, close } = await openChanged(browser, url, panic);
    const { lack } = await threadsOf(page);
    if (lack) {
      await close();
      return lack;
    }
    await page.waitForFunction(() => document.body.dataset.state === 'refused', null, { timeout: PATIENCE_MS });
    const reason = await page.locator('#reason').textContent();
    check(reason.includes('The program has stopped with an internal error'), reason);
    await close();
  },
};
