// What a segment has beside the sections of its graphs, by number and name, and the bounds of its parts.

/** Sections of segments. */
export const SegmentSection = {
  traceRows: 1001,
  spans: 1002,
  properties: 1003,
  events: 1004,
  links: 1005,
  texts: 1006,
  groups: 1010,
  tables: 1011,
  models: 1012,
  traceFilter: 1013,
  summary: 1014,
} as const;

/** The parts that a group of spans has, each in a section of its own; only the first two are always there. */
export const PARTS = ['traceRows', 'spans', 'properties', 'events', 'links', 'texts'] as const;
export type Part = (typeof PARTS)[number];

/** A group takes whole traces until it has this many spans, or bytes of them. */
export const GROUP_SPANS = 1024;
export const GROUP_BYTES = 512 * 1024;
/** No group has more spans; a trace with more, or with more bytes, is cut into pieces, each a group. */
export const MAX_GROUP_SPANS = 2048;
export const MAX_GROUP_BYTES = 1024 * 1024;
/** Bytes of one span at most. */
export const MAX_SPAN_BYTES = 32 * 1024 * 1024;

/** Notes of a segment's meta section. */
export const KIND_NOTE = 'kind';
export const KIND_OF_SEGMENT = 'spans';
export const REPLACES_NOTE = 'replaces';

/** Nanoseconds that are numbers; times further apart are kept whole. Twice this is still exact. */
export const NEAR_NS = 2 ** 51;
