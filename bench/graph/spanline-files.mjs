// Builds spanline's files of the key sets. They are built anew for every run: the code that writes them is what is measured.
import { CompactGraphBuilder } from '../../dist/bench/graph.js';
import { filePath } from './files.mjs';
import { nodesOf } from './nodes.mjs';

export const graphPath = (set) => filePath('spanline', set, 'graph');

/** References of every node as the builder takes them: one list of keys. */
export const referencesOf = ({ keys, parents }) => parents.map((list) => [list.map((parent) => keys[parent])]);

/** Build the file of a key set at `path`. No values: what is kept is who refers to whom. */
export const buildGraph = (path, { keys, groupBytes }, references) => {
  const order = groupBytes > 0 ? 'trace-contiguous' : 'child-first';
  const builder = new CompactGraphBuilder(path, { groupBytes, graphs: [{ referenceLists: 1, order, values: false }] });
  for (let i = 0; i < keys.length; i++) builder.add(0, keys[i], undefined, references[i]);
  return builder.finish();
};

export const buildGraphs = async (sets) => {
  for (const set of sets) {
    const nodes = nodesOf(set);
    await buildGraph(graphPath(set), nodes, referencesOf(nodes));
  }
};
