// Random words and span ids. Ids stay numbers until export; this file must never format one.
// Ids must be uniform, not secret: the system's source, which costs a root 0.1 to 0.3 us, gives the seed, and Blackman and Vigna's generator
// xoshiro128** (2018) the rest. Signed, because V8 keeps a 32-bit integer in place and boxes anything larger. Made unsigned when formatted.
let s0 = 0;
let s1 = 0;
let s2 = 0;
let s3 = 0;

const seed = (): void => {
  const words = new Int32Array(4);
  // Loaded at the first id, not with the library: it is half of the time an import takes.
  while ((words[0] | words[1] | words[2] | words[3]) === 0) {
    process.getBuiltinModule('node:crypto').randomFillSync(words);
  }
  [s0, s1, s2, s3] = words;
};

/** A random signed 32-bit word. */
export const randomWord = (): number => {
  // Its state is never all zero.
  if ((s0 | s1 | s2 | s3) === 0) seed();
  const five = Math.imul(s1, 5);
  const word = Math.imul((five << 7) | (five >>> 25), 9);
  const shifted = s1 << 9;
  s2 ^= s0;
  s3 ^= s1;
  s1 ^= s2;
  s0 ^= s3;
  s2 ^= shifted;
  s3 = (s3 << 11) | (s3 >>> 21);
  return word;
};

const nonZeroWord = (): number => {
  let word = randomWord();
  while (word === 0) word = randomWord();
  return word;
};

// A span id is a random 32-bit prefix and a counter. The prefix is drawn anew when the counter runs out, so ids of
// one thread never repeat before 2^63, and two processes that work on one trace collide with odds of 2^-32.
const LIMIT = 2 ** 31;
let prefix = 0;
let next = LIMIT;

/** Reserve `n` consecutive span ids; their upper halves are {@link spanIdPrefix} read right after this call. */
export const reserveSpanIds = (n: number): number => {
  if (next + n > LIMIT) {
    prefix = nonZeroWord();
    next = 1;
  }
  const first = next;
  next += n;
  return first;
};

/** The upper 32 bits of the ids reserved last. */
export const spanIdPrefix = (): number => prefix;
