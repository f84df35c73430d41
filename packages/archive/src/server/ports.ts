// What the server needs of an archive, and nothing more; the spans of found traces in batches, so that an answer of many traces takes the memory of a
// few; and what a query met that cannot be read. Its answer must say so: one that looks whole would be taken for all there is.

import type { ArchivedSpan } from 'spanline/internal/record';
import { MISSING_SERVICE } from '../formats/jaeger-json/shown-trace.js';
import type { TraceSearch, TraceSummary } from '../trace-search.js';
import type { Operation } from '../trace-source.js';
import { HttpError } from './http-error.js';

/** Options of a read. */
export interface ReadOptions {
  /** Ends the read: the client went away, or its time is over. */
  readonly signal?: AbortSignal;
  /** Told of each file that cannot be read, or not whole, while the others answer. */
  readonly onDamage?: (damage: { readonly file: string; readonly message: string }) => void;
  /** What spans are listed and found under whose resource names no service. */
  readonly unnamedService?: string;
}

/** The reading side of an archive. */
export interface ArchiveReader {
  /** Traces by id; those that are not there are left out. */
  traces(ids: readonly string[], options?: ReadOptions): Promise<ReadonlyMap<string, readonly ArchivedSpan[]>>;
  /** Newest first. */
  search(search: TraceSearch, options?: ReadOptions): Promise<readonly TraceSummary[]>;
  services(options?: ReadOptions): Promise<readonly string[]>;
  operations(service: string, options?: ReadOptions): Promise<readonly Operation[]>;
  /** What it is and did, in numbers. */
  stats?(): Promise<object>;
}

/** The writing side of an archive. */
export interface ArchiveWriter {
  /** Takes spans in order and gives their number; the rest was refused and counted there. */
  append(spans: readonly ArchivedSpan[]): number;
  /** What was appended before is on the disk. */
  flush(): Promise<void>;
}

/** Decoded bytes of a batch, about, and traces in one. */
const BATCH_BYTES = 8 * 1024 * 1024;
const BATCH_TRACES = 100;

/** A trace with its spans. */
export type LoadedTrace = readonly [traceId: string, spans: readonly ArchivedSpan[]];

/** In the order of `summaries`; a trace that was deleted meanwhile is left out. */
export const loadTraces = async function* (
  archive: ArchiveReader,
  summaries: readonly Pick<TraceSummary, 'traceId' | 'bytes'>[],
  options: ReadOptions,
): AsyncGenerator<LoadedTrace> {
  let ids: string[] = [];
  let size = 0;
  for (const [i, { traceId, bytes }] of summaries.entries()) {
    ids.push(traceId);
    size += bytes;
    if (size < BATCH_BYTES && ids.length < BATCH_TRACES && i < summaries.length - 1) continue;
    const traces = await archive.traces(ids, options);
    for (const id of ids) {
      const spans = traces.get(id);
      if (spans !== undefined && spans.length > 0) yield [id, spans];
    }
    ids = [];
    size = 0;
  }
};

/** Files that are named in an answer at most. */
const NAMED = 20;

/** The damage that one query met. */
export class SeenDamage {
  readonly #byFile = new Map<string, string>();
  /** How the query reads. */
  readonly options: ReadOptions;

  constructor(signal: AbortSignal) {
    this.options = {
      signal,
      unnamedService: MISSING_SERVICE,
      onDamage: ({ file, message }) => {
        if (!this.#byFile.has(file)) this.#byFile.set(file, message);
      },
    };
  }

  /** What to say, a line for each file; nothing when all could be read. */
  get messages(): readonly string[] {
    const lines = [...this.#byFile].map(
      ([file, message]) => `a part of the archive cannot be read: ${file}: ${message}`,
    );
    const more = lines.length - NAMED;
    return more > 0 ? [...lines.slice(0, NAMED), `${more} further files cannot be read`] : lines;
  }

  /** Throws when nothing was found and something could not be read: the answer would say that there is nothing. */
  checkNothing(found: number): void {
    const { messages } = this;
    if (found === 0 && messages.length > 0) throw new HttpError(500, messages.join('; '));
  }
}
