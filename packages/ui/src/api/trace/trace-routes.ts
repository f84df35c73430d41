// Endpoints of one trace: what the waterfall draws, what is known of one span, what is found in it, what links to it, and the trace as files of
// others.
import {
  type Call,
  divisionsIn,
  HttpError,
  queryRoute,
  type Route,
  required,
  traceIdOf,
} from '@spanline/archive/internal';
import { timeBreakdown } from 'spanline/internal/timeline';
import { apiGet } from '../api-route.js';
import type { ArchiveOf } from '../archive-of.js';
import type { FindAnswer, LinkAnswer, SpanAnswer, TraceAnswer } from './answers.js';
import { linkedFrom } from './linked-from.js';
import { divisionAnswer, laneAnswer } from './loop-answers.js';
import { findText, pairsOf } from './span-texts.js';
import { sendTraceFile } from './trace-file.js';
import { type ReadTrace, TraceReads } from './trace-reads.js';

/** Links of one answer. */
const MAX_LINKS = 5000;
/** Characters that are looked for. */
const MAX_TEXT = 500;

const traceAnswer = ({ drawn, lanes, indexOf }: ReadTrace): TraceAnswer => {
  const { order, names, services, startUnixNs, durationUs, leftOut, spans } = drawn;
  const startUnixUs = Number(startUnixNs) / 1000;
  const links: LinkAnswer[] = [];
  for (const [from, span] of order.entries())
    for (const { traceId, spanId } of span.links) links.push({ from, traceId, spanId });
  return {
    traceId: order[0].traceId,
    name: order[0].name,
    ...{ startUnixUs, durationUs, names, services, spans, leftOut },
    divisions:
      lanes.length === 0
        ? []
        : divisionsIn(order, indexOf).map((division) => divisionAnswer(spans.ids.indexOf(division.spanId), division)),
    lanes: lanes.map(({ process, rows }) => laneAnswer(process, rows, startUnixUs)),
    links: links.slice(0, MAX_LINKS),
    linksLeftOut: Math.max(0, links.length - MAX_LINKS),
  };
};

const spanAnswer = ({ spans, indexOf }: ReadTrace, { query }: Call): SpanAnswer => {
  const id = required(query, 'span');
  const span = spans.find(({ spanId }) => spanId === id);
  if (span === undefined) throw new HttpError(404, `the trace has no span ${id}`);
  const index = indexOf(span);
  const division = index && timeBreakdown(index, span);
  const { spanId, name, kind, status, properties, resource, events, links, startUnixNs } = span;
  return {
    ...{ spanId, name, kind },
    status: [status.code, status.message].filter((text) => text !== '').join(': '),
    properties: pairsOf(properties),
    resource: pairsOf(resource.properties),
    events: events.map((event) => ({
      name: event.name,
      atUs: Number(event.timeUnixNs - startUnixNs) / 1000,
      properties: pairsOf(event.properties),
    })),
    links: links.map((link) => ({ traceId: link.traceId, spanId: link.spanId })),
    division: division && divisionAnswer(-1, division),
  };
};

const findAnswer = async ({ drawn }: ReadTrace, { query, signal }: Call): Promise<FindAnswer> => {
  const text = required(query, 'text');
  if (text.length > MAX_TEXT) throw new HttpError(400, `the parameter text must have at most ${MAX_TEXT} characters`);
  return { places: await findText(drawn.order, text, signal) };
};

/** The routes of one trace. */
export const traceRoutes = (archiveOf: ArchiveOf): Route[] => {
  const reads = new TraceReads();
  const idOf = ({ query }: Call): string => traceIdOf('id', required(query, 'id'));
  const known = async (call: Call): Promise<ReadTrace> => reads.known(await archiveOf(call), idOf(call), call.signal);
  return [
    apiGet('trace', async (call) => traceAnswer(await reads.fresh(await archiveOf(call), idOf(call), call.signal))),
    apiGet('trace/span', async (call) => spanAnswer(await known(call), call)),
    apiGet('trace/find', async (call) => findAnswer(await known(call), call)),
    apiGet('trace/linked', async (call) => linkedFrom(await archiveOf(call), await known(call), call.signal)),
    queryRoute('/ui/api/trace/file', async (call) => sendTraceFile(await known(call), call)),
  ];
};
