// Work under spans whose share of the CPU is known, and a collector of its own for the spans.

import { MemoryReporter } from '../../../../../src/exporters/memory.js';
import { Collector, type SpanRecord } from '../../../../../src/index.js';
import { busyWork, jitter } from '../../support/busy-work.js';

/** Counts the work done for each name. */
export class Truth {
  private readonly units = new Map<string, number>();

  work(name: string, units: number): void {
    const some = jitter(units);
    this.units.set(name, (this.units.get(name) ?? 0) + some);
    busyWork(some);
  }

  share(name: string): number {
    let all = 0;
    for (const units of this.units.values()) all += units;
    return (this.units.get(name) ?? 0) / all;
  }

  get names(): string[] {
    return [...this.units.keys()];
  }
}

export const gathering = (): { collector: Collector; records: () => Promise<readonly SpanRecord[]> } => {
  const collector = new Collector();
  const memory = new MemoryReporter();
  collector.setReporter(memory);
  return {
    collector,
    records: async () => {
      await collector.flush();
      return memory.spans;
    },
  };
};
