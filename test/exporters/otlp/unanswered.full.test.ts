// Where no collector answers, that is said: one line, once, with the address and what to set. Once somebody has answered nothing of the kind is said.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { endpointOrigin, resolveOtlpOptions } from '../../../src/exporters/otlp/options.js';
import { OtlpReporter } from '../../../src/exporters/otlp.js';
import { Collector, Span } from '../../../src/index.js';
import { buildFirst } from '../../support/built.js';
import { out, runFile } from '../../support/child.js';
import { deadUrl, startServer } from '../support/http-server.js';

buildFirst();

const QUIET = {
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: '',
  OTEL_EXPORTER_OTLP_ENDPOINT: '',
  OTEL_TRACES_EXPORTER: '',
  OTEL_LOG_LEVEL: '',
};

const saidOf = async (endpoint: string, batches = 2): Promise<string[]> => {
  const said: string[] = [];
  const collector = new Collector({ retryMinMs: 1, retryMaxMs: 1 });
  collector.setReporter(new OtlpReporter({ endpoint, timeoutMs: 200 }, {}, (message) => said.push(message)));
  for (let i = 0; i < batches; i++) {
    Span.root('root', undefined, { collector }).end();
    await collector.flush({ timeoutMs: 50 });
    const isSettled = (): boolean => {
      const { reportErrors, reportedSpans } = collector.stats().reporters.otlp;
      return reportErrors + reportedSpans > 0;
    };
    while (!isSettled()) await collector.flush({ timeoutMs: 50 });
  }
  await collector.shutdown({ timeoutMs: 1 });
  return said;
};

test('nothing listens, or does not answer: said once, with the address and where it is from', async () => {
  const dead = await deadUrl();
  const silent = await startServer(() => {});
  for (const url of [dead, silent.url]) {
    const [line, ...more] = await saidOf(url);
    expect(line).toContain(`No collector answers`);
    expect(line).toContain(`${url}/v1/traces`);
    expect(line).toContain('option "endpoint"');
    expect(line).not.toContain('\n');
    expect(more).toEqual([]);
  }
  await silent.close();
});

test('a collector that answers, even if it refuses for a while, is one', async () => {
  let isUp = false;
  const server = await startServer((response) => (isUp ? response.end() : response.writeHead(503).end()));
  const said = saidOf(server.url, 1);
  isUp = true;
  expect(await said).toEqual([]);
  await server.close();
});

test('of the default address the variable is named, of another one what gave it', () => {
  const originOf = (env: NodeJS.ProcessEnv): string => endpointOrigin(resolveOtlpOptions({}, env).endpointName);
  expect(originOf({})).toMatch(/^That is the default: set OTEL_EXPORTER_OTLP_ENDPOINT /);
  expect(originOf({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:1' })).toMatch(/ OTEL_EXPORTER_OTLP_ENDPOINT\.$/);
  expect(originOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a:1/x' })).toMatch(/ \S*_TRACES_ENDPOINT\.$/);
});

// It asks again and again until its time is over.
const program = join(out, 'unanswered.mjs');
writeFileSync(
  program,
  `import { Span, configure, setReporter } from 'spanline';
   const [endpoint, how] = process.argv.slice(2);
   if (endpoint !== 'register') {
     const { OtlpReporter } = await import('spanline/exporters/otlp');
     setReporter(new OtlpReporter({ endpoint }));
   }
   configure({ exitTimeoutMs: 2000, retryMinMs: 1, retryMaxMs: 1 });
   Span.root('root').end();
   if (how === 'exit') process.exit(0);`,
);

test.each(['runs to its end', 'exit'])('a program that %s has one warning', async (how) => {
  const url = await deadUrl();
  const { stderr } = await runFile(program, { args: [url, how], env: QUIET });
  expect(stderr.match(/SpanlineWarning: No collector answers/g)).toHaveLength(1);
  expect(stderr).toContain(`${url}/v1/traces`);
});

test.each(['runs to its end', 'exit'])(
  'under register a program that %s has one line, as loud as OTEL_LOG_LEVEL allows',
  async (how) => {
    const env = { ...QUIET, OTEL_EXPORTER_OTLP_ENDPOINT: await deadUrl() };
    const run = (more: object) =>
      runFile(program, {
        execArgv: ['--import', 'spanline/register'],
        args: ['register', how],
        env: { ...env, ...more },
      });
    // Both wait as long for a collector as they may.
    const [loud, silent] = await Promise.all([run({}), run({ OTEL_LOG_LEVEL: 'none' })]);
    expect(loud.code).toBe(0);
    expect(loud.stderr).toMatch(/^spanline: No collector answers.* OTEL_EXPORTER_OTLP_ENDPOINT\.\n$/);
    expect(silent).toMatchObject({ code: 0, stderr: '' });
  },
);
