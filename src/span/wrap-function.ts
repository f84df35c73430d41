// The wrapper of a synchronous function (a local span) and of an async function (a span of its own). Without a recording
// parent a call costs one check. A wrapper must change neither result, `this`, name, length nor thrown value.
//
// The wrapper of generators and async generators: one span over the whole life, from the call to done, return or throw,
// and the local parent at every resumption. The generator's protocol must be kept to the letter.

import { type LocalSpan, recordingQueue, SpanQueue } from '../local-span/local-span.js';
import { runOnQueue } from '../local-span/task-context.js';
import type { Properties } from '../rows/property.js';
import { exceptionProperties } from './arguments.js';
import { Span } from './span.js';
import type { Arguments, TracedOptions } from './traced-options.js';

type Step = 'next' | 'return' | 'throw';
type AnyGenerator = Record<Step, (value?: unknown) => unknown>;

/** One traced generator: its span, its queue, and the resumptions. */
class Life {
  private readonly queue: SpanQueue;
  private isOver = false;

  constructor(
    private readonly span: Span,
    private readonly name: string,
    private readonly enterOnResume: boolean,
  ) {
    this.queue = new SpanQueue(span, true);
  }

  resume(run: () => unknown): unknown {
    // After its end a generator can be asked again; nothing of it runs then.
    if (this.isOver) return run();
    if (!this.enterOnResume) return runOnQueue(this.queue, run);
    const { queue, name } = this;
    return runOnQueue(queue, () => {
      const resumption = queue.start(name);
      try {
        return run();
      } finally {
        resumption.end();
      }
    });
  }

  /** Look at what a resumption gave; the life ends with it when it is done. */
  step(result: IteratorResult<unknown>): IteratorResult<unknown> {
    if (result.done) this.end();
    return result;
  }

  fail(error: unknown): void {
    if (this.span.isRecording) this.span.recordFailure(error);
    this.end();
  }

  private end(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.queue.close();
    if (this.span.isRecording) this.span.end();
  }
}

/** A span of its own for a call, with what the options say of it; undefined where nothing records. */
const spanOf = (
  name: string,
  args: Arguments,
  kind: TracedOptions['kind'],
  properties: TracedOptions['properties'],
): Span | undefined => {
  const span = Span.startWithLocalParent(name);
  if (!span.isRecording) return undefined;
  if (kind !== undefined) span.setKind(kind);
  if (properties !== undefined) span.addProperties(propertiesOf(properties, args));
  return span;
};

const begin = (nameOf: SpanName, self: unknown, args: Arguments, options: TracedOptions): Life | undefined => {
  const name = nameOf(self);
  const span = spanOf(name, args, options.kind, options.properties);
  return span === undefined ? undefined : new Life(span, name, options.enterOnResume ?? false);
};

// The call itself runs the defaults of the parameters, which can throw.
const open = (fn: AnyFunction, self: unknown, args: unknown[], life: Life | undefined): AnyGenerator => {
  try {
    return Reflect.apply(fn, self, args);
  } catch (error) {
    life?.fail(error);
    throw error;
  }
};

// Keeps what a bare call decides: how many arguments `next` got matters to nobody, but `return()` and `return(undefined)` do not differ.
// With the generator's own prototype: iterator helpers, `instanceof` and what a program put there work as without a span.
const generatorObject = (generator: object, resume: (step: Step, value: unknown) => unknown): object =>
  Object.create(Object.getPrototypeOf(generator), {
    next: { value: (value?: unknown) => resume('next', value) },
    return: { value: (value?: unknown) => resume('return', value) },
    throw: { value: (value?: unknown) => resume('throw', value) },
  });

export const wrapGenerator = (fn: AnyFunction, nameOf: SpanName, options: TracedOptions): AnyFunction =>
  function wrapper(this: unknown, ...args) {
    if (new.target !== undefined) return construct(fn, args, new.target, wrapper);
    const life = begin(nameOf, this, args, options);
    const generator = open(fn, this, args, life);
    if (life === undefined) return generator;
    return generatorObject(generator, (step, value) => {
      try {
        return life.step(life.resume(() => generator[step](value)) as IteratorResult<unknown>);
      } catch (error) {
        life.fail(error);
        throw error;
      }
    });
  };

export const wrapAsyncGenerator = (fn: AnyFunction, nameOf: SpanName, options: TracedOptions): AnyFunction =>
  function wrapper(this: unknown, ...args) {
    if (new.target !== undefined) return construct(fn, args, new.target, wrapper);
    const life = begin(nameOf, this, args, options);
    const generator = open(fn, this, args, life);
    if (life === undefined) return generator;
    return generatorObject(generator, async (step, value) => {
      try {
        return life.step((await life.resume(() => generator[step](value))) as IteratorResult<unknown>);
      } catch (error) {
        life.fail(error);
        throw error;
      }
    });
  };

// biome-ignore lint/suspicious/noExplicitAny: wraps functions of any signature.
export type AnyFunction = (this: any, ...args: Arguments) => any;

/** Name of the span; a function because a method's class is known only at its first call. */
export type SpanName = (self: unknown) => string;

/** What the options say of these arguments; a callback that throws is counted and gives nothing. */
export const propertiesOf =
  (properties: TracedOptions['properties'], args: Arguments): (() => Properties) =>
  () =>
    typeof properties === 'function' ? properties(...args) : (properties as Properties);

/**
 * `new` of a wrapper is `new` of its function, which sees itself or the class that extends it; of what is not a constructor it throws as ever.
 * Nothing is recorded of it but of a plain function.
 */
export const construct = (fn: AnyFunction, args: Arguments, target: unknown, wrapper: unknown): unknown =>
  Reflect.construct(fn, args, target === wrapper ? fn : (target as AnyFunction));

/** Mark a local span whose function threw. */
export const failLocal = (span: LocalSpan, error: unknown): void => {
  span.addProperty('error', true).addEvent('exception', exceptionProperties(error));
};

export const wrapSync = (fn: AnyFunction, nameOf: SpanName, { properties }: TracedOptions): AnyFunction =>
  function wrapper(this: unknown, ...args) {
    const queue = recordingQueue();
    const target = new.target as unknown;
    if (queue === undefined)
      return target === undefined ? Reflect.apply(fn, this, args) : construct(fn, args, target, wrapper);
    const span = queue.start(nameOf(this));
    if (properties !== undefined && span.isRecording) span.addProperties(propertiesOf(properties, args));
    try {
      return target === undefined ? Reflect.apply(fn, this, args) : construct(fn, args, target, wrapper);
    } catch (error) {
      failLocal(span, error);
      throw error;
    } finally {
      span.end();
    }
  };

export const wrapAsync = (fn: AnyFunction, nameOf: SpanName, { kind, properties }: TracedOptions): AnyFunction =>
  function wrapper(this: unknown, ...args) {
    if (new.target !== undefined) return construct(fn, args, new.target, wrapper);
    const span = spanOf(nameOf(this), args, kind, properties);
    // The context is that of the caller already; an unsampled parent needs no second run.
    return span === undefined
      ? Reflect.apply(fn, this, args)
      : span.runToEndOf(() => Reflect.apply(fn, this, args), fn);
  };
