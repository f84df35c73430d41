// Any sequence of API calls gives the tree that a plain reference model gives: local spans and spans, many parents,
// cancel, ends in any order and twice, nested runs, detached local spans under several spans, events and properties, and
// continuations that run in their scope or after it and leave local spans open.
import { AsyncResource } from 'node:async_hooks';
import { expect, test } from 'vitest';
import { LocalCollector, LocalSpan, Span, type SpanRecord } from '../../src/index.js';
import fc from '../support/fast-check.js';
import { recorder } from '../support/recorder.js';
import { samples } from '../support/samples.js';

/** A call, with numbers that choose among what is there at that time. */
type Op =
  | { readonly op: 'root' | 'endLocal' | 'leave' | 'collect' | 'flush' | 'capture' }
  | { readonly op: 'resume'; readonly at: number; readonly starts: number; readonly ends: number }
  | { readonly op: 'startLocal' | 'startHere' | 'detach' | 'annotateHere' }
  | {
      readonly op: 'end' | 'cancel' | 'enter' | 'endAnyLocal' | 'annotate' | 'annotateLocal' | 'child';
      readonly at: number;
    }
  | { readonly op: 'mount' | 'childOfTwo'; readonly at: number; readonly other: number };

const at = fc.nat(20);
const ops: fc.Arbitrary<Op[]> = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.constant<Op>({ op: 'root' }) },
    { weight: 6, arbitrary: fc.constant<Op>({ op: 'startLocal' }) },
    { weight: 5, arbitrary: fc.constant<Op>({ op: 'endLocal' }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constantFrom('enter' as const, 'child' as const), at }) },
    { weight: 3, arbitrary: fc.record({ op: fc.constantFrom('end' as const, 'endAnyLocal' as const), at }) },
    { weight: 1, arbitrary: fc.record({ op: fc.constant('cancel' as const), at }) },
    { weight: 2, arbitrary: fc.record({ op: fc.constantFrom('annotate' as const, 'annotateLocal' as const), at }) },
    {
      weight: 2,
      arbitrary: fc.record({ op: fc.constantFrom('mount' as const, 'childOfTwo' as const), at, other: at }),
    },
    {
      weight: 6,
      arbitrary: fc.constantFrom<Op>(
        { op: 'leave' },
        { op: 'startHere' },
        { op: 'annotateHere' },
        { op: 'detach' },
        { op: 'collect' },
      ),
    },
    { weight: 1, arbitrary: fc.constant<Op>({ op: 'flush' }) },
    { weight: 2, arbitrary: fc.constant<Op>({ op: 'capture' }) },
    {
      weight: 4,
      arbitrary: fc.record({ op: fc.constant('resume' as const), at, starts: fc.nat(3), ends: fc.nat(3) }),
    },
  ),
  { maxLength: 80, size: 'max' },
);

// The model: what there is of each span, and which queues there are. No arrays of columns, no epochs, no batches.
interface Node {
  readonly name: string;
  /** One place in each trace: under the first parent there, with links to the others there. */
  readonly places: Place[];
  isEnded: boolean;
  readonly keys: Set<string>;
  events: number;
}
interface Place {
  readonly trace: Trace;
  readonly parent: Node | null;
  readonly links: Set<Node>;
}
interface Trace {
  readonly root: Node;
  state: 'open' | 'ended' | 'cancelled';
}
interface Queue {
  readonly owner: Node | null;
  readonly locals: Node[];
  /** It was left: each continuation is a stretch of its own. */
  isOver: boolean;
  /** Of a LocalCollector, once collected: also what its continuations add. */
  detached?: Detached;
}
interface Detached {
  readonly nodes: { readonly node: Node; readonly parent: Node | null }[];
  readonly under: { readonly trace: Trace; readonly span: Node }[];
}

class Model {
  readonly reported: { trace: Trace; node: Node; parent: Node | null; links: number }[] = [];

