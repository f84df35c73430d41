// Spans of a file into an archive, however many there are. None may be lost without being counted.

import type { ArchivedSpan } from 'spanline/internal/record';
import { type Appended, appendValid } from './append-valid.js';
import type { Archive } from './archive.js';

/** Spans given to the archive at a time. */
const BATCH_SPANS = 10_000;

/** Gives all spans to the archive, which writes a segment when it holds enough; says how many it can never keep, and why. */
export const appendAll = async (
  archive: Archive,
  spans: readonly ArchivedSpan[],
): Promise<Pick<Appended, 'invalid' | 'reason'>> => {
  const all: Pick<Appended, 'invalid' | 'reason'> = { invalid: 0 };
  for (let at = 0; at < spans.length; ) {
    const { done, invalid, reason } = appendValid(archive, spans.slice(at, at + BATCH_SPANS));
    at += done;
    all.invalid += invalid;
    all.reason ??= reason;
    // Rejects when the disk takes none.
    if (done === 0) await archive.seal();
  }
  return all;
};
