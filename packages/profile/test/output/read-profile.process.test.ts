// Reading answers damage with an error that has a code, in bounded time and memory; never with a crash or a made-up profile.
import { gunzipSync, gzipSync } from 'node:zlib';
import { Profile, StringTable } from 'pprof-format';
import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { toCpuProfile } from '../../src/output/cpuprofile.js';
import { toPprof } from '../../src/output/pprof.js';
import { readProfile } from '../../src/output/read-profile.js';
import { ProfileOutputError } from '../../src/profile-error.js';
import { diff } from '../../src/shares.js';
import { shop } from '../support/sampled.js';

const CODE = { code: 'ERR_SPANLINE_PROFILE_FILE' };

test.each([
  ['nothing', Buffer.alloc(0)],
  ['words', Buffer.from('no profile at all')],
  ['half a gzip', gzipSync('x'.repeat(1000)).subarray(0, 20)],
  ['broken JSON', Buffer.from('{"nodes": [')],
  ['zeros', Buffer.alloc(1000)],
  ['a weight that is not a number', Buffer.from(`main;work ${'9'.repeat(400)}\n`)],
  ['stacks with a line that is none', Buffer.from('main;work 12\nno number\nmain 3\n')],
])('%s', async (_, bytes) => {
  await expect(readProfile(bytes)).rejects.toMatchObject(CODE);
});

test('a gzip that unfolds without end is not unfolded', async () => {
  // Members of a gzip follow each other.
  const bomb = Buffer.concat(new Array<Buffer>(16).fill(gzipSync(Buffer.alloc(32 << 20), { level: 1 })));
  await expect(readProfile(bomb)).rejects.toThrow(/unfolds to more than/);
});

test('a file larger than V8 holds as text is not read', async () => {
  await expect(readProfile(Buffer.alloc((500 << 20) + 1))).rejects.toThrow(/has more than/);
});

test('JSON may begin with a byte order mark and blank lines', async () => {
  const json = JSON.stringify(toCpuProfile(shop()));
  const again = await readProfile(Buffer.from(`\ufeff\r\n\t ${json}`));
  expect(again.counts).toEqual(shop().counts);
});

test('bytes changed at random give a profile or an error, never anything else', async () => {
  const good = gunzipSync(await toPprof(shop()));
  const place = fc.nat(good.length - 1);
  const changes = fc.array(fc.tuple(place, fc.nat(255)), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(changes, fc.option(place, { freq: 3, nil: good.length }), async (changed, length) => {
      const bytes = Buffer.from(good);
      for (const [at, byte] of changed) bytes[at] = byte;
      try {
        const { samples, nodes, labels } = await readProfile(bytes.subarray(0, length));
        expect(samples.node.every((row) => row < nodes.count)).toBe(true);
        expect(samples.label.every((row) => row < labels.length)).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(ProfileOutputError);
      }
    }),
    { numRuns: samples(100, 1000, 20_000) },
  );
});

