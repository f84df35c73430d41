// Options win over variables for traces, these over variables for all signals; what is wrong names itself.
import { describe, expect, test } from 'vitest';
import { type OtlpReporterOptions, resolveOtlpOptions } from '../../../src/exporters/otlp/options.js';
import { OtlpReporter } from '../../../src/exporters/otlp.js';

const resolve = (options: OtlpReporterOptions, env: Record<string, string> = {}) =>
  resolveOtlpOptions(
    options,
    Object.fromEntries(Object.entries(env).map(([name, value]) => [`OTEL_EXPORTER_OTLP_${name}`, value])),
  );

test('nothing set', () => {
  expect(resolve({})).toEqual({
    url: 'http://localhost:4318/v1/traces',
    endpointName: '',
    protocol: 'protobuf',
    headers: {},
    compression: 'none',
    timeoutMs: 10_000,
    maxRequestBytes: 4 << 20,
    maxRequestSpans: 16_384,
    concurrency: 2,
    tls: undefined,
  });
});

test.each([
  [{ endpoint: 'http://a:1' }, {}, 'http://a:1/v1/traces'],
  [{ endpoint: 'http://a:1/' }, {}, 'http://a:1/v1/traces'],
  [{ endpoint: 'http://a:1/otlp/' }, {}, 'http://a:1/otlp/v1/traces'],
  [{ endpoint: 'http://a:1/v1/traces' }, {}, 'http://a:1/v1/traces'],
  [{ endpoint: 'http://a:1/in?key=1' }, {}, 'http://a:1/in/v1/traces?key=1'],
  [{}, { ENDPOINT: 'https://b/x' }, 'https://b/x/v1/traces'],
  [{}, { TRACES_ENDPOINT: 'https://c/own', ENDPOINT: 'https://b/x' }, 'https://c/own'],
  [{}, { TRACES_ENDPOINT: ' ', ENDPOINT: 'https://b/x' }, 'https://b/x/v1/traces'],
  [{ endpoint: 'http://a:1' }, { TRACES_ENDPOINT: 'https://c/own' }, 'http://a:1/v1/traces'],
])('endpoint %j with %j: %s', (options, env, url) => {
  expect(resolve(options, env as Record<string, string>).url).toBe(url);
});

test('variables', () => {
  const env = {
    PROTOCOL: 'http/json',
    COMPRESSION: 'gzip',
    TIMEOUT: '5000',
    TRACES_TIMEOUT: '700',
    HEADERS: 'Api-Key=a%20b, other=1',
    TRACES_HEADERS: 'other=2',
  };
  expect(resolve({ headers: { X: '3' } }, env)).toMatchObject({
    protocol: 'json',
    compression: 'gzip',
    timeoutMs: 700,
    headers: { 'api-key': 'a b', other: '2', x: '3' },
  });
  expect(
    resolve({ protocol: 'protobuf', compression: 'none', timeoutMs: 1, headers: { 'API-KEY': 'c' } }, env),
  ).toMatchObject({
    protocol: 'protobuf',
    compression: 'none',
    timeoutMs: 1,
    headers: { 'api-key': 'c' },
  });
});

describe('wrong', () => {
  const wrong: [options: object, env: Record<string, string>, message: RegExp][] = [
    [{ endpont: 'x' }, {}, /"endpont".*Known: .*endpoint/],
    [{ endpoint: 'localhost:4318' }, {}, /"endpoint" must be an http/],
    [{ endpoint: 'grpc://a' }, {}, /"endpoint" must be an http/],
    [{}, { TRACES_ENDPOINT: 'nowhere' }, /OTEL_EXPORTER_OTLP_TRACES_ENDPOINT must be an http/],
    [{ protocol: 'grpc' }, {}, /"protocol" must be "protobuf" or "json"/],
    [{}, { PROTOCOL: 'grpc' }, /OTEL_EXPORTER_OTLP_PROTOCOL must be "http\/protobuf" or "http\/json", not grpc/],
    [{ compression: 'br' }, {}, /"compression" must be "none" or "gzip"/],
    [{ timeoutMs: 0 }, {}, /"timeoutMs" must be a whole number from 1/],
    [{}, { TIMEOUT: 'long' }, /OTEL_EXPORTER_OTLP_TIMEOUT must be a whole number/],
    [{ concurrency: 0 }, {}, /"concurrency"/],
    [{ maxRequestBytes: 100 }, {}, /"maxRequestBytes" must be a whole number from 4096/],
    [{ headers: { 'bad name': 'x' } }, {}, /"headers" holds "bad name"/],
    [{ headers: { name: 'a\r\nb' } }, {}, /"headers" holds "name"/],
  ];
  test.each(wrong)('%j %j', (options, env, message) => {
    expect(() => resolve(options, env)).toThrow(message);
    expect(() => resolve(options, env)).toThrow(expect.objectContaining({ code: 'ERR_SPANLINE_OPTION' }));
  });

  test('a header that may be a secret is not in the message', () => {
    expect(() => resolve({}, { HEADERS: 'authorization Bearer s3cret' })).toThrow(/OTEL_EXPORTER_OTLP_HEADERS must be/);
    expect(() => resolve({}, { HEADERS: 'authorization Bearer s3cret' })).not.toThrow(/s3cret/);
  });

  test('the reporter throws where it is made', () => {
    expect(() => new OtlpReporter({ endpoint: '' })).toThrow(/"endpoint"/);
  });
});
