// Traces by number: writer and reader, in processes of their own, know what each consists of.
import type { ArchivedSpan } from '../../../../../src/record/archived-span.js';
import { spanIdOf, traceIdOf } from '../../segment/support/segments.js';

const SCOPE = { name: 'test', version: '1', properties: {} };
const RESOURCES = ['shop', 'cart'].map((service) => ({ properties: { 'service.name': service } }));
const START = 1_760_000_000_000_000_000n;

/** Traces of one writer have numbers from a million times its own on. */
export const WRITER_STEP = 1_000_000;

export const SPANS_PER_TRACE = 3;

/** Trace `n`: a root and two children. */
export const numberedTrace = (n: number): ArchivedSpan[] =>
  Array.from({ length: SPANS_PER_TRACE }, (_, i) => {
    const startUnixNs = START + BigInt(n) * 1_000_000n + BigInt(i) * 1000n;
    return {
      traceId: traceIdOf(n + 1),
      spanId: spanIdOf((n + 1) * 16 + i),
      parentSpanId: i === 0 ? '' : spanIdOf((n + 1) * 16),
      traceState: '',
      name: i === 0 ? `GET /${n % 10}` : 'query',
      kind: i === 0 ? 'server' : 'client',
      startUnixNs,
      endUnixNs: startUnixNs + 100_000n,
      status: { code: n % 7 === 0 ? 'error' : 'unset', message: '' },
      properties: { n, text: `number ${n}` },
      events: [],
      links: [],
      resource: RESOURCES[i % 2],
      scope: SCOPE,
    };
  });
