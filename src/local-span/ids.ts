// Random words and span ids. Ids stay numbers until export; this file must never format one.
// One call into the random source costs about 2 us whatever its size; 4 KiB at a time makes a word cost nanoseconds.
const POOL_WORDS = 1024;
// Signed, because V8 keeps a 32-bit integer in place and boxes anything larger. Made unsigned when formatted.
const pool = new Int32Array(POOL_WORDS);
let used = POOL_WORDS;

/** A random signed 32-bit word. */
export const randomWord = (): number => {
  if (used === POOL_WORDS) {
    // Loaded at the first id, not with the library: it is half of the time an import takes.
    process.getBuiltinModule('node:crypto').randomFillSync(pool);
    used = 0;
  }
  return pool[used++];
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
