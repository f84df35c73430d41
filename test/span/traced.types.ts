// Types survive traced() and trace(): checked by `npm run typecheck` and by traced-types.test.ts; nothing here runs.
import { type LocalSpan, type Span, SpanContext, trace, traced } from '../../src/index.js';

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Equal<A, B>): void => {};

const generic = traced('generic', <T>(value: T, n: number): T[] => Array.from({ length: n }, () => value));
export const strings: string[] = generic('a', 2);
// @ts-expect-error the second argument is a number
generic('a', 'b');

const later = traced({ name: 'later', properties: (id: number) => ({ id }) }, async (id: number) => `${id}`);
same<typeof later, (id: number) => Promise<string>>(true);
// @ts-expect-error an argument is missing
void later();
// @ts-expect-error properties get the arguments of the function
traced({ properties: (id: string) => ({ id }) }, (id: number) => id);
// @ts-expect-error an object is not a property value
traced({ properties: () => ({ bad: {} }) }, () => 1);
// @ts-expect-error no such option
traced({ nmae: 'x' }, () => 1);

same<ReturnType<typeof inline>, number>(true);
const inline = () => trace('inline', () => 5);
export const promised: Promise<string> = trace('inline', async () => 'x');

export class Store<Row> {
  constructor(private readonly rows: Row[]) {}

  @traced({ name: 'read', properties: (table: string) => ({ table }) })
  async read(table: string): Promise<Row[]> {
    return table === '' ? [] : this.rows;
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
  static open<R>(rows: R[]): Store<R> {
    return new Store(rows);
  }

  @traced()
  *each(): Generator<Row, void, undefined> {
    yield* this.rows;
  }

  @traced()
  #secret(): Row {
    return this.rows[0];
  }

  @traced()
  field = (x: number): Row => this.rows[x] ?? this.#secret();

  // @ts-expect-error the callback takes another type than the method
  @traced({ properties: (n: number) => ({ n }) })
  byName(name: string): string {
    return name;
  }
}

const store = Store.open([1, 2]);
same<Awaited<ReturnType<typeof store.read>>, number[]>(true);
same<ReturnType<typeof store.field>, number>(true);

export const misuse = (span: Span, local: LocalSpan): void => {
  // @ts-expect-error no property value
  span.addProperty('k', { a: 1 });
  // @ts-expect-error one type in an array
  local.addProperty('k', [1, 'a']);
  // @ts-expect-error no such status
  span.setStatus('bad');
  // @ts-expect-error a context is read-only
  SpanContext.random().sampled = false;
};
