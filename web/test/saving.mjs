// Tests of saving edits and opening them again. Each starts with the small world.

import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { agree, needsConfirmation, ball, check, commits, differ, downloaded, drop, dropGroups, dropTogether, edit, expected, generated, hold, message, picture, pictures, ready, same, expectMessage, stored, waitForStatus } from './kit.mjs';
import { ballFile } from './vox.mjs';

/// Saves the edits as a download and returns its path.
async function save(page, how = () => page.keyboard.press('Control+KeyS')) {
  const file = await downloaded(page, how);
  await waitForStatus(page, `downloading as ${basename(file)}`);
  check(!await needsConfirmation(page), 'confirmation for saved edits');
  return file;
}

const fileOf = (file) => [basename(file), readFileSync(file)];

export const saving = {
  async 'saved edits can be opened in the page and in the viewer'(page) {
    await drop(page, 'ball.vox', ballFile());
    const whole = await picture(page, 'save-whole');
    await page.keyboard.press('Control+KeyS');
    await waitForStatus(page, 'no edits');
    await edit(page);
    check(await needsConfirmation(page), 'no confirmation for unsaved edits');
    const first = await picture(page, 'save-first');
    await differ(page, whole, first, 0.01, 'no voxels were edited');
    const file = await save(page);
    check(basename(file) === 'ball.vox.edits.drystone', file);
    console.log(`  ${readFileSync(file).length} bytes`);
    await agree(page, 'save-first-soft', expected('save-first', [ball, '--levels', 'off', '--edits', file]));

    // More edits, saved with the button.
    await edit(page);
    check(await needsConfirmation(page), 'no confirmation for later edits');
    const second = await picture(page, 'save-second');
    await page.keyboard.press('KeyE');
    await page.screenshot({ path: join(pictures, 'save-page.png') });
    const again = await save(page, () => page.locator('#save').click());
    check(basename(again) === 'ball.vox.edits-2.drystone', again);
    await page.reload();
    await ready(page);
    await dropTogether(page, [fileOf(again), ['ball.vox', ballFile()]]);
    check(!await message(page), await message(page));
    await same(page, second, await picture(page, 'save-brought'), 'the saved edits differ');
    await agree(page, 'save-second-soft', expected('save-second', [ball, '--levels', 'off', '--edits', again]));

    // Opens the edits over the current world, keeps the camera, and edits further.
    await drop(page, 'ball.vox', ballFile());
    await same(page, whole, await picture(page, 'save-again'), 'edits of the last page are shown');
    await hold(page, ['ArrowLeft'], whole, 0.04);
    const turned = await picture(page, 'save-turned');
    await dropTogether(page, [fileOf(again)]);
    await differ(page, turned, await picture(page, 'save-over'), 0.005, 'no edits are shown');
    await page.keyboard.press('Home');
    await same(page, second, await picture(page, 'save-home'), 'the camera is at another position');
    await edit(page);
    const third = await picture(page, 'save-third');
    const last = await save(page);
    check(basename(last) === 'ball.vox.edits-3.drystone', last);
    await agree(page, 'save-third-soft', expected('save-third', [ball, '--levels', 'off', '--edits', last]));
    await same(page, third, await picture(page, 'save-third-after'), 'saving changes the picture');
  },
  async 'edits of a generated world are saved and visible from a distance'(page) {
    const whole = await picture(page, 'land-whole');
    await hold(page, ['KeyW'], whole, 0.9);
    await page.keyboard.press('KeyE');
    await page.keyboard.press('KeyB');
    for (let n = 0; n < 60; n += 1) await page.keyboard.press('BracketRight');
    // So many edits that some are written to the file before it is saved.
    for (let n = 0; n < 12; n += 1) {
      await page.mouse.click(60 + (n * 97) % 520, 120 + (n * 53) % 200);
      await ready(page);
      if (n % 6 === 5) await hold(page, ['KeyD'], await picture(page, 'land-edited'), 0.2);
    }
    await page.keyboard.press('KeyE');
    await page.keyboard.press('Home');
    const dug = await picture(page, 'land-dug');
    await differ(page, whole, dug, 0.001, 'no edits are visible from a distance');
    const file = await save(page);
    check(basename(file) === 'generated-3.edits.drystone', file);
    check(commits(file) > 1, 'all edits were still in memory');
    await same(page, dug, await picture(page, 'land-saved'), 'saving changes the picture');
    // Meshes of near chunks have more detail than a distant camera needs, so start again.
    await page.reload();
    await ready(page);
    await dropTogether(page, [fileOf(file)]);
    check(!await message(page), await message(page));
    await agree(page, 'land-brought', expected('land', [...generated, '--levels', 'on', '--edits', file]));
  },
  async 'edits of a stored world are in a separate file'(page) {
    const world = stored('saved', ball);
    await dropTogether(page, [fileOf(world)]);
    await edit(page);
    const edited = await picture(page, 'beside');
    const file = await save(page);
    check(basename(file) === 'saved.drystone.edits.drystone', file);
    await dropTogether(page, [fileOf(world), fileOf(file)]);
    await same(page, edited, await picture(page, 'beside-brought'), 'the saved edits differ');
    await agree(page, 'beside-soft', expected('beside', [world, '--levels', 'off', '--edits', file]));
  },
  async 'edits of another world are refused and the world stays'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'other-before');
    const file = await save(page);
    const [name, bytes] = fileOf(file);
    const damaged = Buffer.from(bytes);
    for (let at = 4096; at < damaged.length; at += 512) damaged[at] ^= 0x55;
    const refused = async (files, why) => {
      await dropTogether(page, files);
      await expectMessage(page, why);
      await same(page, before, await picture(page, 'other-after'), `${why}: the picture changes`);
    };
    await refused([['twin.vox', ballFile()], [name, bytes]], `${name}: holds edits of`);
    await refused([[name, damaged]], name);
    await refused([[name, bytes], ['copy.drystone', bytes]], 'Several files');
    // No file is opened, so no frame follows.
    await page.evaluate(() => { document.getElementById('message').textContent = ''; });
    await dropGroups(page, [[['a.vox', ballFile()], ['b.vox', ballFile()], [name, bytes]]]);
    await expectMessage(page, 'Open one of them');
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
    // The edits of the current world still count as saved.
    check(!await needsConfirmation(page), 'confirmation for saved edits');
  },
  async 'a failed save is reported and the edits stay'(page) {
    await drop(page, 'ball.vox', ballFile());
    await edit(page);
    const before = await picture(page, 'unsaved-before');
    await page.evaluate(() => {
      window.make = URL.createObjectURL;
      URL.createObjectURL = () => { throw new DOMException('disk full', 'QuotaExceededError'); };
    });
    await page.keyboard.press('Control+KeyS');
    await expectMessage(page, 'not saved');
    check(await needsConfirmation(page), 'no confirmation after a failed save');
    await same(page, before, await picture(page, 'unsaved-after'), 'the edits are lost');
    await page.evaluate(() => { URL.createObjectURL = window.make; });
    const file = await save(page);
    check(!await message(page), await message(page));
    await agree(page, 'unsaved-soft', expected('unsaved', [ball, '--levels', 'off', '--edits', file]));
  },
};
