// An archive of real traces for the tests of the page: made by the library and its reporter, with names that would run if anything took them
// for markup.
import { join } from 'node:path';
import { Collector, type RootOptions, Span, trace } from '../../../../src/index.js';
import { Archive, ArchiveReporter } from '../../../archive/src/index.js';

/** What must only ever be text. */
export const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

/** Keep the clock running a little, so that bars have a length. */
const work = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

/** A request with a query for each item. */
const order = (items: number, options: RootOptions): void => {
  const root = Span.root('GET /orders', undefined, options);
  root.setProperty('hostile', HOSTILE);
  root.run(() => {
    trace('SELECT orders', () => work(1));
    for (let i = 0; i < items; i++) trace('SELECT item', () => work(0.1));
  });
  root.end();
};

/** A request with a hostile name that fails. */
const failing = (options: RootOptions): void => {
  Span.root(HOSTILE, undefined, options)
    .addEvent('exception', { message: HOSTILE })
    .setStatus('error', 'it broke')
    .end();
};

/** One trace of so many spans, three levels deep. */
const large = (spans: number, options: RootOptions): void => {
  const root = Span.root('import', undefined, options);
  root.run(() => {
    for (let i = 0; i < spans / 100; i++)
      trace('batch', () => {
        for (let j = 0; j < 99; j++) trace('row', () => {});
      });
  });
  root.end();
};

/** Make an archive in a directory, closed again; one of its traces has so many spans. */
export const makeTraces = async (directory: string, largest = 20_000): Promise<void> => {
  // One of its own: that of the process may get what other files of this worker have left.
  const collector = new Collector({ serviceName: 'shop' });
  const archive = await Archive.open(directory);
  collector.setReporter(new ArchiveReporter(archive));
  for (let i = 0; i < 12; i++) order(i % 3, { collector });
  failing({ collector });
  large(largest, { collector });
  await collector.shutdown();
  await archive.close();
};

export const tracesIn = (dir: string): string => join(dir, 'traces');
