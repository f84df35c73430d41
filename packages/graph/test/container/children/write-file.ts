// Writes PATH full of one letter, TIMES times; says `ready` in the middle of it, so that somebody can end it there.
// Arguments: PATH LETTER TIMES (LENGTH | endless).
import { AtomicFileSink } from '../../../src/container/container-writer.js';
import type { GraphError } from '../../../src/container/graph-error.js';

const [path, letter, times, length] = process.argv.slice(2) as [string, string, string, string];
const PIECE = 100_000;

const write = (): void => {
  const sink = new AtomicFileSink(path);
  const total = length === 'endless' ? Number.POSITIVE_INFINITY : Number(length);
  for (let left = total; left > 0; left -= PIECE) {
    sink.write(Buffer.alloc(Math.min(left, PIECE), letter));
    if (sink.position === 30 * PIECE && length === 'endless') process.stdout.write('ready\n');
    // The disk is everybody's.
    if (sink.position === 400 * PIECE) break;
  }
  if (length === 'endless') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30_000);
  sink.finish();
};

try {
  for (let i = 0; i < Number(times); i++) write();
  console.log('{}');
} catch (error) {
  const { code, cause } = error as GraphError;
  console.log(JSON.stringify({ code, cause: (cause as NodeJS.ErrnoException | undefined)?.code }));
}
