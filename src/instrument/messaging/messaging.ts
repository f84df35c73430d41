// Messages through a broker as spans, and as a part of their metrics: what sends one is a producer span, whose context goes out in the message's headers, and what is done with one
// is a trace of its own with a link to that span: one sender may have many receivers, and a batch many senders. What is in a message never leaves.
import { queueStore, type SpanQueue } from '../../local-span/local-span.js';
import type { LibraryMetrics, MessageOperation } from '../../metrics/library-metrics.js';
import type { PropertyValue } from '../../rows/property.js';
import type { SpanOptions } from '../../span/arguments.js';
import { Span } from '../../span/span.js';
import { callHook, callPredicate } from '../channel.js';
import { boundedName, boundedNames, type CallOptions, startCall } from '../client-span.js';
import { measures, measuresOfCall } from '../measures.js';
import { IGNORED } from '../other-context.js';
import { carriedBy, extractFrom, type IncomingHeaders, injectSpan, type Propagator } from '../propagator.js';
import { scopeOf } from '../scope.js';

/** A message, or a batch, as hooks see it. */
export interface MessageCall {
  /** What the library calls it: `publish`, `send`, `process`. */
  readonly operation: string;
  /** The exchange, queue or topic. */
  readonly destination: string;
}

/** Options of the instrumentation of a library of messages. */
export interface MessagingOptions extends CallOptions<MessageCall, [error: unknown]> {
  /** True: this message is not traced, nor what is done with it. */
  readonly ignore?: (call: MessageCall) => boolean;
  /** Called when it is sent or done with, before the span ends. */
  readonly enrich?: (span: Span, call: MessageCall, error: unknown) => void;
  /** Trace only messages that a traced piece of work sends; false by default. */
  readonly requireParent?: boolean;
}

/** Keys and values one after the other. */
type Properties = readonly (string | PropertyValue)[];

const MAX_CHARACTERS = 8192;

/** Headers of a message, whose values may be bytes, as those of HTTP are: names in lower case, and only what is text. */
export const textHeaders = (headers: unknown): IncomingHeaders => {
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(Object(headers) as object)) {
    if (typeof value === 'string') texts[name.toLowerCase()] = value;
    else if (Buffer.isBuffer(value) && value.length <= MAX_CHARACTERS) texts[name.toLowerCase()] = value.toString();
  }
  return texts;
};

const valueIn = (list: Properties, wanted: string): PropertyValue | undefined => {
  for (let i = 0; i < list.length; i += 2) if (list[i] === wanted) return list[i + 1];
  return undefined;
};

const textIn = (list: Properties, wanted: string): string | undefined => {
  const value = valueIn(list, wanted);
  return typeof value === 'string' ? boundedName(value) : undefined;
};

/** Measures one message, at its end. */
type Measured = (errorType: string | undefined, span: Span | undefined) => void;

/** A message, or a batch, that is sent or done with: its span, where it has one, and what is measured of it. */
export class FollowedMessage {
  /** Undefined where it is only measured. */
  readonly span: Span | undefined;
  #measured: Measured | undefined;

  constructor(span: Span | undefined, measured: Measured | undefined) {
    this.span = span;
    this.#measured = measured;
  }

  /** Whether anybody wants to know when it is over. */
  get isFollowed(): boolean {
    return this.#measured !== undefined || this.span?.isRecording === true;
  }

  /** Once. */
  measure(errorType: string | undefined): void {
    const measured = this.#measured;
    this.#measured = undefined;
    measured?.(errorType, this.span);
  }
}

/** Starts and ends the spans of one library. */
export class Messaging {
  readonly #calls = new WeakMap<Span, MessageCall>();
  readonly #system: string;
  readonly #options: MessagingOptions;
  readonly #propagator: Propagator;
  readonly #sending: SpanOptions;
  readonly #processing: SpanOptions;

