// A .cpuprofile is one that V8's readers take: a tree, times, labels as frames at the root; and reads back without loss.
import { expect, test } from 'vitest';
import { type CpuProfileDocument, toCpuProfile } from '../../src/output/cpuprofile.js';
import { readProfile } from '../../src/output/read-profile.js';
import { hostile, sampled, shop, summary, wellFormed } from '../support/sampled.js';

const bytesOf = (value: unknown): Uint8Array => Buffer.from(JSON.stringify(value));

/** Paths of functions from the root, with their hits. */
const tree = ({ nodes }: CpuProfileDocument): string[] => {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const lines: string[] = [];
  const visit = (id: number, path: string): void => {
    const node = byId.get(id);
    if (node === undefined) throw new Error(`no node ${id}`);
    const here = `${path}/${node.callFrame.functionName}`;
    if (node.hitCount > 0) lines.push(`${here} ${node.hitCount}`);
    for (const child of node.children ?? []) visit(child, here);
  };
  visit(nodes[0].id, '');
  return lines.sort();
};

test('labels are frames at the root, in order of time', () => {
  const document = toCpuProfile(shop());
  expect(tree(document)).toEqual([
    '/(root)/(garbage collector) 40',
    '/(root)/(idle) 300',
    '/(root)/(program) 50',
    '/(root)/main/report 100',
    '/(root)/query=q1/tenant=a/rows=7/main/serve/parse 500',
    '/(root)/query=q1/tenant=a/rows=7/main/serve/scan 100',
    '/(root)/query=q2/tenant=b/rows=9/(program) 10',
    '/(root)/query=q2/tenant=b/rows=9/main/serve/scan 200',
  ]);
  const ids = new Set(document.nodes.map(({ id }) => id));
  expect(ids.size).toBe(document.nodes.length);
  expect(document.samples.every((id) => ids.has(id))).toBe(true);
  expect(document.timeDeltas).toHaveLength(document.samples.length);
  expect(document.timeDeltas.every((us) => us >= 0)).toBe(true);
  expect(document.endTime - document.startTime).toBe(1_300_000);
});

test('reads back without loss, idle time and weights too', async () => {
  const profile = shop();
  const again = await readProfile(bytesOf(toCpuProfile(profile)));
  expect(summary(again)).toEqual(summary(profile));
  expect(again.counts).toEqual(profile.counts);
  expect(again.samples.atNs).toEqual(profile.samples.atNs);
  const { startNs, endNs, startUnixNs, unit, intervalNs, carrier, threadId } = profile;
  expect(again).toMatchObject({ startNs, endNs, startUnixNs, unit, intervalNs, carrier, threadId });
});

test('hostile text reads back, but for half characters, which no URL has', async () => {
  const profile = hostile();
  const again = await readProfile(bytesOf(toCpuProfile(profile)));
  expect(wellFormed(summary(again))).toEqual(wellFormed(summary(profile)));
});

test('frames of trampolines are left out: a function is one node whoever called it', async () => {
  const trampoline = (n: number) => ({
    functionName: `trampoline_${n}`,
    url: 'spanline:trampoline',
    line: 1,
    column: 22,
  });
  const plain = sampled([{ stack: ['main', 'work'], samples: 5 }]);
  const through = sampled([
    { stack: ['main', trampoline(1), 'work'], samples: 2 },
    { stack: ['main', trampoline(2), trampoline(1), 'work'], samples: 3 },
  ]);
  expect(summary(await readProfile(bytesOf(toCpuProfile(through))))).toEqual(summary(plain));
});

const uneven = (more: object): CpuProfileDocument => {
  const callFrame = (functionName: string) => ({ functionName, url: '', lineNumber: 0, columnNumber: 0 });
  return {
    nodes: [
      { id: 1, callFrame: callFrame('(root)'), children: [2, 3] },
      { id: 2, callFrame: callFrame('a') },
      { id: 3, callFrame: callFrame('b') },
    ],
    samples: [2, 3, 3],
    timeDeltas: [200_000, 400_000, 500_000],
    startTime: 0,
    endTime: 1_100_000,
    ...more,
  } as unknown as CpuProfileDocument;
};

test('samples of others at uneven times stand for the time since the one before', async () => {
  const { samples, unit } = await readProfile(bytesOf(uneven({})));
  expect(Array.from(samples.cpuNs)).toEqual([2e8, 4e8, 5e8]);
  expect(unit).toBe('samples');
  // A microsecond out of order is not a time.
  const back = await readProfile(bytesOf(uneven({ timeDeltas: [5, -2, 4] })));
  expect(Array.from(back.samples.cpuNs)).toEqual([5000, 0, 2000]);
});

