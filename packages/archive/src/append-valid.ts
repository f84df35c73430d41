// Appends spans of others, of a file for instance, without those that an archive can never keep, such as one of many megabytes. One bad span must not
// cost the others, none may be lost without being counted, and callers learn how many were left out and why.
import { BadKeyError, BadValueError, LimitError } from '@spanline/graph';
import type { ArchivedSpan } from 'spanline/internal/record';

/** What became of spans: those behind the last one taken found no room, and may be given again. */
export interface Appended {
  /** Spans looked at, in order: taken or refused for good. */
  done: number;
  taken: number;
  /** Spans that cannot be kept. */
  invalid: number;
  /** Why the first of them cannot. */
  reason?: string;
}

/** Takes spans in order and gives their number; the rest found no room. Throws for the first when it can never be kept. */
interface AppendTo {
  append(spans: readonly ArchivedSpan[]): number;
}

/** Whether an error says that a span can never be kept. */
export const isInvalid = (error: unknown): error is Error =>
  error instanceof BadKeyError || error instanceof BadValueError || error instanceof LimitError;

/** Append what can be kept; stops where the archive has no more room. */
export const appendValid = (archive: AppendTo, spans: readonly ArchivedSpan[]): Appended => {
  const result: Appended = { done: 0, taken: 0, invalid: 0 };
  // Halves, until the bad ones are found: most batches have none.
  const waiting: (readonly ArchivedSpan[])[] = [spans];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    if (part.length === 0) continue;
    try {
      const taken = archive.append(part);
      result.taken += taken;
      result.done += taken;
      if (taken < part.length) return result;
    } catch (error) {
      if (!isInvalid(error)) throw error;
      if (part.length === 1) {
        result.invalid++;
        result.done++;
        result.reason ??= error.message;
      } else {
        const middle = part.length >> 1;
        waiting.push(part.slice(middle), part.slice(0, middle));
      }
    }
  }
  return result;
};

/** Spans given to the archive at a time. */
const BATCH_SPANS = 10_000;

/** Gives all spans to the archive, which writes a segment when it holds enough; says how many it can never keep, and why. */
export const appendAll = async (
  archive: AppendTo & { seal(): Promise<void> },
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
