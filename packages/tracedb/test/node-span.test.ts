// Work of the databases is a span where somebody traces, with its figures or its failure, and costs no span where nobody does.
import { describe, expect, test } from 'vitest';
import { Span } from '../../../src/index.js';
import { counted, recorder } from '../../../test/support/recorder.js';
import { childSpan, inSpan, roundMs, under, untraced } from '../src/node-span.js';

describe('where nobody traces', () => {
  test('the work runs as it is, and no span is started or missed', async () => {
    const work = Promise.resolve(7);
    const counters = await counted(async () => {
      expect(childSpan('a')).toBeUndefined();
      expect(under(undefined, () => work)).toBe(work);
      expect(
        await inSpan(
          'b',
          () => work,
          () => expect.unreachable(),
        ),
      ).toBe(7);
      await expect(inSpan('c', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    });
    expect(counters).toEqual({});
  });

  test('under a trace that is not sampled neither', async () => {
    await Span.noop().run(async () => {
      expect(childSpan('a')).toBeUndefined();
      expect(await inSpan('b', async () => Span.current()?.isRecording ?? false)).toBe(false);
    });
  });
});

describe('in a trace', () => {
  test('untraced work starts no span, and neither does what it leaves behind; what comes after does', async () => {
    const { root, tree } = recorder();
    const span = root('request');
    await span.run(async () => {
      await untraced(() => inSpan('hidden', async () => inSpan('hidden too', async () => 1)));
      expect(untraced(() => Span.current())).toBeUndefined();
      await inSpan('seen', async () => 1);
    });
    span.end();
    expect(await tree()).toBe('request\n  seen');
  });

  test('the work runs under its span, which gets the figures of the result', async () => {
    const { root, tree, memory } = recorder();
    const span = root('request');
    const result = await span.run(() =>
      inSpan(
        'outer',
        async () => {
          await inSpan('inner', async () => 1);
          return { rows: 3 };
        },
        (span, { rows }) => span.addProperty('rows', rows),
      ),
    );
    span.end();
    expect(result).toEqual({ rows: 3 });
    expect(await tree()).toBe('request\n  outer\n    inner');
    expect(memory.find('outer')).toMatchObject({ properties: { rows: 3 }, status: { code: 'unset' } });
  });

  test('a failure is recorded on the span and thrown on', async () => {
    const { root, tree, memory } = recorder();
    const span = root('request');
    const failure = new Error('disk on fire');
    const failed = span.run(() =>
      inSpan(
        'work',
        () => Promise.reject(failure),
        () => expect.unreachable(),
      ),
    );
    await expect(failed).rejects.toBe(failure);
    span.end();
    expect(await tree()).toBe('request\n  work');
    expect(memory.find('work')).toMatchObject({ status: { code: 'error' } });
    expect(memory.find('work')?.events).toEqual([
      expect.objectContaining({
        name: 'exception',
        properties: expect.objectContaining({ 'exception.message': 'disk on fire' }),
      }),
    ]);
    expect(memory.find('request')).toMatchObject({ status: { code: 'unset' } });
  });
});

test('milliseconds have three digits behind the point', () => {
  expect([0, 1.23456, 0.0004, 1e6].map(roundMs)).toEqual([0, 1.235, 0, 1e6]);
});
