// Work that no commit changes, timed beside what is judged. A machine that is shared runs the same code up to twice as fast in one second as in the next, and
// what is divided by this varies from process to process by 5 to 10 % where CPU time alone does by 20. It must call nothing of the package.

const TABLE = new Float64Array(1 << 16);
const NAMES = new Map();
const STEPS = 6000;
let kept = [];

/** What recording does, in other words: arithmetic, columns, small objects that die young and some that do not, a map. About a third of a millisecond. */
export function reference() {
  let x = 1;
  kept = [];
  for (let i = 0; i < STEPS; i++) {
    x = (Math.imul(x ^ (x >>> 15), 0x2c1b3c6d) + i) | 0;
    TABLE[(i * 7) & 65535] = x;
    TABLE[(x >>> 3) & 65535] += i;
    const one = { x, i, list: [x, 'key', i, 'value'], next: null };
    if ((i & 3) === 0) kept.push(one);
    NAMES.set(x & 255, one);
  }
  return kept.length;
}

/** What it takes where a figure is itself: figures are scaled to that machine. */
export const REFERENCE_NS = 350_000;
