// What somebody does in one sitting, and what is only looked at. Each gets a page.

import { join } from 'node:path';
import { SIZE, check, differ, drop, hold, picture, pictures, same } from './kit.mjs';
import { ballFile } from './vox.mjs';

export const sittings = {
  async 'one sitting: opens, flies, edits, takes back, switches renderers, opens again'(page) {
    await drop(page, 'ball.vox', ballFile());
    const home = await picture(page, 'sitting-1-opened');
    await hold(page, ['KeyW'], home, 0.02);
    const flown = await picture(page, 'sitting-2-flown');
    await differ(page, home, flown, 0.02, 'it stays where it was');
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const edited = await picture(page, 'sitting-3-edited');
    await differ(page, flown, edited, 0.01, 'nothing is removed');
    await page.keyboard.press('Control+KeyZ');
    await same(page, flown, await picture(page, 'sitting-4-undone'), 'undo leaves something');
    await page.keyboard.press('Control+KeyY');
    await same(page, edited, await picture(page, 'sitting-5-redone'), 'redo leaves something');
    for (const name of ['naive', 'pool']) {
      await page.keyboard.press('KeyR');
      await page.waitForFunction((name) => document.getElementById('words').textContent.includes(`${name} on`), name);
      await same(page, edited, await picture(page, `sitting-6-${name}`), `${name} shows something else`);
    }
    await page.screenshot({ path: join(pictures, 'sitting-7-page.png') });
    page.on('dialog', (dialog) => dialog.accept());
    await drop(page, 'ball.vox', ballFile());
    await same(page, home, await picture(page, 'sitting-8-opened-again'), 'it opens as something else');
  },
  async 'the sun, the tint, the net and the bare picture'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'look-before');
    await page.keyboard.press('KeyN');
    await differ(page, before, await picture(page, 'look-net'), 0.01, 'there is no net');
    await page.keyboard.press('KeyN');
    await page.keyboard.press('KeyT');
    await differ(page, before, await picture(page, 'look-tint'), 0.01, 'there is no tint');
    await page.keyboard.press('KeyT');
    await same(page, before, await picture(page, 'look-after'), 'something stays');
    await page.keyboard.press('KeyH');
    await page.locator('#sun').fill('18.25');
    check(await page.locator('#hour').textContent() === '18.25', 'the hour is not told');
    await page.screenshot({ path: join(pictures, 'look-card.png') });
    await page.keyboard.press('Escape');
    await page.locator('canvas').focus();
    await page.evaluate(() => { document.getElementById('card').hidden = true; });
    await differ(page, before, await picture(page, 'look-evening'), 0.1, 'the light is as it was');
    await page.keyboard.press('Tab');
    check(!await page.locator('#words').isVisible() && !await page.locator('#tools').isVisible(), 'Tab hides nothing');
    await page.keyboard.press('Tab');
    check(await page.locator('#words').isVisible(), 'Tab brings nothing back');
  },
};
