// Subject: spanline, recording to a reporter that does nothing.
import * as spanline from '../../dist/esm/index.js';
import { asyncSpan, bare, perSpan, wholeTrace } from './shape.mjs';

const { flush, LocalSpan, Span, SpanContext, setReporter, traced } = spanline;
// The gate runs this file on older commits too, which had another name for it.
const currentQueue = spanline.currentQueue ?? spanline.currentLine;

setReporter({ name: 'noop', keepsNoTrace: true, report() {} });
const drain = () => flush();

/** A trace around `body(n)`. */
const inRoot =
  (body, context = () => SpanContext.random()) =>
  (n) => {
    const root = Span.root('root', context());
    root.run(() => body(n));
    root.end();
  };

const localSpans = (n) => {
  for (let i = 0; i < n; i++) LocalSpan.start('span').end();
};
const explicit = (n) => {
  const queue = currentQueue();
  for (let i = 0; i < n; i++) queue.start('span').end();
};
const events = (n) => {
  const span = LocalSpan.start('span');
  for (let i = 0; i < n; i++) span.addEvent('event');
  span.end();
};
const withProperty = (n) => {
  for (let i = 0; i < n; i++) LocalSpan.start('span').addProperty('key', 'value').end();
};
const children = (n) => {
  const root = Span.root('root', SpanContext.random());
  for (let i = 0; i < n; i++) Span.start('span', root).end();
  root.end();
};
const unsampled = SpanContext.random().withSampled(false);

const inTrace = async (body) => {
  const root = Span.root('root', SpanContext.random());
  await root.run(body);
  root.end();
};

export const subject = 'spanline';
export const cases = [
  ...perSpan('local-span', inRoot(localSpans), drain),
  ...perSpan('local-span-explicit', inRoot(explicit), drain),
  ...perSpan(
    'local-span-unsampled',
    inRoot(localSpans, () => unsampled),
    drain,
  ),
  ...perSpan('no-parent', localSpans, undefined, [100]),
  ...perSpan('event', inRoot(events), drain, [10, 100, 1000]),
  ...perSpan('local-span-1-property', inRoot(withProperty), drain),
  ...perSpan('span', children, drain),
  ...asyncSpan(inTrace, traced('span', bare), drain),
  wholeTrace(() => Span.root('root', SpanContext.random()).end(), drain),
];
