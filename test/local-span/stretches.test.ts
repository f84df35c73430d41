// What goes on after the run it was made in: a local span left open there ends with its stretch of code, is counted and
// reported, and what comes later is recorded under the span of the run, whatever kind of continuation it is.
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { setImmediate as immediate, setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { currentQueue, LocalSpan, Span, type SpanRecord, stats, traced } from '../../src/index.js';
import { MAX_UNFINISHED } from '../../src/local-span/task-context.js';
import { useOwnNames } from '../support/names.js';
import { counted, recorder } from '../support/recorder.js';
import { samples } from '../support/samples.js';

useOwnNames();

type Work = () => void;

// Each gives a function that runs work as a continuation of the run that it was called in.
const kinds: Record<string, () => (work: Work) => void | Promise<void>> = {
  'a function bound with AsyncResource': () => AsyncResource.bind((work: Work) => work()),
  'AsyncResource.runInAsyncScope': () => {
    const resource = new AsyncResource('test');
    return (work) => resource.runInAsyncScope(work);
  },
  'a snapshot': () => AsyncLocalStorage.snapshot() as (work: Work) => void,
  setInterval: () => {
    let next: Work = () => {};
    let done = (): void => {};
    const timer = setInterval(() => {
      const [work, reported] = [next, done];
      next = () => {};
      reported();
      work();
    }, 1);
    timer.unref();
    return (work) =>
      new Promise<void>((resolve) => {
        next = work;
        done = resolve;
        timer.ref();
      }).then(() => {
        timer.unref();
      });
  },
  'a chain of promises': () => {
    let resume: (work: Work) => void = () => {};
    const loop = async (): Promise<void> => {
      while (true) {
        const work = await new Promise<Work>((resolve) => {
          resume = resolve;
        });
        work();
      }
    };
    const start = (): void => void loop().catch(start);
    start();
    return async (work) => {
      resume(work);
      await immediate();
    };
  },
  'a listener of a bound emitter': () => {
    const emitter = new EventEmitter();
    emitter.on(
      'work',
      AsyncResource.bind((work: Work) => work()),
    );
    return (work) => void emitter.emit('work', work);
  },
  'a stream': () => {
    const stream = new PassThrough({ objectMode: true });
    const bound = AsyncResource.bind((work: Work) => work());
    stream.on('data', (work: Work) => bound(work));
    return async (work) => {
      stream.write(work);
      await immediate();
    };
  },
};

const runs: Record<string, (span: Span, make: () => void) => void | Promise<void>> = {
  'a run that has returned': (span, make) => span.run(make),
  'a run whose promise has settled': (span, make) =>
    span.run(async () => {
      await null;
      make();
    }),
  'a run whose promise is pending, of a span that has ended': async (span, make) => {
    void span.run(() => {
      make();
      return new Promise(() => {});
    });
    span.end();
  },
  'a scope that was left': (span, make) => {
    using _scope = span.enter();
    make();
  },
};

describe.each(Object.entries(runs))('in what goes on after %s', (_, run) => {
  test.each(Object.entries(kinds))('as %s', async (_kind, make) => {
    const { root, memory, collector } = recorder();
    const top = root('top');
    const span = Span.start('span', top);
    let go!: (work: Work) => void | Promise<void>;
    await run(span, () => {
      go = make();
    });
    const thrown = (work: Work): Work => {
      // Continuations of the runtime's own would end the process.
      return () => {
        try {
          work();
        } catch {}
      };
    };
    const changes = await counted(async () => {
      await go(() => {
        LocalSpan.start('open');
        LocalSpan.start('inside').end();
      });
      await go(
        thrown(() => {
          const span = LocalSpan.start('thrown through');
          if (span.isRecording) throw new Error('before its end');
          span.end();
        }),
      );
      for (let i = 0; i < 50; i++) await go(() => LocalSpan.start('later').end());
      await go(() => {
        const outer = LocalSpan.start('outer');
        LocalSpan.start('inner').end();
        Span.startWithLocalParent('child').end();
        outer.end();
        LocalSpan.start('after').end();
      });
    });
    if (span.isRecording) span.end();
    top.end();
    await collector.flush();
    expect(changes).toEqual({ localSpansLeftOpen: 2 });
    const later = '\n    later'.repeat(50);
    expect(memory.tree()).toBe(
      `top\n  span\n    open\n      inside\n    thrown through${later}\n    outer\n      inner\n      child\n    after`,
    );
  });
});

test('very many calls behind one that left a local span open, in one turn', async () => {
  const calls = samples(5000, 200_000);
  const { root, memory, collector } = recorder({ maxSpansPerTrace: 1e6 });
  const span = root('root');
  const tick = span.run(() => AsyncResource.bind((work: Work) => work()));
  const changes = await counted(async () => {
    tick(() => void LocalSpan.start('open'));
    for (let i = 0; i < calls; i++) tick(() => LocalSpan.start('later').end());
    span.end();
    await collector.flush();
  });
  expect(changes).toEqual({ localSpansLeftOpen: 1 });
  const rootId = memory.find('root')?.spanId;
  const top = memory.spans.filter((one: SpanRecord) => one.parentSpanId === rootId);
  expect([memory.spans.length, top.length]).toEqual([calls + 2, calls + 1]);
});

test('what many calls leave open in one turn is bounded: the oldest end early, none is lost', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const ticks = span.run(() =>
    Array.from({ length: 5 * MAX_UNFINISHED }, () => AsyncResource.bind((work: Work) => work())),
  );
  const changes = await counted(async () => {
    for (const tick of ticks) tick(() => void LocalSpan.start('open'));
    span.end();
    await collector.flush();
  });
  expect(changes).toEqual({ localSpansLeftOpen: ticks.length });
  expect(memory.spans.length).toBe(ticks.length + 1);
});

