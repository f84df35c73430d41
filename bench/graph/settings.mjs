// What the suite tells its subjects, each in a process of its own: which data, how much of it, where its files are.
import { join } from 'node:path';
import { root } from '../../scripts/lib/run.mjs';

/** Everything the suite keeps on disk. */
export const folder = join(root, '.tmp/bench-graph');

/** Sizes of the data. `shop`: the traces an archive takes in; `store`: the archive that traces are looked up in. */
export const SIZES = {
  full: {
    commits: 81_966,
    traces: 10_000,
    shop: { traces: 10_000, spansPerTrace: 30 },
    store: { segments: 100, traces: 10_000, spansPerTrace: 10 },
  },
  quick: {
    commits: 10_000,
    traces: 1000,
    shop: { traces: 1000, spansPerTrace: 30 },
    store: { segments: 10, traces: 1000, spansPerTrace: 10 },
  },
};

const given = JSON.parse(process.env.SPANLINE_BENCH_GRAPH ?? '{"size":"quick"}');

/** The history in use: `path` of its text, `origin` for people, `tag` for names of files. */
export const history = given.history;
export const { size } = given;
export const sizes = SIZES[size];

/** The environment of a subject. */
export const environment = (settings) => ({ SPANLINE_BENCH_GRAPH: JSON.stringify(settings) });
