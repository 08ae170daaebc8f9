// Tests of saving edits to a file that the user picks. Each starts with the small world.

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { agree, needsConfirmation, ball, check, downloaded, drop, dropTogether, edit, expected, message, pictures, ready, expectMessage, stored, waitForStatus } from './kit.mjs';
import { ballFile } from './vox.mjs';

/// Replaces the browser's file picker: picks a file in memory, or fails at the step `window.failing`.
const mockPicker = () => {
  Object.assign(window, { picks: [], writes: [], failing: null });
  window.showSaveFilePicker = async (options) => {
    window.picks.push(options.suggestedName);
    if (window.failing === 'pick') throw new DOMException('The user aborted a request.', 'AbortError');
    if (window.failing === 'gesture') throw new DOMException('no key was pressed', 'SecurityError');
    const name = `picked-${window.picks.length}.drystone`;
    const createWritable = async () => {
      if (window.failing === 'open') throw new DOMException('the file is missing', 'NotFoundError');
      let bytes = null;
      return {
        write: async (it) => { bytes = [...it]; },
        close: async () => {
          await window.holdsUp;
          if (window.failing === 'close') throw new DOMException('the disk is full', 'QuotaExceededError');
          window.writes.push({ name, bytes });
        },
      };
    };
    return { name, createWritable };
  };
};

const log = (page) => page.evaluate(() => ({ picks: window.picks.join(), writes: window.writes.map((it) => it.name).join() }));
const fails = (page, how) => page.evaluate((how) => { window.failing = how; }, how);
const saves = (page) => page.keyboard.press('Control+KeyS');

/// Stores the bytes that were written last in the folder of pictures, and returns the path.
async function written(page) {
  const { name, bytes } = await page.evaluate(() => window.writes.at(-1));
  const file = join(pictures, name);
  writeFileSync(file, Buffer.from(bytes));
  return file;
}

export const picking = {
  async 'a picked file is written and overwritten'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await saves(page);
    await waitForStatus(page, 'no edits');
    check((await log(page)).picks === '', 'a file was picked without edits');
    await edit(page);
    await saves(page);
    await waitForStatus(page, 'saved as picked-1.drystone');
    check(!await needsConfirmation(page), 'confirmation for saved edits');
    await agree(page, 'picked-first', expected('picked-first', [ball, '--levels', 'off', '--edits', await written(page)]));
    await edit(page);
    check(await needsConfirmation(page), 'no confirmation for later edits');
    await saves(page);
    await waitForStatus(page, 'saved as picked-1.drystone');
    let seen = await log(page);
    check(seen.picks === 'ball.vox.edits.drystone' && seen.writes === 'picked-1.drystone,picked-1.drystone', JSON.stringify(seen));
    await agree(page, 'picked-second', expected('picked-second', [ball, '--levels', 'off', '--edits', await written(page)]));

    // The file is missing: the next save picks another one.
    await edit(page);
    await fails(page, 'open');
    await saves(page);
    await expectMessage(page, 'picked-1.drystone: NotFoundError');
    check(await needsConfirmation(page), 'no confirmation after a failed save');
    await fails(page, null);
    await saves(page);
    await waitForStatus(page, 'saved as picked-2.drystone');
    check(!await message(page), await message(page));

    // Another world gets another file.
    await drop(page, 'twin.vox', ballFile());
    await edit(page);
    await saves(page);
    await waitForStatus(page, 'saved as picked-3.drystone');
    seen = await log(page);
    check(seen.picks.endsWith('ball.vox.edits.drystone,twin.vox.edits.drystone'), seen.picks);
  },
  async 'edits are not saved if picking or closing the file fails'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await edit(page);
    for (const [how, why] of [['pick', 'No file was chosen'], ['close', 'QuotaExceededError']]) {
      await fails(page, how);
      await saves(page);
      await expectMessage(page, why);
      await expectMessage(page, 'not saved');
      check(await needsConfirmation(page), `${how}: no confirmation for unsaved edits`);
      check(!(await page.locator('#words').textContent()).includes('saved as'), `${how}: reported as saved`);
    }
    // Two key presses, one save.
    await page.evaluate(() => { window.failing = null; window.holdsUp = new Promise((done) => { window.letGo = done; }); });
    await saves(page);
    await saves(page);
    await expectMessage(page, 'still in progress');
    check(await needsConfirmation(page), 'the edits count as saved too early');
    await page.evaluate(() => window.letGo());
    await waitForStatus(page, 'saved as');
    check((await log(page)).writes === 'picked-3.drystone', JSON.stringify(await log(page)));
    // If no file can be picked, the edits are downloaded.
    await drop(page, 'twin.vox', ballFile());
    await edit(page);
    await fails(page, 'gesture');
    const file = await downloaded(page, () => saves(page));
    check(basename(file) === 'twin.vox.edits.drystone', file);
    await waitForStatus(page, 'downloading as twin.vox.edits.drystone');
  },
  async 'a held key saves once, and never saves the page itself'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await edit(page);
    // Also while the slider has the focus.
    await page.keyboard.press('KeyH');
    await page.locator('#sun').focus();
    await page.keyboard.down('Control');
    for (let n = 0; n < 5; n += 1) await page.keyboard.down('KeyS');
    await page.keyboard.up('KeyS');
    await page.keyboard.up('Control');
    await waitForStatus(page, 'saved as picked-1.drystone');
    check((await log(page)).writes === 'picked-1.drystone', JSON.stringify(await log(page)));
    const pressed = () => page.evaluate(() => {
      const event = new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, cancelable: true, bubbles: true });
      return !document.querySelector('canvas').dispatchEvent(event);
    });
    const repeats = await page.evaluate(() => {
      const event = new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, repeat: true, cancelable: true });
      return !window.dispatchEvent(event);
    });
    check(repeats, 'the browser saves the page while the key is held');
    // While a file is opened, there is no world to save.
    const [during, text] = await page.evaluate(async (bytes) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.from(bytes)], 'next.vox'));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      const event = new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, cancelable: true });
      const is = !window.dispatchEvent(event);
      return [is, document.getElementById('message').textContent];
    }, [...ballFile()]);
    check(during && text.includes('Wait until the file is open'), `${during} ${text}`);
    await ready(page);
    check(!await message(page), await message(page));
    check(await pressed(), 'the browser saves the page');
  },
  async 'shortcuts use key positions in layouts without Latin letters'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await edit(page);
    const press = (key, code) => page.evaluate(([key, code]) => !document.querySelector('canvas').dispatchEvent(
      new KeyboardEvent('keydown', { key, code, ctrlKey: true, cancelable: true, bubbles: true })), [key, code]);
    check(await press('ы', 'KeyS'), 'the browser saves the page');
    await waitForStatus(page, 'saved as picked-1.drystone');
    check(await press('я', 'KeyZ'), 'no edit is undone');
    // For a Latin letter, the position does not matter.
    check(!await press('o', 'KeyS'), 'a Latin letter is mapped by its position');
  },
  async 'saving leaves the message about damage'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    await page.evaluate(() => {
      const message = document.getElementById('message');
      message.textContent = 'a chunk is damaged';
    });
    await downloaded(page, () => saves(page));
    await waitForStatus(page, 'download started');
    await expectMessage(page, 'a chunk is damaged');
  },
  async 'a world with the name of an edits file is a world'(page) {
    const world = stored('edits of mine', ball);
    await dropTogether(page, [[basename(world), readFileSync(world)]]);
    check(!await message(page), await message(page));
    await agree(page, 'named', expected('named', [world, '--levels', 'off']));
  },
};
