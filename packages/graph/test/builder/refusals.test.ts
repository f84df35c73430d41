// What a builder refuses has a typed error, leaves the builder as it was, and a file that cannot be finished leaves nothing behind.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { GraphBuilderOptions } from '../../src/builder/builder-options.js';
import { CompactGraphBuilder } from '../../src/builder/graph-builder.js';
import { BufferSink } from '../../src/container/container-writer.js';
import {
  BadKeyError,
  BadOptionsError,
  BadValueError,
  ClosedError,
  CycleError,
  DuplicateKeyError,
  LimitError,
  TransportError,
} from '../../src/container/graph-error.js';
import { failureOf, thrownBy } from '../container/support/errors.js';
import { temporaryDirectory } from '../container/support/temporary-directory.js';

const MIB = 1024 * 1024;
const bytes = (text: string): Buffer => Buffer.from(text, 'latin1');
const COMMITS: GraphBuilderOptions = { graphs: [{ referenceLists: 1, order: 'child-first' }] };
/** The least memory there can be for one graph. */
const LITTLE = 2 * MIB;

describe('a node that is refused', () => {
  // biome-ignore lint/suspicious/noExplicitAny: what untyped callers hand over.
  const bad: readonly [string, any[], new (...args: never[]) => Error][] = [
    ['an empty key', [0, bytes(''), bytes(''), [[]]], BadKeyError],
    ['a key that is too long', [0, Buffer.alloc(4097), bytes(''), [[]]], BadKeyError],
    ['a text as key', [0, 'a', bytes(''), [[]]], BadKeyError],
    ['an empty reference', [0, bytes('n'), bytes(''), [[bytes('')]]], BadKeyError],
    ['a text as reference', [0, bytes('n'), bytes(''), [['a']]], BadKeyError],
    ['too few reference lists', [0, bytes('n'), bytes(''), []], BadValueError],
    ['too many reference lists', [0, bytes('n'), bytes(''), [[], []]], BadValueError],
    ['no reference lists', [0, bytes('n'), bytes(''), undefined], BadValueError],
    ['references that are not a list', [0, bytes('n'), bytes(''), [bytes('x')]], BadValueError],
    ['a text as value', [0, bytes('n'), 'v', [[]]], BadValueError],
    ['a value that is too long', [0, bytes('n'), Buffer.alloc(16 * MIB + 1), [[]]], BadValueError],
    ['a value where the graph keeps none', [1, bytes('n'), bytes('v'), []], BadValueError],
    ['a key that is there', [0, bytes('first'), bytes(''), [[bytes('new')]]], DuplicateKeyError],
    ['a graph that does not exist', [2, bytes('n'), bytes(''), [[]]], BadOptionsError],
  ];

  test.each(bad)('%s, leaves the builder as it was', async (_, node, kind) => {
    const build = async (attempt?: () => void): Promise<Buffer> => {
      const sink = new BufferSink();
      const graphs = [...COMMITS.graphs, { referenceLists: 0, order: 'child-first', values: false } as const];
      const builder = new CompactGraphBuilder(sink, { graphs });
      builder.add(0, bytes('first'), undefined, [[]]);
      attempt?.call(builder);
      builder.add(0, bytes('second'), bytes('v'), [[bytes('first')]]);
      await builder.finish();
      return sink.toBuffer();
    };
    const file = await build(function (this: CompactGraphBuilder) {
      const error = thrownBy(() => this.add(...(node as Parameters<CompactGraphBuilder['add']>)));
      expect(error).toBeInstanceOf(kind);
    });
    expect(file.equals(await build())).toBe(true);
  });

  test('because it does not fit into the memory there is, leaves the builder as it was', async () => {
    const builder = new CompactGraphBuilder(new BufferSink(), { ...COMMITS, memoryBytes: LITTLE });
    builder.add(0, bytes('a'), bytes('v'), [[]]);
    expect(() => builder.add(0, bytes('b'), Buffer.alloc(2 * MIB), [[]])).toThrow(LimitError);
    expect((await builder.finish()).keyCount).toBe(1);
  });
});

