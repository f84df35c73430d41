// Makes small segments of numbered traces and merges them, again and again until it is killed; `ack N` when N traces are in segments.
// Arguments: DIRECTORY FIRST.
import { Archive } from '../../../src/archive.js';
import { numberedTrace } from '../support/numbered-traces.js';

const [directory, firstText] = process.argv.slice(2) as [string, string];

const archive = await Archive.open(directory, { mergedSpans: 20_000 });
for (let n = Number(firstText); ; ) {
  for (let segment = 0; segment < 5; segment++) {
    for (const end = n + 20; n < end; n++) archive.append(numberedTrace(n));
    await archive.seal();
  }
  process.stdout.write(`ack ${n}\n`);
  await archive.compact();
}
