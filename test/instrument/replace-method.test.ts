// A method that is replaced is as it was once that is taken back, also for a program that has put something of its own around ours meanwhile, or has kept it.
import { expect, test } from 'vitest';
import { stats } from '../../src/index.js';
import {
  KnownClasses,
  type Method,
  onReturn,
  type Prototype,
  replaceMethod,
  SeenClasses,
} from '../../src/instrument/replace-method.js';

const traced =
  (calls: unknown[], name: string) =>
  (method: Method): Method =>
    function (this: unknown, ...args) {
      calls.push(name);
      return Reflect.apply(method, this, args);
    };

const library = (): Prototype => ({
  ask(...args) {
    return [this, ...args];
  },
});

test('it looks as it did, and gives what it gave', () => {
  const calls: unknown[] = [];
  const prototype = library();
  const { ask } = prototype;
  const off = replaceMethod(prototype, 'ask', traced(calls, 'ours'));
  expect([prototype.ask.name, prototype.ask.length]).toEqual([ask.name, ask.length]);
  expect(prototype.ask(1, 2)).toEqual([prototype, 1, 2]);
  off();
  expect(prototype.ask).toBe(ask);
  expect(calls).toEqual(['ours']);
});

test('taken back below what a program has put around it, it does nothing, and once where it is put there again', () => {
  const calls: unknown[] = [];
  const prototype = library();
  const off = replaceMethod(prototype, 'ask', traced(calls, 'first'));
  const kept = prototype.ask;
  const own = traced(calls, 'program')(kept);
  prototype.ask = own;
  off();
  expect(prototype.ask).toBe(own);
  expect(prototype.ask(1)).toEqual([prototype, 1]);
  Reflect.apply(kept, undefined, []);
  expect(calls.splice(0)).toEqual(['program']);
  const offAgain = replaceMethod(prototype, 'ask', traced(calls, 'second'));
  prototype.ask();
  expect(calls.splice(0)).toEqual(['second', 'program']);
  offAgain();
  prototype.ask();
  expect(calls).toEqual(['program']);
});

test('a method that is inherited is so again', () => {
  const inner = library();
  const prototype = Object.create(inner) as Prototype;
  const off = replaceMethod(prototype, 'ask', traced([], 'ours'));
  expect(prototype.ask(1)).toEqual([prototype, 1]);
  off();
  expect(Object.keys(prototype)).toEqual([]);
});

test('one that is inherited is listed as it was', () => {
  class Inner {
    ask(): number {
      return 1;
    }
  }
  const outer = Object.create(Inner.prototype) as Prototype;
  const off = replaceMethod(outer, 'ask', traced([], 'ours'));
  expect(Object.hasOwn(outer, 'ask')).toBe(true);
  const listed: string[] = [];
  for (const name in outer) listed.push(name);
  expect(listed).toEqual([]);
  off();
  expect(Reflect.ownKeys(outer)).toEqual([]);
});

test('what is frozen stays as it is, and what is frozen later does nothing once it is taken back', () => {
  const calls: unknown[] = [];
  const frozen = Object.freeze(library());
  const getter = Object.defineProperty({}, 'ask', { get: () => frozen.ask, configurable: true }) as Prototype;
  const inherited = Object.preventExtensions(Object.create(library())) as Prototype;
  const before = stats().instrumentationErrors;
  for (const prototype of [frozen, getter, inherited]) {
    const { ask } = prototype;
    const off = replaceMethod(prototype, 'ask', traced(calls, 'ours'));
    expect(prototype.ask).toBe(ask);
    off();
  }
  expect(stats().instrumentationErrors - before).toBe(3);
  const later = library();
  const off = replaceMethod(later, 'ask', traced(calls, 'ours'));
  Object.freeze(later);
  off();
  expect(later.ask(1)).toEqual([later, 1]);
  expect(calls).toEqual([]);
});

test('a constructor that gives an object still is one', () => {
  const made: unknown[] = [];
  const module = { Server: () => ({}) };
  module.Server = () => ({ name: 'server' });
  const off = onReturn(module, 'Server', (server) => void made.push(server));
  const Server = module.Server as unknown as new () => object;
  expect([new Server()]).toEqual(made);
  off();
});

test('a class whose object comes only when all is taken back stays as it is', () => {
  const calls: unknown[] = [];
  const prototype = library();
  const classes = new SeenClasses();
  classes.off();
  classes.replace(prototype, 'ask', traced(calls, 'ours'));
  prototype.ask();
  expect(calls).toEqual([]);
});

test('a class that was seen is patched anew by who comes next, once', () => {
  const calls: unknown[] = [];
  const [first, second] = [library(), library()];
  const known = new KnownClasses();
  const patched = (name: string) => known.patch((prototype) => replaceMethod(prototype, 'ask', traced(calls, name)));
  const before = patched('before');
  before.see(first);
  before.see(first);
  before.off();
  // Of what was asked for before.
  before.see(second);
  first.ask();
  second.ask();
  expect(calls.splice(0)).toEqual([]);
  const after = patched('after');
  after.see(first);
  first.ask();
  second.ask();
  expect(calls.splice(0)).toEqual(['after', 'after']);
  after.off();
  first.ask();
  expect(calls).toEqual([]);
});
