// Question: how should a SpanQueue hold its columns, given that every batch is cut to size once?
// Answer: plain arrays of doubles. A store costs the same as in a typed array; a batch of 100 is cut in about 0.2 us
// instead of 1.7 us, because `slice` copies inside the young generation (node bench/decisions/columns.mjs).
import { time } from './support.mjs';

const SIZE = 128;
const plain = (value) => {
  const out = [];
  for (let i = 0; i < SIZE; i++) out.push(value + i);
  return out;
};
const plainColumns = [plain(0.5), plain(0.5)];
const typedColumns = [new Float64Array(SIZE), new Float64Array(SIZE)];
let sink;

const store = (columns) => () => {
  const [begins, ends] = columns;
  for (let i = 0; i < 100; i++) {
    begins[i] = i + 0.5;
    ends[i] = i + 1.5;
  }
};

// Each kind in a function of its own: one shared by both would be slow for both.
const storePlain = store(plainColumns);
const storeTyped = ((columns) => () => {
  const [begins, ends] = columns;
  for (let i = 0; i < 100; i++) {
    begins[i] = i + 0.5;
    ends[i] = i + 1.5;
  }
})(typedColumns);

time('store two columns, plain arrays, a span', 100, storePlain);
time('store two columns, typed arrays, a span', 100, storeTyped);
for (const n of [1, 10, 100]) {
  time(`cut two columns of ${n}, plain arrays, a batch`, 1, () => {
    sink = plainColumns.map((column) => column.slice(0, n));
  });
  time(`cut two columns of ${n}, typed arrays, a batch`, 1, () => {
    sink = typedColumns.map((column) => column.slice(0, n));
  });
}
if (sink === undefined) throw new Error('nothing was cut');
