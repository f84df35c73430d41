// What the server needs of an archive, and nothing more. Types only.
import type { ArchivedSpan, TraceSearch, TraceSummary } from 'spanline/internal/record';
import type { Operation } from '../operations-of.js';

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
