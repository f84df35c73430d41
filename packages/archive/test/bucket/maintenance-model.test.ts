// Two maintainers, one of which is paused or dies at any request, beside uploads and copies of them, against a model of plain lists: at each moment every span
// is found exactly once, and a reader has what it began with.
import { expect, test } from 'vitest';
import fc from '../../../../test/support/fast-check.js';
import { samples } from '../../../../test/support/samples.js';
import { BucketMaintainer } from '../../src/bucket/bucket-maintenance.js';
import type { MaintainOptions } from '../../src/bucket/bucket-options.js';
import { Catalogue } from '../../src/bucket/catalogue.js';
import type { CatalogueState } from '../../src/bucket/catalogue-state.js';
import { hourOf } from '../../src/bucket/keys.js';
import { MemoryStore } from './support/memory-store.js';
import { expectExactly, listFresh, makeUpload, putUpload, readAll, spanIdsIn, type Upload } from './support/shop.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** What happens next. */
interface Step {
  readonly kind: 'upload' | 'copy' | 'pass' | 'wait' | 'read';
  /** Which upload, or who. */
  readonly n: number;
  /** At which request of a pass something happens: the other maintainer does a whole pass, or this one dies. */
  readonly at: number;
  readonly dies: boolean;
  readonly minutes: number;
}

test('a model of plain lists: everything is found once, whoever is paused or killed at whatever request', async () => {
  const step: fc.Arbitrary<Step> = fc.record({
    kind: fc.constantFrom('upload', 'upload', 'upload', 'upload', 'copy', 'pass', 'pass', 'pass', 'wait', 'read'),
    n: fc.nat(100),
    at: fc.nat(60),
    dies: fc.boolean(),
    minutes: fc.oneof(
      { weight: 6, arbitrary: fc.nat(12) },
      { weight: 1, arbitrary: fc.integer({ min: 60, max: 3000 }) },
    ),
  });
  const options: MaintainOptions = { graceMs: 10 * MINUTE };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
      const store = new MemoryStore();
      const maintainers = [new BucketMaintainer(store, options), new BucketMaintainer(store, options)];
      const uploads: Upload[] = [];
      /** Put again since the last look, long after it was folded perhaps: no spool does that, and a reader may see it twice until the next. */
      const copied = new Set<string>();
      const known = new Map<string, readonly string[]>();
      const reader = new Catalogue(store);
      /** What a reader has taken, which has to be there until then. */
      let taken:
        | { state: CatalogueState; listed: Awaited<ReturnType<typeof listFresh>>; untilMs: number; found: string[] }
        | undefined;
      for (const { kind, n, at, dies, minutes } of steps) {
        if (kind === 'upload') {
          uploads.push(await makeUpload(100 * uploads.length, 1 + (n % 5), store.now, n % 8 > 0));
          await putUpload(store, uploads[uploads.length - 1]);
        } else if (kind === 'copy' && uploads.length > 0) {
          const upload = uploads[n % uploads.length];
          await putUpload(store, upload, hourOf(store.now - (n % 3) * HOUR));
          copied.add(upload.name);
        } else if (kind === 'wait') store.now += minutes * MINUTE;
        else if (kind === 'read') {
          const state = await reader.read();
          const listed = await listFresh(store, state.listFrom);
          taken = {
            state,
            listed,
            untilMs: store.now + 10 * MINUTE,
            found: await spanIdsIn(store, state, listed, known),
          };
        } else if (kind === 'pass') {
          const [own, other] = n % 2 === 0 ? maintainers : [...maintainers].reverse();
          let requests = 0;
          store.before = async () => {
            if (++requests !== at) return;
            store.before = () => {};
            if (dies) throw new Error('killed');
            store.now += minutes * MINUTE;
            await other.pass().catch(() => {});
          };
          await own.pass().then(
            () => copied.clear(),
            (error: Error) => {
              if (error.message !== 'killed') throw error;
            },
          );
          store.before = () => {};
        }
        // What came when its hour was closed waits for the next look.
        const state = await reader.read();
        const late = (await listFresh(store, '')).filter(({ key }) => key < `fresh/${state.listFrom}`);
        const found = await spanIdsIn(store, state, await listFresh(store, state.listFrom), known);
        const ids = new Set(found);
        const twice = found.filter((id, i) => found[i - 1] === id);
        expect(
          twice.filter((id) => !uploads.some(({ name, spanIds }) => copied.has(name) && spanIds.includes(id))),
        ).toEqual([]);
        const missing = uploads.filter(({ spanIds }) => !spanIds.every((id) => ids.has(id)));
        expect(missing.filter(({ name }) => !late.some(({ key }) => key.endsWith(name)))).toEqual([]);
        // A reader that takes its time has what it began with.
        if (taken !== undefined && store.now <= taken.untilMs)
          expect(await spanIdsIn(store, taken.state, taken.listed, known)).toEqual(taken.found);
      }
      for (const maintainer of maintainers) await maintainer.pass();
      expectExactly(await readAll(store), uploads);
    }),
    // Names are of chance, and a case that fails cannot be made smaller.
    { numRuns: samples(8, 60, 300), endOnFailure: true },
  );
});
