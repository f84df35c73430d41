// What an archive asks of its worker thread, and what that answers. Types only: file names and numbers pass between the threads, never
// spans, for copying them would take as long as the work.
import type { DamagedSegment } from './archive-options.js';

/** Make a segment of a whole write-ahead file. */
export interface SealTask {
  readonly kind: 'seal';
  readonly directory: string;
  /** The file, which nobody writes to any more. */
  readonly path: string;
  /** What the segment stands for: the identity of the file. */
  readonly replaces: string;
  /** The segment's own: 12 hex digits. */
  readonly segmentId: string;
  /** How many spans must be in the file; undefined when nobody knows. */
  readonly spans: number | undefined;
}

export interface SealAnswer {
  /** False: the file is not there, or not whole, and no segment was written. */
  readonly isDone: boolean;
  readonly spans: number;
  readonly tornBytes: number;
  /** What of the file could not be read, if anything. */
  readonly damage?: string;
}

/** Make one segment of several and delete them. */
export interface MergeTask {
  readonly kind: 'merge';
  readonly directory: string;
  /** The one that ends last first. */
  readonly names: readonly string[];
}

export interface MergeAnswer {
  /** False: some are damaged, and nothing was changed. */
  readonly isDone: boolean;
  readonly damaged: readonly DamagedSegment[];
}

export type WorkTask = SealTask | MergeTask;
export type WorkAnswer = SealAnswer | MergeAnswer;

/** A numbered task, as the worker gets it. */
export interface WorkRequest {
  readonly number: number;
  readonly task: WorkTask;
}

/** What became of it: an answer, or why there is none. */
export interface WorkReply {
  readonly number: number;
  readonly answer?: WorkAnswer;
  readonly failure?: { readonly isTransport: boolean; readonly message: string };
}
