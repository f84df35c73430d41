// Services that know nothing of tracing show in a real Jaeger under `spanline/register`: one trace over both, with the right parents and names.
import { afterEach, expect, test } from 'vitest';
import { freePort } from '../../scripts/lib/local-ports.mjs';
import { buildFirst } from '../support/built.js';
import { describeJaeger } from '../support/jaeger.js';
import { sampleOf } from '../support/samples.js';
import { service, tracedBy } from './support/official.js';
import { type Service, startService } from './support/service.js';

buildFirst();

const running: Service[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.stop();
});

interface JaegerSpan {
  readonly spanID: string;
  readonly operationName: string;
  readonly processID: string;
  readonly references: readonly { readonly refType: string; readonly spanID: string }[];
  readonly tags: readonly { readonly key: string; readonly value: unknown }[];
}
interface JaegerTrace {
  readonly traceID: string;
  readonly spans: readonly JaegerSpan[];
  readonly processes: Readonly<Record<string, { readonly serviceName: string }>>;
}

/** `service kind name status`, each span below its parent. */
const shown = ({ spans, processes }: JaegerTrace): string[] => {
  const parentOf = ({ references }: JaegerSpan): string | undefined =>
    references.find(({ refType }) => refType === 'CHILD_OF')?.spanID;
  const under = (parent: string | undefined, indent: string): string[] =>
    spans
      .filter((span) => parentOf(span) === parent)
      .flatMap((span) => {
        const tag = (key: string): unknown => span.tags.find((one) => one.key === key)?.value;
        const { serviceName } = processes[span.processID];
        const status = tag('http.response.status_code');
        const words = [serviceName, tag('span.kind'), span.operationName, status, tag('error') === true ? 'error' : ''];
        return [`${indent}${words.join(' ').trim()}`, ...under(span.spanID, `${indent}  `)];
      });
  return under(undefined, '');
};

describeJaeger('a real Jaeger', (jaeger) => {
  const WAYS = [
    ['otlp', 'http/protobuf'],
    ['otlp', 'http/json'],
    ['jaeger', ''],
  ] as const;

  test.each(sampleOf(WAYS, 1, WAYS.length))('has them by %s %s', async (exporter, protocol) => {
    const name = (which: string): string => `${which}-${exporter}-${protocol.slice(5)}`;
    const { otlpUrl, queryUrl } = jaeger();
    const [front, back] = [await freePort(), await freePort()];
    const env = {
      OTEL_TRACES_EXPORTER: exporter,
      OTEL_EXPORTER_OTLP_ENDPOINT: otlpUrl,
      OTEL_EXPORTER_OTLP_PROTOCOL: protocol,
    };
    const start = async (which: string, port: number, more: Readonly<Record<string, string>> = {}): Promise<void> => {
      const given = { ...env, OTEL_SERVICE_NAME: name(which), PORT: String(port), ...more };
      running.push(await startService(service('relay.cjs'), { execArgv: tracedBy.spanline(), env: given }));
    };
    await start('depot', back);
    await start('shop', front, { NEXT: `http://127.0.0.1:${back}` });
    for (const id of [7, 0]) await (await fetch(`http://127.0.0.1:${front}/orders/${id}`)).text();
    for (const one of running.splice(0)) expect(await one.stop()).toMatchObject({ signal: 'SIGTERM' });

    const answer = await fetch(`${queryUrl}/api/traces?service=${name('shop')}&lookback=1h&limit=10`);
    const { data } = (await answer.json()) as { readonly data: readonly JaegerTrace[] };
    const [shop, depot] = [name('shop'), name('depot')];
    expect(data.map(shown).sort()).toEqual(
      [
        [`${shop} server GET /orders/:id 200`, `  ${shop} client GET 200`, `    ${depot} server GET /orders/:id 200`],
        [
          `${shop} server GET /orders/:id 503 error`,
          `  ${shop} client GET 503 error`,
          `    ${depot} server GET /orders/:id 503 error`,
        ],
      ].sort(),
    );
  });
});
