// Tags and numbers of the messages of Perfetto's trace format that are written here. Source of the format: google/perfetto,
// protos/perfetto/trace. Constants only; a number that differs from the published one makes files that show something else.
//
// Fields of Perfetto's messages over a ByteWriter. Each call makes its own room, whatever the number of its field: those from 16 on take a tag
// of two bytes.

import {
  BYTES,
  type ByteWriter,
  beginMessage,
  endMessage,
  FIXED64,
  tag,
  VARINT,
  varintLength,
  writeVarint32,
} from '../../base/bytes/byte-writer.js';

/** Trace. */
export const PACKET = tag(1, BYTES);

/** TracePacket. */
export const CLOCK_SNAPSHOT = tag(6, BYTES);
export const TIMESTAMP = tag(8, VARINT);
export const SEQUENCE_ID = tag(10, VARINT);
export const TRACK_EVENT = tag(11, BYTES);
export const TRACK_DESCRIPTOR = tag(60, BYTES);

/** ClockSnapshot and its Clock. */
export const CLOCKS = tag(1, BYTES);
export const CLOCK_ID = tag(1, VARINT);
export const CLOCK_TIMESTAMP = tag(2, VARINT);

export const ClockId = { realtime: 1, boottime: 6 } as const;

/** TrackDescriptor. */
export const TRACK_UUID = tag(1, VARINT);
export const TRACK_NAME = tag(2, BYTES);
export const TRACK_PROCESS = tag(3, BYTES);
export const TRACK_THREAD = tag(4, BYTES);
export const TRACK_PARENT = tag(5, VARINT);
export const CHILD_ORDERING = tag(11, VARINT);
export const SIBLING_RANK = tag(12, VARINT);
export const SIBLING_MERGE = tag(15, VARINT);

export const ChildOrdering = { chronological: 2, explicit: 3 } as const;
export const SiblingMerge = { none: 2 } as const;

/** ProcessDescriptor and ThreadDescriptor. */
export const PROCESS_PID = tag(1, VARINT);
export const PROCESS_NAME = tag(6, BYTES);
export const THREAD_PID = tag(1, VARINT);
export const THREAD_TID = tag(2, VARINT);
export const THREAD_NAME = tag(5, BYTES);

/** TrackEvent. */
export const DEBUG_ANNOTATIONS = tag(4, BYTES);
export const EVENT_TYPE = tag(9, VARINT);
export const EVENT_TRACK = tag(11, VARINT);
export const CATEGORIES = tag(22, BYTES);
export const EVENT_NAME = tag(23, BYTES);
export const FLOW_IDS = tag(47, FIXED64);

export const EventType = { begin: 1, end: 2, instant: 3 } as const;

/** DebugAnnotation. */
export const ANNOTATION_BOOL = tag(2, VARINT);
export const ANNOTATION_INT = tag(4, VARINT);
export const ANNOTATION_DOUBLE = tag(5, FIXED64);
export const ANNOTATION_TEXT = tag(6, BYTES);
export const ANNOTATION_KEY = tag(10, BYTES);
export const ANNOTATION_ENTRIES = tag(11, BYTES);
export const ANNOTATION_ITEMS = tag(12, BYTES);

/** A tag, the longest number, and the length of a message. */
const ROOM = 24;

/** Begin a message in a field; what it gives is what `endMessage` wants. */
export const beginField = (writer: ByteWriter, fieldTag: number, guess = 1): number => {
  writer.reserve(ROOM);
  writeVarint32(writer, fieldTag);
  return beginMessage(writer, guess);
};

/** A whole number from 0 to 2^53 - 1. */
export const writeWhole = (writer: ByteWriter, fieldTag: number, value: number): void => {
  writer.reserve(ROOM);
  writeVarint32(writer, fieldTag);
  writer.varint(value);
};

export const writeText = (writer: ByteWriter, fieldTag: number, text: string): void => {
  writer.reserveText(text, ROOM);
  writeVarint32(writer, fieldTag);
  const guess = varintLength(text.length);
  const start = beginMessage(writer, guess);
  writer.text(text);
  endMessage(writer, start, guess);
};
