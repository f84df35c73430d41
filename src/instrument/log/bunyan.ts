// Trace ids in the records of bunyan: `trace_id`, `span_id` and `trace_flags`, unless a record has one of them already. A record is made for each call, from
// what the caller gave and what its logger has.
import type { Off } from '../channel.js';
import { type ModuleOptions, onModule } from '../on-module.js';
import { onCall, type Prototype } from '../replace-method.js';
import { currentIds, hasIds } from './ids.js';

const addIds = (_: unknown, [record]: readonly unknown[]): void => {
  if (typeof record !== 'object' || record === null || hasIds(record)) return;
  Object.assign(record, currentIds());
};

/** bunyan 1. */
export const instrumentBunyan = ({ module }: ModuleOptions): Off =>
  onModule<{ readonly prototype?: Prototype }>(
    'bunyan',
    module,
    ({ prototype }) => prototype && onCall(prototype, '_emit', addIds),
  );
