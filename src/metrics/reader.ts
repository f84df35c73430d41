// What an exporter reads: the points of all instruments at one moment, since the start or since what it delivered last. A reader must change nothing of the
// instruments, for others read them too; and what was not delivered is part of the next difference, so that nothing is lost with a failed export.
import { attempt } from '../base/calls/attempt.js';
import { timers } from '../base/calls/timers.js';
import type { Attribute } from './attribute-sets.js';
import type { Exemplar } from './exemplars.js';
import { FIRST_BUCKET, Histogram, type Instrument, SUM } from './instruments.js';

/** Which sums are differences: of `delta` those of counters and histograms, of the others none. */
export type Temporality = 'cumulative' | 'delta';

/** One attribute set of an instrument. */
export interface Point {
  readonly attributes: readonly Attribute[];
  /** The value, or the sum of a histogram. */
  readonly value: number;
  /** Of a histogram: values in each bucket. */
  readonly buckets: Float64Array | undefined;
  /** Of the bucket with this index: a measurement that is in it, and has a trace. */
  exemplarOf(bucket: number): Exemplar | undefined;
}

/** An instrument at one moment. */
export interface Metric {
  readonly instrument: Instrument;
  readonly isDelta: boolean;
  /** Unix milliseconds: since when its sums count. */
  readonly startMs: number;
  /** To be read once, and made one by one as they are: thousands at once would hold the event loop. Never empty. */
  readonly points: Iterable<Point>;
}

/** All that a process measures. */
export class Instruments {
  readonly #all: Instrument[] = [];
  readonly #observers: (() => void)[] = [];

  add<T extends Instrument>(instrument: T): T {
    this.#all.push(instrument);
    return instrument;
  }

  /** `observe` is called before each reading, and sets what is measured only then. What it throws is its own affair. */
  onRead(observe: () => void): void {
    this.#observers.push(observe);
  }

  /** In the order in which they were added. */
  get all(): readonly Instrument[] {
    return this.#all;
  }

  /** The same, all of them up to date. */
  read(): readonly Instrument[] {
    // Where one throws, its instruments have the values of the reading before.
    for (const observe of this.#observers) attempt(observe);
    return this.#all;
  }
}

/** The rows of an instrument at one moment; what has not changed is no part of a difference. Exemplars are none from before `sinceMs`. */
const pointsOf = function* (
  instrument: Instrument,
  cells: Float64Array,
  isDelta: boolean,
  sinceMs: number,
): Generator<Point> {
  const { sets, width } = instrument;
  const histogram = instrument instanceof Histogram ? instrument : undefined;
  for (const set of instrument.usedSets(cells, isDelta)) {
    const row = cells.subarray(set * width, (set + 1) * width);
    const buckets = histogram === undefined ? undefined : row.subarray(FIRST_BUCKET);
    yield {
      attributes: sets.attributesOf(set),
      value: row[SUM],
      buckets,
      // Not of the moment of the reading: a later one is of the same bucket.
      exemplarOf: (bucket) => histogram?.exemplars?.at(set * width + FIRST_BUCKET + bucket, sinceMs),
    };
  }
};

const changesOnly = ({ kind }: Instrument, temporality: Temporality): boolean =>
  temporality === 'delta' && (kind === 'counter' || kind === 'histogram');

export class Reader {
  readonly #instruments: Instruments;
  readonly #temporality: Temporality;
  /** Of instruments whose differences are wanted: what was delivered. */
  #delivered = new Map<Instrument, Float64Array>();
  #deliveredMs = 0;
  #read = new Map<Instrument, Float64Array>();
  /** Unix milliseconds of the last reading. */
  readMs = 0;

  constructor(instruments: Instruments, temporality: Temporality) {
    this.#instruments = instruments;
    this.#temporality = temporality;
  }

  /** Instruments without a point are left out. */
  read(): readonly Metric[] {
    this.readMs = timers.wallMs();
    this.#read = new Map();
    return this.#instruments.read().flatMap((instrument) => this.#metricOf(instrument) ?? []);
  }

  /** What was read last has arrived: the next differences are from there on. */
  delivered(): void {
    this.#delivered = this.#read;
    this.#deliveredMs = this.readMs;
  }

  #metricOf(instrument: Instrument): Metric | undefined {
    const { sets, width, startMs } = instrument;
    const isDelta = changesOnly(instrument, this.#temporality);
    // A copy: points are written while requests go on.
    const now = instrument.cells.slice(0, sets.size * width);
    const before = isDelta ? this.#delivered.get(instrument) : undefined;
    if (isDelta) this.#read.set(instrument, now);
    const cells = before === undefined ? now : now.map((value, i) => value - (before[i] ?? 0));
    // The clock may have been put back: no difference ends before it begins.
    const sinceMs = isDelta ? Math.min(before === undefined ? startMs : this.#deliveredMs, this.readMs) : startMs;
    if (instrument.usedSets(cells, isDelta).next().done) return undefined;
    return { instrument, isDelta, startMs: sinceMs, points: pointsOf(instrument, cells, isDelta, sinceMs) };
  }
}
