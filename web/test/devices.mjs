// Tests of lost and refused devices. Each starts with the small world.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PATIENCE_MS, SIZE, agree, needsConfirmation, ball, check, downloaded, drop, dropTogether, edit, expected, loseDevices, message, picture, ready, same, expectMessage, words } from './kit.mjs';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

export const devices = {
  async 'the device of a replaced page is destroyed'(page) {
    await drop(page, 'ball.vox', ballFile());
    const reason = await page.evaluate(() => Promise.race([
      window.devices[0].lost.then((info) => info.reason),
      new Promise((done) => setTimeout(() => done('it is not destroyed'), 5000)),
    ]));
    check(reason === 'destroyed', reason);
  },
  async 'opening a device is retried'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.keyboard.press('KeyE');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const before = await picture(page, 'retry-before');
    const count = await page.evaluate(() => {
      window.refusals = 2;
      return window.devices.length;
    });
    await loseDevices(page);
    await page.keyboard.press('KeyO');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    check(await page.evaluate(() => window.refusals) === 0, 'no attempt was refused');
    await same(page, before, await picture(page, 'retry-after'), 'the new device draws another picture');
  },
  async 'if no device can be opened again, the CPU draws'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'cpu-before');
    await page.evaluate(() => { window.refusals = 99; });
    await loseDevices(page);
    await page.keyboard.press('KeyO');
    await page.waitForFunction(() => document.getElementById('message').textContent.includes('the CPU draws'), null, { timeout: PATIENCE_MS });
    const seen = await compare(page, before, await picture(page, 'cpu-after'));
    check(seen.agrees, `the CPU draws another picture: ${JSON.stringify(seen)}`);
    check(await needsConfirmation(page), 'the edits count as saved');
    page.once('dialog', (dialog) => dialog.accept());
    await drop(page, 'ball.vox', ballFile());
    check((await words(page)).includes('soft: '), 'the next file has another device');
  },
  async 'edits can be saved if no device can be opened'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'refused-before');
    await page.evaluate(() => {
      window.refusals = 99;
      HTMLCanvasElement.prototype.getContext = () => null;
    });
    await loseDevices(page);
    await page.keyboard.press('KeyO');
    // During the attempts.
    await expectMessage(page, 'opening the device again');
    check(await needsConfirmation(page), 'no confirmation while the device is opened');
    await page.waitForFunction(() => document.body.dataset.state === 'refused', null, { timeout: PATIENCE_MS });
    check((await page.locator('#reason').textContent()).includes('The graphics device failed'), 'the device is not mentioned');
    check(!await message(page), await message(page));
    check(await needsConfirmation(page), 'no confirmation although edits can be saved');
    const file = await downloaded(page, () => page.locator('#rescue').click());
    check(!await page.locator('#rescue').isVisible() && !await needsConfirmation(page), 'saved edits count as unsaved');
    // With the key, too.
    const again = await downloaded(page, () => page.keyboard.press('Control+KeyS'));
    check(again !== file, again);
    await page.reload();
    await ready(page);
    await dropTogether(page, [[basename(again), readFileSync(again)], ['ball.vox', ballFile()]]);
    await same(page, before, await picture(page, 'refused-brought'), 'the saved edits differ');
    await agree(page, 'refused-soft', expected('refused', [ball, '--levels', 'off', '--edits', file]));
  },
  async 'after a panic the page reports lost edits'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    await page.evaluate(async () => {
      const { Page } = await import('./drystone_web.js');
      Page.prototype.frame = () => { throw new WebAssembly.RuntimeError('unreachable'); };
    });
    await page.keyboard.press('KeyO');
    await page.waitForFunction(() => document.body.dataset.state === 'refused');
    const reason = await page.locator('#reason').textContent();
    check(reason.includes('Unsaved edits are lost'), reason);
    check(!await needsConfirmation(page) && !await page.locator('#rescue').isVisible(), 'confirmation for lost edits');
    await page.keyboard.press('Control+KeyS');
    await expectMessage(page, 'no edits to save');
  },
  async 'a lost device is opened again'(page) {
    const before = await picture(page, 'lost-before');
    const count = await page.evaluate(() => window.devices.length);
    await loseDevices(page);
    await page.keyboard.press('Home');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'lost-after'), 'the new device draws another picture');
  },
};
