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

/** A query that begins when `then` of it is called, as those of knex. */
const query = (begun: () => void): object => ({
  // biome-ignore lint/suspicious/noThenProperty: this is what it is about.
  then(resolve: (value: number) => void) {
    begun();
    resolve(1);
  },
});

type Returning = (bluebird: Untyped, later: () => Untyped, lazy: () => object) => Untyped;
const returning: Readonly<Record<string, Returning>> = {
  'then alone': (_, later, lazy) => later().then(lazy),
  'then of what was settled': (bluebird, later, lazy) => later().then(() => bluebird.resolve(1).then(lazy)),
  catch: (bluebird, later, lazy) => later().then(() => bluebird.reject(new Error('on purpose')).catch(lazy)),
  'a catch with a class': (bluebird, later, lazy) =>
    later().then(() => bluebird.reject(new TypeError('on purpose')).catch(TypeError, lazy)),
  bind: (_, later, lazy) => later().bind({}).then(lazy),
  tap: (_, later, lazy) => later().tap(lazy),
  finally: (_, later, lazy) => later().finally(lazy),
  spread: (bluebird, later, lazy) => bluebird.all([later(), later()]).spread(lazy),
  call: (_, later, lazy) =>
    later()
      .then(() => ({ lazy }))
      .call('lazy'),
  map: (bluebird, later, lazy) => bluebird.map([later()], lazy),
  filter: (bluebird, later, lazy) => bluebird.filter([later()], lazy),
  each: (bluebird, later, lazy) => bluebird.each([later()], lazy),
  mapSeries: (bluebird, later, lazy) => bluebird.mapSeries([later()], lazy),
  reduce: (bluebird, later, lazy) => bluebird.reduce([later(), later()], lazy),
  join: (bluebird, later, lazy) => bluebird.join(later(), later(), lazy),
  using: (bluebird, later, lazy) =>
    bluebird.using(
      later().disposer(() => {}),
      lazy,
    ),
  method: (bluebird, later, lazy) => later().then(() => bluebird.method(lazy)()),
  coroutine: (bluebird, later, lazy) =>
    bluebird.coroutine(function* (): Generator {
      yield later();
      yield lazy();
    })(),
};

test.each(Object.keys(returning))('a query that is begun by what a callback of %s returns', async (name) => {
  instrumentOnly({ bluebird: true });
  for (const bluebird of [library('bluebird'), library('bluebird').getNewLibraryCopy()]) {
    const { later, stop } = settledByAnother(bluebird);
    const seen = await contextsOf((note, done) =>
      returning[name](bluebird, later, () => query(() => note('begun'))).then(done),
    );
    stop();
    expect(new Set(seen)).toEqual(new Set(['begun: own']));
  }
});

test('what bluebird knows by identity, and answers that are not queries, are as they were', async () => {
  instrumentOnly({ bluebird: true });
  const bluebird = library('bluebird').getNewLibraryCopy();
  bluebird.config({ cancellation: true, warnings: false });
  const promise = new bluebird(() => {});
  const reflected = promise.reflect();
  promise.cancel();
  expect((await reflected).isCancelled()).toBe(true);
  // biome-ignore lint/suspicious/noThenProperty: this is what it is about.
  const noQueries = [{ then: 5 }, () => 1, null, 'text'];
  for (const value of noQueries) expect(await bluebird.resolve(1).then(() => value)).toBe(value);
  const broken = {
    // biome-ignore lint/suspicious/noThenProperty: this is what it is about.
    get then(): never {
      throw new Error('on purpose');
    },
  };
  await expect(bluebird.resolve(1).then(() => broken)).rejects.toThrow('on purpose');
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
