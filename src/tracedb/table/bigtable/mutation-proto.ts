// Mutations in the form of the service. Values are not copied.
import type { protos } from '@google-cloud/bigtable';
import type { Mutation } from '../wide-column-table.js';

type MutationProto = protos.google.bigtable.v2.IMutation;

const DELETE_ROW: MutationProto = { deleteFromRow: {} };

// Beyond this many microseconds (in the year 2255) only text is exact.
const MAX_EXACT_MS = Math.floor(Number.MAX_SAFE_INTEGER / 1000);

const microsOf = (timestampMs: number): number | string =>
  timestampMs <= MAX_EXACT_MS ? timestampMs * 1000 : `${timestampMs}000`;

const proto = (mutation: Mutation): MutationProto => {
  if (mutation.type === 'delete-row') return DELETE_ROW;
  const { family: familyName } = mutation;
  const columnQualifier = Buffer.from(mutation.qualifier);
  if (mutation.type === 'delete-cell') return { deleteFromColumn: { familyName, columnQualifier } };
  const { value, timestampMs } = mutation;
  return { setCell: { familyName, columnQualifier, timestampMicros: microsOf(timestampMs), value } };
};

/** `mutations` as the service wants them, in their order. */
export const mutationProtos = (mutations: readonly Mutation[]): MutationProto[] => mutations.map(proto);
