// The message over the picture, and the status line.

const find = (name) => document.getElementById(name);

// Source of the current message, such as 'saving'.
let source = null;
// Damage that was reported last.
let reported = null;
// Problem of the connection that was shown last, and when requests began to fail.
let said = '';
let failing = null;
/// Time for which requests fail until that is shown, in milliseconds.
const SAID_AFTER_MS = 2000;

export const showMessage = (text, by = null) => {
  find('message').textContent = text;
  find('bar').hidden = !text;
  source = by;
};

/// Removes the message of these sources. Damage is then reported again.
export const hideMessage = (...by) => {
  if (!by.includes(source)) return;
  showMessage('');
  reported = null;
};

/// Shows the state and the statistics of a page, the time of its slowest frame, and damage if there is more
/// than before.
export function showStatus(page, worstMs) {
  const state = page.state();
  // Screen readers announce changes.
  if (find('state').textContent !== state) find('state').textContent = state;
  find('stats').textContent = ` | ${worstMs.toFixed(1)} ms | ${page.statistics()}`;
  showConnection(page.connection() ?? '');
  const damage = page.damage() ?? null;
  if (damage === reported) return;
  reported = damage;
  if (damage) showMessage(damage);
}

/// Shows a problem of the connection while it lasts, once, unless a message of another source is shown. A request that
/// fails once is repeated without a word.
const showConnection = (problem) => {
  if (!problem) {
    [failing, said] = [null, ''];
    hideMessage('connection');
    return;
  }
  failing ??= performance.now();
  const isFree = source === null || source === 'connection';
  if (problem === said || !isFree || performance.now() - failing < SAID_AFTER_MS) return;
  said = problem;
  showMessage(problem, 'connection');
};

/// Forgets the damage of the last page.
export const forgetDamage = () => { reported = null; };