  start(name: string, parents: readonly Node[]): Node {
    const node: Node = { name, places: [], isEnded: false, keys: new Set(), events: 0 };
    for (const parent of parents) {
      for (const { trace } of parent.places) {
        const there = node.places.find((place) => place.trace === trace);
        if (there === undefined) node.places.push({ trace, parent, links: new Set() });
        else if (there.parent !== parent) there.links.add(parent);
      }
    }
    return node;
  }

  report(node: Node): void {
    for (const { trace, parent, links } of node.places) {
      if (trace.state !== 'cancelled') this.reported.push({ trace, node, parent, links: links.size });
    }
  }

  cancel(trace: Trace): void {
    trace.state = 'cancelled';
    const kept = this.reported.filter((one) => one.trace !== trace);
    this.reported.splice(0, this.reported.length, ...kept);
  }
}

const line = (name: string, keys: Iterable<string>, events: number, links: number): string =>
  `${name}{${[...keys].sort()}}${events}/${links}`;

const modelPaths = (model: Model): string[] =>
  model.reported
    .map(({ trace, node, parent, links }) => {
      const above = parent === null ? '-' : parent.name;
      return `${trace.root.name}: ${above} > ${line(node.name, node.keys, node.events, links)}`;
    })
    .sort();

const realPaths = (
  traces: readonly { readonly spans: readonly SpanRecord[] }[],
  names: Map<string, string>,
): string[] =>
  traces
    .flatMap(({ spans }) =>
      spans.map((one) => {
        const above = one.parentSpanId === '' ? '-' : (names.get(one.parentSpanId) ?? 'missing');
        const rootName = names.get(one.traceId) ?? '?';
        const { name, properties, events, links } = one;
        return `${rootName}: ${above} > ${line(name, Object.keys(properties), events.length, links.length)}`;
      }),
    )
    .sort();

