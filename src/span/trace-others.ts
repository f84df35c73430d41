// Helpers for work that is not a function: a promise, an async iterable, a stream, events. Each gives back what it got, with a span over it; rejections and throws
// pass through unchanged. Of a stream it only listens, and must never start the flow, hold it open or handle its errors for the user; an emitter is not changed.
//
// For work in another thread its context, in `workerData` or a message: as plain bytes, because class instances do not survive the structured clone.

import { EventEmitter } from 'node:events';
import { attempt } from '../base/calls/attempt.js';
import { OptionError } from '../base/errors.js';
import { wrongArgument } from '../rows/counters.js';
import { isEmitter, isSpan, type SpanOptions, spanArgument } from './arguments.js';
import { Span } from './span.js';
import { SpanContext } from './span-context.js';
import { follow, isPlainPromise } from './span-tasks.js';

/**
 * A span from now until the promise settles, under the local parent. Gives a promise of the same value, with the own
 * properties of a plain promise it got; await that one.
 *
 * @example
 * ```ts
 * const root = Span.root('GET /query');
 * await root.run(() => tracePromise('body', new Response('rows').text()));
 * root.end();
 * ```
 */
export const tracePromise = <T>(name: string, promise: PromiseLike<T>, options?: SpanOptions): Promise<T> => {
  const span = Span.startWithLocalParent(name, options);
  const awaited = (isPlainPromise(promise) ? promise : Promise.resolve(promise)) as Promise<T>;
  if (!span.isRecording) return awaited;
  return follow(
    awaited,
    (value) => {
      span.end();
      return value;
    },
    (error) => {
      span.recordFailure(error).end();
      throw error;
    },
  );
};

/**
 * A span over the whole iteration of an async iterable: from the first item asked for, under the local parent there (or
 * `parent`), until the iteration is done, left early or fails. It counts the items in the property `items`.
 *
 * @example
 * ```ts
 * const root = Span.root('GET /query');
 * for await (const row of traceIterable('scan', [1, 2, 3], { parent: root })) console.log(row);
 * root.end();
 * ```
 */
export async function* traceIterable<T>(
  name: string,
  iterable: AsyncIterable<T> | Iterable<T>,
  options?: SpanOptions & { readonly parent?: Span },
): AsyncGenerator<T, void, undefined> {
  const parent = attempt(() => options?.parent);
  const span = parent ? Span.start(name, parent, options) : Span.startWithLocalParent(name, options);
  let items = 0;
  try {
    for await (const item of iterable) {
      items++;
      yield item;
    }
  } catch (error) {
    if (span.isRecording) span.recordFailure(error);
    throw error;
  } finally {
    span.addProperty('items', items).end();
  }
}

/** A Node stream, as far as this helper looks at it. */
export interface TraceableStream extends EventEmitter {
  readonly destroyed: boolean;
  readonly readableEnded?: boolean;
  readonly writableFinished?: boolean;
}

// One of two sides is enough: a socket is often destroyed by the reader of the answer.
const isThrough = ({ readableEnded, writableFinished }: TraceableStream): boolean =>
  readableEnded === undefined && writableFinished === undefined
    ? true
    : readableEnded === true || writableFinished === true;

/**
 * A span over the life of a Node stream, under the local parent: it ends at `close`, and has the status `error` when the
 * stream failed (an `error` event nobody else handles still crashes the process, as without this) or was destroyed
 * before it was through. Gives the stream back.
 *
 * @example
 * ```ts
 * import { Readable } from 'node:stream';
 *
 * const root = Span.root('import');
 * const lines = root.run(() => traceStream('read', Readable.from(['a', 'b'])));
 * for await (const line of lines) console.log(line);
 * root.end();
 * ```
 */
export const traceStream = <S extends TraceableStream>(name: string, stream: S, options?: SpanOptions): S => {
  if (!isEmitter(stream)) {
    wrongArgument(
      'traceStream takes a Node stream; for a web stream or another iterable use traceIterable(name, stream).',
    );
    return stream;
  }
  const span = Span.startWithLocalParent(name, options);
  if (!span.isRecording) return stream;
  if (stream.destroyed) {
    span.addEvent('destroyed before').end();
    return stream;
  }
  // The monitor symbol is emitted before `error` and does not count as a handler.
  const { errorMonitor } = EventEmitter;
  const onError = (error: unknown): void => {
    span.recordFailure(error);
  };
  const onClose = (): void => {
    stream.off(errorMonitor, onError);
    if (!isThrough(stream) && !span.hasStatus) span.setStatus('error', 'destroyed before its end');
    span.end();
  };
  stream.on(errorMonitor, onError);
  stream.once('close', onClose);
  return stream;
};

/** What {@link bindEmitter} gives: subscribe with the span as parent; each call gives a function that unsubscribes. */
export interface BoundEmitter {
  // biome-ignore lint/suspicious/noExplicitAny: listeners of any signature.
  on(event: string | symbol, listener: (...args: any[]) => void): () => void;
  // biome-ignore lint/suspicious/noExplicitAny: listeners of any signature.
  once(event: string | symbol, listener: (...args: any[]) => void): () => void;
}

/**
 * Subscribe to an emitter so that every call of a listener runs under `span`. Use it when events arrive outside the task
 * that asked for them (sockets, pools, child processes). Throws `ERR_SPANLINE_OPTION` when `emitter` is none.
 *
 * @example
 * ```ts
 * import { EventEmitter } from 'node:events';
 *
 * const [socket, span] = [new EventEmitter(), Span.root('import')];
 * const off = bindEmitter(socket, span).on('data', (chunk: Buffer) => {
 *   using decode = LocalSpan.start('decode');
 *   decode.addProperty('bytes', chunk.length);
 * });
 * socket.emit('data', Buffer.from('a'));
 * off();
 * span.end();
 * ```
 */
export const bindEmitter = (emitter: EventEmitter, span: Span): BoundEmitter => {
  if (!isEmitter(emitter)) throw new OptionError('bindEmitter(emitter, span) takes an EventEmitter first');
  const parent = spanArgument(span);
  const subscribe =
    (method: 'on' | 'once') =>
    // biome-ignore lint/suspicious/noExplicitAny: listeners of any signature.
    (event: string | symbol, listener: (...args: any[]) => void): (() => void) => {
      const bound = parent === undefined ? listener : parent.bind(listener);
      emitter[method](event, bound);
      return () => emitter.off(event, bound);
    };
  return { on: subscribe('on'), once: subscribe('once') };
};

/** A context in a form that survives a structured clone: 25 bytes and the tracestate; undefined where there is none. */
export type TransferredContext = Uint8Array | undefined;

/**
 * The context of the local parent (or of `span`) for another thread.
 *
 * @example
 * ```ts
 * const root = Span.root('call');
 * const workerData = root.run(() => ({ context: contextForWorker() }));   // for new Worker(file, { workerData })
 * const task = Span.root('task', contextFromWorker(workerData.context));  // in the worker
 * task.end();
 * root.end();
 * ```
 */
export const contextForWorker = (span: Span | undefined = Span.current()): TransferredContext => {
  if (isSpan(span)) return span.context?.toBytes();
  if (span !== undefined && span !== null) {
    wrongArgument('contextForWorker takes a Span, or nothing for the local parent; of a SpanContext send toBytes().');
  }
  return undefined;
};

/** The context another thread sent; undefined for undefined. Throws `ERR_SPANLINE_CONTEXT` for anything else. */
export const contextFromWorker = (bytes: TransferredContext): SpanContext | undefined =>
  bytes === undefined ? undefined : SpanContext.fromBytes(bytes);
