// Calls of undici 5 and 6, which publish what newer ones do.
import { describe, expect, test } from 'vitest';
import { Span } from '../../src/index.js';
import { library } from './libraries.js';
import { askedBySixteen, eachItsOwn, instrumentOnly, recorded, serve } from './support.js';

// biome-ignore lint/suspicious/noExplicitAny: packages that are not installed with this one have no types here.
type Untyped = any;

const spansOf = async () => (await recorded()).filter(({ kind }) => kind === 'client');

describe.each(['undici-5', 'undici-6'])('%s', (name) => {
  const undici: Untyped = library(name);

  test('a call is a child of who makes it, and brings its context', async () => {
    instrumentOnly({ undici: true });
    const { url } = await serve((request, response) => response.end(request.headers.traceparent));
    const texts = await Span.root('request').runToEnd(async () => [
      await (await undici.request(`${url}/request`)).body.text(),
      await (await undici.fetch(`${url}/fetch`)).text(),
    ]);
    const spans = await spansOf();
    expect(spans.map(({ name: own, properties }) => [own, properties['url.full']])).toEqual([
      ['GET', `${url}/request`],
      ['GET', `${url}/fetch`],
    ]);
    expect(texts).toEqual(spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-03`));
  });

  test.each(['request', 'fetch'])('%s: a context that the headers have already is replaced', async (way) => {
    instrumentOnly({ undici: true });
    const seen: string[] = [];
    const { url } = await serve((request, response) => {
      seen.push(...request.rawHeaders.map((text, i) => (i % 2 === 0 ? text.toLowerCase() : text)));
      response.end();
    });
    const headers = {
      'x-a': '1',
      Traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
      tracestate: 'v=1',
      'x-b': '2',
    };
    const answer = await undici[way](url, { headers });
    await (answer.body.text?.() ?? answer.text());
    const [{ traceId, spanId }] = await spansOf();
    const valuesOf = (header: string) => seen.filter((_, i) => i % 2 === 1 && seen[i - 1] === header);
    expect(['traceparent', 'tracestate', 'x-a', 'x-b'].map(valuesOf)).toEqual([
      [`00-${traceId}-${spanId}-03`],
      [],
      ['1'],
      ['2'],
    ]);
  });

  test('one that fails is an error', async () => {
    instrumentOnly({ undici: true });
    await expect(undici.request('http://127.0.0.1:1/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    const [span] = await spansOf();
    expect(span).toMatchObject({ status: { code: 'error' }, properties: { 'error.type': 'ECONNREFUSED' } });
  });

  test('sixteen at once, each in its own trace', async () => {
    instrumentOnly({ undici: true });
    const { url } = await serve((_, response) => response.end('fine'));
    const asked = await askedBySixteen(
      async (i) => (await undici.request(`${url}/${i}`)).body.text(),
      ({ properties }) => properties['url.full'],
    );
    expect(asked).toEqual(eachItsOwn((i) => `${url}/${i}`));
  });
});
