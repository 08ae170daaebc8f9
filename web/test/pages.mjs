// Pages that are no small world: each opens its own.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { WORLD, agree, check, dist, drop, dropAll, expected, noteDevices, open, picture, pictures, says, words } from './kit.mjs';
import { compare } from './pictures.mjs';
import { ballFile } from './vox.mjs';

/// Addresses that ask for no world, and what is said of each. The second and the third are the small
/// world's, were numbers cut to 32 bits.
const REFUSED = [
  [{ seed: 1n << 64n }, 'seed=18446744073709551616: a seed is a number from 0 to 18446744073709551615'],
  [{ chunks: `${(1n << 32n) + 16n}x4x16` }, 'each from 0 to 4294967295'],
  [{ relief: (1n << 32n) + 128n }, 'a relief is a number from 0 to 4294967295'],
  [{ chunks: '16x4' }, 'chunks=16x4: a size is three numbers'],
  [{ relief: 4 }, 'generated world'],
];

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
    await close();
  },
  async 'what an address cannot ask for is told, and files can be opened'(browser, url) {
    for (const [options, why] of REFUSED) {
      const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, ...options })}`, noteDevices);
      await says(page, why);
      await says(page, 'The default world is shown instead');
      await drop(page, 'ball.vox', ballFile());
      check((await words(page)).includes('ball.vox'), `${why}: nothing can be opened`);
      check(errors.length === 0, errors.join('\n'));
      await close();
    }
  },
  async 'the page runs no program but its own'(browser, url) {
    const { page, close } = await open(browser, url, noteDevices);
    const ran = await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = "inline"';
      document.body.append(script);
      document.body.setAttribute('onclick', 'window.ran = "attribute"');
      document.body.click();
      const elsewhere = location.href.replace('127.0.0.1', 'plain.test');
      const isFetched = await fetch(elsewhere, { mode: 'no-cors' }).then(() => true, () => false);
      return [window.ran, isFetched];
    });
    check(ran.every((it) => !it), `ran: ${ran}`);
    check(await page.locator('script:not([src])').count() === 1, 'the page has inline scripts of its own');
    await close();
  },
  async 'the server of tests answers malformed addresses and goes on'(browser, url) {
    const status = async (path) => (await fetch(`${url}${path}`)).status;
    for (const path of ['%', '%ff', 'a%00b']) check(await status(path) === 400, path);
    check(await status('..%2fCargo.toml') === 404, 'it serves what is outside');
    check(await status('') === 200, 'it has ended');
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
    await dropAll(page, [['ball.vox', ballFile()]]);
    await says(page, 'ball.vox: not opened');
    await page.screenshot({ path: join(pictures, 'refused.png') });
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
};
