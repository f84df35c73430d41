// The wrapper of a synchronous function (a local span) and of an async function (a span of its own). Without a recording
// parent a call costs one check. A wrapper must change neither result, `this`, name, length nor thrown value.
import { lazyProperties } from '../local-span/lazy.js';
import { recordingLine } from '../local-span/line-store.js';
import type { Properties } from '../local-span/property.js';
import type { SpanLine } from '../local-span/span-line.js';
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

/** Mark a local span whose function threw. */
export const failLocal = (line: SpanLine, index: number, epoch: number, error: unknown): void => {
  line.addProperty(index, epoch, 'error', true);
  line.addEvent(index, epoch, 'exception', exceptionProperties(error));
};

export const wrapSync = (fn: AnyFunction, nameOf: SpanName, { properties }: TracedOptions): AnyFunction =>
  function (this: unknown, ...args) {
    const line = recordingLine();
    if (line === undefined) return Reflect.apply(fn, this, args);
    const index = line.begin(nameOf(this));
    if (index < 0) return Reflect.apply(fn, this, args);
    const { epoch } = line;
    if (properties !== undefined && !line.mount.isDiscarded) {
      lazyProperties(propertiesOf(properties, args), (key, value) => line.addProperty(index, epoch, key, value));
    }
    try {
      return Reflect.apply(fn, this, args);
    } catch (error) {
      failLocal(line, index, epoch, error);
      throw error;
    } finally {
      line.finish(index, epoch);
    }
  };

export const wrapAsync = (fn: AnyFunction, nameOf: SpanName, { properties, kind }: TracedOptions): AnyFunction =>
  function (this: unknown, ...args) {
    const span = Span.startWithLocalParent(nameOf(this));
    // The context is that of the caller already; an unsampled parent needs no second run.
    if (!span.isRecording) return Reflect.apply(fn, this, args);
    if (kind !== undefined) span.kind = kind;
    if (properties !== undefined) span.addProperties(propertiesOf(properties, args));
    return span.runToEndOf(() => Reflect.apply(fn, this, args), fn);
  };
