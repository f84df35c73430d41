// Which instrumentation a span is from, as OpenTelemetry names it: the scope.
import { LIBRARY_VERSION } from '../formats/library.js';
import { type SpanScope, spanScope } from '../local-span/span-scopes.js';

/** The scope of the instrumentation `name`. */
export const scopeOf = (name: string): SpanScope => spanScope(`spanline/instrument/${name}`, LIBRARY_VERSION);
