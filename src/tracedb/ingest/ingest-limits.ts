// The bounds of reading an ingest file. A file must never decide how much memory or time it takes.

/** Bounds of reading an ingest file, each with its default in `INGEST_LIMITS`. */
export interface IngestLimits {
  /** Bytes of a document that is read as a whole, uncompressed. */
  readonly maxDocumentBytes: number;
  /** Bytes of one line of JSON lines. */
  readonly maxLineBytes: number;
  /** Bytes of any file, uncompressed. */
  readonly maxBytes: number;
  /** Bytes that one byte of a gzip file may become; counts only beyond 16 MiB. */
  readonly maxExpansion: number;
}

const MIB = 1024 * 1024;

/** The defaults: 64 MiB for a document, 16 MiB for a line, 16 GiB for a file, and 200 times its size for a gzip file. */
export const INGEST_LIMITS: IngestLimits = Object.freeze({
  maxDocumentBytes: 64 * MIB,
  maxLineBytes: 16 * MIB,
  maxBytes: 16 * 1024 * MIB,
  maxExpansion: 200,
});

/** A gzip file may always become as large as this, however small it is. */
export const FREE_EXPANSION_BYTES = 16 * MIB;

/** The largest document or line that can be asked for: the engine has no longer text. */
export const LARGEST_DOCUMENT_BYTES = 512 * MIB - 24;
