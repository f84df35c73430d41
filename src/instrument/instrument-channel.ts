// Spans of a library that publishes a TracingChannel and has no instrumentation of its own here.
import { wrongOption } from '../base/errors.js';
import { shown } from '../base/options/checks.js';
import type { Properties, SpanKind } from '../rows/property.js';
import type { Span } from '../span/span.js';
import { callHook, callPredicate } from './channel.js';
import { startCall } from './client-span.js';
import { failureType } from './failure.js';
import { scopeOf } from './scope.js';
import { type Outcome, traceChannel } from './traced-channel.js';

/** What spans of a channel are like. */
export interface ChannelOptions<M extends object = Record<string, unknown>> {
  /** Name of the span; that of the channel by default. */
  readonly name?: string | ((message: M) => string);
  /** `internal` by default. */
  readonly kind?: SpanKind;
  /** Called at the start. */
  readonly properties?: (message: M) => Properties;
  /** True: this piece of work is not traced. */
  readonly ignore?: (message: M) => boolean;
  /** Called at the end, before the span ends; the message has `result` or `error` then. */
  readonly enrich?: (span: Span, message: M & Outcome) => void;
  /** Trace only what traced work does; false by default. */
  readonly requireParent?: boolean;
}

/**
 * Trace the work that a library announces by the TracingChannel `channel`: a span for each, and what it does runs under it.
 *
 * @example
 * ```ts
 * import { instrumentChannel } from 'spanline/instrument';
 *
 * const off = instrumentChannel<{ table: string }>('mylib:query', {
 *   name: ({ table }) => `query ${table}`,
 *   properties: ({ table }) => ({ table }),
 * });
 * off();
 * ```
 */
export const instrumentChannel = <M extends object = Record<string, unknown>>(
  channel: string,
  options: ChannelOptions<M> = {},
): (() => void) => {
  if (typeof channel !== 'string' || channel === '') {
    throw wrongOption(`instrumentChannel takes the name of a TracingChannel, not ${shown(channel)}`);
  }
  const { name = channel, kind = 'internal', properties, ignore, enrich, requireParent = false } = options;
  const work = { kind, scope: scopeOf('channel') };
  return traceChannel<M>(channel, {
    begin(message) {
      if (callPredicate(ignore, message)) return undefined;
      const given = typeof name === 'function' ? callHook(name, message) : name;
      const span = startCall(typeof given === 'string' ? given : channel, work, requireParent);
      const found = span?.isRecording === true ? callHook(properties, message) : undefined;
      if (found !== undefined) span?.addProperties(found);
      return span;
    },
    finish(span, message) {
      if (message.error !== undefined) {
        span.addProperty('error.type', failureType(message.error)).setStatus('error').recordException(message.error);
      }
      callHook(enrich, span, message);
    },
  });
};
