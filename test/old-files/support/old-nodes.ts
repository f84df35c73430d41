// What the graph files of test/fixtures/old-files hold: a history in which node n follows nodes n-1 and, every third, n-7. Written
// out by a rule, in no code of src/.

/** A node as it was added. */
export interface OldNode {
  readonly graph: number;
  readonly key: string;
  readonly value: string;
  /** Keys, by list. */
  readonly references: readonly (readonly string[])[];
}

const NODES = 300;

/** 16 bytes that name a group of eight, then the number. */
export const keyOf = (n: number): string => `group-${String(n >> 3).padStart(9, '0')}|${String(n).padStart(5, '0')}`;

/** Graph 0 has two lists and values, graph 1 one list over some of the same keys, and ghosts. */
export const OLD_NODES: readonly OldNode[] = Array.from({ length: NODES }, (_, n): OldNode[] => {
  const parents = n === 0 ? [] : n % 3 === 0 && n > 7 ? [keyOf(n - 1), keyOf(n - 7)] : [keyOf(n - 1)];
  const zero = {
    graph: 0,
    key: keyOf(n),
    value: `value ${n * n}`,
    references: [parents, n > 0 && n % 5 === 0 ? [keyOf(0)] : []],
  };
  const one = { graph: 1, key: keyOf(n), value: '', references: [[keyOf(n + 1000)]] };
  return n % 50 === 49 ? [zero, one] : [zero];
}).flat();

/** Keys that graph 1 refers to and does not have. */
export const OLD_GHOSTS: readonly string[] = [49, 99, 149, 199, 249, 299].map((n) => keyOf(n + 1000));
