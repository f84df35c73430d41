// A snapshot as a file for Perfetto: its traces, and the event-loop timeline beside them. In slices of time; the spans are read twice, because
// an arrow needs both its ends.
import { ownResource } from '../formats/library.js';
import { type PerfettoSpans, PerfettoWriter } from '../formats/perfetto/write-perfetto.js';
import { shownRecord, shownResource, shownView } from './shown-spans.js';
import type { SnapshotReading } from './snapshot-reading.js';
import type { Snapshot, SnapshotTrace } from './snapshot-types.js';
import { timelineTracks } from './timeline/timeline-tracks.js';

/** Bytes handed on at a time. */
const PIECE_BYTES = 64 * 1024;

/** Where the process has no number of its own. */
const UNKNOWN_PID = 1;

const pidOf = ({ resource }: Snapshot): number => {
  const pid = resource.attributes['process.pid'];
  return typeof pid === 'number' && Number.isSafeInteger(pid) && pid > 0 ? pid : UNKNOWN_PID;
};

/** The pieces of the file; each is valid until the next one is asked for. */
export const snapshotPerfetto = async function* (reading: SnapshotReading): AsyncGenerator<Buffer> {
  const { snapshot } = reading;
  const writer = new PerfettoWriter();
  const resource = ownResource(shownResource(snapshot));
  const view = shownView(snapshot);
  // Takes the steps of a part, and gives what is written whenever it is enough.
  const written = async function* (steps: Iterable<undefined>): AsyncGenerator<Buffer> {
    for (const _ of steps) {
      if (writer.length >= PIECE_BYTES) yield writer.take();
      if (reading.isOver()) await reading.pause();
    }
  };
  const seeLinks = function* ({ spans }: SnapshotTrace): Generator<undefined> {
    for (const { record } of spans) {
      if (record.links.length > 0) writer.see(view.of(record));
      yield;
    }
  };
  const drawn = (trace: SnapshotTrace): PerfettoSpans => ({
    length: trace.spans.length,
    span: (i) => view.of(shownRecord(trace, i)),
    isLocal: (i) => trace.spans[i].record.isLocal,
    isOpen: (i) => trace.spans[i].isOpen,
  });

  for await (const trace of reading.traces()) yield* written(seeLinks(trace));
  const { reason, resource: of, takenUnixUs, bufferedMs, tornRows } = snapshot;
  const pid = pidOf(snapshot);
  writer.process({ name: of.serviceName, pid }, takenUnixUs, {
    name: `snapshot: ${reason.kind}`,
    categories: ['snapshot'],
    more: [
      ...Object.entries(resource.properties),
      ['snapshot.buffered_ms', bufferedMs],
      ['snapshot.torn_rows', tornRows],
      ...(reason.traceId === '' ? [] : [['trace.id', reason.traceId] as const]),
    ],
  });
  yield* written(timelineTracks(writer, pid, snapshot.timeline));
  for await (const trace of reading.traces()) yield* written(writer.trace(trace.traceId, drawn(trace)));
  yield writer.take();
};
