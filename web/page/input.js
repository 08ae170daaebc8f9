// Input: forwards key, mouse, touch and file events of the browser to the page.
import { handles_key, key_list, script_keys } from './drystone_web.js';

/// Largest movement of a click, in pixels. A larger one is a drag.
const CLICK_PIXELS = 4;
/// Pixels of scrolling per notch of the wheel. If the browser counts lines, one line is a notch.
const NOTCH_PIXELS = 100;
/// Mouse buttons that a tap stands for while editing, with their labels.
const TAPS = [[0, 'Tap removes'], [2, 'Tap places'], [1, 'Tap picks']];
/// Largest distance between the two taps of a paste, in CSS pixels.
const NEAR_PIXELS = 30;
/// What a tap does with other tools than the brush: bits of `Page.selection`, and a label.
const TOOL_TAPS = [[4, 'Tap twice'], [8, 'Tap selects'], [16, 'Tap replaces']];

/// Calls `work` before the page sleeps: releases of pointers are then not reported.
const onSleep = (work) => document.addEventListener('visibilitychange', () => {
  if (document.visibilityState === 'hidden') work();
});

export function listen(host) {
  listenToKeys(host);
  listenToMouse(host);
  const tap = listenToTools(host);
  listenToFingers(host, tap);
  listenToStick(host);
  listenToFiles(host);
}

/// Returns the letter of a key in the keyboard layout, or by its physical position if that is not Latin.
const letterOf = ({ key, code }) => (/^[\x20-\x7e]$/.test(key) ? key : code.replace(/^Key/, '')).toLowerCase();

/// Releases the pointer for editing. Some browsers, mainly on phones, have no pointer lock.
export const freePointer = () => document.exitPointerLock?.();

/// Returns the name of a pressed key in the key table.
const chordOf = (event) => {
  if (!event.ctrlKey && !event.metaKey) return event.code;
  return `Ctrl+${event.shiftKey ? 'Shift+' : ''}${letterOf(event)}`;
};

/// Keeps the keys of a control from the camera. Escape and shortcuts work everywhere.
export const keepKeys = (event) => {
  if (!event.ctrlKey && !event.metaKey && event.key !== 'Escape') event.stopPropagation();
};

/// Keys that a control with the focus handles.
const CONTROL_KEYS = ['Space', 'Enter', 'NumpadEnter'];

/// Returns the pairs of a list.
const pairs = (list) => list.flatMap((one, at) => (at % 2 === 0 ? [[one, list[at + 1]]] : []));

/// Fills the list of keys. Returns what the script does for a key, by its chord.
export function listKeys(find) {
  find('keys').replaceChildren(...pairs(key_list()).map(([keys, help]) => {
    const row = document.createElement('tr');
    row.append(...[['th', keys], ['td', help]].map(([kind, text]) => Object.assign(document.createElement(kind), { textContent: text })));
    return row;
  }));
  return Object.fromEntries(pairs(script_keys()));
}

function listenToKeys({ canvas, find, act, page, save, scriptKeys, closeMessage }) {
  const card = find('card');
  const { dataset } = document.body;
  const showCard = (isShown) => {
    card.hidden = !isShown;
    find('help').setAttribute('aria-expanded', isShown);
  };
  const toggleCard = () => showCard(card.hidden);
  /// Presses a key of the page. Returns whether it has an effect.
  const press = (chord, phase) => {
    const isHandled = handles_key(chord, phase, page().selection());
    act((it) => it.key(chord, phase));
    return isHandled;
  };
  find('help').addEventListener('click', toggleCard);
  window.addEventListener('keydown', (event) => {
    if (event.altKey) return;
    const chord = chordOf(event);
    const own = event.repeat ? '' : scriptKeys()[chord];
    // Prevents the browser's own save command, which saves the page without the world.
    if (scriptKeys()[chord] === 'save') {
      event.preventDefault();
      if (own) save();
      return;
    }
    if (own === 'escape' && !find('bar').hidden) {
      closeMessage();
      return;
    }
    if (!page()) return;
    if (CONTROL_KEYS.includes(event.code) && event.target.closest?.('button, input, select')) return;
    // Selected text of the page is copied instead.
    if (own === 'copy') {
      if (!(getSelection()?.isCollapsed ?? true)) return;
      if (press(chord, 'down')) event.preventDefault();
      else navigator.clipboard?.writeText(page().camera_options()).catch(() => {});
    } else if (own === 'help') toggleCard();
    else if (own === 'panels') dataset.bare = dataset.bare !== 'true';
    else if (own === 'escape') {
      if (card.hidden) press(chord, 'down');
      showCard(false);
    }
    else if (press(chord, event.repeat ? 'repeat' : 'down')) event.preventDefault();
  });
  window.addEventListener('keyup', (event) => {
    // While Meta is down, some systems do not report the release of other keys.
    if (event.key === 'Meta') act((it) => it.release_all());
    else act((it) => it.key(event.code, 'up'));
  });
  const sun = find('sun');
  sun.addEventListener('input', () => {
    find('hour').textContent = sun.value;
    sun.dataset.isSet = true;
    act((it) => it.set_hour(sun.valueAsNumber));
  });
  // On the slider, arrow keys do not turn the camera. Releases are still forwarded: a key may have been
  // pressed on the canvas.
  sun.addEventListener('pointerup', () => canvas.focus());
  sun.addEventListener('keydown', keepKeys);
  window.addEventListener('blur', () => act((it) => it.release_all()));
}

