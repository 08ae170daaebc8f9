// Tests of a page that sleeps: a hidden or frozen tab, or a suspended machine. Each starts with the small world.

import { PATIENCE_MS, check, differ, drawer, drop, edit, hold, loseDevices, needsConfirmation, picture, same } from './kit.mjs';
import { ballFile } from './vox.mjs';

/// Hides or shows the tab, as the browser reports it.
const setHidden = (page, isHidden) => page.evaluate((isHidden) => {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => (isHidden ? 'hidden' : 'visible') });
  document.dispatchEvent(new Event('visibilitychange'));
}, isHidden);

/// Stops the frames, and returns after one was requested.
const stopFrames = (page) => page.evaluate(() => new Promise((done) => {
  const request = window.requestAnimationFrame;
  window.requestAnimationFrame = (work) => {
    window.goOn = () => {
      window.requestAnimationFrame = request;
      window.goOn = null;
      request(work);
    };
    done();
  };
}));

/// Moves the page's clock forward.
const skip = (page, ms) => page.evaluate((ms) => {
  const now = performance.now.bind(performance);
  performance.now = () => now() + ms;
}, ms);

/// Returns the camera as options of the program.
const camera = (page) => drawer(page).evaluate(() => globalThis.shown.camera_options());

/// Records the object of the page that draws.
const recordPage = (page) => drawer(page).evaluate(async () => {
  const { Page } = await import(new URL('./drystone_web.js', location.href));
  const { frame } = Page.prototype;
  Page.prototype.frame = function () {
    globalThis.shown = this;
    return frame.call(this);
  };
});

export const sleep = {
  async 'a tab that is hidden while a key is held does not move when it is shown again'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'sleep-before');
    await page.keyboard.down('KeyW');
    await setHidden(page, true);
    // The key is released in another tab, which the page is not told.
    await setHidden(page, false);
    const still = await picture(page, 'sleep-shown');
    await same(page, still, await picture(page, 'sleep-still'), 'the camera still moves');
    await page.keyboard.up('KeyW');
    await page.keyboard.press('Home');
    await same(page, before, await picture(page, 'sleep-home'), 'Home does not return to the start');
    await hold(page, ['KeyW'], before, 0.02);
    await differ(page, before, await picture(page, 'sleep-moves'), 0.02, 'the key does not move afterwards');
  },
  async 'a long gap between frames moves the camera no farther than one frame, and releases keys'(page) {
    await recordPage(page);
    await page.keyboard.down('KeyW');
    await page.waitForFunction(() => document.getElementById('state').textContent.includes('flying'), null, { timeout: PATIENCE_MS });
    await stopFrames(page);
    const from = await camera(page);
    await skip(page, 3_600_000);
    await page.evaluate(() => window.goOn());
    await page.waitForFunction(() => document.body.dataset.settled === 'true', null, { timeout: PATIENCE_MS });
    const to = await camera(page);
    const numbers = (text) => [...text.matchAll(/-?\d+(?:\.\d+)?/g)].map(Number).slice(0, 3);
    const away = Math.hypot(...numbers(from).map((it, n) => it - numbers(to)[n]));
    console.log(`  from ${from} to ${to}: ${away.toFixed(1)} voxels`);
    check(away < 100, `the camera moved ${away} voxels`);
    const still = await picture(page, 'gap-still');
    await same(page, still, await picture(page, 'gap-still-again'), 'the key is still held');
    await page.keyboard.up('KeyW');
  },
  async 'edits outlive sleep, and a device that was lost meanwhile is opened when the tab is shown'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'asleep-before');
    const count = await page.evaluate(() => window.devices.length);
    await setHidden(page, true);
    await loseDevices(page);
    await page.keyboard.press('KeyO');
    // The page waits with the attempts until it is visible.
    await page.waitForFunction(() => document.getElementById('message').textContent.includes('opening the device again'), null, { timeout: PATIENCE_MS });
    check(await page.evaluate(() => window.devices.length) === count, 'a hidden page opens a device');
    check(await needsConfirmation(page), 'no confirmation for unsaved edits');
    await setHidden(page, false);
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'asleep-after'), 'the edits are lost');
    // Without any input: the page draws when it is shown.
    await setHidden(page, true);
    await page.waitForFunction(() => document.body.dataset.settled === 'true', null, { timeout: PATIENCE_MS });
    await loseDevices(page);
    await setHidden(page, false);
    await page.waitForFunction((count) => window.devices.length > count + 1, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'asleep-again'), 'the edits are lost after the second sleep');
    check(await needsConfirmation(page), 'the edits count as saved');
  },
  async 'a frozen page, and one that the browser kept, draw again'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'frozen-before');
    let count = await page.evaluate(() => window.devices.length);
    // Chromium freezes only hidden pages, and a headless one hides none: the events are made here.
    await page.evaluate(() => document.dispatchEvent(new Event('freeze')));
    await page.waitForFunction(() => document.body.dataset.settled === 'true', null, { timeout: PATIENCE_MS });
    await loseDevices(page);
    await page.evaluate(() => document.dispatchEvent(new Event('resume')));
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'frozen-after'), 'the picture changes');
    count += 1;
    await loseDevices(page);
    await page.evaluate(() => window.dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true })));
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'kept-after'), 'the picture changes after the page was kept');
  },
  async 'a measurement that contains a sleep repeats its round'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(async () => {
      const { Page } = await import('./drystone_web.js');
      const { draw_round: draw, end_round: end } = Page.prototype;
      Object.assign(window, { begun: 0, times: [] });
      Page.prototype.draw_round = function () {
        window.begun += 1;
        draw.call(this);
        if (window.begun !== 2) return;
        Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' });
        document.dispatchEvent(new Event('visibilitychange'));
        delete document.visibilityState;
        document.dispatchEvent(new Event('visibilitychange'));
      };
      Page.prototype.end_round = function (ms) {
        window.times.push(ms);
        end.call(this, ms);
      };
    });
    await page.keyboard.press('KeyV');
    await page.waitForFunction(() => document.getElementById('shadows-cost').textContent.includes(' ms'), null, { timeout: 4 * PATIENCE_MS });
    const [begun, ended] = await page.evaluate(() => [window.begun, window.times.length]);
    check(begun === ended + 1, `${begun} rounds have begun, ${ended} ended`);
  },
};
