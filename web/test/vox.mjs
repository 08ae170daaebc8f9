// Creates a MagicaVoxel file of a ball in three colours with a hole.

const SIDE = 28;

const words = (...values) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, n) => bytes.writeUInt32LE(value, 4 * n));
  return bytes;
};
const chunk = (name, content, children = Buffer.alloc(0)) =>
  Buffer.concat([Buffer.from(name), words(content.length, children.length), content, children]);

export function ballFile() {
  const voxels = [];
  const middle = (SIDE - 1) / 2;
  for (let x = 0; x < SIDE; x += 1) {
    for (let y = 0; y < SIDE; y += 1) {
      for (let z = 0; z < SIDE; z += 1) {
        const away = Math.hypot(x - middle, y - middle, z - middle);
        const isHole = Math.hypot(x - middle, z - middle - 6) < 4;
        if (away < SIDE / 2 && !isHole) voxels.push(Buffer.from([x, y, z, 1 + (x + 2 * y + z >> 3) % 3]));
      }
    }
  }
  const palette = Buffer.alloc(1024, 255);
  [[200, 70, 40], [230, 190, 60], [60, 110, 190]].forEach((color, n) => palette.set(color, 4 * n));
  const children = Buffer.concat([
    chunk('SIZE', words(SIDE, SIDE, SIDE)),
    chunk('XYZI', Buffer.concat([words(voxels.length), ...voxels])),
    chunk('RGBA', palette),
  ]);
  return Buffer.concat([Buffer.from('VOX '), words(150), chunk('MAIN', Buffer.alloc(0), children)]);
}
