// How often a test tries what chance decides: all of its rounds on the first line of Node, a third on the lines after it, which run the same
// code over the same random numbers. No test may be left without a round.

/** 1, and 3 with SPANLINE_ROUNDS=third: of places that a test goes through, it looks at one in so many. */
export const stride = process.env.SPANLINE_ROUNDS === 'third' ? 3 : 1;

/** `all`, or a third of it, rounded up. */
export const rounds = (all: number): number => Math.ceil(all / stride);

/** All of a list, or every third of it, from the first on. */
export const someOf = <T>(all: readonly T[]): T[] => all.filter((_, i) => i % stride === 0);
