// The MeterProvider of the program in place of our own exporters: the same instruments, made by its meter. Durations go to it as they are measured, all else
// is observed when its readers collect. A provider may throw at anything: what it does must not reach the program's requests.
import type { Attributes, BatchObservableResult, Meter, MeterProvider, Observable } from '@opentelemetry/api';
import { LIBRARY_NAME, LIBRARY_VERSION } from '../formats/library.js';
import { Histogram, type Instrument } from './instruments.js';
import type { Instruments } from './reader.js';

/** The API's `ValueType`: it is not loaded. */
const INT = 0;
const DOUBLE = 1;

/** Attributes of the sets of an instrument, each made once: there are no more than its bound. */
const attributesBySet = ({ sets }: Instrument): ((set: number) => Attributes) => {
  const known: Attributes[] = [];
  return (set) => {
    known[set] ??= Object.fromEntries(sets.attributesOf(set));
    return known[set];
  };
};

const optionsOf = ({ unit, description, isWhole }: Instrument) => ({
  unit,
  description,
  valueType: isWhole ? INT : DOUBLE,
});

const forward = (meter: Meter, histogram: Histogram): void => {
  const target = meter.createHistogram(histogram.name, {
    ...optionsOf(histogram),
    advice: { explicitBucketBoundaries: [...histogram.boundaries] },
  });
  const attributesOf = attributesBySet(histogram);
  histogram.forward = (value, set) => {
    try {
      target.record(value, attributesOf(set));
    } catch {
      // It was the program's provider.
    }
  };
};

const MAKERS = {
  counter: 'createObservableCounter',
  'up-down': 'createObservableUpDownCounter',
  gauge: 'createObservableGauge',
} as const;

interface Observed {
  readonly instrument: Instrument;
  readonly observable: Observable;
  readonly attributesOf: (set: number) => Attributes;
}

const observe = (result: BatchObservableResult, { instrument, observable, attributesOf }: Observed): void => {
  for (const set of instrument.usedSets())
    result.observe(observable, instrument.cells[set * instrument.width], attributesOf(set));
};

/** Make all instruments from this provider. Gives the function that stops it. */
export const useProvider = (instruments: Instruments, provider: MeterProvider): (() => void) => {
  const meter = provider.getMeter(LIBRARY_NAME, LIBRARY_VERSION);
  const observed: Observed[] = [];
  for (const instrument of instruments.all) {
    if (instrument instanceof Histogram) forward(meter, instrument);
    else {
      const maker = MAKERS[instrument.kind as keyof typeof MAKERS];
      const observable = meter[maker](instrument.name, optionsOf(instrument));
      observed.push({ instrument, observable, attributesOf: attributesBySet(instrument) });
    }
  }
  const observables = observed.map(({ observable }) => observable);
  const collect = (result: BatchObservableResult): void => {
    instruments.read();
    for (const one of observed) observe(result, one);
  };
  meter.addBatchObservableCallback(collect, observables);
  return () => {
    for (const instrument of instruments.all) if (instrument instanceof Histogram) instrument.forward = undefined;
    meter.removeBatchObservableCallback(collect, observables);
  };
};
