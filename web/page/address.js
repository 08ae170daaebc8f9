// The generated world that the address describes.

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
