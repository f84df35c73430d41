// The import that decorates under standard decorators also decorates under TypeScript's experimentalDecorators, which this
// file is compiled with: methods, static and async ones, getters; `this` and the types are kept.
import { expect, test } from 'vitest';
import { traced } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

const { collector, memory, root } = recorder();

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

class Kinds {
  #width = 1;

  @traced()
  *each(): Generator<number> {
    yield this.#width;
  }

  @traced({ enterOnResume: true })
  async *eachLater(): AsyncGenerator<number> {
    yield this.#width;
  }

  @traced()
  set width(value: number) {
    this.#width = value;
  }

  @traced({ properties: () => ({ p: 1 }) })
  fails(): never {
    throw new RangeError('r');
  }
}

class Wide extends Kinds {}

// What another decorator makes of a method: a plain function around it.
const logged = (_: object, __: string, descriptor: PropertyDescriptor): void => {
  const fn = descriptor.value;
  descriptor.value = function (this: unknown, ...args: unknown[]) {
    return fn.apply(this, args);
  };
};

class Both {
  #width = 1;

  get width(): number {
    return this.#width;
  }

  @traced({ properties: (...args: number[]) => ({ args: args.length }) })
  set width(value: number) {
    this.#width = value;
  }

  @logged
  @traced()
  work(): void {}

  @logged
  @traced()
  static open(): void {}
}

class Under extends Both {
  override work(): void {
    super.work();
  }
}

/** A root around `use`, and what is recorded in it. */
const recordsOf = async (use: () => unknown) => {
  memory.clear();
  const span = root('root');
  await span.run(use);
  span.end();
  await collector.flush();
  return memory.spans;
};

/** The children of a root around `use`: name and properties. */
const children = async (use: () => unknown): Promise<[string, object][]> => {
  const records = await recordsOf(use);
  return records.filter((one) => one.parentSpanId === records[0].spanId).map((one) => [one.name, one.properties]);
};

test('a setter with a getter beside it: both are traced, each with its own arguments', async () => {
  const both = new Under();
  const set = () => {
    both.width = 5;
  };
  expect(await children(set)).toEqual([['Both.width', { args: 1 }]]);
  expect(await children(() => expect(both.width).toBe(5))).toEqual([['Both.width', { args: 0 }]]);
});

test('a method under another decorator is named after its class, not after the receiver', async () => {
  expect(await children(() => new Under().work())).toEqual([['Both.work', {}]]);
  expect(await children(() => Under.open())).toEqual([['Both.open', {}]]);
});

test('generators, setters, throws, and a subclass', async () => {
  const records = await recordsOf(async () => {
    const kinds = new Wide();
    kinds.width = 2;
    expect([...kinds.each()]).toEqual([2]);
    for await (const width of kinds.eachLater()) expect(width).toBe(2);
    expect(() => kinds.fails()).toThrow('r');
  });
  const names = records.filter((one) => one.parentSpanId === records[0].spanId).map((one) => one.name);
  expect(names.sort()).toEqual(['Kinds.each', 'Kinds.eachLater', 'Kinds.fails', 'Kinds.width']);
  expect(records.find(({ name }) => name === 'Kinds.fails')?.properties).toEqual({ p: 1, error: true });
});

test('in the wrong place or without parentheses they throw where they stand', () => {
  // biome-ignore lint/suspicious/noExplicitAny: wrong on purpose.
  const any = traced as any;
  expect(() => {
    class Wrong {
      @any()
      field = 1;
    }
    return Wrong;
  }).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining('field') }));
  expect(() => {
    class Wrong {
      @any
      method(): void {}
    }
    return Wrong;
  }).toThrow('without parentheses');
  for (const decorate of [any, any()]) {
    expect(() => {
      @decorate
      class Wrong {}
      return Wrong;
    }).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining('a class') }));
  }
});

test('legacy decorators record a class as it runs', async () => {
  const records = await recordsOf(async () => {
    const store = Store.open();
    expect(store.size).toBe(3);
    const text: string = await store.read('trips');
    expect(text).toBe('trips: 1,2,3');
  });
  const byId = new Map(records.map((record) => [record.spanId, record]));
  const found = records.map((record) => `${byId.get(record.parentSpanId)?.name ?? '-'} > ${record.name}`);
  expect(found.sort()).toEqual(['- > root', 'read > Store.sorted', 'root > open', 'root > read', 'root > size']);
  expect(records.find(({ name }) => name === 'read')?.properties).toEqual({ table: 'trips' });
});
