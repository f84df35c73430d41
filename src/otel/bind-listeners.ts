// An emitter whose listeners run in a context, as OpenTelemetry's API asks: the emitter itself is changed, and listeners are still removed
// by the function that was added.
import type { EventEmitter } from 'node:events';

type Listener = (...args: unknown[]) => unknown;
type Event = string | symbol;

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
  const target = emitter as unknown as Record<string, (event: Event, listener: Listener) => unknown>;
  const inside = (method: (event: Event, listener: Listener) => unknown, event: Event, listener: Listener): unknown => {
    isInside = true;
    try {
      return Reflect.apply(method, emitter, [event, listener]);
    } finally {
      isInside = false;
    }
  };
  for (const name of ADDING) {
    const add = target[name];
    if (typeof add !== 'function') continue;
    target[name] = (event, listener) => {
      if (isInside || typeof listener !== 'function') return Reflect.apply(add, emitter, [event, listener]);
      const bound = made.get(listener) ?? bind(listener);
      made.set(listener, bound);
      return inside(add, event, bound);
    };
  }
  for (const name of REMOVING) {
    const remove = target[name];
    if (typeof remove !== 'function') continue;
    target[name] = (event, listener) => {
      if (isInside) return Reflect.apply(remove, emitter, [event, listener]);
      const bound = typeof listener === 'function' ? made.get(listener) : undefined;
      return inside(remove, event, bound ?? listener);
    };
  }
  return emitter;
};
