// The links of a group's spans with all that belongs to them. The ids stand here as well as in the graph of links, so that reading a
// trace needs no look-up for each of them.
import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../../base/bytes/byte-writer.js';
import type { ArchivedLink, ArchivedSpan } from '../../../trace/archived-span.js';
import { storedProperties } from '../../stored-extras.js';
import { linkKey } from '../graphs/link-graph.js';
import { SPAN_ID_BYTES, TRACE_ID_BYTES } from '../ids.js';
import type { StringTable } from '../tables/string-table.js';
import { PropertyBlock } from '../values/property-block.js';
import { PropertyWriter } from '../values/property-writer.js';
import { TextColumn, writeTexts } from '../values/text-column.js';
import { readCounts, writeCounts } from './row-counts.js';

const OTHER_TRACE = 0;
const SAME_TRACE = 1;

/** The part of some spans; empty when none of them has links. */
export const encodeLinks = (spans: readonly ArchivedSpan[], strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  if (spans.every(({ links }) => links.length === 0)) return writer.view();
  writeCounts(
    writer,
    spans.map(({ links }) => links.length),
  );
  const ids = new ByteWriter();
  const properties = new PropertyWriter(strings);
  for (const { traceId, links } of spans) {
    for (const link of links) {
      const isSame = link.traceId === traceId;
      writer.byte(isSame ? SAME_TRACE : OTHER_TRACE);
      ids.raw(linkKey(link).subarray(isSame ? TRACE_ID_BYTES : 0));
      properties.add(storedProperties(link));
    }
  }
  writer.raw(ids.view());
  writeTexts(
    writer,
    spans.flatMap(({ links }) => links.map(({ traceState }) => traceState)),
  );
  properties.flush(writer);
  return writer.view();
};

/** Links by span. */
export class LinkColumns {
  private readonly firsts: Uint32Array;
  private readonly forms: Uint8Array;
  private readonly ids: string[] = [];
  private readonly traceStates: TextColumn;
  private readonly properties: PropertyBlock;

  constructor(reader: ByteReader, strings: StringTable, spanCount: number) {
    this.firsts = readCounts(reader, spanCount);
    const count = this.firsts[spanCount];
    this.forms = Uint8Array.from(reader.raw(count));
    for (const form of this.forms) {
      if (form > SAME_TRACE) throw reader.corrupt('has a link of unknown form');
      const bytes = reader.raw(form === SAME_TRACE ? SPAN_ID_BYTES : TRACE_ID_BYTES + SPAN_ID_BYTES);
      this.ids.push(Buffer.from(bytes).toString('hex'));
    }
    this.traceStates = TextColumn.read(reader, count);
    this.properties = PropertyBlock.read(reader, strings, count);
    reader.end();
  }

  /** The links of a span of trace `traceId`. */
  get(span: number, traceId: string): ArchivedLink[] {
    const links: ArchivedLink[] = [];
    for (let i = this.firsts[span]; i < this.firsts[span + 1]; i++) {
      const id = this.ids[i];
      links.push({
        traceId: this.forms[i] === SAME_TRACE ? traceId : id.slice(0, 2 * TRACE_ID_BYTES),
        spanId: id.slice(-2 * SPAN_ID_BYTES),
        traceState: this.traceStates.get(i),
        ...this.properties.get(i),
      });
    }
    return links;
  }
}
