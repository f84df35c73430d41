// Subject: spanline, the memory of local spans that wait to be reported.
import { configure, flush, LocalSpan, Span, SpanContext, setReporter } from '../../dist/esm/index.js';
import { retainedBytes } from './retained.mjs';

configure({ reportThresholdSpans: 1 << 30, reportIntervalMs: 3_600_000 });
setReporter({ name: 'noop', keepsNoTrace: true, report() {} });

const makeTrace = (n) => {
  const root = Span.root('root', SpanContext.random());
  root.run(() => {
    for (let i = 0; i < n; i++) LocalSpan.start('span').end();
  });
  root.end();
};

export const subject = 'spanline';
export const cases = [retainedBytes(makeTrace, () => flush())];
