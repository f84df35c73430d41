// A record, and copies of it that have lost their getters, are one finished span: whoever changes a record makes it by spreading, and what a message brings
// is a clone.
import { expect, test } from 'vitest';
import { ObjectView, toArchived } from '../../src/record/object-view.js';
import { EventRecord, TraceIdentity } from '../../src/record/record.js';
import { EVERY_VALUE, record } from '../exporters/support/records.js';

const whole = record({
  trace: new TraceIdentity(1, 0xffffffff, 0x80000000, 4, 'a=b', true),
  parent: [0xff000000, 7],
  properties: EVERY_VALUE,
  events: [new EventRecord('retry', 1_700_000_000, 5, ['10', 1, '2', 'x', 'b', true], 3)],
  links: [{ traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), properties: { k: 'v' } }],
  status: { code: 'error', message: 'gone' },
  hasRemoteParent: true,
  dropped: [1, 2, 3],
});

const archivedOf = (span: typeof whole) => {
  const view = new ObjectView().of(span);
  const { trace0, trace1, trace2, trace3, idHi, idLo, parentHi, parentLo, areIdsWhole } = view;
  const { startSec, startNano, endSec, endNano, durationNs } = view;
  const words = [trace0, trace1, trace2, trace3, idHi, idLo, parentHi, parentLo, areIdsWhole];
  return { words, times: [startSec, startNano, endSec, endNano, durationNs], span: toArchived(view) };
};

test.each([
  ['by spreading', { ...whole }],
  ['as a structured clone', structuredClone(whole)],
])('a copy %s is the same finished span', (_, copy) => {
  expect(archivedOf(copy as typeof whole)).toEqual(archivedOf(whole));
});

test('an archived span is, too', () => {
  const { span } = archivedOf(whole);
  expect(toArchived(new ObjectView().of(span))).toEqual(span);
});