describe('options', () => {
  const graph = COMMITS.graphs[0];
  test.each([
    ['no graphs', { graphs: [] }],
    ['65 graphs', { graphs: new Array(65).fill(graph) }],
    ['graphs that are not a list', { graphs: graph }],
    ['17 reference lists', { graphs: [{ ...graph, referenceLists: 17 }] }],
    ['half a reference list', { graphs: [{ ...graph, referenceLists: 0.5 }] }],
    ['an unknown order', { graphs: [{ ...graph, order: 'sideways' }] }],
    ['an unknown way with cycles', { graphs: [{ ...graph, cycles: 'maybe' }] }],
    ['traces without groupBytes', { graphs: [{ ...graph, order: 'trace-contiguous' }] }],
    ['a grouped codec without groupBytes', { ...COMMITS, keyCodec: 'grouped' }],
    ['groups longer than keys', { ...COMMITS, groupBytes: 4096 }],
    ['too little memory', { ...COMMITS, memoryBytes: LITTLE - 1 }],
    ['blocks that are too small', { ...COMMITS, blockKeys: 63 }],
    ['an unknown codec', { ...COMMITS, keyCodec: 'gzip' }],
    ['an unknown compression', { ...COMMITS, compression: 'lzma' }],
    ['a note that is not text', { ...COMMITS, notes: { from: 1 } }],
    ['notes that are too long', { ...COMMITS, notes: { from: 'x'.repeat(20_000) } }],
  ])('%s are refused', (_, options) => {
    expect(() => new CompactGraphBuilder(new BufferSink(), options as GraphBuilderOptions)).toThrow(BadOptionsError);
  });
});

/** Values that fill the least memory within a few nodes. */
const LARGE = Buffer.alloc(100_000, 'v');

const nodes = function* (count: number): Generator<[Buffer, Buffer[][]]> {
  for (let i = 0; i < count; i++) yield [bytes(`k${i}`), [i === 0 ? [] : [bytes(`k${i - 1}`)]]];
};

