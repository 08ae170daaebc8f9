// Tests of longer sequences, and of display options. Each starts with the small world.

import { join } from 'node:path';
import { SIZE, check, differ, drop, hold, picture, pictures, same } from './kit.mjs';
import { ballFile } from './vox.mjs';

export const sittings = {
  async 'a sequence: open, fly, edit, undo, redo, switch renderers, open again'(page) {
    await drop(page, 'ball.vox', ballFile());
    const home = await picture(page, 'sitting-1-opened');
    await hold(page, ['KeyW'], home, 0.02);
    const flown = await picture(page, 'sitting-2-flown');
    await differ(page, home, flown, 0.02, 'the camera does not move');
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const edited = await picture(page, 'sitting-3-edited');
    await differ(page, flown, edited, 0.01, 'no voxels are removed');
    await page.keyboard.press('Control+KeyZ');
    await same(page, flown, await picture(page, 'sitting-4-undone'), 'undo is not complete');
    await page.keyboard.press('Control+KeyY');
    await same(page, edited, await picture(page, 'sitting-5-redone'), 'redo is not complete');
    for (const name of ['naive', 'pool']) {
      await page.keyboard.press('KeyR');
      await page.waitForFunction((name) => document.getElementById('words').textContent.includes(`${name} on`), name);
      await same(page, edited, await picture(page, `sitting-6-${name}`), `${name} draws another picture`);
    }
    await page.screenshot({ path: join(pictures, 'sitting-7-page.png') });
    page.on('dialog', (dialog) => dialog.accept());
    await drop(page, 'ball.vox', ballFile());
    await same(page, home, await picture(page, 'sitting-8-opened-again'), 'the picture is another after opening again');
  },
  async 'the sun, the tint, the wireframe and hiding the status'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'options-before');
    await page.keyboard.press('KeyN');
    await differ(page, before, await picture(page, 'options-net'), 0.01, 'no wireframe');
    await page.keyboard.press('KeyN');
    await page.keyboard.press('KeyT');
    await differ(page, before, await picture(page, 'options-tint'), 0.01, 'no tint');
    await page.keyboard.press('KeyT');
    await same(page, before, await picture(page, 'options-after'), 'an option is still on');
    await page.keyboard.press('KeyH');
    await page.locator('#sun').fill('18.25');
    check(await page.locator('#hour').textContent() === '18.25', 'the hour is not shown');
    await page.screenshot({ path: join(pictures, 'options-card.png') });
    await page.keyboard.press('Escape');
    await page.locator('canvas').first().focus();
    await page.evaluate(() => { document.getElementById('card').hidden = true; });
    await differ(page, before, await picture(page, 'options-evening'), 0.1, 'the light does not change');
    await page.keyboard.press('KeyZ');
    check(!await page.locator('#words').isVisible() && !await page.locator('#tools').isVisible(), 'Z hides nothing');
    await page.keyboard.press('KeyZ');
    check(await page.locator('#words').isVisible(), 'Z brings nothing back');
  },
};
