// The message over the picture, and the status line.

const find = (name) => document.getElementById(name);

// Source of the current message, such as 'saving'.
let source = null;
// Damage that was reported last.
let reported = null;
// Problem of the connection that was shown last.
let said = '';

/// Words of the state that name keys, and those for screens without a keyboard.
const TOUCH_WORDS = [
  ['Delete empties', 'Clear empties'], ['Enter fills', 'Fill fills'], ['[ ] tips', '− + tip'], ['[ ]', '− +'], ['click to place', 'tap twice to place'], [', . turns', '‹ › turn'],
  ['B mirrors, Escape ends', 'Brush mirrors'], ['; right click takes the air before it', ''], ['click', 'tap'],
];

const isTouched = () => matchMedia('(pointer: coarse)').matches;

/// Replaces shortcuts by the labels of their buttons, on screens without a keyboard.
export const withoutKeys = (text) => {
  if (!isTouched()) return text;
  const labelOf = (key, letter) => (letter === 'S' ? find('save') : document.querySelector(`[data-key="Ctrl+${letter.toLowerCase()}"]`))?.textContent ?? key;
  return text.replace(/Ctrl\+([A-Z])/g, labelOf);
};

/// Returns the state in words for screens without a keyboard. The name of the world stays as it is.
const touchState = (state) => {
  if (!isTouched()) return state;
  const [name, ...parts] = state.split(' | ');
  const spoken = parts.map((part) => TOUCH_WORDS.reduce((all, [keys, label]) => all.replaceAll(keys, label), withoutKeys(part)));
  return [name, ...spoken].join(' | ');
};

export const showMessage = (text, by = null) => {
  find('message').textContent = withoutKeys(text);
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
  const state = touchState(page.state());
  // Screen readers announce changes.
  if (find('state').textContent !== state) find('state').textContent = state;
  find('stats').textContent = ` | ${worstMs.toFixed(1)} ms | ${page.statistics()}`;
  showConnection(page.connection() ?? '');
  const damage = page.damage() ?? null;
  if (damage === reported) return;
  reported = damage;
  if (damage) showMessage(damage);
}

/// Shows a problem of the connection while it lasts, once, unless a message of another source is shown.
const showConnection = (problem) => {
  if (!problem) {
    said = '';
    hideMessage('connection');
    return;
  }
  const isFree = source === null || source === 'connection';
  if (problem === said || !isFree) return;
  said = problem;
  showMessage(problem, 'connection');
};

/// Forgets the damage of the last page.
export const forgetDamage = () => { reported = null; };
