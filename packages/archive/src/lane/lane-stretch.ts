// What an archive keeps of the lane of a process, and which process that is. Must not take two processes for one where their resources tell them
// apart: each has an event loop of its own.

import { type ArchivedResource, setOwn } from 'spanline/internal/record';
import type { TimelineRow } from 'spanline/internal/timeline';

/** The lane of one process in a stretch of time: where it has no row, nothing of note happened. */
export interface LaneStretch {
  /** Which process, as `processOf` names it. */
  readonly process: string;
  /** Unix time in microseconds. */
  readonly fromUs: number;
  readonly toUs: number;
  readonly rows: readonly TimelineRow[];
}

/** What tells processes apart, in OpenTelemetry's names. */
const KEYS = ['service.instance.id', 'service.name', 'host.name', 'process.pid'] as const;

/** The process that a resource describes, as a text that is the same for its spans and for its lane. */
export const processOf = ({ properties }: ArchivedResource): string => {
  const known: Record<string, string> = {};
  for (const key of KEYS) if (properties[key] !== undefined) setOwn(known, key, String(properties[key]));
  return JSON.stringify(known);
};
