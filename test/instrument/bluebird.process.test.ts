// What waits for a promise of bluebird goes on in its own context, whoever settles the promise.
import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { instrument } from '../../src/instrument/index.js';
import { library } from './libraries.js';
import { ALL_OFF, contextsOf, instrumentOnly, type Job } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

/** Promises that another settles: `settle` at once, all that are there. */
const settledByAnother = (bluebird: Untyped) => {
  const waiting: ((value: unknown) => void)[] = [];
  const settling = setInterval(() => {
    Span.root('settling').run(() => {
      for (const settle of waiting.splice(0)) settle(1);
    });
  }, 1);
  const later = (): Untyped => new bluebird((resolve: (value: unknown) => void) => waiting.push(resolve));
  return { later, stop: () => clearInterval(settling) };
};

const jobs: Readonly<Record<string, (bluebird: Untyped, later: () => Untyped) => Job>> = {
  'a listener': (_, later) => (note, done) => later().then(() => note('called', done)),
  finally: (_, later) => (note, done) => later().finally(() => note('called', done)),
  map: (bluebird, later) => (note, done) => bluebird.map([later(), later()], () => note('called')).then(done),
  mapSeries: (bluebird, later) => (note, done) => bluebird.mapSeries([later()], () => note('called', done)),
  join: (bluebird, later) => (note, done) => bluebird.join(later(), later(), () => note('called', done)),
  asCallback: (_, later) => (note, done) => later().asCallback(() => note('called', done)),
  'a function that is promisified': (bluebird, later) => (note, done) =>
    bluebird
      .promisify((callback: (error: null) => void) => later().then(() => callback(null)))()
      .then(() => note('called', done)),
  coroutine: (bluebird, later) => (note, done) =>
    bluebird.coroutine(function* (): Generator {
      yield later();
      yield later();
      note('called', done);
    })(),
};

test.each(Object.keys(jobs))('%s', async (name) => {
  instrumentOnly({ bluebird: true });
  for (const bluebird of [library('bluebird'), library('bluebird').getNewLibraryCopy()]) {
    const { later, stop } = settledByAnother(bluebird);
    const seen = await contextsOf(jobs[name](bluebird, later));
    stop();
    expect(seen).toEqual(['called: own']);
  }
});

test('taken back, and off, it is as it was', async () => {
  const bluebird = library('bluebird');
  const { coroutine } = bluebird;
  const store = new AsyncLocalStorage<string>();
  let settle: (value: unknown) => void = () => {};
  const promise = new bluebird((resolve: (value: unknown) => void) => {
    settle = resolve;
  });
  const seen = store.run('asked', () => promise.then(() => store.getStore()));
  store.run('settled', () => settle(1));
  expect(await seen).toBe('settled');
  instrumentOnly({ bluebird: true });
  expect(bluebird.coroutine).not.toBe(coroutine);
});

test('a program that keeps contexts itself does so when it is off again', async () => {
  const keepsContexts = async (bluebird: Untyped): Promise<boolean> => {
    const store = new AsyncLocalStorage<boolean>();
    let settle: (value?: unknown) => void = () => {};
    const promise = new bluebird((resolve: (value: unknown) => void) => {
      settle = resolve;
    });
    const seen = store.run(true, () => promise.then(() => store.getStore()));
    store.run(false, settle);
    return (await seen) as boolean;
  };
  const bluebird = library('bluebird');
  const seen: boolean[] = [];
  for (const when of ['before', 'meanwhile', 'never']) {
    if (when === 'before') bluebird.config({ asyncHooks: true });
    const ours = instrument({ ...ALL_OFF, bluebird: true });
    bluebird.config({ warnings: false });
    if (when === 'meanwhile') bluebird.config({ asyncHooks: true });
    seen.push(await keepsContexts(bluebird));
    ours.disable();
    seen.push(await keepsContexts(bluebird));
    bluebird.config({ asyncHooks: false });
  }
  expect(seen).toEqual([true, true, true, true, true, false]);
});
