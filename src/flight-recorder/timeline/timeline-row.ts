// What the timeline of a process contains: when it collected garbage, when its event loop was busy, and for which span, how much it worked in turns
// too short for that, and when its thread pool was full. Types only.
// All times are microseconds of Unix time as doubles, which hold a quarter of a microsecond.

/** Work that is known to have had the loop during a part of a busy stretch. */
export interface TimelinePart {
  readonly startUs: number;
  readonly endUs: number;
  /** The span that was current; '' where none was. */
  readonly traceId: string;
  readonly spanId: string;
  /** The name of that span; '' where none was current. */
  readonly name: string;
  /** The functions that ran, innermost first: `parse app.js:12`. Empty where they are not known. */
  readonly frames: readonly string[];
}

/**
 * A garbage collection; a stretch in which the event loop was busy for longer than the bound; one in which a request had to wait for a thread; one
 * of a millisecond and more in which the function given to `span.run` had the loop, up to its first `await`; one of turns of the loop shorter than
 * the bound, one after another, in which it worked for a tenth of the time or more.
 */
export interface TimelineRow {
  readonly kind: 'gc' | 'busy' | 'pool' | 'run' | 'turns';
  readonly startUs: number;
  readonly endUs: number;
  /**
   * Of a garbage collection: `scavenge`, `mark-compact`, `incremental`, `weak`. Of a full pool: what is in it, `dns.lookup 2, other 8 (crypto/pbkdf2)`.
   * Else ''.
   */
  readonly detail: string;
  /**
   * Of a busy stretch: what is known of it, in order of time, without overlaps. What they leave open is unknown. Of a run: one, its span, as long as
   * it is; a run may lie within another, and within a busy stretch.
   */
  readonly parts: readonly TimelinePart[];
  /** Of short turns: for so many microseconds of the stretch the loop waited. Other rows have none. */
  readonly idleUs?: number;
}
