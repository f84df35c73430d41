// The cases of OpenTelemetry's API on whichever provider is handed in.
import { perSpan } from '../recording/shape.mjs';

/** @param {{ api: object, tracer: object, drain: () => Promise<unknown> }} subject */
export function apiCases({ api, tracer, drain }) {
  const { context, trace, ProxyTracerProvider, ROOT_CONTEXT, TraceFlags } = api;
  const inRoot =
    (body, parent = ROOT_CONTEXT) =>
    (n) =>
      tracer.startActiveSpan('root', {}, parent, (root) => {
        body(n);
        root.end();
      });
  const spans = (n) => {
    for (let i = 0; i < n; i++) tracer.startSpan('span').end();
  };
  const end = (span) => span.end();
  const nested = (n) => {
    for (let i = 0; i < n; i++) tracer.startActiveSpan('span', end);
  };
  const unsampled = trace.setSpanContext(context.active(), {
    traceId: '0af7651916cd43dd8448eb211c80319c',
    spanId: 'b7ad6b7169203331',
    traceFlags: TraceFlags.NONE,
    isRemote: true,
  });
  const off = new ProxyTracerProvider().getTracer('bench');
  const noProvider = (n) => {
    for (let i = 0; i < n; i++) off.startSpan('span').end();
  };
  return [
    ...perSpan('startSpan-end', inRoot(spans), drain, [100]),
    ...perSpan('startActiveSpan', inRoot(nested), drain, [100]),
    ...perSpan('startSpan-unsampled', inRoot(spans, unsampled), drain, [100]),
    ...perSpan('startSpan-no-provider', inRoot(noProvider), drain, [100]),
  ];
}
