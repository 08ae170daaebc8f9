// Tests the page in headless Chromium: node run.mjs DIST PICTURES; see scripts/web.sh.
// Writes screenshots to PICTURES. The last line has the counts.
//   DRYSTONE       the command line, which draws the expected pictures (default target/debug/drystone)
//   DRYSTONE_DATA  a folder of real inputs; if unset, their tests are skipped
//   CHROMIUM       the browser (default /usr/bin/chromium)
//   BACKEND        the backend of all tests that do not name one in their address (default: that of their group)
//   ONLY           runs only tests with this text in their names (default all)

import { createRequire } from 'node:module';
import { join } from 'node:path';
import { bar } from './bar.mjs';
import { cpu } from './cpu.mjs';
import { devices } from './devices.mjs';
import { edits } from './edits.mjs';
import { files } from './files.mjs';
import { folders } from './folders.mjs';
import { ARGUMENTS, WORLD, check, dist, message, noteDevices, open, pictures, words } from './kit.mjs';
import { looks } from './looks.mjs';
import { moves } from './moves.mjs';
import { pages } from './pages.mjs';
import { phone } from './phone.mjs';
import { picking } from './picking.mjs';
import { remote } from './remote.mjs';
import { saving } from './saving.mjs';
import { serve } from './serve.mjs';
import { sittings } from './sittings.mjs';
import { sleep } from './sleep.mjs';
import { threads } from './threads.mjs';
import { worker } from './worker.mjs';

const { chromium } = createRequire(join(process.env.NODE_TOOLS ?? process.cwd(), 'x.js'))('playwright-core');

/// Tests that start with a page of the small world, by backend. WebGPU on a software device takes several times as
/// long as the CPU, so only pictures, devices and whole sittings are tested with it.
const TESTS = {
  soft: { ...moves, ...files, ...folders, ...edits, ...saving, ...picking, ...bar },
  webgpu: { ...looks, ...sleep, ...devices, ...sittings },
};

/// Time limit of a test. A test that exceeds it ends the run.
const TEST_LIMIT_MS = 600_000;
/// Attempts to start the browser, which may be too slow on a busy machine.
const STARTS = 3;
const START_LIMIT_MS = 60_000;

const counts = { passed: 0, failed: 0, skipped: 0 };
const report = () => console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);

/// Starts the time limit of a test. At the limit the process exits, because the browser may hang.
function within(name) {
  return setTimeout(() => {
    counts.failed += 1;
    console.log(`test ${name} ... FAILED: timed out after ${TEST_LIMIT_MS / 1e3} s; the remaining tests are not run`);
    report();
    process.exit(1);
  }, TEST_LIMIT_MS);
}

async function launch(tries = STARTS) {
  try {
    return await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ARGUMENTS, timeout: START_LIMIT_MS,
    });
  } catch (error) {
    if (tries === 1) throw error;
    console.log(`the browser does not start, trying again: ${error.message}`);
    return launch(tries - 1);
  }
}

async function run(name, test) {
  const begun = performance.now();
  let outcome = 'ok';
  const limit = within(name);
  try {
    const skipped = await test();
    if (skipped) console.log(`skipped: ${name}: ${skipped}`);
    counts[skipped ? 'skipped' : 'passed'] += 1;
  } catch (error) {
    outcome = `FAILED: ${error.message ?? error}`;
    counts.failed += 1;
  } finally {
    clearTimeout(limit);
  }
  console.log(`test ${name} ... ${outcome} (${((performance.now() - begun) / 1e3).toFixed(1)} s)`);
}

const server = await serve(dist);
const isolated = await serve(dist, { isIsolated: true });
const browser = await launch();
const only = process.env.ONLY ?? '';
try {
  for (const [tests, { url }] of [[{ ...pages, ...cpu, ...phone, ...remote }, server], [{ ...worker, ...threads }, isolated]]) {
    for (const [name, test] of Object.entries(tests).filter(([name]) => name.includes(only))) {
      await run(name, () => test(browser, url));
    }
  }
  const tests = Object.entries(TESTS).flatMap(([backend, tests]) => Object.entries(tests).map(([name, test]) => [name, test, backend]));
  for (const [name, test, backend] of tests.filter(([name]) => name.includes(only))) {
    await run(name, async () => {
      const { page, errors, close } = await open(browser, `${server.url}?${new URLSearchParams({ ...WORLD, backend: process.env.BACKEND ?? backend })}`, noteDevices);
      try {
        const skipped = await test(page);
        check(errors.length === 0, `errors in the console: ${errors.join('\n')}`);
        return skipped;
      } catch (error) {
        await page.screenshot({ path: join(pictures, 'failed.png') });
        console.log(`  ${await words(page)} ${await message(page)}`);
        console.log(errors.map((line) => `  console: ${line}`).join('\n'));
        throw error;
      } finally {
        await close();
      }
    });
  }
} finally {
  await browser.close();
  server.close();
  isolated.close();
}
report();
process.exit(counts.failed || !counts.passed ? 1 : 0);