test('what many queues leave open in one turn is bounded at every moment: the oldest ones end, none is lost', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const queues = Array.from({ length: 3 * MAX_UNFINISHED }, () => span.run(() => currentQueue()));
  const before = stats().localSpansLeftOpen;
  let maxOpen = 0;
  queues.forEach((queue, i) => {
    queue?.start(`open ${i}`);
    const ended = stats().localSpansLeftOpen - before;
    // Not before the bound is reached.
    if (i < MAX_UNFINISHED) expect(ended).toBe(0);
    maxOpen = Math.max(maxOpen, i + 1 - ended);
  });
  expect(maxOpen).toBe(MAX_UNFINISHED);
  span.end();
  await collector.flush();
  expect(stats().localSpansLeftOpen - before).toBe(queues.length);
  expect(new Set(memory.spans.map(({ name }) => name)).size).toBe(queues.length + 1);
});

test('of many queues in one turn those that have nothing open go first', async () => {
  const { root } = recorder();
  const span = root('root');
  const changes = await counted(async () => {
    const [outer, ...others] = Array.from({ length: 4 * MAX_UNFINISHED }, () => span.run(() => currentQueue()));
    const open = outer?.start('outer');
    for (const queue of others) queue?.start('done').end();
    expect(open?.isRecording).toBe(true);
    open?.end();
  });
  span.end();
  expect(changes).toEqual({});
});

test('a call inside another one that left something open: what that leaves ends with its own call', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const [one, two] = span.run(() => [0, 1].map(() => AsyncResource.bind((work: Work) => work())));
  one(() => {
    LocalSpan.start('open');
    two(() => LocalSpan.start('two').end());
  });
  one(() => LocalSpan.start('later').end());
  span.end();
  expect(await tree()).toBe('root\n  open\n  two\n  later');
});

/** False where what a bound call enters is current in its next call. */
const framesAreCaptured = (): boolean => {
  const store = new AsyncLocalStorage<number>();
  const bound = AsyncResource.bind((work: () => unknown) => work());
  bound(() => store.enterWith(1));
  return bound(() => store.getStore()) === undefined;
};

