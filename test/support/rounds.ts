// How often a test tries what chance decides: all of its rounds, or in CI, which goes through several lines of Node, a third on each. No test may be
// left without a round.

/** 1, and 3 with SPANLINE_ROUNDS=third: of places that a test goes through, it looks at one in so many. */
export const stride = process.env.SPANLINE_ROUNDS === 'third' ? 3 : 1;

/** `all`, or a third of it, rounded up. */
export const rounds = (all: number): number => Math.ceil(all / stride);

/** Lines of Node that follow each other take other thirds. */
const offset = Number.parseInt(process.versions.node, 10) % stride;

/** All of a list, or every third of it. */
export const someOf = <T>(all: readonly T[]): T[] => {
  const first = Math.min(offset, all.length - 1);
  return all.filter((_, i) => i >= first && (i - first) % stride === 0);
};
