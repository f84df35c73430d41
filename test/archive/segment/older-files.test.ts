// Files that were written before spans had flags, schema URLs, counts of what was dropped, whole doubles and empty values are read as they were.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { Segment } from '../../../src/archive/segment/segment.js';
import { newDirectory } from '../archive/support/directory.js';
import { readWal } from '../support/read-wal.js';

/** Of two spans, not compressed, in base64. */
const SEGMENT =
  'U1BMR1JBRjEBAAAAAAAAAAAAAAEADwAEAgEAAAxzdGVwIDICAQAAYBAAAOYDAgEBAgMBAQMAAQIAAAIEAAAAAAAAAAAAAAAA4OA/PwYGAQAAAm' +
  'XnBwEAAmsEAQEAAAABAP////////////////////8AAAAAAAAA/wAAAQAGd2h5AAEBAAAAAngCAAABAQZhPTEAAAIAAAEBBG5vAAABAAMAAwIY' +
  'EAICAQAfZ0UjAWLqcvsBiavN7wEjRWeJq83v////////////////BwAAAAAAAAAAof4DBgMAAgYGAAIAAAABAAYACHNob3DnGwQACAI6DGhhbG' +
  'Zub3RlbC5kcm9wcGVkX2F0dHJpYnV0ZXNfY291bnRzdGVwIDEBAhhzZXJ2aWNlLm5hbWUACHNob3AIbGlzdAcCAQIABnR3bwEGbGliAjEBAmEB' +
  'AgAAAwAAAAH/gCAAAQCAIAABAoAgAAIAAYAQgBAAAgAlgBCAEAABA4AgAAEAgCAAASWAIAABA4AgAAEZgCAAAQCAIAABAYAgAAEDgCAAAf+AIA' +
  'EAAQC3KE5RAgEAAAAAAAAAAAAArQABAgEAASNFZ4mrze8BI0VniavN7wEAsNSsxmwY6AOw1KzGbBgBDg4Ay/Ha2AEcHACv6/ygASIiACGsS7cB' +
  'EBAAq4iF0AErKwDAxfJhARUVAD/sj6cCAQEAsNSsxmwY6AOw1KzGbBgAAQEACHNob3ACBAIADHN0ZXAgMgIDAwCf4opnAgIARUPQ2AEBA0iAAQ' +
  'IBAAAAAGoAAAAAABAAugdQNwAAAABR3Y0neyJ2ZXJzaW9uIjoxLCJrZXlDb3VudCI6MywiZ3JvdXBCeXRlcyI6MTYsImdyYXBocyI6W3sibm9k' +
  'ZUNvdW50IjoyLCJnaG9zdENvdW50IjowLCJlZGdlQ291bnQiOjEsInJlZmVyZW5jZUxpc3RzIjoxLCJvcmRlciI6InRyYWNlLWNvbnRpZ3VvdX' +
  'MiLCJjeWNsZXMiOnRydWUsImhhc1JlZmVyZW5jZXMiOnRydWUsImhhc1ZhbHVlcyI6ZmFsc2UsImhhc0JhY2tQb2ludGVycyI6ZmFsc2V9LHsi' +
  'bm9kZUNvdW50IjoxLCJnaG9zdENvdW50IjoxLCJlZGdlQ291bnQiOjEsInJlZmVyZW5jZUxpc3RzIjoxLCJvcmRlciI6InRyYWNlLWNvbnRpZ3' +
  'VvdXMiLCJjeWNsZXMiOnRydWUsImhhc1JlZmVyZW5jZXMiOnRydWUsImhhc1ZhbHVlcyI6ZmFsc2UsImhhc0JhY2tQb2ludGVycyI6ZmFsc2V9' +
  'XSwibm90ZXMiOnsia2luZCI6InNwYW5zIn196gP//wIAAAAQAAAAAAAAABwAAAAAAAAAHAAAAAAAAAAAAAAAAAAAAOsD//8CAAAALAAAAAAAAA' +
  'AiAAAAAAAAACIAAAAAAAAAAAAAAAAAAADsA///AgAAAE4AAAAAAAAAEAAAAAAAAAAQAAAAAAAAAAAAAAAAAAAA7QP//wIAAABeAAAAAAAAACsA' +
  'AAAAAAAAKwAAAAAAAAAAAAAAAAAAAO4D//8CAAAAiQAAAAAAAAAVAAAAAAAAABUAAAAAAAAAAAAAAAAAAAAKAAAAAgAAAJ4AAAAAAAAAAwAAAA' +
  'AAAAADAAAAAAAAAAAAAAAAAAAACgABAAIAAAChAAAAAAAAAAIAAAAAAAAAAgAAAAAAAAAAAAAAAAAAAAIA//8CAAAAowAAAAAAAAA9AAAAAAAA' +
  'AD0AAAAAAAAAAAAAAAAAAADpA///AgAAAOAAAAAAAAAADgAAAAAAAAAOAAAAAAAAAAAAAAAAAAAA8wP//wAAAADuAAAAAAAAAF4AAAAAAAAAXg' +
  'AAAAAAAABZOuslAAAAAPQD//8AAAAATAEAAAAAAABQAAAAAAAAAFAAAAAAAAAAUXL4XwAAAAD1A///AAAAAJwBAAAAAAAAFgAAAAAAAAAWAAAA' +
  'AAAAAMh7ujAAAAAA8gP//wAAAACyAQAAAAAAAFQAAAAAAAAAVAAAAAAAAADeNc33AAAAAPYD//8AAAAABgIAAAAAAAAnAAAAAAAAACcAAAAAAA' +
  'AAKm2o+QAAAAANAAAAAAAAAC0CAAAAAAAABwAAAAAAAAAHAAAAAAAAAEvG73cAAAAADQABAAAAAAA0AgAAAAAAAAcAAAAAAAAABwAAAAAAAAAz' +
  'ax2QAAAAAAMA//8AAAAAOwIAAAAAAAAgAAAAAAAAACAAAAAAAAAAyFaK+QAAAAABAP//AAAAAFsCAAAAAAAAngEAAAAAAACeAQAAAAAAAI6qm3' +
  '0AAAAA+QMAAAAAAADQAgAAAAAAAAEHAAAAAAAAcPRsIwEAAAAAAAAAAAAAAAAAAAAcTIvqMUZBUkdMUFM=';
