// A method that is replaced is as it was once that is taken back, also for a program that has put something of its own around ours meanwhile, or has kept it.
import { expect, test } from 'vitest';
import {
  type Method,
  type Prototype,
  replaceMethod,
  SeenClasses,
  seeMade,
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

test('a constructor that gives an object still is one', () => {
  const made: unknown[] = [];
  const module = { Server: () => ({}) };
  module.Server = () => ({ name: 'server' });
  const off = seeMade(module, 'Server', (server) => made.push(server));
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
