// A trace as a file of others: for Jaeger UI, as OTLP/JSON, for Perfetto with its spans by process, each process with its timeline where it kept one. The
// whole trace, also where the page draws a part of it. Lets the event loop go round meanwhile.
import { processOf } from '@spanline/archive';
import { type Call, HttpError, required, sendBytes, UNKNOWN_SERVICE } from '@spanline/archive/internal';
import { getOrMake, Slices } from 'spanline/internal/base';
import {
  documentPieces,
  JAEGER_DOCUMENT,
  OTLP_DOCUMENT,
  type PerfettoSpans,
  PerfettoWriter,
  type TraceDocument,
} from 'spanline/internal/formats';
import { type ArchivedSpan, ObjectView, propertyOf } from 'spanline/internal/record';
import { OPEN_KEY, timelineTracks } from 'spanline/internal/timeline';
import type { ReadTrace } from './trace-reads.js';

const drawnSpans = (spans: readonly ArchivedSpan[]): PerfettoSpans => {
  const view = new ObjectView();
  return {
    length: spans.length,
    span: (i) => view.of(spans[i]),
    isLocal: (i) => spans[i].isLocal === true,
    isOpen: (i) => propertyOf(spans[i].properties, OPEN_KEY) === true,
  };
};

/** Its own number, or one that no other process of the trace has been given. */
const pidOf = ({ resource }: ArchivedSpan, otherwise: number): number => {
  const pid = propertyOf(resource.properties, 'process.pid');
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : otherwise;
};

/** The bytes of the file. */
const tracePerfetto = async ({ spans, timelines }: ReadTrace, signal: AbortSignal): Promise<Buffer> => {
  const writer = new PerfettoWriter();
  const slices = new Slices();
  const pieces: Buffer[] = [];
  const write = async (steps: Iterable<undefined>): Promise<void> => {
    for (const _ of steps) {
      if (!slices.isOver()) continue;
      pieces.push(Buffer.from(writer.take()));
      await slices.next();
      signal.throwIfAborted();
    }
  };
  const byProcess = new Map<string, ArchivedSpan[]>();
  const view = new ObjectView();
  for (const span of spans) {
    getOrMake(byProcess, processOf(span.resource), () => []).push(span);
    if (span.links.length > 0) writer.see(view.of(span));
  }
  let number = 0;
  for (const [process, own] of byProcess) {
    number++;
    const [{ resource, startUnixNs, traceId }] = own;
    const pid = pidOf(own[0], number);
    const name = String(propertyOf(resource.properties, 'service.name') ?? UNKNOWN_SERVICE);
    writer.process({ name, pid }, Number(startUnixNs / 1000n), {
      name: `trace ${traceId}`,
      categories: ['trace'],
      more: Object.entries(resource.properties),
    });
    const rows = timelines.find((timeline) => timeline.process === process)?.rows ?? [];
    if (rows.length > 0) await write(timelineTracks(writer, pid, rows));
    await write(writer.trace(traceId, drawnSpans(own)));
  }
  pieces.push(Buffer.from(writer.take()));
  return Buffer.concat(pieces);
};

interface FileFormat {
  readonly type: string;
  readonly bytes: (trace: ReadTrace, signal: AbortSignal) => Promise<Buffer>;
}

const asDocument = (document: TraceDocument): FileFormat => ({
  type: 'application/json',
  bytes: async ({ spans }) => {
    const one = async function* () {
      yield { traceId: spans[0].traceId, spans };
    };
    const pieces: Buffer[] = [];
    for await (const piece of documentPieces(document, one())) pieces.push(Buffer.from(piece));
    return Buffer.concat(pieces);
  },
});

const FORMATS: Readonly<Record<string, FileFormat>> = {
  jaeger: asDocument(JAEGER_DOCUMENT),
  otlp: asDocument(OTLP_DOCUMENT),
  perfetto: { type: 'application/octet-stream', bytes: tracePerfetto },
};

/** Answers with the trace in the format that the request names. `HttpError` 400 for one that is none. */
export const sendTraceFile = async (trace: ReadTrace, { query, response, signal }: Call): Promise<void> => {
  const name = required(query, 'format');
  const format = Object.hasOwn(FORMATS, name) ? FORMATS[name] : undefined;
  if (format === undefined)
    throw new HttpError(400, `the parameter format must be one of ${Object.keys(FORMATS).join(', ')}`);
  sendBytes(response, 200, format.type, await format.bytes(trace, signal));
};
