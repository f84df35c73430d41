// Endpoints of one trace: what the waterfall draws, with the timelines of processes, what is known of one span and where its time went, what is found
// in the trace, what links to it, and the trace as files of others. A value must come whole, or say how much is missing. A span knows what it links
// to and not what links to it: the archive is searched, from the time on at which there was something to link to.
import type { Archive } from '@spanline/archive';
import {
  breakdownsIn,
  type Call,
  HttpError,
  processLabel,
  propertyText,
  queryRoute,
  type Route,
  required,
  traceIdOf,
} from '@spanline/archive/internal';
import { getOrMake, inSlices } from 'spanline/internal/base';
import type { ArchivedProperties, ArchivedSpan, ArchivedValue } from 'spanline/internal/record';
import {
  formatBreakdown,
  namedStack,
  stackName,
  type TimeBreakdown,
  type TimelinePart,
  type TimelineRow,
  timeBreakdown,
} from 'spanline/internal/timeline';
import { type ArchiveOf, apiGet } from '../api-route.js';
import { withinBytes } from '../traces/search-of.js';
import type {
  BreakdownAnswer,
  FindAnswer,
  LinkAnswer,
  LinkedAnswer,
  LinkedFromAnswer,
  PartKind,
  SpanAnswer,
  TimelineAnswer,
  TimelineStretchAnswer,
  TraceAnswer,
} from './answers.js';
import { sendTraceFile } from './trace-file.js';
import { type ReadTrace, TraceReads } from './trace-reads.js';

/** Stretches of one process in an answer; the longest. */
const MAX_STRETCHES = 5000;
const HOLDERS = 3;

/** A breakdown, for the span at a place. */
export const breakdownAnswer = (span: number, breakdown: TimeBreakdown): BreakdownAnswer => {
  const parts: [PartKind, number][] = [
    ['own', breakdown.ownUs],
    ['loop', breakdown.othersUs],
    ['gc', breakdown.gcUs],
    ['untraced', breakdown.untracedUs],
    ['short', breakdown.shortUs],
    ['waiting', breakdown.waitingUs],
    ['unknown', breakdown.unknownUs],
  ];
  return {
    span,
    text: formatBreakdown(breakdown),
    durationUs: breakdown.durationUs,
    parts: parts.filter(([, us]) => us > 0).map(([kind, us]) => ({ kind, us })),
    others: breakdown.others,
    frames: breakdown.untracedFrames.map(({ frames, us }) => ({ frames: namedStack(frames), us })),
    poolUs: breakdown.poolUs,
    poolWaits: breakdown.poolWaits,
  };
};

/** Those that had the loop longest in a stretch. */
const holdersOf = (parts: readonly TimelinePart[]): TimelineStretchAnswer['holders'] => {
  const byHolder = new Map<string, { name: string; traceId: string; us: number }>();
  for (const { name, traceId, frames, startUs, endUs } of parts) {
    const shown = name || stackName(frames) || 'untraced';
    const holder = getOrMake(byHolder, traceId + shown, () => ({ name: shown, traceId, us: 0 }));
    holder.us += endUs - startUs;
  }
  return [...byHolder.values()].sort((a, b) => b.us - a.us).slice(0, HOLDERS);
};

/**
 * The timeline of a process as it is drawn; `startUs` is Unix time in microseconds at which the trace began. Runs are in the spans themselves, and
 * short turns in their breakdowns: both are for the breakdown of time.
 */
export const timelineAnswer = (process: string, rows: readonly TimelineRow[], startUs: number): TimelineAnswer => {
  const drawn = rows.flatMap(({ kind, ...row }) => (kind === 'run' || kind === 'turns' ? [] : [{ kind, ...row }]));
  return {
    process: processLabel(process),
    stretches: drawn
      .toSorted((a, b) => b.endUs - b.startUs - (a.endUs - a.startUs))
      .slice(0, MAX_STRETCHES)
      .sort((a, b) => a.startUs - b.startUs)
      .map((row) => ({
        kind: row.kind,
        startUs: row.startUs - startUs,
        durationUs: row.endUs - row.startUs,
        detail: row.detail,
        holders: holdersOf(row.parts),
      })),
    leftOut: Math.max(0, drawn.length - MAX_STRETCHES),
  };
};

/** Characters of one value in an answer. */
const MAX_VALUE_TEXT = 20_000;

const valueText = (value: ArchivedValue): string => {
  const text = propertyText(value);
  return text.length <= MAX_VALUE_TEXT
    ? text
    : `${text.slice(0, MAX_VALUE_TEXT)} … and ${text.length - MAX_VALUE_TEXT} characters more`;
};

