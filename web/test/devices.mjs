// Devices that come and go. Each gets a page that shows the small world.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { PATIENCE_MS, SIZE, agree, asks, ball, check, downloaded, drop, dropTogether, edit, expected, loseDevices, message, picture, ready, same, says } from './kit.mjs';
import { ballFile } from './vox.mjs';

export const devices = {
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
      return window.devices.length;
    });
    await loseDevices(page);
    await page.keyboard.press('KeyO');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    check(await page.evaluate(() => window.refusals) === 0, 'it was not refused');
    await same(page, before, await picture(page, 'retry-after'), 'the new device shows something else');
  },
  async 'edits can be saved where no device is to be had any more'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'refused-before');
    await page.evaluate(() => { window.refusals = 99; });
    await loseDevices(page);
    await page.keyboard.press('KeyO');
    // While it is tried, there is only to be waited.
    await says(page, 'opening the device again');
    check(await asks(page), 'nobody asks about edits while the device is opened');
    await page.waitForFunction(() => document.body.dataset.state === 'refused', null, { timeout: PATIENCE_MS });
    check((await page.locator('#reason').textContent()).includes('The graphics device fails'), 'it says nothing of the device');
    check(!await message(page), await message(page));
    check(await asks(page), 'nobody asks about edits that can be saved still');
    const file = await downloaded(page, () => page.locator('#rescue').click());
    check(!await page.locator('#rescue').isVisible() && !await asks(page), 'what is saved is to be saved');
    // By key, too.
    const again = await downloaded(page, () => page.keyboard.press('Control+KeyS'));
    check(again !== file, again);
    await page.reload();
    await ready(page);
    await dropTogether(page, [[basename(again), readFileSync(again)], ['ball.vox', ballFile()]]);
    await same(page, before, await picture(page, 'refused-brought'), 'what was saved is something else');
    await agree(page, 'refused-soft', expected('refused', [ball, '--levels', 'off', '--edits', file]));
  },
  async 'a program that has stopped says that edits are gone'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    await page.evaluate(async () => {
      const { Page } = await import('./drystone_web.js');
      Page.prototype.frame = () => { throw new WebAssembly.RuntimeError('unreachable'); };
    });
    await page.keyboard.press('KeyO');
    await page.waitForFunction(() => document.body.dataset.state === 'refused');
    const reason = await page.locator('#reason').textContent();
    check(reason.includes('not saved are gone'), reason);
    check(!await asks(page) && !await page.locator('#rescue').isVisible(), 'it asks about what is gone');
    await page.keyboard.press('Control+KeyS');
    await says(page, 'nothing to be saved');
  },
  async 'a lost device is opened again'(page) {
    const before = await picture(page, 'lost-before');
    const count = await page.evaluate(() => window.devices.length);
    await loseDevices(page);
    await page.keyboard.press('Home');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    await same(page, before, await picture(page, 'lost-after'), 'the new device shows something else');
  },
};
