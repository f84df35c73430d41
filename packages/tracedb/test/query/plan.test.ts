// The plan of a query selects exactly the traces that meet the query by its plain meaning, on any tile, and never holds up the
// event loop.

import { describe, expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { OrderedParamSet } from '../../src/params/ordered-param-set.js';
import { ParamSet } from '../../src/params/param-set.js';
import type { Params } from '../../src/params/param-text.js';
import { type Plan, planQuery } from '../../src/query/plan.js';
import { compileQuery, makeQuery, parseQuery } from '../../src/query/query.js';
import { anyParams, anyParts } from '../params/support/any-params.js';
import { rejection } from '../params/support/refusal.js';

const ops = OrderedParamSet.empty
  .with(ParamSet.from({ arch: ['x86'], config: ['565', '8888'], os: ['linux'] }))
  .with(ParamSet.from({ arch: ['arm', 'arm64'], constructor: ['a'] }));

/** The plan as text: `config=0,1 & os=0`, in places of values. */
const shown = (plan: Plan): string => {
  if (plan.kind === 'all') return 'all';
  if (plan.kind === 'empty') return `empty: ${plan.reason}`;
  return plan.conditions.map(({ key, values }) => `${key}=${values.map((v) => v.valueIndex).join()}`).join(' & ');
};

/** Whether an id meets the plan, as the index would answer: by places alone. */
const selects = (plan: Plan, id: string): boolean =>
  plan.kind === 'all' ||
  (plan.kind === 'select' &&
    plan.conditions.every(({ keyIndex, values }) =>
      values.some(({ valueIndex }) => id.includes(`,${keyIndex}=${valueIndex},`)),
    ));

describe('the plan', () => {
  test.each([
    ['', 'all'],
    ['arch=x86', 'arch=0'],
    ['arch=arm64&arch=x86&arch=mips', 'arch=0,2'],
    ['arch=*', 'arch=0,1,2'],
    ['arch=!x86', 'arch=1,2'],
    ['arch=!mips', 'arch=0,1,2'],
    ['arch=~^arm&arch=~6$', 'arch=0,1,2'],
    ['arch=~^arm$&arch=~64', 'arch=1,2'],
    ['arch=!~64', 'arch=0,1'],
    ['arch=!~64&config=*&os=linux', 'os=0 & arch=0,1 & config=0,1'],
    ['constructor=a', 'constructor=0'],
    ['arch=mips', 'empty: no value of "arch" in this tile is one of "mips"'],
    [
      'arch=mips&arch=ppc&arch=s390&arch=z',
      'empty: no value of "arch" in this tile is one of "mips", "ppc", "s390", ...',
    ],
    ['arch=x86&gpu=*', 'empty: no trace of this tile has the key "gpu"'],
    ['gpu=!x', 'empty: no trace of this tile has the key "gpu"'],
    ['toString=!x', 'empty: no trace of this tile has the key "toString"'],
    ['arch=~mips', 'empty: no value of "arch" in this tile matches "mips"'],
    ['os=!linux', 'empty: no value of "os" in this tile is other than "linux"'],
    ['os=!~l', 'empty: no value of "os" in this tile does not match "l"'],
  ])('of %j is %s', async (text, expected) => {
    expect(shown(await planQuery(parseQuery(text), ops))).toBe(expected);
  });

  test('names keys and values beside their places', async () => {
    expect(await planQuery(parseQuery('arch=!x86'), ops)).toEqual({
      kind: 'select',
      conditions: [
        {
          key: 'arch',
          keyIndex: 0,
          known: 3,
          values: [
            { value: 'arm', valueIndex: 1 },
            { value: 'arm64', valueIndex: 2 },
          ],
        },
      ],
    });
  });

  test('selects what the query means, for random tiles and queries', async () => {
    let selected = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(anyParams, { minLength: 1, maxLength: 20 }),
        anyParts,
        async (traces: Params[], parts) => {
          const tile = OrderedParamSet.empty.with(OrderedParamSet.empty.missing(traces));
          const query = makeQuery(parts);
          const plan = await planQuery(query, tile);
          const matches = await compileQuery(query);
          for (const params of traces) {
            const expected = matches(params);
            if (expected) selected++;
            expect(selects(plan, tile.encode(params)), JSON.stringify([params, parts])).toBe(expected);
          }
        },
      ),
      { numRuns: samples(150, 1000, 5000) },
    );
    expect(selected).toBeGreaterThan(samples(150, 1000));
  });

  test('of a malformed pattern is an error even where the tile is empty', async () => {
    expect(await rejection(() => planQuery(parseQuery('gpu=*&name=~('), OrderedParamSet.empty))).toContain(
      'ERR_SPANLINE_INVALID_INPUT: regular expression "("',
    );
  });
});

