// Trace ids in the records of winston: `trace_id`, `span_id` and `trace_flags`, unless a record has one of them already. Every form of a call ends in `write`
// of its logger, in the context of the caller; what its formats and transports do comes later. The caller's object may not look different afterwards.

import type { Off } from '../channel.js';
import { orElse } from '../channel.js';
import { copyWith } from '../copy-with.js';
import { onModule } from '../on-module.js';
import { type Method, type Prototype, replaceMethod } from '../replace-method.js';
import { currentIds, hasIds } from './ids.js';

/** A copy of the record with them, which is of the same kind: an error is one. */
const withIds = orElse(
  () => undefined,
  (record: unknown): object | undefined => {
    if (typeof record !== 'object' || record === null || hasIds(record)) return undefined;
    const ids = currentIds();
    if (ids === undefined) return undefined;
    const copy = copyWith(record, { ...ids });
    // In newer lines of Node it is not a value, and writing it would reach the caller's.
    if (record instanceof Error) {
      Object.defineProperty(copy, 'stack', { value: record.stack, writable: true, configurable: true });
    }
    return copy;
  },
);

const writing = (write: Method): Method =>
  function (this: unknown, record, ...rest) {
    return Reflect.apply(write, this, [withIds(record) ?? record, ...rest]);
  };

/** winston 3. */
export const instrumentWinston = (): Off =>
  // Early ones do not export it.
  onModule<{ readonly prototype?: Prototype }>('winston/lib/winston/logger.js', undefined, ({ prototype }) =>
    replaceMethod(prototype, 'write', writing),
  );
