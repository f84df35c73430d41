// The exact distribution of Mann-Whitney's U under chance: all ways to deal some of the given values are equally likely. It must never
// be asked for more steps than the caller has counted.

/** What {@link lowerTail} costs at most, in additions. */
export const countingSteps = (groups: readonly number[], dealt: number, doubledU: number): number =>
  groups.reduce((sum, group) => sum + Math.min(group, dealt) + 1, 0) * (dealt + 1) * (doubledU + 1);

const logFactorials = (largest: number): Float64Array => {
  const table = new Float64Array(largest + 1);
  for (let i = 2; i <= largest; i++) table[i] = table[i - 1] + Math.log(i);
  return table;
};

/**
 * P(2U <= doubledU) and P(2U = doubledU) when `dealt` of the values are taken at random, where U counts the pairs in which a taken value
 * is larger than one left (ties one half). `groups` are the sizes of the groups of equal values in rising order.
 */
export const lowerTail = (
  groups: readonly number[],
  dealt: number,
  doubledU: number,
): { readonly atMost: number; readonly exactly: number } => {
  const total = groups.reduce((sum, group) => sum + group, 0);
  const logs = logFactorials(total);
  const logWays = (from: number, take: number): number => logs[from] - logs[take] - logs[from - take];
  // chance[k][s]: that k of the values seen so far are taken and their pairs so far make 2U = s.
  const chance = Array.from({ length: dealt + 1 }, () => new Float64Array(doubledU + 1));
  chance[0][0] = 1;
  let seen = 0;
  for (const group of groups) {
    const rest = total - seen;
    // Each value that is left makes a pair with every one taken later: beyond so many left, none can be taken within doubledU.
    const fewestTaken = Math.max(0, seen - Math.floor(doubledU / 2));
    // Downwards, so that a row is read before anything of this group is added to it. The row of all that are dealt stays as it is.
    for (let taken = Math.min(dealt - 1, seen); taken >= fewestTaken; taken--) {
      const row = chance[taken];
      const missing = dealt - taken;
      // Where too few values are left to take, nothing is, and no later group reads the row.
      const fewest = Math.max(0, missing - (rest - group));
      for (let take = Math.min(group, missing); take >= fewest; take--) {
        const pairs = take * (2 * (seen - taken) + group - take);
        if (pairs > doubledU) continue;
        const p = Math.exp(logWays(group, take) + logWays(rest - group, missing - take) - logWays(rest, missing));
        if (take === 0) {
          for (let s = 0; s <= doubledU; s++) row[s] *= p;
          continue;
        }
        const target = chance[taken + take];
        for (let s = doubledU; s >= pairs; s--) target[s] += p * row[s - pairs];
      }
    }
    seen += group;
  }
  const last = chance[dealt];
  return { atMost: last.reduce((sum, p) => sum + p, 0), exactly: last[doubledU] };
};
