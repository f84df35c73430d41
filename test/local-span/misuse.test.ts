// What development mode says of local spans closed out of order: the place of the user's call, once each, for a bounded number of places; and
// nothing of it is felt by the program.
import { runInThisContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { state } from '../../src/context/process-state.js';
import { LocalSpan } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const { development } = state;
const { emitWarning } = process;
const { prepareStackTrace } = Error;
let said: string[] = [];
beforeEach(() => {
  state.development = true;
  said = [];
  process.emitWarning = ((message: string) => void said.push(message)) as typeof process.emitWarning;
});
afterEach(() => {
  state.development = development;
  process.emitWarning = emitWarning;
  Error.prepareStackTrace = prepareStackTrace;
});

/** Two local spans in a run, the outer one closed first, by `close`. */
const misuse = (close: (outer: LocalSpan) => void): void => {
  const span = recorder().root('root');
  span.run(() => {
    const [outer, inner] = [LocalSpan.start('outer'), LocalSpan.start('inner')];
    close(outer);
    inner.end();
  });
  span.end();
};

const places = (): (string | undefined)[] => said.map((text) => /out of order at (\w+) \(/.exec(text)?.[1]);
const closesHere = (outer: LocalSpan): void => outer.end();
const closesByBuiltIn = (outer: LocalSpan): void => [0].forEach(outer.end, outer);
const closesByDispose = (outer: LocalSpan): void => outer[Symbol.dispose]();

// In this order: what one has said, another does not say again, and the last says all that may be said.
describe('closed out of order', { shuffle: false }, () => {
  test('outside development mode nothing is said', () => {
    state.development = false;
    misuse(closesHere);
    expect(said).toEqual([]);
  });

  test('the call of the program is named, once, whatever stands between', () => {
    for (let i = 0; i < 3; i++) for (const close of [closesHere, closesByBuiltIn, closesByDispose]) misuse(close);
    expect(places()).toEqual(['closesHere', 'closesByBuiltIn', 'closesByDispose']);
    for (const text of said) expect(text).toContain('misuse.test.ts');
  });

  test('a program with stack traces of its own, or warnings that throw, feels nothing', async () => {
    const throwing = (): never => {
      throw new Error('of the program');
    };
    const changes = await counted(() => {
      Error.prepareStackTrace = (_, sites) => sites;
      misuse((outer) => outer.end());
      Error.prepareStackTrace = throwing;
      misuse((outer) => outer.end());
      Error.prepareStackTrace = prepareStackTrace;
      process.emitWarning = throwing;
      misuse((outer) => outer.end());
    });
    expect(changes).toMatchObject({ localSpansClosedOutOfOrder: 3 });
    expect(changes).not.toHaveProperty('localSpansLeftOpen');
  });

  test('of very many places a few hundred are said', () => {
    for (let i = 0; i < 400; i++) {
      misuse(runInThisContext('(outer) => outer.end()', { filename: `/app/generated-${i}.js` }) as typeof closesHere);
    }
    expect(said.length).toBeGreaterThan(200);
    expect(said.length).toBeLessThanOrEqual(256);
    expect(said[0]).toContain('/app/generated-0.js:1:');
  });
});
