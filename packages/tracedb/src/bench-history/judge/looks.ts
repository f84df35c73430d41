// When a gate looks at its rounds, and how much of its declared rate of false alarms a look may spend. Who looks ten times at 5 % is wrong far
// more often than in 5 %: all looks together must never spend more than was declared, however many there are.

/** Rounds before the first look: the fewest whose signs alone can speak at 5 %, with one to spare. */
export const FIRST_LOOK = 6;

const GROWTH = 1.35;

/** The number of rounds at the look after the one at `rounds`. */
export const nextLook = (rounds: number): number => (rounds < FIRST_LOOK ? FIRST_LOOK : Math.ceil(rounds * GROWTH));

/** What the `look`th look, from 1 on, may spend: alpha / 2, / 6, / 12, ..., which add up to alpha over looks without end. */
export const levelOfLook = (alpha: number, look: number): number => alpha / (look * (look + 1));

/**
 * Which of several p-values are significant when the chance of any false one is to stay at most `level` (Holm 1979): the smallest is asked for
 * level / m, the next for level / (m - 1), until one is not.
 */
export const holm = (pValues: readonly number[], level: number): readonly boolean[] => {
  const order = pValues.map((_, i) => i).sort((a, b) => pValues[a] - pValues[b]);
  const significant = pValues.map(() => false);
  for (const [i, index] of order.entries()) {
    if (pValues[index] > level / (pValues.length - i)) break;
    significant[index] = true;
  }
  return significant;
};
