// DynamicLabel: what users hold. apply() is the hot path of this room: two comparisons, two stores and the way back; it must
// never allocate, throw of its own or lose what the function returns or throws.

import type { LabelRecord } from './labelled-profile.js';
import { ownCode } from './own-frames.js';
import { Counter, count } from './profile-counters.js';
import { labelRecord, labelsOf, nested, scopeOf } from './scope.js';
import {
  enrollSampled,
  IS_SAMPLED,
  LABEL_ID,
  type Labelled,
  makeCurrent,
  NO_SCOPE,
  register,
  Scope,
} from './shared-state.js';

const endOwnCode = ownCode();

/** CPU time found for a label by finished profiles. */
export interface LabelCpu {
  /** Nanoseconds of thread CPU time. */
  readonly ns: number;
  readonly samples: number;
  /** Standard error of `ns`: of a sum over `samples` random samples. */
  readonly stderrNs: number;
}

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** What a coroutine may yield: it goes on with what a promise resolves to, and with anything else as it is. */
type Coroutine<A extends unknown[], R> = (...args: A) => Generator<unknown, R, unknown>;

const { cell } = register;

// Around disposed labels: never the current scope.
const NOWHERE = new Scope(0, undefined, undefined, 0);

// Each label of a scope leaves a frame: for calls that come back from nowhere, without the frames of the outer labels.
const throughFrames = <T>(labels: readonly Labelled[], at: number, fn: () => T): T => {
  const { pool } = register;
  if (pool === undefined || at === labels.length) return fn();
  const label = labels[at];
  const isGiven = label.slot === undefined && label.isDisposed;
  try {
    return pool.run(label, () => throughFrames(labels, at + 1, fn));
  } finally {
    // A label around the call that was bound may be over by now: its trampoline would be taken until the profile ends.
    if (isGiven) pool.release(label);
  }
};

// Who is called back often looks how many arguments are wanted: error handlers of web frameworks, test runners, `promisify`.
const likeness = <F extends object>(made: F, like: { readonly name: string; readonly length: number }): F => {
  // Each takes V8 a quarter of a microsecond; most callbacks want nothing.
  if (like.length > 0) Object.defineProperty(made, 'length', { value: like.length, configurable: true });
  return Object.defineProperty(made, 'name', { value: like.name, configurable: true });
};

/** Run in a scope as a whole, whatever is around the call. */
const runIn = <T>(scope: Scope, fn: () => T): T => {
  const outer = register.current;
  makeCurrent(scope);
  try {
    const { pool } = register;
    if (pool === undefined) return fn();
    const enter = (): T => throughFrames(labelsOf(scope), 0, fn);
    return outer === NO_SCOPE ? enter() : pool.runApart(enter);
  } finally {
    makeCurrent(outer);
  }
};

/**
 * A label for CPU samples, known at run time only: a query, a tenant, a trace.
 *
 * Make one where the work begins, run the work inside, dispose of it at the end. Costs nanoseconds whether a profile is taken
 * or not; several labels around each other add up, and the innermost value of a key wins.
 * The idea: Rockset, "Profiling individual queries in a concurrent system".
 *
 * @example
 * ```ts
 * import { DynamicLabel } from '@spanline/profile';
 * const label = new DynamicLabel('query', 'select 1');
 * const rows = label.apply(() => [1]);
 * const later = await label.run(async () => rows.length);
 * label[Symbol.dispose]();
 * console.assert(later === 1);
 * ```
 */
export class DynamicLabel implements Labelled {
  /** @internal */
  readonly record: LabelRecord;
  /** @internal */
  slot: unknown = undefined;
  /** @internal */
  isDisposed = false;

  // The scope for the scope that was around the last call: most calls of a label are in the same place.
  private lastOuter: Scope = NO_SCOPE;
  private lastScope: Scope = scopeOf(this);

  private cpuNs = 0;
  private samples = 0;
  private squares = 0;

  /** Text is cut to 128 characters a key, 1,024 a value, 32 keys a label. */
  constructor(key: string, value: string | number);
  constructor(labels: Readonly<Record<string, string | number>>);
  constructor(labels: string | Readonly<Record<string, string | number>>, value?: string | number) {
    this.record = labelRecord(typeof labels === 'object' && labels !== null ? labels : { [String(labels)]: value });
  }

  /**
   * Run a synchronous function in this label and give what it gives.
   *
   * The hot path: use it around any stretch of work between two awaits.
   */
  apply<T>(fn: () => T): T {
    const outer = register.current;
    const scope = this.lastOuter === outer ? this.lastScope : this.scopeIn(outer);
    if (register.pool !== undefined) return this.applyInFrame(fn, scope);
    // What makeCurrent() does, put here by hand: it saves a nanosecond. The way out is time enough to look for samples.
    register.current = scope;
    cell[LABEL_ID] = scope.id;
    try {
      return fn();
    } finally {
      register.current = outer;
      cell[LABEL_ID] = outer.id;
      if (cell[IS_SAMPLED] !== 0) enrollSampled(scope);
    }
  }

