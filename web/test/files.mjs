// Tests of dropped files: valid, damaged and unsupported ones. Each starts with the small world.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PATIENCE_MS, ball, check, data, drop, dropAll, dropGroups, dropTogether, dropped, message, picture, ready, same, expectMessage, stored, words } from './kit.mjs';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

/// A red square that a material file colours.
export const SQUARE = {
  'square.obj': 'mtllib parts/square.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n',
  'square.mtl': 'newmtl red\nKd 1 0 0\n',
};

export const files = {
  async 'damaged stored worlds are reported and the page continues'(page) {
    const whole = readFileSync(stored('damaged', '--chunks', '6x4x6'));
    let refused = 0;
    for (let n = 0; n < 24; n += 1) {
      const bytes = Buffer.from(whole);
      // Damages one page of the database; the offsets are spread over the file.
      const at = 4096 * (1 + Math.floor((n * (bytes.length / 4096 - 2)) / 24));
      for (let i = 0; i < 64; i += 1) bytes[at + i] ^= (n * 37 + i * 11) & 0xff;
      await drop(page, `damaged-${n}.drystone`, bytes);
      const text = await message(page);
      const state = await page.evaluate(() => document.body.dataset.state);
      check(state === 'ready', `${state} after damage at ${at}: ${await page.locator('#reason').textContent()}`);
      if (text.includes(`damaged-${n}.drystone`)) refused += 1;
    }
    console.log(`  ${refused} of 24 damaged files are reported`);
    check(refused > 2, 'too few damaged files are found');
    await dropped(page, ball, 'ball');
  },
  async 'a check of a file that does not end is stopped and reported'(page) {
    const before = await picture(page, 'slow-before');
    await page.evaluate(() => {
      const later = window.setTimeout;
      window.setTimeout = (work, ms) => later(work, ms >= 60_000 ? 0 : ms);
      window.Worker = class extends EventTarget {
        postMessage() {}
        terminate() { window.isEnded = true; }
      };
    });
    await drop(page, 'slow.drystone', readFileSync(stored('slow', ball)));
    await expectMessage(page, 'slow.drystone: not opened. Checking takes longer than 60 s');
    check(await page.evaluate(() => window.isEnded), 'the worker still runs');
    await same(page, before, await picture(page, 'slow-after'), 'the world has changed');
  },
  async 'damage in a large file is reported and the rest is shown'(page) {
    if (!data) return 'DRYSTONE_DATA is not set';
    const bytes = readFileSync(join(data, 'r.0.0.mca'));
    bytes.fill(0x5a, 3 * 4096, 7 * 4096);
    await drop(page, 'r.0.0.mca', bytes);
    await page.waitForFunction(() => document.getElementById('message').textContent, null, { timeout: PATIENCE_MS });
    await expectMessage(page, 'damaged');
    const seen = await picture(page, 'damaged-region');
    check((await compare(page, seen, seen)).colors > 100, 'no landscape');
  },
  async 'a file that is dropped while another is opened is reported'(page) {
    await dropAll(page, [['ball.vox', ballFile()], ['second.vox', ballFile()]]);
    await expectMessage(page, 'second.vox again');
    await ready(page);
    check((await words(page)).includes('ball.vox'), await words(page));
  },
  async 'files that are too large together are refused'(page) {
    const reasons = await page.evaluate(async () => {
      const { whyNot } = await import('./files.js');
      const half = (name) => ({ name, size: 600 * 2 ** 20 });
      return [whyNot([half('a.vox')]), whyNot([half('a.vox'), half('b.drystone')])];
    });
    check(!reasons[0] && reasons[1].includes('a.vox, b.drystone: 1258291200 bytes'), reasons.join());
    const edits = await page.evaluate(async () => {
      const { Edits } = await import('./drystone_web.js');
      try {
        return `${new Edits('e.drystone', new Uint8Array(518 << 20))}`;
      } catch (error) {
        return error;
      }
    });
    check(edits.includes('e.drystone: 518 MiB of edits, at most 517'), edits);
  },
  async 'files that are not valid are refused and the world stays'(page) {
    const before = await picture(page, 'bad-before');
    const bad = { 'notes.txt': 'some words', 'cut.vox': ballFile().subarray(0, 300), 'empty.mca': 'x', 'empty.obj': 'v 0 0 0', 'cut.glb': 'glTF' };
    for (const [name, bytes] of Object.entries(bad)) {
      await drop(page, name, bytes);
      const message = await page.locator('#message').textContent();
      check(message.includes(name), `${name}: "${message}"`);
      await same(page, before, await picture(page, 'bad-after'), `${name} changes the picture`);
    }
  },
  async 'a model that cannot be opened without another file names it'(page) {
    const before = await picture(page, 'buffer-before');
    const text = JSON.stringify({
      asset: { version: '2.0' }, buffers: [{ byteLength: 36, uri: 'data/corners.bin' }], bufferViews: [{ buffer: 0, byteLength: 36 }],
      accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3' }], meshes: [{ primitives: [{ attributes: { POSITION: 0 } }] }], nodes: [{ mesh: 0 }],
    });
    await drop(page, 'flag.gltf', text);
    await expectMessage(page, 'flag.gltf: not opened. Missing: data/corners.bin. Open these files together with the model');
    await same(page, before, await picture(page, 'buffer-after'), 'a refused model changes the picture');
    await dropTogether(page, [['flag.gltf', text], ['corners.bin', Buffer.from(new Float32Array([0, 0, 0, 1, 0, 0, 0, 1, 0]).buffer)]]);
    check(!await message(page), await message(page));
    check((await words(page)).includes('flag.gltf'), await words(page));
    await dropGroups(page, [[['flag.gltf', text], ['square.obj', SQUARE['square.obj']]]]);
    await expectMessage(page, 'Several models: drop flag.gltf or square.obj, each with its files');
    await page.evaluate(() => { document.body.dataset.settled = 'true'; });
  },
};
