// Set up before each unit test file: files of one worker share its modules and globals, so a file that leaves something behind fails here, and
// not whichever file happens to come next.
import { afterAll, afterEach, expect } from 'vitest';
import { Span } from '../../src/index.js';

const listeners = (): Record<string, number> =>
  Object.fromEntries(process.eventNames().map((name) => [String(name), process.listenerCount(name)]));

/** Values of globals; what Node makes when it is first asked for is not a value yet. */
const globals = (): Map<PropertyKey, unknown> => {
  const found = new Map<PropertyKey, unknown>();
  for (const key of Reflect.ownKeys(globalThis)) {
    const value: unknown = Reflect.getOwnPropertyDescriptor(globalThis, key)?.value;
    if (value !== undefined) found.set(key, value);
  }
  return found;
};

/** What a test may change and must put back. Functions are compared by identity. */
const state = () => ({
  environment: { ...process.env },
  directory: process.cwd(),
  exitCode: process.exitCode,
  clocks: [Date.now, performance.now, process.hrtime, process.hrtime.bigint],
  listeners: listeners(),
});

const NONE_CURRENT =
  'a unit test must leave no span current: what comes after it in the same context begins inside of it';
afterEach(() => expect(Span.current(), NONE_CURRENT).toBeUndefined());

/** Of the table of names of the thread, which all files of a worker share and which has an end. */
const MAX_NEW_NAMES = 500;
// Built files have no such module of their own.
const shared =
  process.env.SPANLINE_TEST_BUILT === undefined ? await import('../../src/context/process-state.js') : undefined;
const namesNow = (): number => shared?.state.names.texts.length ?? 0;
const namesBefore = namesNow();

const before = state();
const globalsBefore = globals();
afterAll(() => {
  const after = state();
  for (const part of Object.keys(before) as (keyof typeof before)[]) {
    expect(after[part], `a unit test must leave ${part} as it was, or its file must end in .process.test.ts`).toEqual(
      before[part],
    );
  }
  const globalsAfter = globals();
  const replaced = [...globalsBefore]
    .filter(([key, value]) => !Object.is(globalsAfter.get(key), value))
    .map(([key]) => key);
  expect(replaced, 'a unit test must leave globals as they were, or its file must end in .process.test.ts').toEqual([]);
  expect(
    namesNow() - namesBefore,
    'a unit test that gives spans or properties so many names must call useOwnNames() (test/support/names.ts)',
  ).toBeLessThan(MAX_NEW_NAMES);
});
