// traced() as standard decorator: methods of every kind, static, getters, setters, fields, private ones; each is named
// `Class.method` by the class that declares it, and keeps `this`.
import { expect, test } from 'vitest';
import { LocalSpan, traced } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

class Base {
  protected readonly rows = [3, 1, 2];

  @traced()
  sum(): number {
    return this.rows.reduce((a, b) => a + b, 0);
  }

  @traced({ name: 'read', properties: (table: string) => ({ table }) })
  async read(table: string): Promise<string> {
    await null;
    return `${table} ${this.sum()}`;
  }

  @traced({ shortName: true })
  static open(): string {
    return 'open';
  }

  @traced()
  static create(): boolean {
    return true;
  }

  @traced()
  get size(): number {
    return this.rows.length;
  }

  @traced()
  set size(n: number) {
    this.rows.length = n;
  }

  @traced()
  *each(): Generator<number> {
    for (const row of this.rows) yield row;
  }

  @traced({ enterOnResume: true })
  async *eachLater(): AsyncGenerator<number> {
    for (const row of this.rows) yield row;
  }

  @traced()
  field = (x: number): number => x + this.rows.length;

  @traced()
  #secret(): number {
    return this.rows[0];
  }

  reveal(): number {
    return this.#secret();
  }
}

class Derived extends Base {
  override sum(): number {
    return super.sum() * 2;
  }
}

/** The children of the root: their names. */
const names = async (use: () => unknown): Promise<string[]> => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  await span.run(use);
  span.end();
  await collector.flush();
  const rootId = memory.find('root')?.spanId;
  return memory.spans.filter((one) => one.parentSpanId === rootId).map((one) => one.name);
};

test('methods, accessors, fields and private methods', async () => {
  const store = new Base();
  expect(await names(() => expect(store.sum()).toBe(6))).toEqual(['Base.sum']);
  expect(await names(async () => expect(await store.read('t')).toBe('t 6'))).toEqual(['read']);
  expect(await names(() => expect(store.size).toBe(3))).toEqual(['Base.size']);
  expect(
    await names(() => {
      store.size = 2;
    }),
  ).toEqual(['Base.size']);
  expect(await names(() => expect(store.field(1)).toBe(3))).toEqual(['field']);
  expect(await names(() => expect(store.reveal()).toBe(3))).toEqual(['Base.#secret']);
  expect([store.sum.name, store.read.length]).toEqual(['sum', 1]);
});

test('generators', async () => {
  const store = new Base();
  expect(await names(() => expect([...store.each()]).toEqual([3, 1, 2]))).toEqual(['Base.each']);
  const later = async () => {
    const rows: number[] = [];
    for await (const row of store.eachLater()) rows.push(row);
    expect(rows).toEqual([3, 1, 2]);
  };
  expect(await names(later)).toEqual(['Base.eachLater']);
});

test('static methods, also through a subclass', async () => {
  expect(await names(() => Derived.create())).toEqual(['Base.create']);
  expect(await names(() => Base.create())).toEqual(['Base.create']);
  expect(await names(() => expect(Base.open()).toBe('open'))).toEqual(['open']);
});

test('an inherited method is named by the class that declares it, whoever calls first', async () => {
  class A {
    @traced()
    work(): void {}
  }
  class B extends A {}
  expect(await names(() => new B().work())).toEqual(['A.work']);
  expect(await names(() => new A().work())).toEqual(['A.work']);
  expect(await names(() => expect(new Derived().sum()).toBe(12))).toEqual(['Base.sum']);
});

test('a call with a foreign `this` names no class for good', async () => {
  class A {
    @traced()
    work(): void {}
  }
  const { work } = new A();
  expect(await names(() => work.call(undefined as unknown as A))).toEqual(['anonymous.work']);
  expect(await names(() => new A().work())).toEqual(['A.work']);
});

test('symbols, and two classes with one method name', async () => {
  const key = Symbol('step');
  class A {
    @traced()
    [key](): void {
      LocalSpan.start('inside').end();
    }
  }
  class B {
    @traced()
    [key](): void {}
  }
  const run = () => {
    new A()[key]();
    new B()[key]();
  };
  expect(await names(run)).toEqual(['A.step', 'B.step']);
});

// What another decorator makes of a method: a plain function around it.
const logged = <F extends (...args: never[]) => unknown>(fn: F, _: unknown): F =>
  function (this: unknown, ...args: never[]) {
    return fn.apply(this, args);
  } as F;

class Wrapped {
  @logged
  @traced()
  work(): string {
    return 'base';
  }

  @logged
  @traced()
  async later(): Promise<void> {}

  @logged
  @traced()
  static open(): void {}

  @logged
  @traced()
  get size(): number {
    return 1;
  }

  @traced()
  #secret(): void {}

  reveal(): void {
    this.#secret();
  }
}

class Overriding extends Wrapped {
  @logged
  @traced()
  override work(): string {
    return `${super.work()} and more`;
  }
}

class Plain extends Overriding {
  override work(): string {
    return super.work();
  }
}

test('a method under another decorator is named after its class, not after the receiver', async () => {
  expect(await names(() => new Plain().later())).toEqual(['Wrapped.later']);
  expect(await names(() => Plain.open())).toEqual(['Wrapped.open']);
  expect(await names(() => new Plain().size)).toEqual(['Wrapped.size']);
  expect(await names(() => new Plain().reveal())).toEqual(['Wrapped.#secret']);
  const { root, tree } = recorder();
  const span = root('root');
  span.run(() => expect(new Plain().work()).toBe('base and more'));
  span.end();
  expect(await tree()).toBe('root\n  Overriding.work\n    Wrapped.work');
});

test('without metadata of the class, the nearest class that has the key', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: as a compiler without metadata calls it.
  const bare = traced() as any;
  class Store {}
  const inner = bare(() => {}, { kind: 'method', name: 'work' });
  Object.assign(Store.prototype, { work: () => inner.call(new Derived2()) });
  class Derived2 extends Store {}
  class Overridden extends Derived2 {}
  Object.assign(Overridden.prototype, { work: bare(() => {}, { kind: 'method', name: 'work' }) });
  // biome-ignore lint/suspicious/noExplicitAny: made by hand.
  expect(await names(() => (new Derived2() as any).work())).toEqual(['Store.work']);
  // biome-ignore lint/suspicious/noExplicitAny: made by hand.
  expect(await names(() => (new Overridden() as any).work())).toEqual(['Overridden.work']);
  expect(await names(() => inner.call(new Overridden()))).toEqual(['Store.work']);
});

test('a receiver whose traps throw is called as without a span', async () => {
  const trap = (): never => {
    throw new Error('a trap ran');
  };
  class Store {
    #rows = 5;
    @traced()
    static count(store: Store): number {
      return store.#rows;
    }
    @traced()
    work(this: unknown): number {
      return 7;
    }
    @traced()
    async later(this: unknown): Promise<number> {
      return 8;
    }
  }
  const { work, later } = new Store();
  const traps = { getOwnPropertyDescriptor: trap, getPrototypeOf: trap, get: trap };
  for (const name of Object.keys(traps) as (keyof typeof traps)[]) {
    const proxy = new Proxy(new Store(), { [name]: trap });
    const found = await names(async () => {
      expect(work.call(proxy)).toBe(7);
      expect(await later.call(proxy)).toBe(8);
    });
    expect(found.length).toBe(2);
    for (const one of found) expect(one).toMatch(/^(Store|anonymous)\.(work|later)$/);
  }
  expect(await names(() => new Store().later())).toEqual(['Store.later']);
});
