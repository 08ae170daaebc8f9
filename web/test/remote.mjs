// Tests of worlds at addresses: of another server than the page, which may fail. Each opens its own page.

import { createServer } from 'node:http';
import { readFileSync, unlinkSync } from 'node:fs';
import { agree, check, expectMessage, expected, message, open, packed, published, ready } from './kit.mjs';

const WORDS = ['--seed', '9', '--chunks', '32x4x32'];

/// Errors of a page other than those of requests that fail.
const others = (errors) => errors.filter((line) => !/Failed to load resource|CORS|ERR_/.test(line)).join('\n');

/// Serves a file at every path. `server.status` is that of answers, 206 for parts; `server.allowed` is whether pages of
/// other servers may read them. `server.delayMs` delays the next answer, and `server.failures` are the next ones.
async function serveFile(file) {
  const bytes = readFileSync(file);
  const state = { status: 206, allowed: true, count: 0, delayMs: 0, failures: 0 };
  const server = createServer(async (request, response) => {
    state.count += 1;
    const { delayMs } = state;
    state.delayMs = 0;
    await new Promise((done) => setTimeout(done, delayMs));
    if (state.failures > 0) {
      state.failures -= 1;
      return response.writeHead(503, { 'access-control-allow-origin': '*' }).end('no');
    }
    const [, start, last] = /bytes=(\d+)-(\d+)/.exec(request.headers.range ?? '') ?? [];
    const headers = state.allowed ? { 'access-control-allow-origin': '*' } : {};
    if (state.status !== 206) return response.writeHead(state.status, headers).end('no');
    const part = bytes.subarray(Number(start), Number(last) + 1);
    return response.writeHead(206, { ...headers, 'content-range': `bytes ${start}-${Number(start) + part.length - 1}/${bytes.length}` }).end(part);
  });
  await new Promise((done) => server.listen(0, '127.0.0.1', done));
  const address = `http://127.0.0.1:${server.address().port}/worlds/a.dsw`;
  return Object.assign(state, { address, close: () => { server.close(); server.closeAllConnections(); } });
}

/// Opens a page of a packed world at an address.
const withWorld = (test, words = {}, script = () => {}) => async (browser, url) => {
  const file = packed('remote', ...WORDS);
  const server = await serveFile(file);
  Object.assign(server, words);
  const address = (more = {}) => `${url}?${new URLSearchParams({ world: server.address, backend: 'soft', ...more })}`;
  const { page, errors, close } = await open(browser, address(), script, { permissions: ['clipboard-read', 'clipboard-write'] });
  try {
    await test({ page, errors, server, file, address });
  } finally {
    await close();
    server.close();
  }
};

