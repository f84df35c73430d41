// Regular expressions that users send: matched in time linear in the text (RE2's algorithm), compiled to a program of bounded size.
// No pattern may reach the engine before its size is bounded, nor the engine of JavaScript ever.
import { orThrow } from 'spanline/internal/base';
import { checkWellFormed, quoted } from '../params/param-text.js';
import { invalidInput } from '../tracedb-error.js';

/** UTF-16 code units of a pattern. */
const MAX_PATTERN_LENGTH = 1000;
/** Instructions of a compiled pattern, about one for each character it can match in turn; matching costs this much a character. */
export const MAX_PROGRAM_SIZE = 1024;

// Instructions the engine may make of a pattern before their number is known; it makes these in about 0.1 s and 30 MB.
const MAX_ESTIMATE = 100_000;
// The engine refuses repetitions inside each other that multiply to more.
const MAX_REPEAT = 1000;
const COUNTED = /\{(\d+)(?:,(\d*))?\}/g;

/** A compiled pattern. */
export interface LinearRegex {
  readonly pattern: string;
  /** Its instructions; a test takes at most so many steps for each character. */
  readonly programSize: number;
  /** Whether the pattern is found anywhere in `text`. */
  test(text: string): boolean;
}

/** More than the engine can make of it: as if all counted repetitions stood around the whole pattern. */
const estimate = (pattern: string): number => {
  let repeat = 1;
  for (const [, min, max] of pattern.matchAll(COUNTED)) {
    repeat = Math.min(MAX_REPEAT, repeat * Math.max(1, Number(min), Number(max ?? 0)));
  }
  return repeat * pattern.length;
};

const tooLarge = (pattern: string, why: string): Error =>
  invalidInput(`regular expression ${quoted(pattern)} ${why}; use a shorter one, or several values`);

/**
 * Throws `ERR_SPANLINE_INVALID_INPUT` for a pattern that is too large whatever it means, without loading the engine; an empty one,
 * which is found in every value, is refused as a slip.
 */
export const checkPattern = (pattern: string): void => {
  if (pattern === '') throw invalidInput('a regular expression of a query is empty; write key=* for any value');
  if (pattern.length > MAX_PATTERN_LENGTH) {
    throw tooLarge(pattern, `has ${pattern.length} characters, and the limit is ${MAX_PATTERN_LENGTH}`);
  }
  checkWellFormed('regular expression', pattern);
  if (estimate(pattern) > MAX_ESTIMATE) throw tooLarge(pattern, 'repeats too much by {n}');
};

/**
 * The compiled pattern, in RE2's syntax (no backreferences and no look-around); loads the package `re2js` when first used. Rejects with
 * `ERR_SPANLINE_INVALID_INPUT` for a malformed or too large pattern.
 */
export const compileRegex = async (pattern: string): Promise<LinearRegex> => {
  checkPattern(pattern);
  const { RE2JS } = await import('re2js');
  const regex = orThrow(
    () => RE2JS.compile(pattern),
    (cause) =>
      invalidInput(`regular expression ${quoted(pattern)}: ${cause.message}; use the syntax of RE2`, { cause }),
  );
  const programSize = regex.programSize();
  if (programSize > MAX_PROGRAM_SIZE) {
    throw tooLarge(pattern, `has ${programSize} instructions when compiled, and the limit is ${MAX_PROGRAM_SIZE}`);
  }
  return { pattern, programSize, test: (text) => regex.test(text) };
};
