// Batches of spanline for the exporters suite: recorded by the library itself and caught on their way to a reporter.
import { EVENT, hasEvent, PROPERTIES, SPANS_PER_TRACE } from './shape.mjs';

/** For one copy of the library: batches of another reach its encoders as records, which cost more than its own rows. */
export function spansOf({ configure, flush, LocalSpan, Span, SpanContext, setReporter }) {
  configure({
    serviceName: 'bench',
    reportThresholdSpans: 1 << 30,
    reportIntervalMs: 3_600_000,
    maxQueuedBytes: 1 << 30,
  });

  /** A finished trace of 32 spans, root included. */
  function makeTrace() {
    const root = Span.root('query', SpanContext.random()).addProperties(PROPERTIES);
    root.run(() => {
      for (let i = 1; i < SPANS_PER_TRACE; i++) {
        const span = LocalSpan.start('read row').addProperties(PROPERTIES);
        if (hasEvent(i)) span.addEvent(EVENT.name, EVENT.properties);
        span.end();
      }
    });
    root.end();
  }

  /** The batch a reporter gets for so many traces. */
  async function batchOf(traces) {
    let caught;
    setReporter({
      name: 'catch',
      report(batch) {
        caught = batch;
      },
    });
    for (let i = 0; i < traces; i++) makeTrace();
    await flush();
    return caught;
  }

  return { makeTrace, batchOf };
}
