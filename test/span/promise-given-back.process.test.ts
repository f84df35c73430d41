// Sampling changes nothing that a program sees of a promise: run, runToEnd, traced, trace and tracePromise are compared
// over a recording span, an unsampled one, no span at all and a library that is switched off.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { createContext, runInContext } from 'node:vm';
import { describe, expect, test } from 'vitest';
import { configure, LocalSpan, Span, SpanContext, traced, tracePromise } from '../../src/index.js';
import { recorder } from '../support/recorder.js';

type Make = () => unknown;

const CALLS: Record<string, (span: Span, make: Make) => unknown> = {
  run: (span, make) => span.run(make),
  runToEnd: (span, make) => Span.start('work', span).runToEnd(make),
  bind: (span, make) => span.bind(make)(),
  traced: (span, make) => span.run(() => traced({ name: 'work', async: true }, make)()),
  'nested run': (span, make) => span.run(() => span.run(make)),
  tracePromise: (span, make) => span.run(() => tracePromise('work', make() as Promise<unknown>)),
};

const SPANS: Record<string, () => Span> = {
  recording: () => recorder().root('root'),
  unsampled: () => recorder().root('root', SpanContext.random({ sampled: false })),
  none: () => Span.noop(),
};

const forms = Object.entries(CALLS).flatMap(([call, give]) =>
  Object.entries(SPANS).map(([kind, span]) => [`${call}, ${kind}`, give, span] as const),
);

const foreign = <T>(code: string): T => runInContext(code, createContext({ setTimeout })) as T;

describe.each(forms)('%s', (_, give, span) => {
  test('a child process behind a promise', async () => {
    const given = give(span(), () => promisify(execFile)('true')) as ReturnType<typeof execFilePromise>;
    expect(given.child.pid).toBeGreaterThan(0);
    expect(await given).toEqual({ stdout: '', stderr: '' });
  });

  test('own properties of every form, without a getter being run', async () => {
    const key = Symbol('key');
    const made = Object.defineProperties(Promise.resolve(1), {
      hidden: { value: 1 },
      [key]: { value: 2, enumerable: true, writable: true, configurable: true },
      getter: {
        get: () => {
          throw new Error('a getter ran');
        },
      },
      // biome-ignore lint/suspicious/noThenProperty: some libraries do.
      then: { value: Promise.prototype.then, writable: true },
    });
    const expected = Object.getOwnPropertyDescriptors(made);
    const given = give(span(), () => made) as object;
    expect(ownOf(given)).toEqual(ownOf(Object.defineProperties({}, expected)));
    expect(await given).toBe(1);
  });

  test('a frozen promise', async () => {
    const given = give(span(), () => Object.freeze(Object.assign(Promise.resolve(3), { a: 1 })));
    expect([Object.isFrozen(given), await given]).toEqual([true, 3]);
  });

  test('a sealed promise', async () => {
    const given = give(span(), () => Object.seal(Object.assign(Promise.resolve(3), { a: 1 })));
    expect([Object.isSealed(given), Object.isFrozen(given), await given]).toEqual([true, false, 3]);
  });

  test('a promise of another realm', async () => {
    const made = foreign<Promise<number>>('Object.assign(Promise.resolve(4), { own: 1 })');
    const given = give(span(), () => made) as typeof made & { own: number };
    expect(Object.getPrototypeOf(given)).toBe(Object.getPrototypeOf(made));
    expect([given.own, given instanceof Promise, await given]).toEqual([1, false, 4]);
  });
});

const execFilePromise = promisify(execFile);

// What async_hooks writes on every promise until Node 22 is each promise's own.
const ownOf = (value: object): unknown =>
  Reflect.ownKeys(value)
    .filter((key) => typeof key === 'string' || key.description === 'key')
    .map((key) => [key, Object.getOwnPropertyDescriptor(value, key)]);

// What would be changed by a wait comes back as the same object: run reads nothing of it and calls nothing of it.
const forbidden = (): never => {
  throw new Error('was read');
};
class Own<T> extends Promise<T> {}
const untouched: [string, () => object][] = [
  ['a subclass', () => Own.resolve(1)],
  ['a subclass of another realm', () => foreign<object>('(class Own extends Promise {}).resolve(1)')],
  ['a proxy of a promise', () => new Proxy(Promise.resolve(1), { get: forbidden, getPrototypeOf: forbidden })],
  ['an object with a getter', () => Object.defineProperty({}, 'then', { get: forbidden })],
  [
    'a constructor of its own',
    () => Object.defineProperty(Promise.resolve(1), 'constructor', { get: forbidden, configurable: true }),
  ],
  ['another prototype', () => Object.setPrototypeOf(Promise.resolve(1), null)],
  [
    'a prototype that is a proxy',
    () => Object.setPrototypeOf(Promise.resolve(1), new Proxy({}, { getOwnPropertyDescriptor: forbidden })),
  ],
];

test.each(untouched)('%s', (_, make) => {
  for (const span of Object.values(SPANS)) {
    for (const call of ['run', 'runToEnd', 'bind', 'traced', 'nested run']) {
      const made = make();
      expect(CALLS[call](span(), () => made) === made).toBe(true);
    }
  }
});

test('switched off, what is given is given back', () => {
  configure({ disabled: true });
  try {
    const span = recorder().root('root');
    const made = Promise.resolve(1);
    expect(Object.entries(CALLS).filter(([, give]) => give(span, () => made) !== made)).toEqual([]);
  } finally {
    configure({ disabled: false });
  }
});

test('a span waits for a promise of another realm', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  let done = (_: unknown): void => {};
  const foreignDeferred = foreign<(start: (f: (value: unknown) => void) => void) => Promise<unknown>>(
    '(start) => new Promise((resolve) => start(resolve))',
  );
  const work = Span.start('work', span);
  const given = work.runToEnd(() =>
    foreignDeferred((resolve) => {
      done = resolve;
    }).then(() => LocalSpan.start('after').end()),
  );
  expect(work.isRecording).toBe(true);
  done(1);
  await given;
  expect(work.isRecording).toBe(false);
  const failing = Span.start('failing', span);
  await expect(failing.runToEnd(() => foreign<Promise<never>>('Promise.reject(new Error("no"))'))).rejects.toThrow(
    'no',
  );
  span.end();
  await collector.flush();
  expect(memory.tree()).toContain('after');
  expect(memory.spans.find((one) => one.name === 'failing')?.status).toEqual({ code: 'error', message: 'no' });
});
