// An archive of real traces for the tests of the page: made by the library and its reporter, with names that would run if anything took them
// for markup.
import { join } from 'node:path';
import { Archive, ArchiveReporter } from '../../../src/archive/index.js';
import { configure, flush, Span, setReporter, trace } from '../../../src/index.js';

/** What must only ever be text. */
export const HOSTILE = `<img src=x onerror="document.title='taken'"><script>document.title='taken'</script>`;

/** Keep the clock running a little, so that bars have a length. */
const work = (ms: number): void => {
  const end = performance.now() + ms;
  while (performance.now() < end);
};

/** A request with a query for each item. */
export const order = (items: number): void => {
  const root = Span.root('GET /orders');
  root.setProperty('hostile', HOSTILE);
  root.run(() => {
    trace('SELECT orders', () => work(1));
    for (let i = 0; i < items; i++) trace('SELECT item', () => work(0.1));
  });
  root.end();
};

/** A request with a hostile name that fails. */
const failing = (): void => {
  Span.root(HOSTILE).addEvent('exception', { message: HOSTILE }).setStatus('error', 'it broke').end();
};

/** One trace of so many spans, three levels deep. */
const large = (spans: number): void => {
  const root = Span.root('import');
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
  // What earlier files of this worker left waiting is not of this archive.
  await flush();
  configure({ serviceName: 'shop' });
  const archive = await Archive.open(directory);
  setReporter(new ArchiveReporter(archive));
  for (let i = 0; i < 12; i++) order(i % 3);
  failing();
  large(largest);
  await flush();
  await archive.close();
};

export const tracesIn = (dir: string): string => join(dir, 'traces');
