// The service suite counts what it says: a shape makes the spans it claims, a row is above the untraced service beside it, the load waits for
// answers as users do, and a verdict is no surer than both figures of a quotient.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';

const of = (path: string) => new URL(`../../bench/${path}`, import.meta.url);
// Plain JavaScript without types.
const { SHAPES, serveRequests } = await import(of('service/shapes.mjs').href);
const { load } = await import(of('service/run-load.mjs').href);
const { keysOf, rowsOf } = await import(of('service/rows.mjs').href);
const { verdictsOf } = await import(of('lib/verdict.mjs').href);

type Fn = () => unknown;

/** Counts spans, how many were open at most in one stretch, and keeps the texts of properties. */
function countingTracer() {
  const seen = { spans: 0, locals: 0, values: [] as unknown[] };
  const span = (fn: Fn, value?: unknown) => {
    seen.spans++;
    if (value !== undefined) seen.values.push(value);
    return fn();
  };
  const local = (fn: Fn, value?: unknown) => {
    seen.locals++;
    return span(fn, value);
  };
  const tracer = {
    root: (_name: string, target: string, fn: Fn) => span(fn, target),
    async: (_name: string, fn: Fn, _key?: string, value?: unknown) => span(fn, value),
    local: (_name: string, fn: Fn, _key?: string, value?: unknown) => local(fn, value),
    localOfThree: (_name: string, fn: Fn, id: number) => local(fn, id),
  };
  return { tracer, seen };
}

describe('shapes', () => {
  it.each(Object.keys(SHAPES))('%s makes the spans that it claims', async (name) => {
    const { tracer, seen } = countingTracer();
    await serveRequests(SHAPES[name], tracer, 20);
    expect(seen.spans).toBe(20 * SHAPES[name].spans);
    expect(seen.locals).toBe(20 * ({ flow: 12, distinct: 12, loop: 2000 }[name] ?? 0));
  });

  it('the flow answers the same traced and untraced, and repeats its values; the distinct one has new texts', async () => {
    const texts = async (name: string) => {
      const { tracer, seen } = countingTracer();
      const answers = [await SHAPES[name].run(tracer), await SHAPES[name].run(tracer)];
      expect(answers[0]).toBe(answers[1]);
      expect(JSON.parse(answers[0])).not.toEqual([]);
      return seen.values.filter((value) => typeof value === 'string');
    };
    expect(new Set(await texts('flow')).size).toBe(2);
    const distinct = await texts('distinct');
    expect(new Set(distinct).size).toBe(distinct.length);
  });
});

/** A round of a hundred requests of two spans. */
const round = (cpuUs: number, more: object = {}) => ({
  requests: 100,
  spans: 200,
  lost: 0,
  cpuUs,
  mainUs: cpuUs / 2,
  gcUs: cpuUs / 10,
  rssMb: cpuUs / 100,
  ...more,
});

const rowNamed = (rows: { name: string; n: string }[], name: string) => rows.find((row) => row.name === name);

describe('rows', () => {
  const of = { subject: 'spanline', shape: 'flow', mode: 'record', spans: 2 };

  it('are medians of paired differences above the untraced rounds, a minimum the difference of minima', () => {
    const untraced = [round(1000), round(3000), round(2000)];
    const own = [round(1600), round(3400), round(2500)];
    const rows = rowsOf(of, own, untraced);
    expect(rowNamed(rows, 'record')).toMatchObject({
      n: 'flow',
      unit: 'ns',
      median: 2500,
      min: 3000,
      max: 3000,
      low: 2000,
    });
    expect(rowNamed(rows, 'main-thread')).toMatchObject({ n: 'flow/record', unit: 'ns', median: 1250 });
    expect(rowNamed(rows, 'gc')).toMatchObject({ n: 'flow/record', unit: 'us', median: 0.5 });
    expect(rowNamed(rows, 'rss')).toMatchObject({ unit: 'MB', median: 5 });
    expect(rowNamed(rows, 'cpu')).toMatchObject({ unit: 'us', median: 25, min: 16 });
  });

  it('count what never arrived', () => {
    const rows = rowsOf(of, [round(1, { lost: 0 }), round(1, { lost: 50 })], [round(1), round(1)]);
    expect(rowNamed(rows, 'lost')).toMatchObject({
      unit: '%',
      median: 12.5,
      max: 25,
      note: '50 of 400 spans never arrived',
    });
    for (const row of rows) expect(Object.values(row)).not.toContain(Number.NaN);
  });

  it('leave out what a subject cannot tell', () => {
    const rows = rowsOf(of, [round(2, { mainUs: undefined, gcUs: undefined })], [round(1)]);
    expect(rows.map(({ name }: { name: string }) => name)).toEqual(['record', 'cpu', 'rss', 'lost']);
  });

  it('of HTTP share the CPU of half load over its own requests, and lose throughput against the rounds beside them', () => {
    const http = { perSecond: 1000, rate: 500, p50: 1, p99: 5, spans: 999 };
    const rows = rowsOf({ ...of, shape: 'http' }, [round(1600, { ...http, perSecond: 750 })], [round(1000, http)]);
    expect(rowNamed(rows, 'record')).toMatchObject({ n: 'http', median: 3000 });
    expect(rowNamed(rows, 'throughput-loss')).toMatchObject({ n: 'http/record', median: 25, unit: '%' });
    expect(rowNamed(rows, 'throughput')).toMatchObject({ median: 750, unit: 'requests/s' });
    expect(rowNamed(rows, 'p99')).toMatchObject({ median: 5, unit: 'ms', note: 'at 500 requests/s' });
  });

  it.each([
    ['flow', 'none'],
    ['flow', 'send'],
    ['http', 'none'],
    ['http', 'archive'],
  ])('have the names that --only is asked about: %s, %s', (shape, mode) => {
    const one = round(1, { perSecond: 1, p50: 1, p99: 1 });
    const rows = rowsOf({ ...of, shape, mode }, [one], [one]);
    const keys = rows.map(({ name, n }: { name: string; n: string }) => `${name} ${n}`);
    expect(keys.sort()).toEqual(keysOf(shape, mode).sort());
  });
});