describe('the names that are near', () => {
  // Each tile of a long history is planned, and most have not what is asked for: what nobody reads costs nothing.
  test.each([
    ['acrh=x86', 'no trace of this tile has the key "acrh"', '; did you mean "arch"?'],
    ['arch=arm46', 'no value of "arch" in this tile is one of "arm46"', '; did you mean "arm64"?'],
  ])('of %j are looked for when the reason is read, and once', async (text, unmet, hint) => {
    const tile = OrderedParamSet.empty.with(ParamSet.from({ arch: ['arm64', 'x86'] }));
    const plan = await planQuery(parseQuery(text), tile);
    expect(plan).toHaveProperty('unmet', unmet);
    const { keys } = tile;
    const values = tile.values('arch');
    let looks = 0;
    const looked = <T>(names: T): T => {
      looks++;
      return names;
    };
    Object.defineProperty(tile, 'keys', { get: () => looked(keys) });
    Object.defineProperty(tile, 'values', { value: () => looked(values) });
    for (let i = 0; i < 2; i++) expect(plan).toHaveProperty('reason', unmet + hint);
    expect(looks).toBe(1);
  });
});

describe('the meaning', () => {
  test.each<[string, Params, boolean]>([
    ['', {}, true],
    ['constructor=*', {}, false],
    ['__proto__=*', {}, false],
    ['__proto__=a', JSON.parse('{"__proto__":"a"}'), true],
    ['arch=!x86', { os: 'mac' }, false],
    ['arch=!x86&arch=!arm', { arch: 'arm' }, false],
    ['arch=!~x&arch=!~m', { arch: 'arm' }, false],
    ['arch=!~x', { arch: 'arm' }, true],
  ])('of %j for %j is %s', async (text, params, expected) => {
    const matches = await compileQuery(parseQuery(text));
    expect(matches(params)).toBe(expected);
  });
});

describe('planning many values', () => {
  const wide = new ParamSet();
  for (let i = 0; i < 500; i++) wide.addValue('name', `${'ab'.repeat(100)}${i}`);
  const tile = OrderedParamSet.empty.with(wide);
  const query = parseQuery('name=~[ab]*a[ab]{400}(c|d)\\b');

  test('lets others run meanwhile', async () => {
    let turns = 0;
    let done = false;
    const turn = (): void => {
      turns++;
      if (!done) setImmediate(turn);
    };
    setImmediate(turn);
    const plan = await planQuery(query, tile);
    done = true;
    expect(plan.kind).toBe('empty');
    // Each value takes more steps than a turn may have.
    expect(turns).toBeGreaterThan(50);
  });

  test('stops when its caller does not want it any longer', async () => {
    const controller = new AbortController();
    const rejected = rejection(() => planQuery(query, tile, { signal: controller.signal }));
    let turns = 0;
    const turn = (): void => {
      if (++turns === 5) controller.abort();
      else setImmediate(turn);
    };
    setImmediate(turn);
    expect(await rejected).toBe('ERR_SPANLINE_ABORTED: planning a query was aborted');
    expect(await rejection(() => planQuery(query, tile, { signal: AbortSignal.abort() }))).toContain('aborted');
    expect(await rejection(() => planQuery(query, tile, { deadlineMs: 1 }))).toContain('ERR_SPANLINE_DEADLINE');
  });
});
