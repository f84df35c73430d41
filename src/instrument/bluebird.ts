// Promises of bluebird, which call back in the context of the settler: here in that of the caller, as promises of JavaScript do. bluebird does so
// itself where it is asked to, but for coroutines. Must make no span. What is changed is every context's, a program's own `AsyncLocalStorage` too.
import { AsyncResource } from 'node:async_hooks';
import { allOff, type Off, quiet } from './channel.js';
import { onModule } from './on-module.js';
import { type Method, type Prototype, replaceMethod, seeMade } from './replace-method.js';

interface Bluebird {
  config(options: { readonly asyncHooks: boolean }): unknown;
  /** Another function where it keeps contexts. */
  readonly _getContext?: unknown;
}
type Steps = Record<'next' | 'throw' | 'return', Method>;

/** A generator whose steps run in the context in which it was made. */
const keepContext = quiet((generator: Steps): void => {
  const resource = new AsyncResource('spanline.coroutine');
  for (const name of ['next', 'throw', 'return'] as const) {
    const step = generator[name];
    generator[name] = (...args) => resource.runInAsyncScope(step, generator, ...args);
  }
});

/** bluebird drives a coroutine from the promises that it waits for. */
const keepCoroutine = (coroutine: Method): Method =>
  function (this: unknown, generatorFunction, ...rest) {
    if (typeof generatorFunction !== 'function') return Reflect.apply(coroutine, this, [generatorFunction, ...rest]);
    const kept = function (this: unknown, ...args: unknown[]): unknown {
      const generator = Reflect.apply(generatorFunction as Method, this, args);
      if (typeof (generator as Partial<Steps>)?.next === 'function') keepContext(generator as Steps);
      return generator;
    };
    return Reflect.apply(coroutine, this, [kept, ...rest]);
  };

const keepContexts = (bluebird: Bluebird): Off => {
  const copies: Off[] = [];
  const { _getContext: before } = bluebird;
  bluebird.config({ asyncHooks: true });
  // The program may have asked for it before, or does so meanwhile.
  let isWanted = before !== undefined && before === bluebird._getContext;
  const note = quiet((options: object) => {
    if ('asyncHooks' in options) isWanted = Boolean(options.asyncHooks);
  });
  const configuring = (config: Method): Method =>
    function (this: unknown, ...args) {
      const result = Reflect.apply(config, this, args);
      note(args[0] as object);
      return result;
    };
  return allOff([
    () => {
      if (!isWanted) bluebird.config({ asyncHooks: false });
    },
    replaceMethod(bluebird as unknown as Prototype, 'config', configuring),
    replaceMethod(bluebird as unknown as Prototype, 'coroutine', keepCoroutine),
    // Libraries have one of their own, as bookshelf.
    seeMade(bluebird, 'getNewLibraryCopy', (copy) => void copies.push(keepContexts(copy as Bluebird))),
    () => allOff(copies.splice(0))(),
  ]);
};

/** bluebird 3.6 and later. */
export const instrumentBluebird = (): Off => onModule<Bluebird>('bluebird', undefined, keepContexts);
