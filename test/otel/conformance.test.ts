// Our provider and the SDK's side by side: the same calls on both, and what is exported compared field by field. What differs is said in
// docs/instrumentation.md.
import { createHash } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  ROOT_CONTEXT,
  type Span,
  type SpanOptions,
  SpanStatusCode,
  type TimeInput,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BasicTracerProvider,
  InMemorySpanExporter,
  ParentBasedSampler,
  type ReadableSpan,
  SimpleSpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-base';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Collector } from '../../src/collector/collector.js';
import { OtelSdkReporter } from '../../src/exporters/otel-sdk.js';
import { SpanlineContextManager } from '../../src/otel/context-manager.js';
import { SpanlineTracerProvider } from '../../src/otel/tracer-provider.js';

type Scenario = (tracer: Tracer) => void;
type Options = {
  sampler?: ConstructorParameters<typeof BasicTracerProvider>[0] extends { sampler?: infer S } | undefined ? S : never;
};

beforeAll(() => {
  context.setGlobalContextManager(new SpanlineContextManager().enable());
});
afterAll(() => context.disable());

const ids = () => {
  const counts = { trace: 0, span: 0 };
  return {
    // All four words differ, for samplers that look at some of them.
    generateTraceId: () =>
      createHash('sha256')
        .update(String(++counts.trace))
        .digest('hex')
        .slice(0, 32),
    generateSpanId: () => (++counts.span).toString(16).padStart(16, 'b'),
  };
};

const hasTime = ([sec]: readonly [number, number]): boolean => sec > 0;

// Times are compared where a scenario gives them.
const timeOf = (time: readonly [number, number]) => (isGiven(time) ? [...time] : hasTime(time));

const shown = (span: ReadableSpan) => {
  const explicit = isGiven(span.startTime) && isGiven(span.endTime);
  return {
    name: span.name,
    kind: span.kind,
    // The random flag is ours alone.
    flags: span.spanContext().traceFlags & 1,
    traceId: span.spanContext().traceId,
    spanId: span.spanContext().spanId,
    state: span.spanContext().traceState?.serialize(),
    parent: span.parentSpanContext?.spanId,
    start: timeOf(span.startTime),
    end: timeOf(span.endTime),
    duration: explicit ? [...span.duration] : span.duration[0] >= 0,
    status: { ...span.status },
    attributes: { ...span.attributes },
    links: span.links.map(({ context: { traceId, spanId }, attributes, droppedAttributesCount }) => ({
      dropped: droppedAttributesCount ?? 0,
      traceId,
      spanId,
      attributes: { ...attributes },
    })),
    events: span.events.map(({ name, time, attributes, droppedAttributesCount }) => {
      const { 'exception.stacktrace': stack, ...rest } = attributes ?? {};
      const dropped = droppedAttributesCount ?? 0;
      return { name, time: timeOf(time), attributes: rest, hasStack: stack !== undefined, dropped };
    }),
    ended: span.ended,
    hasResource: typeof span.resource.attributes['service.name'] === 'string',
    scope: [
      span.instrumentationScope.name,
      span.instrumentationScope.version,
      span.instrumentationScope.schemaUrl ?? '',
    ],
    dropped: [span.droppedAttributesCount, span.droppedEventsCount, span.droppedLinksCount],
  };
};

