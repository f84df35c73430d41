// Which of the commits that were measured a word means. It must never pick one of several that begin alike.
import { gitCommit, type KeptSeries } from '@spanline/tracedb/internal';
import { notFound, wrongUsage } from '../exit-code.js';

/** The hash that begins with the word, else the commit that git has under that name, such as `HEAD` or `main`. */
export const keptCommit = async (series: readonly KeptSeries[], name: string): Promise<string> => {
  const hashes = [...new Set(series.flatMap(({ points }) => points.map(({ hash }) => hash)))];
  if (hashes.includes(name)) return name;
  const beginning = hashes.filter((hash) => hash.startsWith(name));
  if (beginning.length === 1) return beginning[0];
  if (beginning.length > 1)
    throw wrongUsage(`${beginning.length} measured commits begin with ${name}; write more of it`);
  const named = await gitCommit(process.cwd(), name).catch(() => undefined);
  const found = hashes.find((hash) => named?.hash.startsWith(hash));
  if (found !== undefined) return found;
  const newest = hashes.slice(-3).map((hash) => hash.slice(0, 10));
  throw notFound(
    hashes.length === 0
      ? 'no results are kept there; spanline bench run keeps some'
      : `no results are kept for ${name}${named === undefined ? '' : ` (${named.hash.slice(0, 10)})`}; there are some for ${newest.join(', ')}`,
  );
};
