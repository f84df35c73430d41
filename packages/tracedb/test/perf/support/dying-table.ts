// A table whose user dies at one of its writes, as a process does that is killed: the write before it is done, none after it is.
import type { WideColumnTable } from '../../../src/table/wide-column-table.js';

const WRITES = new Set<string | symbol>(['mutateRows', 'checkAndMutateRow', 'incrementCell']);

/** `table` until `isLast` says of a write (its name and its arguments) that the user dies before it. */
export const dyingTable = (
  table: WideColumnTable,
  isLast: (name: string, args: readonly unknown[]) => boolean,
): WideColumnTable => {
  let isDead = false;
  return new Proxy(table, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (isDead || (WRITES.has(name) && isLast(String(name), args))) {
          isDead = true;
          throw new Error('died');
        }
        return value.apply(target, args) as unknown;
      };
    },
  });
};

/** `table` until its user has written `count` times. */
export const dyingAfter = (table: WideColumnTable, count: number): WideColumnTable => {
  let written = 0;
  return dyingTable(table, () => written++ >= count);
};

/** `table`, and what was written through it: the keys of each call, in order. */
export const recordingWrites = (
  table: WideColumnTable,
): { readonly table: WideColumnTable; readonly calls: string[][] } => {
  const calls: string[][] = [];
  const recording = dyingTable(table, (name, args) => {
    const keys =
      name === 'mutateRows' ? (args[0] as readonly { readonly key: string }[]).map(({ key }) => key) : [args[0]];
    calls.push(keys as string[]);
    return false;
  });
  return { table: recording, calls };
};
