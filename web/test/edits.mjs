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
