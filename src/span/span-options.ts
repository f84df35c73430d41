// What a span is started with. Types only.
import type { Properties } from '../rows/property.js';
import type { SpanScope } from '../rows/span-scopes.js';
import type { TraceSink } from './active-trace.js';
import type { SpanKind } from './span-types.js';

/** How a span starts. */
export interface SpanOptions {
  readonly kind?: SpanKind;
  /** An object, or a callback that runs only when the span records. */
  readonly properties?: Properties | (() => Properties);
  /** @internal The library that records it, where it is not this one. */
  readonly scope?: SpanScope;
}

/** How a root starts. */
export interface RootOptions extends SpanOptions {
  /** The collector that gets this trace; the default collector when left out. */
  readonly collector?: TraceSink;
}
