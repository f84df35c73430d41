// A trace of an archive for Perfetto: its spans by process, each process with its lane where it kept one. Lets the event loop go round meanwhile.
import { processOf } from '@spanline/archive';
import { getOrMake, Slices } from 'spanline/internal/base';
import { type PerfettoSpans, PerfettoWriter } from 'spanline/internal/formats';
import { type ArchivedSpan, ArchivedView, propertyOf, UNKNOWN_SERVICE } from 'spanline/internal/record';
import { OPEN_KEY, timelineTracks } from 'spanline/internal/timeline';
import type { ReadTrace } from './trace-reads.js';

const drawnSpans = (spans: readonly ArchivedSpan[]): PerfettoSpans => {
  const view = new ArchivedView();
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
export const tracePerfetto = async ({ spans, lanes }: ReadTrace, signal: AbortSignal): Promise<Buffer> => {
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
  const view = new ArchivedView();
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
    const rows = lanes.find((lane) => lane.process === process)?.rows ?? [];
    if (rows.length > 0) await write(timelineTracks(writer, pid, rows));
    await write(writer.trace(traceId, drawnSpans(own)));
  }
  pieces.push(Buffer.from(writer.take()));
  return Buffer.concat(pieces);
};