type Shown = ReturnType<typeof shown>;
// Spans that are not recorded take an id from the SDK's generator only: spans are told by their names.
const sorted = (spans: readonly Shown[]) => {
  const names = new Map(spans.map(({ spanId, name }) => [spanId, name]));
  return spans
    .map(({ spanId, parent, ...rest }) => ({
      ...rest,
      hasId: /^[0-9a-f]{16}$/.test(spanId),
      parent: parent?.startsWith('bbbb') ? (names.get(parent) ?? 'not recorded') : parent,
    }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Of every second span the decision is `RECORD`: processors see it, exporters do not. */
const recordOnly = (): Options['sampler'] => {
  let n = 0;
  return { shouldSample: () => ({ decision: n++ % 2 === 0 ? 1 : 2 }), toString: () => 'every second' };
};

/** A processor that keeps what it sees, as an exporter behind `SimpleSpanProcessor` does not. */
class Watching extends SimpleSpanProcessor {
  readonly seen: Shown[] = [];
  override onEnd(span: ReadableSpan): void {
    this.seen.push(shown(span));
  }
}

const bySdk = (scenario: Scenario, { sampler }: Options) => {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({
    sampler,
    idGenerator: ids(),
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  });
  scenario(provider.getTracer('lib', '1.2.3', { schemaUrl: 'https://schema' }));
  return sorted(exporter.getFinishedSpans().map(shown));
};

// As a processor sees it, and as an exporter of the SDK gets it from rows.
const byUs = async (scenario: Scenario, { sampler }: Options) => {
  const processed = new InMemorySpanExporter();
  const reported = new InMemorySpanExporter();
  const run = async (withProcessor: boolean): Promise<void> => {
    const collector = new Collector({ serviceName: 'x' });
    collector.setReporter(new OtelSdkReporter(reported));
    const provider = new SpanlineTracerProvider({
      collector,
      sampler: sampler as never,
      idGenerator: ids(),
      spanProcessors: withProcessor ? [new SimpleSpanProcessor(processed)] : [],
    });
    scenario(provider.getTracer('lib', '1.2.3', { schemaUrl: 'https://schema' }));
    if (!withProcessor) await collector.flush();
  };
  await run(true);
  await run(false);
  return [sorted(processed.getFinishedSpans().map(shown)), sorted(reported.getFinishedSpans().map(shown))];
};

// An hour ago: what a scenario gives is told from what a clock gave.
const AT = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
const isGiven = ([sec]: readonly [number, number]): boolean => sec > 0 && sec < AT / 1000 + 1800;
const times: TimeInput[] = [new Date(AT + 5), AT + 7.5, [AT / 1000, 123_456_789], AT];
const values: unknown[] = [
  'text',
  '',
  0,
  -0.5,
  2 ** 40,
  true,
  false,
  ['a', 'b'],
  [1, 2],
  [true],
  [],
  null,
  undefined,
  {},
  () => 1,
  Symbol('s'),
  ['a', 1],
  [{}],
  new Date(0),
  'é€😀',
  1e300,
  Number.MAX_SAFE_INTEGER,
];
/** API 1.10 permits maps, null and mixed arrays, and SDK 3 counts what is none of these as dropped: see docs/instrumentation.md. */
const isOfOneType = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.every((item) => isOfOneType(item) && typeof item === typeof value[0]);
  return value === undefined || ['string', 'number', 'boolean'].includes(typeof value);
};
const isSdk3 = process.env.SPANLINE_OTEL === '3';
const compared = isSdk3 ? values.filter(isOfOneType) : values;
const REMOTE = { traceId: 'c'.repeat(32), spanId: 'd'.repeat(16), traceFlags: 1, isRemote: true };
const errors: unknown[] = [
  new Error('m'),
  new TypeError('t'),
  'text',
  Object.assign(new Error('c'), { code: 'ENOENT' }),
  { name: 'N', message: 'M' },
  { message: 'only' },
  { code: 7 },
  Object.assign(new Error('n'), { code: 42 }),
];

const one =
  (use: (span: Span, tracer: Tracer) => void, options?: SpanOptions, parent: Context = ROOT_CONTEXT): Scenario =>
  (tracer) => {
    const span = tracer.startSpan('one', options, parent);
    use(span, tracer);
    span.end();
  };
const nothing = (): void => {};

const scenarios: [string, Scenario][] = [
  ...compared.map((value, i): [string, Scenario] => [
    `setAttribute ${i}`,
    one((span) => span.setAttribute('key', value as string)),
  ]),
  ...compared.map((value, i): [string, Scenario] => [
    `attributes ${i}`,
    one(nothing, { attributes: { a: 1, key: value as string } }),
  ]),
  ...compared.map((value, i): [string, Scenario] => [
    `setAttributes ${i}`,
    one((span) => span.setAttributes({ key: value, b: 'x' } as Attributes)),
  ]),
  ...compared
    .filter((value) => value !== null)
    .map((value, i): [string, Scenario] => [
      `event attributes ${i}`,
      one((span) => span.addEvent('e', { key: value, b: 1 } as Attributes, AT)),
    ]),
  ...compared
    .filter((value) => value !== null)
    .map((value, i): [string, Scenario] => [
      `link attributes ${i}`,
      one((span) => span.addLink({ context: REMOTE, attributes: { key: value } as Attributes })),
    ]),
  ...[0, 1, 2, 3, 4].map((kind): [string, Scenario] => [`kind ${kind}`, one(nothing, { kind })]),
  ...times.flatMap((start, i) =>
    times.map((end, j): [string, Scenario] => [
      `times ${i} ${j}`,
      (tracer) => tracer.startSpan('one', { startTime: start }, ROOT_CONTEXT).end(end),
    ]),
  ),
  ...times.map((time, i): [string, Scenario] => [`event at ${i}`, one((span) => span.addEvent('e', time))]),
  ...times.map((time, i): [string, Scenario] => [
    `event with attributes at ${i}`,
    one((span) => span.addEvent('e', { a: 1 }, time)),
  ]),
  ...times.map((time, i): [string, Scenario] => [
    `event of two times ${i}`,
    one((span) => span.addEvent('e', time, AT + 1)),
  ]),
  ...errors.map((error, i): [string, Scenario] => [
    `recordException ${i}`,
    one((span) => span.recordException(error as Error, AT)),
  ]),
  ...[undefined, null, {}, ''].map((error, i): [string, Scenario] => [
    `recordException of nothing ${i}`,
    one((span) => span.recordException(error as never)),
  ]),
  ...[0, 1, 2].flatMap((first) =>
    [0, 1, 2].flatMap((second) =>
      [0, 1, 2].map((third): [string, Scenario] => [
        `status ${first} ${second} ${third}`,
        one((span) => {
          span.setStatus({ code: first, message: 'first' });
          span.setStatus({ code: second, message: 'second' });
          span.setStatus({ code: third });
        }),
      ]),
    ),
  ),
  [
    'status message of another type',
    one((span) => span.setStatus({ code: SpanStatusCode.ERROR, message: 5 as never })),
  ],
  ['updateName', one((span) => span.updateName('other'))],
  ['updateName twice', one((span) => span.updateName('other').updateName('last'))],
  ['overwritten attribute', one((span) => span.setAttribute('a', 1).setAttribute('b', 2).setAttribute('a', 'x'))],
  ['empty key', one((span) => span.setAttribute('', 1))],
  ['odd keys', one((span) => span.setAttributes({ constructor: 'c', toString: 't', 'a.b': 1 } as Attributes))],
  [
    'many overwrites',
    one((span) => {
      for (let i = 0; i < 500; i++) span.setAttribute('a', i);
    }),
  ],
  [
    '128 attributes',
    one((span) => {
      for (let i = 0; i < 128; i++) span.setAttribute(`k${i}`, i);
    }),
  ],
  [
    '200 attributes',
    one((span) => {
      for (let i = 0; i < 200; i++) span.setAttribute(`k${i}`, i);
      span.setAttribute('k3', 'again');
    }),
  ],
  [
    '200 attributes of an event and of a link',
    one((span) => {
      const attributes = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`k${i}`, i]));
      span.addEvent('e', attributes, AT).addLink({ context: REMOTE, attributes });
    }),
  ],
  [
    '128 events and links',
    one((span) => {
      for (let i = 0; i < 128; i++) span.addEvent(`e${i}`, AT).addLink({ context: REMOTE });
    }),
  ],
  [
    'links of options',
    one(nothing, { links: [{ context: REMOTE, attributes: { a: 1 } }, { context: { ...REMOTE, traceFlags: 0 } }] }),
  ],
  ['addLinks', one((span) => span.addLinks([{ context: REMOTE }, { context: REMOTE, attributes: { z: [1, 2] } }]))],
  ...(['setAttribute', 'addEvent', 'updateName', 'setStatus', 'addLink', 'recordException', 'end'] as const).map(
    (call): [string, Scenario] => [
      `${call} after the end`,
      one((span) => {
        span.end();
        if (call === 'setAttribute') span.setAttribute('a', 1);
        else if (call === 'addEvent') span.addEvent('e');
        else if (call === 'updateName') span.updateName('n');
        else if (call === 'setStatus') span.setStatus({ code: 2 });
        else if (call === 'addLink') span.addLink({ context: REMOTE });
        else if (call === 'recordException') span.recordException(new Error('e'));
      }),
    ],
  ),
  ['a remote parent', one(nothing, undefined, trace.setSpanContext(ROOT_CONTEXT, REMOTE))],
  [
    'an unsampled remote parent',
    one(nothing, undefined, trace.setSpanContext(ROOT_CONTEXT, { ...REMOTE, traceFlags: 0 })),
  ],
  ['an invalid parent', one(nothing, undefined, trace.setSpanContext(ROOT_CONTEXT, { ...REMOTE, traceId: 'zz' }))],
  [
    'a parent of zeros',
    one(nothing, undefined, trace.setSpanContext(ROOT_CONTEXT, { ...REMOTE, spanId: '0'.repeat(16) })),
  ],
  ['root under a parent', one(nothing, { root: true }, trace.setSpanContext(ROOT_CONTEXT, REMOTE))],
  [
    'children',
    (tracer) => {
      const root = tracer.startSpan('root', {}, ROOT_CONTEXT);
      const below = trace.setSpan(ROOT_CONTEXT, root);
      const child = tracer.startSpan('child', {}, below);
      tracer.startSpan('grandchild', {}, trace.setSpan(below, child)).end();
      child.end();
      root.end();
      tracer.startSpan('late', {}, below).end();
    },
  ],
  ...[2, 3, 5, 9].map((depth): [string, Scenario] => [
    `startActiveSpan ${depth} deep`,
    (tracer) => {
      const go = (left: number): void =>
        tracer.startActiveSpan(`level ${left}`, { attributes: { left } }, (span) => {
          if (left > 1) go(left - 1);
          tracer.startSpan(`leaf ${left}`).end();
          span.end();
        });
      go(depth);
    },
  ]),
  [
    'startActiveSpan, every overload',
    (tracer) => {
      tracer.startActiveSpan('a', (span) => span.end());
      tracer.startActiveSpan('b', { kind: 1 }, (span) => span.end());
      tracer.startActiveSpan('c', {}, trace.setSpanContext(ROOT_CONTEXT, REMOTE), (span) => span.end());
      expect(tracer.startActiveSpan('d', () => 7)).toBe(7);
    },
  ],
  [
    'a throw inside',
    (tracer) => {
      expect(() =>
        tracer.startActiveSpan('a', (span) => {
          span.end();
          throw new Error('x');
        }),
      ).toThrow('x');
      tracer.startSpan('next').end();
    },
  ],
];

