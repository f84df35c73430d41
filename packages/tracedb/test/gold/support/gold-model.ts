// A Gold store said as plainly as possible, in memory: what the real one must give for the same puts.
import { createHash } from 'node:crypto';
import type { GoldEntry } from '../../../src/gold/gold-entry.js';
import type { GoldTile } from '../../../src/gold/gold-tile-reader.js';

/** The MD5 digest of a text. */
export const md5 = (text: string | number): string => createHash('md5').update(String(text)).digest('hex');

const nameOf = (params: Readonly<Record<string, string>>): string =>
  `,${Object.entries(params)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}=${value}`)
    .join(',')},`;

interface Timed<T> {
  readonly value: T;
  readonly time: number;
}

/** A tile without what only a real one has, for comparison. */
export const plain = ({ commits, traces }: Pick<GoldTile, 'commits' | 'traces'>) => ({
  commits,
  traces: traces.map(({ id, params, options, digests }) => ({ id, params, options, digests: digests.join(' ') })),
});

export class GoldModel {
  private readonly cells = new Map<string, Map<number, Timed<string>>>();
  private readonly options = new Map<string, Map<number, Timed<Readonly<Record<string, string>>>>>();
  private readonly params = new Map<string, Readonly<Record<string, string>>>();

  constructor(private readonly tileSize: number) {}

  put(commit: number, entries: readonly GoldEntry[], time: number): void {
    const tile = Math.floor(commit / this.tileSize);
    const last = new Map<string, GoldEntry>();
    const lastOptions = new Map<string, GoldEntry>();
    for (const entry of entries) {
      last.set(nameOf(entry.params), entry);
      if (entry.options !== undefined) lastOptions.set(nameOf(entry.params), entry);
    }
    for (const [name, { params, digest }] of last) {
      this.params.set(name, params);
      set(this.cells, name, commit, digest, time);
    }
    for (const [name, { options = {} }] of lastOptions) set(this.options, name, tile, options, time);
  }

  /** Commits with a digest up to `last`, ascending. */
  private filled(last = Number.POSITIVE_INFINITY): number[] {
    const commits = new Set<number>();
    for (const cells of this.cells.values()) {
      for (const [commit, { value }] of cells) if (value !== '' && commit <= last) commits.add(commit);
    }
    return [...commits].sort((a, b) => a - b);
  }

  tile(n: number, last = this.filled().at(-1)): ReturnType<typeof plain> {
    if (last === undefined) return { commits: [], traces: [] };
    const first = Math.max(0, last - n + 1);
    return this.at(
      Array.from({ length: last - first + 1 }, (_, i) => first + i),
      first,
      last,
    );
  }

  denseTile(n: number, last?: number): ReturnType<typeof plain> {
    const filled = this.filled(last);
    const commits = filled.slice(-n);
    // Stored tiles are read until there are enough commits, so options come from no older one than that of the first commit.
    const first = filled.length >= n ? (commits[0] ?? 0) : 0;
    return this.at(commits, first, last ?? Number.POSITIVE_INFINITY);
  }

  private at(commits: readonly number[], first: number, last: number): ReturnType<typeof plain> {
    const names = [...this.cells.keys()].sort();
    const traces = names.map((id) => ({
      id,
      params: this.params.get(id) ?? {},
      options: this.optionsOf(id, Math.floor(first / this.tileSize), Math.floor(last / this.tileSize)),
      digests: commits.map((commit) => this.cells.get(id)?.get(commit)?.value ?? ''),
    }));
    return plain({ commits, traces: traces.filter(({ digests }) => digests.some((digest) => digest !== '')) });
  }

  private optionsOf(id: string, firstTile: number, lastTile: number): Readonly<Record<string, string>> {
    const tiles = [...(this.options.get(id) ?? [])].filter(([tile]) => tile >= firstTile && tile <= lastTile);
    return tiles.sort(([a], [b]) => b - a)[0]?.[1].value ?? {};
  }
}

const set = <T>(all: Map<string, Map<number, Timed<T>>>, name: string, at: number, value: T, time: number): void => {
  const cells = all.get(name) ?? new Map<number, Timed<T>>();
  all.set(name, cells);
  const old = cells.get(at);
  if (old === undefined || time >= old.time) cells.set(at, { value, time });
};
