// POST /v1/traces: OTLP/HTTP in protobuf and JSON. A success means that the spans are on the disk; what was not kept is said with its reason.
import { getHeapStatistics } from 'node:v8';
import { type Appended, appendValid } from '../check-span.js';
import {
  DECODE_LIMITS,
  type DecodedTraces,
  type DecodeLimits,
  describeRefusals,
  newKnownParts,
} from '../formats/decode-context.js';
import { decodeOtlpJson } from '../formats/otlp/read-json.js';
import { decodeOtlpProtobuf } from '../formats/otlp/read-protobuf.js';
import { encodeSuccess, type PartialSuccess, sendBytes, sendJson, successJson } from './answer.js';
import { HttpError, tryLater } from './http-error.js';
import type { ArchiveWriter } from './ports.js';
import { type BodyBudget, withBody } from './read-body.js';
import { contentTypeOf, type Route } from './request-handler.js';

const PROTOBUF = 'application/x-protobuf';
const JSON_TYPE = 'application/json';

/** What came in so far. */
export interface IngestStats {
  requests: number;
  spans: number;
  /** Spans that cannot be kept as they are. */
  spansInvalid: number;
  /** Spans that their sender was told to send again: the archive had no room for them, or they did not get to the disk. */
  spansRefused: number;
}

/** While it is read a value takes this of the heap at most, with what it is read from and what becomes of it. */
const HEAP_BYTES_AN_ITEM = 2048;

/** What one body may hold in a process whose heap has so many bytes at most. */
export const bodyLimits = (heapBytes: number): Required<Pick<DecodeLimits, 'maxItems'>> => ({
  maxItems: Math.max(1, Math.min(DECODE_LIMITS.maxItems, Math.floor(heapBytes / HEAP_BYTES_AN_ITEM))),
});

const reservation = (decoded: DecodedTraces, { done, invalid, reason }: Appended): PartialSuccess | undefined => {
  const full = decoded.spans.length - done;
  const rejectedSpans = decoded.refused + invalid + full;
  if (rejectedSpans === 0) return undefined;
  const reasons = [
    describeRefusals(decoded),
    invalid > 0 ? `${invalid} that cannot be: ${reason}` : '',
    full > 0 ? `${full} beyond what the archive can hold now` : '',
  ];
  return { rejectedSpans, errorMessage: `spans were not kept: ${reasons.filter((one) => one !== '').join(', ')}` };
};

/** What became of a request's spans. No span: many requests wait for the disk at a time, and what they were read from must not wait with them. */
interface Taken {
  readonly taken: number;
  readonly invalid: number;
  readonly refused: number;
  readonly partial: PartialSuccess | undefined;
}

const takeAll = (archive: ArchiveWriter, decoded: DecodedTraces, stats: IngestStats): Taken => {
  const { spans } = decoded;
  stats.requests++;
  try {
    const appended = appendValid(archive, spans);
    const { done, taken, invalid } = appended;
    if (done === 0 && spans.length > 0) throw tryLater(503, 'the archive can hold no more spans now');
    const partial = reservation(decoded, appended);
    return { taken, invalid: decoded.refused + invalid, refused: spans.length - done, partial };
  } catch (error) {
    // The sender may come again, with all of them.
    stats.spansRefused += spans.length;
    throw error;
  }
};

/**
 * Gives one flush to all requests that wait for one: a disk syncs once for many. One runs at a time, and at most one more is due; none is
 * answered by a flush that began before its spans were appended.
 */
const sharedFlush = (archive: ArchiveWriter): (() => Promise<void>) => {
  let running: Promise<void> = Promise.resolve();
  let due: Promise<void> | undefined;
  const afterRunning = async (): Promise<void> => {
    // Those who waited for it were told.
    await running.catch(() => undefined);
    due = undefined;
    running = archive.flush();
    return running;
  };
  return () => {
    due ??= afterRunning();
    return due;
  };
};

/** The endpoint. */
export const ingestRoute = (
  archive: ArchiveWriter,
  maxBodyBytes: number,
  budget: BodyBudget,
  stats: IngestStats,
): Route => {
  const known = newKnownParts();
  const limits = bodyLimits(getHeapStatistics().heap_size_limit);
  const flush = sharedFlush(archive);
  return {
    method: 'POST',
    path: ['v1', 'traces'],
    isQuery: false,
    async handle({ request, response }) {
      const type = contentTypeOf(request);
      if (type !== PROTOBUF && type !== JSON_TYPE)
        throw new HttpError(415, `the content type must be ${PROTOBUF} or ${JSON_TYPE}`);
      const decode = type === PROTOBUF ? decodeOtlpProtobuf : decodeOtlpJson;
      const read = (body: Buffer): Taken => takeAll(archive, decode(body, limits, known), stats);
      const { taken, invalid, refused, partial } = await withBody(request, maxBodyBytes, budget, read);
      try {
        if (taken > 0) await flush();
      } catch (error) {
        stats.spansRefused += taken + refused;
        throw error;
      }
      stats.spans += taken;
      stats.spansInvalid += invalid;
      stats.spansRefused += refused;
      if (type === PROTOBUF) sendBytes(response, 200, PROTOBUF, encodeSuccess(partial));
      else sendJson(response, 200, successJson(partial));
    },
  };
};
