// Which instrumentation a span is from, as OpenTelemetry names it: the scope.
import { LIBRARY_VERSION } from '../formats/library.js';
import { enteredQueue } from '../local-span/local-span.js';
import { Flag } from '../rows/row-chunk.js';
import { internedScope, type SpanScope, spanScope } from '../rows/row-text.js';
import type { Span } from '../span/span.js';

/** The scope of the instrumentation `name`. */
export const scopeOf = (name: string): SpanScope => spanScope(`spanline/instrument/${name}`, LIBRARY_VERSION);

/** The name of the scope of the span that is current: by another copy of this package too. */
export const currentScope = (): string | undefined => {
  const mount = enteredQueue()?.mount;
  return mount?.isSpan === true ? internedScope((mount as Span).rowFlags >> Flag.scopeShift)?.name : undefined;
};
