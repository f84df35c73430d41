// A stretch of the timeline of a process: which process that is, what people read for it, and the stretch as a line of text with its checksum. Must not
// take two processes for one where their resources tell them apart: each has an event loop of its own. A line that a crash cut, or that was changed,
// must never be taken for a whole one.

import { crc32 } from 'node:zlib';
import { type ArchivedResource, setOwn } from 'spanline/internal/record';
import type { TimelinePart, TimelineRow } from 'spanline/internal/timeline';

/** The timeline of one process in a stretch of time: where it has no row, nothing of note happened. */
export interface TimelineStretch {
  /** Which process, as `processOf` names it. */
  readonly process: string;
  /** Unix time in microseconds. */
  readonly fromUs: number;
  readonly toUs: number;
  readonly rows: readonly TimelineRow[];
}

/** What tells processes apart, in OpenTelemetry's names. */
const KEYS = ['service.instance.id', 'service.name', 'host.name', 'process.pid'] as const;

/** The process that a resource describes, as a text that is the same for its spans and for its timeline. */
export const processOf = ({ properties }: ArchivedResource): string => {
  const known: Record<string, string> = {};
  for (const key of KEYS) if (properties[key] !== undefined) setOwn(known, key, String(properties[key]));
  return JSON.stringify(known);
};

/** Of the form below. A line of another form is not read, and counted. */
const FORM = 1;
const CHECKSUM_DIGITS = 8;

const checksum = (text: string): string => crc32(text).toString(16).padStart(CHECKSUM_DIGITS, '0');

const partCells = (part: TimelinePart) => [part.startUs, part.endUs, part.traceId, part.spanId, part.name, part.frames];
const rowCells = (row: TimelineRow) => {
  const cells = [row.kind, row.startUs, row.endUs, row.detail, row.parts.map(partCells)];
  return row.idleUs === undefined ? cells : [...cells, row.idleUs];
};

type PartCells = readonly [number, number, string, string, string, string[]];
type RowCells = readonly [TimelineRow['kind'], number, number, string, PartCells[], number?];

/** Ends in a line break. */
export const timelineLine = ({ process, fromUs, toUs, rows }: TimelineStretch): string => {
  const text = JSON.stringify([FORM, process, fromUs, toUs, rows.map(rowCells)]);
  return `${checksum(text)} ${text}\n`;
};

const partOf = ([startUs, endUs, traceId, spanId, name, frames]: PartCells): TimelinePart => ({
  ...{ startUs, endUs, traceId, spanId },
  name,
  frames,
});

const rowOf = ([kind, startUs, endUs, detail, parts, idleUs]: RowCells): TimelineRow => ({
  ...{ kind, startUs, endUs, detail },
  parts: parts.map(partOf),
  ...(idleUs === undefined ? {} : { idleUs }),
});

/** The stretch of a line without its line break; undefined for one that is not whole. What has its checksum was written by `timelineLine`. */
export const parseTimelineLine = (line: string): TimelineStretch | undefined => {
  const text = line.slice(CHECKSUM_DIGITS + 1);
  if (line.slice(0, CHECKSUM_DIGITS) !== checksum(text)) return undefined;
  const [form, process, fromUs, toUs, rows] = JSON.parse(text) as [number, string, number, number, RowCells[]];
  return form === FORM ? { process, fromUs, toUs, rows: rows.map(rowOf) } : undefined;
};

/** The service, and its process where that is known: `shop 4711`. `process` is as `processOf` names it. */
export const processLabel = (process: string): string => {
  const { 'service.name': service = '', 'process.pid': pid = '' } = JSON.parse(process) as Record<string, string>;
  return [service, pid].filter((text) => text !== '').join(' ');
};
