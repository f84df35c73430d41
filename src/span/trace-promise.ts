// Helpers for work that is no function: a promise, an async iterable. Each gives back what it got, with a span over it;
// rejections and throws pass through unchanged.
import { parentOption } from './arguments.js';
import { errorMessage } from './exception.js';
import { follow, isPlainPromise } from './plain-promise.js';
import { Span } from './span.js';
import type { SpanOptions } from './span-options.js';

const fail = (span: Span, error: unknown): void => {
  span.recordException(error).setStatus('error', errorMessage(error)).end();
};

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
      fail(span, error);
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
  const parent = parentOption(options);
  const span = parent ? Span.start(name, parent, options) : Span.startWithLocalParent(name, options);
  let items = 0;
  try {
    for await (const item of iterable) {
      items++;
      yield item;
    }
  } catch (error) {
    if (span.isRecording) span.recordException(error).setStatus('error', errorMessage(error));
    throw error;
  } finally {
    span.addProperty('items', items).end();
  }
}
