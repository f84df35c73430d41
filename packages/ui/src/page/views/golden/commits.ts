// Commits of a Gold store: which of them and which page of the answer are looked at, as the address says it, the same for both lists and the digest;
// and the name of one, its number, with hash and day where the store knows them.

import type { KnownCommits } from '../../../api/golden/answers.js';
import type { ViewProps } from '../../shell/location.js';
import { dayOf } from '../../shell/units.js';

type Parameters = ViewProps['parameters'];

export const COMMITS = ['20', '100', '500', '2000', '10000'];
export const PAGE = 100;

/** Parameters of a request, those of the commits. */
export const windowOf = ({ commits = '100', last }: Parameters) => ({ commits, last });

/** The first result that is shown. */
export const offsetOf = ({ offset = '0' }: Parameters): number => (/^\d{1,6}$/.test(offset) ? Number(offset) : 0);

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
