// Two copies of the package in a process: a reporter of the one reports what the other has recorded, by its public records, and a warning says so
// once.
import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Consumer } from './consumer.js';

let consumer: Consumer;
beforeAll(() => {
  consumer = new Consumer();
  cpSync(consumer.package, join(consumer.dir, 'node_modules/other'), { recursive: true });
});
afterAll(() => consumer?.dispose());

test('the same bytes', () => {
  const file = consumer.write(
    'two.mjs',
    `import { flush, LocalSpan, setReporter, Span } from 'spanline';
     import { FileReporter } from 'spanline/exporters/file';
     import { FileReporter as Other } from 'other/exporters/file';
     const reporters = [new FileReporter({ path: 'own.jsonl' }), new Other({ path: 'other.jsonl' })];
     setReporter({
       name: 'both',
       async report(batch) { for (const each of reporters) await each.report(batch); },
       async flush() { for (const each of reporters) await each.flush(); },
     });
     for (let i = 0; i < 3; i++) {
       const root = Span.root('request ' + i).setStatus('error', 'why');
       root.addProperties({ n: i, text: 'ä' });
       await root.run(async () => {
         const local = LocalSpan.start('parse');
         LocalSpan.addEvent('read', { bytes: 7 });
         local.end();
       });
       root.end();
       await flush();
     }`,
  );
  const { code, stderr } = consumer.node([file]);
  expect(code, stderr).toBe(0);
  expect(stderr.match(/SPANLINE_TWO_COPIES/g)).toHaveLength(1);
  // Rows come in the order of their end, records in that of their start.
  const spansOf = (name: string): { spanId: string }[] =>
    readFileSync(join(consumer.dir, name), 'utf8')
      .trim()
      .split('\n')
      .flatMap((line) => JSON.parse(line).resourceSpans[0].scopeSpans[0].spans)
      .sort((a, b) => (a.spanId < b.spanId ? -1 : 1));
  const [own, other] = ['own.jsonl', 'other.jsonl'].map(spansOf);
  expect(own).toHaveLength(6);
  expect(other).toEqual(own);
});
