// Options: a wrong one throws, named, and changes nothing; the resource comes from options and environment, per batch.
import { setFlagsFromString } from 'node:v8';
import { runInThisContext } from 'node:vm';
import { afterEach, expect, test, vi } from 'vitest';
import { resolveOptions } from '../../src/collector/options.js';
import { Collector, configure, OptionError, parentBased, type Resource, ratio, Span } from '../../src/index.js';

afterEach(() => vi.unstubAllEnvs());

test.each([
  ['reportIntervalMs', 0],
  ['reportIntervalMs', Number.NaN],
  ['maxQueuedBytes', '5'],
  ['maxSpansPerTrace', -1],
  ['sampler', 'always'],
  ['keep', null],
  ['serviceName', ''],
  ['serviceName', 5],
  ['reportOpenTraces', 'yes'],
  ['resourceAttributes', 5],
  ['resourceAttributes', null],
  ['resourceAttributes', []],
  ['resourceAttributes', [['team', 'a']]],
  ['resourceAttributes', new Map([['team', 'a']])],
  ['resourceAttributes', Object.create(null, { [Symbol.iterator]: { value: 1 } })],
  ['resourceAttributes', { team: null }],
  ['resourceAttributes', { team: { name: 'a' } }],
  ['resourceAttributes', { team: [1, 'a'] }],
  ['sampler', async () => false],
  ['sampler', function* () {}],
  ['sampler', ratio],
  ['sampler', parentBased],
  ['sampler', Object.create(null)],
  ['keep', async () => false],
  ['keep', async function* () {}],
  ['reportIntervalMs', Object.create(null)],
  ['disabled', 'yes'],
  ['development', 1],
  ['unknownOption', 1],
])('%s: %s', (key, value) => {
  const options = { serviceName: 'changed', [key]: value } as object;
  expect(() => configure(options)).toThrow(OptionError);
  expect(() => configure(options)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
  expect(() => configure(options)).toThrow(`"${key}"`);
});

test('all have one hidden class, however often they change: the recording path is not compiled anew for each', () => {
  const first = resolveOptions({});
  const others = Array.from({ length: 50 }, (_, i) =>
    resolveOptions({ sampler: () => i % 2 === 0, maxOpenTraces: i + 1 }),
  );
  setFlagsFromString('--allow-natives-syntax');
  const haveSameMap: (a: object, b: object) => boolean = runInThisContext('(a, b) => %HaveSameMap(a, b)');
  const areAlike = others.map((one) => haveSameMap(first, one));
  setFlagsFromString('--no-allow-natives-syntax');
  expect(areAlike).toEqual(others.map(() => true));
});

test('options that are not an object', () => {
  for (const wrong of [undefined, null, 5, 'sampler', []]) {
    expect(() => configure(wrong as object)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
  }
  expect(() => new Collector([] as object)).toThrow('not an array');
});

const resourceOf = async (collector: Collector): Promise<Resource> => {
  let resource: Resource | undefined;
  collector.setReporter({
    name: 'r',
    report: (batch) => {
      resource = batch.resource;
    },
  });
  Span.root('root', undefined, { collector }).end();
  await collector.flush();
  return resource as Resource;
};

test('the resource', async () => {
  vi.stubEnv('OTEL_SERVICE_NAME', '');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.name=');
  // An empty variable counts as not set, as OpenTelemetry says.
  expect((await resourceOf(new Collector())).serviceName).toBe('unknown_service:node');
  vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'service.name=from%20attributes, team = a=b ,broken,=x,bad=%');
  const fromAttributes = await resourceOf(new Collector());
  expect(fromAttributes.serviceName).toBe('from attributes');
  expect(fromAttributes.attributes).toMatchObject({ team: 'a=b', 'process.pid': process.pid });
  expect(fromAttributes.attributes).not.toHaveProperty('service.name');
  vi.stubEnv('OTEL_SERVICE_NAME', 'from name');
  expect((await resourceOf(new Collector())).serviceName).toBe('from name');
  const given = await resourceOf(new Collector({ serviceName: 'given', resourceAttributes: { team: 'c' } }));
  expect([given.serviceName, given.attributes.team]).toEqual(['given', 'c']);
});

test('a broken pair of OTEL_RESOURCE_ATTRIBUTES is said by its place, once for a value, and never shown', () => {
  const said: string[] = [];
  vi.spyOn(process, 'emitWarning').mockImplementation(((message: string) => said.push(message)) as never);
  const resolve = (value: string): number => {
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', value);
    new Collector();
    new Collector();
    return said.length;
  };
  expect(resolve('team=a, x = y,')).toBe(0);
  expect(resolve('team=a,secret,=x, bad=%')).toBe(1);
  expect(said[0]).toMatch(/^OTEL_RESOURCE_ATTRIBUTES must be .*: pair 2, 3, 4\.$/);
  expect(said[0]).not.toContain('secret');
  expect(resolve('team')).toBe(2);
  vi.restoreAllMocks();
});

test('each batch has the resource its traces started with', async () => {
  const collector = new Collector({ serviceName: 'one' });
  const seen: string[] = [];
  collector.setReporter({
    name: 'r',
    report: (batch) => {
      seen.push(...batch.traces.map((trace) => `${batch.resource.serviceName} ${trace.root?.name}`));
    },
  });
  const early = Span.root('early', undefined, { collector });
  collector.configure({ serviceName: 'two' });
  Span.root('late', undefined, { collector }).end();
  early.end();
  await collector.flush();
  expect(seen.sort()).toEqual(['one early', 'two late']);
});