/** Of the same, written by `Archive.append`. */
const WRITE_AHEAD =
  'U1BMV0FMMDH1HqfDMwEAAJ7+SBMeCGdFIwHvzauJZ0UjAe/Nq4kAAAAAoQAAAAEAsNSsxmwY6AOw1KzGbBgAAhhzZXJ2aWNlLm5hbWUACHNob3' +
  'AIbGlzdAcCAQIABnR3bwAGbGliAjEBAmEBAgAMc3RlcCAxBmE9MQRubwMCbgECCGhhbGYCAAAAAAAA4D86b3RlbC5kcm9wcGVkX2F0dHJpYnV0' +
  'ZXNfY291bnQBBgEBAmX0AbDUrMZsGAECawQtCAAAAACiAAAAAAAAAKEAAAACALDUrMZsGOgDsNSsxmwYAAACDHN0ZXAgMgZhPTEEbm8DAm4BBA' +
  'hoYWxmAgAAAAAAAOA/Om90ZWwuZHJvcHBlZF9hdHRyaWJ1dGVzX2NvdW50AQYB/////////////////////wAAAAD/AAAAAAEGd2h5AAJ4';

const shared = {
  traceId: '0123456789abcdef0123456789abcdef',
  traceState: 'a=1',
  kind: 'server',
  status: { code: 'error', message: 'no' },
  resource: { properties: { 'service.name': 'shop', list: [1, 'two'] } },
  scope: { name: 'lib', version: '1', properties: { a: 1 } },
  endUnixNs: 1760000000000001000n,
};
const SPANS = [
  {
    ...shared,
    spanId: '00000000000000a1',
    parentSpanId: '',
    name: 'step 1',
    startUnixNs: 1760000000000000001n,
    properties: { n: 1, half: 0.5, 'otel.dropped_attributes_count': 3 },
    events: [{ name: 'e', timeUnixNs: 1760000000000000500n, properties: { k: true } }],
    links: [],
  },
  {
    ...shared,
    spanId: '00000000000000a2',
    parentSpanId: '00000000000000a1',
    name: 'step 2',
    startUnixNs: 1760000000000000002n,
    properties: { n: 2, half: 0.5, 'otel.dropped_attributes_count': 3 },
    events: [],
    links: [{ traceId: 'f'.repeat(32), spanId: '00000000000000ff', traceState: '', properties: { why: 'x' } }],
  },
];

test('a segment', async () => {
  const segment = await Segment.open(Buffer.from(SEGMENT, 'base64'));
  const traces = await segment.traces([shared.traceId]);
  expect(traces.get(shared.traceId)).toEqual(SPANS);
  expect(await segment.faults()).toEqual([]);
});

test('a write-ahead file', () => {
  const path = join(newDirectory(), 'wal-older.log');
  writeFileSync(path, Buffer.from(WRITE_AHEAD, 'base64'));
  expect(readWal(path).spans).toEqual(SPANS);
});