describe('a file that cannot be finished', () => {
  const directory = temporaryDirectory();
  const target = join(directory, 'commits.graph');
  const spills = join(directory, 'spills');
  const options = { ...COMMITS, memoryBytes: LITTLE, tempDir: directory };

  const expectOldFile = (): void => {
    expect(readFileSync(target, 'utf8')).toBe('old');
    expect(readdirSync(directory)).toEqual(['commits.graph']);
  };

  /** A builder that has spilled, over a file that is there already. */
  const spilled = (): CompactGraphBuilder => {
    writeFileSync(target, 'old');
    const builder = new CompactGraphBuilder(target, options);
    for (const [key, references] of nodes(60)) builder.add(0, key, LARGE, references);
    return builder;
  };

  test('because it was given up', () => {
    const builder = spilled();
    builder.abort();
    expectOldFile();
    expect(() => builder.add(0, bytes('x'), undefined, [[]])).toThrow(ClosedError);
    expect(() => builder.finishSync()).toThrow(ClosedError);
    builder.abort();
  });

  test('because a key is there twice, once of them spilled', async () => {
    const builder = spilled();
    builder.add(0, bytes('k0'), undefined, [[]]);
    const error = await failureOf(builder.finish());
    expect(error).toBeInstanceOf(DuplicateKeyError);
    expect(error.message).toContain(bytes('k0').toString('hex'));
    expectOldFile();
    expect(() => builder.finishSync()).toThrow(ClosedError);
  });

  test.each(['in memory', 'spilled'])('because references go round in a circle, %s', async (where) => {
    writeFileSync(target, 'old');
    const builder = where === 'spilled' ? spilled() : new CompactGraphBuilder(target, options);
    for (const [from, to] of ['ab', 'bc', 'cd', 'db']) builder.add(0, bytes(from), undefined, [[bytes(to)]]);
    const error = await failureOf(builder.finish());
    expect(error).toBeInstanceOf(CycleError);
    const cycle = (error as CycleError).cycle.map((key) => Buffer.from(key).toString());
    expect([...cycle].sort()).toEqual(['b', 'c', 'd']);
    cycle.forEach((key, i) => {
      expect('bcdb').toContain(`${key}${cycle[(i + 1) % 3]}`);
    });
    expectOldFile();
  });

  test('because its directory is not there', () => {
    expect(() => new CompactGraphBuilder(join(spills, 'a.graph'), COMMITS)).toThrow(TransportError);
  });

  test('because there is no directory to spill to', () => {
    writeFileSync(target, 'old');
    const builder = new CompactGraphBuilder(target, { ...options, tempDir: spills });
    const add = (): void => {
      for (const [key, references] of nodes(60)) builder.add(0, key, LARGE, references);
    };
    expect(add).toThrow(TransportError);
    expectOldFile();
    expect(() => builder.finishSync()).toThrow(ClosedError);
  });

  test('because so many nodes cannot be ordered', () => {
    writeFileSync(target, 'old');
    const builder = new CompactGraphBuilder(target, options);
    const add = (): void => {
      for (const [key, references] of nodes(200_000)) builder.add(0, key, undefined, references);
      builder.finishSync();
    };
    const error = thrownBy(add);
    expect(error).toBeInstanceOf(LimitError);
    expect(error.message).toMatch(/so many need \d+/);
    expectOldFile();
  });

  test('because neighbouring values are larger than readers accept', async () => {
    const builder = new CompactGraphBuilder(new BufferSink(), COMMITS);
    for (let i = 0; i < 9; i++) builder.add(0, bytes(`k${i}`), Buffer.alloc(8 * MIB), [[]]);
    expect(await failureOf(builder.finish())).toBeInstanceOf(LimitError);
  });

  test('by a sink, which is told', () => {
    const sink = new BufferSink();
    const builder = new CompactGraphBuilder(sink, COMMITS);
    builder.add(0, bytes('a'), undefined, [[bytes('a')]]);
    expect(() => builder.finishSync()).toThrow(CycleError);
    expect(sink.position).toBe(0);
    expect(existsSync(spills)).toBe(false);
  });
});

describe('cycles', () => {
  test('through several traces are found too', async () => {
    const options: GraphBuilderOptions = { graphs: [{ referenceLists: 1, order: 'trace-contiguous' }], groupBytes: 2 };
    const build = async (cycles: 'allow' | 'refuse'): Promise<number> => {
      const builder = new CompactGraphBuilder(new BufferSink(), {
        ...options,
        graphs: [{ ...options.graphs[0], cycles }],
      });
      builder.add(0, bytes('t1a'), undefined, [[bytes('t2a')]]);
      builder.add(0, bytes('t2a'), undefined, [[bytes('t1a')]]);
      return (await builder.finish()).keyCount;
    };
    const error = await failureOf(build('refuse'));
    expect(error).toBeInstanceOf(CycleError);
    expect((error as CycleError).cycle).toHaveLength(2);
    expect(await build('allow')).toBe(2);
  });
});

describe('extra sections', () => {
  test('are bounded and numbered from 1000', () => {
    const builder = new CompactGraphBuilder(new BufferSink(), { ...COMMITS, memoryBytes: LITTLE });
    for (const id of [1, 999, 65_536, 1000.5])
      expect(() => builder.extraSection(id, undefined, LARGE)).toThrow(BadOptionsError);
    expect(() => builder.extraSection(1000, 1, LARGE)).toThrow(BadOptionsError);
    builder.extraSection(1000, 0, LARGE);
    expect(() => builder.extraSection(1000, 0, LARGE)).toThrow(BadOptionsError);
    builder.extraSection(1000, undefined, LARGE);
    expect(() => builder.extraSection(1001, 0, Buffer.alloc(MIB))).toThrow(LimitError);
    expect(builder.finishSync().keyCount).toBe(0);
  });
});
