// The timelines of an archive: files of lines beside its segments, each of one writer and a bounded stretch of time, which their names tell; a line
// is a stretch of the timeline of one process, with its checksum. Nothing here may keep a span from being written or read: a file that is gone was
// too old, and a line that a crash cut, or that was changed, is left out and counted, never taken for a whole one. Must not take two processes for
// one where their resources tell them apart: each has an event loop of its own.

import { appendFileSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { BadOptionsError, BadValueError, LimitError, TransportError } from '@spanline/graph';
import { isGone, timers } from 'spanline/internal/base';
import { type ArchivedResource, setOwn } from 'spanline/internal/record';
import type { TimelinePart, TimelineRow } from 'spanline/internal/timeline';
import type { Retention } from '../archive-options.js';
import { newId } from '../directory.js';
import { removeFiles } from '../make-segments.js';

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
const timelineLine = ({ process, fromUs, toUs, rows }: TimelineStretch): string => {
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
const parseTimelineLine = (line: string): TimelineStretch | undefined => {
  const text = line.slice(CHECKSUM_DIGITS + 1);
  if (line.slice(0, CHECKSUM_DIGITS) !== checksum(text)) return undefined;
  const [form, process, fromUs, toUs, rows] = JSON.parse(text) as [number, string, number, number, RowCells[]];
  return form === FORM ? { process, fromUs, toUs, rows: rows.map(rowOf) } : undefined;
};

/** What the text of a file of timelines says, and how many of its lines are not whole. */
export const stretchesIn = (text: string): { readonly stretches: TimelineStretch[]; readonly torn: number } => {
  const lines = text.split('\n');
  // What stands behind the last line break is a line that is being written, or was cut.
  if (lines.at(-1) === '') lines.pop();
  const stretches = lines.flatMap((line) => parseTimelineLine(line) ?? []);
  return { stretches, torn: lines.length - stretches.length };
};

/** Stretches of several places, each once, in order of their start. */
export const mergedStretches = (stretches: readonly TimelineStretch[]): TimelineStretch[] => {
  const all = new Map(stretches.map((one) => [`${one.process} ${one.fromUs} ${one.toUs}`, one]));
  return [...all.values()].sort((a, b) => a.fromUs - b.fromUs);
};

/** The service, and its process where that is known: `shop 4711`. `process` is as `processOf` names it. */
export const processLabel = (process: string): string => {
  const { 'service.name': service = '', 'process.pid': pid = '' } = JSON.parse(process) as Record<string, string>;
  return [service, pid].filter((text) => text !== '').join(' ');
};

/** A file covers so much time and has about so many bytes at most, so that what is too old goes in small pieces. */
const FILE_MS = 10 * 60 * 1000;
const FILE_BYTES = 4 * 1024 * 1024;
/** Of all files of an archive: the oldest beyond are deleted, whatever else its retention says. */
const TIMELINE_BYTES = 64 * 1024 * 1024;
/** Rows taken at once: more than a timeline in memory has. */
const MAX_ROWS = 65_536;

const NAME = /^timeline-(\d{1,16})-(\d{1,16})-[0-9a-f]{12}\.jsonl$/;

export interface TimelineName {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** None where there is no directory yet. */
const filesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch (cause) {
    if (isGone(cause)) return [];
    throw new TransportError(`${directory} cannot be read: ${(cause as Error).message}`, { cause });
  }
};

/** Files of timelines in a directory. */
export const timelinesIn = (directory: string): TimelineName[] =>
  filesIn(directory).flatMap((name) => {
    const [, start, end] = NAME.exec(name) ?? [];
    return start === undefined ? [] : [{ name, startMs: Number(start), endMs: Number(end) }];
  });

/** The file that is written now. */
interface Current extends TimelineName {
  readonly bytes: number;
}

/** Reads and writes the timelines of one directory. */
export class TimelineFiles {
  readonly #directory: string;
  #current: Current | undefined;
  /** Rows taken. */
  rows = 0;
  /** Files that were too old or too much. */
  deleted = 0;
  /** By file. */
  readonly #torn = new Map<string, number>();

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Lines that were not whole when they were read last, in all files. */
  get tornLines(): number {
    return [...this.#torn.values()].reduce((sum, count) => sum + count, 0);
  }

  append(rows: readonly TimelineRow[], resource: ArchivedResource, fromUs: number, toUs: number): void {
    if (!(Number.isFinite(fromUs) && Number.isFinite(toUs) && fromUs >= 0 && toUs >= fromUs))
      throw new BadValueError(`a timeline from ${fromUs} to ${toUs}: give Unix microseconds, the earlier first`);
    if (rows.length > MAX_ROWS)
      throw new LimitError(`${rows.length} rows of a timeline at once: append at most ${MAX_ROWS}`);
    // What was under way when the last stretch ended is told by this one.
    const firstUs = rows.reduce((min, { startUs }) => Math.min(min, startUs), fromUs);
    const line = timelineLine({ process: processOf(resource), fromUs: firstUs, toUs, rows });
    const bytes = Buffer.byteLength(line);
    if (bytes > FILE_BYTES)
      throw new LimitError(`${bytes} bytes of a timeline at once: append it in shorter stretches`);
    const file = this.#fileFor(firstUs, toUs, bytes);
    // A line that was cut stays the last of its file.
    this.#current = undefined;
    try {
      appendFileSync(join(this.#directory, file.name), line);
    } catch (cause) {
      throw new TransportError(`${file.name} cannot be written: ${(cause as Error).message}`, { cause });
    }
    this.#current = { ...file, bytes: file.bytes + bytes };
    this.rows += rows.length;
  }

  /** What is appended from now on goes into another file. */
  rotate(): void {
    this.#current = undefined;
  }

  /** Stretches that overlap this time, in order of their start. */
  async read(fromUs: number, toUs: number): Promise<TimelineStretch[]> {
    if (!(fromUs <= toUs))
      throw new BadOptionsError(`a timeline from ${fromUs} to ${toUs}: give the earlier time first`);
    const found: TimelineStretch[] = [];
    for (const { name, startMs, endMs } of timelinesIn(this.#directory)) {
      if (startMs * 1000 > toUs || endMs * 1000 < fromUs) continue;
      const { stretches, torn } = stretchesIn(await this.#textOf(name));
      found.push(...stretches.filter((stretch) => stretch.fromUs <= toUs && stretch.toUs >= fromUs));
      if (torn > 0) this.#torn.set(name, torn);
    }
    return found.sort((a, b) => a.fromUs - b.fromUs);
  }

  /** Deletes what is too old, and the oldest of what is too much. */
  retain({ maxAgeMs }: Retention): void {
    const oldest = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : timers.wallMs() - maxAgeMs;
    const names: string[] = [];
    let bytes = 0;
    for (const { name, endMs } of timelinesIn(this.#directory).sort((a, b) => b.endMs - a.endMs)) {
      bytes += statSync(join(this.#directory, name), { throwIfNoEntry: false })?.size ?? 0;
      if (endMs < oldest || bytes > TIMELINE_BYTES) names.push(name);
    }
    removeFiles(this.#directory, names);
    this.deleted += names.length;
  }

  #fileFor(fromUs: number, toUs: number, bytes: number): Current {
    const now = this.#current;
    const startMs = Math.floor(fromUs / 1000);
    const endMs = Math.ceil(toUs / 1000);
    const fits = now !== undefined && startMs >= now.startMs && endMs <= now.endMs && now.bytes + bytes <= FILE_BYTES;
    if (fits) return now;
    const lastMs = Math.max(endMs, startMs + FILE_MS);
    return { name: `timeline-${startMs}-${lastMs}-${newId()}.jsonl`, startMs, endMs: lastMs, bytes: 0 };
  }

  async #textOf(name: string): Promise<string> {
    try {
      return await readFile(join(this.#directory, name), 'utf8');
    } catch (cause) {
      if (isGone(cause)) return '';
      throw new TransportError(`${name} cannot be read: ${(cause as Error).message}`, { cause });
    }
  }
}