test('a bound call inside a local span of another one, and inside itself, leaves that open', async () => {
  const { root, tree } = recorder();
  const span = root('root');
  const [one, two] = span.run(() => [0, 1].map(() => AsyncResource.bind((work: Work) => work())));
  const changes = await counted(() =>
    one(() => {
      using _outer = LocalSpan.start('outer');
      for (let i = 0; i < 2 * MAX_UNFINISHED; i++) two(() => LocalSpan.start('two').end());
      one(() => LocalSpan.start('inside').end());
      LocalSpan.start('last').end();
    }),
  );
  expect(changes).toEqual({});
  span.end();
  const two2 = '\n  two'.repeat(2 * MAX_UNFINISHED);
  // Where contexts are frames (Node 24), a call inside itself finds what was captured, not what runs around it.
  expect(await tree()).toBe(
    framesAreCaptured() ? `root\n  outer\n    last${two2}\n  inside` : `root\n  outer\n    inside\n    last${two2}`,
  );
});

test('the end of the span in the middle of a local span: that goes on until the code returns', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const changes = await counted(async () => {
    const task = span.run(async () => {
      await null;
      using _work = LocalSpan.start('work');
      span.end();
      LocalSpan.start('inner').end();
    });
    await task;
  });
  await collector.flush();
  expect(changes).toEqual({});
  expect(memory.tree()).toBe('root\n  work\n    inner');
});

test('a local span open in a task that never ends is reported when its span has ended', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  void span.run(() => {
    LocalSpan.start('done').end();
    LocalSpan.start('open');
    return new Promise(() => {});
  });
  const changes = await counted(async () => {
    span.end();
    await collector.flush();
  });
  expect(changes).toEqual({ localSpansLeftOpen: 1 });
  expect(memory.tree()).toBe('root\n  done\n  open');
});

test('what a handle of an earlier stretch does is counted, and touches nothing', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  let buffered = LocalSpan.start('none');
  const changes = await counted(async () => {
    span.run(() => void setTimeout(() => (buffered = LocalSpan.start('held')), 0));
    await sleep(5);
    span.run(() => void setTimeout(() => LocalSpan.start('next').end(), 0));
    await sleep(5);
    buffered.addProperty('late', 1);
    buffered.end();
  });
  span.end();
  await collector.flush();
  const { localSpansWithoutParent: _, ...others } = changes;
  expect(others).toEqual({ localSpansLeftOpen: 1, changedAfterEnd: 1, staleHandles: 1 });
  expect(memory.tree()).toBe('root\n  held\n  next');
});

test('a queue held after its run records and ends with the turn', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const queue = span.run(() => currentQueue());
  const changes = await counted(async () => {
    queue?.start('open');
    await null;
    await null;
    queue?.start('later').end();
  });
  span.end();
  await collector.flush();
  expect(changes).toEqual({ localSpansLeftOpen: 1 });
  expect(memory.tree()).toBe('root\n  open\n  later');
});

test('a generator that is over: what its timers leave open', async () => {
  const { root, memory, collector } = recorder();
  const span = root('root');
  const rows = traced('rows', function* () {
    setTimeout(() => void LocalSpan.start('open'), 0);
    setTimeout(() => LocalSpan.start('later').end(), 1);
    yield 1;
    LocalSpan.start('held');
    yield 2;
  });
  const changes = await counted(async () => {
    span.run(() => [...rows()]);
    await sleep(10);
  });
  span.end();
  await collector.flush();
  expect(changes).toEqual({ localSpansLeftOpen: 2 });
  expect(memory.tree()).toBe('root\n  rows\n    held\n    open\n    later');
});

test('a collector of the request itself gets what was left open in the turn of the end', async () => {
  const [span, collector] = Span.rootWithCollector('root');
  const tick = span.run(() => AsyncResource.bind((work: Work) => work()));
  tick(() => void LocalSpan.start('open'));
  span.end();
  expect((await collector.collect()).map((one) => one.name)).toEqual(['root', 'open']);
});
