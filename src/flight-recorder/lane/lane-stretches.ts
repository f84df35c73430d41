// The lane of a process as stretches that Perfetto draws: the same in every file, whether a snapshot or an archive has the lane.
import type { PerfettoStretch } from '../../formats/perfetto/write-perfetto.js';
import type { ArchivedValue } from '../../trace/archived-span.js';
import type { LanePart, LaneRow } from './lane-row.js';

type Annotation = readonly [key: string, value: ArchivedValue];

const partStretch = ({ name, startUs, endUs, traceId, spanId, frames }: LanePart): PerfettoStretch => {
  const properties: Annotation[] = [];
  if (traceId !== '') properties.push(['trace.id', traceId], ['span.id', spanId]);
  if (frames.length > 0) properties.push(['frames', frames]);
  return { name: name || frames[0] || 'untraced', category: 'busy', startUs, endUs, properties, parts: [] };
};

/** Those of one kind, in their order. */
export const laneStretches = (rows: readonly LaneRow[], kind: LaneRow['kind']): PerfettoStretch[] =>
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
