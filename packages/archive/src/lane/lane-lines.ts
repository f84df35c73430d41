// A stretch of a lane as a line of text, with its checksum: a line that a crash cut, or that was changed, must never be taken for a whole one.
import { crc32 } from 'node:zlib';
import type { TimelinePart, TimelineRow } from 'spanline/internal/timeline';
import type { LaneStretch } from './lane-stretch.js';

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
export const laneLine = ({ process, fromUs, toUs, rows }: LaneStretch): string => {
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

/** The stretch of a line without its line break; undefined for one that is not whole. What has its checksum was written by `laneLine`. */
export const parseLaneLine = (line: string): LaneStretch | undefined => {
  const text = line.slice(CHECKSUM_DIGITS + 1);
  if (line.slice(0, CHECKSUM_DIGITS) !== checksum(text)) return undefined;
  const [form, process, fromUs, toUs, rows] = JSON.parse(text) as [number, string, number, number, RowCells[]];
  return form === FORM ? { process, fromUs, toUs, rows: rows.map(rowOf) } : undefined;
};
