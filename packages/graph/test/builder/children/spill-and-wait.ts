// Adds nodes until some are spilled, says `ready`, and waits to be killed.
import { join } from 'node:path';
import { CompactGraphBuilder } from '../../../src/builder/graph-builder.js';

const [directory = ''] = process.argv.slice(2);
const builder = new CompactGraphBuilder(join(directory, 'a.graph'), {
  graphs: [{ referenceLists: 0, order: 'child-first' }],
  memoryBytes: 2 * 1024 * 1024,
  tempDir: directory,
});
for (let i = 0; i < 100; i++) builder.add(0, Buffer.from(`key ${i}`), Buffer.alloc(100_000), []);
console.log('ready');
setInterval(() => {}, 1000);
