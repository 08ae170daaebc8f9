// Devices that come and go. Each gets a page that shows the small world.

import { PATIENCE_MS, SIZE, check, drop, picture, same } from './kit.mjs';
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
      window.devices.forEach((device) => device.destroy());
      return window.devices.length;
    });
    await page.waitForTimeout(300);
    await page.keyboard.press('KeyO');
    await page.waitForFunction((count) => window.devices.length > count, count, { timeout: PATIENCE_MS });
    check(await page.evaluate(() => window.refusals) === 0, 'it was not refused');
    await same(page, before, await picture(page, 'retry-after'), 'the new device shows something else');
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
