// The wrapper of a synchronous function (a local span) and of an async function (a span of its own). Without a recording
// parent a call costs one check. A wrapper must change neither result, `this`, name, length nor thrown value.

import type { LocalSpan } from '../local-span/local-span.js';
import { recordingQueue } from '../local-span/queue-store.js';
import type { Properties } from '../rows/property.js';
import { exceptionProperties } from './exception.js';
import { Span } from './span.js';
import type { Arguments, TracedOptions } from './traced-options.js';

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
 * `new` of a wrapper is `new` of its function, which sees itself or the class that extends it; of what is no constructor it throws as ever.
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

export const wrapAsync = (fn: AnyFunction, nameOf: SpanName, { properties, kind }: TracedOptions): AnyFunction =>
  function wrapper(this: unknown, ...args) {
    if (new.target !== undefined) return construct(fn, args, new.target, wrapper);
    const span = Span.startWithLocalParent(nameOf(this));
    // The context is that of the caller already; an unsampled parent needs no second run.
    if (!span.isRecording) return Reflect.apply(fn, this, args);
    if (kind !== undefined) span.setKind(kind);
    if (properties !== undefined) span.addProperties(propertiesOf(properties, args));
    return span.runToEndOf(() => Reflect.apply(fn, this, args), fn);
  };
