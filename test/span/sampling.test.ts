// Head sampling is asked once per root; what it refuses records nothing, costs nothing and passes the decision on.
import { expect, test } from 'vitest';
import { always, LocalSpan, never, parentBased, ratio, type Sampler, Span, SpanContext } from '../../src/index.js';
import { counted, recorder } from '../support/recorder.js';

const REMOTE = (flags: string) =>
  SpanContext.fromTraceparent(`00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-${flags}`);

const records = (sampler: Sampler | undefined, context?: SpanContext): boolean =>
  recorder({ sampler }).root('root', context).isRecording;

test('always, never, and the default', () => {
  for (const context of [undefined, REMOTE('01'), REMOTE('00')]) {
    expect(records(always, context)).toBe(true);
    expect(records(never, context)).toBe(false);
  }
  expect(records(undefined)).toBe(true);
  expect(records(undefined, REMOTE('01'))).toBe(true);
  expect(records(undefined, REMOTE('00'))).toBe(false);
  expect(records(undefined, SpanContext.random({ sampled: false }))).toBe(false);
});

test('parentBased follows a caller and asks the other sampler for new traces', () => {
  expect(records(parentBased(never))).toBe(false);
  expect(records(parentBased(never), REMOTE('01'))).toBe(true);
  expect(records(parentBased(always), REMOTE('00'))).toBe(false);
});

test('ratio decides by the trace id alone, and near its share', () => {
  const sample = ratio(0.25);
  let kept = 0;
  const n = 20_000;
  for (let i = 0; i < n; i++) {
    const context = SpanContext.random();
    const decision = sample({ name: 'a', context });
    if (decision) kept++;
    const again = SpanContext.fromTraceparent(context.toTraceparent()) as SpanContext;
    if (sample({ name: 'b', context: again }) !== decision) expect.fail('two processes decide differently');
    if (!ratio(1)({ name: 'a', context }) || ratio(0)({ name: 'a', context })) expect.fail('0 and 1 are exact');
    if (decision && !ratio(0.5)({ name: 'a', context })) expect.fail('a larger share keeps what a smaller one keeps');
  }
  // Six standard deviations.
  expect(Math.abs(kept - n / 4)).toBeLessThan(6 * Math.sqrt(n * 0.25 * 0.75));
});

test.each([-0.1, 1.1, Number.NaN, '0.5' as unknown as number].slice(0, 3))('ratio refuses %s', (share) => {
  expect(() => ratio(share)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
});

test('a function of name and context; one that throws means no, counted', async () => {
  const seen: unknown[] = [];
  const { root } = recorder({
    sampler: ({ name, context }) => {
      seen.push([name, context.isRemote]);
      return name === 'yes';
    },
  });
  expect([root('yes').isRecording, root('no', REMOTE('01')).isRecording]).toEqual([true, false]);
  expect(seen).toEqual([
    ['yes', false],
    ['no', true],
  ]);
  const changes = await counted(() =>
    expect(
      records(() => {
        throw new Error('sampler');
      }),
    ).toBe(false),
  );
  expect(changes).toEqual({ callbackErrors: 1, tracesUnsampled: 1 });
});

test('an unsampled trace passes its decision on, in this task and in headers, and reports nothing', async () => {
  const { root, tree } = recorder({ sampler: never });
  const remote = REMOTE('01') as SpanContext;
  const span = root('root', remote);
  const changes = await counted(() =>
    span.run(() => {
      expect(Span.current()?.context?.toTraceparent()).toMatch(new RegExp(`^00-${remote.traceId}-[0-9a-f]{16}-00$`));
      const child = Span.startWithLocalParent('child');
      const grandchild = Span.start('grandchild', child);
      expect(grandchild.context?.sampled).toBe(false);
      grandchild.run(() => LocalSpan.start('local').end());
      for (const one of [grandchild, child]) one.addProperty('k', 1).addEvent('e').setStatus('error').end();
      child.end();
    }),
  );
  span.end();
  expect(changes).toEqual({});
  expect(await tree()).toBe('');
});

test('samplers are checked where they are made', () => {
  // biome-ignore lint/suspicious/noExplicitAny: wrong on purpose.
  const any = (value: unknown): any => value;
  const wrong = expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' });
  for (const share of ['0.5', '', null, true, [0.5], 5n, Number.NaN, 1.1, {}, Symbol('s'), Object.create(null)]) {
    expect(() => ratio(any(share))).toThrow(wrong);
  }
  expect(() => ratio(any(undefined))).toThrow('undefined');
  for (const root of [0.1, 'always', null, {}, async () => false, ratio, parentBased]) {
    expect(() => parentBased(any(root))).toThrow(wrong);
  }
});

test('an answer that is not true or false is counted; one that comes later is no', async () => {
  // biome-ignore lint/suspicious/noExplicitAny: wrong on purpose.
  const answer = (value: unknown) => recorder({ sampler: () => value as any, keep: () => value as any });
  const wanted: [unknown, boolean][] = [
    [1, true],
    ['no', true],
    [0, false],
    [undefined, false],
    [Promise.resolve(true), false],
    [Promise.reject(new Error('nobody hears of this')), false],
  ];
  for (const [value, isRecording] of wanted) {
    const { root } = answer(value);
    const changes = await counted(() => expect(root('r').isRecording).toBe(isRecording));
    expect(changes).toEqual({ argumentsInvalid: 1, [isRecording ? 'tracesStarted' : 'tracesUnsampled']: 1 });
  }
});
