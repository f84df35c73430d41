// Reports many traces with collections of young objects alone in between; prints how many bytes a trace have become old.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getHeapSpaceStatistics } from 'node:v8';
import { Archive, ArchiveReporter } from '@spanline/archive';
import { flush, LocalSpan, Span, setReporter } from 'spanline';

const ROUNDS = 100;
const TRACES = 100;
// What V8 compiles meanwhile becomes old too.
const WARM_UP = 200;

const collectYoung = globalThis.gc as unknown as (options: { readonly type: 'minor' }) => void;
let reported = 0;
const kind = process.argv[2];
const directory = mkdtempSync(join(tmpdir(), 'spanline-'));
process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
const archive = kind === 'archive' ? new ArchiveReporter(await Archive.open(directory)) : undefined;
setReporter({
  name: 'count',
  keepsNoTrace: kind !== 'mayKeep',
  report: (batch) => {
    reported += batch.spanCount;
    return archive?.report(batch);
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
await archive?.flush();
console.log(JSON.stringify({ reported, bytesOfTrace: (oldBytes() - before) / (ROUNDS * TRACES) }));
process.exit();
