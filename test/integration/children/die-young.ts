// Reports many traces with collections of young objects alone in between; prints how many bytes a trace have become old.
import { getHeapSpaceStatistics } from 'node:v8';
import { flush, LocalSpan, Span, setReporter } from 'spanline';

const ROUNDS = 100;
const TRACES = 100;
// What V8 compiles meanwhile becomes old too.
const WARM_UP = 200;

const collectYoung = globalThis.gc as unknown as (options: { readonly type: 'minor' }) => void;
let reported = 0;
setReporter({
  name: 'count',
  keepsNoTrace: process.argv[2] === 'keepsNoTrace',
  report: (batch) => {
    reported += batch.spanCount;
  },
});

const round = async (): Promise<void> => {
  for (let i = 0; i < TRACES; i++) {
    const root = Span.root('root');
    await root.run(async () => LocalSpan.start('local').end());
    root.end();
  }
  await flush();
  collectYoung({ type: 'minor' });
  collectYoung({ type: 'minor' });
};

const oldBytes = (): number =>
  getHeapSpaceStatistics()
    .filter(({ space_name: name }) => name === 'old_space')
    .reduce((sum, { space_used_size: bytes }) => sum + bytes, 0);

for (let i = 0; i < WARM_UP; i++) await round();
const before = oldBytes();
for (let i = 0; i < ROUNDS; i++) await round();
console.log(JSON.stringify({ reported, bytesOfTrace: (oldBytes() - before) / (ROUNDS * TRACES) }));
