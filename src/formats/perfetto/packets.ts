// The packets of one Perfetto trace, one after another in a buffer: tracks, and the events on them. Times are Unix nanoseconds; the file says
// that its own clock agrees with Unix time. A packet that throws while it is written must not be left half in the buffer: callers cut it off.
import { ByteWriter, endMessage, nanosWords, toNanosWords, writeVarint32 } from '../../base/bytes/byte-writer.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import type { SpanProperties } from '../../record/finished-span.js';
import * as Field from './fields.js';
import { beginField, writeText, writeWhole } from './fields.js';
import { writeAnnotation, writeAnnotations } from './write-annotation.js';

const FIRST_BYTES = 64 << 10;
/** Most packets take more than 127 bytes. */
const PACKET_GUESS = 2;
/** All packets are of one sequence: the reader drops events without one. */
const SEQUENCE = 1;

/** What a track is. */
export interface Track {
  readonly uuid: number;
  readonly name?: string;
  readonly parent?: number;
  readonly process?: { readonly pid: number; readonly name: string };
  readonly thread?: { readonly pid: number; readonly name: string };
  readonly childOrdering?: number;
  /** Place among the tracks of its parent. */
  readonly rank?: number;
}

/** What an event says beside when and where. */
export interface EventContent {
  readonly name: string;
  readonly categories: readonly string[];
  readonly properties?: SpanProperties;
  /** Further properties: key, value. */
  readonly more?: readonly (readonly [key: string, value: ArchivedValue])[];
  readonly flows?: readonly number[];
}

export class Packets {
  readonly #writer = new ByteWriter(FIRST_BYTES);
  #packet = 0;

  /** Bytes written and not yet taken. */
  get length(): number {
    return this.#writer.length;
  }

  /** What was written since the last call. Valid until the next packet. */
  take(): Buffer {
    const bytes = this.#writer.view();
    this.#writer.clear();
    return bytes;
  }

  /** Before everything else: the trace's own clock, which counts from the start of the machine elsewhere, reads as Unix time does. */
  clocks(sec: number, nano: number): void {
    const writer = this.#writer;
    this.#begin();
    const start = beginField(writer, Field.CLOCK_SNAPSHOT);
    for (const id of [Field.ClockId.boottime, Field.ClockId.realtime]) {
      const clock = beginField(writer, Field.CLOCKS);
      writeWhole(writer, Field.CLOCK_ID, id);
      this.#time(Field.CLOCK_TIMESTAMP, sec, nano);
      endMessage(writer, clock, 1);
    }
    endMessage(writer, start, 1);
    this.#end();
  }

  track({ uuid, name, parent, process, thread, childOrdering, rank }: Track): void {
    const writer = this.#writer;
    this.#begin();
    const start = beginField(writer, Field.TRACK_DESCRIPTOR);
    writeWhole(writer, Field.TRACK_UUID, uuid);
    if (parent !== undefined) writeWhole(writer, Field.TRACK_PARENT, parent);
    if (name !== undefined) writeText(writer, Field.TRACK_NAME, name);
    if (process !== undefined) {
      const part = beginField(writer, Field.TRACK_PROCESS);
      writeWhole(writer, Field.PROCESS_PID, process.pid);
      writeText(writer, Field.PROCESS_NAME, process.name);
      endMessage(writer, part, 1);
    }
    if (thread !== undefined) {
      const part = beginField(writer, Field.TRACK_THREAD);
      writeWhole(writer, Field.THREAD_PID, thread.pid);
      // The main thread's, on Linux.
      writeWhole(writer, Field.THREAD_TID, thread.pid);
      writeText(writer, Field.THREAD_NAME, thread.name);
      endMessage(writer, part, 1);
    }
    if (childOrdering !== undefined) writeWhole(writer, Field.CHILD_ORDERING, childOrdering);
    if (rank !== undefined) writeWhole(writer, Field.SIBLING_RANK, rank);
    // Tracks of one name would be drawn as one.
    writeWhole(writer, Field.SIBLING_MERGE, Field.SiblingMerge.none);
    endMessage(writer, start, 1);
    this.#end();
  }

  /** The begin of a slice, or an instant. */
  event(type: number, track: number, sec: number, nano: number, content: EventContent): void {
    const writer = this.#writer;
    this.#begin();
    this.#time(Field.TIMESTAMP, sec, nano);
    const start = beginField(writer, Field.TRACK_EVENT, PACKET_GUESS);
    writeWhole(writer, Field.EVENT_TYPE, type);
    writeWhole(writer, Field.EVENT_TRACK, track);
    writeText(writer, Field.EVENT_NAME, content.name);
    for (const category of content.categories) writeText(writer, Field.CATEGORIES, category);
    if (content.properties !== undefined) writeAnnotations(writer, content.properties);
    for (const [key, value] of content.more ?? []) writeAnnotation(writer, key, value);
    for (const flow of content.flows ?? []) {
      writer.reserve(16);
      writeVarint32(writer, Field.FLOW_IDS);
      writer.uint32(flow);
      writer.uint32(0);
    }
    endMessage(writer, start, PACKET_GUESS);
    this.#end();
  }

  /** The end of the innermost slice that is open on a track. */
  end(track: number, sec: number, nano: number): void {
    const writer = this.#writer;
    this.#begin();
    this.#time(Field.TIMESTAMP, sec, nano);
    const start = beginField(writer, Field.TRACK_EVENT);
    writeWhole(writer, Field.EVENT_TYPE, Field.EventType.end);
    writeWhole(writer, Field.EVENT_TRACK, track);
    endMessage(writer, start, 1);
    this.#end();
  }

  #begin(): void {
    this.#packet = beginField(this.#writer, Field.PACKET, PACKET_GUESS);
    writeWhole(this.#writer, Field.SEQUENCE_ID, SEQUENCE);
  }

  #end(): void {
    endMessage(this.#writer, this.#packet, PACKET_GUESS);
  }

  #time(fieldTag: number, sec: number, nano: number): void {
    const writer = this.#writer;
    writer.reserve(16);
    writeVarint32(writer, fieldTag);
    toNanosWords(sec, nano);
    writer.varint64(nanosWords.hi, nanosWords.lo);
  }
}