const samplers: [string, Options['sampler']][] = [
  ['always on', new AlwaysOnSampler()],
  ['always off', new AlwaysOffSampler()],
  ['parent based', new ParentBasedSampler({ root: new AlwaysOnSampler() })],
  ['half', new TraceIdRatioBasedSampler(0.5)],
  ['parent based half', new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(0.5) })],
  [
    'a sampler with attributes',
    {
      shouldSample: (_c, _t, name) => ({ decision: name.includes('1') ? 0 : 2, attributes: { 'sampled.by': 'rule' } }),
      toString: () => 'rule',
    },
  ],
  [
    'a sampler with states',
    {
      shouldSample: (_c, _t, name) => ({
        decision: 2,
        traceState: createTraceState(`vendor=${name.replaceAll(' ', '_')}`),
      }),
      toString: () => 'states',
    },
  ],
];

test.each(scenarios)('%s', async (_, scenario) => {
  const expected = bySdk(scenario, {});
  const [processed, reported] = await byUs(scenario, {});
  expect(processed).toEqual(expected);
  expect(reported).toEqual(expected);
});

const SAMPLED = scenarios.filter(([name]) => /parent|children|deep|overload|throw|root/.test(name));
test.each(
  samplers.flatMap(([by, sampler]) => SAMPLED.map(([name, scenario]) => [by, name, sampler, scenario] as const)),
)('sampled by %s: %s', async (_by, _name, sampler, scenario) => {
  const expected = bySdk(scenario, { sampler });
  const [processed, reported] = await byUs(scenario, { sampler });
  expect(processed).toEqual(expected);
  expect(reported).toEqual(expected);
});

