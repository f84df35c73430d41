// The benchmark history in a Perf store on LMDB: real ingest, real queries. The store's own spans (plan, nodes, table reads) hang
// below those made here.

import { type Commit, ingestFile, openTable, PERF_SCHEMA, PerfStore, type PerfTrace } from '@spanline/tracedb';
import { LocalSpan, traced } from 'spanline';

/** A value of a series, with its commit. */
export interface Measurement {
  readonly commit: Commit;
  readonly value: number;
}

/** What was ingested. */
export interface Loaded {
  readonly entries: number;
  readonly points: number;
  readonly milliseconds: number;
}

const query = (tests: readonly string[]): string => tests.map((test) => `test=${encodeURIComponent(test)}`).join('&');

/** The store and what every query needs of it. */
export class Benchmarks {
  private constructor(
    private readonly perf: PerfStore,
    /** By number. */
    private readonly commits: readonly Commit[],
    /** Oldest first. */
    private readonly tiles: readonly number[],
    readonly tests: readonly string[],
    readonly loaded: Loaded,
  ) {}

  /** Ingest `source` into a new store in `directory`. */
  static async load(source: string, directory: string): Promise<Benchmarks> {
    const perf = await PerfStore.open(await openTable(directory, PERF_SCHEMA));
    const begin = performance.now();
    const { entries, points } = await ingestFile(perf, source);
    const milliseconds = performance.now() - begin;
    const commits: Commit[] = [];
    for (const commit of await perf.commits.list()) commits[commit.number] = commit;
    const tiles = (await perf.tiles()).reverse();
    const tests = (await perf.paramSet(tiles.at(-1) ?? 0)).values('test');
    return new Benchmarks(perf, commits, tiles, tests, { entries, points, milliseconds });
  }

  get commitCount(): number {
    return this.commits.length;
  }

  /** The whole history of some tests, oldest first. */
  @traced({ name: 'histories', properties: (tests: readonly string[]) => ({ tests: tests.length }) })
  async histories(tests: readonly string[]): Promise<ReadonlyMap<string, readonly Measurement[]>> {
    const found = new Map<string, Measurement[]>(tests.map((test) => [test, []]));
    for (const tile of this.tiles) {
      for await (const traces of this.perf.query(tile, query(tests))) {
        for (const trace of traces) this.collect(tile, trace, found);
      }
    }
    return found;
  }

  /** What two commits have in common: values of all tests at both. `isCareless` asks the store for each test alone. */
  @traced({ name: 'compare' })
  async compare(
    before: number,
    after: number,
    isCareless: boolean,
  ): Promise<readonly { test: string; before: number; after: number }[]> {
    const queries = isCareless ? this.tests.map((test) => query([test])) : ['suite=Benchmark'];
    const old = await this.valuesAt(before, queries);
    const now = await this.valuesAt(after, queries);
    return [...now].flatMap(([test, value]) => {
      const was = old.get(test);
      return was === undefined ? [] : [{ test, before: was, after: value }];
    });
  }

  close(): Promise<void> {
    return this.perf.table.close();
  }

  private async valuesAt(commit: number, queries: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const values = new Map<string, number>();
    for (const asked of queries) {
      for await (const traces of this.perf.query(this.perf.tileOf(commit), asked)) {
        for (const trace of traces) {
          const value = trace.values[this.perf.offsetOf(commit)];
          if (!Number.isNaN(value)) values.set(trace.params.test, value);
        }
      }
    }
    return values;
  }

  private collect(tile: number, { params, values }: PerfTrace, found: ReadonlyMap<string, Measurement[]>): void {
    using span = LocalSpan.start('collect');
    const history = found.get(params.test);
    const first = tile * this.perf.config.tileSize;
    for (let offset = 0; offset < values.length; offset++) {
      if (!Number.isNaN(values[offset])) history?.push({ commit: this.commits[first + offset], value: values[offset] });
    }
    span.addProperties({ tile, rows: history?.length ?? 0 });
  }
}
