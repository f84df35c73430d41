// Trace ids in the records of winston: `trace_id`, `span_id` and `trace_flags`, unless a record has one of them already. Every form of a call ends in `write`
// of its logger, in the context of the caller; what its formats and transports do comes later. The caller's object may not look different afterwards.

import { allOff, type Off, quiet } from '../channel.js';
import { copyWith } from '../copy-with.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { type Method, ownerOf, type Prototype, prototypeOf, SeenClasses } from '../replace-method.js';
import { currentIds, hasIds } from './ids.js';

/** A copy of the record with them, which is of the same kind: an error is one. */
const withIds = quiet((record: unknown): object | undefined => {
  if (typeof record !== 'object' || record === null || hasIds(record)) return undefined;
  const ids = currentIds();
  if (ids === undefined) return undefined;
  const copy = copyWith(record, { ...ids });
  // In newer lines of Node it is not a value, and writing it would reach the caller's.
  if (record instanceof Error) {
    Object.defineProperty(copy, 'stack', { value: record.stack, writable: true, configurable: true });
  }
  return copy;
});

const writing = (write: Method): Method =>
  function (this: unknown, record, ...rest) {
    return Reflect.apply(write, this, [withIds(record) ?? record, ...rest]);
  };

interface Winston {
  readonly prototype?: Prototype;
  readonly createLogger?: () => object;
}

/** What all loggers inherit from. The package is handed over, which does not export it in early versions. */
const loggersOf = ({ prototype, createLogger }: Winston): Prototype | undefined =>
  ownerOf(createLogger === undefined ? prototype : prototypeOf(createLogger()), 'configure');

/** winston 3. */
export const instrumentWinston = ({ module }: ModuleOptions): Off => {
  const classes = new SeenClasses();
  const see = (exports: Winston): undefined => {
    classes.replace(loggersOf(exports), 'write', writing);
  };
  return allOff([onModule('winston/lib/winston/logger.js', module, see), classes.off]);
};
