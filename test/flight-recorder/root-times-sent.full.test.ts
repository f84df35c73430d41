// With `rootTimes` the roots of a service with planted causes say over real OTLP where their time went, and add up to their duration.
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { clockInfo } from '../../src/index.js';
import { type ReceivedRequest, startServer } from '../exporters/support/http-server.js';
import { type DecodedSpan, type DecodedValue, decodeSpans } from '../exporters/support/otlp-decode.js';
import { root as checkout, runFile } from '../support/child.js';

const TIMES = ['own', 'gc', 'others', 'untraced', 'short', 'waiting', 'unknown'].map(
  (part) => `spanline.time.${part}_ns`,
);

const listIn = (value: DecodedValue | undefined): string[] =>
  value?.[0] === 'array' ? value[1].map(([, one]) => String(one)) : [];

describe.skipIf(clockInfo().path !== 'fast').each(['http/protobuf', 'http/json'])(
  'a service with planted causes sends %s',
  (protocol) => {
    const decode = ({ headers, body }: ReceivedRequest): DecodedSpan[] => {
      const plain = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body;
      return decodeSpans(plain, headers['content-type'] === 'application/json');
    };
    const SERVER = 2;

    const sent = async (): Promise<{ path: string; span: DecodedSpan; attributes: Map<string, DecodedValue> }[]> => {
      const server = await startServer();
      try {
        const { code, stderr } = await runFile(join(checkout, 'test/flight-recorder/children/planted.mjs'), {
          execArgv: ['--import', 'spanline/register'],
          env: {
            FLIGHT_FILE: join(checkout, '.tmp', `root-times-${process.pid}.flight`),
            SPANLINE_FLIGHT_RECORDER: 'on',
            SPANLINE_FLIGHT_ROOT_TIMES: 'true',
            OTEL_EXPORTER_OTLP_ENDPOINT: server.url,
            OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
          },
        });
        expect([code, stderr]).toEqual([0, '']);
        return server.requests
          .flatMap(decode)
          .filter(({ kind }) => kind === SERVER)
          .map((span) => {
            const attributes = new Map(span.attributes);
            return { path: attributes.get('url.path')?.[1] as string, span, attributes };
          });
      } finally {
        await server.close();
      }
    };

    test('each root adds up, and names the owners that it waited for', async () => {
      const nsOf = (attributes: Map<string, DecodedValue>, key: string): number => Number(attributes.get(key)?.[1]);
      const all = await sent();
      const of = (path: string) => all.filter((one) => one.path === path);
      expect(of('/fast')).toHaveLength(186);
      for (const { span, attributes } of all) {
        expect(TIMES.map((key) => attributes.get(key)?.[0])).toEqual(TIMES.map(() => 'int'));
        const sum = TIMES.reduce((total, key) => total + BigInt(nsOf(attributes, key)), 0n);
        expect(sum).toBe(BigInt(span.end) - BigInt(span.start));
      }
      const [parse] = of('/parse');
      const [ownNs, gcNs] = ['own', 'gc'].map((part) => nsOf(parse.attributes, `spanline.time.${part}_ns`));
      const parseNs = Number(BigInt(parse.span.end) - BigInt(parse.span.start));
      expect(ownNs / (parseNs - gcNs)).toBeGreaterThan(0.5);
      // The end of its answer may be a moment that the next one waits for: a tenth of its time and more.
      const waited = of('/wait').filter(({ span, attributes }) => {
        const listOf = (key: string): string[] => listIn(attributes.get(`spanline.loop.${key}`));
        const ns = listOf('owner_ns')[listOf('owner_trace_ids').indexOf(parse.span.traceId)];
        return Number(ns) > Number(BigInt(span.end) - BigInt(span.start)) / 10;
      });
      expect(waited).toHaveLength(1);
      const [timer] = of('/wait');
      expect(JSON.stringify(timer.attributes.get('spanline.loop.untraced'))).toContain('busyTimer');
      expect(nsOf(timer.attributes, 'spanline.time.untraced_ns')).toBeGreaterThan(30e6);
      const [hashes] = of('/hashes');
      expect(JSON.stringify(hashes.attributes.get('spanline.pool.requests'))).toContain('crypto/pbkdf2');
      const poolNs = nsOf(hashes.attributes, 'spanline.time.pool_ns');
      expect(poolNs / nsOf(hashes.attributes, 'spanline.time.waiting_ns')).toBeGreaterThan(0.5);
    }, 120_000);
  },
);
