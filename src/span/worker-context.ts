// Helper for worker_threads: a context as data in `workerData` or a message, and back. Plain bytes, because class
// instances do not survive the structured clone.
import { wrongArgument } from '../local-span/misuse.js';
import { isSpan } from './arguments.js';
import { Span } from './span.js';
import { SpanContext } from './span-context.js';

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
