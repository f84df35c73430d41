// The import that decorates under standard decorators also decorates under TypeScript's experimentalDecorators, which this
// file is compiled with: methods, static and async ones, getters; `this` and the types are kept.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { flush, Span, SpanContext, type SpanRecord, setReporter, shutdown, traced } from '../../src/index.js';

const records: SpanRecord[] = [];
beforeAll(() => {
  setReporter({
    name: 'test',
    report(batch) {
      for (const trace of batch.traces) records.push(...trace.spans);
    },
  });
});
afterAll(() => shutdown());

class Store {
  private readonly rows = [3, 1, 2];

  @traced({ name: 'read', properties: (table: string) => ({ table }) })
  async read(table: string): Promise<string> {
    await null;
    return `${table}: ${this.sorted().join()}`;
  }

  @traced()
  sorted(): number[] {
    return [...this.rows].sort();
  }

  @traced({ shortName: true })
  static open(): Store {
    return new Store();
  }

  @traced({ name: 'size' })
  get size(): number {
    return this.rows.length;
  }
}

test('legacy decorators record a class as it runs', async () => {
  const root = Span.root('root', SpanContext.random());
  await root.run(async () => {
    const store = Store.open();
    expect(store.size).toBe(3);
    const text: string = await store.read('trips');
    expect(text).toBe('trips: 1,2,3');
  });
  root.end();
  await flush();

  const byId = new Map(records.map((record) => [record.spanId, record]));
  const found = records.map((record) => `${byId.get(record.parentSpanId)?.name ?? '-'} > ${record.name}`);
  expect(found.sort()).toEqual(['- > root', 'read > Store.sorted', 'root > open', 'root > read', 'root > size']);
  expect(records.find(({ name }) => name === 'read')?.properties).toEqual({ table: 'trips' });
});
