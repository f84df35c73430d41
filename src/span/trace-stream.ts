// Helper for Node streams: a span from now until the stream is over. It only listens; it must never start the flow,
// hold the stream open or handle its errors for the user.
import { EventEmitter } from 'node:events';
import { wrongArgument } from '../local-span/misuse.js';
import { isEmitter } from './arguments.js';
import { errorMessage } from './exception.js';
import { Span } from './span.js';
import type { SpanOptions } from './span-options.js';

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
    span.recordException(error).setStatus('error', errorMessage(error));
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
