// The rows of the server suite: each figure is of a pair that was measured side by side.
import { expect, test } from 'vitest';

const { rowsOf } = await import(new URL('../../bench/server/rows.mjs', import.meta.url).href);

const round = (own: number, more: object = {}) => ({
  pairs: [
    { own, beside: 1000 },
    { own: own / 2, beside: 500 },
  ],
  ...{ p50: 1, p99: 5, rate: 250, cpuUs: 30, besideCpuUs: 20, rssMb: 8, ...more },
});
const measured = (subject: string, mode: string, rounds: object[], startUs = 50_000) => ({
  subject,
  mode,
  rounds,
  startUs,
});
const figures = (rows: { subject: string; name: string; n: string; median: number }[]) =>
  Object.fromEntries(rows.map(({ subject, name, n, median }) => [`${subject} ${name} ${n}`, median]));

test('a loss is of pairs, whatever the machine could take meanwhile; what is added of the same seconds', () => {
  const rows = figures(
    rowsOf('hello', [
      measured('none', 'none', [round(1000, { cpuUs: 20 })]),
      measured('spanline', 'send', [round(800), round(900), round(850, { cpuUs: 28 })], 90_000),
    ]),
  );
  expect(rows).toMatchObject({
    'none throughput-loss hello/none': 0,
    'none added-cpu hello/none': 0,
    'spanline throughput-loss hello/send': 15,
    'spanline added-cpu hello/send': 10,
    'spanline rss hello/send': 8,
    'spanline start-up hello/send': 40,
    'spanline cpu hello/send': 30,
  });
});

test('metrics lose of what the same subject takes without them', () => {
  const rows = figures(
    rowsOf('hello', [
      measured('none', 'none', [round(1000)]),
      measured('spanline', 'unsampled', [round(800)]),
      measured('spanline', 'metrics', [round(600)]),
    ]),
  );
  expect(rows['spanline metrics-loss hello/metrics']).toBe(25);
});