/// Returns the position of an event in pixels of pictures, which `scale` counts on a CSS pixel.
const positionOf = (scale, event) => [event.offsetX * scale(), event.offsetY * scale()];

function listenToMouse({ canvas, act, page, scale }) {
  let press = null;
  const isMouse = (event) => event.pointerType !== 'touch';
  canvas.addEventListener('contextmenu', (event) => event.preventDefault());
  canvas.addEventListener('pointerdown', (event) => {
    if (!isMouse(event) || !page()) return;
    canvas.focus();
    press = { button: event.button, x: event.offsetX, y: event.offsetY, isDrag: false };
    if (page().is_editing() || page().is_orbiting() || event.button !== 0) canvas.setPointerCapture(event.pointerId);
    // Without pointer lock, the user drags to turn.
    else Promise.resolve(canvas.requestPointerLock?.()).catch(() => {});
    if (event.button === 1) event.preventDefault();
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!isMouse(event) || !page()) return;
    const isLocked = document.pointerLockElement === canvas;
    if (event.buttons === 0) press = null;
    if (press) {
      const far = Math.max(Math.abs(event.offsetX - press.x), Math.abs(event.offsetY - press.y));
      press.isDrag ||= far > CLICK_PIXELS;
    }
    if (!isLocked && !press?.isDrag) return;
    act((it) => it.mouse(press?.button ?? -1, event.movementX, event.movementY, scale()));
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!isMouse(event) || press?.button !== event.button) return;
    const { isDrag, button } = press;
    press = null;
    if (!isDrag && document.pointerLockElement !== canvas) {
      act((it) => it.click(button, ...positionOf(scale, event)));
    }
  });
  canvas.addEventListener('pointercancel', () => { press = null; });
  onSleep(() => { press = null; });
  canvas.addEventListener('dblclick', (event) => {
    act((it) => it.focus(...positionOf(scale, event)));
  });
  canvas.addEventListener('wheel', (event) => {
    event.preventDefault();
    const notch = event.deltaMode === WheelEvent.DOM_DELTA_PIXEL ? NOTCH_PIXELS : 1;
    act((it) => it.wheel(-event.deltaY / notch, ...positionOf(scale, event)));
  }, { passive: false });
}

/// Buttons that press a key of the table.
const keyButtons = () => document.querySelectorAll('[data-key]');

/// Enables the buttons whose keys have an effect now, and marks the one of the current tool. No button
/// moves while one edits: a second click never hits another one.
export function showKeyButtons(page) {
  const has = page.selection();
  const tap = document.getElementById('tap');
  const tool = TOOL_TAPS.find(([bit]) => has & bit);
  tap.textContent = tool ? tool[1] : TAPS[tap.dataset.tap ?? 0][1];
  for (const button of keyButtons()) {
    const { needs, tool } = button.dataset;
    button.disabled = (has & needs) !== Number(needs ?? 0);
    if (tool) button.setAttribute('aria-pressed', (has & tool) !== 0);
  }
}

function listenToTools({ find, act, page, save, canvas }) {
  let tap = 0;
  find('edit').addEventListener('click', () => {
    act((it) => it.key('KeyE', 'down'));
    canvas.focus();
  });
  for (const button of keyButtons()) {
    button.addEventListener('click', () => {
      act((it) => it.key(button.dataset.key, 'down'));
      canvas.focus();
    });
  }
  find('undo').addEventListener('click', () => act((it) => it.undo()));
  find('save').addEventListener('click', () => {
    save();
    canvas.focus();
  });
  find('rescue').addEventListener('click', save);
  find('tap').addEventListener('click', () => {
    tap = (tap + 1) % TAPS.length;
    find('tap').dataset.tap = tap;
    if (page()) showKeyButtons(page());
  });
  return () => TAPS[tap][0];
}

