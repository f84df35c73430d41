// Warnings of misuse: of a local span once per call site, in development mode only; of a wrong argument once per mistake, in
// any mode, since what was meant is lost. Must never throw.

import { warn } from '../base/calls/attempt.js';
import { state } from '../context/process-state.js';
import { Counter, count } from '../rows/counters.js';

const MAX_SITES = 256;
const seen = new Set<string>();

// The first frame outside the folder of this file and outside Node: the user's call. A bundle has the library and its
// user in one file, so there the frame is found by its depth below the handle's `end`.
const BUNDLED_DEPTH = 5;

/** A line of a stack that names a place in a file; `async Promise.all (index 0)` does not. */
const PLACE = /:\d+:\d+\)?$/;

const callSite = (): string => {
  const frames = (new Error().stack ?? '').split('\n').slice(1);
  const own = /\(?((?:file:\/\/)?[^()]*)[/\\][^/\\]+:\d+:\d+\)?$/.exec(frames[0] ?? '')?.[1].replace(/^.*at /, '');
  const outside =
    own === undefined
      ? undefined
      : frames.find((frame) => PLACE.test(frame) && !frame.includes(own) && !frame.includes('node:'));
  return (outside ?? frames[BUNDLED_DEPTH] ?? '').trim();
};

/** A local span was closed while one started after it is open: usually a local span held across an await. */
export const warnOutOfOrder = (): void => {
  if (!state.development || seen.size >= MAX_SITES) return;
  try {
    const site = callSite();
    if (seen.has(site)) return;
    seen.add(site);
    const what = `A local span was closed out of order ${site}. A local span belongs to one synchronous stretch`;
    warn(
      `${what}; for work that awaits use Span.startWithLocalParent or traced().`,
      'SPANLINE_LOCAL_SPAN_OUT_OF_ORDER',
    );
  } catch {
    // Programs replace Error.prepareStackTrace.
  }
};

const warned = new Set<string>();

/** Count an argument that cannot be what was meant, and say once which call is: `remedy` is a fixed text. */
export const wrongArgument = (remedy: string): void => {
  count(Counter.argumentsInvalid);
  if (warned.has(remedy)) return;
  warned.add(remedy);
  warn(remedy, 'SPANLINE_WRONG_ARGUMENT');
};
