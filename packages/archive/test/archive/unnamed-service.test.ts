// Spans whose resource names no service are listed and found under OpenTelemetry's name for them, wherever they lie; no name is empty. Whoever
// asks for another name gets that one, and a service that is really called so stays apart from them.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { ArchivedSpan } from '../../../../src/record/archived-span.js';
import type { Archive } from '../../src/archive.js';
import { Segment } from '../../src/segment/segment.js';
import { FULL_SPAN } from '../support/any-span.js';
import { newDirectory, openArchive, SEGMENT } from './support/directory.js';

let lastId = 0;
const span = (
  name: string,
  properties: ArchivedSpan['properties'],
  more: Partial<ArchivedSpan> = {},
): ArchivedSpan => ({
  ...FULL_SPAN,
  traceId: (++lastId).toString(16).padStart(32, '0'),
  parentSpanId: '',
  name,
  resource: { properties },
  ...more,
});

const UNNAMED: readonly ArchivedSpan[] = [
  span('absent', {}),
  span('empty', { 'service.name': '' }),
  span('number', { 'service.name': 7 }),
];
const SPANS = [
  ...UNNAMED,
  span('own', { 'service.name': 'unknown_service' }),
  span('shop', { 'service.name': 'shop' }),
];

const namesOf = (found: readonly { readonly name: string }[]): string[] => found.map(({ name }) => name).sort();

const check = async (archive: Archive): Promise<void> => {
  expect(await archive.services()).toEqual(['shop', 'unknown_service']);
  const all = ['absent', 'empty', 'number', 'own'];
  expect(namesOf(await archive.operations('unknown_service'))).toEqual(all);
  expect(namesOf(await archive.operations(''))).toEqual([]);
  expect(namesOf(await archive.search({ service: 'unknown_service' }))).toEqual(all);
  expect(namesOf(await archive.search({ service: 'unknown_service', name: 'empty' }))).toEqual(['empty']);
  expect(await archive.search({ service: 'unknown_service', name: 'shop' })).toEqual([]);
  const services = (await archive.search()).map(({ name, service }) => `${name} ${service}`).sort();
  expect(services).toEqual(['absent', 'empty', 'number', 'own'].map((n) => `${n} unknown_service`).concat('shop shop'));

  const other = { unnamedService: 'nobody' };
  expect(await archive.services(other)).toEqual(['nobody', 'shop', 'unknown_service']);
  expect(namesOf(await archive.operations('nobody', other))).toEqual(namesOf(UNNAMED));
  expect(namesOf(await archive.search({ service: 'nobody' }, other))).toEqual(namesOf(UNNAMED));
  expect(namesOf(await archive.search({ service: 'unknown_service' }, other))).toEqual(['own']);
};

test('in memory, in a segment, and of another writer', async () => {
  const directory = newDirectory();
  const archive = await openArchive(directory);
  archive.append(SPANS);
  await archive.flush();
  await check(archive);
  await check(await openArchive(directory, { readOnly: true }));
  await archive.seal();
  await check(archive);
  // What a file says is as it was before: '' for a name that is none.
  const [file] = readdirSync(directory).filter((name) => SEGMENT.test(name));
  const segment = await Segment.open(join(directory, file));
  expect(segment.info.services).toEqual(['', 'shop', 'unknown_service']);
  await segment.close();
});

test('a trace of which the parts lie in two files', async () => {
  const archive = await openArchive(newDirectory());
  const traceId = 'f'.repeat(32);
  const early = span('early', {}, { traceId, spanId: '1'.repeat(16), events: [], links: [] });
  archive.append([early]);
  await archive.seal();
  const startUnixNs = early.startUnixNs + 10n ** 10n;
  archive.append([
    { ...early, spanId: '2'.repeat(16), parentSpanId: early.spanId, startUnixNs, endUnixNs: startUnixNs + 1n },
  ]);
  await archive.seal();
  expect(await archive.search({ service: 'unknown_service', minDurationNs: 10n ** 9n })).toMatchObject([
    { traceId, service: 'unknown_service', spanCount: 2 },
  ]);
  expect(await archive.search({ service: 'shop', minDurationNs: 10n ** 9n })).toEqual([]);
});
