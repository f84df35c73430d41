// Which trace a record belongs to, in the words that logs use. Asked for each line of a log: no object is made where the text is known, and no span
// is kept for it.
import { Span } from '../../span/span.js';

export interface LogIds {
  readonly trace_id: string;
  readonly span_id: string;
  readonly trace_flags: string;
}

/** Undefined outside any trace. */
export const currentIds = (): LogIds | undefined => {
  const context = Span.current()?.context;
  if (context === undefined) return undefined;
  const { traceId, spanId, sampled } = context;
  return { trace_id: traceId, span_id: spanId, trace_flags: sampled ? '01' : '00' };
};

const bytes = Buffer.alloc(24);

const writeText = (w0: number, w1: number, w2: number, w3: number, hi: number, lo: number, flags: string): string => {
  bytes.writeInt32BE(w0, 0);
  bytes.writeInt32BE(w1, 4);
  bytes.writeInt32BE(w2, 8);
  bytes.writeInt32BE(w3, 12);
  bytes.writeInt32BE(hi, 16);
  bytes.writeInt32BE(lo, 20);
  const hex = bytes.toString('hex');
  return `,"trace_id":"${hex.slice(0, 32)}","span_id":"${hex.slice(32)}","trace_flags":"${flags}"`;
};

// A power of two.
const PLACES = 512;

/** Texts of the spans that wrote last, found by their ids: a request writes few lines, between those of others. */
class IdTexts {
  readonly #hi = new Int32Array(PLACES);
  readonly #lo = new Int32Array(PLACES);
  readonly #texts: string[] = new Array<string>(PLACES).fill('');
  readonly #flags: string;

  constructor(flags: string) {
    this.#flags = flags;
  }

  of(w0: number, w1: number, w2: number, w3: number, hi: number, lo: number): string {
    const place = lo & (PLACES - 1);
    if (this.#lo[place] !== lo || this.#hi[place] !== hi || this.#texts[place] === '') {
      this.#lo[place] = lo;
      this.#hi[place] = hi;
      this.#texts[place] = writeText(w0, w1, w2, w3, hi, lo, this.#flags);
    }
    return this.#texts[place];
  }
}

const sampledTexts = new IdTexts('01');
const unsampledTexts = new IdTexts('00');

/** The same as members of an object in JSON, each behind a comma; empty outside any trace. */
export const currentIdsText = (): string => {
  const span = Span.current();
  if (span === undefined) return '';
  const { trace } = span;
  if (trace !== null && trace.state !== 'discarded') {
    const { w0, w1, w2, w3 } = trace.context;
    return (span.passesSampled ? sampledTexts : unsampledTexts).of(w0, w1, w2, w3, span.idHi, span.idLo);
  }
  // What is not recorded has the id of its caller or none, which others share.
  const { context } = span;
  if (context === undefined) return '';
  const { w0, w1, w2, w3, idHi, idLo, sampled } = context;
  return writeText(w0, w1, w2, w3, idHi, idLo, sampled ? '01' : '00');
};
