// A call made where a context of OpenTelemetry's API is current that has no span of ours: below a span of elsewhere, a root where the context has
// values alone, and nothing where it says that nothing is traced.
import { tracingChannel } from 'node:diagnostics_channel';
import { type Context, context, propagation, ROOT_CONTEXT, TraceFlags, trace } from '@opentelemetry/api';
import { suppressTracing } from '@opentelemetry/core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { instrumentChannel } from '../../src/instrument/index.js';
import { SpanlineTracerProvider } from '../../src/otel/index.js';
import { instrumentOnly, later, recorded, serve } from './support.js';

beforeAll(() => new SpanlineTracerProvider().register());
afterAll(() => {
  trace.disable();
  context.disable();
  propagation.disable();
});

const REMOTE = {
  traceId: '0af7651916cd43dd8448eb211c80319c',
  spanId: 'b7ad6b7169203331',
  traceFlags: TraceFlags.SAMPLED,
  isRemote: true,
};

const calledIn = async (current: Context, requireParent = false) => {
  instrumentOnly({ undici: { requireParent } });
  const { url } = await serve(({ headers }, response) => response.end(String(headers.traceparent)));
  const sent = await context.with(current, async () => (await fetch(url)).text());
  const spans = (await recorded()).map(({ traceId, spanId, parentSpanId }) => ({ traceId, spanId, parentSpanId }));
  return { sent, spans };
};

test.each([false, true])('below a span of elsewhere, requireParent %s', async (requireParent) => {
  const { sent, spans } = await calledIn(trace.setSpanContext(ROOT_CONTEXT, REMOTE), requireParent);
  expect(spans).toMatchObject([{ traceId: REMOTE.traceId, parentSpanId: REMOTE.spanId }]);
  expect(sent.slice(0, -2)).toBe(`00-${REMOTE.traceId}-${spans[0].spanId}-`);
});

test('below one that is not sampled, nothing is recorded and that goes out', async () => {
  const current = trace.setSpanContext(ROOT_CONTEXT, { ...REMOTE, traceFlags: TraceFlags.NONE });
  const { sent, spans } = await calledIn(current);
  expect(spans).toEqual([]);
  expect(sent).toMatch(new RegExp(`^00-${REMOTE.traceId}-[0-9a-f]{16}-00$`));
});

test.each([false, true])('values alone: a root, or nothing; requireParent %s', async (requireParent) => {
  const current = propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ a: { value: '1' } }));
  const { sent, spans } = await calledIn(current, requireParent);
  expect(spans).toMatchObject(requireParent ? [] : [{ parentSpanId: '' }]);
  expect(sent).toBe(requireParent ? 'undefined' : `00-${spans[0].traceId}-${spans[0].spanId}-03`);
});

test('what a traced piece of work does has the values around it', () => {
  const current = propagation.setBaggage(ROOT_CONTEXT, propagation.createBaggage({ a: { value: '1' } }));
  later(instrumentChannel('own:work'));
  const values = context.with(current, () =>
    tracingChannel<unknown, object>('own:work').traceSync(
      () => [propagation.getActiveBaggage()?.getEntry('a')?.value, trace.getActiveSpan()?.isRecording()],
      {},
    ),
  );
  expect(values).toEqual(['1', true]);
});

test('nothing where tracing is suppressed, in a span of ours too', async () => {
  expect(await calledIn(suppressTracing(ROOT_CONTEXT))).toEqual({ sent: 'undefined', spans: [] });
  const root = Span.root('work');
  const { sent, spans } = await root.run(() => calledIn(suppressTracing(context.active())));
  expect({ sent, spans }).toEqual({ sent: 'undefined', spans: [] });
  root.end();
});