describe('load', () => {
  const serve = async (listener: RequestListener) => {
    const server = createServer(listener).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const answer = (body: string): RequestListener => {
    return (_request, response) => response.writeHead(200, { 'content-length': body.length }).end(body);
  };

  it('asks as fast as it is answered', async () => {
    let served = 0;
    const small = answer('ok');
    const port = await serve((request, response) => {
      served++;
      small(request, response);
    });
    const [{ perSecond, p99 }] = await load([port], { seconds: 0.2 });
    expect(served).toBeGreaterThan(32);
    expect(perSecond).toBeGreaterThan(0);
    expect(p99).toBeUndefined();
  });

  it('sends what a rate asks for, with bodies of any size', async () => {
    let served = 0;
    const large = answer('x'.repeat(300_000));
    const port = await serve((request, response) => {
      served++;
      large(request, response);
    });
    const [{ p50, p99 }] = await load([port], { seconds: 0.5, rate: 100 });
    expect(served).toBe(50);
    expect(p99).toBeGreaterThanOrEqual(p50);
  });

  it('asks several by turns, and at a rate all at the same time', async () => {
    const asked: string[] = [];
    const named = (name: string) =>
      serve((request, response) => {
        if (asked.at(-1) !== name) asked.push(name);
        answer(name)(request, response);
      });
    const ports = [await named('first'), await named('second')];
    expect(await load([...ports, ...ports], { seconds: 0.1 })).toHaveLength(4);
    // Once more at the start, uncounted.
    expect(asked).toEqual(['first', 'second', 'first', 'second']);
    expect(await load(ports, { seconds: 0.2, rate: 200 })).toHaveLength(2);
    expect(asked.length).toBeGreaterThan(6);
  });

  it('counts the wait of whoever comes while the service stands still', async () => {
    const ok = answer('ok');
    let opensAt: number | undefined;
    // More come than there are connections.
    const port = await serve((request, response) => {
      opensAt ??= performance.now() + 1500;
      setTimeout(() => ok(request, response), Math.max(0, opensAt - performance.now()));
    });
    const [{ p50 }] = await load([port], { seconds: 0.4, rate: 1000 });
    expect(p50).toBeGreaterThan(700);
  });
});

describe('verdicts of the suite', () => {
  const row = (subject: string, name: string, n: string, median: number, low: number, high: number) => ({
    ...{ subject, name, n, unit: 'ns', node: '24.1.0', min: low, median, max: high, low, high },
  });
  const judge = (...results: object[]) =>
    verdictsOf({ suite: 'service', results }).map(({ value, unit, verdict }: Record<string, unknown>) => [
      value,
      unit,
      verdict,
    ]);

  it('compare with whichever SDK was measured', () => {
    const sdk = row('opentelemetry@3.1.1', 'record', 'flow', 5000, 4900, 5100);
    expect(judge(row('spanline', 'record', 'flow', 300, 290, 310), sdk)).toEqual([
      [6, '% of opentelemetry@3.1.1', 'met'],
    ]);
    expect(judge(row('spanline', 'record', 'flow', 800, 790, 810), sdk)).toEqual([
      [16, '% of opentelemetry@3.1.1', 'missed'],
    ]);
  });

  it('are open where the range of the quotient has the limit in it', () => {
    const sdk = row('opentelemetry@3.1.1', 'record', 'flow', 5000, 4000, 6000);
    const [[, , verdict]] = judge(row('spanline', 'record', 'flow', 640, 600, 680), sdk);
    expect(verdict).toBe('not decided by this run');
  });

  it('compare the archive with the SDK that sends', () => {
    const sdk = row('opentelemetry@3.1.1', 'send', 'flow', 5000, 4900, 5100);
    expect(judge(row('spanline', 'archive', 'flow', 1000, 990, 1010), sdk)).toEqual([
      [20, "% of opentelemetry@3.1.1's send", 'met'],
    ]);
  });
});
