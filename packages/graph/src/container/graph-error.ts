// The errors of containers and of the graph files and segments made of them: one class for each kind, each with a stable code, each
// naming what is wrong and what to do. They are public, and named for graph files, which were the first containers. Damage must be told
// from misuse: salvage handles the one, the programmer the other.

import { SpanlineError } from 'spanline/internal/base';

/** The stable codes of graph errors. */
export type GraphErrorCode =
  | 'ERR_SPANLINE_GRAPH_BAD_SIGNATURE'
  | 'ERR_SPANLINE_GRAPH_UNSUPPORTED_VERSION'
  | 'ERR_SPANLINE_GRAPH_BAD_OPTIONS'
  | 'ERR_SPANLINE_GRAPH_CORRUPT'
  | 'ERR_SPANLINE_GRAPH_TRUNCATED'
  | 'ERR_SPANLINE_GRAPH_BAD_KEY'
  | 'ERR_SPANLINE_GRAPH_BAD_VALUE'
  | 'ERR_SPANLINE_GRAPH_DUPLICATE_KEY'
  | 'ERR_SPANLINE_GRAPH_CYCLE'
  | 'ERR_SPANLINE_GRAPH_NOT_FOUND'
  | 'ERR_SPANLINE_GRAPH_TRANSPORT'
  | 'ERR_SPANLINE_GRAPH_CHANGED'
  | 'ERR_SPANLINE_GRAPH_LIMIT'
  | 'ERR_SPANLINE_GRAPH_ABORTED'
  | 'ERR_SPANLINE_GRAPH_CLOSED';

/**
 * What reading and building graph files throws; `code` is stable, `message` says what to do, `cause` is what was underneath.
 *
 * @example
 * ```ts
 * import { GraphError, NotFoundError } from '@spanline/graph';
 * const error = new NotFoundError('no node has the key 6e6f, look it up with lookup() first');
 * console.assert(error instanceof GraphError && error.code === 'ERR_SPANLINE_GRAPH_NOT_FOUND');
 * ```
 */
export class GraphError extends SpanlineError<GraphErrorCode> {
  override readonly name: string = 'GraphError';
}

/** The class of one kind of them: its name, and its code. */
const ofKind = <Name extends string>(name: Name, code: GraphErrorCode) =>
  class extends GraphError {
    override readonly name = name;
    constructor(message: string, options?: ErrorOptions) {
      super(code, message, options);
    }
  };

/** The file is not a graph file. */
export class BadSignatureError extends ofKind('BadSignatureError', 'ERR_SPANLINE_GRAPH_BAD_SIGNATURE') {}

/** The file, or something it needs, is newer than this reader. */
export class UnsupportedVersionError extends ofKind(
  'UnsupportedVersionError',
  'ERR_SPANLINE_GRAPH_UNSUPPORTED_VERSION',
) {}

/** An option is wrong. */
export class BadOptionsError extends ofKind('BadOptionsError', 'ERR_SPANLINE_GRAPH_BAD_OPTIONS') {}

/** Bytes of the file are not what was written; other blocks may still be good (`salvage`). */
export class CorruptError extends GraphError {
  override readonly name = 'CorruptError';
  constructor(
    message: string,
    /** Name of the damaged section. */
    readonly section: string,
    /** Number of the damaged block in the section; undefined when the section is damaged as a whole. */
    readonly block?: number,
    options?: ErrorOptions,
  ) {
    super('ERR_SPANLINE_GRAPH_CORRUPT', message, options);
  }
}

/** The file ends too early. */
export class TruncatedError extends GraphError {
  override readonly name = 'TruncatedError';
  constructor(
    message: string,
    /** Bytes there should be. */
    readonly expected: number,
    /** Bytes there are. */
    readonly actual: number,
    options?: ErrorOptions,
  ) {
    super('ERR_SPANLINE_GRAPH_TRUNCATED', message, options);
  }
}

/** A key that no graph file can have. */
export class BadKeyError extends ofKind('BadKeyError', 'ERR_SPANLINE_GRAPH_BAD_KEY') {}

/** A value, or a number of reference lists, that the graph cannot hold. */
export class BadValueError extends ofKind('BadValueError', 'ERR_SPANLINE_GRAPH_BAD_VALUE') {}

/** A key was added twice to one graph. */
export class DuplicateKeyError extends GraphError {
  override readonly name = 'DuplicateKeyError';
  constructor(
    message: string,
    /** The key, where it is known: its form is the caller's to write. */
    readonly key?: Uint8Array,
    options?: ErrorOptions,
  ) {
    super('ERR_SPANLINE_GRAPH_DUPLICATE_KEY', message, options);
  }
}

/** References go round in a circle where the order of the graph allows none. */
export class CycleError extends GraphError {
  override readonly name = 'CycleError';
  constructor(
    message: string,
    /** Keys of one cycle; each refers to the next, the last to the first. */
    readonly cycle: readonly Uint8Array[],
    options?: ErrorOptions,
  ) {
    super('ERR_SPANLINE_GRAPH_CYCLE', message, options);
  }
}

/** What was asked for is not in the file. */
export class NotFoundError extends ofKind('NotFoundError', 'ERR_SPANLINE_GRAPH_NOT_FOUND') {}

/** The bytes could not be fetched. */
export class TransportError extends ofKind('TransportError', 'ERR_SPANLINE_GRAPH_TRANSPORT') {}

/** The file is no longer the one that was opened; opening it again gives the new one. */
export class ChangedError extends ofKind('ChangedError', 'ERR_SPANLINE_GRAPH_CHANGED') {}

/** Beyond a bound that was declared. */
export class LimitError extends ofKind('LimitError', 'ERR_SPANLINE_GRAPH_LIMIT') {}

/** The caller's AbortSignal fired. */
export class AbortedError extends ofKind('AbortedError', 'ERR_SPANLINE_GRAPH_ABORTED') {}

/** The error of a wrong option. */
export const badOptions = (message: string): BadOptionsError => new BadOptionsError(message);

/** The error of a call whose signal fired. */
export const aborted = (message: string, options?: ErrorOptions): AbortedError => new AbortedError(message, options);

/** The file was closed by its user. */
export class ClosedError extends ofKind('ClosedError', 'ERR_SPANLINE_GRAPH_CLOSED') {}

/** Whether bytes of a file are damaged, or it cannot be read there; something else is wrong with the caller or the runtime. */
export const isDamage = (error: unknown): error is GraphError =>
  error instanceof CorruptError ||
  error instanceof TruncatedError ||
  error instanceof BadSignatureError ||
  error instanceof NotFoundError ||
  error instanceof TransportError;
