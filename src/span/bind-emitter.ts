// Helper for EventEmitters: listeners added through it run with a span as their local parent. The emitter itself is not
// changed, so removing a listener and counting listeners work as ever.
import type { EventEmitter } from 'node:events';
import { OptionError } from '../base/errors.js';
import { isEmitter, spanArgument } from './arguments.js';
import type { Span } from './span.js';

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
