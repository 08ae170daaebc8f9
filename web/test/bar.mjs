// Tests of the message over the canvas: it covers no button and can be closed. Each starts with the small
// world.

import { join } from 'node:path';
import { check, drop, message, pictures, ready, expectMessage } from './kit.mjs';
import { ballFile } from './vox.mjs';

/// A desktop, a phone in portrait, a phone in landscape.
const SCREENS = [{ width: 1280, height: 800 }, { width: 360, height: 640 }, { width: 640, height: 300 }];

/// Lists buttons whose centre is covered by another element, or that are cut off.
const hidden = (page) => page.evaluate(() => [...document.querySelectorAll('#tools button, #close')].flatMap((button) => {
  const box = button.getBoundingClientRect();
  if (box.width === 0) return [];
  const isInside = box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
  const top = document.elementFromPoint((box.left + box.right) / 2, (box.top + box.bottom) / 2);
  if (isInside && top === button) return [];
  return [`${button.textContent}: ${isInside ? `under ${top.id || top.tagName}` : 'outside'}`];
}));

export const bar = {
  async 'a message covers no button and can be closed'(page) {
    await drop(page, 'ball.vox', ballFile());
    await page.keyboard.press('KeyE');
    for (const screen of SCREENS) {
      await page.setViewportSize(screen);
      const name = `${'long-'.repeat(40)}name.txt`;
      await drop(page, name, 'some words');
      await expectMessage(page, name);
      await page.evaluate(() => { document.getElementById('tap').hidden = false; });
      const size = `${screen.width}x${screen.height}`;
      await page.screenshot({ path: join(pictures, `bar-${size}.png`) });
      const covered = await hidden(page);
      check(covered.length === 0, `${size}: ${covered.join('; ')}`);
      await page.keyboard.press('KeyH');
      await page.screenshot({ path: join(pictures, `bar-card-${size}.png`) });
      const behind = await hidden(page);
      check(behind.length === 0, `${size}, with the card: ${behind.join('; ')}`);
      await page.keyboard.press('KeyH');
      await page.locator('#close').click();
      check(!await message(page) && !await page.locator('#bar').isVisible(), `${size}: the message stays`);
      check(await page.evaluate(() => document.activeElement.tagName) === 'CANVAS', 'the canvas has no focus');
    }
    await ready(page);
  },
};
