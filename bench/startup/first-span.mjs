// Loads spanline, records one trace and prints to descriptor 3 how long its first span took: the caller's time in ms, from the first call to
// the end of the first local span. Run by suite.mjs.
import { writeSync } from 'node:fs';
import { LocalSpan, Span, SpanContext } from '../../dist/esm/index.js';

const begin = performance.now();
const root = Span.root('root', SpanContext.random());
root.run(() => LocalSpan.start('span').end());
root.end();
const wall = performance.now() - begin;

writeSync(3, JSON.stringify({ wall }));
