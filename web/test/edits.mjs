// Tests of editing. Each starts with the small world.

import { SIZE, needsConfirmation, check, differ, drop, dropAll, picture, same, words } from './kit.mjs';
import { ballFile } from './vox.mjs';

export const edits = {
  async 'voxels are edited and undone'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'edit-before');
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    await differ(page, before, await picture(page, 'edit-after'), 0.01, 'a click removes no voxels');
    check((await words(page)).includes('voxels changed'), await words(page));
    await page.keyboard.press('Control+KeyZ');
    await same(page, before, await picture(page, 'edit-undone'), 'undo is not complete');
  },
  async 'a box is selected, copied and placed'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'select-before');
    const [x, y] = [SIZE.width / 2, SIZE.height / 2];
    const says = (text) => page.waitForFunction((it) => document.getElementById('words').textContent.includes(it), text);
    await page.keyboard.press('KeyE');
    const places = () => page.evaluate(() => [...document.querySelectorAll('#tools button, #edits button')]
      .map((it) => it.getBoundingClientRect().x).join());
    await page.waitForSelector('#edits:not([hidden])');
    const first = await places();
    const press = (key) => page.click(`button[data-key="${key}"]`);
    await press('Ctrl+b');
    // Contexts of the tests have a touch screen.
    await says('tap the first corner');
    await page.mouse.click(x, y);
    await says('opposite');
    const isMarked = () => page.evaluate(() => {
      const marks = document.getElementById('marks');
      return marks.getContext('2d').getImageData(0, 0, marks.width, marks.height).data.some((it) => it > 0);
    });
    check(await isMarked(), 'the box is not outlined');
    await page.mouse.click(x + 40, y);
    await says('voxels selected');
    await page.keyboard.press('Control+KeyC');
    await says('copied');
    await press('Ctrl+v');
    await says('tap twice to place');
    const later = await places();
    check(later === first, `buttons move while one edits: ${first}, then ${later}`);
    await page.mouse.click(x, y);
    await says('changed');
    const placed = await picture(page, 'select-placed');
    await differ(page, before, placed, 0.0005, 'nothing is placed');
    await page.keyboard.press('Control+KeyZ');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.keyboard.press('KeyE');
    await same(page, before, await picture(page, 'select-undone'), 'undo is not complete');
    await page.evaluate(() => { window.matchMedia = () => ({ matches: false }); });
    await page.keyboard.press('KeyE');
    await press('Ctrl+b');
    await says('click the first corner');
  },
  async 'unsaved edits need a confirmation before they are lost'(page) {
    await drop(page, 'ball.vox', ballFile());
    const dialogs = [];
    page.on('dialog', (dialog) => {
      dialogs.push(dialog.type());
      dialog.dismiss();
    });
    check(!await needsConfirmation(page), 'confirmation without edits');
    await page.keyboard.press('KeyE');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const edited = await picture(page, 'unsaved');
    await dropAll(page, [['second.vox', ballFile()]]);
    check(dialogs.join() === 'confirm', `dialogs: ${dialogs}`);
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
    await same(page, edited, await picture(page, 'unsaved-after'), 'the edits are lost');
    check(await needsConfirmation(page), 'no confirmation before closing');
  },
};
