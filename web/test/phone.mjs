// Tests of a phone: touch, and a small screen; and of keyboards without a mouse. Each opens its own page.

import { join } from 'node:path';
import { WORLD, check, differ, drop, message, noteDevices, open, picture, pictures, ready, same, words } from './kit.mjs';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

const SCREEN = { width: 375, height: 812 };
const MIN_SIDE = 44;

/// Opens the small world on a phone, and checks that nothing is logged as an error.
const onPhone = (test) => async (browser, url) => {
  const options = { viewport: SCREEN, isMobile: true };
  const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, backend: 'soft' })}`, noteDevices, options);
  const session = await page.context().newCDPSession(page);
  const touch = (type, points) => session.send('Input.dispatchTouchEvent', {
    type, touchPoints: points.map(([x, y], id) => ({ x, y, id })),
  });
  await test(page, touch);
  check(errors.length === 0, errors.join('\n'));
  await close();
};

/// Lists controls that are shown and have a side below 44 pixels.
const smallControls = (page) => page.evaluate((least) => [...document.querySelectorAll('button, select, input, #stick')].flatMap((control) => {
  // A tap on the label is a tap on the control.
  const { width, height } = (control.closest('label') ?? control).getBoundingClientRect();
  return width === 0 || (width >= least && height >= least) ? [] : [`${control.id}: ${width} x ${height}`];
}), MIN_SIDE);

/// Returns the part of the picture's height, in the middle, that is land and not sky.
const landPart = (page) => page.evaluate(async () => {
  const shot = await createImageBitmap(document.querySelector('canvas'));
  const context = new OffscreenCanvas(shot.width, shot.height).getContext('2d');
  context.drawImage(shot, 0, 0);
  const { data } = context.getImageData(shot.width >> 1, 0, 1, shot.height);
  // Sky is blue and pale.
  const rows = [...Array(shot.height).keys()].filter((y) => !(data[4 * y + 2] > data[4 * y] + 20 && data[4 * y] > 120));
  return (rows.at(-1) - rows[0]) / shot.height;
});

export const phone = {
  'on a phone the land fills the screen, controls have 44 pixels, and statistics are hidden': onPhone(async (page) => {
    await ready(page);
    await page.screenshot({ path: join(pictures, 'phone.png') });
    check(!await page.locator('#stats').isVisible() && await page.locator('#state').isVisible(), 'statistics are shown');
    const part = await landPart(page);
    check(part > 0.7, `the land covers ${part} of the height`);
    await page.locator('#edit').tap();
    await page.locator('#help').tap();
    await page.screenshot({ path: join(pictures, 'phone-help.png') });
    const small = await smallControls(page);
    check(small.length === 0, small.join('; '));
    await drop(page, 'notes.txt', 'some words');
    const smallClose = await smallControls(page);
    check(smallClose.length === 0, smallClose.join('; '));
    await page.locator('#close').tap();
    check(!await message(page), 'the message stays');
  }),
  'the joystick flies while it is held, and another finger looks around': onPhone(async (page, touch) => {
    const before = await picture(page, 'stick-before');
    const box = await page.locator('#stick').boundingBox();
    const middle = [box.x + box.width / 2, box.y + box.height / 2];
    const held = [middle[0], box.y + 10];
    await touch('touchStart', [middle]);
    await touch('touchMove', [held]);
    await page.waitForFunction(() => document.getElementById('state').textContent.includes('flying'));
    await touch('touchStart', [held, [300, 300]]);
    await touch('touchMove', [held, [260, 320]]);
    await touch('touchEnd', []);
    await page.waitForFunction(() => !document.getElementById('state').textContent.includes('flying'));
    const after = await picture(page, 'stick-after');
    check((await compare(page, before, after)).share > 0.05, 'the joystick moves little');
    await same(page, after, await picture(page, 'stick-rests'), 'the camera still moves');
    await drop(page, 'ball.vox', ballFile());
    check(!await page.locator('#stick').isVisible(), 'the joystick is shown in an orbit');
  }),
  'on a phone messages name buttons, and a copy is shown before a second tap places it': onPhone(async (page) => {
    await drop(page, 'ball.vox', ballFile());
    const before = await picture(page, 'phone-copy-before');
    const says = (text) => page.waitForFunction((it) => document.getElementById('words').textContent.includes(it), text);
    const noKeys = async () => check(!/Ctrl|click|Delete|Enter|Escape|\[ \]|, \.|B mirrors/.test(await words(page)), await words(page));
    const tapAt = (x, y) => page.touchscreen.tap(x, y);
    const press = (key) => page.locator(`button[data-key="${key}"]`).tap();
    const [x, y] = [SCREEN.width / 2, SCREEN.height / 2];
    await page.locator('#edit').tap();
    await press('Ctrl+b');
    await says('tap the first corner');
    await tapAt(x, y);
    await says('tap the opposite one');
    await tapAt(x + 20, y);
    await says('Copy copies, Clear empties, Fill fills');
    await noKeys();
    await press('Ctrl+c');
    await says('Paste, then tap twice to place');
    await noKeys();
    await press('Ctrl+v');
    await says('tap twice to place');
    await noKeys();
    await tapAt(x, y);
    await page.waitForFunction(() => {
      const marks = document.getElementById('marks');
      return marks.getContext('2d').getImageData(0, 0, marks.width, marks.height).data.some((it) => it > 0);
    });
    await page.screenshot({ path: join(pictures, 'phone-copy.png') });
    await same(page, before, await picture(page, 'phone-copy-shown'), 'the first tap places it');
    // Elsewhere, a tap moves the outline.
    await tapAt(x, y - 60);
    await same(page, before, await picture(page, 'phone-copy-moved'), 'a tap elsewhere places it');
    await tapAt(x, y);
    await tapAt(x + 5, y + 5);
    await says('changed');
    await differ(page, before, await picture(page, 'phone-copy-placed'), 0.0005, 'nothing is placed');
  }),
  'a pinch moves a flying camera to the pinch': onPhone(async (page, touch) => {
    const before = await picture(page, 'pinch-before');
    await touch('touchStart', [[180, 300], [200, 300]]);
    for (const by of [20, 40, 60]) await touch('touchMove', [[180 - by, 300], [200 + by, 300]]);
    await touch('touchEnd', []);
    await differ(page, before, await picture(page, 'pinch-after'), 0.3, 'a pinch moves little');
  }),
  async 'a keyboard alone reaches every control, and presses it'(browser, url) {
    const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams(WORLD)}`, noteDevices);
    const focused = () => page.evaluate(() => document.activeElement.id || document.activeElement.tagName);
    check(await focused() === 'CANVAS', 'the view has no focus');
    const order = [];
    for (let at = 0; at < 3; at += 1) {
      await page.keyboard.press('Tab');
      order.push(await focused());
    }
    check(order.join() === 'open,edit,help', `the order is ${order}`);
    const isOpen = () => page.locator('#help').getAttribute('aria-expanded');
    await page.keyboard.press('Space');
    check(await isOpen() === 'true' && await page.locator('#card').isVisible(), 'Space does not press the button');
    await page.keyboard.press('Tab');
    check(await focused() === 'samples', `after the button comes ${await focused()}`);
    await page.keyboard.press('Escape');
    check(await isOpen() === 'false' && !await page.locator('#card').isVisible(), 'Escape does not close the card');
    await drop(page, 'notes.txt', 'some words');
    await page.keyboard.press('Escape');
    check(!await message(page), 'Escape does not close the message');
    await page.keyboard.press('KeyZ');
    check(!await page.locator('#tools').isVisible() && !await page.locator('#words').isVisible(), 'Z does not hide the buttons');
    await page.keyboard.press('KeyZ');
    check(await page.locator('#tools').isVisible(), 'Z does not show the buttons');
    const nameless = await page.evaluate(() => [...document.querySelectorAll('button, select, input:not([hidden]), canvas:not([aria-hidden])')]
      .filter((it) => !(it.getAttribute('aria-label') || it.textContent.trim() || it.labels?.length)).map((it) => it.id));
    check(nameless.length === 0, `without a label: ${nameless}`);
    check((await words(page)).includes('generated world'), await words(page));
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
};
