// Where the bytes of a Perf store on LMDB go: its pages, and what of them is keys, values and times.
//
//   node bench/decisions/perf-store-bytes.mjs [commits] [series]
//
// Answer: of 234 bytes a point 75 are room in leaf pages, which are 62 % full: a new tile sorts before the older ones, so that
// its cells come into the middle of the tree. 39 are mostly free pages, left by the copies that each transaction makes, which later writes
// use: 2 to 4 MB in histories of 1,024 and of 10,779 commits; four times the commits take 205 bytes a point. 55 are the name of the row, which
// every cell repeats in its key, 21 the value (4) and its source (16).
//
// The order of puts does not help. Cells of a whole tile in one transaction: 199 bytes a point as they come, 257 sorted (pages 48 %
// full), 240 sorted downwards, 181 shuffled. Larger calls save 4 to 15 %, but hold up the event loop for longer. Only another
// format of the file saves half: an entry for 64 columns needs no names of rows.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openTable, PERF_SCHEMA, PerfStore } from '../../dist/esm/tracedb/index.js';

const [commits = 1024, series = 100] = process.argv.slice(2).map(Number);
const dir = mkdtempSync(join(tmpdir(), 'perf-bytes-'));
try {
  const table = await openTable(dir, PERF_SCHEMA);
  const perf = await PerfStore.open(table);
  const params = Array.from({ length: series }, (_, i) => ({ suite: `S${i % 7}`, test: `bench-${i}`, unit: 'ms' }));
  for (let first = 0; first < commits; first += 64) {
    const infos = Array.from({ length: Math.min(64, commits - first) }, (_, i) => ({ hash: `h${first + i}` }));
    const numbers = await perf.commits.add(infos);
    await perf.write(
      numbers.map((commit) => ({
        commit,
        source: `run-${commit}.json`,
        timestampMs: commit,
        points: params.map((one, i) => ({ params: one, value: i })),
      })),
    );
  }
  const parts = { rowNames: 0, columns: 0, values: 0, times: 0, nodes: 0 };
  let cells = 0;
  for await (const rows of table.readRows({ prefix: '' })) {
    for (const { key, cells: some } of rows) {
      for (const { family, qualifier, value } of some) {
        cells++;
        parts.rowNames += key.length;
        parts.columns += family.length + qualifier.length + 2;
        parts.values += value.length;
        parts.times += 6;
        // A node of LMDB: its header, and its place in the page.
        parts.nodes += 10;
      }
    }
  }
  await table.close();
  const points = commits * series;
  const file = statSync(join(dir, 'data.mdb')).size;
  const used = Object.values(parts).reduce((sum, bytes) => sum + bytes, 0);
  const root = open({ path: dir, noSubdir: false, readOnly: true });
  const pages = root.openDB({ name: 'cells' }).getStats();
  await root.close();
  parts.leafRoom = pages.treeLeafPageCount * pages.pageSize - used;
  parts.otherPages = file - pages.treeLeafPageCount * pages.pageSize;
  const perPoint = (bytes) => (bytes / points).toFixed(1);
  console.log(`${points} points, ${cells} cells, ${perPoint(file)} bytes of the file a point:`);
  for (const [name, bytes] of Object.entries(parts)) {
    console.log(`  ${name.padEnd(10)} ${perPoint(bytes)}`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
