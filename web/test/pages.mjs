// Tests of pages other than the small world. Each opens its own page.

import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { PATIENCE_MS, SIZE, WORLD, agree, check, dist, drop, expected, generated, noteDevices, open, picture, pictures, expectMessage, words } from './kit.mjs';
import { compare, compareSampled } from './pictures.mjs';
import { ballFile } from './vox.mjs';

/// Addresses that are not valid, with their messages. The numbers of the second and the third would be
/// valid if they were truncated to 32 bits.
const REFUSED = [
  [{ seed: 1n << 64n }, 'seed=18446744073709551616: a seed is a number from 0 to 18446744073709551615'],
  [{ chunks: `${(1n << 32n) + 16n}x4x16` }, 'each from 0 to 4294967295'],
  [{ relief: (1n << 32n) + 128n }, 'a relief is a number from 0 to 4294967295'],
  [{ chunks: '16x4' }, 'chunks=16x4: a size is three numbers'],
  [{ relief: 4 }, 'generated world'],
];

export const pages = {
  async 'the page shows the default world'(browser, url) {
    const { page, errors, close } = await open(browser, url, noteDevices);
    await page.screenshot({ path: join(pictures, 'page.png') });
    const seen = await picture(page, 'first');
    check((await compare(page, seen, seen)).colors > 100, 'no landscape');
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
  async 'the address chooses samples and shadows, and the card switches them'(browser, url) {
    const address = new URLSearchParams({ ...WORLD, samples: 4, shadows: 'on' });
    const { page, errors, close } = await open(browser, `${url}?${address}`, noteDevices);
    const land = [...generated, '--levels', 'on'];
    const got = await picture(page, 'sampled');
    const seen = await compareSampled(page, expected('sampled', land, '4', 'on'), got);
    console.log(`  sampled: ${JSON.stringify(seen)}`);
    check(seen.agrees, 'the picture differs from the software rasteriser');
    await page.keyboard.press('KeyH');
    check(await page.locator('#samples').inputValue() === '4' && await page.locator('#shadows').isChecked(), 'the card shows other switches');
    await page.locator('#shadows').uncheck();
    await page.locator('#samples').selectOption('1');
    const plain = await agree(page, 'plain', expected('plain', land));
    // A software device draws some dozen pictures, some of them with 4 samples: small ones, to save time.
    await page.setViewportSize({ width: SIZE.width / 4, height: SIZE.height / 4 });
    await page.keyboard.press('KeyV');
    const timeout = 4 * PATIENCE_MS;
    await page.waitForFunction(() => document.getElementById('shadows-cost').textContent.includes(' ms'), null, { timeout });
    const costs = await page.locator('#quality output').allTextContents();
    console.log(`  costs of samples, shadows, ambient occlusion: ${costs.join(', ')}`);
    check(costs.every((cost) => cost.endsWith(' ms')), costs.join(', '));
    await page.setViewportSize(SIZE);
    await page.screenshot({ path: join(pictures, 'quality.png') });
    check((await compare(page, plain, await picture(page, 'plain-measured'))).share === 0, 'measuring changes the picture');
    await page.keyboard.press('KeyU');
    await page.keyboard.press('KeyJ');
    check((await compare(page, got, await picture(page, 'sampled-again'))).share === 0, 'the keys switch something else');
    check(errors.length === 0, errors.join('\n'));
    await close();
  },
  async 'addresses that are not valid are reported, and files can be opened'(browser, url) {
    for (const [options, why] of REFUSED) {
      const { page, errors, close } = await open(browser, `${url}?${new URLSearchParams({ ...WORLD, ...options })}`, noteDevices);
      await expectMessage(page, why);
      await expectMessage(page, 'The default world is shown instead');
      await drop(page, 'ball.vox', ballFile());
      check((await words(page)).includes('ball.vox'), `${why}: no file can be opened`);
      check(errors.length === 0, errors.join('\n'));
      await close();
    }
  },
  async 'the page runs only its own scripts'(browser, url) {
    const { page, close } = await open(browser, url, noteDevices);
    const ran = await page.evaluate(async () => {
      const script = document.createElement('script');
      script.textContent = 'window.ran = "inline"';
      document.body.append(script);
      document.body.setAttribute('onclick', 'window.ran = "attribute"');
      document.body.click();
      // Worlds come from other servers, scripts do not.
      const elsewhere = new URL('./address.js', location.href.replace('127.0.0.1', 'plain.test'));
      const isImported = await import(elsewhere).then(() => true, () => false);
      return [window.ran, isImported];
    });
    check(ran.every((it) => !it), `ran: ${ran}`);
    check(await page.locator('script:not([src])').count() === 1, 'the page has inline scripts');
    await close();
  },
  async 'the test server answers malformed addresses and continues'(browser, url) {
    const status = async (path) => (await fetch(`${url}${path}`)).status;
    for (const path of ['%', '%ff', 'a%00b']) check(await status(path) === 400, path);
    check(await status('..%2fCargo.toml') === 404, 'it serves files outside its folder');
    check(await status('') === 200, 'it has stopped');
  },
  async 'a page that is opened as a file shows the reason'(browser) {
    const { page, close } = await open(browser, pathToFileURL(resolve(dist, 'index.html')).href, noteDevices);
    check((await page.locator('#reason').textContent()).includes('localhost'), 'the reason is missing');
    await close();
  },
};