const play = async (sequence: readonly Op[]): Promise<void> => {
  const { memory, collector } = recorder();
  const model = new Model();
  const spans: { real: Span; node: Node; trace: Trace | null }[] = [];
  const locals: { real: LocalSpan; node: Node; queue: Queue }[] = [];
  // Scopes entered, innermost last; a scope of a LocalCollector has no owner.
  const scopes: { queue: Queue; leave: () => void; collect?: () => unknown }[] = [];
  const detached: { real: ReturnType<LocalCollector['collect']>; model: Detached; mounts: Set<Trace> }[] = [];
  const captured: { queue: Queue; call: (work: () => void) => void }[] = [];
  const names = new Map<string, string>();
  let n = 0;

  // The latest few: old ones have little left that could go wrong.
  const pick = <T>(list: readonly T[], i: number): T | undefined =>
    list[list.length - 1 - (i % Math.min(list.length, 6))];
  const here = (): Queue | undefined => scopes.at(-1)?.queue;
  const innermost = (of: Queue): Node | undefined => of.locals.findLast((node) => !node.isEnded);
  const know = (real: Span, node: Node): void => {
    const { context } = real;
    // Under a cancelled trace nothing has an identity of its own.
    if (context === undefined || !context.sampled) return;
    names.set(context.spanId, node.name);
    if (node.places.length === 1 && node.places[0].parent === null) names.set(context.traceId, node.name);
  };
  const leave = (): { queue: Queue; result: unknown } | undefined => {
    const scope = scopes.pop();
    if (scope === undefined) return undefined;
    const result = scope.collect?.();
    if (scope.collect === undefined) scope.leave();
    for (const node of scope.queue.locals) node.isEnded = true;
    if (scope.queue.owner !== null) for (const node of scope.queue.locals) model.report(node);
    scope.queue.isOver = true;
    return { queue: scope.queue, result };
  };
  const add = (name: string, parents: readonly { real: Span; node: Node }[]): void => {
    const real = Span.start(name, parents.length === 1 ? parents[0].real : parents.map((one) => one.real));
    const node = model.start(
      name,
      parents.map((one) => one.node),
    );
    spans.push({ real, node, trace: null });
    know(real, node);
  };

  const startLocal = (name: string, of: Queue): { real: LocalSpan; node: Node } => {
    const real = LocalSpan.start(name);
    const inside = innermost(of);
    const parent = inside ?? of.owner;
    const traces = of.owner?.places.map(({ trace }) => trace) ?? [null as unknown as Trace];
    const places = traces.map((trace) => ({
      trace,
      parent: of.owner === null ? (inside ?? null) : parent,
      links: new Set<Node>(),
    }));
    const node: Node = { name, places, isEnded: false, keys: new Set(), events: 0 };
    of.locals.push(node);
    locals.push({ real, node, queue: of });
    return { real, node };
  };

  for (const step of [{ op: 'root' } as const, { op: 'enter', at: 0 } as const, ...sequence]) {
    const name = `n${n++}`;
    switch (step.op) {
      case 'root': {
        const real = Span.root(name, undefined, { collector });
        const node: Node = { name, places: [], isEnded: false, keys: new Set(), events: 0 };
        const trace: Trace = { root: node, state: 'open' };
        node.places.push({ trace, parent: null, links: new Set() });
        spans.push({ real, node, trace });
        know(real, node);
        break;
      }
      case 'child': {
        const parent = pick(spans, step.at);
        if (parent !== undefined) add(name, [parent]);
        break;
      }
      case 'childOfTwo': {
        const [a, b] = [pick(spans, step.at), pick(spans, step.other)];
        if (a !== undefined && b !== undefined) add(name, [a, b]);
        break;
      }
      case 'startHere': {
        const of = here();
        const real = Span.startWithLocalParent(name);
        if (of === undefined || of.owner === null) expect(real).toBe(Span.noop());
        else {
          const parent = innermost(of) ?? of.owner;
          const node = model.start(name, [{ ...parent, places: parent.places }]);
          const places = node.places.map(({ trace }) => ({ trace, parent, links: new Set<Node>() }));
          const started: Node = { ...node, places };
          spans.push({ real, node: started, trace: null });
          know(real, started);
        }
        break;
      }
      case 'enter': {
        const span = pick(spans, step.at);
        if (span === undefined) break;
        const guard = span.real.enter();
        scopes.push({ queue: { owner: span.node, locals: [], isOver: false }, leave: () => guard[Symbol.dispose]() });
        break;
      }
      case 'detach': {
        const local = LocalCollector.start();
        scopes.push({
          queue: { owner: null, locals: [], isOver: false },
          leave: () => local[Symbol.dispose](),
          collect: () => local.collect(),
        });
        break;
      }
      case 'leave':
      case 'collect': {
        const left = leave();
        if (left === undefined || left.queue.owner !== null) break;
        const real = left.result as ReturnType<LocalCollector['collect']>;
        expect(real.count).toBe(left.queue.locals.length);
        const nodes = left.queue.locals.map((node) => ({ node, parent: node.places[0]?.parent ?? null }));
        left.queue.detached = { nodes, under: [] };
        detached.push({ real, model: left.queue.detached, mounts: new Set() });
        break;
      }
      case 'mount': {
        const [set, span] = [pick(detached, step.at), pick(spans, step.other)];
        if (set === undefined || span === undefined || span.node.places.length !== 1) break;
        const [{ trace }] = span.node.places;
        // A second mount in one trace is a link; see local-collector.test.ts.
        if (set.mounts.has(trace) || set.model.nodes.length === 0) break;
        set.mounts.add(trace);
        span.real.pushChildSpans(set.real);
        set.model.under.push({ trace, span: span.node });
        if (trace.state === 'cancelled') break;
        for (const { node, parent } of set.model.nodes)
          model.reported.push({ trace, node, parent: parent ?? span.node, links: 0 });
        break;
      }
      case 'startLocal': {
        const of = here();
        if (of === undefined) expect(LocalSpan.start(name).isRecording).toBe(false);
        else startLocal(name, of);
        break;
      }
      case 'capture': {
        const of = here();
        if (of !== undefined) captured.push({ queue: of, call: AsyncResource.bind((work: () => void) => work()) });
        break;
      }
      case 'resume': {
        const one = pick(captured, step.at);
        if (one === undefined) break;
        const { owner, detached: set, isOver } = one.queue;
        const of = isOver ? { owner, locals: [], isOver: true } : one.queue;
        one.call(() => {
          const started = Array.from({ length: step.starts }, (_, i) => startLocal(`${name}.${i}`, of));
          for (const { real, node } of started.reverse().slice(0, step.ends)) {
            real.end();
            node.isEnded = true;
          }
        });
        if (!isOver) break;
        for (const node of of.locals) {
          // It ends with the call, or with the turn where contexts are frames (Node 24): until then no handle is used.
          if (!node.isEnded)
            locals.splice(
              locals.findIndex((one) => one.node === node),
              1,
            );
          node.isEnded = true;
          if (owner !== null) model.report(node);
          const parent = node.places[0]?.parent ?? null;
          set?.nodes.push({ node, parent });
          for (const { trace, span } of set?.under ?? []) {
            if (trace.state !== 'cancelled') model.reported.push({ trace, node, parent: parent ?? span, links: 0 });
          }
        }
        break;
      }
      case 'endLocal': {
        const local = locals.findLast((one) => !one.node.isEnded && one.queue === here());
        local?.real.end();
        if (local !== undefined) local.node.isEnded = true;
        break;
      }
      case 'endAnyLocal': {
        const local = pick(locals, step.at);
        local?.real.end();
        if (local !== undefined) local.node.isEnded = true;
        break;
      }
      case 'annotateLocal': {
        const local = pick(locals, step.at);
        local?.real.addProperty(name, n).addEvent(name);
        if (local !== undefined && !local.node.isEnded) {
          local.node.keys.add(name);
          local.node.events++;
        }
        break;
      }
      case 'annotateHere': {
        const of = here();
        LocalSpan.addProperty(name, n);
        LocalSpan.addEvent(name);
        const node = of && (innermost(of) ?? of.owner);
        if (node && !node.isEnded) {
          node.keys.add(name);
          node.events++;
        }
        break;
      }
      case 'annotate': {
        const span = pick(spans, step.at);
        span?.real.addProperties({ [name]: n }).addEvent(name, { n });
        if (span !== undefined && !span.node.isEnded) {
          span.node.keys.add(name);
          span.node.events++;
        }
        break;
      }
      case 'end': {
        const span = pick(spans, step.at);
        span?.real.end();
        if (span === undefined || span.node.isEnded) break;
        span.node.isEnded = true;
        model.report(span.node);
        if (span.trace?.state === 'open') span.trace.state = 'ended';
        break;
      }
      case 'cancel': {
        const span = pick(spans, step.at);
        span?.real.cancel();
        if (span?.trace?.state === 'open') model.cancel(span.trace);
        break;
      }
      case 'flush':
        // Between two synchronous stretches only: an await inside a scope of enter() is not what that is for.
        if (scopes.length === 0) await collector.flush();
        break;
    }
  }
  while (leave() !== undefined);
  for (const { real, node, trace } of spans) {
    real.end();
    if (node.isEnded) continue;
    node.isEnded = true;
    model.report(node);
    if (trace?.state === 'open') trace.state = 'ended';
  }
  expect(Span.current()).toBeUndefined();
  await collector.flush();

  for (const one of memory.spans) names.set(one.spanId, names.get(one.spanId) ?? one.name);
  expect(realPaths(memory.traces, names)).toEqual(modelPaths(model));
  const { openTraces, openBytes, readyBytes } = collector.stats();
  expect({ openTraces, openBytes, readyBytes }).toEqual({ openTraces: 0, openBytes: 0, readyBytes: 0 });
};

test('random sequences of calls', async () => {
  await fc.assert(fc.asyncProperty(ops, play), { numRuns: samples(300, 3000, 50_000) });
});
