// Profiles made without a profiler, for tests of what comes after: stacks and labels with known shares, the same for the same seed.

import { CallTree, type Frame } from '../../src/call-tree.js';
import {
  countSamples,
  type LabelledProfile,
  type LabelRecord,
  LabelRows,
  SampleKind,
} from '../../src/labelled-profile.js';

/** A share of the samples. */
export interface Part {
  /** Outermost first: names, or frames. */
  readonly stack: readonly (string | Frame)[];
  readonly labels?: LabelRecord;
  readonly samples: number;
  /** Nanoseconds of each; an interval by default. */
  readonly cpuNs?: number;
}

export const INTERVAL_NS = 1_000_000;

const KINDS: Readonly<Record<string, number>> = {
  '(idle)': SampleKind.idle,
  '(garbage collector)': SampleKind.gc,
  '(program)': SampleKind.program,
};

const frameOf = (frame: string | Frame): Frame =>
  typeof frame !== 'string'
    ? frame
    : frame.startsWith('(')
      ? { functionName: frame, url: '', line: 0, column: 0 }
      : { functionName: frame, url: `file:///app/${frame}.js`, line: 10, column: 5 };

/** A generator of numbers from 0 to 1 (xorshift, Marsaglia, 2003). */
export const seeded = (seed: number): (() => number) => {
  let state = seed | 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
};

/** The samples of all parts, in an order that the seed decides. */
export const sampled = (parts: readonly Part[], seed = 1): LabelledProfile => {
  const random = seeded(seed);
  const tree = new CallTree();
  const table = new LabelRows();
  const rows = parts.flatMap(({ stack, labels = {}, samples, cpuNs = INTERVAL_NS }) => {
    const node = stack.map(frameOf).reduce((parent, frame) => tree.row(parent, frame), 0);
    const innermost = stack.at(-1);
    const kind = (typeof innermost === 'string' ? KINDS[innermost] : undefined) ?? SampleKind.js;
    const row = { node, kind, label: table.rowOf(labels), cpuNs: kind === SampleKind.idle ? 0 : cpuNs };
    return Array.from({ length: samples }, () => ({ ...row, order: random() }));
  });
  rows.sort((a, b) => a.order - b.order);
  const samples = {
    count: rows.length,
    node: Uint32Array.from(rows, ({ node }) => node),
    atNs: Float64Array.from(rows, (_, i) => i * INTERVAL_NS),
    cpuNs: Float64Array.from(rows, ({ cpuNs }) => cpuNs),
    label: Uint32Array.from(rows, ({ label }) => label),
    kind: Uint8Array.from(rows, ({ kind }) => kind),
  };
  return {
    startNs: 5e9,
    endNs: 5e9 + rows.length * INTERVAL_NS,
    startUnixNs: 1_750_000_000_123_000_000n,
    unit: 'cpu',
    intervalNs: INTERVAL_NS,
    carrier: 'register',
    threadId: 0,
    nodes: tree.nodes(),
    samples,
    labels: table.labels,
    counts: countSamples(samples),
  };
};

/** Two queries of two tenants on shared stacks, work without a label, idle time, garbage collection and V8's own. */
export const shop = (seed = 1): LabelledProfile =>
  sampled(
    [
      { stack: ['main', 'serve', 'parse'], labels: { query: 'q1', tenant: 'a', rows: 7 }, samples: 500 },
      { stack: ['main', 'serve', 'scan'], labels: { query: 'q1', tenant: 'a', rows: 7 }, samples: 100 },
      { stack: ['main', 'serve', 'scan'], labels: { query: 'q2', tenant: 'b', rows: 9 }, samples: 200 },
      { stack: ['main', 'report'], samples: 100 },
      { stack: ['(program)'], samples: 50 },
      { stack: ['(program)'], labels: { query: 'q2', tenant: 'b', rows: 9 }, samples: 10 },
      { stack: ['(garbage collector)'], labels: { query: 'q1', tenant: 'a', rows: 7 }, samples: 40 },
      { stack: ['(idle)'], samples: 300 },
    ],
    seed,
  );

/** Text that has broken writers: quotes, separators, terminal codes, markup, half characters, names of prototypes, and a megabyte. */
export const HOSTILE: readonly string[] = [
  '"quoted" and \'quoted\'',
  'two\nlines\r\nthree',
  'a;b;c 12',
  'back\\slash\\n',
  ' (file:1:2)',
  '[query=q1]',
  '(idle)',
  '(root)',
  '__proto__',
  'constructor',
  '\u001b[31mred\u0007\u0000',
  '\u202eright to left',
  '<script>alert(1)</script>&amp;',
  'key=value,{}',
  '%s %n %00',
  'half \ud800 character',
  'emoji 👩‍🚀 日本語',
  ' leading and trailing ',
  '0',
  '-1e9',
  'x'.repeat(1 << 20),
];

/** Every hostile text as key, value, function and file. */
export const hostile = (): LabelledProfile =>
  sampled(
    HOSTILE.flatMap((text, i) => [
      { stack: ['main'], labels: { query: text, n: i }, samples: 2 },
      { stack: ['main'], labels: { [text]: 'v' }, samples: 1 },
      { stack: ['main', { functionName: text, url: `file:///${text}`, line: 3, column: 4 }], samples: 1 },
    ]),
  );

/** Samples by stack and labels as text: the whole of a profile but its times. */
export const summary = ({
  nodes,
  samples,
  labels,
}: LabelledProfile): Record<string, { samples: number; cpuNs: number }> => {
  const sums: Record<string, { samples: number; cpuNs: number }> = {};
  for (let i = 0; i < samples.count; i++) {
    if (samples.kind[i] === SampleKind.idle) continue;
    const stack: unknown[] = [];
    for (let row = samples.node[i]; nodes.parent[row] >= 0; row = nodes.parent[row]) {
      stack.unshift([nodes.functionName[row], nodes.url[row], nodes.line[row], nodes.column[row]]);
    }
    const isGc = samples.kind[i] === SampleKind.gc;
    const record = isGc ? {} : labels[samples.label[i]];
    const key = JSON.stringify([Object.entries(record).sort(), stack]);
    sums[key] ??= { samples: 0, cpuNs: 0 };
    sums[key].samples++;
    sums[key].cpuNs += samples.cpuNs[i];
  }
  for (const sum of Object.values(sums)) sum.cpuNs = Math.round(sum.cpuNs);
  return sums;
};

/** A summary as files of UTF-8 have it: half a surrogate pair is not in them. */
export const wellFormed = <T>(sums: Readonly<Record<string, T>>): Record<string, T> =>
  Object.fromEntries(Object.entries(sums).map(([key, sum]) => [key.replaceAll('\\ud800', '\ufffd'), sum]));
