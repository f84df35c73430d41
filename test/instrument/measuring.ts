// What instrumentations measure in a test.
import { state } from '../../src/context/process-state.js';
import { always, configure } from '../../src/index.js';
import { LibraryMetrics } from '../../src/metrics/library-metrics.js';
import { Instruments, Reader } from '../../src/metrics/reader.js';
import { later } from './support.js';

/** Measures until the test is over. */
export const measureFrom = (): Instruments => {
  const instruments = new Instruments();
  state.measures = new LibraryMetrics(instruments);
  later(() => {
    state.measures = undefined;
    configure({ sampler: always });
  });
  return instruments;
};

/** `name value value... : count`, ports of this run left out. */
export const measuredIn = (instruments: Instruments): string[] =>
  new Reader(instruments, 'cumulative').read().flatMap(({ instrument: { name }, points }) =>
    [...points].map(({ attributes, value, buckets }) => {
      const values = attributes.filter(([key]) => key !== 'server.port').map(([, one]) => one);
      return `${name} ${values.join(' ')}: ${buckets?.reduce((sum, one) => sum + one, 0) ?? value}`;
    }),
  );
