// Digests of the shapes of traces in a Gold store: a name is a test of the store, whose digest at a commit is that of the shape, and people triage it
// like any other. The drawn tree is kept with the digest, so that they see what they triage, and how it differs from what they accepted.
import { timers } from 'spanline/internal/base';
import type { KeptShape } from 'spanline/testing';
import { type CleaningRule, forceValid } from '../params/param-text.js';
import type { CommitInfo } from '../perf/commit-log.js';
import type { Expectations } from './expectations.js';
import type { GoldEntry } from './gold-entry.js';

/** Of a Gold store, what shapes need. */
interface Store {
  readonly table: { readonly location: string };
  readonly rule: CleaningRule;
  readonly expectations: Expectations;
  put(
    commit: number,
    entries: readonly GoldEntry[],
    time: number,
    options: { readonly commitInfo?: CommitInfo },
  ): Promise<void>;
}

/** Of the drawn tree, what the text of a digest may hold. */
const MAX_SHOWN = 60_000;
/** Where the cut goes through a character. */
const HALF_PAIR = /[\ud800-\udbff]$/;

/**
 * Put the digest at the commit. Undefined when it is right; else what to tell the developer. With `accepts` it is said to be right in the name of
 * whoever runs the test.
 */
export const checkShape = async (
  store: Store,
  { name, digest, drawn, commit, commitInfo }: KeptShape,
  accepts: boolean,
): Promise<string | undefined> => {
  const params = forceValid({ name, kind: 'trace-shape' }, store.rule);
  const test = params.name;
  const text = drawn.length <= MAX_SHOWN ? drawn : `${drawn.slice(0, MAX_SHOWN).replace(HALF_PAIR, '')}…`;
  await store.put(commit, [{ params, digest, text }], timers.wallMs(), { commitInfo });
  if (accepts) {
    await store.expectations.triage([{ test, digest, status: 'positive' }], { by: 'expectTraceShape' });
    return undefined;
  }
  const { status } = await store.expectations.get(test, digest);
  if (status === 'positive') return undefined;
  const remedy = `spanline gold triage --store ${JSON.stringify(store.table.location)} ${test} positive ${digest}`;
  return status === 'negative'
    ? `the trace ${name} has a shape that was said to be wrong (${digest}):\n\n${drawn}`
    : `the trace ${name} has a shape that nobody has triaged. If it is right: ${remedy}\n\n${drawn}`;
};
