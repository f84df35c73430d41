// Somebody who reads frames in native code is found among the modules that are loaded, said once, and heeded before the first span.
import { createRequire } from 'node:module';
import { afterEach, expect, test } from 'vitest';
import { FrameStore, frameReader } from '../../src/context/frame-store.js';

const { cache } = createRequire(import.meta.url);
const { emitWarning } = process;
const loaded: string[] = [];
/** As if `path` had been loaded. */
const load = (path: string): void => {
  cache[path] = {} as NodeJS.Module;
  loaded.push(path);
};
afterEach(() => {
  for (const path of loaded.splice(0)) delete cache[path];
  process.emitWarning = emitWarning;
});

test.each([
  ['/app/node_modules/@datadog/pprof/dist/src/index.js', '@datadog/pprof'],
  ['C:\\app\\node_modules\\@datadog\\pprof\\dist\\src\\index.js', '@datadog/pprof'],
  ['/app/node_modules/@datadog/pprof-format/index.js', undefined],
  ['/app/src/datadog/pprof/index.js', undefined],
])('%s', (path, reader) => {
  expect(frameReader()).toBeUndefined();
  load(path);
  expect(frameReader()).toBe(reader);
});

let copies = 0;
/** A store of a copy of its module that has decided nothing yet. */
const undecided = async (): Promise<FrameStore<unknown>> => {
  const path = `../../src/context/frame-store.js?undecided=${copies++}`;
  const copy = (await import(path)) as { FrameStore: typeof FrameStore };
  return new copy.FrameStore();
};
const usesFrames = new FrameStore().info.way === 'frames';

test.runIf(usesFrames)('where one is loaded spans go by AsyncLocalStorage, and that is said once', async () => {
  load('/app/node_modules/@datadog/pprof/index.js');
  const said: unknown[] = [];
  process.emitWarning = ((...given: unknown[]) => void said.push(given)) as typeof process.emitWarning;
  const store = await undecided();
  const plain = { way: 'als', reason: '@datadog/pprof reads frames in native code' };
  expect([store.info, store.info]).toEqual([plain, plain]);
  store.heedReaders();
  const code = 'SPANLINE_CONTEXT_READER';
  expect(said).toEqual([[expect.stringContaining('@datadog/pprof'), { type: 'SpanlineWarning', code }]]);
  expect(store.run('x', () => [store.getStore(), store.frame])).toEqual(['x', undefined]);
});

test.runIf(usesFrames)('a program whose warnings throw feels nothing of it', async () => {
  load('/app/node_modules/@datadog/pprof/index.js');
  process.emitWarning = () => {
    throw new Error('of the program');
  };
  const store = await undecided();
  expect(store.run('x', () => store.getStore())).toBe('x');
  expect(store.info.way).toBe('als');
});
