// Reads a segment, a graph or a write-ahead file by docs/formats.md alone; neither this nor what it imports uses anything of spanline. To
// stay short it reads whole files and checks what tells damage: a reader of strangers' files must also refuse what the page says.
// node examples/read-formats.mjs FILE. What is compressed with zstd needs Node 22.15 or later.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { inspect } from 'node:util';
import { openContainer } from './read-formats/container.mjs';
import { readGraph } from './read-formats/graph.mjs';
import { readSegment } from './read-formats/segment.mjs';
import { readWriteAhead } from './read-formats/write-ahead.mjs';

/** What a file holds: spans, or the graphs of a graph file. */
export const readFormat = (bytes) => {
  if (bytes.toString('latin1', 0, 6) === 'SPLWAL') return readWriteAhead(bytes);
  return openContainer(bytes).meta.notes.kind === 'spans' ? readSegment(bytes) : readGraph(bytes);
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  console.log(inspect(readFormat(readFileSync(process.argv[2])), { depth: null, maxArrayLength: null }));
