// A speedscope document has the shape that its importer checks, a profile per label, and no CPU time lost or doubled among labels.
import { Ajv } from 'ajv';
import { expect, test } from 'vitest';
import { toSpeedscope } from '../../src/output/speedscope.js';
import { hostile, sampled, shop } from '../support/sampled.js';

// The shape of sampled profiles in speedscope's published file format.
const integer = { type: 'integer', minimum: 0 };
const validate = new Ajv().compile({
  type: 'object',
  required: ['$schema', 'shared', 'profiles'],
  properties: {
    $schema: { const: 'https://www.speedscope.app/file-format-schema.json' },
    name: { type: 'string' },
    exporter: { type: 'string' },
    activeProfileIndex: integer,
    shared: {
      type: 'object',
      required: ['frames'],
      properties: {
        frames: {
          type: 'array',
          items: {
            type: 'object',
            required: ['name'],
            properties: { name: { type: 'string' }, file: { type: 'string' }, line: integer, col: integer },
          },
        },
      },
    },
    profiles: {
      type: 'array',
      items: {
        type: 'object',
        required: ['type', 'name', 'unit', 'startValue', 'endValue', 'samples', 'weights'],
        properties: {
          type: { const: 'sampled' },
          name: { type: 'string' },
          unit: { enum: ['bytes', 'microseconds', 'milliseconds', 'nanoseconds', 'none', 'seconds'] },
          startValue: { type: 'number' },
          endValue: { type: 'number' },
          samples: { type: 'array', items: { type: 'array', items: integer } },
          weights: { type: 'array', items: { type: 'number' } },
        },
      },
    },
  },
});

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);

test.each([
  ['of a shop', shop()],
  ['of hostile text', hostile()],
  ['of nothing', sampled([])],
])('the document %s has the right shape', (_, profile) => {
  const document = JSON.parse(JSON.stringify(toSpeedscope(profile))) as ReturnType<typeof toSpeedscope>;
  expect(validate(document), JSON.stringify(validate.errors)).toBe(true);
  for (const { samples, weights, endValue } of document.profiles) {
    expect(weights).toHaveLength(samples.length);
    expect(sum(weights)).toBeCloseTo(endValue, 3);
    expect(samples.flat().every((index) => index < document.shared.frames.length)).toBe(true);
  }
});

test('one profile per label, dearest first, together all of the CPU time', () => {
  const { profiles } = toSpeedscope(shop(), { by: 'query' });
  expect(profiles.map(({ name, endValue }) => [name, endValue / 1e6])).toEqual([
    ['all labels', 1000],
    ['q1', 600],
    ['q2', 210],
    ['no label', 190],
  ]);
  const whole = toSpeedscope(shop()).profiles.map(({ name }) => name);
  expect(whole).toEqual(['all labels', 'query=q1, tenant=a, rows=7', 'query=q2, tenant=b, rows=9', 'no label']);
});

test('labels beyond the bound share one profile', () => {
  const parts = Array.from({ length: 20 }, (_, i) => ({ stack: ['main'], labels: { q: `q${i}` }, samples: 20 - i }));
  const { profiles } = toSpeedscope(sampled(parts), { by: 'q', maxLabels: 3 });
  expect(profiles.map(({ name }) => name)).toEqual(['all labels', 'q0', 'q1', 'q2', '17 other labels']);
  expect(sum(profiles.slice(1).map(({ endValue }) => endValue))).toBe(profiles[0].endValue);
});

test('no name steers a terminal or a page', () => {
  const text = toSpeedscope(hostile())
    .profiles.map(({ name }) => name)
    .join('');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these must not be there
  expect(text).not.toMatch(/[\u0000-\u001f\u007f\u202e]/);
  expect(text.length).toBeLessThan(50_000);
});

test('each stack has its own time, idle time none, and functions their places', () => {
  const { shared, profiles } = toSpeedscope(shop());
  const [all] = profiles;
  const sums = new Map<string, number>();
  all.samples.forEach((stack, i) => {
    const names = stack.map((index) => shared.frames[index].name).join(' ');
    sums.set(names, (sums.get(names) ?? 0) + all.weights[i] / 1e6);
  });
  expect(Object.fromEntries(sums)).toEqual({
    'main serve parse': 500,
    'main serve scan': 300,
    'main report': 100,
    '(program)': 60,
    '(garbage collector)': 40,
  });
  expect(shared.frames.find(({ name }) => name === 'scan')).toEqual({
    name: 'scan',
    file: 'file:///app/scan.js',
    line: 10,
    col: 5,
  });
});
