// Endpoints of one trace: what the waterfall draws, what is known of one span, and the trace as files of others.
import type { Archive } from '../../../archive/archive.js';
import { divisionsIn } from '../../../archive/lane/divisions.js';
import { processOf } from '../../../archive/lane/lane-stretch.js';
import { archiveSources, windowOf } from '../../../archive/lane/loop-source.js';
import { sendBytes } from '../../../archive/server/answer.js';
import { HttpError } from '../../../archive/server/http-error.js';
import { required, traceIdOf } from '../../../archive/server/query-values.js';
import { type Call, queryRoute, type Route } from '../../../archive/server/route.js';
import { divide } from '../../../flight-recorder/division/divide.js';
import { DivisionIndex } from '../../../flight-recorder/division/division-index.js';
import { formatValue } from '../../../formats/terminal/values.js';
import {
  documentPieces,
  JAEGER_DOCUMENT,
  OTLP_DOCUMENT,
  type TraceDocument,
} from '../../../formats/trace-documents.js';
import type { ArchivedProperties, ArchivedSpan } from '../../../trace/archived-span.js';
import { apiGet } from '../api-route.js';
import type { SpanAnswer, TraceAnswer } from './answers.js';
import { divisionAnswer, laneAnswer } from './loop-answers.js';
import { traceColumns } from './trace-columns.js';

const spansOf = async (archive: Archive, { query, signal }: Call): Promise<ArchivedSpan[]> => {
  const traceId = traceIdOf('id', required(query, 'id'));
  const spans = await archive.trace(traceId, { signal });
  if (spans.length === 0) throw new HttpError(404, `the archive has no trace ${traceId}`);
  return spans;
};

/** The processes that kept a lane while these spans were under way, ready to divide time. */
const loopsOf = async (archive: Archive, spans: readonly ArchivedSpan[], signal: AbortSignal) => {
  // Spans of one process share one resource.
  const own = new Set([...new Set(spans.map(({ resource }) => resource))].map(processOf));
  const sources = (await archiveSources(archive, windowOf(spans), { signal })).filter(({ process }) =>
    own.has(process),
  );
  const indexes = new Map(
    sources.map((one) => [one.process, new DivisionIndex(one.spans, one.lane, one.covered)] as const),
  );
  return {
    lane: sources.flatMap(({ lane }) => lane),
    indexOf: (span: ArchivedSpan) => indexes.get(processOf(span.resource)),
  };
};

const traceAnswer = async (archive: Archive, call: Call): Promise<TraceAnswer> => {
  const spans = await spansOf(archive, call);
  const { order, names, services, startUnixNs, durationUs, leftOut, spans: columns } = traceColumns(spans);
  const { lane, indexOf } = await loopsOf(archive, spans, call.signal);
  const places = new Map(order.map(({ spanId }, place) => [spanId, place]));
  const startUnixUs = Number(startUnixNs) / 1000;
  return {
    traceId: order[0].traceId,
    name: order[0].name,
    ...{ startUnixUs, durationUs, names, services, spans: columns, leftOut },
    divisions: divisionsIn(order, indexOf).map((division) =>
      divisionAnswer(places.get(division.spanId) as number, division),
    ),
    lane: laneAnswer(lane, startUnixUs),
  };
};

const pairs = (properties: ArchivedProperties): (readonly [string, string])[] =>
  Object.entries(properties).map(([key, value]) => [key, formatValue(value)]);

const spanAnswer = async (archive: Archive, call: Call): Promise<SpanAnswer> => {
  const spans = await spansOf(archive, call);
  const id = required(call.query, 'span');
  const span = spans.find(({ spanId }) => spanId === id);
  if (span === undefined) throw new HttpError(404, `the trace has no span ${id}`);
  const { indexOf } = await loopsOf(archive, [span], call.signal);
  const index = indexOf(span);
  const division = index && divide(index, span);
  const { spanId, name, kind, status, properties, resource, events, links, startUnixNs } = span;
  return {
    ...{ spanId, name, kind },
    status: [status.code, status.message].filter((text) => text !== '').join(': '),
    properties: pairs(properties),
    resource: pairs(resource.properties),
    events: events.map((event) => ({
      name: event.name,
      atUs: Number(event.timeUnixNs - startUnixNs) / 1000,
      properties: pairs(event.properties),
    })),
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    division: division && divisionAnswer(-1, division),
  };
};

const DOCUMENTS: Readonly<Record<string, TraceDocument>> = { jaeger: JAEGER_DOCUMENT, otlp: OTLP_DOCUMENT };

const download = async (archive: Archive, call: Call): Promise<void> => {
  const format = required(call.query, 'format');
  const document = Object.hasOwn(DOCUMENTS, format) ? DOCUMENTS[format] : undefined;
  if (document === undefined)
    throw new HttpError(400, `the parameter format must be one of ${Object.keys(DOCUMENTS).join(', ')}`);
  const spans = await spansOf(archive, call);
  const one = async function* () {
    yield { traceId: spans[0].traceId, spans };
  };
  const pieces: Buffer[] = [];
  for await (const piece of documentPieces(document, one())) pieces.push(Buffer.from(piece));
  sendBytes(call.response, 200, 'application/json', Buffer.concat(pieces));
};

/** The routes of one trace. */
export const traceRoutes = (archive: Archive): Route[] => [
  apiGet('trace', (call) => traceAnswer(archive, call)),
  apiGet('trace/span', (call) => spanAnswer(archive, call)),
  queryRoute('/ui/api/trace/file', (call) => download(archive, call)),
];
