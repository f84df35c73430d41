// Requests among spans: those with which work begins in a process. Of the other spans nothing is decoded that is not needed to tell them apart.
import {
  type ArchivedSpan,
  type ArchivedValue,
  hasRemoteParent,
  httpStatusBy,
  httpStatusOf,
  serviceOf,
  shownName,
} from 'spanline/internal/record';
import type { SpanRows } from '../rows/span-rows.js';
import { FLAGS_KEY } from '../stored-extras.js';
import { KINDS, STATUS_CODES } from '../values/fields.js';

/** A span with which work begins in a process: it has no parent, or one in another process, or it serves or consumes. */
export interface Request {
  readonly traceId: string;
  readonly name: string;
  readonly service: string;
  readonly startUnixNs: bigint;
  readonly endUnixNs: bigint;
  /** By its own status. */
  readonly isFailed: boolean;
  /** Its status code of HTTP. */
  readonly httpStatus?: number;
  /** The trace begins with it. */
  readonly isRoot: boolean;
}

const FAILED = STATUS_CODES.indexOf('error');
const SERVING: ReadonlySet<string> = new Set(['server', 'consumer']);

/** The span as a request, if it is one. */
export const requestOf = (span: ArchivedSpan): Request | undefined => {
  const { traceId, name, startUnixNs, endUnixNs, status, parentSpanId, kind, flags = 0 } = span;
  const isRoot = parentSpanId === '';
  if (!isRoot && !SERVING.has(kind) && !hasRemoteParent(flags)) return undefined;
  const isFailed = status.code === 'error';
  const httpStatus = httpStatusOf(span);
  return { traceId, name, service: serviceOf(span), startUnixNs, endUnixNs, isFailed, httpStatus, isRoot };
};

const valueIn = (rows: SpanRows, row: number, key: string): ArchivedValue | undefined => {
  for (let i = rows.firstProperty[row]; i < rows.firstProperty[row + 1]; i++)
    if (rows.texts[rows.keys[i]] === key) return rows.values[i];
  return undefined;
};

const flagsIn = (rows: SpanRows, row: number): number => Number(valueIn(rows, row, FLAGS_KEY) ?? 0);

const isRequest = (rows: SpanRows, row: number): boolean =>
  rows.hasParent[row] === 0 || SERVING.has(KINDS[rows.kind[row]]) || hasRemoteParent(flagsIn(rows, row));

/** The requests among rows, in order. */
export function* requestsIn(rows: SpanRows): Generator<Request, undefined, void> {
  for (let row = 0; row < rows.count; row++) {
    if (!isRequest(rows, row)) continue;
    yield {
      traceId: rows.traceId(row),
      name: rows.nameOf(row),
      service: shownName(rows.serviceOf(row)),
      startUnixNs: rows.start.values[row],
      endUnixNs: rows.end.values[row],
      isFailed: rows.status[row] === FAILED,
      httpStatus: httpStatusBy((key) => valueIn(rows, row, key)),
      isRoot: rows.hasParent[row] === 0,
    };
  }
}
