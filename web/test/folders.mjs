// Tests of dropped folders, many files, empty and unknown files. Each starts with the small world.

import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  PATIENCE_MS, agree, ball, check, data, drop, dropGroups, dropTogether, expectMessage, expected, message, picture, pictures, ready, same, words,
} from './kit.mjs';
import { ballFile } from './vox.mjs';

/// Creates a folder with these files, and returns its path.
function folder(name, files) {
  const path = resolve(join(pictures, name));
  rmSync(path, { recursive: true, force: true });
  for (const [file, content] of Object.entries(files)) {
    mkdirSync(join(path, file, '..'), { recursive: true });
    if (content.from) cpSync(content.from, join(path, file));
    else writeFileSync(join(path, file), content);
  }
  return path;
}

/// Drops files and folders of the machine in the middle of the page, and waits until they are shown or refused.
async function dropPaths(page, ...files) {
  const session = await page.context().newCDPSession(page);
  await page.evaluate(() => {
    document.getElementById('message').textContent = '';
    document.body.dataset.settled = 'false';
  });
  const drag = (type) => session.send('Input.dispatchDragEvent', { type, x: 300, y: 200, data: { items: [], files, dragOperationsMask: 1 } });
  for (const type of ['dragEnter', 'dragOver', 'drop']) await drag(type);
  await page.waitForFunction(() => {
    const { state, settled } = document.body.dataset;
    const { textContent } = document.getElementById('message');
    return state !== 'loading' && (settled === 'true' || (textContent && !textContent.startsWith('Looking')));
  });
}

/// Drops files together and waits for a message.
async function dropRefused(page, files) {
  await dropGroups(page, [files]);
  await page.waitForFunction(() => document.getElementById('message').textContent, null, { timeout: PATIENCE_MS });
  await page.waitForFunction(() => document.body.dataset.state === 'ready', null, { timeout: PATIENCE_MS });
  await page.evaluate(() => { document.body.dataset.settled = 'true'; });
}

const RED = 'newmtl red\nKd 1 0 0\n';
const square = (library) => `mtllib ${library}\nusemtl red\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n`;