export const remote = {
  'a world at an address looks as the file in the software rasteriser': withWorld(async ({ page, errors, server, file }) => {
    check(!await message(page) || (await message(page)).includes('CPU draws'), await message(page));
    await agree(page, 'remote-soft', expected('remote', [file, '--levels', 'on']));
    check(server.count > 1, `${server.count} requests`);
    check(errors.length === 0, errors.join('\n'));
    // The link opens the same picture.
    await page.locator('#help').click();
    await page.locator('#link').click();
    await expectMessage(page, 'link was copied');
    const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
    check(link.searchParams.get('world') === server.address && link.searchParams.get('eye').split(',').length === 3, link.href);
    link.searchParams.set('backend', 'soft');
    await page.goto(link.href);
    await ready(page);
    await agree(page, 'remote-link', expected('remote', [file, '--levels', 'on']));
  }),
  'an address that cannot be read is reported, and the default world shown': withWorld(async ({ page, errors, server, address }) => {
    await expectMessage(page, 'the server has no such file (404)');
    await expectMessage(page, 'The default world is shown instead');
    for (const [change, words] of [[{ status: 200 }, 'parts of files'], [{ status: 206, allowed: false }, 'CORS']]) {
      Object.assign(server, change);
      await page.goto(address());
      await ready(page);
      await expectMessage(page, words);
    }
    await page.goto(address({ world: 'ftp://a' }));
    await ready(page);
    await expectMessage(page, 'begins with https://');
    await page.goto(address({ eye: '1,2,3' }));
    await ready(page);
    await expectMessage(page, 'a camera needs both');
    check(!others(errors), others(errors));
  }, { status: 404 }),
  // The delay is longer than the program may be silent.
  'a slow server is waited for, and one that fails at first is asked again': withWorld(async ({ page, errors, server, file }) => {
    const said = await page.evaluate(() => window.said);
    check(said.includes('CPU draws') && !said.includes('has not answered'), said);
    server.failures = 2;
    await page.reload();
    await agree(page, 'remote-slow', expected('remote-slow', [file, '--levels', 'on']));
    check(server.failures === 0 && !(await message(page)).includes('default world'), await message(page));
    check(!others(errors), others(errors));
  }, { delayMs: 22_000 }, () => {
    window.said = '';
    document.addEventListener('DOMContentLoaded', () => {
      const shown = document.getElementById('message');
      new MutationObserver(() => { window.said += shown.textContent; }).observe(shown, { childList: true, subtree: true, characterData: true });
    });
  }),
  'a site without its world shows no other one': async (browser) => {
    const site = await published('site-empty', ...WORDS);
    let close = () => {};
    try {
      unlinkSync(site.world);
      const opened = await open(browser, `${site.url}?backend=soft`, () => {});
      ({ close } = opened);
      const reason = await opened.page.locator('#reason').textContent();
      check(reason.includes('the server has no such file (404)'), reason);
      check(await opened.page.locator('#refused').isVisible(), 'the page shows something else');
    } finally {
      await close();
      site.close();
    }
  },
  'a published site shows its world from its camera': async (browser) => {
    const camera = ['--eye', '300,150,420', '--look', '512,60,512'];
    const site = await published('site', '--title', 'Hills & <lakes>', ...camera, ...WORDS);
    let close = () => {};
    try {
      const opened = await open(browser, `${site.url}?backend=soft`, () => {}, { permissions: ['clipboard-read', 'clipboard-write'] });
      const { page, errors } = opened;
      ({ close } = opened);
      check(await page.title() === 'Hills & <lakes>', await page.title());
      await agree(page, 'site', expected('site', [site.world, '--levels', 'on', ...camera]));
      // The link has the camera, and the world of the site without naming it.
      await page.locator('#help').click();
      await page.locator('#link').click();
      await expectMessage(page, 'link was copied');
      const link = new URL(await page.evaluate(() => navigator.clipboard.readText()));
      check(link.origin === new URL(site.url).origin && !link.searchParams.has('world') && link.searchParams.has('eye'), link.href);
      // A camera and a world of the address have precedence.
      const above = ['--eye', '512,400,512', '--look', '520,60,520'];
      await page.goto(`${site.url}?backend=soft&eye=${above[1]}&look=${above[3]}`);
      await agree(page, 'site-above', expected('site-above', [site.world, '--levels', 'on', ...above]));
      // A wrong camera does not hide the world.
      await page.goto(`${site.url}?backend=soft&eye=1,2,3`);
      await agree(page, 'site-default', expected('site-default', [site.world, '--levels', 'on']));
      await page.goto(`${site.url}?backend=soft&chunks=4x4x4`);
      await agree(page, 'site-generated', expected('site-generated', ['--chunks', '4x4x4', '--levels', 'on']));
      check(errors.length === 0, errors.join('\n'));
    } finally {
      await close();
      site.close();
    }
  },
  'a server that fails for a while is reported, and what is missing is received afterwards': withWorld(async ({ page, errors, server }) => {
    Object.assign(server, { status: 500 });
    // Closer to the ground, where more is needed.
    await page.keyboard.down('KeyW');
    await expectMessage(page, 'status 500');
    await page.keyboard.up('KeyW');
    // Nothing is complete while the server fails.
    check(await page.evaluate(() => document.body.dataset.settled) === 'false', 'the picture is complete');
    const { count } = server;
    Object.assign(server, { status: 206 });
    await ready(page);
    check(!(await message(page)).includes('status 500'), await message(page));
    check(server.count > count, 'nothing is requested again');
    check(!others(errors), others(errors));
  }),
};
