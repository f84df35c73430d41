// What a Perf store costs on Bigtable at the size of Skia's Android instance: a model on paper, from row and byte counts of this
// format and the rates Google documents for a node. Run: node bench/decisions/tracedb-scale.mjs
// Answer: storage and writes are not a problem; a query is bound by the client, which takes about 20 us of CPU for each row of the
// rarest condition, so conditions above some 500,000 ids need another form of posting.

/** Documented for one SSD node, rows of 1 KB (cloud.google.com/bigtable/docs/performance, read in November 2026). */
const NODE = { readRowsPerS: 17_000, writeRowsPerS: 14_000, scanBytesPerS: 220e6, storageBytes: 5e12 };
/** CPU of one Node.js client a row; measured by the suite `tracedb`, cases bigtable-scan-cpu and bigtable-write-cpu. */
const CLIENT_US_PER_ROW = 20;

const TRACES = 40e6;
const TILE = 8192;
const KEYS = 8;
/** Share of the commits of a tile at which a trace has a value. */
const DENSITY = 0.1;
const COMMITS_PER_DAY = 150;

// `,0=12,1=3,...,` with eight pairs of which one is a test among many thousands.
const ID_BYTES = 44;
const CELL_OVERHEAD = 8 + 5; // timestamp, qualifier
const ROW_OVERHEAD = 30; // family, key's length, index entry of the block
const INDEX_ROW_BYTES = 12 + 8 + ID_BYTES + CELL_OVERHEAD + ROW_OVERHEAD;
const VALUE_BYTES = CELL_OVERHEAD + 4 + CELL_OVERHEAD + 16;

const number = (value, digits = 0) => value.toLocaleString('en-US', { maximumFractionDigits: digits });
const bytes = (value) => (value > 1e12 ? `${number(value / 1e12, 1)} TB` : `${number(value / 1e9, 1)} GB`);
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`);

const indexRows = TRACES * KEYS;
const indexBytes = indexRows * INDEX_ROW_BYTES;
const valueBytes = TRACES * (ID_BYTES + ROW_OVERHEAD + TILE * DENSITY * VALUE_BYTES);
const pointsPerDay = TRACES * DENSITY * COMMITS_PER_DAY;

console.log('| a tile of 8,192 commits | |\n|---|---:|');
row('days', number(TILE / COMMITS_PER_DAY));
row('trace rows', number(TRACES));
row('index rows', number(indexRows));
row('bytes of values and sources', bytes(valueBytes));
row('bytes of the index', bytes(indexBytes));
row('nodes for storage, one tile', number((valueBytes + indexBytes) / NODE.storageBytes, 1));
row('points a day', number(pointsPerDay));
row('nodes for writing them (rows of one value)', number(pointsPerDay / 86_400 / NODE.writeRowsPerS, 1));
row('node-hours to write the index of a new tile', number(indexRows / NODE.writeRowsPerS / 3600, 1));

console.log(
  '\n| rarest condition selects | rows read | of the index | scan, node-seconds | client CPU, s | values of all, GB read |',
);
console.log('|---|---:|---:|---:|---:|---:|');
for (const ids of [1e3, 1e4, 1e5, 5e5, 4e6, 20e6]) {
  row(
    `${number(ids)} ids`,
    number(ids),
    `${number((ids / indexRows) * 100, 4)} %`,
    number((ids * INDEX_ROW_BYTES) / NODE.scanBytesPerS, 2),
    number((ids * CLIENT_US_PER_ROW) / 1e6, 1),
    number((ids * TILE * DENSITY * VALUE_BYTES) / 1e9, 1),
  );
}
