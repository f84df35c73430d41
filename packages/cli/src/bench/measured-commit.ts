// Which commit a run has measured, and what is said when the checkout has more than that. Results must never be kept for a commit that nobody named.
import { gitCommit, hasChanges } from '@spanline/tracedb/internal';
import { wrongUsage } from '../exit-code.js';
import { note } from '../output.js';

/** A commit as results are kept for it. */
export interface MeasuredCommit {
  readonly commit: string;
  readonly commitMs?: number;
}

const NO_REPOSITORY = 'no commit to keep the results for: run this in a git checkout, or give --commit HASH';

/** The commit given, with its time where git knows it, else the one that is checked out; undefined where there is none and `isNeeded` is false. */
export const measuredCommit = async (
  given: string | undefined,
  isNeeded: boolean,
): Promise<MeasuredCommit | undefined> => {
  const directory = process.cwd();
  try {
    const { hash, timeMs } = await gitCommit(directory, given ?? 'HEAD');
    if (given === undefined && isNeeded && (await hasChanges(directory))) {
      note(`the checkout has uncommitted changes; the results are kept for ${hash.slice(0, 10)} without them`);
    }
    return { commit: hash, commitMs: timeMs };
  } catch {
    // A build may know its commit without having the repository.
    if (given !== undefined) return { commit: given };
    if (isNeeded) throw wrongUsage(NO_REPOSITORY);
    return undefined;
  }
};