test('more than 300 calls are compared', () => {
  expect(scenarios.length).toBeGreaterThan(isSdk3 ? 170 : 200);
});

test('what is recorded and not sampled: processors see it, nobody gets it, and it goes out as not sampled', async () => {
  const run = async (watching: Watching, make: (sampler: Options['sampler']) => Tracer): Promise<unknown> => {
    const tracer = make(recordOnly());
    const flags: unknown[] = [];
    tracer.startActiveSpan('first', (first) => {
      flags.push([first.isRecording(), first.spanContext().traceFlags & 1]);
      tracer.startActiveSpan('second', (second) => {
        flags.push([second.isRecording(), second.spanContext().traceFlags & 1]);
        tracer
          .startSpan('third', { attributes: { a: 1 } })
          .addEvent('e', AT)
          .end();
        second.end();
      });
      first.end();
    });
    return { flags, seen: sorted(watching.seen) };
  };
  const watching = () => new Watching(new InMemorySpanExporter());
  const [theirs, ours] = [watching(), watching()];
  const expected = await run(theirs, (sampler) =>
    new BasicTracerProvider({ sampler, idGenerator: ids(), spanProcessors: [theirs] }).getTracer('lib', '1'),
  );
  const reported = new InMemorySpanExporter();
  const collector = new Collector({ serviceName: 'x' });
  collector.setReporter(new OtelSdkReporter(reported));
  const found = await run(ours, (sampler) =>
    new SpanlineTracerProvider({
      collector,
      sampler: sampler as never,
      idGenerator: ids(),
      spanProcessors: [ours],
    }).getTracer('lib', '1'),
  );
  expect(found).toEqual(expected);
  await collector.flush();
  expect(reported.getFinishedSpans().map(({ name }) => name)).toEqual(['second']);
});
