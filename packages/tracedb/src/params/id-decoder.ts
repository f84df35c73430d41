// Turns ids of traces back into params while others write. A trace written after the param set was read may use a param added since:
// then the set is read anew, once a batch. It must never leave out a trace whose id it cannot read.
import { TraceDbError } from '../tracedb-error.js';
import type { CallDeadline } from './call-deadline.js';
import type { OpsRow } from './ops-row.js';
import type { OrderedParamSet } from './ordered-param-set.js';
import type { Params } from './param-text.js';

/** The params of ids, in their order. */
export type DecodeIds = (ids: readonly string[]) => Promise<readonly Params[]>;

/** Decodes ids of the tile whose param set is in `row`; `known` is what was read of it last. */
export const idDecoder = (row: OpsRow, known: OrderedParamSet, deadline: CallDeadline): DecodeIds => {
  let ops = known;
  return async (ids) => {
    try {
      return ids.map((id) => ops.decode(id));
    } catch (error) {
      if (!(error instanceof TraceDbError)) throw error;
      ops = await row.read(deadline.next());
      return ids.map((id) => ops.decode(id));
    }
  };
};
