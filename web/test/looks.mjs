// Tests that compare pictures with the software rasteriser's. Each starts with the small world.

import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQUARE } from './files.mjs';
import { agree, ball, check, data, differ, drop, dropTogether, dropped, expected, generated, message, packed, picture, pictures, expectMessage, stored, waitForStatus, words } from './kit.mjs';
import { compare } from './pictures.mjs';

export const looks = {
  async 'the generated world looks as in the software rasteriser'(page) {
    const got = await agree(page, 'generated', expected('generated', [...generated, '--levels', 'on']));
    const seen = await compare(page, got, got);
    check(seen.colors > 100, `${seen.colors} colours are too few for a landscape`);
  },
  async 'a dropped model looks as in the software rasteriser'(page) {
    await dropped(page, ball, 'ball');
    check((await words(page)).includes('ball.vox'), await words(page));
  },
  async 'a dropped stored world looks as in the software rasteriser'(page) {
    await dropped(page, stored('ball', ball), 'stored');
  },
  async 'a dropped packed world looks as in the software rasteriser, and a damaged one is reported'(page) {
    const file = packed('packed', '--seed', '9', '--chunks', '6x4x6');
    await dropped(page, file, 'packed');
    const bytes = readFileSync(file);
    await drop(page, 'cut.dsw', bytes.subarray(0, bytes.length - 9));
    await expectMessage(page, 'it is cut off');
    bytes[99] ^= 1;
    await drop(page, 'changed.dsw', bytes);
    await expectMessage(page, 'header: its checksum is wrong');
    check((await words(page)).includes('seed 9'), await words(page));
  },
  async 'a model opens together with the files that it names, and missing ones are listed'(page) {
    check(await page.locator('#edit').isEnabled(), 'a world cannot be edited');
    const all = Object.entries(SQUARE);
    await dropTogether(page, all.toReversed());
    check(!await message(page), await message(page));
    const red = await picture(page, 'square');
    mkdirSync(join(pictures, 'parts'), { recursive: true });
    writeFileSync(join(pictures, 'square.obj'), SQUARE['square.obj']);
    writeFileSync(join(pictures, 'parts/square.mtl'), SQUARE['square.mtl']);
    await agree(page, 'square', expected('square', [join(pictures, 'square.obj')]));
    check(await page.locator('#edit').isDisabled(), 'a model can be edited');
    await drop(page, ...all[0]);
    await expectMessage(page, 'square.obj: 1 material files that cannot be read, 1 undefined materials, shown in grey. Missing: parts/square.mtl. Open these files together with the model');
    await differ(page, red, await picture(page, 'square-grey'), 0.01, 'the square has a colour without its material file');
  },
  async 'a textured model looks as in the software rasteriser'(page) {
    if (!data) return 'DRYSTONE_DATA is not set';
    const folder = join(data, 'FlightHelmet');
    const names = readdirSync(folder).filter((name) => /\.(gltf|bin|png|jpg)$/.test(name));
    await dropTogether(page, names.map((name) => [name, readFileSync(join(folder, name))]));
    check(!await message(page), await message(page));
    await agree(page, 'helmet', expected('helmet', [join(folder, 'FlightHelmet.gltf')]));
    await page.keyboard.press('KeyE');
    await waitForStatus(page, 'polygon models cannot be edited');
  },
};

for (const name of ['spot.obj', 'monu10.vox', 'r.0.0.mca', 'jacksboro-dem-16bit.png']) {
  looks[`${name} looks as in the software rasteriser`] = async (page) => {
    if (!data) return 'DRYSTONE_DATA is not set';
    await dropped(page, join(data, name), name);
  };
}
