// Jaeger's UI document in a file that is whole after every report. It replaces what an earlier process left there. Spans are not kept, only their
// bytes: those of the latest traces, within bounds. The oldest trace makes room for a new one; it is counted.

import { Slices } from '../../base/calls/timers.js';
import { type FsSteps, runAsync, runSync } from '../../base/files/fs-steps.js';
import { type WholeFileOptions, writeWhole } from '../../base/files/whole-file.js';
import { getOrMake } from '../../base/maps/maps.js';
import type { ReportBatch, Resource } from '../../collector/reporter.js';
import { shownTraceId } from '../../formats/jaeger-json/keys.js';
import { processJson, spanJson } from '../../formats/jaeger-json/write-traces.js';
import { attributesOf, NO_SCOPE } from '../../formats/library.js';
import { JAEGER_DOCUMENT } from '../../formats/trace-documents.js';
import type { FinishedSpan } from '../../record/finished-span.js';
import { BatchSpans, type Undelivered, UndeliveredByBatch } from '../batch-spans.js';
import { type FileFormat, toFileError } from './append-line.js';

interface TraceEntry {
  readonly spans: Buffer[];
  byteLength: number;
  /** Process as JSON, and its id within the trace: late spans may come with another resource. */
  readonly processes: Map<string, string>;
}

/** Not synced: it is written anew with every report. */
const WRITING: WholeFileOptions = { makesDirectory: true, isDurable: false };

/** Chunks are joined up to this size, so that writing takes few calls and no step is long. */
const CHUNK_BYTES = 256 << 10;

const COMMA = Buffer.from(',');

export class JaegerFile implements FileFormat {
  readonly #path: string;
  readonly #maxTraces: number;
  readonly #maxBytes: number;
  /** Oldest first. */
  readonly #traces = new Map<string, TraceEntry>();
  #byteLength = 0;
  readonly #processJson = new WeakMap<Resource, string>();
  /** Spans not taken into the document yet: it keeps what it took when writing fails. */
  readonly #untaken = new UndeliveredByBatch();
  readonly #counts = {
    spansWritten: 0,
    spansInvalid: 0,
    filesWritten: 0,
    tracesDropped: 0,
    spansDropped: 0,
    /** Of traces that alone would pass the bound. */
    spansRefused: 0,
  };

  constructor(path: string, maxTraces: number, maxBytes: number) {
    this.#path = path;
    this.#maxTraces = maxTraces;
    this.#maxBytes = maxBytes;
  }

  async report(batch: ReportBatch, signal: AbortSignal): Promise<void> {
    const slices = new Slices();
    for (const bytes of this.#take(batch, this.#untaken.of(batch))) {
      if (slices.isOver(bytes)) await slices.next();
      signal.throwIfAborted();
    }
    await runAsync(this.#write());
  }

  reportSync(batch: ReportBatch): void {
    for (const _bytes of this.#take(batch, this.#untaken.of(batch)));
    runSync(this.#write());
  }

  stats(): Readonly<Record<string, number>> {
    return { ...this.#counts, tracesInFile: this.#traces.size };
  }

  *#write(): FsSteps<void> {
    try {
      yield* writeWhole(this.#path, this.#chunks(), WRITING);
    } catch (error) {
      throw toFileError(this.#path, error);
    }
    this.#counts.filesWritten++;
  }

  /** Yields the bytes of each span taken. */
  *#take(batch: ReportBatch, untaken: Undelivered): Generator<number> {
    const spans = new BatchSpans(batch, NO_SCOPE);
    for (const { from, to } of untaken.ranges) {
      let next = from;
      try {
        while (next < to) yield this.#takeOne(spans, next++, batch.resource);
      } finally {
        // Also when the caller stops half-way.
        untaken.settle({ from, to: next });
      }
    }
  }

  #takeOne(spans: BatchSpans, index: number, resource: Resource): number {
    try {
      return this.#add(spans.viewAt(index), resource);
    } catch {
      // A value the types forbid, from an untyped caller: it must not hold up the spans around it.
      this.#counts.spansInvalid++;
      return 0;
    }
  }

  /** Gives the bytes the span takes; 0 when there is no room for it. */
  #add(span: FinishedSpan, resource: Resource): number {
    const entry: TraceEntry = this.#traces.get(span.traceId) ?? { spans: [], byteLength: 0, processes: new Map() };
    const json = this.#jsonOf(resource);
    const known = entry.processes.get(json);
    const processId = known ?? `p${entry.processes.size + 1}`;
    const bytes = Buffer.from(spanJson(span, processId));
    const added = bytes.length + (known === undefined ? Buffer.byteLength(json) : 0);
    if (entry.byteLength + added > this.#maxBytes) {
      this.#counts.spansRefused++;
      return 0;
    }
    entry.processes.set(json, processId);
    entry.spans.push(bytes);
    entry.byteLength += added;
    this.#byteLength += added;
    this.#traces.set(span.traceId, entry);
    this.#makeRoom(entry);
    this.#counts.spansWritten++;
    return bytes.length;
  }

  #jsonOf(resource: Resource): string {
    return getOrMake(this.#processJson, resource, () => processJson({ properties: attributesOf(resource) }));
  }

  #makeRoom(current: TraceEntry): void {
    for (const [traceId, entry] of this.#traces) {
      if (this.#byteLength <= this.#maxBytes && this.#traces.size <= this.#maxTraces) return;
      if (entry === current) continue;
      this.#traces.delete(traceId);
      this.#byteLength -= entry.byteLength;
      this.#counts.tracesDropped++;
      this.#counts.spansDropped += entry.spans.length;
    }
  }

  /** The whole document, in chunks of some hundred kilobytes. */
  *#chunks(): Generator<Buffer> {
    let pending: Buffer[] = [];
    let size = 0;
    for (const part of this.#parts()) {
      pending.push(part);
      size += part.length;
      if (size < CHUNK_BYTES) continue;
      yield Buffer.concat(pending, size);
      pending = [];
      size = 0;
    }
    yield Buffer.concat(pending, size);
  }

  *#parts(): Generator<Buffer> {
    yield Buffer.from(JAEGER_DOCUMENT.head);
    let isFirst = true;
    for (const [traceId, { spans, processes }] of this.#traces) {
      yield Buffer.from(`${isFirst ? '' : ','}\n{"traceID":"${shownTraceId(traceId)}","spans":[`);
      isFirst = false;
      for (let i = 0; i < spans.length; i++) {
        if (i > 0) yield COMMA;
        yield spans[i];
      }
      const members = [...processes].map(([json, id]) => `"${id}":${json}`);
      yield Buffer.from(`],"processes":{${members.join(',')}},"warnings":null}`);
    }
    yield Buffer.from(`\n${JAEGER_DOCUMENT.tail}`);
  }
}
