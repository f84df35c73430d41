// A collector with a flight recorder of its own, and snapshots as plain data.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryReporter } from '../../../src/exporters/memory.js';
import { FlightRecorder } from '../../../src/flight-recorder/recorder.js';
import { type FlightRecorderOptions, resolveRecorder } from '../../../src/flight-recorder/recorder-options.js';
import type { Snapshot } from '../../../src/flight-recorder/snapshot-types.js';
import { Collector, type CollectorOptions, type RootOptions, Span, type SpanContext } from '../../../src/index.js';

export const flight = (options: CollectorOptions = {}, recorderOptions: FlightRecorderOptions = {}) => {
  const memory = new MemoryReporter({ maxSpans: 10_000_000 });
  const collector = new Collector(options);
  collector.setReporter(memory);
  const recorder = new FlightRecorder(collector, resolveRecorder(recorderOptions), undefined).start();
  return {
    memory,
    collector,
    recorder,
    root: (name: string, context?: SpanContext, rootOptions?: RootOptions) =>
      Span.root(name, context, { ...rootOptions, collector }),
    snapshot: (text = '') => recorder.snapshot({ kind: 'call', text, traceId: '' }),
  };
};

/** Every span as text, in a fixed order: what it is, under which parent, of which trace. */
export const linesOf = (snapshot: Snapshot): string[] =>
  [...snapshot.traces()]
    .flatMap(({ traceId, spans, isSampled }) =>
      spans.map(({ record, isOpen }) =>
        [
          traceId,
          record.spanId,
          record.parentSpanId,
          record.name,
          isSampled ? 'sampled' : 'here',
          isOpen ? 'open' : 'ended',
        ].join(' '),
      ),
    )
    .sort();

/** Names of spans with what is special about them. */
export const namesOf = (snapshot: Snapshot): string[] =>
  [...snapshot.traces()].flatMap(({ spans, isSampled }) =>
    spans.map(({ record, isOpen }) => `${record.name}${isSampled ? '' : ' here'}${isOpen ? ' open' : ''}`),
  );

/** The file of rows that a process wrote last into a directory. */
export const lastFileIn = (place: string): string => {
  const numberOf = (name: string): number => Number(/(\d+)\.rows$/.exec(name)?.[1] ?? 0);
  const [last] = readdirSync(place).sort((a, b) => numberOf(b) - numberOf(a));
  return join(place, last);
};
