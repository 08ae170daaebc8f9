// Switches for samples, shadows and ambient occlusion, and the measurement of their costs.
import { cost_method } from './drystone_web.js';
import { keepKeys } from './input.js';
import { sleepCount } from './sleep.js';

const COSTS = ['samples-cost', 'shadows-cost', 'occlusion-cost'];

/// Listens to the switches of the card.
export function listenToQuality({ find, act, canvas }) {
  const setQuality = () => {
    act((it) => it.set_quality(find('samples').value, find('shadows').checked ? 'on' : 'off'));
  };
  find('samples').addEventListener('change', setQuality);
  find('shadows').addEventListener('change', setQuality);
  find('occlusion').addEventListener('change', () => act((it) => it.key('KeyX', 'down')));
  find('measure').addEventListener('click', () => {
    act((it) => it.measure());
    canvas.focus();
  });
  for (const name of ['samples', 'shadows', 'occlusion']) {
    // Keys that change the switch do not fly.
    find(name).addEventListener('keydown', keepKeys);
    find(name).addEventListener('change', () => canvas.focus());
  }
}

/// Shows the switches of a page, and their costs.
export function showQuality(find, page) {
  find('samples').value = page.samples();
  find('shadows').checked = page.has_shadows();
  find('occlusion').checked = page.has_occlusion();
  const costs = page.costs();
  for (const [at, name] of COSTS.entries()) {
    find(name).textContent = costs[at];
    find(name).title = cost_method();
  }
  find('measure').title = cost_method();
  find('measure').disabled = page.is_measuring();
}

/// Sets the quality of a new page: as the last page has it, as the address says, or what the device
/// affords. Returns a message if the address is not valid.
export async function setQuality(page, old) {
  if (old) {
    await page.copy_quality(old);
    return '';
  }
  const address = new URLSearchParams(location.search);
  if (!address.has('samples') && !address.has('shadows')) {
    await page.choose_quality();
    return '';
  }
  try {
    await page.set_quality(address.get('samples') ?? '1', address.get('shadows') ?? 'off');
    return '';
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError) throw error;
    return `${error}. The picture has 1 sample in each pixel and no shadows`;
  }
}

/// Lets other tasks run once. Unlike a timer, it has no minimum delay.
const turn = () => new Promise((done) => {
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    done();
  };
  port2.postMessage(null);
});

/// Measures the costs of a page's switches, one round for each call of `next`.
export class Rounds {
  /// Whether a round is in progress. Then no frame may be drawn.
  isOpen = false;

  /// Measures a round. `isCurrent` tells whether the page can still be called. Throws errors of the
  /// device.
  async next(page, isCurrent) {
    this.isOpen = true;
    try {
      if (!await page.begin_round() || !await this.#isIdle(page, isCurrent)) return;
      const [begun, slept] = [performance.now(), sleepCount()];
      await page.draw_round();
      // A round without an end is repeated.
      if (await this.#isIdle(page, isCurrent) && sleepCount() === slept) await page.end_round(performance.now() - begun);
    } finally {
      this.isOpen = false;
    }
  }

  /// Waits until the device has drawn everything. Returns false if the page was replaced meanwhile.
  async #isIdle(page, isCurrent) {
    while (isCurrent()) {
      if (await page.is_idle()) return true;
      await turn();
    }
    return false;
  }
}
