// What was edited is saved into a file that one picks. Each gets a page that shows the small world.

import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { agree, asks, ball, check, downloaded, drop, dropTogether, edit, expected, message, pictures, ready, says, stored, tells } from './kit.mjs';
import { ballFile } from './vox.mjs';

/// In place of the browser's: picks a file in memory, or fails as `window.failing` says.
const mockPicker = () => {
  Object.assign(window, { picks: [], writes: [], failing: null });
  window.showSaveFilePicker = async (options) => {
    window.picks.push(options.suggestedName);
    if (window.failing === 'pick') throw new DOMException('The user aborted a request.', 'AbortError');
    if (window.failing === 'gesture') throw new DOMException('nobody has pressed a key', 'SecurityError');
    const name = `picked-${window.picks.length}.drystone`;
    const createWritable = async () => {
      if (window.failing === 'open') throw new DOMException('it is gone', 'NotFoundError');
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

const ways = (page) => page.evaluate(() => ({ picks: window.picks.join(), writes: window.writes.map((it) => it.name).join() }));
const fails = (page, how) => page.evaluate((how) => { window.failing = how; }, how);
const saves = (page) => page.keyboard.press('Control+KeyS');

/// What was written last, as a file in the folder of pictures.
async function written(page) {
  const { name, bytes } = await page.evaluate(() => window.writes.at(-1));
  const file = join(pictures, name);
  writeFileSync(file, Buffer.from(bytes));
  return file;
}

export const picking = {
  async 'a file that one picks is written, and again'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await saves(page);
    await tells(page, 'no edits');
    check((await ways(page)).picks === '', 'somebody was asked for a file of nothing');
    await edit(page);
    await saves(page);
    await tells(page, 'saved as picked-1.drystone');
    check(!await asks(page), 'what is saved is asked about');
    await agree(page, 'picked-first', expected('picked-first', [ball, '--levels', 'off', '--edits', await written(page)]));
    await edit(page);
    check(await asks(page), 'nobody asks about what came after');
    await saves(page);
    await tells(page, 'saved as picked-1.drystone');
    let seen = await ways(page);
    check(seen.picks === 'ball.vox.edits.drystone' && seen.writes === 'picked-1.drystone,picked-1.drystone', JSON.stringify(seen));
    await agree(page, 'picked-second', expected('picked-second', [ball, '--levels', 'off', '--edits', await written(page)]));

    // It is gone: the next save asks for another.
    await edit(page);
    await fails(page, 'open');
    await saves(page);
    await says(page, 'picked-1.drystone: NotFoundError');
    check(await asks(page), 'nobody asks about what could not be saved');
    await fails(page, null);
    await saves(page);
    await tells(page, 'saved as picked-2.drystone');
    check(!await message(page), await message(page));

    // Another world is saved elsewhere.
    await drop(page, 'twin.vox', ballFile());
    await edit(page);
    await saves(page);
    await tells(page, 'saved as picked-3.drystone');
    seen = await ways(page);
    check(seen.picks.endsWith('ball.vox.edits.drystone,twin.vox.edits.drystone'), seen.picks);
  },
  async 'what was not picked or not closed is not saved'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await edit(page);
    for (const [how, why] of [['pick', 'No file was chosen'], ['close', 'QuotaExceededError']]) {
      await fails(page, how);
      await saves(page);
      await says(page, why);
      await says(page, 'not saved');
      check(await asks(page), `${how}: nobody asks about what is not saved`);
      check(!(await page.locator('#words').textContent()).includes('saved as'), `${how}: it says that it is saved`);
    }
    // As many keys as there may be: one save.
    await page.evaluate(() => { window.failing = null; window.holdsUp = new Promise((done) => { window.letGo = done; }); });
    await saves(page);
    await saves(page);
    await says(page, 'goes on still');
    check(await asks(page), 'it counts as saved before it is');
    await page.evaluate(() => window.letGo());
    await tells(page, 'saved as');
    check((await ways(page)).writes === 'picked-3.drystone', JSON.stringify(await ways(page)));
    // Where nothing may be picked, the browser has it.
    await drop(page, 'twin.vox', ballFile());
    await edit(page);
    await fails(page, 'gesture');
    const file = await downloaded(page, () => saves(page));
    check(basename(file) === 'twin.vox.edits.drystone', file);
    await tells(page, 'handed to the browser as twin.vox.edits.drystone');
  },
  async 'a key that is held saves once, and never the page itself'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await edit(page);
    // Who is at the slider saves too.
    await page.keyboard.press('KeyH');
    await page.locator('#sun').focus();
    await page.keyboard.down('Control');
    for (let n = 0; n < 5; n += 1) await page.keyboard.down('KeyS');
    await page.keyboard.up('KeyS');
    await page.keyboard.up('Control');
    await tells(page, 'saved as picked-1.drystone');
    check((await ways(page)).writes === 'picked-1.drystone', JSON.stringify(await ways(page)));
    const pressed = () => page.evaluate(() => {
      const event = new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, cancelable: true, bubbles: true });
      return !document.querySelector('canvas').dispatchEvent(event);
    });
    const repeats = await page.evaluate(() => {
      const event = new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, repeat: true, cancelable: true });
      return !window.dispatchEvent(event);
    });
    check(repeats, 'the browser saves the page while the key is held');
    // While something is opened there is nothing to be saved yet.
    const [during, said] = await page.evaluate(async (bytes) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([Uint8Array.from(bytes)], 'next.vox'));
      window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      const event = new KeyboardEvent('keydown', { key: 's', code: 'KeyS', ctrlKey: true, cancelable: true });
      const is = !window.dispatchEvent(event);
      return [is, document.getElementById('message').textContent];
    }, [...ballFile()]);
    check(during && said.includes('Wait until it is open'), `${during} ${said}`);
    await ready(page);
    check(!await message(page), await message(page));
    check(await pressed(), 'the browser saves the page');
  },
  async 'shortcuts are at their places where letters are not Latin'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(mockPicker);
    await edit(page);
    const press = (key, code) => page.evaluate(([key, code]) => !document.querySelector('canvas').dispatchEvent(
      new KeyboardEvent('keydown', { key, code, ctrlKey: true, cancelable: true, bubbles: true })), [key, code]);
    check(await press('ы', 'KeyS'), 'the browser saves the page');
    await tells(page, 'saved as picked-1.drystone');
    check(await press('я', 'KeyZ'), 'nothing is taken back');
    // Of a Latin letter the place says nothing.
    check(!await press('o', 'KeyS'), 'letters are taken by their places');
  },
  async 'saving leaves what is said of damage'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    await page.evaluate(() => {
      const message = document.getElementById('message');
      message.textContent = 'a place is damaged';
    });
    await downloaded(page, () => saves(page));
    await tells(page, 'handed to the browser');
    await says(page, 'a place is damaged');
  },
  async 'a world called as edits are is a world'(page) {
    const world = stored('edits of mine', ball);
    await dropTogether(page, [[basename(world), readFileSync(world)]]);
    check(!await message(page), await message(page));
    await agree(page, 'named', expected('named', [world, '--levels', 'off']));
  },
};
