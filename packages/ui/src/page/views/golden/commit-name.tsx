// A commit of a Gold store: its number, and hash and day where the store knows them.
import type { KnownCommits } from '../../../api/golden/answers.js';
import { dayOf } from '../history/figures.js';

const HASH_DIGITS = 10;

/** As text, for headings and lists. */
export const commitText = (commit: number, known: KnownCommits): string => {
  const info = known[commit];
  if (info === undefined) return String(commit);
  const day = dayOf(info.timestampMs ?? null);
  return `${commit} (${info.hash.slice(0, HASH_DIGITS)}${day === '' ? '' : `, ${day}`})`;
};

/** Several, the first fifty of them. */
export const commitTexts = (commits: readonly number[], known: KnownCommits): string =>
  commits
    .slice(0, 50)
    .map((commit) => commitText(commit, known))
    .join(', ');