export const folders = {
  async 'a dropped folder with a model and its files is opened, with the files that the paths name'(page) {
    const files = {
      'a/square.mtl': RED.replace('1 0 0', '0 1 0'), 'models/square.obj': square('parts/square.mtl'), 'models/parts/square.mtl': RED, 'notes.txt': 'some words',
    };
    const path = folder('square-folder', files);
    await dropPaths(page, path);
    await ready(page);
    check(!await message(page), await message(page));
    await agree(page, 'folder-square', expected('folder-square', [join(path, 'models/square.obj')]));
  },
  async 'a dropped folder with one world, or a world and its edits, is opened'(page) {
    await dropPaths(page, folder('one-world', { 'ball.vox': ballFile(), 'read me.txt': 'some words', 'ball.png': 'x' }));
    await ready(page);
    check(!await message(page), await message(page));
    await agree(page, 'folder-ball', expected('folder-ball', [ball, '--levels', 'off']));
  },
  async 'a dropped Minecraft world shows the region in its middle, and says so'(page) {
    if (!data) return 'DRYSTONE_DATA is not set';
    const region = { from: join(data, 'r.0.0.mca') };
    const path = folder('My save', {
      'level.dat': 'x', 'icon.png': 'x', 'entities/r.0.0.mca': 'x', 'poi/r.0.0.mca': 'x', 'region/r.-1.0.mca': '',
      'region/r.0.0.mca': region, 'region/r.5.5.mca': 'x', 'DIM-1/region/r.0.0.mca': 'x',
    });
    await dropPaths(page, path);
    await ready(page);
    await expectMessage(page, 'My save: r.0.0.mca is shown, 1 of 3 regions. Open another file to see its region.');
    await agree(page, 'folder-region', expected('folder-region', [region.from, '--levels', 'off']));
    await page.locator('#close').click();
    check(!await message(page), 'the message stays');
  },
  async 'a folder that cannot be opened says what to drop, and the picture stays'(page) {
    const before = await picture(page, 'folder-before');
    const cases = [
      [{ 'a/notes.txt': 'some words', 'b/photo.jpg': 'x' }, 'nothing in it can be opened. Open a MagicaVoxel (.vox)'],
      [{ 'a.obj': 'x', 'b.glb': 'x', 'c.vox': 'x', 'd.vox': 'x', 'e.qb': 'x' }, '5 of the files can be opened: refused/a.obj, refused/b.glb, refused/c.vox and 2 more. Open one of them'],
      [{ 'empty.vox': '' }, 'empty.vox: the file is empty.'],
      [{ 'icon.png': 'x', 'photo.png': 'x' }, 'nothing in it can be opened'],
    ];
    for (const [files, why] of cases) {
      await dropPaths(page, folder('refused', files));
      await expectMessage(page, why);
      await page.locator('#close').click();
      check(!await message(page), 'the message stays');
      await page.evaluate(() => { document.body.dataset.settled = 'true'; });
      await same(page, before, await picture(page, 'folder-after'), `${why}: the picture changes`);
    }
    await drop(page, 'ball.vox', ballFile());
    check((await words(page)).includes('ball.vox'), 'no file can be opened afterwards');
  },
  async 'of twenty files the one that can be opened is opened, else a message says what to drop'(page) {
    const before = await picture(page, 'twenty-before');
    const twenty = (name, content = 'some words') => [...Array(20).keys()].map((n) => [name(n), content]);
    const cases = [
      [twenty((n) => `notes-${n}.txt`), '20 files: nothing in it can be opened. Open a MagicaVoxel'],
      [twenty((n) => `many-${n}.vox`), '20 files: 20 of the files can be opened: many-0.vox, many-1.vox, many-2.vox and 17 more. Open one of them'],
      [twenty((n) => `empty-${n}.obj`, ''), 'Several models: drop empty-0.obj or empty-1.obj'],
    ];
    for (const [files, why] of cases) {
      await dropRefused(page, files);
      await expectMessage(page, why);
      await page.locator('#close').click();
      await same(page, before, await picture(page, 'twenty-after'), `${why}: the picture changes`);
    }
    await dropTogether(page, [...twenty((n) => `notes-${n}.txt`), ['ball.vox', ballFile()]]);
    check(!await message(page) && (await words(page)).includes('ball.vox'), `${await message(page)} ${await words(page)}`);
  },
  async 'unknown and empty files are refused with what to do, and the picture stays'(page) {
    const before = await picture(page, 'unknown-before');
    const cases = [
      ['thesis.pdf', '%PDF-1.7 some words', 'thesis.pdf: not a file that can be opened here. Open a MagicaVoxel (.vox)'],
      ['photo.jpg', Buffer.from([0xff, 0xd8, 0xff, 0xe0, 1, 2]), 'photo.jpg: not a file that can be opened here'],
      ['no extension', 'x', 'no extension: not a file'],
      ['empty.vox', '', 'empty.vox: the file is empty. If it is still being copied or downloaded, open it again afterwards'],
      ['empty.glb', '', 'empty.glb: the file is empty.'],
      ['empty', '', 'empty: the file is empty.'],
    ];
    for (const [name, content, why] of cases) {
      await dropRefused(page, [[name, content]]);
      await expectMessage(page, why);
      await page.locator('#close').click();
      check(!await message(page), 'the message stays');
      await same(page, before, await picture(page, 'unknown-after'), `${why}: the picture changes`);
    }
    // Files are recognised by their first bytes, too.
    await dropTogether(page, [['no extension', readFileSync(ball)]]);
    check(!await message(page) && (await words(page)).includes('no extension'), await message(page));
  },
};
