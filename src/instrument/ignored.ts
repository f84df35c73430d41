// Untraced work, with all that it calls: a queue whose span is not a span. It is also visible to libraries that trace by OpenTelemetry's
// API, which must not be needed for it.
import { SpanQueue } from '../local-span/span-queue.js';
import { Span } from '../span/span.js';
import { SUPPRESS_TRACING } from './other-context.js';

/** A context as OpenTelemetry's API has them: immutable. */
class PlainContext {
  readonly #values: ReadonlyMap<symbol, unknown>;

  constructor(values: ReadonlyMap<symbol, unknown>) {
    this.#values = values;
  }

  getValue(key: symbol): unknown {
    return this.#values.get(key);
  }

  setValue(key: symbol, value: unknown): PlainContext {
    return new PlainContext(new Map(this.#values).set(key, value));
  }

  deleteValue(key: symbol): PlainContext {
    const values = new Map(this.#values);
    values.delete(key);
    return new PlainContext(values);
  }
}

/** Current in what is ignored. */
export const IGNORED = new SpanQueue(Span.noop(), false);

IGNORED.context = new PlainContext(new Map([[SUPPRESS_TRACING, true]]));
