// A collector of its own with a reporter in memory, so that tests of one file do not see each other's traces.

import { MemoryReporter } from '../../src/exporters/memory.js';
import { Collector, type CollectorOptions, type RootOptions, Span, type SpanContext, stats } from '../../src/index.js';

export interface Recorder {
  readonly memory: MemoryReporter;
  readonly collector: Collector;
  root(name: string, context?: SpanContext, options?: RootOptions): Span;
  /** Flush, and everything reported so far as a text tree. */
  tree(): Promise<string>;
}

export const recorder = (options: CollectorOptions = {}): Recorder => {
  const memory = new MemoryReporter({ maxSpans: 10_000_000 });
  const collector = new Collector(options);
  collector.setReporter(memory);
  return {
    memory,
    collector,
    root: (name, context, rootOptions) => Span.root(name, context, { ...rootOptions, collector }),
    async tree() {
      await collector.flush();
      return memory.tree();
    },
  };
};

/** The counters that changed while `fn` ran, with how much they changed. */
export const counted = async (fn: () => unknown): Promise<Record<string, number>> => {
  const before = stats() as unknown as Record<string, unknown>;
  await fn();
  const after = stats() as unknown as Record<string, unknown>;
  const changed: Record<string, number> = {};
  for (const [key, value] of Object.entries(after)) {
    if (typeof value === 'number' && value !== before[key]) changed[key] = value - (before[key] as number);
  }
  return changed;
};