/** Properties as keys and texts. */
const pairsOf = (properties: ArchivedProperties): (readonly [key: string, text: string])[] =>
  Object.entries(properties).map(([key, value]) => [key, valueText(value)]);

const hasPair = (properties: ArchivedProperties, wanted: string): boolean => {
  for (const key of Object.keys(properties)) {
    if (`${key}=${propertyText(properties[key])}`.toLowerCase().includes(wanted)) return true;
  }
  return false;
};

/** `wanted` in lower case: in the name, the status, a property as `key=value`, or an event. */
const hasText = ({ name, spanId, status, properties, events }: ArchivedSpan, wanted: string): boolean =>
  name.toLowerCase().includes(wanted) ||
  spanId === wanted ||
  status.message.toLowerCase().includes(wanted) ||
  hasPair(properties, wanted) ||
  events.some((event) => event.name.toLowerCase().includes(wanted) || hasPair(event.properties, wanted));

/** Places of the spans that have a text, upper and lower case alike. Lets other requests go on meanwhile. */
const findText = async (spans: readonly ArchivedSpan[], text: string, signal: AbortSignal): Promise<number[]> => {
  const wanted = text.toLowerCase();
  const places: number[] = [];
  await inSlices(
    spans.length,
    (place) => {
      if (hasText(spans[place], wanted)) places.push(place);
      return undefined;
    },
    signal,
  );
  return places;
};

/** Traces that are looked at, the newest. */
const MAX_TRACES = 50;
/** Links that are told. */
const MAX_LINKED = 200;
/** What reading those traces may cost in memory. */
const MAX_BYTES = 64 * 2 ** 20;

/** The links to a trace, as the archive has them now. */
const linkedFrom = async (archive: Archive, { drawn }: ReadTrace, signal: AbortSignal): Promise<LinkedFromAnswer> => {
  const [{ traceId }] = drawn.order;
  const search = { linkedTo: traceId, fromUnixNs: drawn.startUnixNs, limit: MAX_TRACES + 1 };
  const found = await archive.search(search, { signal });
  const wanted = withinBytes(found.slice(0, MAX_TRACES), MAX_BYTES);
  const traces = await archive.traces(
    wanted.map((summary) => summary.traceId),
    { signal },
  );
  const links = wanted.flatMap((summary): LinkedAnswer[] =>
    (traces.get(summary.traceId) ?? []).flatMap((span) =>
      span.links
        .filter((link) => link.traceId === traceId)
        .map((link) => ({
          traceId: summary.traceId,
          name: summary.name,
          startUs: Number(summary.startUnixNs / 1000n),
          spanId: span.spanId,
          spanName: span.name,
          to: link.spanId,
        })),
    ),
  );
  return { links: links.slice(0, MAX_LINKED), isFull: wanted.length < found.length || links.length > MAX_LINKED };
};

/** Links of one answer. */
const MAX_LINKS = 5000;
/** Characters that are looked for. */
const MAX_TEXT = 500;

const traceAnswer = ({ drawn, timelines, indexOf }: ReadTrace): TraceAnswer => {
  const { order, names, services, startUnixNs, durationUs, leftOut, spans } = drawn;
  const startUnixUs = Number(startUnixNs) / 1000;
  const links: LinkAnswer[] = [];
  for (const [from, span] of order.entries())
    for (const { traceId, spanId } of span.links) links.push({ from, traceId, spanId });
  return {
    traceId: order[0].traceId,
    name: order[0].name,
    ...{ startUnixUs, durationUs, names, services, spans, leftOut },
    breakdowns:
      timelines.length === 0
        ? []
        : breakdownsIn(order, indexOf).map((breakdown) =>
            breakdownAnswer(spans.ids.indexOf(breakdown.spanId), breakdown),
          ),
    timelines: timelines.map(({ process, rows }) => timelineAnswer(process, rows, startUnixUs)),
    links: links.slice(0, MAX_LINKS),
    linksLeftOut: Math.max(0, links.length - MAX_LINKS),
  };
};

const spanAnswer = ({ spans, indexOf }: ReadTrace, { query }: Call): SpanAnswer => {
  const id = required(query, 'span');
  const span = spans.find(({ spanId }) => spanId === id);
  if (span === undefined) throw new HttpError(404, `the trace has no span ${id}`);
  const index = indexOf(span);
  const breakdown = index && timeBreakdown(index, span);
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
    breakdown: breakdown && breakdownAnswer(-1, breakdown),
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
