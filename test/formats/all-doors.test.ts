// Any span that one format takes goes through any pair of formats and comes back equal, or is refused, or loses exactly what
// docs/formats.md says.

import { describe, expect, test } from 'vitest';
import type { ArchivedSpan } from '../../packages/archive/src/index.js';
import { anyTakenSpan } from '../../packages/archive/test/segment/support/arbitrary-spans.js';
import { anySpan } from '../../packages/archive/test/support/any-span.js';
import { anySpan as anyRecord } from '../exporters/jaeger/support/any-span.js';
import fc from '../support/fast-check.js';
import { samples } from '../support/samples.js';
import { CODECS, type Door, type Outcome } from './support/codecs.js';
import { expectedOfThrift, throughThrift } from './support/thrift-door.js';

const passed = async (door: Door, span: ArchivedSpan): Promise<Outcome> => {
  try {
    return await door.pass(span);
  } catch (error) {
    // Not refused by its reader, but not written either.
    if ((error as { code?: string }).code?.startsWith('ERR_SPANLINE_')) return 'refused';
    throw error;
  }
};

describe.each(CODECS)('$name', (first) => {
  test.each(CODECS)('then $name', async (second) => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(anyTakenSpan, anySpan), async (span) => {
        const between = first.expected(span);
        const end = typeof between === 'string' ? between : second.expected(between);
        if (between === 'inexact' || end === 'inexact') return;
        const found = await passed(first, span);
        expect(found).toEqual(between);
        if (typeof found !== 'string') expect(await passed(second, found)).toEqual(end);
      }),
      { numRuns: samples(3, 6, 400) },
    );
  });
});

describe('Thrift', () => {
  test.each(CODECS)('then $name', async (second) => {
    await fc.assert(
      fc.asyncProperty(anyRecord, async (record) => {
        const found = throughThrift(record);
        expect(found).toEqual(expectedOfThrift(record));
        if (found !== 'refused') expect(await passed(second, found)).toEqual(second.expected(found));
      }),
      { numRuns: samples(5, 8, 400) },
    );
  });
});

test('a nameless event keeps a property that is shown as its name would be', async () => {
  const [span] = fc.sample(anyTakenSpan, { numRuns: 1, seed: 1 });
  const jaeger = CODECS.find(({ name }) => name === 'Jaeger JSON') as Door;
  for (const event of [null, [], {}, 2n ** 70n, 'text', '']) {
    const events = [
      { name: '', timeUnixNs: 7n, properties: { event } },
      { name: '', timeUnixNs: 0n, properties: { event } },
    ];
    const one = { ...span, startUnixNs: 0n, endUnixNs: 0n, events };
    expect(await jaeger.pass(one)).toEqual(jaeger.expected(one));
  }
});
