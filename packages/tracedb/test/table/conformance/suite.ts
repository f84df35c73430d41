// What the parts of the conformance suite share: tables that are closed after each test, and results as lines of text.
import { afterEach, expect } from 'vitest';
import { openTable } from '../../../src/table/open-table.js';
import type {
  Mutation,
  ReadOptions,
  Row,
  RowMutation,
  RowSelection,
  WideColumnTable,
} from '../../../src/table/wide-column-table.js';

/** An engine under test. */
export interface Engine {
  readonly name: WideColumnTable['engine'];
  /** A location of a table that no one used before. */
  newLocation(): string;
}

/** Opens tables for one part of the suite. */
export interface Tables {
  /** A table; a new one unless `location` names one. */
  open(families?: readonly string[], location?: string): Promise<WideColumnTable>;
  readonly engine: Engine;
}

/** Tables that are closed after each test, which must have left no read open. */
export const tablesOf = (engine: Engine): Tables => {
  const opened: WideColumnTable[] = [];
  afterEach(async () => {
    const tables = opened.splice(0);
    const openReads = tables.map((table) => table.stats().openReads);
    await Promise.all(tables.map((table) => table.close()));
    expect(openReads, 'reads left open').toEqual(tables.map(() => 0));
  });
  return {
    engine,
    async open(families = ['V', 'S'], location = engine.newLocation()) {
      const table = await openTable(location, { families });
      opened.push(table);
      return table;
    },
  };
};

/** A mutation that sets a cell; text is its UTF-8. */
export const set = (qualifier: string, value: string | Uint8Array, timestampMs = 1, family = 'V'): Mutation => ({
  type: 'set',
  family,
  qualifier,
  value: typeof value === 'string' ? Buffer.from(value) : value,
  timestampMs,
});

export const deleteCell = (qualifier: string, family = 'V'): Mutation => ({ type: 'delete-cell', family, qualifier });

export const deleteRow: Mutation = { type: 'delete-row' };

/** The change of a conditional write that happens when its condition holds. */
export const thenDo = (...then: Mutation[]): { readonly then: readonly Mutation[] } => ({ then });

export const row = (key: string, ...mutations: Mutation[]): RowMutation => ({ key, mutations });

/** Rows with one cell each, whose value is the key. */
export const plainRows = (keys: readonly string[]): RowMutation[] => keys.map((key) => row(key, set('c', key)));

/** Keys `0000`, `0001`, ... in order. */
export const numbered = (count: number): string[] =>
  Array.from({ length: count }, (_, i) => String(i).padStart(5, '0'));

/** A key for messages: long ones would hide what differs. */
export const brief = (key: string): string =>
  key.length <= 40 ? key : `${key.slice(0, 10)}...${key.slice(-10)} (${key.length})`;

const PRINTABLE = /^[\x20-\x7e]+$/;

const valueText = (value: Uint8Array): string => {
  const text = Buffer.from(value).toString('latin1');
  return PRINTABLE.test(text) ? text : `0x${Buffer.from(value).toString('hex')}`;
};

/** A row as one line: `key V:c=value@timestamp S:d=...`. */
export const rowText = ({ key, cells }: Row): string =>
  [
    key,
    ...cells.map(
      ({ family, qualifier, value, timestampMs }) => `${family}:${qualifier}=${valueText(value)}@${timestampMs}`,
    ),
  ].join(' ');

/** All items of a read. */
export const all = async <T>(batches: AsyncIterable<readonly T[]>): Promise<T[]> => {
  const items: T[] = [];
  for await (const batch of batches) {
    expect(batch.length, 'an empty batch').toBeGreaterThan(0);
    items.push(...batch);
  }
  return items;
};

/** The rows of a read as lines. */
export const lines = async (
  table: WideColumnTable,
  selection: RowSelection = { prefix: '' },
  options?: ReadOptions,
): Promise<string[]> => (await all(table.readRows(selection, options))).map(rowText);

/** The keys of a read of rows, which must be those of a read of keys. */
export const keys = async (
  table: WideColumnTable,
  selection: RowSelection = { prefix: '' },
  options?: ReadOptions,
): Promise<string[]> => {
  const found = (await all(table.readRows(selection, options))).map(({ key }) => key);
  expect(await all(table.readKeys(selection, options)), 'readKeys').toEqual(found);
  return found;
};

/** `promise` must reject with this code, and with a message that matches. */
export const rejects = async (promise: Promise<unknown>, code: string, message = /./): Promise<void> => {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toMatchObject({ name: 'TraceDbError', code });
  expect((error as Error).message).toMatch(message);
};

/** The order of keys as the interface promises it. */
export const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
