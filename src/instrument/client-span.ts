// Spans of calls to others: children of the current span, or roots where there is none. Must not follow ignored calls.

import type { Context } from '@opentelemetry/api';
import { state } from '../context/process-state.js';
import { enteredQueue, SpanQueue } from '../local-span/local-span.js';
import { isSuppressed } from '../otel/otel-context.js';
import type { PropertyValue } from '../rows/property.js';
import type { SpanOptions } from '../span/arguments.js';
import { Span } from '../span/span.js';
import type { SpanContext } from '../span/span-context.js';
import { parentIn } from './other-context.js';

/** Options of what traces calls: `C` is a call as hooks see it, and `E` what is known at its end beside that. */
export interface CallOptions<C, E extends readonly unknown[] = []> {
  /** True: this call is not traced. */
  readonly ignore?: (call: C) => boolean;
  /** Called when the answer has arrived, or failed to, before the span ends. */
  readonly enrich?: (span: Span, call: C, ...end: E) => void;
  /** Trace only calls that a traced piece of work makes; false by default. */
  readonly requireParent?: boolean;
}

/** Undefined where the call has no span: tracing is off, or the code around is not traced. */
export const startCall = (name: string, options: SpanOptions, requireParent: boolean): Span | undefined => {
  const queue = enteredQueue();
  if (queue === undefined) return requireParent ? undefined : rootOf(name, undefined, options);
  const { mount, context } = queue;
  if (!mount.isSpan) return undefined;
  if (mount !== Span.noop()) return Span.startWithLocalParent(name, options);
  // It carries a context of OpenTelemetry's API, which may have a span of elsewhere, or values alone.
  if (context === null || isSuppressed(context as Context)) return undefined;
  const parent = parentIn(context);
  return parent === undefined && requireParent ? undefined : rootOf(name, parent, options);
};

const rootOf = (name: string, parent: SpanContext | undefined, options: SpanOptions): Span | undefined => {
  const root = Span.root(name, parent, options);
  return root.context === undefined ? undefined : root;
};

/** The queue on which `span` is current, with what the context of OpenTelemetry's API around it carries, as baggage. */
export const queueFor = (span: Span, caller: SpanQueue | undefined): SpanQueue => {
  const queue = new SpanQueue(span, span.trace !== null);
  if (state.carriesContexts) queue.context = caller?.context ?? null;
  return queue;
};

const MAX_CHARACTERS = 255;

/** The name of a queue, table, topic and the like, as a program or a sender of messages gives it: as long as any is that a server takes, and no longer. */
export const boundedName = (name: string): string =>
  name.length > MAX_CHARACTERS ? name.slice(0, MAX_CHARACTERS) : name;

/** Keys and values one after the other, of which texts are such names. */
export const boundedNames = (list: readonly (string | PropertyValue)[]): readonly (string | PropertyValue)[] =>
  list.map((one) => (typeof one === 'string' ? boundedName(one) : one));
