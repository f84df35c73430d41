// Instruments: a row of numbers for each attribute set, in one typed array that grows to its bound. A record is a look-up of the set and some additions:
// it must not allocate, must not throw, and refuses what is not a number, counted. Sums and counts only ever grow here: an exporter that wants the
// difference of two moments keeps the earlier one itself (reader.ts), so that several can read.
import { timers } from '../base/calls/timers.js';
import { AttributeSets, type AttributeValue, type Keys, OVERFLOW } from './attribute-sets.js';
import { Exemplars, type MeasuredSpan } from './exemplars.js';

export type InstrumentKind = 'counter' | 'up-down' | 'gauge' | 'histogram';

/** What an instrument is made of. */
export interface Definition {
  /** By OpenTelemetry's conventions: `http.server.request.duration`. */
  readonly name: string;
  /** In UCUM: `s`, `By`, `{request}`, `1`. */
  readonly unit: string;
  readonly description: string;
  /** The keys of its attributes; a record has a value for each, or undefined. */
  readonly keys?: Keys;
  /** Its values are whole numbers. */
  readonly isWhole?: boolean;
  /** Sets at most, with the overflow set. */
  readonly maxSets?: number;
}

const FIRST_ROWS = 8;
const NO_KEYS: readonly string[] = Object.freeze([]);
const NO_VALUES: readonly AttributeValue[] = Object.freeze([]);

export abstract class Instrument {
  abstract readonly kind: InstrumentKind;
  readonly name: string;
  readonly unit: string;
  readonly description: string;
  readonly isWhole: boolean;
  readonly sets: AttributeSets;
  /** Numbers of a row. */
  readonly width: number;
  /** Unix milliseconds: since when it counts. */
  readonly startMs = timers.wallMs();
  /** Records that were refused because their value was none. */
  refused = 0;
  /** Row by row, by the number of the set. */
  cells: Float64Array;

  constructor({ name, unit, description, keys = NO_KEYS, isWhole = false, maxSets }: Definition, width = 1) {
    this.name = name;
    this.unit = unit;
    this.description = description;
    this.isWhole = isWhole;
    this.sets = new AttributeSets(keys, maxSets);
    this.width = width;
    this.cells = new Float64Array(FIRST_ROWS * width);
  }

  /** Where the row of a set begins, for as long as the process lives. `values` is copied where it is kept. */
  place(values: readonly AttributeValue[]): number {
    const place = this.sets.numberOf(values) * this.width;
    if (place >= this.cells.length) this.#grow();
    return place;
  }

  /** Sets with a record: each is there from its first one on, the overflow set always. */
  *usedSets(cells: Float64Array = this.cells, mustHaveChanged = false): Generator<number> {
    const { sets, width } = this;
    for (let set = 0; set < sets.size && set * width < cells.length; set++) {
      const isKnown = set !== OVERFLOW && !mustHaveChanged;
      if (isKnown || cells.subarray(set * width, (set + 1) * width).some((value) => value !== 0)) yield set;
    }
  }

  #grow(): void {
    const larger = new Float64Array(this.cells.length * 2);
    larger.set(this.cells);
    this.cells = larger;
  }
}

/** A sum that only grows. */
export class Counter extends Instrument {
  readonly kind = 'counter';

  add(value: number, attributes: readonly AttributeValue[] = NO_VALUES): void {
    if (value >= 0 && value < Number.POSITIVE_INFINITY) this.cells[this.place(attributes)] += value;
    else this.refused++;
  }
}

/** A number that somebody else has. */
abstract class SetInstrument extends Instrument {
  set(value: number, attributes: readonly AttributeValue[] = NO_VALUES): void {
    if (Number.isFinite(value)) this.cells[this.place(attributes)] = value;
    else this.refused++;
  }
}

/** A sum that grows and shrinks. */
export class UpDownCounter extends SetInstrument {
  readonly kind = 'up-down';

  /** `place` is that of a set. */
  addAt(place: number, value: number): void {
    this.cells[place] += value;
  }
}

/** The last value. */
export class Gauge extends SetInstrument {
  readonly kind = 'gauge';
}

/** In a row of a histogram: the sum, then how many values are in each bucket. */
export const SUM = 0;
export const FIRST_BUCKET = 1;

/** Values by size: how many were at most each boundary, and more than the one before; the last bucket has no boundary. */
export class Histogram extends Instrument {
  readonly kind = 'histogram';
  readonly boundaries: Float64Array;
  /** By the cell of the bucket; undefined where none are kept. */
  readonly exemplars: Exemplars | undefined;
  /** Also called with each value and the number of its set, where a provider of the program's wants them. Must not throw. */
  forward: ((value: number, set: number) => void) | undefined = undefined;

  constructor(definition: Definition & { readonly boundaries: readonly number[]; readonly hasExemplars?: boolean }) {
    super(definition, FIRST_BUCKET + definition.boundaries.length + 1);
    this.boundaries = Float64Array.from(definition.boundaries);
    this.exemplars = definition.hasExemplars === true ? new Exemplars() : undefined;
  }

  /** `span` is that of what was measured, where it has one. */
  record(value: number, attributes: readonly AttributeValue[] = NO_VALUES, span?: MeasuredSpan): void {
    if (!(value >= 0 && value < Number.POSITIVE_INFINITY)) {
      this.refused++;
      return;
    }
    const { boundaries } = this;
    const { length } = boundaries;
    const place = this.place(attributes);
    let bucket = 0;
    // Most are in the first ones: quicker than halving.
    while (bucket < length && value > boundaries[bucket]) bucket++;
    const cell = place + FIRST_BUCKET + bucket;
    this.cells[place + SUM] += value;
    this.cells[cell]++;
    if (span !== undefined) this.exemplars?.keep(cell, this.cells.length, value, span);
    if (this.forward !== undefined) this.forward(value, place / this.width);
  }
}
