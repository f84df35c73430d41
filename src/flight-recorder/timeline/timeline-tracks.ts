// The timeline of a process as tracks that Perfetto draws: the same in every file, whether a snapshot or an archive has the timeline.
import type { PerfettoStretch, PerfettoWriter } from '../../formats/perfetto/write-perfetto.js';
import type { ArchivedValue } from '../../record/archived-span.js';
import { stackName } from './frames.js';
import type { TimelinePart, TimelineRow } from './timeline-row.js';

type Annotation = readonly [key: string, value: ArchivedValue];

const partStretch = ({ name, startUs, endUs, traceId, spanId, frames }: TimelinePart): PerfettoStretch => {
  const properties: Annotation[] = [];
  if (traceId !== '') properties.push(['trace.id', traceId], ['span.id', spanId]);
  if (frames.length > 0) properties.push(['frames', frames]);
  return { name: name || stackName(frames) || 'untraced', category: 'busy', startUs, endUs, properties, parts: [] };
};

/** Those of one kind, in their order. */
const timelineStretches = (rows: readonly TimelineRow[], kind: TimelineRow['kind']): PerfettoStretch[] =>
  rows
    .filter((row) => row.kind === kind)
    .map(({ detail, startUs, endUs, parts }) => ({
      name: detail || kind,
      category: kind,
      startUs,
      endUs,
      properties: [],
      parts: parts.map(partStretch),
    }));

/** Short turns, named by their share of work. */
const turnsStretch = ({ startUs, endUs, idleUs = 0 }: TimelineRow): PerfettoStretch => {
  const workUs = Math.max(0, endUs - startUs - idleUs);
  const share = Math.round((100 * workUs) / Math.max(endUs - startUs, 1));
  const properties: Annotation[] = [['work_us', workUs]];
  return { name: `${share} % work`, category: 'turns', startUs, endUs, properties, parts: [] };
};

/** Write the timeline of a process that was begun; a step is a stretch. */
export const timelineTracks = function* (
  writer: PerfettoWriter,
  pid: number,
  rows: readonly TimelineRow[],
): Generator<undefined> {
  yield* writer.stretches('event loop', pid, true, timelineStretches(rows, 'busy'));
  yield* writer.stretches('garbage collection', pid, false, timelineStretches(rows, 'gc'));
  const turns = rows.filter(({ kind }) => kind === 'turns').map(turnsStretch);
  if (turns.length > 0) yield* writer.stretches('short turns of the event loop', pid, false, turns);
  const pool = timelineStretches(rows, 'pool');
  if (pool.length > 0) yield* writer.stretches('thread pool full', pid, false, pool);
};
