// Subject: dd-trace with plugins off and an exporter that does nothing. Its exporter is replaced behind its back (it has no
// option for that), so that no agent is needed and nothing is encoded or sent.
import { createRequire } from 'node:module';
import { asyncSpan, bare, perSpan, wholeTrace } from './shape.mjs';

const require = createRequire(new URL('../peers/dd-trace/package.json', import.meta.url));
const { version } = require('dd-trace/package.json');
const tracer = require('dd-trace').init({ plugins: false, startupLogs: false, runtimeMetrics: false });
tracer._tracer._processor._exporter = { export() {} };

const nested = (body) => (n) =>
  tracer.trace('root', () => {
    for (let i = 0; i < n; i++) tracer.trace('span', body);
  });
const plain = (n) =>
  tracer.trace('root', (root) => {
    for (let i = 0; i < n; i++) tracer.startSpan('span', { childOf: root }).finish();
  });

export const subject = `dd-trace@${version}`;
export const cases = [
  ...perSpan(
    'local-span',
    nested(() => {}),
  ),
  ...perSpan(
    'local-span-1-property',
    nested((span) => span.setTag('key', 'value')),
  ),
  ...perSpan('span', plain),
  ...asyncSpan((body) => tracer.trace('root', body), tracer.wrap('span', bare)),
  wholeTrace(() => tracer.startSpan('root').finish()),
];
