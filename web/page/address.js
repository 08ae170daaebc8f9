// The world that the address describes: a generated one, or a packed world at another address. A published site has
// a packed world of its own.

/// Default world. The address can override it with the names of the command line's options:
/// ?chunks=32x4x32&seed=3&relief=128
export const WORLD = { chunks: '32x4x32', seed: '3', relief: '128' };

/// Parses a decimal number with at most `bits` bits. Throws `why` with the largest number for other texts.
const wholeOf = (text, bits, why) => {
  const end = 1n << BigInt(bits);
  if (!/^[0-9]+$/.test(text) || BigInt(text) >= end) throw `${why} from 0 to ${end - 1n}`;
  return BigInt(text);
};

/// Returns the generated world of an address, for `openPage`. Throws a message if the address is not valid.
export const generated = ({ seed, chunks, relief }) => {
  const sides = chunks.split('x');
  const isSize = `chunks=${chunks}: a size is three numbers, such as ${WORLD.chunks}`;
  if (sides.length !== 3) throw isSize;
  const size = Uint32Array.from(sides, (side) => Number(wholeOf(side, 32, `${isSize}, each`)));
  const height = Number(wholeOf(relief, 32, `relief=${relief}: a relief is a number`));
  const number = wholeOf(seed, 64, `seed=${seed}: a seed is a number`);
  return { generated: [number, size, height] };
};

/// Parses a point of an address, such as `1,2.5,3`. Throws a message.
const pointOf = (name, text) => {
  const point = text.split(',').map((part) => (part.trim() ? Number(part) : NaN));
  if (point.length !== 3 || !point.every(Number.isFinite)) throw `${name}=${text}: a point is three numbers, such as 10,80,-5`;
  return point;
};

/// Returns the options of a published site, `world`, `eye` and `look`. Elsewhere there are none.
const site = () => Object.fromEntries(new URLSearchParams(document.querySelector('meta[name=world]')?.content ?? ''));

/// Returns the options of this page: those of its address, and below them those of its site, if the address
/// names no other world.
export const options = () => {
  const own = Object.fromEntries(new URLSearchParams(location.search));
  if (['world', ...Object.keys(WORLD)].some((name) => name in own)) return own;
  const { eye, look, ...rest } = site();
  return own.eye || own.look ? { ...rest, ...own } : { ...rest, eye, look, ...own };
};

/// Whether this page shows the world of its site, so that no other world may be shown instead.
export const isSite = () => {
  const words = [site().world, options().world];
  if (!words.every((word) => word && URL.canParse(word, location.href))) return false;
  const [own, shown] = words.map((word) => new URL(word, location.href).href);
  return own === shown;
};

/// Returns a camera and the point that it looks at; nothing if they are not given. Throws a message if they are wrong,
/// other than in a link to a site, which shows its world from its default camera then.
const viewOf = (eye, look) => {
  try {
    if (!eye !== !look) throw 'eye and look: a camera needs both';
    return eye ? [...pointOf('eye', eye), ...pointOf('look', look)] : [];
  } catch (problem) {
    if (!isSite()) throw problem;
    return [];
  }
};

/// Returns the world that an address describes, for `openPage`. `world` is the address of a packed world; `eye` and
/// `look` are the camera and the point that it looks at, as the options of the command line. Throws a message if
/// something is not valid.
export const described = ({ world, eye, look, ...options }) => {
  const view = viewOf(eye, look);
  if (!world) return { ...generated({ ...WORLD, ...options }), view };
  const { href, protocol } = new URL(world, location.href);
  if (!/^https?:$/.test(protocol)) throw `world=${world}: an address begins with https:// or http://`;
  return { remote: href, view };
};

/// Returns the address of this page with a world and a camera, as options of the command line. `null` for a world
/// from a file, which has no address.
export const linkOf = ({ generated: numbers, remote }, camera) => {
  if (!numbers && !remote) return null;
  const [seed, chunks, relief] = numbers ?? [];
  const [, eye, look] = /--eye (\S+) --look (\S+)/.exec(camera) ?? [];
  const isOfSite = remote && site().world && new URL(site().world, location.href).href === remote;
  const words = isOfSite ? {} : remote ? { world: remote } : { chunks: chunks.join('x'), seed, relief };
  const link = new URL(location.pathname, location.href);
  // Commas and slashes stay readable.
  const query = Object.entries({ ...words, eye, look }).filter(([, word]) => word !== undefined);
  link.search = query.map(([name, word]) => `${name}=${encodeURIComponent(word).replaceAll(/%(2C|2F|3A)/g, decodeURIComponent)}`).join('&');
  return link.href;
};
