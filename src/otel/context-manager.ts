// SpanlineContextManager: OpenTelemetry's current context in the async context of our spans. There is one store for both: what is the local
// parent of ours is the active span of theirs. A context whose span is none of ours goes in as a queue that records nothing.
//
// An emitter whose listeners run in a context, as OpenTelemetry's API asks: the emitter itself is changed, and listeners are still removed
// by the function that was added.

import type { EventEmitter } from 'node:events';
import type { Context, ContextManager } from '@opentelemetry/api';
import { isThenable } from '../base/calls/timers.js';
import { state } from '../context/process-state.js';
import { enteredQueue, SpanQueue } from '../local-span/local-span.js';
import { runOnQueue } from '../local-span/task-context.js';
import { isEmitter } from '../span/arguments.js';
import { Span } from '../span/span.js';
import { contexts } from './api-values.js';
import { DEFAULT_LIMITS } from './attributes.js';
import { contextWithSpan, isSuppressed, spanOf } from './otel-context.js';
import { coreOf, OtelSpan } from './otel-span.js';

type Listener = (...args: unknown[]) => unknown;

const ADDING = ['on', 'addListener', 'prependListener', 'once', 'prependOnceListener'] as const;
const REMOVING = ['off', 'removeListener'] as const;

const isBound = new WeakSet<object>();

/** Listeners added from here on are those that `bind` makes of them. An emitter is bound once. */
export const bindListeners = (emitter: EventEmitter, bind: (listener: Listener) => Listener): EventEmitter => {
  if (isBound.has(emitter)) return emitter;
  isBound.add(emitter);
  // What Node calls from `once` to `on` must not be bound a second time.
  let isInside = false;
  const made = new WeakMap<Listener, Listener>();
  const target = emitter as unknown as Record<string, Listener>;
  // With all that follows the listener: emitters of others take what `this` is in it, or nothing but the event.
  const inside = (method: Listener, args: readonly unknown[]): unknown => {
    isInside = true;
    try {
      return Reflect.apply(method, emitter, args);
    } finally {
      isInside = false;
    }
  };
  for (const name of ADDING) {
    const add = target[name];
    if (typeof add !== 'function') continue;
    target[name] = (...args) => {
      const [event, listener, ...rest] = args as [unknown, Listener, ...unknown[]];
      if (isInside || typeof listener !== 'function') return Reflect.apply(add, emitter, args);
      const bound = made.get(listener) ?? bind(listener);
      made.set(listener, bound);
      return inside(add, [event, bound, ...rest]);
    };
  }
  for (const name of REMOVING) {
    const remove = target[name];
    if (typeof remove !== 'function') continue;
    target[name] = (...args) => {
      const [event, listener, ...rest] = args as [unknown, Listener, ...unknown[]];
      const bound = isInside || typeof listener !== 'function' ? undefined : made.get(listener);
      return bound === undefined ? Reflect.apply(remove, emitter, args) : inside(remove, [event, bound, ...rest]);
    };
  }
  return emitter;
};

const asContext = (of: object | null): Context => (of as Context | null) ?? contexts.root;

/** The context of a queue: its own, or what it took over with the span of the queue. */
export const contextOf = (queue: SpanQueue): Context => {
  const { context, mount } = queue;
  const core = context === null ? undefined : coreOf(spanOf(context as Context));
  if (core === mount || !mount.isSpan) return asContext(context);
  const span = mount as Span;
  // A queue that only carries a context.
  if (span.trace === null && span.context === undefined) return asContext(context);
  const made = contextWithSpan(asContext(context), new OtelSpan(span, DEFAULT_LIMITS));
  queue.context = made;
  return made;
};

/** The context that is current here. */
export const activeContext = (): Context => {
  const queue = enteredQueue();
  return queue === undefined ? contexts.root : contextOf(queue);
};

/** A queue that makes `context` the current one. */
const queueOf = (context: Context): SpanQueue => {
  const core = isSuppressed(context) ? undefined : coreOf(spanOf(context));
  const queue = core === undefined ? new SpanQueue(Span.noop(), false) : new SpanQueue(core, core.trace !== null);
  queue.context = context;
  return queue;
};

/**
 * Keeps OpenTelemetry's current context where spanline keeps its local parent. `SpanlineTracerProvider.register` sets it.
 *
 * @example
 * ```ts
 * import { context } from '@opentelemetry/api';
 * import { SpanlineContextManager } from 'spanline/otel';
 *
 * context.setGlobalContextManager(new SpanlineContextManager().enable());
 * ```
 */
export class SpanlineContextManager implements ContextManager {
  active(): Context {
    return activeContext();
  }

  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    context: Context,
    fn: F,
    thisArg?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    const queue = queueOf(context ?? contexts.root);
    let isPending = false;
    try {
      const result = runOnQueue(queue, () => Reflect.apply(fn, thisArg, args) as ReturnType<F>);
      isPending = isThenable(result);
      return result;
    } finally {
      // An async function goes on: its local spans belong to this queue until nobody has it.
      if (!isPending) queue.close();
    }
  }

  bind<T>(context: Context, target: T): T {
    if (isEmitter(target)) return bindListeners(target as EventEmitter, (fn) => this.#bound(context, fn)) as T;
    return typeof target === 'function' ? (this.#bound(context, target as never) as T) : target;
  }

  enable(): this {
    state.carriesContexts = true;
    return this;
  }

  /** Contexts that are carried stay where they are; none is taken over any more. */
  disable(): this {
    state.carriesContexts = false;
    return this;
  }

  #bound(context: Context, target: (...args: unknown[]) => unknown): (...args: unknown[]) => unknown {
    const manager = this;
    const bound = function (this: unknown, ...args: unknown[]): unknown {
      return manager.with(context, () => Reflect.apply(target, this, args));
    };
    Object.defineProperty(bound, 'length', { enumerable: false, configurable: true, value: target.length });
    return bound;
  }
}
