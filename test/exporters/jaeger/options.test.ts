// Each protocol has its default address, and a wrong option throws at construction and names itself.
import { afterEach, describe, expect, test, vi } from 'vitest';
import { resolveHttp, resolveUdp } from '../../../src/exporters/jaeger/options.js';
import { JaegerReporter, type JaegerReporterOptions } from '../../../src/exporters/jaeger.js';

afterEach(() => {
  vi.unstubAllEnvs();
});

test('default addresses', () => {
  expect(resolveUdp({ protocol: 'thrift-compact-udp' }, {})).toEqual({
    host: 'localhost',
    port: 6831,
    maxPacketBytes: 65_000,
    keepNanoseconds: true,
  });
  expect(resolveUdp({ protocol: 'thrift-binary-udp' }, {}).port).toBe(6832);
  expect(resolveHttp({ protocol: 'thrift-http' }, {}).endpoint).toBe('http://localhost:14268/api/traces');
});

test('the environment stands in for a missing option only', () => {
  const env = { JAEGER_AGENT_HOST: 'agent', JAEGER_AGENT_PORT: '7000', JAEGER_ENDPOINT: 'https://j/api/traces' };
  expect(resolveUdp({ protocol: 'thrift-compact-udp' }, env)).toMatchObject({ host: 'agent', port: 7000 });
  expect(resolveUdp({ protocol: 'thrift-compact-udp', host: 'h', port: 1 }, env)).toMatchObject({ host: 'h', port: 1 });
  expect(resolveHttp({ protocol: 'thrift-http' }, env).endpoint).toBe('https://j/api/traces');
  expect(resolveHttp({ protocol: 'thrift-http', endpoint: 'http://x/' }, env).endpoint).toBe('http://x/');
});

test('only the protocols that can send without waiting have a reportSync', () => {
  expect(new JaegerReporter({ protocol: 'thrift-compact-udp' }).reportSync).toBeTypeOf('function');
  expect(new JaegerReporter({ protocol: 'thrift-http' }).reportSync).toBeUndefined();
});

const fault = (name: string) =>
  expect.objectContaining({ code: 'ERR_SPANLINE_OPTION', message: expect.stringContaining(name) });

describe('wrong options', () => {
  test.each([
    [{ protocol: 'udp' }, '"protocol"'],
    [{ protocol: 'toString' }, '"protocol"'],
    [{ protocol: 'thrift-compact-udp', endpoint: 'http://localhost' }, '"endpoint"'],
    [{ protocol: 'thrift-compact-udp', host: '' }, '"host"'],
    [{ protocol: 'thrift-compact-udp', port: 0 }, '"port"'],
    [{ protocol: 'thrift-compact-udp', port: '6831' }, '"port"'],
    [{ protocol: 'thrift-binary-udp', maxPacketBytes: 65_508 }, '"maxPacketBytes"'],
    [{ protocol: 'thrift-binary-udp', maxPacketBytes: 100 }, '"maxPacketBytes"'],
    [{ protocol: 'thrift-binary-udp', keepNanoseconds: 1 }, '"keepNanoseconds"'],
    [{ protocol: 'thrift-http', port: 14_268 }, '"port"'],
    [{ protocol: 'thrift-http', endpoint: 'localhost:14268' }, '"endpoint"'],
    [{ protocol: 'thrift-http', headers: { a: 'b\n' } }, '"headers"'],
    [{ protocol: 'thrift-http', headers: null }, '"headers"'],
    [{ protocol: 'thrift-http', timeoutMs: 0 }, '"timeoutMs"'],
    [{ protocol: 'thrift-http', maxRequestBytes: 1.5 }, '"maxRequestBytes"'],
    [{ host: 'localhost' }, '"host"'],
    [{ maxPacketBytes: 1000 }, '"maxPacketBytes"'],
    [{ endpont: 'http://localhost' }, '"endpont"'],
  ])('%j', (options, name) => {
    expect(() => new JaegerReporter(options as JaegerReporterOptions)).toThrow(fault(name));
  });

  test('of the environment', () => {
    vi.stubEnv('JAEGER_AGENT_PORT', 'many');
    expect(() => new JaegerReporter({ protocol: 'thrift-compact-udp' })).toThrow(fault('JAEGER_AGENT_PORT'));
    vi.stubEnv('JAEGER_ENDPOINT', 'nowhere');
    expect(() => new JaegerReporter({ protocol: 'thrift-http' })).toThrow(fault('JAEGER_ENDPOINT'));
  });
});
