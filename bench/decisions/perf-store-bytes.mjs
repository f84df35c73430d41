// Where the bytes of a Perf store on LMDB go: its pages, and what of them is keys, values and times.
//
//   node bench/decisions/perf-store-bytes.mjs [commits] [series]
//
// Answer: of 103 bytes a point (1,024 commits) 42 are cells, 23 room in pages and blocks, 33 mostly free pages, left by the copies that
// each transaction makes, which later writes use: 9 bytes a point in a history of 4,096 commits, which takes 80; 10,779 take 75.
//
// With an entry for each cell a point took 234 bytes: 55 were the name of the row, which every key repeated, and 75 room in leaf pages that
// were 62 % full. The order of puts did not help: cells of a whole tile in one transaction took 199 bytes a point as they came, 257
// sorted, 240 sorted downwards, 181 shuffled. The size of a block matters little: 101 bytes a point with blocks of 1,000 bytes, 103 with
// 1,300, 108 with 3,900.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { open } from 'lmdb';
import { openTable, PERF_SCHEMA, PerfStore } from '../../packages/tracedb/dist/esm/index.js';

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
  await table.close();
  const points = commits * series;
  const file = statSync(join(dir, 'data.mdb')).size;
  const root = open({ path: dir, noSubdir: false, readOnly: true });
  const database = root.openDB({ name: 'cells', encoding: 'binary', keyEncoding: 'binary' });
  const parts = { keys: 0, entries: 0, nodes: 0 };
  let entries = 0;
  for (const { key, value } of database.getRange({})) {
    entries++;
    parts.keys += key.length;
    parts.entries += value.length;
    // A node of LMDB: its header, and its place in the page.
    parts.nodes += 10;
  }
  const used = parts.keys + parts.entries + parts.nodes;
  const pages = database.getStats();
  await root.close();
  parts.leafRoom = pages.treeLeafPageCount * pages.pageSize - used;
  parts.otherPages = file - pages.treeLeafPageCount * pages.pageSize;
  const perPoint = (bytes) => (bytes / points).toFixed(1);
  console.log(`${points} points, ${entries} entries, ${perPoint(file)} bytes of the file a point:`);
  for (const [name, bytes] of Object.entries(parts)) {
    console.log(`  ${name.padEnd(10)} ${perPoint(bytes)}`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
