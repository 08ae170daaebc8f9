// Flying, turning, walking, by keys, mouse and fingers. Each gets a page that shows the small world.

import { agree, check, differ, drop, expected, generated, picture, same } from './kit.mjs';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

export const moves = {
  async 'the generated world is drawn as soft draws it'(page) {
    const got = await agree(page, 'generated', expected('generated', [...generated, '--levels', 'on']));
    const seen = await compare(page, got, got);
    check(seen.colors > 100, `${seen.colors} colours are no landscape`);
  },
  async 'keys fly, turn and go home'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'home');
    for (const key of ['KeyW', 'ArrowLeft']) {
      await page.keyboard.down(key);
      await page.waitForTimeout(400);
      await page.keyboard.up(key);
      const after = await picture(page, `key-${key}`);
      await differ(page, before, after, 0.02, `${key} moves little`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home is elsewhere');
    }
  },
  async 'the mouse turns'(page) {
    const before = await picture(page, 'mouse-before');
    await page.mouse.move(300, 200);
    await page.mouse.down();
    await page.mouse.move(420, 220, { steps: 4 });
    await page.mouse.up();
    await differ(page, before, await picture(page, 'mouse-after'), 0.2, 'the mouse turns little');
  },
  async 'fingers look, move and pinch'(page) {
    const session = await page.context().newCDPSession(page);
    const touch = (type, points) => session.send('Input.dispatchTouchEvent', {
      type, touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
    const moves = { look: [[[300, 200]], [[420, 200]]], pinch: [[[280, 180], [360, 180]], [[200, 180], [440, 180]]] };
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'touch-before');
    for (const [name, [from, to]] of Object.entries(moves)) {
      await touch('touchStart', from);
      await touch('touchMove', from.map(([x, y], n) => [(x + to[n][0]) / 2, (y + to[n][1]) / 2]));
      await touch('touchMove', to);
      await touch('touchEnd', []);
      await differ(page, before, await picture(page, `touch-${name}`), 0.02, `${name} changes little`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home is elsewhere');
    }
  },
  async 'who walks falls to the ground and stands'(page) {
    await page.keyboard.press('KeyF');
    await page.waitForFunction(() => document.getElementById('words').textContent.includes('walking'));
    // As far as it is down from where all of it is seen.
    let last = await picture(page, 'walk');
    for (let n = 0; ; n += 1) {
      check(n < 60, 'it falls for ever');
      await page.waitForTimeout(500);
      const next = await picture(page, 'walk');
      if ((await compare(page, last, next)).share === 0) break;
      last = next;
    }
    // It may be far from all there is, and runs.
    for (const key of ['ShiftLeft', 'KeyW']) await page.keyboard.down(key);
    await page.waitForTimeout(1500);
    for (const key of ['KeyW', 'ShiftLeft']) await page.keyboard.up(key);
    await differ(page, last, await picture(page, 'walked'), 0.01, 'nobody walks');
    await page.keyboard.press('KeyF');
    await page.waitForFunction(() => !document.getElementById('words').textContent.includes('walking'));
  },
};
