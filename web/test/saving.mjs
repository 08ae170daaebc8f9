// What was edited is saved and brought again. Each gets a page that shows the small world.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { agree, asks, ball, check, commits, differ, downloaded, drop, dropGroups, dropTogether, edit, expected, generated, hold, message, picture, pictures, ready, same, says, stored, tells } from './kit.mjs';
import { ballFile } from './vox.mjs';

/// What the browser is given to keep.
async function save(page, how = () => page.keyboard.press('Control+KeyS')) {
  const file = await downloaded(page, how);
  await tells(page, `handed to the browser as ${basename(file)}`);
  check(!await asks(page), 'what is saved is asked about');
  return file;
}

const bring = (file) => [basename(file), readFileSync(file)];

export const saving = {
  async 'edits are saved as a file that brings them back, here and in the viewer'(page) {
    await drop(page, 'ball.vox', ballFile());
    const whole = await picture(page, 'save-whole');
    await page.keyboard.press('Control+KeyS');
    await tells(page, 'no edits');
    await edit(page);
    check(await asks(page), 'nobody asks about what is not saved');
    const first = await picture(page, 'save-first');
    await differ(page, whole, first, 0.01, 'nothing was edited');
    const file = await save(page);
    check(basename(file) === 'ball.vox.edits.drystone', file);
    console.log(`  ${readFileSync(file).length} bytes`);
    await agree(page, 'save-first-soft', expected('save-first', [ball, '--levels', 'off', '--edits', file]));

    // More, into the same file, by the button.
    await edit(page);
    check(await asks(page), 'nobody asks about what came after');
    const second = await picture(page, 'save-second');
    await page.keyboard.press('KeyE');
    await page.screenshot({ path: join(pictures, 'save-page.png') });
    const again = await save(page, () => page.locator('#save').click());
    check(basename(again) === 'ball.vox.edits-2.drystone', again);
    await page.reload();
    await ready(page);
    await dropTogether(page, [bring(again), ['ball.vox', ballFile()]]);
    check(!await message(page), await message(page));
    await same(page, second, await picture(page, 'save-brought'), 'what was saved is something else');
    await agree(page, 'save-second-soft', expected('save-second', [ball, '--levels', 'off', '--edits', again]));

    // Over what is shown, from where it is seen; and edited on.
    await drop(page, 'ball.vox', ballFile());
    await same(page, whole, await picture(page, 'save-again'), 'there are edits that nobody brought');
    await hold(page, ['ArrowLeft'], whole, 0.02);
    const turned = await picture(page, 'save-turned');
    await dropTogether(page, [bring(again)]);
    await differ(page, turned, await picture(page, 'save-over'), 0.005, 'no edits are shown');
    await page.keyboard.press('Home');
    await same(page, second, await picture(page, 'save-home'), 'it is seen from elsewhere');
    await edit(page);
    const third = await picture(page, 'save-third');
    const last = await save(page);
    check(basename(last) === 'ball.vox.edits-3.drystone', last);
    await agree(page, 'save-third-soft', expected('save-third', [ball, '--levels', 'off', '--edits', last]));
    await same(page, third, await picture(page, 'save-third-after'), 'saving changes the picture');
  },
  async 'edits of a generated world are saved and seen from afar'(page) {
    const whole = await picture(page, 'land-whole');
    await hold(page, ['KeyW'], whole, 0.9);
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    for (let n = 0; n < 60; n += 1) await page.keyboard.press('BracketRight');
    // So many that the file has some of them before it is saved.
    for (let n = 0; n < 12; n += 1) {
      await page.mouse.click(60 + (n * 97) % 520, 120 + (n * 53) % 200);
      await ready(page);
      if (n % 6 === 5) await hold(page, ['KeyD'], await picture(page, 'land-edited'), 0.2);
    }
    await page.keyboard.press('KeyE');
    await page.keyboard.press('Home');
    const dug = await picture(page, 'land-dug');
    await differ(page, whole, dug, 0.001, 'nothing is seen from afar');
    const file = await save(page);
    check(basename(file) === 'generated-3.edits.drystone', file);
    check(commits(file) > 1, 'all of it waited in memory');
    await same(page, dug, await picture(page, 'land-saved'), 'saving changes the picture');
    // What was seen from near is finer than it would be: all is seen anew.
    await page.reload();
    await ready(page);
    await dropTogether(page, [bring(file)]);
    check(!await message(page), await message(page));
    await agree(page, 'land-brought', expected('land', [...generated, '--levels', 'on', '--edits', file]));
  },
  async 'edits of a stored world are a file beside it'(page) {
    const world = stored('saved', ball);
    await dropTogether(page, [bring(world)]);
    await edit(page);
    const edited = await picture(page, 'beside');
    const file = await save(page);
    check(basename(file) === 'saved.drystone.edits.drystone', file);
    await dropTogether(page, [bring(world), bring(file)]);
    await same(page, edited, await picture(page, 'beside-brought'), 'what was saved is something else');
    await agree(page, 'beside-soft', expected('beside', [world, '--levels', 'off', '--edits', file]));
  },
  async 'edits of something else are refused and the world stays'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'other-before');
    const file = await save(page);
    const [name, bytes] = bring(file);
    const damaged = Buffer.from(bytes);
    for (let at = 4096; at < damaged.length; at += 512) damaged[at] ^= 0x55;
    const refused = async (files, why) => {
      await dropTogether(page, files);
      await says(page, why);
      await same(page, before, await picture(page, 'other-after'), `${why}: the picture changes`);
    };
    await refused([['twin.vox', ballFile()], [name, bytes]], `${name}: holds edits of`);
    await refused([[name, damaged]], name);
    await refused([[name, bytes], ['copy.drystone', bytes]], 'Several files');
    // Nothing is opened, so nothing settles.
    await page.evaluate(() => { document.getElementById('message').textContent = ''; });
    await dropGroups(page, [[['a.vox', ballFile()], ['b.vox', ballFile()], [name, bytes]]]);
    await says(page, 'Several files');
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
    // What is shown was not saved elsewhere: it still is.
    check(!await asks(page), 'saved edits are asked about');
  },
  async 'what cannot be saved is told and kept'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'unsaved-before');
    await page.evaluate(() => {
      window.make = URL.createObjectURL;
      URL.createObjectURL = () => { throw new DOMException('no room', 'QuotaExceededError'); };
    });
    await page.keyboard.press('Control+KeyS');
    await says(page, 'not saved');
    check(await asks(page), 'nobody asks about what could not be saved');
    await same(page, before, await picture(page, 'unsaved-after'), 'what was edited is gone');
    await page.evaluate(() => { URL.createObjectURL = window.make; });
    const file = await save(page);
    check(!await message(page), await message(page));
    await agree(page, 'unsaved-soft', expected('unsaved', [ball, '--levels', 'off', '--edits', file]));
  },
};