test.each([
  ['no nodes', {}],
  ['nodes of another shape', { nodes: [{ id: 1 }], samples: [], timeDeltas: [], startTime: 0, endTime: 1 }],
  ['samples without times', { ...toCpuProfile(shop()), timeDeltas: [] }],
  ['negative CPU time', { ...toCpuProfile(shop()), spanline: { cpuNs: toCpuProfile(shop()).samples.map(() => -1) } }],
  ['two nodes of one id', uneven({ nodes: [uneven({}).nodes[0], ...uneven({}).nodes] })],
  ['a node of two callers', uneven({ nodes: uneven({}).nodes.map((node) => ({ ...node, parent: 2 })) })],
  ['times that no sum holds', uneven({ timeDeltas: [1e308, 1e308, 1e308] })],
  ['an end that no sum holds', uneven({ endTime: 1e308 })],
  ['a CPU time that no sum holds', uneven({ spanline: { unit: 'cpu', cpuNs: [1e308, 1, 1] } })],
  ['an interval that no sum holds', uneven({ spanline: { intervalNs: 1e308 } })],
  ['a sample of no node', { ...toCpuProfile(shop()), samples: [99], timeDeltas: [1] }],
  [
    'a node that is its own caller',
    {
      ...toCpuProfile(shop()),
      nodes: toCpuProfile(shop()).nodes.map((node) => ({ ...node, children: [node.id] })),
    },
  ],
])('%s is an error, not a profile', async (_, value) => {
  await expect(readProfile(bytesOf(value))).rejects.toMatchObject({ code: 'ERR_SPANLINE_PROFILE_FILE' });
});

test('a script has one number', () => {
  const { nodes } = toCpuProfile(shop());
  const urls = new Map<string, Set<string>>();
  for (const { callFrame } of nodes) {
    urls.set(callFrame.scriptId, (urls.get(callFrame.scriptId) ?? new Set()).add(callFrame.url));
  }
  expect([...urls.values()].every(({ size }) => size === 1)).toBe(true);
  expect(urls.size).toBe(new Set(nodes.map(({ callFrame }) => callFrame.url)).size);
});

test('weights of samples are kept, and labels in their order', async () => {
  const profile = sampled([
    { stack: ['main'], labels: { z: 1, a: 2 }, samples: 2, cpuNs: 300_000 },
    { stack: ['main', 'work'], samples: 1, cpuNs: 2_000_000 },
  ]);
  const again = await readProfile(bytesOf(toCpuProfile(profile)));
  expect(summary(again)).toEqual(summary(profile));
  expect(Object.keys(again.labels[3])).toEqual(['z', 'a']);
});

/** As other programs write it: parents in place of children, nothing but what V8 knows. */
const foreign = {
  nodes: [
    { id: 1, name: '(root)' },
    { id: 2, name: 'main', parent: 1 },
    { id: 3, name: 'work', parent: 2 },
    { id: 4, name: '(idle)', parent: 1 },
  ].map(({ name, ...rest }) => ({
    ...rest,
    callFrame: {
      functionName: name,
      scriptId: '0',
      url: name.startsWith('(') ? '' : 'a.js',
      lineNumber: 0,
      columnNumber: 0,
    },
  })),
  startTime: 5000,
  endTime: 4000,
  samples: [3, 2, 4, 3],
  timeDeltas: [100, 250, -50, 250],
};

test('documents of others: parents, times that run backwards, the usual time between samples as the interval', async () => {
  const { nodes, samples, startNs, endNs, intervalNs, unit, startUnixNs } = await readProfile(bytesOf(foreign));
  expect(nodes.functionName).toEqual(['(root)', 'main', 'work', '(idle)']);
  expect([...nodes.parent]).toEqual([-1, 0, 1, 0]);
  expect([...samples.atNs]).toEqual([100_000, 350_000, 350_000, 550_000]);
  expect([...samples.cpuNs]).toEqual([100_000, 250_000, 0, 200_000]);
  expect({ startNs, endNs, intervalNs, unit, startUnixNs }).toEqual({
    startNs: 5e6,
    endNs: 5e6,
    intervalNs: 250_000,
    unit: 'samples',
    startUnixNs: 0n,
  });
});