/// Touch: one finger turns, two fingers move and pinch, a tap edits.
function listenToFingers({ canvas, act, page, scale, point }, tap) {
  const fingers = new Map();
  let isTap = false;
  // Where the copy is shown that a second tap pastes.
  let aim = null;
  const forget = () => {
    if (aim) point([NaN, NaN]);
    aim = null;
  };
  document.querySelectorAll('#tools button, #edits button').forEach((button) => button.addEventListener('click', forget));
  const applyTap = (at) => {
    const pastes = (page()?.selection() ?? 0) & TOOL_TAPS[0][0];
    const isNear = pastes && aim && Math.hypot(at[0] - aim[0], at[1] - aim[1]) <= NEAR_PIXELS * scale();
    const to = aim ?? at;
    aim = pastes && !isNear ? at : null;
    point(aim ?? [NaN, NaN]);
    if (!aim) act((it) => it.click(tap(), ...(isNear ? to : at)));
  };
  const tapAt = (at) => {
    if (!page()?.has_new_keys?.()) return applyTap(at);
    // A key before the tap may begin to paste. The worker has not answered yet.
    act(async (it) => {
      await it.answered_all();
      if (page() === it) applyTap(at);
    });
  };
  /// Returns the centre of two fingers and their distance.
  const pair = () => {
    const [[ax, ay], [bx, by]] = fingers.values();
    return { x: (ax + bx) / 2, y: (ay + by) / 2, spread: Math.hypot(ax - bx, ay - by) };
  };
  canvas.addEventListener('pointerdown', (event) => {
    if (event.pointerType !== 'touch') {
      aim = null;
      return;
    }
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, positionOf(scale, event));
    isTap = fingers.size === 1;
  });
  canvas.addEventListener('pointermove', (event) => {
    const from = fingers.get(event.pointerId);
    if (!from) return;
    const to = positionOf(scale, event);
    if (fingers.size === 2) {
      const before = pair();
      fingers.set(event.pointerId, to);
      const after = pair();
      const spread = after.spread / Math.max(1, before.spread);
      act((it) => it.fingers(after.x, after.y, after.x - before.x, after.y - before.y, spread));
      return;
    }
    const delta = [to[0] - from[0], to[1] - from[1]];
    if (isTap && Math.max(...delta.map(Math.abs)) <= CLICK_PIXELS) return;
    isTap = false;
    fingers.set(event.pointerId, to);
    if (fingers.size === 1) act((it) => it.drag(...delta));
  });
  const lift = (event) => {
    if (!fingers.delete(event.pointerId) || event.type !== 'pointerup') return;
    if (isTap) tapAt(positionOf(scale, event));
    isTap = false;
  };
  onSleep(() => fingers.clear());
  canvas.addEventListener('pointerup', lift);
  canvas.addEventListener('pointercancel', lift);
}

/// Keys that the joystick holds, and their directions.
const STICK = { KeyW: [0, -1], KeyS: [0, 1], KeyA: [-1, 0], KeyD: [1, 0] };
/// Part of the joystick's radius within which it rests.
const REST = 0.25;
/// Cosine of the largest angle between the joystick and a key that it holds: eight directions.
const WITHIN = Math.cos(Math.PI * 3 / 8);

/// The joystick of touch screens holds keys of flight and walking.
function listenToStick({ find, act }) {
  const stick = find('stick');
  const held = new Set();
  let finger = null;
  const hold = (x, y) => {
    const far = Math.hypot(x, y);
    for (const [key, [dx, dy]] of Object.entries(STICK)) {
      const isHeld = far > REST && (x * dx + y * dy) / far > WITHIN;
      // A key that is held is pressed again: the page may have released all keys meanwhile.
      if (!isHeld && !held.has(key)) continue;
      held[isHeld ? 'add' : 'delete'](key);
      act((it) => it.key(key, isHeld ? 'down' : 'up'));
    }
    const reach = stick.clientWidth / 2 / Math.max(1, far);
    find('knob').style.transform = `translate(${x * reach}px, ${y * reach}px)`;
  };
  const move = (event) => {
    if (event.pointerId !== finger) return;
    const box = stick.getBoundingClientRect();
    const part = (at, start, side) => 2 * (at - start) / side - 1;
    hold(part(event.clientX, box.left, box.width), part(event.clientY, box.top, box.height));
  };
  stick.addEventListener('pointerdown', (event) => {
    if (finger !== null) return;
    finger = event.pointerId;
    stick.setPointerCapture(finger);
    move(event);
  });
  stick.addEventListener('pointermove', move);
  onSleep(() => {
    finger = null;
    hold(0, 0);
  });
  for (const end of ['pointerup', 'pointercancel', 'lostpointercapture']) {
    stick.addEventListener(end, (event) => {
      if (event.pointerId !== finger) return;
      finger = null;
      hold(0, 0);
    });
  }
}

function listenToFiles({ find, openFiles, openFolders, ask }) {
  const veil = find('veil');
  const input = find('file');
  find('open').addEventListener('click', () => input.click());
  input.addEventListener('change', () => {
    if (input.files.length > 0) openFiles([...input.files]);
    input.value = '';
  });
  const isFile = (event) => event.dataTransfer?.types.includes('Files');
  window.addEventListener('dragover', (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    veil.hidden = false;
  });
  window.addEventListener('dragleave', (event) => {
    if (!event.relatedTarget) veil.hidden = true;
  });
  window.addEventListener('drop', (event) => {
    veil.hidden = true;
    if (!isFile(event)) return;
    event.preventDefault();
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (entries.some((entry) => entry.isDirectory)) openFolders(entries);
    else if (event.dataTransfer.files.length > 0) openFiles([...event.dataTransfer.files]);
  });
  new ResizeObserver(ask).observe(document.body);
}
