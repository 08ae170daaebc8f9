// Editing. Each gets a page that shows the small world.

import { SIZE, asks, check, differ, drop, dropAll, picture, same, words } from './kit.mjs';
import { ballFile } from './vox.mjs';

export const edits = {
  async 'voxels are edited and taken back'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'edit-before');
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    await differ(page, before, await picture(page, 'edit-after'), 0.01, 'a click removes nothing');
    check((await words(page)).includes('voxels changed'), await words(page));
    await page.keyboard.press('Control+KeyZ');
    await same(page, before, await picture(page, 'edit-undone'), 'undo leaves something');
  },
  async 'edits are asked about before they go'(page) {
    await drop(page, 'ball.vox', ballFile());
    const asked = [];
    page.on('dialog', (dialog) => {
      asked.push(dialog.type());
      dialog.dismiss();
    });
    check(!await asks(page), 'nothing is lost yet');
    await page.keyboard.press('KeyE');
    await page.mouse.click(SIZE.width / 2, SIZE.height / 2);
    const edited = await picture(page, 'unsaved');
    await dropAll(page, [['second.vox', ballFile()]]);
    check(asked.join() === 'confirm', `asked: ${asked}`);
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
    await same(page, edited, await picture(page, 'unsaved-after'), 'what was edited is gone');
    check(await asks(page), 'it leaves without a word');
  },
};
