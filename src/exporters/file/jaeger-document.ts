// The document that Jaeger's UI takes: the latest traces, encoded, within bounds. The oldest trace makes room for a new
// one; it is counted. Spans are not kept, only their bytes.
import { getOrMake } from '../../base/maps/maps.js';
import type { Resource } from '../../collector/reporter.js';
import { shownTraceId } from '../../formats/jaeger-json/keys.js';
import { processJson, spanJson } from '../../formats/jaeger-json/write-traces.js';
import { attributesOf } from '../../formats/library.js';
import type { FinishedSpan } from '../../record/finished-span.js';

interface TraceEntry {
  readonly spans: Buffer[];
  byteLength: number;
  /** Process as JSON, and its id within the trace: late spans may come with another resource. */
  readonly processes: Map<string, string>;
}

/** Chunks are joined up to this size, so that writing takes few calls and no step is long. */
const CHUNK_BYTES = 256 << 10;

export class JaegerDocument {
  /** Oldest first. */
  readonly #traces = new Map<string, TraceEntry>();
  readonly #processJson = new WeakMap<Resource, string>();
  readonly #maxTraces: number;
  readonly #maxBytes: number;
  #byteLength = 0;
  tracesDropped = 0;
  spansDropped = 0;
  /** Of traces that alone would pass the bound. */
  spansRefused = 0;

  constructor(maxTraces: number, maxBytes: number) {
    this.#maxTraces = maxTraces;
    this.#maxBytes = maxBytes;
  }

  get traceCount(): number {
    return this.#traces.size;
  }

  /** Gives the bytes the span takes; 0 when there is no room for it. */
  add(span: FinishedSpan, resource: Resource): number {
    const { traceId } = span;
    const entry: TraceEntry = this.#traces.get(traceId) ?? { spans: [], byteLength: 0, processes: new Map() };
    const json = this.#jsonOf(resource);
    const known = entry.processes.get(json);
    const processId = known ?? `p${entry.processes.size + 1}`;
    const bytes = Buffer.from(spanJson(span, processId));
    const added = bytes.length + (known === undefined ? Buffer.byteLength(json) : 0);
    if (entry.byteLength + added > this.#maxBytes) {
      this.spansRefused++;
      return 0;
    }
    entry.processes.set(json, processId);
    entry.spans.push(bytes);
    entry.byteLength += added;
    this.#byteLength += added;
    this.#traces.set(traceId, entry);
    this.#makeRoom(entry);
    return bytes.length;
  }

  /** The whole document, in chunks of some hundred kilobytes. */
  *chunks(): Generator<Buffer> {
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
    yield Buffer.from('{"data":[');
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
    yield Buffer.from(`\n],"total":0,"limit":0,"offset":0,"errors":null}\n`);
  }

  #jsonOf(resource: Resource): string {
    return getOrMake(this.#processJson, resource, () => processJson({ properties: attributesOf(resource) }));
  }

  #makeRoom(current: TraceEntry): void {
    if (this.#byteLength <= this.#maxBytes && this.#traces.size <= this.#maxTraces) return;
    for (const [traceId, entry] of this.#traces) {
      if (entry === current) continue;
      this.#traces.delete(traceId);
      this.#byteLength -= entry.byteLength;
      this.tracesDropped++;
      this.spansDropped += entry.spans.length;
      if (this.#byteLength <= this.#maxBytes && this.#traces.size <= this.#maxTraces) return;
    }
  }
}

const COMMA = Buffer.from(',');
