// The message over the picture, and the status line.

const find = (name) => document.getElementById(name);

// Source of the current message, such as 'saving'.
let source = null;
// Damage that was reported last.
let reported = null;

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
  const damage = page.damage() ?? null;
  if (damage === reported) return;
  reported = damage;
  if (damage) showMessage(damage);
}

/// Forgets the damage of the last page.
export const forgetDamage = () => { reported = null; };
