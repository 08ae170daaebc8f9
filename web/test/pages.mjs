// Pages that are no small world: each opens its own.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WORLD, agree, check, dist, expected, noteDevices, open, picture, pictures, ready } from './kit.mjs';
import { compare } from './pictures.mjs';

export const pages = {
  async 'the page shows its world at once'(browser, url) {
    const { page, errors, close } = await open(browser, url, noteDevices);
    await page.screenshot({ path: join(pictures, 'page.png') });
    const seen = await picture(page, 'first');
    check((await compare(page, seen, seen)).colors > 100, 'there is no landscape');
    await page.keyboard.press('KeyH');
    await page.screenshot({ path: join(pictures, 'card.png') });
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
  async 'seeds have 64 bits'(browser, url) {
    const seed = `${(1n << 64n) - 1n}`;
    const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, seed })}`, noteDevices);
    const options = ['--chunks', WORLD.chunks, '--relief', WORLD.relief, '--seed', seed, '--levels', 'on'];
    await agree(page, 'seed', expected('seed', options));
    check(errors.length === 0, errors.join('\n'));
    await page.goto(`${url}?seed=18446744073709551616`);
    await ready(page);
    check((await page.locator('#reason').textContent()).includes('a seed is'), 'a seed too large is taken');
    await close();
  },
  async 'a page from elsewhere than https is told why'(browser, url) {
    const plain = url.replace('127.0.0.1', 'plain.test');
    const { page, close } = await open(browser, plain, noteDevices);
    check((await page.locator('#reason').textContent()).includes('https://'), 'it does not say why');
    await close();
  },
  async 'a page that is opened as a file is told why'(browser) {
    const { page, close } = await open(browser, pathToFileURL(resolve(dist, 'index.html')).href, noteDevices);
    check((await page.locator('#reason').textContent()).includes('localhost'), 'it does not say why');
    await close();
  },
  async 'a browser without WebGPU is told so, with a picture'(browser, url) {
    const hide = () => Object.defineProperty(Navigator.prototype, 'gpu', { get: () => undefined });
    const { page, errors, close } = await open(browser, url, hide);
    await page.waitForFunction(() => document.getElementById('picture').naturalWidth > 0);
    check((await page.locator('#reason').textContent()).includes('WebGPU'), 'it does not say why');
    await page.screenshot({ path: join(pictures, 'refused.png') });
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
};
