// Some traces in a real Jaeger and in an archive that is served: both give them back alike. jaeger.full.test.ts asks everything else.
import { expect, test } from 'vitest';
import { describeJaeger } from '../../../../test/support/jaeger.js';
import { besideJaeger, DB, type Json, makeTraces, normal, sorted } from './support/beside-jaeger.js';

const TRACES = makeTraces(20);

describeJaeger('a served archive beside a real Jaeger, for some traces', (jaeger) => {
  const { bothJson } = besideJaeger(jaeger, TRACES);

  test('every trace, field for field; operations; a search', async () => {
    for (const { traceId } of TRACES) {
      const [theirs, ours] = await bothJson(`/api/traces/${traceId}`);
      expect(normal(ours)).toEqual(normal(theirs));
    }
    const [wanted, got] = await bothJson(`/api/operations?service=${DB}`);
    expect(sorted(got.data)).toEqual(sorted(wanted.data));
    const ids = ({ data }: Json): string[] => (data as { traceID: string }[]).map(({ traceID }) => traceID).sort();
    const [theirs, ours] = await bothJson(`/api/traces?service=${DB}&operation=SELECT&limit=100`);
    expect(ids(ours)).toEqual(ids(theirs));
  });
});
