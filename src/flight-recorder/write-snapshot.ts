// Writes a snapshot to a file in a format that other tools read; for Perfetto with the event-loop timeline beside the traces, which are read twice,
// because an arrow needs both its ends. The file is there whole or not at all, and no stretch of the work holds the event loop: a service writes it
// while it serves.

import { stat } from 'node:fs/promises';
import { OptionError } from '../base/errors.js';
import { runAsync } from '../base/files/fs-steps.js';
import { WholeFile } from '../base/files/whole-file.js';
import { ownResource } from '../formats/library.js';
import { type PerfettoSpans, PerfettoWriter } from '../formats/perfetto/write-perfetto.js';
import {
  documentPieces,
  JAEGER_DOCUMENT,
  OTLP_DOCUMENT,
  OTLP_LINES,
  type TraceDocument,
} from '../formats/trace-documents.js';
import type { BlockSnapshot } from './block-snapshot.js';
import { notWritten, SNAPSHOT_FILE, writeSnapshotFile } from './snapshot-file.js';
import { SnapshotReading, shownRecord, shownResource, shownView } from './snapshot-reading.js';
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

/** Formats of {@link writeSnapshot}. */
export const SNAPSHOT_FORMATS = ['otlp-lines', 'otlp', 'jaeger', 'perfetto', 'flight'] as const;

/**
 * `otlp-lines`: OTLP/JSON, a document a line and a trace; `otlp`: the same in one document; `jaeger`: the document that Jaeger's UI takes;
 * `perfetto`: a trace for ui.perfetto.dev, the only one of these with the event-loop timeline; `flight`: as the recorder itself writes it, with
 * everything.
 */
export type SnapshotFormat = (typeof SNAPSHOT_FORMATS)[number];

/** Options of {@link writeSnapshot}. */
export interface WriteSnapshotOptions {
  /** Default `otlp-lines`. */
  readonly format?: SnapshotFormat;
  /** Ends the work; nothing of the file stays. */
  readonly signal?: AbortSignal;
}

/** What was written. */
export interface WrittenSnapshot {
  /** Not with `flight`, which needs not look for traces. */
  readonly traceCount?: number;
  readonly spanCount: number;
  readonly bytes: number;
}

const TEXTS: Readonly<Record<'otlp-lines' | 'otlp' | 'jaeger', TraceDocument>> = {
  'otlp-lines': OTLP_LINES,
  otlp: OTLP_DOCUMENT,
  jaeger: JAEGER_DOCUMENT,
};

const toFile = async (path: string, pieces: AsyncIterable<Buffer>): Promise<number> => {
  let bytes = 0;
  const file = await runAsync(WholeFile.open(path, { ...SNAPSHOT_FILE, takesSpecial: true }));
  try {
    for await (const piece of pieces) {
      bytes += piece.length;
      await runAsync(file.write(piece));
    }
    await runAsync(file.finish());
  } catch (error) {
    await runAsync(file.abort());
    throw error;
  }
  return bytes;
};

const isOfFile = (error: unknown): boolean =>
  (error as NodeJS.ErrnoException).syscall !== undefined ||
  (error as { readonly code?: unknown }).code === 'ERR_SPANLINE_FILE';

// A recorder may be that of another copy of the library, and so may be its class.
const isOfBlocks = (snapshot: Snapshot): snapshot is BlockSnapshot =>
  (snapshot as Partial<BlockSnapshot>).parts !== undefined;

const writeRaw = async (snapshot: Snapshot, path: string): Promise<WrittenSnapshot> => {
  if (!isOfBlocks(snapshot))
    throw new OptionError('Format "flight" is for snapshots of a recorder or of its files; choose another format.');
  await writeSnapshotFile(snapshot, path);
  const { size } = await stat(path);
  return { spanCount: snapshot.spanCount, bytes: size };
};

/**
 * Write a snapshot to a file that other tools read. Use it in the service itself, or on a file that the recorder has written.
 *
 * Spans that are open end at the time of the snapshot and have the property `spanline.open`; the first span of a trace that is recorded here
 * only has `spanline.sampled: false`; the resource has the reason of the snapshot, by `spanline.snapshot.reason` and
 * `spanline.snapshot.text`. The work is done in slices of 1.5 ms between turns of the event loop.
 *
 * Rejects with `ERR_SPANLINE_FLIGHT_FILE` where the file cannot be written, with `ERR_SPANLINE_FLIGHT_ABORTED` when the signal fires; either way
 * nothing of the file stays. Rejects with `ERR_SPANLINE_OPTION` for an unknown format.
 *
 * @param path The file, with mode 0600 where none is replaced; its directory is made when it is missing.
 *
 * @example
 * ```ts
 * configure({ flightRecorder: {} });
 * Span.root('GET /query').end();
 * const { spanCount } = await writeSnapshot(snapshot(), 'last.perfetto-trace', { format: 'perfetto' });
 * console.assert(spanCount === 1);
 * ```
 */
export const writeSnapshot = async (
  snapshot: Snapshot,
  path: string,
  { format = 'otlp-lines', signal }: WriteSnapshotOptions = {},
): Promise<WrittenSnapshot> => {
  if (!SNAPSHOT_FORMATS.includes(format))
    throw new OptionError(`Option "format" must be one of ${SNAPSHOT_FORMATS.join(', ')}, not ${String(format)}.`);
  const reading = new SnapshotReading(snapshot, signal);
  reading.throwIfAborted();
  if (format === 'flight') return writeRaw(snapshot, path);
  const pieces =
    format === 'perfetto'
      ? snapshotPerfetto(reading)
      : documentPieces(TEXTS[format], reading.shown(), (bytes) =>
          reading.isOver(bytes) ? reading.pause() : undefined,
        );
  try {
    const bytes = await toFile(path, pieces);
    return { traceCount: reading.traceCount, spanCount: reading.spanCount, bytes };
  } catch (error) {
    throw isOfFile(error) ? notWritten(path, error) : error;
  }
};