  /**
   * Run an asynchronous function in this label; what it awaits goes on in the label while a profile follows continuations.
   *
   * A function that throws before its first await gives a rejected promise, as an async function does.
   */
  run<T>(fn: () => Promise<T>): Promise<T> {
    register.follow?.();
    try {
      return this.apply(fn);
    } catch (error) {
      return Promise.reject(error);
    }
  }

  /**
   * The function, run in this label and in the labels around this call whenever it is called.
   *
   * For timers, emitters, streams and abort signals, which call back from nowhere.
   *
   * @example
   * ```ts
   * import { DynamicLabel } from '@spanline/profile';
   * const label = new DynamicLabel('job', 'sweep');
   * setTimeout(label.bind(() => {}), 10);
   * ```
   */
  bind<F extends AnyFunction>(fn: F): F {
    return likeness(this.bound(fn), fn) as F;
  }

  /**
   * A generator as an asynchronous function: it yields what it waits for, and every stretch runs in this label.
   *
   * Keeps labels across waits where no continuations are followed: without the addon, or to spare every await its hook.
   *
   * @example
   * ```ts
   * import { DynamicLabel } from '@spanline/profile';
   * const label = new DynamicLabel('query', 'q1');
   * const count = label.coroutine(function* (url: string) {
   *   const text = (yield Promise.resolve(url)) as string;
   *   return text.length;
   * });
   * console.assert((await count('abc')) === 3);
   * ```
   */
  coroutine<A extends unknown[], R>(generator: Coroutine<A, R>): (...args: A) => Promise<R> {
    const label = this;
    const started = async function (this: unknown, ...args: A): Promise<R> {
      // At each call: the labels around it, and not around the definition, are those of the work.
      const resume = label.bound(<T>(step: () => T): T => step());
      const life = resume(() => generator.apply(this, args));
      let step = resume(() => life.next());
      while (!step.done) {
        const next = await Promise.resolve(step.value).then(
          (value) => () => life.next(value),
          (error) => () => life.throw(error),
        );
        step = resume(next);
      }
      return step.value;
    };
    return likeness(started, generator);
  }

  /** A label with these keys too: a node under its query. Its CPU time counts for itself alone. */
  fork(extra: Readonly<Record<string, string | number>>): DynamicLabel {
    return new DynamicLabel({ ...this.record, ...extra });
  }

  /**
   * CPU time that finished profiles found for this label.
   *
   * Samples of labels inside it are counted too. Zero before the first profile (or rotation) has ended.
   */
  cpu(): LabelCpu {
    return { ns: this.cpuNs, samples: this.samples, stderrNs: Math.sqrt(this.squares) };
  }

  /** The end of this label: later calls run their function without it and are counted. Samples taken before keep it. */
  [Symbol.dispose](): void {
    if (this.isDisposed) return;
    this.isDisposed = true;
    // Else the next call would be taken for one like the last.
    this.lastOuter = NOWHERE;
    register.pool?.release(this);
  }

  /** @internal */
  credit(cpuNs: number): void {
    this.cpuNs += cpuNs;
    this.samples++;
    this.squares += cpuNs * cpuNs;
  }

  private bound<F extends AnyFunction>(fn: F): F {
    const scope = this.isDisposed ? register.current : nested(register.current, this);
    const isOver = () => this.isDisposed;
    const bound = function (this: unknown, ...args: never[]): unknown {
      if (isOver()) {
        count(Counter.staleLabels);
        return fn.apply(this, args);
      }
      const result = runIn(scope, () => fn.apply(this, args));
      if (register.follow !== undefined && result instanceof Promise) register.follow();
      return result;
    };
    return bound as AnyFunction as F;
  }

  private scopeIn(outer: Scope): Scope {
    if (this.isDisposed) {
      count(Counter.staleLabels);
      return outer;
    }
    const scope = nested(outer, this);
    if (scope !== outer && scope.outer !== outer) {
      // The way out looks at the scopes around this one, and `outer` is not among them: look now, and each time.
      if (cell[IS_SAMPLED] !== 0) enrollSampled(outer);
      return scope;
    }
    this.lastOuter = outer;
    this.lastScope = scope;
    return scope;
  }

  private applyInFrame<T>(fn: () => T, scope: Scope): T {
    const { pool, current: outer } = register;
    if (this.isDisposed) return fn();
    makeCurrent(scope);
    try {
      return pool === undefined ? fn() : pool.run(this, fn);
    } finally {
      makeCurrent(outer);
    }
  }
}

endOwnCode();
