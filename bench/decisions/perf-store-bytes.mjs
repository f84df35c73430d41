// Where the bytes of a Perf store on LMDB go: its pages, and what of them is keys, values and times.
//
//   node bench/decisions/perf-store-bytes.mjs [commits] [series]
//
// Answer: of 234 bytes a point 115 are free room in pages (sorted inserts leave them half full), 55 the name of the row, which every
// cell repeats in its key, 21 the value (4) and its source (16). Only another format of the file saves much: an entry for 64 columns
// needs no names of rows, and some 40 to 55 bytes a point by this count.
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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
  const perPoint = (bytes) => (bytes / points).toFixed(1);
  console.log(`${points} points, ${cells} cells, ${perPoint(file)} bytes of the file a point:`);
  for (const [name, bytes] of Object.entries({ ...parts, freeRoom: file - used })) {
    console.log(`  ${name.padEnd(10)} ${perPoint(bytes)}`);
  }
} finally {
  rmSync(dir, { recursive: true, force: true });
}