describe('pprof of other profilers', () => {
  type Types = readonly (readonly [type: string, unit: string])[];
  interface More {
    readonly periodType?: readonly [type: string, unit: string];
    readonly defaultType?: string;
  }

  const foreign = (
    types: Types,
    values: readonly number[],
    period = 10_000_000,
    { periodType, defaultType }: More = {},
  ) => {
    const stringTable = new StringTable();
    const text = (value: string): number => stringTable.dedup(value);
    return new Profile({
      ...(periodType && { periodType: { type: text(periodType[0]), unit: text(periodType[1]) } }),
      ...(defaultType && { defaultSampleType: text(defaultType) }),
      sampleType: types.map(([type, unit]) => ({ type: text(type), unit: text(unit) })),
      sample: [{ locationId: [1], value: [...values], label: [{ key: text('tenant'), str: text('a') }] }],
      location: [
        {
          id: 1,
          // A function inlined into another: innermost first.
          line: [
            { functionId: 1, line: 7 },
            { functionId: 2, line: 9 },
          ],
        },
      ],
      function: [
        { id: 1, name: text('inner'), filename: text('a.go') },
        { id: 2, name: text('outer'), filename: text('a.go') },
      ],
      period,
      durationNanos: 1e9,
      stringTable,
    }).encode();
  };

  test.each<[string, (readonly [string, string])[], number[], number, number]>([
    [
      'numbers and CPU time',
      [
        ['samples', 'count'],
        ['cpu', 'nanoseconds'],
      ],
      [5, 50_000_000],
      5,
      5e7,
    ],
    [
      'numbers and wall time',
      [
        ['sample', 'count'],
        ['wall', 'nanoseconds'],
      ],
      [3, 30_000_000],
      3,
      3e7,
    ],
    ['CPU time alone', [['cpu', 'nanoseconds']], [40_000_000], 4, 4e7],
    ['numbers alone', [['samples', 'count']], [2], 2, 2e7],
    [
      'several times: the last, as pprof has it',
      [
        ['samples', 'count'],
        ['delay', 'nanoseconds'],
        ['wall', 'nanoseconds'],
      ],
      [2, 7, 20_000_000],
      2,
      2e7,
    ],
    ['less than a sample', [['cpu', 'nanoseconds']], [1000], 1, 1000],
  ])('%s', async (_, types, values, samples, cpuNs) => {
    const profile = await readProfile(foreign(types, values));
    expect(profile.samples.count).toBe(samples);
    expect(profile.samples.cpuNs.reduce((a, b) => a + b, 0)).toBe(cpuNs);
    expect(profile.nodes.functionName).toEqual(['(root)', 'outer', 'inner']);
    expect(profile.labels[profile.samples.label[0]]).toEqual({ tenant: 'a' });
  });

  test('more samples than memory holds are refused, before they are made', async () => {
    const types = [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ] as const;
    await expect(readProfile(foreign(types, [1e12, 1e15]))).rejects.toThrow(/more samples than the 8000000/);
  });

  test('a few names that unfold to stacks without end are refused, before they are put together', async () => {
    const stringTable = new StringTable();
    const text = (value: string): number => stringTable.dedup(value);
    const many = 60_000;
    const bytes = new Profile({
      sampleType: [{ type: text('samples'), unit: text('count') }],
      sample: [{ locationId: new Array<number>(many).fill(1), value: [1] }],
      location: [{ id: 1, line: Array.from({ length: many }, () => ({ functionId: 1, line: 1 })) }],
      function: [{ id: 1, name: text('f') }],
      stringTable,
    }).encode();
    expect(bytes.length).toBeLessThan(1 << 20);
    await expect(readProfile(bytes)).rejects.toThrow(/more frames than the 4096/);
  });

  test('what is estimated from samples says so', async () => {
    expect((await readProfile(foreign([['samples', 'count']], [2]))).unit).toBe('samples');
    expect((await readProfile(foreign([['cpu', 'nanoseconds']], [1e7]))).unit).toBe('cpu');
  });

  test.each([
    [-1, 1e7],
    [1, -1e7],
  ])('a difference of profiles (%i, %i) is not a profile', async (samples, cpuNs) => {
    const types = [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ] as const;
    await expect(readProfile(foreign(types, [samples, cpuNs]))).rejects.toThrow(/negative/);
  });

  const totalMs = ({ samples }: { readonly samples: { readonly cpuNs: Float64Array } }): number =>
    Math.round(samples.cpuNs.reduce((sum, ns) => sum + ns, 0) / 1e3) / 1e3;

  const GO_HEAP: Types = [
    ['alloc_objects', 'count'],
    ['alloc_space', 'bytes'],
    ['inuse_objects', 'count'],
    ['inuse_space', 'bytes'],
  ];

  test.each<[string, Types]>([
    ['of memory', [['space', 'bytes']]],
    ['of the heap of Go', GO_HEAP],
    ['of goroutines', [['goroutine', 'count']]],
  ])('a profile %s has no time, and is refused with what it has', async (_, types) => {
    const reading = readProfile(foreign(types, new Array<number>(types.length).fill(5)));
    await expect(reading).rejects.toMatchObject(CODE);
    await expect(reading).rejects.toThrow(types.map((type) => type.join('/')).join(', '));
  });

  const CPU_AND_WALL: Types = [
    ['cpu-samples', 'count'],
    ['wall-time', 'nanoseconds'],
    ['cpu-time', 'nanoseconds'],
    ['off-cpu', 'nanoseconds'],
  ];

  test('CPU time is read wherever it stands, another time where it is asked for, and named', async () => {
    const bytes = foreign(CPU_AND_WALL, [2, 9e7, 2e7, 7e7]);
    const cpu = await readProfile(bytes);
    expect([totalMs(cpu), cpu.samples.count, cpu.measure]).toEqual([20, 2, undefined]);
    const wall = await readProfile(bytes, { sampleType: 'wall-time' });
    expect([totalMs(wall), wall.samples.count, wall.measure]).toEqual([90, 2, 'wall-time']);
    const again = await readProfile(await toPprof(wall));
    expect([totalMs(again), again.measure]).toEqual([90, 'wall-time']);
    expect((await readProfile(Buffer.from(JSON.stringify(toCpuProfile(wall))))).measure).toBe('wall-time');
    expect(() => diff(cpu, wall)).toThrow(/first profile is of CPU time, the second of wall-time/);
  });

  test.each(['cpu-samples', 'nothing', ''])(
    'the type %j is not a time of it: the error names those',
    async (sampleType) => {
      await expect(readProfile(foreign(CPU_AND_WALL, [2, 9, 2, 7]), { sampleType })).rejects.toMatchObject({
        code: 'ERR_SPANLINE_PROFILE_OPTION',
        message: expect.stringContaining('it has wall-time, cpu-time, off-cpu'),
      });
      await expect(readProfile(Buffer.from('main;work 12\n'), { sampleType })).rejects.toMatchObject({
        code: 'ERR_SPANLINE_PROFILE_OPTION',
      });
    },
  );

  test.each<[string, Types, More, string]>([
    [
      'of mutexes',
      [
        ['contentions', 'count'],
        ['delay', 'nanoseconds'],
      ],
      { periodType: ['contentions', 'count'] },
      'delay',
    ],
    [
      'of a wall clock',
      [
        ['sample', 'count'],
        ['wall', 'nanoseconds'],
      ],
      {},
      'wall',
    ],
    [
      'that names its default',
      [
        ['wall', 'nanoseconds'],
        ['delay', 'nanoseconds'],
      ],
      { defaultType: 'wall' },
      'wall',
    ],
  ])('times %s are not CPU time', async (_, types, more, measure) => {
    const profile = await readProfile(foreign(types, [4e4, 4e4], 1, more));
    expect([profile.measure, totalMs(profile)]).toEqual([measure, 0.04]);
  });

  test.each<[string, number, number]>([
    ['nanoseconds', 4e9, 1e7],
    ['microseconds', 4e6, 1e4],
    ['milliseconds', 4e3, 10],
    ['seconds', 4, 1],
    ['us', 4e6, 1e4],
  ])('CPU time in %s, with a period and without', async (unit, value, period) => {
    const types = [['cpu', unit]] as const;
    const ns = await readProfile(foreign(types, [value], period, { periodType: ['cpu', unit] }));
    expect([totalMs(ns), ns.samples.count]).toEqual([4000, unit === 'seconds' ? 4 : 400]);
    const inNs = await readProfile(foreign(types, [value], 1e7, { periodType: ['cpu', 'nanoseconds'] }));
    expect([totalMs(inNs), inNs.samples.count]).toEqual([4000, 400]);
    // One that a profiler can have is taken; 1 us or 1 ns is how some write that they do not know it.
    const isPossible = period <= 10;
    for (const unknown of isPossible ? [0] : [0, 1]) {
      const bare = await readProfile(foreign([['cpu', unit]], [value], unknown));
      // The number of samples is not made up, so the shares look no surer than they are.
      expect([totalMs(bare), bare.samples.count]).toEqual([4000, 1]);
    }
  });

  test.each([[[5]], [[5, 6, 7]], [[]]])('a sample of the values %j for two types is damage', async (values) => {
    const types = [
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ] as const;
    await expect(readProfile(foreign(types, values))).rejects.toMatchObject(CODE);
  });

  test('a location without lines is shown by its address and binary', async () => {
    const stringTable = new StringTable();
    const text = (value: string): number => stringTable.dedup(value);
    const bytes = new Profile({
      sampleType: [{ type: text('cpu'), unit: text('nanoseconds') }],
      sample: [{ locationId: [1, 2, 3], value: [1e7] }],
      mapping: [{ id: 1, filename: text('/usr/bin/app') }],
      location: [
        { id: 1, mappingId: 1, address: 0x4a3f10 },
        { id: 2, address: -16n },
        { id: 3, line: [{ functionId: 1, line: 4 }] },
      ],
      function: [{ id: 1, systemName: text('_ZN4mainE'), filename: text('a.cc') }],
      period: 1e7,
      stringTable,
    }).encode();
    const { nodes } = await readProfile(bytes);
    expect(nodes.functionName).toEqual(['(root)', '_ZN4mainE', '0xfffffffffffffff0', '0x4a3f10']);
    expect(nodes.url).toEqual(['', 'a.cc', '', '/usr/bin/app']);
  });
});
