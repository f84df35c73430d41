// The worst stalls of the archive, as `spanline stalls` finds them.
import {
  archiveStalls,
  type Call,
  durationNs,
  pick,
  processLabel,
  type Route,
  wholeNumber,
} from '@spanline/archive/internal';
import { timers } from 'spanline/internal/base';
import { stackName } from 'spanline/internal/timeline';
import type { StallsAnswer } from '../answers.js';
import { type ArchiveOf, apiGet } from '../api-route.js';

/** Each costs a search and the traces of its time. */
const MAX_STALLS = 100;
const DEFAULT_STALLS = 20;
const NS_PER_US = 1000n;
const US_PER_MS = 1000;

const stallsAnswer = async (archiveOf: ArchiveOf, call: Call): Promise<StallsAnswer> => {
  const { query, signal } = call;
  const last = pick(query, 'last');
  const limit = pick(query, 'limit');
  const toUs = timers.wallMs() * US_PER_MS;
  const window = { fromUs: last === undefined ? 0 : toUs - Number(durationNs(last) / NS_PER_US), toUs };
  const notes = new Set<string>();
  const found = await archiveStalls(
    await archiveOf(call),
    window,
    limit === undefined ? DEFAULT_STALLS : wholeNumber(limit, 1, MAX_STALLS),
    { signal, note: (text) => notes.add(text) },
  );
  return {
    hasTimeline: found !== undefined,
    stalls: (found ?? []).map((stall) => ({
      ...stall,
      process: processLabel(stall.process),
      untracedFrames: stall.untracedFrames.map((hot) => ({ ...hot, name: stackName(hot.frames) })),
    })),
    notes: [...notes],
  };
};

/** `last` (a duration such as 15m; all without it) and `limit`. */
export const stallsRoutes = (archiveOf: ArchiveOf): Route[] => [
  apiGet('stalls', (call) => stallsAnswer(archiveOf, call)),
];