  /** `library` is the instrumentation's name, `system` that of the broker. */
  constructor(library: string, system: string, options: MessagingOptions, propagator: Propagator) {
    const scope = scopeOf(library);
    this.#system = system;
    this.#options = options;
    this.#propagator = propagator;
    this.#sending = { kind: 'producer', scope };
    this.#processing = { kind: 'consumer', scope };
  }

  /** Undefined: neither traced nor measured. */
  startSending(call: MessageCall, properties: Properties): FollowedMessage | undefined {
    if (callPredicate(this.#options.ignore, call)) return undefined;
    const { requireParent = false } = this.#options;
    const measured = this.#measured(measuresOfCall(), call, 'send', properties);
    const span = startCall(boundedName(`${call.operation} ${call.destination}`), this.#sending, requireParent);
    if (span?.isRecording === true) this.#describe(span, call, 'send', properties);
    return span === undefined && measured === undefined ? undefined : new FollowedMessage(span, measured);
  }

  /** Write the context of `span`, where there is one, into the headers of its message. */
  inject(span: Span | undefined, set: (name: string, value: string) => void): void {
    if (span !== undefined) injectSpan(this.#propagator, span, set);
  }

  /** Starts what is done with messages that have these headers. */
  startProcessing(
    call: MessageCall,
    properties: Properties,
    messages: readonly IncomingHeaders[],
  ): FollowedMessage | 'ignored' {
    if (callPredicate(this.#options.ignore, call)) return 'ignored';
    const measured = this.#measured(measures(), call, 'process', properties);
    const span = Span.root(boundedName(`${call.operation} ${call.destination}`), undefined, this.#processing);
    if (!span.isRecording) return new FollowedMessage(span, measured);
    this.#describe(span, call, 'process', properties);
    for (const headers of messages) {
      const context = extractFrom(this.#propagator, headers);
      if (context !== undefined) span.addLink(context);
    }
    return new FollowedMessage(span, measured);
  }

  /** Runs `work` as what is done with a message, and nothing else: the code around it goes on in its own context. */
  runProcessing<R>(message: FollowedMessage | 'ignored', headers: IncomingHeaders | undefined, work: () => R): R {
    const outer = queueStore.getStore();
    const span = message === 'ignored' ? undefined : message.span;
    if (message === 'ignored') queueStore.enter(IGNORED);
    else if (span !== undefined && span !== Span.noop())
      span.enterForGood(headers === undefined ? undefined : carriedBy(this.#propagator, headers));
    try {
      return work();
    } finally {
      queueStore.enter(outer as SpanQueue);
    }
  }

  /** Ends it; `type` is how it failed, if it did. */
  end(message: FollowedMessage, type?: string, error?: unknown): void {
    message.measure(type);
    const { span } = message;
    if (span?.isRecording !== true) return;
    if (type !== undefined) span.addProperty('error.type', type).setStatus('error', type);
    const call = this.#calls.get(span);
    if (call !== undefined) callHook(this.#options.enrich, span, call, error);
    span.endForGood();
  }

  /** The destination is the one of the span's name: one of few. */
  #measured(
    metrics: LibraryMetrics | undefined,
    { operation: name, destination }: MessageCall,
    type: MessageOperation['type'],
    properties: Properties,
  ): Measured | undefined {
    if (metrics === undefined) return undefined;
    const port = valueIn(properties, 'server.port');
    const begin = metrics.begin();
    const operation: MessageOperation = {
      system: this.#system,
      name,
      type,
      destination: boundedName(destination),
      group: textIn(properties, 'messaging.consumer.group.name'),
      address: textIn(properties, 'server.address'),
      port: typeof port === 'number' ? port : undefined,
    };
    return (errorType, span) => metrics.messageEnded(begin, operation, errorType, span);
  }

  #describe(span: Span, call: MessageCall, type: string, properties: Properties): void {
    if (this.#options.enrich !== undefined) this.#calls.set(span, call);
    const { operation } = call;
    span.describe([
      'messaging.system',
      this.#system,
      'messaging.operation.name',
      operation,
      'messaging.operation.type',
      type,
      ...boundedNames(properties),
    ]);
  }
}
