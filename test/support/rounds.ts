// How often a test tries what chance decides: all of its rounds, or a third of them in `npm test`.
import { suite } from './samples.js';

/** 1, and 3 in the quick suite: of places that a test goes through, it looks at one in so many. */
export const stride = suite === 'quick' ? 3 : 1;

/** `all`, or a third of it, rounded up. */
export const rounds = (all: number): number => Math.ceil(all / stride);

/** All of a list, or every third of it. */
export const someOf = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % stride === 0);
