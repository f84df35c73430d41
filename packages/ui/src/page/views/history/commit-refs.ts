// Commits as the address names them: by the beginning of their hash, which stays the same when others are added, and which people may type.
import type { CommitColumns } from '../../../api/history/answers.js';

const DIGITS = 10;

/** As the page shows a hash and puts it into the address. */
export const shortHash = (hash: string): string => hash.slice(0, DIGITS);

/** The place of the commit that a text means; -1 for none. */
export const placeOf = ({ hashes }: CommitColumns, text: string | undefined): number =>
  text === undefined || text === '' ? -1 : hashes.findIndex((hash) => hash.startsWith(text));

/** Places from the first to the last that is seen. */
export type Zoom = readonly [first: number, last: number];

/** The part of the address that says what is seen; undefined for everything. */
export const zoomText = ({ hashes }: CommitColumns, zoom: Zoom | undefined): string | undefined =>
  zoom && `${shortHash(hashes[zoom[0]])}..${shortHash(hashes[zoom[1]])}`;

/** What such a text means among these commits; undefined where it means nothing. */
export const zoomOf = (commits: CommitColumns, text = ''): Zoom | undefined => {
  const [first, last] = text.split('..').map((part) => placeOf(commits, part));
  return first >= 0 && last > first ? [first, last] : undefined;
};
