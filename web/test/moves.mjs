// Tests of flying, turning and walking with keys, mouse and touch. Each starts with the small world.

import { check, differ, drop, edit, hold, picture, same, expectMessage } from './kit.mjs';
import { ballFile } from './vox.mjs';

export const moves = {
  async 'keys fly, turn and return to the start'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'home');
    for (const key of ['KeyW', 'ArrowLeft']) {
      await hold(page, [key], before, 0.04);
      await differ(page, before, await picture(page, `key-${key}`), 0.02, `${key} moves little`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home does not return to the start');
    }
  },
  async 'a key that is released while a file is refused is not held'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.evaluate(() => {
      const press = (type) => window.dispatchEvent(new KeyboardEvent(type, { code: 'KeyW', key: 'w' }));
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File(['some words'], 'notes.txt'));
      press('keydown');
      window.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
      press('keyup');
    });
    const still = await picture(page, 'let-go');
    await expectMessage(page, 'notes.txt');
    await same(page, still, await picture(page, 'let-go-after'), 'the camera still moves');
  },
  async 'browsers without pointer lock can turn and edit'(page) {
    await page.evaluate(() => {
      delete Element.prototype.requestPointerLock;
      delete Document.prototype.exitPointerLock;
    });
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'free-before');
    await page.mouse.move(300, 200);
    await page.mouse.down();
    await page.mouse.move(340, 220, { steps: 4 });
    await page.mouse.up();
    await differ(page, before, await picture(page, 'free-turned'), 0.02, 'the mouse turns little');
    await page.keyboard.press('Home');
    await page.locator('#edit').click();
    await page.locator('#edit').click();
    await edit(page);
    await differ(page, before, await picture(page, 'free-edited'), 0.0001, 'no voxels are removed');
  },
  async 'the mouse orbits a model: drags turn and move it, the wheel zooms, a double click centres'(page) {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'orbit-before');
    const drag = (button) => async () => {
      await page.mouse.move(320, 200);
      await page.mouse.down({ button });
      await page.mouse.move(380, 230, { steps: 4 });
      await page.mouse.up({ button });
    };
    const zoom = async () => {
      await page.mouse.move(320, 200);
      await page.mouse.wheel(0, -300);
    };
    const inputs = {
      turned: drag('left'), moved: drag('middle'), 'moved-too': drag('right'), closer: zoom,
      centred: () => page.mouse.dblclick(340, 180),
    };
    for (const [name, input] of Object.entries(inputs)) {
      await input();
      await differ(page, before, await picture(page, `orbit-${name}`), 0.01, `${name}: little changes`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home does not return to the start');
    }
    check(await page.evaluate(() => document.pointerLockElement === null), 'the mouse is captured');
  },
  async 'the mouse turns'(page) {
    const before = await picture(page, 'mouse-before');
    await page.mouse.move(300, 200);
    await page.mouse.down();
    await page.mouse.move(420, 220, { steps: 4 });
    await page.mouse.up();
    await differ(page, before, await picture(page, 'mouse-after'), 0.2, 'the mouse turns little');
  },
  async 'fingers turn, move and pinch'(page) {
    const session = await page.context().newCDPSession(page);
    const touch = (type, points) => session.send('Input.dispatchTouchEvent', {
      type, touchPoints: points.map(([x, y], id) => ({ x, y, id })),
    });
    const moves = { turn: [[[300, 200]], [[420, 200]]], pinch: [[[280, 180], [360, 180]], [[200, 180], [440, 180]]] };
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'touch-before');
    for (const [name, [from, to]] of Object.entries(moves)) {
      await touch('touchStart', from);
      await touch('touchMove', from.map(([x, y], n) => [(x + to[n][0]) / 2, (y + to[n][1]) / 2]));
      await touch('touchMove', to);
      await touch('touchEnd', []);
      await differ(page, before, await picture(page, `touch-${name}`), 0.02, `${name} changes little`);
      await page.keyboard.press('Home');
      await same(page, before, await picture(page, 'home-again'), 'Home does not return to the start');
    }
  },
  async 'a walker starts on the ground and stands'(page) {
    await page.keyboard.press('KeyF');
    await page.waitForFunction(() => document.getElementById('words').textContent.includes('walking'));
    // The picture is taken when no more frames follow: on the ground, far below the start.
    const landed = await picture(page, 'walk');
    await same(page, landed, await picture(page, 'walk-stands'), 'the walker still falls');
    // The walker may be far from the next hill, so it runs.
    await hold(page, ['ShiftLeft', 'KeyW'], landed, 0.02);
    await differ(page, landed, await picture(page, 'walked'), 0.01, 'the walker does not move');
    await page.keyboard.press('KeyF');
    await page.waitForFunction(() => !document.getElementById('words').textContent.includes('walking'));
  },
};
