// Addresses in properties: of servers that requests go to, also through proxies, and of who asked, also behind proxies.
import { expect, test } from 'vitest';
import { requestProperties } from '../../../src/instrument/http/request-properties.js';
import { addressOf, hostAndPort, inBrackets, serverOf } from '../../../src/instrument/http/url.js';

test.each([
  ['shop.example', ['shop.example', undefined]],
  ['shop.example:8080', ['shop.example', 8080]],
  ['[::1]', ['::1', undefined]],
  ['[::1]:8080', ['::1', 8080]],
  ['::1', ['::1', undefined]],
  ['2001:db8::17', ['2001:db8::17', undefined]],
  ['shop.example:no', ['shop.example:no', undefined]],
  ['[::1', ['[::1', undefined]],
])('%s', (authority, expected) => {
  expect(hostAndPort(authority)).toEqual(expected);
});

test.each([
  ['::1:8080', '[::1]:8080'],
  ['2001:db8::17:443', '[2001:db8::17]:443'],
  ['[::1]:8080', '[::1]:8080'],
  ['::1', '::1'],
  ['2001:db8:0:0:0:0:0:17', '2001:db8:0:0:0:0:0:17'],
  ['shop.example:8080', 'shop.example:8080'],
  ['shop.example', 'shop.example'],
  ['', ''],
])('%j of http2', (authority, expected) => {
  expect(inBrackets(authority)).toBe(expected);
});

test.each([
  ['/a?b=1', { full: 'http://proxy:3128/a?b=1', host: 'proxy', port: 3128 }],
  ['http://user:secret@shop.example/a', { full: 'http://shop.example/a', host: 'shop.example', port: 80 }],
  ['https://[::1]:8443/a?sig=secret', { full: 'https://[::1]:8443/a?sig=REDACTED', host: '::1', port: 8443 }],
  ['https://shop.example', { full: 'https://shop.example/', host: 'shop.example', port: 443 }],
  ['shop.example:443', { full: 'http://proxy:3128/shop.example:443', host: 'proxy', port: 3128 }],
  ['*', { full: 'http://proxy:3128', host: 'proxy', port: 3128 }],
])('a request for %s that a proxy is sent', (target, expected) => {
  const [, full, , host, , port] = addressOf(['http:', 'proxy:3128', target]);
  expect({ full, host, port }).toEqual(expected);
  expect(serverOf(['http:', 'proxy:3128', target])).toEqual([expected.host, expected.port]);
});

const propertiesOf = (headers: Record<string, string>): Record<string, unknown> => {
  const list = requestProperties(
    { method: 'GET', url: '/', headers: { host: 'inner:3000', ...headers }, httpVersion: '1.1' },
    { remoteAddress: '10.0.0.1', remotePort: 4000 },
  );
  return Object.fromEntries(list.flatMap((key, i) => (i % 2 === 0 ? [[key, list[i + 1]]] : [])));
};

const INNER = { client: '10.0.0.1', host: 'inner', port: 3000, scheme: 'http' };

test.each([
  [{}, INNER],
  [{ 'x-forwarded-for': '10.1.2.3, 10.0.0.2' }, { ...INNER, client: '10.1.2.3' }],
  [{ 'x-forwarded-for': '10.1.2.3:5678' }, { ...INNER, client: '10.1.2.3' }],
  [{ 'x-forwarded-for': '[2001:db8::17]:5678' }, { ...INNER, client: '2001:db8::17' }],
  [{ 'x-forwarded-for': '2001:db8::17' }, { ...INNER, client: '2001:db8::17' }],
  [{ 'x-forwarded-for': 'unknown' }, INNER],
  [{ 'x-forwarded-for': ', ' }, INNER],
  [
    { 'x-forwarded-host': 'shop.example', 'x-forwarded-proto': 'https,http' },
    { ...INNER, host: 'shop.example', port: undefined, scheme: 'https' },
  ],
  [{ 'x-forwarded-host': 'shop.example:8443' }, { ...INNER, host: 'shop.example', port: 8443 }],
  [{ 'x-forwarded-proto': 'gopher' }, INNER],
  [
    { forwarded: 'for="[2001:db8::17]:47011";host=shop.example;proto=https, for=10.0.0.2' },
    { client: '2001:db8::17', host: 'shop.example', port: undefined, scheme: 'https' },
  ],
  [
    { forwarded: 'For=10.1.2.3; Proto=HTTPS', 'x-forwarded-for': '10.9.9.9' },
    { ...INNER, client: '10.1.2.3', scheme: 'https' },
  ],
  [{ forwarded: 'by=10.0.0.9;for=_hidden, for=10.0.0.2' }, { ...INNER, client: '_hidden' }],
  [{ forwarded: '"\\' }, INNER],
])('behind a proxy that says %o', (headers, { client, host, port, scheme }) => {
  const properties = propertiesOf(headers as Record<string, string>);
  expect([
    properties['client.address'],
    properties['server.address'],
    properties['server.port'],
    properties['url.scheme'],
    properties['network.peer.address'],
  ]).toEqual([client, host, port, scheme, '10.0.0.1']);
});
