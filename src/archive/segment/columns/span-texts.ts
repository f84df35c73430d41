// What few spans have: a trace state, a message with their status. Only the spans that have one are named.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../../base/bytes/byte-writer.js';
import type { ArchivedSpan } from '../../../trace/archived-span.js';
import { TextColumn, writeTexts } from '../values/text-column.js';

/** The part of some spans; empty when none of them has such a text. */
export const encodeTexts = (spans: readonly ArchivedSpan[]): Buffer => {
  const writer = new ByteWriter();
  const states = spans.map(({ traceState }) => traceState);
  const messages = spans.map(({ status }) => status.message);
  if ([...states, ...messages].every((text) => text === '')) return writer.view();
  for (const texts of [states, messages]) {
    const present = [...texts.keys()].filter((i) => texts[i] !== '');
    writer.varint(present.length);
    present.forEach((place, i) => {
      writer.varint(place - (i === 0 ? 0 : present[i - 1] + 1));
    });
    writeTexts(
      writer,
      present.map((i) => texts[i]),
    );
  }
  return writer.view();
};

/** Texts by span. */
export class SpanTexts {
  private readonly states: Map<number, string>;
  private readonly messages: Map<number, string>;

  constructor(reader: ByteReader, spanCount: number) {
    this.states = readSparse(reader, spanCount);
    this.messages = readSparse(reader, spanCount);
    reader.end();
  }

  traceState(span: number): string {
    return this.states.get(span) ?? '';
  }

  message(span: number): string {
    return this.messages.get(span) ?? '';
  }
}

const readSparse = (reader: ByteReader, spanCount: number): Map<number, string> => {
  const count = reader.varint();
  if (count > spanCount) throw reader.corrupt('has more texts than spans');
  const places: number[] = [];
  let next = 0;
  for (let i = 0; i < count; i++) {
    const place = next + reader.varint();
    if (place >= spanCount) throw reader.corrupt('has a text of a span that does not exist');
    places.push(place);
    next = place + 1;
  }
  const texts = TextColumn.read(reader, count);
  return new Map(places.map((place, i) => [place, texts.get(i)]));
};
