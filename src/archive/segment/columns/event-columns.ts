// The events of a group's spans: how many each span has, then names, times and properties as columns.

import type { ByteReader } from '../../../base/bytes/byte-reader.js';
import { ByteWriter } from '../../../base/bytes/byte-writer.js';
import { BadValueError } from '../../../container/graph-error.js';
import type { ArchivedEvent, ArchivedSpan } from '../../../trace/archived-span.js';
import { storedProperties } from '../../stored-extras.js';
import type { StringTable } from '../tables/string-table.js';
import { PropertyBlock } from '../values/property-block.js';
import { PropertyWriter } from '../values/property-writer.js';
import { readTold, writeTimeAgainst } from './far-times.js';
import { readCounts, writeCounts } from './row-counts.js';

/** The part of some spans; empty when none of them has events. */
export const encodeEvents = (spans: readonly ArchivedSpan[], strings: StringTable): Buffer => {
  const writer = new ByteWriter();
  if (spans.every(({ events }) => events.length === 0)) return writer.view();
  writeCounts(
    writer,
    spans.map(({ events }) => events.length),
  );
  for (const { events } of spans) for (const { name } of events) strings.writeRef(writer, name);
  const properties = new PropertyWriter(strings);
  for (const span of spans) {
    for (const event of span.events) {
      checkTime(event, span);
      writeTimeAgainst(writer, event.timeUnixNs, span.startUnixNs);
      properties.add(storedProperties(event));
    }
  }
  properties.flush(writer);
  return writer.view();
};

const checkTime = ({ timeUnixNs, name }: ArchivedEvent, { spanId, traceId }: ArchivedSpan): void => {
  if (typeof timeUnixNs === 'bigint' && timeUnixNs >= 0n && timeUnixNs <= 0xffff_ffff_ffff_ffffn) return;
  throw new BadValueError(
    `event ${name} of span ${spanId} of trace ${traceId} has the time ${String(timeUnixNs)}: times are bigints from 0 to 2^64 - 1`,
  );
};

/** Events by span. */
export class EventColumns {
  private readonly firsts: Uint32Array;
  private readonly names: string[] = [];
  private readonly times: (number | bigint)[] = [];
  private readonly properties: PropertyBlock;

  constructor(reader: ByteReader, strings: StringTable, spanCount: number) {
    this.firsts = readCounts(reader, spanCount);
    const count = this.firsts[spanCount];
    for (let i = 0; i < count; i++) this.names.push(strings.readRef(reader));
    for (let i = 0; i < count; i++) this.times.push(readTold(reader));
    this.properties = PropertyBlock.read(reader, strings, count);
    reader.end();
  }

  /** The events of a span that starts at `startUnixNs`. */
  get(span: number, startUnixNs: bigint): ArchivedEvent[] {
    const events: ArchivedEvent[] = [];
    for (let i = this.firsts[span]; i < this.firsts[span + 1]; i++) {
      const told = this.times[i];
      const timeUnixNs = typeof told === 'bigint' ? told : startUnixNs + BigInt(told);
      events.push({ name: this.names[i], timeUnixNs, ...this.properties.get(i) });
    }
    return events;
  }
}
