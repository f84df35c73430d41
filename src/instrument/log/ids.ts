// Which trace a record belongs to, in the words that logs use. Asked for each line of a log: no object is made where the text is known, and no span
// is kept for it.
import { Span } from '../../span/span.js';

export interface LogIds {
  readonly trace_id: string;
  readonly span_id: string;
  readonly trace_flags: string;
}

/** Whether a record has one of them already. */
export const hasIds = (record: object): boolean =>
  Object.hasOwn(record, 'trace_id') || Object.hasOwn(record, 'span_id') || Object.hasOwn(record, 'trace_flags');

/** Undefined outside any trace. */
export const currentIds = (): LogIds | undefined => {
  const context = Span.current()?.context;
  if (context === undefined) return undefined;
  const { traceId, spanId, sampled } = context;
  return { trace_id: traceId, span_id: spanId, trace_flags: sampled ? '01' : '00' };
};

// Digits are put into one text, which is read as a whole: a fourth of what six words and five pieces take.
const form = Buffer.from(`,"trace_id":"${'0'.repeat(32)}","span_id":"${'0'.repeat(16)}","trace_flags":"00"`, 'latin1');
const TRACE = form.indexOf('"0') + 1;
const SPAN = form.indexOf('"0', TRACE) + 1;
const LAST_FLAG = form.length - 2;
const DIGITS = Buffer.from('0123456789abcdef', 'latin1');

const putWord = (word: number, at: number): void => {
  let rest = word;
  for (let i = at + 7; i >= at; i--) {
    form[i] = DIGITS[rest & 15];
    rest >>>= 4;
  }
};

const writeText = (
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  hi: number,
  lo: number,
  sampled: boolean,
): string => {
  putWord(w0, TRACE);
  putWord(w1, TRACE + 8);
  putWord(w2, TRACE + 16);
  putWord(w3, TRACE + 24);
  putWord(hi, SPAN);
  putWord(lo, SPAN + 8);
  form[LAST_FLAG] = DIGITS[sampled ? 1 : 0];
  return form.toString('latin1');
};

// A power of two.
const PLACES = 512;

/** Texts of the spans that wrote last, found by their ids: a request writes few lines, between those of others. */
class IdTexts {
  readonly #hi = new Int32Array(PLACES);
  readonly #lo = new Int32Array(PLACES);
  readonly #texts: string[] = new Array<string>(PLACES).fill('');
  readonly #sampled: boolean;

  constructor(sampled: boolean) {
    this.#sampled = sampled;
  }

  of(w0: number, w1: number, w2: number, w3: number, hi: number, lo: number): string {
    const place = lo & (PLACES - 1);
    if (this.#lo[place] !== lo || this.#hi[place] !== hi || this.#texts[place] === '') {
      this.#lo[place] = lo;
      this.#hi[place] = hi;
      this.#texts[place] = writeText(w0, w1, w2, w3, hi, lo, this.#sampled);
    }
    return this.#texts[place];
  }
}

const sampledTexts = new IdTexts(true);
const unsampledTexts = new IdTexts(false);

/** The same as members of an object in JSON, each behind a comma; empty outside any trace. */
export const currentIdsText = (): string => {
  const span = Span.current();
  if (span === undefined) return '';
  const { trace } = span;
  if (trace !== null && !trace.isDiscarded) {
    const { w0, w1, w2, w3 } = trace.context;
    return (span.passesSampled ? sampledTexts : unsampledTexts).of(w0, w1, w2, w3, span.idHi, span.idLo);
  }
  // What is not recorded has the id of its caller or none, which others share.
  const { context } = span;
  if (context === undefined) return '';
  const { w0, w1, w2, w3, idHi, idLo, sampled } = context;
  return writeText(w0, w1, w2, w3, idHi, idLo, sampled);
};
