// Marks: draws the outlines of the selection and of what a click would edit, over the picture.

/// Colours of the kinds of lines: voxel, brush, selection, copy.
const COLORS = ['#fff', '#ffcc4d', '#59d9ff', '#80ff80'];
/// Opacity of lines that voxels hide.
const FAINT = 0.3;
/// Widths of a line and of the dark line below it, in CSS pixels.
const WIDTHS = [1.6, 4];

/// Follows the mouse. Returns functions: `draw` draws the marks of the current page once, and `point` moves them
/// to a position in pixels of pictures, for screens without a mouse. `fail` receives errors.
export function listenToMarks({ canvas, find, page, scale, size, fail }) {
  const marks = find('marks');
  const context = marks.getContext('2d');
  let at = [NaN, NaN];
  let isEmpty = true;
  // Whether lines are requested from the page, and whether the mouse has moved meanwhile.
  let isWaiting = false;
  let isStale = false;
  const draw = async () => {
    isStale = true;
    if (isWaiting) return;
    [isWaiting, isStale] = [true, false];
    try {
      paint(page()?.is_editing() ? await page().outline(...at) : []);
    } finally {
      isWaiting = false;
    }
    // A frame does not wait for this: the mouse may move in every drawing of the marks.
    if (isStale) draw().catch(fail);
  };
  const paint = (lines) => {
    if (isEmpty && lines.length === 0) return;
    isEmpty = lines.length === 0;
    // This clears the canvas, too.
    [marks.width, marks.height] = size();
    // Hidden lines are below visible ones.
    for (const isHidden of [true, false]) {
      for (let line = 0; line < lines.length; line += 5) {
        const [x, y, toX, toY, kind] = lines.slice(line, line + 5);
        if ((kind % 1 > 0) !== isHidden) continue;
        context.globalAlpha = isHidden ? FAINT : 1;
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(toX, toY);
        for (const [color, width] of [['#0008', WIDTHS[1]], [COLORS[Math.floor(kind)], WIDTHS[0]]]) {
          [context.strokeStyle, context.lineWidth] = [color, width * scale()];
          context.stroke();
        }
      }
    }
  };
  const point = (to) => {
    at = to;
    draw().catch(fail);
  };
  const move = (event) => {
    if (event.pointerType === 'touch') return;
    point(event.type === 'pointermove' ? [event.offsetX * scale(), event.offsetY * scale()] : [NaN, NaN]);
  };
  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerleave', move);
  return { draw, point };
}
