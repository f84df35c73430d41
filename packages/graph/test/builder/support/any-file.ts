// Random files for properties: up to three graphs over one set of keys, without cycles, with ghosts, with keys that are hard to sort.

import fc from '../../../../../test/support/fast-check.js';
import type { GraphBuilderOptions } from '../../../src/builder/builder-options.js';
import type { ModelNode } from './graph-model.js';

export interface AnyFile {
  readonly options: GraphBuilderOptions;
  readonly nodes: readonly ModelNode[];
}

const anyKey = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', '\0', 'ÿ'), minLength: 1, maxLength: 12 }),
  fc.string({ unit: fc.constantFrom('0', '1'), minLength: 1, maxLength: 4 }).map((text) => `common-prefix-${text}`),
  fc.constantFrom('x'.repeat(4096), `${'x'.repeat(4095)}y`, 'x'.repeat(64)),
);

const anyValue = fc.oneof(
  fc.string({ unit: fc.constantFrom('v', 'w', '\0'), maxLength: 30 }),
  fc.constantFrom('', 'l'.repeat(70_000)),
);

const anyGraph = fc.record({
  referenceLists: fc.nat(3),
  order: fc.constantFrom('child-first' as const, 'root-first' as const, 'trace-contiguous' as const),
  values: fc.boolean(),
});

export const anyFile: fc.Arbitrary<AnyFile> = fc
  .tuple(fc.uniqueArray(anyKey, { maxLength: 30 }), fc.array(anyGraph, { minLength: 1, maxLength: 3 }), fc.boolean())
  .chain(([keys, graphs, filter]) => {
    const anyNode = (graph: number, key: number): fc.Arbitrary<ModelNode | undefined> => {
      const { referenceLists, values } = graphs[graph];
      // A node refers to keys before its own only, so that there is no cycle.
      const list: fc.Arbitrary<string[]> =
        key === 0
          ? fc.constant([])
          : fc.array(
              fc.nat(key - 1).map((target) => keys[target]),
              { maxLength: 3 },
            );
      return fc.option(
        fc.record({
          graph: fc.constant(graph),
          key: fc.constant(keys[key]),
          value: values ? anyValue : fc.constant(''),
          references: fc.array(list, { minLength: referenceLists, maxLength: referenceLists }),
        }),
        { nil: undefined, freq: 4 },
      );
    };
    const all = graphs.flatMap((_, graph) => keys.map((_key, key) => anyNode(graph, key)));
    return fc.record({
      options: fc.constant({ graphs, groupBytes: 2, filter }),
      nodes: fc
        .tuple(...all)
        .chain((nodes) => fc.shuffledSubarray(nodes, { minLength: nodes.length }))
        .map((nodes) => nodes.filter((node) => node !== undefined)),
    });
  });
