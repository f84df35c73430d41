// The timelines of an archive: files of lines beside its segments, each of one writer and a bounded stretch of time, which their names tell. Nothing here
// may keep a span from being written or read: a torn line is left out and counted, a file that is gone was too old.
import { appendFileSync, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BadOptionsError, BadValueError, LimitError, TransportError } from '@spanline/graph';
import { timers } from 'spanline/internal/base';
import type { ArchivedResource } from 'spanline/internal/record';
import type { TimelineRow } from 'spanline/internal/timeline';
import type { Retention } from '../archive-options.js';
import { newId } from '../directory.js';
import { removeFiles } from '../make-segments.js';
import { parseTimelineLine, processOf, type TimelineStretch, timelineLine } from './timeline-stretch.js';

/** A file covers so much time and has about so many bytes at most, so that what is too old goes in small pieces. */
const FILE_MS = 10 * 60 * 1000;
const FILE_BYTES = 4 * 1024 * 1024;
/** Of all files of an archive: the oldest beyond are deleted, whatever else its retention says. */
export const TIMELINE_BYTES = 64 * 1024 * 1024;
/** Rows taken at once: more than a timeline in memory has. */
const MAX_ROWS = 65_536;

const NAME = /^timeline-(\d{1,16})-(\d{1,16})-[0-9a-f]{12}\.jsonl$/;

interface TimelineName {
  readonly name: string;
  readonly startMs: number;
  readonly endMs: number;
}

/** None where there is no directory yet. */
const filesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw new TransportError(`${directory} cannot be read: ${(cause as Error).message}`, { cause });
  }
};

const namesIn = (directory: string): TimelineName[] =>
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

  /** Stretches that overlap this time, in order of their start. */
  async read(fromUs: number, toUs: number): Promise<TimelineStretch[]> {
    if (!(fromUs <= toUs))
      throw new BadOptionsError(`a timeline from ${fromUs} to ${toUs}: give the earlier time first`);
    const found: TimelineStretch[] = [];
    for (const { name, startMs, endMs } of namesIn(this.#directory)) {
      if (startMs * 1000 > toUs || endMs * 1000 < fromUs) continue;
      const lines = (await this.#textOf(name)).split('\n');
      // What stands behind the last line break is a line that is being written, or was cut.
      if (lines.at(-1) === '') lines.pop();
      let torn = 0;
      for (const line of lines) {
        const stretch = parseTimelineLine(line);
        if (stretch === undefined) torn++;
        else if (stretch.fromUs <= toUs && stretch.toUs >= fromUs) found.push(stretch);
      }
      if (torn > 0) this.#torn.set(name, torn);
    }
    return found.sort((a, b) => a.fromUs - b.fromUs);
  }

  /** Deletes what is too old, and the oldest of what is too much. */
  retain({ maxAgeMs }: Retention): void {
    const oldest = maxAgeMs === undefined ? Number.NEGATIVE_INFINITY : timers.wallMs() - maxAgeMs;
    const names: string[] = [];
    let bytes = 0;
    for (const { name, endMs } of namesIn(this.#directory).sort((a, b) => b.endMs - a.endMs)) {
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
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return '';
      throw new TransportError(`${name} cannot be read: ${(cause as Error).message}`, { cause });
    }
  }
}
